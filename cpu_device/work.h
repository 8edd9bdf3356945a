/* work.c: doing pieces of tasks; memory.c: what pieces of copies, gathers, fills and combines are. */
#ifndef TSL_CPU_DEVICE_WORK_H
#define TSL_CPU_DEVICE_WORK_H

#include "cpu_device/internal.h"

/* Does pieces of one task, if one is ready, until none is left; false: there was none. lane: only its tasks,
 * and no more pieces once `until` is complete; NULL: the worker is of the team, and takes any task. */
bool cpu_work(struct cpu_worker *worker, const struct cpu_lane *lane, const struct cpu_task *until);
struct cpu_worker *cpu_helper(struct cpu_member *member, struct cpu_lane *lane);
void cpu_helper_back(struct cpu_worker *worker, struct cpu_lane *lane);
void cpu_worker_finish(struct cpu_worker *worker);

/* memory.c */
void cpu_copy_run(const struct cpu_task *task, uint64_t piece);
void cpu_gather_run(const struct cpu_task *task, uint64_t piece);
void cpu_fill_run(const struct cpu_fill *fill);
void cpu_combine_run(const struct cpu_task *task, uint64_t piece);

#endif
