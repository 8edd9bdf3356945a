/*
 * Products that the previous iteration has computed already: `while (x * x + y * y < 4)` ends with those that the next
 * iteration begins with, maybe with another sign. LLVM's own passes don't see that (NVIDIA's compiler does). Each
 * product that isn't computed again shortens the dependency chain from one iteration to the next.
 */
#ifndef KC_PTX_CARRIED_PRODUCTS_H
#define KC_PTX_CARRIED_PRODUCTS_H

#include "compiler/support/llvm.h"

/* After all optimisations, which would undo the changed signs. */
void kc_carry_products(LLVMModuleRef module);

#endif
