/* Work that is sent before the gates for which it waits are open. */
#include "cuda_bridge/ahead.h"
#include "cuda_bridge/fence.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/piece.h"

#include <stdlib.h>

/* So many gates of a member may be waited for on the device at once: a stream takes about a thousand things, then
 * submitting blocks. */
#define MAX_AHEAD 32

/* Going ahead is tried again after so long, twice as long each time. */
#define OFF_MIN_NS UINT64_C(10000000)
#define OFF_MAX_NS UINT64_C(2000000000)

uint64_t tsl_cuda_long_ns = 100000;

/* What a gate writes once it is open. Numbers only grow, so what waits for an older one of the same word finds it, and
 * words serve again as soon as a gate is open. */
struct tsl_cuda_words {
    _Atomic uint32_t *at;
    uint32_t number; /* the last one given out */
    struct tsl_cuda_words *next;
};

#define WORDS     64u
#define WORDS_GAP 64u /* bytes: what the GPU looks at again and again shares no line */

struct tsl_cuda_word_block {
    struct tsl_cuda_piece *piece;
    struct tsl_cuda_word_block *next;
    struct tsl_cuda_words words[WORDS];
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void put_words(struct tsl_cuda_member *member, struct tsl_cuda_words *words)
{
    tsl_spin_take(&member->pool_lock);
    words->next = member->free_words;
    member->free_words = words;
    tsl_spin_give(&member->pool_lock);
}

static bool add_words(struct tsl_cuda_member *member)
{
    struct tsl_cuda_word_block *block = calloc(1, sizeof(*block));

    if (block)
        block->piece = tsl_cuda_piece_get(member, WORDS * WORDS_GAP);
    if (!block || !block->piece) {
        free(block);
        return false;
    }
    tsl_spin_take(&member->pool_lock);
    block->next = member->word_blocks;
    member->word_blocks = block;
    tsl_spin_give(&member->pool_lock);
    for (unsigned i = 0; i < WORDS; i++) {
        block->words[i].at = (void *)((char *)block->piece->host + i * WORDS_GAP);
        atomic_store(block->words[i].at, 0);
        put_words(member, &block->words[i]);
    }
    return true;
}

static struct tsl_cuda_words *take_words(struct tsl_cuda_member *member)
{
    struct tsl_cuda_words *words;

    tsl_spin_take(&member->pool_lock);
    words = member->free_words;
    if (words)
        member->free_words = words->next;
    tsl_spin_give(&member->pool_lock);
    return words;
}

static struct tsl_cuda_words *get_words(struct tsl_cuda_member *member)
{
    struct tsl_cuda_words *words = take_words(member);

