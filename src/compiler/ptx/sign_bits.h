/*
 * Signs of floating-point numbers that are seen as bits, for NVIDIA GPUs. To LLVM fabs and a negation change one bit,
 * whatever the number is, and it makes them of the integer operations that a program wrote. PTX leaves the sign of a
 * NaN open (PTX ISA 8.5, 9.7.3, abs and neg), and keeps it: fabs(x) of a negative NaN is negative there.
 */
#ifndef KC_PTX_SIGN_BITS_H
#define KC_PTX_SIGN_BITS_H

#include "compiler/support/llvm.h"

/* Makes integer operations of them, but for those that only arithmetic sees. After all optimisations. */
void kc_keep_bits(LLVMModuleRef module);

#endif
