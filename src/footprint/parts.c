/*
 * Parts: their variables are cut and split, constraints added, halves left waiting.
 */
#include "footprint/part.h"

#include <string.h>

void tsl_part_copy(struct tsl_part *to, const struct tsl_part *from)
{
    memcpy(to, from, offsetof(struct tsl_part, vars));
    memcpy(to->vars, from->vars, from->n_vars * sizeof(from->vars[0]));
    for (unsigned i = 0; i < from->n_constraints; i++)
        tsl_form_copy(&to->constraints[i], &from->constraints[i]);
}

int tsl_part_add(struct tsl_part *part, int64_t low, int64_t high)
{
    if (part->n_vars == PART_VARS || low < -VAR_LIMIT || high > VAR_LIMIT)
        return -1;
    part->vars[part->n_vars] = (struct tsl_var){.low = low, .high = high};
    if (low > high)
        part->empty = true;
    return part->n_vars++;
}

void tsl_part_cut(struct tsl_part *part, unsigned v, tsl_wide low, tsl_wide high)
{
    struct tsl_var *var = &part->vars[v];

    part->narrowed |= low > var->low || high < var->high;
    if (low > var->low)
        var->low = low > var->high ? var->high + 1 : (int64_t)low;
    if (high < var->high)
        var->high = high < var->low ? var->low - 1 : (int64_t)high;
    if (var->low > var->high)
        part->empty = true;
}

bool tsl_part_expand(const struct tsl_part *part, struct tsl_form *form)
{
    bool overflow = false;

    if (!part->split)
        return true;
    /* In ascending order: what stands for a variable comes behind it. */
    for (unsigned v = 0; v < form->n; v++) {
        const struct tsl_var *var = &part->vars[v];
        int64_t k = form->k[v], product, *at;

        if (k == 0 || !(part->split & 1u << v))
            continue;
        form->k[v] = 0;
        overflow |= __builtin_mul_overflow(k, var->base, &product);
        overflow |= __builtin_add_overflow(form->constant, product, &form->constant);
        overflow |= __builtin_mul_overflow(k, var->period, &product);
        at = tsl_form_at(form, var->quotient);
        overflow |= __builtin_add_overflow(*at, product, at);
        at = tsl_form_at(form, var->remainder);
        overflow |= __builtin_add_overflow(*at, k, at);
    }
    return !overflow;
}

bool tsl_part_split(struct tsl_part *part, unsigned v, int64_t period)
{
    struct tsl_var *var = &part->vars[v];

    if (part->n_vars + 2 > PART_VARS)
        return false;
    var->base = var->low;
    var->period = period;
    var->quotient = (uint8_t)tsl_part_add(part, 0, (var->high - var->low + 1) / period - 1);
    var->remainder = (uint8_t)tsl_part_add(part, 0, period - 1);
    part->split |= (uint16_t)(1u << v);
    part->narrowed = true;
    for (unsigned i = part->n_constraints; i-- > 0;) {
        if (tsl_part_expand(part, &part->constraints[i]))
            continue;
        part->exact = false;
        if (i != --part->n_constraints)
            tsl_form_copy(&part->constraints[i], &part->constraints[part->n_constraints]);
    }
    return true;
}

/* Cuts each variable to where form >= 0 is possible; returns how many of the variables have several values. */
static unsigned tighten(struct tsl_part *part, const struct tsl_form *form)
{
    struct tsl_range range = tsl_form_range(part, form);
    unsigned n = 0;

    for (unsigned v = 0; v < form->n && !part->empty; v++) {
        const struct tsl_var *var = &part->vars[v];
        tsl_wide k = form->k[v];

        if (k == 0 || var->low == var->high)
            continue;
        n++;
        if (k > 0)
            tsl_part_cut(part, v, tsl_ceil_div(k * var->high - range.high, k), var->high);
        else
            tsl_part_cut(part, v, var->low, tsl_floor_div(range.high - k * var->low, -k));
    }
    return n;
}

void tsl_part_constrain(struct tsl_part *part, const struct tsl_form *form)
{
    struct tsl_range range = tsl_form_range(part, form);

    if (range.low >= 0 || part->empty)
        return;
    if (range.high < 0) {
        part->narrowed = part->empty = true;
        return;
    }
    if (tighten(part, form) <= 1 || part->empty || tsl_form_range(part, form).low >= 0)
        return;
    part->narrowed = true;
    if (part->n_constraints == PART_CONSTRAINTS)
        part->exact = false;
    else
        tsl_form_copy(&part->constraints[part->n_constraints++], form);
}

