/* Fetching and claiming ranges: which bytes must move first, and which operations must be waited for. */
#include "base/log.h"
#include "base/small_vector.h"
#include "driver/image.h"
#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/edge.h"
#include "graph/evict.h"
#include "graph/fetch.h"
#include "graph/join.h"
#include "graph/mapped.h"
#include "graph/move.h"
#include "graph/move_failed.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/residency.h"
#include "graph/state.h"
#include "graph/undo.h"
#include "graph/valid.h"
#include "object/svm.h"
#include "program/program.h"
#include "tile/ranges.h"
#include "tile/tile.h"

static uint64_t address(const void *host)
{
    return (uint64_t)(uintptr_t)host;
}

/* ---- Conflicts -------------------------------------------------------------------------------------------------- */

/* Who touches a range, for edges: an operation, or a command that has none for it. */
struct toucher {
    struct tsl_op *op;
    struct tsl_command *command;
};

static void depend(const struct toucher *t, struct tsl_op *before, bool strict)
{
    if (t->op)
        tsl_op_depend(t->op, before, strict);
    else
        tsl_command_depend(t->command, before, strict);
}

/* Edges from the uses of a tile that conflict: same copy, one of the two writes. Who reads fails with the writer. */
static void conflicts(const struct toucher *t, struct tsl_tile *tile, unsigned space, unsigned may)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        if (use->space == space && !use->left && (use->write || (may & TSL_MAY_WRITE)))
            depend(t, (struct tsl_op *)use->user, use->write && (may & TSL_MAY_READ));
    }
}

/* Touches [begin, end) of a map: edges, and the new use. A command without operation leaves no use. */
static cl_int touch(struct tsl_tiles *tiles, const struct toucher *t, uint64_t begin, uint64_t end, unsigned space,
                    unsigned may)
{
    struct tsl_tile *tile = t->op ? tsl_tiles_cut(tiles, begin, end) : tsl_tiles_meeting(tiles, begin, end);
    if (!tile && t->op)
        return CL_OUT_OF_HOST_MEMORY;
    while (tile) {
        tsl_tile_prune(tile);
        conflicts(t, tile, space, may);
        if (t->op && !tsl_tile_use(tile, &t->op->user, space, may & TSL_MAY_WRITE))
            return CL_OUT_OF_HOST_MEMORY;
        if (tile->uses.n > tsl_join_at)
            tsl_fold_readers(tile, t->op ? t->op->port->graph : t->command->graph, space, t->op);
        tile = t->op ? tsl_tiles_next(tile, end) : tsl_tiles_next_meeting(tile, end);
    }
    if (t->op)
        tsl_tiles_join(tiles, begin, end);
    return CL_SUCCESS;
}

/* The host's copy lies in the host map, by its addresses; a member's in the directory. */
static cl_int touch_copy(struct tsl_graph *graph, const struct toucher *t, struct tsl_data *data, uint64_t begin,
                         uint64_t end, unsigned space, unsigned may)
{
    if (space != TSL_SPACE_HOST)
        return touch(&data->tiles, t, begin, end, space, may);
    if (!tsl_data_host(data))
        return CL_OUT_OF_HOST_MEMORY;
    uint64_t base = address(data->host);
    return touch(&graph->host_map, t, base + begin, base + end, space, may);
}

/* ---- Validity --------------------------------------------------------------------------------------------------- */

static cl_int set_valid(struct tsl_data *data, uint64_t begin, uint64_t end, uint32_t keep, uint32_t add)
{
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, end))
        tile->valid = (tile->valid & keep) | add;
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

/* All of the range is written, whatever was there: only that space's copy counts. */
static cl_int set_only(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, end)) {
        tsl_tile_unkeep(tile, NULL);
        tile->restored = 0;
        tile->valid = TSL_SPACE_BIT(space);
    }
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

cl_int tsl_await_on_host(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    return set_only(data, begin, end, TSL_SPACE_HOST);
}

