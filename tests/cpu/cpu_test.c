/* The built-in CPU alone: nobody else's OpenCL is there. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "test.h"

#include <CL/cl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 10000

static const char source[] =
    "kernel void add(global const int *a, global const int *b, global int *c) {\n"
    "    size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
    "kernel void sum(global const int *in, global int *out, local int *t) {\n"
    "    int l = get_local_id(0); t[l] = in[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {\n"
    "        if (l < s) t[l] += t[l + s];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "    if (l == 0) out[get_group_id(0)] = t[0]; }\n"
    "kernel void ids(global ulong *out) {\n"
    "    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0) - get_global_offset(0);\n"
    "    out[i] = get_group_id(0) + 100 * get_local_id(0) + 10000 * get_num_groups(1) + 1000000 * get_local_size(1); "
    "}\n"
    "kernel void collatz(global int *out) {\n"
    "    int x = get_global_id(0) + 1, n = 0; while (x != 1 && n < 500) { x = x & 1 ? 3 * x + 1 : x >> 1; n++; }\n"
    "    out[get_global_id(0)] = n; }\n"
    "kernel void count(global int *out, local int *t) {\n"
    "    int l = get_local_id(0), old; if (l < 12) t[l] = l < 6 ? 0 : 1000; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    old = atomic_inc(&t[0]); atomic_add(&t[1], old); atomic_sub(&t[2], l); atomic_or(&t[3], 1 << l % 30);\n"
    "    atomic_xor(&t[4], l); atomic_max(&t[5], l); atomic_min(&t[6], l - 5); atomic_and(&t[7], l | 96);\n"
    "    atomic_max((local uint *)&t[8], (uint)-l); atomic_min((local uint *)&t[9], 2000u - l);\n"
    "    atomic_xchg(&t[10], 7); atomic_cmpxchg(&t[11], l + 1000, l + 1001); barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < 12) out[l] = t[l]; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void shared(global int *out) {\n"
    "    local int t[300]; int l = get_local_id(0) + 8 * get_local_id(1); t[l] = l; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[l] = t[31 - l]; }\n"
    "kernel void fault(global int *a) { global int *p = (global int *)(size_t)a[0]; a[1] = *p; }\n";

struct world {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

/* cmocka takes the signal for each test: as any program may, which then has it. */
static struct sigaction ours, ours_fpe;

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    const char *text = source;
    cl_platform_id platform;
    cl_int error;

    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &w->device, NULL), CL_SUCCESS);
    w->context = clCreateContext(NULL, 1, &w->device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    w->queue = clCreateCommandQueue(w->context, w->device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    w->program = clCreateProgramWithSource(w->context, 1, &text, NULL, &error);
    assert_int_equal(clBuildProgram(w->program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    sigaction(SIGSEGV, NULL, &ours);
    sigaction(SIGFPE, NULL, &ours_fpe);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    clReleaseProgram(w->program);
    clReleaseCommandQueue(w->queue);
    clReleaseContext(w->context);
    free(w);
    return 0;
}

static cl_mem buffer(struct world *w, size_t size, void *data)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(w->context, data ? CL_MEM_COPY_HOST_PTR : 0, size, data, &error);

    assert_int_equal(error, CL_SUCCESS);
    return mem;
}

static cl_kernel kernel(struct world *w, const char *name)
{
    cl_int error;
    cl_kernel k = clCreateKernel(w->program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    return k;
}

static void adds_at_any_local_size(void **state)
{
    static const size_t locals[] = {0, 1, 8, 16, 250};
    struct world *w = *state;
    int *a = malloc(N * sizeof(int)), *b = malloc(N * sizeof(int)), *c = malloc(N * sizeof(int));
    cl_kernel k = kernel(w, "add");
    size_t global = N;
    cl_mem ma, mb;

    for (int i = 0; i < N; i++) {
        a[i] = i * 3;
        b[i] = 7 - i;
    }
    ma = buffer(w, N * sizeof(int), a);
    mb = buffer(w, N * sizeof(int), b);
    for (size_t l = 0; l < sizeof(locals) / sizeof(locals[0]); l++) {
        cl_mem mc = buffer(w, N * sizeof(int), NULL);

        clSetKernelArg(k, 0, sizeof(ma), &ma);
        clSetKernelArg(k, 1, sizeof(mb), &mb);
        clSetKernelArg(k, 2, sizeof(mc), &mc);
        assert_int_equal(
            clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, locals[l] ? &locals[l] : NULL, 0, NULL, NULL),
            CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(w->queue, mc, CL_TRUE, 0, N * sizeof(int), c, 0, NULL, NULL), CL_SUCCESS);
        for (int i = 0; i < N; i++)
            assert_int_equal(c[i], a[i] + b[i]);
        clReleaseMemObject(mc);
    }
    clReleaseMemObject(ma);
    clReleaseMemObject(mb);
    clReleaseKernel(k);
    free(a);
    free(b);
    free(c);
}

static void sums_with_barriers(void **state)
{
    struct world *w = *state;
    int in[1024], out[16];
    cl_kernel k = kernel(w, "sum");
    size_t global = 1024, local = 64;
    cl_mem mi, mo;

    for (int i = 0; i < 1024; i++)
        in[i] = i;
    mi = buffer(w, sizeof(in), in);
    mo = buffer(w, sizeof(out), NULL);
    clSetKernelArg(k, 0, sizeof(mi), &mi);
    clSetKernelArg(k, 1, sizeof(mo), &mo);
    clSetKernelArg(k, 2, local * sizeof(int), NULL);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, mo, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), CL_SUCCESS);
    for (int g = 0; g < 16; g++)
        assert_int_equal(out[g], 64 * 64 * g + 63 * 32);
    clReleaseMemObject(mi);
    clReleaseMemObject(mo);
    clReleaseKernel(k);
}

