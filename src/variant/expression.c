#include "variant/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 256u
#define MAX_DEPTH 64u

enum kind { NUMBER, SCALAR, BYTES, GLOBAL, LOCAL, OFFSET, NEGATE, NOT, BINARY };

enum operation { OR, AND, EQUAL, UNEQUAL, AT_MOST, AT_LEAST, LESS, MORE, ADD, SUBTRACT, TIMES, DIVIDE, REST };

/* Longer signs stand before those that they begin with. */
static const struct sign {
    const char *text;
    enum operation operation;
    unsigned binds; /* the more, the tighter */
} signs[] = {
    {"||", OR, 1},       {"&&", AND, 2},   {"==", EQUAL, 3}, {"!=", UNEQUAL, 3}, {"<=", AT_MOST, 4},
    {">=", AT_LEAST, 4}, {"<", LESS, 4},   {">", MORE, 4},   {"+", ADD, 5},      {"-", SUBTRACT, 5},
    {"*", TIMES, 6},     {"/", DIVIDE, 6}, {"%", REST, 6},
};

struct node {
    enum kind kind;
    enum operation operation; /* of BINARY */
    unsigned a, b;            /* nodes; or of an argument or a dimension the number */
    struct tsl_expression_value value;
};

struct tsl_expression {
    unsigned n, root;
    struct node nodes[];
};

struct parser {
    const char *at;
    const struct tsl_expression_names *names;
    unsigned n, depth;
    const char *why; /* NULL: nothing is wrong */
    struct node nodes[MAX_NODES];
};

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static unsigned parse_binary(struct parser *p, unsigned binds);

static unsigned fail(struct parser *p, const char *why)
{
    if (!p->why)
        p->why = why;
    return 0;
}

