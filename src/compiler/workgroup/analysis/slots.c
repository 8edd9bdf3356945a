#include "compiler/workgroup/analysis/slots.h"

/* Cost in instructions up to which arithmetic is repeated instead of getting a slot. */
#define MAX_COST 16

/* How another block gets a value. */
enum place {
    PLACE_UNKNOWN,
    PLACE_RECOMPUTED, /* computed again */
    PLACE_UNIFORM,    /* a slot, one value for the strip */
    PLACE_LANES,      /* a slot, a value for each lane */
};

struct demotion {
    struct kc_wg *wg;
    struct kc_slots *slots;
    struct kc_uniform *strip, *group;
    struct kc_map places, costs; /* of instructions */
    struct kc_map loaded;        /* instruction → the slot (number + 1) that keeps it */
    struct kc_map counters;      /* loads that stand for a loop counter's phi */
    struct kc_map origins;       /* loads from a slot in another block → the value in the slot */
    LLVMValueRef first;          /* new variables are inserted before it */
};

/* ---- Making slots ------------------------------------------------------------------------------------------------ */

static LLVMTypeRef memory_type(struct kc_wg *wg, LLVMTypeRef type)
{
    unsigned bits = 8;

    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
        return type;
    while (bits < LLVMGetIntTypeWidth(type))
        bits *= 2;
    return LLVMIntTypeInContext(wg->context, bits);
}

static struct kc_slot *add_slot(struct demotion *d, LLVMValueRef variable, LLVMTypeRef type)
{
    struct kc_slots *slots = d->slots;
    struct kc_slot *slot;

    slots->slots = kc_more(slots->slots, slots->n, sizeof(*slots->slots));
    slot = &slots->slots[slots->n++];
    *slot = (struct kc_slot){.variable = variable, .type = type};
    slot->align = LLVMABIAlignmentOfType(d->wg->layout, type);
    slot->size = kc_size_of(d->wg, type);
    kc_map_set(&slots->numbers, variable, slots->n);
    return slot;
}

/* like: the value whose uniformity the slot has. */
static struct kc_slot *new_slot(struct demotion *d, LLVMValueRef like, bool counter)
{
    int block = kc_flow_number(&d->wg->flow, LLVMGetInstructionParent(like));
    LLVMTypeRef type = memory_type(d->wg, LLVMTypeOf(like));
    struct kc_slot *slot;

    LLVMPositionBuilderBefore(d->wg->builder, d->first);
    slot = add_slot(d, LLVMBuildAlloca(d->wg->builder, type, ""), type);
    slot->counter = counter;
    slot->uniform = counter || (!kc_varies(d->strip, like) && !d->strip->divergent_block[block]);
    slot->group_uniform = !kc_varies(d->group, like) && !d->group->divergent_block[block];
    return slot;
}

static void build_store(struct demotion *d, LLVMValueRef value, const struct kc_slot *slot)
{
    if (LLVMTypeOf(value) != slot->type)
        value = LLVMBuildZExt(d->wg->builder, value, slot->type, "");
    LLVMBuildStore(d->wg->builder, value, slot->variable);
}

static LLVMValueRef build_load(struct demotion *d, LLVMTypeRef type, const struct kc_slot *slot)
{
    LLVMValueRef value = LLVMBuildLoad2(d->wg->builder, slot->type, slot->variable, "");

    return type == slot->type ? value : LLVMBuildTrunc(d->wg->builder, value, type, "");
}

/* ---- Repeated arithmetic ----------------------------------------------------------------------------------------- */

static enum place place_of(struct demotion *d, LLVMValueRef value, unsigned *cost);

/* The original value, if a load has replaced it in some block. */
static LLVMValueRef origin_of(struct demotion *d, LLVMValueRef value)
{
    LLVMValueRef origin = kc_map_get_pointer(&d->origins, value);

    return origin ? origin : value;
}

static bool recompute_cost(struct demotion *d, LLVMValueRef value, unsigned *cost)
{
    *cost = 1;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(value); k++) {
        unsigned more;

        if (place_of(d, LLVMGetOperand(value, k), &more) == PLACE_LANES)
            return false;
        *cost += more;
        if (*cost > MAX_COST)
            return false;
    }
    return true;
}

