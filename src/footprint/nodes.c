/*
 * Values of nodes with operands.
 */
#include "footprint/part.h"

typedef struct tsl_value binary(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                const struct tsl_value *b);

/* ---- Sums and products ------------------------------------------------------------------------------------------ */

static struct tsl_value product_of_ranges(const struct tsl_evaluation *e, const struct tsl_value *a,
                                          const struct tsl_value *b)
{
    struct tsl_range x, y;
    tsl_wide corners[4], low, high;

    if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y) || !tsl_range_fits(x) || !tsl_range_fits(y))
        return tsl_value_any();
    corners[0] = x.low * y.low;
    corners[1] = x.low * y.high;
    corners[2] = x.high * y.low;
    corners[3] = x.high * y.high;
    low = high = corners[0];
    for (unsigned i = 1; i < 4; i++) {
        low = corners[i] < low ? corners[i] : low;
        high = corners[i] > high ? corners[i] : high;
    }
    return tsl_value_between(low, high);
}

static struct tsl_value sum(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                            const struct tsl_value *b)
{
    const int sign = node->op == TSL_NODE_SUB ? -1 : 1;
    struct tsl_value result = *a;
    struct tsl_range x, y;

    if (a->kind == VALUE_FORM && b->kind == VALUE_FORM)
        return tsl_form_add(&result.form, &b->form, sign) ? result : tsl_value_any();
    if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y))
        return tsl_value_any();
    return sign > 0 ? tsl_value_between(x.low + y.low, x.high + y.high)
                    : tsl_value_between(x.low - y.high, x.high - y.low);
}

static struct tsl_value product(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                const struct tsl_value *b)
{
    struct tsl_value result;
    int64_t factor;

    (void)node;
    if (a->kind == VALUE_FORM && b->kind == VALUE_FORM) {
        result = *a;
        if (tsl_form_is_constant(&e->now, &b->form, &factor))
            return tsl_form_scale(&result.form, factor) ? result : tsl_value_any();
        result = *b;
        if (tsl_form_is_constant(&e->now, &a->form, &factor))
            return tsl_form_scale(&result.form, factor) ? result : tsl_value_any();
    }
    return product_of_ranges(e, a, b);
}

/* By how much b shifts, where that is defined. */
static bool shift_range(struct tsl_evaluation *e, const struct tsl_value *b, unsigned bits, struct tsl_range *by)
{
    struct tsl_value amount = tsl_value_unsigned(e, *b, bits);

    if (!tsl_value_range(e, &amount, by))
        return false;
    /* Beyond the bits any value is right. */
    return by->low >= 0 && by->high < bits && by->high < 63;
}

static struct tsl_value shift_left(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                   const struct tsl_value *b)
{
    struct tsl_range by;
    struct tsl_value factor, value;

    if (!shift_range(e, b, node->bits, &by))
        return tsl_value_any();
    if (by.low == by.high) {
        factor = tsl_value_of(INT64_C(1) << by.low);
        return product(e, node, a, &factor);
    }
    factor = tsl_value_between((tsl_wide)1 << by.low, (tsl_wide)1 << by.high);
    value = tsl_value_signed(e, *a, node->bits);
    return product_of_ranges(e, &value, &factor);
}

/* ---- Divisions -------------------------------------------------------------------------------------------------- */

/* The quotient or remainder of two numbers that are not negative, b not 0. */
static struct tsl_value divide(struct tsl_evaluation *e, bool want_rest, const struct tsl_value *a,
                               const struct tsl_value *b)
{
    struct tsl_value quotient = {.kind = VALUE_FORM}, rest = {.kind = VALUE_FORM};
    struct tsl_range x, y;
    bool known;
    int64_t by;

    if (a->kind == VALUE_FORM && b->kind == VALUE_FORM && tsl_form_is_constant(&e->now, &b->form, &by) && by > 0 &&
        tsl_divide(e, a->form, by, &quotient.form, &rest.form))
        return want_rest ? rest : quotient;
    known = tsl_value_range(e, a, &x);
    if (!tsl_value_range(e, b, &y) || y.low <= 0)
        return tsl_value_any();
    if (!want_rest)
        return known ? tsl_value_between(x.low / y.high, x.high / y.low) : tsl_value_any();
    return tsl_value_between(0, known && x.high < y.high - 1 ? x.high : y.high - 1);
}

/* The remainder by a power of two, on which high bits have no bearing: the form isn't reduced to a number first. False:
 * it isn't one. */
static bool low_bits(struct tsl_evaluation *e, const struct tsl_value *a, const struct tsl_value *b,
                     struct tsl_value *rest)
{
    struct tsl_form quotient;
    int64_t by;

