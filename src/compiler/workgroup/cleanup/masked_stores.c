#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/flow.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <stdlib.h>

/* A store of consecutive elements for the lanes in `mask`. */
struct store {
    LLVMValueRef call, value, place, mask;
    unsigned align;
};

static bool find_store(LLVMValueRef i, struct store *store)
{
    LLVMValueRef callee = kc_wg_callee(i);

    if (!callee || !kc_name_begins(callee, "llvm.masked.store."))
        return false;
    *store = (struct store){.call = i,
                            .value = LLVMGetOperand(i, 0),
                            .place = LLVMGetOperand(i, 1),
                            .mask = LLVMGetOperand(i, 3),
                            .align = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2))};
    return !LLVMIsAConstant(store->mask);
}

static LLVMBasicBlockRef block_before(struct kc_wg *wg, LLVMBasicBlockRef next)
{
    return LLVMInsertBasicBlockInContext(wg->context, next, "");
}

/* A block before `some` that asks whether all lanes store, and a plain store for them. */
static LLVMBasicBlockRef part_full(struct kc_wg *wg, const struct store *store, LLVMValueRef bits,
                                   LLVMBasicBlockRef some, LLVMBasicBlockRef after)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef any = block_before(wg, some), all = block_before(wg, some);

    LLVMPositionBuilderAtEnd(b, any);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)), ""), all, some);
    LLVMPositionBuilderAtEnd(b, all);
    LLVMSetAlignment(LLVMBuildStore(b, store->value, store->place), store->align);
    LLVMBuildBr(b, after);
    return any;
}

/* May the instruction be run later, or not at all, as far as it alone is concerned? reads: it reads memory. */
static bool may_move(LLVMValueRef i, bool *reads)
{
    LLVMValueRef callee = kc_wg_callee(i);

    *reads = false;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        *reads = true;
        return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
    case LLVMCall:
        *reads = callee && kc_name_begins(callee, "llvm.masked.load.");
        return *reads || (callee && (kc_name_begins(callee, "llvm.fma.") || kc_name_begins(callee, "llvm.fmuladd.")));
    case LLVMPHI:
    case LLVMAlloca:
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW:
    case LLVMVAArg:
        return false;
    default:
        return !LLVMIsATerminatorInst(i);
    }
}

static bool is_used_in(LLVMValueRef i, LLVMBasicBlockRef block)
{
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use))
        if (LLVMGetInstructionParent(LLVMGetUser(use)) != block || LLVMIsAPHINode(LLVMGetUser(use)))
            return false;
    return LLVMGetFirstUse(i) != NULL;
}

/* Moves what only `to` needs there, from the block before it. */
static void sink(struct kc_wg *wg, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    bool written = false, reads; /* written: memory, behind the instruction */
    LLVMValueRef before;

    for (LLVMValueRef i = LLVMGetLastInstruction(from); i; i = before) {
        before = LLVMGetPreviousInstruction(i);
        if (may_move(i, &reads) && !(reads && written) && is_used_in(i, to)) {
            LLVMInstructionRemoveFromParent(i);
            LLVMPositionBuilderBefore(wg->builder, LLVMGetFirstInstruction(to));
            LLVMInsertIntoBuilder(wg->builder, i);
        } else {
            written |= !may_move(i, &reads) && !LLVMIsAPHINode(i);
        }
    }
}

static void part(struct kc_wg *wg, const struct store *store, bool full)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(store->call), some = kc_split_before(store->call);
    LLVMBasicBlockRef after = kc_split_before(LLVMGetNextInstruction(store->call)), any;
    LLVMValueRef bits;

    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(b, before);
    bits = kc_mask_bits(wg, LLVMBuildFreeze(b, store->mask, ""));
    any = full ? part_full(wg, store, bits, some, after) : some;
    LLVMPositionBuilderAtEnd(b, before);
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, bits, ""), after, any);
    if (!full)
        sink(wg, before, some);
}

#define MOST_STEPS 128 /* from a mask to what it is made of */

struct made {
    LLVMValueRef of[MOST_STEPS];
    unsigned n;
};

/* False: it is among them, or they are too many. */
static bool add_step(struct made *made, LLVMValueRef value, bool *too_many)
{
    for (unsigned i = 0; i < made->n; i++)
        if (made->of[i] == value)
            return false;
    *too_many = made->n == MOST_STEPS;
    if (!*too_many)
        made->of[made->n++] = value;
    return !*too_many;
}

/* Is the value made in the loop, of no vector of its turn before? One from before the loop needs no question in each
 * turn. With lanes' states from turn to turn the loop goes on while some lane is in it, so that few masks have none. */
static bool is_made_anew(const struct kc_flow *flow, LLVMValueRef value, int loop, struct made *made)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    bool too_many = false;
    int block;

    if (!LLVMIsAInstruction(value) || LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return true;
    block = kc_flow_number(flow, LLVMGetInstructionParent(value));
    if (!kc_bits_get(&flow->loops[loop].blocks, (size_t)block))
        return true;
    if (LLVMIsAPHINode(value) && block == flow->loops[loop].header)
        return false;
    if (!add_step(made, value, &too_many))
        return !too_many;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++) /* A phi's are what comes in. */
        if (!is_made_anew(flow, LLVMGetOperand(value, i), loop, made))
            return false;
    return true;
}

/* May the mask be without lanes, for all that is known? */
static bool may_be_empty(const struct kc_flow *flow, const struct store *store, int loop)
{
    struct made made = {.n = 0};

    if (loop == KC_NONE)
        return true;
    return LLVMIsAInstruction(store->mask) &&
           kc_bits_get(&flow->loops[loop].blocks,
                       (size_t)kc_flow_number(flow, LLVMGetInstructionParent(store->mask))) &&
           is_made_anew(flow, store->mask, loop, &made);
}

static bool has_stores(LLVMValueRef function)
{
    struct store store;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (KC_EACH_INSTRUCTION(i, block))
            if (find_store(i, &store))
                return true;
    return false;
}

static void part_all(struct kc_wg *wg, LLVMValueRef function, bool full)
{
    struct store *stores = NULL, store;
    struct kc_flow flow;
    unsigned n = 0;

    kc_flow_create(&flow, function);
    for (unsigned b = 0; b < flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, flow.blocks[b].block))
            if (find_store(i, &store) && (full || may_be_empty(&flow, &store, flow.blocks[b].loop))) {
                stores = kc_more(stores, n, sizeof(*stores));
                stores[n++] = store;
            }
    kc_flow_finish(&flow);
    for (unsigned i = 0; i < n; i++)
        part(wg, &stores[i], full);
    free(stores);
}

void kc_wg_part_masked_stores(LLVMModuleRef module, bool full)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (has_stores(f))
            part_all(&wg, f, full);
    LLVMDisposeBuilder(wg.builder);
}
