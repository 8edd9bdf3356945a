/*
 * Features of LLVM 17 and 18 for earlier versions.
 */
#ifndef KC_SUPPORT_OLDER_H
#define KC_SUPPORT_OLDER_H

#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LLVMRunPasses, with the names that passes have in LLVM 18. */
LLVMErrorRef kc_run_named_passes(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                                 LLVMPassBuilderOptionsRef options);

/* Converts floating-point numbers to bytes and shorts by way of ints. Before 18 x86's back end takes a value out of
 * range for one that fits, and its upper bits get into neighbouring elements of a vector that is stored in one
 * piece. */
void kc_widen_conversions(LLVMModuleRef module);

/* LLVMSetOrdering for all atomic operations: before 17 it treated everything but loads as stores. */
void kc_set_ordering(LLVMValueRef at, LLVMAtomicOrdering order);

/* LLVMIsAtomicSingleThread for fences too: does it order what one thread does alone? */
bool kc_is_of_one_thread(LLVMValueRef fence);

#if LLVM_VERSION_MAJOR < 17

static inline LLVMTypeRef LLVMArrayType2(LLVMTypeRef element, uint64_t n)
{
    return LLVMArrayType(element, (unsigned)n);
}

static inline LLVMValueRef LLVMConstArray2(LLVMTypeRef element, LLVMValueRef *values, uint64_t n)
{
    return LLVMConstArray(element, values, (unsigned)n);
}

void LLVMSetNUW(LLVMValueRef instruction, LLVMBool has);
void LLVMSetNSW(LLVMValueRef instruction, LLVMBool has);
LLVMBool LLVMGetNUW(LLVMValueRef instruction);
LLVMBool LLVMGetNSW(LLVMValueRef instruction);

#endif

#if LLVM_VERSION_MAJOR < 18

/* Older versions don't have these flags. */
static inline LLVMBool LLVMGetIsDisjoint(LLVMValueRef instruction)
{
    (void)instruction;
    return 0;
}

static inline LLVMBool LLVMGetNNeg(LLVMValueRef instruction)
{
    (void)instruction;
    return 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
