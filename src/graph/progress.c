/* Operations on their way, and what their edges pass on. */
#include "graph/progress.h"

#include "base/small_vector.h"
#include "driver/member.h"
#include "graph/command.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/space.h"
#include "graph/state.h"

static void make_ready(struct tsl_op *op, struct tsl_op_list *ready)
{
    op->state = TSL_OP_READY;
    tsl_op_ref(op); /* A reference until the operation is done. */
    if (op->user.lane)
        op->user.order = op->port->sync ? ++op->port->order : ++op->lane->order;
    TAILQ_INSERT_TAIL(ready, op, flight);
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

/* Meets the edges that op's new state meets. Operations that become ready are appended to the list. */
static void meet_edges(struct tsl_op *op, struct tsl_op_list *ready)
{
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_edge *edge = TSL_SMALL_AT(&op->out, i);
        if (!edge->to || !edge->unmet || !tsl_edge_is_met(edge->kind, op->state))
            continue;
        edge->unmet = false;
        if (--edge->to->n_unmet == 0)
            make_ready(edge->to, ready);
    }
}

static void leave_edges(struct tsl_op *op);

/* Passes ready operations on: to their ports, joins to what comes after them. A list instead of recursion, as chains
 * may be long. */
static void pass_ready(struct tsl_op_list *ready)
{
    struct tsl_op *op;
    while ((op = TAILQ_FIRST(ready))) {
        bool join = op->kind == TSL_OP_JOIN;
        TAILQ_REMOVE(ready, op, flight);
        if (join)
            tsl_op_end_join(op);
        else
            put_into_port(op);
        meet_edges(op, ready);
        if (!join)
            continue;
        leave_edges(op);
        tsl_op_unref(op);
    }
}

void tsl_op_go(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    if (graph->opaque && !op->is_side && !tsl_dependences_add(&graph->since_opaque, op, false))
        tsl_memory_order_begin(op->command);
    if (graph->memory_order)
        tsl_memory_order_park(op);
    else
        tsl_op_set_out(op);
}

void tsl_op_set_out(struct tsl_op *op)
{
    op->port->graph->n_under_way++;
    if (--op->n_unmet > 0)
        return;
    struct tsl_op_list ready = TAILQ_HEAD_INITIALIZER(ready);
    make_ready(op, &ready);
    pass_ready(&ready);
}

void tsl_op_resubmit(struct tsl_op *op)
{
    TAILQ_REMOVE(&op->lane->flight, op, flight);
    op->state = TSL_OP_READY;
    op->unsure = true; /* How the earlier submissions end nobody will know. */
    op->port->n_pending--;
    put_into_port(op);
}

void tsl_op_submitted(struct tsl_op *op)
{
    struct tsl_op_list ready = TAILQ_HEAD_INITIALIZER(ready);
    op->state = TSL_OP_SUBMITTED;
    meet_edges(op, &ready);
    pass_ready(&ready);
}

/* Has a member been lost on which some of the copy may have been? */
static bool is_lost(struct tsl_graph *graph, const struct tsl_side *side)
{
    if (side->space == TSL_SPACE_SPREAD)
        return tsl_space_has_lost_part(graph, side->data);
    return side->space != TSL_SPACE_HOST && tsl_member_is_lost(graph->ports[side->space - 1].member);
}

bool tsl_op_lost_move(const struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    if (!op->move || op->misfed)
        return false;
    if (op->poison && !op->refused)
        return op->unfed;
    return is_lost(graph, &op->src) || is_lost(graph, &op->dst);
}

/* Where a move of its own command brought nothing, as a member is lost, the operation's failure may be mended (redo.h).
 */
static void note_cause(struct tsl_op *op, const struct tsl_op *failed)
{
    if (failed->command == op->command && tsl_op_lost_move(failed))
        op->unfed = true;
    else
        op->misfed = true;
}

void tsl_op_doom_next(struct tsl_op *op)
{
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_edge *edge = TSL_SMALL_AT(&op->out, i);
        if (edge->strict && edge->to && !edge->to->poison)
            edge->to->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        if (edge->strict && edge->to)
            note_cause(edge->to, op);
    }
}

/* Drops op's edges: failure goes on along strict edges to operations, edges to commands count down. */
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

void tsl_op_pass_on(struct tsl_op *op)
{
    struct tsl_op_list ready = TAILQ_HEAD_INITIALIZER(ready);
    meet_edges(op, &ready);
    leave_edges(op);
    pass_ready(&ready);
}
