/*
 * Addresses that two ways through a kernel compute alike, as the body of a loop and what comes behind it where the loop
 * may be left out: `x + i` of each, computed once before both. LLVM joins what one way has already. Where a kernel has
 * dozens of arrays, each of which it reads in a loop and writes behind it, x and x + i took registers of their own
 * throughout the loop.
 */
#ifndef KC_PTX_JOINED_ADDRESSES_H
#define KC_PTX_JOINED_ADDRESSES_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* After all optimisations, which move addresses out of loops. */
void kc_join_addresses(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
