/*
 * Short forms of what takes many calls of LLVM's C interface.
 */
#ifndef KC_SUPPORT_LLVM_H
#define KC_SUPPORT_LLVM_H

#include "compiler/support/child_process.h"
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

/* In the front end's output: by its calling convention. */
bool kc_is_kernel(LLVMValueRef function);

/* Later: by our attribute (compiler/workgroup/workgroup.h). */
bool kc_is_marked(LLVMValueRef function);

/* A built-in function that is called instead of inlined: it is large, without barriers and id queries. */
bool kc_is_called(LLVMValueRef function);

/* Has the passes' inliner take the call, whatever its function says. */
void kc_inline_call(LLVMValueRef call);

/* Clang's attribute for kernels whose launches have no smaller last groups. */
bool kc_is_uniform(LLVMValueRef kernel);
void kc_set_uniform(LLVMValueRef kernel);

/* The function that a call calls; NULL: unknown, or `value` isn't a call. */
LLVMValueRef kc_callee(LLVMValueRef value);

/* Of a call of assembly that is arithmetic alone: loads and stores may be moved across it, and joined. */
void kc_mark_arithmetic(LLVMValueRef call);

/* Such a call, of arguments that have the result's type. */
LLVMValueRef kc_arithmetic(LLVMBuilderRef builder, const char *text, const char *constraints, LLVMValueRef *args,
                           unsigned n);

/* Visits each instruction of a module, which `visit` may replace and erase; the builder has no position yet. */
void kc_visit(LLVMModuleRef module, void (*visit)(LLVMBuilderRef builder, LLVMValueRef at));

/* A copy of the buffer's bytes, which goes. */
struct kc_bytes kc_bytes_of(LLVMMemoryBufferRef buffer);

/* Runs a pipeline in opt's syntax. machine may be NULL. False: *why (heap). */
bool kc_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char **why);

#endif