static enum place find_place(struct demotion *d, LLVMValueRef value, unsigned *cost)
{
    int block = kc_flow_number(&d->wg->flow, LLVMGetInstructionParent(value));

    *cost = 1;
    if (kc_is_query(kc_call_of(value)) || LLVMIsAAllocaInst(value))
        return PLACE_RECOMPUTED;
    if (kc_is_arithmetic(value) && recompute_cost(d, value, cost))
        return PLACE_RECOMPUTED;
    *cost = 1;
    return !kc_varies(d->strip, value) && !d->strip->divergent_block[block] ? PLACE_UNIFORM : PLACE_LANES;
}

/* cost: of the value in another block. The recursion ends at phis, whose places are set before. */
static enum place place_of(struct demotion *d, LLVMValueRef value, unsigned *cost)
{
    enum place place;

    *cost = 0;
    value = origin_of(d, value);
    if (!LLVMIsAInstruction(value))
        return PLACE_RECOMPUTED;
    place = (enum place)kc_map_get(&d->places, value);
    if (place == PLACE_UNKNOWN) {
        place = find_place(d, value, cost);
        kc_map_set(&d->places, value, place);
        kc_map_set(&d->costs, value, *cost);
    }
    *cost = (unsigned)kc_map_get(&d->costs, value);
    return place;
}

/* The slot of a value, made when first needed. By number, as the array may move. */
static unsigned slot_for(struct demotion *d, LLVMValueRef value)
{
    unsigned number = (unsigned)kc_map_get(&d->loaded, value);

    if (number > 0)
        return number - 1;
    number = d->slots->n;
    new_slot(d, value, kc_map_get(&d->counters, value) != 0);
    LLVMPositionBuilderBefore(d->wg->builder, LLVMGetNextInstruction(value));
    build_store(d, value, &d->slots->slots[number]);
    kc_map_set(&d->loaded, value, number + 1);
    return number;
}

/* The value for an instruction `before` which it is used in another block. */
static LLVMValueRef bring(struct demotion *d, LLVMValueRef value, LLVMValueRef before)
{
    LLVMValueRef operands[3 * MAX_COST], copy;
    unsigned cost, n, slot;

    value = origin_of(d, value);
    if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value))
        return value;
    if (place_of(d, value, &cost) != PLACE_RECOMPUTED) {
        slot = slot_for(d, value);
        LLVMPositionBuilderBefore(d->wg->builder, before);
        copy = build_load(d, LLVMTypeOf(value), &d->slots->slots[slot]);
        kc_map_set_pointer(&d->origins, copy, value);
        return copy;
    }
    n = (unsigned)LLVMGetNumOperands(value);
    for (unsigned k = 0; k < n && k < sizeof(operands) / sizeof(operands[0]); k++)
        operands[k] = bring(d, LLVMGetOperand(value, k), before);
    copy = LLVMInstructionClone(value);
    for (unsigned k = 0; k < n; k++)
        LLVMSetOperand(copy, k, operands[k]);
    LLVMPositionBuilderBefore(d->wg->builder, before);
    LLVMInsertIntoBuilder(d->wg->builder, copy);
    return copy;
}

/* ---- Phis -------------------------------------------------------------------------------------------------------- */

static void store_incoming(struct demotion *d, LLVMValueRef phi, unsigned slot)
{
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMValueRef value = LLVMGetIncomingValue(phi, k);
        bool again = false;

        for (unsigned j = 0; j < k; j++)
            again |= LLVMGetIncomingBlock(phi, j) == from;
        if (again || LLVMIsUndef(value))
            continue;
        LLVMPositionBuilderBefore(d->wg->builder, LLVMGetBasicBlockTerminator(from));
        build_store(d, value, &d->slots->slots[slot]);
    }
}

static void demote_phi(struct demotion *d, LLVMValueRef phi, int block)
{
    bool varies = kc_varies(d->strip, phi), lanes = varies || kc_map_get(&d->strip->uncounted, phi);
    bool counter = !lanes && d->strip->divergent_block[block];
    unsigned slot = d->slots->n;
    LLVMValueRef value, first;

    new_slot(d, phi, counter);
    store_incoming(d, phi, slot);
    first = kc_first_after_phis(LLVMGetInstructionParent(phi));
    LLVMPositionBuilderBefore(d->wg->builder, first);
    value = build_load(d, LLVMTypeOf(phi), &d->slots->slots[slot]);
    if (varies)
        kc_map_set(&d->strip->varying, value, 1);
    if (kc_varies(d->group, phi))
        kc_map_set(&d->group->varying, value, 1);
    kc_map_set(&d->places, value, lanes ? PLACE_LANES : PLACE_UNIFORM);
    kc_map_set(&d->costs, value, 1);
    if (counter)
        kc_map_set(&d->counters, value, 1);
    LLVMReplaceAllUsesWith(phi, value);
    LLVMInstructionEraseFromParent(phi);
}

