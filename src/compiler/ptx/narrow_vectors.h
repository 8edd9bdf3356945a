/*
 * What LLVM 19's back end for NVIDIA GPUs does wrong with vectors of small numbers:
 * - of each load of 16 bytes it makes one access, however it is aligned (stores, and vectors of other types, it
 * splits). A GPU stops at such a load, or reads something else;
 * - it has no code for comparisons of short2 (and of vectors of these) on sm_90.
 */
#ifndef KC_PTX_NARROW_VECTORS_H
#define KC_PTX_NARROW_VECTORS_H

#include "compiler/support/llvm.h"

/* Splits such loads and comparisons. After all optimisations. */
void kc_split_small(LLVMModuleRef module);

#endif