static void answers_ids_in_two_dimensions(void **state)
{
    struct world *w = *state;
    size_t offset[2] = {5, 0}, global[2] = {12, 6}, local[2] = {4, 3};
    cl_ulong out[72];
    cl_kernel k = kernel(w, "ids");
    cl_mem mem = buffer(w, sizeof(out), NULL);

    clSetKernelArg(k, 0, sizeof(mem), &mem);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 2, offset, global, local, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, mem, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < 72; i++)
        assert_int_equal(out[i], i % 12 / 4 + 100 * (i % 12 % 4) + 10000 * 2 + 1000000 * 3);
    clReleaseMemObject(mem);
    clReleaseKernel(k);
}

/* What 50 work-items do to local variables, in whatever order. */
static void atomics_on_local_memory(void **state)
{
    static const int right[12] = {50, 49 * 25, -49 * 25, (1 << 30) - 1, 1, 49, -5, 96, -1, 1000, 7, 0};
    struct world *w = *state;
    size_t size = 50;
    int out[12];
    cl_kernel k = kernel(w, "count");
    cl_mem mem = buffer(w, sizeof(out), NULL);

    clSetKernelArg(k, 0, sizeof(mem), &mem);
    clSetKernelArg(k, 1, sizeof(out), NULL);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &size, &size, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, mem, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < 11; i++)
        assert_int_equal(out[i], right[i]);
    assert_in_range(out[11], 1001, 1050); /* as far as the order lets it come */
    clReleaseMemObject(mem);
    clReleaseKernel(k);
}

static int divided(int a, int b)
{
    return b == 0 || (b == -1 && a == INT_MIN) ? 0 : a / b + a % b;
}

