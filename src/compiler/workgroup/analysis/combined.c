#include "compiler/workgroup/analysis/combined.h"

#include "compiler/builtins/builtins.h"
#include "compiler/workgroup/analysis/uniform.h"

#define MARK "tsl.combined"

static unsigned kind_of(LLVMValueRef instruction, const char *name)
{
    return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)), name, (unsigned)strlen(name));
}

/* Those of OpenCL 1 have none either (builtins/narrow.c). */
static bool has_order(LLVMValueRef i)
{
    return LLVMGetOrdering(i) != LLVMAtomicOrderingMonotonic && !LLVMGetMetadata(i, kind_of(i, KC_NARROW));
}

bool kc_is_unread_atomic(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) && !LLVMGetFirstUse(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
           !has_order(i);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* NULL: operands of the operation can't be joined. */
static LLVMValueRef neutral(LLVMAtomicRMWBinOp operation, LLVMTypeRef type)
{
    uint64_t top = UINT64_C(1) << (LLVMGetIntTypeWidth(type) - 1);

    switch (operation) {
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub:
    case LLVMAtomicRMWBinOpOr:
    case LLVMAtomicRMWBinOpXor:
    case LLVMAtomicRMWBinOpUMax:
        return LLVMConstNull(type);
    case LLVMAtomicRMWBinOpAnd:
    case LLVMAtomicRMWBinOpUMin:
        return LLVMConstAllOnes(type);
    case LLVMAtomicRMWBinOpMax:
        return LLVMConstInt(type, top, 0);
    case LLVMAtomicRMWBinOpMin:
        return LLVMConstInt(type, top - 1, 0);
    default:
        return NULL;
    }
}

LLVMValueRef kc_neutral(LLVMValueRef i)
{
    bool whole = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind;

    return whole ? neutral(LLVMGetAtomicRMWBinOp(i), LLVMTypeOf(i)) : NULL;
}

static LLVMValueRef chosen(LLVMBuilderRef b, LLVMIntPredicate by, LLVMValueRef sum, LLVMValueRef operand)
{
    return LLVMBuildSelect(b, LLVMBuildICmp(b, by, sum, operand, ""), sum, operand, "");
}

LLVMValueRef kc_combine(LLVMBuilderRef b, LLVMValueRef i, LLVMValueRef sum, LLVMValueRef operand)
{
    switch (LLVMGetAtomicRMWBinOp(i)) {
    case LLVMAtomicRMWBinOpAnd:
        return LLVMBuildAnd(b, sum, operand, "");
    case LLVMAtomicRMWBinOpOr:
        return LLVMBuildOr(b, sum, operand, "");
    case LLVMAtomicRMWBinOpXor:
        return LLVMBuildXor(b, sum, operand, "");
    case LLVMAtomicRMWBinOpMax:
        return chosen(b, LLVMIntSGT, sum, operand);
    case LLVMAtomicRMWBinOpMin:
        return chosen(b, LLVMIntSLT, sum, operand);
    case LLVMAtomicRMWBinOpUMax:
        return chosen(b, LLVMIntUGT, sum, operand);
    case LLVMAtomicRMWBinOpUMin:
        return chosen(b, LLVMIntULT, sum, operand);
    default: /* what is added, or taken away, is added up */
        return LLVMBuildAdd(b, sum, operand, "");
    }
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

static bool may_combine(LLVMValueRef i)
{
    return kc_is_unread_atomic(i) && LLVMGetIntTypeWidth(LLVMTypeOf(i)) <= 64 && kc_neutral(i);
}

static bool has_any(const struct kc_wg *wg)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); b; b = LLVMGetNextBasicBlock(b))
        for (KC_EACH_INSTRUCTION(i, b))
            if (may_combine(i))
                return true;
    return false;
}

/* The same address for the group is the same for strips along either dimension. */
void kc_mark_combined(struct kc_wg *wg)
{
    struct kc_uniform group;

    if (!has_any(wg))
        return;
    kc_flow_create(&wg->flow, wg->function);
    kc_uniform_create(&group, wg, KC_GROUP);
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
            if (may_combine(i) && !kc_varies(&group, LLVMGetOperand(i, 0)))
                LLVMSetMetadata(i, kind_of(i, MARK),
                                LLVMMetadataAsValue(wg->context, LLVMMDNodeInContext2(wg->context, NULL, 0)));
    kc_uniform_finish(&group);
    kc_flow_finish(&wg->flow);
}

bool kc_is_combined(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) && LLVMGetMetadata(i, kind_of(i, MARK));
}

LLVMValueRef kc_find_combined(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    for (; i; i = LLVMGetNextInstruction(i))
        if (kc_is_combined(i))
            return i;
    return NULL;
}
