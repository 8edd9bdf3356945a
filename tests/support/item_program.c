#include "item_program.h"

#include <stdbool.h>
#include <stdlib.h>

#define MAX_LOOPS 3u
#define MAX_DEPTH 4u

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* As OpenCL C names them. */
typedef uint32_t uint;
typedef uint64_t ulong;
typedef uint8_t uchar;

static uint rotate(uint a, uint b)
{
    return b % 32 ? a << b % 32 | a >> (32 - b % 32) : a;
}

static uint mul_hi(uint a, uint b)
{
    return (uint)((ulong)a * b >> 32);
}

/* Each form is C and OpenCL C alike. The last three are conditions. */
#define OPERATORS(X)                                            \
    X(ADD, (a) + (b))                                           \
    X(SUB, (a) - (b))                                           \
    X(MUL, (a) * (b))                                           \
    X(XOR, (a) ^ (b))                                           \
    X(AND, (a) & (b))                                           \
    X(OR, (a) | (b))                                            \
    X(DIV, (a) / ((b) % 97u + 1u))                              \
    X(REM, (a) % ((b) % 61u + 1u))                              \
    X(SIGNED_DIV, (uint)((int)(a) / (int)((b) % 97u + 1u)))     \
    X(SIGNED_REM, (uint)((int)(a) % (int)((b) % 61u + 1u)))     \
    X(LONG_DIV, (uint)((a)*0x9e3779b97f4a7c15ul / ((b) | 3ul))) \
    X(LONG_REM, (uint)((a)*0x9e3779b97f4a7c15ul % ((b) | 3ul))) \
    X(NARROW, (uint)(short)(a) + (uchar)(b))                    \
    X(RIGHT, (a) >> ((b)&15u))                                  \
    X(LEFT, (a) << ((b)&7u))                                    \
    X(LEAST, (a) < (b) ? (a) : (b))                             \
    X(SIGNED, (int)(a) < (int)(b) ? (b) - (a) : (a))            \
    X(ROTATE, rotate((a), (b)))                                 \
    X(MUL_HI, mul_hi((a), (b)))                                 \
    X(LESS, (a) < (b))                                          \
    X(MASKED, ((a) & (b)) == 1u)                                \
    X(DIVIDES, (a) % (b) == 0u)

#define NAME(name, form) O_##name,
enum { OPERATORS(NAME) N_OPERATORS, N_VALUES = O_LESS };

#define TEXT(name, form) #form,
static const char *const forms[] = {OPERATORS(TEXT)};

#define CASE(name, form) \
    case O_##name:       \
        return form;

static uint apply(unsigned which, uint a, uint b)
{
    switch (which) {
        OPERATORS(CASE)
    default:
        return 0;
    }
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

/* What names stand for: variables, then what stays, then loops' counters. */
enum { U, V, W, N_VARIABLES, G = N_VARIABLES, N, COUNTER, N_NAMES = COUNTER + MAX_LOOPS };

static const char *const names[N_NAMES] = {"u", "v", "w", "g", "n", "k0", "k1", "k2"};

/* In the order of their first words: what they do to words. The last one's words are all set to one value each. */
enum atomic { A_ADD, A_XOR, A_OR, A_AND, A_MAX, A_MIN, A_SET, N_ATOMICS };

#define WORDS_EACH \
    64u /* of each atomic; then come counters, of as many work-items take numbers, and the numbers' sums */
#define COUNTERS   (N_ATOMICS * WORDS_EACH)
#define N_COUNTERS 32u

enum kind {
    E_NUMBER, /* which */
    E_NAME,   /* which */
    E_IN,     /* in[a % IP_N_IN] */
    E_APPLY,  /* a which b */

    S_ASSIGN, /* name which = name which `a` */
    S_OUT,    /* out[g] = out[g] * 3 + a */
    S_ATOMIC, /* which: of the word that b says, with a */
    S_STEP,   /* the same by 1; number: upwards? */
    S_NUMBER, /* takes a number of the counter that b says, and adds that to the sum */
    S_IF,     /* if (a) body else other */
    S_FOR,    /* counter which = 0 … a */
    S_DOWN,   /* counter which = a … 0 */
    S_JUMP,   /* which: continue, break or return, if (a) */
};

struct node {
    enum kind kind;
    unsigned which, number;
    struct node *a, *b, *body, *other;
    struct node *next; /* of statements */
    struct node *made; /* before it */
};

struct ip_program {
    struct node *made, *body;
    unsigned left; /* statements that may yet be others than assignments */
    unsigned deep; /* expressions' depth */
    unsigned one;  /* atomic, of which all are; N_ATOMICS: of any */
    bool local; /* atomics work on words of the group, which are added up at the end: so no work-item returns early */
    uint64_t random;
};

static unsigned chance(struct ip_program *p, unsigned n)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->random >> 33) % n;
}

