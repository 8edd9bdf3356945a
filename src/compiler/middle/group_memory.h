/*
 * Local memory of the built-in functions. OpenCL C has no local variables outside of kernels, so the functions ask for
 * theirs by KC_GROUP_MEMORY (builtins/collective.h), with a constant number of bytes, and by KC_ITEM_MEMORY, with a
 * constant number for each work-item of the group. The latter, which is for processors, isn't part of the kernel's
 * local memory, whose size doesn't depend on the launch: it lies where values of work-items do that live across
 * barriers (workgroup/analysis/variables.c).
 */
#ifndef KC_MIDDLE_GROUP_MEMORY_H
#define KC_MIDDLE_GROUP_MEMORY_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#define KC_GROUP_MEMORY "__tsl_group_memory"
#define KC_ITEM_MEMORY  "__tsl_item_memory"

/* Is the variable, of local memory, an array for each work-item? It is declared only: LLVM would take its size for that
 * of all of it. */
bool kc_is_item_memory(LLVMValueRef variable);

/* The calls become one local variable each, of the largest number of bytes. */
void kc_place_group_memory(LLVMModuleRef module);

#endif
