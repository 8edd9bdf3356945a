#include "compiler/ptx/remainders.h"

/* Bits of an integer that one register, or two, hold; 0: something else. */
static unsigned width_of(LLVMTypeRef type)
{
    unsigned width = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;

    return width == 32 || width == 64 ? width : 0;
}

static void hide(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(at);
    unsigned width = width_of(LLVMTypeOf(at));
    LLVMValueRef hidden, operand = at;

    if ((code != LLVMURem && code != LLVMSRem) || !width || LLVMIsConstant(LLVMGetOperand(at, 1)))
        return;
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(at));
    hidden = kc_arithmetic(builder, width == 64 ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", width == 64 ? "=l,l" : "=r,r",
                           &operand, 1);
    LLVMReplaceAllUsesWith(at, hidden);
    LLVMSetOperand(hidden, 0, at);
}

void kc_hide_remainders(LLVMModuleRef module)
{
    kc_visit(module, hide);
}
