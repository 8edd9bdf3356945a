#include "compiler/workgroup/analysis/rare_loops.h"
#include "compiler/workgroup/transform/metadata.h"
#include "compiler/workgroup/transform/strip.h"

#include <string.h>

/*
 * Lanes of a strip that run one after the other find their values by a number that isn't known before. Arrays that are
 * accessed in this way can't be registers, so that all other regions of the strip would have them in memory, too:
 * values are copied to arrays of their own first, and back at the end.
 */

/* The strip's arrays while others stand for them. */
struct aside {
    LLVMValueRef *held, order;
};

/* ---- Bits -------------------------------------------------------------------------------------------------------- */

/* A function of an i32; flag: it has an i1 as well, which is set. */
static LLVMValueRef call(struct kc_wg *wg, const char *name, LLVMValueRef bits, bool flag)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(wg->module, id, &wg->i32, 1);
    LLVMValueRef arguments[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(wg->context), 1, 0)};

    return LLVMBuildCall2(wg->builder, LLVMGlobalGetValueType(function), function, arguments, flag ? 2 : 1, "");
}

LLVMValueRef kc_waiting(struct kc_strip *strip, int bound)
{
    struct kc_wg *wg = strip->emit->wg;
    LLVMTypeRef type = LLVMVectorType(wg->i32, strip->lanes);
    LLVMValueRef order = LLVMBuildLoad2(wg->builder, type, strip->order, "");
    LLVMValueRef wanted = kc_splat(wg, kc_i32(wg, kc_bound_order(strip->emit, bound)), strip->lanes), bits;

    bits = kc_mask_bits(wg, LLVMBuildICmp(wg->builder, LLVMIntEQ, order, wanted, ""));
    return strip->lanes < 32 ? LLVMBuildZExt(wg->builder, bits, wg->i32, "") : bits;
}

LLVMValueRef kc_are_few(struct kc_strip *strip, LLVMValueRef waiting)
{
    struct kc_wg *wg = strip->emit->wg;
    LLVMValueRef most = kc_i32(wg, kc_few(strip->emit->lanes));

    return LLVMBuildICmp(wg->builder, LLVMIntULE, call(wg, "llvm.ctpop", waiting, false), most, "");
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool is_vector_element(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind:
        return true;
    default:
        return false;
    }
}

/* Has the slot an array of the strip's that the region uses? */
static bool is_moved(const struct kc_strip *strip, const struct kc_region *region, unsigned s)
{
    const struct kc_slot *slot = &strip->emit->slots->slots[s];

    return !slot->array && !slot->uniform && (kc_bits_get(&region->in, s) || kc_bits_get(&region->out, s)) &&
           is_vector_element(slot->type);
}

static void copy(struct kc_strip *strip, LLVMTypeRef element, LLVMValueRef from, LLVMValueRef to)
{
    LLVMBuilderRef b = strip->emit->wg->builder;
    LLVMValueRef values = LLVMBuildLoad2(b, LLVMVectorType(element, strip->lanes), from, "");

    LLVMSetAlignment(values, LLVMGetAlignment(from));
    LLVMSetAlignment(LLVMBuildStore(b, values, to), LLVMGetAlignment(to));
}

static void put_aside(struct kc_strip *strip, const struct kc_region *region, struct aside *aside)
{
    struct kc_emit *emit = strip->emit;

    aside->held = kc_alloc(emit->slots->n, sizeof(*aside->held));
    for (unsigned s = 0; s < emit->slots->n; s++) {
        LLVMTypeRef type = emit->slots->slots[s].type;

        if (!is_moved(strip, region, s))
            continue;
        aside->held[s] = kc_held(strip, s);
        strip->held[s] = kc_variable(emit, type, strip->lanes, "few");
        copy(strip, type, aside->held[s], strip->held[s]);
    }
    aside->order = strip->order;
    strip->order = kc_variable(emit, emit->wg->i32, strip->lanes, "few_order");
    copy(strip, emit->wg->i32, aside->order, strip->order);
}

static void bring_back(struct kc_strip *strip, const struct kc_region *region, struct aside *aside)
{
    struct kc_emit *emit = strip->emit;

    for (unsigned s = 0; s < emit->slots->n; s++) {
        if (!aside->held[s])
            continue;
        if (kc_bits_get(&region->out, s))
            copy(strip, emit->slots->slots[s].type, strip->held[s], aside->held[s]);
        strip->held[s] = aside->held[s];
    }
    copy(strip, emit->wg->i32, strip->order, aside->order);
    strip->order = aside->order;
    free(aside->held);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static void run_lane(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef end = kc_new_block(emit, "");

    kc_begin_work(strip, region, lane);
    kc_emit_lane(strip, region, lane, end);
    LLVMPositionBuilderAtEnd(b, end);
    kc_end_work(strip, region, lane);
    LLVMBuildStore(b, LLVMBuildLoad2(b, emit->wg->i32, strip->next, ""),
                   kc_lane_place(strip, strip->order, emit->wg->i32, lane));
}

/* From the lowest bit to the highest. There is one at least: a region runs if a lane waits there. */
void kc_run_one_by_one(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef waiting)
{
    struct kc_emit *emit = strip->emit;
    struct kc_wg *wg = emit->wg;
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef before, head = kc_new_block(emit, "few"), after = kc_new_block(emit, ""), latch;
    LLVMValueRef bits, rest, branch;
    struct aside aside;

    put_aside(strip, region, &aside);
    before = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    bits = LLVMBuildPhi(b, wg->i32, "");
    LLVMAddIncoming(bits, &waiting, &before, 1);
    run_lane(strip, region, call(wg, "llvm.cttz", bits, true));
    rest = LLVMBuildAnd(b, bits, LLVMBuildSub(b, bits, kc_i32(wg, 1), ""), "");
    latch = LLVMGetInsertBlock(b);
    LLVMAddIncoming(bits, &rest, &latch, 1);
    branch = LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, rest, kc_i32(wg, 0), ""), head, after);
    kc_mark_plain_loop(wg, branch);
    LLVMPositionBuilderAtEnd(b, after);
    bring_back(strip, region, &aside);
}
