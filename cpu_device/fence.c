/* Fences and gates: tasks seen from outside. */
#include "cpu_device/internal.h"

#include <stdlib.h>

cl_int cpu_fence_status(struct tsl_fence *fence)
{
    struct cpu_task *task = cpu_task_of(fence);
    cl_int status;

    pthread_mutex_lock(&cpu_member_of(fence->member)->lock);
    status = atomic_load(&task->status);
    if (status == CL_SUBMITTED && task->n_taken > 0)
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

cl_int cpu_gate_open(struct tsl_fence *gate, cl_int status)
{
    if (cpu_task_of(gate)->kind != CPU_GATE)
        return CL_INVALID_VALUE;
    if (cpu_fence_status(gate) <= CL_COMPLETE)
        return CL_INVALID_OPERATION;
    cpu_complete(cpu_task_of(gate), status);
    return CL_SUCCESS;
}
