#include "compiler/workgroup/transform/strip.h"
#include "compiler/workgroup/analysis/combined.h"
#include "compiler/workgroup/transform/metadata.h"

/*
 * A strip keeps the values of slots that live from region to region in `held` variables: an element for each lane, or
 * one if the slot is uniform. At the start of a region a lane copies them to "work" variables, unconditionally, and at
 * its end it writes back what it changed, also unconditionally. So the vectoriser makes plain vector loads and stores
 * of them, which become registers, and selects for lanes that didn't take part.
 */

static const struct kc_slot *slot_of(const struct kc_strip *strip, unsigned s)
{
    return &strip->emit->slots->slots[s];
}

LLVMValueRef kc_held(struct kc_strip *strip, unsigned s)
{
    const struct kc_slot *slot = slot_of(strip, s);

    if (!strip->held[s])
        strip->held[s] = kc_variable(strip->emit, slot->type, slot->uniform ? 1 : strip->lanes, "held");
    return strip->held[s];
}

static LLVMValueRef held_place(struct kc_strip *strip, unsigned s, LLVMValueRef lane)
{
    return slot_of(strip, s)->uniform ? kc_held(strip, s)
                                      : kc_lane_place(strip, kc_held(strip, s), slot_of(strip, s)->type, lane);
}

/* Marks an access to a value in scratch that lives across barriers. */
static LLVMValueRef kept(struct kc_strip *strip, LLVMValueRef access)
{
    return kc_mark_inside(strip->emit->wg, kc_parallel(strip, access), strip->emit->kept);
}

/* ---- Values that live across barriers ---------------------------------------------------------------------------- */

static void take_uniform(struct kc_strip *strip, unsigned s)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef value = emit->places[s].snapshot;

    if (!emit->places[s].group)
        value =
            kept(strip, LLVMBuildLoad2(b, slot_of(strip, s)->type, kc_scratch_place(emit, s, strip->item, NULL), ""));
    LLVMBuildStore(b, value, kc_held(strip, s));
}

static void take_lane(struct kc_strip *strip, unsigned s, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef value = emit->places[s].snapshot;

    if (!emit->places[s].group)
        value = kept(strip, LLVMBuildLoad2(b, slot_of(strip, s)->type,
                                           kc_scratch_place(emit, s, kc_lane_item(strip, lane), lane), ""));
    kc_parallel(strip, LLVMBuildStore(b, value, held_place(strip, s, lane)));
}

static void give_lane(struct kc_strip *strip, unsigned s, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef value = LLVMBuildLoad2(b, slot_of(strip, s)->type, held_place(strip, s, lane), "");

    kc_parallel(strip, value);
    kept(strip, LLVMBuildStore(b, value, kc_scratch_place(emit, s, kc_lane_item(strip, lane), lane)));
}

static void give_group(struct kc_strip *strip, unsigned s)
{
    struct kc_emit *emit = strip->emit;
    LLVMValueRef value =
        LLVMBuildLoad2(emit->wg->builder, slot_of(strip, s)->type, held_place(strip, s, kc_i32(emit->wg, 0)), "");

    LLVMBuildStore(emit->wg->builder, value, emit->places[s].group);
}

static void take_all(struct kc_strip *strip)
{
    struct kc_lanes lanes = {.serial = false};

    for (unsigned s = 0; s < strip->emit->slots->n; s++)
        if (kc_bits_get(&strip->phase->in, s) && slot_of(strip, s)->uniform)
            take_uniform(strip, s);
    kc_lanes_begin(strip, &lanes, "take");
    for (unsigned s = 0; s < strip->emit->slots->n; s++)
        if (kc_bits_get(&strip->phase->in, s) && !slot_of(strip, s)->uniform)
            take_lane(strip, s, lanes.index);
    kc_lanes_end(strip, &lanes);
}

