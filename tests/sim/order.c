/* What comes before what by the OpenCL specification, and whether a new node fits into that. */
#include "sim.h"

bool sim_set_has(const struct sim_set *set, unsigned i)
{
    return set->words[i / 64] >> (i % 64) & 1;
}

void sim_set_add(struct sim_set *set, unsigned i)
{
    set->words[i / 64] |= UINT64_C(1) << (i % 64);
}

void sim_set_join(struct sim_set *set, const struct sim_set *other)
{
    for (unsigned i = 0; i < SIM_WORDS; i++)
        set->words[i] |= other->words[i];
}

/* ---- Before ---- */

static void settle_node(struct sim *sim, struct sim_node *node)
{
    node->before = node->base;
    for (unsigned i = 0; i < node->n_preds; i++) {
        sim_set_add(&node->before, node->preds[i]);
        sim_set_join(&node->before, &sim->nodes[node->preds[i]].before);
    }
}

/* A user event may be set after commands with higher numbers, and be waited for by some of them: so walk until nothing
 * changes. Programs are short, and nearly always the second walk is the last. */
void sim_order_settle(struct sim *sim)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (unsigned i = 0; i < sim->n_nodes; i++) {
            struct sim_set old = sim->nodes[i].before;

            settle_node(sim, &sim->nodes[i]);
            for (unsigned w = 0; w < SIM_WORDS; w++)
                changed |= old.words[w] != sim->nodes[i].before.words[w];
        }
    }
}

static bool behind(const struct sim *sim, const struct sim_node *node, bool also_later)
{
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_node *other = &sim->nodes[i];

        if (other->unset && (also_later || !other->later) && (other == node || sim_set_has(&node->before, i)))
            return true;
    }
    return false;
}

bool sim_order_blocked(const struct sim *sim, const struct sim_node *node)
{
    return behind(sim, node, false);
}

/* With real threads one that another thread sets may be set already. */
bool sim_order_held(const struct sim *sim, const struct sim_node *node)
{
    return behind(sim, node, !sim_world_has_threads());
}

/* ---- Conflicts ---- */

bool sim_accesses_meet(const struct sim_access *a, const struct sim_access *b)
{
    size_t a_rows = sim_n_rows(a), b_rows = sim_n_rows(b);

    if (a->area != b->area || !(a->write || b->write))
        return false;
    for (size_t i = 0; i < a_rows; i++)
        for (size_t j = 0; j < b_rows; j++)
            if (sim_row(a, i) < sim_row(b, j) + b->size && sim_row(b, j) < sim_row(a, i) + a->size)
                return true;
    return false;
}

static bool by_host(const struct sim_node *node)
{
    return node->kind == SIM_MAP || node->kind == SIM_UNMAP || node->queue < 0;
}

/* While an object is mapped for writing no command may touch it, while it is mapped for reading none may write to it:
 * the object, not the bytes (OpenCL 3.0, 5.4.2). */
static struct sim_access widened(const struct sim_node *node, const struct sim_access *access, bool wide)
{
    if (wide && access->size && (node->kind == SIM_MAP || node->kind == SIM_UNMAP))
        return sim_range(access->area, 0, SIM_ARENA_SIZE, access->write);
    return *access;
}

/* Is the kernel given an object that is mapped or unmapped? Whether it touches that the core needn't know. */
static bool is_given(const struct sim_node *kernel, const struct sim_node *map)
{
    const struct sim_access *mapped = map->dst.size ? &map->dst : &map->src;

    return (map->kind == SIM_MAP || map->kind == SIM_UNMAP) && kernel->idle == (int)mapped->area;
}

static bool conflict(const struct sim_node *x, const struct sim_node *y)
{
    bool wide = by_host(x) != by_host(y);
    struct sim_access x_dst = widened(x, &x->dst, wide), x_src = widened(x, &x->src, wide);
    struct sim_access y_dst = widened(y, &y->dst, wide), y_src = widened(y, &y->src, wide);

    if (is_given(x, y) || is_given(y, x))
        return true;
    return sim_accesses_meet(&x_dst, &y_dst) || sim_accesses_meet(&x_dst, &y_src) || sim_accesses_meet(&x_src, &y_dst);
}

/* x waits for a user event that node doesn't wait for, and node can be done before that is set. */
static bool oblige(struct sim *sim, unsigned x, const struct sim_node *node, struct sim_set *obliged)
{
    /* Between a map and its unmap there is no place for it. */
    if (node->kind == SIM_MAP || sim->nodes[x].kind == SIM_UNMAP || sim_order_blocked(sim, node))
        return false;
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        if (sim->nodes[i].unset && !sim->nodes[i].later && sim_set_has(&sim->nodes[x].before, i)) {
            sim_set_add(obliged, i);
            return true;
        }
    }
    return false;
}

void sim_order_wait(struct sim_node *node, unsigned i)
{
    node->waits[node->n_waits++] = (uint16_t)i;
    node->preds[node->n_preds++] = (uint16_t)i;
}

static bool resolve(struct sim *sim, unsigned x, struct sim_node *node, bool may_wait, struct sim_set *obliged)
{
    struct sim_node *other = &sim->nodes[x];
    bool can_wait = may_wait && other->event && node->n_waits < 6;

    if (other->kind == SIM_MAP && other->mapped)
        return false;
    if ((!can_wait || sim_pick(sim, 2)) && oblige(sim, x, node, obliged))
        return true;
    if (!can_wait)
        return false;
    sim_order_wait(node, x);
    settle_node(sim, node);
    return true;
}

bool sim_order_fits(struct sim *sim, struct sim_node *node, bool may_wait)
{
    struct sim_set obliged = {{0}}; /* user events that must be set after the node is complete */

    settle_node(sim, node);
    for (unsigned x = sim->n_nodes; x-- > 0;) {
        const struct sim_node *other = &sim->nodes[x];

        if (other == node || (node->map == (int)x && node->kind >= SIM_UNMAP) || !conflict(other, node))
            continue;
        /* Between a map and its unmap the application has the range. */
        if (other->kind == SIM_MAP && other->mapped)
            return false;
        if (!sim_set_has(&node->before, x) && !resolve(sim, x, node, may_wait, &obliged))
            return false;
    }
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        if (!sim_set_has(&obliged, i))
            continue;
        if (sim_order_blocked(sim, node)) /* A wait was added after all. */
            return false;
        node->needs_event = true;
        if (node->queue >= 0)
            sim_set_add(&sim->nodes[i].oblige, sim_index(sim, node));
    }
    return true;
}
