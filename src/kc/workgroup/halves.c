#include "kc/workgroup/ir.h"
#include "kc/workgroup/passes.h"

/* So many numbers of 64 bits lie in two registers. */
#define LANES 16u

static bool is_of(LLVMTypeRef type, unsigned bits)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == LANES &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == bits;
}

/* Are all lanes shifted by 32? */
static bool is_shift_by_half(LLVMValueRef value)
{
    LLVMValueRef by =
        LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMLShr ? LLVMGetOperand(value, 1) : NULL;

    for (unsigned i = 0; by && i < LANES; i++) {
        LLVMValueRef element = LLVMIsConstant(by) ? LLVMGetAggregateElement(by, i) : NULL;

        if (!element || !LLVMIsAConstantInt(element) || LLVMConstIntGetZExtValue(element) != 32)
            return false;
    }
    return by != NULL;
}

/* The lower or upper halves of all lanes. */
static LLVMValueRef halves(struct kc_wg *wg, LLVMValueRef whole, unsigned first)
{
    LLVMTypeRef type = LLVMVectorType(wg->i32, 2 * LANES);
    LLVMValueRef mask[LANES], parts = LLVMBuildBitCast(wg->builder, whole, type, "");

    for (unsigned i = 0; i < LANES; i++)
        mask[i] = kc_i32(wg, 2 * i + first);
    return LLVMBuildShuffleVector(wg->builder, parts, LLVMGetPoison(type), LLVMConstVector(mask, LANES), "");
}

static void shuffle_all(struct kc_wg *wg, LLVMValueRef function)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            LLVMValueRef whole;
            bool upper;

            next = LLVMGetNextInstruction(i);
            if (!LLVMIsATruncInst(i) || !is_of(LLVMTypeOf(i), 32) || !is_of(LLVMTypeOf(LLVMGetOperand(i, 0)), 64))
                continue;
            whole = LLVMGetOperand(i, 0);
            upper = is_shift_by_half(whole);
            LLVMPositionBuilderBefore(wg->builder, i);
            LLVMReplaceAllUsesWith(i, halves(wg, upper ? LLVMGetOperand(whole, 0) : whole, upper));
            LLVMInstructionEraseFromParent(i);
        }
}

void kc_wg_shuffle_halves(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        shuffle_all(&wg, f);
    LLVMDisposeBuilder(wg.builder);
}
