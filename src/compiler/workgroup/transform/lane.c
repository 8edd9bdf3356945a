#include "compiler/workgroup/analysis/combined.h"
#include "compiler/workgroup/emit.h"
#include "compiler/workgroup/transform/clone.h"
#include "compiler/workgroup/transform/metadata.h"

/* A lane's copy of a region under construction. */
struct lane {
    struct kc_strip *strip;
    const struct kc_region *region;
    LLVMValueRef index; /* i32 */
    LLVMBasicBlockRef end;
    struct kc_map values; /* of the kernel → copies: instructions, variables */
    struct kc_map blocks; /* block of the kernel → its copy or, for a bound, the exit to it */
};

/* ---- Loops over lanes -------------------------------------------------------------------------------------------- */

void kc_lanes_begin(struct kc_strip *strip, struct kc_lanes *lanes, const char *name)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMValueRef zero = kc_i32(emit->wg, 0);

    *lanes = (struct kc_lanes){.n = strip->lanes, .serial = lanes->serial, .index = zero};
    if (lanes->n == 1)
        return;
    lanes->head = kc_new_block(emit, name);
    LLVMBuildBr(b, lanes->head);
    LLVMPositionBuilderAtEnd(b, lanes->head);
    lanes->index = LLVMBuildPhi(b, emit->wg->i32, "lane");
    LLVMAddIncoming(lanes->index, &zero, &before, 1);
}

void kc_lanes_end(struct kc_strip *strip, struct kc_lanes *lanes)
{
    struct kc_emit *emit = strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b), after;
    LLVMValueRef next, branch;

    if (lanes->n == 1)
        return;
    after = kc_new_block(emit, "");
    next = LLVMBuildAdd(b, lanes->index, kc_i32(emit->wg, 1), "");
    LLVMSetNUW(next, 1);
    LLVMSetNSW(next, 1);
    LLVMAddIncoming(lanes->index, &next, &latch, 1);
    branch = LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, kc_i32(emit->wg, lanes->n), ""), lanes->head, after);
    if (lanes->serial)
        kc_mark_plain_loop(emit->wg, branch);
    else
        kc_mark_lane_loop(emit->wg, branch, emit->access_group, emit->lanes, lanes->n / emit->lanes);
    LLVMPositionBuilderAtEnd(b, after);
}

LLVMValueRef kc_parallel(struct kc_strip *strip, LLVMValueRef access)
{
    if (strip->lanes > 1)
        kc_mark_parallel(strip->emit->wg, access, strip->emit->access_group);
    return access;
}

LLVMValueRef kc_lane_item(struct kc_strip *strip, LLVMValueRef lane)
{
    struct kc_wg *wg = strip->emit->wg;

    return strip->lanes == 1
               ? strip->item
               : LLVMBuildAdd(wg->builder, strip->item, LLVMBuildZExt(wg->builder, lane, wg->i64, ""), "");
}

LLVMValueRef kc_lane_place(struct kc_strip *strip, LLVMValueRef variable, LLVMTypeRef type, LLVMValueRef lane)
{
    struct kc_wg *wg = strip->emit->wg;
    LLVMValueRef index;

    if (strip->lanes == 1)
        return variable;
    index = LLVMBuildZExt(wg->builder, lane, wg->i64, "");
    return LLVMBuildGEP2(wg->builder, type, variable, &index, 1, "");
}

/* ---- A lane's copy ----------------------------------------------------------------------------------------------- */

static LLVMValueRef array_place(struct lane *lane, unsigned slot)
{
    struct kc_emit *emit = lane->strip->emit;
    const struct kc_variable_place *place = &emit->places[slot];
    LLVMValueRef offset;

    if (!place->lanes)
        return kc_scratch_place(emit, slot, kc_lane_item(lane->strip, lane->index), lane->index);
    offset = LLVMBuildMul(emit->wg->builder, LLVMBuildZExt(emit->wg->builder, lane->index, emit->wg->i64, ""),
                          kc_i64(emit->wg, emit->slots->slots[slot].size), "");
    return kc_byte_offset(emit->wg, place->lanes, offset, "");
}

/* The addresses of the lane's private variables, computed at its start, which dominates all blocks. */
static void find_variables(struct lane *lane)
{
    struct kc_emit *emit = lane->strip->emit;

    for (unsigned s = 0; s < emit->slots->n; s++) {
        const struct kc_slot *slot = &emit->slots->slots[s];

        if (slot->array || emit->places[s].work)
            kc_map_set_pointer(&lane->values, slot->variable,
                               slot->array ? array_place(lane, s) : emit->places[s].work);
    }
}

/* The exit of a lane that reaches a bound. */
static LLVMBasicBlockRef way_out(struct lane *lane, int bound)
{
    struct kc_emit *emit = lane->strip->emit;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), out = kc_new_block(emit, "");

    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildStore(b, kc_i32(emit->wg, kc_bound_order(emit, bound)), lane->strip->next);
    LLVMBuildBr(b, lane->end);
    LLVMPositionBuilderAtEnd(b, here);
    return out;
}

