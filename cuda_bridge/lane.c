/* Lanes: streams, and the order of what is sent and what is held. */
#include "cuda_bridge/lane.h"
#include "cuda_bridge/ahead.h"
#include "cuda_bridge/batch.h"
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/fence.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/piece.h"
#include "cuda_bridge/spread.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* A kernel that gathers would wait for the last group of one that fills the GPU, without priority. CUDA takes the
 * nearest that it has. */
#define MOVES_PRIORITY (-1)

/* The application's own work on CUDA's default stream must not hold up ours. */
static CUresult create_stream(unsigned use, CUstream *stream)
{
    if (use & TSL_LANE_MOVES)
        return tsl_cu.cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, MOVES_PRIORITY);
    return tsl_cu.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING);
}

cl_int tsl_cuda_lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);
    struct tsl_cuda_lane *made = calloc(1, sizeof(*made));
    cl_int error;

    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    error = tsl_cuda_enter(m);
    if (!error) {
        error = tsl_cuda_error(m, create_stream(use, &made->stream));
        tsl_cuda_leave(m);
    }
    if (error) {
        free(made);
        return error;
    }
    made->base.member = member;
    made->profile = use & TSL_LANE_PROFILES;
    made->moves = use & TSL_LANE_MOVES;
    atomic_init(&made->refs, 1);
    pthread_mutex_init(&made->lock, NULL);
    STAILQ_INIT(&made->works);
    *lane = &made->base;
    return CL_SUCCESS;
}

/* The stream may still write to the flag's piece, which must not be used for anything else then: it stays until the
 * member closes. */
static void put_flag(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_piece *flag = atomic_load(&lane->flag);

    if (flag && atomic_load((_Atomic uint32_t *)flag->host) == lane->flagged)
        tsl_cuda_piece_put(tsl_cuda_member(lane->base.member), flag);
}

void tsl_cuda_lane_unref(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);

    /* As in tsl_fence_unref(). */
    if (atomic_fetch_sub_explicit(&lane->refs, 1, memory_order_acq_rel) != 1)
        return;
    put_flag(lane);
    if (!tsl_cuda_enter(member)) {
        tsl_cuda_batch_free(lane);
        /* Doesn't wait: CUDA keeps the stream until its work is done. */
        tsl_cu.cuStreamDestroy_v2(lane->stream);
        tsl_cuda_leave(member);
    } else {
        free(lane->batch);
    }
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}

void tsl_cuda_lane_free(struct tsl_lane *lane)
{
    tsl_cuda_flush(lane);
    tsl_cuda_lane_unref(tsl_cuda_lane(lane));
}

void tsl_cuda_lane_saw(struct tsl_cuda_lane *lane, uint64_t sent)
{
    uint_fast64_t seen = atomic_load_explicit(&lane->seen, memory_order_relaxed);

    while (seen < sent &&
           !atomic_compare_exchange_weak_explicit(&lane->seen, &seen, sent, memory_order_release, memory_order_relaxed))
        ;
}

void tsl_cuda_lane_flag(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    struct tsl_cuda_piece *flag = atomic_load(&lane->flag);

    if (!flag) {
        flag = tsl_cuda_piece_get(member, sizeof(uint32_t));
        if (!flag)
            return;
        /* What was sent before may still be on its way. */
        lane->flagged = (uint32_t)atomic_load(&lane->seen);
        atomic_store((_Atomic uint32_t *)flag->host, lane->flagged);
        atomic_store(&lane->flag, flag);
    }
    if (!tsl_cu.cuStreamWriteValue32_v2(lane->stream, (CUdeviceptr)(uintptr_t)flag->host, (uint32_t)lane->sent, 0))
        lane->flagged = (uint32_t)lane->sent;
}

