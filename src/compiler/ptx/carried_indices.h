/*
 * Indices that loops carry from turn to turn: `a[(k * ny + j) * nx + i]` goes on by nx * ny with each k, which is one
 * addition. LLVM multiplies twice instead, one product behind the other, before each load can set out; its strength
 * reduction, which is off (ptx.c), would make a counter of each index. Here a loop carries one index of those that go
 * on by the same step, and the others are that and a distance which doesn't change. Indices of one product stay as they
 * are: the hardware multiplies and adds at once.
 */
#ifndef KC_PTX_CARRIED_INDICES_H
#define KC_PTX_CARRIED_INDICES_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* After loops were unrolled. */
void kc_carry_indices(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
