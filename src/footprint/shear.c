/*
 * Boxes of parts with constraints: other variables may fit them better.
 *
 * Where a loop runs from an id on (for j = i; j < n), the counter's range depends on the id, but the sum of both, which
 * is what the address has, ends at n for all. So a variable is replaced by what a constraint says is at least 0; its
 * own bounds become constraints instead. Whatever gives the better boxes is taken.
 */
#include "footprint/part.h"

#define MAX_ROUNDS  2
#define MAX_SHEARED 3u /* constraints: more are rare, and many ways to try */

/* Puts `instead` in v's place. */
static bool substitute(struct tsl_form *form, unsigned v, const struct tsl_form *instead)
{
    int64_t k = tsl_form_k(form, v);

    if (k == 0)
        return true;
    form->k[v] = 0;
    return tsl_form_add(form, instead, k);
}

/* instead - low, or high - instead. */
static bool bound(const struct tsl_form *instead, int factor, int64_t constant, struct tsl_form *form)
{
    tsl_form_copy(form, instead);
    return tsl_form_scale(form, factor) && !__builtin_add_overflow(form->constant, constant, &form->constant);
}

/* Variable v, which the constraint has once, is replaced by what the constraint says is not negative. False: it can't
 * be; the part is spoiled then. */
static bool shear(struct tsl_part *part, struct tsl_form *address, unsigned constraint, unsigned v)
{
    const struct tsl_form condition = part->constraints[constraint];
    const struct tsl_range range = tsl_form_range(part, &condition);
    const int sign = condition.k[v] > 0 ? 1 : -1;
    const int64_t low = part->vars[v].low, high = part->vars[v].high;
    struct tsl_form instead = condition, form;
    int w = range.high <= VAR_LIMIT ? tsl_part_add(part, 0, (int64_t)range.high) : -1;

    if (w < 0)
        return false;
    instead.k[v] = 0;
    if (!tsl_form_scale(&instead, -sign) || tsl_form_k(&instead, (unsigned)w) != 0)
        return false;
    *tsl_form_at(&instead, (unsigned)w) = sign;
    part->constraints[constraint] = part->constraints[--part->n_constraints];
    for (unsigned i = 0; i < part->n_constraints; i++)
        if (!substitute(&part->constraints[i], v, &instead))
            return false;
    if (!substitute(address, v, &instead) || !bound(&instead, 1, -low, &form))
        return false;
    tsl_part_constrain(part, &form);
    if (!bound(&instead, -1, high, &form))
        return false;
    tsl_part_constrain(part, &form);
    return !part->empty;
}

/* Bytes, and how far they reach. */
static double weigh(const struct tsl_raw_box *boxes, unsigned n, bool may)
{
    double weight = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct tsl_raw_box *box = &boxes[i];

        weight += (double)box->width * (double)box->count[0] * (double)box->count[1];
        if (may)
            weight += (double)box->width + (double)box->stride[0] * (double)(box->count[0] - 1) +
                      (double)box->stride[1] * (double)(box->count[1] - 1);
    }
    return weight;
}

/* One way to cover, and what it gives. */
struct attempt {
    struct tsl_part part;
    struct tsl_form address;
    unsigned n;
    double weight;
    struct tsl_raw_box boxes[MAX_COVER];
};

static void cover(struct attempt *attempt, uint32_t width, bool may)
{
    attempt->n = may ? tsl_cover_may(&attempt->part, &attempt->address, width, attempt->boxes)
                     : tsl_cover_sure(&attempt->part, &attempt->address, width, attempt->boxes);
    attempt->weight = weigh(attempt->boxes, attempt->n, may);
}

static bool is_better(const struct attempt *a, const struct attempt *b, bool may)
{
    if (!may)
        return a->weight > b->weight;
    return a->n > 0 && (b->n == 0 || a->weight < b->weight);
}

/* Replaces one variable of one constraint, if that's better; false: nothing is. */
static bool improve(struct attempt *best, uint32_t width, bool may)
{
    struct attempt old = *best, next;
    bool found = false;

    for (unsigned i = 0; i < old.part.n_constraints; i++) {
        for (unsigned v = 0; v < old.part.n_vars; v++) {
            int64_t k = tsl_form_k(&old.part.constraints[i], v);

            if ((k != 1 && k != -1) || tsl_form_k(&old.address, v) == 0 ||
                old.part.vars[v].low == old.part.vars[v].high)
                continue;
            next.part = old.part;
            next.address = old.address;
            if (!shear(&next.part, &next.address, i, v))
                continue;
            cover(&next, width, may);
            if (!is_better(&next, best, may))
                continue;
            *best = next;
            found = true;
        }
    }
    return found;
}

unsigned tsl_cover(const struct tsl_part *part, const struct tsl_form *address, uint32_t width, bool may,
                   struct tsl_raw_box boxes[MAX_COVER])
{
    struct attempt best;

    if (part->n_constraints == 0 || part->n_constraints > MAX_SHEARED)
        return may ? tsl_cover_may(part, address, width, boxes) : tsl_cover_sure(part, address, width, boxes);
    best.part = *part;
    best.address = *address;
    cover(&best, width, may);
    for (unsigned round = 0; round < MAX_ROUNDS && improve(&best, width, may); round++)
        ;
    for (unsigned i = 0; i < best.n; i++)
        boxes[i] = best.boxes[i];
    return best.n;
}
