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

/* Of a piece; goes_on: it is another than the first. */
static void set_transfer(struct tsl_remote_request *request, const struct tsl_copy *piece, bool goes_on)
{
    set_places(request, piece);
    if (request->kind != TSL_REMOTE_PULL)
        return;
    request->of = remote_member_of(piece->src.mem->member)->node->index;
    request->goes_on = goes_on;
}

/* One piece. It has a fence of its own in any case: the next one waits for it, and data may be held for it. */
static cl_int transfer_piece(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                             struct holders *holders, bool goes_on, struct remote_fence **made)
{
    bool writes = !copy->src.mem;
    uint8_t inline_bytes[TSL_REMOTE_INLINE];
    struct remote_parcel *parcel = NULL;
    struct remote_fence *old = NULL;
    struct remote_work work;
    cl_int error;

    remote_lock(remote_lane_connection(lane));
    error = remote_work_begin_locked(&work, lane, kind_of(copy), waits);
    set_transfer(&work.request, copy, goes_on);
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

static cl_int transfer_pieces(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                              struct holders *holders, struct remote_fence **last)
{
    struct remote_fence *made = NULL;
    struct tsl_copy piece;
    struct pieces pieces;

    *last = NULL;
    cut(&pieces, copy);
    do {
        struct tsl_fence *chain = *last ? &(*last)->base : NULL;
        const struct tsl_waits behind = {1, &chain};
        cl_int error;

        next_piece(&pieces, &piece);
        error = transfer_piece(lane, &piece, chain ? &behind : waits, holders, chain != NULL, &made);
        if (error) {
            remote_fence_drop(made);
            return give_up(lane, *last, error);
        }
        remote_fence_drop(*last);
        *last = made;
    } while (!pieces.over);
    return CL_SUCCESS;
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

/* From another node. What the program has told that one of the memory goes first. */
static cl_int pull(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    struct remote_node *from = remote_member_of(copy->src.mem->member)->node;

    if (copy->dst.mem->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    remote_lock(from->connection);
    if (!from->lost)
        remote_send_locked(from);
    remote_unlock(from->connection);
    return transfer(lane, copy, waits, fence);
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
