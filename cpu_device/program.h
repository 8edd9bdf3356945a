/* program.c: programs and kernels, and the code that they run. */
#ifndef TSL_CPU_DEVICE_PROGRAM_H
#define TSL_CPU_DEVICE_PROGRAM_H

#include "cpu_device/internal.h"
#include "driver/call.h"

/* A shared object of the compiler's. */
struct cpu_code {
    void *handle;                       /* NULL: not loaded */
    const struct tsl_wg_module *module; /* in it */
    uintptr_t begin, end;               /* addresses of its machine code */
};

struct cpu_program {
    struct tsl_dprogram base;
    struct cpu_code code;          /* not loaded: a library, or compiled only */
    struct tsl_compiled compiled;  /* facts, and the artefact for program_binary */
    struct cpu_specials *specials; /* NULL: it can't be compiled again */
};

/* What a piece runs. */
struct cpu_version {
    const struct tsl_wg_kernel *code;
    uintptr_t begin, end; /* addresses of the machine code */
    bool trial;           /* two of them are compared: it is measured in the thread's own time */
};

struct cpu_kernel {
    struct tsl_dkernel base;
    const struct tsl_wg_kernel *code;
    const struct tsl_kernel_facts *facts; /* the program's */
    uint64_t own_size[3];      /* the size of groups that the compiler recommends, where the choice is ours */
    _Atomic uint64_t group_ps; /* picoseconds that a group takes, as measured; 0: unknown */
    struct tsl_call call;      /* of a substitute: what is called; run NULL: it is none */
};

/* From memory; false: it can't be, and nothing is loaded. */
bool cpu_code_load(struct cpu_code *code, const void *data, size_t size);
void cpu_code_unload(struct cpu_code *code);

#endif
