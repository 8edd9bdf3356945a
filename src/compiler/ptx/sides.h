/*
 * Which side of a branch comes first. ptxas makes predicated instructions of both sides of a small branch, those first
 * to which control goes on where the branch isn't taken. Where both load the same register, the second load waits for
 * the first: for some thirty cycles if that comes from a group's memory, for hundreds if it comes from global memory,
 * and with it all loads behind it. So the side that loads from global memory is the one to which the branch is taken.
 */
#ifndef KC_PTX_SIDES_H
#define KC_PTX_SIDES_H

#include "compiler/support/llvm.h"

/* After all optimisations, which have branches as they like. */
void kc_order_sides(LLVMModuleRef module);

#endif
