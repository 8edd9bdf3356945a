/*
 * Values of nodes with operands.
 */
#include "footprint/part.h"

/* What an operation gives; the result is no operand. */
typedef void binary(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                    const struct tsl_value *b, struct tsl_value *result);

/* ---- Sums and products ------------------------------------------------------------------------------------------ */

static void multiply_ranges(const struct tsl_evaluation *e, const struct tsl_value *a, const struct tsl_value *b,
                            struct tsl_value *result)
{
    struct tsl_range x, y;
    tsl_wide corners[4], low, high;

    if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y) || !tsl_range_fits(x) || !tsl_range_fits(y)) {
        tsl_value_set_any(result);
        return;
    }
    corners[0] = x.low * y.low;
    corners[1] = x.low * y.high;
    corners[2] = x.high * y.low;
    corners[3] = x.high * y.high;
    low = high = corners[0];
    for (unsigned i = 1; i < 4; i++) {
        low = corners[i] < low ? corners[i] : low;
        high = corners[i] > high ? corners[i] : high;
    }
    tsl_value_set_between(result, low, high);
}

static void sum(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                const struct tsl_value *b, struct tsl_value *result)
{
    const int sign = node->op == TSL_NODE_SUB ? -1 : 1;
    struct tsl_range x, y;

    if (a->kind == VALUE_FORM && b->kind == VALUE_FORM) {
        tsl_value_copy(result, a);
        if (!tsl_form_add(&result->form, &b->form, sign))
            tsl_value_set_any(result);
    } else if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y)) {
        tsl_value_set_any(result);
    } else if (sign > 0) {
        tsl_value_set_between(result, x.low + y.low, x.high + y.high);
    } else {
        tsl_value_set_between(result, x.low - y.high, x.high - y.low);
    }
}

static void scale(const struct tsl_value *a, int64_t factor, struct tsl_value *result)
{
    tsl_value_copy(result, a);
    if (!tsl_form_scale(&result->form, factor))
        tsl_value_set_any(result);
}

static void product(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                    const struct tsl_value *b, struct tsl_value *result)
{
    const bool forms = a->kind == VALUE_FORM && b->kind == VALUE_FORM;
    int64_t factor;

    (void)node;
    if (forms && tsl_form_is_constant(&e->now, &b->form, &factor))
        scale(a, factor, result);
    else if (forms && tsl_form_is_constant(&e->now, &a->form, &factor))
        scale(b, factor, result);
    else
        multiply_ranges(e, a, b, result);
}

/* By how much b shifts, where that is defined. */
static bool shift_range(struct tsl_evaluation *e, const struct tsl_value *b, unsigned bits, struct tsl_range *by)
{
    struct tsl_value amount;

    tsl_value_copy(&amount, b);
    tsl_value_make_unsigned(e, &amount, bits);
    if (!tsl_value_range(e, &amount, by))
        return false;
    /* Beyond the bits any value is right. */
    return by->low >= 0 && by->high < bits && by->high < 63;
}

static void shift_left(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                       const struct tsl_value *b, struct tsl_value *result)
{
    struct tsl_range by;
    struct tsl_value factor, value;

    if (!shift_range(e, b, node->bits, &by)) {
        tsl_value_set_any(result);
    } else if (by.low == by.high) {
        tsl_value_set(&factor, INT64_C(1) << by.low);
        product(e, node, a, &factor, result);
    } else {
        tsl_value_set_between(&factor, (tsl_wide)1 << by.low, (tsl_wide)1 << by.high);
        tsl_value_copy(&value, a);
        tsl_value_make_signed(e, &value, node->bits);
        multiply_ranges(e, &value, &factor, result);
    }
}

/* ---- Divisions -------------------------------------------------------------------------------------------------- */

/* By ranges alone. */
static void divide_ranges(struct tsl_evaluation *e, bool want_rest, const struct tsl_value *a,
                          const struct tsl_value *b, struct tsl_value *result)
{
    struct tsl_range x = {0, 0}, y;
    bool known = tsl_value_range(e, a, &x);

    if (!tsl_value_range(e, b, &y) || y.low <= 0 || (!known && !want_rest))
        tsl_value_set_any(result);
    else if (want_rest)
        tsl_value_set_between(result, 0, known && x.high < y.high - 1 ? x.high : y.high - 1);
    else
        tsl_value_set_between(result, x.low / y.high, x.high / y.low);
}

/* The quotient or remainder of two numbers that are not negative, b not 0. */
static void divide(struct tsl_evaluation *e, bool want_rest, const struct tsl_value *a, const struct tsl_value *b,
                   struct tsl_value *result)
{
    struct tsl_form other;
    int64_t by;

    result->kind = VALUE_FORM;
    if (a->kind != VALUE_FORM || b->kind != VALUE_FORM || !tsl_form_is_constant(&e->now, &b->form, &by) || by <= 0 ||
        !tsl_divide(e, &a->form, by, want_rest ? &other : &result->form, want_rest ? &result->form : &other))
        divide_ranges(e, want_rest, a, b, result);
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
    rest->kind = VALUE_FORM;
    if (!tsl_divide(e, &a->form, by, &quotient, &rest->form))
        tsl_value_set_between(rest, 0, by - 1);
    return true;
}

