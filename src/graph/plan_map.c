/* The plans of maps and unmaps. */
#include "facts/kernel_facts.h"
#include "graph/boxes.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/fetch.h"
#include "graph/mapped.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/runs.h"
#include "graph/valid.h"
#include "tile/tile.h"

static cl_int map_run(struct tsl_command *c, uint64_t begin, uint64_t end)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    bool discard = c->map_flags & CL_MAP_WRITE_INVALIDATE_REGION;
    unsigned may = c->map_flags == CL_MAP_READ ? TSL_MAY_READ : TSL_MAY_READ | TSL_MAY_WRITE;
    if (c->map_flags == CL_MAP_READ)
        tsl_valid_warn_unwritten(data, begin, end);
    cl_int error = discard ? CL_SUCCESS : tsl_fetch(c, data, begin, end, TSL_SPACE_HOST);
    if (!error && (may & TSL_MAY_WRITE)) {
        error = tsl_mapped_add(data, begin, end);
        c->n_ranged += !error;
    }
    return error ? error : tsl_claim_for_command(c, data, begin, end, may, discard);
}

/* Maps row by row, as what lies between the rows isn't mapped. */
cl_int tsl_plan_map(struct tsl_command *c)
{
    cl_int error = CL_SUCCESS;
    size_t n = tsl_runs_count(&c->box);
    if (n > 1 && !(c->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)) /* All of it at once, in few moves. */
        error = tsl_box_fetch(c, tsl_data_of(c->dst), &c->box, TSL_SPACE_HOST);
    for (size_t i = 0; i < n && !error; i++) {
        struct tsl_range run = tsl_runs_at(&c->box, i);
        error = map_run(c, run.begin, run.end);
    }
    return error;
}

static cl_int unmap_run(struct tsl_command *c, uint64_t begin, uint64_t end)
{
    tsl_mapped_remove(tsl_data_of(c->dst), begin, end);
    return tsl_claim_for_command(c, tsl_data_of(c->dst), begin, end, TSL_MAY_WRITE, true);
}

cl_int tsl_plan_unmap(struct tsl_command *c, const tsl_dependences *order)
{
    bool reads = c->map_flags == CL_MAP_READ;
    cl_int error = tsl_plan_turn(c, order, &c->box, reads ? TSL_MAY_READ : TSL_MAY_WRITE);
    if (reads)
        return error;
    for (size_t n = tsl_runs_count(&c->box); c->n_ranged < n && !error; c->n_ranged++) {
        struct tsl_range run = tsl_runs_at(&c->box, n - 1 - c->n_ranged); /* In the reverse order of the map. */
        error = unmap_run(c, run.begin, run.end);
    }
    return error;
}
