/*
 * The form of a kernel on which the steps of the pass rely.
 */
#ifndef KC_WORKGROUP_TRANSFORM_SHAPE_H
#define KC_WORKGROUP_TRANSFORM_SHAPE_H

#include "compiler/workgroup/ir.h"

#include <llvm-c/TargetMachine.h>

/*
 * Copies wg->kernel to wg->function and shapes the copy: one return, no unreachable code, no switches, natural loops
 * with one latch each and exits of their own, closed SSA form for loops (LCSSA), no operations on vectors (unless
 * !vectorise), each barrier the first instruction of its block after which only such blocks begin, byval parameters
 * copied to private memory where the kernel may write them. Fills wg->flow. False: *why (LLVMDisposeMessage).
 */
bool kc_shape(struct kc_wg *wg, LLVMTargetMachineRef machine, bool vectorise, char **why);

#endif