    if (a->kind != VALUE_FORM || b->kind != VALUE_FORM || !tsl_form_is_constant(&e->now, &b->form, &by) || by <= 0 ||
        (by & (by - 1)) != 0)
        return false;
    *rest = (struct tsl_value){.kind = VALUE_FORM};
    if (!tsl_divide(e, a->form, by, &quotient, &rest->form))
        *rest = tsl_value_between(0, by - 1);
    return true;
}

static struct tsl_value divide_unsigned(struct tsl_evaluation *e, const struct tsl_node *node,
                                        const struct tsl_value *a, const struct tsl_value *b)
{
    struct tsl_value x, y = tsl_value_unsigned(e, *b, node->bits), rest;

    if (node->op == TSL_NODE_UREM && low_bits(e, a, &y, &rest))
        return rest;
    x = tsl_value_unsigned(e, *a, node->bits);
    return divide(e, node->op == TSL_NODE_UREM, &x, &y);
}

static bool negative_form(struct tsl_value *value)
{
    return value->kind == VALUE_FORM && tsl_form_scale(&value->form, -1);
}

static struct tsl_value divide_signed(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                      const struct tsl_value *b)
{
    struct tsl_value x = tsl_value_signed(e, *a, node->bits), y = tsl_value_signed(e, *b, node->bits), result;
    bool want_rest = node->op == TSL_NODE_SREM, x_negative, y_negative;
    enum tsl_truth positive;
    int64_t by;

    if (x.kind != VALUE_FORM || y.kind != VALUE_FORM) {
        struct tsl_range m, n;

        if (!tsl_value_range(e, &x, &m) || !tsl_value_range(e, &y, &n) || m.low < 0 || n.low <= 0)
            return tsl_value_any();
        return divide(e, want_rest, &x, &y);
    }
    positive = tsl_branch(e, x.form);
    if (positive == TRUTH_OPEN || !tsl_form_is_constant(&e->now, &y.form, &by) || by == 0)
        return tsl_value_any();
    x_negative = positive == TRUTH_NO;
    y_negative = by < 0;
    if ((x_negative && !negative_form(&x)) || (y_negative && !negative_form(&y)))
        return tsl_value_any();
    result = divide(e, want_rest, &x, &y);
    if (!(want_rest ? x_negative : x_negative != y_negative))
        return result;
    return negative_form(&result) ? result : tsl_value_any();
}

/* Right, of an operand that was read as signed or unsigned: the quotient, rounded down. */
static struct tsl_value shift_right(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                    const struct tsl_value *b)
{
    struct tsl_value x =
        node->op == TSL_NODE_LSHR ? tsl_value_unsigned(e, *a, node->bits) : tsl_value_signed(e, *a, node->bits);
    struct tsl_value quotient = {.kind = VALUE_FORM};
    struct tsl_range by, range;
    struct tsl_form rest;

    if (!shift_range(e, b, node->bits, &by))
        return tsl_value_any();
    if (by.low == by.high && x.kind == VALUE_FORM && tsl_divide(e, x.form, INT64_C(1) << by.low, &quotient.form, &rest))
        return quotient;
    if (!tsl_value_range(e, &x, &range) || !tsl_range_fits(range))
        return tsl_value_any();
    return tsl_value_between(range.low >> (range.low < 0 ? by.low : by.high),
                             range.high >> (range.high < 0 ? by.high : by.low));
}

/* ---- Choices ---------------------------------------------------------------------------------------------------- */

static struct tsl_value bitwise(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                const struct tsl_value *b)
{
    return tsl_value_bitwise(e, node->op, node->bits, a, b);
}

/* Of two values of which it isn't known which is chosen. */
static struct tsl_value either(const struct tsl_evaluation *e, const struct tsl_value *a, const struct tsl_value *b)
{
    struct tsl_range x, y;

    if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y))
        return tsl_value_any();
    return tsl_value_between(x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high);
}

static struct tsl_value extreme_of_ranges(const struct tsl_evaluation *e, bool most, bool is_signed,
                                          const struct tsl_value *a, const struct tsl_value *b)
{
    struct tsl_range x = {0, 0}, y = {0, 0};
    bool known_x = tsl_value_range(e, a, &x), known_y = tsl_value_range(e, b, &y);

    if (known_x && known_y) {
        const struct tsl_range least = {x.low < y.low ? x.low : y.low, x.high < y.high ? x.high : y.high};
        const struct tsl_range largest = {x.low > y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};

        return most ? tsl_value_between(largest.low, largest.high) : tsl_value_between(least.low, least.high);
    }
    /* What isn't known is at least 0. */
    if (is_signed || most || (!known_x && !known_y))
        return tsl_value_any();
    return tsl_value_between(0, known_x ? x.high : y.high);
}

