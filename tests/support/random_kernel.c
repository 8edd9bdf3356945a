#include "random_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char random_kernel_head[] = "struct s { short x; int y; char z; };\n"
                                  "struct pair { int x; short y; char z; };\n"
                                  "struct triple { int x[3]; };\n"
                                  "void put(global int *p, int i, int value) { p[i] = value; }\n"
                                  "void put_if(global int *p, int i, int value) { if (value & 4) p[i] = value; }\n"
                                  "void put_below(global int *p, int i, int n) { if (i >= n) return; p[i] = n; }\n"
                                  "int get(global const int *p, int i) { return p[i] & 255; }\n"
                                  "int twice(int i) { return 2 * i; }\n"
                                  "constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n";

static const struct element elements[] = {
    {"uchar", 1, WHOLE}, {"short", 2, WHOLE},  {"int", 4, WHOLE},          {"int", 4, WHOLE},
    {"float", 4, WHOLE}, {"long", 8, WHOLE},   {"int2", 8, PARTS},         {"float4", 16, PARTS},
    {"uint", 4, WHOLE},  {"ushort", 2, WHOLE}, {"struct pair", 8, FIELDS}, {"struct triple", 12, ARRAY},
};

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void statement(struct generator *g);

static void indent(struct generator *g)
{
    rk_put(g, "%*s", (int)(4 * g->depth + 4), "");
}

static void block(struct generator *g)
{
    unsigned n_names = g->n_names;

    g->depth++;
    for (unsigned n = 1 + rk_chance(g, 2); n > 0; n--)
        statement(g);
    g->depth--;
    g->n_names = n_names;
}

static const char *new_name(struct generator *g, int64_t low, int64_t high, bool counter)
{
    unsigned i = g->n_names < MAX_NAMES ? g->n_names++ : MAX_NAMES - 1;

    snprintf(g->names[i].name, sizeof(g->names[i].name), "%c%u", counter ? 'i' : 'x', g->n_made++ % 1000);
    g->names[i].low = low;
    g->names[i].high = high;
    return g->names[i].name;
}

/* What is stored: any number. */
static struct text stored(struct generator *g)
{
    struct value a = rk_expression(g, 1), b = rk_loaded(g, 1);
    struct text text;

    switch (rk_chance(g, 6)) {
    case 0:
        snprintf(text.text, sizeof(text.text), "%u", rk_chance(g, 3));
        break;
    case 1:
        snprintf(text.text, sizeof(text.text), "%s", a.text);
        break;
    case 2:
        snprintf(text.text, sizeof(text.text), "%s + %s", a.text, b.text);
        break;
    case 3:
        b = rk_fitted(g, a, RANDOM_KERNEL_BYTES / 16);
        snprintf(text.text, sizeof(text.text), "vload4(%s, in).%c", b.text, "xyzw"[rk_chance(g, 4)]);
        break;
    case 4:
        if (rk_chance(g, 4) == 0) {
            b = rk_fitted(g, a, RANDOM_KERNEL_BYTES / 4);
            snprintf(text.text, sizeof(text.text), "((global int *)%c)[%s]", 'a' + (char)rk_chance(g, 2), b.text);
            break;
        }
        /* falls through */
    default:
        snprintf(text.text, sizeof(text.text), "%s", b.text);
    }
    return text;
}

/* The index of an access, in its bounds; where that is by a guard, the guard is written before. */
static struct value guarded(struct generator *g, struct value index, int64_t n)
{
    static const char *const types[] = {"", "", "", "(size_t)", "(uint)", "(long)"};
    const char *type = types[rk_chance(g, 6)];

    if ((index.low >= 0 && index.high < n) || rk_chance(g, 2)) {
        index = rk_fitted(g, index, n);
        return rk_make(index.low, index.high, "%s%s", type, index.text);
    }
    if (rk_chance(g, 2))
        rk_put(g, "if ((uint)%s < %" PRId64 "u) ", index.text, n);
    else
        rk_put(g, "if (%s >= 0 && %s < %" PRId64 ") ", index.text, index.text, n);
    return index;
}