uint64_t tsl_missing(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    uint64_t missing = 0;
    for (struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end); tile;
         tile = tsl_tiles_next_meeting(tile, end)) {
        if (tile->valid == 0 || (tile->valid & TSL_SPACE_BIT(space)))
            continue;
        uint64_t from = tile->begin > begin ? tile->begin : begin;
        uint64_t to = tile->end < end ? tile->end : end;
        missing += to - from;
    }
    return missing;
}

/* The bytes are not where a move should have brought them; where they came from they still are. True: they were to be
 * given up there, as they also were if the move should have brought them back. Without memory for a border nobody could
 * tell which bytes of a tile these are, once they are nowhere else. */
static bool come_back(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to, unsigned from)
{
    bool given_up = false, cut = tsl_tiles_cut(&data->tiles, begin, end);
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        if (!(tile->valid & TSL_SPACE_BIT(to)))
            continue;
        if (!cut && tile->valid == TSL_SPACE_BIT(to)) {
            data->lost = true;
            continue;
        }
        given_up |= cut && (to == from || !(tile->valid & TSL_SPACE_BIT(from)));
        tile->valid = (tile->valid & ~TSL_SPACE_BIT(to)) | (cut ? TSL_SPACE_BIT(from) : 0);
    }
    tsl_tiles_join(&data->tiles, begin, end);
    return given_up;
}

/* What the operation is to bring to that space there, while nobody after it writes there, or what it brings there was
 * taken on from there and then away, and nobody was told that it won't; NULL: nothing. */
static struct tsl_use *brings(struct tsl_tile *tile, const struct tsl_op *op, unsigned space)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        struct tsl_use *use = &tile->uses.list[i];
        if (use->user == &op->user && use->space == space && use->write && !use->told)
            return use;
    }
    return NULL;
}

/* A move that takes bytes from where this operation should have brought them: it fails with it. NULL: the edge is none
 * to such. */
static struct tsl_op *next_move(const struct tsl_edge *edge, const struct tsl_data *data, unsigned space)
{
    struct tsl_op *op = edge->to;
    return op && edge->strict && op->move && op->src.data == data && op->src.space == space ? op : NULL;
}

static size_t hull_of(const struct tsl_op *op, const struct tsl_side *side)
{
    return tsl_hull(op->region, side->row_pitch, side->slice_pitch);
}

/* What comes after is told at once: until it fails itself, somebody might take its copy for a valid one, and when it
 * does, its source is none to come back to. */
static bool tell_next(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to,
                      unsigned from)
{
    bool given_up = false;
    for (unsigned i = 0; i < op->out.n; i++) {
        struct tsl_op *after = next_move(TSL_SMALL_AT(&op->out, i), data, to);
        uint64_t first = after ? after->src.offset : 0, last = after ? first + hull_of(after, &after->src) : 0;
        first = first > begin ? first : begin;
        last = last < end ? last : end;
        if (first < last)
            given_up |= tsl_not_moved(after, data, first, last, after->dst.space, from);
    }
    return given_up;
}

/* From begin on nobody has written the space's copy since; left: that was taken away, and others may have come to it.
 * *end: as far as there is one answer. */
static bool not_brought(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t *end, unsigned to,
                        unsigned from, bool left)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, begin);
    *end = tile->end < *end ? tile->end : *end;
    if (op->number <= tile->restored)
        return false; /* What it was to bring isn't missed: its source is no good, and others are. */
    bool given_up = !left && come_back(data, begin, *end, to, from);
    return tell_next(op, data, begin, *end, to, from) || given_up;
}

/* Who is told once isn't told again, when the operation fails itself: meanwhile the bytes may have been brought there
 * anew, or be known to have been there all the time. */
