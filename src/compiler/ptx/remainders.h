/*
 * Remainders in loops. LLVM's analysis of what a loop adds up takes a remainder for a difference, a - a / b * b, and
 * its code generator then computes it so, although the hardware's division ends with the remainder. `x % n + i` takes a
 * fifth longer then.
 */
#ifndef KC_PTX_REMAINDERS_H
#define KC_PTX_REMAINDERS_H

#include "compiler/support/llvm.h"

/* Hides remainders from that analysis by an empty operation. After all optimisations. */
void kc_hide_remainders(LLVMModuleRef module);

#endif
