/* Every vstore_half…_mode of floats and doubles, and vload_half… of all halves, on the built-in CPU alone (OpenCL
 * C 3.0, 6.15.7). */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* any: */
/* timeout: 300 */
/* What is wanted is computed in long double, which holds each source exactly and rounds in every mode. */
#include "cpu_rig.h"
#include "test.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_VALUES 4800 /* a multiple of 3 and of 16 */
#define LEFT     0xabcd

static const struct mode {
    const char *suffix;
    int rounding;
} modes[] = {
    {"", FE_TONEAREST}, {"_rte", FE_TONEAREST}, {"_rtz", FE_TOWARDZERO}, {"_rtp", FE_UPWARD}, {"_rtn", FE_DOWNWARD},
};

/* How a work-item stores width values: step apart, the first one in place. */
static const struct form {
    const char *name, *store;
    unsigned width, step;
} forms[] = {
    {"plain", "vstore_half%s(in[i], i, (global half *)out);", 1, 1},
    {"in_private", "ushort b; vstore_half%s(in[i], 0, (private half *)&b); out[i] = b;", 1, 1},
    {"in_local", "local ushort b[4096]; vstore_half%s(in[i], l, (local half *)b); out[i] = b[l];", 1, 1},
    {"aligned_one", "vstorea_half%s(in[i], i, (global half *)out);", 1, 1},
    {"two", "vstore_half2%s(vload2(i, in), i, (global half *)out);", 2, 2},
    {"three", "vstore_half3%s(vload3(i, in), i, (global half *)out);", 3, 3},
    {"aligned", "vstorea_half3%s(vload3(i, in), i, (global half *)out);", 3, 4},
    {"sixteen", "vstorea_half16%s(vload16(i, in), i, (global half *)out);", 16, 16},
};

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

/* ---- What is wanted ---------------------------------------------------------------------------------------------- */

static long double value_of(unsigned bits)
{
    unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;
    long double value = exponent == 31 ? (mantissa ? (long double)NAN : (long double)INFINITY)
                        : exponent     ? ldexpl(1024 + mantissa, (int)exponent - 25)
                                       : ldexpl(mantissa, -24);

    return bits & 0x8000 ? -value : value;
}

static long double rounded(long double x, int rounding)
{
    int exponent = x == 0 || !isfinite(x) ? 0 : ilogbl(x);
    long double unit = ldexpl(1, (exponent < -14 ? -14 : exponent) - 10), result;
    bool to_infinity = rounding == FE_TONEAREST || (x > 0 ? rounding == FE_UPWARD : rounding == FE_DOWNWARD);

    if (!isfinite(x))
        return x;
    fesetround(rounding);
    result = rintl(x / unit) * unit;
    fesetround(FE_TONEAREST);
    if (fabsl(result) > 65504)
        result = copysignl(to_infinity ? (long double)INFINITY : 65504, x);
    return copysignl(result, x);
}

