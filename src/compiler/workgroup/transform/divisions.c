#include "compiler/workgroup/transform/divisions.h"

/* A division and the numbers that it is made of. */
struct division {
    struct kc_wg *wg;
    LLVMTypeRef type, real; /* of the numbers, and of what they are divided as */
    bool is_signed;
    bool shared; /* lanes have the divisor in common */
    LLVMValueRef dividend, divisor;
};

static LLVMValueRef to_real(const struct division *d, LLVMValueRef number, bool is_signed)
{
    return is_signed ? LLVMBuildSIToFP(d->wg->builder, number, d->real, "")
                     : LLVMBuildUIToFP(d->wg->builder, number, d->real, "");
}

static LLVMValueRef to_number(const struct division *d, LLVMValueRef real, bool is_signed)
{
    return is_signed ? LLVMBuildFPToSI(d->wg->builder, real, d->type, "")
                     : LLVMBuildFPToUI(d->wg->builder, real, d->type, "");
}

/* ---- Up to 32 bits ----------------------------------------------------------------------------------------------- */

/*
 * A quotient a / b that isn't whole is at least a / (b a) from the next whole number, 2^-32 of itself, or 2^-16 with 16
 * bits. Rounding to 53 bits, or 24, takes it nowhere near, and whole quotients are exact. The reciprocal of a divisor
 * that lanes share, which is computed once, is a little too large instead: by 2^-52 to 2^-50 of itself, or 2^-23 to
 * 2^-21, after rounding, so that whole quotients don't fall below themselves.
 */
static LLVMValueRef short_quotient(const struct division *d)
{
    LLVMBuilderRef b = d->wg->builder;
    bool narrow = LLVMGetIntTypeWidth(d->type) <= 16;
    LLVMValueRef dividend = to_real(d, d->dividend, d->is_signed), divisor = to_real(d, d->divisor, d->is_signed), one;

    if (!d->shared)
        return to_number(d, LLVMBuildFDiv(b, dividend, divisor, ""), d->is_signed);
    one = LLVMConstReal(d->real, narrow ? 1 + 0x1p-22 : 1 + 0x1p-51);
    return to_number(d, LLVMBuildFMul(b, dividend, LLVMBuildFDiv(b, one, divisor, ""), ""), d->is_signed);
}

/* ---- 64 bits ----------------------------------------------------------------------------------------------------- */

/* At most number / divisor, and less than 2^-48 of it and 1 below. */
static LLVMValueRef part(const struct division *d, LLVMValueRef number, LLVMValueRef reciprocal)
{
    return to_number(d, LLVMBuildFMul(d->wg->builder, to_real(d, number, false), reciprocal, ""), false);
}

/*
 * Of numbers without sign. The reciprocal is too small by 2^-50 of itself and a little, more than all roundings, so
 * parts of the quotient never exceed it. What the first part leaves is less than the divisor + 2^16, what the second
 * part leaves of that at most the divisor, or, if that is more than 2^16, less than the divisor + 2^16: less than twice
 * as much. So one step is left.
 */
static LLVMValueRef long_quotient(const struct division *d, LLVMValueRef dividend, LLVMValueRef divisor)
{
    LLVMBuilderRef b = d->wg->builder;
    LLVMValueRef less = LLVMConstReal(d->real, 1 - 0x1p-50);
    LLVMValueRef reciprocal = LLVMBuildFDiv(b, less, to_real(d, divisor, false), ""), rest, first, second, sum;

    first = part(d, dividend, reciprocal);
    rest = LLVMBuildSub(b, dividend, LLVMBuildMul(b, first, divisor, ""), "");
    second = part(d, rest, reciprocal);
    rest = LLVMBuildSub(b, rest, LLVMBuildMul(b, second, divisor, ""), "");
    sum = LLVMBuildAdd(b, first, second, "");
    return LLVMBuildAdd(b, sum, LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntUGE, rest, divisor, ""), d->type, ""), "");
}

static LLVMValueRef magnitude(const struct division *d, LLVMValueRef number)
{
    LLVMBuilderRef b = d->wg->builder;
    LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, number, LLVMConstNull(d->type), "");

    return LLVMBuildSelect(b, below, LLVMBuildNeg(b, number, ""), number, "");
}

static LLVMValueRef signed_quotient(const struct division *d)
{
    LLVMBuilderRef b = d->wg->builder;
    LLVMValueRef quotient = long_quotient(d, magnitude(d, d->dividend), magnitude(d, d->divisor));
    LLVMValueRef differ = LLVMBuildXor(b, d->dividend, d->divisor, "");

    differ = LLVMBuildICmp(b, LLVMIntSLT, differ, LLVMConstNull(d->type), "");
    return LLVMBuildSelect(b, differ, LLVMBuildNeg(b, quotient, ""), quotient, "");
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static LLVMValueRef quotient_of(const struct division *d)
{
    if (LLVMGetIntTypeWidth(d->type) <= 32)
        return short_quotient(d);
    return d->is_signed ? signed_quotient(d) : long_quotient(d, d->dividend, d->divisor);
}

static void replace(struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    struct division d = {.wg = wg, .type = LLVMTypeOf(i), .is_signed = opcode == LLVMSDiv || opcode == LLVMSRem};
    bool narrow = LLVMGetIntTypeWidth(d.type) <= 16;
    LLVMValueRef result;

    LLVMPositionBuilderBefore(wg->builder, i);
    d.real = narrow ? LLVMFloatTypeInContext(wg->context) : LLVMDoubleTypeInContext(wg->context);
    d.dividend = LLVMGetOperand(i, 0);
    d.divisor = LLVMGetOperand(i, 1);
    d.shared = !kc_varies(strip, d.divisor);
    result = quotient_of(&d);
    if (opcode == LLVMURem || opcode == LLVMSRem)
        result = LLVMBuildSub(wg->builder, d.dividend, LLVMBuildMul(wg->builder, result, d.divisor, ""), "");
    LLVMReplaceAllUsesWith(i, result);
    LLVMInstructionEraseFromParent(i);
}

/* Where not all lanes come, LLVM's vectoriser (19) computes a quotient that lanes have in common for the first
 * lane, if that comes: all such have to go. */
static bool is_chosen(const struct kc_uniform *strip, unsigned block, LLVMValueRef i, enum kc_divided which)
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(i));

    if (bits > 32 && bits != 64)
        return false;
    if (!kc_varies(strip, i))
        return strip->divergent_block[block];
    return which == KC_DIVIDED_ALL || (which == KC_DIVIDED_SHORT && bits <= 32);
}

static bool is_division(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        break;
    default:
        return false;
    }
    return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind && !LLVMIsAConstant(LLVMGetOperand(i, 1));
}

bool kc_divide_by_floats(struct kc_wg *wg, const struct kc_uniform *strip, enum kc_divided which)
{
    bool any = false;

    for (unsigned b = 0; b < wg->flow.n_blocks; b++) {
        LLVMValueRef next;

        for (LLVMValueRef i = LLVMGetFirstInstruction(wg->flow.blocks[b].block); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_division(i) || !is_chosen(strip, b, i, which))
                continue;
            replace(wg, strip, i);
            any = true;
        }
    }
    return any;
}
