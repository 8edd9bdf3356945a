#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

static unsigned width_of(LLVMTypeRef vector)
{
    return LLVMGetIntTypeWidth(LLVMGetElementType(vector));
}

/* The leading zeros of narrow lanes, extended to 32 bits. */
static bool is_extended_count(LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMValueRef count, callee;

    if (!LLVMIsAZExtInst(i) || LLVMGetTypeKind(type) != LLVMVectorTypeKind || width_of(type) != 32)
        return false;
    count = LLVMGetOperand(i, 0);
    callee = LLVMIsACallInst(count) ? kc_wg_callee(count) : NULL;
    return callee && kc_name_begins(callee, "llvm.ctlz.");
}

static LLVMValueRef count_wide(LLVMBuilderRef b, LLVMModuleRef module, LLVMValueRef extension)
{
    LLVMTypeRef type = LLVMTypeOf(extension);
    LLVMValueRef count = LLVMGetOperand(extension, 0), value = LLVMGetOperand(count, 0), more, zeros;
    unsigned id = LLVMLookupIntrinsicID("llvm.ctlz", 9), n = LLVMGetVectorSize(type);
    LLVMValueRef ctlz = LLVMGetIntrinsicDeclaration(module, id, &type, 1), constants[64];

    for (unsigned k = 0; k < n; k++)
        constants[k] = LLVMConstInt(LLVMGetElementType(type), 32 - width_of(LLVMTypeOf(value)), false);
    more = LLVMConstVector(constants, n);
    LLVMPositionBuilderBefore(b, extension);
    zeros = LLVMBuildCall2(b, LLVMGlobalGetValueType(ctlz), ctlz,
                           (LLVMValueRef[]){LLVMBuildZExt(b, value, type, ""), LLVMGetOperand(count, 1)}, 2, "");
    return LLVMBuildSub(b, zeros, more, "");
}

static void widen_all(LLVMBuilderRef b, LLVMModuleRef module, LLVMValueRef function)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_extended_count(i) || LLVMGetVectorSize(LLVMTypeOf(i)) > 64)
                continue;
            LLVMReplaceAllUsesWith(i, count_wide(b, module, i));
            LLVMInstructionEraseFromParent(i);
        }
}

void kc_wg_count_wide(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        widen_all(b, module, f);
    LLVMDisposeBuilder(b);
}