bool tsl_not_moved(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to, unsigned from)
{
    bool host = to == TSL_SPACE_HOST, given_up = false;
    struct tsl_tiles *tiles = host ? &op->port->graph->host_map : &data->tiles;
    uint64_t base = host ? address(data->host) : 0;
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
    uint64_t begin = op->dst.offset, end = begin + hull_of(op, &op->dst);
    if (tsl_not_moved(op, data, begin, end, op->dst.space, from) && from != TSL_SPACE_HOST)
        tsl_stay_seated(data, &op->port->graph->ports[from - 1]);
}

/* ---- Claims that fail --------------------------------------------------------------------------------------------
 *
 * Who has the old bytes and may write some of them makes its own copy the only valid one when it is scheduled, long
 * before it is known whether the bytes ever get there, and whether it runs. Until it has ended well its tiles keep what
 * was good before: copies that no move on its way writes. Should it fail, these are what there is. Nobody has written
 * them meanwhile: who would have, came strictly after it. (Or all was overwritten; then nothing was kept.) But a driver
 * runs what only stands behind a failed operation in its lane, and, in turn, moves that wait for that: what these write
 * is no good either. */

static uint32_t moved_by(const struct tsl_tile *tile, bool host)
{
    uint32_t spaces = 0;
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        const struct tsl_op *op = (const struct tsl_op *)use->user;
        bool moves = op->move || (host && op->kind == TSL_OP_ROOM);
        if (use->write && !use->left && !use->user->done && moves)
            spaces |= TSL_SPACE_BIT(use->space);
    }
    return spaces;
}

/* Where moves that haven't ended bring bytes of the tile. */
static uint32_t moved_to(struct tsl_graph *graph, const struct tsl_data *data, const struct tsl_tile *tile)
{
    uint32_t spaces = moved_by(tile, false);
    uint64_t base = address(data->host);
    struct tsl_tile *host =
        data->host ? tsl_tiles_meeting(&graph->host_map, base + tile->begin, base + tile->end) : NULL;
    for (; host; host = tsl_tiles_next_meeting(host, base + tile->end))
        spaces |= moved_by(host, true);
    return spaces;
}

/* False: no memory. */
static bool keep(struct tsl_op *op, struct tsl_data *data, struct tsl_tile *tile, unsigned space,
                 struct tsl_rollback **like)
{
    uint32_t here = TSL_SPACE_BIT(space);
    if (!tile->valid || (tile->valid == here && !data->moved))
        return true;
    tsl_tile_prune(tile);
    uint32_t good = tile->valid & ~moved_to(op->port->graph, data, tile);
    if (good == here)
        return true; /* What it doesn't write stays. */
    op->keeps = true;
    /* A host task that fails hasn't run: the host's copy is as good as it was, and may be mapped. */
    uint32_t kept = op->kind == TSL_OP_NATIVE || !(good & ~here) ? good : good & ~here;
    return tsl_tile_keep(tile, &op->user, kept, like);
}

/* The operation, which has the old bytes in that space, is to change some. */
static cl_int change(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_rollback *like = NULL;
    struct tsl_tile *tile = tsl_tiles_cut(&data->tiles, begin, end);
    if (!tile)
        return CL_OUT_OF_HOST_MEMORY;
    for (; tile; tile = tsl_tiles_next(tile, end)) {
        if (!keep(op, data, tile, space, &like))
            return CL_OUT_OF_HOST_MEMORY;
        tile->restored = 0;
        tile->valid = TSL_SPACE_BIT(space);
    }
    tsl_tiles_join(&data->tiles, begin, end);
    return CL_SUCCESS;
}

/* The move may write there though it fails. */
static void spoil(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = op->unsure ? tsl_tiles_meeting(&data->tiles, begin, end) : NULL;
    for (; tile; tile = tsl_tiles_next_meeting(tile, end))
        tsl_tile_spoil(tile, space);
}

static void go_back(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        struct tsl_rollback *rollback = tsl_tile_kept(tile, &op->user);
        if (!rollback)
            continue;
        tile->valid = rollback->valid ? rollback->valid : TSL_SPACE_BIT(TSL_SPACE_LOST);
        tile->restored = graph->n_ops;
        tsl_tile_unkeep(tile, rollback);
    }
    tsl_tiles_join(&data->tiles, begin, end);
}

