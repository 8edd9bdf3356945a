#include "barrier_program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_PRIVATE  4 /* a0 … */
#define N_UNIFORM  2 /* u0 … */
#define N_ARRAY    8 /* elements of the private array p */
#define MAX_DEPTH  4
#define N_COUNTERS (MAX_DEPTH + 1) /* k0 …, by nesting */

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

enum expression_kind {
    E_NUMBER,
    E_N,
    E_M,
    E_PRIVATE,
    E_UNIFORM,
    E_COUNTER,
    E_LOCAL_ID,
    E_GLOBAL_ID,
    E_GROUP_ID,
    E_LOCAL_SIZE,
    E_IN,     /* in[a % BP_N_IN] */
    E_ARRAY,  /* p[a % N_ARRAY] */
    E_BINARY, /* a op b */
    E_CHOOSE, /* a < b ? c : a */
};

struct expression {
    enum expression_kind kind;
    uint32_t number; /* or: the variable, dimension or operator */
    struct expression *a, *b, *c;
};

enum statement_kind {
    S_PRIVATE,  /* a[which] = e */
    S_UNIFORM,  /* u[which] = e */
    S_ARRAY,    /* p[f % N_ARRAY] = e */
    S_OUT,      /* out[item] = out[item] * 3 + e */
    S_EXCHANGE, /* t[item] = e; barrier; a[which] = t[(item + number) % items]; barrier */
    S_BARRIER,
    S_IF,       /* if (e & 1) body else other */
    S_FOR,      /* for (k = 0; k < e % 5; k++) body */
    S_DO,       /* k = 0; do body while (++k < e % 4) */
    S_BREAK,    /* if (e % 3 == 0) break */
    S_CONTINUE, /* if (e % 3 == 1) continue */
    S_SWITCH,   /* switch (e & 3) { case 0: body; case 1: other; break; default: third } */
};

struct statement {
    enum statement_kind kind;
    uint32_t which, number;
    struct expression *e, *f;
    struct statement *body, *other, *third, *next;
};

struct bp_program {
    struct statement *body;
    uint64_t random;
};

static uint32_t chance(struct bp_program *p, uint32_t n)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->random >> 33) % n;
}

/* ---- Generation -------------------------------------------------------------------------------------------------- */

/* The surroundings of a statement or expression. */
struct place {
    bool uniform;                        /* the whole group gets here: barriers and uniform variables are allowed */
    bool loop;                           /* break and continue are allowed */
    bool uniform_loop;                   /* the whole group runs the loop's iterations together */
    unsigned depth;                      /* of statements */
    unsigned uniform_counters, counters; /* bits: counters that are the same for all, and all that are set */
};

static struct expression *make(struct bp_program *p, const struct place *at, bool uniform, unsigned depth);

static struct expression *leaf(struct bp_program *p, const struct place *at, bool uniform)
{
    struct expression *e = calloc(1, sizeof(*e));
    unsigned counters = uniform ? at->uniform_counters : at->counters;

    switch (chance(p, uniform ? 6 : 10)) {
    case 0:
        *e = (struct expression){E_NUMBER, chance(p, 20), NULL, NULL, NULL};
        break;
    case 1:
        *e = (struct expression){chance(p, 2) ? E_N : E_M, 0, NULL, NULL, NULL};
        break;
    case 2:
        *e = (struct expression){E_UNIFORM, chance(p, N_UNIFORM), NULL, NULL, NULL};
        break;
    case 3:
        *e = (struct expression){E_GROUP_ID, chance(p, 3), NULL, NULL, NULL};
        break;
    case 4:
        *e = (struct expression){E_LOCAL_SIZE, chance(p, 3), NULL, NULL, NULL};
        break;
    case 5:
        *e = (struct expression){E_COUNTER, chance(p, N_COUNTERS), NULL, NULL, NULL};
        if (!(counters >> e->number & 1))
            *e = (struct expression){E_NUMBER, 7, NULL, NULL, NULL};
        break;
    case 6:
        *e = (struct expression){E_LOCAL_ID, chance(p, 3), NULL, NULL, NULL};
        break;
    case 7:
        *e = (struct expression){E_GLOBAL_ID, chance(p, 3), NULL, NULL, NULL};
        break;
    default:
        *e = (struct expression){E_PRIVATE, chance(p, N_PRIVATE), NULL, NULL, NULL};
        break;
    }
    return e;
}

