/* Fences: events of CUDA, and what the host ends itself. */
#include "cuda_bridge/fence.h"
#include "cuda_bridge/ahead.h"
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/lane.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/piece.h"

#include <math.h>
#include <stdlib.h>

/* ---- Life -------------------------------------------------------------------------------------------------------- */

struct tsl_cuda_fence *tsl_cuda_fence_new(struct tsl_cuda_member *member, struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_fence *fence;

    tsl_spin_take(&member->pool_lock);
    fence = member->free_fences;
    if (fence)
        member->free_fences = fence->next;
    tsl_spin_give(&member->pool_lock);
    if (!fence)
        fence = malloc(sizeof(*fence));
    if (!fence)
        return NULL;
    *fence = (struct tsl_cuda_fence){
        .base = {.driver = &tsl_cuda_driver, .member = &member->base},
        .lane = lane,
        .is_gate = !lane,
    };
    atomic_init(&fence->base.refs, 1);
    atomic_init(&fence->state, TSL_CUDA_HELD);
    if (lane)
        atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
    return fence;
}

void tsl_cuda_fence_free(struct tsl_fence *fence)
{
    struct tsl_cuda_fence *f = tsl_cuda_fence(fence);
    struct tsl_cuda_member *member = tsl_cuda_member(fence->member);
    struct tsl_cuda_lane *lane = f->lane;

    tsl_cuda_event_put(member, lane && lane->profile, f->start);
    tsl_cuda_event_put(member, lane && lane->profile, f->end);
    tsl_cuda_epoch_put(member, f->epoch);
    tsl_fence_unref(f->opener);
    for (unsigned i = 0; i < f->n_doubts; i++)
        tsl_fence_unref(&f->doubts[i]->base);
    tsl_spin_take(&member->pool_lock);
    f->next = member->free_fences;
    member->free_fences = f;
    tsl_spin_give(&member->pool_lock);
    if (lane)
        tsl_cuda_lane_unref(lane);
}

void tsl_cuda_fences_finish(struct tsl_cuda_member *member)
{
    struct tsl_cuda_fence *fence;

    while ((fence = member->free_fences)) {
        member->free_fences = fence->next;
        free(fence);
    }
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

static void set_state(struct tsl_cuda_fence *fence, enum tsl_cuda_state state)
{
    atomic_store_explicit(&fence->state, (int)state, memory_order_release);
}

/* Entered. */
static void flag_locked(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_lane *lane = fence->lane;

    tsl_cuda_lane_flag(lane);
    if (lane->flagged == (uint32_t)lane->sent && lane->doubtful <= fence->sent)
        atomic_store(&fence->told, true);
}

/* Of the thread that watches and the one that sends the second has the flag written. */
void tsl_cuda_fence_flag(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);

    if (!fence->lane || atomic_exchange(&fence->watched, true))
        return;
    atomic_thread_fence(memory_order_seq_cst);
    if (tsl_cuda_fence_state(fence) != TSL_CUDA_SENT || tsl_cuda_enter(member))
        return;
    pthread_mutex_lock(&fence->lane->lock);
    flag_locked(fence);
    pthread_mutex_unlock(&fence->lane->lock);
    tsl_cuda_leave(member);
}

/* Compares the distance, which stays small: the numbers themselves wrap round. */
static bool reaches(uint32_t number, const struct tsl_cuda_fence *fence)
{
    return (int32_t)(number - (uint32_t)fence->sent) >= 0;
}

bool tsl_cuda_fence_unflagged(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_piece *flag;

    if (tsl_cuda_fence_state(fence) != TSL_CUDA_SENT || !(flag = atomic_load(&fence->lane->flag)))
        return false;
    if (!reaches(atomic_load_explicit((_Atomic uint32_t *)flag->host, memory_order_acquire), fence))
        return true;
    tsl_cuda_lane_saw(fence->lane, fence->sent);
    return false;
}

/* The lane's flag is enough: no piece is left to be copied, and CUDA need not be called. */
static bool has_flag(const struct tsl_cuda_fence *fence)
{
    return fence->lane && tsl_cuda_fence_state(fence) == TSL_CUDA_SENT && !fence->due_number &&
           atomic_load(&fence->lane->flag);
}

bool tsl_cuda_fence_peek(const struct tsl_fence *fence)
{
    const struct tsl_cuda_fence *f = (const struct tsl_cuda_fence *)fence;
    struct tsl_cuda_piece *flag;

    if (tsl_cuda_fence_state(f) == TSL_CUDA_OVER)
        return f->status == CL_COMPLETE;
    if (!has_flag(f))
        return false;
    flag = atomic_load(&f->lane->flag);
    return reaches(atomic_load_explicit((_Atomic uint32_t *)flag->host, memory_order_acquire), f) &&
           tsl_cuda_is_certain(f);
}

bool tsl_cuda_fence_is_sure(struct tsl_fence *fence)
{
    const struct tsl_cuda_fence *f = tsl_cuda_fence(fence);

    return tsl_cuda_fence_state(f) == TSL_CUDA_OVER || (has_flag(f) && atomic_load(&f->told));
}