static void plain_store(struct generator *g, unsigned of)
{
    static const char *const operators[] = {"=", "=", "=", "+=", "^=", "-="};
    const struct element *element = g->of[of];
    bool real = element->type[0] == 'f';
    struct value index = rk_index_of(g, of, element->size);
    struct text value = stored(g);
    const char *op = operators[rk_chance(g, real ? 4 : 6)];
    char name = (char)('a' + of);

    index = guarded(g, index, RANDOM_KERNEL_BYTES / element->size);
    if (element->kind == WHOLE)
        rk_put(g, "%c[%s] %s (%s)(%s);\n", name, index.text, op, element->type, value.text);
    else if (element->kind == ARRAY)
        rk_put(g, "%c[%s].x[%u] %s %s;\n", name, index.text, rk_chance(g, 3), op, value.text);
    else if (element->kind == FIELDS)
        rk_put(g, "%c[%s].%c %s %s;\n", name, index.text, "xyz"[rk_chance(g, 3)], op, value.text);
    else if (rk_chance(g, 2))
        rk_put(g, "%c[%s].%c = %s;\n", name, index.text, "xy"[rk_chance(g, 2)], value.text);
    else
        rk_put(g, "%c[%s] %s (%s)(%s);\n", name, index.text, op, element->type, value.text);
}

/* Through another type, in vectors or halves, or with a pointer to bytes. */
static void other_store(struct generator *g, unsigned of)
{
    static const char *const kinds[] = {"add((global int *)", "max((global int *)",
                                        "store_explicit((volatile global atomic_int *)",
                                        "fetch_xor_explicit((volatile global atomic_int *)"};
    static const char *const orders[] = {"", "", ", memory_order_relaxed", ", memory_order_relaxed"};
    const unsigned kind = rk_chance(g, 4);
    char name = (char)('a' + of);
    struct value index = rk_index_of(g, of, 4);
    struct text value = stored(g);

    switch (rk_chance(g, 9)) {
    case 0:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 16);
        rk_put(g, "vstore4((int4)(%s), %s, (global int *)%c);\n", value.text, index.text, name);
        break;
    case 1:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 12);
        rk_put(g, "vstore3((int3)(%s), %s, (global int *)%c);\n", value.text, index.text, name);
        break;
    case 2:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 2);
        rk_put(g, "vstore_half((float)(%s), %s, (global half *)%c);\n", value.text, index.text, name);
        break;
    case 3:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 2);
        rk_put(g, "((global ushort *)%c)[%s] = (ushort)(%s);\n", name, index.text, value.text);
        break;
    case 4:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 4);
        rk_put(g, "*(global int *)((global char *)%c + 4 * %s) = %s;\n", name, index.text, value.text);
        break;
    case 5: {
        struct text which = rk_condition(g, 0);

        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 4);
        rk_put(g, "(%s ? (global int *)a : (global int *)b)[%s] = %s;\n", which.text, index.text, value.text);
        break;
    }
    case 6:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 4);
        rk_put(g, "%s((global int *)%c, %s, %s);\n",
               rk_chance(g, 2)   ? "put"
               : rk_chance(g, 2) ? "put_if"
                                 : "put_below",
               name, index.text, value.text);
        break;
    case 7:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 8);
        rk_put(g, "((global long *)%c)[%s] = (long)(%s) * q;\n", name, index.text, value.text);
        break;
    default:
        index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 4);
        if (rk_chance(g, 12) == 0)
            rk_put(g, "atomic_%s%c + %s, %s%s);\n", kinds[kind], name, index.text, value.text, orders[kind]);
        else
            rk_put(g, "((global int *)%c)[(size_t)%s] = %s;\n", name, index.text, value.text);
    }
}

