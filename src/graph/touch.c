/* Uses of ranges: the edges from those that conflict, and the new one. */
#include "graph/touch.h"

#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/edge.h"
#include "graph/join.h"
#include "graph/port.h"
#include "graph/state.h"
#include "tile/tile.h"

static void depend(const struct tsl_toucher *t, struct tsl_op *before, bool strict)
{
    if (t->op)
        tsl_op_depend(t->op, before, strict);
    else
        tsl_command_depend(t->command, before, strict);
}

/* Is there nothing between the two: the use is redundant for the toucher, or both are shares of one launch? */
static bool has_no_order(const struct tsl_toucher *t, const struct tsl_use *use)
{
    const struct tsl_user *user = t->op ? &t->op->user : NULL;
    return tsl_use_is_redundant(use, user) || (user && tsl_user_beside(user, use->user));
}

void tsl_touch_conflicts(const struct tsl_toucher *t, struct tsl_tile *tile, unsigned space, unsigned may)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        if (use->space == space && !use->left && (use->write || (may & TSL_MAY_WRITE)) && !has_no_order(t, use))
            depend(t, (struct tsl_op *)use->user, use->write && (may & TSL_MAY_READ));
    }
}

cl_int tsl_touch(struct tsl_tiles *tiles, const struct tsl_toucher *t, uint64_t begin, uint64_t end, unsigned space,
                 unsigned may)
{
    struct tsl_tile *tile = t->op ? tsl_tiles_cut(tiles, begin, end) : tsl_tiles_meeting(tiles, begin, end);
    if (!tile && t->op)
        return CL_OUT_OF_HOST_MEMORY;
    while (tile) {
        tsl_tile_prune(tile);
        tsl_touch_conflicts(t, tile, space, may);
        if (t->op && !tsl_tile_use(tile, &t->op->user, space, may & TSL_MAY_WRITE))
            return CL_OUT_OF_HOST_MEMORY;
        if (tile->uses.n > tsl_join_at)
            tsl_join_readers(tile, t->op ? t->op->port->graph : t->command->graph, space, t->op);
        tile = t->op ? tsl_tiles_next(tile, end) : tsl_tiles_next_meeting(tile, end);
    }
    if (t->op)
        tsl_tiles_join(tiles, begin, end);
    return CL_SUCCESS;
}

cl_int tsl_touch_copy(struct tsl_graph *graph, const struct tsl_toucher *t, struct tsl_data *data, uint64_t begin,
                      uint64_t end, unsigned space, unsigned may)
{
    if (space != TSL_SPACE_HOST)
        return tsl_touch(&data->tiles, t, begin, end, space, may);
    if (!tsl_data_host(data))
        return CL_OUT_OF_HOST_MEMORY;
    uint64_t base = tsl_host_address(data->host);
    return tsl_touch(&graph->host_map, t, base + begin, base + end, space, may);
}
