/* Doing what is ready. */
#include "cpu_device/work.h"
#include "base/clock.h"
#include "cpu_device/launch.h"
#include "cpu_device/queue.h"
#include "cpu_device/ready.h"
#include "cpu_device/team.h"

#include <stdlib.h>

static cl_int run_piece(struct cpu_worker *worker, struct cpu_task *task, uint64_t piece)
{
    if (task->wait_error || atomic_load_explicit(&task->error, memory_order_relaxed))
        return CL_SUCCESS;
    switch (task->kind) {
    case CPU_COPY:
        cpu_copy_run(task, piece);
        return CL_SUCCESS;
    case CPU_GATHER:
        cpu_gather_run(task, piece);
        return CL_SUCCESS;
    case CPU_FILL:
        cpu_fill_run(&task->fill);
        return CL_SUCCESS;
    case CPU_COMBINE:
        cpu_combine_run(task, piece);
        return CL_SUCCESS;
    case CPU_LAUNCH:
        return cpu_launch_run(worker, task->launch, piece);
    default:
        return CL_SUCCESS;
    }
}

static cl_int status_of(const struct cpu_task *task)
{
    cl_int error = atomic_load(&task->error);

    if (task->wait_error)
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return error ? error : CL_COMPLETE;
}

/* Joins a task of the list, or of a lane. */
static struct cpu_share join_by_lock(struct cpu_worker *worker, const struct cpu_lane *lane)
{
    struct cpu_member *member = worker->member;
    struct cpu_share share;

    pthread_mutex_lock(&member->lock);
    share = lane ? cpu_join_lane_locked(member, lane) : cpu_join_listed_locked(member);
    pthread_mutex_unlock(&member->lock);
    return share;
}

/* Joins tasks of the list and of the boards in turns, so that neither waits for the other for ever. */
static struct cpu_share join_any(struct cpu_worker *worker)
{
    struct cpu_member *member = worker->member;
    struct cpu_share share = {.task = NULL};
    bool listed = atomic_load_explicit(&member->n_listed, memory_order_relaxed) > 0;

    worker->list_first = !worker->list_first;
    if (listed && worker->list_first)
        share = join_by_lock(worker, NULL);
    if (!share.task)
        share = cpu_join_board(member);
    if (!share.task && listed && !worker->list_first)
        share = join_by_lock(worker, NULL);
    return share;
}

/* Room for one more may have come since the last look, which takes the lock. */
static void look_round(struct cpu_worker *worker)
{
    uint64_t now;

    if (!cpu_may_call(worker->member))
        return;
    now = tsl_clock_ns();
    if (now - worker->looked < CPU_LOOK_NS)
        return;
    worker->looked = now;
    cpu_wake_from(worker->member, worker->at);
}

/* A thread of the team stops if it keeps a waiting thread from its processor; a waiting thread stops as soon as its
 * task is complete. */
static bool is_to_stop(const struct cpu_worker *worker, const struct cpu_task *until)
{
    const struct cpu_member *member = worker->member;

    if (until)
        return cpu_is_complete(until);
    return worker->at != CPU_NOWHERE && cpu_is_crowded(&member->threads[worker->at]) &&
           atomic_load_explicit(&member->n_sleeping, memory_order_relaxed);
}

static void fail(struct cpu_share *share, cl_int error)
{
    atomic_store(&share->task->error, error);
    cpu_take_all(share);
}

/* A piece of a quick task in the list, between two of another task: its own thread takes turns, so neither waits for
 * the other's end. */
static void run_quick(struct cpu_worker *worker)
{
    struct cpu_share share;
    cl_int error;

    pthread_mutex_lock(&worker->member->lock);
    share = cpu_join_quick_locked(worker->member);
    pthread_mutex_unlock(&worker->member->lock);
    if (!share.task)
        return;
    error = run_piece(worker, share.task, share.piece);
    if (error)
        fail(&share, error);
    else
        cpu_leave(&share);
    if (cpu_done(&share))
        cpu_complete(share.task, status_of(share.task));
}

