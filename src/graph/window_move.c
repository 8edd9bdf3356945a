#include "graph/window_move.h"

#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"
#include "graph/arena.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/edge.h"
#include "graph/footing.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/plan_op.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/state.h"
#include "place/place.h"
#include "tile/tile.h"

/* Not one of those that only bring bytes to where a command needs them (op->move): its fate is the command's, and the
 * directory knows nothing of the slice. */
static struct tsl_op *make(struct tsl_command *c, struct tsl_port *port, const struct tsl_slice *slice,
                           const struct tsl_range *range, bool in)
{
    unsigned own = TSL_SPACE_MEMBER(port->index);
    bool timed = tsl_placer_wants_move(c->graph->placer, in ? TSL_SPACE_HOST : own, in ? own : TSL_SPACE_HOST,
                                       range->end - range->begin);
    struct tsl_graph_lane *up = timed ? &port->timed_up : &port->up, *down = timed ? &port->timed_down : &port->down;
    struct tsl_op *op = tsl_op_create(c, port, in ? up : down, TSL_OP_COPY);
    if (!op)
        return NULL;
    op->timed = timed;
    op->want_fence = timed;
    op->slice = slice;
    op->dst =
        (struct tsl_side){.data = slice->data, .space = in ? own : TSL_SPACE_HOST, .offset = (size_t)range->begin};
    op->src = op->dst;
    op->src.space = in ? TSL_SPACE_HOST : own;
    op->region[0] = (size_t)(range->end - range->begin);
    op->region[1] = op->region[2] = 1;
    if (!tsl_dependences_add(&c->own, op, true))
        tsl_memory_order_begin(c);
    tsl_op_after_opaque(op);
    return op;
}

cl_int tsl_window_in(struct tsl_command *c, struct tsl_port *port, const struct tsl_slice *slice,
                     const struct tsl_range *range, tsl_dependences *ins)
{
    struct tsl_op *op = make(c, port, slice, range, true);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_area_follow(op, slice->area);
    /* Two arguments may be one object, so the same bytes may come twice; one of the copies may be in the timed lane. */
    for (unsigned i = 0; i < ins->n; i++)
        if (TSL_SMALL_AT(ins, i)->op->slice == slice)
            tsl_op_depend(op, TSL_SMALL_AT(ins, i)->op, false);
    cl_int error = tsl_claim(op, slice->data, range->begin, range->end, TSL_SPACE_HOST, TSL_MAY_READ);
    if (!tsl_dependences_add(ins, op, true)) {
        tsl_memory_order_begin(c);
        error = CL_OUT_OF_HOST_MEMORY; /* Whether it fails would not be known. */
    }
    return tsl_plan_go(op, error);
}

static void narrow(struct tsl_op *op, const struct tsl_byte_box *rows)
{
    op->region[0] = (size_t)rows->width;
    op->region[1] = (size_t)rows->count[0];
    op->region[2] = (size_t)rows->count[1];
    op->dst.row_pitch = op->src.row_pitch = (size_t)rows->stride[0];
    op->dst.slice_pitch = op->src.slice_pitch = (size_t)rows->stride[1];
}

cl_int tsl_window_out(struct tsl_command *c, struct tsl_op *launch, const struct tsl_slice *slice,
                      const struct tsl_footing_range *range, const struct tsl_byte_box *rows, struct tsl_op *end,
                      tsl_dependences *outs)
{
    const struct tsl_range bytes = {range->begin, range->end};
    struct tsl_op *op = make(c, launch->port, slice, &bytes, false);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    if (rows)
        narrow(op, rows);
    op->spoils = !range->overwritten;
    tsl_op_depend(op, launch, true);
    if (end)
        tsl_op_depend(end, op, true);
    if (!tsl_dependences_add(outs, op, false))
        tsl_memory_order_begin(op->command);
    unsigned may = range->overwritten ? TSL_MAY_WRITE : TSL_MAY_READ | TSL_MAY_WRITE;
    return tsl_plan_go(op, tsl_claim(op, slice->data, range->begin, range->end, TSL_SPACE_HOST, may));
}

/* In the launches' lane, so that none of them has to wait for another lane's fence. */
cl_int tsl_window_carry(struct tsl_command *c, struct tsl_op *launch, const struct tsl_slice *from,
                        const struct tsl_slice *to, const struct tsl_range *range, tsl_dependences *ins,
                        tsl_dependences *carries)
{
    struct tsl_op *op = tsl_op_create(c, launch->port, launch->lane, TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    unsigned own = TSL_SPACE_MEMBER(launch->port->index);
    op->slice = to;
    op->from_slice = from;
    op->dst = (struct tsl_side){.data = to->data, .space = own, .offset = (size_t)range->begin};
    op->src = op->dst;
    op->region[0] = (size_t)(range->end - range->begin);
    op->region[1] = op->region[2] = 1;
    cl_int error = CL_SUCCESS;
    if (!tsl_dependences_add(&c->own, op, true))
        tsl_memory_order_begin(c);
    tsl_op_after_opaque(op);
    tsl_op_depend(op, launch, true);
    tsl_area_follow(op, to->area);
    if (!tsl_dependences_add(ins, op, true) || !tsl_dependences_add(carries, op, false)) {
        tsl_memory_order_begin(c);
        error = CL_OUT_OF_HOST_MEMORY;
    }
    return tsl_plan_go(op, error);
}

/* Later users of an area come after a mark of its own: one that is made when it is needed (submit_waits.c) stands
 * behind later windows, too. NULL: no memory. */
static struct tsl_op *mark_in(struct tsl_command *c, struct tsl_op *launch, struct tsl_graph_lane *lane)
{
    struct tsl_op *mark = tsl_op_create(c, launch->port, lane, TSL_OP_MARK);
    if (!mark) {
        tsl_memory_order_begin(c);
        return NULL;
    }
    mark->is_side = true;
    mark->want_fence = true;
    if (!tsl_dependences_add(&c->frontier, mark, false))
        tsl_memory_order_begin(c);
    return mark;
}

void tsl_window_end(struct tsl_command *c, struct tsl_op *launch, struct tsl_area *area, const tsl_dependences *outs,
                    bool failed)
{
    struct tsl_op *mark = mark_in(c, launch, outs->n ? &launch->port->down : launch->lane);
    if (!mark && failed)
        tsl_area_add(area, launch);
    else if (!mark)
        tsl_area_set(area, launch);
    if (!mark)
        return;
    if (failed)
        tsl_area_follow(mark, area);
    tsl_op_follow(mark, outs);
    if (!outs->n)
        tsl_op_depend(mark, launch, false);
    tsl_area_set(area, mark);
    tsl_op_go(mark);
    tsl_op_unref(mark);
}

void tsl_window_carried(struct tsl_command *c, struct tsl_op *launch, struct tsl_area *area,
                        const tsl_dependences *carries)
{
    struct tsl_op *mark = carries->n ? mark_in(c, launch, launch->lane) : NULL;
    for (unsigned i = 0; i < carries->n && !mark; i++)
        tsl_area_add(area, TSL_SMALL_AT(carries, i)->op);
    if (!mark)
        return;
    tsl_op_follow(mark, carries);
    tsl_area_add(area, mark);
    tsl_op_go(mark);
    tsl_op_unref(mark);
}
