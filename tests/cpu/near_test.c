/*
 * Work-items that load and store by indices of which only a look at them tells whether they are neighbours: clamped to
 * the edges of an image, as butterflies, turned over, behind conditions. On the built-in CPU alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <stdbool.h>
#include <string.h>

#define N 1024u

/* Each stores at o[place] what the function beside it in C says. n: some number. */
static const char source[] =
    "kernel void clamps(global const uint *a, global uint *o, int n) {\n"
    "    int i = get_global_id(0); o[i] = a[clamp(i + n, 0, 1023)] + 3 * a[min(i - n, 900)] * (i > n); }\n"
    "kernel void clamped_some(global const uint *a, global uint *o, int n) {\n"
    "    int i = get_global_id(0); if (a[i] % 5 != 1) o[i] = a[clamp(i + n, 7, 1000)] + 1; }\n"
    "kernel void turns(global const uint *a, global uint *o, int n) {\n"
    "    int i = get_global_id(0); o[i ^ n] = a[i]; }\n"
    "kernel void turns_some(global const uint *a, global uint *o, int n) {\n"
    "    int i = get_global_id(0); if (a[i] % 3) o[i ^ n] = a[i]; }\n"
    "kernel void turns_unsigned(global const uint *a, global uint *o, uint n) {\n"
    "    uint i = get_global_id(0); o[(i + n) & 1023] = a[i]; }\n"
    "kernel void turns_pairs(global const uint2 *a, global uint2 *o, int n) {\n"
    "    int i = get_global_id(0); if (i < 512) o[i ^ (n & 511)] = a[i]; }\n"
    "kernel void butterflies(global const uint *a, global uint *o, int n) {\n"
    "    local uint t[2][128]; int l = get_local_id(0), g = get_group_id(0) * 128, m = 1 << n % 7, k = l & (m - 1);\n"
    "    int w = n & 1, j = 2 * l - k; t[w][j] = a[g + l]; t[w][j + m] = a[g + l + 64]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    o[g + l] = t[w][l]; o[g + l + 64] = t[w][l + 64]; }\n"
    "kernel void before(global const uint *a, global uint *o, int n) {\n" /* indices below zero */
    "    int i = get_global_id(0); global uint *p = o + 1023; p[(i ^ n) - 1023] = a[i]; }\n"
    "kernel void truths(global const uint *a, global uint *o, int n) {\n" /* two items at most */
    "    int i = get_global_id(0); if (i == 2 || (i == 3 && n % 4 == 1)) o[(i & n) != 0] = a[i]; }\n"
    /* indices that go over the end of their type where no store is */
    "kernel void over_the_end(global const uint *a, global uint *o, int n) {\n"
    "    uint y = get_global_id(0) ^ n; int x = (int)(y + 0x7ffffff7u); global uint *p = o + 0x80000000L;\n"
    "    if (y > 8) p[x] = a[get_global_id(0)]; }\n"
    "kernel void over_zero(global const uint *a, global uint *o, int n) {\n"
    "    uint y = get_global_id(0) ^ n, x = y + 0xfffffff7u; if (y > 8) o[x] = a[get_global_id(0)]; }\n"
    "kernel void upper_half(global const uint *a, global uint *o, int n) {\n" /* indices that a signed int hasn't */
    "    uint y = get_global_id(0) ^ n; (o - 0x80000000L)[y + 0x80000000u] = a[get_global_id(0)]; }\n"
    "kernel void longs(global const uint *a, global uint *o, long n) {\n"
    "    long i = get_global_id(0); o[i ^ (int)n] = a[i]; }\n"
    /* what is stored, where and by whom comes from the loop's last turn */
    "kernel void carried(global const uint *a, global uint *o, int n) {\n"
    "    uint i = get_global_id(0), x = i ^ n, v = a[i];\n"
    "    for (int j = 0; j < 5 + (n & 1024); j++) { o[x] = v; v = v * 3 + a[i]; x = (x ^ (n & 1024)) & 1023; } }\n"
    "kernel void carried_mask(global const uint *a, global uint *o, int n) {\n"
    "    uint i = get_global_id(0), v = a[i]; bool on = n & 1;\n"
    "    for (int j = 0; j < 5 + (n & 1024); j++) { if (on) o[i] = v; v = v * 3 + n; on = v % 7 < 4; } }\n";

static uint32_t a[N], out[N], right[N];

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

static void clamps(unsigned i, unsigned n)
{
    int x = (int)i, y = (int)n;

    right[i] = a[clamp(x + y, 0, 1023)] + (x > y ? 3 * a[clamp(x - y, 0, 900)] : 0);
}

static void clamped_some(unsigned i, unsigned n)
{
    if (a[i] % 5 != 1)
        right[i] = a[clamp((int)(i + n), 7, 1000)] + 1;
}