static struct node *new_node(struct ip_program *p, enum kind kind, unsigned which)
{
    struct node *node = calloc(1, sizeof(*node));

    if (!node)
        abort();
    *node = (struct node){.kind = kind, .which = which, .made = p->made};
    p->made = node;
    return node;
}

/* ---- Generation -------------------------------------------------------------------------------------------------- */

/* The surroundings of a statement. */
struct place {
    unsigned loops, depth;
    bool shared; /* of expressions: mostly the same for all work-items */
};

static struct node *number(struct ip_program *p, unsigned n)
{
    return new_node(p, E_NUMBER, n);
}

static struct node *binary(struct ip_program *p, unsigned which, struct node *a, struct node *b)
{
    struct node *e = new_node(p, E_APPLY, which);

    e->a = a;
    e->b = b;
    return e;
}

static struct node *leaf(struct ip_program *p, struct place at)
{
    static const unsigned numbers[] = {1, 2, 3, 5, 7, 13, 31, 61, 255, 1000003};

    if (chance(p, at.shared ? 3 : 8) == 0)
        return number(p, numbers[chance(p, 10)]);
    if (!at.shared)
        return new_node(p, E_NAME, chance(p, COUNTER + at.loops));
    return new_node(p, E_NAME, N + chance(p, 1 + at.loops));
}

static struct node *expression(struct ip_program *p, struct place at, unsigned depth)
{
    unsigned kind = chance(p, 12);
    struct node *e;

    at.shared |= chance(p, 6) == 0;
    if (depth == 0 || kind < 3)
        return leaf(p, at);
    if (kind > 4)
        return binary(p, chance(p, N_VALUES), expression(p, at, depth - 1), expression(p, at, depth - 1));
    e = new_node(p, E_IN, 0);
    e->a = expression(p, at, depth - 1);
    return e;
}

static struct node *condition(struct ip_program *p, struct place at)
{
    static const unsigned masks[] = {1, 3, 15, 31, 63}, divisors[] = {2, 5, 17, 40};

    switch (chance(p, 4)) {
    case 0:
        return binary(p, O_MASKED, expression(p, at, p->deep), number(p, masks[chance(p, 5)]));
    case 1:
        return binary(p, O_LESS, expression(p, at, p->deep), expression(p, at, p->deep));
    case 2:
        return binary(p, O_DIVIDES, new_node(p, E_NAME, G), number(p, divisors[chance(p, 4)]));
    default:
        return binary(p, O_DIVIDES, new_node(p, E_NAME, N), number(p, 2 + chance(p, 2)));
    }
}

/* One of so many words, a power of 2: one for all, one for each launch, one for some work-items each, by a counter, or
 * any. */
static struct node *word(struct ip_program *p, struct place at, unsigned n)
{
    struct node *e = NULL;

