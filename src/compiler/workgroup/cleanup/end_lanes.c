#include "compiler/workgroup/cleanup/end_lanes.h"

#define MOST_STEPS 16u /* from a mask to what it is made of, and from an index to its first lane */

/* ---- Numbers of lanes -------------------------------------------------------------------------------------------- */

/* What all lanes have in common: the element of a splat; NULL: no splat. */
static LLVMValueRef shared(LLVMValueRef vector)
{
    LLVMValueRef one;

    if (LLVMIsAConstant(vector)) {
        one = LLVMGetAggregateElement(vector, 0);
        for (unsigned k = 1; one && k < LLVMGetVectorSize(LLVMTypeOf(vector)); k++)
            if (LLVMGetAggregateElement(vector, k) != one)
                return NULL;
        return one && LLVMIsAConstantInt(one) ? one : NULL;
    }
    if (!LLVMIsAShuffleVectorInst(vector))
        return NULL;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumMaskElements(vector); k++)
        if (LLVMGetMaskValue(vector, k) != 0)
            return NULL;
    one = LLVMGetOperand(vector, 0);
    if (!LLVMIsAInsertElementInst(one) || !LLVMIsNull(LLVMGetOperand(one, 2)))
        return NULL;
    return LLVMGetOperand(one, 1);
}

/* A number for each lane: `base`, and a constant that doesn't get less from lane to lane. */
struct row {
    LLVMValueRef base;
    uint64_t first, last; /* the constants of the ends */
};

/* False: constants of another kind. */
static bool read_steps(LLVMValueRef vector, struct row *row)
{
    uint64_t before = 0;

    if (!LLVMIsAConstant(vector))
        return false;
    for (unsigned k = 0; k < LLVMGetVectorSize(LLVMTypeOf(vector)); k++) {
        LLVMValueRef element = LLVMGetAggregateElement(vector, k);
        uint64_t step;

        if (!element || !LLVMIsAConstantInt(element))
            return false;
        step = LLVMConstIntGetZExtValue(element);
        if (k == 0)
            row->first = step;
        else if (step < before)
            return false;
        before = row->last = step;
    }
    return row->last - row->first <= 1u << 16; /* ends that are near tell by their order that no lane wraps */
}

/* A row to whose numbers one number is added, or from which it is taken. */
static bool find_row(struct kc_wg *wg, LLVMValueRef vector, unsigned step, struct row *row)
{
    LLVMValueRef a, b, number;
    bool adds;

    if (step > MOST_STEPS || !LLVMIsABinaryOperator(vector))
        return false;
    adds = LLVMGetInstructionOpcode(vector) == LLVMAdd;
    if (!adds && LLVMGetInstructionOpcode(vector) != LLVMSub)
        return false;
    a = LLVMGetOperand(vector, 0);
    b = LLVMGetOperand(vector, 1);
    if (adds && (number = shared(a)) && read_steps(b, row)) {
        row->base = number;
        return true;
    }
    number = shared(b);
    if (!number || !find_row(wg, a, step + 1, row))
        return false;
    row->base =
        adds ? LLVMBuildAdd(wg->builder, row->base, number, "") : LLVMBuildSub(wg->builder, row->base, number, "");
    return true;
}

static LLVMValueRef lane_of(struct kc_wg *wg, const struct row *row, uint64_t constant)
{
    return LLVMBuildAdd(wg->builder, row->base, LLVMConstInt(LLVMTypeOf(row->base), constant, 0), "");
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------- */

/* Is no lane's number the one that all are compared with? It is none of those from the first to the last one, counted
 * round the end of all numbers. */
static LLVMValueRef are_others(struct kc_wg *wg, const struct row *row, LLVMValueRef number)
{
    LLVMValueRef from_first = LLVMBuildSub(wg->builder, number, lane_of(wg, row, row->first), "");

    return LLVMBuildICmp(wg->builder, LLVMIntUGT, from_first,
                         LLVMConstInt(LLVMTypeOf(number), row->last - row->first, 0), "");
}

static bool is_signed(LLVMIntPredicate predicate)
{
    return predicate >= LLVMIntSGT;
}

/* Is the condition true of all numbers below those of which it is true? */
static bool goes_down(LLVMIntPredicate predicate)
{
    return predicate == LLVMIntULT || predicate == LLVMIntULE || predicate == LLVMIntSLT || predicate == LLVMIntSLE;
}

/* The last lane is compared where less is better, else the first. Numbers count on without a wrap if the first isn't
 * above the last. */
static LLVMValueRef compare_row(struct kc_wg *wg, const struct row *row, LLVMIntPredicate predicate,
                                LLVMValueRef number)
{
    LLVMValueRef first = lane_of(wg, row, row->first), last = lane_of(wg, row, row->last), in_order, holds;

    if (predicate == LLVMIntNE)
        return are_others(wg, row, number);
    if (predicate == LLVMIntEQ)
        return NULL;
    in_order = LLVMBuildICmp(wg->builder, is_signed(predicate) ? LLVMIntSLE : LLVMIntULE, first, last, "");
    holds = LLVMBuildICmp(wg->builder, predicate, goes_down(predicate) ? last : first, number, "");
    return LLVMBuildAnd(wg->builder, in_order, holds, "");
}

static LLVMIntPredicate turned(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    default:
        return predicate;
    }
}