static struct tsl_value extreme(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                                const struct tsl_value *b)
{
    const bool most = node->op == TSL_NODE_UMAX || node->op == TSL_NODE_SMAX;
    const bool is_signed = node->op == TSL_NODE_SMIN || node->op == TSL_NODE_SMAX;
    struct tsl_value x = is_signed ? tsl_value_signed(e, *a, node->bits) : tsl_value_unsigned(e, *a, node->bits);
    struct tsl_value y = is_signed ? tsl_value_signed(e, *b, node->bits) : tsl_value_unsigned(e, *b, node->bits);

    if (x.kind == VALUE_FORM && y.kind == VALUE_FORM) {
        struct tsl_form difference = y.form;
        enum tsl_truth x_is_less = tsl_form_add(&difference, &x.form, -1) ? tsl_branch(e, difference) : TRUTH_OPEN;

        if (x_is_less != TRUTH_OPEN)
            return (x_is_less == TRUTH_YES) != most ? x : y;
    }
    return extreme_of_ranges(e, most, is_signed, &x, &y);
}

static struct tsl_value choose(struct tsl_evaluation *e, const struct tsl_node *node)
{
    struct tsl_value a, b;

    switch (tsl_node_truth(e, node->a)) {
    case TRUTH_YES:
        return tsl_node_value(e, node->b);
    case TRUTH_NO:
        return tsl_node_value(e, node->c);
    default:
        a = tsl_node_value(e, node->b);
        b = tsl_node_value(e, node->c);
        return either(e, &a, &b);
    }
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static struct tsl_value of_operands(struct tsl_evaluation *e, const struct tsl_node *node)
{
    static binary *const operations[TSL_N_NODE_OPS] = {
        [TSL_NODE_ADD] = sum,
        [TSL_NODE_SUB] = sum,
        [TSL_NODE_MUL] = product,
        [TSL_NODE_SHL] = shift_left,
        [TSL_NODE_LSHR] = shift_right,
        [TSL_NODE_ASHR] = shift_right,
        [TSL_NODE_UDIV] = divide_unsigned,
        [TSL_NODE_SDIV] = divide_signed,
        [TSL_NODE_UREM] = divide_unsigned,
        [TSL_NODE_SREM] = divide_signed,
        [TSL_NODE_AND] = bitwise,
        [TSL_NODE_OR] = bitwise,
        [TSL_NODE_XOR] = bitwise,
        [TSL_NODE_UMIN] = extreme,
        [TSL_NODE_UMAX] = extreme,
        [TSL_NODE_SMIN] = extreme,
        [TSL_NODE_SMAX] = extreme,
    };
    struct tsl_value a = tsl_node_value(e, node->a), b;

    switch (node->op) {
    case TSL_NODE_ZEXT:
        return tsl_value_unsigned(e, a, e->footprint->nodes[node->a].bits);
    case TSL_NODE_SEXT:
        return tsl_value_signed(e, a, e->footprint->nodes[node->a].bits);
    case TSL_NODE_TRUNC:
        return a;
    default:
        b = tsl_node_value(e, node->b);
        return operations[node->op](e, node, &a, &b);
    }
}

static struct tsl_value compute(struct tsl_evaluation *e, uint32_t at)
{
    const struct tsl_node *node = &e->footprint->nodes[at];
    enum tsl_truth truth;

    if (node->op < TSL_NODE_ADD)
        return tsl_leaf(e, node);
    if (node->op == TSL_NODE_SELECT)
        return choose(e, node);
    if (node->op < TSL_NODE_EQ)
        return of_operands(e, node);
    truth = tsl_node_truth(e, at);
    return truth == TRUTH_OPEN ? tsl_value_between(0, 1) : tsl_value_of(truth == TRUTH_YES);
}

struct tsl_value tsl_node_value(struct tsl_evaluation *e, uint32_t node)
{
    struct tsl_memo *memo = &e->memo[node % MEMO];
    struct tsl_value value;

    if (memo->node == node && memo->generation == e->generation)
        return memo->value;
    if (e->steps == 0 || e->depth == MAX_NODE_DEPTH || e->now.empty)
        return tsl_value_any();
    e->steps--;
    e->depth++;
    value = compute(e, node);
    e->depth--;
    if (e->early)
        return value;
    memo->node = node;
    memo->generation = e->generation;
    memo->value = value;
    return value;
}
