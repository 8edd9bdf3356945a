/*
 * Products that the iteration before has made already: `while (x * x + y * y < 4)` ends with those that the next round
 * begins with, maybe with another sign. LLVM's own passes don't see that (NVIDIA's compiler does); each product that is
 * not made again shortens the chain on which an iteration waits for the one before.
 */
#ifndef KC_PTX_CARRIED_PRODUCTS_H
#define KC_PTX_CARRIED_PRODUCTS_H

#include "compiler/support/llvm.h"

/* After all optimisations, which would turn the signs round again. */
void kc_carry_products(LLVMModuleRef module);

#endif
