/* Operations and the edges between them. */
#include "graph/op.h"

#include "base/clock.h"
#include "base/pool.h"
#include "base/small_vector.h"
#include "graph/choose.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/failure_log.h"
#include "graph/join.h"
#include "graph/memory_order.h"
#include "graph/move_failed.h"
#include "graph/progress.h"
#include "graph/record.h"
#include "graph/undo.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"
#include "trace/trace.h"

#include <stdlib.h>

void tsl_op_free(struct tsl_user *user)
{
    struct tsl_op *op = (struct tsl_op *)user;
    /* Fences and gates are the driver's: dropped where no lock is held. */
    STAILQ_INSERT_TAIL(&op->port->graph->dead_ops, op, ready);
}

void tsl_op_unref(struct tsl_op *op)
{
    if (op)
        tsl_user_unref(&op->user);
}

static struct tsl_op *op_ref(struct tsl_op *op)
{
    op->user.refs++;
    return op;
}

struct tsl_op *tsl_op_create(struct tsl_command *command, struct tsl_port *port, struct tsl_track *track,
                             enum tsl_op_kind kind)
{
    struct tsl_op *op = tsl_pool_take(&command->graph->op_pool);
    if (!op)
        return NULL;
    op->user.refs = 1;
    /* A synchronous port runs one after the other, in the order in which they become ready; evictions at once (room.c)
     * are in no port's list. */
    op->user.track = port->sync && kind != TSL_OP_ROOM ? (const void *)port : track;
    op->command = command;
    op->port = port;
    op->track = track;
    op->kind = kind;
    op->n_unmet = 1;
    op->number = ++command->graph->n_ops;
    command->graph->n_tasks += kind == TSL_OP_NATIVE && !command->own_task;
    op->trace_id = tsl_trace_on() ? tsl_trace_id() : 0;
    command->n_undone++;
    command->refs++;
    return op;
}

/* ---- Edges ------------------------------------------------------------------------------------------------------ */

/* Everything that `before` needs happens by itself, without the application, a thread of ours or another technology. */
static bool gate_possible(const struct tsl_op *op, const struct tsl_op *before)
{
    return op->port->member->caps.gates && !op->port->sync && !before->port->sync;
}

static enum tsl_edge_kind edge_kind(const struct tsl_op *op, const struct tsl_op *before)
{
    if (op->kind == TSL_OP_ROOM || before->kind == TSL_OP_ROOM)
        return TSL_EDGE_DONE; /* Memory is freed by the host: no work may be left on it. */
    if (before->kind == TSL_OP_JOIN)
        return TSL_EDGE_DONE;
    if (op->port == before->port)
        return op->port->sync || op->track == before->track ? TSL_EDGE_LANE : TSL_EDGE_NATIVE;
    return gate_possible(op, before) ? TSL_EDGE_GATE : TSL_EDGE_DONE;
}

static bool edge_met(enum tsl_edge_kind kind, enum tsl_op_state state)
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

/* Is there an edge to op already? Only the newest is looked at: the arguments of one launch come one after the other.
 */
static struct tsl_edge *edge_to(struct tsl_op *before, const struct tsl_op *op)
{
    if (before->out.n == 0)
        return NULL;
    struct tsl_edge *last = TSL_SMALL_AT(&before->out, before->out.n - 1);
    return last->to == op ? last : NULL;
}

/* The order is kept nevertheless; whether the other fails would not be known. (Evictions at once have no command that
 * is scheduled, and come after nobody.) */
static void no_edge(struct tsl_op *op, bool strict)
{
    if ((strict || !op->command->stream) && !op->poison)
        op->poison = CL_OUT_OF_HOST_MEMORY;
    if (op->command->stream)
        tsl_starve(op->command);
}

/* Its failure may come too late to keep op, or what comes after op, from running: a driver runs what only stands behind
 * it in a lane, a fence that is made late doesn't fail, and bytes that wait on the device are moved. */
static bool may_run_all_the_same(const struct tsl_op *op, const struct tsl_op *before, enum tsl_edge_kind kind)
{
    if (kind == TSL_EDGE_DONE || op->port->sync)
        return false; /* It is known by then. */
    if (kind == TSL_EDGE_GATE && op->port->member->caps.gates_ahead)
        return true;
    return kind == TSL_EDGE_LANE || before->unsure || before->unfenced;
}

