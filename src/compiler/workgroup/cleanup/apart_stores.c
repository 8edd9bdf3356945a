#include "compiler/workgroup/analysis/flow.h"
#include "compiler/workgroup/cleanup/lane_loops.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

struct names {
    LLVMBuilderRef builder;
    unsigned kind;
    struct kc_flow flow;
    struct kc_map seen; /* by address, the last loop over lanes with a store there, by number + 1 */
};

static bool is_over_lanes(const struct names *n, const struct kc_loop *loop)
{
    const struct kc_block *header = &n->flow.blocks[loop->header];

    for (unsigned p = 0; p < header->n_predecessors; p++) {
        const struct kc_block *from = &n->flow.blocks[header->predecessors[p]];

        if (kc_bits_get(&loop->blocks, (size_t)header->predecessors[p]) &&
            kc_is_lane_loop(LLVMGetBasicBlockTerminator(from->block), n->kind))
            return true;
    }
    return false;
}

/* Variables that shall become registers must not be seen by a freeze. */
static bool is_variable(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsAAddrSpaceCastInst(address))
        address = LLVMGetOperand(address, 0);
    return LLVMIsAAllocaInst(address);
}

static bool is_known_before(const struct names *n, const struct kc_loop *loop, LLVMValueRef value)
{
    return !LLVMIsAInstruction(value) ||
           !kc_bits_get(&loop->blocks, (size_t)kc_flow_number(&n->flow, LLVMGetInstructionParent(value)));
}

static LLVMValueRef first_after(const struct names *n, LLVMValueRef value)
{
    LLVMBasicBlockRef block;

    if (!LLVMIsAInstruction(value))
        return LLVMGetFirstInstruction(n->flow.blocks[0].block);
    block = LLVMGetInstructionParent(value);
    return LLVMIsAPHINode(value) ? kc_first_after_phis(block) : LLVMGetNextInstruction(value);
}

static void name_address(struct names *n, LLVMValueRef store, int loop)
{
    LLVMValueRef address = LLVMGetOperand(store, 1);

    if (!is_known_before(n, &n->flow.loops[loop], address) || is_variable(address))
        return;
    if (kc_map_get(&n->seen, address) != (uintptr_t)loop + 1) {
        kc_map_set(&n->seen, address, (uintptr_t)loop + 1);
        return;
    }
    LLVMPositionBuilderBefore(n->builder, first_after(n, address));
    LLVMSetOperand(store, 1, LLVMBuildFreeze(n->builder, address, ""));
}

static void name_stores(struct names *n, LLVMValueRef function)
{
    kc_flow_create(&n->flow, function);
    for (unsigned k = 0; k < n->flow.n_order; k++) {
        const struct kc_block *block = &n->flow.blocks[n->flow.order[k]];

        if (block->loop == KC_NONE || !is_over_lanes(n, &n->flow.loops[block->loop]))
            continue;
        for (KC_EACH_INSTRUCTION(i, block->block))
            if (LLVMIsAStoreInst(i))
                name_address(n, i, block->loop);
    }
    kc_map_clear(&n->seen);
    kc_flow_finish(&n->flow);
}

void kc_wg_name_stores(LLVMModuleRef module)
{
    struct names n = {.builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module)),
                      .kind = kc_loop_kind(module)};

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            name_stores(&n, f);
    LLVMDisposeBuilder(n.builder);
}