static void turns(unsigned i, unsigned n)
{
    right[i ^ n] = a[i];
}

static void turns_some(unsigned i, unsigned n)
{
    if (a[i] % 3)
        right[i ^ n] = a[i];
}

static void turns_unsigned(unsigned i, unsigned n)
{
    right[(i + n) % N] = a[i];
}

static void truths(unsigned i, unsigned n)
{
    if (i == 2 || (i == 3 && n % 4 == 1))
        right[(i & n) != 0] = a[i];
}

static void nine_before(unsigned i, unsigned n)
{
    if ((i ^ n) > 8)
        right[(i ^ n) - 9] = a[i];
}

static void turns_pairs(unsigned i, unsigned n)
{
    right[i ^ (n & 511) << 1] = a[i];
}

static void butterflies(unsigned i, unsigned n)
{
    unsigned l = i % 64, g = i / 64 * 128, m = 1u << n % 7, j = 2 * l - (l & (m - 1));

    right[g + j] = a[g + l];
    right[g + j + m] = a[g + l + 64];
}

static void carried(unsigned i, unsigned n)
{
    uint32_t v = a[i];

    for (int j = 0; j < 4; j++)
        v = v * 3 + a[i];
    right[i ^ n] = v;
}

static void carried_mask(unsigned i, unsigned n)
{
    uint32_t v = a[i];
    bool on = n & 1;

    for (int j = 0; j < 5; j++) {
        if (on)
            right[i] = v;
        v = v * 3 + n;
        on = v % 7 < 4;
    }
}

static const struct {
    const char *name;
    void (*put)(unsigned i, unsigned n);
} kernels[] = {
    {"clamps", clamps},
    {"clamped_some", clamped_some},
    {"turns", turns},
    {"turns_some", turns_some},
    {"turns_unsigned", turns_unsigned},
    {"turns_pairs", turns_pairs},
    {"before", turns},
    {"truths", truths},
    {"over_the_end", nine_before},
    {"over_zero", nine_before},
    {"upper_half", turns},
    {"longs", turns},
    {"carried", carried},
    {"carried_mask", carried_mask},
};

static cl_kernel kernel_of(cl_program program, const char *name, const cl_mem *buffers, cl_ulong n)
{
    bool is_long = strcmp(name, "longs") == 0;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    for (cl_uint k = 0; k < 2; k++)
        assert_int_equal(clSetKernelArg(kernel, k, sizeof(buffers[k]), &buffers[k]), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, is_long ? sizeof(cl_ulong) : sizeof(cl_uint), &n), CL_SUCCESS);
    return kernel;
}

static void run(struct cpu_rig *rig, cl_program program, const char *name, unsigned n, size_t global, size_t local)
{
    cl_mem buffers[2];
    cl_kernel kernel;

    memset(out, 0xee, sizeof(out));
    buffers[0] = cpu_rig_buffer(rig, sizeof(a), a);
    buffers[1] = cpu_rig_buffer(rig, sizeof(out), out);
    kernel = kernel_of(program, name, buffers, n);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
    cpu_rig_read(rig, buffers[1], sizeof(out), out);
    clReleaseKernel(kernel);
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
}

static void compare(const char *name, unsigned n, size_t local)
{
    for (unsigned i = 0; i < N; i++)
        if (out[i] != right[i])
            fail_msg("%s with %u, local size %zu: at %u %08x, not %08x", name, n, local, i, out[i], right[i]);
}

static void wherever_they_are(void **state)
{
    static const unsigned numbers[] = {0, 1, 3, 5, 15, 16, 31, 32, 48, 100, 256, 512, 1008, 1023};
    static const size_t locals[] = {1, 8, 64, 256};
    cl_program program = cpu_rig_program(*state, source, "");

    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
        for (size_t l = 0; l < sizeof(locals) / sizeof(locals[0]); l++)
            for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
                memset(right, 0xee, sizeof(right));
                for (unsigned i = 0; i < N; i++)
                    kernels[k].put(i, numbers[n]);
                run(*state, program, kernels[k].name, numbers[n], N, locals[l]);
                compare(kernels[k].name, numbers[n], locals[l]);
            }
    clReleaseProgram(program);
}

static void as_butterflies(void **state)
{
    cl_program program = cpu_rig_program(*state, source, "");

    for (unsigned n = 0; n < 14; n++) {
        for (unsigned i = 0; i < N / 2; i++)
            butterflies(i, n);
        run(*state, program, "butterflies", n, N / 2, 64);
        compare("butterflies", n, 64);
    }
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wherever_they_are),
        cmocka_unit_test(as_butterflies),
    };

    for (unsigned i = 0; i < N; i++)
        a[i] = (uint32_t)(cpu_rig_random() >> 32);
    return cmocka_run_group_tests_name("near", tests, cpu_rig_setup, cpu_rig_teardown);
}
