/* Every convert_T_sat_mode of scalars and some of vectors, on the built-in CPU alone (OpenCL C 3.0, 6.4.3). */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* any: */
/* timeout: 300 */
/*
 * Sources of 8 and 16 bits are gone through wholly, others by edge values and random ones. CONVERT_COUNT says how many
 * of these, CONVERT_TO chooses one type that is converted to. What is wanted is computed in long double, which holds
 * each source exactly and rounds in every mode.
 */
#include "cpu_rig.h"
#include "test.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, FLOAT, DOUBLE, N_TYPES };

static const struct type {
    const char *name;
    size_t size;
    long double least, most; /* integers */
} types[N_TYPES] = {
    {"char", 1, -128, 127},
    {"uchar", 1, 0, 255},
    {"short", 2, -32768, 32767},
    {"ushort", 2, 0, 65535},
    {"int", 4, -2147483648.0L, 2147483647.0L},
    {"uint", 4, 0, 4294967295.0L},
    {"long", 8, -9223372036854775808.0L, 9223372036854775807.0L},
    {"ulong", 8, 0, 18446744073709551615.0L},
    {"float", 4, 0, 0},
    {"double", 8, 0, 0},
};

static const struct mode {
    const char *suffix;
    int integer, floating; /* fesetround's, by destination */
} modes[] = {
    {"", FE_TOWARDZERO, FE_TONEAREST}, {"_rte", FE_TONEAREST, FE_TONEAREST}, {"_rtz", FE_TOWARDZERO, FE_TOWARDZERO},
    {"_rtp", FE_UPWARD, FE_UPWARD},    {"_rtn", FE_DOWNWARD, FE_DOWNWARD},
};

#define N_MODES (sizeof(modes) / sizeof(modes[0]))