static void demote_phis(struct demotion *d)
{
    for (unsigned b = 0; b < d->wg->flow.n_blocks; b++) {
        LLVMValueRef i = LLVMGetFirstInstruction(d->wg->flow.blocks[b].block);

        while (LLVMIsAPHINode(i)) {
            LLVMValueRef next = LLVMGetNextInstruction(i);

            demote_phi(d, i, (int)b);
            i = next;
        }
    }
}

/* ---- Other values ------------------------------------------------------------------------------------------------ */

/* Instructions of other blocks that use the value, each once; the caller frees. */
static LLVMValueRef *users_elsewhere(LLVMValueRef value, unsigned *n)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
    LLVMValueRef *users = NULL;
    struct kc_map seen = {.n = 0};

    *n = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMGetInstructionParent(user) == block || kc_map_get(&seen, user))
            continue;
        kc_map_set(&seen, user, 1);
        users = kc_more(users, *n, sizeof(*users));
        users[(*n)++] = user;
    }
    kc_map_clear(&seen);
    return users;
}

static void demote_value(struct demotion *d, LLVMValueRef value)
{
    unsigned n;
    LLVMValueRef *users = users_elsewhere(value, &n);

    for (unsigned u = 0; u < n; u++) {
        LLVMValueRef here = bring(d, value, users[u]);

        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(users[u]); k++)
            if (LLVMGetOperand(users[u], k) == value)
                LLVMSetOperand(users[u], k, here);
    }
    free(users);
}

static void demote_values(struct demotion *d)
{
    for (unsigned b = 0; b < d->wg->flow.n_blocks; b++) {
        LLVMValueRef i = LLVMGetFirstInstruction(d->wg->flow.blocks[b].block);

        while (i) {
            LLVMValueRef next = LLVMGetNextInstruction(i);

            if (!LLVMIsAAllocaInst(i) && !kc_is_void(i))
                demote_value(d, i);
            i = next;
        }
    }
}

/* ---- Private variables ------------------------------------------------------------------------------------------- */

/* Is the address used only for loads and stores, as far as it can be followed? */
static bool stays(LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsALoadInst(user) || kc_call_of(user) == KC_CALL_NOTHING || LLVMIsAMemIntrinsic(user))
            continue;
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != pointer)
            continue;
        if (LLVMIsAGetElementPtrInst(user) || LLVMIsAAddrSpaceCastInst(user)) {
            if (stays(user))
                continue;
        }
        return false;
    }
    return true;
}

/* OpenCL C has no variables with a variable number of elements. */
static void find_arrays(struct demotion *d)
{
    for (KC_EACH_INSTRUCTION(i, LLVMGetEntryBasicBlock(d->wg->function))) {
        struct kc_slot *slot;

        if (!LLVMIsAAllocaInst(i) || kc_slot_number(d->slots, i) != KC_NONE)
            continue;
        slot = add_slot(d, i, LLVMGetAllocatedType(i));
        slot->array = true;
        if (LLVMGetAlignment(i) > slot->align)
            slot->align = LLVMGetAlignment(i);
        slot->size = (slot->size + slot->align - 1) / slot->align * slot->align;
    }
}

static void find_escapes(struct kc_slots *slots)
{
    for (unsigned s = 0; s < slots->n; s++)
        slots->slots[s].escapes = slots->slots[s].array && !stays(slots->slots[s].variable);
}

/* ---- Liveness ---------------------------------------------------------------------------------------------------- */

static void note_uses(struct kc_slots *slots, unsigned b, LLVMValueRef i)
{
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
        int s = kc_slot_number(slots, LLVMGetOperand(i, k));

        if (s == KC_NONE)
            continue;
        if (slots->slots[s].array)
            kc_bits_set(&slots->touched[b], (size_t)s);
        else if (LLVMIsAStoreInst(i))
            kc_bits_set(&slots->writes[b], (size_t)s);
        else if (!kc_bits_get(&slots->writes[b], (size_t)s))
            kc_bits_set(&slots->reads[b], (size_t)s);
    }
}

