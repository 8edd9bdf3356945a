/* The edges between operations. */
#include "graph/edge.h"

#include "base/small_vector.h"
#include "graph/command.h"
#include "graph/dependences.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/port.h"
#include "trace/trace.h"

/* Can op wait behind a gate? Everything that `before` needs must happen by itself, without the application, a thread of
 * ours or another technology. */
static bool gate_possible(const struct tsl_op *op, const struct tsl_op *before)
{
    return op->port->member->caps.gates && !op->port->sync && !before->port->sync;
}

static enum tsl_edge_kind edge_kind(const struct tsl_op *op, const struct tsl_op *before)
{
    if (op->kind == TSL_OP_EVICT || before->kind == TSL_OP_EVICT)
        return TSL_EDGE_DONE; /* The host frees the memory: no work may be left on it. */
    if (before->kind == TSL_OP_JOIN || op->port->beside)
        return TSL_EDGE_DONE;
    if (op->port == before->port)
        return op->port->sync || op->lane == before->lane ? TSL_EDGE_LANE : TSL_EDGE_NATIVE;
    return gate_possible(op, before) ? TSL_EDGE_GATE : TSL_EDGE_DONE;
}

bool tsl_edge_is_met(enum tsl_edge_kind kind, enum tsl_op_state state)
{
    switch (kind) {
    case TSL_EDGE_LANE:
    case TSL_EDGE_NATIVE:
        return state >= TSL_OP_READY;
    case TSL_EDGE_GATE:
        return state >= TSL_OP_SUBMITTED;
    default:
        return state >= TSL_OP_DONE;
    }
}

/* The edge from `before` to op; NULL: none. Only the newest edge is looked at, as the arguments of one launch come one
 * after the other. */
static inline struct tsl_edge *edge_to(struct tsl_op *before, const struct tsl_op *op)
{
    if (before->out.n == 0)
        return NULL;
    struct tsl_edge *last = TSL_SMALL_AT(&before->out, before->out.n - 1);
    return last->to == op ? last : NULL;
}

bool tsl_op_depends(const struct tsl_op *op, const struct tsl_op *before, bool strict)
{
    const struct tsl_edge *known = before == op ? NULL : edge_to((struct tsl_op *)before, op);
    return known && (known->strict || !strict);
}

/* There was no memory for the edge. The order is kept by other means (memory_order.h), but whether `before` fails will
 * not be known. An eviction at once has a command that is not scheduled, and comes after nothing. */
static void no_edge(struct tsl_op *op, bool strict)
{
    op->misfed = true;
    if ((strict || !op->command->queue) && !op->poison)
        op->poison = CL_OUT_OF_HOST_MEMORY;
    if (op->command->queue)
        tsl_memory_order_begin(op->command);
}

/* Must it not run in vain? Of copies that were never brought there it would make bytes of an object that no share may
 * write, and that stay if the command fails. */
static bool is_careful(const struct tsl_op *op)
{
    return op->kind == TSL_OP_COMBINE;
}

/* May op, or what comes after op, run although `before` fails? Its failure may come too late: a driver runs what only
 * stands behind a failed operation in a lane, a fence that is made late doesn't fail, and bytes that wait on the device
 * are moved. */
static bool may_run_all_the_same(const struct tsl_op *op, const struct tsl_op *before, enum tsl_edge_kind kind)
{
    if (kind == TSL_EDGE_DONE || op->port->sync)
        return false; /* The failure is known by then. */
    if (kind == TSL_EDGE_GATE && op->port->member->caps.gates_ahead)
        return true;
    return kind == TSL_EDGE_LANE || before->unsure || before->unfenced;
}

void tsl_op_depend(struct tsl_op *op, struct tsl_op *before, bool strict)
{
    if (before == op)
        return;
    if (strict && (before->poison || (before->user.done && before->status < 0))) {
        op->misfed = true;
        op->poison = op->poison ? op->poison : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    if (before->user.done)
        return;
    enum tsl_edge_kind kind = edge_kind(op, before);
    if (is_careful(op) && strict && may_run_all_the_same(op, before, kind))
        kind = TSL_EDGE_DONE;
    op->unsure |= strict && may_run_all_the_same(op, before, kind);
    struct tsl_edge *known = edge_to(before, op);
    if (known && (known->kind == kind || known->kind == TSL_EDGE_DONE || !is_careful(op))) {
        known->strict |= strict;
        return;
    }
    tsl_trace_flow(before->trace_id, op->trace_id);
    struct tsl_edge edge = {.to = op, .kind = kind, .unmet = !tsl_edge_is_met(kind, before->state), .strict = strict};
    bool room = kind != TSL_EDGE_NATIVE || TSL_SMALL_PUSH(&op->natives, before);
    room = room && (kind != TSL_EDGE_GATE || TSL_SMALL_PUSH(&op->gates, before));
    if (room && kind != TSL_EDGE_LANE && kind != TSL_EDGE_DONE)
        tsl_op_ref(before);
    if (!room || !TSL_SMALL_PUSH(&before->out, edge)) {
        no_edge(op, strict);
        return;
    }
    tsl_op_ref(op);
    op->n_unmet += edge.unmet;
    if (kind == TSL_EDGE_NATIVE || kind == TSL_EDGE_GATE)
        before->want_fence = true;
    if (kind == TSL_EDGE_DONE)
        tsl_op_watch(before);
}

void tsl_command_depend(struct tsl_command *command, struct tsl_op *before, bool strict)
{
    if (before->user.done) {
        if (strict && before->status < 0 && command->status == CL_COMPLETE)
            command->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        return;
    }
    struct tsl_edge edge = {.to_command = command, .kind = TSL_EDGE_DONE, .unmet = true, .strict = strict};
    if (!tsl_dependences_add(&command->frontier, before, false) ||
        (strict && !tsl_dependences_add(&command->own, before, true)))
        tsl_memory_order_begin(command);
    if (!TSL_SMALL_PUSH(&before->out, edge)) {
        if (strict && command->status == CL_COMPLETE)
            command->status = CL_OUT_OF_HOST_MEMORY;
        tsl_memory_order_begin(command);
        return;
    }
    command->refs++;
    command->n_undone++;
}

void tsl_op_follow(struct tsl_op *op, const tsl_dependences *list)
{
    for (unsigned i = 0; list && i < list->n; i++)
        tsl_op_depend(op, TSL_SMALL_AT(list, i)->op, false);
}

void tsl_op_after_opaque(struct tsl_op *op)
{
    struct tsl_op *opaque = op->port->graph->opaque;
    if (opaque)
        tsl_op_depend(op, opaque, false);
}