/* Do they differ by a constant, where b is taken `factor` times? */
static bool differ_by(const struct tsl_form *a, const struct tsl_form *b, int factor, tsl_wide *difference)
{
    for (unsigned v = 0; v < a->n || v < b->n; v++)
        if ((tsl_wide)tsl_form_k(a, v) != (tsl_wide)tsl_form_k(b, v) * factor)
            return false;
    *difference = (tsl_wide)a->constant - (tsl_wide)b->constant * factor;
    return true;
}

enum tsl_truth tsl_part_knows(const struct tsl_part *part, const struct tsl_form *form)
{
    struct tsl_range range = tsl_form_range(part, form);
    tsl_wide difference;

    if (range.low >= 0)
        return TRUTH_YES;
    if (range.high < 0)
        return TRUTH_NO;
    for (unsigned i = 0; i < part->n_constraints; i++) {
        if (differ_by(form, &part->constraints[i], 1, &difference) && difference >= 0)
            return TRUTH_YES;
        if (differ_by(form, &part->constraints[i], -1, &difference) && difference < 0)
            return TRUTH_NO;
    }
    return TRUTH_OPEN;
}

struct tsl_range tsl_part_range(const struct tsl_part *part, const struct tsl_form *form)
{
    struct tsl_range range = tsl_form_range(part, form);
    tsl_wide bound;

    for (unsigned i = 0; i < part->n_constraints; i++) {
        if (differ_by(form, &part->constraints[i], 1, &bound) && bound > range.low)
            range.low = bound;
        if (differ_by(form, &part->constraints[i], -1, &bound) && bound < range.high)
            range.high = bound;
    }
    return range;
}

bool tsl_has_room(const struct tsl_evaluation *e, unsigned pieces)
{
    return e->n_parts + pieces <= MAX_PARTS && e->n_all_parts + pieces <= MAX_ALL_PARTS &&
           e->n_waiting + pieces <= MAX_WAITING;
}

struct tsl_part *tsl_fork(struct tsl_evaluation *e)
{
    tsl_part_copy(&e->waiting[e->n_waiting], &e->now);
    return &e->waiting[e->n_waiting];
}

void tsl_wait(struct tsl_evaluation *e)
{
    if (e->waiting[e->n_waiting].empty)
        return;
    e->n_waiting++;
    e->n_parts++;
    e->n_all_parts++;
}

/* Puts the quotient by the local size in place of a dimension's group id. */
static bool settle_group(struct tsl_evaluation *e, unsigned dimension, struct tsl_form *form)
{
    struct tsl_form id, quotient, remainder;
    unsigned v = (unsigned)e->now.group[dimension];
    int64_t k = form->k[v];

    form->k[v] = 0;
    tsl_form_set(&id, 0);
    *tsl_form_at(&id, (unsigned)e->now.global[dimension]) = 1;
    return tsl_divide(e, &id, e->extents[dimension].local, &quotient, &remainder) && tsl_form_add(form, &quotient, k);
}

bool tsl_settle(struct tsl_evaluation *e, struct tsl_form *form)
{
    if (form->n == 0)
        return true;
    if (e->now.lazy) {
        for (unsigned d = 0; d < 3; d++)
            if (e->now.group[d] >= 0 && tsl_form_k(form, (unsigned)e->now.group[d]) != 0 && !settle_group(e, d, form))
                return false;
    }
    return tsl_part_expand(&e->now, form);
}

/* -form - 1, which is >= 0 where form is not. */
static bool negate(struct tsl_form *form)
{
    return tsl_form_scale(form, -1) && !__builtin_sub_overflow(form->constant, 1, &form->constant);
}

enum tsl_truth tsl_branch(struct tsl_evaluation *e, const struct tsl_form *asked)
{
    struct tsl_form form, negative;
    enum tsl_truth known;

    tsl_form_copy(&form, asked);
    if (!tsl_settle(e, &form))
        return TRUTH_OPEN;
    known = tsl_part_knows(&e->now, &form);
    if (known != TRUTH_OPEN || e->now.empty)
        return known;
    tsl_form_copy(&negative, &form);
    if (!negate(&negative) || !tsl_has_room(e, 1) || e->now.n_constraints == PART_CONSTRAINTS)
        return TRUTH_OPEN;
    tsl_part_constrain(tsl_fork(e), &negative);
    tsl_wait(e);
    tsl_part_constrain(&e->now, &form);
    return TRUTH_YES;
}

enum tsl_truth tsl_require(struct tsl_evaluation *e, const struct tsl_form *asked)
{
    struct tsl_form form;
    enum tsl_truth known;

    tsl_form_copy(&form, asked);
    if (!tsl_settle(e, &form))
        return TRUTH_OPEN;
    known = tsl_part_knows(&e->now, &form);
    if (known != TRUTH_OPEN)
        return known;
    tsl_part_constrain(&e->now, &form);
    return e->now.empty ? TRUTH_NO : TRUTH_YES;
}
