/*
 * Sums with a product, x * y + i + k, for NVIDIA GPUs. LLVM adds a constant k last, to what was multiplied and added at
 * once. Added to i first it is no part of a chain of products, and several of these share the sum, as hash functions in
 * a loop do. Indices stay as they are: the constant becomes a part of the access.
 */
#ifndef KC_PTX_SUMS_H
#define KC_PTX_SUMS_H

#include "compiler/support/llvm.h"

/* Before the code is searched for what is computed twice. */
void kc_order_sums(LLVMModuleRef module);

/* Hides these sums from the code generator, which would order them as LLVM does. Last of all. */
void kc_keep_sums(LLVMModuleRef module);

#endif
