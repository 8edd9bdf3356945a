/* launch.c, print.c: launches, and what their kernels print. */
#ifndef TSL_CPU_DEVICE_LAUNCH_H
#define TSL_CPU_DEVICE_LAUNCH_H

#include "cpu_device/internal.h"

/* One piece of a launch. An error: the kernel faulted, or there is no memory for the worker. */
cl_int cpu_launch_run(struct cpu_worker *worker, struct cpu_launch *launch, uint64_t piece);
void cpu_launch_free(struct cpu_member *member, struct cpu_launch *launch);
size_t cpu_launch_size(void);                          /* bytes of one with few arguments */
bool cpu_launch_is_short(const struct cpu_task *task); /* some microseconds of one thread, as far as was measured */
bool cpu_launch_is_quick(const struct cpu_task *task); /* likewise, see cpu_is_quick */

/* Where a row of the window's groups is in the launch. */
uint64_t cpu_row_y(const struct cpu_launch *launch, uint64_t row);
uint64_t cpu_row_z(const struct cpu_launch *launch, uint64_t row);

tsl_wg_print_fn cpu_print;
void cpu_print_flush(struct cpu_launch *launch);

#endif