/* Stores whether the lane has returned: by its order, if lanes have one; else all have returned, or none. */
static void give_returned(struct kc_strip *strip, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef returned;

    if (strip->order)
        returned = LLVMBuildICmp(
            b, LLVMIntEQ,
            kc_parallel(strip,
                        LLVMBuildLoad2(b, emit->wg->i32, kc_lane_place(strip, strip->order, emit->wg->i32, lane), "")),
            kc_i32(emit->wg, KC_EXIT_ORDER), "");
    else
        returned = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildLoad2(b, emit->wg->i32, strip->next_phase, ""),
                                 kc_i32(emit->wg, emit->narrow->n_phases), "");
    kept(strip, LLVMBuildStore(b, LLVMBuildZExt(b, returned, emit->wg->i8, ""),
                               kc_returned_place(emit, kc_lane_item(strip, lane))));
}

static void give_all(struct kc_strip *strip)
{
    struct kc_emit *emit = strip->emit;
    struct kc_lanes lanes = {.serial = false};

    for (unsigned s = 0; s < emit->slots->n; s++)
        if (kc_bits_get(&strip->phase->out, s) && emit->places[s].group)
            give_group(strip, s);
    kc_lanes_begin(strip, &lanes, "give");
    for (unsigned s = 0; s < emit->slots->n; s++)
        if (kc_bits_get(&strip->phase->out, s) && !emit->places[s].group)
            give_lane(strip, s, lanes.index);
    if (emit->returns)
        give_returned(strip, lanes.index);
    kc_lanes_end(strip, &lanes);
}

/* ---- A region ---------------------------------------------------------------------------------------------------- */

/* The values that a region's code reads or writes, or that it takes from the strip or gives it. */
static struct kc_bits used_in(const struct kc_emit *emit, const struct kc_region *region)
{
    const struct kc_slots *slots = emit->slots;
    struct kc_bits used = kc_bits_create(slots->n);

    kc_bits_merge(&used, &region->in, NULL);
    kc_bits_merge(&used, &region->out, NULL);
    for (unsigned n = 0; n < emit->wg->flow.n_blocks; n++)
        if (kc_bits_get(&region->blocks, n)) {
            kc_bits_merge(&used, &slots->reads[n], NULL);
            kc_bits_merge(&used, &slots->writes[n], NULL);
        }
    return used;
}

/* Is the slot of no use to lanes that wait elsewhere while the region runs? */
static bool is_only_here(const struct kc_strip *strip, const struct kc_region *region, unsigned s)
{
    if (!kc_bits_get(&region->out, s) || slot_of(strip, s)->uniform || slot_of(strip, s)->array)
        return false;
    return !kc_is_kept_elsewhere(strip, region, s);
}

/* Does the region's code need the value from before, for lanes that run it or for the others? */
static bool is_taken(const struct kc_strip *strip, const struct kc_region *region, unsigned s)
{
    return kc_bits_get(&region->in, s) &&
           (kc_bits_get(&strip->emit->slots->live[region->start], s) || !is_only_here(strip, region, s));
}

/* Each region has work variables of its own, for what it uses alone: LLVM makes registers of a variable in time that
 * grows with the blocks that it is set in. Those that are set before a lane reads them are marked undefined at its
 * start: otherwise the last lane's value would seem to reach the next lane. */
void kc_begin_work(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    struct kc_bits used = used_in(emit, region);

    for (unsigned s = 0; s < emit->slots->n; s++) {
        const struct kc_slot *slot = slot_of(strip, s);
        LLVMValueRef value = slot->array ? NULL : LLVMGetUndef(slot->type);

        emit->places[s].work = NULL;
        if (slot->array || !kc_bits_get(&used, s))
            continue;
        emit->places[s].work = kc_variable(emit, slot->type, 1, "");
        if (is_taken(strip, region, s)) {
            value = LLVMBuildLoad2(b, slot->type, held_place(strip, s, lane), "");
            kc_parallel(strip, value);
        }
        LLVMBuildStore(b, value, emit->places[s].work);
    }
    kc_bits_free(&used);
}

void kc_end_work(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;

    for (unsigned s = 0; s < emit->slots->n; s++) {
        if (!kc_bits_get(&region->out, s) || (slot_of(strip, s)->uniform && strip->lanes > 1))
            continue;
        kc_parallel(strip, LLVMBuildStore(b, LLVMBuildLoad2(b, slot_of(strip, s)->type, emit->places[s].work, ""),
                                          held_place(strip, s, lane)));
    }
}

/* The bounds at which lanes may wait after a region, by order, and for each but the last, whether any lane does. */
struct ways {
    unsigned n;
    int *bounds;       /* KC_EXIT is one */
    LLVMValueRef *any; /* variables, i1; NULL: after this region all lanes are together */
};

