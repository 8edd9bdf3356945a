/* Uses of ranges: the edges from those that conflict, and the new one. */
#include "graph/touch.h"

#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/edge.h"
#include "graph/extent.h"
#include "graph/join.h"
#include "graph/port.h"
#include "graph/state.h"
#include "tile/tile.h"

unsigned tsl_touch_parts = 16;
unsigned tsl_touch_tiles = 16;

/* What is touched, how, and by what. */
struct touch {
    const struct tsl_toucher *by;
    struct tsl_graph *graph;
    const struct tsl_data *data; /* NULL: the application's memory */
    uint64_t base;               /* where the object's first byte lies in the map */
    uint64_t begin, end;
    unsigned space, may;
    const struct tsl_extent *extent; /* NULL: all of the range */
};

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

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

/* What the touch is about of that tile: its extent, or what it takes of the tile, for which there is room. */
static struct tsl_extent_view view_of_touch(const struct touch *touch, const struct tsl_tile *tile,
                                            struct tsl_extent *room)
{
    struct tsl_extent_view view = {.extent = touch->extent, .base = touch->base};
    view.writes = touch->may & TSL_MAY_WRITE;
    view.reads = !view.writes || (touch->may & TSL_MAY_READ);
    if (view.extent)
        return view;
    *room = tsl_extent_range(tile->begin > touch->begin ? tile->begin : touch->begin,
                             tile->end < touch->end ? tile->end : touch->end);
    view.extent = room;
    view.base = 0;
    return view;
}

/* The same of a use. */
static struct tsl_extent_view view_of_use(const struct tsl_data *data, const struct tsl_use *use,
                                          const struct tsl_tile *tile, struct tsl_extent *room)
{
    const struct tsl_op *op = (const struct tsl_op *)use->user;
    struct tsl_extent_view view = {.reads = true, .writes = use->write};
    if (use->partial && use->space == TSL_SPACE_HOST)
        view.extent = tsl_extent_on_host(op, tile->begin, tile->end);
    else if (use->partial)
        view.extent = tsl_extent_of(op, data);
    if (view.extent && use->space == TSL_SPACE_HOST)
        view.base = tsl_host_address(view.extent->data->host);
    if (view.extent)
        return view;
    *room = tsl_extent_range(tile->begin, tile->end);
    view.extent = room;
    return view;
}

/* Do the two touch different bytes of the tile? An eviction takes it all away. */
static bool is_apart(const struct touch *touch, const struct tsl_use *use, const struct tsl_tile *tile)
{
    struct tsl_extent ours, theirs;
    if ((!touch->extent && !use->partial) || (touch->by->op && touch->by->op->kind == TSL_OP_EVICT))
        return false;
    struct tsl_extent_view a = view_of_touch(touch, tile, &ours);
    struct tsl_extent_view b = view_of_use(touch->data, use, tile, &theirs);
    return !tsl_extents_conflict(&a, &b);
}

bool tsl_touch_meets(const struct tsl_extent *extent, const struct tsl_data *data, const struct tsl_use *use,
                     const struct tsl_tile *tile)
{
    struct tsl_extent theirs;
    const struct tsl_extent_view a = {.extent = extent, .reads = true, .writes = true};
    const struct tsl_extent_view b = view_of_use(data, use, tile, &theirs);
    return tsl_extents_conflict(&a, &b);
}

/* Is there an edge from the use's operation already? One touches several tiles that others touched, too. */
static bool is_known(const struct tsl_toucher *t, const struct tsl_use *use, bool strict)
{
    return t->op && tsl_op_depends(t->op, (const struct tsl_op *)use->user, strict);
}

static void take_edges(const struct touch *touch, struct tsl_tile *tile)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        bool strict = use->write && (touch->may & TSL_MAY_READ);
        if (use->space == touch->space && !use->left && (use->write || (touch->may & TSL_MAY_WRITE)) &&
            !is_known(touch->by, use, strict) && !has_no_order(touch->by, use) && !is_apart(touch, use, tile))
            depend(touch->by, (struct tsl_op *)use->user, strict);
    }
}

