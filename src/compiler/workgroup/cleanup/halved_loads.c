#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <stddef.h>
#include <string.h>

#define HALF 32u

/* So many values are looked at to see what becomes of a piece. */
#define MOST_USES  200u
#define MOST_MASKS 16u

/* What is known of the whole piece's memory holds for its halves. */
static const char *const kept[] = {"alias.scope", "noalias", "llvm.access.group"};

static bool is_int(LLVMValueRef value, unsigned bits)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == bits;
}

/* The upper half as a number. */
static bool is_upper(LLVMValueRef i)
{
    LLVMValueRef distance =
        LLVMIsABinaryOperator(i) && LLVMGetInstructionOpcode(i) == LLVMLShr ? LLVMGetOperand(i, 1) : NULL;

    return distance && LLVMIsAConstantInt(distance) && LLVMConstIntGetZExtValue(distance) == HALF;
}

/* Do the lower bits of the result depend on the operands' lower bits alone? */
static bool goes_up(LLVMValueRef i)
{
    if (!LLVMIsABinaryOperator(i))
        return false;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return true;
    default:
        return false;
    }
}

/* A mask of the lower half? */
static bool masks(LLVMValueRef i)
{
    LLVMValueRef mask =
        LLVMIsABinaryOperator(i) && LLVMGetInstructionOpcode(i) == LLVMAnd ? LLVMGetOperand(i, 1) : NULL;

    return mask && LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) >> HALF == 0;
}

/* What becomes of a piece. */
struct uses {
    unsigned left; /* to be looked at */
    LLVMValueRef masks[MOST_MASKS];
    unsigned n_masks;
};

static bool is_lower_only(LLVMValueRef value, struct uses *uses);

static bool add_mask(struct uses *uses, LLVMValueRef mask)
{
    for (unsigned k = 0; k < uses->n_masks; k++)
        if (uses->masks[k] == mask)
            return true;
    if (uses->n_masks == MOST_MASKS)
        return false;
    uses->masks[uses->n_masks++] = mask;
    return true;
}

/* Does the user want no more than the lower half of what it uses? */
static bool wants_lower(LLVMValueRef user, struct uses *uses)
{
    if (uses->left == 0)
        return false;
    uses->left--;
    if (LLVMIsATruncInst(user))
        return LLVMGetIntTypeWidth(LLVMTypeOf(user)) <= HALF;
    return masks(user) ? add_mask(uses, user) : goes_up(user) && is_lower_only(user, uses);
}

static bool is_lower_only(LLVMValueRef value, struct uses *uses)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (!wants_lower(LLVMGetUser(use), uses))
            return false;
    return true;
}

/* Is each use of the number one of a half, some of the lower and some of the upper one? */
static bool is_pair(LLVMValueRef i, struct uses *uses)
{
    bool lower = false, upper = false;

    *uses = (struct uses){.left = MOST_USES};
    if (!LLVMIsALoadInst(i) || !is_int(i, 2 * HALF) || kc_is_volatile_or_atomic(i))
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
        if (is_upper(LLVMGetUser(use)))
            upper = true;
        else if (wants_lower(LLVMGetUser(use), uses))
            lower = true;
        else
            return false;
    }
    return lower && upper;
}

/* ---- Halves ------------------------------------------------------------------------------------------------------ */

/* As a number of the whole's type. */
static LLVMValueRef load_half(LLVMBuilderRef b, LLVMValueRef whole, unsigned which)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(whole));
    LLVMTypeRef type = LLVMIntTypeInContext(context, HALF);
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(context), which, false), half;
    unsigned align = LLVMGetAlignment(whole);

    half = LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, type, LLVMGetOperand(whole, 0), &index, 1, ""), "");
    LLVMSetAlignment(half, align < HALF / 8 ? align : HALF / 8);
    for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
        unsigned kind = LLVMGetMDKindIDInContext(context, kept[k], (unsigned)strlen(kept[k]));

        LLVMSetMetadata(half, kind, LLVMGetMetadata(whole, kind));
    }
    return LLVMBuildZExt(b, half, LLVMTypeOf(whole), "");
}

/* LLVM then sees that what is masked can be computed in 32 bits. */
static void narrow(LLVMBuilderRef b, LLVMValueRef mask)
{
    LLVMTypeRef type = LLVMTypeOf(mask), half = LLVMIntTypeInContext(LLVMGetTypeContext(type), HALF);
    LLVMValueRef bits;

    LLVMPositionBuilderBefore(b, mask);
    bits = LLVMBuildAnd(b, LLVMBuildTrunc(b, LLVMGetOperand(mask, 0), half, ""),
                        LLVMConstInt(half, LLVMConstIntGetZExtValue(LLVMGetOperand(mask, 1)), false), "");
    LLVMReplaceAllUsesWith(mask, LLVMBuildZExt(b, bits, type, ""));
    LLVMInstructionEraseFromParent(mask);
}

/* What follows the load is returned, which may be NULL. */
static LLVMValueRef halve(LLVMBuilderRef b, LLVMValueRef whole, const struct uses *uses)
{
    LLVMValueRef lower, upper;

    LLVMPositionBuilderBefore(b, whole);
    lower = load_half(b, whole, 0);
    upper = load_half(b, whole, 1);
    for (LLVMUseRef use = LLVMGetFirstUse(whole); use; use = LLVMGetNextUse(use))
        if (is_upper(LLVMGetUser(use)))
            LLVMReplaceAllUsesWith(LLVMGetUser(use), upper);
    LLVMReplaceAllUsesWith(whole, lower); /* Shifts are left without a use. */
    LLVMInstructionEraseFromParent(whole);
    for (unsigned k = 0; k < uses->n_masks; k++)
        narrow(b, uses->masks[k]);
    return LLVMGetNextInstruction(upper);
}

void kc_wg_halve_loads(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    struct uses uses;
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                next = is_pair(i, &uses) ? halve(b, i, &uses) : LLVMGetNextInstruction(i);
            }
    LLVMDisposeBuilder(b);
}
