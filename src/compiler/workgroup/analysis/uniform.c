#include "compiler/workgroup/analysis/uniform.h"

#include "compiler/workgroup/analysis/serial.h"
#include "compiler/workgroup/analysis/waits.h"

/* Instructions of the arithmetic behind a loop counter. Less than slots.c repeats, so that it will be repeated. */
#define MAX_BUDGET 12

bool kc_is_arithmetic(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMGetElementPtr:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        return true;
    default:
        return false;
    }
}

/* Computed from other uniform values by arithmetic alone, so that the strip can compute it although not all lanes take
 * part. Loop counters count as computed: they have a place of their own. */
static bool known_by_arithmetic(const struct kc_uniform *uniform, const struct kc_wg *wg, LLVMValueRef value,
                                int *budget)
{
    if (!LLVMIsAInstruction(value))
        return true;
    if (--*budget < 0 || kc_varies(uniform, value))
        return false;
    if (kc_is_query(kc_call_of(value)))
        return true;
    if (LLVMIsAPHINode(value)) {
        int b = kc_flow_number(&wg->flow, LLVMGetInstructionParent(value)), loop = wg->flow.blocks[b].loop;

        return loop != KC_NONE && wg->flow.loops[loop].header == b && !kc_map_get(&uniform->uncounted, value);
    }
    if (!kc_is_arithmetic(value))
        return false;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(value); k++)
        if (!known_by_arithmetic(uniform, wg, LLVMGetOperand(value, k), budget))
            return false;
    return true;
}

/* A phi in a block that perhaps not all work-items reach: is it a loop counter in the wide sense? */
static bool is_counter(const struct kc_uniform *uniform, const struct kc_wg *wg, LLVMValueRef phi, int block)
{
    int loop = wg->flow.blocks[block].loop;

    if (loop == KC_NONE || wg->flow.loops[loop].header != block || LLVMCountIncoming(phi) != 2)
        return false;
    if (kc_is_serial_loop(wg, loop))
        return false;
    for (unsigned k = 0; k < 2; k++) {
        int budget = MAX_BUDGET;

        if (!known_by_arithmetic(uniform, wg, LLVMGetIncomingValue(phi, k), &budget))
            return false;
    }
    return true;
}

static bool phi_varies(const struct kc_uniform *uniform, LLVMValueRef phi, int block)
{
    if (uniform->joined[block])
        return true;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (kc_varies(uniform, LLVMGetIncomingValue(phi, k)))
            return true;
    return false;
}

static bool id_varies(const struct kc_uniform *uniform, LLVMValueRef dimension)
{
    if (!LLVMIsAConstantInt(dimension))
        return true;
    return LLVMConstIntGetZExtValue(dimension) < (uniform->level == KC_STRIP ? 1 : 3);
}

static bool operands_vary(const struct kc_uniform *uniform, LLVMValueRef instruction)
{
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(instruction); k++)
        if (kc_varies(uniform, LLVMGetOperand(instruction, k)))
            return true;
    return false;
}

/* Nothing but looks, and what depends on them. */
static bool follows_look(const struct kc_uniform *uniform, const struct kc_wg *wg, LLVMValueRef i, int block)
{
    if (LLVMIsAPHINode(i))
        return phi_varies(uniform, i, block);
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsALoadInst(i))
        return kc_is_look(wg, i);
    return operands_vary(uniform, i);
}

static bool call_varies(const struct kc_uniform *uniform, LLVMValueRef call)
{
    switch (kc_call_of(call)) {
    case KC_CALL_LOCAL_ID:
    case KC_CALL_GLOBAL_ID:
        if (id_varies(uniform, LLVMGetOperand(call, 0)))
            return true;
        break;
    case KC_CALL_OTHER:
        if (!kc_wg_callee(call) || !kc_name_begins(kc_wg_callee(call), "llvm."))
            return true;
        break;
    default:
        break;
    }
    return operands_vary(uniform, call);
}

