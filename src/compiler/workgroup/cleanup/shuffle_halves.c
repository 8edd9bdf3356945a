#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

/* So many 64-bit numbers fill two AVX-512 registers: these are split. */
#define LANES 16u

/* The least number of pairs that are put together (the most is LANES). */
#define MIN_PAIRS 4u

static bool is_of(LLVMTypeRef type, unsigned bits)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == LANES &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == bits;
}

/* Are all lanes shifted by 32? */
static bool is_shift_by_half(LLVMValueRef value, LLVMOpcode shift)
{
    LLVMValueRef by =
        LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == shift ? LLVMGetOperand(value, 1) : NULL;

    for (unsigned i = 0; by && i < LLVMGetVectorSize(LLVMTypeOf(value)); i++) {
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

/* The 32-bit numbers in the lower halves of `value`, whose upper halves are zero; NULL: they may not be. */
static LLVMValueRef lower_half(LLVMValueRef value)
{
    LLVMTypeRef type;

    if (!LLVMIsAZExtInst(value))
        return NULL;
    type = LLVMTypeOf(LLVMGetOperand(value, 0));
    return LLVMGetIntTypeWidth(LLVMGetElementType(type)) == 32 ? LLVMGetOperand(value, 0) : NULL;
}

static LLVMValueRef upper_half(LLVMValueRef value)
{
    return is_shift_by_half(value, LLVMShl) ? lower_half(LLVMGetOperand(value, 0)) : NULL;
}

/* Does the operation put pairs together? */
static bool find_pairs(LLVMValueRef i, LLVMValueRef *lower, LLVMValueRef *upper)
{
    LLVMTypeRef type = LLVMTypeOf(i);

    if (!LLVMIsABinaryOperator(i) || LLVMGetInstructionOpcode(i) != LLVMOr ||
        LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMGetIntTypeWidth(LLVMGetElementType(type)) != 64 ||
        LLVMGetVectorSize(type) < MIN_PAIRS || LLVMGetVectorSize(type) > LANES)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        *upper = upper_half(LLVMGetOperand(i, k));
        *lower = lower_half(LLVMGetOperand(i, 1 - k));
        if (*upper && *lower)
            return true;
    }
    return false;
}

static LLVMValueRef pairs(struct kc_wg *wg, LLVMValueRef lower, LLVMValueRef upper, LLVMTypeRef type)
{
    unsigned n = LLVMGetVectorSize(type);
    LLVMValueRef mask[2 * LANES];

    for (unsigned i = 0; i < 2 * n; i++)
        mask[i] = kc_i32(wg, i / 2 + (i % 2 ? n : 0));
    return LLVMBuildBitCast(
        wg->builder, LLVMBuildShuffleVector(wg->builder, lower, upper, LLVMConstVector(mask, 2 * n), ""), type, "");
}

/* A better form of the instruction; NULL: none. */
static LLVMValueRef better(struct kc_wg *wg, LLVMValueRef i)
{
    LLVMValueRef whole, lower, upper;
    bool second;

    LLVMPositionBuilderBefore(wg->builder, i);
    if (find_pairs(i, &lower, &upper))
        return pairs(wg, lower, upper, LLVMTypeOf(i));
    if (!LLVMIsATruncInst(i) || !is_of(LLVMTypeOf(i), 32) || !is_of(LLVMTypeOf(LLVMGetOperand(i, 0)), 64))
        return NULL;
    whole = LLVMGetOperand(i, 0);
    second = is_shift_by_half(whole, LLVMLShr);
    return halves(wg, second ? LLVMGetOperand(whole, 0) : whole, second);
}

static void shuffle_all(struct kc_wg *wg, LLVMValueRef function)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            LLVMValueRef shuffled = better(wg, i);

            next = LLVMGetNextInstruction(i);
            if (!shuffled)
                continue;
            LLVMReplaceAllUsesWith(i, shuffled);
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