static void divide_unsigned(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                            const struct tsl_value *b, struct tsl_value *result)
{
    struct tsl_value x, y;

    tsl_value_copy(&y, b);
    tsl_value_make_unsigned(e, &y, node->bits);
    if (node->op == TSL_NODE_UREM && low_bits(e, a, &y, result))
        return;
    tsl_value_copy(&x, a);
    tsl_value_make_unsigned(e, &x, node->bits);
    divide(e, node->op == TSL_NODE_UREM, &x, &y, result);
}

static bool negate(struct tsl_value *value)
{
    return value->kind == VALUE_FORM && tsl_form_scale(&value->form, -1);
}

/* Of two forms; by 0 anything. */
static void divide_signed_forms(struct tsl_evaluation *e, bool want_rest, struct tsl_value *x, struct tsl_value *y,
                                struct tsl_value *result)
{
    enum tsl_truth positive = tsl_branch(e, &x->form);
    bool x_negative, y_negative;
    int64_t by;

    tsl_value_set_any(result);
    if (positive == TRUTH_OPEN || !tsl_form_is_constant(&e->now, &y->form, &by) || by == 0)
        return;
    x_negative = positive == TRUTH_NO;
    y_negative = by < 0;
    if ((x_negative && !negate(x)) || (y_negative && !negate(y)))
        return;
    divide(e, want_rest, x, y, result);
    if ((want_rest ? x_negative : x_negative != y_negative) && !negate(result))
        tsl_value_set_any(result);
}

static void divide_signed(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                          const struct tsl_value *b, struct tsl_value *result)
{
    const bool want_rest = node->op == TSL_NODE_SREM;
    struct tsl_value x, y;
    struct tsl_range m, n;

    tsl_value_copy(&x, a);
    tsl_value_copy(&y, b);
    tsl_value_make_signed(e, &x, node->bits);
    tsl_value_make_signed(e, &y, node->bits);
    if (x.kind == VALUE_FORM && y.kind == VALUE_FORM)
        divide_signed_forms(e, want_rest, &x, &y, result);
    else if (!tsl_value_range(e, &x, &m) || !tsl_value_range(e, &y, &n) || m.low < 0 || n.low <= 0)
        tsl_value_set_any(result);
    else
        divide(e, want_rest, &x, &y, result);
}

/* Right, of an operand that was read as signed or unsigned: the quotient, rounded down. */
static void shift_right(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                        const struct tsl_value *b, struct tsl_value *result)
{
    struct tsl_range by, range;
    struct tsl_value x;
    struct tsl_form rest;

    tsl_value_copy(&x, a);
    if (node->op == TSL_NODE_LSHR)
        tsl_value_make_unsigned(e, &x, node->bits);
    else
        tsl_value_make_signed(e, &x, node->bits);
    result->kind = VALUE_FORM;
    if (!shift_range(e, b, node->bits, &by))
        tsl_value_set_any(result);
    else if (by.low == by.high && x.kind == VALUE_FORM &&
             tsl_divide(e, &x.form, INT64_C(1) << by.low, &result->form, &rest))
        return;
    else if (!tsl_value_range(e, &x, &range) || !tsl_range_fits(range))
        tsl_value_set_any(result);
    else
        tsl_value_set_between(result, range.low >> (range.low < 0 ? by.low : by.high),
                              range.high >> (range.high < 0 ? by.high : by.low));
}

/* ---- Choices ---------------------------------------------------------------------------------------------------- */

/* Of two values of which it isn't known which is chosen. */
static void set_either(const struct tsl_evaluation *e, const struct tsl_value *a, const struct tsl_value *b,
                       struct tsl_value *result)
{
    struct tsl_range x, y;

    if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y))
        tsl_value_set_any(result);
    else
        tsl_value_set_between(result, x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high);
}

static void extreme_of_ranges(const struct tsl_evaluation *e, bool most, bool is_signed, const struct tsl_value *a,
                              const struct tsl_value *b, struct tsl_value *result)
{
    struct tsl_range x = {0, 0}, y = {0, 0};
    bool known_x = tsl_value_range(e, a, &x), known_y = tsl_value_range(e, b, &y);

    if (known_x && known_y) {
        const struct tsl_range least = {x.low < y.low ? x.low : y.low, x.high < y.high ? x.high : y.high};
        const struct tsl_range largest = {x.low > y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};

        tsl_value_set_between(result, most ? largest.low : least.low, most ? largest.high : least.high);
    } else if (is_signed || most || (!known_x && !known_y)) {
        tsl_value_set_any(result);
    } else {
        /* What isn't known is at least 0. */
        tsl_value_set_between(result, 0, known_x ? x.high : y.high);
    }
}

