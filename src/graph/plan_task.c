/* The plans of host tasks, migrations and markers. */
#include "base/small_vector.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/fetch.h"
#include "graph/mapped.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/plan_space.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/valid.h"
#include "tile/tile.h"

/* Nobody needs what the objects hold: whoever writes there next need not be given the old bytes. */
static cl_int forget_contents(struct tsl_command *c)
{
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < c->n_buffers && !error; i++) {
        const struct tsl_buffer *b = c->buffers[i];
        error = tsl_valid_forget(tsl_data_of(b), b->offset, b->offset + b->size);
        if (!error)
            error = tsl_mapped_keep(tsl_data_of(b), b->offset, b->offset + b->size);
    }
    return error;
}

cl_int tsl_plan_migrate(struct tsl_command *c)
{
    bool host = c->map_flags & CL_MIGRATE_MEM_OBJECT_HOST;
    if (c->map_flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)
        return forget_contents(c);
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

/* What a host task may do to a buffer: its role. A sub-buffer that the host only writes, of a buffer of which that
 * isn't said, was made to name what a task overwrites. A whole buffer with the flag may be written bit by bit, so it
 * keeps what a task doesn't write; mostly the host's copy has that anyway. */
static unsigned host_access(const struct tsl_buffer *buffer)
{
    const cl_mem_flags root = tsl_buffer_root((struct tsl_buffer *)(uintptr_t)buffer)->flags;
    if (buffer->flags & CL_MEM_HOST_READ_ONLY)
        return TSL_MAY_READ;
    return buffer->flags & ~root & CL_MEM_HOST_WRITE_ONLY ? TSL_MAY_WRITE : TSL_MAY_READ | TSL_MAY_WRITE;
}

static cl_int fetch_for_host(struct tsl_command *c, struct tsl_buffer *b)
{
    unsigned may = host_access(b);
    if (may == TSL_MAY_WRITE)
        return CL_SUCCESS;
    if (may == TSL_MAY_READ)
        tsl_valid_warn_unwritten(tsl_data_of(b), b->offset, b->offset + b->size);
    return tsl_fetch(c, tsl_data_of(b), b->offset, b->offset + b->size, TSL_SPACE_HOST);
}

/* Are some of the bytes those of another buffer of the task's that it reads? Then they aren't just overwritten. */
static bool reads_elsewhere(const struct tsl_command *c, const struct tsl_buffer *b)
{
    for (cl_uint i = 0; i < c->n_buffers; i++) {
        const struct tsl_buffer *other = c->buffers[i];
        if (tsl_data_of(other) == tsl_data_of(b) && host_access(other) & TSL_MAY_READ &&
            other->offset < b->offset + b->size && b->offset < other->offset + other->size)
            return true;
    }
    return false;
}

static cl_int claim_for_task(struct tsl_op *op, const struct tsl_buffer *b)
{
    unsigned may = host_access(b);
    if (op->command->type == CL_COMMAND_SVM_FREE)
        may = TSL_MAY_WRITE;
    else if (may == TSL_MAY_WRITE && reads_elsewhere(op->command, b))
        may = TSL_MAY_READ | TSL_MAY_WRITE;
    return tsl_claim(op, tsl_data_of(b), b->offset, b->offset + b->size, TSL_SPACE_HOST, may);
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
    for (cl_uint i = 0; i < c->n_buffers && !error; i++)
        error = claim_for_task(op, c->buffers[i]);
    return tsl_plan_go(op, error);
}

/* ---- Markers ----------------------------------------------------------------------------------------------------- */

#define MANY_LANES 3u

static bool has_lane_before(const tsl_dependences *order, unsigned n, const struct tsl_graph_lane *lane)
{
    for (unsigned i = 0; i < n; i++)
        if (TSL_SMALL_AT(order, i)->op->lane == lane)
            return true;
    return false;
}

/* The member that has all of these, in so many lanes that one operation which waits for them costs less than that each
 * command behind the barrier does; NULL: there is none. */
static struct tsl_port *member_of_all(const tsl_dependences *order)
{
    struct tsl_port *port = NULL;
    unsigned n_lanes = 0;
    for (unsigned i = 0; i < order->n; i++) {
        const struct tsl_op *op = TSL_SMALL_AT(order, i)->op;
        if (!op->lane || (port && op->port != port))
            return NULL;
        port = op->port;
        n_lanes += !has_lane_before(order, i, op->lane);
    }
    return n_lanes >= MANY_LANES && port->member->caps.lanes_abreast && !tsl_member_is_lost(port->member) ? port : NULL;
}

cl_int tsl_plan_marker(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_port *port = c->barrier && c->after_all ? member_of_all(order) : NULL;
    if (!port)
        return CL_SUCCESS;
    struct tsl_op *op = tsl_plan_op(c, order, port, TSL_OP_MARK);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->want_fence = true;
    op->want_mark = !port->member->driver->fence_ends_well;
    return tsl_plan_go(op, CL_SUCCESS);
}
