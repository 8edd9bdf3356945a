#include "compiler/workgroup/analysis/combined.h"
#include "compiler/workgroup/analysis/rare_loops.h"
#include "compiler/workgroup/analysis/region.h"
#include "compiler/workgroup/analysis/serial.h"

/* From so many instructions in the arms of a uniform branch on, a branch of the whole strip pays. */
#define HEAVY_WAYS 6

static unsigned count_instructions(const struct kc_flow *flow, const struct kc_bits *blocks)
{
    unsigned n = 0;

    for (unsigned b = 0; b < flow->n_blocks; b++)
        if (kc_bits_get(blocks, b))
            for (KC_EACH_INSTRUCTION(i, flow->blocks[b].block))
                n += LLVMIsAStoreInst(i) || LLVMIsALoadInst(i) ? 3 : 1; /* masked if there is no branch around them */
    return n;
}

/* A loop that lanes run one after the other begins at the block before it, and has no bounds inside. */
static void bound_serial_loop(struct kc_bounds *bounds, const struct kc_flow *flow, const struct kc_loop *loop)
{
    const struct kc_block *header = &flow->blocks[loop->header];

    for (unsigned p = 0; p < header->n_predecessors; p++)
        if (!kc_bits_get(&loop->blocks, (size_t)header->predecessors[p]))
            bounds->pseudo[header->predecessors[p]] = true;
}

static void bound_loops(struct kc_bounds *bounds, const struct kc_wg *wg)
{
    const struct kc_flow *flow = &wg->flow;

    for (unsigned l = 0; l < flow->n_loops; l++) {
        if (kc_is_serial_loop(wg, flow->loops[l].parent))
            continue;
        if (kc_is_serial_loop(wg, (int)l))
            bound_serial_loop(bounds, flow, &flow->loops[l]);
        else
            bounds->pseudo[flow->loops[l].header] = true;
        for (unsigned b = 0; b < flow->n_blocks; b++)
            for (unsigned s = 0; kc_bits_get(&flow->loops[l].blocks, b) && s < flow->blocks[b].n_successors; s++)
                if (!kc_bits_get(&flow->loops[l].blocks, (size_t)flow->blocks[b].successors[s]))
                    bounds->pseudo[flow->blocks[b].successors[s]] = true;
    }
}

static void bound_uniform_branch(struct kc_bounds *bounds, const struct kc_flow *flow, int from)
{
    const struct kc_block *block = &flow->blocks[from];
    struct kc_bits ways = kc_flow_between(flow, from, block->post_dominator);
    bool heavy = count_instructions(flow, &ways) >= HEAVY_WAYS;

    kc_bits_free(&ways);
    if (!heavy)
        return;
    for (unsigned s = 0; s < block->n_successors; s++)
        bounds->pseudo[block->successors[s]] = true;
    if (block->post_dominator != KC_NONE)
        bounds->pseudo[block->post_dominator] = true;
}

static void bound_uniform_branches(struct kc_bounds *bounds, const struct kc_flow *flow, const struct kc_uniform *strip)
{
    for (unsigned b = 0; b < flow->n_blocks; b++)
        if (flow->blocks[b].n_successors > 1 && !strip->divergent_branch[b] && !strip->divergent_block[b])
            bound_uniform_branch(bounds, flow, (int)b);
}

/* Instructions without a vector form, and those that a strip makes at once, are alone in their blocks (serial.h). */
static void bound_serial_blocks(struct kc_bounds *bounds, const struct kc_wg *wg)
{
    const struct kc_flow *flow = &wg->flow;

    for (unsigned b = 0; b < flow->n_blocks; b++) {
        bool part = kc_is_serial_block(wg, flow->blocks[b].block) || kc_find_combined(flow->blocks[b].block);

        if (!part || kc_is_serial_loop(wg, flow->blocks[b].loop))
            continue;
        bounds->pseudo[b] = true;
        for (unsigned s = 0; s < flow->blocks[b].n_successors; s++)
            bounds->pseudo[flow->blocks[b].successors[s]] = true;
    }
}

