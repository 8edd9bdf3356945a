/*
 * Local memory of the built-in functions. OpenCL C has no local variables outside of kernels, so the functions ask for
 * theirs by KC_GROUP_MEMORY (builtins/collective.h), with a constant number of bytes.
 */
#ifndef KC_MIDDLE_GROUP_MEMORY_H
#define KC_MIDDLE_GROUP_MEMORY_H

#include <llvm-c/Core.h>

#define KC_GROUP_MEMORY "__tsl_group_memory"

/* The calls become one local variable of the largest number of bytes. */
void kc_place_group_memory(LLVMModuleRef module);

#endif
