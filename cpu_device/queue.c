/* Tasks and their order. */
#include "cpu_device/queue.h"
#include "base/clock.h"
#include "cpu_device/check.h"
#include "cpu_device/launch.h"
#include "cpu_device/ready.h"
#include "cpu_device/team.h"
#include "cpu_device/work.h"

#include <stdlib.h>

/* What moves no more bytes than this is done soon. */
#define SHORT_SIZE ((size_t)64 << 10)

struct cpu_task *cpu_task_create(struct cpu_member *member, enum cpu_kind kind)
{
    struct cpu_task *task = tsl_pool_take(&member->tasks);

    if (!task)
        return NULL;
    task->fence.driver = &tsl_cpu_driver;
    task->fence.member = &member->base;
    atomic_init(&task->fence.refs, 1);
    atomic_init(&task->status, CL_SUBMITTED);
    task->kind = kind;
    task->n_waits = 1;
    task->n_pieces = 1;
    task->max_joined = 1;
    return task;
}

void cpu_task_free(struct cpu_task *task)
{
    struct cpu_member *member = cpu_member_of(task->fence.member);

    if (task->kind == CPU_LAUNCH && task->launch)
        cpu_launch_free(member, task->launch);
    if (task->kind == CPU_GATHER)
        free(task->gather.list);
    tsl_pool_put(&member->tasks, task);
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* False: no memory for the edge. */
static bool add_edge_locked(struct cpu_task *on, struct cpu_edge edge)
{
    struct cpu_edge *more;

    if (on->n_dependents == 0) {
        on->first = edge;
    } else {
        more = realloc(on->more, on->n_dependents * sizeof(*more));
        if (!more)
            return false;
        on->more = more;
        more[on->n_dependents - 1] = edge;
    }
    on->n_dependents++;
    return true;
}

/* Likewise. */
static bool depend_locked(struct cpu_task *task, struct cpu_task *on, bool strict)
{
    cl_int status = atomic_load_explicit(&on->status, memory_order_relaxed);

    if (status <= CL_COMPLETE) {
        if (strict && status < 0 && !task->wait_error)
            task->wait_error = status;
        return true;
    }
    if (!add_edge_locked(on, (struct cpu_edge){task, strict}))
        return false;
    task->n_waits++;
    if (!cpu_is_sure_locked(on)) {
        if (task->n_unsure < CPU_MAX_UNSURE)
            task->unsure[task->n_unsure] = cpu_task_of(tsl_fence_ref(&on->fence));
        task->n_unsure++;
    }
    return true;
}

static size_t volume(const size_t region[3])
{
    return region[0] * region[1] * region[2];
}

/* Of a task that is no launch: are there at most so many bytes to copy or to fill? */
static bool moves_at_most(const struct cpu_task *task, size_t most)
{
    switch (task->kind) {
    case CPU_COPY:
        return volume(task->copy.region) <= most;
    case CPU_GATHER:
        return task->gather.size <= most;
    case CPU_FILL:
        return volume(task->fill.box.region) <= most;
    case CPU_COMBINE:
        return task->combine.size <= SHORT_SIZE;
    default:
        return true;
    }
}

static bool is_short(const struct cpu_task *task)
{
    return task->kind == CPU_LAUNCH ? cpu_launch_is_short(task) : moves_at_most(task, SHORT_SIZE);
}

/* A quarter of a megabyte is moved in less time than a piece of a launch takes. */
#define QUICK_SIZE ((size_t)256 << 10)

bool cpu_is_quick(const struct cpu_task *task)
{
    return task->kind == CPU_LAUNCH ? cpu_launch_is_quick(task) : moves_at_most(task, QUICK_SIZE);
}

static bool opener_is_sure(const struct cpu_task *gate)
{
    return gate->opener && gate->opener->driver->fence_is_sure && gate->opener->driver->fence_is_sure(gate->opener);
}

/* The tasks that it waits for are asked what they know already; chains are not walked. */
bool cpu_is_sure_locked(struct cpu_task *task)
{
    if (task->sure || cpu_is_complete(task))
        return true;
    if (task->kind == CPU_GATE)
        return opener_is_sure(task);
    if (!is_short(task) || (task->n_waits && task->n_unsure > CPU_MAX_UNSURE))
        return false;
    for (unsigned i = 0; i < task->n_unsure && task->n_waits; i++) {
        struct cpu_task *on = task->unsure[i];

        if (!on->sure && !cpu_is_complete(on) && (on->kind != CPU_GATE || !opener_is_sure(on)))
            return false;
    }
    task->sure = true;
    return true;
}

static void forget_unsure(struct cpu_task *task)
{
    for (unsigned i = 0; i < task->n_unsure && i < CPU_MAX_UNSURE; i++)
        tsl_fence_unref(&task->unsure[i]->fence);
}

/* Nothing stands before it any more: it is ready. A failed wait leaves it in order, as a piece of no work. */
static void release_locked(struct cpu_member *member, struct cpu_task *task)
{
    if (--task->n_waits == 0)
        cpu_ready_locked(member, task);
}

/* CL_INVALID_EVENT_WAIT_LIST: one of them is another's. */
static cl_int check_waits(struct tsl_member *member, const struct tsl_waits *waits)
{
    for (unsigned i = 0; waits && i < waits->n; i++)
        if (!tsl_cpu_driver.can_wait(member, waits->fences[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
    return CL_SUCCESS;
}

/* With nothing before it any more: no thread need be woken for that. */
static void end_mark(struct cpu_task *task)
{
    task->n_waits = 0;
    if (task->profile)
        task->times.start_ns = tsl_clock_ns();
    cpu_complete(task, task->wait_error ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
}

cl_int cpu_submit(struct tsl_lane *lane, struct cpu_task *task, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    cl_int error = check_waits(lane->member, waits);
    struct cpu_lane *l = (struct cpu_lane *)lane;
    struct cpu_member *member = cpu_member_of(lane->member);
    struct cpu_task *before;
    bool over;

    if (error) {
        tsl_fence_unref(&task->fence);
        return error;
    }
    atomic_fetch_add(&l->refs, 1);
    task->lane = l;
    task->profile = l->profile;
    task->wanted = fence != NULL;
    if (fence)
        *fence = tsl_fence_ref(&task->fence);
    tsl_fence_ref(&task->fence); /* the lane's, as its last */
    pthread_mutex_lock(&member->lock);
    before = l->last;
    l->last = task;
    if (before && !depend_locked(task, before, false))
        task->wait_error = CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; waits && i < waits->n; i++)
        if (!depend_locked(task, cpu_task_of(waits->fences[i]), true))
            task->wait_error = CL_OUT_OF_HOST_MEMORY;
    over = task->kind == CPU_MARK && task->n_waits == 1;
    if (!over)
        release_locked(member, task);
    pthread_mutex_unlock(&member->lock);
    if (before)
        tsl_fence_unref(&before->fence);
    if (over)
        end_mark(task);
    return CL_SUCCESS;
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

/* True: one of them is ready and large enough for several threads, some of which may be asleep. */
static bool release_dependents_locked(struct cpu_member *member, struct cpu_task *task, cl_int status)
{
    bool wide = false;

    for (unsigned i = 0; i < task->n_dependents; i++) {
        struct cpu_edge edge = i ? task->more[i - 1] : task->first;

        if (edge.strict && status < 0 && !edge.to->wait_error)
            edge.to->wait_error = status;
        release_locked(member, edge.to);
        wide |= edge.to->n_waits == 0 && edge.to->max_joined > 1;
    }
    free(task->more);
    task->more = NULL;
    task->n_dependents = 0;
    return wide;
}

void cpu_complete(struct cpu_task *task, cl_int status)
{
    struct cpu_member *member = cpu_member_of(task->fence.member);
    struct cpu_note *notes;
    struct cpu_lane *lane;
    unsigned n_notes, n_dependents;
    bool wide;

    if (task->kind == CPU_LAUNCH && task->launch) {
        cpu_print_flush(task->launch);
        status = cpu_check_end(task->launch, status);
    }
    pthread_mutex_lock(&member->lock);
    if (task->profile)
        task->times.end_ns = tsl_clock_ns();
    if (status < 0 && task->lane && !task->wanted && !task->lane->error)
        task->lane->error = status;
    lane = task->lane;
    task->lane = NULL;
    /* Release: see cpu_is_complete. */
    atomic_store_explicit(&task->status, status, memory_order_release);
    if (task->board)
        task->board->task = NULL;
    n_dependents = task->n_dependents;
    wide = release_dependents_locked(member, task, status);
    notes = task->notes;
    n_notes = task->n_notes;
    task->notes = NULL;
    task->n_notes = 0;
    if (member->n_waiting)
        pthread_cond_broadcast(&member->done);
    pthread_mutex_unlock(&member->lock);
    for (unsigned i = 0; i < n_notes; i++)
        notes[i].fn(notes[i].arg, status);
    free(notes);
    forget_unsure(task);
    if (lane)
        cpu_lane_unref(lane);
    /* This thread goes on with one of them, unless an earlier task has room for it; a caller of gate_open sees to that
     * itself. */
    if (task->kind != CPU_GATE && (wide || n_dependents > 1 ||
                                   (n_dependents && atomic_load_explicit(&member->n_ready, memory_order_relaxed) > 1)))
        cpu_wake(member);
    tsl_fence_unref(&task->fence);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

/* Helps with the task's own lane, which leads to it, or, with nothing to do there, looks for the end. As others have
 * the last pieces of one task, the next one may be there soon: until then the processor isn't given away. */
static void help(struct cpu_task *task, struct cpu_lane *lane)
{
    struct cpu_member *member = cpu_member_of(task->fence.member);
    struct cpu_worker *worker = lane && !member->place.bound ? cpu_helper(member, lane) : NULL;
    struct cpu_look look = {0};

    while (!cpu_is_complete(task) && cpu_may_look(member, &look)) {
        while (worker && !cpu_is_complete(task) && cpu_is_ready(member) && cpu_work(worker, lane, task))
            look.begin = 0;
        for (unsigned i = 0; i < CPU_LOOKS && !cpu_is_complete(task); i++)
            cpu_pause();
    }
    if (worker)
        cpu_helper_back(worker, lane);
}

void cpu_wait_task(struct cpu_task *task)
{
    struct cpu_member *member = cpu_member_of(task->fence.member);
    struct cpu_lane *lane;

    pthread_mutex_lock(&member->lock);
    lane = task->lane;
    if (lane)
        atomic_fetch_add(&lane->refs, 1);
    pthread_mutex_unlock(&member->lock);
    help(task, lane);
    if (lane)
        cpu_lane_unref(lane);
    cpu_wake(member);
    if (cpu_is_complete(task))
        return;
    pthread_mutex_lock(&member->lock);
    member->n_waiting++;
    while (!cpu_is_complete(task))
        pthread_cond_wait(&member->done, &member->lock);
    member->n_waiting--;
    pthread_mutex_unlock(&member->lock);
}
