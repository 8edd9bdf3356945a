/*
 * Conditions: nodes of one bit, and what they say of a part.
 */
#include "footprint/part.h"

/* A comparison as a - b of two values that are read as the comparison asks. */
struct comparison {
    bool known;    /* `truth` is all there is to say */
    bool equality; /* is it 0? Else: is it < 0, or with `or_equal` <= 0? */
    bool or_equal;
    enum tsl_truth truth;
    struct tsl_form difference;
};

static enum tsl_truth opposite(enum tsl_truth truth)
{
    return truth == TRUTH_OPEN ? TRUTH_OPEN : truth == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
}

static enum tsl_truth both(enum tsl_truth a, enum tsl_truth b)
{
    if (a == TRUTH_NO || b == TRUTH_NO)
        return TRUTH_NO;
    return a == TRUTH_YES && b == TRUTH_YES ? TRUTH_YES : TRUTH_OPEN;
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------ */

static enum tsl_truth compare_ranges(const struct tsl_evaluation *e, const struct comparison *comparison,
                                     const struct tsl_value *a, const struct tsl_value *b)
{
    struct tsl_range x, y;

    if (!tsl_value_range(e, a, &x) || !tsl_value_range(e, b, &y))
        return TRUTH_OPEN;
    if (comparison->equality)
        return x.high < y.low || y.high < x.low ? TRUTH_NO : TRUTH_OPEN;
    if (comparison->or_equal ? x.high <= y.low : x.high < y.low)
        return TRUTH_YES;
    return (comparison->or_equal ? x.low > y.high : x.low >= y.high) ? TRUTH_NO : TRUTH_OPEN;
}

/* Unsigned, of 64 bits: the forms are integers of which negative ones stand for very large numbers. Says what is known,
 * or leaves the signed comparison. */
static void compare_large(struct tsl_evaluation *e, struct comparison *comparison, const struct tsl_form *a,
                          const struct tsl_form *b)
{
    enum tsl_truth x = tsl_branch(e, a), y = tsl_branch(e, b);

    if (x != TRUTH_OPEN && x == y)
        return;
    comparison->known = true;
    comparison->truth = x == TRUTH_OPEN || y == TRUTH_OPEN ? TRUTH_OPEN : x;
}

static bool fits(const struct tsl_evaluation *e, const struct tsl_form *form)
{
    return tsl_range_fits(tsl_form_range(&e->now, form));
}

/* Equal modulo 2^bits is equal where they differ by less. */
static bool are_near(const struct tsl_evaluation *e, const struct tsl_form *difference, unsigned bits)
{
    struct tsl_range range = tsl_form_range(&e->now, difference);

    return range.low > -((tsl_wide)1 << bits) && range.high < (tsl_wide)1 << bits;
}

/* The difference of two values that are read as numbers already. */
static void subtract(const struct tsl_evaluation *e, const struct tsl_value *a, const struct tsl_value *b,
                     struct comparison *comparison)
{
    if (a->kind == VALUE_FORM && b->kind == VALUE_FORM) {
        tsl_form_copy(&comparison->difference, &a->form);
        if (tsl_form_add(&comparison->difference, &b->form, -1))
            return;
    }
    comparison->known = true;
    comparison->truth = compare_ranges(e, comparison, a, b);
}

static void compare_as_numbers(struct tsl_evaluation *e, const struct tsl_value *a, const struct tsl_value *b,
                               unsigned bits, bool is_signed, struct comparison *comparison)
{
    struct tsl_value x, y;

    tsl_value_copy(&x, a);
    tsl_value_copy(&y, b);
    if (is_signed) {
        tsl_value_make_signed(e, &x, bits);
        tsl_value_make_signed(e, &y, bits);
    } else {
        tsl_value_make_unsigned(e, &x, bits);
        tsl_value_make_unsigned(e, &y, bits);
    }
    subtract(e, &x, &y, comparison);
}

/* Of EQ, NE, ULT …; NE as EQ. */
static void compare(struct tsl_evaluation *e, const struct tsl_node *node, struct comparison *comparison)
{
    const unsigned bits = e->footprint->nodes[node->a].bits;
    const bool is_signed = node->op == TSL_NODE_SLT || node->op == TSL_NODE_SLE;
    struct tsl_value room[2];
    const struct tsl_value *a, *b;
    bool forms;

    comparison->known = false;
    comparison->equality = node->op == TSL_NODE_EQ || node->op == TSL_NODE_NE;
    comparison->or_equal = node->op == TSL_NODE_ULE || node->op == TSL_NODE_SLE;
    comparison->truth = TRUTH_NO;
    tsl_node_values(e, node->a, node->b, room, &a, &b);
    forms = a->kind == VALUE_FORM && b->kind == VALUE_FORM;
    if (comparison->equality && forms) {
        tsl_form_copy(&comparison->difference, &a->form);
        if (tsl_form_add(&comparison->difference, &b->form, -1) && tsl_settle(e, &comparison->difference) &&
            are_near(e, &comparison->difference, bits))
            return;
    }
    if (bits < 64 || is_signed || !forms || !fits(e, &a->form) || !fits(e, &b->form)) {
        compare_as_numbers(e, a, b, bits, is_signed, comparison);
        return;
    }
    if (!comparison->equality)
        compare_large(e, comparison, &a->form, &b->form);
    if (!comparison->known)
        subtract(e, a, b, comparison);
}

/* The form that is >= 0 where the comparison (no equality) is as wanted. */
static bool inequality(const struct comparison *comparison, bool want, struct tsl_form *form)
{
    tsl_form_copy(form, &comparison->difference);
    if (want && !tsl_form_scale(form, -1))
        return false;
    /* b - a >= 0 is a <= b; a - b >= 0 is not a < b. */
    return want == comparison->or_equal || !__builtin_sub_overflow(form->constant, 1, &form->constant);
}

/* factor * form + constant; false: it doesn't fit. */
static bool plus(const struct tsl_form *form, int factor, int64_t constant, struct tsl_form *result)
{
    tsl_form_copy(result, form);
    return tsl_form_scale(result, factor) && !__builtin_add_overflow(result->constant, constant, &result->constant);
}

static enum tsl_truth equal_truth(struct tsl_evaluation *e, const struct tsl_form *difference)
{
    struct tsl_form above, below;
    enum tsl_truth truth;

