/* check.c: are kernels' footprints true (TESELA_CHECK=access)? */
#ifndef TSL_CPU_DEVICE_CHECK_H
#define TSL_CPU_DEVICE_CHECK_H

#include "cpu_device/internal.h"

/* The launch has its sizes and arguments, and its code makes checks (TSL_WG_CHECKS). Sets launch->check, unless the
 * kernel has no footprint. CL_OUT_OF_HOST_MEMORY: what was set is freed with the launch. */
cl_int cpu_check_begin(struct cpu_launch *launch, const struct tsl_kernel_facts *facts,
                       const struct tsl_bound_args *args);
/* What code calls before an access. */
tsl_wg_check_fn cpu_check_access;
/* This thread is about to run groups (x … x + n - 1, y, z). Returns how many of them, from the first on, it may run
 * before it asks again: what is noted of accesses tells the launch's halves apart. */
uint64_t cpu_check_enter(const struct cpu_check *check, uint64_t x, uint64_t n, uint64_t y, uint64_t z);
/* All of the launch has run. Returns its status: a fault of the footprint, which was logged, makes a success
 * CL_OUT_OF_RESOURCES. */
cl_int cpu_check_end(const struct cpu_launch *launch, cl_int status);
void cpu_check_free(struct cpu_check *check); /* NULL allowed */

#endif
