#include "compiler/workgroup/analysis/rare_loops.h"

#include "compiler/workgroup/analysis/serial.h"

/* Longer loops aren't worth their second code, and the time that it takes to compile. */
#define MOST_INSTRUCTIONS 300u

/* The block from which the loop is entered; KC_NONE: there are several, or not all of it is for the loop. */
static int entry_of(const struct kc_wg *wg, const struct kc_loop *loop)
{
    const struct kc_block *header = &wg->flow.blocks[loop->header];
    int entry = KC_NONE;

    for (unsigned p = 0; p < header->n_predecessors; p++) {
        int from = header->predecessors[p];

        if (kc_bits_get(&loop->blocks, (size_t)from))
            continue;
        if (entry != KC_NONE || wg->flow.blocks[from].n_successors != 1)
            return KC_NONE;
        entry = from;
    }
    return entry;
}

static bool is_short(const struct kc_wg *wg, const struct kc_loop *loop)
{
    unsigned n = 0;

    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        if (kc_bits_get(&loop->blocks, b))
            for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
                if (kc_call_of(i) == KC_CALL_BARRIER)
                    return false;
                n++;
            }
    return n <= MOST_INSTRUCTIONS;
}

/* The comparison that decides where a block goes on; NULL: it isn't one. */
static LLVMValueRef comparison_of(const struct kc_block *block)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(block->block);

    return block->n_successors == 2 && LLVMIsABranchInst(branch) ? LLVMIsAICmpInst(LLVMGetCondition(branch)) : NULL;
}

static bool has_operand(LLVMValueRef comparison, LLVMValueRef value)
{
    return LLVMGetOperand(comparison, 0) == value || LLVMGetOperand(comparison, 1) == value;
}

/* Does a value decide when the loop ends, or begin as one that changes in it? */
static bool decides(const struct kc_wg *wg, const struct kc_loop *loop, int entry, LLVMValueRef value)
{
    LLVMBasicBlockRef from = wg->flow.blocks[entry].block;

    for (LLVMValueRef phi = LLVMGetFirstInstruction(wg->flow.blocks[loop->header].block); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi))
        for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
            if (LLVMGetIncomingBlock(phi, k) == from && LLVMGetIncomingValue(phi, k) == value)
                return true;
    for (unsigned b = 0; b < wg->flow.n_blocks; b++) {
        LLVMValueRef end = kc_bits_get(&loop->blocks, b) ? comparison_of(&wg->flow.blocks[b]) : NULL;

        if (end && has_operand(end, value))
            return true;
    }
    return false;
}

/* Do work-items part before the loop because some of them have no rounds to make ("for (i = 0; i < n; i++)")? */
static bool is_first_test(const struct kc_wg *wg, const struct kc_loop *loop, int entry)
{
    const struct kc_block *block = &wg->flow.blocks[entry];
    LLVMValueRef comparison =
        block->n_predecessors == 1 ? comparison_of(&wg->flow.blocks[block->predecessors[0]]) : NULL;

    for (unsigned k = 0; comparison && k < 2; k++) {
        LLVMValueRef value = LLVMGetOperand(comparison, k);

        if (!LLVMIsAConstant(value) && decides(wg, loop, entry, value))
            return true;
    }
    return false;
}

/* Are there work-items that don't come to the loop for another reason than that they have nothing to do in it? */
static bool is_rare(const struct kc_wg *wg, const struct kc_uniform *strip, int l)
{
    const struct kc_loop *loop = &wg->flow.loops[l];
    int entry = entry_of(wg, loop);

    if (entry == KC_NONE || !strip->divergent_block[entry] || kc_is_serial_loop(wg, l) || !is_short(wg, loop))
        return false;
    return !is_first_test(wg, loop, entry) || strip->divergent_block[wg->flow.blocks[entry].predecessors[0]];
}

bool kc_part_rare_loops(struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes)
{
    struct kc_bits inside = kc_bits_create(wg->flow.n_blocks);

    for (unsigned l = 0; kc_few(lanes) && l < wg->flow.n_loops; l++) {
        const struct kc_loop *loop = &wg->flow.loops[l];

        if (kc_bits_get(&inside, (size_t)loop->header) || !is_rare(wg, strip, (int)l))
            continue;
        kc_bits_merge(&inside, &loop->blocks, NULL);
        wg->rare_entries = kc_more(wg->rare_entries, wg->n_rare_entries, sizeof(*wg->rare_entries));
        wg->rare_entries[wg->n_rare_entries++] =
            kc_split_before(LLVMGetBasicBlockTerminator(wg->flow.blocks[entry_of(wg, loop)].block));
    }
    kc_bits_free(&inside);
    if (!wg->n_rare_entries)
        return false;
    kc_flow_finish(&wg->flow);
    kc_flow_create(&wg->flow, wg->function);
    return true;
}

int kc_rare_loop_behind(const struct kc_wg *wg, int block)
{
    for (unsigned r = 0; r < wg->n_rare_entries; r++)
        if (wg->rare_entries[r] == wg->flow.blocks[block].block)
            return wg->flow.blocks[wg->flow.blocks[block].successors[0]].loop;
    return KC_NONE;
}

bool kc_is_rare_loop(const struct kc_wg *wg, int loop)
{
    for (; loop != KC_NONE; loop = wg->flow.loops[loop].parent)
        for (unsigned r = 0; r < wg->n_rare_entries; r++)
            if (kc_rare_loop_behind(wg, kc_flow_number(&wg->flow, wg->rare_entries[r])) == loop)
                return true;
    return false;
}
