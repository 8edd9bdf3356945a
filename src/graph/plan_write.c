/* The plans of writes, copies and fills. */
#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/fetch.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/plan_space.h"
#include "graph/residency.h"
#include "graph/runs.h"
#include "object/buffer.h"
#include "tile/tile.h"

/* Claims the box's range of dst. A box without gaps overwrites all of the range; else the old bytes are fetched first.
 */
static cl_int overwrite(struct tsl_command *c, struct tsl_op *op, const struct tsl_box_copy *box, unsigned space)
{
    size_t size = tsl_runs_hull(box);
    bool gaps = !tsl_runs_linear(box->region, box->dst_row_pitch, box->dst_slice_pitch);
    uint64_t begin = box->dst_offset, end = begin + size;
    cl_int error = gaps ? tsl_fetch(c, tsl_data_of(c->dst), begin, end, space) : CL_SUCCESS;
    return error ? error
                 : tsl_claim(op, tsl_data_of(c->dst), begin, end, space, TSL_MAY_WRITE | (gaps ? TSL_MAY_READ : 0));
}

/* The bytes are in the host's copy already, as the application wrote them there before the call, or a host task will.
 */
cl_int tsl_plan_write_in_place(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    cl_int error = tsl_plan_turn(c, order, box, TSL_MAY_WRITE);
    for (size_t i = 0; i < tsl_runs_count(box) && !error; i++) {
        struct tsl_range run = tsl_runs_at(box, i);
        error = tsl_claim_for_command(c, data, run.begin, run.end, TSL_MAY_WRITE, true);
    }
    return error;
}

cl_int tsl_plan_write_to(struct tsl_command *c, const tsl_dependences *order, unsigned space)
{
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    if (tsl_plan_better_by_host(c, space, tsl_data_of(c->dst), box.dst_offset, c->host + box.src_offset))
        space = TSL_SPACE_HOST;
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, space, tsl_data_of(c->dst)), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_plan_dst(op, tsl_data_of(c->dst), space, &box);
    op->src = (struct tsl_side){
        .host = c->host, .offset = box.src_offset, .row_pitch = box.src_row_pitch, .slice_pitch = box.src_slice_pitch};
    size_t size = tsl_box_hull(box.region, box.src_row_pitch, box.src_slice_pitch);
    cl_int error = tsl_claim_host(op, c->host + box.src_offset, size, false);
    return tsl_plan_go(op, error ? error : overwrite(c, op, &box, space));
}

cl_int tsl_plan_copy(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *src = tsl_data_of(c->src);
    struct tsl_box_copy box = c->box;
    box.src_offset += c->src->offset;
    box.dst_offset += c->dst->offset;
    uint64_t begin = box.src_offset, end = begin + tsl_box_hull(box.region, box.src_row_pitch, box.src_slice_pitch);
    unsigned space = tsl_plan_work_space(c, src, begin, end, tsl_data_of(c->dst));
    if (space != TSL_SPACE_HOST)
        tsl_residency_pin(c, tsl_data_of(c->dst), &c->graph->ports[space - 1]);
    cl_int error = tsl_fetch(c, src, begin, end, space);
    if (error)
        return error;
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, space, src), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_plan_dst(op, tsl_data_of(c->dst), space, &box);
    op->src = (struct tsl_side){.data = src,
                                .space = space,
                                .offset = box.src_offset,
                                .row_pitch = box.src_row_pitch,
                                .slice_pitch = box.src_slice_pitch};
    error = tsl_claim(op, src, begin, end, space, TSL_MAY_READ);
    return tsl_plan_go(op, error ? error : overwrite(c, op, &box, space));
}

cl_int tsl_plan_fill(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    unsigned space = tsl_plan_work_space(c, data, box.dst_offset, box.dst_offset + tsl_runs_hull(&box), data);
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, space, data), TSL_OP_FILL);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    if (tsl_runs_count(&box) == 1)
        box = (struct tsl_box_copy){.region = {tsl_runs_hull(&box), 1, 1}, .dst_offset = box.dst_offset};
    tsl_plan_dst(op, data, space, &box);
    return tsl_plan_go(op, overwrite(c, op, &box, space));
}