/* CUDA sends at once what it gets; only batches wait. */
cl_int tsl_cuda_flush(struct tsl_lane *lane)
{
    struct tsl_cuda_lane *l = tsl_cuda_lane(lane);
    struct tsl_cuda_member *member = tsl_cuda_member(lane->member);
    cl_int error = CL_SUCCESS;

    pthread_mutex_lock(&l->lock);
    if (tsl_cuda_batch_has(l)) {
        error = tsl_cuda_enter(member);
        if (error) {
            tsl_cuda_batch_drop(l, error);
        } else {
            tsl_cuda_batch_send(l);
            tsl_cuda_leave(member);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return error;
}

/* The error of work without a fence that failed after it was taken. The next fence or finish() of the lane tells it. */
static cl_int take_error(struct tsl_cuda_lane *lane)
{
    cl_int error = tsl_cuda_batch_error(lane);

    if (!error) {
        error = lane->error;
        lane->error = CL_SUCCESS;
    }
    return error;
}

/* Is anything of the lane still held by the host? If not, takes the error that was not told yet. *sent: its events so
 * far. */
static bool is_held(struct tsl_cuda_lane *lane, cl_int *error, uint64_t *sent)
{
    bool held;

    pthread_mutex_lock(&lane->lock);
    held = lane->piping || !STAILQ_EMPTY(&lane->works);
    if (!held) {
        *error = take_error(lane);
        tsl_cuda_batch_pause(lane);
        *sent = lane->sent;
    }
    pthread_mutex_unlock(&lane->lock);
    return held;
}

cl_int tsl_cuda_finish(struct tsl_lane *lane)
{
    struct tsl_cuda_lane *l = tsl_cuda_lane(lane);
    struct tsl_cuda_member *member = tsl_cuda_member(lane->member);
    unsigned seen = tsl_cuda_changes(member);
    cl_int held_error, error;
    uint64_t sent;

    tsl_cuda_flush(lane);
    while (is_held(l, &held_error, &sent)) {
        tsl_cuda_await_change(member, seen);
        seen = tsl_cuda_changes(member);
    }
    error = tsl_cuda_enter(member);
    if (!error) {
        error = tsl_cuda_error(member, tsl_cu.cuStreamSynchronize(l->stream));
        if (!error) {
            tsl_cuda_lane_saw(l, sent);
            tsl_cuda_dues_run(member, UINT64_MAX);
        }
        tsl_cuda_leave(member);
    }
    return error ? error : held_error;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static enum tsl_cuda_state state_of(struct tsl_fence *fence)
{
    return tsl_cuda_fence_state(tsl_cuda_fence(fence));
}

static bool touches_host(const struct tsl_cuda_work *work)
{
    return work->kind == TSL_CUDA_COPY && (!work->copy.dst.mem || !work->copy.src.mem);
}

/* Has the host something to do when the device is through with it? */
static bool has_dues(struct tsl_fence *wait)
{
    return tsl_cuda_fence(wait)->due_number != 0;
}

/* Is the wait one that the stream can do, or over? If not, the host must see its end first. What is due on another
 * member is the host's to do, too: no fence of this one would. */
static bool wait_is_ready(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work, struct tsl_fence *wait,
                          bool *polls)
{
    enum tsl_cuda_state state = state_of(wait);

    if (state == TSL_CUDA_OVER)
        return true;
    if (state == TSL_CUDA_HELD) {
        *polls |= wait->member != lane->base.member; /* Only its own member's thread is told when it goes on. */
        return tsl_cuda_may_go_ahead(work, tsl_cuda_fence(wait));
    }
    if (!tsl_cuda_may_follow(work, tsl_cuda_fence(wait)))
        return false;
    if (wait->member == lane->base.member || (!touches_host(work) && !has_dues(wait)))
        return true;
    *polls = true;
    return tsl_cuda_fence_status(wait) <= CL_COMPLETE;
}

static bool is_ready(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work, bool *polls)
{
    if (tsl_cuda_doubts_too_much(work))
        return false;
    for (unsigned i = 0; i < work->waits.n; i++)
        if (!wait_is_ready(lane, work, work->waits.fences[i], polls))
            return false;
    if (!touches_host(work) || tsl_cuda_copy_ready(tsl_cuda_member(lane->base.member), &work->copy))
        return true;
    *polls = true;
    return false;
}

/* On a lost member, where nothing is done any more: has all that it waits for ended? Gates are opened all the same. */
static bool has_ended_waits(const struct tsl_cuda_work *work, bool *polls)
{
    for (unsigned i = 0; i < work->waits.n; i++)
        if (tsl_cuda_fence_status(work->waits.fences[i]) > CL_COMPLETE) {
            *polls = true;
            return false;
        }
    return true;
}

static cl_int make_stream_wait(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work)
{
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < work->waits.n && !result; i++) {
        const struct tsl_cuda_fence *fence = tsl_cuda_fence(work->waits.fences[i]);

        if (fence->lane && fence->lane != lane && state_of(work->waits.fences[i]) != TSL_CUDA_OVER)
            result = tsl_cu.cuStreamWaitEvent(lane->stream, fence->end, 0);
    }
    return tsl_cuda_error(tsl_cuda_member(lane->base.member), result);
}

static cl_int record_start(struct tsl_cuda_lane *lane, struct tsl_cuda_fence *fence)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    CUresult result;

    if (!fence || !lane->profile)
        return CL_SUCCESS;
    fence->start = tsl_cuda_event_get(member, true, &result);
    if (!result)
        result = tsl_cu.cuEventRecord(fence->start, lane->stream);
    return tsl_cuda_error(member, result);
}

static cl_int run_kind(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    switch (work->kind) {
    case TSL_CUDA_COPY:
        return tsl_cuda_run_copy(lane, work);
    case TSL_CUDA_FILL:
        return tsl_cuda_run_fill(lane, work);
    case TSL_CUDA_LAUNCH:
        return tsl_cuda_run_launch(lane, work);
    default:
        return CL_SUCCESS;
    }
}

/* Behind all that was sent. Of work without a fence the next fence of its lane tells. */
static cl_int send_fence(struct tsl_cuda_lane *lane, struct tsl_cuda_fence *fence)
{
    cl_int failed = take_error(lane), error = failed ? CL_SUCCESS : tsl_cuda_fence_send(fence);

    if (failed || error) { /* What was sent must not go on using memory that its owner takes back. */
        tsl_cu.cuStreamSynchronize(lane->stream);
        tsl_cuda_dues_run(tsl_cuda_member(lane->base.member), UINT64_MAX);
    }
    if (failed)
        tsl_cuda_fence_end(fence, failed);
    return error;
}

/* The work itself, unless what it waits for has failed: then it isn't done, but later work counts on all that it came
 * after. */
static cl_int run_unless_doomed(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    cl_int error;

    if (tsl_cuda_is_doomed(work)) {
        if (work->fence)
            work->fence->doomed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        return CL_SUCCESS;
    }
    error = record_start(lane, work->fence);
    return error ? error : run_kind(lane, work);
}

/* Sends one work to the stream. Entered, lane->lock held. */
static cl_int run(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    cl_int error = tsl_cuda_wait_for_gates(lane, work);

    if (work->n_doubts)
        lane->doubtful = lane->sent + 1;
    if (!error)
        error = make_stream_wait(lane, work);
    if (!error)
        error = run_unless_doomed(lane, work);
    if (error == TSL_CUDA_PIPED) {
        lane->piping = true;
        lane->piped = work->fence;
        if (work->fence)
            tsl_fence_ref(&work->fence->base);
        lane->piped_ns = tsl_clock_ns();
        return CL_SUCCESS;
    }
    if (error || !work->fence)
        return error;
    tsl_cuda_keep_doubts(work);
    return send_fence(lane, work->fence);
}

void tsl_cuda_lane_piped(struct tsl_cuda_lane *lane, cl_int status)
{
    struct tsl_cuda_fence *fence;

    pthread_mutex_lock(&lane->lock);
    lane->piping = false;
    fence = lane->piped;
    lane->piped = NULL;
    if (fence && !status)
        status = take_error(lane);
    if (!fence && status && !lane->error)
        lane->error = status;
    if (fence)
        fence->times = (struct tsl_times){.start_ns = lane->piped_ns, .end_ns = tsl_clock_ns()};
    pthread_mutex_unlock(&lane->lock);
    if (fence) {
        tsl_cuda_fence_end(fence, status);
        tsl_fence_unref(&fence->base);
    } else {
        tsl_cuda_bridge_kick(tsl_cuda_member(lane->base.member));
    }
    tsl_cuda_lane_unref(lane);
}

/* ---- Holding ----------------------------------------------------------------------------------------------------- */

static void free_work(struct tsl_cuda_work *work)
{
    for (unsigned i = 0; i < work->waits.n; i++)
        tsl_fence_unref(work->waits.fences[i]);
    free((void *)work->waits.fences);
    if (work->fence)
        tsl_fence_unref(&work->fence->base);
    free(work->storage);
    free(work);
}

static bool keep_waits(struct tsl_cuda_work *work, const struct tsl_waits *waits)
{
    struct tsl_fence **fences = malloc((waits->n + 1) * sizeof(*fences));

    if (!fences)
        return false;
    for (unsigned i = 0; i < waits->n; i++)
        fences[i] = tsl_fence_ref(waits->fences[i]);
    work->waits = (struct tsl_waits){.n = waits->n, .fences = fences};
    return true;
}

/* A copy that keeps what it names. NULL without memory. */
static struct tsl_cuda_work *keep(const struct tsl_cuda_work *work)
{
    struct tsl_cuda_work *kept = malloc(sizeof(*kept));

    if (!kept)
        return NULL;
    *kept = *work;
    kept->waits = (struct tsl_waits){.n = 0};
    kept->fence = NULL;
    kept->storage = NULL;
    if (!keep_waits(kept, &work->waits) || (work->kind == TSL_CUDA_LAUNCH && !tsl_cuda_keep_args(kept, work))) {
        free_work(kept);
        return NULL;
    }
    kept->fence = work->fence;
    if (kept->fence)
        tsl_fence_ref(&kept->fence->base);
    return kept;
}

static cl_int hold(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work)
{
    struct tsl_cuda_work *kept = keep(work);
    cl_int error;

    if (!kept)
        return CL_OUT_OF_HOST_MEMORY;
    STAILQ_INSERT_TAIL(&lane->works, kept, next);
    error = tsl_cuda_bridge_hold(lane);
    if (error) {
        STAILQ_REMOVE(&lane->works, kept, tsl_cuda_work, next);
        free_work(kept);
    }
    return error;
}

/* Its fence ends with the error, or, without one, the lane's next fence or finish(). The work had been accepted. */
static void fail_work(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work, cl_int error, bool lost)
{
    if (!work->fence) {
        if (!lane->error)
            lane->error = error;
        return;
    }
    work->fence->doomed = error;
    if (lost || send_fence(lane, work->fence))
        tsl_cuda_fence_end(work->fence, error);
}

/* The oldest held work goes on. */
static void pass_on(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work, cl_int entered)
{
    cl_int error = entered ? entered : run(lane, work);

    if (error && error != CL_DEVICE_NOT_AVAILABLE) /* That the member is lost was told. */
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR, "%s: work that had to wait failed when its turn came (error %d)",
                lane->base.member->path->id, error);
    if (error)
        fail_work(lane, work, error, entered != CL_SUCCESS);
    STAILQ_REMOVE_HEAD(&lane->works, next);
    free_work(work);
}

