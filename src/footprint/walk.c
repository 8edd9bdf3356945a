/*
 * The parts of one access: its guards and loops cut the window, and what they leave waiting is done again.
 */
#include "footprint/part.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- The window ------------------------------------------------------------------------------------------------- */

static bool set_extent(struct tsl_extent *extent, const struct tsl_window *window, unsigned d, bool groups_known)
{
    const bool there = d < window->work_dim;
    const uint64_t size = there ? window->global_size[d] : 1, offset = there ? window->global_offset[d] : 0;
    const uint64_t local = !groups_known ? (size ? size : 1) : there ? window->local_size[d] : 1;
    uint64_t first, n;

    if (size > VAR_LIMIT || offset > VAR_LIMIT || local > VAR_LIMIT)
        return false;
    *extent = (struct tsl_extent){.offset = (int64_t)offset, .size = (int64_t)size, .local = (int64_t)local};
    extent->groups = (int64_t)((size + local - 1) / local);
    first = window->whole || !there ? 0 : window->group_begin[d];
    n = window->whole || !there ? (uint64_t)extent->groups : window->group_count[d];
    if (first > (uint64_t)extent->groups)
        first = (uint64_t)extent->groups;
    if (n > (uint64_t)extent->groups - first)
        n = (uint64_t)extent->groups - first;
    extent->begin = (int64_t)(first * local);
    extent->end = (int64_t)(first + n == (uint64_t)extent->groups ? size : (first + n) * local);
    return true;
}

/* Callers' stacks may be small. One is kept: calls for one context come one after another. */
static _Atomic(struct tsl_evaluation *) spare;

void tsl_evaluation_end(struct tsl_evaluation *e)
{
    if (e)
        free(atomic_exchange(&spare, e));
}

struct tsl_evaluation *tsl_evaluation_begin(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                            const struct tsl_argument_value *arguments)
{
    struct tsl_evaluation *e = atomic_exchange(&spare, NULL);
    e = e ? e : malloc(sizeof(*e));
    if (!e)
        return NULL;
    e->footprint = footprint;
    e->arguments = arguments;
    e->steps = MAX_NODE_STEPS;
    e->generation = 0;
    e->n_waiting = e->n_all_parts = 0;
    e->depth = 0;
    e->kept = KEPT_NONE;
    e->varies = e->early = false;
    e->evicts = footprint->n_nodes > MEMO;
    memset(e->memo, 0, (e->evicts ? MEMO : footprint->n_nodes) * sizeof(e->memo[0]));
    e->groups_known = true;
    for (unsigned d = 0; d < 3 && d < window->work_dim; d++)
        e->groups_known &= window->local_size[d] != 0;
    for (unsigned d = 0; d < 3; d++)
        if (!set_extent(&e->extents[d], window, d, e->groups_known)) {
            tsl_evaluation_end(e);
            return NULL;
        }
    return e;
}

static bool window_is_empty(const struct tsl_evaluation *e)
{
    for (unsigned d = 0; d < 3; d++)
        if (e->extents[d].begin >= e->extents[d].end)
            return true;
    return false;
}

/* ---- Loops and guards ------------------------------------------------------------------------------------------- */

/* The counter of a loop that runs `most` times at most. False: it doesn't run, or its counter has no place; then what
 * names it is any value. */
static bool has_counter(struct tsl_part *part, uint32_t index, tsl_wide most)
{
    if (most <= 0)
        part->empty = true;
    else if (part->counter[index] < 0)
        part->counter[index] = (int8_t)tsl_part_add(part, 0, most - 1 < VAR_LIMIT ? (int64_t)(most - 1) : VAR_LIMIT);
    return !part->empty && part->counter[index] >= 0;
}

static void enter_loop(struct tsl_evaluation *e, uint32_t index)
{
    const struct tsl_loop *loop = &e->footprint->loops[e->access->loops[index]];
    struct tsl_value count;
    struct tsl_range range = {0, VAR_LIMIT};
    struct tsl_form inside;
    int64_t *k;

    tsl_value_set_any(&count);
    if (loop->count != TSL_FOOTPRINT_NONE) {
        tsl_value_copy(&count, tsl_node_value(e, loop->count));
        tsl_value_make_unsigned(e, &count, 64);
    }
    if (count.kind == VALUE_FORM && !tsl_settle(e, &count.form))
        tsl_value_set_any(&count);
    (void)tsl_value_range(e, &count, &range);
    e->now.exact &= loop->exact && count.kind == VALUE_FORM;
    if (e->now.empty || !has_counter(&e->now, index, range.high)) {
        e->now.exact = false;
        return;
    }
    if (count.kind != VALUE_FORM)
        return;
    /* counter < count, which need not be the same for all. */
    tsl_form_copy(&inside, &count.form);
    k = tsl_form_at(&inside, (unsigned)e->now.counter[index]);
    if (__builtin_sub_overflow(*k, 1, k) || __builtin_sub_overflow(inside.constant, 1, &inside.constant) ||
        tsl_require(e, &inside) == TRUTH_OPEN)
        e->now.exact = false;
}