static void insert_way(const struct kc_emit *emit, struct ways *ways, int bound)
{
    unsigned w = ways->n++;

    for (; w && kc_bound_order(emit, ways->bounds[w - 1]) > kc_bound_order(emit, bound); w--)
        ways->bounds[w] = ways->bounds[w - 1];
    ways->bounds[w] = bound;
}

static unsigned latest_exit(const struct kc_emit *emit, const struct kc_region *region)
{
    unsigned latest = 0;

    for (unsigned e = 0; e < region->n_exits; e++) {
        unsigned order = kc_bound_order(emit, region->exits[e]);

        latest = order > latest ? order : latest;
    }
    return latest;
}

/* A lane at least has run the region, and waits at one of its exits: so none of the bounds behind the last of them is
 * the first in order. */
static unsigned latest_way(const struct kc_emit *emit, const struct kc_region *region)
{
    unsigned latest = latest_exit(emit, region), few = region->few ? latest_exit(emit, region->few) : 0;

    return few > latest ? few : latest;
}

static void ways_begin(struct kc_strip *strip, const struct kc_region *region, struct ways *ways)
{
    struct kc_emit *emit = strip->emit;
    unsigned n_blocks = emit->wg->flow.n_blocks, latest = latest_way(emit, region);
    LLVMTypeRef i1 = LLVMInt1TypeInContext(emit->wg->context);

    *ways = (struct ways){.n = 0};
    ways->bounds = kc_alloc(n_blocks + 1, sizeof(*ways->bounds));
    ways->any = kc_alloc(n_blocks + 1, sizeof(*ways->any));
    for (unsigned bound = 0; bound <= n_blocks; bound++) {
        int way = bound == n_blocks ? KC_EXIT : (int)bound;

        if (kc_bits_get(&region->pending, bound) && kc_bound_order(emit, way) <= latest)
            insert_way(emit, ways, way);
    }
    for (unsigned w = 0; region->diverges && w + 1 < ways->n; w++) {
        ways->any[w] = kc_variable(emit, i1, 1, "any");
        LLVMBuildStore(emit->wg->builder, LLVMConstInt(i1, 0, 0), ways->any[w]);
    }
}

static void ways_end(struct ways *ways)
{
    free(ways->bounds);
    free(ways->any);
}

static void note_order(struct kc_strip *strip, const struct kc_region *region, const struct ways *ways,
                       LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMTypeRef i1 = LLVMInt1TypeInContext(emit->wg->context);
    LLVMValueRef stands, here;

    if (!strip->order)
        return;
    stands = LLVMBuildLoad2(b, emit->wg->i32, strip->next, "");
    kc_parallel(strip, LLVMBuildStore(b, stands, kc_lane_place(strip, strip->order, emit->wg->i32, lane)));
    for (unsigned w = 0; region->diverges && w + 1 < ways->n; w++) {
        here = LLVMBuildICmp(b, LLVMIntEQ, stands, kc_i32(emit->wg, kc_bound_order(emit, ways->bounds[w])), "");
        LLVMBuildStore(b, LLVMBuildOr(b, LLVMBuildLoad2(b, i1, ways->any[w], ""), here, ""), ways->any[w]);
    }
}

/* The lanes that wait at the region's bound run it; the others skip it and keep their live values: for the rest the
 * vectoriser needs no select. */
static void enter_masked(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane,
                         LLVMBasicBlockRef end)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef body = kc_new_block(emit, ""), pass = kc_new_block(emit, "");
    LLVMValueRef stands = LLVMBuildLoad2(b, emit->wg->i32, kc_lane_place(strip, strip->order, emit->wg->i32, lane), "");
    LLVMValueRef bound = kc_i32(emit->wg, kc_bound_order(emit, region->start));

    kc_parallel(strip, stands);
    LLVMBuildStore(b, stands, strip->next);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, stands, bound, ""), body, pass);
    LLVMPositionBuilderAtEnd(b, pass);
    for (unsigned s = 0; s < emit->slots->n; s++)
        if (is_only_here(strip, region, s))
            LLVMBuildStore(b, LLVMGetPoison(slot_of(strip, s)->type), emit->places[s].work);
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, body);
}