static unsigned add(struct parser *p, const struct node *node)
{
    if (p->n == MAX_NODES)
        return fail(p, "the expression is too long");
    p->nodes[p->n] = *node;
    return p->n++;
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static unsigned parse_number(struct parser *p)
{
    struct node node = {.kind = NUMBER, .value.known = true};
    size_t length = strcspn(p->at, " \t()+-*/%<>=!&|");
    bool hexadecimal = p->at[0] == '0' && (p->at[1] | 32) == 'x';
    char *end;

    errno = 0;
    node.value.real = !hexadecimal && memchr(p->at, '.', length) != NULL;
    if (node.value.real)
        node.value.d = strtod(p->at, &end);
    else
        node.value.i = strtoll(p->at, &end, 0);
    if (errno || end != p->at + length)
        return fail(p, "a number is not understood");
    p->at = end;
    return add(p, &node);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool find_argument(const struct parser *p, const char *name, size_t length, unsigned *number)
{
    for (*number = 0; *number < p->names->n; ++*number) {
        const char *known = p->names->names[*number];

        if (known && strlen(known) == length && !strncmp(known, name, length))
            return true;
    }
    return false;
}

static unsigned parse_bytes(struct parser *p)
{
    struct node node = {.kind = BYTES};
    const char *name;

    p->at++;
    skip_blanks(p);
    for (name = p->at; is_word(*p->at);)
        p->at++;
    if (!find_argument(p, name, (size_t)(p->at - name), &node.a))
        return fail(p, "bytes(…) needs the name of an argument");
    skip_blanks(p);
    if (*p->at != ')')
        return fail(p, "a ) is missing");
    p->at++;
    return add(p, &node);
}

/* Arguments' names go before those of sizes. */
static unsigned parse_name(struct parser *p)
{
    static const struct {
        const char *name;
        enum kind kind;
    } sizes[] = {{"global", GLOBAL}, {"local", LOCAL}, {"offset", OFFSET}};
    const char *name = p->at;
    struct node node = {.kind = SCALAR};
    size_t length;

    while (is_word(*p->at))
        p->at++;
    length = (size_t)(p->at - name);
    if (find_argument(p, name, length, &node.a))
        return add(p, &node);
    skip_blanks(p);
    if (length == 5 && !strncmp(name, "bytes", 5) && *p->at == '(')
        return parse_bytes(p);
    for (unsigned i = 0; i < 3; i++) {
        size_t most = strlen(sizes[i].name);

        if (length == most + 1 && !strncmp(name, sizes[i].name, most) && name[most] >= '0' && name[most] <= '2') {
            node.kind = sizes[i].kind;
            node.a = (unsigned)(name[most] - '0');
            return add(p, &node);
        }
    }
    return fail(p, "a name is no argument's, nor global0 … global2, local0 …, offset0 …");
}

static unsigned parse_one(struct parser *p)
{
    struct node node = {.kind = NOT};
    unsigned inner;

    skip_blanks(p);
    if (p->why || ++p->depth > MAX_DEPTH)
        return fail(p, "the expression is too deep");
    if (*p->at == '-' || *p->at == '!') {
        node.kind = *p->at++ == '-' ? NEGATE : NOT;
        node.a = parse_one(p);
        inner = add(p, &node);
    } else if (*p->at == '(') {
        p->at++;
        inner = parse_binary(p, 1);
        skip_blanks(p);
        if (*p->at != ')')
            return fail(p, "a ) is missing");
        p->at++;
    } else if (isdigit((unsigned char)*p->at)) {
        inner = parse_number(p);
    } else if (is_word(*p->at)) {
        inner = parse_name(p);
    } else {
        inner = fail(p, *p->at ? "a sign is not understood" : "the expression ends early");
    }
    p->depth--;
    return inner;
}

static const struct sign *next_sign(struct parser *p)
{
    skip_blanks(p);
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (!strncmp(p->at, signs[i].text, strlen(signs[i].text)))
            return &signs[i];
    return NULL;
}

/* All signs that bind at least so tightly; equal ones from the left. */
static unsigned parse_binary(struct parser *p, unsigned binds)
{
    unsigned left = parse_one(p);
    const struct sign *sign;

    while (!p->why && (sign = next_sign(p)) && sign->binds >= binds) {
        struct node node = {.kind = BINARY, .operation = sign->operation, .a = left};

        p->at += strlen(sign->text);
        node.b = parse_binary(p, sign->binds + 1);
        left = add(p, &node);
    }
    return left;
}

struct tsl_expression *tsl_expression_parse(const char *text, const struct tsl_expression_names *names, char **why)
{
    struct parser *p = calloc(1, sizeof(*p));
    struct tsl_expression *expression = NULL;
    unsigned root;

    *why = NULL;
    if (!p)
        return NULL;
    p->at = text;
    p->names = names;
    root = parse_binary(p, 1);
    skip_blanks(p);
    if (!p->why && *p->at)
        fail(p, "a sign is not understood");
    if (p->why && asprintf(why, "%s, at \"%s\"", p->why, p->at) < 0)
        *why = NULL;
    if (!p->why)
        expression = malloc(sizeof(*expression) + p->n * sizeof(p->nodes[0]));
    if (expression) {
        expression->n = p->n;
        expression->root = root;
        memcpy(expression->nodes, p->nodes, p->n * sizeof(p->nodes[0]));
    }
    free(p);
    return expression;
}

void tsl_expression_free(struct tsl_expression *expression)
{
    free(expression);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

typedef struct tsl_expression_value value;

static value integer(int64_t i)
{
    return (value){.known = true, .i = i};
}

static value unknown(void)
{
    return (value){.known = false};
}

static value of_size(uint64_t size)
{
    return size <= INT64_MAX ? integer((int64_t)size) : unknown();
}

static bool truth(const value *v)
{
    return v->real ? v->d != 0 : v->i != 0;
}

static double real(const value *v)
{
    return v->real ? v->d : (double)v->i;
}

/* None of the three holds where one of them is no number. */
static value compared(enum operation operation, bool less, bool equal, bool more)
{
    switch (operation) {
    case EQUAL:
        return integer(equal);
    case UNEQUAL:
        return integer(!equal);
    case AT_MOST:
        return integer(less || equal);
    case AT_LEAST:
        return integer(more || equal);
    case LESS:
        return integer(less);
    case MORE:
        return integer(more);
    default:
        return unknown();
    }
}

/* Not for && and ||. */
static value of_reals(enum operation operation, double a, double b)
{
    value v = {.known = true, .real = true};

    switch (operation) {
    case ADD:
        v.d = a + b;
        return v;
    case SUBTRACT:
        v.d = a - b;
        return v;
    case TIMES:
        v.d = a * b;
        return v;
    case DIVIDE:
        v.d = a / b;
        return v;
    default:
        return compared(operation, a<b, a == b, a> b);
    }
}

static value of_integers(enum operation operation, int64_t a, int64_t b)
{
    int64_t result = 0;
    bool wrong = false;

    switch (operation) {
    case ADD:
        wrong = __builtin_add_overflow(a, b, &result);
        break;
    case SUBTRACT:
        wrong = __builtin_sub_overflow(a, b, &result);
        break;
    case TIMES:
        wrong = __builtin_mul_overflow(a, b, &result);
        break;
    case DIVIDE:
    case REST:
        wrong = b == 0 || (a == INT64_MIN && b == -1);
        if (!wrong)
            result = operation == DIVIDE ? a / b : a % b;
        break;
    default:
        return compared(operation, a<b, a == b, a> b);
    }
    return wrong ? unknown() : integer(result);
}

static value evaluate(const struct tsl_expression *e, unsigned i, const struct tsl_expression_launch *launch);

/* As in C the right side may be unknown where the left one decides. */
static value evaluate_binary(const struct tsl_expression *e, const struct node *node,
                             const struct tsl_expression_launch *launch)
{
    value a = evaluate(e, node->a, launch), b;

    if (!a.known)
        return unknown();
    if (node->operation == AND && !truth(&a))
        return integer(0);
    if (node->operation == OR && truth(&a))
        return integer(1);
    b = evaluate(e, node->b, launch);
    if (!b.known)
        return unknown();
    if (node->operation == AND || node->operation == OR)
        return integer(truth(&b));
    if (a.real || b.real)
        return of_reals(node->operation, real(&a), real(&b));
    return of_integers(node->operation, a.i, b.i);
}

static value negated(const value *v)
{
    if (v->real)
        return (value){.known = true, .real = true, .d = -v->d};
    return of_integers(SUBTRACT, 0, v->i);
}

static value evaluate(const struct tsl_expression *e, unsigned i, const struct tsl_expression_launch *launch)
{
    const struct node *node = &e->nodes[i];
    value inner;

    switch (node->kind) {
    case NUMBER:
        return node->value;
    case SCALAR:
        return launch->scalars[node->a];
    case BYTES:
        return of_size(launch->bytes[node->a]);
    case GLOBAL:
        return of_size(launch->global[node->a]);
    case LOCAL:
        return of_size(launch->local[node->a]);
    case OFFSET:
        return of_size(launch->offset[node->a]);
    case BINARY:
        return evaluate_binary(e, node, launch);
    default:
        inner = evaluate(e, node->a, launch);
        if (!inner.known)
            return unknown();
        return node->kind == NOT ? integer(!truth(&inner)) : negated(&inner);
    }
}

bool tsl_expression_integer(const struct tsl_expression *expression, const struct tsl_expression_launch *launch,
                            int64_t *result)
{
    value v = evaluate(expression, expression->root, launch);

    *result = v.i;
    return v.known && !v.real;
}

bool tsl_expression_holds(const struct tsl_expression *expression, const struct tsl_expression_launch *launch)
{
    value v = evaluate(expression, expression->root, launch);

    return v.known && truth(&v);
}
