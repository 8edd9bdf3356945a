#include "compiler/ptx/elements.h"

#define MOST_REGISTERS 8u /* what choosing among them takes more than memory does */

/* An element's. */
static unsigned bits_of(LLVMTypeRef vector)
{
    LLVMTypeRef element = LLVMGetElementType(vector);

    return LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element)
           : LLVMGetTypeKind(element) == LLVMFloatTypeKind ? 32
                                                           : 64;
}

static bool is_power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

/* Elements that fill bytes: vectors of conditions are something else. */
static bool is_chosen(LLVMValueRef at)
{
    LLVMValueRef vector, index;
    unsigned n, bits;

    if (!LLVMIsAExtractElementInst(at))
        return false;
    vector = LLVMGetOperand(at, 0);
    index = LLVMGetOperand(at, 1);
    n = LLVMGetVectorSize(LLVMTypeOf(vector));
    bits = bits_of(LLVMTypeOf(vector));
    return !LLVMIsConstant(index) && !LLVMIsConstant(vector) && is_power_of_two(n) && is_power_of_two(bits) &&
           bits >= 8 && n * bits <= MOST_REGISTERS * 32;
}

/* n elements from `first` on; the element, if it is one. */
static LLVMValueRef part(LLVMBuilderRef builder, LLVMValueRef vector, unsigned first, unsigned n)
{
    LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(vector)));
    LLVMValueRef indices[16];

    for (unsigned i = 0; i < n; i++)
        indices[i] = LLVMConstInt(number, first + i, false);
    if (n == 1)
        return LLVMBuildExtractElement(builder, vector, indices[0], "");
    return LLVMBuildShuffleVector(builder, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(indices, n), "");
}

/* Of a vector in one register. */
static LLVMValueRef shifted(LLVMBuilderRef builder, LLVMValueRef vector, LLVMValueRef index, unsigned bits)
{
    LLVMTypeRef type = LLVMTypeOf(vector), element = LLVMGetElementType(type);
    LLVMContextRef context = LLVMGetTypeContext(type);
    unsigned n = LLVMGetVectorSize(type);
    LLVMTypeRef number = LLVMInt32TypeInContext(context);
    LLVMValueRef value = LLVMBuildBitCast(builder, vector, number, "");
    LLVMValueRef by = LLVMBuildMul(builder, LLVMBuildAnd(builder, index, LLVMConstInt(number, n - 1, false), ""),
                                   LLVMConstInt(number, bits, false), "");

    value = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, value, by, ""), LLVMIntTypeInContext(context, bits), "");
    return LLVMBuildBitCast(builder, value, element, "");
}

/* index: of 32 bits. vector: an element, if it is one. */
static LLVMValueRef choose(LLVMBuilderRef builder, LLVMValueRef vector, LLVMValueRef index)
{
    LLVMTypeRef type = LLVMTypeOf(vector), number = LLVMTypeOf(index);
    unsigned n, bits, half;
    LLVMValueRef within, low, high;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return vector;
    n = LLVMGetVectorSize(type);
    bits = bits_of(type);
    half = n / 2;
    if (n * bits == 32) /* two bytes would go to memory */
        return shifted(builder, vector, index, bits);
    /* Of a test of one bit the back end makes a shift and more. */
    within = LLVMBuildAnd(builder, index, LLVMConstInt(number, n - 1, false), "");
    low = choose(builder, part(builder, vector, 0, half), index);
    high = choose(builder, part(builder, vector, half, half), index);
    within = LLVMBuildICmp(builder, LLVMIntUGE, within, LLVMConstInt(number, half, false), "");
    return LLVMBuildSelect(builder, within, high, low, "");
}

static void replace(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(at)));
    LLVMValueRef index;

    if (!is_chosen(at))
        return;
    LLVMPositionBuilderBefore(builder, at);
    index = LLVMBuildIntCast2(builder, LLVMGetOperand(at, 1), number, false, "");
    LLVMReplaceAllUsesWith(at, choose(builder, LLVMGetOperand(at, 0), index));
    LLVMInstructionEraseFromParent(at);
}

void kc_choose_elements(LLVMModuleRef module)
{
    kc_visit(module, replace);
}