static bool instruction_varies(const struct kc_uniform *uniform, const struct kc_wg *wg, LLVMValueRef i, int block)
{
    if (uniform->level == KC_LOOKS)
        return follows_look(uniform, wg, i, block);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
        return phi_varies(uniform, i, block);
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMInvoke:
    case LLVMVAArg:
        return true;
    case LLVMLoad:
        return kc_is_volatile_or_atomic(i) || operands_vary(uniform, i);
    case LLVMCall:
        return call_varies(uniform, i);
    default:
        return operands_vary(uniform, i);
    }
}

/* A branch sends work-items different ways: they don't pass the blocks on these ways, up to where all meet again,
 * together, and where two of the ways meet, a phi depends on the way taken. */
static void diverge(struct kc_uniform *uniform, const struct kc_flow *flow, int from)
{
    const struct kc_block *block = &flow->blocks[from];
    int stop = block->post_dominator;
    unsigned *ways = kc_alloc(flow->n_blocks, sizeof(*ways));

    for (unsigned s = 0; s < block->n_successors; s++) {
        struct kc_bits way = kc_flow_from(flow, block->successors[s], stop);

        for (unsigned b = 0; b < flow->n_blocks; b++)
            ways[b] += kc_bits_get(&way, b);
        kc_bits_free(&way);
    }
    for (unsigned b = 0; b < flow->n_blocks; b++) {
        uniform->divergent_block[b] |= ways[b] > 0;
        uniform->joined[b] |= ways[b] > 1;
    }
    if (stop != KC_NONE)
        uniform->joined[stop] = true;
    free(ways);
}

static bool visit_block(struct kc_uniform *uniform, const struct kc_wg *wg, int number)
{
    const struct kc_block *block = &wg->flow.blocks[number];
    bool changed = false;

    for (KC_EACH_INSTRUCTION(i, block->block)) {
        if (kc_varies(uniform, i) || !instruction_varies(uniform, wg, i, number))
            continue;
        kc_map_set(&uniform->varying, i, 1);
        changed = true;
        if (LLVMIsATerminatorInst(i) && block->n_successors > 1) {
            uniform->divergent_branch[number] = true;
            diverge(uniform, &wg->flow, number);
        }
    }
    return changed;
}

/* A counter that depends on a phi that is none is none either. */
static bool uncount_block(struct kc_uniform *uniform, const struct kc_wg *wg, int number)
{
    bool changed = false;

    for (LLVMValueRef i = LLVMGetFirstInstruction(wg->flow.blocks[number].block); LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
        if (kc_varies(uniform, i) || kc_map_get(&uniform->uncounted, i) || is_counter(uniform, wg, i, number))
            continue;
        kc_map_set(&uniform->uncounted, i, 1);
        changed = true;
    }
    return changed;
}

static void find_uncounted(struct kc_uniform *uniform, const struct kc_wg *wg)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (unsigned b = 0; b < wg->flow.n_blocks; b++)
            if (uniform->divergent_block[b])
                changed |= uncount_block(uniform, wg, (int)b);
    }
}

void kc_uniform_create(struct kc_uniform *uniform, const struct kc_wg *wg, enum kc_level level)
{
    const struct kc_flow *flow = &wg->flow;
    bool changed = true;

    *uniform = (struct kc_uniform){.level = level};
    uniform->divergent_block = kc_alloc(flow->n_blocks, sizeof(bool));
    uniform->divergent_branch = kc_alloc(flow->n_blocks, sizeof(bool));
    uniform->joined = kc_alloc(flow->n_blocks, sizeof(bool));
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < flow->n_order; i++)
            changed |= visit_block(uniform, wg, flow->order[i]);
    }
    if (level != KC_LOOKS)
        find_uncounted(uniform, wg);
}

void kc_uniform_finish(struct kc_uniform *uniform)
{
    kc_map_clear(&uniform->varying);
    kc_map_clear(&uniform->uncounted);
    free(uniform->divergent_block);
    free(uniform->divergent_branch);
    free(uniform->joined);
}
