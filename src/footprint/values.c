/*
 * Values of nodes: what is known of them, and the numbers that their bits stand for.
 */
#include "footprint/part.h"

void tsl_value_set_between(struct tsl_value *value, tsl_wide low, tsl_wide high)
{
    value->kind = low < INT64_MIN || high > INT64_MAX ? VALUE_ANY : VALUE_BETWEEN;
    value->low = (int64_t)low;
    value->high = (int64_t)high;
}

bool tsl_value_range(const struct tsl_evaluation *e, const struct tsl_value *value, struct tsl_range *range)
{
    if (value->kind == VALUE_ANY)
        return false;
    *range =
        value->kind == VALUE_FORM ? tsl_form_range(&e->now, &value->form) : (struct tsl_range){value->low, value->high};
    return true;
}

static tsl_wide limit_of(unsigned bits)
{
    return (tsl_wide)1 << bits;
}

/* Takes a form as unsigned, less than 2^bits; bits < 64. */
static bool wrap(struct tsl_evaluation *e, struct tsl_form *form, unsigned bits)
{
    struct tsl_form quotient, rest;

    if (!tsl_divide(e, form, INT64_C(1) << bits, &quotient, &rest))
        return false;
    tsl_form_copy(form, &rest);
    return true;
}

/* Any number of so many bits. */
static void set_unsigned(struct tsl_value *value, unsigned bits)
{
    if (bits == 64)
        tsl_value_set_any(value);
    else
        tsl_value_set_between(value, 0, limit_of(bits) - 1);
}

static void set_signed(struct tsl_value *value, unsigned bits)
{
    tsl_value_set_between(value, -limit_of(bits - 1), limit_of(bits - 1) - 1);
}

static void make_unsigned_form(struct tsl_evaluation *e, struct tsl_value *value, unsigned bits)
{
    struct tsl_range range;

    if (!tsl_settle(e, &value->form)) {
        set_unsigned(value, bits);
        return;
    }
    range = tsl_form_range(&e->now, &value->form);
    if (range.low >= 0 && range.high < limit_of(bits < 64 ? bits : 63))
        return;
    if (bits < 64) {
        if (!wrap(e, &value->form, bits))
            set_unsigned(value, bits);
    } else if (!tsl_range_fits(range) || tsl_branch(e, &value->form) != TRUTH_YES) {
        tsl_value_set_any(value);
    }
}

void tsl_value_make_unsigned(struct tsl_evaluation *e, struct tsl_value *value, unsigned bits)
{
    if (value->kind == VALUE_FORM)
        make_unsigned_form(e, value, bits);
    else if (value->kind == VALUE_ANY || value->low < 0 || value->high >= limit_of(bits < 64 ? bits : 63))
        set_unsigned(value, bits);
}

static void make_signed_form(struct tsl_evaluation *e, struct tsl_value *value, unsigned bits)
{
    const tsl_wide half = limit_of(bits - 1);
    struct tsl_range range;

    if (!tsl_settle(e, &value->form)) {
        set_signed(value, bits);
        return;
    }
    range = tsl_form_range(&e->now, &value->form);
    if (range.low >= -half && range.high < half)
        return;
    if (bits == 64 || __builtin_add_overflow(value->form.constant, (int64_t)half, &value->form.constant) ||
        !wrap(e, &value->form, bits))
        set_signed(value, bits);
    else
        value->form.constant -= (int64_t)half;
}

void tsl_value_make_signed(struct tsl_evaluation *e, struct tsl_value *value, unsigned bits)
{
    const tsl_wide half = limit_of(bits - 1);

    if (value->kind == VALUE_FORM)
        make_signed_form(e, value, bits);
    else if (value->kind == VALUE_ANY || value->low < -half || value->high >= half)
        set_signed(value, bits);
}