void tsl_touch_conflicts(const struct tsl_toucher *t, struct tsl_tile *tile, unsigned space, unsigned may)
{
    struct touch touch = {.by = t, .begin = tile->begin, .end = tile->end, .space = space, .may = may};
    take_edges(&touch, tile);
}

/* ---- Uses -------------------------------------------------------------------------------------------------------- */

struct part {
    const struct touch *touch;
    const struct tsl_tile *tile;
};

/* Does the touch say all of the old use? A write to all copies leaves moves: should one fail, the copy isn't valid,
 * whatever was written to it since. */
static bool covers(void *arg, const struct tsl_use *old)
{
    const struct part *part = arg;
    const struct tsl_op *op = part->touch->by->op;
    if (op->to_all && old->write && ((const struct tsl_op *)old->user)->move)
        return false;
    if (!part->touch->extent)
        return true;
    struct tsl_extent ours, theirs;
    struct tsl_extent_view new = view_of_touch(part->touch, part->tile, &ours);
    struct tsl_extent_view before = view_of_use(part->touch->data, old, part->tile, &theirs);
    return tsl_extent_covers(&new, &before);
}

static bool leave_use(const struct touch *touch, struct tsl_tile *tile)
{
    struct tsl_op *op = touch->by->op;
    struct part part = {touch, tile};
    struct tsl_use use = {.user = &op->user, .space = (uint16_t)touch->space, .write = touch->may & TSL_MAY_WRITE};
    if (!touch->extent && !op->to_all)
        return tsl_tile_use(tile, use.user, use.space, use.write);
    use.partial = touch->extent;
    use.to_all = op->to_all;
    return tsl_tile_use_part(tile, &use, covers, &part);
}

/* Is any byte of the tile touched? */
static bool meets(const struct touch *touch, const struct tsl_tile *tile)
{
    return !touch->extent || tsl_extent_meets(touch->extent, tile->begin - touch->base, tile->end - touch->base);
}

static bool has_many_parts(const struct tsl_tile *tile, unsigned space)
{
    unsigned n = 0;
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        n += use->partial && use->space == space && !use->user->done;
    }
    return n >= tsl_touch_parts;
}

/* Where many uses of parts stand side by side, the next one comes after them all. It does in all tiles at once: else
 * each would have its own uses for ever, and they would never be one tile again. */
static bool has_to_be_whole(const struct touch *touch, struct tsl_tile *first)
{
    for (struct tsl_tile *tile = first; tile; tile = tsl_tiles_next_meeting(tile, touch->end))
        if (has_many_parts(tile, touch->space) && meets(touch, tile))
            return true;
    return false;
}

/* whole: the touch counts as one of all of the tile, though it may be one of parts. False: no memory. */
static bool touch_tile(const struct touch *touch, struct tsl_tile *tile, bool whole)
{
    struct touch of_all;
    tsl_tile_prune(tile);
    if (!meets(touch, tile))
        return true;
    if (whole) {
        of_all = *touch;
        of_all.extent = NULL;
        touch = &of_all;
    }
    take_edges(touch, tile);
    if (touch->by->op && !leave_use(touch, tile))
        return false;
    if (tile->uses.n > tsl_join_at)
        tsl_join_readers(tile, touch->graph, touch->space, touch->by->op);
    return true;
}

static cl_int touch_all(struct tsl_tiles *tiles, const struct touch *touch)
{
    bool op = touch->by->op;
    struct tsl_tile *tile =
        op ? tsl_tiles_cut(tiles, touch->begin, touch->end) : tsl_tiles_meeting(tiles, touch->begin, touch->end);
    if (!tile && op)
        return CL_OUT_OF_HOST_MEMORY;
    bool whole = touch->extent && has_to_be_whole(touch, tile);
    while (tile) {
        if (!touch_tile(touch, tile, whole))
            return CL_OUT_OF_HOST_MEMORY;
        tile = op ? tsl_tiles_next(tile, touch->end) : tsl_tiles_next_meeting(tile, touch->end);
    }
    if (op)
        tsl_tiles_join(tiles, touch->begin, touch->end);
    return CL_SUCCESS;
}

