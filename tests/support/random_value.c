/* Values, indices and conditions of random kernels. */
#include "random_value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned random_kernel_chance(uint64_t *state, unsigned n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)((*state >> 11) % n);
}

unsigned rk_chance(struct generator *g, unsigned n)
{
    return random_kernel_chance(g->state, n);
}

void rk_put(struct generator *g, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(g->text + g->used, g->size - g->used, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= g->size - g->used)
        abort();
    g->used += (size_t)n;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

struct value rk_make(int64_t low, int64_t high, const char *format, ...)
{
    struct value value = {.low = low, .high = high};
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(value.text, sizeof(value.text), format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof(value.text))
        return (struct value){"1", 1, 1};
    return value;
}

struct value rk_number(int64_t n)
{
    return rk_make(n, n, n < 0 ? "(%" PRId64 ")" : "%" PRId64, n);
}

static struct value within(struct value value)
{
    return value.low < -LIMIT || value.high > LIMIT ? rk_number(7) : value;
}

struct value rk_add(const struct value *a, const struct value *b)
{
    return within(rk_make(a->low + b->low, a->high + b->high, "(%s + %s)", a->text, b->text));
}

static struct value subtract(const struct value *a, const struct value *b)
{
    return within(rk_make(a->low - b->high, a->high - b->low, "(%s - %s)", a->text, b->text));
}

struct value rk_multiply(const struct value *a, const struct value *b)
{
    const int64_t all[4] = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
    int64_t low = all[0], high = all[0];

    for (unsigned i = 1; i < 4; i++) {
        low = all[i] < low ? all[i] : low;
        high = all[i] > high ? all[i] : high;
    }
    return within(rk_make(low, high, "(%s * %s)", a->text, b->text));
}

int64_t rk_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t rk_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t rk_ids(const struct generator *g, unsigned d)
{
    return (int64_t)g->kernel->most_items[d] + g->kernel->most_offset[d];
}

struct value rk_gid(const struct generator *g, unsigned d)
{
    return rk_make(0, rk_ids(g, d) - 1, "(int)get_global_id(%u)", d);
}

static struct value id(struct generator *g)
{
    const struct random_kernel *k = g->kernel;
    unsigned d = rk_chance(g, k->dims);
    int64_t items = k->most_items[d], local = k->most_local[d];

    switch (rk_chance(g, 15)) {
    case 7:
        return rk_make(0, rk_ids(g, 0) * rk_ids(g, 1) * rk_ids(g, 2) - 1, "(int)get_global_linear_id()");
    case 8:
        return rk_make(0, RANDOM_KERNEL_LOCAL - 1, "lid");
    case 9:
        return rk_make(1, local, "(int)get_enqueued_local_size(%u)", d);
    case 0:
        return rk_make(0, local - 1, "(int)get_local_id(%u)", d);
    case 1:
        return rk_make(0, items - 1, "(int)get_group_id(%u)", d);
    case 2:
        return rk_make(1, local, "(int)get_local_size(%u)", d);
    case 3:
        return rk_make(1, items, "(int)get_global_size(%u)", d);
    case 4:
        return rk_make(0, k->most_offset[d], "(int)get_global_offset(%u)", d);
    case 5:
        return rk_make(1, items, "(int)get_num_groups(%u)", d);
    case 6:
        return rk_make(0, items - 1 + local, "(int)(get_group_id(%u) * get_local_size(%u) + get_local_id(%u))", d, d,
                       d);
    default:
        return rk_gid(g, d);
    }
}

struct value rk_scalar(struct generator *g)
{
    switch (rk_chance(g, 9)) {
    case 0:
    case 1:
        return rk_make(0, 40, "n");
    case 2:
        return rk_make(-20, 20, "m");
    case 3:
    case 4:
        return rk_make(1, g->kernel->most_w, "w");
    case 5:
        return rk_make(0, 15, "(int)(u >> 28)");
    case 6:
        return rk_make(-1000, 1000, "(int)q");
    case 7:
        return rk_make(0, 30, "(int)v.x");
    default:
        return rk_chance(g, 2) ? rk_make(-100, 100, "v.y") : rk_make(-128, 127, "(int)v.z");
    }
}

const unsigned random_image_sizes[RANDOM_N_IMAGES][3] = {{37, 21, 1}, {40, 30, 1}, {16, 12, 5}, {19, 9, 7}};

struct value rk_coordinate(struct generator *g, unsigned depth, unsigned image, unsigned d, bool fitted)
{
    const bool own = d < g->kernel->dims && rk_chance(g, 4);
    struct value value = own ? rk_gid(g, d) : depth ? rk_expression(g, depth - 1) : id(g);

    return fitted ? rk_fitted(g, value, random_image_sizes[image][d]) : value;
}

/* What is read of a pixel. */
static struct value pixel(struct generator *g, unsigned depth)
{
    const unsigned which = rk_chance(g, 4), image = which == 0 ? 2 : 0;
    const bool fitted = which < 2; /* else the sampler does it */
    struct value x = rk_coordinate(g, depth, image, 0, fitted), y = rk_coordinate(g, 0, image, 1, fitted), z;

    if (which > 1)
        return rk_make(0, 255, "(int)(read_imageui(ri, sm, (int2)(%s, %s)).x & 255)", x.text, y.text);
    if (which == 1)
        return rk_make(0, 255, "(int)(read_imageui(ri, (int2)(%s, %s)).z & 255)", x.text, y.text);
    z = rk_coordinate(g, 0, image, 2, true);
    return rk_make(0, 255, "(read_imagei(xi, (int4)(%s, %s, %s, 0)).y & 255)", x.text, y.text, z.text);
}

struct value rk_loaded(struct generator *g, unsigned depth)
{
    if (g->images && rk_chance(g, 2))
        return pixel(g, depth);
    struct value index = rk_fitted(g, depth ? rk_expression(g, depth - 1) : id(g), RANDOM_KERNEL_BYTES / 4);

    return rk_chance(g, 3) ? rk_make(0, 255, "(in[%s] & 255)", index.text) : rk_make(0, 255, "get(in, %s)", index.text);
}

static struct value leaf(struct generator *g)
{
    unsigned which = rk_chance(g, 20);

    if (which < 4 && g->n_names) {
        unsigned i = rk_chance(g, g->n_names);

        return rk_make(g->names[i].low, g->names[i].high, "%s", g->names[i].name);
    }
    if (which < 7)
        return rk_number((int64_t)rk_chance(g, 40) - 8);
    if (which < 11)
        return rk_scalar(g);
    if (which == 11 && rk_chance(g, 3) == 0)
        return rk_loaded(g, 0);
    return id(g);
}

static struct value divided(struct generator *g, const struct value *a)
{
    struct value by = rk_chance(g, 3) ? rk_number(1 + (int64_t)rk_chance(g, 17)) : rk_make(1, g->kernel->most_w, "w");
    int64_t high = rk_most(a->high, -a->low);

    switch (rk_chance(g, 4)) {
    case 0:
        return rk_make(a->low < 0 ? a->low : a->low / by.high, a->high < 0 ? 0 : a->high, "(%s / %s)", a->text,
                       by.text);
    case 1:
        return rk_make(a->low < 0 ? -rk_least(high, by.high - 1) : 0, a->high < 0 ? 0 : rk_least(a->high, by.high - 1),
                       "(%s %% %s)", a->text, by.text);
    case 2:
        return rk_make(0, by.high - 1, "(int)((uint)%s %% (uint)%s)", a->text, by.text);
    default:
        return rk_make(a->low < 0 ? a->low : 0, a->high < 0 ? 0 : a->high, "(%s >> %u)", a->text, rk_chance(g, 6));
    }
}

/* Through fewer bits, or unsigned arithmetic that wraps. */
static struct value narrowed(struct generator *g, const struct value *a)
{
    switch (rk_chance(g, 14)) {
    case 9:
        return rk_make(1, 9, "table[%s & 7]", a->text);
    case 10:
        return rk_make(0, 32, "(int)popcount((uint)%s)", a->text);
    case 11:
        return rk_make(0, 255, "(int)(rotate((uint)%s, %uu) & 255)", a->text, 1 + rk_chance(g, 31));
    case 12:
        return rk_make(0, 255, "((int)((float)%s * 1.5f) & 255)", a->text);
    case 13:
        if (a->low < -1000000 || a->high > 1000000)
            return rk_number(5);
        return rk_make(a->low < 0 ? 3 * a->low : 0, a->high < 0 ? 0 : 3 * a->high, "mul24(%s, 3)", a->text);
    case 0:
        return rk_make(0, 255, "(int)(uchar)%s", a->text);
    case 1:
        return rk_make(-128, 127, "(int)(char)%s", a->text);
    case 2:
        return rk_make(0, 65535, "(int)(ushort)(%s * 1021u)", a->text);
    case 3:
        return rk_make(-32768, 32767, "(int)(short)((uint)%s * 577u)", a->text);
    case 4:
        return rk_make(0, 1023, "(int)((uint)%s * 0x%xu >> 22)", a->text, rk_chance(g, 1u << 30) | 1);
    case 5:
        return rk_make(0, 2047, "(int)((%s + u) & 2047)", a->text);
    case 6:
        return rk_make(0, 4095, "(int)(((uint)%s - 5u) %% 4096u)", a->text);
    case 7:
        return rk_make(0, 511, "(int)(((ulong)%s * 0x9e3779b97f4a7c15ul) >> 55)", a->text);
    default:
        return rk_make(0, 255, "(int)(((long)%s + q) & 255)", a->text);
    }
}

static struct value between(struct generator *g, const struct value *a, const struct value *b)
{
    switch (rk_chance(g, 6)) {
    case 0:
        return rk_make(rk_least(a->low, b->low), rk_least(a->high, b->high), "min(%s, %s)", a->text, b->text);
    case 1:
        return rk_make(rk_most(a->low, b->low), rk_most(a->high, b->high), "max(%s, %s)", a->text, b->text);
    case 2:
        return rk_make(rk_most(0, rk_least(a->low, 63)), rk_most(0, rk_least(a->high, 63)), "clamp(%s, 0, 63)",
                       a->text);
    case 3:
        return rk_make(0, rk_most(a->high, -a->low), "(int)abs(%s)", a->text);
    case 4:
        return rk_make(rk_least(a->low, b->low), rk_most(a->high, b->high), "(%s < %s ? %s : %s)", a->text, b->text,
                       a->text, b->text);
    default:
        return rk_make(rk_least(a->low, b->low), rk_most(a->high, b->high), "select(%s, %s, (int)(%s > %u))", a->text,
                       b->text, a->text, rk_chance(g, 30));
    }
}

static struct value bits(struct generator *g, const struct value *a)
{
    static const unsigned masks[] = {1, 3, 7, 15, 31, 127, 1023, 6, 12, 0x55};
    unsigned mask = masks[rk_chance(g, 10)], by = rk_chance(g, 4);
    int64_t high = 1;

    while (high <= rk_most(a->high, 64))
        high *= 2;
    if (rk_chance(g, 2) || a->low < 0)
        return rk_make(0, mask, "(%s & %u)", a->text, mask);
    if (rk_chance(g, 2))
        return rk_make(0, high - 1, "(%s %c %u)", a->text, rk_chance(g, 2) ? '|' : '^', rk_chance(g, 64));
    return within(rk_make(a->low << by, a->high << by, "(%s << %u)", a->text, by));
}

struct value rk_expression(struct generator *g, unsigned depth)
{
    struct value a, b;
    unsigned which = rk_chance(g, 22);

    if (depth == 0 || which < 2)
        return leaf(g);
    if (which == 2 && rk_chance(g, 2))
        return rk_loaded(g, depth - 1);
    a = rk_expression(g, depth - 1);
    if (which == 21)
        return within(rk_make(2 * a.low, 2 * a.high, "twice(%s)", a.text));
    if (which < 6)
        return divided(g, &a);
    if (which < 8)
        return narrowed(g, &a);
    if (which < 10)
        return bits(g, &a);
    b = rk_expression(g, depth - 1);
    if (which < 13)
        return between(g, &a, &b);
    return which < 17 ? rk_add(&a, &b) : which < 19 ? subtract(&a, &b) : rk_multiply(&a, &b);
}

/* ---- Indices ----------------------------------------------------------------------------------------------------- */

struct value rk_fitted(struct generator *g, struct value index, int64_t n)
{
    int64_t mask = 1;

    if (index.low >= 0 && index.high < n)
        return index;
    if (index.high - index.low < n && rk_chance(g, 3)) {
        struct value by = rk_number(-index.low);

        return rk_add(&index, &by);
    }
    while (2 * mask <= n)
        mask *= 2;
    switch (rk_chance(g, 4)) {
    case 0:
        return rk_make(0, n - 1, "clamp(%s, 0, %" PRId64 ")", index.text, n - 1);
    case 1:
        return rk_make(0, n - 1, "(int)((uint)%s %% %" PRId64 "u)", index.text, n);
    case 2:
        return rk_make(0, n - 1, "max(0, min(%s, %" PRId64 "))", index.text, n - 1);
    default:
        return rk_make(0, mask - 1, "(%s & %" PRId64 ")", index.text, mask - 1);
    }
}

struct value rk_pattern(struct generator *g)
{
    const unsigned dims = g->kernel->dims;
    unsigned order[3] = {0, 1, 2}, inner;
    struct value index, pitch, c;

    for (unsigned i = 2; i > 0; i--) {
        unsigned j = rk_chance(g, i + 1), other = order[j];

        order[j] = order[i];
        order[i] = other;
    }
    index = rk_number(0);
    for (unsigned i = 0; i < 3; i++) {
        if ((inner = order[i]) >= dims)
            continue;
        pitch = rk_chance(g, 4)   ? rk_number(rk_ids(g, inner) + (int64_t)rk_chance(g, 3))
                : rk_chance(g, 2) ? rk_make(1, g->kernel->most_w, "w")
                                  : rk_make(1, g->kernel->most_items[inner], "(int)get_global_size(%u)", inner);
        c = rk_gid(g, inner);
        if (rk_chance(g, 5) == 0) {
            struct value end = rk_number(rk_ids(g, inner) - 1);

            c = subtract(&end, &c);
        } else if (rk_chance(g, 6) == 0) {
            c = rk_make(0, rk_ids(g, inner), "(int)(get_group_id(%u) * get_enqueued_local_size(%u) + get_local_id(%u))",
                        inner, inner, inner);
        } else if (rk_chance(g, 8) == 0) {
            c = rk_make(0, rk_ids(g, inner), "(int)get_group_id(%u)", inner);
        }
        if (index.high == 0) {
            index = c;
            continue;
        }
        index = rk_multiply(&index, &pitch);
        index = rk_add(&index, &c);
    }
    return index;
}

struct value rk_index_of(struct generator *g, unsigned of, unsigned size)
{
    struct value index, scale = rk_number(g->scale[of]), more;

    if (rk_chance(g, 100) >= g->tame)
        return rk_expression(g, 1 + rk_chance(g, 3));
    index = g->pattern[of];
    if (g->n_names && rk_chance(g, 4) == 0) {
        /* Each its own row or column of what is counted. */
        unsigned i = rk_chance(g, g->n_names);
        struct value pitch =
            rk_chance(g, 2) ? rk_make(1, g->kernel->most_w, "w") : rk_number(1 + (int64_t)rk_chance(g, 40));

        more = rk_make(g->names[i].low, g->names[i].high, "%s", g->names[i].name);
        index = rk_gid(g, rk_chance(g, g->kernel->dims));
        index = rk_chance(g, 2) ? rk_multiply(&index, &pitch) : index;
        more = index.text[0] == '(' && index.text[1] != 'i' ? more : rk_multiply(&more, &pitch);
        return rk_add(&index, &more);
    }
    if (g->scale[of] > 1) {
        index = rk_multiply(&index, &scale);
        more = rk_number(rk_chance(g, g->scale[of]));
        if (rk_chance(g, 2) && g->n_names) {
            unsigned i = rk_chance(g, g->n_names);

            more = rk_make(0, g->scale[of] - 1, "(%s & %u)", g->names[i].name, g->scale[of] - 1);
            if (g->names[i].low >= 0 && g->names[i].high < (int64_t)g->scale[of])
                more = rk_make(g->names[i].low, g->names[i].high, "%s", g->names[i].name);
        }
        index = rk_add(&index, &more);
    }
    if (size < 4 && rk_chance(g, 3) == 0) {
        more = rk_number(rk_chance(g, 9));
        index = rk_add(&index, &more);
    }
    return index;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

struct text rk_condition(struct generator *g, unsigned depth)
{
    static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
    struct text text;
    struct value a = rk_expression(g, rk_chance(g, 2)), b = rk_chance(g, 2) ? rk_scalar(g) : rk_expression(g, 0);

    switch (rk_chance(g, depth ? 10 : 7)) {
    case 0:
        snprintf(text.text, sizeof(text.text), "(uint)%s < (uint)%s", a.text, b.text);
        break;
    case 1:
        snprintf(text.text, sizeof(text.text), "(%s & %u) %s 0", a.text, 1 + rk_chance(g, 7),
                 rk_chance(g, 2) ? "==" : "!=");
        break;
    case 2:
        snprintf(text.text, sizeof(text.text), "%s %% %u == %u", a.text, 2 + rk_chance(g, 5), rk_chance(g, 3));
        break;
    case 7:
    case 8:
    case 9: {
        struct text x = rk_condition(g, depth - 1), y = rk_condition(g, depth - 1);

        if (strlen(x.text) + strlen(y.text) + 12 < sizeof(text.text)) {
            char both[6 * MAX_VALUE + 16];

            snprintf(both, sizeof(both), "%s(%s %s %s)", rk_chance(g, 4) ? "" : "!", x.text,
                     rk_chance(g, 3) ? "&&" : "||", y.text);
            memcpy(text.text, both, strlen(both) + 1);
        } else {
            text = x;
        }
        break;
    }
    default:
        snprintf(text.text, sizeof(text.text), "%s %s %s", a.text, compare[rk_chance(g, 6)], b.text);
    }
    return text;
}
