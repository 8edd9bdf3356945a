/* fault.c: runs generated code; a fault in it (its addresses are the program's) comes back as an error. */
#ifndef TSL_CPU_DEVICE_FAULT_H
#define TSL_CPU_DEVICE_FAULT_H

#include "cpu_device/program.h"

void cpu_fault_install(void);
cl_int cpu_fault_run(const struct cpu_launch *launch, const struct cpu_version *version,
                     const struct tsl_wg_thread *thread, uint64_t x, uint64_t n, uint64_t y, uint64_t z);

#endif