void tsl_op_depend(struct tsl_op *op, struct tsl_op *before, bool strict)
{
    if (before == op)
        return;
    if (strict && (before->poison || (before->user.done && before->status < 0)) && !op->poison)
        op->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (before->user.done)
        return;
    enum tsl_edge_kind kind = edge_kind(op, before);
    op->unsure |= strict && may_run_all_the_same(op, before, kind);
    struct tsl_edge *known = edge_to(before, op);
    if (known) {
        known->strict |= strict;
        return;
    }
    tsl_trace_flow(before->trace_id, op->trace_id);
    struct tsl_edge edge = {.to = op, .kind = kind, .unmet = !edge_met(kind, before->state), .strict = strict};
    bool room = kind != TSL_EDGE_NATIVE || TSL_SMALL_PUSH(&op->natives, before);
    room = room && (kind != TSL_EDGE_GATE || TSL_SMALL_PUSH(&op->gates, before));
    if (room && kind != TSL_EDGE_LANE && kind != TSL_EDGE_DONE)
        op_ref(before);
    if (!room || !TSL_SMALL_PUSH(&before->out, edge)) {
        no_edge(op, strict);
        return;
    }
    op_ref(op);
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
        tsl_starve(command);
    if (!TSL_SMALL_PUSH(&before->out, edge)) {
        if (strict && command->status == CL_COMPLETE)
            command->status = CL_OUT_OF_HOST_MEMORY;
        tsl_starve(command);
        return;
    }
    command->refs++;
    command->n_undone++;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void make_ready(struct tsl_op *op, struct tsl_op_list *settling)
{
    op->state = TSL_OP_READY;
    op_ref(op); /* Until it is finished. */
    if (op->user.track)
        op->user.order = op->port->sync ? ++op->port->order : ++op->track->order;
    TAILQ_INSERT_TAIL(settling, op, flight);
}

static void put_into_port(struct tsl_op *op)
{
    struct tsl_port *port = op->port;
    STAILQ_INSERT_TAIL(&port->ready, op, ready);
    port->n_pending++;
    if (!port->listed && !port->draining) {
        port->listed = true;
        STAILQ_INSERT_TAIL(&port->graph->ports_ready, port, link);
    }
}

/* Edges that the new state meets; operations that become ready are put into settling. */
static void meet_edges(struct tsl_op *op, struct tsl_op_list *settling)
{
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_edge *edge = TSL_SMALL_AT(&op->out, i);
        if (!edge->to || !edge->unmet || !edge_met(edge->kind, op->state))
            continue;
        edge->unmet = false;
        if (--edge->to->n_unmet == 0)
            make_ready(edge->to, settling);
    }
}

static void leave_edges(struct tsl_op *op);

/* There is nothing to be done for a join. */
static void end_join(struct tsl_op *op)
{
    op->state = TSL_OP_DONE;
    op->status = op->poison ? op->poison : CL_COMPLETE;
    op->user.done = true;
}

/* A list instead of recursion: chains may be long. */
static void settle(struct tsl_op_list *settling)
{
    struct tsl_op *op;
    while ((op = TAILQ_FIRST(settling))) {
        bool join = op->kind == TSL_OP_JOIN;
        TAILQ_REMOVE(settling, op, flight);
        if (join)
            end_join(op);
        else
            put_into_port(op);
        meet_edges(op, settling);
        if (!join)
            continue;
        leave_edges(op);
        tsl_op_unref(op);
    }
}

void tsl_op_joined(struct tsl_op *join)
{
    struct tsl_op_list settling = TAILQ_HEAD_INITIALIZER(settling);
    if (--join->n_unmet > 0)
        return;
    make_ready(join, &settling);
    settle(&settling);
}

void tsl_op_go(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    if (graph->opaque && !op->aside && !tsl_dependences_add(&graph->since_opaque, op, false))
        tsl_starve(op->command);
    if (graph->starving)
        tsl_park(op);
    else
        tsl_op_set_out(op);
}

void tsl_op_set_out(struct tsl_op *op)
{
    op->port->graph->n_under_way++;
    if (--op->n_unmet > 0)
        return;
    struct tsl_op_list settling = TAILQ_HEAD_INITIALIZER(settling);
    make_ready(op, &settling);
    settle(&settling);
}

void tsl_op_again(struct tsl_op *op)
{
    TAILQ_REMOVE(&op->track->flight, op, flight);
    op->state = TSL_OP_READY;
    op->unsure = true; /* Of the submissions before nobody will know. */
    op->port->n_pending--;
    put_into_port(op);
}

void tsl_op_submitted(struct tsl_op *op)
{
    struct tsl_op_list settling = TAILQ_HEAD_INITIALIZER(settling);
    op->state = TSL_OP_SUBMITTED;
    meet_edges(op, &settling);
    settle(&settling);
}

void tsl_op_doom_next(struct tsl_op *op)
{
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_edge *edge = TSL_SMALL_AT(&op->out, i);
        if (edge->strict && edge->to && !edge->to->poison)
            edge->to->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
}

/* Failure travels along strict edges; edges to commands count down. */
static void leave_edges(struct tsl_op *op)
{
    if (op->status < 0)
        tsl_op_doom_next(op);
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_edge *edge = TSL_SMALL_AT(&op->out, i);
        if (edge->to) {
            tsl_op_unref(edge->to);
            continue;
        }
        if (edge->strict && op->status < 0 && edge->to_command->status == CL_COMPLETE)
            edge->to_command->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        tsl_command_step(edge->to_command);
        tsl_command_unref(edge->to_command);
    }
    TSL_SMALL_FINISH(&op->out);
}