    if (!plus(difference, 1, -1, &above) || !plus(difference, -1, -1, &below))
        return TRUTH_OPEN;
    truth = tsl_branch(e, &above);
    return truth == TRUTH_NO ? opposite(tsl_branch(e, &below)) : opposite(truth);
}

static enum tsl_truth demand_equal(struct tsl_evaluation *e, const struct tsl_form *difference, bool want)
{
    struct tsl_form above, below;
    enum tsl_truth first;

    if (!plus(difference, 1, want ? 0 : -1, &above) || !plus(difference, -1, want ? 0 : -1, &below))
        return TRUTH_OPEN;
    if (want) {
        first = tsl_require(e, &above);
        return both(first, first == TRUTH_NO ? TRUTH_NO : tsl_require(e, &below));
    }
    first = tsl_branch(e, &above);
    return first == TRUTH_NO ? tsl_require(e, &below) : first;
}

static enum tsl_truth truth_of_comparison(struct tsl_evaluation *e, const struct tsl_node *node)
{
    struct comparison comparison;
    enum tsl_truth truth;
    struct tsl_form form;

    compare(e, node, &comparison);
    truth = comparison.truth;
    if (!comparison.known && comparison.equality)
        truth = equal_truth(e, &comparison.difference);
    else if (!comparison.known)
        truth = inequality(&comparison, true, &form) ? tsl_branch(e, &form) : TRUTH_OPEN;
    return node->op == TSL_NODE_NE ? opposite(truth) : truth;
}

static enum tsl_truth demand_comparison(struct tsl_evaluation *e, const struct tsl_node *node, bool want)
{
    struct comparison comparison;
    struct tsl_form form;

    compare(e, node, &comparison);
    if (node->op == TSL_NODE_NE)
        want = !want;
    if (comparison.known)
        return want ? comparison.truth : opposite(comparison.truth);
    if (comparison.equality)
        return demand_equal(e, &comparison.difference, want);
    return inequality(&comparison, want, &form) ? tsl_require(e, &form) : TRUTH_OPEN;
}

/* ---- All conditions --------------------------------------------------------------------------------------------- */

/* Of a value of one bit. */
static enum tsl_truth truth_of_value(struct tsl_evaluation *e, uint32_t at)
{
    struct tsl_value value;
    int64_t bit;

    tsl_value_copy(&value, tsl_node_value(e, at));
    tsl_value_make_unsigned(e, &value, 1);
    if (value.kind != VALUE_FORM)
        return TRUTH_OPEN;
    if (tsl_form_is_constant(&e->now, &value.form, &bit))
        return bit ? TRUTH_YES : TRUTH_NO;
    value.form.constant--;
    return tsl_branch(e, &value.form);
}

/* Both must be as wanted; the second one is of use even where the first one stays open. */
static enum tsl_truth demand_both(struct tsl_evaluation *e, uint32_t a, bool want_a, uint32_t b, bool want_b)
{
    enum tsl_truth first = tsl_node_demand(e, a, want_a);