bool tsl_cuda_lane_advance(struct tsl_cuda_lane *lane, bool *progress, bool *polls)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    struct tsl_cuda_work *work;
    bool passed = false, any;
    cl_int entered;

    pthread_mutex_lock(&lane->lock);
    entered = tsl_cuda_enter(member);
    while (!lane->piping && (work = STAILQ_FIRST(&lane->works)) &&
           (entered ? has_ended_waits(work, polls) : is_ready(lane, work, polls))) {
        pass_on(lane, work, entered);
        passed = true;
    }
    if (!entered)
        tsl_cuda_leave(member);
    any = !STAILQ_EMPTY(&lane->works);
    if (!any)
        tsl_cuda_bridge_release(lane);
    pthread_mutex_unlock(&lane->lock);
    if (passed) {
        *progress = true;
        tsl_cuda_bridge_kick(member);
    }
    return any;
}

/* ---- Submitting -------------------------------------------------------------------------------------------------- */

static cl_int send_or_hold(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    bool polls = false;

    if (lane->piping || !STAILQ_EMPTY(&lane->works) || !is_ready(lane, work, &polls))
        return hold(lane, work);
    return run(lane, work);
}

/* Calls CUDA: with what was saved before and, if it wasn't saved itself, the work. */
static cl_int submit_now(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work, bool saved)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    cl_int error = tsl_cuda_enter(member);

    if (error) {
        tsl_cuda_batch_drop(lane, error);
        return error;
    }
    tsl_cuda_batch_send(lane);
    if (!saved)
        error = send_or_hold(lane, work);
    else if (work->fence)
        error = send_fence(lane, work->fence);
    tsl_cuda_leave(member);
    return error;
}

