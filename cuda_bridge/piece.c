/* Small transfers: the application's bytes go through pieces of pinned memory, so that no submission waits. */
#include "cuda_bridge/piece.h"
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/lane.h"
#include "cuda_bridge/member.h"

#include "driver/box.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)1 << 20)
#define MAX_BLOCKS 64
#define MAX_IDLE   16 /* of them may be kept without use */

/* So many dues may pile up before they are looked through. */
#define COLLECT_AT 16

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

void tsl_cuda_pack(void *packed, const struct tsl_place *place, const size_t region[3])
{
    char *to = packed;

    if (tsl_place_is_linear(place, region)) {
        memcpy(to, (const char *)place->host + place->offset, region[0] * region[1] * region[2]);
        return;
    }
    for (size_t slice = 0; slice < region[2]; slice++)
        for (size_t row = 0; row < region[1]; row++, to += region[0])
            memcpy(to, (const char *)place->host + tsl_place_row(place, row, slice), region[0]);
}

void tsl_cuda_unpack(const struct tsl_place *place, const void *packed, const size_t region[3])
{
    const char *from = packed;

    if (tsl_place_is_linear(place, region)) {
        memcpy((char *)place->host + place->offset, from, region[0] * region[1] * region[2]);
        return;
    }
    for (size_t slice = 0; slice < region[2]; slice++)
        for (size_t row = 0; row < region[1]; row++, from += region[0])
            memcpy((char *)place->host + tsl_place_row(place, row, slice), from, region[0]);
}