static void find_live_values(struct kc_slots *slots, const struct kc_flow *flow)
{
    bool changed = true;

    for (unsigned b = 0; b < flow->n_blocks; b++)
        kc_bits_merge(&slots->live[b], &slots->reads[b], NULL);
    while (changed) {
        changed = false;
        for (unsigned i = flow->n_order; i-- > 0;) {
            int b = flow->order[i];

            for (unsigned s = 0; s < flow->blocks[b].n_successors; s++)
                changed |=
                    kc_bits_merge(&slots->live[b], &slots->live[flow->blocks[b].successors[s]], &slots->writes[b]);
        }
    }
}

/* Arrays count as never wholly overwritten: an array is live where it may have been used before and is used later. */
static void find_live_arrays(struct kc_slots *slots, const struct kc_flow *flow)
{
    struct kc_bits *before = kc_alloc(flow->n_blocks, sizeof(*before)),
                   *after = kc_alloc(flow->n_blocks, sizeof(*after));
    bool changed = true;

    for (unsigned b = 0; b < flow->n_blocks; b++) {
        before[b] = kc_bits_create(slots->n);
        after[b] = kc_bits_create(slots->n);
        kc_bits_merge(&after[b], &slots->touched[b], NULL);
    }
    while (changed) {
        changed = false;
        for (unsigned b = 0; b < flow->n_blocks; b++)
            for (unsigned s = 0; s < flow->blocks[b].n_successors; s++) {
                int to = flow->blocks[b].successors[s];

                changed |= kc_bits_merge(&before[to], &before[b], NULL);
                changed |= kc_bits_merge(&before[to], &slots->touched[b], NULL);
                changed |= kc_bits_merge(&after[b], &after[to], NULL);
            }
    }
    for (unsigned b = 0; b < flow->n_blocks; b++) {
        for (size_t w = 0; w < after[b].n_words; w++)
            slots->touched[b].words[w] = before[b].words[w] & after[b].words[w];
        for (unsigned s = 0; s < slots->n; s++)
            if (slots->slots[s].escapes)
                kc_bits_set(&slots->touched[b], s);
        kc_bits_free(&before[b]);
        kc_bits_free(&after[b]);
    }
    free(before);
    free(after);
}

static void find_lives(struct kc_slots *slots, const struct kc_flow *flow)
{
    struct kc_bits **sets[] = {&slots->reads, &slots->writes, &slots->live, &slots->touched};

    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        *sets[k] = kc_alloc(flow->n_blocks, sizeof(struct kc_bits));
        for (unsigned b = 0; b < flow->n_blocks; b++)
            (*sets[k])[b] = kc_bits_create(slots->n);
    }
    for (unsigned b = 0; b < flow->n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, flow->blocks[b].block))
            if (kc_call_of(i) != KC_CALL_NOTHING)
                note_uses(slots, b, i);
    find_live_values(slots, flow);
    find_live_arrays(slots, flow);
}

void kc_slots_create(struct kc_slots *slots, struct kc_wg *wg, struct kc_uniform *strip, struct kc_uniform *group)
{
    struct demotion d = {.wg = wg, .slots = slots, .strip = strip, .group = group};

    *slots = (struct kc_slots){.n = 0};
    find_arrays(&d);
    d.first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(wg->function));
    demote_phis(&d);
    demote_values(&d);
    find_escapes(slots);
    find_lives(slots, &wg->flow);
    kc_map_clear(&d.places);
    kc_map_clear(&d.costs);
    kc_map_clear(&d.loaded);
    kc_map_clear(&d.counters);
    kc_map_clear(&d.origins);
}

void kc_slots_finish(struct kc_slots *slots, const struct kc_wg *wg)
{
    struct kc_bits *sets[] = {slots->reads, slots->writes, slots->live, slots->touched};

    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        for (unsigned b = 0; b < wg->flow.n_blocks; b++)
            kc_bits_free(&sets[k][b]);
        free(sets[k]);
    }
    free(slots->slots);
    kc_map_clear(&slots->numbers);
}
