/* Work as requests. Transfers with the host's memory are cut into pieces, each one waiting for the one before, so that
 * the last one's fence tells of all. */
#include "driver/box.h"
#include "driver/combine.h"
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

/* What all kinds of work have in common while a request of it is made. */
struct work {
    struct remote_lane *lane;
    struct remote_node *node;
    struct tsl_remote_request request;
    bool held;                  /* struct remote_fence */
    struct remote_fence *fence; /* NULL: nobody asks */
};

static bool has_ended(const struct remote_fence *fence)
{
    return atomic_load(&fence->status) <= CL_COMPLETE;
}

/* Work of another lane that is waited for must begin by itself. */
static void flush_locked(struct work *work, struct remote_fence *fence)
{
    if (fence->flushed || !fence->on_way || fence->lane_id == work->lane->id)
        return;
    fence->flushed = true;
    remote_say_locked(work->node, &(struct tsl_remote_request){.kind = TSL_REMOTE_FLUSH, .id = fence->lane_id});
}

/* Fences that ended well need no mention. request.waits is the work's (heap). */
static cl_int take_waits_locked(struct work *work, const struct tsl_waits *waits)
{
    unsigned n = waits ? waits->n : 0;

    work->request.waits = n ? malloc(n * sizeof(uint64_t)) : NULL;
    if (n && !work->request.waits)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < n; i++) {
        struct remote_fence *fence = remote_fence_of(waits->fences[i]);

        if (atomic_load(&fence->status) == CL_COMPLETE)
            continue;
        work->request.waits[work->request.n_waits++] = fence->id;
        flush_locked(work, fence);
        work->held = work->held || (fence->held && !has_ended(fence));
    }
    work->held = work->held || (work->lane->last_held && !has_ended(work->lane->last_held));
    return CL_SUCCESS;
}

