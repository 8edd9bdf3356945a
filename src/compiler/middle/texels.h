/*
 * Kernels that read images, a second time: the twin reads them by the texture units of a GPU. A read is a call up to
 * here, of a function that asks whether it is to use them (compiler/builtins/texels.h); the twin calls another copy of
 * that function, in which the answer is yes. The kernel itself then reads what texture units can't, by functions for
 * any format that stay calls.
 */
#ifndef KC_MIDDLE_TEXELS_H
#define KC_MIDDLE_TEXELS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Facts are known, and work-group functions not made yet. Kernels that read no image get no twin; with `twins` false
 * none does. */
void kc_add_texel_twins(LLVMModuleRef module, bool twins);

/* The twin of a kernel, or of a function that reads; NULL: it has none. */
LLVMValueRef kc_texel_twin(LLVMModuleRef module, const char *name);

#ifdef __cplusplus
}
#endif

#endif
