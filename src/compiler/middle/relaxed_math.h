/*
 * Divisions and square roots of floats that need not be rounded correctly, for NVIDIA GPUs. OpenCL C 3.0, 7.4, lets a
 * division be wrong by 2.5 ulps and a square root by 3, unless a program is built with
 * -cl-fp32-correctly-rounded-divide-sqrt; Clang writes that beside each operation (!fpmath). LLVM's back end makes the
 * exact ones of all, which take several times as long as the hardware's own: div.full (2 ulps), rcp.approx and
 * sqrt.approx (1 ulp each; PTX ISA 8.5, 9.7.3).
 */
#ifndef KC_MIDDLE_RELAXED_MATH_H
#define KC_MIDDLE_RELAXED_MATH_H

#include "compiler/support/llvm.h"

/* By how many ulps an operation may be wrong; 0: it must be right, as far as anybody said. */
double kc_error_of(LLVMValueRef at);

/* Is it a call of LLVM's square root? */
bool kc_is_root(LLVMValueRef value);

/* What Clang writes, into a module that it hasn't made. */
void kc_relaxed_allow(LLVMModuleRef module);

/* While the built-in functions are still called: sqrt() that may be wrong becomes LLVM's, which keeps that in mind. */
void kc_relaxed_roots(LLVMModuleRef module);

/* For NVIDIA's GPUs, after all optimisations, which know nothing of their instructions. */
void kc_relaxed_math(LLVMModuleRef module);

#endif
