#include "compiler/workgroup/analysis/region.h"

#include "compiler/workgroup/analysis/rare_loops.h"
#include "compiler/workgroup/analysis/serial.h"

/* Inputs of the plan's construction; none is owned. */
struct planning {
    const struct kc_wg *wg;
    const struct kc_bounds *bounds;
    const struct kc_slots *slots;
    const struct kc_uniform *strip, *group;
    bool pseudo;
};

static bool is_bound(const struct planning *p, int block)
{
    return p->bounds->real[block] || (p->pseudo && p->bounds->pseudo[block]);
}

static void add_once(int **list, unsigned *n, int bound)
{
    for (unsigned i = 0; i < *n; i++)
        if ((*list)[i] == bound)
            return;
    *list = kc_more(*list, *n, sizeof(int));
    (*list)[(*n)++] = bound;
}

/* All blocks from the start up to the next bounds. The start's own bound is an exit if a loop leads back to it.
 * within: a loop whose bounds don't count; KC_NONE. */
static void find_blocks(const struct planning *p, struct kc_region *region, int within)
{
    const struct kc_flow *flow = &p->wg->flow;
    int *stack = kc_alloc(flow->n_blocks, sizeof(int));
    int depth = 1;

    region->blocks = kc_bits_create(flow->n_blocks);
    kc_bits_set(&region->blocks, (size_t)region->start);
    stack[0] = region->start;
    while (depth > 0) {
        const struct kc_block *block = &flow->blocks[stack[--depth]];

        if (block->n_successors == 0)
            add_once(&region->exits, &region->n_exits, KC_EXIT);
        for (unsigned s = 0; s < block->n_successors; s++) {
            int to = block->successors[s];
            bool inside = within != KC_NONE && kc_bits_get(&flow->loops[within].blocks, (size_t)to);

            if (is_bound(p, to) && !inside)
                add_once(&region->exits, &region->n_exits, to);
            else if (!kc_bits_get(&region->blocks, (size_t)to)) {
                kc_bits_set(&region->blocks, (size_t)to);
                stack[depth++] = to;
            }
        }
    }
    free(stack);
}

/* Whether lanes may diverge follows from the exits: only all lanes together reach an unmasked bound. */
static bool exits_diverge(const struct planning *p, const struct kc_region *region)
{
    if (region->n_exits < 2 && !region->masked)
        return false;
    for (unsigned e = 0; e < region->n_exits; e++)
        if (region->exits[e] != KC_EXIT && p->strip->divergent_block[region->exits[e]])
            return true;
    return region->masked;
}

/* in: what live lanes bring and the region uses, not what only passes by. */
static void find_slots(const struct planning *p, struct kc_region *region)
{
    const struct kc_slots *slots = p->slots;
    struct kc_bits written = kc_bits_create(slots->n), wanted = kc_bits_create(slots->n);

    region->in = kc_bits_create(slots->n);
    region->out = kc_bits_create(slots->n);
    for (unsigned b = 0; b < p->wg->flow.n_blocks; b++)
        if (kc_bits_get(&region->blocks, b)) {
            kc_bits_merge(&written, &slots->writes[b], NULL);
            kc_bits_merge(&region->in, &slots->reads[b], NULL);
        }
    for (unsigned e = 0; e < region->n_exits; e++)
        if (region->exits[e] != KC_EXIT)
            kc_bits_merge(&wanted, &slots->live[region->exits[e]], NULL);
    for (size_t w = 0; w < written.n_words; w++) {
        region->out.words[w] = written.words[w] & wanted.words[w];
        region->in.words[w] = (region->in.words[w] | region->out.words[w]) & slots->live[region->start].words[w];
    }
    if (region->masked)
        kc_bits_merge(&region->in, &region->out, NULL); /* lanes that don't take part keep theirs */
    kc_bits_free(&written);
    kc_bits_free(&wanted);
}

struct kc_region *kc_region_at(const struct kc_phase *phase, int block)
{
    for (unsigned r = 0; block != KC_EXIT && r < phase->n_regions; r++)
        if (phase->regions[r].start == block)
            return &phase->regions[r];
    return NULL;
}

static bool is_serial_region(const struct planning *p, const struct kc_region *region)
{
    const struct kc_flow *flow = &p->wg->flow;

    for (unsigned b = 0; b < flow->n_blocks; b++)
        if (kc_bits_get(&region->blocks, b) &&
            (kc_is_serial_block(p->wg, flow->blocks[b].block) || kc_is_serial_loop(p->wg, flow->blocks[b].loop)))
            return true;
    return false;
}

/* The loop behind the region's block, if few lanes run it one after the other. */
static void add_few(const struct planning *p, struct kc_region *region)
{
    int loop = kc_rare_loop_behind(p->wg, region->start);

    if (loop == KC_NONE)
        return;
    region->few = kc_alloc(1, sizeof(*region->few));
    *region->few = (struct kc_region){.start = region->start, .masked = true, .serial = true, .diverges = true};
    find_blocks(p, region->few, loop);
    find_slots(p, region->few);
    region->few->pending = kc_bits_create(p->wg->flow.n_blocks + 1); /* no lane waits while one runs it */
}

static void add_region(const struct planning *p, struct kc_phase *phase, int start)
{
    struct kc_region *region;

    phase->regions = kc_more(phase->regions, phase->n_regions, sizeof(*phase->regions));
    region = &phase->regions[phase->n_regions++];
    *region = (struct kc_region){.start = start};
    region->masked = p->pseudo && p->strip->divergent_block[start];
    find_blocks(p, region, KC_NONE);
    region->serial = is_serial_region(p, region);
    region->diverges = p->pseudo && exits_diverge(p, region);
    find_slots(p, region);
    region->pending = kc_bits_create(p->wg->flow.n_blocks + 1);
    phase->needs_order |= region->masked || region->diverges;
    if (region->masked)
        add_few(p, region);
}

