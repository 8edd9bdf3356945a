/*
 * What LLVM's C interface has since 17, for LLVM 16.
 */
#ifndef KC_OLDER_H
#define KC_OLDER_H

#include <llvm-c/Core.h>
#include <llvm/Config/llvm-config.h>

#if LLVM_VERSION_MAJOR < 17

static inline LLVMTypeRef LLVMArrayType2(LLVMTypeRef element, uint64_t n)
{
    return LLVMArrayType(element, (unsigned)n);
}

static inline LLVMValueRef LLVMConstArray2(LLVMTypeRef element, LLVMValueRef *values, uint64_t n)
{
    return LLVMConstArray(element, values, (unsigned)n);
}

#ifdef __cplusplus
extern "C" {
#endif

void LLVMSetNUW(LLVMValueRef instruction, LLVMBool has);
void LLVMSetNSW(LLVMValueRef instruction, LLVMBool has);

#ifdef __cplusplus
}
#endif

#endif

#endif
