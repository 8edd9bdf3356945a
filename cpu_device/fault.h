/* fault.c: runs generated code; a fault in it (its addresses are the program's) comes back as an error. */
#ifndef TSL_CPU_DEVICE_FAULT_H
#define TSL_CPU_DEVICE_FAULT_H

#include "cpu_device/program.h"

/* Groups that a thread runs: n of each row from `row` to before `end`, beginning with the window's group `first`. */
struct cpu_rows {
    struct cpu_launch *launch;
    const struct cpu_version *version;
    const struct tsl_wg_thread *thread;
    uint64_t first, n, end;
    volatile uint64_t row; /* which runs */
};

void cpu_fault_install(void);
/* Calls run(rows). A jump out of it may leave it at any call of generated code. */
cl_int cpu_fault_run(struct cpu_rows *rows, void (*run)(struct cpu_rows *rows));

#endif