static unsigned order_of(const struct planning *p, size_t bound)
{
    return bound == p->wg->flow.n_blocks ? KC_EXIT_ORDER : p->bounds->order[bound];
}

/* After a region lanes may wait at its exits, and where others waited while it ran: the first of these bounds in order
 * runs next, and the rest stay pending. */
static bool pass_on_pending(const struct planning *p, struct kc_phase *phase, const struct kc_region *region)
{
    size_t n = p->wg->flow.n_blocks + 1;
    bool changed = false;

    for (size_t next = 0; next < n; next++) {
        struct kc_region *to = NULL;

        if (kc_bits_get(&region->pending, next) && next < n - 1 && !p->bounds->real[next])
            to = kc_region_at(phase, (int)next);
        if (!to)
            continue;
        for (size_t other = 0; other < n; other++) {
            if (!kc_bits_get(&region->pending, other) || order_of(p, other) <= order_of(p, next) ||
                kc_bits_get(&to->pending, other))
                continue;
            kc_bits_set(&to->pending, other);
            changed = true;
        }
    }
    return changed;
}

static void add_exits(const struct planning *p, const struct kc_region *region, struct kc_bits *pending)
{
    for (unsigned e = 0; e < region->n_exits; e++) {
        int to = region->exits[e];

        kc_bits_set(pending, to == KC_EXIT ? p->wg->flow.n_blocks : (size_t)to);
    }
}

static void find_pending(const struct planning *p, struct kc_phase *phase)
{
    bool changed = true;

    for (unsigned r = 0; r < phase->n_regions; r++) {
        add_exits(p, &phase->regions[r], &phase->regions[r].pending);
        if (phase->regions[r].few)
            add_exits(p, phase->regions[r].few, &phase->regions[r].pending);
    }
    while (changed) {
        changed = false;
        for (unsigned r = 0; r < phase->n_regions; r++)
            changed |= pass_on_pending(p, phase, &phase->regions[r]);
    }
}

static void find_phase_slots(const struct planning *p, struct kc_phase *phase)
{
    const struct kc_slots *slots = p->slots;
    struct kc_bits wanted = kc_bits_create(slots->n);

    phase->in = kc_bits_create(slots->n);
    phase->out = kc_bits_create(slots->n);
    if (phase->start != 0)
        kc_bits_merge(&phase->in, &slots->live[phase->start], NULL);
    for (unsigned e = 0; e < phase->n_exits; e++)
        if (phase->exits[e] != KC_EXIT)
            kc_bits_merge(&wanted, &slots->live[phase->exits[e]], NULL);
    for (unsigned r = 0; r < phase->n_regions; r++)
        for (size_t w = 0; w < wanted.n_words; w++)
            phase->out.words[w] |= phase->regions[r].out.words[w] & wanted.words[w];
    kc_bits_free(&wanted);
}

static void make_phase(const struct planning *p, struct kc_phase *phase, int start)
{
    *phase = (struct kc_phase){.start = start};
    phase->after_returns = start != 0 && p->group->divergent_block[start];
    add_region(p, phase, start);
    for (unsigned r = 0; r < phase->n_regions; r++)
        for (unsigned e = 0; e < phase->regions[r].n_exits; e++) {
            int to = phase->regions[r].exits[e];

            if (to == KC_EXIT || p->bounds->real[to])
                add_once(&phase->exits, &phase->n_exits, to);
            else if (!kc_region_at(phase, to))
                add_region(p, phase, to);
        }
    phase->needs_order |= p->pseudo && phase->after_returns;
    find_pending(p, phase);
    find_phase_slots(p, phase);
}

static bool has_phase(const struct kc_plan *plan, int start)
{
    for (unsigned i = 0; i < plan->n_phases; i++)
        if (plan->phases[i].start == start)
            return true;
    return false;
}

static void add_phase(const struct planning *p, struct kc_plan *plan, int start)
{
    plan->phases = kc_more(plan->phases, plan->n_phases, sizeof(*plan->phases));
    make_phase(p, &plan->phases[plan->n_phases++], start);
}

void kc_plan_create(struct kc_plan *plan, const struct kc_wg *wg, const struct kc_bounds *bounds,
                    const struct kc_slots *slots, const struct kc_uniform *strip, const struct kc_uniform *group,
                    bool pseudo)
{
    struct planning p = {wg, bounds, slots, strip, group, pseudo};

    *plan = (struct kc_plan){.n_phases = 0};
    add_phase(&p, plan, 0);
    for (unsigned i = 0; i < plan->n_phases; i++)
        for (unsigned e = 0; e < plan->phases[i].n_exits; e++)
            if (plan->phases[i].exits[e] != KC_EXIT && !has_phase(plan, plan->phases[i].exits[e]))
                add_phase(&p, plan, plan->phases[i].exits[e]);
}

static void finish_region(struct kc_region *region)
{
    kc_bits_free(&region->blocks);
    kc_bits_free(&region->in);
    kc_bits_free(&region->out);
    kc_bits_free(&region->pending);
    free(region->exits);
    if (region->few)
        finish_region(region->few);
    free(region->few);
}

static void finish_phase(struct kc_phase *phase)
{
    for (unsigned r = 0; r < phase->n_regions; r++)
        finish_region(&phase->regions[r]);
    kc_bits_free(&phase->in);
    kc_bits_free(&phase->out);
    free(phase->regions);
    free(phase->exits);
}

void kc_plan_finish(struct kc_plan *plan)
{
    for (unsigned i = 0; i < plan->n_phases; i++)
        finish_phase(&plan->phases[i]);
    free(plan->phases);
}
