#include "compile_client/work_group.h"
#include "compiler/middle/group_memory.h"
#include "compiler/workgroup/emit.h"

/* Up to so many bytes of private variables, of all lanes, are on the thread's stack, the rest in scratch: the
 * application's threads help, and their stacks may be small. */
#define MAX_ON_STACK 16384 /* bytes of one variable */
#define ALL_ON_STACK 32768
#define MAX_BEHIND   1024

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- Local memory ------------------------------------------------------------------------------------------------ */

/* In scratch, behind what lives across barriers. */
static LLVMValueRef item_memory(struct kc_emit *emit, LLVMValueRef variable)
{
    struct kc_wg *wg = emit->wg;
    LLVMValueRef offset = LLVMBuildMul(wg->builder, kc_i64(wg, emit->scratch_item_size), emit->items, "");

    offset = LLVMBuildAdd(wg->builder, offset, kc_i64(wg, emit->scratch_size), "");
    emit->scratch_item_size += kc_size_of(wg, LLVMGlobalGetValueType(variable));
    return kc_byte_offset(wg, emit->scratch, offset, "");
}

static LLVMValueRef local_place(struct kc_emit *emit, LLVMValueRef variable)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(variable);
    unsigned given = LLVMGetAlignment(variable);
    uint64_t begin = round_up(emit->local_size, given ? given : LLVMABIAlignmentOfType(emit->wg->layout, type));

    if (kc_is_item_memory(variable))
        return item_memory(emit, variable);
    emit->local_size = begin + kc_size_of(emit->wg, type);
    return kc_byte_offset(emit->wg, emit->local, kc_i64(emit->wg, begin), "");
}

static void find_in_constant(struct kc_emit *emit, LLVMValueRef constant)
{
    if (LLVMIsAConstantExpr(constant))
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(constant); k++)
            find_in_constant(emit, LLVMGetOperand(constant, k));
    if (!LLVMIsAGlobalVariable(constant) || LLVMGetPointerAddressSpace(LLVMTypeOf(constant)) != 3 ||
        kc_map_get(&emit->local_variables, constant))
        return;
    kc_map_set_pointer(
        &emit->local_variables, constant,
        LLVMBuildAddrSpaceCast(emit->wg->builder, local_place(emit, constant), LLVMTypeOf(constant), ""));
}

void kc_find_local_variables(struct kc_emit *emit)
{
    const struct kc_flow *flow = &emit->wg->flow;

    for (unsigned b = 0; b < flow->n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, flow->blocks[b].block))
            for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
                find_in_constant(emit, LLVMGetOperand(i, k));
    emit->local_size = round_up(emit->local_size, TSL_WG_ALIGN);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* items × offset is a multiple of 64 × offset: enough for alignments up to 64; for 128 the offset must be even. */
static void to_scratch(struct kc_emit *emit, unsigned slot)
{
    uint64_t align = emit->slots->slots[slot].align / 64;

    emit->places[slot].scratch = true;
    emit->scratch_item_size = round_up(emit->scratch_item_size, align > 1 ? align : 1);
    emit->places[slot].offset = emit->scratch_item_size;
    emit->scratch_item_size += emit->slots->slots[slot].size;
}

/* The phases, as bits, in which the value is live. */
static struct kc_bits find_life(const struct kc_emit *emit, unsigned slot)
{
    struct kc_bits life = kc_bits_create(emit->narrow->n_phases);

    for (unsigned p = 0; p < emit->narrow->n_phases; p++) {
        const struct kc_phase *phase = &emit->narrow->phases[p];

        for (unsigned e = 0; e < phase->n_exits; e++)
            if (phase->exits[e] != KC_EXIT && kc_bits_get(&emit->slots->live[phase->exits[e]], slot))
                kc_bits_set(&life, p);
    }
    return life;
}

/* Values that are never live at the same time share one place: a strip reads what it needs before it writes anything
 * back. So a value that a loop with barriers changes isn't copied where it only passes through. */
static void to_shared_scratch(struct kc_emit *emit, unsigned slot, struct kc_bits *lives)
{
    const struct kc_slot *slots = emit->slots->slots;

    lives[slot] = find_life(emit, slot);
    for (unsigned s = 0; s < slot; s++)
        if (lives[s].words && slots[s].size == slots[slot].size && slots[s].align == slots[slot].align &&
            !kc_bits_meet(&lives[s], &lives[slot])) {
            kc_bits_merge(&lives[s], &lives[slot], NULL);
            kc_bits_free(&lives[slot]);
            emit->places[slot].scratch = true;
            emit->places[slot].offset = emit->places[s].offset;
            return;
        }
    to_scratch(emit, slot);
}

