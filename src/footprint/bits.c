/*
 * And, or and exclusive or of forms.
 *
 * A form and a mask: the bits from l to h - 1 of x are x mod 2^h - x mod 2^l, so what remains of x under a mask is a
 * sum over the mask's runs of bits. From it x | m = x + m - (x & m), and x ^ m = x + m - 2 (x & m). A form that stands
 * for its value modulo 2^bits serves as well, as 2^h divides that.
 */
#include "footprint/part.h"

/* Masks of more runs than that are not taken apart. */
#define MAX_RUNS 3

/* to += factor * (form mod 2^n). */
static bool add_low_bits(struct tsl_evaluation *e, const struct tsl_form *form, unsigned n, unsigned bits, int factor,
                         struct tsl_form *to)
{
    struct tsl_form quotient, remainder;

    if (n == 0)
        return true;
    if (n == bits)
        return tsl_form_add(to, form, factor);
    return n < 63 && tsl_divide(e, form, INT64_C(1) << n, &quotient, &remainder) &&
           tsl_form_add(to, &remainder, factor);
}

/* to = form & mask, of so many bits. */
static bool masked(struct tsl_evaluation *e, const struct tsl_form *form, uint64_t mask, unsigned bits,
                   struct tsl_form *to)
{
    unsigned low = 0;

    tsl_form_set(to, 0);
    for (unsigned run = 0; low < bits && mask >> low != 0; run++) {
        unsigned high;

        if (run == MAX_RUNS)
            return false;
        low += (unsigned)__builtin_ctzll(mask >> low);
        high = ~(mask >> low) ? low + (unsigned)__builtin_ctzll(~(mask >> low)) : 64;
        if (!add_low_bits(e, form, high, bits, 1, to) || !add_low_bits(e, form, low, bits, -1, to))
            return false;
        low = high;
    }
    return true;
}

static bool with_mask(struct tsl_evaluation *e, uint8_t op, unsigned bits, const struct tsl_form *form, int64_t mask,
                      struct tsl_form *to)
{
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    struct tsl_form kept;

    if (!masked(e, form, (uint64_t)mask & all, bits, &kept))
        return false;
    tsl_form_copy(to, op == TSL_NODE_AND ? &kept : form);
    if (op == TSL_NODE_AND)
        return true;
    return tsl_form_add(to, &kept, op == TSL_NODE_OR ? -1 : -2) &&
           !__builtin_add_overflow(to->constant, mask, &to->constant);
}

/* Is each value of a a multiple of a power of two, and each of b from 0 to less than that? */
static bool disjoint(const struct tsl_evaluation *e, const struct tsl_form *a, const struct tsl_form *b)
{
    struct tsl_range range = tsl_form_range(&e->now, b);
    uint64_t all = (uint64_t)a->constant;

    for (unsigned v = 0; v < a->n; v++)
        all |= (uint64_t)a->k[v];
    return range.low >= 0 && (range.high == 0 || (all & -all) > (tsl_wide)range.high || all == 0);
}

/* By ranges alone; a and b are unsigned. */
static void set_bounds(const struct tsl_evaluation *e, uint8_t op, const struct tsl_value *a, const struct tsl_value *b,
                       struct tsl_value *result)
{
    struct tsl_range x, y;
    bool known_x = tsl_value_range(e, a, &x), known_y = tsl_value_range(e, b, &y);
    tsl_wide most;

    if (op == TSL_NODE_AND && (known_x || known_y)) {
        tsl_value_set_between(result, 0, !known_y || (known_x && x.high < y.high) ? x.high : y.high);
        return;
    }
    if (!known_x || !known_y || x.high > INT64_MAX || y.high > INT64_MAX) {
        tsl_value_set_any(result);
        return;
    }
    most = x.high | y.high;
    while (most & (most + 1))
        most |= most >> 1;
    tsl_value_set_between(result, op == TSL_NODE_OR ? (x.low > y.low ? x.low : y.low) : 0, most);
}

/* Of two forms, which may become settled. False: they make no form. */
static bool combine(struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_form *x, struct tsl_form *y,
                    struct tsl_form *result)
{
    int64_t constant;

    if (tsl_form_is_constant(&e->now, y, &constant) && with_mask(e, node->op, node->bits, x, constant, result))
        return true;
    if (tsl_form_is_constant(&e->now, x, &constant) && with_mask(e, node->op, node->bits, y, constant, result))
        return true;
    if (!tsl_settle(e, x) || !tsl_settle(e, y) || (!disjoint(e, x, y) && !disjoint(e, y, x)))
        return false;
    if (node->op == TSL_NODE_AND) {
        tsl_form_set(result, 0);
        return true;
    }
    tsl_form_copy(result, x);
    return tsl_form_add(result, y, 1);
}

void tsl_value_bitwise(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                       const struct tsl_value *b, struct tsl_value *result)
{
    struct tsl_value x, y;

    tsl_value_copy(&x, a);
    tsl_value_copy(&y, b);
    result->kind = VALUE_FORM;
    if (a->kind == VALUE_FORM && b->kind == VALUE_FORM && combine(e, node, &x.form, &y.form, &result->form))
        return;
    tsl_value_make_unsigned(e, &x, node->bits);
    tsl_value_make_unsigned(e, &y, node->bits);
    set_bounds(e, node->op, &x, &y, result);
}
