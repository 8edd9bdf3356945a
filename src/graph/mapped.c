/* Ranges of an object that the application has mapped for writing. */
#include "graph/mapped.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/runs.h"
#include "graph/valid.h"
#include "tile/ranges.h"
#include "tile/tile.h"

cl_int tsl_mapped_add(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    return tsl_ranges_add(&data->mapped, begin, end) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void tsl_mapped_remove(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    tsl_ranges_remove(&data->mapped, begin, end);
}

cl_int tsl_mapped_keep(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    const struct tsl_ranged *range = tsl_ranges_meeting(&data->mapped, begin, end);
    cl_int error = CL_SUCCESS;
    for (; range && !error; range = tsl_ranges_next_meeting(range, begin, end)) {
        uint64_t from = range->begin > begin ? range->begin : begin;
        uint64_t to = range->end < end ? range->end : end;
        error = tsl_valid_add(data, from, to, TSL_SPACE_HOST);
    }
    return error;
}

/* Nobody takes over what the application wrote there: where another copy is valid, the host's is so no longer. Without
 * memory to cut the tiles it stays. */
static void drop_written(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next(tile, end))
        if (!tsl_spaces_only(tile->valid, TSL_SPACE_HOST))
            tsl_spaces_remove(&tile->valid, TSL_SPACE_HOST);
    tsl_tiles_join(&data->tiles, begin, end);
}

void tsl_mapped_undo(struct tsl_command *c)
{
    bool map = tsl_command_maps(c);
    bool unmap = tsl_command_unmaps(c) && c->map_flags != CL_MAP_READ;
    size_t n = map ? c->n_ranged : unmap ? tsl_runs_count(&c->box) - c->n_ranged : 0;
    while (n-- > 0) {
        struct tsl_range run = tsl_runs_at(&c->box, n);
        tsl_mapped_remove(tsl_data_of(c->dst), run.begin, run.end);
        if (unmap && !c->map_unseen)
            drop_written(tsl_data_of(c->dst), run.begin, run.end);
    }
    c->n_ranged = unmap ? tsl_runs_count(&c->box) : 0;
}