static void to_fixed_scratch(struct kc_emit *emit, unsigned slot)
{
    emit->places[slot].fixed = true;
    emit->scratch_size = round_up(emit->scratch_size, TSL_WG_ALIGN);
    emit->places[slot].offset = emit->scratch_size;
    emit->scratch_size += emit->slots->slots[slot].size * emit->lanes;
}

static bool lives_across(const struct kc_emit *emit, unsigned slot)
{
    bool lives = false;

    for (unsigned p = 1; p < emit->narrow->n_phases; p++) {
        const struct kc_phase *phase = &emit->narrow->phases[p];

        lives |= emit->slots->slots[slot].array ? kc_bits_get(&emit->slots->touched[phase->start], slot)
                                                : kc_bits_get(&phase->in, slot);
    }
    return lives;
}

/* Programs write past the end of private arrays and don't notice. What lies behind is the loops' own on the stack, so
 * some room that nobody uses comes first: as much again, up to a limit. */
static uint64_t room_behind(const struct kc_slot *slot)
{
    return slot->size < MAX_BEHIND ? slot->size : MAX_BEHIND;
}

static void find_array_place(struct kc_emit *emit, unsigned slot)
{
    const struct kc_slot *s = &emit->slots->slots[slot];
    uint64_t size = s->size * emit->lanes + room_behind(s);

    if (lives_across(emit, slot))
        to_scratch(emit, slot);
    else if (emit->tells_places || size > MAX_ON_STACK || size > ALL_ON_STACK - emit->stack_size)
        to_fixed_scratch(emit, slot);
    else {
        emit->stack_size += size;
        emit->places[slot].lanes = kc_variable(emit, emit->wg->i8, size, "private");
        LLVMSetAlignment(emit->places[slot].lanes, s->align < 64 ? 64 : (unsigned)s->align);
    }
}

/* Does the kernel ask where its pointers point to? */
static bool tells_places(const struct kc_flow *flow)
{
    for (unsigned b = 0; b < flow->n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, flow->blocks[b].block))
            if (kc_call_of(i) == KC_CALL_PLACES)
                return true;
    return false;
}

void kc_place_variables(struct kc_emit *emit)
{
    struct kc_bits *lives = kc_alloc(emit->slots->n, sizeof(*lives)); /* for the first value in each place: the lives of
                                                                         all values there */

    emit->tells_places = tells_places(&emit->wg->flow);
    emit->places = kc_alloc(emit->slots->n, sizeof(*emit->places));
    for (unsigned s = 0; s < emit->slots->n; s++) {
        const struct kc_slot *slot = &emit->slots->slots[s];

        if (slot->array) {
            find_array_place(emit, s);
            continue;
        }
        if (!lives_across(emit, s))
            continue;
        if (slot->group_uniform)
            emit->places[s].group = kc_variable(emit, slot->type, 1, "uniform");
        else
            to_shared_scratch(emit, s, lives);
    }
    for (unsigned s = 0; s < emit->slots->n; s++)
        kc_bits_free(&lives[s]);
    free(lives);
    for (unsigned p = 1; p < emit->narrow->n_phases; p++)
        emit->returns |= emit->narrow->phases[p].after_returns;
    emit->returned_offset = emit->scratch_item_size;
    emit->scratch_item_size += emit->returns;
}

LLVMValueRef kc_scratch_place(struct kc_emit *emit, unsigned slot, LLVMValueRef item, LLVMValueRef lane)
{
    const struct kc_variable_place *place = &emit->places[slot];
    struct kc_wg *wg = emit->wg;
    LLVMValueRef offset = kc_i64(wg, place->offset), size = kc_i64(wg, emit->slots->slots[slot].size);
    LLVMValueRef base, index = place->fixed ? LLVMBuildZExt(wg->builder, lane, wg->i64, "") : item;

    if (!place->fixed)
        offset = LLVMBuildAdd(wg->builder, LLVMBuildMul(wg->builder, offset, emit->items, ""),
                              kc_i64(wg, emit->scratch_size), "");
    base = kc_byte_offset(wg, emit->scratch, offset, "");
    return kc_byte_offset(wg, base, LLVMBuildMul(wg->builder, index, size, ""), "");
}

LLVMValueRef kc_returned_place(struct kc_emit *emit, LLVMValueRef item)
{
    struct kc_wg *wg = emit->wg;
    LLVMValueRef offset = LLVMBuildMul(wg->builder, kc_i64(wg, emit->returned_offset), emit->items, "");

    offset = LLVMBuildAdd(wg->builder, offset, kc_i64(wg, emit->scratch_size), "");
    return kc_byte_offset(wg, kc_byte_offset(wg, emit->scratch, offset, ""), item, "");
}
