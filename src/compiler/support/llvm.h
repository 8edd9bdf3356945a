/*
 * What LLVM's C interface says in too many words.
 */
#ifndef KC_SUPPORT_LLVM_H
#define KC_SUPPORT_LLVM_H

#include "compiler/support/older.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

static inline unsigned kc_attribute_kind(const char *name)
{
    unsigned length = 0;

    while (name[length])
        length++;
    return LLVMGetEnumAttributeKindForName(name, length);
}

static inline void kc_remove_attribute(LLVMValueRef function, const char *name)
{
    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kc_attribute_kind(name));
}

void kc_add_attribute(LLVMValueRef function, const char *name);
const char *kc_name(LLVMValueRef value);
bool kc_is_named(LLVMValueRef value, const char *name);

/* As the front end leaves it: by its calling convention. */
bool kc_is_kernel(LLVMValueRef function);

/* Later: by the attribute of ours (compiler/workgroup/workgroup.h). */
bool kc_is_marked(LLVMValueRef function);

/* A built-in function that is called, not inlined: it is large, and has no barriers and asks for no ids. */
bool kc_is_called(LLVMValueRef function);

/* Clang's word for: no launch of this kernel has smaller last groups. */
bool kc_is_uniform(LLVMValueRef kernel);
void kc_set_uniform(LLVMValueRef kernel);

/* The function that a call calls; NULL: not known, or `value` is no call. */
LLVMValueRef kc_callee(LLVMValueRef value);

/* Each instruction of a module, which `visit` may replace and erase; the builder has no place yet. */
void kc_visit(LLVMModuleRef module, void (*visit)(LLVMBuilderRef builder, LLVMValueRef at));

/* A pipeline in opt's words. machine may be NULL. False: *why (heap). */
bool kc_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char **why);

#endif
