/* The plan of a read. */
#include "facts/kernel_facts.h"
#include "graph/boxes.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/extent.h"
#include "graph/fetch.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/plan_space.h"
#include "graph/runs.h"
#include "graph/valid.h"
#include "object/buffer.h"
#include "tile/tile.h"

/* One operation that reads a box of src's copy in a space into the application's memory. */
static cl_int read_box(struct tsl_command *c, const tsl_dependences *order, unsigned space,
                       const struct tsl_box_copy *box)
{
    struct tsl_data *data = tsl_data_of(c->src);
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, space, data), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->src = (struct tsl_side){.data = data,
                                .space = space,
                                .offset = box->src_offset,
                                .row_pitch = box->src_row_pitch,
                                .slice_pitch = box->src_slice_pitch};
    op->dst = (struct tsl_side){.host = c->host,
                                .offset = box->dst_offset,
                                .row_pitch = box->dst_row_pitch,
                                .slice_pitch = box->dst_slice_pitch};
    tsl_plan_region(op, box);
    const struct tsl_box_copy src = tsl_runs_of_src(box);
    tsl_extents_of_box(op, !tsl_runs_are_few(&src), false);
    size_t dst_size = tsl_box_hull(box->region, box->dst_row_pitch, box->dst_slice_pitch);
    cl_int error = tsl_box_claim_read(op, data, &src, space);
    if (!error)
        error = tsl_claim_host(op, c->host + box->dst_offset, dst_size, true);
    return tsl_plan_go(op, error);
}

/* Reads each run of tiles from a space where the run is valid. */
static cl_int read_linear(struct tsl_command *c, const tsl_dependences *order, uint64_t begin, uint64_t end)
{
    struct tsl_data *data = tsl_data_of(c->src);
    size_t into = c->box.dst_offset;
    while (begin < end) {
        struct tsl_tile *tile = tsl_tiles_at(&data->tiles, begin);
        unsigned space = tsl_plan_read_space(c->graph, data, tile->valid);
        uint64_t run_end = tile->end;
        while (run_end < end) {
            tile = tsl_tiles_at(&data->tiles, run_end);
            if (tsl_plan_read_space(c->graph, data, tile->valid) != space)
                break;
            run_end = tile->end;
        }
        run_end = run_end < end ? run_end : end;
        cl_int error = space == TSL_SPACE_LOST ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
        if (!error && tsl_plan_better_by_host(c, space, data, begin, c->host + into)) {
            space = TSL_SPACE_HOST;
            error = tsl_fetch(c, data, begin, run_end, space);
        }
        struct tsl_box_copy box = {.region = {run_end - begin, 1, 1}, .src_offset = begin, .dst_offset = into};
        if (!error)
            error = read_box(c, order, space, &box);
        if (error)
            return error;
        into += run_end - begin;
        begin = run_end;
    }
    return CL_SUCCESS;
}

static cl_int read_in_place(struct tsl_command *c, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    cl_int error = tsl_fetch(c, data, begin, end, TSL_SPACE_HOST);
    return error ? error : tsl_claim_for_command(c, data, begin, end, TSL_MAY_READ, false);
}

cl_int tsl_plan_read(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *data = tsl_data_of(c->src);
    struct tsl_box_copy box = c->box;
    box.src_offset += c->src->offset;
    size_t size = tsl_box_hull(box.region, box.src_row_pitch, box.src_slice_pitch);
    tsl_valid_warn_unwritten(data, box.src_offset, box.src_offset + size);
    if (tsl_plan_names_host_copy(c, data, box.src_offset, box.dst_offset))
        return read_in_place(c, data, box.src_offset, box.src_offset + size);
    if (tsl_runs_linear(box.region, box.src_row_pitch, box.src_slice_pitch) &&
        tsl_runs_linear(box.region, box.dst_row_pitch, box.dst_slice_pitch))
        return read_linear(c, order, box.src_offset, box.src_offset + size);
    const struct tsl_box_copy src = tsl_runs_of_src(&box);
    unsigned space = tsl_plan_richest_space(c->graph, data, &src);
    if (tsl_plan_better_by_host(c, space, data, box.src_offset, c->host + box.dst_offset))
        space = TSL_SPACE_HOST;
    cl_int error = tsl_box_fetch(c, data, &src, space);
    return error ? error : read_box(c, order, space, &box);
}
