/*
 * Quotient and remainder of a form by a constant.
 *
 * Where the form runs through several multiples of the divisor ("rows"), one of its variables is cut at a row's border
 * or, where it runs through whole rows, split into the number of the row and the place in it. What lies before the
 * first whole row and behind the last one becomes parts of their own.
 */
#include "footprint/part.h"

#include <stdlib.h>

/* More than that is not tried. */
#define MAX_STEPS 12

/* form = by * whole + rest, where no coefficient of the rest reaches `by`. */
static void take_multiples(const struct tsl_form *form, int64_t by, struct tsl_form *whole, struct tsl_form *rest)
{
    tsl_form_set(whole, 0);
    rest->constant = form->constant;
    rest->n = form->n;
    for (unsigned v = 0; v < form->n; v++) {
        const int64_t k = form->k[v];

        rest->k[v] = k;
        if (k < by && k > -by)
            continue;
        rest->k[v] = k % by;
        *tsl_form_at(whole, v) = k / by;
    }
}

/* The variable of several values with the largest coefficient, and the range of all the others. -1: none. */
static int leading(const struct tsl_part *part, const struct tsl_form *form, struct tsl_range *rest)
{
    struct tsl_form others;
    int best = -1;

    tsl_form_copy(&others, form);
    for (unsigned v = 0; v < form->n; v++) {
        if (form->k[v] == 0 || part->vars[v].low == part->vars[v].high)
            continue;
        if (best < 0 || llabs(form->k[v]) > llabs(form->k[best]))
            best = (int)v;
    }
    if (best >= 0)
        others.k[best] = 0;
    *rest = tsl_form_range(part, &others);
    return best;
}

/* The first value of a variable, after its lowest, at which k * value + rest lies in another row. */
static tsl_wide next_border(const struct tsl_var *var, tsl_wide k, tsl_wide rest, int64_t by)
{
    tsl_wide row = tsl_floor_div(k * var->low + rest, by);

    if (k > 0)
        return tsl_ceil_div((row + 1) * by - rest, k);
    return tsl_floor_div(rest - row * by, -k) + 1;
}

/* The variable from `at` on waits; the part goes on below. */
static void cut_at(struct tsl_evaluation *e, unsigned v, int64_t at)
{
    tsl_part_cut(tsl_fork(e), v, at, VAR_LIMIT);
    tsl_wait(e);
    tsl_part_cut(&e->now, v, -VAR_LIMIT, at - 1);
}

/* The variable below `at` waits; the part goes on from there. */
static void cut_before(struct tsl_evaluation *e, unsigned v, int64_t at)
{
    tsl_part_cut(tsl_fork(e), v, -VAR_LIMIT, at - 1);
    tsl_wait(e);
    tsl_part_cut(&e->now, v, at, VAR_LIMIT);
}

/* Goes on where the form is at least `least`, or below. */
static bool cut_row(struct tsl_evaluation *e, const struct tsl_form *asked, tsl_wide least)
{
    struct tsl_form form;

    tsl_form_copy(&form, asked);
    if (least < INT64_MIN || least > INT64_MAX || __builtin_sub_overflow(form.constant, (int64_t)least, &form.constant))
        return false;
    return tsl_branch(e, &form) != TRUTH_OPEN;
}

/* Brings the form, of which no coefficient is a multiple of `by`, nearer to one row. False: it can't be done. */
static bool step(struct tsl_evaluation *e, const struct tsl_form *form, int64_t by, tsl_wide next_row)
{
    struct tsl_range rest;
    int v = leading(&e->now, form, &rest);
    const struct tsl_var *var = &e->now.vars[v < 0 ? 0 : v];
    int64_t k, period, first, rows;
    tsl_wide border;

    if (v < 0 || !tsl_has_room(e, 2))
        return false;
    k = llabs(form->k[v]);
    period = by / (int64_t)tsl_gcd(k, by);
    border = next_border(var, form->k[v], rest.low, by);
    if (border > var->high) /* The row changes with the other variables alone, or with several. */
        return cut_row(e, form, next_row * by);
    /* Whole rows, or as many rows as repeat, from `first` on. */
    first = (int64_t)border;
    if (first - var->low == period || k > by / period)
        first = var->low;
    rows = (var->high + 1 - first) / period;
    if (rows < 2) {
        cut_at(e, (unsigned)v, (int64_t)border);
        return true;
    }
    if (first > var->low)
        cut_before(e, (unsigned)v, first);
    if (first + rows * period <= var->high)
        cut_at(e, (unsigned)v, first + rows * period);
    return tsl_part_split(&e->now, (unsigned)v, period);
}

bool tsl_divide(struct tsl_evaluation *e, const struct tsl_form *dividend, int64_t by, struct tsl_form *quotient,
                struct tsl_form *remainder)
{
    struct tsl_form form;

    tsl_form_copy(&form, dividend);
    for (unsigned i = 0; i < MAX_STEPS; i++) {
        struct tsl_range range;
        tsl_wide row;

        if (e->now.empty || !tsl_settle(e, &form))
            return false;
        take_multiples(&form, by, quotient, remainder);
        range = tsl_part_range(&e->now, remainder);
        row = tsl_floor_div(range.low, by);
        if (range.high < (row + 1) * by) {
            if (!tsl_range_fits((struct tsl_range){row * by, row * by}) ||
                __builtin_sub_overflow(remainder->constant, (int64_t)(row * by), &remainder->constant))
                return false;
            quotient->constant = (int64_t)row;
            return true;
        }
        if (!step(e, remainder, by, row + 1))
            return false;
    }
    return false;
}
