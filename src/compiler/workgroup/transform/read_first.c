#include "compiler/workgroup/transform/read_first.h"

#include "compiler/workgroup/analysis/combined.h"

/* Would the operation change what was there? NULL: it nearly always does. */
static LLVMValueRef changes(struct kc_wg *wg, LLVMAtomicRMWBinOp operation, LLVMValueRef old, LLVMValueRef operand)
{
    LLVMBuilderRef b = wg->builder;

    switch (operation) {
    case LLVMAtomicRMWBinOpAnd:
        return LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, old, operand, ""), old, "");
    case LLVMAtomicRMWBinOpOr:
        return LLVMBuildICmp(b, LLVMIntNE, LLVMBuildOr(b, old, operand, ""), old, "");
    case LLVMAtomicRMWBinOpMax:
        return LLVMBuildICmp(b, LLVMIntSGT, operand, old, "");
    case LLVMAtomicRMWBinOpMin:
        return LLVMBuildICmp(b, LLVMIntSLT, operand, old, "");
    case LLVMAtomicRMWBinOpUMax:
        return LLVMBuildICmp(b, LLVMIntUGT, operand, old, "");
    case LLVMAtomicRMWBinOpUMin:
        return LLVMBuildICmp(b, LLVMIntULT, operand, old, "");
    default:
        return NULL;
    }
}

/* Without an order, an operation that changes nothing may as well not have been. The load is of the moment: the
 * operation behind it decides anew. Returns the operation's block; NULL: all is as before. */
static LLVMBasicBlockRef read_first(struct kc_wg *wg, LLVMValueRef atomic)
{
    LLVMValueRef operand = LLVMGetOperand(atomic, 1), old, condition, branch;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(atomic), operation, after;

    LLVMPositionBuilderBefore(wg->builder, atomic);
    old = LLVMBuildLoad2(wg->builder, LLVMTypeOf(operand), LLVMGetOperand(atomic, 0), "");
    condition = changes(wg, LLVMGetAtomicRMWBinOp(atomic), old, operand);
    if (!condition) {
        LLVMInstructionEraseFromParent(old);
        return NULL;
    }
    operation = kc_split_before(atomic);
    after = kc_split_before(LLVMGetNextInstruction(atomic));
    branch = LLVMGetBasicBlockTerminator(before);
    LLVMPositionBuilderBefore(wg->builder, branch);
    LLVMBuildCondBr(wg->builder, condition, operation, after);
    LLVMInstructionEraseFromParent(branch);
    return operation;
}

/* Returns the block behind which to go on. */
static LLVMBasicBlockRef visit_block(struct kc_wg *wg, LLVMBasicBlockRef block)
{
    for (KC_EACH_INSTRUCTION(i, block)) {
        LLVMBasicBlockRef operation = kc_is_unread_atomic(i) ? read_first(wg, i) : NULL;

        if (operation)
            return operation;
    }
    return block;
}

void kc_read_first(struct kc_wg *wg)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); b; b = LLVMGetNextBasicBlock(b))
        b = visit_block(wg, b);
}
