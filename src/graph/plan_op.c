/* Operations that do what the application asked for. */
#include "graph/plan_op.h"

#include "base/small_vector.h"
#include "facts/kernel_facts.h"
#include "graph/abreast.h"
#include "graph/boxes.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/extent.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/runs.h"
#include "tile/tile.h"

static struct tsl_graph_lane *lane_for(struct tsl_command *c, struct tsl_port *port, enum tsl_op_kind kind, bool timed)
{
    if (tsl_port_is_host(port))
        return NULL;
    unsigned i = kind == TSL_OP_LAUNCH ? tsl_abreast_lane(c, port) : port->index;
    return timed || c->profile ? &c->queue->timed_lanes[i] : &c->queue->lanes[i];
}

static struct tsl_op *plan_in_lane(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                                   struct tsl_graph_lane *lane, enum tsl_op_kind kind, bool timed)
{
    struct tsl_op *op = tsl_op_create(c, port, lane, kind);
    if (!op)
        return NULL;
    if (!tsl_dependences_add(&c->own, op, true))
        tsl_memory_order_begin(c);
    for (unsigned i = 0; i < order->n; i++) {
        const struct tsl_dependence *d = TSL_SMALL_AT(order, i);
        tsl_op_depend(op, d->op, d->strict);
    }
    tsl_op_after_opaque(op);
    op->timed = timed;
    op->want_fence = c->has_event || timed;
    return op;
}

static struct tsl_op *plan_op(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                              enum tsl_op_kind kind, bool timed)
{
    return plan_in_lane(c, order, port, lane_for(c, port, kind, timed), kind, timed);
}

static void serve(struct tsl_op *op, struct tsl_share *share)
{
    if (share->op)
        return;
    share->op = op;
    op->user.refs++;
}

struct tsl_op *tsl_plan_op(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                           enum tsl_op_kind kind)
{
    struct tsl_op *op = plan_op(c, order, port, kind, false);
    if (op)
        serve(op, &c->share);
    return op;
}

struct tsl_op *tsl_plan_helper(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                               enum tsl_op_kind kind, bool timed)
{
    bool profiles = timed || c->profile, combines = kind == TSL_OP_COMBINE;
    struct tsl_graph_lane *lane = combines && profiles ? &port->timed_down
                                  : combines           ? &port->down
                                  : profiles           ? &port->timed_up
                                                       : &port->up;
    return plan_in_lane(c, order, port, lane, kind, timed);
}

struct tsl_op *tsl_plan_launch(struct tsl_command *c, const tsl_dependences *order, unsigned i)
{
    struct tsl_share *share = tsl_command_share(c, i);
    struct tsl_port *port = &c->graph->ports[share->placement.member];
    /* The placer wants the times of some launches only: some drivers' lanes are slower while they profile. */
    struct tsl_op *op = plan_op(c, order, port, TSL_OP_LAUNCH, share->placement.timed);
    if (!op)
        return NULL;
    op->share = i;
    /* Before the first claim: shares make no edges among each other. A lead has its launch's number. */
    op->user.group = !c->n_more || c->out_of_core ? 0 : c->is_lead ? ~c->id : c->id;
    serve(op, share);
    return op;
}

cl_int tsl_plan_go(struct tsl_op *op, cl_int error)
{
    if (error && !op->poison)
        op->poison = error;
    tsl_op_go(op);
    tsl_op_unref(op);
    return error;
}

void tsl_plan_region(struct tsl_op *op, const struct tsl_box_copy *box)
{
    for (int d = 0; d < 3; d++)
        op->region[d] = box->region[d];
}

void tsl_plan_dst(struct tsl_op *op, struct tsl_data *data, unsigned space, const struct tsl_box_copy *box)
{
    op->dst = (struct tsl_side){.data = data,
                                .space = space,
                                .offset = box->dst_offset,
                                .row_pitch = box->dst_row_pitch,
                                .slice_pitch = box->dst_slice_pitch};
    tsl_plan_region(op, box);
}

cl_int tsl_plan_turn(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box, unsigned may)
{
    if (!order->n || !c->graph->n_tasks)
        return CL_SUCCESS;
    struct tsl_op *op = tsl_plan_op(c, order, &c->graph->host, TSL_OP_MARK);
    cl_int error = CL_SUCCESS;
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    if (may == TSL_MAY_READ && !tsl_runs_are_few(box)) {
        tsl_plan_dst(op, tsl_data_of(c->dst), TSL_SPACE_HOST, box);
        op->src = op->dst;
        op->dst.data = NULL;
        tsl_extents_of_box(op, true, false);
        return tsl_plan_go(op, tsl_box_claim_read(op, op->src.data, box, TSL_SPACE_HOST));
    }
    for (size_t i = 0; i < tsl_runs_count(box) && !error; i++) {
        struct tsl_range run = tsl_runs_at(box, i);
        error = tsl_claim(op, tsl_data_of(c->dst), run.begin, run.end, TSL_SPACE_HOST, may);
    }
    return tsl_plan_go(op, error);
}
