/* Copies. Those with the host's memory or another node's are cut into pieces, each one waiting for the one before, so
 * that the last one's fence tells of all. */
#include "driver/box.h"
#include "remote/work.h"

#include <stdlib.h>
#include <string.h>

bool remote_can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    struct remote_member *a = remote_member_of(from), *b = remote_member_of(to);

    return a == b || a->node != b->node || (a->path->is.peers >> b->path->index & 1);
}

static void set_places(struct tsl_remote_request *request, const struct tsl_copy *copy)
{
    if (copy->dst.mem)
        remote_work_set_place(&request->dst, &copy->dst);
    if (copy->src.mem)
        remote_work_set_place(&request->src, &copy->src);
    for (unsigned d = 0; d < 3; d++)
        request->region[d] = copy->region[d];
    request->loose = copy->loose;
}

static cl_int copy_there(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                         struct tsl_fence **fence)
{
    struct remote_work work;
    cl_int error;

    if (!remote_can_copy_peer(copy->src.mem->member, copy->dst.mem->member))
        return CL_INVALID_MEM_OBJECT;
    remote_lock(remote_lane_connection(lane));
    error = remote_work_begin_locked(&work, lane, TSL_REMOTE_COPY, waits);
    set_places(&work.request, copy);
    return remote_work_say_unlock(&work, error, waits, fence);
}

/* Data follow when that is right: at once, unless work before it may write to the program's memory first. */
static cl_int attach_locked(struct remote_work *work, const struct tsl_copy *copy, uint8_t *inline_bytes,
                            struct remote_parcel **parcel)
{
    size_t size = copy->region[0] * copy->region[1] * copy->region[2];

    *parcel = NULL;
    if (!work->held && size <= TSL_REMOTE_INLINE) {
        remote_pack(inline_bytes, &copy->src, copy->region);
        work->request.data = inline_bytes;
        work->request.data_size = size;
        return CL_SUCCESS;
    }
    *parcel = calloc(1, sizeof(**parcel));
    if (!*parcel)
        return CL_OUT_OF_HOST_MEMORY;
    work->request.later = true;
    (*parcel)->node = work->node;
    (*parcel)->host = copy->src;
    (*parcel)->size = size;
    memcpy((*parcel)->region, copy->region, sizeof(copy->region));
    atomic_init(&(*parcel)->n_left, 1);
    return CL_SUCCESS;
}

/* The held work that data of a transfer wait for: of all its pieces the same, so that none waits for the one before. */
struct holders {
    TSL_SMALL_VECTOR(struct remote_fence *, 4) list; /* references */
};

static cl_int add_holder_locked(struct holders *holders, struct remote_fence *fence)
{
    if (!fence || !fence->held || remote_fence_has_ended(fence))
        return CL_SUCCESS;
    if (!TSL_SMALL_PUSH(&holders->list, fence))
        return CL_OUT_OF_HOST_MEMORY;
    tsl_fence_ref(&fence->base);
    return CL_SUCCESS;
}

/* Before the first piece is said. */
static cl_int find_holders(struct holders *holders, struct tsl_lane *lane, const struct tsl_waits *waits)
{
    cl_int error = CL_SUCCESS;

    remote_lock(remote_lane_connection(lane));
    for (unsigned i = 0; waits && i < waits->n && !error; i++)
        if (remote_can_wait(lane->member, waits->fences[i]))
            error = add_holder_locked(holders, remote_fence_of(waits->fences[i]));
    if (!error)
        error = add_holder_locked(holders, ((struct remote_lane *)lane)->last_held);
    remote_unlock(remote_lane_connection(lane));
    return error;
}

static void drop_holders(struct holders *holders)
{
    for (unsigned i = 0; i < holders->list.n; i++)
        remote_fence_drop(*TSL_SMALL_AT(&holders->list, i));
    TSL_SMALL_FINISH(&holders->list);
}

/* Room for the notes, so that the parcel can't go too early for want of memory. */
static cl_int reserve_notes_locked(struct holders *holders)
{
    for (unsigned i = 0; i < holders->list.n; i++) {
        struct remote_fence *fence = *TSL_SMALL_AT(&holders->list, i);

        if (!remote_fence_has_ended(fence) && !TSL_SMALL_RESERVE(&fence->notes))
            return CL_OUT_OF_HOST_MEMORY;
    }
    return CL_SUCCESS;
}

/* The parcel goes when all that holds it has ended. */
static void hold_parcel_locked(struct remote_work *work, struct remote_parcel *parcel, struct holders *holders)
{
    struct remote_note note = {remote_release_parcel, parcel};

    parcel->id = work->request.id;
    for (unsigned i = 0; i < holders->list.n; i++) {
        struct remote_fence *fence = *TSL_SMALL_AT(&holders->list, i);

        /* A fence that is named twice has room for one note alone: the second push may fail, and the first suffices. */
        if (!remote_fence_has_ended(fence) && TSL_SMALL_PUSH(&fence->notes, note))
            atomic_fetch_add(&parcel->n_left, 1);
    }
    if (atomic_fetch_sub(&parcel->n_left, 1) == 1)
        remote_post_locked(work->node->connection, parcel);
}

