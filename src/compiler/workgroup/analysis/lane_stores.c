#include "compiler/workgroup/analysis/lane_stores.h"

#include "compiler/workgroup/analysis/uniform.h"

#include <string.h>

#define MAX_LANES   32u
#define MAX_DEPTH   8u /* of followed arithmetic behind an index */
#define MAX_INDICES 8u /* of an address */

/* The values of the lanes, one by one. */
struct lanes {
    unsigned n;
    LLVMValueRef of[MAX_LANES];
};

/* ---- Finding the stores ------------------------------------------------------------------------------------------ */

/* The vector of which the value is element `lane`; NULL: none. */
static LLVMValueRef vector_of(LLVMValueRef value, unsigned lane)
{
    LLVMValueRef index;

    if (!LLVMIsAExtractElementInst(value))
        return NULL;
    index = LLVMGetOperand(value, 1);
    return LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) == lane ? LLVMGetOperand(value, 0) : NULL;
}

/* The next instruction after elements extracted behind this one. */
static LLVMValueRef next_store(LLVMValueRef i)
{
    do
        i = LLVMGetNextInstruction(i);
    while (i && LLVMIsAExtractElementInst(i));
    return i;
}

static bool is_plain_store(LLVMValueRef i)
{
    return i && LLVMIsAStoreInst(i) && !kc_is_volatile_or_atomic(i);
}

/* The stores of all elements of *vector, in order, from this instruction on. */
static bool find_stores(LLVMValueRef i, LLVMValueRef *vector, struct lanes *stores)
{
    *vector = is_plain_store(i) ? vector_of(LLVMGetOperand(i, 0), 0) : NULL;
    if (!*vector || LLVMGetVectorSize(LLVMTypeOf(*vector)) > MAX_LANES)
        return false;
    stores->n = LLVMGetVectorSize(LLVMTypeOf(*vector));
    for (unsigned lane = 0; lane < stores->n; lane++, i = next_store(i)) {
        if (!is_plain_store(i) || vector_of(LLVMGetOperand(i, 0), lane) != *vector)
            return false;
        stores->of[lane] = i;
    }
    return stores->n > 1;
}

static void operands_of(const struct lanes *lanes, unsigned k, struct lanes *operands)
{
    operands->n = lanes->n;
    for (unsigned i = 0; i < lanes->n; i++)
        operands->of[i] = LLVMGetOperand(lanes->of[i], k);
}

static bool are_of_one_type(const struct lanes *lanes)
{
    for (unsigned i = 1; i < lanes->n; i++)
        if (LLVMTypeOf(lanes->of[i]) != LLVMTypeOf(lanes->of[0]))
            return false;
    return true;
}

static bool are_same(const struct lanes *lanes)
{
    for (unsigned i = 1; i < lanes->n; i++)
        if (lanes->of[i] != lanes->of[0])
            return false;
    return true;
}

/* Are these addresses of one array's elements? Sets *indices to their last indices. */
static bool find_indices(const struct lanes *addresses, struct lanes *indices)
{
    LLVMValueRef first = addresses->of[0];
    unsigned last = LLVMIsAGetElementPtrInst(first) ? (unsigned)LLVMGetNumOperands(first) - 1 : 0;

    if (!last || last > MAX_INDICES)
        return false;
    for (unsigned i = 1; i < addresses->n; i++)
        if (!LLVMIsAGetElementPtrInst(addresses->of[i]) ||
            LLVMGetNumOperands(addresses->of[i]) != LLVMGetNumOperands(first) ||
            LLVMGetGEPSourceElementType(addresses->of[i]) != LLVMGetGEPSourceElementType(first))
            return false;
    for (unsigned k = 0; k < last; k++) {
        operands_of(addresses, k, indices);
        if (!are_same(indices))
            return false;
    }
    operands_of(addresses, last, indices);
    return true;
}

/* ---- Lanes into a vector ----------------------------------------------------------------------------------------- */

static LLVMValueRef joined(struct kc_wg *wg, const struct lanes *lanes, unsigned depth);

static bool are_numbers(const struct lanes *lanes)
{
    for (unsigned i = 0; i < lanes->n; i++)
        if (!LLVMIsAConstantInt(lanes->of[i]))
            return false;
    return true;
}

/* The vector whose elements are the lanes' values; NULL: none. */
static LLVMValueRef source_of(const struct lanes *lanes)
{
    LLVMValueRef vector = vector_of(lanes->of[0], 0);

    for (unsigned i = 1; i < lanes->n && vector; i++)
        if (vector_of(lanes->of[i], i) != vector)
            return NULL;
    return vector && LLVMGetVectorSize(LLVMTypeOf(vector)) == lanes->n ? vector : NULL;
}

static bool is_followed(LLVMValueRef value)
{
    return LLVMIsABinaryOperator(value) ? kc_is_arithmetic(value)
                                        : LLVMIsATruncInst(value) || LLVMIsAZExtInst(value) || LLVMIsASExtInst(value);
}

