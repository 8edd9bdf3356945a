/*
 * Numbers of 64 bits that work-items take apart, and pairs of 32 bits that they load and store in one piece. On the
 * built-in CPU alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <string.h>

#define N 1027u /* not all in full vectors */

static const char source[] =
    "kernel void bits(global const ulong *a, global uint *o) {\n"
    "    size_t i = get_global_id(0); ulong x = a[i]; o[4 * i] = x; o[4 * i + 1] = x >> 32; o[4 * i + 2] = x >> 31;\n"
    "    o[4 * i + 3] = (long)x >> 32; }\n"
    "kernel void sums(global const ulong *a, global uint *o) {\n"
    "    size_t i = get_global_id(0); ulong x = a[i] * 3 + a[1026 - i], y = x + a[i / 2];\n"
    "    o[4 * i] = x; o[4 * i + 1] = y >> 32; o[4 * i + 2] = x >> (i & 63); o[4 * i + 3] = (x >> 32) + (y << 1); }\n"
    "kernel void pairs(global const uint2 *a, global uint2 *o) {\n"
    "    size_t i = get_global_id(0); uint2 x = a[i], y = a[1026 - i].yx; o[2 * i] = x + y;\n"
    "    o[2 * i + 1] = (uint2)(x.y - y.x, x.x ^ y.y); }\n"
    "kernel void cast(global const ulong *a, global uint *o) {\n"
    "    size_t i = get_global_id(0); global ulong *m = (global ulong *)(o + 4 * i); m[0] = a[i];\n"
    "    global uint *halves = (global uint *)m; ulong x = m[0]; halves[0] = (uint)(x >> 32) + 1;\n"
    "    halves[1] ^= (uint)x; ulong y = m[0]; o[4 * i + 2] = (uint)(y >> 32) * (uint)y; o[4 * i + 3] = 0; }\n";

static uint64_t a[N];
static uint32_t out[4 * N];

static void right_bits(unsigned i, uint32_t right[4])
{
    right[0] = (uint32_t)a[i];
    right[1] = right[3] = (uint32_t)(a[i] >> 32);
    right[2] = (uint32_t)(a[i] >> 31);
}

static void right_sums(unsigned i, uint32_t right[4])
{
    uint64_t x = a[i] * 3 + a[N - 1 - i], y = x + a[i / 2];

    right[0] = (uint32_t)x;
    right[1] = (uint32_t)(y >> 32);
    right[2] = (uint32_t)(x >> (i & 63));
    right[3] = (uint32_t)((x >> 32) + (y << 1));
}

static void right_pairs(unsigned i, uint32_t right[4])
{
    uint32_t x[2] = {(uint32_t)a[i], (uint32_t)(a[i] >> 32)};
    uint32_t y[2] = {(uint32_t)(a[N - 1 - i] >> 32), (uint32_t)a[N - 1 - i]};

    right[0] = x[0] + y[0];
    right[1] = x[1] + y[1];
    right[2] = x[1] - y[0];
    right[3] = x[0] ^ y[1];
}

/* The halves are stored by a pointer to another type than that by which the number is loaded. */
static void right_cast(unsigned i, uint32_t right[4])
{
    uint32_t lower = (uint32_t)a[i], upper = (uint32_t)(a[i] >> 32);

    right[0] = upper + 1;
    right[1] = upper ^ lower;
    right[2] = right[0] * right[1];
    right[3] = 0;
}

static void check(struct cpu_rig *rig, const char *name, void (*find)(unsigned i, uint32_t right[4]))
{
    cl_program program = cpu_rig_program(rig, source, "");
    cl_mem buffers[2] = {cpu_rig_buffer(rig, sizeof(a), a), cpu_rig_buffer(rig, sizeof(out), NULL)};

    cpu_rig_run(rig, program, name, 2, buffers, 0, NULL, N);
    cpu_rig_read(rig, buffers[1], sizeof(out), out);
    for (unsigned i = 0; i < N; i++) {
        uint32_t right[4];

        find(i, right);
        assert_memory_equal(&out[4 * i], right, sizeof(right));
    }
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    clReleaseProgram(program);
}

static void bits_of_numbers(void **state)
{
    check(*state, "bits", right_bits);
}

static void bits_of_sums(void **state)
{
    check(*state, "sums", right_sums);
}

static void pairs_in_one_piece(void **state)
{
    check(*state, "pairs", right_pairs);
}

static void halves_by_cast(void **state)
{
    check(*state, "cast", right_cast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_numbers),
        cmocka_unit_test(bits_of_sums),
        cmocka_unit_test(pairs_in_one_piece),
        cmocka_unit_test(halves_by_cast),
    };

    for (unsigned i = 0; i < N; i++)
        a[i] = cpu_rig_random() << 32 ^ cpu_rig_random();
    return cmocka_run_group_tests_name("halves", tests, cpu_rig_setup, cpu_rig_teardown);
}