static struct tsl_graph *graph_of(const struct tsl_toucher *t)
{
    return t->op ? t->op->port->graph : t->command->graph;
}

cl_int tsl_touch(struct tsl_tiles *tiles, const struct tsl_toucher *t, uint64_t begin, uint64_t end, unsigned space,
                 unsigned may)
{
    struct touch touch = {.by = t, .graph = graph_of(t), .begin = begin, .end = end, .space = space, .may = may};
    return touch_all(tiles, &touch);
}

/* Touches the host's copy, whose first byte lies at touch->base, of an object of which the touch has an extent. A part
 * that isn't touched stays with whoever wrote it last, in the directory and in the host map alike. So such parts are
 * told apart there as in the directory: each of its tiles is touched by itself. */
static cl_int touch_host_parts(const struct touch *touch, struct tsl_data *data)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, touch->begin, touch->end);
    struct touch part = *touch;
    cl_int error = CL_SUCCESS;
    for (; tile && !error; tile = tsl_tiles_next_meeting(tile, touch->end)) {
        part.begin = touch->base + (tile->begin > touch->begin ? tile->begin : touch->begin);
        part.end = touch->base + (tile->end < touch->end ? tile->end : touch->end);
        error = touch_all(&touch->graph->host_map, &part);
    }
    return error;
}

static bool brings(const struct tsl_tile *tile, unsigned space)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        if (use->space == space && use->write && !use->replaced && !use->user->done &&
            ((const struct tsl_op *)use->user)->move)
            return true;
    }
    return false;
}

/* Does a move bring bytes of the object's tile, which would count as replaced all over it? Should it fail, those that
 * this touch doesn't write are missed. */
static bool is_being_brought(const struct touch *touch, const struct tsl_tile *tile)
{
    if (touch->space != TSL_SPACE_HOST)
        return brings(tile, touch->space);
    uint64_t base = touch->data->host ? tsl_host_address(touch->data->host) : 0;
    struct tsl_tile *part =
        base ? tsl_tiles_meeting(&touch->graph->host_map, base + tile->begin, base + tile->end) : NULL;
    while (part && !brings(part, TSL_SPACE_HOST))
        part = tsl_tiles_next_meeting(part, base + tile->end);
    return part;
}

static bool may_widen(const struct touch *touch, const struct tsl_tile *tile)
{
    return !(touch->may & TSL_MAY_WRITE) || !is_being_brought(touch, tile);
}

/* The range becomes that of the tiles that it meets, so that none is cut: the extent tells what is touched there. */
static void widen(struct touch *touch, struct tsl_tiles *tiles)
{
    const struct tsl_tile *first = tsl_tiles_at(tiles, touch->begin), *last = tsl_tiles_at(tiles, touch->end - 1);
    if (may_widen(touch, first))
        touch->begin = first->begin;
    if (may_widen(touch, last))
        touch->end = last->end;
}

cl_int tsl_touch_copy(struct tsl_graph *graph, const struct tsl_toucher *t, struct tsl_data *data, uint64_t begin,
                      uint64_t end, unsigned space, unsigned may)
{
    struct touch touch = {
        .by = t, .graph = graph, .data = data, .begin = begin, .end = end, .space = space, .may = may};
    if (t->op && t->op->extents && may) /* Where the memory is all that it needs, it comes after all. */
        touch.extent = tsl_extent_of(t->op, data);
    if (touch.extent && data->tiles.n > tsl_touch_tiles)
        widen(&touch, &data->tiles);
    if (space != TSL_SPACE_HOST)
        return touch_all(&data->tiles, &touch);
    if (!tsl_data_host(data))
        return CL_OUT_OF_HOST_MEMORY;
    touch.base = tsl_host_address(data->host);
    if (touch.extent)
        return touch_host_parts(&touch, data);
    touch.begin += touch.base;
    touch.end += touch.base;
    return touch_all(&graph->host_map, &touch);
}
