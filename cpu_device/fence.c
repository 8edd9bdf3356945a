/* Fences and gates: tasks seen from outside. */
#include "cpu_device/operations.h"
#include "cpu_device/queue.h"
#include "cpu_device/ready.h"
#include "cpu_device/team.h"

#include <stdlib.h>

cl_int cpu_fence_status(struct tsl_fence *fence)
{
    struct cpu_task *task = cpu_task_of(fence);
    cl_int status;

    pthread_mutex_lock(&cpu_member_of(fence->member)->lock);
    status = atomic_load(&task->status);
    if (status == CL_SUBMITTED && task->left && atomic_load(task->left) < task->n_pieces)
        status = CL_RUNNING;
    pthread_mutex_unlock(&cpu_member_of(fence->member)->lock);
    return status;
}

cl_int cpu_fence_wait(struct tsl_fence *fence)
{
    cpu_wait_task(cpu_task_of(fence));
    return atomic_load(&cpu_task_of(fence)->status);
}

cl_int cpu_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct cpu_member *member = cpu_member_of(fence->member);
    struct cpu_task *task = cpu_task_of(fence);
    struct cpu_note *notes = NULL;
    cl_int status;

    pthread_mutex_lock(&member->lock);
    status = atomic_load(&task->status);
    if (status > CL_COMPLETE) {
        notes = realloc(task->notes, (task->n_notes + 1) * sizeof(*notes));
        if (notes) {
            task->notes = notes;
            notes[task->n_notes++] = (struct cpu_note){fn, arg};
        }
    }
    pthread_mutex_unlock(&member->lock);
    if (status > CL_COMPLETE && !notes)
        return CL_OUT_OF_HOST_MEMORY;
    if (status <= CL_COMPLETE)
        fn(arg, status);
    return CL_SUCCESS;
}

cl_int cpu_fence_times(struct tsl_fence *fence, struct tsl_times *times)
{
    const struct cpu_task *task = cpu_task_of(fence);

    /* Acquire: the times were written before. */
    if (!task->profile || atomic_load_explicit(&task->status, memory_order_acquire) > CL_COMPLETE)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    *times = task->times;
    return CL_SUCCESS;
}

void cpu_fence_free(struct tsl_fence *fence)
{
    cpu_task_free(cpu_task_of(fence));
}

cl_int cpu_gate_create(struct tsl_member *member, struct tsl_fence **gate)
{
    struct cpu_task *task = cpu_task_create(cpu_member_of(member), CPU_GATE);

    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    *gate = tsl_fence_ref(&task->fence);
    return CL_SUCCESS;
}

/* ---- Openers ----------------------------------------------------------------------------------------------------- */

void cpu_gate_by(struct tsl_fence *gate, struct tsl_fence *opener)
{
    struct cpu_member *member = cpu_member_of(gate->member);
    struct cpu_task *task = cpu_task_of(gate);
    struct cpu_thread *looks = NULL;

    if (!opener->driver->fence_peek)
        return;
    tsl_fence_ref(opener);
    pthread_mutex_lock(&member->lock);
    task->opener = opener;
    TAILQ_INSERT_TAIL(&member->gates, task, link);
    atomic_fetch_add(&member->n_gates, 1);
    if (member->n_sleeping && !member->resting && !atomic_load(&member->looking))
        looks = cpu_rouse_locked(member);
    pthread_mutex_unlock(&member->lock);
    if (looks)
        pthread_cond_signal(&looks->woken);
}

static struct tsl_fence *forget_opener(struct cpu_member *member, struct cpu_task *gate)
{
    struct tsl_fence *opener;

    pthread_mutex_lock(&member->lock);
    opener = gate->opener;
    gate->opener = NULL;
    if (opener) {
        TAILQ_REMOVE(&member->gates, gate, link);
        atomic_fetch_sub(&member->n_gates, 1);
    }
    pthread_mutex_unlock(&member->lock);
    return opener;
}

/* False: it was open. */
static bool open_gate(struct cpu_task *gate, cl_int status)
{
    struct cpu_member *member = cpu_member_of(gate->fence.member);
    struct tsl_fence *opener;

    if (atomic_exchange(&gate->opened, true))
        return false;
    opener = forget_opener(member, gate);
    cpu_complete(gate, status);
    tsl_fence_unref(opener);
    return true;
}

cl_int cpu_gate_open(struct tsl_fence *gate, cl_int status)
{
    struct cpu_member *member = cpu_member_of(gate->member);

    if (cpu_task_of(gate)->kind != CPU_GATE)
        return CL_INVALID_VALUE;
    if (!open_gate(cpu_task_of(gate), status))
        return CL_INVALID_OPERATION;
    cpu_wake(member);
    return CL_SUCCESS;
}

/* So many of the oldest gates are looked at: gates mostly open in their order. */
#define LOOK_AT 4

void cpu_look_at_gates(struct cpu_member *member)
{
    struct cpu_task *gate, *found = NULL;
    unsigned n = 0;
    bool more;

    if (pthread_mutex_trylock(&member->lock))
        return;
    TAILQ_FOREACH(gate, &member->gates, link)
    {
        if (gate->opener->driver->fence_peek(gate->opener))
            found = gate;
        if (found || ++n == LOOK_AT)
            break;
    }
    if (found)
        tsl_fence_ref(&found->fence);
    pthread_mutex_unlock(&member->lock);
    if (!found)
        return;
    open_gate(found, CL_COMPLETE);
    tsl_fence_unref(&found->fence);
    pthread_mutex_lock(&member->lock);
    more = cpu_is_wide_locked(member);
    pthread_mutex_unlock(&member->lock);
    if (more)
        cpu_wake(member);
}

bool cpu_fence_is_sure(struct tsl_fence *fence)
{
    struct cpu_member *member = cpu_member_of(fence->member);
    bool sure;

    pthread_mutex_lock(&member->lock);
    sure = cpu_is_sure_locked(cpu_task_of(fence));
    pthread_mutex_unlock(&member->lock);
    return sure;
}
