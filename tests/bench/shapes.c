/*
 * The time of kernels of all shapes on one platform beside others: vectors of all widths, by the way in which they are
 * read, by control, and by what is done with the value: stored, counted in local or global memory, added up in a group
 * with barriers; groups of several sizes. Each result is compared with the host's.
 */
#include "sweep/sweep.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define SIDE        512 /* of the matrix that transposed reads see; the number of items is a multiple of its square */

enum pattern { CONSECUTIVE, STRIDED, TRANSPOSED, GATHERED, N_PATTERNS };
enum control { UNIFORM, RAGGED, RARE, OWN_ROW, N_CONTROLS };
enum use { STORED, COUNTED_LOCALLY, COUNTED, ADDED_UP, N_USES };

/* `at` as text and as a function: the vector that item g of n reads. */
static const char *const pattern_names[] = {"consecutive", "strided", "transposed", "gathered"};
static const char *const pattern_texts[] = {
    "g",
    "(g * 17) % n",
    "g / 262144 * 262144 + (g & 511) * 512 + (g / 512 & 511)",
    "(g * 2654435761u ^ g >> 3) % n",
};

static const char *const control_names[] = {"uniform", "ragged", "rare branch", "own row"};
static const char *const control_texts[] = {
    "for (uint i = 0; i < 16; i++) v = v * 1664525u + 1013904223u;",
    "for (uint i = 0; i < (v & 31); i++) v2 = v2 * 1664525u + 1013904223u; v = v2;",
    "if ((v & 63) == 0) for (uint i = 0; i < 256; i++) v = v * 1664525u + 1013904223u; else v += 7;",
    "for (uint i = 0; i < 64; i++) v = v * 5 + ((global const uint *)in)[(g & 255) * (n / 256) + i];",
};

static const char *const use_names[] = {"stored", "counted locally", "counted", "added up"};
static const char *const use_texts[] = {
    "((global uint *)out)[g] = v;",
    "atomic_inc(&c[v & 63]); barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (uint i = l; i < 64; i += get_local_size(0)) atomic_add((global uint *)out + i, c[i]);",
    "atomic_inc((global uint *)out + (v & 1023));",
    "c[l] = v; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (uint step = get_local_size(0) / 2; step; step /= 2) {\n"
    "    if (l < step) c[l] += c[l + step]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  if (l == 0) ((global uint *)out)[get_group_id(0)] = c[0];",
};

struct shape {
    enum pattern pattern;
    enum control control;
    enum use use;
    unsigned width;
};

/* ---- The host's answer ------------------------------------------------------------------------------------------- */

static uint32_t place(enum pattern pattern, uint32_t g, uint32_t n)
{
    switch (pattern) {
    case STRIDED:
        return g * 17 % n;
    case TRANSPOSED:
        return g / 262144 * 262144 + (g & 511) * 512 + (g / 512 & 511);
    case GATHERED:
        return (g * UINT32_C(2654435761) ^ g >> 3) % n;
    default:
        return g;
    }
}

static uint32_t go_on(uint32_t v, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        v = v * UINT32_C(1664525) + UINT32_C(1013904223);
    return v;
}

static uint32_t along_row(uint32_t v, const unsigned char *row)
{
    uint32_t element;
    for (size_t i = 0; i < 64; i++) {
        memcpy(&element, row + i * sizeof(element), sizeof(element));
        v = v * 5 + element;
    }
    return v;
}

static uint32_t value_of(const struct shape *shape, const unsigned char *in, uint32_t g, uint32_t n)
{
    uint32_t v = 0, component;
    const unsigned char *at = in + (size_t)place(shape->pattern, g, n) * shape->width * sizeof(v);
    for (unsigned i = 0; i < shape->width; i++) {
        memcpy(&component, at + i * sizeof(v), sizeof(component));
        v += component;
    }
    if (shape->control == UNIFORM)
        return go_on(v, 16);
    if (shape->control == RAGGED)
        return go_on(v, v & 31);
    if (shape->control == OWN_ROW)
        return along_row(v, in + (size_t)(g & 255) * (n / 256) * sizeof(v));
    return v & 63 ? v + 7 : go_on(v, 256);
}

