/* Built-in relational functions against plain C (OpenCL C 3.0, 6.15.6), on the built-in CPU alone. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* timeout: 300 */
/*
 * Edge values, all pairs of them (with all masks of select and bitselect), and random ones: RELATIONAL_COUNT says how
 * many. RELATIONAL_FUNCTION chooses one function.
 */
#include "cpu_rig.h"
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct type {
    const char *name, *signed_name, *unsigned_name;
    unsigned bits, mantissa; /* 0: an integer */
    bool is_signed;
};

static const struct type types[] = {
    {"float", "int", "uint", 32, 23, true},    {"double", "long", "ulong", 64, 52, true},
    {"char", "char", "uchar", 8, 0, true},     {"uchar", "char", "uchar", 8, 0, false},
    {"short", "short", "ushort", 16, 0, true}, {"ushort", "short", "ushort", 16, 0, false},
    {"int", "int", "uint", 32, 0, true},       {"uint", "int", "uint", 32, 0, false},
    {"long", "long", "ulong", 64, 0, true},    {"ulong", "long", "ulong", 64, 0, false},
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* Of a value's bits, which lie lowest; what is above counts for nothing. */
static uint64_t mask_of(const struct type *t)
{
    return t->bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << t->bits) - 1;
}

static bool top_bit(const struct type *t, uint64_t bits)
{
    return bits >> (t->bits - 1) & 1;
}

static int64_t sign_extended(const struct type *t, uint64_t bits)
{
    return (int64_t)(top_bit(t, bits) ? bits | ~mask_of(t) : bits & mask_of(t));
}

/* ---- References ---------------------------------------------------------------------------------------------------
 * Arguments are bits of one element; the result of a relation is 0 or 1, of a choice the bits chosen. A relation of
 * double's holds for what float's become in double, for that is exact.
 */

typedef uint64_t reference_fn(const struct type *t, unsigned width, uint64_t x, uint64_t y, uint64_t z);

static double number(const struct type *t, uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    double d;
    float f;

    if (t->bits == 64) {
        memcpy(&d, &bits, sizeof(d));
        return d;
    }
    memcpy(&f, &low, sizeof(f));
    return f;
}

static uint64_t fraction(const struct type *t, uint64_t bits)
{
    return bits & ((UINT64_C(1) << t->mantissa) - 1);
}

static uint64_t most_exponent(const struct type *t)
{
    return (UINT64_C(1) << (t->bits - 1 - t->mantissa)) - 1;
}

static uint64_t exponent(const struct type *t, uint64_t bits)
{
    return bits >> t->mantissa & most_exponent(t);
}

static bool nan_(const struct type *t, uint64_t bits)
{
    return exponent(t, bits) == most_exponent(t) && fraction(t, bits);
}

#define REFERENCE(NAME, EXPRESSION)                                                                \
    static uint64_t NAME(const struct type *t, unsigned width, uint64_t x, uint64_t y, uint64_t z) \
    {                                                                                              \
        (void)t, (void)width, (void)x, (void)y, (void)z;                                           \
        return EXPRESSION;                                                                         \
    }

#define A number(t, x)
#define B number(t, y)

REFERENCE(isequal_, A == B)
REFERENCE(isnotequal_, A != B)
REFERENCE(isgreater_, A > B)
REFERENCE(isgreaterequal_, A >= B)
REFERENCE(isless_, A < B)
REFERENCE(islessequal_, A <= B)
REFERENCE(islessgreater_, A<B || A> B)
REFERENCE(isfinite_, exponent(t, x) != most_exponent(t))
REFERENCE(isinf_, exponent(t, x) == most_exponent(t) && !fraction(t, x))
REFERENCE(isnan_, nan_(t, x))
REFERENCE(isnormal_, exponent(t, x) && exponent(t, x) != most_exponent(t))
REFERENCE(isordered_, !nan_(t, x) && !nan_(t, y))
REFERENCE(isunordered_, nan_(t, x) || nan_(t, y))
REFERENCE(signbit_, top_bit(t, x))
REFERENCE(bitselect_, (x & ~z) | (y & z))
REFERENCE(select_, (width == 1 ? (z & mask_of(t)) != 0 : top_bit(t, z)) ? y : x)

