/* Where the current bytes of an object are. */
#include "graph/valid.h"

#include "base/log.h"
#include "base/sets.h"
#include "graph/copies.h"
#include "tile/tile.h"

cl_int tsl_valid_add(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, end))
        tsl_spaces_add(&tile->valid, space);
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

void tsl_valid_remove_all(struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, 0, data->size);
    for (; tile; tile = tsl_tiles_next(tile, data->size))
        tsl_spaces_remove(&tile->valid, space);
    tsl_tiles_join(&data->tiles, 0, data->size);
}

void tsl_valid_forget_all(struct tsl_data *data)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next(tile, data->size)) {
        tsl_tile_unkeep(tile, NULL);
        tile->restored = 0;
        tile->valid = TSL_SPACES_NONE;
    }
    tsl_tiles_join(&data->tiles, 0, data->size);
}

static cl_int set(struct tsl_data *data, uint64_t begin, uint64_t end, tsl_spaces valid)
{
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, end)) {
        tsl_tile_unkeep(tile, NULL);
        tile->restored = 0;
        tile->valid = valid;
    }
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

cl_int tsl_valid_set_only(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    return set(data, begin, end, tsl_spaces_of(space));
}

cl_int tsl_valid_forget(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    return set(data, begin, end, TSL_SPACES_NONE);
}

cl_int tsl_valid_await_on_host(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    return tsl_valid_set_only(data, begin, end, TSL_SPACE_HOST);
}

uint64_t tsl_valid_missing(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    uint64_t missing = 0;
    for (struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end); tile;
         tile = tsl_tiles_next_meeting(tile, end)) {
        if (tsl_spaces_is_empty(tile->valid) || tsl_spaces_has(tile->valid, space))
            continue;
        uint64_t from = tile->begin > begin ? tile->begin : begin;
        uint64_t to = tile->end < end ? tile->end : end;
        missing += to - from;
    }
    return missing;
}

bool tsl_valid_is_in(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    while (tile && tsl_spaces_has(tile->valid, space))
        tile = tsl_tiles_next_meeting(tile, end);
    return !tile;
}

bool tsl_valid_only_in(struct tsl_data *data, unsigned space, uint64_t *begin, uint64_t *end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, *begin, data->size);
    while (tile && !tsl_spaces_only(tile->valid, space))
        tile = tsl_tiles_next_meeting(tile, data->size);
    if (!tile)
        return false;
    *begin = tile->begin;
    do {
        *end = tile->end;
        tile = tsl_tiles_next_meeting(tile, data->size);
    } while (tile && tsl_spaces_only(tile->valid, space));
    return true;
}

void tsl_valid_warn_unwritten(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    while (tile && !tsl_spaces_is_empty(tile->valid))
        tile = tsl_tiles_next_meeting(tile, end);
    if (!tile)
        return;
    if (!data->warned)
        tsl_log(TSL_LOG_IN_TILE, TSL_LOG_WARN, "a buffer of %zu bytes is read before anything was written to it",
                data->size);
    data->warned = true;
}