static enum tsl_remote_request_kind kind_of(const struct tsl_copy *copy)
{
    return !copy->src.mem ? TSL_REMOTE_WRITE : !copy->dst.mem ? TSL_REMOTE_READ : TSL_REMOTE_PULL;
}

/* A box, or ranges at the same places of both memories: then the copy names these alone. */
struct piece {
    struct tsl_copy copy;
    bool goes_on; /* it is another than the first */
    unsigned n_ranges;
    struct tsl_range_of_bytes *ranges; /* borrowed */
};

static void set_transfer(struct tsl_remote_request *request, const struct piece *piece)
{
    set_places(request, &piece->copy);
    if (request->kind != TSL_REMOTE_PULL)
        return;
    request->of = remote_member_of(piece->copy.src.mem->member)->node->index;
    request->goes_on = piece->goes_on;
    request->n_ranges = piece->n_ranges;
    request->ranges = piece->ranges;
}

/* One piece. It has a fence of its own in any case: the next one waits for it, and data may be held for it. */
static cl_int transfer_piece(struct tsl_lane *lane, const struct piece *piece, const struct tsl_waits *waits,
                             struct holders *holders, struct remote_fence **made)
{
    const struct tsl_copy *copy = &piece->copy;
    bool writes = !copy->src.mem;
    uint8_t inline_bytes[TSL_REMOTE_INLINE];
    struct remote_parcel *parcel = NULL;
    struct remote_fence *old = NULL;
    struct remote_work work;
    cl_int error;

    remote_lock(remote_lane_connection(lane));
    error = remote_work_begin_locked(&work, lane, kind_of(copy), waits);
    set_transfer(&work.request, piece);
    if (!error)
        error = reserve_notes_locked(holders);
    if (!error && writes)
        error = attach_locked(&work, copy, inline_bytes, &parcel);
    if (!error)
        error = remote_work_name_locked(&work, true, waits);
    if (error) {
        free(parcel);
    } else {
        if (!copy->dst.mem) {
            work.fence->host = copy->dst;
            memcpy(work.fence->region, copy->region, sizeof(copy->region));
        }
        remote_work_put_locked(&work);
        if (parcel)
            hold_parcel_locked(&work, parcel, holders);
        old = remote_work_hold_locked(&work);
    }
    remote_unlock(remote_lane_connection(lane));
    free(work.request.waits);
    remote_fence_drop(old);
    *made = work.fence;
    return error;
}

/* The pieces of a box, one after the other: slices, rows, or parts of a row. */
struct pieces {
    const struct tsl_copy *copy;
    size_t step[3], at[3];
    bool over;
};

static void cut(struct pieces *pieces, const struct tsl_copy *copy)
{
    size_t row = copy->region[0], slice = row * copy->region[1];

    *pieces = (struct pieces){.copy = copy, .step = {row, copy->region[1], copy->region[2]}};
    if (row > TSL_REMOTE_PIECE) {
        pieces->step[0] = TSL_REMOTE_PIECE;
        pieces->step[1] = pieces->step[2] = 1;
    } else if (slice > TSL_REMOTE_PIECE) {
        pieces->step[1] = TSL_REMOTE_PIECE / row;
        pieces->step[2] = 1;
    } else if (slice * copy->region[2] > TSL_REMOTE_PIECE) {
        pieces->step[2] = TSL_REMOTE_PIECE / slice;
    }
}

static void next_piece(struct pieces *pieces, struct tsl_copy *piece)
{
    const struct tsl_copy *copy = pieces->copy;

    *piece = *copy;
    for (unsigned d = 0; d < 3; d++) {
        size_t left = copy->region[d] - pieces->at[d];

        piece->region[d] = left < pieces->step[d] ? left : pieces->step[d];
    }
    piece->dst.offset = tsl_place_row(&copy->dst, pieces->at[1], pieces->at[2]) + pieces->at[0];
    piece->src.offset = tsl_place_row(&copy->src, pieces->at[1], pieces->at[2]) + pieces->at[0];
    for (unsigned d = 0; d < 3; d++) {
        pieces->at[d] += piece->region[d];
        if (pieces->at[d] < copy->region[d])
            return;
        pieces->at[d] = 0;
    }
    pieces->over = true;
}

/* What is one range on both sides is cut as one row. */
static struct tsl_copy straightened(const struct tsl_copy *copy)
{
    struct tsl_copy straight = *copy;

    if (tsl_copy_is_linear(copy)) {
        straight.region[0] = copy->region[0] * copy->region[1] * copy->region[2];
        straight.region[1] = straight.region[2] = 1;
    }
    if (straight.region[1] == 1 && straight.region[2] == 1)
        straight.dst.row_pitch = straight.src.row_pitch = 0;
    return straight;
}

/* If a piece can't be said, those before it may write: an error is told, and nothing may use the memory that is named.
 * So their end is awaited; it takes no other's help, as this only happens without memory or on a loss. */