/* Pieces of one task are taken one after the other, without a look for others but quick ones. */
static void run_pieces(struct cpu_worker *worker, struct cpu_share *share, const struct cpu_task *until)
{
    do {
        cl_int error = run_piece(worker, share->task, cpu_pick(share, worker->at));

        if (error) {
            fail(share, error);
            return;
        }
        if (is_to_stop(worker, until)) {
            cpu_leave(share);
            return;
        }
        look_round(worker);
        if (!until && cpu_has_quick(worker->member))
            run_quick(worker);
    } while (cpu_take(share));
}

static void run_share(struct cpu_worker *worker, struct cpu_share *share, const struct cpu_task *until)
{
    struct cpu_member *member = worker->member;

    atomic_fetch_add_explicit(&member->n_busy, 1, memory_order_relaxed);
    if (!until)
        atomic_fetch_add(&member->n_working, 1); /* not relaxed: see cpu_may_call */
    if (cpu_may_call(member))
        cpu_wake_from(member, worker->at);
    run_pieces(worker, share, until);
    atomic_fetch_sub_explicit(&member->n_busy, 1, memory_order_relaxed);
    if (!until)
        atomic_fetch_sub_explicit(&member->n_working, 1, memory_order_relaxed);
}

bool cpu_work(struct cpu_worker *worker, const struct cpu_lane *lane, const struct cpu_task *until)
{
    struct cpu_member *member = worker->member;
    struct cpu_share share = {.task = NULL};

    if (cpu_is_ready(member))
        share = lane ? join_by_lock(worker, lane) : join_any(worker);
    if (!share.task) {
        cpu_pause(); /* the thread that took the last piece is about to say so */
        return false;
    }
    run_share(worker, &share, until);
    if (cpu_done(&share))
        cpu_complete(share.task, status_of(share.task));
    return true;
}

/* ---- Threads that aren't ours ------------------------------------------------------------------------------------ */

static void count_helper_locked(struct cpu_worker *worker, struct cpu_lane *lane, int at, int change)
{
    worker->at = at;
    lane->n_helping += (unsigned)change;
    worker->member->n_helping += (unsigned)change;
    if (worker->at != CPU_NOWHERE)
        atomic_fetch_add_explicit(&worker->member->threads[worker->at].n_helping, (unsigned)change,
                                  memory_order_relaxed);
}

/* Not under the lock, which all threads of the team want. */
static struct cpu_worker *new_helper(struct cpu_member *member, struct cpu_lane *lane, int at)
{
    struct cpu_worker *worker = calloc(1, sizeof(*worker));

    if (!worker)
        return NULL;
    worker->member = member;
    pthread_mutex_lock(&member->lock);
    count_helper_locked(worker, lane, at, 1);
    pthread_mutex_unlock(&member->lock);
    return worker;
}

struct cpu_worker *cpu_helper(struct cpu_member *member, struct cpu_lane *lane)
{
    int at = cpu_here(member);
    struct cpu_worker *worker;

    pthread_mutex_lock(&member->lock);
    worker = member->helpers;
    if (worker) {
        member->helpers = worker->next;
        count_helper_locked(worker, lane, at, 1);
    }
    pthread_mutex_unlock(&member->lock);
    if (!worker)
        worker = new_helper(member, lane, at);
    if (worker)
        worker->floats = cpu_floats_plain();
    return worker;
}

void cpu_helper_back(struct cpu_worker *worker, struct cpu_lane *lane)
{
    struct cpu_member *member = worker->member;

    cpu_floats_back(&worker->floats);
    pthread_mutex_lock(&member->lock);
    count_helper_locked(worker, lane, worker->at, -1);
    worker->next = member->helpers;
    member->helpers = worker;
    pthread_mutex_unlock(&member->lock);
}

void cpu_worker_finish(struct cpu_worker *worker)
{
    free(worker->thread.local);
    free(worker->thread.scratch);
}