static void go_back_in(struct tsl_op *op, const struct tsl_buffer *buffer)
{
    const struct tsl_svm *svm = tsl_data_of(buffer)->svm;
    if (svm && svm->coarse) /* A kernel claims all of it. */
        go_back(op, tsl_data_of(buffer), 0, svm->size);
    else
        go_back(op, tsl_data_of(buffer), buffer->offset, buffer->offset + buffer->size);
}

void tsl_claims_failed(struct tsl_op *op)
{
    const struct tsl_command *c = op->command;
    for (cl_uint i = 0; c->args && i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            go_back_in(op, c->args->args[i].buffer);
    for (cl_uint i = 0; i < c->n_buffers; i++)
        go_back_in(op, c->buffers[i]);
    if (c->dst)
        go_back_in(op, c->dst);
}

/* ---- Evictions -------------------------------------------------------------------------------------------------- */

bool tsl_only_there(struct tsl_data *data, unsigned space, uint64_t *begin, uint64_t *end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, *begin, data->size);
    while (tile && tile->valid != TSL_SPACE_BIT(space))
        tile = tsl_tiles_next_meeting(tile, data->size);
    if (!tile)
        return false;
    *begin = tile->begin;
    do {
        *end = tile->end;
        tile = tsl_tiles_next_meeting(tile, data->size);
    } while (tile && tile->valid == TSL_SPACE_BIT(space));
    return true;
}

void tsl_leave_space(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_leave(tile, &op->user, space);
        for (struct tsl_rollback *rollback = tile->rollback; rollback; rollback = rollback->older)
            rollback->valid &= ~TSL_SPACE_BIT(space);
    }
    set_valid(data, 0, data->size, ~TSL_SPACE_BIT(space), 0);
}

cl_int tsl_claim_place(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct toucher t = {.op = op};
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_prune(tile);
        conflicts(&t, tile, space, TSL_MAY_WRITE);
        if (!tsl_tile_use_too(tile, &op->user, space))
            return CL_OUT_OF_HOST_MEMORY;
    }
    tsl_tiles_join(&data->tiles, 0, data->size);
    return CL_SUCCESS;
}

void tsl_follow_place(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, 0, data->size);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size))
        tsl_tile_use_too(tile, &op->user, space);
    tsl_tiles_join(&data->tiles, 0, data->size);
}

cl_int tsl_claim_spill(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct toucher t = {.op = op};
    data->moved = true;
    cl_int error = touch_copy(op->port->graph, &t, data, begin, end, TSL_SPACE_HOST, TSL_MAY_WRITE);
    return error ? error : set_valid(data, begin, end, ~0u, TSL_SPACE_BIT(TSL_SPACE_HOST));
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

bool tsl_space_idle(struct tsl_data *data, unsigned space)
{
    return unused(&data->tiles, 0, data->size, space);
}

bool tsl_host_idle(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    uint64_t base = address(data->host);
    return unused(&data->context->graph->host_map, base + begin, base + end, TSL_SPACE_HOST);
}

/* ---- Moves ------------------------------------------------------------------------------------------------------ */

static struct tsl_member *member_of(struct tsl_graph *graph, unsigned space)
{
    return space == TSL_SPACE_HOST ? NULL : graph->ports[space - 1].member;
}

static bool peers(struct tsl_graph *graph, unsigned from, unsigned to)
{
    struct tsl_member *a = member_of(graph, from), *b = member_of(graph, to);
    return a && b && a->driver == b->driver && a->driver->can_copy_peer(a, b);
}

bool tsl_moves_directly(struct tsl_graph *graph, unsigned from, unsigned to)
{
    return from == TSL_SPACE_HOST || to == TSL_SPACE_HOST || peers(graph, from, to);
}

/* Where to take a tile from: a peer of the target, else the host, else any member (by way of the host). */
unsigned tsl_best_source(struct tsl_graph *graph, uint32_t valid, unsigned to)
{
    for (unsigned s = 1; s <= graph->n_ports; s++)
        if ((valid & TSL_SPACE_BIT(s)) && peers(graph, s, to))
            return s;
    return (unsigned)__builtin_ctz(valid); /* The host is bit 0. */
}

unsigned tsl_boxes_of(const struct tsl_data *data, uint64_t begin, uint64_t end,
                      struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES])
{
    if (data->padded)
        return tsl_image_cut(data->image, begin, end, boxes);
    boxes[0] = (struct tsl_image_box){.offset = begin, .region = {end - begin, 1, 1}};
    return 1;
}

