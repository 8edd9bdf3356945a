/*
 * What builds begin with: made once in a process, and inherited by the children that build.
 */
#ifndef KC_PROCESS_WARM_H
#define KC_PROCESS_WARM_H

#include "compile_client/wire.h"
#include "compiler/support/target.h"

/* Only one build can have them: it takes functions out of the libraries. Each child has its own. */
struct kc_warm {
    LLVMContextRef context;
    LLVMModuleRef
        libraries[TSL_WIRE_LAST_TARGET + 1]; /* of built-in functions, kc_warm_library; NULL: not opened yet */
    struct kc_target host;                   /* its machine is NULL: not opened yet */
};

/* Opens what builds for a target need, if it isn't yet. False: *why (heap). */
bool kc_warm_open(struct kc_warm *warm, enum tsl_wire_target target, char **why);
LLVMModuleRef *kc_warm_library(struct kc_warm *warm, enum tsl_wire_target target);
void kc_warm_finish(struct kc_warm *warm);

/* A build whose result nobody wants: whatever LLVM and Clang make at its first use is there for children forked later,
 * which takes half of the time off a small build. */
void kc_warm_up(struct kc_warm *warm);

#endif
