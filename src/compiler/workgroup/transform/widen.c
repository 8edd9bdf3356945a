#include "compiler/workgroup/transform/widen.h"

#include "compiler/workgroup/analysis/profit.h"

/* Depth to which sums are followed. */
#define MAX_DEPTH 8

static bool is_sum(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) &&
           (LLVMGetInstructionOpcode(value) == LLVMAdd || LLVMGetInstructionOpcode(value) == LLVMSub) &&
           LLVMGetNSW(value);
}

/* The value in 64 bits, at the builder's position. */
static LLVMValueRef widened(struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef value, int depth)
{
    LLVMValueRef sides[2], wide;

    if (!depth || !kc_varies(strip, value) || !is_sum(value))
        return LLVMBuildSExt(wg->builder, value, wg->i64, "");
    for (unsigned k = 0; k < 2; k++)
        sides[k] = widened(wg, strip, LLVMGetOperand(value, k), depth - 1);
    wide = LLVMBuildBinOp(wg->builder, LLVMGetInstructionOpcode(value), sides[0], sides[1], "");
    if (LLVMIsAInstruction(wide))
        LLVMSetNSW(wide, 1);
    return wide;
}

static LLVMValueRef index_of(LLVMValueRef access)
{
    LLVMValueRef address = LLVMGetOperand(access, LLVMIsALoadInst(access) ? 0 : 1);

    return LLVMIsAGetElementPtrInst(address) && LLVMGetNumOperands(address) == 2 ? LLVMGetOperand(address, 1) : NULL;
}

static void widen(struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access)
{
    LLVMValueRef index = index_of(access), sum;

    if (!index || !LLVMIsASExtInst(index) || LLVMTypeOf(index) != wg->i64)
        return;
    sum = LLVMGetOperand(index, 0);
    if (!is_sum(sum) || !kc_varies(strip, sum) || !kc_is_consecutive(wg, strip, access))
        return;
    LLVMPositionBuilderBefore(wg->builder, index);
    LLVMReplaceAllUsesWith(index, widened(wg, strip, sum, MAX_DEPTH));
    LLVMInstructionEraseFromParent(index);
}

void kc_widen_indices(struct kc_wg *wg, const struct kc_uniform *strip)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
            if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
                widen(wg, strip, i);
}