/* The operation that all lanes from `first` on have; 0: different ones, or one that isn't followed. */
static LLVMOpcode operation_of(const struct lanes *lanes, unsigned first)
{
    LLVMOpcode operation = is_followed(lanes->of[first]) ? LLVMGetInstructionOpcode(lanes->of[first]) : 0;

    for (unsigned i = first; i < lanes->n; i++)
        if (!is_followed(lanes->of[i]) || LLVMGetInstructionOpcode(lanes->of[i]) != operation)
            return 0;
    return operation;
}

static LLVMValueRef cast(struct kc_wg *wg, const struct lanes *lanes, LLVMOpcode operation, unsigned depth)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(lanes->of[0]), lanes->n);
    struct lanes from;
    LLVMValueRef all;

    operands_of(lanes, 0, &from);
    all = joined(wg, &from, depth);
    return all ? LLVMBuildCast(wg->builder, operation, all, type, "") : NULL;
}

static bool is_commutative(LLVMOpcode operation)
{
    return operation == LLVMAdd || operation == LLVMMul || operation == LLVMAnd || operation == LLVMOr ||
           operation == LLVMXor;
}

/* LLVM orders operands lane by lane: an operand that all lanes share, on either side, goes to the right. */
static void order_operands(LLVMValueRef common, struct lanes *left, struct lanes *right)
{
    for (unsigned i = 0; i < left->n; i++)
        if (left->of[i] != common && right->of[i] != common)
            return;
    for (unsigned i = 0; i < left->n; i++)
        if (right->of[i] != common) {
            left->of[i] = right->of[i];
            right->of[i] = common;
        }
}

static LLVMValueRef binary(struct kc_wg *wg, const struct lanes *lanes, LLVMOpcode operation, unsigned depth)
{
    struct lanes left, right;
    LLVMValueRef l, r;

    operands_of(lanes, 0, &left);
    operands_of(lanes, 1, &right);
    if (is_commutative(operation)) {
        order_operands(left.of[0], &left, &right);
        order_operands(right.of[0], &left, &right);
    }
    l = joined(wg, &left, depth);
    r = l ? joined(wg, &right, depth) : NULL;
    return r ? LLVMBuildBinOp(wg->builder, operation, l, r, "") : NULL;
}

/* x, x + 1, x + 2 … or x, x | 1, x | 2 …: lane 0 has no addition. */
static LLVMValueRef row(struct kc_wg *wg, const struct lanes *lanes, unsigned depth)
{
    LLVMOpcode operation = operation_of(lanes, 1);
    struct lanes left = {.n = lanes->n}, right = {.n = lanes->n};

    if (operation != LLVMAdd && operation != LLVMOr)
        return NULL;
    left.of[0] = lanes->of[0];
    right.of[0] = LLVMConstNull(LLVMTypeOf(lanes->of[0]));
    for (unsigned i = 1; i < lanes->n; i++) {
        left.of[i] = LLVMGetOperand(lanes->of[i], 0);
        right.of[i] = LLVMGetOperand(lanes->of[i], 1);
    }
    if (!are_same(&left) || !are_numbers(&right))
        return NULL;
    return LLVMBuildBinOp(wg->builder, operation, kc_splat(wg, left.of[0], left.n), joined(wg, &right, depth), "");
}

/* The lanes' values as one vector, built at the builder's position; NULL: no common form was found. */
static LLVMValueRef joined(struct kc_wg *wg, const struct lanes *lanes, unsigned depth)
{
    LLVMOpcode one = operation_of(lanes, 0);
    LLVMValueRef numbers[MAX_LANES];

    if (!are_of_one_type(lanes))
        return NULL;
    if (are_same(lanes))
        return kc_splat(wg, lanes->of[0], lanes->n);
    if (are_numbers(lanes)) {
        memcpy(numbers, lanes->of, lanes->n * sizeof(numbers[0]));
        return LLVMConstVector(numbers, lanes->n);
    }
    if (source_of(lanes))
        return source_of(lanes);
    if (depth == 0)
        return NULL;
    if (!one)
        return row(wg, lanes, depth - 1);
    return LLVMIsACastInst(lanes->of[0]) ? cast(wg, lanes, one, depth - 1) : binary(wg, lanes, one, depth - 1);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Elements extracted between the stores may be used behind them, too, so they move before the first store. */
static void take_elements_before(struct kc_wg *wg, LLVMValueRef first, LLVMValueRef last)
{
    LLVMValueRef next;

    for (LLVMValueRef i = first; i != last; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAExtractElementInst(i))
            continue;
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilderBefore(wg->builder, first);
        LLVMInsertIntoBuilder(wg->builder, i);
    }
}

bool kc_find_lane_stores(struct kc_wg *wg, LLVMValueRef i, struct kc_lane_stores *stores)
{
    struct lanes all, addresses, indices;

    *stores = (struct kc_lane_stores){.first = i};
    if (!find_stores(i, &stores->vector, &all))
        return false;
    operands_of(&all, 1, &addresses);
    if (!find_indices(&addresses, &indices))
        return false;
    stores->last = all.of[all.n - 1];
    stores->address = addresses.of[0];
    LLVMPositionBuilderBefore(wg->builder, i);
    stores->index = joined(wg, &indices, MAX_DEPTH);
    if (stores->index)
        take_elements_before(wg, i, stores->last);
    return stores->index != NULL;
}