/* A kernel that fails takes the context with it. */
bool tsl_cuda_fence_ends_well(const struct tsl_fence *fence)
{
    const struct tsl_cuda_fence *f = (const struct tsl_cuda_fence *)fence;
    enum tsl_cuda_state state = tsl_cuda_fence_state(f);

    return state == TSL_CUDA_OVER ? f->status == CL_COMPLETE : state == TSL_CUDA_SENT && tsl_cuda_is_certain(f);
}

bool tsl_cuda_fence_is_behind(const struct tsl_cuda_fence *fence, const struct tsl_cuda_fence *other)
{
    return fence->lane == other->lane && tsl_cuda_fence_state(fence) == TSL_CUDA_SENT && fence->sent > other->sent;
}

cl_int tsl_cuda_fence_send(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    CUresult result;

    fence->end = tsl_cuda_event_get(member, fence->lane->profile, &result);
    if (!result)
        result = tsl_cu.cuEventRecord(fence->end, fence->lane->stream);
    if (result)
        return tsl_cuda_error(member, result);
    if (fence->lane->profile)
        fence->epoch = tsl_cuda_epoch_get(member);
    fence->sent = ++fence->lane->sent;
    fence->due_number = tsl_cuda_dues_now(member);
    set_state(fence, TSL_CUDA_SENT);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&fence->watched))
        flag_locked(fence);
    return CL_SUCCESS;
}

void tsl_cuda_fence_end(struct tsl_cuda_fence *fence, cl_int status)
{
    fence->status = status;
    set_state(fence, TSL_CUDA_OVER);
    tsl_cuda_bridge_kick(tsl_cuda_member(fence->base.member));
}

/* CUDA writes out what kernels print when it is synchronised with, not when it is asked, and OpenCL by the end of their
 * launches (6.15.14). The fence's event is over, so this waits for nothing. Entered. */
static void flush_prints(const struct tsl_cuda_fence *fence)
{
    if (atomic_load(&fence->lane->prints))
        tsl_cu.cuEventSynchronize(fence->end);
}

/* The device is through with it, or lost: SENT → OVER. The first thread here does first what is due with it. Entered,
 * unless nothing is due, nothing prints, or it failed. */
static void settle(struct tsl_cuda_fence *fence, cl_int status)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    int sent = TSL_CUDA_SENT;

    if (status == CL_COMPLETE && fence->due_number)
        tsl_cuda_dues_run(member, fence->due_number);
    if (status == CL_COMPLETE)
        flush_prints(fence);
    if (status == CL_COMPLETE && tsl_cuda_has_failed(fence)) /* The work was called off; what came before it was not. */
        status = fence->doomed ? fence->doomed : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (atomic_compare_exchange_strong(&fence->state, &sent, TSL_CUDA_SETTLING)) {
        fence->status = status;
        set_state(fence, TSL_CUDA_OVER);
    }
    while (tsl_cuda_fence_state(fence) != TSL_CUDA_OVER)
        sched_yield();
}

enum tsl_cuda_state tsl_cuda_fence_look(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    enum tsl_cuda_state state = tsl_cuda_fence_state(fence);
    CUresult result;

    if (state == TSL_CUDA_HELD || state == TSL_CUDA_OVER)
        return state;
    result = tsl_cuda_lane_has_seen(fence->lane, fence->sent) ? CUDA_SUCCESS : tsl_cu.cuEventQuery(fence->end);
    if (result == CUDA_ERROR_NOT_READY)
        return TSL_CUDA_SENT;
    if (result == CUDA_SUCCESS)
        tsl_cuda_lane_saw(fence->lane, fence->sent);
    settle(fence, tsl_cuda_error(member, result));
    return TSL_CUDA_OVER;
}

/* As look(), from outside: enters the member. A lost one's work has failed. */
static enum tsl_cuda_state look_from_outside(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    enum tsl_cuda_state state = tsl_cuda_fence_state(fence);
    cl_int error;

    if (state == TSL_CUDA_HELD || state == TSL_CUDA_OVER)
        return state;
    if (!fence->due_number && !atomic_load(&fence->lane->prints) && tsl_cuda_lane_has_seen(fence->lane, fence->sent)) {
        settle(fence, CL_COMPLETE);
        return TSL_CUDA_OVER;
    }
    error = tsl_cuda_enter(member);
    if (error) {
        settle(fence, error);
        return TSL_CUDA_OVER;
    }
    state = tsl_cuda_fence_look(fence);
    tsl_cuda_leave(member);
    return state;
}

/* ---- The contract's operations ----------------------------------------------------------------------------------- */

cl_int tsl_cuda_fence_status(struct tsl_fence *fence)
{
    struct tsl_cuda_fence *f = tsl_cuda_fence(fence);

    switch (look_from_outside(f)) {
    case TSL_CUDA_OVER:
        return f->status;
    case TSL_CUDA_HELD:
        return CL_QUEUED;
    default:
        return CL_SUBMITTED;
    }
}

