/*
 * Constants of indices, gathered: `a[(i + 4128) + (j | 1)]`, where the bit is free, is a[(i + j) + 4129], and the
 * constant becomes part of the access. LLVM's back end finds one constant of an index alone; with the others left,
 * each access of a tile in local memory has a register of its own for its address, where all could share one.
 */
#ifndef KC_PTX_OFFSETS_H
#define KC_PTX_OFFSETS_H

#include "compiler/support/llvm.h"

/* Before optimisations, which forget that sums don't wrap: an index that differs by a constant from one with which
 * memory was accessed before, in the same block, becomes that one and the constant. */
void kc_share_offsets(LLVMModuleRef module);

/* After all optimisations, which would take the sums apart, and before what is computed twice is searched for. */
void kc_gather_offsets(LLVMModuleRef module);

#endif