static bool equal(long double a, long double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* ---- Values and kernels ------------------------------------------------------------------------------------------ */

/* Halves and their neighbours, what lies between, what is too large or far too small. */
static double some_value(unsigned i)
{
    static const double special[] = {0.0,     -0.0,    INFINITY, -INFINITY, NAN,    1e-30,    -1e-30,  1e-45,
                                     -1e-45,  65504,   -65504,   65519.9,   65520,  -65519.9, -65520,  70000,
                                     -70000,  3.0e38,  -3e38,    6e-8,      -6e-8,  2.9e-8,   -2.9e-8, 0x1p-24,
                                     0x1p-25, 0x1p-26, 0x1p-14,  1.0005,    -1.0005};
    uint64_t bits = cpu_rig_random();
    double half = (double)value_of((unsigned)bits & 0xffff);

    if (i < LENGTH(special))
        return special[i];
    if (i % 3 == 0)
        return half;
    if (i % 3 == 1)
        return half * (1 + ldexp((double)(bits >> 40) - 0x1p23, -20 - (int)(bits >> 16) % 32));
    return ldexp((double)(int64_t)bits, -(int)(cpu_rig_random() % 160));
}

static cl_program program_of(struct cpu_rig *rig, const char *type)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    cl_program program;

    for (size_t f = 0; f < LENGTH(forms); f++)
        for (size_t m = 0; m < LENGTH(modes); m++) {
            fprintf(to, "kernel void %s%s(global const %s *in, global ushort *out)\n{\n", forms[f].name,
                    modes[m].suffix, type);
            fprintf(to, "    size_t i = get_global_id(0), l = get_local_id(0);\n    ");
            fprintf(to, forms[f].store, modes[m].suffix);
            fprintf(to, "\n}\n");
        }
    fclose(to);
    program = cpu_rig_program(rig, text, "");
    free(text);
    return program;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static unsigned judge(const struct form *form, const struct mode *mode, const double *values, const uint16_t *out)
{
    unsigned bad = 0;

    for (unsigned i = 0; i < N_VALUES; i++) {
        unsigned at = i / form->width * form->step + i % form->width;
        long double want = rounded(values[i], mode->rounding), got = value_of(out[at]);

        if (!equal(want, got) && bad++ < 5)
            fprintf(stderr, "%s%s of %a: %La, and not %La\n", form->name, mode->suffix, values[i], got, want);
        if (form->step > form->width && i % form->width == 0 && out[at + form->width] != LEFT)
            bad++;
    }
    return bad;
}

static void stores(struct cpu_rig *rig, const char *type, size_t size)
{
    static double values[N_VALUES];
    static float floats[N_VALUES];
    static uint16_t out[N_VALUES * 2];
    cl_program program = program_of(rig, type);
    cl_mem memory[2];
    unsigned bad = 0;

    for (unsigned i = 0; i < N_VALUES; i++) {
        floats[i] = (float)(values[i] = some_value(i));
        if (size == sizeof(float))
            values[i] = (double)floats[i];
    }
    memory[0] = cpu_rig_buffer(rig, N_VALUES * size, size == sizeof(float) ? (void *)floats : (void *)values);
    for (size_t f = 0; f < LENGTH(forms); f++)
        for (size_t m = 0; m < LENGTH(modes); m++) {
            char name[32];

            snprintf(name, sizeof(name), "%s%s", forms[f].name, modes[m].suffix);
            for (size_t i = 0; i < LENGTH(out); i++)
                out[i] = LEFT;
            memory[1] = cpu_rig_buffer(rig, sizeof(out), out);
            cpu_rig_run(rig, program, name, 2, memory, 0, NULL, N_VALUES / forms[f].width);
            cpu_rig_read(rig, memory[1], sizeof(out), out);
            clReleaseMemObject(memory[1]);
            bad += judge(&forms[f], &modes[m], values, out);
        }
    clReleaseMemObject(memory[0]);
    clReleaseProgram(program);
    assert_int_equal(bad, 0);
}

static void floats_are_stored(void **state)
{
    stores(*state, "float", sizeof(float));
}

static void doubles_are_stored(void **state)
{
    stores(*state, "double", sizeof(double));
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

#define N_LOADED 65568 /* all halves, and a multiple of 3 and of 16 */

/* How a work-item loads width values, and puts them one behind the other. */
static const struct form loads[] = {
    {"load", "out[i] = vload_half(i, (global const half *)in);", 1, 1},
    {"load_aligned_one", "out[i] = vloada_half(i, (global const half *)in);", 1, 1},
    {"load_private", "ushort b = in[i]; out[i] = vload_half(0, (private half *)&b);", 1, 1},
    {"load_local", "local ushort b[4096]; b[l] = in[i]; out[i] = vload_half(l, (local half *)b);", 1, 1},
    {"load_constant", "out[i] = vload_half(i, (constant half *)fixed);", 1, 1},
    {"load_two", "vstore2(vload_half2(i, (global const half *)in), i, out);", 2, 2},
    {"load_three", "vstore3(vload_half3(i, (global const half *)in), i, out);", 3, 3},
    {"load_aligned", "vstore3(vloada_half3(i, (global const half *)in), i, out);", 3, 4},
    {"load_four", "vstore4(vload_half4(i, (global const half *)in), i, out);", 4, 4},
    {"load_eight", "vstore8(vloada_half8(i, (global const half *)in), i, out);", 8, 8},
    {"load_sixteen", "vstore16(vload_half16(i, (global const half *)in), i, out);", 16, 16},
};

static cl_program program_of_loads(struct cpu_rig *rig)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    cl_program program;

    for (size_t f = 0; f < LENGTH(loads); f++)
        fprintf(to,
                "kernel void %s(global const ushort *in, global float *out, constant ushort *fixed)\n{\n"
                "    size_t i = get_global_id(0), l = get_local_id(0);\n    %s\n}\n",
                loads[f].name, loads[f].store);
    fclose(to);
    program = cpu_rig_program(rig, text, "");
    free(text);
    return program;
}

static unsigned judge_loads(const struct form *form, const uint16_t *in, const float *out)
{
    unsigned bad = 0;

    for (unsigned i = 0; i < N_LOADED; i++) {
        unsigned bits = in[i / form->width * form->step + i % form->width];

        if (!equal(value_of(bits), (long double)out[i]) && bad++ < 5)
            fprintf(stderr, "%s of %04x: %a\n", form->name, bits, (double)out[i]);
    }
    return bad;
}

static void halves_are_loaded(void **state)
{
    static uint16_t in[2 * N_LOADED];
    static float out[N_LOADED];
    cl_program program = program_of_loads(*state);
    cl_mem memory[3];
    unsigned bad = 0;

    for (unsigned i = 0; i < LENGTH(in); i++)
        in[i] = (uint16_t)(i * 40503u); /* odd: each one comes, not in order */
    memory[0] = memory[2] = cpu_rig_buffer(*state, sizeof(in), in);
    for (size_t f = 0; f < LENGTH(loads); f++) {
        memory[1] = cpu_rig_buffer(*state, sizeof(out), NULL);
        cpu_rig_run(*state, program, loads[f].name, 3, memory, 0, NULL, N_LOADED / loads[f].width);
        cpu_rig_read(*state, memory[1], sizeof(out), out);
        clReleaseMemObject(memory[1]);
        bad += judge_loads(&loads[f], in, out);
    }
    clReleaseMemObject(memory[0]);
    clReleaseProgram(program);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats_are_stored), cmocka_unit_test(doubles_are_stored),
                                       cmocka_unit_test(halves_are_loaded)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
