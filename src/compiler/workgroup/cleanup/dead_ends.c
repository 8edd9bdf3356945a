#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/flow.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <string.h>

#ifdef __x86_64__
static void trap_before(LLVMBuilderRef b, LLVMValueRef instruction)
{
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
    LLVMValueRef trap =
        LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID("llvm.trap", strlen("llvm.trap")), NULL, 0);

    LLVMPositionBuilderBefore(b, instruction);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(trap), trap, NULL, 0, "");
}

/* The blocks from which the function can end. The caller frees. */
static struct kc_bits find_ending(const struct kc_flow *flow)
{
    struct kc_bits ending = kc_bits_create(flow->n_blocks);
    int *stack = kc_alloc(flow->n_blocks, sizeof(int));
    unsigned depth = 0;

    for (unsigned b = 0; b < flow->n_blocks; b++)
        if (flow->blocks[b].n_successors == 0) {
            kc_bits_set(&ending, b);
            stack[depth++] = (int)b;
        }
    while (depth > 0) {
        const struct kc_block *block = &flow->blocks[stack[--depth]];

        for (unsigned p = 0; p < block->n_predecessors; p++)
            if (!kc_bits_get(&ending, (size_t)block->predecessors[p])) {
                kc_bits_set(&ending, (size_t)block->predecessors[p]);
                stack[depth++] = block->predecessors[p];
            }
    }
    free(stack);
    return ending;
}

void kc_wg_stop_endless(LLVMBuilderRef b, LLVMValueRef function)
{
    struct kc_bits ending;
    struct kc_flow flow;

    kc_flow_create(&flow, function);
    ending = find_ending(&flow);
    for (unsigned n = 0; n < flow.n_blocks; n++)
        if (!kc_bits_get(&ending, n))
            trap_before(b, LLVMGetBasicBlockTerminator(flow.blocks[n].block));
    kc_bits_free(&ending);
    kc_flow_finish(&flow);
}

void kc_wg_stop_dead_ends(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        kc_wg_stop_endless(b, f);
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            if (LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)))
                trap_before(b, LLVMGetBasicBlockTerminator(block));
    }
    LLVMDisposeBuilder(b);
}
#else
/* The trap isn't a signal that cpu_device/fault.c takes. */
void kc_wg_stop_endless(LLVMBuilderRef b, LLVMValueRef function)
{
    (void)b, (void)function;
}

void kc_wg_stop_dead_ends(LLVMModuleRef module)
{
    (void)module;
}
#endif
