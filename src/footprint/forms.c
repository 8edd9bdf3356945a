/*
 * Affine forms over a part's variables, with checks of overflow.
 */
#include "footprint/part.h"

bool tsl_form_add(struct tsl_form *to, const struct tsl_form *form, int64_t factor)
{
    bool overflow = false;
    int64_t product;

    overflow |= __builtin_mul_overflow(form->constant, factor, &product);
    overflow |= __builtin_add_overflow(to->constant, product, &to->constant);
    tsl_form_extend(to, form->n);
    for (unsigned v = 0; v < form->n; v++) {
        overflow |= __builtin_mul_overflow(form->k[v], factor, &product);
        overflow |= __builtin_add_overflow(to->k[v], product, &to->k[v]);
    }
    return !overflow;
}

bool tsl_form_scale(struct tsl_form *form, int64_t factor)
{
    bool overflow = __builtin_mul_overflow(form->constant, factor, &form->constant);

    for (unsigned v = 0; v < form->n; v++)
        overflow |= __builtin_mul_overflow(form->k[v], factor, &form->k[v]);
    return !overflow;
}

struct tsl_range tsl_form_range(const struct tsl_part *part, const struct tsl_form *form)
{
    struct tsl_range range = {form->constant, form->constant};

    for (unsigned v = 0; v < form->n; v++) {
        tsl_wide k = form->k[v];

        if (k == 0)
            continue;
        range.low += k * (k > 0 ? part->vars[v].low : part->vars[v].high);
        range.high += k * (k > 0 ? part->vars[v].high : part->vars[v].low);
    }
    return range;
}

bool tsl_form_is_constant(const struct tsl_part *part, const struct tsl_form *form, int64_t *constant)
{
    struct tsl_range range;

    if (form->n == 0) {
        *constant = form->constant;
        return true;
    }
    range = tsl_form_range(part, form);
    *constant = (int64_t)range.low;
    return range.low == range.high && tsl_range_fits(range);
}

bool tsl_range_fits(struct tsl_range range)
{
    return range.low >= INT64_MIN && range.high <= INT64_MAX;
}

tsl_wide tsl_floor_div(tsl_wide a, tsl_wide b)
{
    /* The common case is small: a division of 64 bits costs a tenth. */
    if (a >= 0 && a <= INT64_MAX && b <= INT64_MAX)
        return (int64_t)a / (int64_t)b;
    if (a < 0 && a > INT64_MIN && b <= INT64_MAX)
        return -((int64_t)(-a - 1) / (int64_t)b) - 1;
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

tsl_wide tsl_ceil_div(tsl_wide a, tsl_wide b)
{
    return -tsl_floor_div(-a, b);
}

tsl_wide tsl_gcd(tsl_wide a, tsl_wide b)
{
    while (b != 0) {
        tsl_wide rest = a <= INT64_MAX && b <= INT64_MAX ? (int64_t)a % (int64_t)b : a % b;

        a = b;
        b = rest;
    }
    return a;
}
