/*
 * Functions of a program that a large kernel calls many times are called, not inlined (compiler/middle/own_calls.h):
 * they compute what the host does, of private memory, structures and bytes, and nothing in them traps. On the built-in
 * CPU alone.
 */
/* timeout: 200 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <CL/cl.h>
#include <stdint.h>

#define N     517u
#define TABLE 256u

#define TEXT(...)  #__VA_ARGS__
#define QUOTE(...) TEXT(__VA_ARGS__)
#define EIGHT(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__

/* As OpenCL C and as C: GLOBAL and KERNEL are the languages' own. */
#define STEP                                \
    x = (x << 7 | x >> 25) ^ (y & 0x9e37u); \
    y = y * 5u + (x >> 3 | z);              \
    z ^= x - y;
#define MIX                                                              \
    struct pair mix(GLOBAL const uchar *t, uint *s, uchar *b, uint k)    \
    {                                                                    \
        uint x = s[0], y = s[1], z = s[2];                               \
        struct pair p;                                                   \
        EIGHT(STEP STEP STEP STEP)                                       \
        for (uint i = 0; i < 4; i++)                                     \
            b[(x + i) & 7u] = (uchar)(b[(x + i) & 7u] + t[y >> 24] + k); \
        s[0] = x;                                                        \
        s[1] = y + b[k & 7u];                                            \
        s[2] = z;                                                        \
        p.a = (k & 3u) ? x / (k & 3u) : y;                               \
        p.b = z % (y | 1u);                                              \
        return p;                                                        \
    }
#define CALL                     \
    p = mix(t, s, b, p.a ^ p.b); \
    if (p.a & 1u)                \
        s[2] += p.b;
#define CALLS EIGHT(EIGHT(CALL CALL CALL))
#define BODY                                      \
    uint s[3] = {g * 77u, t[g & 255u], g};        \
    uchar b[8] = {1, 2, 3, 4, 5, 6, 7, (uchar)g}; \
    struct pair p = {g, 5u};                      \
    CALLS                                         \
    r = s[0] ^ s[1] ^ s[2] ^ p.a ^ p.b ^ (uint)(b[0] | b[7] << 8);

/* What is divided by is zero: the result is of no use then, goes behind the others, and the function goes on. */
#define DIVISIONS                                                                                                    \
    "uint quotient(uint *s, int n) { uint x = s[0], y = s[1], z = s[2]; int q = (int)x / n, r = (int)y % n; " QUOTE( \
        EIGHT(STEP STEP STEP STEP)) " s[0] = x; s[1] = y; s[2] = z; return (uint)(q ^ r); }\n"

#define GLOBAL global
static const char source[] = "struct pair { uint a, b; };\n" QUOTE(
    MIX) "\n"
         "kernel void calls(global const uchar *t, global uint *o) { uint g = get_global_id(0), r; " QUOTE(
             BODY) " o[g] = r; }\n" DIVISIONS
                   "kernel void zeros(global const uchar *t, global uint *o) { uint g = get_global_id(0), r = 0, s[3] "
                   "= {g, 3, g}; " QUOTE(
                       EIGHT(EIGHT(r += quotient(s, t[255]); r += quotient(s, t[255]); r += quotient(s, t[255]);)))
                       QUOTE(EIGHT(EIGHT(r += quotient(s, t[255]); r += quotient(s, t[255]);
                                         r += quotient(s, t[255]);))) " o[g] = s[0] ^ s[1] ^ s[2]; o[g + 517] = r; }\n";
#undef GLOBAL

#define GLOBAL
typedef uint32_t uint;
typedef uint8_t uchar;
struct pair {
    uint a, b;
};

static MIX

    static uint32_t
    calls(const uint8_t *t, uint32_t g)
{
    uint32_t r;

    BODY return r;
}

static uint32_t zeros(const uint8_t *t, uint32_t g)
{
    uint32_t x = g, y = 3, z = g;

    (void)t;
    for (unsigned i = 0; i < 2 * 192; i++) {
        EIGHT(STEP STEP STEP STEP)
    }
    return x ^ y ^ z;
}

static void check(struct cpu_rig *rig, const char *name, uint32_t (*right)(const uint8_t *, uint32_t))
{
    cl_program program = cpu_rig_program(rig, source, "");
    uint8_t table[TABLE];

    for (size_t i = 0; i < TABLE; i++)
        table[i] = (uint8_t)cpu_rig_random();
    table[TABLE - 1] = 0;
    cpu_rig_check_items(rig, program, name, table, sizeof(table), N, right);
    clReleaseProgram(program);
}

static void calls_compute_what_the_host_does(void **state)
{
    check(*state, "calls", calls);
}

static void divisions_by_zero_do_not_trap(void **state)
{
    check(*state, "zeros", zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_compute_what_the_host_does),
                                       cmocka_unit_test(divisions_by_zero_do_not_trap)};

    return cmocka_run_group_tests_name("called", tests, cpu_rig_setup, cpu_rig_teardown);
}