static struct expression *make(struct bp_program *p, const struct place *at, bool uniform, unsigned depth)
{
    struct expression *e;
    uint32_t kind = chance(p, 10);

    if (depth == 0 || kind < 3)
        return leaf(p, at, uniform);
    e = calloc(1, sizeof(*e));
    e->kind = kind == 3 ? E_IN : kind == 4 && !uniform ? E_ARRAY : kind == 5 ? E_CHOOSE : E_BINARY;
    e->number = chance(p, 8);
    e->a = make(p, at, uniform, depth - 1);
    if (e->kind == E_BINARY || e->kind == E_CHOOSE)
        e->b = make(p, at, uniform, depth - 1);
    if (e->kind == E_CHOOSE)
        e->c = make(p, at, uniform, depth - 1);
    return e;
}

static struct statement *block(struct bp_program *p, const struct place *at, unsigned n);

static void make_loop(struct bp_program *p, struct statement *s, const struct place *at, bool uniform)
{
    struct place in = *at;

    s->kind = chance(p, 3) ? S_FOR : S_DO;
    s->which = at->depth;
    s->e = make(p, at, uniform, 2);
    in.depth++;
    in.loop = true;
    in.uniform = in.uniform_loop = uniform;
    in.counters |= 1u << s->which;
    in.uniform_counters &= ~(1u << s->which);
    if (uniform)
        in.uniform_counters |= 1u << s->which;
    s->body = block(p, &in, 1 + chance(p, 4));
}

static void make_branch(struct bp_program *p, struct statement *s, const struct place *at, bool uniform)
{
    struct place in = *at;

    s->kind = chance(p, 5) ? S_IF : S_SWITCH;
    s->e = make(p, at, uniform, 2);
    in.depth++;
    in.uniform = uniform;
    if (s->kind == S_SWITCH)
        in.loop = false; /* its break would leave the switch */
    s->body = block(p, &in, 1 + chance(p, 3));
    s->other = block(p, &in, chance(p, 3));
    if (s->kind == S_SWITCH)
        s->third = block(p, &in, chance(p, 3));
}

/* A loop with barriers can't be left by some work-items only. */
static void make_jump(struct bp_program *p, struct statement *s, const struct place *at)
{
    s->kind = chance(p, 2) ? S_BREAK : S_CONTINUE;
    s->e = make(p, at, at->uniform_loop, 2);
}

static void make_simple(struct bp_program *p, struct statement *s, const struct place *at)
{
    switch (chance(p, at->uniform ? 8 : 4)) {
    case 0:
        s->kind = S_OUT;
        break;
    case 1:
        s->kind = S_ARRAY;
        s->f = make(p, at, false, 1);
        break;
    default:
        s->kind = S_PRIVATE;
        break;
    case 4:
    case 5:
        s->kind = S_EXCHANGE;
        s->number = chance(p, 40);
        break;
    case 6:
        s->kind = S_UNIFORM;
        s->which = chance(p, N_UNIFORM);
        s->e = make(p, at, true, 2);
        return;
    case 7:
        s->kind = S_BARRIER;
        return;
    }
    s->which = chance(p, N_PRIVATE);
    s->e = make(p, at, false, 3);
}

static struct statement *block(struct bp_program *p, const struct place *at, unsigned n)
{
    struct statement *first = NULL, **end = &first;

