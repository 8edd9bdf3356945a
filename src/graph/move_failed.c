/* Moves that fail. */
#include "graph/move_failed.h"

#include "base/sets.h"
#include "base/small_vector.h"
#include "graph/copies.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/residency.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "tile/tile.h"

/* The bytes are not valid in `to`, where a move should have brought them; they still are in `from`. True: an eviction
 * was to give them up in `from`, or, if the two are one, the move should have brought them back there. It does so where
 * another copy is valid: what was written to all copies since isn't in `from`. Without memory to cut the tile nobody
 * could tell which of its bytes these are once they are valid nowhere else: then the object is lost. */
static bool come_back(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to, unsigned from)
{
    bool given_up = false, cut = tsl_tiles_cut(&data->tiles, begin, end);
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        if (!tsl_spaces_has(tile->valid, to))
            continue;
        if (!cut && tsl_spaces_only(tile->valid, to)) {
            data->lost = true;
            continue;
        }
        bool only = tsl_spaces_only(tile->valid, to);
        given_up |= cut && only;
        tsl_spaces_remove(&tile->valid, to);
        if (cut && only)
            tsl_spaces_add(&tile->valid, from);
    }
    tsl_tiles_join(&data->tiles, begin, end);
    return given_up;
}

/* The write that op still owes this tile in `space`, unless a later write replaced it or its failure was already told;
 * NULL if none. */
static struct tsl_use *brings(struct tsl_tile *tile, const struct tsl_op *op, unsigned space)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        struct tsl_use *use = &tile->uses.list[i];
        if (use->user == &op->user && use->space == space && use->write && !use->told && !use->replaced)
            return use;
    }
    return NULL;
}

/* The operation of the edge, if it is a move that takes the data's bytes on from `space`, and so fails with the edge's
 * source; else NULL. */
static struct tsl_op *next_move(const struct tsl_edge *edge, const struct tsl_data *data, unsigned space)
{
    struct tsl_op *op = edge->to;
    return op && edge->strict && op->move && op->src.data == data && op->src.space == space ? op : NULL;
}

/* Tells moves that take the bytes on that they won't bring them. They are told at once: until such a move fails itself
 * its target would count as valid, and when it fails its source is none to go back to. */
static bool tell_next(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to,
                      unsigned from)
{
    bool given_up = false;
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_op *after = next_move(TSL_SMALL_AT(&op->out, i), data, to);
        uint64_t first = after ? after->src.offset : 0, last = after ? first + tsl_side_hull(after, &after->src) : 0;
        first = first > begin ? first : begin;
        last = last < end ? last : end;
        if (first < last)
            given_up |= tsl_move_failed_range(after, data, first, last, after->dst.space, from);
    }
    return given_up;
}

/* op won't bring the bytes from begin to *end, which no later write replaced. left: the copy was evicted since, and
 * others may have come to its place. *end: lowered to where the answer changes. */
static bool not_brought(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t *end, unsigned to,
                        unsigned from, bool left)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, begin);
    *end = tile->end < *end ? tile->end : *end;
    if (op->number <= tile->restored)
        return false; /* The tile went back to what was good after op was planned: op's bytes are not missed. */
    bool given_up = !left && come_back(data, begin, *end, to, from);
    return tell_next(op, data, begin, *end, to, from) || given_up;
}

/* A write that was told once isn't told again when op fails itself: meanwhile the bytes may have been brought there
 * anew, or be known to have been there all the time. */
bool tsl_move_failed_range(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to,
                           unsigned from)
{
    bool host = to == TSL_SPACE_HOST, given_up = false;
    struct tsl_tiles *tiles = host ? &op->port->graph->host_map : &data->tiles;
    uint64_t base = host ? tsl_host_address(data->host) : 0;
    bool cut = tsl_tiles_cut(tiles, base + begin, base + end);
    for (uint64_t at = begin, next; at < end; at = next) {
        struct tsl_tile *tile = tsl_tiles_meeting(tiles, base + at, base + end);
        struct tsl_use *use = tile ? brings(tile, op, to) : NULL;
        next = tile && tile->end - base < end ? tile->end - base : end;
        if (!use)
            continue;
        bool left = use->left;
        use->told = cut;
        at = tile->begin - base > at ? tile->begin - base : at;
        for (uint64_t then = next; at < next; at = then, then = next)
            given_up |= not_brought(op, data, at, &then, to, from, left);
    }
    tsl_tiles_join(tiles, base + begin, base + end);
    return given_up;
}

void tsl_move_failed(struct tsl_op *op)
{
    struct tsl_data *data = op->dst.data;
    unsigned from = op->src.space;
    uint64_t begin = op->dst.offset, end = begin + tsl_side_hull(op, &op->dst);
    if (tsl_move_failed_range(op, data, begin, end, op->dst.space, from) && from != TSL_SPACE_HOST)
        tsl_residency_stay(data, from);
}

/* So many rows are looked at one by one; of more all from the first to the last byte counts as spoiled. */
#define MANY_ROWS 4096u

static void spoil(struct tsl_op *op, uint64_t begin, uint64_t end)
{
    struct tsl_data *data = op->dst.data;
    if (tsl_tiles_cut(&data->tiles, begin, end))
        for (struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end); tile;
             tile = tsl_tiles_next_meeting(tile, end))
            tsl_tile_spoil(tile, TSL_SPACE_HOST);
    tsl_move_failed_range(op, data, begin, end, TSL_SPACE_HOST, TSL_SPACE_LOST);
}

void tsl_move_spoiled(struct tsl_op *op)
{
    uint64_t begin = op->dst.offset;
    if (op->poison && !op->unsure)
        return;
    if (op->region[1] * op->region[2] > MANY_ROWS) {
        spoil(op, begin, begin + tsl_side_hull(op, &op->dst));
        return;
    }
    for (size_t k = 0; k < op->region[2]; k++)
        for (size_t j = 0; j < op->region[1]; j++) {
            uint64_t row = begin + k * op->dst.slice_pitch + j * op->dst.row_pitch;
            spoil(op, row, row + op->region[0]);
        }
}
