#include "compiler/workgroup/emit.h"

/* One of three values by dimension; past the third, the default. */
static LLVMValueRef choose(struct kc_emit *emit, LLVMValueRef dimension, LLVMValueRef const *of, unsigned past)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef value = kc_i64(emit->wg, past);

    if (LLVMIsAConstantInt(dimension)) {
        uint64_t d = LLVMConstIntGetZExtValue(dimension);

        return d < 3 ? of[d] : value;
    }
    for (unsigned d = 0; d < 3; d++)
        value = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, dimension, kc_i32(emit->wg, d), ""), of[d], value, "");
    return value;
}

/* first + lane; 32 bits wide in wide strips, where neither signed nor unsigned wrap is possible (KC_WIDE_LIMIT). */
static LLVMValueRef along(struct kc_strip *strip, LLVMValueRef first32, LLVMValueRef first, LLVMValueRef lane)
{
    LLVMBuilderRef b = strip->emit->wg->builder;
    LLVMValueRef sum;

    if (strip->lanes == 1 || !lane)
        return first;
    sum = LLVMBuildAdd(b, first32, lane, "");
    if (LLVMIsAInstruction(sum)) {
        LLVMSetNUW(sum, 1);
        LLVMSetNSW(sum, 1);
    }
    return LLVMBuildZExt(b, sum, strip->emit->wg->i64, "");
}

static LLVMValueRef build_global_id(struct kc_strip *strip, LLVMValueRef dimension, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef ids[3];

    ids[0] = along(strip, strip->global32, LLVMBuildAdd(b, emit->base[0], strip->x, ""), lane);
    ids[1] = LLVMBuildAdd(b, emit->base[1], strip->y, "");
    ids[2] = LLVMBuildAdd(b, emit->base[2], strip->z, "");
    return choose(emit, dimension, ids, 0);
}

static LLVMValueRef build_local_id(struct kc_strip *strip, LLVMValueRef dimension, LLVMValueRef lane)
{
    LLVMValueRef ids[] = {along(strip, strip->x32, strip->x, lane), strip->y, strip->z};

    return choose(strip->emit, dimension, ids, 0);
}

LLVMValueRef kc_build_query(struct kc_strip *strip, LLVMValueRef call, LLVMValueRef dimension, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;

    switch (kc_call_of(call)) {
    case KC_CALL_LOCAL_ID:
        return build_local_id(strip, dimension, lane);
    case KC_CALL_GLOBAL_ID:
        return build_global_id(strip, dimension, lane);
    case KC_CALL_GROUP_ID:
        return choose(emit, dimension, emit->group, 0);
    case KC_CALL_LOCAL_SIZE:
        return choose(emit, dimension, emit->size, 1);
    case KC_CALL_ENQUEUED_LOCAL_SIZE:
        return choose(emit, dimension, emit->enqueued, 1);
    case KC_CALL_NUM_GROUPS:
        return choose(emit, dimension, emit->num_groups, 1);
    case KC_CALL_GLOBAL_SIZE:
        return choose(emit, dimension, emit->global_size, 1);
    case KC_CALL_GLOBAL_OFFSET:
        return choose(emit, dimension, emit->global_offset, 0);
    case KC_CALL_WORK_DIM:
        return emit->work_dim;
    case KC_CALL_LAUNCH:
        return LLVMGetParam(emit->run, 0);
    case KC_CALL_THREAD:
    case KC_CALL_PLACES:
        return LLVMGetParam(emit->run, 1);
    default:
        abort(); /* the caller asked kc_is_query */
    }
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static LLVMValueRef rebuild(struct kc_emit *emit, LLVMValueRef expression, LLVMValueRef *operands, unsigned n)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMTypeRef type = LLVMTypeOf(expression);

    switch (LLVMGetConstOpcode(expression)) {
    case LLVMGetElementPtr:
        return LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(expression), operands[0], operands + 1, n - 1, "");
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMXor:
        return LLVMBuildBinOp(b, LLVMGetConstOpcode(expression), operands[0], operands[1], "");
    default: /* casts */
        return LLVMBuildCast(b, LLVMGetConstOpcode(expression), operands[0], type, "");
    }
}

LLVMValueRef kc_build_constant(struct kc_emit *emit, LLVMValueRef constant)
{
    LLVMValueRef place = kc_map_get_pointer(&emit->local_variables, constant), *operands, built = constant;
    unsigned n;
    bool changed = false;

    if (place || !LLVMIsAConstantExpr(constant))
        return place ? place : constant;
    n = (unsigned)LLVMGetNumOperands(constant);
    operands = kc_alloc(n, sizeof(*operands));
    for (unsigned k = 0; k < n; k++) {
        operands[k] = kc_build_constant(emit, LLVMGetOperand(constant, k));
        changed |= operands[k] != LLVMGetOperand(constant, k);
    }
    if (changed)
        built = rebuild(emit, constant, operands, n);
    free(operands);
    return built;
}