/* The guards that are open still, as bits. NO: one never holds. */
static enum tsl_truth apply_guards(struct tsl_evaluation *e, uint32_t *open)
{
    for (uint32_t i = 0; i < e->access->n_guards; i++) {
        enum tsl_truth truth;

        if (!(*open & UINT32_C(1) << i))
            continue;
        e->early = false;
        truth = tsl_node_demand(e, e->access->guards[i], true);
        if (truth == TRUTH_NO)
            return TRUTH_NO;
        if (truth == TRUTH_YES && !e->early)
            *open &= ~(UINT32_C(1) << i);
    }
    e->early = false;
    return TRUTH_YES;
}

/* Cuts e->now to the executions that the loops' counts and the guards allow; false: there are none. A guard is asked as
 * soon as the counters that it names are there, so that it holds where counts and other guards are computed. */
static bool restrict_now(struct tsl_evaluation *e)
{
    uint32_t open = (UINT32_C(1) << e->access->n_guards) - 1, before;

    e->early = false;
    for (uint32_t i = 0; i <= e->access->n_loops; i++) {
        if (open && apply_guards(e, &open) == TRUTH_NO)
            return false;
        if (i < e->access->n_loops)
            enter_loop(e, i);
        if (e->now.empty)
            return false;
    }
    do {
        before = open;
        if (open && apply_guards(e, &open) == TRUTH_NO)
            return false;
    } while (open != before && open);
    if (open)
        e->now.exact = false;
    return true;
}

/* ---- Constraints that several variables share ------------------------------------------------------------------- */

/* How many values of a variable neither exclude nor ensure form >= 0, whatever the others are; they begin or end where
 * the range does. */
static tsl_wide open_values(const struct tsl_part *part, const struct tsl_form *form, unsigned v, int64_t *border)
{
    const struct tsl_var *var = &part->vars[v];
    struct tsl_range range = tsl_form_range(part, form);
    tsl_wide k = form->k[v], sure;

    if (k > 0) {
        sure = tsl_ceil_div(-(range.low - k * var->low), k);
        *border = (int64_t)(sure > var->high ? var->high + 1 : sure);
        return (tsl_wide)*border - var->low;
    }
    sure = tsl_floor_div(range.low - k * var->high, -k);
    *border = (int64_t)(sure < var->low ? var->low - 1 : sure);
    return (tsl_wide)var->high - *border;
}

#define MAX_OPEN_VALUES 3

/* The variable with the fewest such values, if these are few. -1: none. */
static int cheapest(const struct tsl_part *part, const struct tsl_form *form, int64_t *border)
{
    tsl_wide fewest = MAX_OPEN_VALUES + 1;
    int best = -1;

    for (unsigned v = 0; v < form->n; v++) {
        int64_t at;
        tsl_wide n;

        if (form->k[v] == 0 || part->vars[v].low == part->vars[v].high)
            continue;
        n = open_values(part, form, v, &at);
        if (n >= fewest)
            continue;
        fewest = n;
        best = (int)v;
        *border = at;
    }
    return best;
}

/* Cuts the part in two: where the constraint always holds, and, to wait, the few values of a variable where that
 * depends on others. */
static bool cut_constraint(struct tsl_evaluation *e, unsigned v, int64_t border, bool rising)
{
    struct tsl_part *other;
    const struct tsl_var *var = &e->now.vars[v];

    if (rising ? border > var->high : border < var->low) {
        /* It holds nowhere for sure; go value by value. */
        if (var->low == var->high)
            return false;
        border = rising ? var->high : var->low;
    }
    other = tsl_fork(e);
    if (rising) {
        tsl_part_cut(other, v, -VAR_LIMIT, border - 1);
        tsl_part_cut(&e->now, v, border, VAR_LIMIT);
    } else {
        tsl_part_cut(other, v, border + 1, VAR_LIMIT);
        tsl_part_cut(&e->now, v, -VAR_LIMIT, border);
    }
    tsl_wait(e);
    return true;
}

/* Takes constraints out that hold everywhere, and tightens variables by the others. */
static void refresh_constraints(struct tsl_part *part)
{
    struct tsl_form constraints[PART_CONSTRAINTS];
    unsigned n = part->n_constraints;

    for (unsigned i = 0; i < n; i++)
        tsl_form_copy(&constraints[i], &part->constraints[i]);
    part->n_constraints = 0;
    for (unsigned i = 0; i < n && !part->empty; i++)
        tsl_part_constrain(part, &constraints[i]);
}