static cl_int give_up(struct tsl_lane *lane, struct remote_fence *before, cl_int error)
{
    if (before) {
        tsl_remote_driver.flush(lane);
        if (!before->held)
            remote_fence_wait(&before->base);
        remote_fence_drop(before);
    }
    return error;
}

/* It began when the first one did. */
static void set_first(struct remote_fence *made, struct remote_fence *before)
{
    made->first = before->first ? before->first : before;
    tsl_fence_ref(&made->first->base);
}

/* Behind the last piece, whose place it takes as the last. */
static cl_int add_piece(struct tsl_lane *lane, struct piece *piece, const struct tsl_waits *waits,
                        struct holders *holders, struct remote_fence **last)
{
    struct tsl_fence *chain = *last ? &(*last)->base : NULL;
    const struct tsl_waits behind = {1, &chain};
    struct remote_fence *made = NULL;
    cl_int error;

    piece->goes_on = chain != NULL;
    error = transfer_piece(lane, piece, chain ? &behind : waits, holders, &made);
    if (error) {
        remote_fence_drop(made);
        return give_up(lane, *last, error);
    }
    if (*last)
        set_first(made, *last);
    remote_fence_drop(*last);
    *last = made;
    return CL_SUCCESS;
}

static cl_int transfer_pieces(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                              struct holders *holders, struct remote_fence **last)
{
    struct piece piece = {.n_ranges = 0};
    struct pieces pieces;
    cl_int error;

    *last = NULL;
    cut(&pieces, copy);
    do {
        next_piece(&pieces, &piece.copy);
        error = add_piece(lane, &piece, waits, holders, last);
    } while (!error && !pieces.over);
    return error;
}

static cl_int transfer(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    const struct tsl_copy straight = straightened(copy);
    struct holders holders = {.list = {.n = 0}};
    struct remote_fence *last = NULL;
    cl_int error = find_holders(&holders, lane, waits);

    if (!error)
        error = transfer_pieces(lane, &straight, waits, &holders, &last);
    drop_holders(&holders);
    if (!error && fence)
        *fence = &last->base;
    else if (!error)
        remote_fence_drop(last);
    return error;
}

/* Before a PULL: what the program has told the other node of the memory goes with the next flush at the latest. */
static void send_of(const struct tsl_mem *src)
{
    struct remote_node *from = remote_member_of(src->member)->node;

    remote_lock(from->connection);
    from->urgent = from->connection->unflushed = true;
    remote_unlock(from->connection);
}

static cl_int pull(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    if (copy->dst.mem->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    send_of(copy->src.mem);
    return transfer(lane, copy, waits, fence);
}

/* The next ranges from *at on of the gather's i-th, so many bytes as a piece may have. */
#define MOST_RANGES 64u

static void next_ranges(const struct tsl_gather *gather, unsigned *i, uint64_t *at, struct piece *piece)
{
    uint64_t left = TSL_REMOTE_PIECE;

    for (piece->n_ranges = 0; *i < gather->n && left && piece->n_ranges < MOST_RANGES;) {
        uint64_t begin = *at > gather->list[*i].begin ? *at : gather->list[*i].begin;
        uint64_t size = gather->list[*i].end - begin < left ? gather->list[*i].end - begin : left;

        piece->ranges[piece->n_ranges++] = (struct tsl_range_of_bytes){begin, begin + size};
        left -= size;
        *at = begin + size;
        *i += *at == gather->list[*i].end;
    }
}

/* Ranges of another node's memory come in one message, or in one for each piece. */
cl_int remote_gather(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    struct tsl_range_of_bytes ranges[MOST_RANGES];
    struct piece piece = {.copy = {.dst = {.mem = gather->dst}, .src = {.mem = gather->src}, .region = {1, 1, 1}},
                          .ranges = ranges};
    struct holders holders = {.list = {.n = 0}};
    struct remote_fence *last = NULL;
    unsigned i = 0;
    uint64_t at = 0;
    cl_int error = CL_SUCCESS;

    if (gather->dst->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    if (remote_member_of(gather->src->member)->node == remote_member_of(lane->member)->node)
        return CL_INVALID_OPERATION;
    send_of(gather->src);
    while (i < gather->n && !error) {
        next_ranges(gather, &i, &at, &piece);
        error = add_piece(lane, &piece, waits, &holders, &last);
    }
    if (!error && fence)
        *fence = &last->base;
    else if (!error)
        remote_fence_drop(last);
    return error;
}

cl_int remote_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    const struct tsl_mem *dst = copy->dst.mem, *src = copy->src.mem;

    if ((!dst || dst->member != lane->member) && (!src || src->member != lane->member))
        return CL_INVALID_MEM_OBJECT;
    if (!dst || !src)
        return transfer(lane, copy, waits, fence);
    if (remote_member_of(dst->member)->node == remote_member_of(src->member)->node)
        return copy_there(lane, copy, waits, fence);
    return pull(lane, copy, waits, fence);
}