/* ---- Uniform values of the strip --------------------------------------------------------------------------------- */

/* If all lanes ran the region, the last one's value is the strip's. */
static void keep_uniform(struct kc_strip *strip, const struct kc_region *region)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    struct kc_bits written = kc_bits_create(emit->slots->n);

    for (unsigned n = 0; n < emit->wg->flow.n_blocks; n++)
        if (kc_bits_get(&region->blocks, n))
            kc_bits_merge(&written, &emit->slots->writes[n], NULL);
    for (unsigned s = 0; s < emit->slots->n; s++)
        if (kc_bits_get(&written, s) && slot_of(strip, s)->uniform && !slot_of(strip, s)->counter)
            LLVMBuildStore(b, LLVMBuildLoad2(b, slot_of(strip, s)->type, emit->places[s].work, ""), kc_held(strip, s));
    kc_bits_free(&written);
}

/* Computes the arithmetic behind a counter for the whole strip. */
static LLVMValueRef count(struct kc_strip *strip, struct kc_map *values, LLVMValueRef value)
{
    struct kc_emit *emit = strip->emit;
    LLVMValueRef here = kc_map_get_pointer(values, value), *operands;
    unsigned n;

    if (here || !LLVMIsAInstruction(value))
        return here ? here : LLVMIsAConstant(value) ? kc_build_constant(emit, value) : value;
    if (kc_is_query(kc_call_of(value))) {
        LLVMValueRef dimension = LLVMGetNumArgOperands(value) ? count(strip, values, LLVMGetOperand(value, 0)) : NULL;

        return kc_build_query(strip, value, dimension, NULL);
    }
    n = (unsigned)LLVMGetNumOperands(value);
    operands = kc_alloc(n, sizeof(*operands));
    for (unsigned k = 0; k < n; k++)
        operands[k] = count(strip, values, LLVMGetOperand(value, k));
    here = LLVMInstructionClone(value);
    for (unsigned k = 0; k < n; k++)
        LLVMSetOperand(here, k, operands[k]);
    LLVMInsertIntoBuilder(emit->wg->builder, here);
    free(operands);
    kc_map_set_pointer(values, value, here);
    return here;
}

/* Loads are handled in program order: a counter that is advanced later still has its old value. */
static void count_block(struct kc_strip *strip, struct kc_map *values, LLVMBasicBlockRef block)
{
    struct kc_emit *emit = strip->emit;

    for (KC_EACH_INSTRUCTION(i, block)) {
        bool load = LLVMIsALoadInst(i) != NULL;
        int s = load || LLVMIsAStoreInst(i) ? kc_slot_number(emit->slots, LLVMGetOperand(i, load ? 0 : 1)) : KC_NONE;

        if (s == KC_NONE || !slot_of(strip, (unsigned)s)->uniform)
            continue;
        if (load)
            kc_map_set_pointer(values, i,
                               LLVMBuildLoad2(emit->wg->builder, LLVMTypeOf(i), kc_held(strip, (unsigned)s), ""));
        else if (slot_of(strip, (unsigned)s)->counter)
            LLVMBuildStore(emit->wg->builder, count(strip, values, LLVMGetOperand(i, 0)), kc_held(strip, (unsigned)s));
    }
}

static void keep_counters(struct kc_strip *strip, const struct kc_region *region)
{
    const struct kc_wg *wg = strip->emit->wg;
    struct kc_map values = {.n = 0};

    for (unsigned p = 0; p < LLVMCountParams(wg->function); p++)
        kc_map_set_pointer(&values, LLVMGetParam(wg->function, p), strip->emit->arguments[p]);
    for (unsigned i = 0; i < wg->flow.n_order; i++)
        if (kc_bits_get(&region->blocks, (size_t)wg->flow.order[i]))
            count_block(strip, &values, wg->flow.blocks[wg->flow.order[i]].block);
    kc_map_clear(&values);
}

/* ---- Atomic operations that the strip makes at once -------------------------------------------------------------- */

