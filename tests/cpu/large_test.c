/*
 * Kernels of so many instructions that their builds leave out what would take too long (workgroup/cleanup/effort.c,
 * kc_is_large): they compute what the host does all the same. On the built-in CPU alone.
 */
/* timeout: 200 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <CL/cl.h>
#include <stdint.h>

#define N     1031u
#define TABLE 256u

#define TEXT(of)  #of
#define QUOTE(of) TEXT(of)
#define EIGHT(of) of of of of of of of of

/* Some ten instructions without a branch, 2048 times; a branch and a byte from anywhere, 640 times. */
#define STEP                                    \
    x = (x << 7 | x >> 25) ^ (y & 0x9e3779b9u); \
    y = y * 5u + (x >> 3 | z);                  \
    z ^= x - y;
#define STRAIGHT EIGHT(EIGHT(EIGHT(STEP STEP STEP STEP)))
#define LOOK                     \
    if (x & 4u)                  \
        x = x * 3u + t[x >> 24]; \
    else                         \
        x ^= x >> 5 | 1u << (x & 31u);
#define BYTES EIGHT(EIGHT(LOOK LOOK LOOK LOOK LOOK LOOK LOOK LOOK LOOK LOOK))

static const char source[] =
    "kernel void straight(global const uchar *t, global uint *o) { uint g = get_global_id(0), x = g * 77u, y = t[g & "
    "255], z = g; " QUOTE(STRAIGHT) " o[g] = x ^ y ^ z; }\n"
                                    "kernel void bytes(global const uchar *t, global uint *o) { uint g = "
                                    "get_global_id(0), x = g * 2654435761u; " QUOTE(BYTES) " o[g] = x; }\n";

static uint32_t straight(const uint8_t *t, uint32_t g)
{
    uint32_t x = g * 77u, y = t[g & 255], z = g;

    STRAIGHT
    return x ^ y ^ z;
}

static uint32_t bytes(const uint8_t *t, uint32_t g)
{
    uint32_t x = g * 2654435761u;

    BYTES
    return x;
}

static void check(struct cpu_rig *rig, const char *name, uint32_t (*right)(const uint8_t *, uint32_t))
{
    cl_program program = cpu_rig_program(rig, source, "");
    uint8_t table[TABLE];

    for (size_t i = 0; i < TABLE; i++)
        table[i] = (uint8_t)cpu_rig_random();
    cpu_rig_check_items(rig, program, name, table, sizeof(table), N, right);
    clReleaseProgram(program);
}

static void long_ways_without_branches(void **state)
{
    check(*state, "straight", straight);
}

static void many_bytes_behind_branches(void **state)
{
    check(*state, "bytes", bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_ways_without_branches),
                                       cmocka_unit_test(many_bytes_behind_branches)};

    return cmocka_run_group_tests_name("large", tests, cpu_rig_setup, cpu_rig_teardown);
}
