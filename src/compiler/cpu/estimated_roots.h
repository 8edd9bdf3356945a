/*
 * 1 / sqrt(x) of floats that need not be rounded correctly (rsqrt(), and what OpenCL C 3.0, 7.4, lets be wrong by some
 * ulps, see loose.h), on processors with AVX-512: an estimate of 14 bits and a step of Newton's in place of a root and
 * a division, which take several times as long. It is wrong by 1.04 ulps at most (all floats, on an AMD EPYC). One by
 * one it is the same as in vectors, so a work-item's result doesn't depend on where in a launch it stands.
 */
#ifndef KC_CPU_ESTIMATED_ROOTS_H
#define KC_CPU_ESTIMATED_ROOTS_H

#include "compiler/support/llvm.h"

/* After all optimisations, which know nothing of the estimate. Nothing on other machines. */
void kc_estimate_roots(LLVMModuleRef module, LLVMTargetMachineRef machine);

#endif
