#include "compiler/support/llvm.h"
#include "compiler/support/older.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

/* A vector of indices that were extended from 32 bits, none of them negative. */
static bool is_extension(LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);

    return LLVMIsAZExtInst(i) && LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetNNeg(i) &&
           LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(i, 0)))) == 32;
}

static bool is_index_only(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (!LLVMIsAGetElementPtrInst(LLVMGetUser(use)))
            return false;
    return true;
}

static void sign_all(LLVMBuilderRef b, LLVMValueRef function)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_extension(i) || !is_index_only(i))
                continue;
            LLVMPositionBuilderBefore(b, i);
            LLVMReplaceAllUsesWith(i, LLVMBuildSExt(b, LLVMGetOperand(i, 0), LLVMTypeOf(i), ""));
            LLVMInstructionEraseFromParent(i);
        }
}

void kc_wg_sign_indices(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        sign_all(b, f);
    LLVMDisposeBuilder(b);
}
