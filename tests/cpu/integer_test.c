/* Built-in integer functions against plain arithmetic (OpenCL C 3.0, 6.15.3), on the built-in CPU alone. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* timeout: 300 */
/*
 * Of 8 bits all pairs, of 16 bits all values of functions with one argument; else edge values, all pairs of them, and
 * random ones. At length: INTEGER_COUNT says how many random ones, INTEGER_ALL=1 takes all pairs of 16 bits and all
 * triples of 8, or with INTEGER_PART=k/n the k-th (from 0) of n parts of them. INTEGER_FUNCTION chooses one function,
 * INTEGER_TYPE one type, INTEGER_WIDTH functions of one element or of four.
 */
#include "cpu_rig.h"
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

struct type {
    const char *name, *unsigned_name;
    unsigned bits;
    bool is_signed;
};

static const struct type types[] = {{"char", "uchar", 8, true},    {"uchar", "uchar", 8, false},
                                    {"short", "ushort", 16, true}, {"ushort", "ushort", 16, false},
                                    {"int", "uint", 32, true},     {"uint", "uint", 32, false},
                                    {"long", "ulong", 64, true},   {"ulong", "ulong", 64, false}};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* ---- References ---------------------------------------------------------------------------------------------------
 * Arguments are values of the type; results are values of any size, of which as many bits count as the function's
 * result has.
 */

typedef wide reference_fn(const struct type *t, wide x, wide y, wide z);

static uint64_t mask_of(const struct type *t)
{
    return t->bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << t->bits) - 1;
}

static wide least_of(const struct type *t)
{
    return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0;
}

static wide most_of(const struct type *t)
{
    return t->is_signed ? ((wide)1 << (t->bits - 1)) - 1 : (wide)mask_of(t);
}

static wide saturate(const struct type *t, wide value)
{
    return value < least_of(t) ? least_of(t) : value > most_of(t) ? most_of(t) : value;
}

/* The value of the type with these lowest bits. */
static wide wrap(const struct type *t, uint64_t bits)
{
    bits &= mask_of(t);
    return t->is_signed && bits >> (t->bits - 1) ? (wide)bits - ((wide)1 << t->bits) : (wide)bits;
}

/* Rounded down, as a shift does. */
static wide half(wide sum)
{
    return sum >> 1;
}

static wide high(const struct type *t, wide x, wide y)
{
    return t->is_signed ? x * y >> t->bits : (wide)((unsigned_wide)x * (unsigned_wide)y >> t->bits);
}

static wide rotated(const struct type *t, wide x, wide y)
{
    uint64_t bits = (uint64_t)x & mask_of(t);
    unsigned by = (unsigned)y & (t->bits - 1);

    return by ? (wide)(bits << by | bits >> (t->bits - by)) : (wide)bits;
}

static wide zeros_above(const struct type *t, wide x)
{
    uint64_t bits = (uint64_t)x & mask_of(t);
    unsigned n = 0;

    while (n < t->bits && !(bits >> (t->bits - 1 - n) & 1))
        n++;
    return n;
}

static wide zeros_below(const struct type *t, wide x)
{
    unsigned n = 0;

    while (n < t->bits && !((uint64_t)x >> n & 1))
        n++;
    return n;
}

static wide ones(const struct type *t, wide x)
{
    unsigned n = 0;

    for (uint64_t bits = (uint64_t)x & mask_of(t); bits; bits &= bits - 1)
        n++;
    return n;
}

static wide mad_saturated(const struct type *t, wide x, wide y, wide z)
{
    unsigned_wide sum;

    if (t->is_signed)
        return saturate(t, x * y + z);
    sum = (unsigned_wide)x * (unsigned_wide)y + (unsigned_wide)z;
    return sum > (unsigned_wide)mask_of(t) ? most_of(t) : (wide)sum;
}

static wide low24(const struct type *t, wide x)
{
    static const struct type of24[2] = {{NULL, NULL, 24, false}, {NULL, NULL, 24, true}};

    return wrap(&of24[t->is_signed], (uint64_t)x);
}