/* Is the value, which lanes have in common, known where the strip as a whole is? */
static bool is_known(const struct kc_strip *strip, LLVMValueRef value)
{
    bool known = LLVMIsAInstruction(value) && kc_is_arithmetic(value);
    int s;

    if (!LLVMIsAInstruction(value) || kc_is_query(kc_call_of(value)))
        return true;
    if (LLVMIsALoadInst(value)) {
        s = kc_slot_number(strip->emit->slots, LLVMGetOperand(value, 0));
        return s != KC_NONE && slot_of(strip, (unsigned)s)->uniform;
    }
    for (unsigned k = 0; known && k < (unsigned)LLVMGetNumOperands(value); k++)
        known = is_known(strip, LLVMGetOperand(value, k));
    return known;
}

/* False: there is one, and the lanes have to make it one after the other. */
static bool begin_combined(struct kc_strip *strip, const struct kc_region *region)
{
    LLVMValueRef combined = kc_find_combined(strip->emit->wg->flow.blocks[region->start].block), neutral;

    strip->combined = NULL;
    if (strip->lanes == 1 || region->serial || !combined)
        return true;
    if (!is_known(strip, LLVMGetOperand(combined, 0)))
        return false;
    neutral = kc_neutral(combined);
    strip->combined = combined;
    strip->sum = kc_variable(strip->emit, LLVMTypeOf(neutral), 1, "sum");
    LLVMBuildStore(strip->emit->wg->builder, neutral, strip->sum);
    return true;
}

/* A region runs if any lane is there, and the operation is in the first of its blocks. */
static void end_combined(struct kc_strip *strip, const struct kc_region *region)
{
    struct kc_emit *emit = strip->emit;
    struct kc_map values = {.n = 0};
    LLVMValueRef place, operation;

    if (!strip->combined)
        return;
    for (unsigned p = 0; p < LLVMCountParams(emit->wg->function); p++)
        kc_map_set_pointer(&values, LLVMGetParam(emit->wg->function, p), emit->arguments[p]);
    for (KC_EACH_INSTRUCTION(i, emit->wg->flow.blocks[region->start].block)) {
        int s = LLVMIsALoadInst(i) ? kc_slot_number(emit->slots, LLVMGetOperand(i, 0)) : KC_NONE;

        if (s != KC_NONE && slot_of(strip, (unsigned)s)->uniform)
            kc_map_set_pointer(&values, i,
                               LLVMBuildLoad2(emit->wg->builder, LLVMTypeOf(i), kc_held(strip, (unsigned)s), ""));
    }
    place = count(strip, &values, LLVMGetOperand(strip->combined, 0));
    operation = LLVMInstructionClone(strip->combined);
    LLVMSetOperand(operation, 0, place);
    LLVMSetOperand(operation, 1, LLVMBuildLoad2(emit->wg->builder, LLVMTypeOf(strip->combined), strip->sum, ""));
    LLVMInsertIntoBuilder(emit->wg->builder, operation);
    kc_map_clear(&values);
    strip->combined = NULL;
}

/* ---- The next region --------------------------------------------------------------------------------------------- */

static LLVMBasicBlockRef block_of_bound(struct kc_strip *strip, int bound)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    struct kc_region *region = kc_region_at(strip->phase, bound);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), block;

    if (region && !(bound == strip->phase->start && emit->bounds->real[bound]))
        return strip->starts[region - strip->phase->regions];
    block = kc_new_block(emit, "");
    LLVMPositionBuilderAtEnd(b, block);
    LLVMBuildStore(b, kc_i32(emit->wg, kc_phase_number(emit->narrow, bound)), strip->next_phase);
    LLVMBuildBr(b, strip->end);
    LLVMPositionBuilderAtEnd(b, here);
    return block;
}

/* All lanes go to one bound. */
static void go_together(struct kc_strip *strip, const struct ways *ways)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef where = LLVMBuildLoad2(b, emit->wg->i32, strip->next, ""), way;

    way = LLVMBuildSwitch(b, where, block_of_bound(strip, ways->bounds[0]), ways->n - 1);
    for (unsigned w = 1; w < ways->n; w++)
        LLVMAddCase(way, kc_i32(emit->wg, kc_bound_order(emit, ways->bounds[w])),
                    block_of_bound(strip, ways->bounds[w]));
}