static bool is_integer(unsigned type)
{
    return type < FLOAT;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* kernel void FROM_TO(global const FROM *in, global TO *out, uint n): the results of all modes one after the other.
 * With vectors the last elements are left out where n isn't a multiple of width. */
static void print_kernel(FILE *to, unsigned from, unsigned dest, unsigned width)
{
    const char *f = types[from].name, *t = types[dest].name;
    char vector[12] = "";

    if (width > 1)
        snprintf(vector, sizeof(vector), "%u", width);
    fprintf(to, "kernel void %s_%s(global const %s%s *in, global %s%s *out, uint n) {\n", f, t, f, vector, t, vector);
    fprintf(to, "    size_t i = get_global_id(0); %s%s x = in[i];\n", f, vector);
    for (unsigned saturates = 0; saturates <= is_integer(dest); saturates++)
        for (unsigned m = 0; m < N_MODES; m++)
            fprintf(to, "    out[i + n * %u] = convert_%s%s%s%s(x);\n", (unsigned)(saturates * N_MODES + m), t, vector,
                    saturates ? "_sat" : "", modes[m].suffix);
    fprintf(to, "}\n");
}

static cl_program program_to(struct cpu_rig *rig, unsigned dest, unsigned width)
{
    char *text = NULL;
    size_t size;
    FILE *source = open_memstream(&text, &size);
    cl_program program;

    for (unsigned from = 0; from < N_TYPES; from++)
        print_kernel(source, from, dest, width);
    fclose(source);
    program = cpu_rig_program(rig, text, "");
    free(text);
    return program;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void put(unsigned type, void *at, long double value)
{
    float f = (float)value;
    double d = (double)value;

    memcpy(at, type == FLOAT ? (void *)&f : (void *)&d, types[type].size);
}

static void put_integer(unsigned type, void *at, uint64_t bits)
{
    memcpy(at, &bits, types[type].size);
}

/* Around the limits of all integer types, and halves. */
static long double edge(unsigned i)
{
    static const long double steps[] = {-1.5L, -1, -0.75L, -0.5L, -0.25L, 0, 0.25L, 0.5L, 0.75L, 1, 1.5L, 2.5L};
    const unsigned n = sizeof(steps) / sizeof(steps[0]);
    const struct type *type = &types[i / n / 2 % FLOAT];

    return (i / n & 1 ? type->most : type->least) + steps[i % n];
}

static const float special[] = {0.0f,    -0.0f,     INFINITY, -INFINITY, NAN,     1e-45f,       -1e-45f,
                                1e-38f,  -1.5e-38f, 3.4e38f,  -3.4e38f,  0.4999f, 1e10f,        -1e20f,
                                1.9e19f, 9.3e18f,   -9.3e18f, 16777215,  8388609, 4294967040.0f};

#define N_EDGES (2 * 12 * FLOAT)

static void fill_floats(unsigned type, char *in, unsigned n)
{
    size_t size = types[type].size;

    for (unsigned i = 0; i < n; i++) {
        uint64_t bits = cpu_rig_random();

        if (i < N_EDGES)
            put(type, in + i * size, edge(i));
        else if (i < N_EDGES + sizeof(special) / sizeof(special[0]))
            put(type, in + i * size, special[i - N_EDGES]);
        else if (i & 1) /* of a size that integers have */
            put(type, in + i * size, ldexpl((long double)(int64_t)bits, -(int)(cpu_rig_random() % 66)));
        else
            memcpy(in + i * size, &bits, size);
    }
}

static void fill(unsigned type, char *in, unsigned n)
{
    size_t size = types[type].size;

    if (!is_integer(type)) {
        fill_floats(type, in, n);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t bits = size <= 2 ? i : cpu_rig_random() >> cpu_rig_random() % 64;

        if (size > 2 && i < 64)
            bits = (UINT64_C(1) << i) - (i & 1);
        put_integer(type, in + i * size, size > 2 && i & 2 ? ~bits : bits);
    }
}

static long double get(unsigned type, const void *at)
{
    uint64_t bits = 0;
    float f;
    double d;

    memcpy(&bits, at, types[type].size);
    memcpy(&f, &bits, sizeof(f)); /* The host is little-endian. */
    switch (type) {
    case CHAR:
        return (int8_t)bits;
    case SHORT:
        return (int16_t)bits;
    case INT:
        return (int32_t)bits;
    case LONG:
        return (int64_t)bits;
    case FLOAT:
        return f;
    case DOUBLE:
        memcpy(&d, &bits, sizeof(d));
        return d;
    default:
        return bits;
    }
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

static long double round_to(unsigned dest, const struct mode *mode, long double x)
{
    volatile long double value = x;
    volatile float f;
    volatile double d;

    fesetround(is_integer(dest) ? mode->integer : mode->floating);
    if (dest == FLOAT) {
        f = (float)value;
        value = f;
    } else if (dest == DOUBLE) {
        d = (double)value;
        value = d;
    } else
        value = rintl(value);
    fesetround(FE_TONEAREST);
    return value;
}

/* False: out of the destination's range, and not said what comes of it. */
static bool wanted(unsigned dest, const struct mode *mode, bool saturates, long double x, long double *result)
{
    const struct type *to = &types[dest];

    *result = round_to(dest, mode, x);
    if (!is_integer(dest))
        return true;
    if (saturates && isnan(x))
        *result = 0;
    else if (saturates)
        *result = *result < to->least ? to->least : *result > to->most ? to->most : *result;
    return *result >= to->least && *result <= to->most;
}

static bool equal(long double a, long double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* Integers have one zero. */
static long double plain(unsigned dest, long double x)
{
    return is_integer(dest) && x == 0 ? 0 : x;
}

/* How many functions are wrong. */
static unsigned judge(unsigned from, unsigned dest, unsigned width, const char *in, const char *out, unsigned n)
{
    unsigned n_variants = (is_integer(dest) ? 2 : 1) * N_MODES, bad = 0;

    for (unsigned v = 0; v < n_variants; v++) {
        unsigned wrong = 0;

        for (unsigned i = 0; i < n; i++) {
            const struct mode *mode = &modes[v % N_MODES];
            long double x = get(from, in + i * types[from].size), want;
            long double got = get(dest, out + (v * n + i) * types[dest].size);

            if (!wanted(dest, mode, v >= N_MODES, x, &want) || equal(plain(dest, want), got) || wrong++ >= 3)
                continue;
            print_error("convert_%s%.0u%s%s(%s %.21Lg) is %.21Lg, not %.21Lg\n", types[dest].name,
                        width > 1 ? width : 0, v >= N_MODES ? "_sat" : "", mode->suffix, types[from].name, x, got,
                        want);
        }
        bad += wrong > 0;
    }
    return bad;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static unsigned convert(struct cpu_rig *rig, cl_program program, unsigned from, unsigned dest, unsigned width)
{
    unsigned n = types[from].size == 1   ? 256
                 : types[from].size == 2 ? 65536
                                         : cpu_rig_count("CONVERT_COUNT", 20000),
             bad;
    size_t in_size = n * types[from].size, out_size = n * types[dest].size * 2 * N_MODES, global = n / width;
    char *in = malloc(in_size), *out = calloc(1, out_size), name[32];
    cl_uint stride = n / width;
    cl_mem memory[2];

    fill(from, in, n);
    snprintf(name, sizeof(name), "%s_%s", types[from].name, types[dest].name);
    memory[0] = cpu_rig_buffer(rig, in_size, in);
    memory[1] = cpu_rig_buffer(rig, out_size, out);
    cpu_rig_run(rig, program, name, 2, memory, sizeof(stride), &stride, global);
    cpu_rig_read(rig, memory[1], out_size, out);
    bad = judge(from, dest, width, in, out, n);
    clReleaseMemObject(memory[0]);
    clReleaseMemObject(memory[1]);
    free(in);
    free(out);
    return bad;
}

static cl_program chosen(struct cpu_rig *rig, unsigned dest, unsigned width)
{
    const char *only = getenv("CONVERT_TO");

    return !only || strcmp(only, types[dest].name) == 0 ? program_to(rig, dest, width) : NULL;
}

static cl_program of_scalars(struct cpu_rig *rig, unsigned dest)
{
    return chosen(rig, dest, 1);
}

static unsigned check_scalars(struct cpu_rig *rig, cl_program program, unsigned dest, unsigned from)
{
    return convert(rig, program, from, dest, 1);
}

static void scalars(void **state)
{
    cpu_rig_check_all(*state, &(struct cpu_rig_checks){N_TYPES, N_TYPES, of_scalars, check_scalars});
}

static const unsigned some[] = {UCHAR, INT, FLOAT};

static cl_program of_vectors(struct cpu_rig *rig, unsigned i)
{
    return chosen(rig, some[i], 4);
}

static unsigned check_vectors(struct cpu_rig *rig, cl_program program, unsigned i, unsigned from)
{
    return convert(rig, program, from, some[i], 4);
}

static void vectors(void **state)
{
    cpu_rig_check_all(*state, &(struct cpu_rig_checks){3, N_TYPES, of_vectors, check_vectors});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalars), cmocka_unit_test(vectors)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
