#include "compiler/ptx/sums.h"

static bool is_add(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMAdd;
}

static bool has_one_use(LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    return use && !LLVMGetNextUse(use);
}

/* A product that becomes one instruction with the addition of it. */
static bool is_product(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMMul && has_one_use(value);
}

static bool is_whole(LLVMTypeRef type)
{
    unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;

    return bits == 32 || bits == 64;
}

/* The operand of a sum that is a product, and in *other the other one; NULL: neither is, or both are. */
static LLVMValueRef product_in(LLVMValueRef sum, LLVMValueRef *other)
{
    LLVMValueRef a = LLVMGetOperand(sum, 0), b = LLVMGetOperand(sum, 1);

    if (is_product(a) == is_product(b))
        return NULL;
    *other = is_product(a) ? b : a;
    return is_product(a) ? a : b;
}

/* Is it an index? There the constant is part of the access. */
static bool is_index(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAGetElementPtrInst(user) || LLVMIsAIntToPtrInst(user) || (LLVMIsACastInst(user) && is_index(user)))
            return true;
    }
    return false;
}

/* (x * y + i) + k becomes x * y + (i + k). */
static void order(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMValueRef inner, product, other = NULL, sum;

    if (!is_add(at) || !is_whole(LLVMTypeOf(at)) || !LLVMIsAConstantInt(LLVMGetOperand(at, 1)) || is_index(at))
        return;
    inner = LLVMGetOperand(at, 0);
    if (!is_add(inner) || !has_one_use(inner))
        return;
    product = product_in(inner, &other);
    if (!product || LLVMIsAConstant(other))
        return;
    LLVMPositionBuilderBefore(builder, at);
    sum = LLVMBuildAdd(builder, other, LLVMGetOperand(at, 1), "");
    LLVMReplaceAllUsesWith(at, LLVMBuildAdd(builder, product, sum, ""));
    LLVMInstructionEraseFromParent(at);
    LLVMInstructionEraseFromParent(inner);
}

static void hide(LLVMBuilderRef builder, LLVMValueRef at)
{
    bool wide = is_whole(LLVMTypeOf(at)) && LLVMGetIntTypeWidth(LLVMTypeOf(at)) == 64;
    LLVMValueRef sum = NULL, hidden;

    if (!is_add(at) || !is_whole(LLVMTypeOf(at)) || !product_in(at, &sum) || !is_add(sum) || !has_one_use(sum) ||
        !LLVMIsAConstantInt(LLVMGetOperand(sum, 1)) || is_index(at))
        return;
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(sum));
    hidden = kc_arithmetic(builder, wide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", wide ? "=l,l" : "=r,r", &sum, 1);
    LLVMSetOperand(at, LLVMGetOperand(at, 0) == sum ? 0 : 1, hidden);
}

void kc_order_sums(LLVMModuleRef module)
{
    kc_visit(module, order);
}

void kc_keep_sums(LLVMModuleRef module)
{
    kc_visit(module, hide);
}