static void answer(const struct sweep_row *row, const unsigned char *in, unsigned char *out, size_t items)
{
    const struct shape *shape = row->of;
    uint32_t *result = (uint32_t *)(void *)out;
    for (uint32_t g = 0; g < items; g++) {
        uint32_t v = value_of(shape, in, g, (uint32_t)items);
        switch (shape->use) {
        case STORED:
            result[g] = v;
            break;
        case COUNTED_LOCALLY:
            result[v & 63]++;
            break;
        case COUNTED:
            result[v & 1023]++;
            break;
        default:
            result[g / row->local] += v;
        }
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static char *sum_of(unsigned width)
{
    if (width == 1)
        return sweep_text("a");
    char *text = sweep_text("a.s0");
    for (unsigned i = 1; i < width; i++) {
        char *longer = sweep_text("%s + a.s%x", text, i);
        free(text);
        text = longer;
    }
    return text;
}

static char *kernel_text(const struct shape *shape, size_t local)
{
    static const char *const widths[17] = {[1] = "", [2] = "2", [4] = "4", [8] = "8", [16] = "16"};
    const char *width = widths[shape->width];
    char *sum = sum_of(shape->width), *text;
    text = sweep_text("kernel void %%s(global const uchar *in, global uchar *out) {\n"
                      "  local uint c[%zu]; uint g = get_global_id(0), n = get_global_size(0), l = get_local_id(0);\n"
                      "  for (uint i = l; i < %zu; i += get_local_size(0)) c[i] = 0;\n  barrier(CLK_LOCAL_MEM_FENCE);\n"
                      "  uint%s a = ((global const uint%s *)in)[%s];\n  uint v = %s, v2 = v;\n  %s\n  %s }\n",
                      local > 64 ? local : (size_t)64, local > 64 ? local : (size_t)64, width, width,
                      pattern_texts[shape->pattern], sum, control_texts[shape->control], use_texts[shape->use]);
    free(sum);
    return text;
}

/* Rows keep their shapes to the end. */
static const struct shape *keep(struct shape shape)
{
    static struct shape kept[N_PATTERNS * N_CONTROLS * N_USES * 5 * 3];
    static size_t n;
    kept[n] = shape;
    return &kept[n++];
}

static void add(struct sweep_rows *rows, struct shape shape, size_t local)
{
    struct sweep_row *row =
        sweep_add(rows,
                  sweep_text("uint%u %s, %s, %s, groups of %zu", shape.width, pattern_names[shape.pattern],
                             control_names[shape.control], use_names[shape.use], local),
                  kernel_text(&shape, local));
    row->local = local;
    row->answer = answer;
    row->of = keep(shape);
    row->accumulates = true;
}

static void add_widths(struct sweep_rows *rows, struct shape shape, bool wide)
{
    static const unsigned widths[] = {1, 4, 16, 2, 8};
    static const size_t locals[] = {64, 256, 16};
    for (unsigned w = 0; w < (wide ? N_OF(widths) : 3); w++)
        for (unsigned l = 0; l < (wide ? N_OF(locals) : 1); l++) {
            shape.width = widths[w];
            add(rows, shape, locals[l]);
        }
}

static void fill(struct sweep_rows *rows, bool wide)
{
    for (enum pattern pattern = 0; pattern < N_PATTERNS; pattern++)
        for (enum control control = 0; control < N_CONTROLS; control++)
            for (enum use use = 0; use < N_USES; use++)
                add_widths(rows, (struct shape){.pattern = pattern, .control = control, .use = use}, wide);
}

int main(int argc, char **argv)
{
    static const struct sweep_table table = {
        .name = "shapes",
        .what = "Times kernels of all shapes on the first platform beside the others: names of platforms as the loader "
                "shows them, or the beginnings of names, or numbers.",
        .prelude = "",
        .fill = fill,
        .multiple = SIDE * SIDE,
    };
    return sweep_main(argc, argv, &table);
}