/* ---- The functions ----------------------------------------------------------------------------------------------- */

/* IS: whether it holds, for each element. ANY, ALL: of any or all elements, one int. CHOICE: an element. */
enum result { IS, ANY, ALL, CHOICE };
enum mask { SAME, SIGNED, UNSIGNED }; /* z's type, beside the others' */

/* The most elements: building kernels of wide choices for ten types takes most of the test's time. */
static const struct function {
    const char *name, *expression;
    unsigned n_arguments, most_width;
    enum result result;
    enum mask mask;
    reference_fn *reference;
} functions[] = {
    {"isequal", "isequal(x, y)", 2, 16, IS, SAME, isequal_},
    {"isnotequal", "isnotequal(x, y)", 2, 16, IS, SAME, isnotequal_},
    {"isgreater", "isgreater(x, y)", 2, 16, IS, SAME, isgreater_},
    {"isgreaterequal", "isgreaterequal(x, y)", 2, 16, IS, SAME, isgreaterequal_},
    {"isless", "isless(x, y)", 2, 16, IS, SAME, isless_},
    {"islessequal", "islessequal(x, y)", 2, 16, IS, SAME, islessequal_},
    {"islessgreater", "islessgreater(x, y)", 2, 16, IS, SAME, islessgreater_},
    {"isfinite", "isfinite(x)", 1, 16, IS, SAME, isfinite_},
    {"isinf", "isinf(x)", 1, 16, IS, SAME, isinf_},
    {"isnan", "isnan(x)", 1, 16, IS, SAME, isnan_},
    {"isnormal", "isnormal(x)", 1, 16, IS, SAME, isnormal_},
    {"isordered", "isordered(x, y)", 2, 16, IS, SAME, isordered_},
    {"isunordered", "isunordered(x, y)", 2, 16, IS, SAME, isunordered_},
    {"signbit", "signbit(x)", 1, 16, IS, SAME, signbit_},
    {"any", "any(x)", 1, 16, ANY, SAME, signbit_},
    {"all", "all(x)", 1, 16, ALL, SAME, signbit_},
    {"bitselect", "bitselect(x, y, z)", 3, 8, CHOICE, SAME, bitselect_},
    {"select", "select(x, y, z)", 3, 16, CHOICE, SIGNED, select_},
    {"select_unsigned", "select(x, y, z)", 3, 4, CHOICE, UNSIGNED, select_},
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static bool is_for(const struct function *f, const struct type *t)
{
    const char *one = getenv("RELATIONAL_FUNCTION");

    if (one && strcmp(one, f->name) != 0)
        return false;
    if (f->result == CHOICE)
        return true;
    return f->result == IS ? t->mantissa != 0 : t->mantissa == 0 && t->is_signed;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static const unsigned widths[] = {1, 2, 3, 4, 8, 16};

#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))
#define GROUP    48 /* a multiple of each */

#define WRONG_SIZE 77 /* the result of a function whose type isn't what the specification says */

static const char *mask_name(const struct function *f, const struct type *t)
{
    return f->mask == SIGNED ? t->signed_name : f->mask == UNSIGNED ? t->unsigned_name : t->name;
}

static void write_arguments(FILE *source, const struct function *f, const struct type *t, const char *n)
{
    for (int k = 0; k < 3; k++) {
        const char *type = k < 2 ? t->name : mask_name(f, t);

        if (*n)
            fprintf(source, "    %s%s %c = vload%s(i, (global const %s *)%c);\n", type, n, "xyz"[k], n, type, "XYZ"[k]);
        else
            fprintf(source, "    %s %c = ((global const %s *)%c)[i];\n", type, "xyz"[k], type, "XYZ"[k]);
    }
}

/* Relations are int for a scalar, double's too; for vectors as wide as the argument. */
static void write_result(FILE *source, const struct function *f, const struct type *t, const char *n)
{
    if (f->result == CHOICE)
        fprintf(source, "    %s%s r = %s;\n    long%s v = convert_long%s(as_%s%s(r));\n", t->name, n, f->expression, n,
                n, t->signed_name, n);
    else if (f->result == IS && *n)
        fprintf(source, "    %s%s r = %s;\n    long%s v = convert_long%s(r);\n", t->signed_name, n, f->expression, n,
                n);
    else
        fprintf(source, "    int r = %s;\n    long%s v = (long%s)(r);\n", f->expression, n, n);
    fprintf(source, "    if (sizeof(r) != sizeof(%s)) v = %d;\n", f->expression, WRONG_SIZE);
}

static void write_kernel(FILE *source, const struct function *f, const struct type *t, unsigned width)
{
    char n[12] = "";

    if (width > 1)
        snprintf(n, sizeof(n), "%u", width);
    fprintf(source, "kernel void %s%u(global const void *X, global const void *Y, global const void *Z,\n", f->name,
            width);
    fprintf(source, "    global long *out) { size_t i = get_global_id(0);\n");
    write_arguments(source, f, t, n);
    write_result(source, f, t, n);
    if (width > 1)
        fprintf(source, "    vstore%s(v, i, out); }\n", n);
    else
        fprintf(source, "    out[i] = v; }\n");
}

static cl_program program_of(struct cpu_rig *rig, unsigned type)
{
    const struct type *t = &types[type];
    char *text = NULL;
    size_t size;
    FILE *source = open_memstream(&text, &size);
    cl_program program;

    for (size_t i = 0; i < N_FUNCTIONS; i++)
        for (size_t w = 0; w < N_WIDTHS; w++)
            if (is_for(&functions[i], t) && widths[w] <= functions[i].most_width)
                write_kernel(source, &functions[i], t, widths[w]);
    fputs("kernel void none() {}\n", source);
    fclose(source);
    program = cpu_rig_program(rig, text, "-cl-std=CL3.0");
    free(text);
    return program;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

struct run {
    const struct function *function;
    const struct type *type;
};

static uint64_t reference(const struct run *run, const struct cpu_rig_values *values, unsigned width, unsigned i)
{
    return run->function->reference(run->type, width, values->args[0][i], values->args[1][i], values->args[2][i]);
}

/* What element i of a vector is, or of the one int that the kernel stores as often. */
static int64_t expected(const struct run *run, const struct cpu_rig_values *values, unsigned width, unsigned i)
{
    const struct function *f = run->function;
    unsigned first = i - i % width, n = 0;

    if (f->result == CHOICE)
        return sign_extended(run->type, reference(run, values, width, i));
    if (f->result == IS)
        return reference(run, values, width, i) ? width == 1 ? 1 : -1 : 0;
    for (unsigned k = 0; k < width; k++)
        n += (unsigned)reference(run, values, width, first + k);
    return f->result == ANY ? n > 0 : n == width;
}

static unsigned count_wrong(const struct cpu_rig_values *values, const void *data, unsigned width)
{
    const struct run *run = data;
    unsigned wrong = 0;

    for (unsigned i = 0; i < values->n; i++) {
        uint64_t right = (uint64_t)expected(run, values, width, i);

        if (right != values->results[i] && wrong++ < 4)
            print_error("%s (%s, %u) of %#llx, %#llx, %#llx is %#llx, not %#llx\n", run->function->name,
                        run->type->name, width, (unsigned long long)values->args[0][i],
                        (unsigned long long)values->args[1][i], (unsigned long long)values->args[2][i],
                        (unsigned long long)values->results[i], (unsigned long long)right);
    }
    return wrong;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

#define MOST_EDGES 32

/* Zero, subnormal, normal, one and its neighbours, the largest, infinity, NaNs with least, with quiet, with all bits.
 */
static unsigned edges_of_floating(const struct type *t, uint64_t *edges)
{
    uint64_t unit = UINT64_C(1) << t->mantissa, one = most_exponent(t) / 2 * unit, infinity = most_exponent(t) * unit;
    const uint64_t positive[] = {
        0,
        1,
        unit / 2,
        unit - 1,
        unit,
        unit + 1,
        one - 1,
        one,
        one + 1,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity + unit / 2,
        infinity + unit - 1,
    };
    unsigned n = 0;

    for (size_t i = 0; i < sizeof(positive) / sizeof(positive[0]); i++) {
        edges[n++] = positive[i];
        edges[n++] = positive[i] | UINT64_C(1) << (t->bits - 1);
    }
    return n;
}

static unsigned edges_of_integer(const struct type *t, uint64_t *edges)
{
    uint64_t top = UINT64_C(1) << (t->bits - 1);
    const uint64_t all[] = {0,
                            1,
                            2,
                            UINT64_C(1) << (t->bits / 2 - 1),
                            UINT64_C(1) << t->bits / 2,
                            top / 2,
                            top - 1,
                            top,
                            top + 1,
                            mask_of(t),
                            mask_of(t) - 1,
                            mask_of(t) / 3,
                            mask_of(t) / 3 * 2};

    memcpy(edges, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

/* For each place in a vector: that element alone has the highest bit, or lacks it. */
static void take_places(struct cpu_rig_block *block)
{
    uint64_t top = UINT64_C(1) << (block->bits - 1);

    for (unsigned place = 0; place < GROUP; place++)
        for (unsigned i = 0; i < 2 * GROUP; i++)
            cpu_rig_take(block, (i % GROUP == place) == (i < GROUP) ? top : top - 1, 0, 0);
}

static void take_edges(struct cpu_rig_block *block, const struct run *run)
{
    uint64_t edges[MOST_EDGES], masks[MOST_EDGES];
    unsigned n = run->type->mantissa ? edges_of_floating(run->type, edges) : edges_of_integer(run->type, edges);
    unsigned n_masks = edges_of_integer(run->type, masks);

    for (unsigned i = 0; i < n * n * (run->function->n_arguments > 2 ? n_masks : 1); i++)
        cpu_rig_take(block, edges[i % n], edges[i / n % n], masks[i / n / n]);
}

static void take_random(struct cpu_rig_block *block)
{
    uint64_t x = cpu_rig_random() >> cpu_rig_random() % 64, y = cpu_rig_random();

    switch (cpu_rig_random() % 4) {
    case 0:
        y = x;
        break;
    case 1: /* near */
        y = x + y % 3 - 1;
        break;
    case 2: /* the other sign */
        y = x ^ UINT64_C(1) << (block->bits - 1);
        break;
    default:
        break;
    }
    cpu_rig_take(block, x, y, cpu_rig_random() << cpu_rig_random() % 64);
}

static unsigned check(struct cpu_rig *rig, cl_program program, unsigned type, unsigned function)
{
    static struct cpu_rig_values values;
    const struct function *f = &functions[function];
    const struct type *t = &types[type];
    struct run run = {f, t};
    struct cpu_rig_block block = {rig, program, f->name, t->bits, widths, 0, count_wrong, &run, &values, 0};
    unsigned count = cpu_rig_count("RELATIONAL_COUNT", 3000);

    if (!is_for(f, t))
        return 0;
    while (block.n_widths < N_WIDTHS && widths[block.n_widths] <= f->most_width)
        block.n_widths++;
    take_places(&block);
    take_edges(&block, &run);
    for (unsigned i = 0; i < count; i++)
        take_random(&block);
    cpu_rig_flush(&block);
    return block.wrong;
}

static void functions_of_relations(void **state)
{
    cpu_rig_check_all(*state, &(struct cpu_rig_checks){N_TYPES, N_FUNCTIONS, program_of, check});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_relations)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