/* When it ran, as far as anybody knows: what its lane told, or, of a launch that was watched, what we saw. */
static void times_of(const struct tsl_op *op, uint64_t *start_ns, uint64_t *end_ns)
{
    *start_ns = op->start_ns;
    *end_ns = op->end_ns;
    if (*end_ns > *start_ns || !op->timed || !op->command->placement.watch)
        return;
    *start_ns = op->submit_ns > op->port->ended_ns ? op->submit_ns : op->port->ended_ns;
    *end_ns = tsl_clock_ns();
}

static void tell_placer(struct tsl_op *op)
{
    uint64_t start_ns = 0, end_ns = 0;
    if (op->move && op->status >= 0 && op->end_ns > op->start_ns)
        tsl_placer_moved(op->port->graph->placer, op->src.space, op->dst.space,
                         op->region[0] * op->region[1] * op->region[2], op->end_ns - op->start_ns);
    if (op->kind != TSL_OP_LAUNCH || !op->command->placement.placed)
        return;
    if (op->status >= 0)
        times_of(op, &start_ns, &end_ns);
    tsl_placement_ended(op->command, start_ns, end_ns);
    tsl_port_launched(op);
    op->port->ended_ns = tsl_clock_ns();
}

static void note_run(const struct tsl_op *op)
{
    if (op->kind == TSL_OP_LAUNCH && op->status >= 0)
        op->command->kernel->parts[op->port->index].has_run = true;
}

void tsl_op_finish(struct tsl_op *op, cl_int status)
{
    struct tsl_op_list settling = TAILQ_HEAD_INITIALIZER(settling);
    struct tsl_command *command = op->command;
    struct tsl_graph *graph = op->port->graph;
    if (op->state == TSL_OP_SUBMITTED && op->track && !op->port->sync)
        TAILQ_REMOVE(&op->track->flight, op, flight);
    op->state = TSL_OP_DONE;
    if (!op->poison && status < 0)
        tsl_op_report(op, status);
    op->status = op->poison ? op->poison : status < 0 ? status : CL_COMPLETE;
    if (op->status < 0 && op->keeps)
        tsl_claims_failed(op);
    if (op->status < 0 && op->move)
        tsl_move_failed(op);
    op->user.done = true;
    tsl_op_forget_befores(op);
    op->port->n_pending--;
    graph->n_under_way--;
    graph->n_tasks -= op->kind == TSL_OP_NATIVE && !command->own_task;
    tsl_forget_host(op);
    note_run(op);
    tell_placer(op);
    tsl_record_op(op);
    meet_edges(op, &settling);
    if (op->status < 0 && !op->aside && command->status == CL_COMPLETE)
        command->status = op->status;
    leave_edges(op);
    settle(&settling);
    tsl_command_step(command);
    tsl_command_unref(command);
    op->command = NULL;
    tsl_op_unref(op);
    tsl_feed(graph);
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
    op_ref(op); /* Not inside the macro, which names its argument three times. */
    STAILQ_INSERT_TAIL(&op->port->graph->to_watch, op, ready);
}

/* ---- Dependences ------------------------------------------------------------------------------------------------ */

/* An entry that says nothing any more: finished (its failure was noted where it counts) or overtaken on its track. */
static bool superfluous(const struct tsl_dependence *d, const struct tsl_op *op, bool strict)
{
    if (d->op == op)
        return !d->strict || strict;
    if (d->op->user.done)
        return !d->strict || d->op->status >= 0;
    return !d->strict && tsl_user_after(&op->user, &d->op->user);
}

/* Does the list say it already? */
static bool covered(const tsl_dependences *list, const struct tsl_op *op, bool strict)
{
    for (unsigned i = 0; i < list->n; i++) {
        const struct tsl_dependence *d = TSL_SMALL_AT(list, i);
        if (d->op == op && d->strict >= strict)
            return true;
        if (!strict && tsl_user_after(&d->op->user, &op->user))
            return true;
    }
    return false;
}

bool tsl_dependences_add(tsl_dependences *list, struct tsl_op *op, bool strict)
{
    if (covered(list, op, strict))
        return true;
    op_ref(op);
    for (unsigned i = list->n; i-- > 0;) {
        struct tsl_dependence *d = TSL_SMALL_AT(list, i);
        if (!superfluous(d, op, strict))
            continue;
        struct tsl_op *gone = d->op;
        *d = *TSL_SMALL_AT(list, list->n - 1);
        list->n--;
        tsl_op_unref(gone);
    }
    struct tsl_dependence new = {.op = op, .strict = strict};
    if (!TSL_SMALL_PUSH(list, new)) {
        tsl_op_unref(op);
        return false;
    }
    if (list->n > tsl_join_at)
        tsl_dependences_fold(list, op->port->graph);
    return true;
}

void tsl_dependences_finish(tsl_dependences *list)
{
    for (unsigned i = 0; i < list->n; i++)
        tsl_op_unref(TSL_SMALL_AT(list, i)->op);
    TSL_SMALL_FINISH(list);
}
