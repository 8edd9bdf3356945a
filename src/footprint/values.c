/*
 * Values of nodes: what is known of them, and the numbers that their bits stand for.
 */
#include "footprint/part.h"

struct tsl_value tsl_value_any(void)
{
    return (struct tsl_value){.kind = VALUE_ANY};
}

struct tsl_value tsl_value_of(int64_t constant)
{
    return (struct tsl_value){.kind = VALUE_FORM, .form.constant = constant};
}

struct tsl_value tsl_value_between(tsl_wide low, tsl_wide high)
{
    if (low < INT64_MIN || high > INT64_MAX)
        return tsl_value_any();
    return (struct tsl_value){.kind = VALUE_BETWEEN, .low = (int64_t)low, .high = (int64_t)high};
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
static struct tsl_value wrap(struct tsl_evaluation *e, const struct tsl_form *form, unsigned bits)
{
    struct tsl_value value = {.kind = VALUE_FORM};
    struct tsl_form quotient;

    if (tsl_divide(e, *form, INT64_C(1) << bits, &quotient, &value.form))
        return value;
    return tsl_value_between(0, limit_of(bits) - 1);
}

static struct tsl_value unsigned_form(struct tsl_evaluation *e, struct tsl_value value, unsigned bits)
{
    struct tsl_range range;

    if (!tsl_settle(e, &value.form))
        return bits == 64 ? tsl_value_any() : tsl_value_between(0, limit_of(bits) - 1);
    range = tsl_form_range(&e->now, &value.form);
    if (range.low >= 0 && range.high < limit_of(bits < 64 ? bits : 63))
        return value;
    if (bits < 64)
        return wrap(e, &value.form, bits);
    if (!tsl_range_fits(range) || tsl_branch(e, value.form) != TRUTH_YES)
        return tsl_value_any();
    return value;
}

struct tsl_value tsl_value_unsigned(struct tsl_evaluation *e, struct tsl_value value, unsigned bits)
{
    if (value.kind == VALUE_FORM)
        return unsigned_form(e, value, bits);
    if (value.kind == VALUE_BETWEEN && value.low >= 0 && value.high < limit_of(bits < 64 ? bits : 63))
        return value;
    return bits == 64 ? tsl_value_any() : tsl_value_between(0, limit_of(bits) - 1);
}

static struct tsl_value signed_form(struct tsl_evaluation *e, struct tsl_value value, unsigned bits)
{
    const tsl_wide half = limit_of(bits - 1);
    struct tsl_range range;

    if (!tsl_settle(e, &value.form))
        return tsl_value_between(-half, half - 1);
    range = tsl_form_range(&e->now, &value.form);
    if (range.low >= -half && range.high < half)
        return value;
    if (bits == 64 || __builtin_add_overflow(value.form.constant, (int64_t)half, &value.form.constant))
        return tsl_value_between(-half, half - 1);
    value = wrap(e, &value.form, bits);
    if (value.kind == VALUE_FORM)
        value.form.constant -= (int64_t)half;
    return value.kind == VALUE_FORM ? value : tsl_value_between(-half, half - 1);
}

struct tsl_value tsl_value_signed(struct tsl_evaluation *e, struct tsl_value value, unsigned bits)
{
    const tsl_wide half = limit_of(bits - 1);

    if (value.kind == VALUE_FORM)
        return signed_form(e, value, bits);
    if (value.kind == VALUE_BETWEEN && value.low >= -half && value.high < half)
        return value;
    return tsl_value_between(-half, half - 1);
}