/* From the box's first to behind its last byte. */
static void extent(const struct tsl_place *place, const size_t region[3], uintptr_t *begin, uintptr_t *end)
{
    size_t row = region[1] > 1 ? (region[1] - 1) * place->row_pitch : 0;
    size_t slice = region[2] > 1 ? (region[2] - 1) * place->slice_pitch : 0;

    *begin = (uintptr_t)place->host + place->offset;
    *end = *begin + row + slice + region[0];
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static unsigned class_of(size_t size)
{
    unsigned class = 0;

    while (class + 1 < TSL_CUDA_PIECE_CLASSES && size <= TSL_CUDA_PIECE_MAX >> (class + 1))
        class ++;
    return class;
}

static struct tsl_cuda_piece *take_locked(struct tsl_cuda_member *member, unsigned class)
{
    struct tsl_cuda_blocks *open = &member->open_blocks[class];
    struct tsl_cuda_block *block = TAILQ_FIRST(open);
    struct tsl_cuda_piece *piece;

    if (!block)
        return NULL;
    member->n_idle_blocks -= block->n_free == block->n;
    piece = block->free;
    block->free = piece->next;
    if (--block->n_free == 0)
        TAILQ_REMOVE(open, block, open_link);
    return piece;
}

static struct tsl_cuda_piece *take(struct tsl_cuda_member *member, unsigned class)
{
    struct tsl_cuda_piece *piece;

    tsl_spin_take(&member->pool_lock);
    piece = take_locked(member, class);
    tsl_spin_give(&member->pool_lock);
    return piece;
}

/* Blocks with pieces in use stand first, so that others become wholly free. */
static void put_locked(struct tsl_cuda_member *member, struct tsl_cuda_piece *piece)
{
    struct tsl_cuda_block *block = piece->block;
    struct tsl_cuda_blocks *open = &member->open_blocks[block->class];

    piece->next = block->free;
    block->free = piece;
    if (block->n_free++ > 0)
        TAILQ_REMOVE(open, block, open_link);
    if (block->n_free < block->n) {
        TAILQ_INSERT_HEAD(open, block, open_link);
    } else {
        TAILQ_INSERT_TAIL(open, block, open_link);
        member->n_idle_blocks++;
    }
}

/* All but its first piece, which is the caller's: an unused block would be given back at once where there are enough.
 */
static bool keep_block(struct tsl_cuda_member *member, struct tsl_cuda_block *block)
{
    bool room;

    tsl_spin_take(&member->pool_lock);
    room = member->n_blocks < MAX_BLOCKS;
    if (room) {
        member->n_blocks++;
        LIST_INSERT_HEAD(&member->blocks, block, link);
        for (unsigned i = 1; i < block->n; i++)
            put_locked(member, &block->pieces[i]);
    }
    tsl_spin_give(&member->pool_lock);
    return room;
}

/* Cuts a new block into pieces of one class; the first of them. */
static struct tsl_cuda_piece *add_block(struct tsl_cuda_member *member, unsigned class)
{
    size_t size = TSL_CUDA_PIECE_MAX >> class, n = BLOCK_SIZE / size;
    struct tsl_cuda_block *block = calloc(1, sizeof(*block) + n * sizeof(block->pieces[0]));

    if (!block)
        return NULL;
    if (tsl_cuda_pin(member, BLOCK_SIZE, &block->pinned)) {
        free(block);
        return NULL;
    }
    block->class = class;
    block->n = (unsigned)n;
    for (size_t i = 0; i < n; i++)
        block->pieces[i] = (struct tsl_cuda_piece){.host = (char *)block->pinned.at + i * size, .block = block};
    if (keep_block(member, block))
        return &block->pieces[0];
    tsl_cuda_unpin(&block->pinned);
    free(block);
    return NULL;
}

struct tsl_cuda_piece *tsl_cuda_piece_get(struct tsl_cuda_member *member, size_t size)
{
    unsigned class = class_of(size);
    struct tsl_cuda_piece *piece = take(member, class);

    if (!piece) {
        tsl_cuda_dues_collect(member);
        piece = take(member, class);
    }
    return piece ? piece : add_block(member, class);
}

static bool idles_too_much(struct tsl_cuda_member *member)
{
    bool much;

    tsl_spin_take(&member->pool_lock);
    much = member->n_idle_blocks > MAX_IDLE;
    tsl_spin_give(&member->pool_lock);
    return much;
}

void tsl_cuda_piece_put(struct tsl_cuda_member *member, struct tsl_cuda_piece *piece)
{
    bool much;

    tsl_spin_take(&member->pool_lock);
    put_locked(member, piece);
    much = piece->block->n_free == piece->block->n && member->n_idle_blocks > MAX_IDLE;
    tsl_spin_give(&member->pool_lock);
    if (much)
        tsl_cuda_bridge_trim(member);
}

/* Takes out a block that is one too many; NULL: there is none. */
static struct tsl_cuda_block *take_idle(struct tsl_cuda_member *member)
{
    struct tsl_cuda_block *block = NULL, *last;

    tsl_spin_take(&member->pool_lock);
    for (unsigned class = 0; class < TSL_CUDA_PIECE_CLASSES && !block && member->n_idle_blocks > MAX_IDLE; class ++) {
        last = TAILQ_LAST(&member->open_blocks[class], tsl_cuda_blocks);
        if (last && last->n_free == last->n)
            block = last;
    }
    if (block) {
        TAILQ_REMOVE(&member->open_blocks[block->class], block, open_link);
        LIST_REMOVE(block, link);
        member->n_blocks--;
        member->n_idle_blocks--;
    }
    tsl_spin_give(&member->pool_lock);
    return block;
}

void tsl_cuda_pieces_trim(struct tsl_cuda_member *member)
{
    struct tsl_cuda_block *block;

    while (idles_too_much(member) && !tsl_cuda_enter(member)) {
        block = take_idle(member);
        if (block)
            tsl_cuda_unpin(&block->pinned);
        tsl_cuda_leave(member);
        free(block);
    }
}

void tsl_cuda_pieces_init(struct tsl_cuda_member *member)
{
    LIST_INIT(&member->blocks);
    for (unsigned class = 0; class < TSL_CUDA_PIECE_CLASSES; class ++)
        TAILQ_INIT(&member->open_blocks[class]);
}

void tsl_cuda_pieces_finish(struct tsl_cuda_member *member)
{
    struct tsl_cuda_block *block;

    while ((block = LIST_FIRST(&member->blocks))) {
        LIST_REMOVE(block, link);
        tsl_cuda_unpin(&block->pinned);
        free(block);
    }
}

/* ---- Dues -------------------------------------------------------------------------------------------------------- */

cl_int tsl_cuda_due_add(struct tsl_cuda_lane *lane, struct tsl_cuda_due *due)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    CUresult result;
    unsigned n;

    due->event = tsl_cuda_event_get(member, false, &result);
    if (!result)
        result = tsl_cu.cuEventRecord(due->event, lane->stream);
    if (result) {
        tsl_cuda_event_put(member, false, due->event);
        return tsl_cuda_error(member, result);
    }
    due->sent = ++lane->sent;
    due->lane = lane;
    atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
    if (due->to_host)
        extent(&due->place, due->region, &due->begin, &due->end);
    pthread_mutex_lock(&member->dues_lock);
    /* Before others can take it from the list: their count would hide another's due. */
    n = atomic_fetch_add(&member->n_dues, 1);
    due->number = ++member->due_number;
    if (due->to_host) {
        atomic_fetch_add(&member->n_reads, 1);
        member->due_read = due->number;
    }
    TAILQ_INSERT_TAIL(&member->dues, due, link);
    pthread_mutex_unlock(&member->dues_lock);
    if (n >= COLLECT_AT)
        tsl_cuda_dues_collect(member);
    return CL_SUCCESS;
}