    switch (chance(p, 6)) {
    case 0:
        return number(p, chance(p, n));
    case 1:
        e = new_node(p, E_NAME, N);
        break;
    case 2:
        e = binary(p, O_RIGHT, new_node(p, E_NAME, G), number(p, 5));
        break;
    case 3:
        e = at.loops ? new_node(p, E_NAME, COUNTER + chance(p, at.loops)) : number(p, chance(p, n));
        break;
    default:
        e = expression(p, at, 2);
    }
    return binary(p, O_AND, e, number(p, n - 1));
}

static struct node *block(struct ip_program *p, struct place at);

static struct node *change_words(struct ip_program *p, struct place at)
{
    struct node *s = new_node(p, S_ATOMIC, chance(p, N_ATOMICS));
    unsigned kind = chance(p, 10);

    if (p->one < N_ATOMICS)
        s->which = p->one;
    else if (kind < 2)
        s->kind = S_NUMBER;
    else if (kind < 4)
        s->kind = S_STEP;
    s->number = chance(p, 2);
    s->b = word(p, at, s->kind == S_NUMBER ? N_COUNTERS : WORDS_EACH);
    if (s->kind == S_ATOMIC && s->which != A_SET)
        s->a = expression(p, at, p->deep);
    return s;
}

static struct node *branch(struct ip_program *p, struct place at)
{
    struct node *s = new_node(p, S_IF, 0);

    s->a = condition(p, at);
    at.depth++;
    s->body = block(p, at);
    if (chance(p, 5) < 2)
        s->other = block(p, at);
    return s;
}

static struct node *loop(struct ip_program *p, struct place at)
{
    static const unsigned most[MAX_LOOPS] = {20, 9, 4};
    struct node *s = new_node(p, chance(p, 4) ? S_FOR : S_DOWN, at.loops);
    struct node *end = number(p, most[at.loops]);

    if (chance(p, 4) == 0)
        s->a = number(p, chance(p, most[at.loops]));
    else if (chance(p, 3) == 0)
        s->a = binary(p, O_LEAST, new_node(p, E_NAME, N), end);
    else /* Of the other remainder the divisor is not told by a number. */
        s->a = binary(p, O_AND, expression(p, at, p->deep), number(p, most[at.loops] - 1));
    at.loops++;
    at.depth++;
    s->body = block(p, at);
    return s;
}

static struct node *jump(struct ip_program *p, struct place at)
{
    struct node *s = new_node(p, S_JUMP, chance(p, 3));

    if (s->which == 2 ? p->local || chance(p, 3) : !at.loops)
        return NULL;
    s->a = condition(p, at);
    return s;
}

static struct node *statement(struct ip_program *p, struct place at)
{
    unsigned kind = p->left ? chance(p, 12) : 11;
    struct node *s = NULL;

    p->left -= p->left > 0;
    if (kind < 2)
        return change_words(p, at);
    if (kind < 5 && at.depth < MAX_DEPTH)
        return branch(p, at);
    if (kind < 7 && at.depth < MAX_DEPTH && at.loops < MAX_LOOPS)
        return loop(p, at);
    if (kind == 7)
        s = jump(p, at);
    if (s)
        return s;
    s = new_node(p, chance(p, 8) ? S_ASSIGN : S_OUT, chance(p, N_VARIABLES));
    s->number = chance(p, 4) ? (unsigned)O_ADD + chance(p, 4) : (unsigned)N_OPERATORS;
    s->a = expression(p, at, p->deep);
    return s;
}

static struct node *block(struct ip_program *p, struct place at)
{
    struct node *first = NULL, **end = &first;

    for (unsigned n = 1 + chance(p, 3); n > 0; n--) {
        *end = statement(p, at);
        end = &(*end)->next;
    }
    return first;
}

struct ip_program *ip_create(uint64_t seed)
{
    struct ip_program *p = calloc(1, sizeof(*p));
    struct node **end;

