/* Claims that fail: what tiles keep, and how they go back to that; undo.h has the rules. */
#include "graph/undo.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/extent.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/residency.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "object/svm.h"
#include "program/program.h"
#include "tile/tile.h"

/* Moves that haven't ended. */
struct moves {
    tsl_spaces valid; /* of the tile */
    tsl_spaces to;    /* where they bring its bytes */
    bool given_up;    /* one brings a valid copy from where there is none any more */
};

static void add_moves(struct moves *moves, const struct tsl_tile *tile, bool host)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        const struct tsl_op *op = (const struct tsl_op *)use->user;
        bool evicts = host && op->kind == TSL_OP_EVICT;
        if (!use->write || use->left || use->replaced || use->user->done || (!op->move && !evicts))
            continue;
        tsl_spaces_add(&moves->to, use->space);
        moves->given_up |=
            tsl_spaces_has(moves->valid, use->space) && (evicts || !tsl_spaces_has(moves->valid, op->src.space));
    }
}

static struct moves moves_of(struct tsl_graph *graph, const struct tsl_data *data, const struct tsl_tile *tile)
{
    struct moves moves = {.valid = tile->valid, .to = TSL_SPACES_NONE};
    add_moves(&moves, tile, false);
    uint64_t base = tsl_host_address(data->host);
    struct tsl_tile *host =
        data->host ? tsl_tiles_meeting(&graph->host_map, base + tile->begin, base + tile->end) : NULL;
    for (; host; host = tsl_tiles_next_meeting(host, base + tile->end))
        add_moves(&moves, host, true);
    return moves;
}

bool tsl_undo_may_come_back(struct tsl_graph *graph, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    while (tile && !moves_of(graph, data, tile).given_up)
        tile = tsl_tiles_next_meeting(tile, end);
    return tile;
}

/* ---- Claims side by side ----------------------------------------------------------------------------------------- */

/* What one of two operations touches of the tile. */
static struct tsl_extent_view view_of(const struct tsl_op *op, const struct tsl_data *data,
                                      const struct tsl_extent *all)
{
    const struct tsl_extent *extent = tsl_extent_of(op, data);
    return (struct tsl_extent_view){.extent = extent ? extent : all, .reads = true, .writes = true};
}

/* Did the two claim the tile without order: as shares of one launch, or because they touch different bytes? */
static bool are_beside(const struct tsl_op *op, const struct tsl_op *other, const struct tsl_data *data,
                       const struct tsl_tile *tile)
{
    if (op == other || tsl_user_beside(&op->user, &other->user))
        return op != other;
    if (!op->extents && !other->extents)
        return false;
    struct tsl_extent all = tsl_extent_range(tile->begin, tile->end);
    struct tsl_extent_view a = view_of(op, data, &all), b = view_of(other, data, &all);
    return !tsl_extents_conflict(&a, &b);
}

/* A copy in a space, until it is evicted: what comes to the space after that is another one. */
struct copy {
    unsigned space, number;
};

static struct copy copy_now(struct tsl_data *data, unsigned space)
{
    return (struct copy){space, space == TSL_SPACE_HOST ? 0 : tsl_space_residence(data, space)->n_evictions};
}

/* The records of one copy that follow each other are a row: the tile goes back when all of their operations have
 * failed. The record of a claim that has ended well stays in its row, so the copy stays valid. */
static bool is_of(const struct tsl_rollback *rollback, const struct copy *copy)
{
    return rollback && rollback->space == copy->space && rollback->copy == copy->number;
}

/* Is the tile's state the matter of another record than op's own? That of another claim of the row, or of a later claim
 * that has ended well. */
static bool is_left_to_others(const struct tsl_rollback *own, const struct tsl_tile *tile)
{
    const struct copy copy = {own->space, own->copy};
    const struct tsl_rollback *newer = NULL;
    for (const struct tsl_rollback *r = tile->rollback; r != own; newer = r, r = r->older)
        if (r->user->done)
            return true;
    return is_of(newer, &copy) || is_of(own->older, &copy);
}

/* op failed, and its claim alone counts yet. Is there a later one, of another copy, that may end well all the same?
 * What it has of the tile came by moves that have op's bytes only where op writes any. */
static bool is_outlived(const struct tsl_rollback *own, const struct tsl_op *op, const struct tsl_data *data,
                        const struct tsl_tile *tile)
{
    const struct tsl_extent *extent = tsl_extent_of(op, data), all = tsl_extent_range(tile->begin, tile->end);
    const struct tsl_extent_view ours = {.extent = extent, .writes = true}, theirs = {.extent = &all, .reads = true};
    return tile->rollback != own && extent && !tsl_extents_conflict(&ours, &theirs);
}

/* False: no memory. */
static bool keep_of(struct tsl_op *op, struct tsl_tile *tile, const struct copy *copy, tsl_spaces valid,
                    struct tsl_rollback **like)
{
    op->has_rollback = true;
    if (!tsl_tile_keep(tile, &op->user, copy->space, valid, like))
        return false;
    tile->rollback->copy = copy->number;
    return true;
}

/* May op end well although all others of the row fail? It fails with any that it isn't beside, and then the row says
 * enough without it; so it does where one has ended well. */
