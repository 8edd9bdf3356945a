/* The plans of maps and unmaps. */
#include "base/sets.h"
#include "facts/kernel_facts.h"
#include "graph/boxes.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/extent.h"
#include "graph/fetch.h"
#include "graph/mapped.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/plan_space.h"
#include "graph/runs.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "tile/tile.h"

/* exclusive: of a map that discards what the range holds. Else its bytes were fetched. */
static cl_int map_run(struct tsl_command *c, uint64_t begin, uint64_t end, bool exclusive)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    cl_int error = CL_SUCCESS;
    unsigned may = c->map_flags == CL_MAP_READ ? TSL_MAY_READ : TSL_MAY_READ | TSL_MAY_WRITE;
    if (c->map_flags == CL_MAP_READ)
        tsl_valid_warn_unwritten(data, begin, end);
    if (may & TSL_MAY_WRITE) {
        error = tsl_mapped_add(data, begin, end);
        c->n_ranged += !error;
    }
    return error ? error : tsl_claim_for_command(c, data, begin, end, may, exclusive);
}

/* Maps row by row, as what lies between the rows isn't mapped. What many rows hold is fetched, with what lies between,
 * even if it is to be discarded: else the directory would be cut into these rows. */
cl_int tsl_plan_map(struct tsl_command *c)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    size_t n = tsl_runs_count(&c->box);
    bool discard = c->map_flags & CL_MAP_WRITE_INVALIDATE_REGION, fetches = !discard || !tsl_runs_are_few(&c->box);
    cl_int error = fetches ? tsl_box_fetch(c, data, &c->box, TSL_SPACE_HOST) : CL_SUCCESS;
    bool exclusive = discard && (!fetches || error);
    if (exclusive) /* What can't be fetched isn't needed. */
        error = CL_SUCCESS;
    for (size_t i = 0; i < n && !error; i++) {
        struct tsl_range run = tsl_runs_at(&c->box, i);
        error = map_run(c, run.begin, run.end, exclusive);
    }
    return error;
}

/* ---- What the application wrote ---------------------------------------------------------------------------------- */

/* The host's copy has the box. An operation without work takes it, as one that wrote it there would. all: other copies
 * get the same. */
static cl_int take_host(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box, bool all)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    struct tsl_op *op = tsl_plan_op(c, order, &c->graph->host, TSL_OP_MARK);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_plan_dst(op, data, TSL_SPACE_HOST, box);
    tsl_extents_of_box(op, false, true);
    cl_int error =
        all ? tsl_box_claim_copy(op, data, box, TSL_SPACE_HOST) : tsl_box_overwrite(op, data, box, TSL_SPACE_HOST);
    return tsl_plan_go(op, error);
}

/* The box goes from the host's copy to that of another space. */
static cl_int send(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box, unsigned space,
                   bool all)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, space, data), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_plan_dst(op, data, space, box);
    op->src = op->dst;
    op->src.space = TSL_SPACE_HOST;
    tsl_extents_of_box(op, true, true);
    cl_int error = tsl_box_claim_read(op, data, box, TSL_SPACE_HOST);
    if (!error)
        error = all ? tsl_box_claim_copy(op, data, box, space) : tsl_box_overwrite(op, data, box, space);
    return tsl_plan_go(op, error);
}

static cl_int send_to_all(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box,
                          tsl_spaces copies)
{
    cl_int error = take_host(c, order, box, true);
    tsl_spaces_remove(&copies, TSL_SPACE_HOST);
    while (!tsl_spaces_is_empty(copies)) { /* Also past an error: the copies are to be alike. */
        unsigned space = tsl_spaces_first(copies);
        cl_int failed = send(c, order, box, space, true);
        error = error ? error : failed;
        tsl_spaces_remove(&copies, space);
    }
    return error ? error : tsl_box_settle(tsl_data_of(c->dst), box);
}

/* A kernel that claimed the rows, failed, and gave them back may have left them valid elsewhere alone. No old bytes may
 * be fetched over what the application wrote. */
static cl_int keep_rows(struct tsl_data *data, const struct tsl_box_copy *box)
{
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < tsl_runs_count(box) && !error; i++) {
        struct tsl_range run = tsl_runs_at(box, i);
        if (tsl_valid_missing(data, run.begin, run.end, TSL_SPACE_HOST))
            error = tsl_valid_add(data, run.begin, run.end, TSL_SPACE_HOST);
    }
    return error;
}

static cl_int unmap_few(struct tsl_command *c, const tsl_dependences *order)
{
    cl_int error = tsl_plan_turn(c, order, &c->box, TSL_MAY_WRITE);
    for (size_t i = 0; i < tsl_runs_count(&c->box) && !error; i++) {
        struct tsl_range run = tsl_runs_at(&c->box, i);
        error = tsl_claim_for_command(c, tsl_data_of(c->dst), run.begin, run.end, TSL_MAY_WRITE, true);
    }
    return error;
}

/* The one copy that is to have the box, and all that lies between its rows: the host's, or the one that lacks least, as
 * a kernel may have written there meanwhile. */
static unsigned space_of_many(const struct tsl_command *c, struct tsl_data *data)
{
    if (tsl_box_missing(data, &c->box, TSL_SPACE_HOST) == 0)
        return TSL_SPACE_HOST;
    return tsl_plan_with_room(c->graph, tsl_plan_richest_space(c->graph, data, &c->box), data, data);
}

static cl_int unmap_many(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    tsl_spaces copies = tsl_box_copies_with_host(data, &c->box);
    if (!tsl_spaces_is_empty(copies))
        return send_to_all(c, order, &c->box, copies);
    unsigned space = space_of_many(c, data);
    if (space != TSL_SPACE_HOST)
        return send(c, order, &c->box, space, false);
    cl_int error = keep_rows(data, &c->box);
    return error ? error : take_host(c, order, &c->box, false);
}

cl_int tsl_plan_unmap(struct tsl_command *c, const tsl_dependences *order)
{
    if (c->map_flags == CL_MAP_READ)
        return tsl_plan_turn(c, order, &c->box, TSL_MAY_READ);
    for (size_t n = tsl_runs_count(&c->box); c->n_ranged < n; c->n_ranged++) { /* In the reverse order of the map. */
        struct tsl_range run = tsl_runs_at(&c->box, n - 1 - c->n_ranged);
        tsl_mapped_remove(tsl_data_of(c->dst), run.begin, run.end);
    }
    if (c->map_unseen) /* The copies are as good as they were: a write that could fail would spoil them. */
        return tsl_plan_turn(c, order, &c->box, TSL_MAY_READ);
    return tsl_runs_are_few(&c->box) ? unmap_few(c, order) : unmap_many(c, order);
}