static LLVMIntPredicate opposite(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntEQ:
        return LLVMIntNE;
    case LLVMIntNE:
        return LLVMIntEQ;
    case LLVMIntUGT:
        return LLVMIntULE;
    case LLVMIntUGE:
        return LLVMIntULT;
    case LLVMIntULT:
        return LLVMIntUGE;
    case LLVMIntULE:
        return LLVMIntUGT;
    case LLVMIntSGT:
        return LLVMIntSLE;
    case LLVMIntSGE:
        return LLVMIntSLT;
    case LLVMIntSLT:
        return LLVMIntSGE;
    default:
        return LLVMIntSGT;
    }
}

static LLVMValueRef compare(struct kc_wg *wg, LLVMValueRef comparison, bool bit)
{
    LLVMValueRef a = LLVMGetOperand(comparison, 0), b = LLVMGetOperand(comparison, 1), one = shared(a),
                 other = shared(b);
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
    struct row row;

    predicate = bit ? predicate : opposite(predicate);
    if (one && other)
        return LLVMBuildICmp(wg->builder, predicate, one, other, "");
    if (other && find_row(wg, a, 0, &row))
        return compare_row(wg, &row, predicate, other);
    if (one && find_row(wg, b, 0, &row))
        return compare_row(wg, &row, turned(predicate), one);
    return NULL;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

static LLVMValueRef ask(struct kc_wg *wg, LLVMValueRef mask, bool bit, unsigned step);

/* Both are true of all lanes. The second may be anything where the first isn't (OpenCL C's && and ||). */
static LLVMValueRef ask_both(struct kc_wg *wg, LLVMValueRef first, LLVMValueRef second, bool bit, unsigned step)
{
    LLVMValueRef a = ask(wg, first, bit, step), b = a ? ask(wg, second, bit, step) : NULL;

    return b ? LLVMBuildSelect(wg->builder, a, b, LLVMConstNull(LLVMTypeOf(a)), "") : NULL;
}

static LLVMValueRef ask_binary(struct kc_wg *wg, LLVMValueRef mask, bool bit, unsigned step)
{
    LLVMValueRef a = LLVMGetOperand(mask, 0), b = LLVMGetOperand(mask, 1);

    switch (LLVMGetInstructionOpcode(mask)) {
    case LLVMAnd:
        return bit ? ask_both(wg, a, b, true, step) : NULL;
    case LLVMOr:
        return bit ? NULL : ask_both(wg, a, b, false, step);
    case LLVMXor:
        return b == LLVMConstAllOnes(LLVMTypeOf(b)) ? ask(wg, a, !bit, step) : NULL;
    default:
        return NULL;
    }
}

static LLVMValueRef ask_select(struct kc_wg *wg, LLVMValueRef mask, bool bit, unsigned step)
{
    LLVMValueRef condition = LLVMGetOperand(mask, 0), a = LLVMGetOperand(mask, 1), b = LLVMGetOperand(mask, 2);

    if (LLVMTypeOf(condition) != LLVMTypeOf(mask))
        return NULL;
    if (bit && LLVMIsNull(b))
        return ask_both(wg, condition, a, true, step);
    if (!bit && a == LLVMConstAllOnes(LLVMTypeOf(a)))
        return ask_both(wg, condition, b, false, step);
    return NULL;
}

/* Of conditions one of which is enough nothing is said: each lane might have another one. */
static LLVMValueRef ask(struct kc_wg *wg, LLVMValueRef mask, bool bit, unsigned step)
{
    LLVMValueRef one = shared(mask);

    if (step > MOST_STEPS)
        return NULL;
    if (one)
        return bit ? one : LLVMBuildNot(wg->builder, one, "");
    if (LLVMIsAICmpInst(mask))
        return compare(wg, mask, bit);
    if (LLVMIsABinaryOperator(mask))
        return ask_binary(wg, mask, bit, step + 1);
    return LLVMIsASelectInst(mask) ? ask_select(wg, mask, bit, step + 1) : NULL;
}

LLVMValueRef kc_all_by_ends(struct kc_wg *wg, LLVMValueRef mask, bool bit)
{
    return ask(wg, mask, bit, 0);
}
