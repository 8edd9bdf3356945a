#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

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

/* Returns the block behind the store. */
static LLVMBasicBlockRef part(struct kc_wg *wg, const struct store *store)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(store->call), some = kc_split_before(store->call);
    LLVMBasicBlockRef after = kc_split_before(LLVMGetNextInstruction(store->call));
    LLVMBasicBlockRef any = block_before(wg, some), all = block_before(wg, some);
    LLVMValueRef bits;

    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(b, before);
    bits = kc_mask_bits(wg, LLVMBuildFreeze(b, store->mask, ""));
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, bits, ""), after, any);
    LLVMPositionBuilderAtEnd(b, any);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)), ""), all, some);
    LLVMPositionBuilderAtEnd(b, all);
    LLVMSetAlignment(LLVMBuildStore(b, store->value, store->place), store->align);
    LLVMBuildBr(b, after);
    return after;
}

static void part_all(struct kc_wg *wg, LLVMValueRef function)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            struct store store;

            next = LLVMGetNextInstruction(i);
            if (!find_store(i, &store))
                continue;
            block = part(wg, &store);
            next = LLVMGetFirstInstruction(block);
        }
}

void kc_wg_part_masked_stores(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        part_all(&wg, f);
    LLVMDisposeBuilder(wg.builder);
}
