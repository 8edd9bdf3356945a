/*
 * Quotients and remainders of whole numbers of all types, which lanes compute by floats and doubles: with divisors of
 * their own and with one for all, in a condition, and in launches that end with less than a strip. On the built-in CPU
 * alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
#include "cpu_rig.h"
#include "test.h"

#include <stdio.h>

#define N (65536u + 7)

static const char source[] =
    "#define GIVE(x, y) q[i] = (ulong)(T)(x / y); r[i] = (ulong)(T)(x % y);\n"
    "#define KERNEL(name) kernel void name(global const ulong *a, global const ulong *b, global ulong *q, global ulong "
    "*r, ulong n)\n"
    "KERNEL(each) { size_t i = get_global_id(0); T x = (T)a[i], y = (T)b[i]; GIVE(x, y) }\n"
    "KERNEL(one) { size_t i = get_global_id(0); T x = (T)a[i], y = (T)n; GIVE(x, y) }\n"
    "KERNEL(some) { size_t i = get_global_id(0); T x = (T)a[i], y = (T)b[i];\n"
    "    if (x & 3) { GIVE(x, y) } else { q[i] = (ulong)(T)(x / (T)n); r[i] = x % (T)n; } }\n";

static const struct type {
    const char *name;
    unsigned bits;
    bool is_signed;
} types[] = {{"char", 8, true}, {"uchar", 8, false}, {"short", 16, true}, {"ushort", 16, false},
             {"int", 32, true}, {"uint", 32, false}, {"long", 64, true},  {"ulong", 64, false}};

static uint64_t a[N], b[N], quotients[N], remainders[N];

/* The number that the type makes of the bits: 64 bits again. */
static uint64_t in_type(const struct type *type, uint64_t bits)
{
    unsigned rest = 64 - type->bits;

    return type->is_signed ? (uint64_t)((int64_t)(bits << rest) >> rest) : bits << rest >> rest;
}

/* Numbers of all sizes. */
static uint64_t any_number(void)
{
    uint64_t bits = cpu_rig_random() >> cpu_rig_random() % 64;

    return cpu_rig_random() & 1 ? bits : 0 - bits;
}

/* Half of the dividends are multiples of divisors, or next to one. */
static void fill(const struct type *type)
{
    for (unsigned i = 0; i < N; i++) {
        b[i] = any_number();
        a[i] = any_number();
        if (cpu_rig_random() & 1)
            a[i] = in_type(type, b[i]) * (a[i] & (UINT64_MAX >> cpu_rig_random() % 64)) + cpu_rig_random() % 3 - 1;
    }
    for (unsigned i = 0; i < 64; i++) {
        a[i] = UINT64_MAX >> i % 8;
        b[i] = (UINT64_C(1) << i) - i % 3;
    }
}

/* Has the division a value? */
static bool is_defined(const struct type *type, uint64_t x, uint64_t y)
{
    return y != 0 && !(type->is_signed && y == UINT64_MAX && x == in_type(type, UINT64_C(1) << (type->bits - 1)));
}

static void compare(const struct type *type, const char *kernel, unsigned i, uint64_t divisor)
{
    uint64_t x = in_type(type, a[i]), y = in_type(type, divisor), q, r;

    if (!is_defined(type, x, y))
        return;
    q = type->is_signed ? (uint64_t)((int64_t)x / (int64_t)y) : x / y;
    r = x - q * y;
    if (in_type(type, quotients[i]) != in_type(type, q) || in_type(type, remainders[i]) != in_type(type, r))
        fail_msg("%s, %s: %llx by %llx is %llx and %llx, not %llx and %llx", type->name, kernel, (unsigned long long)x,
                 (unsigned long long)y, (unsigned long long)quotients[i], (unsigned long long)remainders[i],
                 (unsigned long long)q, (unsigned long long)r);
}

static void run(struct cpu_rig *rig, cl_program program, const char *kernel, uint64_t n)
{
    cl_mem buffers[] = {cpu_rig_buffer(rig, sizeof(a), a), cpu_rig_buffer(rig, sizeof(b), b),
                        cpu_rig_buffer(rig, sizeof(quotients), NULL), cpu_rig_buffer(rig, sizeof(remainders), NULL)};

    cpu_rig_run(rig, program, kernel, 4, buffers, sizeof(n), &n, N);
    cpu_rig_read(rig, buffers[2], sizeof(quotients), quotients);
    cpu_rig_read(rig, buffers[3], sizeof(remainders), remainders);
    for (unsigned k = 0; k < 4; k++)
        clReleaseMemObject(buffers[k]);
}

static void try_type(struct cpu_rig *rig, const struct type *type)
{
    unsigned rounds = cpu_rig_count("DIVISION_ROUNDS", 6);
    char option[32];
    cl_program program;

    snprintf(option, sizeof(option), "-DT=%s", type->name);
    program = cpu_rig_program(rig, source, option);
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t n = round ? any_number() : 3;

        n = in_type(type, n) ? n : 7;
        fill(type);
        run(rig, program, "each", n);
        for (unsigned i = 0; i < N; i++)
            compare(type, "each", i, b[i]);
        for (unsigned i = 0; i < N; i += 2)
            a[i] = n * (a[i] & (UINT64_MAX >> i % 64)) + i % 3 - 1;
        run(rig, program, "one", n);
        for (unsigned i = 0; i < N; i++)
            compare(type, "one", i, n);
        run(rig, program, "some", n);
        for (unsigned i = 0; i < N; i++)
            compare(type, "some", i, a[i] & 3 ? b[i] : n);
    }
    clReleaseProgram(program);
}

static void all_types_divide(void **state)
{
    for (unsigned t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        try_type(*state, &types[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_types_divide)};

    return cmocka_run_group_tests_name("divisions", tests, cpu_rig_setup, cpu_rig_teardown);
}