static cl_int move_box(struct tsl_command *command, const struct tsl_move *move, const struct tsl_image_box *box)
{
    struct tsl_op *op = tsl_plan_move(command, move, box);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    struct toucher t = {.op = op};
    uint64_t begin = box->offset, end = begin + hull_of(op, &op->dst);
    cl_int error = touch_copy(command->graph, &t, move->data, begin, end, move->from, TSL_MAY_READ);
    if (!error)
        error = touch_copy(command->graph, &t, move->data, begin, end, move->to, TSL_MAY_WRITE);
    spoil(op, move->data, begin, end, move->to);
    if (!error)
        error = set_valid(move->data, begin, end, ~0u, TSL_SPACE_BIT(move->to));
    if (error)
        op->poison = error;
    move->data->moved = true;
    tsl_op_go(op);
    tsl_op_unref(op);
    return error;
}

static cl_int move(struct tsl_command *command, const struct tsl_move *move)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_boxes_of(move->data, move->begin, move->end, boxes);
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < n && !error; i++)
        error = move_box(command, move, &boxes[i]);
    /* What is no pixel is nowhere, and so it is everywhere. */
    return error ? error : set_valid(move->data, move->begin, move->end, ~0u, TSL_SPACE_BIT(move->to));
}

cl_int tsl_spill(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    const struct tsl_move spill = {data, begin, end, space, TSL_SPACE_HOST, true};
    return move(command, &spill);
}

void tsl_warn_unwritten(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    while (tile && tile->valid)
        tile = tsl_tiles_next_meeting(tile, end);
    if (!tile)
        return;
    if (!data->warned)
        tsl_log(TSL_LOG_IN_TILE, TSL_LOG_WARN, "a buffer of %zu bytes is read before anything was written to it",
                data->size);
    data->warned = true;
}

/* The first run of tiles in [*begin, end) that lack the space and have one source. False: nothing is lacking. */
static bool lacking(struct tsl_graph *graph, struct tsl_data *data, uint64_t *begin, uint64_t *end, unsigned space,
                    unsigned *from)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, *begin, *end);
    while (tile && (tile->valid & TSL_SPACE_BIT(space)))
        tile = tsl_tiles_next_meeting(tile, *end);
    if (!tile)
        return false;
    uint64_t limit = *end;
    *begin = tile->begin > *begin ? tile->begin : *begin;
    *from = tile->valid ? tsl_best_source(graph, tile->valid, space) : space;
    do {
        *end = tile->end < limit ? tile->end : limit;
        tile = tsl_tiles_next_meeting(tile, limit);
    } while (tile && !(tile->valid & TSL_SPACE_BIT(space)) &&
             (tile->valid ? tsl_best_source(graph, tile->valid, space) : space) == *from);
    return true;
}

/* One run, in one or two moves. */
static cl_int fetch_run(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned from,
                        unsigned to)
{
    if (from == TSL_SPACE_LOST)
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (from == to) /* Nothing was ever written: whatever is there will do, and isn't worth moving from there. */
        return CL_SUCCESS;
    struct tsl_move way = {data, begin, end, from, to, false};
    if (!tsl_moves_directly(command->graph, from, to)) {
        way.to = TSL_SPACE_HOST;
        cl_int error = move(command, &way);
        if (error)
            return error;
        way.from = TSL_SPACE_HOST;
        way.to = to;
    }
    return move(command, &way);
}

