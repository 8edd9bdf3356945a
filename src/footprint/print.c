/*
 * Expressions as text for people: as C writes them, where C has a word for it.
 */
#include "footprint/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Deeper than that it is "…". */
#define MAX_PRINT_DEPTH 24

struct text {
    char *at;
    size_t left; /* with the NUL; at least 1 */
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (n <= 0)
        return;
    if ((size_t)n >= text->left)
        n = (int)text->left - 1;
    text->at += n;
    text->left -= (size_t)n;
}

/* Binary operators bind as strongly as C's; 0: written as a function. */
struct word {
    const char *word;
    unsigned strength;
};

static const struct word words[TSL_N_NODE_OPS] = {
    [TSL_NODE_GLOBAL_ID] = {"gid", 0},
    [TSL_NODE_LOCAL_ID] = {"lid", 0},
    [TSL_NODE_GROUP_ID] = {"group", 0},
    [TSL_NODE_GLOBAL_SIZE] = {"global_size", 0},
    [TSL_NODE_LOCAL_SIZE] = {"local_size", 0},
    [TSL_NODE_GROUP_SIZE] = {"group_size", 0},
    [TSL_NODE_NUM_GROUPS] = {"num_groups", 0},
    [TSL_NODE_GLOBAL_OFFSET] = {"offset", 0},
    [TSL_NODE_COUNTER] = {"i", 0},
    [TSL_NODE_ADD] = {"+", 6},
    [TSL_NODE_SUB] = {"-", 6},
    [TSL_NODE_MUL] = {"*", 7},
    [TSL_NODE_SHL] = {"<<", 5},
    [TSL_NODE_LSHR] = {">>", 5},
    [TSL_NODE_ASHR] = {"ashr", 0},
    [TSL_NODE_UDIV] = {"/", 7},
    [TSL_NODE_SDIV] = {"sdiv", 0},
    [TSL_NODE_UREM] = {"%", 7},
    [TSL_NODE_SREM] = {"srem", 0},
    [TSL_NODE_AND] = {"&", 3},
    [TSL_NODE_OR] = {"|", 1},
    [TSL_NODE_XOR] = {"^", 2},
    [TSL_NODE_UMIN] = {"umin", 0},
    [TSL_NODE_UMAX] = {"umax", 0},
    [TSL_NODE_SMIN] = {"min", 0},
    [TSL_NODE_SMAX] = {"max", 0},
    [TSL_NODE_SELECT] = {"select", 0},
    [TSL_NODE_ZEXT] = {"zext", 0},
    [TSL_NODE_SEXT] = {"sext", 0},
    [TSL_NODE_TRUNC] = {"trunc", 0},
    [TSL_NODE_EQ] = {"==", 4},
    [TSL_NODE_NE] = {"!=", 4},
    [TSL_NODE_ULT] = {"ult", 0},
    [TSL_NODE_ULE] = {"ule", 0},
    [TSL_NODE_SLT] = {"<", 4},
    [TSL_NODE_SLE] = {"<=", 4},
};

static void put_leaf(struct text *text, const struct tsl_node *node)
{
    if (node->op == TSL_NODE_CONSTANT)
        put(text, "%" PRId64, node->value);
    else if (node->op == TSL_NODE_UNKNOWN)
        put(text, "?");
    else if (node->op == TSL_NODE_SCALAR && node->b == 0)
        put(text, "arg%" PRIu32, node->a);
    else if (node->op == TSL_NODE_SCALAR)
        put(text, "arg%" PRIu32 "[%" PRIu32 "]", node->a, node->b);
    else
        put(text, "%s(%" PRIu32 ")", words[node->op].word, node->a);
}

static void put_node(struct text *text, const struct tsl_footprint *footprint, uint32_t at, unsigned outer,
                     unsigned depth);

static void put_function(struct text *text, const struct tsl_footprint *footprint, const struct tsl_node *node,
                         unsigned depth)
{
    const uint32_t operands[3] = {node->a, node->b, node->c};

    put(text, "%s", words[node->op].word);
    if (node->op >= TSL_NODE_ZEXT && node->op <= TSL_NODE_TRUNC)
        put(text, "%u", (unsigned)node->bits);
    for (unsigned i = 0; i < tsl_node_operands(node->op); i++) {
        put(text, i ? ", " : "(");
        put_node(text, footprint, operands[i], 0, depth);
    }
    put(text, ")");
}

/* outer: how strongly the operator around it binds. Once the text is full nothing is walked any more. */
static void put_node(struct text *text, const struct tsl_footprint *footprint, uint32_t at, unsigned outer,
                     unsigned depth)
{
    const struct tsl_node *node = &footprint->nodes[at];
    const unsigned strength = words[node->op].strength;

    if (text->left <= 1)
        return;
    if (tsl_node_operands(node->op) == 0) {
        put_leaf(text, node);
    } else if (depth == MAX_PRINT_DEPTH) {
        put(text, "…");
    } else if (strength == 0) {
        put_function(text, footprint, node, depth + 1);
    } else {
        put(text, strength <= outer ? "(" : "");
        put_node(text, footprint, node->a, strength - 1, depth + 1);
        put(text, " %s ", words[node->op].word);
        put_node(text, footprint, node->b, strength, depth + 1);
        put(text, strength <= outer ? ")" : "");
    }
}

void tsl_footprint_print_node(const struct tsl_footprint *footprint, uint32_t node, char *text, size_t size)
{
    struct text room = {text, size};

    if (size == 0)
        return;
    text[0] = 0;
    if (node >= footprint->n_nodes)
        put(&room, "?");
    else
        put_node(&room, footprint, node, 0, 0);
}
