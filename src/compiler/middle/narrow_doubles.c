#include "compiler/middle/narrow_doubles.h"

#include "compiler/support/llvm.h"

static LLVMTypeRef scalar_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static bool is_kind(LLVMValueRef value, LLVMTypeKind kind)
{
    return LLVMGetTypeKind(scalar_of(LLVMTypeOf(value))) == kind;
}

static LLVMTypeRef like(LLVMTypeRef shape, LLVMTypeRef scalar)
{
    return LLVMGetTypeKind(shape) == LLVMVectorTypeKind ? LLVMVectorType(scalar, LLVMGetVectorSize(shape)) : scalar;
}

/* Towards zero, and odd where that isn't x. NaN compares with nothing, and stays. */
static LLVMValueRef odd_float(LLVMBuilderRef b, LLVMValueRef x)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(x));
    LLVMTypeRef type = LLVMTypeOf(x), floats = like(type, LLVMFloatTypeInContext(context));
    LLVMTypeRef bits = like(type, LLVMInt32TypeInContext(context));
    LLVMValueRef nearest = LLVMBuildFPTrunc(b, x, floats, ""), back = LLVMBuildFPExt(b, nearest, type, "");
    LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, back, x, "");
    LLVMValueRef above = LLVMBuildFCmp(b, LLVMRealOGT, back, x, "");
    LLVMValueRef beyond = LLVMBuildXor(b, above, LLVMBuildFCmp(b, LLVMRealOLT, x, LLVMConstNull(type), ""), "");
    LLVMValueRef less = LLVMBuildZExt(b, LLVMBuildAnd(b, inexact, beyond, ""), bits, "");
    LLVMValueRef cut = LLVMBuildSub(b, LLVMBuildBitCast(b, nearest, bits, ""), less, "");

    return LLVMBuildBitCast(b, LLVMBuildOr(b, cut, LLVMBuildZExt(b, inexact, bits, ""), ""), floats, "");
}

static void narrow(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMPositionBuilderBefore(builder, at);
    LLVMReplaceAllUsesWith(at,
                           LLVMBuildFPTrunc(builder, odd_float(builder, LLVMGetOperand(at, 0)), LLVMTypeOf(at), ""));
    LLVMInstructionEraseFromParent(at);
}

void kc_narrow_doubles(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block), next; at; at = next) {
                next = LLVMGetNextInstruction(at);
                if (LLVMIsAFPTruncInst(at) && is_kind(at, LLVMHalfTypeKind) &&
                    is_kind(LLVMGetOperand(at, 0), LLVMDoubleTypeKind))
                    narrow(builder, at);
            }
    LLVMDisposeBuilder(builder);
}
