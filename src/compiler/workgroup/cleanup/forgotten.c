#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

/* A memset is parted like the variable is, whatever the vectors are by which it is accessed. */
static void end_forgotten(LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMContextRef context =
        LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call))));
    LLVMValueRef size = LLVMGetOperand(call, 0), variable = LLVMGetOperand(call, 1);

    if (LLVMIsAAllocaInst(variable)) {
        LLVMPositionBuilderBefore(b, call);
        LLVMBuildMemSet(b, variable, LLVMGetUndef(LLVMInt8TypeInContext(context)), size, LLVMGetAlignment(variable));
    }
    LLVMInstructionEraseFromParent(call);
}

void kc_wg_end_forgotten(LLVMModuleRef module)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    unsigned kind = LLVMGetMDKindIDInContext(context, KC_FORGOTTEN, sizeof(KC_FORGOTTEN) - 1);
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (LLVMIsACallInst(i) && LLVMHasMetadata(i) && LLVMGetMetadata(i, kind))
                    end_forgotten(b, i);
            }
    LLVMDisposeBuilder(b);
}