static void bound_rare_entries(struct kc_bounds *bounds, const struct kc_wg *wg)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        if (kc_rare_loop_behind(wg, (int)b) != KC_NONE)
            bounds->pseudo[b] = true;
}

/* If lanes diverge and an arm has a bound, the point where they meet again must be a bound. */
static bool bound_meeting(struct kc_bounds *bounds, const struct kc_flow *flow, int from)
{
    int meet = flow->blocks[from].post_dominator;
    struct kc_bits ways;
    bool bounded = false;

    if (meet == KC_NONE || bounds->pseudo[meet] || bounds->real[meet])
        return false;
    ways = kc_flow_between(flow, from, meet);
    for (unsigned b = 0; b < flow->n_blocks; b++)
        bounded |= kc_bits_get(&ways, b) && (bounds->pseudo[b] || bounds->real[b]);
    kc_bits_free(&ways);
    bounds->pseudo[meet] = bounded;
    return bounded;
}

static void bound_meetings(struct kc_bounds *bounds, const struct kc_flow *flow, const struct kc_uniform *strip)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (unsigned b = 0; b < flow->n_blocks; b++)
            if (strip->divergent_branch[b])
                changed |= bound_meeting(bounds, flow, (int)b);
    }
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

struct ordering {
    const struct kc_flow *flow;
    unsigned *order, next;
};

/* The item of loop `around` (KC_NONE: the function) that contains a block: the block itself, or the header of the next
 * inner loop; KC_NONE: it is outside. */
static int item_of(const struct kc_flow *flow, int block, int around)
{
    int loop = flow->blocks[block].loop, item = block;

    while (loop != around) {
        if (loop == KC_NONE)
            return KC_NONE;
        item = flow->loops[loop].header;
        loop = flow->loops[loop].parent;
    }
    return item;
}

static void order_level(struct ordering *o, int around);

static void order_item(struct ordering *o, int item, int around)
{
    int loop = o->flow->blocks[item].loop;

    if (loop != around && o->flow->loops[loop].header == item)
        order_level(o, loop);
    else
        o->order[item] = ++o->next;
}

/* Reverse post-order is topological for a level's items, too: a loop is entered at its header, the first of its
 * blocks. */
static void order_level(struct ordering *o, int around)
{
    int header = around == KC_NONE ? KC_NONE : o->flow->loops[around].header;

    for (unsigned i = 0; i < o->flow->n_order; i++) {
        int block = o->flow->order[i];

        if (block != header && item_of(o->flow, block, around) == block)
            order_item(o, block, around);
    }
    if (header != KC_NONE)
        o->order[header] = ++o->next;
}

static void order_bounds(struct kc_bounds *bounds, const struct kc_flow *flow)
{
    struct ordering o = {.flow = flow, .order = bounds->order};

    order_level(&o, KC_NONE);
    for (unsigned b = 0; b < flow->n_blocks; b++)
        if (bounds->real[b])
            bounds->order[b] += flow->n_blocks;
}

void kc_bounds_create(struct kc_bounds *bounds, const struct kc_wg *wg, const struct kc_uniform *strip)
{
    const struct kc_flow *flow = &wg->flow;

    bounds->real = kc_alloc(flow->n_blocks, sizeof(bool));
    bounds->pseudo = kc_alloc(flow->n_blocks, sizeof(bool));
    bounds->order = kc_alloc(flow->n_blocks, sizeof(unsigned));
    for (unsigned b = 0; b < flow->n_blocks; b++)
        bounds->real[b] = kc_call_of(LLVMGetFirstInstruction(flow->blocks[b].block)) == KC_CALL_BARRIER;
    bound_loops(bounds, wg);
    bound_serial_blocks(bounds, wg);
    bound_rare_entries(bounds, wg);
    bound_uniform_branches(bounds, flow, strip);
    bound_meetings(bounds, flow, strip);
    order_bounds(bounds, flow);
}

void kc_bounds_finish(struct kc_bounds *bounds)
{
    free(bounds->real);
    free(bounds->pseudo);
    free(bounds->order);
}