/* The next bound is the first in order at which any lane waits. */
static void go_lowest(struct kc_strip *strip, const struct ways *ways)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;

    for (unsigned w = 0; w + 1 < ways->n; w++) {
        LLVMValueRef any = LLVMBuildLoad2(b, LLVMInt1TypeInContext(emit->wg->context), ways->any[w], "");
        LLVMBasicBlockRef later = kc_new_block(emit, "");

        LLVMBuildCondBr(b, any, block_of_bound(strip, ways->bounds[w]), later);
        LLVMPositionBuilderAtEnd(b, later);
    }
    LLVMBuildBr(b, block_of_bound(strip, ways->bounds[ways->n - 1]));
}

static void go_on(struct kc_strip *strip, const struct kc_region *region, const struct ways *ways)
{
    LLVMBuilderRef b = strip->emit->wg->builder;

    if (ways->n == 0)
        LLVMBuildUnreachable(b); /* the region never ends */
    else if (ways->n == 1)
        LLVMBuildBr(b, block_of_bound(strip, ways->bounds[0]));
    else if (region->diverges)
        go_lowest(strip, ways);
    else
        go_together(strip, ways);
}

/* As with all lanes, but whether any lane waits somewhere is seen by the lanes' numbers. */
static void go_by_order(struct kc_strip *strip, const struct ways *ways)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;

    if (ways->n == 0) {
        LLVMBuildUnreachable(b);
        return;
    }
    for (unsigned w = 0; w + 1 < ways->n; w++) {
        LLVMValueRef any = LLVMBuildICmp(b, LLVMIntNE, kc_waiting(strip, ways->bounds[w]), kc_i32(emit->wg, 0), "");
        LLVMBasicBlockRef later = kc_new_block(emit, "");

        LLVMBuildCondBr(b, any, block_of_bound(strip, ways->bounds[w]), later);
        LLVMPositionBuilderAtEnd(b, later);
    }
    LLVMBuildBr(b, block_of_bound(strip, ways->bounds[ways->n - 1]));
}

/* Where few lanes wait at the region's bound they run another one instead, one after the other. */
static void emit_few(struct kc_strip *strip, const struct kc_region *region, const struct ways *ways)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef few = kc_new_block(emit, ""), many = kc_new_block(emit, "");
    LLVMValueRef waiting = kc_waiting(strip, region->start);

    LLVMBuildCondBr(b, kc_are_few(strip, waiting), few, many);
    LLVMPositionBuilderAtEnd(b, few);
    kc_run_one_by_one(strip, region->few, waiting);
    go_by_order(strip, ways);
    LLVMPositionBuilderAtEnd(b, many);
}

static void emit_lanes(struct kc_strip *strip, const struct kc_region *region, const struct ways *ways)
{
    struct kc_emit *emit = strip->emit;
    LLVMBasicBlockRef end = kc_new_block(emit, "");
    struct kc_lanes lanes = {.serial = region->serial};

    lanes.serial |= !begin_combined(strip, region);
    kc_lanes_begin(strip, &lanes, "region");
    kc_begin_work(strip, region, lanes.index);
    if (region->masked)
        enter_masked(strip, region, lanes.index, end);
    kc_emit_lane(strip, region, lanes.index, end);
    LLVMPositionBuilderAtEnd(emit->wg->builder, end);
    kc_end_work(strip, region, lanes.index);
    note_order(strip, region, ways, lanes.index);
    kc_lanes_end(strip, &lanes);
    end_combined(strip, region);
}

static void emit_region(struct kc_strip *strip, const struct kc_region *region)
{
    bool one_by_one = strip->lanes > 1 && region->masked && region->serial;
    struct ways ways;

    if (strip->lanes > 1)
        kc_forget_round(strip, region);
    ways_begin(strip, region, &ways);
    if (strip->lanes > 1 && region->few)
        emit_few(strip, region, &ways);
    if (one_by_one)
        kc_run_one_by_one(strip, region, kc_waiting(strip, region->start));
    else
        emit_lanes(strip, region, &ways);
    if (strip->lanes > 1) {
        keep_uniform(strip, region);
        keep_counters(strip, region);
    }
    if (one_by_one)
        go_by_order(strip, &ways);
    else
        go_on(strip, region, &ways);
    ways_end(&ways);
}

/* ---- The strip --------------------------------------------------------------------------------------------------- */