    for (unsigned i = 0; i < n; i++) {
        struct statement *s = calloc(1, sizeof(*s));
        uint32_t kind = chance(p, 10);
        bool uniform = at->uniform && chance(p, 3) > 0;

        if (kind < 2 && at->depth < MAX_DEPTH)
            make_loop(p, s, at, uniform);
        else if (kind < 4 && at->depth < MAX_DEPTH)
            make_branch(p, s, at, uniform);
        else if (kind == 4 && at->loop && (at->uniform || !at->uniform_loop))
            make_jump(p, s, at);
        else
            make_simple(p, s, at);
        *end = s;
        end = &s->next;
    }
    return first;
}

struct bp_program *bp_create(uint64_t seed)
{
    struct bp_program *p = calloc(1, sizeof(*p));
    struct place at = {.uniform = true};

    p->random = seed * 0x9e3779b97f4a7c15u + 1;
    chance(p, 2);
    p->body = block(p, &at, 4 + chance(p, 6));
    return p;
}

static void free_expression(struct expression *e)
{
    if (!e)
        return;
    free_expression(e->a);
    free_expression(e->b);
    free_expression(e->c);
    free(e);
}

static void free_statements(struct statement *s)
{
    while (s) {
        struct statement *next = s->next;

        free_expression(s->e);
        free_expression(s->f);
        free_statements(s->body);
        free_statements(s->other);
        free_statements(s->third);
        free(s);
        s = next;
    }
}