    return first == TRUTH_NO ? TRUTH_NO : both(first, tsl_node_demand(e, b, want_b));
}

/* One must be as wanted. */
static enum tsl_truth demand_either(struct tsl_evaluation *e, uint32_t a, uint32_t b, bool want)
{
    const enum tsl_truth wanted = want ? TRUTH_YES : TRUTH_NO;
    enum tsl_truth first = tsl_node_truth(e, a);

    if (first == wanted)
        return TRUTH_YES;
    if (first != TRUTH_OPEN)
        return tsl_node_demand(e, b, want);
    return tsl_node_truth(e, b) == wanted ? TRUTH_YES : TRUTH_OPEN;
}

static bool is_constant(const struct tsl_evaluation *e, uint32_t node, bool bit)
{
    return e->footprint->nodes[node].op == TSL_NODE_CONSTANT && (e->footprint->nodes[node].value != 0) == bit;
}

static enum tsl_truth demand_choice(struct tsl_evaluation *e, const struct tsl_node *node, bool want)
{
    enum tsl_truth first;

    /* a && b and a || b are written so where b must not be computed. */
    if (is_constant(e, node->c, !want))
        return demand_both(e, node->a, true, node->b, want);
    if (is_constant(e, node->b, !want))
        return demand_both(e, node->a, false, node->c, want);
    first = tsl_node_truth(e, node->a);
    return first == TRUTH_OPEN ? TRUTH_OPEN : tsl_node_demand(e, first == TRUTH_YES ? node->b : node->c, want);
}

static enum tsl_truth truth_of_choice(struct tsl_evaluation *e, const struct tsl_node *node)
{
    enum tsl_truth first = tsl_node_truth(e, node->a), second;

    if (first != TRUTH_OPEN)
        return tsl_node_truth(e, first == TRUTH_YES ? node->b : node->c);
    second = tsl_node_truth(e, node->b);
    return second == tsl_node_truth(e, node->c) ? second : TRUTH_OPEN;
}

/* Of AND and OR, `dominant` alone decides. */
static enum tsl_truth truth_of_two(struct tsl_evaluation *e, const struct tsl_node *node, enum tsl_truth dominant)
{
    enum tsl_truth first = tsl_node_truth(e, node->a), second;

    if (first == dominant)
        return first;
    second = tsl_node_truth(e, node->b);
    return second == dominant || first == second ? second : TRUTH_OPEN;
}

static enum tsl_truth truth(struct tsl_evaluation *e, uint32_t at)
{
    const struct tsl_node *node = &e->footprint->nodes[at];

    if (node->op >= TSL_NODE_EQ)
        return truth_of_comparison(e, node);
    if (node->op == TSL_NODE_AND)
        return truth_of_two(e, node, TRUTH_NO);
    if (node->op == TSL_NODE_OR)
        return truth_of_two(e, node, TRUTH_YES);
    if (node->op == TSL_NODE_SELECT)
        return truth_of_choice(e, node);
    return truth_of_value(e, at);
}

static enum tsl_truth demand(struct tsl_evaluation *e, uint32_t at, bool want)
{
    const struct tsl_node *node = &e->footprint->nodes[at];
    enum tsl_truth known;

    if (node->op >= TSL_NODE_EQ)
        return demand_comparison(e, node, want);
    if (node->op == TSL_NODE_AND || node->op == TSL_NODE_OR)
        return (node->op == TSL_NODE_AND) == want ? demand_both(e, node->a, want, node->b, want)
                                                  : demand_either(e, node->a, node->b, want);
    if (node->op == TSL_NODE_XOR && is_constant(e, node->b, true))
        return tsl_node_demand(e, node->a, !want);
    if (node->op == TSL_NODE_SELECT)
        return demand_choice(e, node, want);
    known = truth_of_value(e, at);
    return want ? known : opposite(known);
}

/* As of values: no walk uses up the stack or takes forever. */
static bool enter(struct tsl_evaluation *e)
{
    if (e->steps == 0 || e->depth >= MAX_NODE_DEPTH || e->now.empty) {
        e->varies = true;
        return false;
    }
    e->steps--;
    e->depth++;
    return true;
}

enum tsl_truth tsl_node_truth(struct tsl_evaluation *e, uint32_t node)
{
    enum tsl_truth result;

    if (!enter(e))
        return TRUTH_OPEN;
    result = truth(e, node);
    e->depth--;
    return result;
}

enum tsl_truth tsl_node_demand(struct tsl_evaluation *e, uint32_t node, bool want)
{
    enum tsl_truth result;

    if (!enter(e))
        return e->now.empty ? TRUTH_NO : TRUTH_OPEN;
    result = demand(e, node, want);
    e->depth--;
    return e->now.empty ? TRUTH_NO : result;
}
