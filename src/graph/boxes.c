/* Fetches and claims of boxes. */
#include "graph/boxes.h"

#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/extent.h"
#include "graph/fetch.h"
#include "graph/mapped.h"
#include "graph/op.h"
#include "graph/runs.h"
#include "graph/valid.h"
#include "object/buffer.h"
#include "tile/tile.h"

static struct tsl_range hull_of(const struct tsl_box_copy *box)
{
    return (struct tsl_range){box->dst_offset, box->dst_offset + tsl_runs_hull(box)};
}

uint64_t tsl_box_missing(struct tsl_data *data, const struct tsl_box_copy *box, unsigned space)
{
    struct tsl_range hull = hull_of(box);
    uint64_t missing = 0;
    if (!tsl_runs_are_few(box))
        return tsl_valid_missing(data, hull.begin, hull.end, space);
    for (size_t i = 0; i < tsl_runs_count(box); i++) {
        struct tsl_range run = tsl_runs_at(box, i);
        missing += tsl_valid_missing(data, run.begin, run.end, space);
    }
    return missing;
}

cl_int tsl_box_fetch(struct tsl_command *command, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space)
{
    struct tsl_range hull = hull_of(box), runs[TSL_RUNS_MOST];
    unsigned n = (unsigned)tsl_runs_count(box);
    if (!tsl_runs_are_few(box))
        return tsl_fetch(command, data, hull.begin, hull.end, space);
    for (unsigned i = 0; i < n; i++)
        runs[i] = tsl_runs_at(box, i);
    return tsl_fetch_ranges(command, data, runs, tsl_runs_tidy(runs, n), space);
}

static cl_int claim_rows(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space,
                         unsigned may)
{
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < tsl_runs_count(box) && !error; i++) {
        struct tsl_range run = tsl_runs_at(box, i);
        error = tsl_claim(op, data, run.begin, run.end, space, may);
    }
    return error;
}

cl_int tsl_box_claim_read(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space)
{
    struct tsl_range hull = hull_of(box);
    return tsl_runs_are_few(box) ? claim_rows(op, data, box, space, TSL_MAY_READ)
                                 : tsl_claim(op, data, hull.begin, hull.end, space, TSL_MAY_READ);
}

cl_int tsl_box_overwrite(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space)
{
    struct tsl_range hull = hull_of(box);
    if (tsl_runs_are_few(box))
        return claim_rows(op, data, box, space, TSL_MAY_WRITE);
    cl_int error = tsl_fetch(op->command, data, hull.begin, hull.end, space);
    return error ? error : tsl_claim(op, data, hull.begin, hull.end, space, TSL_MAY_READ | TSL_MAY_WRITE);
}

/* ---- All copies -------------------------------------------------------------------------------------------------- */

/* The spaces of which some tile of the range is valid. None: the range was never written, or a copy that isn't written
 * may become valid again, or nothing is known to be. */
static tsl_spaces copies_of(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    tsl_spaces copies = TSL_SPACES_NONE;
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        tsl_tile_prune(tile);
        if (tile->rollback || tsl_spaces_has(tile->valid, TSL_SPACE_LOST))
            return TSL_SPACES_NONE;
        copies = tsl_spaces_union(copies, tile->valid);
    }
    return copies;
}

tsl_spaces tsl_box_copies(const struct tsl_command *command, struct tsl_data *data, const struct tsl_box_copy *box)
{
    struct tsl_range hull = hull_of(box);
    size_t size = box->region[0] * box->region[1] * box->region[2];
    if (command->graph->n_ports == 1 || data->lost || tsl_runs_count(box) == 1 || size > TSL_BOX_TO_ALL_SIZE)
        return TSL_SPACES_NONE;
    tsl_spaces copies = copies_of(data, hull.begin, hull.end);
    return size * tsl_spaces_count(copies) > TSL_BOX_TO_ALL_SIZE ? TSL_SPACES_NONE : copies;
}

tsl_spaces tsl_box_copies_with_host(struct tsl_data *data, const struct tsl_box_copy *box)
{
    struct tsl_range hull = hull_of(box);
    size_t size = box->region[0] * box->region[1] * box->region[2];
    tsl_spaces copies = data->lost ? TSL_SPACES_NONE : copies_of(data, hull.begin, hull.end);
    bool fits = size <= TSL_BOX_TO_ALL_SIZE && size * tsl_spaces_count(copies) <= TSL_BOX_TO_ALL_SIZE;
    return fits && tsl_spaces_has(copies, TSL_SPACE_HOST) ? copies : TSL_SPACES_NONE;
}

/* What was never written is as good in each copy that is written now. */
static cl_int make_valid(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    while (tile && !tsl_spaces_is_empty(tile->valid))
        tile = tsl_tiles_next_meeting(tile, end);
    if (!tile)
        return CL_SUCCESS;
    tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, end))
        if (tsl_spaces_is_empty(tile->valid))
            tile->valid = tsl_spaces_of(space);
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

cl_int tsl_box_claim_copy(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space)
{
    struct tsl_range hull = hull_of(box);
    op->to_all = true;
    op->has_rollback = true;
    if (!tsl_extent_of(op, data))
        return CL_OUT_OF_HOST_MEMORY;
    cl_int error = make_valid(data, hull.begin, hull.end, space);
    return error ? error : tsl_claim_one_copy(op, data, hull.begin, hull.end, space);
}

/* Is there a tile of which the host's copy isn't valid, and are there many? */
static bool host_has_many_parts(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    unsigned n = 0;
    bool lacks = false;
    for (; tile; tile = tsl_tiles_next_meeting(tile, end), n++)
        lacks |= !tsl_spaces_has(tile->valid, TSL_SPACE_HOST);
    return lacks && n > tsl_runs_most;
}

cl_int tsl_box_settle(struct tsl_data *data, const struct tsl_box_copy *box)
{
    struct tsl_range hull = hull_of(box);
    if (!host_has_many_parts(data, hull.begin, hull.end))
        return CL_SUCCESS;
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, hull.begin, hull.end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, hull.end))
        if (!tsl_spaces_only(tile->valid, TSL_SPACE_HOST))
            tsl_spaces_remove(&tile->valid, TSL_SPACE_HOST);
    tsl_tiles_join(&data->tiles, hull.begin, hull.end);
    return tsl_mapped_keep(data, hull.begin, hull.end);
}