void bp_free(struct bp_program *program)
{
    if (!program)
        return;
    free_statements(program->body);
    free(program);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static const char *const operators[] = {"+", "-", "*", "^", "&", "|", "+", "<"};

static void print_expression(const struct expression *e, FILE *to)
{
    static const char *const queries[] = {
        [E_LOCAL_ID] = "get_local_id",
        [E_GLOBAL_ID] = "get_global_id",
        [E_GROUP_ID] = "get_group_id",
        [E_LOCAL_SIZE] = "get_local_size",
    };

    switch (e->kind) {
    case E_NUMBER:
        fprintf(to, "%uu", e->number);
        break;
    case E_N:
    case E_M:
        fputs(e->kind == E_N ? "n" : "m", to);
        break;
    case E_PRIVATE:
    case E_UNIFORM:
    case E_COUNTER:
        fprintf(to, "%c%u", e->kind == E_PRIVATE ? 'a' : e->kind == E_UNIFORM ? 'u' : 'k', e->number);
        break;
    case E_LOCAL_ID:
    case E_GLOBAL_ID:
    case E_GROUP_ID:
    case E_LOCAL_SIZE:
        fprintf(to, "(uint)%s(%u)", queries[e->kind], e->number);
        break;
    case E_IN:
    case E_ARRAY:
        fprintf(to, e->kind == E_IN ? "in[(" : "p[(");
        print_expression(e->a, to);
        fprintf(to, ") %% %uu]", e->kind == E_IN ? BP_N_IN : N_ARRAY);
        break;
    case E_BINARY:
    case E_CHOOSE:
        fputc('(', to);
        print_expression(e->a, to);
        fprintf(to, " %s ", e->kind == E_CHOOSE ? "<" : operators[e->number]);
        print_expression(e->b, to);
        if (e->kind == E_CHOOSE) {
            fputs(" ? ", to);
            print_expression(e->c, to);
            fputs(" : ", to);
            print_expression(e->a, to);
        }
        fputc(')', to);
        break;
    }
}

static void print_statements(const struct statement *s, FILE *to);

/* A template: $ is an expression, @ a body, # the number of a variable. */
static void print_form(const struct statement *s, const char *form, FILE *to)
{
    for (; *form; form++)
        switch (*form) {
        case '$':
            print_expression(s->e, to);
            break;
        case '~':
            print_expression(s->f, to);
            break;
        case '#':
            fprintf(to, "%u", s->which);
            break;
        case '!':
            fprintf(to, "%u", s->number);
            break;
        case '@':
            print_statements(s->body, to);
            break;
        case '2':
            print_statements(s->other, to);
            break;
        case '3':
            print_statements(s->third, to);
            break;
        default:
            fputc(*form, to);
        }
}

static void print_statement(const struct statement *s, FILE *to)
{
    static const char *const forms[] = {
        [S_PRIVATE] = "a# = $;\n",
        [S_UNIFORM] = "u# = $;\n",
        [S_ARRAY] = "p[(~) % N_ARRAY] = $;\n",
        [S_OUT] = "out[G] = out[G] * THREE + $;\n",
        [S_EXCHANGE] = "T(#)[L] = $; BAR; a# = T(#)[(L + !) % N]; BAR;\n",
        [S_BARRIER] = "BAR;\n",
        [S_IF] = "if (($) & ONE) {\n@} else {\n2}\n",
        [S_FOR] = "for (uint k# = ZERO; k# < ($) % FIVE; k#++) {\n@}\n",
        [S_DO] = "{ uint k# = ZERO; do {\n@} while (++k# < ($) % FOUR); }\n",
        [S_BREAK] = "if (($) % THREE == ZERO) break;\n",
        [S_CONTINUE] = "if (($) % THREE == ONE) continue;\n",
        [S_SWITCH] = "switch (($) & THREE) {\ncase ZERO:\n@case ONE:\n2break;\ndefault:\n3break;\n}\n",
    };

    print_form(s, forms[s->kind], to);
}

static void print_statements(const struct statement *s, FILE *to)
{
    for (; s; s = s->next)
        print_statement(s, to);
}

void bp_print(const struct bp_program *program, const char *name, FILE *to)
{
    fprintf(
        to,
        "#undef N_ARRAY\n#undef L\n#undef N\n#undef G\n#undef BAR\n#undef T\n#undef ZERO\n#undef ONE\n#undef THREE\n"
        "#undef FOUR\n#undef FIVE\n"
        "#define N_ARRAY %uu\n#define BAR barrier(CLK_LOCAL_MEM_FENCE)\n#define T(i) ((i) & 1 ? t0 : t1)\n"
        "#define ZERO 0u\n#define ONE 1u\n#define THREE 3u\n#define FOUR 4u\n#define FIVE 5u\n"
        "#define N (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2))\n"
        "#define L (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + "
        "get_local_id(0))\n"
        "#define G (uint)((get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + "
        "get_global_id(0))\n",
        N_ARRAY);
    fprintf(to, "kernel void %s(global const uint *in, global uint *out, uint n, uint m, local uint *t1) {\n", name);
    fprintf(to, "local uint t0[%u];\nuint a0 = L, a1 = n, a2 = in[G %% %uu], a3 = 5u, u0 = m, u1 = 3u;\n", BP_MAX_ITEMS,
            BP_N_IN);
    fprintf(to, "uint p[N_ARRAY];\nfor (uint i = 0; i < N_ARRAY; i++) p[i] = i * a2;\n");
    print_statements(program->body, to);
    fprintf(to,
            "out[G] = (((out[G] * 31u + a0) * 31u + a1) * 31u + a2) * 31u + a3 + p[(u0 + u1 + a0) %% N_ARRAY];\n}\n");
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* All work-items of a group. */
struct group {
    const struct bp_launch *launch;
    unsigned id[3], size[3], n;
    uint32_t private[N_PRIVATE][BP_MAX_ITEMS], uniform[N_UNIFORM][BP_MAX_ITEMS], counter[N_COUNTERS][BP_MAX_ITEMS];
    uint32_t array[N_ARRAY][BP_MAX_ITEMS], exchange[BP_MAX_ITEMS];
};

/* The work-items that take part: without those that left the innermost loop, or its iteration. */
struct set {
    bool in[BP_MAX_ITEMS];
};

struct loop_state {
    struct set broken, continued;
};

static unsigned local_id(const struct group *g, unsigned item, unsigned d)
{
    return d == 0 ? item % g->size[0] : d == 1 ? item / g->size[0] % g->size[1] : item / g->size[0] / g->size[1];
}

static unsigned global_id(const struct group *g, unsigned item, unsigned d)
{
    return g->id[d] * g->launch->local_size[d] + local_id(g, item, d);
}

static unsigned global_number(const struct group *g, unsigned item)
{
    const unsigned *size = g->launch->global_size;

    return (global_id(g, item, 2) * size[1] + global_id(g, item, 1)) * size[0] + global_id(g, item, 0);
}

static uint32_t apply(uint32_t operator, uint32_t a, uint32_t b)
{
    switch (operator) {
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a ^ b;
    case 4:
        return a & b;
    case 5:
        return a | b;
    case 7:
        return a < b;
    default:
        return a + b;
    }
}

static uint32_t value(const struct group *g, const struct expression *e, unsigned item)
{
    uint32_t a;

    switch (e->kind) {
    case E_NUMBER:
        return e->number;
    case E_N:
        return g->launch->n;
    case E_M:
        return g->launch->m;
    case E_PRIVATE:
        return g->private[e->number][item];
    case E_UNIFORM:
        return g->uniform[e->number][item];
    case E_COUNTER:
        return g->counter[e->number][item];
    case E_LOCAL_ID:
        return local_id(g, item, e->number);
    case E_GLOBAL_ID:
        return global_id(g, item, e->number);
    case E_GROUP_ID:
        return g->id[e->number];
    case E_LOCAL_SIZE:
        return g->size[e->number];
    case E_IN:
        return g->launch->in[value(g, e->a, item) % BP_N_IN];
    case E_ARRAY:
        return g->array[value(g, e->a, item) % N_ARRAY][item];
    case E_BINARY:
        return apply(e->number, value(g, e->a, item), value(g, e->b, item));
    default:
        a = value(g, e->a, item);
        return a < value(g, e->b, item) ? value(g, e->c, item) : a;
    }
}

static void run(struct group *g, const struct statement *s, struct set *set, struct loop_state *loop);

static bool any(const struct group *g, const struct set *set)
{
    for (unsigned i = 0; i < g->n; i++)
        if (set->in[i])
            return true;
    return false;
}

static void run_loop(struct group *g, const struct statement *s, const struct set *set)
{
    struct loop_state *state = calloc(1, sizeof(*state));
    struct set running = *set;

    memset(g->counter[s->which], 0, sizeof(g->counter[0]));
    for (unsigned i = 0; i < g->n; i++)
        running.in[i] &= s->kind == S_DO || value(g, s->e, i) % 5 > 0;
    while (any(g, &running)) {
        struct set body = running;

        memset(&state->continued, 0, sizeof(state->continued));
        run(g, s->body, &body, state);
        for (unsigned i = 0; i < g->n; i++) {
            running.in[i] &= !state->broken.in[i];
            if (running.in[i]) {
                g->counter[s->which][i]++;
                running.in[i] = g->counter[s->which][i] < value(g, s->e, i) % (s->kind == S_DO ? 4 : 5);
            }
        }
    }
    free(state);
}

/* Runs a body for the members of a set with e & mask == number; work-items that leave a loop meanwhile leave the set,
 * too. */
static void run_some(struct group *g, const struct statement *body, struct set *set, const struct set *some,
                     struct loop_state *loop)
{
    struct set part = *some;

    run(g, body, &part, loop);
    for (unsigned i = 0; i < g->n; i++)
        if (some->in[i] && !part.in[i])
            set->in[i] = false;
}

static void run_branch(struct group *g, const struct statement *s, struct set *set, struct loop_state *loop)
{
    struct set first = {{false}}, second = {{false}}, third = {{false}};

    for (unsigned i = 0; i < g->n; i++) {
        uint32_t way = set->in[i] ? value(g, s->e, i) & (s->kind == S_IF ? 1 : 3) : 0;

        if (!set->in[i])
            continue;
        first.in[i] = s->kind == S_IF ? way : way == 0;
        second.in[i] = s->kind == S_IF ? !way : way <= 1;
        third.in[i] = s->kind == S_SWITCH && way > 1;
    }
    run_some(g, s->body, set, &first, loop);
    run_some(g, s->other, set, &second, loop);
    run_some(g, s->third, set, &third, loop);
}

static void run_jump(struct group *g, const struct statement *s, struct set *set, struct loop_state *loop)
{
    for (unsigned i = 0; i < g->n; i++) {
        if (!set->in[i] || value(g, s->e, i) % 3 != (s->kind == S_CONTINUE))
            continue;
        set->in[i] = false;
        (s->kind == S_BREAK ? &loop->broken : &loop->continued)->in[i] = true;
    }
}

static void run_exchange(struct group *g, const struct statement *s)
{
    for (unsigned i = 0; i < g->n; i++)
        g->exchange[i] = value(g, s->e, i);
    for (unsigned i = 0; i < g->n; i++)
        g->private[s->which][i] = g->exchange[(i + s->number) % g->n];
}

static void run_simple(struct group *g, const struct statement *s, unsigned item)
{
    uint32_t *out = &g->launch->out[global_number(g, item)];

    if (s->kind == S_PRIVATE)
        g->private[s->which][item] = value(g, s->e, item);
    else if (s->kind == S_UNIFORM)
        g->uniform[s->which][item] = value(g, s->e, item);
    else if (s->kind == S_ARRAY)
        g->array[value(g, s->f, item) % N_ARRAY][item] = value(g, s->e, item);
    else if (s->kind == S_OUT)
        *out = *out * 3 + value(g, s->e, item);
}

static void run(struct group *g, const struct statement *s, struct set *set, struct loop_state *loop)
{
    for (; s && any(g, set); s = s->next)
        switch (s->kind) {
        case S_EXCHANGE:
            run_exchange(g, s);
            break;
        case S_IF:
        case S_SWITCH:
            run_branch(g, s, set, loop);
            break;
        case S_FOR:
        case S_DO:
            run_loop(g, s, set);
            break;
        case S_BREAK:
        case S_CONTINUE:
            run_jump(g, s, set, loop);
            break;
        default:
            for (unsigned i = 0; i < g->n; i++)
                if (set->in[i])
                    run_simple(g, s, i);
            break;
        }
}

static void begin_item(struct group *g, unsigned i)
{
    g->private[0][i] = i;
    g->private[1][i] = g->launch->n;
    g->private[2][i] = g->launch->in[global_number(g, i) % BP_N_IN];
    g->private[3][i] = 5;
    g->uniform[0][i] = g->launch->m;
    g->uniform[1][i] = 3;
    for (unsigned k = 0; k < N_ARRAY; k++)
        g->array[k][i] = k * g->private[2][i];
}

static void end_item(struct group *g, unsigned i)
{
    uint32_t *out = &g->launch->out[global_number(g, i)];

    for (unsigned v = 0; v < N_PRIVATE; v++)
        *out = *out * 31 + g->private[v][i];
    *out += g->array[(g->uniform[0][i] + g->uniform[1][i] + g->private[0][i]) % N_ARRAY][i];
}

static void run_group(const struct bp_program *program, struct group *g)
{
    struct set all = {{false}};

    g->n = 1;
    for (unsigned d = 0; d < 3; d++) {
        unsigned left = g->launch->global_size[d] - g->id[d] * g->launch->local_size[d];

        g->size[d] = left < g->launch->local_size[d] ? left : g->launch->local_size[d];
        g->n *= g->size[d];
    }
    for (unsigned i = 0; i < g->n; i++) {
        all.in[i] = true;
        begin_item(g, i);
    }
    run(g, program->body, &all, NULL);
    for (unsigned i = 0; i < g->n; i++)
        end_item(g, i);
}

void bp_run(const struct bp_program *program, const struct bp_launch *launch)
{
    struct group *g = calloc(1, sizeof(*g));
    unsigned groups[3];

    g->launch = launch;
    for (unsigned d = 0; d < 3; d++)
        groups[d] = (launch->global_size[d] + launch->local_size[d] - 1) / launch->local_size[d];
    for (g->id[2] = 0; g->id[2] < groups[2]; g->id[2]++)
        for (g->id[1] = 0; g->id[1] < groups[1]; g->id[1]++)
            for (g->id[0] = 0; g->id[0] < groups[0]; g->id[0]++)
                run_group(program, g);
    free(g);
}