/* Some value comes of it, and no exception (OpenCL C 3.0, 6.4). */
static void division_by_zero_has_a_value(void **state)
{
    static const char text[] =
        "kernel void divide(global int4 *x, global int4 *y, global uchar *c, global ulong *u) {\n"
        "    size_t i = get_global_id(0); int4 a = x[i], b = y[i]; x[i] = a / b + a % b;\n"
        "    c[i] = c[i] / c[0]; u[i] = u[i] % u[0]; }\n";
    static const int odd[] = {0, -1, 1, 7, INT_MIN, 3};
    const char *all = text, *options[] = {"", "-cl-opt-disable"};
    struct world *w = *state;
    int a[256], b[256], out[256];
    size_t global = 64;
    cl_int error;

    for (int i = 0; i < 256; i++) {
        a[i] = i % 5 ? i * 77 : INT_MIN;
        b[i] = odd[i % 6];
    }
    for (int o = 0; o < 2; o++) {
        cl_mem memory[4] = {buffer(w, sizeof(a), a), buffer(w, sizeof(b), b), buffer(w, sizeof(a), NULL),
                            buffer(w, 4 * sizeof(a), NULL)};
        cl_program program = clCreateProgramWithSource(w->context, 1, &all, NULL, &error);
        cl_kernel k;

        sigaction(SIGFPE, &ours_fpe, NULL);
        assert_int_equal(clBuildProgram(program, 0, NULL, options[o], NULL, NULL), CL_SUCCESS);
        k = clCreateKernel(program, "divide", &error);
        for (cl_uint m = 0; m < 4; m++) {
            cl_uint zero = 0;

            if (m >= 2)
                clEnqueueFillBuffer(w->queue, memory[m], &zero, 4, 0, sizeof(a), 0, NULL, NULL);
            clSetKernelArg(k, m, sizeof(memory[m]), &memory[m]);
        }
        assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(w->queue, memory[0], CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL),
                         CL_SUCCESS);
        for (int i = 0; i < 256; i++)
            if (b[i] != 0 && (b[i] != -1 || a[i] != INT_MIN))
                assert_int_equal(out[i], divided(a[i], b[i]));
        for (int m = 0; m < 4; m++)
            clReleaseMemObject(memory[m]);
        clReleaseKernel(k);
        clReleaseProgram(program);
    }
}

static int steps(int x)
{
    int n = 0;

    while (x != 1 && n < 500) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        n++;
    }
    return n;
}

static void loops_that_end_differently(void **state)
{
    struct world *w = *state;
    int out[1000];
    size_t global = 1000;
    cl_kernel k = kernel(w, "collatz");
    cl_mem mem = buffer(w, sizeof(out), NULL);

    clSetKernelArg(k, 0, sizeof(mem), &mem);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, mem, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(out[i], steps(i + 1));
    clReleaseMemObject(mem);
    clReleaseKernel(k);
}

static int run_once(struct world *w, cl_program program)
{
    cl_int error, out = 0;
    cl_kernel k = clCreateKernel(program, "number", &error);
    cl_mem mem = buffer(w, sizeof(out), NULL);
    size_t global = 1;

    assert_int_equal(error, CL_SUCCESS);
    clSetKernelArg(k, 0, sizeof(mem), &mem);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, mem, CL_TRUE, 0, sizeof(out), &out, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(mem);
    clReleaseKernel(k);
    return out;
}

