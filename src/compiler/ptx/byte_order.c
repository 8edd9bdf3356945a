#include "compiler/ptx/byte_order.h"

#include <llvm/Config/llvm-config.h>
#include <stddef.h>

#define N_BYTES 4u

/* Where the bytes of a result come from: `places` counts those of the first source, then those of the second. */
struct origin {
    LLVMValueRef sources[2];
    unsigned n_sources;
    unsigned places[N_BYTES];
    bool is_known[N_BYTES];
};

static bool is_four_bytes(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == N_BYTES &&
           LLVMGetElementType(type) == LLVMInt8TypeInContext(LLVMGetTypeContext(type));
}

/* The number of a byte; N_BYTES: it is chosen when the program runs. */
static unsigned number_of(LLVMValueRef index)
{
    unsigned long long n = LLVMIsAConstantInt(index) ? LLVMConstIntGetZExtValue(index) : N_BYTES;

    return n < N_BYTES ? (unsigned)n : N_BYTES;
}

/* The source's number among the two; 2: there are two others already. */
static unsigned source_number(struct origin *origin, LLVMValueRef source)
{
    unsigned i = 0;

    while (i < origin->n_sources && origin->sources[i] != source)
        i++;
    if (i == origin->n_sources && i < 2)
        origin->sources[origin->n_sources++] = source;
    return i;
}

static bool is_number(LLVMValueRef value, unsigned width)
{
    return LLVMTypeOf(value) == LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)), width);
}

/* Which byte of what `byte` is; N_BYTES: that isn't known. A register is a number, or four bytes. */
static unsigned byte_of(LLVMValueRef byte, LLVMValueRef *source)
{
    LLVMValueRef from = LLVMIsAInstruction(byte) && LLVMGetNumOperands(byte) ? LLVMGetOperand(byte, 0) : byte;

    *source = from;
    if (LLVMIsATruncInst(byte) && is_number(from, 32))
        return 0;
    if (!LLVMIsAExtractElementInst(byte) || !is_four_bytes(LLVMTypeOf(from)))
        return N_BYTES;
    if (LLVMIsABitCastInst(from) && is_number(LLVMGetOperand(from, 0), 32))
        *source = LLVMGetOperand(from, 0);
    return number_of(LLVMGetOperand(byte, 1));
}

/* Byte `to` of the result is `byte`. What was put into a place later counts. */
static bool add_byte(struct origin *origin, unsigned to, LLVMValueRef byte)
{
    LLVMValueRef source;
    unsigned from = byte_of(byte, &source), n;

    if (origin->is_known[to])
        return true;
    if (from == N_BYTES)
        return false;
    n = source_number(origin, source);
    if (n == 2)
        return false;
    origin->places[to] = n * N_BYTES + from;
    origin->is_known[to] = true;
    return true;
}

/* Of all bytes of `last`, which ends a chain of insertions. */
static bool trace(LLVMValueRef last, struct origin *origin)
{
    LLVMValueRef at = last;
    bool all = true;

    for (; LLVMIsAInsertElementInst(at); at = LLVMGetOperand(at, 0)) {
        unsigned to = number_of(LLVMGetOperand(at, 2));

        if (to == N_BYTES || !add_byte(origin, to, LLVMGetOperand(at, 1)))
            return false;
    }
    for (unsigned i = 0; i < N_BYTES; i++)
        all = all && origin->is_known[i];
    return all;
}

static bool is_inserted_into(LLVMValueRef at)
{
    LLVMUseRef use = LLVMGetFirstUse(at);

    return use && !LLVMGetNextUse(use) && LLVMIsAInsertElementInst(LLVMGetUser(use)) &&
           LLVMGetOperand(LLVMGetUser(use), 0) == at;
}

static LLVMValueRef in_order(LLVMBuilderRef builder, const struct origin *origin, LLVMValueRef at)
{
    static const char name[] = "llvm.nvvm.prmt";
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(name, sizeof(name) - 1), NULL, 0);
    LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    unsigned places = 0;
    LLVMValueRef args[3], bytes;

    for (unsigned i = 0; i < N_BYTES; i++)
        places |= origin->places[i] << 4 * i;
    for (unsigned i = 0; i < 2; i++)
        args[i] = i < origin->n_sources ? LLVMBuildBitCast(builder, origin->sources[i], number, "") : args[0];
    args[2] = LLVMConstInt(number, places, false);
    bytes = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, args, 3, "");
    return LLVMBuildBitCast(builder, bytes, LLVMTypeOf(at), "");
}

static void order(LLVMBuilderRef builder, LLVMValueRef at)
{
    struct origin origin = {.n_sources = 0};

    if (!LLVMIsAInsertElementInst(at) || !is_four_bytes(LLVMTypeOf(at)) || is_inserted_into(at) || !trace(at, &origin))
        return;
    LLVMPositionBuilderBefore(builder, at);
    LLVMReplaceAllUsesWith(at, in_order(builder, &origin, at));
    LLVMInstructionEraseFromParent(at);
}

void kc_order_bytes(LLVMModuleRef module)
{
    if (LLVM_VERSION_MAJOR >= 18)
        kc_visit(module, order);
}