    return words || !add_words(member) ? words : take_words(member);
}

void tsl_cuda_words_finish(struct tsl_cuda_member *member)
{
    struct tsl_cuda_word_block *block;

    while ((block = member->word_blocks)) {
        member->word_blocks = block->next;
        free(block); /* Its piece is freed with all pieces. */
    }
}

/* Gives the gate these words, unless it is over or has some. False: it has none. */
static bool give_words(struct tsl_cuda_fence *gate, struct tsl_cuda_words **fresh)
{
    struct tsl_cuda_member *member = tsl_cuda_member(gate->base.member);
    bool has;

    pthread_mutex_lock(&member->lock);
    if (!gate->words && *fresh && !member->n_pinning && tsl_cuda_fence_state(gate) != TSL_CUDA_OVER) {
        gate->number = ++(*fresh)->number;
        gate->words = *fresh;
        gate->given_ns = tsl_clock_ns();
        *fresh = NULL;
        atomic_fetch_add(&member->n_ahead, 1);
    }
    has = gate->words;
    pthread_mutex_unlock(&member->lock);
    return has;
}

static bool has_words(struct tsl_cuda_fence *gate)
{
    struct tsl_cuda_member *member = tsl_cuda_member(gate->base.member);
    struct tsl_cuda_words *fresh = NULL;
    bool has = give_words(gate, &fresh);

    if (has)
        return true;
    fresh = get_words(member);
    has = give_words(gate, &fresh);
    if (fresh)
        put_words(member, fresh);
    return has;
}

bool tsl_cuda_pinning_begin(struct tsl_cuda_member *member)
{
    bool may;

    pthread_mutex_lock(&member->lock);
    may = atomic_load(&member->n_ahead) == 0;
    member->n_pinning += may;
    pthread_mutex_unlock(&member->lock);
    return may;
}

void tsl_cuda_pinning_end(struct tsl_cuda_member *member)
{
    pthread_mutex_lock(&member->lock);
    member->n_pinning--;
    pthread_mutex_unlock(&member->lock);
}

/* Gates open one after the other, and streams wait for one after the other. */
static void learn(struct tsl_cuda_member *member, uint64_t given_ns)
{
    uint64_t now = tsl_clock_ns(), before = atomic_exchange(&member->gate_open_ns, now);
    uint64_t off = atomic_load(&member->ahead_off_ns), since = given_ns > before ? given_ns : before;

    if (now < since || now - since < tsl_cuda_long_ns) {
        if (off > OFF_MIN_NS)
            atomic_store(&member->ahead_off_ns, off - off / 8);
        return;
    }
    off = off < OFF_MIN_NS ? OFF_MIN_NS : off;
    atomic_store(&member->ahead_ns, now + off);
    atomic_store(&member->ahead_off_ns, 2 * off < OFF_MAX_NS ? 2 * off : OFF_MAX_NS);
}

void tsl_cuda_words_open(struct tsl_cuda_fence *gate)
{
    struct tsl_cuda_member *member = tsl_cuda_member(gate->base.member);
    struct tsl_cuda_words *words = gate->words; /* It gets no words any more. */

    if (!words)
        return;
    atomic_store(words->at, gate->number);
    atomic_fetch_sub(&member->n_ahead, 1);
    learn(member, gate->given_ns);
    put_words(member, words);
}

/* ---- Who may ----------------------------------------------------------------------------------------------------- */

/* Work that does no harm though what it waits for has failed. A kernel might: it would run on data that was never
 * written. */
static bool can_doubt(const struct tsl_cuda_work *work)
{
    switch (work->kind) {
    case TSL_CUDA_MARK:
        return true;
    case TSL_CUDA_COPY:
        return work->copy.loose && tsl_cuda_copy_is_direct(&work->copy);
    default:
        return false;
    }
}

bool tsl_cuda_may_go_ahead(const struct tsl_cuda_work *work, struct tsl_cuda_fence *gate)
{
    struct tsl_cuda_member *member = tsl_cuda_member(gate->base.member);
    struct tsl_fence *opener = gate->opener;

    /* Cheapest first: held work is asked for again and again. */
    return work->kind != TSL_CUDA_LAUNCH && gate->is_gate && opener && atomic_load(&member->n_ahead) < MAX_AHEAD &&
           tsl_clock_ns() >= atomic_load(&member->ahead_ns) && opener->driver->fence_is_sure(opener) &&
           can_doubt(work) && has_words(gate);
}

bool tsl_cuda_is_certain(const struct tsl_cuda_fence *fence)
{
    if (fence->doomed)
        return false;
    for (unsigned i = 0; i < fence->n_doubts; i++)
        if (tsl_cuda_fence_state(fence->doubts[i]) != TSL_CUDA_OVER || fence->doubts[i]->status < 0)
            return false;
    return true;
}

bool tsl_cuda_may_follow(const struct tsl_cuda_work *work, const struct tsl_cuda_fence *fence)
{
    return tsl_cuda_is_certain(fence) || tsl_cuda_has_failed(fence) || can_doubt(work);
}

static bool has_failed(const struct tsl_cuda_fence *gate)
{
    return tsl_cuda_fence_state(gate) == TSL_CUDA_OVER && gate->status < 0;
}

static bool any_failed(struct tsl_cuda_fence *const *gates, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (has_failed(gates[i]))
            return true;
    return false;
}

bool tsl_cuda_has_failed(const struct tsl_cuda_fence *fence)
{
    return fence->doomed || any_failed(fence->doubts, fence->n_doubts);
}

/* ---- Doubts ------------------------------------------------------------------------------------------------------ */

/* False: there are too many. */
static bool add_doubt(struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS], unsigned *n, struct tsl_cuda_fence *gate)
{
    for (unsigned i = 0; i < *n; i++)
        if (doubts[i] == gate)
            return true;
    if (tsl_cuda_fence_state(gate) == TSL_CUDA_OVER && gate->status >= 0)
        return true;
    if (*n == TSL_CUDA_MAX_DOUBTS)
        return false;
    doubts[(*n)++] = gate;
    return true;
}

