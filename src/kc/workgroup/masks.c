#include "kc/llvm.h"
#include "kc/workgroup/ir.h"
#include "kc/workgroup/passes.h"

/*
 * Where the lanes of a strip stand is a vector of numbers that are only chosen and compared with constants. A web is
 * such a vector's values: phi nodes and selects that take from each other and from constants. For each constant that
 * they are compared with the web is built again out of masks, "stands there", and the comparisons are those.
 */
struct web {
    LLVMValueRef *members;
    unsigned n;
    struct kc_map known; /* member → 1 */
    LLVMValueRef *comparisons;
    unsigned n_comparisons;
};

/* The web for one constant in the making. */
struct masks {
    LLVMBuilderRef b;
    LLVMValueRef constant;
    struct kc_map made; /* member → mask */
};

static void add_member(struct web *web, LLVMValueRef value)
{
    if (LLVMIsAConstant(value) || kc_map_get(&web->known, value))
        return;
    web->members = kc_more(web->members, web->n, sizeof(LLVMValueRef));
    web->members[web->n++] = value;
    kc_map_set(&web->known, value, 1);
}

static bool is_equality(LLVMValueRef i)
{
    return LLVMIsAICmpInst(i) && (LLVMGetICmpPredicate(i) == LLVMIntEQ || LLVMGetICmpPredicate(i) == LLVMIntNE) &&
           LLVMIsAConstant(LLVMGetOperand(i, 1));
}

static bool add_users(struct web *web, LLVMValueRef member)
{
    for (LLVMUseRef use = LLVMGetFirstUse(member); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAPHINode(user) || LLVMIsASelectInst(user)) {
            add_member(web, user);
        } else if (is_equality(user)) {
            web->comparisons = kc_more(web->comparisons, web->n_comparisons, sizeof(LLVMValueRef));
            web->comparisons[web->n_comparisons++] = user;
        } else {
            return false;
        }
    }
    return true;
}

/* False: a member is something else than it should be. */
static bool add_operands(struct web *web, LLVMValueRef member)
{
    if (LLVMIsAPHINode(member)) {
        for (unsigned k = 0; k < LLVMCountIncoming(member); k++)
            add_member(web, LLVMGetIncomingValue(member, k));
    } else if (LLVMIsASelectInst(member)) {
        add_member(web, LLVMGetOperand(member, 1));
        add_member(web, LLVMGetOperand(member, 2));
    } else {
        return false;
    }
    return true;
}

/* The web that a phi node belongs to, if it is one that can be made of masks. */
static bool find_web(LLVMValueRef phi, struct web *web)
{
    *web = (struct web){.n = 0};
    add_member(web, phi);
    for (unsigned m = 0; m < web->n; m++)
        if (!add_operands(web, web->members[m]) || !add_users(web, web->members[m]))
            return false;
    return web->n_comparisons > 0;
}

static LLVMTypeRef mask_type(LLVMValueRef vector)
{
    LLVMTypeRef type = LLVMTypeOf(vector);

    return LLVMVectorType(LLVMInt1TypeInContext(LLVMGetTypeContext(type)), LLVMGetVectorSize(type));
}

static LLVMValueRef mask_of(struct masks *masks, LLVMValueRef value)
{
    LLVMValueRef mask, yes, no;

    if (LLVMIsAConstant(value))
        return LLVMBuildICmp(masks->b, LLVMIntEQ, value, masks->constant, ""); /* a constant, too */
    mask = kc_map_get_pointer(&masks->made, value);
    if (mask)
        return mask;
    yes = mask_of(masks, LLVMGetOperand(value, 1));
    no = mask_of(masks, LLVMGetOperand(value, 2));
    LLVMPositionBuilderBefore(masks->b, value);
    mask = LLVMBuildSelect(masks->b, LLVMGetOperand(value, 0), yes, no, "");
    kc_map_set_pointer(&masks->made, value, mask);
    return mask;
}

/* Phi nodes first, without what comes in: all ways around lead through one. */
static void make_masks(struct masks *masks, const struct web *web)
{
    for (unsigned m = 0; m < web->n; m++)
        if (LLVMIsAPHINode(web->members[m])) {
            LLVMPositionBuilderBefore(masks->b, web->members[m]);
            kc_map_set_pointer(&masks->made, web->members[m],
                               LLVMBuildPhi(masks->b, mask_type(web->members[m]), "stands"));
        }
    for (unsigned m = 0; m < web->n; m++) {
        LLVMValueRef member = web->members[m], mask = mask_of(masks, member);

        for (unsigned k = 0; LLVMIsAPHINode(member) && k < LLVMCountIncoming(member); k++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(member, k);
            LLVMValueRef value = mask_of(masks, LLVMGetIncomingValue(member, k));

            LLVMAddIncoming(mask, &value, &from, 1);
        }
    }
}

static void replace(LLVMBuilderRef b, LLVMValueRef comparison, LLVMValueRef mask)
{
    LLVMPositionBuilderBefore(b, comparison);
    if (LLVMGetICmpPredicate(comparison) == LLVMIntNE)
        mask = LLVMBuildNot(b, mask, "");
    LLVMReplaceAllUsesWith(comparison, mask);
    LLVMInstructionEraseFromParent(comparison);
}

static void replace_web(LLVMBuilderRef b, struct web *web)
{
    while (web->n_comparisons) {
        struct masks masks = {b, LLVMGetOperand(web->comparisons[0], 1), {.n = 0}};
        unsigned left = 0;

        make_masks(&masks, web);
        for (unsigned c = 0; c < web->n_comparisons; c++)
            if (LLVMGetOperand(web->comparisons[c], 1) == masks.constant)
                replace(b, web->comparisons[c], mask_of(&masks, LLVMGetOperand(web->comparisons[c], 0)));
            else
                web->comparisons[left++] = web->comparisons[c];
        web->n_comparisons = left;
        kc_map_clear(&masks.made);
    }
    for (unsigned m = 0; m < web->n; m++)
        LLVMReplaceAllUsesWith(web->members[m], LLVMGetPoison(LLVMTypeOf(web->members[m])));
    for (unsigned m = 0; m < web->n; m++)
        LLVMInstructionEraseFromParent(web->members[m]);
}

static bool is_vector_phi(LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);

    return LLVMIsAPHINode(i) && LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == 32;
}

static bool take_web(LLVMBuilderRef b, LLVMValueRef phi)
{
    struct web web;
    bool found = find_web(phi, &web);

    if (found)
        replace_web(b, &web);
    free(web.members);
    free(web.comparisons);
    kc_map_clear(&web.known);
    return found;
}

/* The first web in a block: what comes next there may belong to it. */
static bool take_first(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        if (is_vector_phi(i) && take_web(b, i))
            return true;
    return false;
}

void kc_wg_use_masks(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            while (take_first(b, block))
                ;
    LLVMDisposeBuilder(b);
}
