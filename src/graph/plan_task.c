/* The plans of host tasks and migrations. */
#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/fetch.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/plan_space.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/valid.h"
#include "tile/tile.h"

cl_int tsl_plan_migrate(struct tsl_command *c)
{
    bool host = c->map_flags & CL_MIGRATE_MEM_OBJECT_HOST;
    if (c->map_flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)
        return CL_SUCCESS;
    for (cl_uint i = 0; i < c->n_buffers; i++) {
        struct tsl_buffer *b = c->buffers[i];
        struct tsl_data *data = tsl_data_of(b);
        unsigned space = host ? TSL_SPACE_HOST : tsl_plan_write_space(c, data);
        if (!host && data->last_member >= 0 && c->queue->pinned < 0)
            space = tsl_plan_with_room(c->graph, tsl_space_of(&c->graph->ports[data->last_member], data), data, data);
        cl_int error = tsl_fetch(c, data, b->offset, b->offset + b->size, space);
        if (error)
            return error;
    }
    return CL_SUCCESS;
}

/* What a host task may do to a buffer. */
static unsigned host_access(const struct tsl_buffer *buffer)
{
    return buffer->flags & CL_MEM_HOST_READ_ONLY ? TSL_MAY_READ : TSL_MAY_READ | TSL_MAY_WRITE;
}

static cl_int fetch_for_host(struct tsl_command *c, struct tsl_buffer *b)
{
    if (host_access(b) == TSL_MAY_READ)
        tsl_valid_warn_unwritten(tsl_data_of(b), b->offset, b->offset + b->size);
    return tsl_fetch(c, tsl_data_of(b), b->offset, b->offset + b->size, TSL_SPACE_HOST);
}

cl_int tsl_plan_native(struct tsl_command *c, const tsl_dependences *order)
{
    cl_int error = CL_SUCCESS;
    bool frees = c->type == CL_COMMAND_SVM_FREE; /* Frees, whatever became of the bytes. */
    for (cl_uint i = 0; i < c->n_buffers && !error; i++)
        error = fetch_for_host(c, c->buffers[i]);
    if (frees)
        error = CL_SUCCESS;
    struct tsl_op *op = tsl_plan_op(c, order, c->own_task ? &c->graph->host : &c->graph->tasks, TSL_OP_NATIVE);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < c->n_buffers && !error; i++) {
        struct tsl_buffer *b = c->buffers[i];
        unsigned may = frees ? TSL_MAY_WRITE : host_access(b);
        error = tsl_claim(op, tsl_data_of(b), b->offset, b->offset + b->size, TSL_SPACE_HOST, may);
    }
    return tsl_plan_go(op, error);
}
