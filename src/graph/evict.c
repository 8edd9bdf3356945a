/* What evictions claim of an object's copy. */
#include "graph/evict.h"

#include "base/sets.h"
#include "facts/kernel_facts.h"
#include "graph/copies.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "graph/valid.h"
#include "tile/tile.h"

void tsl_evict_leave(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_leave(tile, &op->user, space);
        for (struct tsl_rollback *rollback = tile->rollback; rollback; rollback = rollback->older)
            tsl_spaces_remove(&rollback->valid, space);
    }
    tsl_valid_remove_all(data, space);
}

cl_int tsl_evict_claim(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_toucher t = {.op = op};
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_prune(tile);
        tsl_touch_conflicts(&t, tile, space, TSL_MAY_WRITE);
        if (!tsl_tile_use_too(tile, &op->user, space))
            return CL_OUT_OF_HOST_MEMORY;
    }
    tsl_tiles_join(&data->tiles, 0, data->size);
    return CL_SUCCESS;
}

void tsl_evict_precede(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, 0, data->size);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size))
        tsl_tile_use_too(tile, &op->user, space);
    tsl_tiles_join(&data->tiles, 0, data->size);
}

cl_int tsl_evict_claim_host(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_toucher t = {.op = op};
    data->moved = true;
    cl_int error = tsl_touch_copy(op->port->graph, &t, data, begin, end, TSL_SPACE_HOST, TSL_MAY_WRITE);
    return error ? error : tsl_valid_add(data, begin, end, TSL_SPACE_HOST);
}

static bool unused(struct tsl_tiles *tiles, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        tsl_tile_prune(tile);
        for (unsigned i = 0; i < tile->uses.n; i++)
            if (tile->uses.list[i].space == space)
                return false;
    }
    return true;
}

bool tsl_evict_is_idle(struct tsl_data *data, unsigned space)
{
    return unused(&data->tiles, 0, data->size, space);
}

bool tsl_evict_host_is_idle(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    uint64_t base = tsl_host_address(data->host);
    return unused(&data->context->graph->host_map, base + begin, base + end, TSL_SPACE_HOST);
}