#define REFERENCE(NAME, EXPRESSION)                                \
    static wide NAME(const struct type *t, wide x, wide y, wide z) \
    {                                                              \
        (void)t, (void)x, (void)y, (void)z;                        \
        return EXPRESSION;                                         \
    }

REFERENCE(abs_, x < 0 ? -x : x)
REFERENCE(abs_diff_, x < y ? y - x : x - y)
REFERENCE(add_sat_, saturate(t, x + y))
REFERENCE(sub_sat_, saturate(t, x - y))
REFERENCE(hadd_, half(x + y))
REFERENCE(rhadd_, half(x + y + 1))
REFERENCE(clamp_, x<(y < z ? y : z) ? (y < z ? y : z) : x>(y < z ? z : y) ? (y < z ? z : y) : x)
REFERENCE(clz_, zeros_above(t, x))
REFERENCE(ctz_, zeros_below(t, x))
REFERENCE(mad_hi_, high(t, x, y) + z)
REFERENCE(mad_sat_, mad_saturated(t, x, y, z))
REFERENCE(max_, x > y ? x : y)
REFERENCE(min_, x < y ? x : y)
REFERENCE(mul_hi_, high(t, x, y))
REFERENCE(rotate_, rotated(t, x, y))
REFERENCE(popcount_, ones(t, x))
REFERENCE(upsample_, (wide)((unsigned_wide)x << t->bits | (unsigned_wide)((uint64_t)y & mask_of(t))))
REFERENCE(mul24_, low24(t, x) * low24(t, y))
REFERENCE(mad24_, low24(t, x) * low24(t, y) + z)

/* ---- The functions ----------------------------------------------------------------------------------------------- */

enum result { SAME, UNSIGNED, TWICE };

/* In x, y, z, U: the unsigned type with as many elements, as_U. */
static const struct function {
    const char *name, *expression;
    unsigned n_arguments, least_bits, most_bits;
    enum result result;
    reference_fn *reference;
} functions[] = {
    {"abs", "abs(x)", 1, 8, 64, UNSIGNED, abs_},
    {"abs_diff", "abs_diff(x, y)", 2, 8, 64, UNSIGNED, abs_diff_},
    {"add_sat", "add_sat(x, y)", 2, 8, 64, SAME, add_sat_},
    {"sub_sat", "sub_sat(x, y)", 2, 8, 64, SAME, sub_sat_},
    {"hadd", "hadd(x, y)", 2, 8, 64, SAME, hadd_},
    {"rhadd", "rhadd(x, y)", 2, 8, 64, SAME, rhadd_},
    {"clamp", "clamp(x, min(y, z), max(y, z))", 3, 8, 64, SAME, clamp_},
    {"clz", "clz(x)", 1, 8, 64, SAME, clz_},
    {"ctz", "ctz(x)", 1, 8, 64, SAME, ctz_},
    {"mad_hi", "mad_hi(x, y, z)", 3, 8, 64, SAME, mad_hi_},
    {"mad_sat", "mad_sat(x, y, z)", 3, 8, 64, SAME, mad_sat_},
    {"max", "max(x, y)", 2, 8, 64, SAME, max_},
    {"min", "min(x, y)", 2, 8, 64, SAME, min_},
    {"mul_hi", "mul_hi(x, y)", 2, 8, 64, SAME, mul_hi_},
    {"rotate", "rotate(x, y)", 2, 8, 64, SAME, rotate_},
    {"popcount", "popcount(x)", 1, 8, 64, SAME, popcount_},
    {"upsample", "upsample(x, as_U(y))", 2, 8, 32, TWICE, upsample_},
    {"mul24", "mul24(x << 8 >> 8, y << 8 >> 8)", 2, 32, 32, SAME, mul24_},
    {"mad24", "mad24(x << 8 >> 8, y << 8 >> 8, z)", 3, 32, 32, SAME, mad24_},
};

