/* Doing what is ready. */
#include "core/clock.h"
#include "cpu_device/internal.h"

#include <fenv.h>
#include <stdlib.h>

/* Pieces of one launch that a thread takes one after the other are taken without looking for others first. */
static cl_int run_piece(struct cpu_worker *worker, struct cpu_task *task, uint64_t piece)
{
    if (task->wait_error || atomic_load_explicit(&task->error, memory_order_relaxed))
        return CL_SUCCESS;
    switch (task->kind) {
    case CPU_COPY:
        cpu_copy_run(task, piece);
        return CL_SUCCESS;
    case CPU_FILL:
        cpu_fill_run(&task->fill);
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

/* Was it the last piece? */
static bool piece_done(struct cpu_member *member, struct cpu_task *task, const struct cpu_lane *lane)
{
    bool last;

    pthread_mutex_lock(&member->lock);
    last = cpu_give_back_locked(member, task);
    atomic_fetch_sub_explicit(&member->n_busy, 1, memory_order_relaxed);
    if (!lane)
        member->n_working--;
    pthread_mutex_unlock(&member->lock);
    return last;
}

bool cpu_work(struct cpu_worker *worker, const struct cpu_lane *lane)
{
    struct cpu_member *member = worker->member;
    struct cpu_wakes wakes = {.n = 0};
    struct cpu_task *task;
    uint64_t piece;
    cl_int error;

    pthread_mutex_lock(&member->lock);
    task = cpu_take_locked(member, lane, &piece);
    if (task)
        atomic_fetch_add_explicit(&member->n_busy, 1, memory_order_relaxed);
    if (task && !lane)
        member->n_working++;
    if (task && member->n_sleeping)
        wakes = cpu_choose_locked(member, worker->at);
    pthread_mutex_unlock(&member->lock);
    if (!task)
        return false;
    cpu_signal(&wakes);
    error = run_piece(worker, task, piece);
    if (error)
        atomic_store(&task->error, error);
    if (piece_done(member, task, lane))
        cpu_complete(task, status_of(task));
    return true;
}

/* ---- Threads that aren't ours -------------------------------------------------------------------------------------
 */

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
    return worker ? worker : new_helper(member, lane, at);
}

void cpu_helper_back(struct cpu_worker *worker, struct cpu_lane *lane)
{
    struct cpu_member *member = worker->member;

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
