#include "kc/workgroup/passes.h"

#include <stdbool.h>
#include <stddef.h>

#define LOCAL_SPACE 3

/* What the operation makes of the old value; NULL: it stays as it is. */
static LLVMValueRef compute(LLVMBuilderRef b, LLVMAtomicRMWBinOp operation, LLVMValueRef old, LLVMValueRef operand)
{
    switch (operation) {
    case LLVMAtomicRMWBinOpXchg:
        return operand;
    case LLVMAtomicRMWBinOpAdd:
        return LLVMBuildAdd(b, old, operand, "");
    case LLVMAtomicRMWBinOpSub:
        return LLVMBuildSub(b, old, operand, "");
    case LLVMAtomicRMWBinOpAnd:
        return LLVMBuildAnd(b, old, operand, "");
    case LLVMAtomicRMWBinOpOr:
        return LLVMBuildOr(b, old, operand, "");
    case LLVMAtomicRMWBinOpXor:
        return LLVMBuildXor(b, old, operand, "");
    case LLVMAtomicRMWBinOpMax:
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSGT, old, operand, ""), old, operand, "");
    case LLVMAtomicRMWBinOpMin:
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, old, operand, ""), old, operand, "");
    case LLVMAtomicRMWBinOpUMax:
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGT, old, operand, ""), old, operand, "");
    case LLVMAtomicRMWBinOpUMin:
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, old, operand, ""), old, operand, "");
    default:
        return NULL;
    }
}

/* A generic pointer may say where it was cast from. */
static LLVMValueRef place_of(LLVMValueRef atomic)
{
    LLVMValueRef pointer = LLVMGetOperand(atomic, 0);

    return LLVMIsAAddrSpaceCastInst(pointer) ? LLVMGetOperand(pointer, 0) : pointer;
}

/* The order that the atomic one has among other threads' accesses is kept by no one: there are none. */
static void take_apart(LLVMBuilderRef b, LLVMValueRef atomic)
{
    LLVMValueRef place = place_of(atomic), old, now;

    LLVMPositionBuilderBefore(b, atomic);
    old = LLVMBuildLoad2(b, LLVMTypeOf(atomic), place, "");
    now = compute(b, LLVMGetAtomicRMWBinOp(atomic), old, LLVMGetOperand(atomic, 1));
    if (!now) {
        LLVMInstructionEraseFromParent(old);
        return;
    }
    LLVMBuildStore(b, now, place);
    LLVMReplaceAllUsesWith(atomic, old);
    LLVMInstructionEraseFromParent(atomic);
}

static bool is_local_atomic(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) && LLVMGetPointerAddressSpace(LLVMTypeOf(place_of(i))) == LOCAL_SPACE;
}

void kc_wg_relax_local_atomics(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (is_local_atomic(i))
                    take_apart(b, i);
            }
        }
    LLVMDisposeBuilder(b);
}
