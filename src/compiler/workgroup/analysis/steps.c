#include "compiler/workgroup/analysis/steps.h"

#include "compiler/workgroup/ir.h"

/* Depth to which the arithmetic behind an index is followed. */
#define MAX_DEPTH 8

static struct kc_steps follow(LLVMValueRef value, unsigned depth);

static bool is_still(struct kc_steps steps)
{
    return steps.growth == KC_STEADY && steps.step == 0;
}

static enum kc_growth worse(enum kc_growth a, enum kc_growth b)
{
    return a > b ? a : b;
}

static struct kc_steps sum(struct kc_steps a, struct kc_steps b, uint64_t times)
{
    return (struct kc_steps){worse(a.growth, b.growth), a.step + times * b.step};
}

/* An element of a constant; *found: it is a number. */
static uint64_t element_of(LLVMValueRef vector, unsigned i, bool *found)
{
    LLVMValueRef element = LLVMIsConstant(vector) ? LLVMGetAggregateElement(vector, i) : NULL;

    *found = element && LLVMIsAConstantInt(element);
    return *found ? (uint64_t)LLVMConstIntGetSExtValue(element) : 0;
}

static struct kc_steps of_constant(LLVMValueRef vector)
{
    bool first, second, here = true;
    uint64_t begin = element_of(vector, 0, &first), step = element_of(vector, 1, &second) - begin;

    for (unsigned i = 2; here && i < LLVMGetVectorSize(LLVMTypeOf(vector)); i++)
        here = element_of(vector, i, &here) == begin + i * step && here;
    return first && second && here ? (struct kc_steps){KC_STEADY, step} : (struct kc_steps){KC_SCATTERED, 0};
}

/* a times b, or a shifted by b; lanes may share one of them. */
static struct kc_steps product(LLVMValueRef a, LLVMValueRef b, bool shift, unsigned depth)
{
    struct kc_steps first = follow(a, depth), second = follow(b, depth), moves = is_still(first) ? second : first;
    bool known;
    uint64_t times = element_of(b, 0, &known);

    if (is_still(first) && is_still(second))
        return first;
    if (moves.growth != KC_STEADY || (!is_still(first) && !is_still(second)))
        return (struct kc_steps){KC_SCATTERED, 0};
    if (is_still(second) && known)
        return (struct kc_steps){KC_STEADY, shift ? moves.step << (times & 31) : moves.step * times};
    return (struct kc_steps){shift ? KC_SCATTERED : KC_SCALED, moves.step};
}

static bool is_clamp(LLVMValueRef value)
{
    static const char *const names[] = {"llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."};
    LLVMValueRef callee = kc_wg_callee(value);

    for (size_t i = 0; callee && i < sizeof(names) / sizeof(names[0]); i++)
        if (kc_name_begins(callee, names[i]))
            return true;
    return false;
}

static struct kc_steps clamped(struct kc_steps a, struct kc_steps b)
{
    struct kc_steps moves = is_still(a) ? b : a;

    if (!is_still(a) && !is_still(b))
        moves.growth = worse(KC_OPEN, worse(a.growth, b.growth));
    else if (!is_still(moves))
        moves.growth = worse(KC_CLAMPED, moves.growth);
    return moves;
}

/* The steps of an operation that isn't followed. */
static struct kc_steps of_other(LLVMValueRef value, unsigned depth)
{
    struct kc_steps all = {KC_STEADY, 0};

    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(value); k++) {
        LLVMValueRef operand = LLVMGetOperand(value, k);
        struct kc_steps steps = LLVMValueIsBasicBlock(operand) ? all : follow(operand, depth);

        if (!is_still(steps))
            all.growth = worse(all.growth, worse(KC_OPEN, steps.growth));
    }
    return all;
}

static bool is_loaded(LLVMValueRef value)
{
    LLVMValueRef callee = kc_wg_callee(value);

    return LLVMIsALoadInst(value) || (callee && kc_name_begins(callee, "llvm.masked."));
}

static struct kc_steps of_operation(LLVMValueRef value, unsigned depth)
{
    LLVMValueRef first = LLVMGetOperand(value, 0), second;

    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFreeze:
        return follow(first, depth);
    case LLVMAdd:
    case LLVMOr: /* of disjoint bits */
        second = LLVMGetOperand(value, 1);
        return sum(follow(first, depth), follow(second, depth), 1);
    case LLVMSub:
        return sum(follow(first, depth), follow(LLVMGetOperand(value, 1), depth), UINT64_MAX);
    case LLVMMul:
        return product(first, LLVMGetOperand(value, 1), false, depth);
    case LLVMShl:
        return product(first, LLVMGetOperand(value, 1), true, depth);
    default:
        return is_clamp(value) ? clamped(follow(first, depth), follow(LLVMGetOperand(value, 1), depth))
                               : of_other(value, depth);
    }
}

/* A scalar is the same for all lanes. */
static struct kc_steps follow(LLVMValueRef value, unsigned depth)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind || LLVMIsUndef(value))
        return (struct kc_steps){KC_STEADY, 0};
    if (LLVMIsConstant(value))
        return of_constant(value);
    if (depth == 0 || !LLVMIsAInstruction(value))
        return (struct kc_steps){KC_OPEN, 0};
    if (is_loaded(value))
        return (struct kc_steps){KC_SCATTERED, 0};
    return of_operation(value, depth - 1);
}

struct kc_steps kc_steps_of(LLVMValueRef indices)
{
    return follow(indices, MAX_DEPTH);
}
