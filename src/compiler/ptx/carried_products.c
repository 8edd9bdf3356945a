#include "compiler/ptx/carried_products.h"

#include <stddef.h>

/* x * y, or -(x * y), of two values that are carried by a loop. */
struct product {
    LLVMValueRef at, x, y;
    bool negative;
};

static LLVMValueRef without_sign(LLVMValueRef value, bool *negative)
{
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionOpcode(value) != LLVMFNeg)
        return value;
    *negative = !*negative;
    return LLVMGetOperand(value, 0);
}

static bool is_carried(LLVMValueRef value, LLVMBasicBlockRef block)
{
    return LLVMIsAPHINode(value) && LLVMGetInstructionParent(value) == block;
}

static bool read_product(LLVMValueRef at, struct product *p)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(at);

    if (LLVMGetInstructionOpcode(at) != LLVMFMul)
        return false;
    *p = (struct product){.at = at};
    p->x = without_sign(LLVMGetOperand(at, 0), &p->negative);
    p->y = without_sign(LLVMGetOperand(at, 1), &p->negative);
    return is_carried(p->x, block) && is_carried(p->y, block);
}

/* The phi's operand for control coming from that block. */
static LLVMValueRef coming_from(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == from)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

/* x * y as computed in that block, by another instruction than p; NULL: it isn't computed there. */
static LLVMValueRef made_in(const struct product *p, LLVMBasicBlockRef block, LLVMValueRef x, LLVMValueRef y)
{
    for (LLVMUseRef use = LLVMGetFirstUse(x); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef at = LLVMGetUser(use), a, b;

        if (at == p->at || !LLVMIsAInstruction(at) || LLVMGetInstructionOpcode(at) != LLVMFMul ||
            LLVMGetInstructionParent(at) != block)
            continue;
        a = LLVMGetOperand(at, 0);
        b = LLVMGetOperand(at, 1);
        if ((a == x && b == y) || (a == y && b == x))
            return at;
    }
    return NULL;
}

/* The product of two constants: exact for floats, rounded as on the GPU for doubles. */
static LLVMValueRef of_constants(LLVMValueRef x, LLVMValueRef y)
{
    LLVMBool inexact;

    return LLVMConstReal(LLVMTypeOf(x), LLVMConstRealGetDouble(x, &inexact) * LLVMConstRealGetDouble(y, &inexact));
}

/* The product's value when control comes from the i-th predecessor; NULL: it would have to be computed. */
static LLVMValueRef known_from(const struct product *p, unsigned i)
{
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(p->x, i);
    LLVMValueRef x = LLVMGetIncomingValue(p->x, i), y = coming_from(p->y, from);

    if (LLVMIsAConstantFP(x) && LLVMIsAConstantFP(y))
        return of_constants(x, y);
    return LLVMIsAConstant(x) || LLVMIsAConstant(y) ? NULL : made_in(p, from, x, y);
}

static bool is_simple(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);

    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

static void carry(LLVMBuilderRef builder, const struct product *p)
{
    LLVMTypeRef type = LLVMTypeOf(p->at);
    LLVMValueRef phi, value;

    if (!is_simple(type))
        return;
    for (unsigned i = 0; i < LLVMCountIncoming(p->x); i++)
        if (!known_from(p, i))
            return;
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetInstructionParent(p->at)));
    phi = LLVMBuildPhi(builder, type, "");
    for (unsigned i = 0; i < LLVMCountIncoming(p->x); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(p->x, i);

        value = known_from(p, i);
        LLVMAddIncoming(phi, &value, &from, 1);
    }
    LLVMPositionBuilderBefore(builder, p->at);
    value = p->negative ? LLVMBuildFNeg(builder, phi, "") : phi;
    LLVMReplaceAllUsesWith(p->at, value);
    LLVMInstructionEraseFromParent(p->at);
}

void kc_carry_products(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    struct product product;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block), next; at; at = next) {
                next = LLVMGetNextInstruction(at);
                if (read_product(at, &product))
                    carry(builder, &product);
            }
    LLVMDisposeBuilder(builder);
}