static LLVMBasicBlockRef block_here(struct lane *lane, LLVMBasicBlockRef block)
{
    LLVMBasicBlockRef here = kc_map_get_pointer(&lane->blocks, block);

    if (!here) {
        here = way_out(lane, kc_flow_number(&lane->strip->emit->wg->flow, block));
        kc_map_set_pointer(&lane->blocks, block, here);
    }
    return here;
}

static LLVMValueRef operand_here(void *arg, LLVMValueRef operand)
{
    struct lane *lane = arg;
    LLVMValueRef here;

    if (LLVMValueIsBasicBlock(operand))
        return LLVMBasicBlockAsValue(block_here(lane, LLVMValueAsBasicBlock(operand)));
    here = kc_map_get_pointer(&lane->values, operand);
    if (here)
        return here;
    return LLVMIsAConstant(operand) ? kc_build_constant(lane->strip->emit, operand) : operand;
}

static bool is_value_slot_access(const struct lane *lane, LLVMValueRef i)
{
    const struct kc_slots *slots = lane->strip->emit->slots;
    int s = KC_NONE;

    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
        s = kc_slot_number(slots, LLVMGetOperand(i, LLVMIsALoadInst(i) ? 0 : 1));
    return s != KC_NONE && !slots->slots[s].array;
}

/* The lane's part of an atomic operation that the strip makes at once. */
static void add_up(struct lane *lane, LLVMValueRef combined)
{
    LLVMBuilderRef b = lane->strip->emit->wg->builder;
    LLVMValueRef operand = operand_here(lane, LLVMGetOperand(combined, 1));
    LLVMValueRef sum = LLVMBuildLoad2(b, LLVMTypeOf(operand), lane->strip->sum, "");

    LLVMBuildStore(b, kc_combine(b, combined, sum, operand), lane->strip->sum);
}

static void copy_instruction(struct lane *lane, LLVMValueRef i)
{
    struct kc_emit *emit = lane->strip->emit;
    enum kc_call call = kc_call_of(i);
    LLVMValueRef copy;

    if (LLVMIsAAllocaInst(i) || call == KC_CALL_NOTHING || call == KC_CALL_BARRIER)
        return;
    if (LLVMIsAReturnInst(i)) {
        LLVMBuildBr(emit->wg->builder, way_out(lane, KC_EXIT));
        return;
    }
    if (i == lane->strip->combined) {
        add_up(lane, i);
        return;
    }
    if (kc_is_query(call)) {
        LLVMValueRef dimension = LLVMGetNumArgOperands(i) ? operand_here(lane, LLVMGetOperand(i, 0)) : NULL;

        copy = kc_build_query(lane->strip, i, dimension, lane->index);
    } else {
        copy = kc_clone_instruction(emit->wg, i, operand_here, lane);
        kc_forget_scopes(emit->wg, copy);
        kc_mark_outside(emit->wg, copy, emit->kept);
        if (!is_value_slot_access(lane, i))
            kc_parallel(lane->strip, copy);
    }
    kc_map_set_pointer(&lane->values, i, copy);
}

static void copy_block(struct lane *lane, int number, LLVMBasicBlockRef to)
{
    LLVMPositionBuilderAtEnd(lane->strip->emit->wg->builder, to);
    for (KC_EACH_INSTRUCTION(i, lane->strip->emit->wg->flow.blocks[number].block))
        copy_instruction(lane, i);
    if ((lane->strip->lanes == 1 || lane->region->serial) && kc_bits_get(&lane->strip->emit->uneven, (size_t)number))
        kc_mark_uneven_loop(lane->strip->emit->wg,
                            LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(lane->strip->emit->wg->builder)));
}

void kc_emit_lane(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef index, LLVMBasicBlockRef end)
{
    struct lane lane = {strip, region, index, end, {.n = 0}, {.n = 0}};
    struct kc_emit *emit = strip->emit;
    const struct kc_flow *flow = &emit->wg->flow;
    LLVMBasicBlockRef start = kc_new_block(emit, "");

    for (unsigned p = 0; p < LLVMCountParams(emit->wg->function); p++)
        kc_map_set_pointer(&lane.values, LLVMGetParam(emit->wg->function, p), emit->arguments[p]);
    find_variables(&lane);
    LLVMBuildBr(emit->wg->builder, start); /* from the caller's position */
    for (unsigned i = 0; i < flow->n_order; i++)
        if (flow->order[i] != region->start && kc_bits_get(&region->blocks, (size_t)flow->order[i]))
            kc_map_set_pointer(&lane.blocks, flow->blocks[flow->order[i]].block, kc_new_block(emit, ""));
    copy_block(&lane, region->start, start);
    for (unsigned i = 0; i < flow->n_order; i++)
        if (flow->order[i] != region->start && kc_bits_get(&region->blocks, (size_t)flow->order[i]))
            copy_block(&lane, flow->order[i], kc_map_get_pointer(&lane.blocks, flow->blocks[flow->order[i]].block));
    kc_map_clear(&lane.values);
    kc_map_clear(&lane.blocks);
}