static bool is_beside_all(const struct tsl_rollback *row, const struct tsl_op *op, const struct tsl_data *data,
                          const struct tsl_tile *tile, const struct copy *copy)
{
    for (; is_of(row, copy); row = row->older)
        if (row->user->done || !are_beside(op, (const struct tsl_op *)row->user, data, tile))
            return false;
    return true;
}

/* ---- Notes ------------------------------------------------------------------------------------------------------- */

/* Keeps what is good of the tile before op writes it in `space`. False: no memory. */
static bool keep(struct tsl_op *op, struct tsl_data *data, struct tsl_tile *tile, unsigned space,
                 struct tsl_rollback **like)
{
    const struct copy copy = copy_now(data, space);
    if (tile->rollback)
        tsl_tile_prune(tile);
    const struct tsl_rollback *row = tile->rollback;
    if (is_of(row, &copy) && tsl_spaces_has(tile->valid, space))
        return !is_beside_all(row, op, data, tile, &copy) || keep_of(op, tile, &copy, row->valid, like);
    if (tsl_spaces_is_empty(tile->valid) || (tsl_spaces_only(tile->valid, space) && !data->moved))
        return true;
    tsl_tile_prune(tile);
    tsl_spaces good = tsl_spaces_without(tile->valid, moves_of(op->port->graph, data, tile).to);
    tsl_spaces elsewhere = tsl_spaces_without(good, tsl_spaces_of(space));
    if (tsl_spaces_only(good, space))
        return true; /* What op doesn't write stays. */
    /* A host task that fails hasn't run: the host's copy is as good as it was, and may be mapped. */
    tsl_spaces kept = op->kind == TSL_OP_NATIVE || tsl_spaces_is_empty(elsewhere) ? good : elsewhere;
    return keep_of(op, tile, &copy, kept, like);
}

cl_int tsl_undo_note(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_rollback *like = NULL;
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    const struct tsl_extent *extent = tsl_extent_of(op, data);
    for (; tile; tile = tsl_tiles_next(tile, end)) {
        if (extent && !tsl_extent_meets(extent, tile->begin, tile->end))
            continue;
        if (!keep(op, data, tile, space, &like))
            return CL_OUT_OF_HOST_MEMORY;
        tile->restored = 0;
        tile->valid = tsl_spaces_of(space);
    }
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

void tsl_undo_spoil(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = op->unsure ? tsl_tiles_meeting(&data->tiles, begin, end) : NULL;
    for (; tile; tile = tsl_tiles_next_meeting(tile, end))
        tsl_tile_spoil(tile, space);
}

void tsl_undo_range(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        struct tsl_rollback *rollback = tsl_tile_kept(tile, &op->user);
        if (!rollback)
            continue;
        if (is_left_to_others(rollback, tile) && tsl_tile_unkeep_one(tile, rollback))
            continue;
        if (is_outlived(rollback, op, data, tile) && tsl_tile_hand_on(tile, rollback))
            continue;
        tile->valid = tsl_spaces_is_empty(rollback->valid) ? tsl_spaces_of(TSL_SPACE_LOST) : rollback->valid;
        tile->restored = graph->n_ops;
        tsl_tile_unkeep(tile, rollback);
    }
    tsl_tiles_join(&data->tiles, begin, end);
}

static void go_back_in(struct tsl_op *op, const struct tsl_buffer *buffer)
{
    const struct tsl_svm *svm = tsl_data_of(buffer)->svm;
    if (svm && svm->coarse) /* A kernel claims all of it. */
        tsl_undo_range(op, tsl_data_of(buffer), 0, svm->size);
    else
        tsl_undo_range(op, tsl_data_of(buffer), buffer->offset, buffer->offset + buffer->size);
}

/* A copy that wasn't written where others were isn't valid any more. The last one stays: what it hasn't of the write is
 * undefined, and it has the rest. */
static void drop_copy(struct tsl_op *op)
{
    struct tsl_data *data = op->dst.data;
    uint64_t begin = op->dst.offset, end = begin + tsl_side_hull(op, &op->dst);
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next(tile, end))
        if (!tsl_spaces_only(tile->valid, op->dst.space))
            tsl_spaces_remove(&tile->valid, op->dst.space);
    tsl_tiles_join(&data->tiles, begin, end);
}

void tsl_undo_claims(struct tsl_op *op)
{
    if (op->to_all) {
        drop_copy(op);
        return;
    }
    const struct tsl_command *c = op->command;
    if (op->slice) {
        tsl_undo_range(op, op->dst.data, op->dst.offset, op->dst.offset + tsl_side_hull(op, &op->dst));
        return;
    }
    if (op->kind == TSL_OP_COMBINE) {
        tsl_undo_range(op, op->dst.data, op->dst.offset, op->dst.offset + op->region[0]);
        return;
    }
    for (cl_uint i = 0; c->args && i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            go_back_in(op, c->args->args[i].buffer);
    for (cl_uint i = 0; i < c->n_buffers; i++)
        go_back_in(op, c->buffers[i]);
    if (c->dst)
        go_back_in(op, c->dst);
}
