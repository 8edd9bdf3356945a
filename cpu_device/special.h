/* special.c: code for single sizes of work-groups, and for formats of images. */
#ifndef TSL_CPU_DEVICE_SPECIAL_H
#define TSL_CPU_DEVICE_SPECIAL_H

#include "cpu_device/program.h"

enum cpu_special_state {
    CPU_COUNTING, /* the general code's time */
    CPU_ASKED,    /* it is being compiled */
    CPU_TRIAL,    /* both run, by chance */
    CPU_USED,
    CPU_LEFT, /* the general code is as good */
    CPU_NONE, /* it could not be compiled, or enough were */
};

/* For a program that was just built of the request. NULL: for it there is no code for single sizes. */
struct cpu_specials *cpu_specials_create(const struct tsl_wire_build *request, const struct tsl_wire_built *built,
                                         const struct tsl_wg_module *module);
void cpu_specials_free(struct cpu_specials *specials); /* NULL is fine; no launches are left */
/* For launches of these sizes and arguments; NULL: only the general code runs them. */
struct cpu_special *cpu_special_of(struct cpu_specials *specials, const struct tsl_wg_kernel *general,
                                   const struct tsl_wg_launch *launch);
/* Before and after each piece: what it runs, and how long that took. special: NULL is fine. */
struct cpu_version cpu_special_choose(struct cpu_special *special, const struct cpu_version *general);
void cpu_special_learn(struct cpu_special *special, const struct cpu_version *version, uint64_t ns, uint64_t groups);
enum cpu_special_state cpu_special_state(const struct cpu_special *special);
/* For tests: after how much of threads' time a size is compiled for, and how long each side is tried; nanoseconds. */
void cpu_special_set_times(uint64_t ask, uint64_t trial);

#endif