static void wait_for_device(struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    cl_int error = tsl_cuda_enter(member);

    if (!error) {
        error = tsl_cuda_error(member, tsl_cu.cuEventSynchronize(fence->end));
        if (!error) {
            tsl_cuda_lane_saw(fence->lane, fence->sent);
            tsl_cuda_fence_look(fence);
        }
        tsl_cuda_leave(member);
    }
    if (error)
        settle(fence, error);
}

cl_int tsl_cuda_fence_wait(struct tsl_fence *fence)
{
    struct tsl_cuda_fence *f = tsl_cuda_fence(fence);
    struct tsl_cuda_member *member = tsl_cuda_member(fence->member);

    for (;;) {
        unsigned seen = tsl_cuda_changes(member);

        switch (look_from_outside(f)) {
        case TSL_CUDA_OVER:
            return f->status;
        case TSL_CUDA_HELD:
            tsl_cuda_await_change(member, seen);
            break;
        default:
            wait_for_device(f);
        }
    }
}

cl_int tsl_cuda_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct tsl_cuda_fence *f = tsl_cuda_fence(fence);

    if (look_from_outside(f) != TSL_CUDA_OVER)
        return tsl_cuda_watch(f, fn, arg);
    fn(arg, f->status);
    return CL_SUCCESS;
}

/* The event's time in our count of the device's time. */
static bool device_ns(const struct tsl_cuda_fence *fence, CUevent event, uint64_t *ns)
{
    float milliseconds;

    if (tsl_cu.cuEventElapsedTime(&milliseconds, fence->epoch->event, event))
        return false;
    *ns = fence->epoch->device_ns + (uint64_t)(int64_t)((double)milliseconds * 1e6);
    return true;
}

static bool ask_times(struct tsl_cuda_fence *fence, struct tsl_times *times)
{
    struct tsl_cuda_member *member = tsl_cuda_member(fence->base.member);
    float milliseconds = 0;
    double length;

    if (!fence->epoch || !fence->start || !device_ns(fence, fence->end, &times->end_ns))
        return false;
    /* The length by itself: it is short, so a float tells it exactly. */
    if (tsl_cu.cuEventElapsedTime(&milliseconds, fence->start, fence->end) || milliseconds < 0)
        return false;
    length = (double)milliseconds * 1e6;
    /* Recording takes its time, too: more than a small kernel, of which something must be left. */
    length = fmax(length - member->between_ns, length / 4);
    times->start_ns = times->end_ns - (uint64_t)length;
    tsl_clock_map_span(&member->clock, &times->start_ns, &times->end_ns);
    return true;
}

cl_int tsl_cuda_fence_times(struct tsl_fence *fence, struct tsl_times *times)
{
    struct tsl_cuda_fence *f = tsl_cuda_fence(fence);
    struct tsl_cuda_member *member = tsl_cuda_member(fence->member);
    bool told;

    if (!f->lane || !f->lane->profile || look_from_outside(f) != TSL_CUDA_OVER || f->status < 0)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (!f->end) {
        *times = f->times;
        return times->end_ns ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    if (tsl_cuda_enter(member))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    told = ask_times(f, times);
    tsl_cuda_leave(member);
    return told ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE;
}

/* Also a fence of another member of this driver: CUDA's events work across devices. */
bool tsl_cuda_can_wait(struct tsl_member *member, const struct tsl_fence *fence)
{
    return fence->driver == member->driver;
}

/* ---- Gates: what waits for one is held on the host, or waits on the device (ahead.c) ----------------------------- */

cl_int tsl_cuda_gate_create(struct tsl_member *member, struct tsl_fence **gate)
{
    struct tsl_cuda_fence *made = tsl_cuda_fence_new(tsl_cuda_member(member), NULL);

    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    *gate = &made->base;
    return CL_SUCCESS;
}

cl_int tsl_cuda_gate_open(struct tsl_fence *gate, cl_int status)
{
    struct tsl_cuda_fence *f = tsl_cuda_fence(gate);
    struct tsl_cuda_member *member = tsl_cuda_member(gate->member);

    if (!f->is_gate || status > 0)
        return CL_INVALID_VALUE;
    if (atomic_exchange(&f->opened, true))
        return CL_INVALID_OPERATION;
    pthread_mutex_lock(&member->lock);
    f->status = status;
    set_state(f, TSL_CUDA_OVER);
    pthread_mutex_unlock(&member->lock);
    tsl_cuda_words_open(f);
    tsl_cuda_bridge_kick(member);
    return CL_SUCCESS;
}

void tsl_cuda_gate_by(struct tsl_fence *gate, struct tsl_fence *opener)
{
    if (opener->driver != &tsl_cuda_driver && opener->driver->fence_is_sure)
        tsl_cuda_fence(gate)->opener = tsl_fence_ref(opener);
}