static cl_int begin_locked(struct work *work, struct tsl_lane *lane, enum tsl_remote_request_kind kind,
                           const struct tsl_waits *waits)
{
    struct remote_member *member = remote_member_of(lane->member);

    *work = (struct work){.lane = (struct remote_lane *)lane, .node = member->node};
    work->request.kind = kind;
    work->request.lane = work->lane->id;
    for (unsigned i = 0; waits && i < waits->n; i++)
        if (!remote_can_wait(lane->member, waits->fences[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
    if (tsl_member_is_lost(lane->member) || work->node->lost)
        return CL_DEVICE_NOT_AVAILABLE;
    return take_waits_locked(work, waits);
}

/* So that a loss ends it in its turn. Without memory it ends early, with an error all the same. */
static void keep_waits(struct remote_fence *fence, const struct tsl_waits *waits)
{
    for (unsigned i = 0; waits && i < waits->n; i++) {
        struct remote_fence *wait = remote_fence_of(waits->fences[i]);

        if (!has_ended(wait) && TSL_SMALL_PUSH(&fence->waits, wait))
            tsl_fence_ref(&wait->base);
    }
}

/* Gives it a number and, where it is wanted or needed, a fence, whose creator's reference is work->fence. */
static cl_int name_locked(struct work *work, bool wanted, const struct tsl_waits *waits)
{
    struct tsl_remote_request *r = &work->request;

    work->held = work->held || r->kind == TSL_REMOTE_READ;
    if (!wanted && !work->held) {
        r->id = remote_new_id_locked(work->node->connection);
        return CL_SUCCESS;
    }
    work->fence = remote_fence_create_locked(work->lane);
    if (!work->fence)
        return CL_OUT_OF_HOST_MEMORY;
    work->fence->held = work->held;
    keep_waits(work->fence, waits);
    r->id = work->fence->id;
    r->named = r->tell = true;
    return CL_SUCCESS;
}

/* Drops what is behind the lane's last held work; the caller drops the reference that is returned, without the lock. */
static struct remote_fence *hold_locked(struct work *work)
{
    struct remote_fence *old = NULL;

    if (work->held && work->fence) {
        old = work->lane->last_held;
        tsl_fence_ref(&work->fence->base);
        work->lane->last_held = work->fence;
    }
    return old;
}

static void drop(struct remote_fence *fence)
{
    if (fence)
        tsl_fence_unref(&fence->base);
}

/* Says it, and unlocks. fence as the contract has it. */
static cl_int say_unlock(struct work *work, cl_int error, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct remote_connection *c = work->node->connection;
    struct remote_fence *old = NULL;

    if (!error)
        error = name_locked(work, fence != NULL, waits);
    if (!error) {
        remote_say_locked(work->node, &work->request);
        old = hold_locked(work);
    }
    remote_unlock(c);
    free(work->request.waits);
    drop(old);
    if (error || !fence)
        drop(work->fence);
    else
        *fence = &work->fence->base;
    return error;
}

static void set_place(struct tsl_remote_place *to, const struct tsl_place *from)
{
    *to = (struct tsl_remote_place){remote_mem_of(from->mem)->id, from->offset, from->row_pitch, from->slice_pitch};
}

static struct remote_connection *connection_of(const struct tsl_lane *lane)
{
    return remote_member_of(lane->member)->node->connection;
}

cl_int remote_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct work work;

    remote_lock(connection_of(lane));
    return say_unlock(&work, begin_locked(&work, lane, TSL_REMOTE_MARK, waits), waits, fence);
}

cl_int remote_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    struct work work;
    cl_int error;

    if (!fill->dst.mem || fill->dst.mem->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    remote_lock(connection_of(lane));
    error = begin_locked(&work, lane, TSL_REMOTE_FILL, waits);
    set_place(&work.request.dst, &fill->dst);
    for (unsigned d = 0; d < 3; d++)
        work.request.region[d] = fill->region[d];
    work.request.data = fill->pattern;
    work.request.data_size = fill->pattern_size;
    return say_unlock(&work, error, waits, fence);
}

static void set_side(struct tsl_remote_place *to, const struct tsl_combine_side *from)
{
    *to = (struct tsl_remote_place){.mem = from->mem ? remote_mem_of(from->mem)->id : 0, .offset = from->offset};
}

cl_int remote_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                      struct tsl_fence **fence)
{
    struct work work;
    cl_int error;

    if (!tsl_combine_is_of(combine, lane->member))
        return CL_INVALID_MEM_OBJECT;
    remote_lock(connection_of(lane));
    error = begin_locked(&work, lane, TSL_REMOTE_COMBINE, waits);
    set_side(&work.request.dst, &combine->dst);
    set_side(&work.request.src, &combine->a);
    set_side(&work.request.other, &combine->b);
    set_side(&work.request.before, &combine->before);
    work.request.size = combine->size;
    work.request.width = combine->width;
    work.request.how = combine->how;
    return say_unlock(&work, error, waits, fence);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void set_arg(struct tsl_remote_arg *to, const struct tsl_bound_arg *from)
{
    bool has_value = from->kind == TSL_ARG_VALUE || from->kind == TSL_ARG_SAMPLER;

    *to = (struct tsl_remote_arg){.kind = from->kind, .size = from->size, .has_part = from->part != NULL};
    if (has_value)
        to->value = from->value;
    if (from->kind == TSL_ARG_SAMPLER)
        to->size = sizeof(struct tsl_sampler_desc);
    if (from->kind == TSL_ARG_MEM)
        to->mem = from->mem ? remote_mem_of(from->mem)->id : 0;
    if (from->part)
        to->part = *from->part;
}

/* The node has them already if it was given them last. */
static cl_int set_args_locked(struct work *work, const struct tsl_launch *launch)
{
    struct remote_kernel *kernel = (struct remote_kernel *)launch->kernel;
    const struct tsl_bound_args *args = launch->args;
    struct tsl_remote_request *r = &work->request;

    r->of = kernel->id;
    r->window = *launch->window;
    if (kernel->serial == args->serial)
        return CL_SUCCESS;
    r->args = args->n ? calloc(args->n, sizeof(*r->args)) : NULL;
    if (args->n && !r->args)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < args->n; i++)
        set_arg(&r->args[i], &args->args[i]);
    r->n_args = args->n;
    r->has_args = true;
    kernel->serial = args->serial;
    return CL_SUCCESS;
}

cl_int remote_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    struct work work;
    cl_int error;

    if (launch->args->n_svm)
        return CL_INVALID_OPERATION;
    for (cl_uint i = 0; i < launch->args->n; i++)
        if (launch->args->args[i].kind == TSL_ARG_SVM || launch->args->args[i].kind == TSL_ARG_UNSET)
            return CL_INVALID_KERNEL_ARGS;
    remote_lock(connection_of(lane));
    error = begin_locked(&work, lane, TSL_REMOTE_LAUNCH, waits);
    if (!error)
        error = set_args_locked(&work, launch);
    error = say_unlock(&work, error, waits, fence);
    free(work.request.args);
    return error;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

bool remote_can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    struct remote_member *a = remote_member_of(from), *b = remote_member_of(to);

    return a == b || a->node != b->node || (a->path->is.peers >> b->path->index & 1);
}

