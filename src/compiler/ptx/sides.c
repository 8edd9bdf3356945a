#include "compiler/ptx/sides.h"

#include <stdbool.h>
#include <stddef.h>

#define GENERIC_SPACE 0
#define GLOBAL_SPACE  1
#define CONST_SPACE   4 /* of arguments: buffers */

#define MOST_INSTRUCTIONS 12 /* of a side; larger ones stay branches */

static bool loads_slowly(LLVMValueRef at)
{
    if (LLVMGetInstructionOpcode(at) != LLVMLoad)
        return false;
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(at, 0)));
    return space == GENERIC_SPACE || space == GLOBAL_SPACE || space == CONST_SPACE;
}

static bool is_slow(LLVMBasicBlockRef side)
{
    for (LLVMValueRef at = LLVMGetFirstInstruction(side); at; at = LLVMGetNextInstruction(at))
        if (loads_slowly(at))
            return true;
    return false;
}

/* Where control goes behind the side; NULL: it is more than a few instructions, or has other ways in or out. */
static LLVMBasicBlockRef behind(LLVMBasicBlockRef side)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(side);
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(side));
    unsigned n = 0;

    for (LLVMValueRef at = LLVMGetFirstInstruction(side); at; at = LLVMGetNextInstruction(at))
        n++;
    bool alone = use && !LLVMGetNextUse(use);
    bool simple = LLVMGetInstructionOpcode(last) == LLVMBr && LLVMGetNumSuccessors(last) == 1;
    return alone && simple && n <= MOST_INSTRUCTIONS ? LLVMGetSuccessor(last, 0) : NULL;
}

/* The quick one of a branch's two small sides, which meet behind it, where the other one is slow; else NULL. */
static LLVMBasicBlockRef quick_side(LLVMValueRef branch)
{
    if (LLVMGetInstructionOpcode(branch) != LLVMBr || !LLVMIsConditional(branch))
        return NULL;
    LLVMBasicBlockRef a = LLVMGetSuccessor(branch, 0), b = LLVMGetSuccessor(branch, 1), meet = behind(a);
    if (!meet || meet != behind(b) || is_slow(a) == is_slow(b))
        return NULL;
    return is_slow(a) ? b : a;
}

/* LLVM's back end has the branch taken to the other side than the one that follows it here. */
void kc_order_sides(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            LLVMBasicBlockRef quick = quick_side(LLVMGetBasicBlockTerminator(block));
            if (quick)
                LLVMMoveBasicBlockAfter(quick, block);
        }
}
