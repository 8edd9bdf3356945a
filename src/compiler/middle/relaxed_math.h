/*
 * Divisions and square roots of floats that need not be rounded correctly, for NVIDIA GPUs. OpenCL C 3.0, 7.4, lets a
 * division be wrong by 2.5 ulps and a square root by 3, unless a program is built with
 * -cl-fp32-correctly-rounded-divide-sqrt; Clang writes the allowed error beside each operation (!fpmath). LLVM's back
 * end always emits exact ones, which take several times as long as the hardware's own: div.full (2 ulps), rcp.approx
 * and sqrt.approx (1 ulp each; PTX ISA 8.5, 9.7.3).
 */
#ifndef KC_MIDDLE_RELAXED_MATH_H
#define KC_MIDDLE_RELAXED_MATH_H

#include "compiler/support/llvm.h"

/* Of functions in which subnormal floats are zero. */
#define KC_FLUSHES_ATTRIBUTE "denormal-fp-math-f32"

/* The allowed error of an operation in ulps; 0: correctly rounded, as far as is known. */
double kc_error_of(LLVMValueRef at);
void kc_set_error_of(LLVMValueRef at, double ulps);

/* Is it a call of LLVM's square root? */
bool kc_is_root(LLVMValueRef value);

/* Adds Clang's metadata to a module that Clang didn't make. */
void kc_relaxed_allow(LLVMModuleRef module);

/* Before built-in functions are linked: sqrt() with an allowed error becomes LLVM's, which keeps the metadata. */
void kc_relaxed_roots(LLVMModuleRef module);

/* For NVIDIA GPUs, after all optimisations, which know nothing of these instructions. */
void kc_relaxed_math(LLVMModuleRef module);

#endif