static LLVMValueRef returned_before(struct kc_strip *strip, LLVMValueRef lane)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef flag = LLVMBuildLoad2(b, emit->wg->i8, kc_returned_place(emit, kc_lane_item(strip, lane)), "");

    kept(strip, flag);
    return LLVMBuildICmp(b, LLVMIntNE, flag, LLVMConstInt(emit->wg->i8, 0, 0), "");
}

/* Lanes wait at the phase's start, or at the kernel's end if they returned before. A strip that has returned as a whole
 * is skipped. */
static void begin_order(struct kc_strip *strip)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef start = kc_i32(emit->wg, kc_bound_order(emit, strip->phase->start)), gone = NULL;
    LLVMValueRef end = kc_i32(emit->wg, KC_EXIT_ORDER), lowest;
    struct kc_lanes lanes = {.serial = false};

    LLVMBuildStore(b, end, strip->lowest);
    kc_lanes_begin(strip, &lanes, "stand");
    if (strip->phase->after_returns)
        gone = returned_before(strip, lanes.index);
    if (gone)
        start = LLVMBuildSelect(b, gone, end, start, "");
    if (strip->order)
        kc_parallel(strip, LLVMBuildStore(b, start, kc_lane_place(strip, strip->order, emit->wg->i32, lanes.index)));
    if (gone) {
        lowest = LLVMBuildLoad2(b, emit->wg->i32, strip->lowest, "");
        LLVMBuildStore(b, kc_build_min(emit, lowest, start), strip->lowest);
    }
    kc_lanes_end(strip, &lanes);
    if (gone) {
        LLVMBasicBlockRef go = kc_new_block(emit, "");

        lowest = LLVMBuildLoad2(b, emit->wg->i32, strip->lowest, "");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, lowest, end, ""), strip->skip, go);
        LLVMPositionBuilderAtEnd(b, go);
    }
}

static void begin_strip(struct kc_strip *strip)
{
    struct kc_emit *emit = strip->emit;
    struct kc_wg *wg = emit->wg;

    strip->held = kc_alloc(emit->slots->n, sizeof(*strip->held));
    strip->starts = kc_alloc(strip->phase->n_regions, sizeof(*strip->starts));
    for (unsigned r = 0; r < strip->phase->n_regions; r++)
        strip->starts[r] = kc_new_block(emit, "bound");
    strip->end = kc_new_block(emit, "strip_end");
    strip->skip = kc_new_block(emit, "strip_skip");
    strip->next = kc_variable(emit, wg->i32, 1, "next");
    strip->lowest = kc_variable(emit, wg->i32, 1, "lowest");
    strip->next_phase = kc_variable(emit, wg->i32, 1, "next_phase");
    if (strip->lanes > 1 && strip->phase->needs_order)
        strip->order = kc_variable(emit, wg->i32, strip->lanes, "order");
    if (strip->lanes > 1) {
        strip->x32 = LLVMBuildTrunc(wg->builder, strip->x, wg->i32, "");
        strip->global32 =
            LLVMBuildTrunc(wg->builder, LLVMBuildAdd(wg->builder, emit->base[0], strip->x, ""), wg->i32, "");
    }
}

void kc_emit_strip(struct kc_strip *strip)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMValueRef next;

    begin_strip(strip);
    if (strip->lanes > 1)
        kc_forget_all(strip);
    take_all(strip);
    if (strip->order || strip->phase->after_returns)
        begin_order(strip);
    LLVMBuildBr(b, strip->starts[0]);
    for (unsigned r = 0; r < strip->phase->n_regions; r++) {
        LLVMPositionBuilderAtEnd(b, strip->starts[r]);
        emit_region(strip, &strip->phase->regions[r]);
    }
    LLVMPositionBuilderAtEnd(b, strip->end);
    give_all(strip);
    next = LLVMBuildLoad2(b, emit->wg->i32, emit->next_phase, "");
    next = kc_build_min(emit, next, LLVMBuildLoad2(b, emit->wg->i32, strip->next_phase, ""));
    LLVMBuildStore(b, next, emit->next_phase);
    LLVMBuildBr(b, strip->skip);
    LLVMPositionBuilderAtEnd(b, strip->skip);
    free(strip->held);
    free(strip->starts);
}
