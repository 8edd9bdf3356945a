/*
 * The form of a kernel on which the steps of the pass rely.
 */
#ifndef KC_WORKGROUP_TRANSFORM_SHAPE_H
#define KC_WORKGROUP_TRANSFORM_SHAPE_H

#include "compiler/workgroup/ir.h"

#include <llvm-c/TargetMachine.h>

enum kc_form {
    KC_FORM_LANES, /* several work-items at once */
    KC_FORM_OWN,   /* one, with the program's own vectors (own_vectors.h) */
    KC_FORM_PLAIN, /* one, not optimised */
};

/*
 * Copies wg->kernel to wg->function and shapes the copy: one return, no unreachable code, no switches, natural loops
 * with one latch each and exits of their own, closed SSA form for loops (LCSSA), no operations on vectors (for lanes),
 * each barrier the first instruction of its block after which only such blocks begin, byval parameters
 * copied to private memory where the kernel may write them. Fills wg->flow. False: *why (LLVMDisposeMessage).
 */
bool kc_shape(struct kc_wg *wg, LLVMTargetMachineRef machine, enum kc_form form, char **why);

/* What may not trap or run on in a kernel, in a function that kernels call. */
void kc_shape_called(LLVMBuilderRef builder, LLVMValueRef function);

#endif