/* Neighbours' vectors lie side by side, go in pieces, and may be shared: each writes its own elements alone. */
static void vectors_in_memory(void **state)
{
    static const char text[] =
        "kernel void whole(global const uchar4 *c, global const float2 *f, global short8 *o, global int3 *p) {\n"
        "    size_t i = get_global_id(0); float2 v = f[i].yx;\n"
        "    o[i] = (short8)(convert_short4(c[i]), convert_short2(v), convert_short2(f[99 - i]));\n"
        "    vstore3(convert_int3(c[i].wzy), i, (global int *)p); }\n"
        "kernel void parts(global uchar4 *c, global float2 *f) {\n"
        "    int i = get_global_id(0); if (i & 1) c[i / 2].x = i; else c[i / 2].z = i + 1;\n"
        "    if (i % 2) f[i / 2].y += i; else f[i / 2].x -= i; }\n";
    const char *all = text;
    struct world *w = *state;
    size_t whole = 100, parts = 200;
    unsigned char c[400];
    float f[200];
    short o[800];
    int p[300];
    cl_int error;
    cl_program program = clCreateProgramWithSource(w->context, 1, &all, NULL, &error);
    cl_mem memory[4];
    cl_kernel k;

    for (unsigned i = 0; i < 400; i++)
        c[i] = (unsigned char)(i * 7);
    for (int i = 0; i < 200; i++)
        f[i] = (float)(i * 3 - 250);
    memory[0] = buffer(w, sizeof(c), c);
    memory[1] = buffer(w, sizeof(f), f);
    memory[2] = buffer(w, sizeof(o), NULL);
    memory[3] = buffer(w, sizeof(p), NULL);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    k = clCreateKernel(program, "whole", &error);
    for (cl_uint m = 0; m < 4; m++)
        clSetKernelArg(k, m, sizeof(memory[m]), &memory[m]);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &whole, NULL, 0, NULL, NULL), CL_SUCCESS);
    clReleaseKernel(k);
    k = clCreateKernel(program, "parts", &error);
    for (cl_uint m = 0; m < 2; m++)
        clSetKernelArg(k, m, sizeof(memory[m]), &memory[m]);
    assert_int_equal(clEnqueueReadBuffer(w->queue, memory[2], CL_TRUE, 0, sizeof(o), o, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, memory[3], CL_TRUE, 0, sizeof(p), p, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &parts, NULL, 0, NULL, NULL), CL_SUCCESS);
    clReleaseKernel(k);
    for (int i = 0; i < 100; i++) {
        for (int e = 0; e < 8; e++)
            assert_int_equal(o[8 * i + e], e < 4   ? c[4 * i + e]
                                           : e < 6 ? (int)f[2 * i + 5 - e]
                                                   : (int)f[2 * (99 - i) + e - 6]);
        for (int e = 0; e < 3; e++)
            assert_int_equal(p[3 * i + e], c[4 * i + 3 - e]);
    }
    for (int i = 0; i < 100; i++) {
        c[4 * i] = (unsigned char)(2 * i + 1);
        c[4 * i + 2] = (unsigned char)(2 * i + 1);
        f[2 * i] -= (float)(2 * i);
        f[2 * i + 1] += (float)(2 * i + 1);
    }
    for (int m = 0; m < 2; m++) {
        char got[sizeof(f)];
        const void *right = m ? (const void *)f : (const void *)c;
        size_t size = m ? sizeof(f) : sizeof(c);

        assert_int_equal(clEnqueueReadBuffer(w->queue, memory[m], CL_TRUE, 0, size, got, 0, NULL, NULL), CL_SUCCESS);
        assert_memory_equal(got, right, size);
    }
    for (int m = 0; m < 4; m++)
        clReleaseMemObject(memory[m]);
    clReleaseProgram(program);
}

/* Groups on several threads write different elements of the same vectors, again and again. */
static void elements_of_shared_vectors(void **state)
{
    static const char text[] =
        "kernel void count(global int2 *v) { int l = get_local_id(0);\n"
        "    for (int k = 0; k < 20000; k++) { if (get_group_id(0) & 1) v[l].x++; else v[l].y++;\n"
        "        barrier(CLK_GLOBAL_MEM_FENCE); } }\n";
    const char *all = text;
    struct world *w = *state;
    size_t global = 64, local = 32;
    int v[64] = {0};
    cl_int error;
    cl_program program = clCreateProgramWithSource(w->context, 1, &all, NULL, &error);
    cl_mem mem = buffer(w, sizeof(v), v);
    cl_kernel k;

    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    k = clCreateKernel(program, "count", &error);
    clSetKernelArg(k, 0, sizeof(mem), &mem);
    for (int i = 0; i < 10; i++)
        assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(w->queue, mem, CL_TRUE, 0, sizeof(v), v, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < 64; i++)
        assert_int_equal(v[i], 200000);
    clReleaseMemObject(mem);
    clReleaseKernel(k);
    clReleaseProgram(program);
}