static void set_places(struct tsl_remote_request *request, const struct tsl_copy *copy)
{
    if (copy->dst.mem)
        set_place(&request->dst, &copy->dst);
    if (copy->src.mem)
        set_place(&request->src, &copy->src);
    for (unsigned d = 0; d < 3; d++)
        request->region[d] = copy->region[d];
    request->loose = copy->loose;
}

static cl_int copy_there(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                         struct tsl_fence **fence)
{
    struct work work;
    cl_int error;

    if (!remote_can_copy_peer(copy->src.mem->member, copy->dst.mem->member))
        return CL_INVALID_MEM_OBJECT;
    remote_lock(connection_of(lane));
    error = begin_locked(&work, lane, TSL_REMOTE_COPY, waits);
    set_places(&work.request, copy);
    return say_unlock(&work, error, waits, fence);
}

/* Data follow when that is right: at once, unless work before it may write to the program's memory first. */
static cl_int attach_locked(struct work *work, const struct tsl_copy *copy, uint8_t *inline_bytes,
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
    if (!fence || !fence->held || has_ended(fence))
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

    remote_lock(connection_of(lane));
    for (unsigned i = 0; waits && i < waits->n && !error; i++)
        if (remote_can_wait(lane->member, waits->fences[i]))
            error = add_holder_locked(holders, remote_fence_of(waits->fences[i]));
    if (!error)
        error = add_holder_locked(holders, ((struct remote_lane *)lane)->last_held);
    remote_unlock(connection_of(lane));
    return error;
}

static void drop_holders(struct holders *holders)
{
    for (unsigned i = 0; i < holders->list.n; i++)
        drop(*TSL_SMALL_AT(&holders->list, i));
    TSL_SMALL_FINISH(&holders->list);
}

/* Room for the notes, so that the parcel can't go too early for want of memory. */
static cl_int reserve_notes_locked(struct holders *holders)
{
    for (unsigned i = 0; i < holders->list.n; i++) {
        struct remote_fence *fence = *TSL_SMALL_AT(&holders->list, i);

        if (!has_ended(fence) && !TSL_SMALL_RESERVE(&fence->notes))
            return CL_OUT_OF_HOST_MEMORY;
    }
    return CL_SUCCESS;
}

/* The parcel goes when all that holds it has ended. */
static void hold_parcel_locked(struct work *work, struct remote_parcel *parcel, struct holders *holders)
{
    struct remote_note note = {remote_release_parcel, parcel};

    parcel->id = work->request.id;
    for (unsigned i = 0; i < holders->list.n; i++) {
        struct remote_fence *fence = *TSL_SMALL_AT(&holders->list, i);

        /* A fence that is named twice has room for one note alone: the second push may fail, and the first suffices. */
        if (!has_ended(fence) && TSL_SMALL_PUSH(&fence->notes, note))
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
    struct work work;
    cl_int error;

    remote_lock(connection_of(lane));
    error = begin_locked(&work, lane, kind_of(copy), waits);
    set_transfer(&work.request, copy, goes_on);
    if (!error)
        error = reserve_notes_locked(holders);
    if (!error && writes)
        error = attach_locked(&work, copy, inline_bytes, &parcel);
    if (!error)
        error = name_locked(&work, true, waits);
    if (error) {
        free(parcel);
    } else {
        if (!copy->dst.mem) {
            work.fence->host = copy->dst;
            memcpy(work.fence->region, copy->region, sizeof(copy->region));
        }
        remote_say_locked(work.node, &work.request);
        if (parcel)
            hold_parcel_locked(&work, parcel, holders);
        old = hold_locked(&work);
    }
    remote_unlock(connection_of(lane));
    free(work.request.waits);
    drop(old);
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
        drop(before);
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
            drop(made);
            return give_up(lane, *last, error);
        }
        drop(*last);
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
        drop(last);
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