static CUresult ask(const struct tsl_cuda_due *due)
{
    CUresult result;

    if (tsl_cuda_lane_has_seen(due->lane, due->sent))
        return CUDA_SUCCESS;
    result = tsl_cu.cuEventQuery(due->event);
    if (result == CUDA_SUCCESS)
        tsl_cuda_lane_saw(due->lane, due->sent);
    return result;
}

/* False: its work has not ended. A due whose work failed copies nothing. */
static bool do_locked(struct tsl_cuda_member *member, struct tsl_cuda_due *due)
{
    CUresult result = ask(due);

    if (result == CUDA_ERROR_NOT_READY)
        return false;
    if (result)
        tsl_cuda_error(member, result);
    else if (due->to_host)
        tsl_cuda_unpack(&due->place, due->piece->host, due->region);
    TAILQ_REMOVE(&member->dues, due, link);
    atomic_fetch_sub(&member->n_dues, 1);
    if (due->to_host)
        atomic_fetch_sub(&member->n_reads, 1);
    tsl_cuda_event_put(member, false, due->event);
    tsl_cuda_piece_put(member, due->piece);
    tsl_cuda_lane_unref(due->lane);
    free(due);
    return true;
}

/* The list is in the order of submission, so where two dues write the same bytes the later one comes later. */
void tsl_cuda_dues_run(struct tsl_cuda_member *member, uint64_t up_to)
{
    struct tsl_cuda_due *due, *next;

    if (!atomic_load(&member->n_dues))
        return;
    pthread_mutex_lock(&member->dues_lock);
    for (due = TAILQ_FIRST(&member->dues); due && due->number <= up_to; due = next) {
        next = TAILQ_NEXT(due, link);
        do_locked(member, due);
    }
    pthread_mutex_unlock(&member->dues_lock);
}

void tsl_cuda_dues_collect(struct tsl_cuda_member *member)
{
    struct tsl_cuda_due *due;

    if (!atomic_load(&member->n_dues))
        return;
    pthread_mutex_lock(&member->dues_lock);
    while ((due = TAILQ_FIRST(&member->dues)) && do_locked(member, due))
        ;
    pthread_mutex_unlock(&member->dues_lock);
}

bool tsl_cuda_dues_meet(struct tsl_cuda_member *member, const struct tsl_place *place, const size_t region[3])
{
    struct tsl_cuda_due *due, *next;
    uintptr_t begin, end;
    bool meets = false;

    if (!atomic_load(&member->n_dues))
        return false;
    extent(place, region, &begin, &end);
    pthread_mutex_lock(&member->dues_lock);
    for (due = TAILQ_FIRST(&member->dues); due; due = next) {
        next = TAILQ_NEXT(due, link);
        if (due->to_host && due->begin < end && begin < due->end && !do_locked(member, due))
            meets = true;
    }
    pthread_mutex_unlock(&member->dues_lock);
    return meets;
}

uint64_t tsl_cuda_dues_now(struct tsl_cuda_member *member)
{
    uint64_t number;

    if (!atomic_load(&member->n_reads))
        return 0;
    pthread_mutex_lock(&member->dues_lock);
    number = member->due_read;
    pthread_mutex_unlock(&member->dues_lock);
    return number;
}
