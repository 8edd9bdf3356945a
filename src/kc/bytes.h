/*
 * Loads of 16 bytes as a vector: LLVM's back end for NVIDIA GPUs makes one access of each, however it is aligned (seen
 * with LLVM 19; stores, and vectors of other types, it splits). A GPU stops at such a load, or reads something else.
 */
#ifndef KC_BYTES_H
#define KC_BYTES_H

#include "kc/llvm.h"

/* Splits those that aren't aligned. After all optimisations. */
void kc_split_bytes(LLVMModuleRef module);

#endif
