#include "compiler/workgroup/cleanup/lane_loops.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

static unsigned first_line(LLVMBasicBlockRef block, LLVMBasicBlockRef latch)
{
    for (; block; block = LLVMGetNextBasicBlock(block)) {
        for (KC_EACH_INSTRUCTION(i, block))
            if (LLVMGetDebugLocLine(i))
                return LLVMGetDebugLocLine(i);
        if (block == latch)
            break;
    }
    return 0;
}

void kc_wg_note_loops(LLVMModuleRef module, FILE *notes)
{
    unsigned kind = kc_loop_kind(module);
    size_t length;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef branch = LLVMGetBasicBlockTerminator(b);

            if (kc_is_lane_loop(branch, kind))
                fprintf(notes, "%s: line %u: LLVM left what begins here to one work-item after the other\n",
                        LLVMGetValueName2(f, &length), first_line(LLVMGetSuccessor(branch, 0), b));
        }
}
