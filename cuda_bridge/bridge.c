/*
 * The bridge thread of a member: tells of fences that are complete, and passes on work that is held on the host. It
 * looks at the device instead of being called by it: CUDA's own callbacks (cuLaunchHostFunc) share one thread, stop
 * their stream meanwhile, and may call nothing of CUDA.
 */
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/fence.h"
#include "cuda_bridge/host.h"
#include "cuda_bridge/lane.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/piece.h"

#include <stdlib.h>
#include <time.h>

/* How long it looks without a pause after something happened, and how its pauses grow: by a part of the time that
 * nothing has happened, so that what is noticed is at most that part late. */
#define SPIN_NS      UINT64_C(100000)
#define PAUSE_PART   16
#define PAUSE_MAX_NS UINT64_C(1000000)

/* Lanes' flags are looked at instead of asking CUDA, which would hold up threads that submit. But flags tell of no
 * failure. */
#define ASK_NS UINT64_C(100000)

struct tsl_cuda_watch {
    struct tsl_cuda_fence *fence; /* a reference */
    tsl_notify_fn *fn;
    void *arg;
    STAILQ_ENTRY(tsl_cuda_watch) link;
};

unsigned tsl_cuda_changes(struct tsl_cuda_member *member)
{
    return atomic_load(&member->n_changes);
}

void tsl_cuda_await_change(struct tsl_cuda_member *member, unsigned seen)
{
    pthread_mutex_lock(&member->lock);
    while (atomic_load(&member->n_changes) == seen)
        pthread_cond_wait(&member->changed, &member->lock);
    pthread_mutex_unlock(&member->lock);
}

static void kick_locked(struct tsl_cuda_member *member)
{
    atomic_fetch_add(&member->n_changes, 1);
    pthread_cond_broadcast(&member->changed);
    pthread_cond_signal(&member->kicked);
}

void tsl_cuda_bridge_kick(struct tsl_cuda_member *member)
{
    pthread_mutex_lock(&member->lock);
    kick_locked(member);
    pthread_mutex_unlock(&member->lock);
}

/* ---- The thread's work ------------------------------------------------------------------------------------------- */

/* The thread's own state. */
struct bridge {
    struct tsl_cuda_member *member;
    struct tsl_cuda_watches watches; /* of one lane in the order of its work, mostly */
    bool progress;                   /* in this round */
    bool polls;                      /* something waits for the device, which makes no calls */
    bool holds;                      /* lanes hold work, as far as was seen */
    bool asks;                       /* CUDA is asked in this round, too */
    uint64_t asked_ns;
    unsigned seen; /* changes that it has looked at */
};

static void take_watches(struct bridge *b)
{
    pthread_mutex_lock(&b->member->lock);
    STAILQ_CONCAT(&b->watches, &b->member->watches);
    pthread_mutex_unlock(&b->member->lock);
}

static void tell(struct tsl_cuda_watch *watch, cl_int status)
{
    watch->fn(watch->arg, status);
    tsl_fence_unref(&watch->fence->base);
    free(watch);
}

/* Fences behind one of their lane that isn't complete yet are not asked for. */
static void look_at_watches(struct bridge *b)
{
    struct tsl_cuda_watches left = STAILQ_HEAD_INITIALIZER(left);
    const struct tsl_cuda_fence *behind = NULL;
    struct tsl_cuda_watch *watch;

    while ((watch = STAILQ_FIRST(&b->watches))) {
        struct tsl_cuda_fence *fence = watch->fence;
        bool hopeless = behind && tsl_cuda_fence_is_behind(fence, behind);
        bool waits = hopeless || (tsl_cuda_fence_unflagged(fence) && !b->asks);
        cl_int status = waits ? CL_SUBMITTED : tsl_cuda_fence_status(&fence->base);

        STAILQ_REMOVE_HEAD(&b->watches, link);
        if (status <= CL_COMPLETE) {
            b->progress = true;
            tell(watch, status);
            continue;
        }
        STAILQ_INSERT_TAIL(&left, watch, link);
        b->polls |= status == CL_SUBMITTED;
        if (status == CL_SUBMITTED && !hopeless)
            behind = fence;
    }
    STAILQ_CONCAT(&b->watches, &left);
}

/* The lane after this one; the first for NULL. Lanes leave the list in this thread only. */
static struct tsl_cuda_lane *next_lane(struct tsl_cuda_member *member, struct tsl_cuda_lane *lane)
{
    pthread_mutex_lock(&member->lock);
    lane = lane ? TAILQ_NEXT(lane, link) : TAILQ_FIRST(&member->held);
    pthread_mutex_unlock(&member->lock);
    return lane;
}

static void advance_lanes(struct bridge *b)
{
    struct tsl_cuda_lane *lane = next_lane(b->member, NULL), *next;

    b->holds = lane;
    for (; lane; lane = next) {
        next = next_lane(b->member, lane);
        if (tsl_cuda_lane_advance(lane, &b->progress, &b->polls))
            continue;
        tsl_cuda_lane_unref(lane);
    }
}