/* Each keeps its own code, whatever was loaded before it, and goes on being there, with kernels of the same name. */
static void many_programs_at_once(void **state)
{
    struct world *w = *state;
    cl_program programs[9];
    cl_int error;

    for (int p = 0; p < 9; p++) {
        char text[128];
        const char *one = text;

        snprintf(text, sizeof(text), "kernel void number(global int *out) { *out = %d; }", p);
        programs[p] = clCreateProgramWithSource(w->context, 1, &one, NULL, &error);
        assert_int_equal(clBuildProgram(programs[p], 0, NULL, "", NULL, NULL), CL_SUCCESS);
        assert_int_equal(run_once(w, programs[p]), p);
    }
    for (int p = 0; p < 9; p += 2)
        clReleaseProgram(programs[p]);
    for (int p = 1; p < 9; p += 2) {
        assert_int_equal(run_once(w, programs[p]), p);
        clReleaseProgram(programs[p]);
    }
}

static size_t group_info(struct world *w, cl_kernel k, cl_kernel_work_group_info what, void *value, size_t size)
{
    size_t given = 0;

    assert_int_equal(clGetKernelWorkGroupInfo(k, w->device, what, size, value, &given), CL_SUCCESS);
    return given;
}

/* What the compiler found out is what the application is told, and what launches are held to. */
static void kernels_facts_are_told(void **state)
{
    struct world *w = *state;
    cl_kernel shared = kernel(w, "shared"), sum = kernel(w, "sum");
    size_t required[3], largest = 0, multiple = 0, global[2] = {8, 4}, wrong[2] = {4, 4};
    cl_ulong local = 0;
    cl_mem out = buffer(w, 32 * sizeof(int), NULL);

    assert_int_equal(group_info(w, shared, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, required, sizeof(required)),
                     sizeof(required));
    assert_true(required[0] == 8 && required[1] == 4 && required[2] == 1);
    group_info(w, shared, CL_KERNEL_WORK_GROUP_SIZE, &largest, sizeof(largest));
    assert_int_equal(largest, 32);
    group_info(w, shared, CL_KERNEL_LOCAL_MEM_SIZE, &local, sizeof(local));
    assert_in_range(local, 1200, 1200 + 128);
    group_info(w, sum, CL_KERNEL_WORK_GROUP_SIZE, &largest, sizeof(largest));
    assert_int_equal(largest, 4096);
    group_info(w, sum, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, &multiple, sizeof(multiple));
    assert_true(multiple == 4 || multiple == 8 || multiple == 16);
    group_info(w, sum, CL_KERNEL_LOCAL_MEM_SIZE, &local, sizeof(local));
    assert_in_range(local, 0, 128);
    assert_int_equal(clSetKernelArg(sum, 2, 4096, NULL), CL_SUCCESS);
    group_info(w, sum, CL_KERNEL_LOCAL_MEM_SIZE, &local, sizeof(local));
    assert_in_range(local, 4096, 4096 + 128);
    clSetKernelArg(shared, 0, sizeof(out), &out);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, shared, 2, NULL, global, wrong, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, shared, 2, NULL, global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(w->queue), CL_SUCCESS);
    clReleaseMemObject(out);
    clReleaseKernel(shared);
    clReleaseKernel(sum);
}

static cl_uint compute_units(const struct world *w)
{
    cl_uint n = 0;

    assert_int_equal(clGetDeviceInfo(w->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(n), &n, NULL), CL_SUCCESS);
    return n;
}

/* Programs that take the device with the most units times megahertz would pass over one that says 0. */
static void clock_frequency_is_told(void **state)
{
    const struct world *w = *state;
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    bool known = !access("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", R_OK);
    cl_uint clock = 0;

    while (!known && file && fgets(line, sizeof(line), file))
        known = !strncmp(line, "cpu MHz", 7);
    if (file)
        fclose(file);
    assert_int_equal(clGetDeviceInfo(w->device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(clock), &clock, NULL),
                     CL_SUCCESS);
    assert_int_equal(known, clock > 0);
}