/* A pixel: of the image, by a guard in it, or beside it, where it has no effect. */
static void pixel_store(struct generator *g)
{
    static const char names[] = "rwxv";
    const unsigned image = 1 + rk_chance(g, 3), how = rk_chance(g, 4), depth = rk_chance(g, 3);
    const bool fitted = how < 2;
    struct value x = rk_coordinate(g, depth, image, 0, fitted), y = rk_coordinate(g, depth, image, 1, fitted),
                 z = rk_coordinate(g, 0, image, 2, fitted);
    struct text value = stored(g);

    indent(g);
    if (how == 2)
        rk_put(g, "if (%s < get_image_width(%ci) && %s < get_image_height(%ci) && %s >= 0) ", x.text, names[image],
               y.text, names[image], y.text);
    if (image == 1)
        rk_put(g, "write_imageui(wi, (int2)(%s, %s), (uint4)((uint)(%s)));\n", x.text, y.text, value.text);
    else if (image == 2)
        rk_put(g, "write_imagei(xi, (int4)(%s, %s, %s, 0), (int4)((int)(%s)));\n", x.text, y.text, z.text, value.text);
    else
        rk_put(g, "write_imagef(vi, (int4)(%s, %s, %s, 0), (float4)((float)(%s) * 0.003f));\n", x.text, y.text, z.text,
               value.text);
}

