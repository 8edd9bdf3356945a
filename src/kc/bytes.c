#include "kc/bytes.h"

#define N_BYTES 16u

static bool is_misaligned(LLVMValueRef at)
{
    LLVMTypeRef type = LLVMTypeOf(at);

    return LLVMGetInstructionOpcode(at) == LLVMLoad && LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetVectorSize(type) == N_BYTES && LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == 8 && LLVMGetAlignment(at) < N_BYTES;
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

void kc_split_bytes(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block), next; at; at = next) {
                next = LLVMGetNextInstruction(at);
                if (is_misaligned(at))
                    split(builder, at);
            }
    LLVMDisposeBuilder(builder);
}
