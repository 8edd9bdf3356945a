/*
 * The state with which builds begin: made once in a process, and inherited by its children, which build.
 */
#ifndef KC_PROCESS_PREPARED_H
#define KC_PROCESS_PREPARED_H

#include "compile_client/wire.h"
#include "compiler/support/target.h"

/* Good for one build, which moves functions out of the libraries. Each child has a copy of its own. */
struct kc_prepared {
    LLVMContextRef context;
    LLVMModuleRef
        libraries[TSL_WIRE_LAST_TARGET + 1]; /* of built-in functions: see kc_prepared_library; NULL: not opened yet */
    struct kc_target host;                   /* host.machine is NULL: not opened yet */
};

/* Opens what builds for a target need, unless it is open. False: *why (heap). */
bool kc_prepared_open(struct kc_prepared *prepared, enum tsl_wire_target target, char **why);
LLVMModuleRef *kc_prepared_library(struct kc_prepared *prepared, enum tsl_wire_target target);
void kc_prepared_finish(struct kc_prepared *prepared);

/* Builds a small program and drops the result: what LLVM and Clang create at their first use then exists in children
 * forked later, which takes half of the time off a small build. */
void kc_build_sample(struct kc_prepared *prepared);

#endif