static void wait_until(struct tsl_cuda_member *member, unsigned seen, uint64_t ns)
{
    struct timespec until = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    pthread_mutex_lock(&member->lock);
    if (atomic_load(&member->n_changes) == seen && !atomic_load(&member->closing)) {
        if (ns)
            pthread_cond_timedwait(&member->kicked, &member->lock, &until);
        else
            pthread_cond_wait(&member->kicked, &member->lock);
    }
    pthread_mutex_unlock(&member->lock);
}

/* Real time: a simulation's clock doesn't go on while this thread waits. */
static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void rest(const struct bridge *b, unsigned seen, uint64_t last_ns)
{
    uint64_t now = now_ns(), quiet = now - last_ns, pause = quiet / PAUSE_PART;

    if (quiet < SPIN_NS)
        sched_yield();
    else if (b->polls)
        wait_until(b->member, seen, now + (pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS));
    else
        wait_until(b->member, seen, 0);
}

/* Everything but the watches changes with a kick alone. Most rounds find none, and take no lock, since threads that
 * submit take the same ones. */
static void look_around(struct bridge *b, unsigned seen)
{
    bool all = b->asks || b->holds || seen != b->seen;

    b->seen = seen;
    if (all)
        take_watches(b);
    look_at_watches(b);
    if (!all)
        return;
    advance_lanes(b);
    tsl_cuda_hosts_trim(b->member);
    tsl_cuda_pieces_trim(b->member);
}

static void *run(void *arg)
{
    struct bridge b = {.member = arg, .watches = STAILQ_HEAD_INITIALIZER(b.watches)};
    struct tsl_cuda_watch *watch;
    uint64_t last_ns = now_ns();

    while (!atomic_load(&b.member->closing)) {
        unsigned seen = tsl_cuda_changes(b.member);
        uint64_t begun_ns = now_ns();

        b.progress = b.polls = false;
        b.asks = begun_ns - b.asked_ns >= ASK_NS;
        if (b.asks)
            b.asked_ns = begun_ns;
        look_around(&b, seen);
        if (b.progress)
            last_ns = now_ns();
        else
            rest(&b, seen, last_ns);
        if (tsl_cuda_changes(b.member) != seen)
            last_ns = now_ns();
    }
    while ((watch = STAILQ_FIRST(&b.watches))) {
        STAILQ_REMOVE_HEAD(&b.watches, link);
        tell(watch, tsl_cuda_fence_wait(&watch->fence->base));
    }
    return NULL;
}

/* ---- From outside ------------------------------------------------------------------------------------------------ */

static cl_int start_locked(struct tsl_cuda_member *member)
{
    if (member->has_bridge)
        return CL_SUCCESS;
    member->has_bridge = tsl_cuda_thread_start(member, &member->bridge, run, member);
    if (!member->has_bridge)
        return CL_OUT_OF_RESOURCES;
    pthread_setname_np(member->bridge, "tesela-cuda");
    return CL_SUCCESS;
}

cl_int tsl_cuda_watch(struct tsl_cuda_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    struct tsl_cuda_watch *watch = malloc(sizeof(*watch));
    cl_int error;

    if (!watch)
        return CL_OUT_OF_HOST_MEMORY;
    *watch = (struct tsl_cuda_watch){.fence = fence, .fn = fn, .arg = arg};
    tsl_fence_ref(&fence->base);
    tsl_cuda_fence_flag(fence);
    pthread_mutex_lock(&member->lock);
    error = start_locked(member);
    if (!error) {
        STAILQ_INSERT_TAIL(&member->watches, watch, link);
        kick_locked(member);
    }
    pthread_mutex_unlock(&member->lock);
    if (error) {
        tsl_fence_unref(&fence->base);
        free(watch);
    }
    return error;
}

cl_int tsl_cuda_bridge_hold(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    cl_int error;

    pthread_mutex_lock(&member->lock);
    error = start_locked(member);
    if (!error && !lane->listed) {
        lane->listed = true;
        atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
        TAILQ_INSERT_TAIL(&member->held, lane, link);
    }
    if (!error)
        kick_locked(member);
    pthread_mutex_unlock(&member->lock);
    return error;
}

/* Where the thread can't be started, the memory stays. */
void tsl_cuda_bridge_trim(struct tsl_cuda_member *member)
{
    pthread_mutex_lock(&member->lock);
    if (!atomic_load(&member->closing) && !start_locked(member))
        kick_locked(member);
    pthread_mutex_unlock(&member->lock);
}

void tsl_cuda_bridge_release(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);

    pthread_mutex_lock(&member->lock);
    lane->listed = false;
    TAILQ_REMOVE(&member->held, lane, link);
    pthread_mutex_unlock(&member->lock);
}

void tsl_cuda_bridge_stop(struct tsl_cuda_member *member)
{
    bool started;

    pthread_mutex_lock(&member->lock);
    started = member->has_bridge;
    atomic_store(&member->closing, true);
    kick_locked(member);
    pthread_mutex_unlock(&member->lock);
    if (started)
        pthread_join(member->bridge, NULL);
}