static bool add_doubts_of(struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS], unsigned *n, struct tsl_cuda_fence *fence)
{
    enum tsl_cuda_state state = tsl_cuda_fence_state(fence);

    if (state == TSL_CUDA_OVER)
        return true;
    if (fence->is_gate)
        return add_doubt(doubts, n, fence);
    for (unsigned i = 0; state != TSL_CUDA_HELD && i < fence->n_doubts; i++)
        if (!add_doubt(doubts, n, fence->doubts[i]))
            return false;
    return true;
}

bool tsl_cuda_doubts_too_much(const struct tsl_cuda_work *work)
{
    struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS];
    unsigned n = 0;

    for (unsigned i = 0; i < work->waits.n; i++)
        if (!add_doubts_of(doubts, &n, tsl_cuda_fence(work->waits.fences[i])))
            return true;
    return false;
}

static cl_int wait_for(struct tsl_cuda_lane *lane, const struct tsl_cuda_fence *gate)
{
    CUresult result = tsl_cu.cuStreamWaitValue32_v2(lane->stream, (CUdeviceptr)(uintptr_t)gate->words->at, gate->number,
                                                    CU_STREAM_WAIT_VALUE_GEQ);

    return tsl_cuda_error(tsl_cuda_member(lane->base.member), result);
}

cl_int tsl_cuda_wait_for_gates(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    cl_int error = CL_SUCCESS;

    work->n_doubts = 0;
    for (unsigned i = 0; i < work->waits.n && !error; i++) {
        struct tsl_cuda_fence *fence = tsl_cuda_fence(work->waits.fences[i]);

        if (fence->is_gate && tsl_cuda_fence_state(fence) != TSL_CUDA_OVER)
            error = wait_for(lane, fence);
        if (!error && !add_doubts_of(work->doubts, &work->n_doubts, fence))
            error = CL_OUT_OF_RESOURCES; /* The doubts were counted before; they never become more. */
    }
    return error;
}

static bool wait_has_failed(const struct tsl_cuda_fence *fence)
{
    enum tsl_cuda_state state = tsl_cuda_fence_state(fence);

    return state == TSL_CUDA_OVER ? fence->status < 0 : state != TSL_CUDA_HELD && tsl_cuda_has_failed(fence);
}

bool tsl_cuda_is_doomed(const struct tsl_cuda_work *work)
{
    for (unsigned i = 0; i < work->waits.n; i++)
        if (wait_has_failed(tsl_cuda_fence(work->waits.fences[i])))
            return true;
    return any_failed(work->doubts, work->n_doubts);
}

void tsl_cuda_keep_doubts(const struct tsl_cuda_work *work)
{
    for (unsigned i = 0; i < work->n_doubts; i++) {
        tsl_fence_ref(&work->doubts[i]->base);
        work->fence->doubts[i] = work->doubts[i];
    }
    work->fence->n_doubts = work->n_doubts;
}
