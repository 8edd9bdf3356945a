/* queue.c: tasks, their order and their ends. */
#ifndef TSL_CPU_DEVICE_QUEUE_H
#define TSL_CPU_DEVICE_QUEUE_H

#include "cpu_device/internal.h"

/* A task with one reference, the caller's, and n_waits 1. NULL: no memory. */
struct cpu_task *cpu_task_create(struct cpu_member *member, enum cpu_kind kind);
void cpu_task_free(struct cpu_task *task); /* with what it owns; nothing else is left of it */
/* Submits the task to the lane, after the waits. Takes the caller's reference, also on error. */
cl_int cpu_submit(struct tsl_lane *lane, struct cpu_task *task, const struct tsl_waits *waits,
                  struct tsl_fence **fence);
/* Completes a task of any kind: dependents become ready, waiters are told. Without the lock. */
void cpu_complete(struct cpu_task *task, cl_int status);
bool cpu_is_sure_locked(struct cpu_task *task); /* see fence_is_sure */
/* So little that who waits for it should not wait for another task's end: a mark, a small copy, a launch of few pieces.
 */
bool cpu_is_quick(const struct cpu_task *task);
/* fence.c: opens the oldest gates whose openers have ended, as far as can be seen. The caller goes on with the work. */
void cpu_look_at_gates(struct cpu_member *member);
void cpu_wait_task(struct cpu_task *task); /* blocks until it is complete */

static inline bool cpu_is_complete(const struct cpu_task *task)
{
    /* Acquire: a thread that sees it complete sees what the work wrote. */
    return atomic_load_explicit(&task->status, memory_order_acquire) <= CL_COMPLETE;
}

/* driver.c */
void cpu_lane_unref(struct cpu_lane *lane);

#endif