static void extreme(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                    const struct tsl_value *b, struct tsl_value *result)
{
    const bool most = node->op == TSL_NODE_UMAX || node->op == TSL_NODE_SMAX;
    const bool is_signed = node->op == TSL_NODE_SMIN || node->op == TSL_NODE_SMAX;
    struct tsl_value x, y;

    tsl_value_copy(&x, a);
    tsl_value_copy(&y, b);
    if (is_signed) {
        tsl_value_make_signed(e, &x, node->bits);
        tsl_value_make_signed(e, &y, node->bits);
    } else {
        tsl_value_make_unsigned(e, &x, node->bits);
        tsl_value_make_unsigned(e, &y, node->bits);
    }
    if (x.kind == VALUE_FORM && y.kind == VALUE_FORM) {
        struct tsl_form difference;
        enum tsl_truth x_is_less;

        tsl_form_copy(&difference, &y.form);
        x_is_less = tsl_form_add(&difference, &x.form, -1) ? tsl_branch(e, &difference) : TRUTH_OPEN;

        if (x_is_less != TRUTH_OPEN) {
            tsl_value_copy(result, (x_is_less == TRUTH_YES) != most ? &x : &y);
            return;
        }
    }
    extreme_of_ranges(e, most, is_signed, &x, &y, result);
}

static void choose(struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_value *result)
{
    struct tsl_value room[2];
    const struct tsl_value *a, *b;

    switch (tsl_node_truth(e, node->a)) {
    case TRUTH_YES:
        tsl_value_copy(result, tsl_node_value(e, node->b));
        break;
    case TRUTH_NO:
        tsl_value_copy(result, tsl_node_value(e, node->c));
        break;
    default:
        tsl_node_values(e, node->b, node->c, room, &a, &b);
        set_either(e, a, b, result);
    }
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static void apply_operation(struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_value *result)
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
        [TSL_NODE_AND] = tsl_value_bitwise,
        [TSL_NODE_OR] = tsl_value_bitwise,
        [TSL_NODE_XOR] = tsl_value_bitwise,
        [TSL_NODE_UMIN] = extreme,
        [TSL_NODE_UMAX] = extreme,
        [TSL_NODE_SMIN] = extreme,
        [TSL_NODE_SMAX] = extreme,
    };
    struct tsl_value room[2];
    const struct tsl_value *a, *b;

    tsl_node_values(e, node->a, node->b, room, &a, &b);
    operations[node->op](e, node, a, b, result);
}

static void convert(struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_value *result)
{
    tsl_value_copy(result, tsl_node_value(e, node->a));
    if (node->op == TSL_NODE_ZEXT)
        tsl_value_make_unsigned(e, result, e->footprint->nodes[node->a].bits);
    if (node->op == TSL_NODE_SEXT)
        tsl_value_make_signed(e, result, e->footprint->nodes[node->a].bits);
}

static void compute(struct tsl_evaluation *e, uint32_t at, struct tsl_value *result)
{
    const struct tsl_node *node = &e->footprint->nodes[at];
    enum tsl_truth truth;

    if (node->op < TSL_NODE_ADD) {
        tsl_leaf(e, node, result);
    } else if (node->op < TSL_NODE_SELECT) {
        apply_operation(e, node, result);
    } else if (node->op == TSL_NODE_SELECT) {
        choose(e, node, result);
    } else if (node->op < TSL_NODE_EQ) {
        convert(e, node, result);
    } else {
        truth = tsl_node_truth(e, at);
        if (truth == TRUTH_OPEN)
            tsl_value_set_between(result, 0, 1);
        else
            tsl_value_set(result, truth == TRUTH_YES);
    }
}

const struct tsl_value *tsl_node_value(struct tsl_evaluation *e, uint32_t node)
{
    static const struct tsl_value any = {.kind = VALUE_ANY};
    struct tsl_memo *memo = &e->memo[node % MEMO];
    struct tsl_value *value = &e->values[node % MEMO];
    const bool varied = e->varies;

    if (memo->node == node && (memo->generation == e->generation || memo->generation == MEMO_ALWAYS)) {
        e->varies |= memo->generation != MEMO_ALWAYS;
        return value;
    }
    if (e->steps == 0 || e->depth == MAX_NODE_DEPTH || e->now.empty) {
        e->varies = true;
        return &any;
    }
    e->steps--;
    e->depth++;
    e->varies = false;
    compute(e, node, value);
    e->depth--;
    memo->node = node;
    memo->generation = e->early ? 0 : e->varies ? e->generation : MEMO_ALWAYS;
    e->varies |= varied;
    return value;
}

void tsl_node_values(struct tsl_evaluation *e, uint32_t node_a, uint32_t node_b, struct tsl_value room[2],
                     const struct tsl_value **a, const struct tsl_value **b)
{
    *a = tsl_node_value(e, node_a);
    if (tsl_node_may_move(e)) {
        tsl_value_copy(&room[0], *a);
        *a = &room[0];
    }
    *b = tsl_node_value(e, node_b);
    if (tsl_node_may_move(e)) {
        tsl_value_copy(&room[1], *b);
        *b = &room[1];
    }
}
