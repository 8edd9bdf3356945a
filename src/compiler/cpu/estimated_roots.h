/*
 * 1 / sqrt(x) of floats that need not be rounded correctly (rsqrt(), and operations that OpenCL C 3.0, 7.4, allows some
 * ulps, see compiler/middle/relaxed_math.h), on processors with AVX-512: an estimate of 14 bits and a Newton step in
 * place of a root and a division, which take several times as long. The error is 1.04 ulps at most (all floats, on an
 * AMD EPYC). rsqrt() of doubles takes two steps, half_rsqrt() none. Scalars give the same results as
 * vectors, so a work-item's result doesn't depend on its place in the launch.
 */
#ifndef KC_CPU_ESTIMATED_ROOTS_H
#define KC_CPU_ESTIMATED_ROOTS_H

#include "compiler/support/llvm.h"

/* Runs after all optimisations, which know nothing of the estimate. Does nothing on other machines. */
void kc_estimate_roots(LLVMModuleRef module, LLVMTargetMachineRef machine);

#endif