    if (!p)
        abort();
    p->random = seed * 0x9e3779b97f4a7c15u + 1;
    chance(p, 2);
    p->local = chance(p, 4) == 0;
    p->left = 3 + chance(p, 5) * chance(p, 5);
    p->deep = chance(p, 4) ? 2 : 3;
    p->one = chance(p, 2) ? N_ATOMICS : chance(p, A_SET);
    end = &p->body;
    for (unsigned n = 1 + chance(p, 3); n > 0; n--) {
        *end = block(p, (struct place){.loops = 0});
        while (*end)
            end = &(*end)->next;
    }
    return p;
}

void ip_free(struct ip_program *program)
{
    while (program && program->made) {
        struct node *made = program->made;

        program->made = made->made;
        free(made);
    }
    free(program);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_value(const struct node *e, FILE *to)
{
    switch (e->kind) {
    case E_NUMBER:
        fprintf(to, "%uu", e->which);
        break;
    case E_NAME:
        fputs(names[e->which], to);
        break;
    case E_IN:
        fputs("in[", to);
        print_value(e->a, to);
        fprintf(to, " & %uu]", IP_N_IN - 1);
        break;
    default:
        fprintf(to, "F%u(", e->which);
        print_value(e->a, to);
        fputs(", ", to);
        print_value(e->b, to);
        fputc(')', to);
    }
}

/* $: the value; %: the other one. */
static void print_form(const char *form, const struct node *s, FILE *to)
{
    for (; *form; form++) {
        if (*form == '$')
            print_value(s->a, to);
        else if (*form == '%')
            print_value(s->b, to);
        else
            fputc(*form, to);
    }
}

static const char *const atomics[N_ATOMICS] = {"add", "xor", "or", "and", "max", "min", "xchg"};

static void print_words(const struct ip_program *p, const struct node *s, FILE *to)
{
    const char *words = p->local ? "t" : "r";

    if (s->kind == S_NUMBER) {
        fprintf(to, "{ uint j = ");
        print_form("%; A(add, r, COUNTERS + N_COUNTERS + j, A(add, r, COUNTERS + j, j + 1u)); }\n", s, to);
    } else if (s->kind == S_STEP) {
        fprintf(to, "STEP_%s(%s, ", s->number ? "UP" : "DOWN", words);
        print_form("%);\n", s, to);
    } else if (s->which == A_SET) {
        fprintf(to, "{ uint j = %uu + ", A_SET * WORDS_EACH);
        print_form("%; ", s, to);
        fprintf(to, "A(xchg, %s, j, j); }\n", words);
    } else {
        fprintf(to, "A(%s, %s, %uu + ", atomics[s->which], words, s->which * WORDS_EACH);
        print_form("%, $);\n", s, to);
    }
}

static void print_statements(const struct ip_program *p, const struct node *s, unsigned depth, FILE *to);

static void print_block(const struct ip_program *p, const struct node *s, unsigned depth, FILE *to)
{
    fputs(" {\n", to);
    print_statements(p, s, depth + 1, to);
    fprintf(to, "%*s}", 4 * depth, "");
}

static void print_loop(const struct ip_program *p, const struct node *s, unsigned depth, FILE *to)
{
    const char *k = names[COUNTER + s->which];

    fprintf(to, s->kind == S_FOR ? "for (uint %s = 0, e%s = " : "for (uint %s = ", k, k);
    print_form("$; ", s, to);
    fprintf(to, s->kind == S_FOR ? "%s < e%s; %s++)" : "%s-- > 0;)", k, k, k);
    print_block(p, s->body, depth, to);
    fputc('\n', to);
}

static void print_branch(const struct ip_program *p, const struct node *s, unsigned depth, FILE *to)
{
    print_form("if ($)", s, to);
    print_block(p, s->body, depth, to);
    if (s->other)
        fputs(" else", to);
    if (s->other)
        print_block(p, s->other, depth, to);
    fputc('\n', to);
}

static void print_statement(const struct ip_program *p, const struct node *s, unsigned depth, FILE *to)
{
    static const char *const jumps[] = {"if ($) continue;\n", "if ($) break;\n", "if ($) { out[g] = u; return; }\n"};

    fprintf(to, "%*s", 4 * depth, "");
    if (s->kind == S_ASSIGN && s->number < N_OPERATORS)
        fprintf(to, "%s = F%u(%s, ", names[s->which], s->number, names[s->which]);
    if (s->kind == S_ASSIGN && s->number == N_OPERATORS)
        fprintf(to, "%s = (", names[s->which]);
    if (s->kind == S_ASSIGN)
        print_form("$);\n", s, to);
    else if (s->kind == S_OUT)
        print_form("out[g] = out[g] * 3u + $;\n", s, to);
    else if (s->kind == S_JUMP)
        print_form(jumps[s->which], s, to);
    else if (s->kind == S_FOR || s->kind == S_DOWN)
        print_loop(p, s, depth, to);
    else if (s->kind == S_IF)
        print_branch(p, s, depth, to);
    else
        print_words(p, s, to);
}

static void print_statements(const struct ip_program *p, const struct node *s, unsigned depth, FILE *to)
{
    for (; s; s = s->next)
        print_statement(p, s, depth, to);
}

void ip_print_head(FILE *to)
{
    fprintf(to, "#define COUNTERS %uu\n#define N_COUNTERS %uu\n", COUNTERS, N_COUNTERS);
    for (unsigned i = 0; i < N_OPERATORS; i++)
        fprintf(to, "#define F%u(a, b) (%s)\n", i, forms[i]);
    fputs("#ifdef C11\n"
          "#define A(name, p, i, x) A_##name(A_##p(p, i), x, memory_order_relaxed, memory_scope_device)\n"
          "#define A_r(p, i) ((volatile global atomic_uint *)(p) + (i))\n"
          "#define A_t(p, i) ((volatile local atomic_uint *)(p) + (i))\n"
          "#define A_xchg atomic_exchange_explicit\n",
          to);
    for (unsigned i = 0; i < A_SET; i++)
        fprintf(to, "#define A_%s atomic_fetch_%s_explicit\n", atomics[i], atomics[i]);
    fputs("#define STEP_UP(p, i) A(add, p, i, 1u)\n#define STEP_DOWN(p, i) A(add, p, i, ~0u)\n"
          "#else\n"
          "#define A(name, p, i, x) atomic_##name((p) + (i), x)\n"
          "#define STEP_UP(p, i) atomic_inc((p) + (i))\n#define STEP_DOWN(p, i) atomic_dec((p) + (i))\n"
          "#endif\n",
          to);
}

/* Words of the group: all that atomics change, but for counters. */
static void print_begin_local(FILE *to)
{
    fprintf(to,
            "    local uint t[COUNTERS];\n    for (uint i = get_local_id(0); i < COUNTERS; i += get_local_size(0))\n"
            "        t[i] = i / %uu == %uu || i / %uu == %uu ? ~0u : 0u;\n    barrier(CLK_LOCAL_MEM_FENCE);\n",
            WORDS_EACH, A_AND, WORDS_EACH, A_MIN);
}

static void print_end_local(FILE *to)
{
    fputs("    barrier(CLK_LOCAL_MEM_FENCE);\n"
          "    for (uint i = get_local_id(0); i < COUNTERS; i += get_local_size(0))\n"
          "        switch (i / 64u) {\n",
          to);
    for (unsigned i = 0; i < N_ATOMICS; i++)
        fprintf(to, "        case %u: A(%s, r, i, t[i]); break;\n", i, i == A_SET ? "max" : atomics[i]);
    fputs("        }\n", to);
}

void ip_print(const struct ip_program *program, const char *name, FILE *to)
{
    fprintf(to, "kernel void %s(global const uint *in, global uint *out, global uint *r, uint n) {\n", name);
    if (program->local)
        print_begin_local(to);
    fprintf(to, "    uint g = get_global_id(0), u = in[g & %uu], v = g, w = 1;\n", IP_N_IN - 1);
    print_statements(program, program->body, 1, to);
    fputs("    out[g] = out[g] * 7u + u + 3u * v + 5u * w;\n", to);
    if (program->local)
        print_end_local(to);
    fputs("}\n", to);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

struct item {
    const struct ip_launch *launch;
    uint names[N_NAMES];
};

/* How a statement ends: as struct node.which of S_JUMP, or it goes on. */
enum end { CONTINUES, BREAKS, RETURNS, GOES_ON };

static uint value(const struct item *item, const struct node *e)
{
    switch (e->kind) {
    case E_NUMBER:
        return e->which;
    case E_NAME:
        return item->names[e->which];
    case E_IN:
        return item->launch->in[value(item, e->a) & (IP_N_IN - 1)];
    default:
        return apply(e->which, value(item, e->a), value(item, e->b));
    }
}

static void change(uint *at, enum atomic how, uint by)
{
    switch (how) {
    case A_ADD:
        *at += by;
        break;
    case A_XOR:
        *at ^= by;
        break;
    case A_OR:
        *at |= by;
        break;
    case A_AND:
        *at &= by;
        break;
    case A_MAX:
        *at = *at > by ? *at : by;
        break;
    case A_MIN:
        *at = *at < by ? *at : by;
        break;
    default:
        *at = by;
    }
}

static void run_words(const struct item *item, const struct node *s)
{
    uint *words = item->launch->words, word = value(item, s->b), at = s->which * WORDS_EACH + word;

    if (s->kind == S_NUMBER) {
        words[COUNTERS + N_COUNTERS + word] += words[COUNTERS + word];
        words[COUNTERS + word] += word + 1;
    } else if (s->kind == S_STEP) {
        words[word] += s->number ? 1 : ~0u;
    } else {
        change(&words[at], s->which, s->a ? value(item, s->a) : at);
    }
}

static enum end run(struct item *item, const struct node *s);

static enum end run_loop(struct item *item, const struct node *s)
{
    uint *k = &item->names[COUNTER + s->which];
    const uint times = value(item, s->a);

    for (uint i = 0; i < times; i++) {
        *k = s->kind == S_FOR ? i : times - 1 - i;
        enum end end = run(item, s->body);
        if (end == BREAKS)
            break;
        if (end == RETURNS)
            return RETURNS;
    }
    return GOES_ON;
}

static enum end run_one(struct item *item, const struct node *s)
{
    uint *out = &item->launch->out[item->names[G]], *name = &item->names[s->which];

    switch (s->kind) {
    case S_ASSIGN:
        *name = s->number < N_OPERATORS ? apply(s->number, *name, value(item, s->a)) : value(item, s->a);
        return GOES_ON;
    case S_OUT:
        *out = *out * 3 + value(item, s->a);
        return GOES_ON;
    case S_IF:
        return run(item, value(item, s->a) ? s->body : s->other);
    case S_FOR:
    case S_DOWN:
        return run_loop(item, s);
    case S_JUMP:
        return value(item, s->a) ? (enum end)s->which : GOES_ON;
    default:
        run_words(item, s);
        return GOES_ON;
    }
}

static enum end run(struct item *item, const struct node *s)
{
    enum end end = GOES_ON;

    for (; s && end == GOES_ON; s = s->next)
        end = run_one(item, s);
    return end;
}

uint32_t ip_first_word(unsigned i)
{
    return i / WORDS_EACH == A_AND || i / WORDS_EACH == A_MIN ? ~0u : 0;
}

void ip_run(const struct ip_program *program, const struct ip_launch *launch)
{
    for (uint g = 0; g < launch->items; g++) {
        struct item item = {launch, {[U] = launch->in[g & (IP_N_IN - 1)], [V] = g, [W] = 1, [G] = g, [N] = launch->n}};
        uint *out = &launch->out[g];

        if (run(&item, program->body) == RETURNS)
            *out = item.names[U];
        else
            *out = *out * 7 + item.names[U] + 3 * item.names[V] + 5 * item.names[W];
    }
}