cl_int tsl_fetch(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    uint64_t run_begin = begin, run_end = end;
    unsigned from = 0;
    cl_int error = data->lost ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (space != TSL_SPACE_HOST)
        tsl_seat(command, data, &command->graph->ports[space - 1]);
    while (!error && run_begin < end && lacking(command->graph, data, &run_begin, &run_end, space, &from)) {
        error = fetch_run(command, data, run_begin, run_end, from, space);
        run_begin = run_end;
        run_end = end;
    }
    return error;
}

/* ---- Mapped ranges ---------------------------------------------------------------------------------------------- */

cl_int tsl_map_range(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    return tsl_ranges_add(&data->mapped, begin, end) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void tsl_unmap_range(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    tsl_ranges_remove(&data->mapped, begin, end);
}

static cl_int keep_mapped(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    const struct tsl_ranged *range = tsl_ranges_meeting(&data->mapped, begin, end);
    cl_int error = CL_SUCCESS;
    for (; range && !error; range = tsl_ranges_next_meeting(range, begin, end)) {
        uint64_t from = range->begin > begin ? range->begin : begin;
        uint64_t to = range->end < end ? range->end : end;
        error = set_valid(data, from, to, ~0u, TSL_SPACE_BIT(TSL_SPACE_HOST));
    }
    return error;
}

/* ---- Claims ----------------------------------------------------------------------------------------------------- */

cl_int tsl_claim(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space, unsigned may)
{
    struct toucher t = {.op = op};
    cl_int error = CL_SUCCESS;
    if (space != TSL_SPACE_HOST)
        tsl_seat(op->command, data, &op->port->graph->ports[space - 1]);
    if (may == (TSL_MAY_READ | TSL_MAY_WRITE)) /* First, while the uses tell what is being moved. */
        error = change(op, data, begin, end, space);
    if (!error)
        error = touch_copy(op->port->graph, &t, data, begin, end, space, may);
    if (!error && data->lost && (may & TSL_MAY_READ))
        error = CL_OUT_OF_HOST_MEMORY;
    if (error && op->keeps) /* At once: who comes next may have nothing by which to fail with it. */
        go_back(op, data, begin, end);
    if (!error && may == TSL_MAY_WRITE)
        error = set_only(data, begin, end, space);
    return error || !(may & TSL_MAY_WRITE) ? error : keep_mapped(data, begin, end);
}

cl_int tsl_claim_host(struct tsl_op *op, const void *host, size_t size, bool write)
{
    struct toucher t = {.op = op};
    return touch(&op->port->graph->host_map, &t, address(host), address(host) + size, TSL_SPACE_HOST,
                 write ? TSL_MAY_WRITE : TSL_MAY_READ);
}

static void forget_side(struct tsl_op *op, const struct tsl_side *side)
{
    const char *host = side->data ? side->data->host : side->host;
    if (side->space != TSL_SPACE_HOST || !host)
        return;
    uint64_t begin = address(host) + side->offset;
    tsl_tiles_join(&op->port->graph->host_map, begin, begin + tsl_hull(op->region, side->row_pitch, side->slice_pitch));
}

void tsl_forget_host(struct tsl_op *op)
{
    if (op->kind != TSL_OP_COPY)
        return;
    forget_side(op, &op->dst);
    forget_side(op, &op->src);
}

cl_int tsl_claim_for_command(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end,
                             unsigned may, bool exclusive)
{
    struct toucher t = {.command = command};
    cl_int error = touch_copy(command->graph, &t, data, begin, end, TSL_SPACE_HOST, may);
    return error || !exclusive ? error : set_only(data, begin, end, TSL_SPACE_HOST);
}
