#include "compiler/ptx/sign_bits.h"

#include <stdint.h>
#include <string.h>

static bool calls(LLVMValueRef at, const char *name)
{
    LLVMValueRef callee = kc_callee(at);

    return callee && LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, strlen(name));
}

static bool is_fabs(LLVMValueRef at)
{
    return calls(at, "llvm.fabs");
}

/* Bits of an element of a float, a double, or a vector of these; else 0. */
static unsigned width_of(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    switch (LLVMGetTypeKind(type)) {
    case LLVMFloatTypeKind:
        return 32;
    case LLVMDoubleTypeKind:
        return 64;
    default:
        return 0;
    }
}

/* Functions of numbers, whose results don't depend on the sign or payload of a NaN. */
static bool is_arithmetic_call(LLVMValueRef at)
{
    static const char *const names[] = {"llvm.fma.",    "llvm.fmuladd.",   "llvm.sqrt.",      "llvm.minnum.",
                                        "llvm.maxnum.", "llvm.floor.",     "llvm.ceil.",      "llvm.rint.",
                                        "llvm.trunc.",  "llvm.nearbyint.", "llvm.is.fpclass."};
    LLVMValueRef callee = kc_callee(at);
    size_t length;

    for (size_t i = 0; callee && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(LLVMGetValueName2(callee, &length), names[i], strlen(names[i])))
            return true;
    return false;
}

static bool is_arithmetic(LLVMValueRef at)
{
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFCmp:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
        return true;
    case LLVMCall:
        return is_arithmetic_call(at);
    default:
        return false;
    }
}

static bool is_seen(LLVMValueRef at)
{
    for (LLVMUseRef use = LLVMGetFirstUse(at); use; use = LLVMGetNextUse(use))
        if (!is_arithmetic(LLVMGetUser(use)))
            return true;
    return false;
}

/* Changes a float's or double's sign, by inline assembly in which LLVM's back end doesn't recognise abs and neg. */
static LLVMValueRef change_sign(LLVMBuilderRef builder, LLVMValueRef number, bool negate)
{
    static const char *const texts[2][2] = {
        {"and.b32 $0, $1, 0x7fffffff;", "xor.b32 $0, $1, 0x80000000;"},
        {"and.b64 $0, $1, 0x7fffffffffffffff;", "xor.b64 $0, $1, 0x8000000000000000;"}};
    LLVMTypeRef type = LLVMTypeOf(number);
    bool is_double = width_of(type) == 64;
    const char *text = texts[is_double][negate], *operands = is_double ? "=l,l" : "=r,r";
    LLVMTypeRef bits = LLVMIntTypeInContext(LLVMGetTypeContext(type), width_of(type));
    LLVMValueRef value = LLVMBuildBitCast(builder, number, bits, "");

    value = kc_arithmetic(builder, text, operands, &value, 1);
    return LLVMBuildBitCast(builder, value, type, "");
}

static LLVMValueRef change_each(LLVMBuilderRef builder, LLVMValueRef numbers, bool negate)
{
    LLVMTypeRef type = LLVMTypeOf(numbers), index_type = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    LLVMValueRef all = LLVMGetPoison(type);

    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef index = LLVMConstInt(index_type, i, false);
        LLVMValueRef one = LLVMBuildExtractElement(builder, numbers, index, "");

        all = LLVMBuildInsertElement(builder, all, change_sign(builder, one, negate), index, "");
    }
    return all;
}

static void replace(LLVMBuilderRef builder, LLVMValueRef at)
{
    bool negate = LLVMGetInstructionOpcode(at) == LLVMFNeg;
    LLVMValueRef number = LLVMGetOperand(at, 0);

    LLVMPositionBuilderBefore(builder, at);
    if (LLVMGetTypeKind(LLVMTypeOf(at)) == LLVMVectorTypeKind)
        LLVMReplaceAllUsesWith(at, change_each(builder, number, negate));
    else
        LLVMReplaceAllUsesWith(at, change_sign(builder, number, negate));
    LLVMInstructionEraseFromParent(at);
}

/* LLVM's back end makes four instructions of copysign. Of a double's halves one has the sign. */
static void copy_sign(LLVMBuilderRef builder, LLVMValueRef at)
{
    static const char *const texts[2] = {
        "lop3.b32 $0, $1, $2, 0x80000000, 0xd8;",
        "{ .reg .b32 a, b, c, d; mov.b64 {a, b}, $1; mov.b64 {c, d}, $2; lop3.b32 b, b, d, 0x80000000, 0xd8; "
        "mov.b64 $0, {a, b}; }"};
    LLVMTypeRef type = LLVMTypeOf(at);
    bool is_double = width_of(type) == 64;
    LLVMTypeRef bits = LLVMIntTypeInContext(LLVMGetTypeContext(type), width_of(type));
    LLVMValueRef operands[2];

    LLVMPositionBuilderBefore(builder, at);
    for (unsigned i = 0; i < 2; i++)
        operands[i] = LLVMBuildBitCast(builder, LLVMGetOperand(at, i), bits, "");
    operands[0] = kc_arithmetic(builder, texts[is_double], is_double ? "=l,l,l" : "=r,r,r", operands, 2);
    LLVMReplaceAllUsesWith(at, LLVMBuildBitCast(builder, operands[0], type, ""));
    LLVMInstructionEraseFromParent(at);
}

static void keep(LLVMBuilderRef builder, LLVMValueRef at)
{
    if ((LLVMGetInstructionOpcode(at) == LLVMFNeg || is_fabs(at)) && width_of(LLVMTypeOf(at)) && is_seen(at))
        replace(builder, at);
    else if (calls(at, "llvm.copysign") && width_of(LLVMTypeOf(at)) &&
             LLVMGetTypeKind(LLVMTypeOf(at)) != LLVMVectorTypeKind)
        copy_sign(builder, at);
}

void kc_keep_bits(LLVMModuleRef module)
{
    kc_visit(module, keep);
}
