#include "compiler/workgroup/analysis/waits.h"

#include "compiler/support/llvm.h"

/* ---- What is looked at again and again --------------------------------------------------------------------------- */

static bool is_inside(const struct kc_wg *wg, LLVMValueRef value, int loop)
{
    return LLVMIsAInstruction(value) && kc_bits_get(&wg->flow.loops[loop].blocks,
                                                    (size_t)kc_flow_number(&wg->flow, LLVMGetInstructionParent(value)));
}

static bool is_private(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsAAddrSpaceCastInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer) != NULL;
}

/* The same once more, as where a loop's first round stands before it. */
static bool is_repeated(LLVMValueRef access, LLVMValueRef other)
{
    return LLVMIsAAtomicRMWInst(access) && LLVMIsAAtomicRMWInst(other) &&
           LLVMGetAtomicRMWBinOp(access) == LLVMGetAtomicRMWBinOp(other) &&
           LLVMGetOperand(access, 1) == LLVMGetOperand(other, 1);
}

/* Does anything else change what is there? */
static bool is_changed_elsewhere(LLVMValueRef access)
{
    LLVMValueRef pointer = LLVMGetOperand(access, 0);

    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (user == access || is_repeated(access, user))
            continue;
        if ((LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == pointer) ||
            (LLVMIsAAtomicRMWInst(user) && LLVMGetOperand(user, 0) == pointer) ||
            (LLVMIsAAtomicCmpXchgInst(user) && LLVMGetOperand(user, 0) == pointer))
            return true;
    }
    return false;
}

/*
 * In one place, to see whether others have changed it: a flag, or a lock that is tried with the same value each time.
 * Where the value changes (a sum by compare-and-exchange, say), the work-item gets on by itself. So it does with a
 * counter that nobody takes back.
 */
static bool is_look(const struct kc_wg *wg, LLVMValueRef i)
{
    int loop = wg->flow.blocks[kc_flow_number(&wg->flow, LLVMGetInstructionParent(i))].loop;
    bool exchange = LLVMIsAAtomicRMWInst(i) && LLVMGetAtomicRMWBinOp(i) == LLVMAtomicRMWBinOpXchg;

    if (loop == KC_NONE || is_inside(wg, LLVMGetOperand(i, 0), loop) || is_private(LLVMGetOperand(i, 0)))
        return false;
    if (LLVMIsALoadInst(i))
        return kc_is_volatile_or_atomic(i);
    return !is_inside(wg, LLVMGetOperand(i, 1), loop) &&
           (exchange || LLVMIsAAtomicCmpXchgInst(i) || is_changed_elsewhere(i));
}

bool kc_is_look(const struct kc_wg *wg, LLVMValueRef i)
{
    return (LLVMIsALoadInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) && is_look(wg, i);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static bool has_look(const struct kc_wg *wg, const struct kc_loop *loop)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        if (kc_bits_get(&loop->blocks, b))
            for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
                if (kc_is_look(wg, i))
                    return true;
    return false;
}

/* Does an end of the loop depend on what was seen? */
static bool ends_by_look(const struct kc_wg *wg, const struct kc_uniform *looks, const struct kc_loop *loop)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++) {
        const struct kc_block *block = &wg->flow.blocks[b];

        if (!kc_bits_get(&loop->blocks, b) || !looks->divergent_branch[b])
            continue;
        for (unsigned s = 0; s < block->n_successors; s++)
            if (!kc_bits_get(&loop->blocks, (size_t)block->successors[s]))
                return true;
    }
    return false;
}

/* A work-item's number, in another type or counted from elsewhere. */
static bool is_number(LLVMValueRef value)
{
    while (LLVMIsATruncInst(value) || LLVMIsAZExtInst(value) || LLVMIsASExtInst(value) ||
           (LLVMIsABinaryOperator(value) && LLVMGetInstructionOpcode(value) == LLVMAdd &&
            LLVMIsAConstant(LLVMGetOperand(value, 1))))
        value = LLVMGetOperand(value, 0);
    return kc_call_of(value) == KC_CALL_LOCAL_ID || kc_call_of(value) == KC_CALL_GLOBAL_ID;
}

/* The successor that one lane takes at most, as its number is compared there; KC_NONE: there is none. */
static int way_of_one(const struct kc_wg *wg, const struct kc_uniform *strip, int block)
{
    const struct kc_block *from = &wg->flow.blocks[block];
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(from->block), condition;
    int way;

    if (from->n_successors != 2 || !LLVMIsABranchInst(branch))
        return KC_NONE;
    condition = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(condition) || !is_number(LLVMGetOperand(condition, 0)) ||
        !kc_varies(strip, LLVMGetOperand(condition, 0)) || kc_varies(strip, LLVMGetOperand(condition, 1)))
        return KC_NONE;
    if (LLVMGetICmpPredicate(condition) != LLVMIntEQ && LLVMGetICmpPredicate(condition) != LLVMIntNE)
        return KC_NONE;
    way = from->successors[LLVMGetICmpPredicate(condition) == LLVMIntEQ ? 0 : 1];
    return wg->flow.blocks[way].n_predecessors == 1 ? way : KC_NONE;
}

static bool is_for_one(const struct kc_wg *wg, const struct kc_uniform *strip, const struct kc_loop *loop)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++) {
        int way = way_of_one(wg, strip, (int)b);

        if (way != KC_NONE && kc_flow_dominates(&wg->flow, way, loop->header))
            return true;
    }
    return false;
}

bool kc_waits(const struct kc_wg *wg, const struct kc_uniform *strip)
{
    struct kc_uniform looks;
    bool waits = false;

    for (unsigned l = 0; l < wg->flow.n_loops && !waits; l++)
        waits = has_look(wg, &wg->flow.loops[l]);
    if (!waits)
        return false;
    waits = false;
    kc_uniform_create(&looks, wg, KC_LOOKS);
    for (unsigned l = 0; l < wg->flow.n_loops && !waits; l++) {
        const struct kc_loop *loop = &wg->flow.loops[l];

        waits = has_look(wg, loop) && ends_by_look(wg, &looks, loop) && !is_for_one(wg, strip, loop);
    }
    kc_uniform_finish(&looks);
    return waits;
}