/* Where the choice is ours, what the compiler recommends is what a launch has, if it is large enough for all threads: a
 * hint that suits it; few work-items of many bytes across a barrier. */
static void launches_have_the_recommended_size(void **state)
{
    static const char text[] =
        "kernel void plain(global uint2 *o) { if (!get_global_id(0)) *o = (uint2)(get_local_size(0), "
        "get_local_size(1)); }\n"
        "kernel __attribute__((work_group_size_hint(8, 4, 1))) void hint(global uint2 *o) {\n"
        "    if (!get_global_id(0)) *o = (uint2)(get_local_size(0), get_local_size(1)); }\n"
        "kernel void large(global uint2 *o) { int a[512]; for (int i = 0; i < 512; i++) a[i] = o[i % 7].x * i;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE); a[get_local_id(0) & 511]++; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    int s = 0; for (int i = 0; i < 512; i++) s += a[(i * 31 + get_local_id(0)) & 511]; if (s == 12345) o[1].x "
        "= 0;\n"
        "    if (!get_global_id(0)) *o = (uint2)(get_local_size(0), 1); }\n";
    const size_t n = compute_units(*state);
    const struct {
        const char *name;
        size_t global[2];
        unsigned least, most, y;
    } cases[] = {
        {"plain", {65536, 64}, 256, 256, 1}, {"plain", {128 * n, 1}, 64, 64, 1}, /* two groups for each thread */
        {"plain", {8 * n, 2}, 1, 32, 1},     {"hint", {1024, 4}, 8, 8, 4},
        {"hint", {1024, 3}, 32, 32, 1},      {"large", {65536, 1}, 4, 16, 1}};
    struct world *w = *state;
    const char *all = text;
    cl_int error;
    cl_program program = clCreateProgramWithSource(w->context, 1, &all, NULL, &error);
    cl_mem out = buffer(w, 64, NULL);

    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cl_kernel k = clCreateKernel(program, cases[i].name, &error);
        unsigned got[2] = {0, 0};

        clSetKernelArg(k, 0, sizeof(out), &out);
        assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 2, NULL, cases[i].global, NULL, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(w->queue, out, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL), CL_SUCCESS);
        assert_in_range(got[0], cases[i].least, cases[i].most);
        assert_int_equal(got[1], cases[i].y);
        clReleaseKernel(k);
    }
    clReleaseMemObject(out);
    clReleaseProgram(program);
}

/* The event says so, and the program lives on. */
static void fault_fails_the_event(void **state)
{
    struct world *w = *state;
    int data[2] = {0, 0};
    size_t global = 1;
    cl_kernel k = kernel(w, "fault");
    cl_mem mem = buffer(w, sizeof(data), data);
    cl_event event;
    cl_int status;

    sigaction(SIGSEGV, &ours, NULL);
    clSetKernelArg(k, 0, sizeof(mem), &mem);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, k, 1, NULL, &global, NULL, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
                     CL_SUCCESS);
    assert_int_equal(status, CL_OUT_OF_RESOURCES);
    clReleaseEvent(event);
    clReleaseMemObject(mem);
    clReleaseKernel(k);
    adds_at_any_local_size(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_at_any_local_size),
        cmocka_unit_test(sums_with_barriers),
        cmocka_unit_test(answers_ids_in_two_dimensions),
        cmocka_unit_test(loops_that_end_differently),
        cmocka_unit_test(atomics_on_local_memory),
        cmocka_unit_test(division_by_zero_has_a_value),
        cmocka_unit_test(vectors_in_memory),
        cmocka_unit_test(elements_of_shared_vectors),
        cmocka_unit_test(many_programs_at_once),
        cmocka_unit_test(kernels_facts_are_told),
        cmocka_unit_test(clock_frequency_is_told),
        cmocka_unit_test(launches_have_the_recommended_size),
        cmocka_unit_test(fault_fails_the_event),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
