/*
 * The back end for the host: a shared object of work-group functions (compile_client/work_group.h).
 */
#ifndef KC_CPU_CPU_H
#define KC_CPU_CPU_H

#include "compile_client/wire.h"
#include "compiler/support/child_process.h"
#include "compiler/support/target.h"

#include <stdio.h>

/* Which of a program's shares a module is (compiler/middle/shares.h). */
struct kc_share {
    unsigned number;    /* 0: the first, or the whole program */
    uint32_t n_kernels; /* of all shares */
};

/* The input of a back end. */
struct kc_cpu_request {
    LLVMModuleRef module; /* as kc_link_finish left it; consumed, but not disposed */
    LLVMModuleRef calls;  /* of kc_calls_copy; may be NULL; consumed */
    const struct kc_target *target;
    const struct tsl_wire_build *build; /* local_size, known */
    struct kc_share share;
    bool optimise;
    bool flushes;        /* subnormal floats are zero, where the hardware has it so */
    bool check_accesses; /* TSL_WG_CHECK_OPTION */
    FILE *notes;         /* see kc_wg_input; may be NULL */
};

/* Makes an object file. kernels: all of the module's with their facts, in its order; fills local_mem_size and the like.
 * False: the log says why. */
bool kc_cpu(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
            struct kc_bytes *object, FILE *log);

/* Links object files into a shared object with the system's linker. They are a program's shares in their order, at most
 * KC_MAX_OBJECTS. */
#define KC_MAX_OBJECTS 16u

bool kc_link_objects(const struct kc_bytes *objects, unsigned n, struct kc_bytes *shared, FILE *log);

#endif