/* Elements in fixed distances from each other in any order, as of a loop that was unrolled. */
static void row_store(struct generator *g, unsigned of)
{
    const bool scalar = rk_chance(g, 2), reads = rk_chance(g, 2);
    const int64_t step = scalar ? g->kernel->most_w : 1 + (int)rk_chance(g, 60);
    const unsigned n = 4 + rk_chance(g, 6);
    struct value base = rk_fitted(g, rk_index_of(g, of, 4), RANDOM_KERNEL_BYTES / 4 - step * n);
    unsigned order[10];

    for (unsigned i = 0; i < n; i++) {
        unsigned at = rk_chance(g, i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    rk_put(g, "{ int r = %s, step = ", base.text);
    if (scalar)
        rk_put(g, "w; uint x = u;");
    else
        rk_put(g, "%" PRId64 "; uint x = u;", step);
    for (unsigned i = 0; i < n; i++)
        if (reads)
            rk_put(g, " x = (x ^ (uint)in[r + step * %u]) * 3;", order[i]);
        else
            rk_put(g, " ((global uint *)%c)[r + step * %u] = x;", 'a' + (char)of, order[i]);
    if (reads)
        rk_put(g, " ((global uint *)%c)[r] = x;", 'a' + (char)of);
    rk_put(g, " }\n");
}

static void store(struct generator *g)
{
    unsigned of = rk_chance(g, 2);

    indent(g);
    if (rk_chance(g, 3))
        plain_store(g, of);
    else if (rk_chance(g, 5))
        other_store(g, of);
    else
        row_store(g, of);
}

static void declare(struct generator *g)
{
    struct value value = rk_expression(g, 1 + rk_chance(g, 2));
    struct text other;

    indent(g);
    if (rk_chance(g, 3) == 0 && value.low >= 0) {
        /* Of another type; an int wherever it is used. */
        static const char *const types[] = {"uint", "size_t", "long", "ulong"};
        unsigned n = g->n_made;

        rk_put(g, "%s y%u = %s;\n", types[rk_chance(g, 4)], n % 1000, value.text);
        new_name(g, value.low, value.high, false);
        snprintf(g->names[g->n_names - 1].name, sizeof(g->names[0].name), "(int)y%u", n % 1000);
        return;
    }
    if (rk_chance(g, 4) || value.low < -1000 || value.high > 1000) {
        rk_put(g, "int %s = %s;\n", new_name(g, value.low, value.high, false), value.text);
        return;
    }
    other = rk_condition(g, 0);
    /* A name of two values, by a branch. */
    rk_put(g, "int x%u = %s; ", g->n_made % 1000, value.text);
    rk_put(g, "if (%s) x%u += 3;\n", other.text, g->n_made % 1000);
    new_name(g, value.low, value.high + 3, false);
}

static void choice(struct generator *g)
{
    struct text text = rk_condition(g, 1);

    indent(g);
    rk_put(g, "if (%s) {\n", text.text);
    block(g);
    indent(g);
    if (rk_chance(g, 4) == 0) {
        rk_put(g, "} else {\n");
        block(g);
        indent(g);
    }
    rk_put(g, "}\n");
}

/* How often a loop may run here. */
static int64_t times(const struct generator *g)
{
    return rk_least(40, (int64_t)(MAX_COST / g->cost));
}

static void jump(struct generator *g)
{
    struct text text = rk_condition(g, 0);

    g->depth++;
    indent(g);
    rk_put(g, "if (%s) %s;\n", text.text, rk_chance(g, 3) ? "continue" : "break");
    g->depth--;
}

/* The bound of a loop: at most `n`. */
static struct value bound(struct generator *g, int64_t n)
{
    struct value value = rk_chance(g, 3) ? rk_scalar(g) : rk_expression(g, 1);

    if (value.high <= n && value.low > -LIMIT)
        return value;
    return rk_chance(g, 2) ? rk_make(rk_least(value.low, n), n, "min(%s, %" PRId64 ")", value.text, n)
                           : rk_number(1 + (int64_t)rk_chance(g, (unsigned)n));
}

/* What else ends a loop: mostly nothing. Else `begin` is the operator. */
static struct text further(struct generator *g, const char **begin)
{
    struct text text = rk_condition(g, 0);

    *begin = " && ";
    if (rk_chance(g, 4) == 0)
        return text;
    if (rk_chance(g, 4) == 0) {
        struct value loaded = rk_loaded(g, 1);

        snprintf(text.text, sizeof(text.text), "(%s & 63) != 5", loaded.text);
        return text;
    }
    *begin = "";
    text.text[0] = 0;
    return text;
}

/* Two numbers go on, and either of them, or something else besides, ends the loop. */
static void head_of_two(struct generator *g, const char *name, const struct value *end, unsigned step)
{
    static const char *const steps[] = {"1", "2", "7", "(int)get_global_size(0)", "(n & 15)"};
    struct value start = rk_expression(g, 1), last = rk_expression(g, 1);
    const char *and;
    struct text also = further(g, &and);
    bool falls = rk_chance(g, 3) == 0;
    unsigned by = rk_chance(g, 5);
    int64_t far = 40 * rk_most(16, rk_ids(g, 0));
    const char *other = new_name(g, start.low - (falls ? far : 0), start.high + (falls ? 0 : far), true);

    rk_put(g, "for (int %s = 0, %s = %s; %s < %s && %s %s %s%s%s;\n", name, other, start.text, name, end->text, other,
           falls ? ">" : "<", last.text, and, also.text);
    indent(g);
    rk_put(g, "     %s += %u, %s %c= %s) {\n", name, step, other, falls ? '-' : '+', steps[by]);
}

/* Writes the head, and names the counter, of a loop of at most n times. */
static void loop_head(struct generator *g, int64_t n)
{
    struct value end = bound(g, n), start = rk_expression(g, 1);
    unsigned step = 1 + rk_chance(g, 3), kind = rk_chance(g, g->n_names + 2 < MAX_NAMES ? 11 : 9);
    const char *and;
    struct text also = further(g, &and);
    const char *name = new_name(g, 0, n - 1, true);
    int64_t *low = &g->names[g->n_names - 1].low, *high = &g->names[g->n_names - 1].high;

    switch (kind) {
    case 0:
        rk_put(g, "for (int %s = %s - 1; %s >= 0%s%s; %s--) {\n", name, end.text, name, and, also.text, name);
        break;
    case 1: /* a stretch that begins anywhere */
        *low = start.low;
        *high = start.high + n;
        rk_put(g, "for (int %s = %s, %se = %s + %" PRId64 "; %s != %se; %s++) {\n", name, start.text, name, start.text,
               n, name, name, name);
        break;
    case 2: /* by the whole grid, of which there may be few work-items */
        *high = rk_most(400, rk_ids(g, 0));
        rk_put(g, "for (int %s = (int)(get_global_id(0) - get_global_offset(0)); %s < n * %u%s%s;\n", name, name,
               1 + rk_chance(g, 10), and, also.text);
        indent(g);
        rk_put(g, "     %s += (int)get_global_size(0)) {\n", name);
        break;
    case 3:
        rk_put(g, "for (int %s = 1; %s < %s; %s *= 2) {\n", name, name, end.text, name);
        break;
    case 4:
        rk_put(g, "for (uint %su = (uint)max(0, %s); %su-- > 0;) { int %s = (int)%su;\n", name, end.text, name, name,
               name);
        break;
    case 9:
    case 10:
        head_of_two(g, name, &end, step);
        break;
    default:
        rk_put(g, "for (int %s = 0; %s < %s%s%s; %s += %u) {\n", name, name, end.text, and, also.text, name, step);
    }
}

static void loop(struct generator *g)
{
    unsigned cost = g->cost, names = g->n_names, step = 1 + rk_chance(g, 5);
    int64_t n = times(g);
    const char *running = NULL;

    if (g->n_names + 4 < MAX_NAMES && rk_chance(g, 3) == 0) {
        /* What runs along with the counter. */
        struct value start = rk_expression(g, 1);

        indent(g);
        running = new_name(g, start.low, start.high + step * 400, false);
        rk_put(g, "int %s = %s;\n", running, start.text);
        names = g->n_names;
    }
    indent(g);
    loop_head(g, n);
    g->cost *= (unsigned)n;
    if (rk_chance(g, 6) == 0)
        jump(g);
    block(g);
    if (running)
        rk_put(g, "%*s%s += %u;\n", (int)(4 * g->depth + 8), "", running, step);
    if (rk_chance(g, 8) == 0)
        jump(g);
    indent(g);
    rk_put(g, "}\n");
    g->cost = cost;
    g->n_names = names;
}

/* *p++ = …, or backwards. */
static void walk(struct generator *g)
{
    unsigned of = rk_chance(g, 2), step = 1 + rk_chance(g, 3), p = g->n_made++ % 1000;
    int64_t n = rk_least(times(g), 16), span = (int64_t)step * n;
    struct value start = rk_index_of(g, of, 4), end = bound(g, n);
    bool down = rk_chance(g, 4) == 0;

    start = rk_fitted(g, start, RANDOM_KERNEL_BYTES / 4 - span);
    indent(g);
    rk_put(g, "{ global int *p%u = (global int *)%c + %s + %" PRId64 ";\n", p, 'a' + (char)of, start.text,
           down ? span : 0);
    indent(g);
    rk_put(g, "  for (int k = 0; k < %s; k++) { *p%u = k; p%u %c= %u; } }\n", end.text, p, p, down ? '-' : '+', step);
}

/* What decides whether a round of a loop is remembered: numbers, or memory. */
static struct text remembered_if(struct generator *g)
{
    struct text text = rk_condition(g, 1);
    struct value loaded = rk_loaded(g, 1);

    if (rk_chance(g, 2))
        snprintf(text.text, sizeof(text.text), "(%s & 3) == 1", loaded.text);
    return text;
}

/* A place that some round of a loop chose, perhaps none, and not always the last. */
static void remember(struct generator *g)
{
    unsigned of = rk_chance(g, 2), r = g->n_made++ % 1000, names = g->n_names;
    int64_t n = rk_least(times(g), 16), size = RANDOM_KERNEL_BYTES / 4;
    bool open = rk_chance(g, 2), pointer = rk_chance(g, 3);
    struct value first = rk_fitted(g, rk_index_of(g, of, 4), size), end = bound(g, n);
    struct text value = stored(g), when;
    char base[32] = "";

    if (pointer)
        snprintf(base, sizeof(base), "(global int *)%c + ", 'a' + (char)of);
    indent(g);
    rk_put(g, "{ int f%u = %u; %s r%u", r, !open, pointer ? "global int *" : "int", r);
    rk_put(g, open ? ";\n" : " = %s%s;\n", base, first.text);
    const char *name = new_name(g, 0, n - 1, true);
    indent(g);
    rk_put(g, "  for (int %s = 0; %s < %s; %s++)\n", name, name, end.text, name);
    when = remembered_if(g);
    first = rk_fitted(g, rk_index_of(g, of, 4), size);
    indent(g);
    rk_put(g, "    if (%s) { r%u = %s%s; f%u = 1; }\n", when.text, r, base, first.text, r);
    g->n_names = names;
    indent(g);
    if (!pointer)
        snprintf(base, sizeof(base), "(global int *)%c + ", 'a' + (char)of);
    if (rk_chance(g, 2)) {
        rk_put(g, "  if (f%u) *(%sr%u) = (int)(%s); }\n", r, pointer ? "" : base, r, value.text);
        return;
    }
    first = rk_fitted(g, rk_index_of(g, 1 - of, 4), size);
    rk_put(g, "  if (f%u) ((global int *)%c)[%s] = *(%sr%u); }\n", r, 'b' - (char)of, first.text, pointer ? "" : base,
           r);
}

/* A pointer that goes on to another one in each round, of which some round's was remembered. */
static void remember_turning(struct generator *g)
{
    unsigned of = rk_chance(g, 2), to = rk_chance(g, 2), r = g->n_made++ % 1000, names = g->n_names;
    int64_t n = rk_least(times(g), 16), size = RANDOM_KERNEL_BYTES / 4;
    struct value first = rk_fitted(g, rk_index_of(g, of, 4), size), next = rk_fitted(g, rk_index_of(g, to, 4), size);
    struct value end = bound(g, n);
    struct text value = stored(g);

    indent(g);
    rk_put(g, "{ int f%u = 0; global int *r%u, *p%u = (global int *)%c + %s, *q%u = (global int *)%c + %s;\n", r, r, r,
           'a' + (char)of, first.text, r, 'a' + (char)to, next.text);
    const char *name = new_name(g, 0, n - 1, true);
    indent(g);
    if (rk_chance(g, 2))
        rk_put(g, "  for (int %s = 0; %s < %s; %s++) {\n", name, name, end.text, name);
    else
        rk_put(g, "  for (int %s = 0; %s < %u; %s++) {\n", name, name, 2 + rk_chance(g, (unsigned)n), name);
    struct text when = remembered_if(g);
    indent(g);
    rk_put(g, "    if (%s) { r%u = p%u; f%u = 1; }\n", when.text, r, r, r);
    g->n_names = names;
    indent(g);
    rk_put(g, "    p%u = q%u; }\n", r, r);
    indent(g);
    rk_put(g, "  if (f%u) *r%u = (int)(%s); }\n", r, r, value.text);
}

/* An index is an element of a vector, of which another one, or that one, is set by number. */
static void set_element(struct generator *g)
{
    unsigned of = rk_chance(g, 2), v = g->n_made++ % 1000;
    struct value one = rk_index_of(g, of, 4), two = rk_expression(g, 1), set = rk_expression(g, 1),
                 which = rk_expression(g, 1);
    struct text value = stored(g);
    struct value index = rk_make(rk_least(one.low, rk_least(two.low, set.low)),
                                 rk_most(one.high, rk_most(two.high, set.high)), "v%u.%c", v, "xy"[rk_chance(g, 2)]);

    index = rk_fitted(g, index, RANDOM_KERNEL_BYTES / 4);
    indent(g);
    rk_put(g, "{ int2 v%u = (int2)(%s, %s) + 0 * (int2)(lid); v%u[%s & 1] = %s;\n", v, one.text, two.text, v,
           which.text, set.text);
    indent(g);
    rk_put(g, "  ((global int *)%c)[%s] = (int)(%s); }\n", 'a' + (char)of, index.text, value.text);
}

/* A pointer that may be null decides. */
static void compare_pointers(struct generator *g)
{
    unsigned of = rk_chance(g, 2), p = g->n_made++ % 1000;
    int64_t size = RANDOM_KERNEL_BYTES / 4;
    struct value one = rk_fitted(g, rk_index_of(g, of, 4), size), other = rk_fitted(g, rk_index_of(g, of, 4), size);
    struct text when = rk_condition(g, 1);

    indent(g);
    rk_put(g, "{ global int *p%u = (%s) ? (global int *)%c + %s : (global int *)0;\n", p, when.text, 'a' + (char)of,
           one.text);
    indent(g);
    rk_put(g, "  if (p%u %s (global int *)%c + %s) {\n", p, rk_chance(g, 2) ? "==" : "!=", 'a' + (char)of, other.text);
    block(g);
    indent(g);
    rk_put(g, "} }\n");
}

static void early_return(struct generator *g)
{
    struct text text = rk_condition(g, 1);

    indent(g);
    rk_put(g, "if (%s) return;\n", text.text);
    g->returned = true;
}

/* Through local memory, all work-items together. */
static void exchange(struct generator *g)
{
    struct value out = rk_fitted(g, rk_index_of(g, 0, 4), RANDOM_KERNEL_BYTES / 4), from = rk_loaded(g, 1);

    indent(g);
    rk_put(g, "t[lid] = %s; barrier(CLK_LOCAL_MEM_FENCE);\n", from.text);
    indent(g);
    rk_put(g, "((global int *)a)[%s] = t[items - 1 - lid]; barrier(CLK_LOCAL_MEM_FENCE);\n", out.text);
}

static void copy_together(struct generator *g)
{
    struct value n = rk_chance(g, 2) ? rk_make(0, 64, "(n & 31)") : rk_number(1 + (int64_t)rk_chance(g, 40));
    struct value group = rk_make(0, g->kernel->most_items[0], "(int)get_group_id(0)"),
                 size = rk_number(1 + rk_chance(g, 40)), at;

    if (g->kernel->dims > 1 && rk_chance(g, 2)) {
        struct value other = rk_make(0, g->kernel->most_items[1], "(int)get_group_id(1)");

        other = rk_multiply(&other, &(struct value){"w", 1, g->kernel->most_w});
        group = rk_add(&group, &other);
    }
    at = rk_multiply(&group, &size);
    at = rk_fitted(g, at, RANDOM_KERNEL_BYTES / 4 - 64);
    indent(g);
    rk_put(g, "{ event_t e = async_work_group_copy(t, in + %s, %s, 0); wait_group_events(1, &e);\n", at.text, n.text);
    indent(g);
    rk_put(g, "  e = async_work_group_copy((global int *)%c + %s, t, %s, 0); wait_group_events(1, &e); }\n",
           'a' + (char)rk_chance(g, 2), at.text, n.text);
}

static void cases(struct generator *g)
{
    struct value value = rk_expression(g, 1);

    indent(g);
    rk_put(g, "switch (%s & 3) {\n", value.text);
    for (unsigned i = 0; i < 3; i++) {
        indent(g);
        rk_put(g, "case %u: {\n", i);
        block(g);
        indent(g);
        rk_put(g, "    break; }\n");
    }
    indent(g);
    rk_put(g, "}\n");
}

static void statement(struct generator *g)
{
    unsigned which = rk_chance(g, 44);

    if (g->images && rk_chance(g, 3) == 0) {
        g->n_statements++;
        pixel_store(g);
        return;
    }
    if (++g->n_statements > 14 || which < 16 || g->depth > 3)
        store(g);
    else if (which < 21)
        declare(g);
    else if (which < 26)
        choice(g);
    else if (which < 32)
        times(g) > 1 ? loop(g) : store(g);
    else if (which < 34)
        walk(g);
    else if (which < 36)
        g->depth < 2 && rk_chance(g, 2) ? cases(g) : store(g);
    else if (which == 43)
        set_element(g);
    else if (which == 42)
        g->depth < 3 ? compare_pointers(g) : store(g);
    else if (which >= 40 && (times(g) < 2 || g->n_names + 2 >= MAX_NAMES))
        store(g);
    else if (which >= 40)
        rk_chance(g, 3) ? remember(g) : remember_turning(g);
    else if (g->depth > 0 || g->returned || which == 36)
        early_return(g);
    else
        which < 39 ? exchange(g) : copy_together(g);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void choose_limits(struct generator *g, struct random_kernel *kernel)
{
    static const unsigned items[3][3] = {{260, 1, 1}, {30, 30, 1}, {10, 8, 9}};
    static const unsigned locals[3][3] = {{64, 1, 1}, {8, 8, 1}, {4, 4, 4}};

    *kernel = (struct random_kernel){.dims = 1 + rk_chance(g, 3)};
    for (unsigned d = 0; d < 3; d++) {
        kernel->most_items[d] = d < kernel->dims ? 1 + rk_chance(g, items[kernel->dims - 1][d]) : 1;
        kernel->most_local[d] = locals[kernel->dims - 1][d];
        kernel->most_offset[d] = d < kernel->dims && rk_chance(g, 4) == 0 ? 1 + rk_chance(g, 8) : 0;
    }
    kernel->most_w = (int32_t)(kernel->most_items[0] + kernel->most_offset[0] + rk_chance(g, 5));
}

static void write_kernel(uint64_t *state, const char *name, struct random_kernel *kernel, char *text, size_t size,
                         bool images)
{
    struct generator g = {.state = state, .kernel = kernel, .text = text, .size = size, .cost = 1, .images = images};
    static const unsigned tame[] = {100, 100, 100, 90, 70, 20};

    choose_limits(&g, kernel);
    g.tame = tame[rk_chance(&g, 6)];
    for (unsigned i = 0; i < 2; i++) {
        g.of[i] = &elements[rk_chance(&g, sizeof(elements) / sizeof(elements[0]))];
        g.scale[i] = rk_chance(&g, 2) ? 1 : 1u << rk_chance(&g, 4);
        g.pattern[i] = i && rk_chance(&g, 3) ? g.pattern[0] : rk_pattern(&g);
    }
    rk_put(&g, "kernel void %s(global %s *a, global %s *b, global const int *in, local int *t,\n", name, g.of[0]->type,
           g.of[1]->type);
    rk_put(&g, "               int n, int m, int w, uint u, long q, struct s v");
    if (images)
        rk_put(&g, ",\n               read_only image2d_t ri, write_only image2d_t wi, read_write image2d_array_t xi, "
                   "write_only image3d_t vi, sampler_t sm");
    rk_put(&g, ")\n{\n");
    rk_put(&g, "    int lid = (int)get_local_linear_id();\n");
    rk_put(&g, "    int items = (int)(get_local_size(0) * get_local_size(1) * get_local_size(2));\n");
    for (unsigned n = 1 + rk_chance(&g, 4); n > 0; n--)
        statement(&g);
    rk_put(&g, "}\n");
}

void random_kernel_write(uint64_t *state, const char *name, struct random_kernel *kernel, char *text, size_t size)
{
    write_kernel(state, name, kernel, text, size, false);
}

void random_kernel_write_images(uint64_t *state, const char *name, struct random_kernel *kernel, char *text,
                                size_t size)
{
    write_kernel(state, name, kernel, text, size, true);
}

void random_kernel_launch(uint64_t *state, const struct random_kernel *kernel, struct random_launch *launch)
{
    struct generator g = {.state = state};
    const bool even = rk_chance(&g, 2);

    memset(launch, 0, sizeof(*launch));
    for (unsigned d = 0; d < 3; d++) {
        const unsigned most_items = kernel->most_items[d], most_local = kernel->most_local[d];

        launch->local[d] = 1 + rk_chance(&g, (unsigned)rk_least(most_local, most_items));
        launch->size[d] = rk_chance(&g, 3) ? most_items : 1 + rk_chance(&g, most_items);
        if (launch->local[d] > launch->size[d])
            launch->local[d] = launch->size[d];
        if (even)
            launch->size[d] -= launch->size[d] % launch->local[d];
        launch->offset[d] = kernel->most_offset[d] ? rk_chance(&g, kernel->most_offset[d] + 1) : 0;
    }
    launch->values = (struct random_values){
        .n = (int32_t)rk_chance(&g, 41),
        .m = (int32_t)rk_chance(&g, 41) - 20,
        .w = rk_chance(&g, 4) ? kernel->most_w : 1 + (int32_t)rk_chance(&g, (unsigned)kernel->most_w),
        .u = rk_chance(&g, 2) ? rk_chance(&g, 50) : (uint32_t)*state,
        .q = (int64_t)rk_chance(&g, 2001) - 1000,
    };
    launch->values.v = (struct random_struct){(int16_t)rk_chance(&g, 31), (int32_t)rk_chance(&g, 201) - 100,
                                              (int8_t)(rk_chance(&g, 256) - 128)};
}
