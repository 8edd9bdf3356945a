#include "compiler/ptx/narrow_vectors.h"

#define N_BYTES 16u

static bool has_elements(LLVMTypeRef type, unsigned bits)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == bits;
}

static bool is_misaligned(LLVMValueRef at)
{
    return LLVMGetInstructionOpcode(at) == LLVMLoad && has_elements(LLVMTypeOf(at), 8) &&
           LLVMGetVectorSize(LLVMTypeOf(at)) == N_BYTES && LLVMGetAlignment(at) < N_BYTES;
}

static bool compares_shorts(LLVMValueRef at)
{
    return LLVMGetInstructionOpcode(at) == LLVMICmp && has_elements(LLVMTypeOf(LLVMGetOperand(at, 0)), 16);
}

static LLVMValueRef half_of(LLVMBuilderRef builder, LLVMValueRef load, unsigned i)
{
    LLVMTypeRef byte = LLVMGetElementType(LLVMTypeOf(load));
    LLVMContextRef context = LLVMGetTypeContext(byte);
    LLVMValueRef offset = LLVMConstInt(LLVMInt32TypeInContext(context), i * N_BYTES / 2, false), half;

    half = LLVMBuildLoad2(builder, LLVMVectorType(byte, N_BYTES / 2),
                          LLVMBuildGEP2(builder, byte, LLVMGetOperand(load, 0), &offset, 1, ""), "");
    LLVMSetAlignment(half, LLVMGetAlignment(load) < N_BYTES / 2 ? LLVMGetAlignment(load) : N_BYTES / 2);
    LLVMSetVolatile(half, LLVMGetVolatile(load));
    return half;
}

static void split(LLVMBuilderRef builder, LLVMValueRef load)
{
    LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(load)));
    LLVMValueRef order[N_BYTES], first, second, all;

    for (unsigned i = 0; i < N_BYTES; i++)
        order[i] = LLVMConstInt(number, i, false);
    LLVMPositionBuilderBefore(builder, load);
    first = half_of(builder, load, 0);
    second = half_of(builder, load, 1);
    all = LLVMBuildShuffleVector(builder, first, second, LLVMConstVector(order, N_BYTES), "");
    LLVMReplaceAllUsesWith(load, all);
    LLVMInstructionEraseFromParent(load);
}

/* Compares the elements one by one. */
static void compare_each(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(at)));
    LLVMValueRef all = LLVMGetPoison(LLVMTypeOf(at));

    LLVMPositionBuilderBefore(builder, at);
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(at)); i++) {
        LLVMValueRef place = LLVMConstInt(number, i, false), sides[2];

        for (unsigned k = 0; k < 2; k++)
            sides[k] = LLVMBuildExtractElement(builder, LLVMGetOperand(at, k), place, "");
        all = LLVMBuildInsertElement(
            builder, all, LLVMBuildICmp(builder, LLVMGetICmpPredicate(at), sides[0], sides[1], ""), place, "");
    }
    LLVMReplaceAllUsesWith(at, all);
    LLVMInstructionEraseFromParent(at);
}

static void split_one(LLVMBuilderRef builder, LLVMValueRef at)
{
    if (is_misaligned(at))
        split(builder, at);
    else if (compares_shorts(at))
        compare_each(builder, at);
}

void kc_split_small(LLVMModuleRef module)
{
    kc_visit(module, split_one);
}
