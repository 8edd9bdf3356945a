#include "compiler/ptx/rotations.h"

#include <string.h>

/* Is it a call of LLVM's shift of two numbers, to the left or to the right? */
static bool shifts(LLVMValueRef at, bool right)
{
    const char *name = right ? "llvm.fshr" : "llvm.fshl";

    return kc_callee(at) && LLVMGetIntrinsicID(kc_callee(at)) == LLVMLookupIntrinsicID(name, strlen(name));
}

static bool is_variable_rotation(LLVMValueRef at)
{
    return (shifts(at, false) || shifts(at, true)) && LLVMGetOperand(at, 0) == LLVMGetOperand(at, 1) &&
           LLVMTypeOf(at) == LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(at))) &&
           !LLVMIsConstant(LLVMGetOperand(at, 2));
}

/* The upper half of both halves, shifted to the left. */
static LLVMValueRef shift(LLVMBuilderRef builder, LLVMValueRef high, LLVMValueRef low, LLVMValueRef by)
{
    return kc_arithmetic(builder, "shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", (LLVMValueRef[]){low, high, by}, 3);
}

/* By 32 and more the halves change places first. */
static LLVMValueRef rotate(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef by)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(value));
    LLVMTypeRef half = LLVMInt32TypeInContext(context), whole = LLVMInt64TypeInContext(context);
    LLVMValueRef width = LLVMConstInt(half, 32, false), width_of_whole = LLVMConstInt(whole, 32, false);
    LLVMValueRef low = LLVMBuildTrunc(builder, value, half, "");
    LLVMValueRef high = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, value, width_of_whole, ""), half, "");
    LLVMValueRef swap =
        LLVMBuildICmp(builder, LLVMIntNE, LLVMBuildAnd(builder, by, width, ""), LLVMConstNull(half), "");
    LLVMValueRef first = LLVMBuildSelect(builder, swap, low, high, "");
    LLVMValueRef second = LLVMBuildSelect(builder, swap, high, low, "");

    high = LLVMBuildZExt(builder, shift(builder, first, second, by), whole, "");
    low = LLVMBuildZExt(builder, shift(builder, second, first, by), whole, "");
    return LLVMBuildOr(builder, LLVMBuildShl(builder, high, width_of_whole, ""), low, "");
}

static void replace(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMTypeRef half = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(at)));
    LLVMValueRef by;

    if (!is_variable_rotation(at))
        return;
    LLVMPositionBuilderBefore(builder, at);
    by = LLVMBuildTrunc(builder, LLVMGetOperand(at, 2), half, "");
    if (shifts(at, true))
        by = LLVMBuildNeg(builder, by, "");
    LLVMReplaceAllUsesWith(at, rotate(builder, LLVMGetOperand(at, 0), by));
    LLVMInstructionEraseFromParent(at);
}

void kc_rotations(LLVMModuleRef module)
{
    kc_visit(module, replace);
}