/* Some launches are saved, to go on their way with others. */
static cl_int save_or_submit(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    cl_int error = work->spread ? tsl_cuda_spread_use(lane, work) : CL_SUCCESS;
    bool saved;

    if (error)
        return error;
    saved = tsl_cuda_batch_save(lane, work);
    return saved && !work->fence && !tsl_cuda_batch_is_full(lane) ? CL_SUCCESS : submit_now(lane, work, saved);
}

cl_int tsl_cuda_submit(struct tsl_lane *lane, struct tsl_cuda_work *work, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    struct tsl_cuda_lane *l = tsl_cuda_lane(lane);
    struct tsl_cuda_member *member = tsl_cuda_member(lane->member);
    cl_int error;

    work->waits = waits ? *waits : (struct tsl_waits){.n = 0};
    for (unsigned i = 0; i < work->waits.n; i++)
        if (!tsl_cuda_can_wait(lane->member, work->waits.fences[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
    if (tsl_member_is_lost(lane->member))
        return CL_DEVICE_NOT_AVAILABLE;
    work->fence = fence ? tsl_cuda_fence_new(member, l) : NULL;
    if (fence && !work->fence)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&l->lock);
    error = save_or_submit(l, work);
    pthread_mutex_unlock(&l->lock);
    if (!error && fence)
        *fence = &work->fence->base;
    else if (work->fence)
        tsl_fence_unref(&work->fence->base);
    return error;
}

cl_int tsl_cuda_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_cuda_work work = {.kind = TSL_CUDA_MARK};

    return tsl_cuda_submit(lane, &work, waits, fence);
}
