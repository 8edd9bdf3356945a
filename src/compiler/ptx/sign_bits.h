/*
 * Signs of floating-point numbers that a program reads as bits, for NVIDIA GPUs. In LLVM fabs and negation change one
 * bit of any value, and LLVM makes them from a program's integer operations. PTX leaves the sign of a NaN open (PTX ISA
 * 8.5, 9.7.3, abs and neg), and the hardware keeps it: fabs(x) of a negative NaN is negative there.
 */
#ifndef KC_PTX_SIGN_BITS_H
#define KC_PTX_SIGN_BITS_H

#include "compiler/support/llvm.h"

/* Turns them into integer operations, unless only arithmetic uses the result. After all optimisations. */
void kc_keep_bits(LLVMModuleRef module);

#endif
