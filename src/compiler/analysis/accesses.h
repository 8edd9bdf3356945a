/*
 * The footprint of a kernel (footprint/format.h): each access to its arguments' memory, with its address as an
 * expression, the loops around it and the conditions under which it is made. Off the code that the back ends are given
 * (every call inlined, simplified): these make no accesses of their own.
 */
#ifndef KC_ANALYSIS_ACCESSES_H
#define KC_ANALYSIS_ACCESSES_H

#include "facts/kernel_facts.h"

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The footprint, the caller's to destroy; NULL: it can't be told. facts: the kernel's, of kc_facts. The code stays as
 * it is. */
struct tsl_footprint *kc_accesses(LLVMValueRef kernel, const struct tsl_kernel_facts *facts);

#ifdef __cplusplus
}
#endif

#endif
