/* Operations: their making, references and watching. A leaf: it calls nothing else of the graph. */
#include "graph/op.h"

#include "base/pool.h"
#include "base/small_vector.h"
#include "graph/command.h"
#include "graph/port.h"
#include "tile/tile.h"
#include "trace/trace.h"

void tsl_op_free(struct tsl_user *user)
{
    struct tsl_op *op = (struct tsl_op *)user;
    /* Fences and gates are the driver's: they are dropped where no lock is held. */
    STAILQ_INSERT_TAIL(&op->port->graph->dead_ops, op, ready);
}

void tsl_op_unref(struct tsl_op *op)
{
    if (op)
        tsl_user_unref(&op->user);
}

size_t tsl_op_bytes(const struct tsl_op *op)
{
    size_t size = 0;
    if (!op->pieces)
        return op->region[0] * op->region[1] * op->region[2];
    for (unsigned i = 0; i < op->pieces->n; i++)
        size += op->pieces->list[i].end - op->pieces->list[i].begin;
    return size;
}

struct tsl_op *tsl_op_create(struct tsl_command *command, struct tsl_port *port, struct tsl_graph_lane *lane,
                             enum tsl_op_kind kind)
{
    struct tsl_op *op = tsl_pool_take(&command->graph->op_pool);
    if (!op)
        return NULL;
    op->user.refs = 1;
    /* A synchronous port runs its operations in the order in which they become ready, unless it runs them side by side.
     * Evictions at once are in no port's list. */
    op->user.lane = port->sync && !port->beside && kind != TSL_OP_EVICT ? (const void *)port : lane;
    op->command = command;
    op->port = port;
    op->lane = lane;
    op->kind = kind;
    op->n_unmet = 1;
    op->number = ++command->graph->n_ops;
    command->graph->n_tasks += kind == TSL_OP_NATIVE && !command->own_task;
    op->trace_id = tsl_trace_on() ? tsl_trace_id() : 0;
    command->n_undone++;
    command->refs++;
    return op;
}

void tsl_op_forget_befores(struct tsl_op *op)
{
    for (unsigned i = 0; i < op->natives.n; i++)
        tsl_op_unref(*TSL_SMALL_AT(&op->natives, i));
    for (unsigned i = 0; i < op->gates.n; i++)
        tsl_op_unref(*TSL_SMALL_AT(&op->gates, i));
    op->natives.n = op->gates.n = 0;
}

void tsl_op_watch(struct tsl_op *op)
{
    if (op->watched || op->user.done || op->port->sync)
        return;
    op->watched = true;
    op->want_fence = true;
    if (op->state != TSL_OP_SUBMITTED)
        return;
    tsl_op_ref(op); /* Not inside the macro, which names its argument three times. */
    STAILQ_INSERT_TAIL(&op->port->graph->to_watch, op, ready);
}

void tsl_op_end_join(struct tsl_op *join)
{
    join->state = TSL_OP_DONE;
    join->status = join->poison ? join->poison : CL_COMPLETE;
    tsl_user_end(&join->user);
}
