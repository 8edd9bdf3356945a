/* Command queues: creation and destruction. The graph owns their commands. */
#include "object/queue.h"

#include "base/fork.h"
#include "graph/life.h"

#include <stdlib.h>
#include <string.h>

static void destroy(struct tsl_object *object)
{
    struct tsl_queue *queue = (struct tsl_queue *)object;
    if (tsl_forked())
        return;
    tsl_graph_queue_destroy(queue->graph_queue);
    free(queue->properties);
    tsl_object_hide(&queue->device->object);
    tsl_object_hide(&queue->context->object);
}

static bool keep_properties(struct tsl_queue *queue, const cl_queue_properties *properties, size_t n)
{
    if (!properties)
        return true;
    queue->properties = malloc(n * sizeof(*properties));
    if (!queue->properties)
        return false;
    memcpy(queue->properties, properties, n * sizeof(*properties));
    queue->n_properties = n;
    return true;
}

cl_int tsl_queue_create(struct tsl_context *context, struct tsl_device *device, cl_command_queue_properties flags,
                        const cl_queue_properties *properties, size_t n_properties, struct tsl_queue **result)
{
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    struct tsl_queue *queue = tsl_object_create(TSL_QUEUE, sizeof(*queue), &context->object, destroy);
    if (!queue)
        return CL_OUT_OF_HOST_MEMORY;
    queue->context = context;
    queue->device = device;
    queue->flags = flags;
    tsl_object_show(&context->object);
    tsl_object_show(&device->object);
    cl_int error = keep_properties(queue, properties, n_properties) ? tsl_graph_queue_create(queue, &queue->graph_queue)
                                                                    : CL_OUT_OF_HOST_MEMORY;
    if (error) {
        tsl_object_release(&queue->object);
        return error;
    }
    *result = queue;
    return CL_SUCCESS;
}