#define MAD_HI      9 /* its place there */
#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static bool is_for(const struct function *f, const struct type *t)
{
    const char *function = getenv("INTEGER_FUNCTION"), *type = getenv("INTEGER_TYPE");

    return t->bits >= f->least_bits && t->bits <= f->most_bits && (!function || strcmp(function, f->name) == 0) &&
           (!type || strcmp(type, t->name) == 0);
}

/* What the kernel stores: its result as 64 bits, with its sign. */
static uint64_t expected(const struct function *f, const struct type *t, const wide *args)
{
    struct type result = *t;

    if (f->result == UNSIGNED)
        result.is_signed = false;
    if (f->result == TWICE)
        result.bits *= 2;
    return (uint64_t)wrap(&result, (uint64_t)f->reference(t, args[0], args[1], args[2]));
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

#define WIDTH 4

static void write_kernel(FILE *source, const struct function *f, const struct type *t, unsigned width)
{
    char n[12] = "";

    if (width > 1)
        snprintf(n, sizeof(n), "%u", width);
    fprintf(source, "#undef as_U\n#define as_U as_%s%s\nkernel void %s%u(", t->unsigned_name, n, f->name, width);
    for (int k = 0; k < 3; k++)
        fprintf(source, "global const %s *%c, ", t->name, "XYZ"[k]);
    fprintf(source, "global long *out) { size_t i = get_global_id(0);\n");
    for (int k = 0; k < 3; k++)
        if (width > 1)
            fprintf(source, "    %s%s %c = vload%s(i, %c);\n", t->name, n, "xyz"[k], n, "XYZ"[k]);
        else
            fprintf(source, "    %s %c = %c[i];\n", t->name, "xyz"[k], "XYZ"[k]);
    if (width > 1)
        fprintf(source, "    vstore%s(convert_long%s(%s), i, out); }\n", n, n, f->expression);
    else
        fprintf(source, "    out[i] = %s; }\n", f->expression);
}

static cl_program program_of(struct cpu_rig *rig, unsigned type)
{
    const struct type *t = &types[type];
    char *text = NULL;
    size_t size;
    FILE *source = open_memstream(&text, &size);
    cl_program program;

    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        if (is_for(&functions[i], t)) {
            write_kernel(source, &functions[i], t, 1);
            write_kernel(source, &functions[i], t, WIDTH);
        }
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

static unsigned count_wrong(const struct cpu_rig_values *values, const void *data, unsigned width)
{
    const struct run *run = data;
    unsigned wrong = 0;

    for (unsigned i = 0; i < values->n; i++) {
        wide args[3];
        uint64_t right;

        for (int k = 0; k < 3; k++)
            args[k] = wrap(run->type, values->args[k][i]);
        right = expected(run->function, run->type, args);
        if (right != values->results[i] && wrong++ < 4)
            print_error("%s (%s, %u) of %lld, %lld, %lld is %#llx, not %#llx\n", run->function->name, run->type->name,
                        width, (long long)args[0], (long long)args[1], (long long)args[2],
                        (unsigned long long)values->results[i], (unsigned long long)right);
    }
    return wrong;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* Around zero, around each power of two, and a few more. */
static unsigned edges_of(const struct type *t, uint64_t *edges)
{
    unsigned n = 0;

    for (unsigned b = 0; b < t->bits; b += t->bits / 8)
        for (int d = -1; d <= 1; d++)
            edges[n++] = (UINT64_C(1) << b) + (uint64_t)d;
    edges[n++] = UINT64_C(1) << (t->bits - 1);
    edges[n++] = (UINT64_C(1) << (t->bits - 1)) - 1;
    edges[n++] = (UINT64_C(1) << (t->bits - 1)) + 1;
    edges[n++] = ~UINT64_C(0);
    edges[n++] = ~UINT64_C(0) - 1;
    edges[n++] = UINT64_C(0x5555555555555555);
    edges[n++] = UINT64_C(0xaaaaaaaaaaaaaaaa);
    edges[n++] = 3 * (UINT64_C(1) << (t->bits - 2));
    return n;
}

/* All values of each argument, or of the first one a part; of a third one random ones, unless it shall be all too. */
static void take_all(struct cpu_rig_block *block, unsigned n, bool third)
{
    const char *text = getenv("INTEGER_PART");
    uint64_t end = UINT64_C(1) << block->bits;
    unsigned part = 0, parts = 1;

    if (text && (sscanf(text, "%u/%u", &part, &parts) != 2 || part >= parts))
        fail_msg("INTEGER_PART is k/n with k < n");
    for (uint64_t x = end * part / parts; x < end * (part + 1) / parts; x++)
        for (uint64_t y = 0; y < (n > 1 ? end : 1); y++)
            for (uint64_t z = 0; z < (n > 2 && third ? end : 1); z++)
                cpu_rig_take(block, x, y, third ? z : cpu_rig_random());
}

static void take_some(struct cpu_rig_block *block, const struct run *run, unsigned count)
{
    uint64_t edges[64];
    unsigned n = edges_of(run->type, edges);

    for (unsigned i = 0; i < n * n * (run->function->n_arguments > 2 ? n : 1); i++)
        cpu_rig_take(block, edges[i % n], edges[i / n % n], edges[i / n / n]);
    for (unsigned i = 0; i < count; i++)
        cpu_rig_take(block, cpu_rig_random() >> cpu_rig_random() % 64, cpu_rig_random() >> cpu_rig_random() % 64,
                     cpu_rig_random());
}

static unsigned check(struct cpu_rig *rig, cl_program program, unsigned type, unsigned function)
{
    static const unsigned widths[] = {1, WIDTH};
    static struct cpu_rig_values values;
    const struct function *f = &functions[function];
    const struct type *t = &types[type];
    struct run run = {f, t};
    const unsigned width = cpu_rig_count("INTEGER_WIDTH", 0), first = width == WIDTH, n = width ? 1 : 2;
    struct cpu_rig_block block = {rig, program, f->name, t->bits, widths + first, n, count_wrong, &run, &values, 0};
    bool all = getenv("INTEGER_ALL") != NULL;

    if (!is_for(f, t))
        return 0;
    if (t->bits == 8)
        take_all(&block, f->n_arguments, all);
    else if (t->bits == 16 && (f->n_arguments == 1 || (all && f->n_arguments == 2)))
        take_all(&block, f->n_arguments, true);
    take_some(&block, &run, cpu_rig_count("INTEGER_COUNT", 3000));
    cpu_rig_flush(&block);
    return block.wrong;
}

static void functions_of_integers(void **state)
{
    cpu_rig_check_all(*state, &(struct cpu_rig_checks){N_TYPES, N_FUNCTIONS, program_of, check});
}

/* The greatest number's: 2^(bits - 2) - 1 and 2^(bits - 1) - 1 are 2^bits too much. The compiler once took such sums of
 * signed numbers for ones that don't wrap. */
static void sums_of_mad_hi_wrap(void **state)
{
    static const unsigned widths[] = {1, WIDTH};
    static struct cpu_rig_values values;

    for (size_t i = 0; i < N_TYPES; i++) {
        const struct type *t = &types[i];
        struct run run = {&functions[MAD_HI], t};
        struct cpu_rig_block block = {*state, NULL, "mad_hi", t->bits, widths, 2, count_wrong, &run, &values, 0};
        const wide most = most_of(t), args[] = {most, most, most};

        if (!t->is_signed || !is_for(run.function, t))
            continue;
        assert_true(expected(run.function, t, args) == -(UINT64_C(1) << (t->bits - 2)) - 2);
        block.program = program_of(*state, (unsigned)i);
        for (unsigned k = 0; k < 64; k++)
            cpu_rig_take(&block, (uint64_t)most, (uint64_t)most, (uint64_t)most);
        cpu_rig_flush(&block);
        assert_int_equal(block.wrong, 0);
        clReleaseProgram(block.program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_integers), cmocka_unit_test(sums_of_mad_hi_wrap)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
