/*
 * The back end for the host: a shared object of work-group functions (compile_client/work_group.h).
 */
#ifndef KC_CPU_CPU_H
#define KC_CPU_CPU_H

#include "compile_client/wire.h"
#include "compiler/support/child_process.h"
#include "compiler/support/target.h"

#include <stdio.h>

/* The input of a back end. */
struct kc_cpu_request {
    LLVMModuleRef module; /* as kc_link_finish left it; consumed, but not disposed */
    const struct kc_target *target;
    const struct tsl_wire_build *build; /* kernel, local_size */
    bool optimise;
    bool flushes;        /* subnormal floats are zero, where the hardware has it so */
    bool check_accesses; /* TSL_WG_CHECK_OPTION */
    FILE *notes;         /* see kc_wg_input; may be NULL */
};

/* kernels: with their facts, in the module's order; fills local_mem_size and the like. False: the log says why. */
bool kc_cpu(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
            struct kc_bytes *object, FILE *log);

/* Links an object file into a shared object with the system's linker. */
bool kc_link_object(const void *object, size_t size, struct kc_bytes *shared, FILE *log);

#endif
