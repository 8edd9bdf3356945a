/* The graph's side of a command queue. */
#include "graph/queue.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/sets.h"
#include "base/settings.h"
#include "graph/abreast.h"
#include "graph/command.h"
#include "graph/dependences.h"
#include "graph/graph.h"
#include "graph/lane.h"
#include "graph/life.h"
#include "graph/scratch.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "object/context.h"
#include "trace/trace.h"

#include <CL/cl_tesela.h>
#include <stdlib.h>

static int pinned_member(const struct tsl_queue *queue)
{
    tsl_members members = tsl_context_members_of(queue->context, queue->device);
    bool one = queue->device->parent && tsl_members_count(members) <= 1;
    return one ? (int)tsl_members_first(members) : -1;
}

static void follow_flags(struct tsl_graph_queue *queue)
{
    cl_command_queue_properties flags = queue->handle->flags;
    queue->in_order = !(flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    queue->profile = flags & CL_QUEUE_PROFILING_ENABLE;
    unsigned order = atomic_load(&queue->handle->order);
    queue->sync = order == CL_ORDER_DEFAULT_TESELA ? tsl_settings()->order == TSL_ORDER_SYNC
                                                   : order == CL_ORDER_SYNCHRONOUS_TESELA;
    queue->serial = (queue->profile && tsl_settings()->profiling == TSL_PROFILING_SERIAL) || queue->sync;
    queue->place_by = (enum tsl_place_by)atomic_load(&queue->handle->placement);
}

static bool init_queue(struct tsl_graph_queue *queue, struct tsl_queue *handle)
{
    struct tsl_graph *graph = handle->context->graph;
    queue->refs = 1;
    queue->graph = graph;
    queue->handle = handle;
    follow_flags(queue);
    queue->pinned = pinned_member(handle);
    TAILQ_INIT(&queue->commands);
    queue->n_abreast = queue->in_order ? 1 : tsl_abreast_lanes(graph);
    queue->n_lanes = graph->n_ports * queue->n_abreast;
    queue->lanes = tsl_graph_lane_create_all(queue, tsl_trace_on());
    queue->timed_lanes = tsl_graph_lane_create_all(queue, true);
    return queue->lanes && queue->timed_lanes;
}

cl_int tsl_graph_queue_create(struct tsl_queue *handle, struct tsl_graph_queue **result)
{
    struct tsl_graph *graph = handle->context->graph;
    struct tsl_graph_queue *queue = calloc(1, sizeof(*queue));
    if (!queue || !init_queue(queue, handle)) {
        if (queue) {
            tsl_graph_lane_destroy_all(queue->lanes, queue->n_lanes);
            tsl_graph_lane_destroy_all(queue->timed_lanes, queue->n_lanes);
        }
        free(queue);
        return CL_OUT_OF_HOST_MEMORY;
    }
    tsl_lock_take(&graph->lock);
    LIST_INSERT_HEAD(&graph->queues, queue, link);
    queue->id = ++graph->n_queues;
    tsl_lock_give(&graph->lock);
    *result = queue;
    return CL_SUCCESS;
}

void tsl_graph_queue_destroy(struct tsl_graph_queue *queue)
{
    if (!queue || tsl_forked())
        return;
    struct tsl_graph *graph = queue->graph;
    tsl_lock_take(&graph->lock);
    LIST_REMOVE(queue, link);
    tsl_dependences_finish(&queue->frontier);
    tsl_dependences_finish(&queue->task);
    tsl_dependences_finish(&queue->touching);
    if (queue->barrier)
        tsl_command_unref(queue->barrier);
    tsl_graph_queue_unref(queue);
    if (LIST_EMPTY(&graph->queues))
        tsl_scratch_drop_all(graph);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
}

static bool reorders(const struct tsl_queue *queue, cl_command_queue_properties flags, bool enable)
{
    cl_command_queue_properties changed = flags & (enable ? ~queue->flags : queue->flags);
    return changed & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
}

cl_int tsl_queue_set(struct tsl_queue *handle, cl_command_queue_properties flags, bool enable,
                     cl_command_queue_properties *old)
{
    struct tsl_graph_queue *queue = handle->graph_queue;
    struct tsl_graph *graph = queue->graph;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    while (reorders(handle, flags, enable) && !TAILQ_EMPTY(&queue->commands))
        tsl_graph_queue_wait(queue);
    *old = handle->flags;
    handle->flags = enable ? *old | flags : *old & ~flags;
    follow_flags(queue);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return CL_SUCCESS;
}

_Static_assert(TSL_PLACE_BY_EAGER == CL_PLACEMENT_EAGER_TESELA, "the values of the API");
_Static_assert(TSL_PLACE_BY_FASTEST == CL_PLACEMENT_FASTEST_TESELA, "the values of the API");
_Static_assert(TSL_PLACE_BY_ROUND_ROBIN == CL_PLACEMENT_ROUND_ROBIN_TESELA, "the values of the API");

/* Each command keeps what the queue had when it was enqueued, so nothing has to be waited for. */
cl_int tsl_queue_set_policy(struct tsl_queue *handle, cl_uint policy, cl_uint value)
{
    struct tsl_graph_queue *queue = handle->graph_queue;
    bool order = policy == CL_QUEUE_ORDER_TESELA;
    if (!order && policy != CL_QUEUE_PLACEMENT_TESELA)
        return CL_INVALID_VALUE;
    if (value > (order ? CL_ORDER_SYNCHRONOUS_TESELA : CL_PLACEMENT_ROUND_ROBIN_TESELA))
        return CL_INVALID_VALUE;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&queue->graph->lock);
    atomic_store(order ? &handle->order : &handle->placement, value);
    follow_flags(queue);
    tsl_graph_leave(queue->graph, TSL_WHO_APPLICATION);
    return CL_SUCCESS;
}