/* Cuts the part until its constraints are gone where that is cheap; false: it became empty. */
static bool resolve_constraints(struct tsl_evaluation *e)
{
    for (unsigned i = 0; i < e->now.n_constraints;) {
        int64_t border;
        int v = cheapest(&e->now, &e->now.constraints[i], &border);

        if (v < 0 || !tsl_has_room(e, 1) || !cut_constraint(e, (unsigned)v, border, e->now.constraints[i].k[v] > 0)) {
            i++;
            continue;
        }
        refresh_constraints(&e->now);
        if (e->now.empty)
            return false;
        i = 0;
    }
    return true;
}

/* ---- The walk --------------------------------------------------------------------------------------------------- */

/* Calls `each` for what the addresses leave of e->now, whose loops and guards are done. */
static void finish_now(struct tsl_evaluation *e, tsl_each_part *each, void *data)
{
    const unsigned n = e->access->flags & TSL_ACCESS_IMAGE ? 3 : 1;
    struct tsl_value addresses[3];

    for (unsigned i = 0; i < n; i++) {
        tsl_value_set_any(&addresses[i]);
        if (e->access->address[i] != TSL_FOOTPRINT_NONE) {
            tsl_value_copy(&addresses[i], tsl_node_value(e, e->access->address[i]));
            tsl_value_make_signed(e, &addresses[i], 64);
        }
        if (addresses[i].kind == VALUE_FORM && !tsl_settle(e, &addresses[i].form))
            tsl_value_set_any(&addresses[i]);
    }
    /* Settling one may have split variables of another one. */
    for (unsigned i = 0; i + 1 < n; i++)
        if (addresses[i].kind == VALUE_FORM && !tsl_part_expand(&e->now, &addresses[i].form))
            tsl_value_set_any(&addresses[i]);
    if (!e->now.empty && resolve_constraints(e))
        each(e, addresses, data);
}

static void begin_part(struct tsl_part *part)
{
    part->n_vars = part->n_constraints = 0;
    part->split = part->lazy = 0;
    part->empty = part->narrowed = part->restricted = false;
    part->exact = true;
    memset(part->global, -1, sizeof(part->global));
    memset(part->group, -1, sizeof(part->group));
    memset(part->counter, -1, sizeof(part->counter));
}

bool tsl_evaluation_constant(struct tsl_evaluation *e, uint32_t node, int64_t *value)
{
    struct tsl_range range;

    begin_part(&e->now);
    e->access = NULL;
    if (!tsl_value_range(e, tsl_node_value(e, node), &range) || range.low != range.high || e->varies)
        return false;
    *value = (int64_t)range.low;
    return true;
}

/* Have they the same loops and guards? */
static bool are_alike(const struct tsl_access *a, const struct tsl_access *b)
{
    return a->n_loops == b->n_loops && a->n_guards == b->n_guards &&
           memcmp(a->loops, b->loops, a->n_loops * sizeof(a->loops[0])) == 0 &&
           memcmp(a->guards, b->guards, a->n_guards * sizeof(a->guards[0])) == 0;
}

/* The window cut by the access' loops and guards becomes e->now; false: nothing is left of it. The next access often
 * has the same ones, so what they leave is kept where it is a single part, with the values of nodes. */
static bool restrict_window(struct tsl_evaluation *e, const struct tsl_access *access)
{
    bool alike = e->kept != KEPT_NONE && are_alike(e->access, access);

    e->access = access;
    e->n_parts = 1;
    if (alike && e->kept == KEPT_PART && e->now.narrowed) {
        tsl_part_copy(&e->now, &e->base);
        e->generation++;
    }
    if (alike)
        return e->kept == KEPT_PART;
    begin_part(&e->now);
    e->generation++;
    e->now.restricted = restrict_now(e);
    e->kept = e->n_waiting ? KEPT_NONE : e->now.restricted ? KEPT_PART : KEPT_NOTHING;
    e->now.narrowed = false;
    if (e->kept == KEPT_PART)
        tsl_part_copy(&e->base, &e->now);
    return e->now.restricted;
}

void tsl_evaluation_walk(struct tsl_evaluation *e, const struct tsl_access *access, tsl_each_part *each, void *data)
{
    if (window_is_empty(e))
        return;
    if (restrict_window(e, access))
        finish_now(e, each, data);
    while (e->n_waiting > 0) {
        tsl_part_copy(&e->now, &e->waiting[--e->n_waiting]);
        e->generation++;
        /* Guards that were open may hold, or not, in a smaller part. */
        if (!e->now.restricted || !e->now.exact)
            e->now.restricted = restrict_now(e);
        if (e->now.restricted)
            finish_now(e, each, data);
        e->now.narrowed = true;
    }
}
