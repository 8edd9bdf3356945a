/*
 * Kernels that do what OpenCL C leaves undefined, as programs of users do without noticing: they end, as elsewhere, or
 * the launch fails with a sentence. None runs for ever, and none ends the process.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "child.h"
#include "cpu_rig.h"
#include "test.h"

#include <signal.h>
#include <stdio.h>

#define N 64u

/* n: how much is written to arrays of 16, up to twice their length. */
static const struct {
    const char *name, *text;
} kernels[] = {
    {"beyond", "K(beyond) { uint w[16]; for (uint k = 0; k < n; k++) w[k] = i + k; uint h = 0; "
               "for (uint k = 0; k < 16; k++) h = rotate(h, 5u) + w[k]; o[i] = h; }"},
    {"by_pointer", "K(by_pointer) { ushort p[27]; uint w[16]; for (uint k = 0; k < 27; k++) p[k] = k * i; "
                   "const ushort *s = p; for (uint k = 0; k < n; k++) { w[k] = *s++; w[k] |= *s++ << 16; } "
                   "w[14] = n; uint h = 0; for (uint k = 0; k < 16; k++) h = rotate(h, 5u) + w[k]; o[i] = h; }"},
    {"bytes", "K(bytes) { uchar b[16]; for (uint k = 0; k < n; k++) b[k] = k ^ i; o[i] = b[i % 16]; }"},
    {"vectors", "K(vectors) { float4 v[16]; for (uint k = 0; k < n; k++) v[k] = (float4)(k, i, n, 0); "
                "o[i] = (uint)v[i % 16].x; }"},
    {"across_barriers", "K(across_barriers) { uint w[16]; for (uint k = 0; k < n; k++) w[k] = k; "
                        "barrier(CLK_LOCAL_MEM_FENCE); o[i] = w[i % 16]; }"},
    {"two_arrays", "K(two_arrays) { uint a[16], b[16]; for (uint k = 0; k < n; k++) { a[k] = k; b[k] = a[k] + i; } "
                   "o[i] = a[i % 16] + b[n % 16]; }"},
    {"unset",
     "K(unset) { uint w[16]; uint x; for (uint k = 0; k < 16; k += 2) w[k] = k; if (w[1] > x) o[i] = w[n % 16]; }"},
    {"known_beyond", "K(known_beyond) { int w[2]; w[0] = n; for (int k = 0; k < 64; k++) if (w[7] == k) o[i] = k; }"},
    {"shifted", "K(shifted) { int x = 1 << n; for (int k = 0; k < (1 << 40); k++) x += k; o[i] = x >> (n + 60); }"},
    {"overflows", "K(overflows) { int s = 0x7ffffff0; for (int k = 0; k < (int)n; k++) if (s + k > s) o[i] = k; }"},
    {"no_return", "uint none(uint k) { if (k > 1000) return k; } K(no_return) { o[i] = none(n); }"},
    {"unreachable", "K(unreachable) { if (n > 1000) o[i] = 1; else __builtin_unreachable(); o[i] = 2; }"},
};

#define N_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static cl_program make(struct cpu_rig *rig, unsigned k)
{
    static const char named[] = "#define K(name) void body(global uint *o, uint i, uint n); "
                                "kernel void name(global uint *o, global const uint *length) "
                                "{ body(o, get_global_id(0), length[get_global_id(0)]); } "
                                "void body(global uint *o, uint i, uint n)\n";
    char text[2000];

    snprintf(text, sizeof(text), "%s%s", named, kernels[k].text);
    return cpu_rig_program(rig, text, "");
}

/* Whatever the kernel writes, its launch ends. */
static void check(struct cpu_rig *rig, cl_program made, unsigned k, unsigned more)
{
    const size_t global = N, locals[] = {64, 16, 1};
    cl_uint lengths[N];
    cl_kernel kernel = clCreateKernel(made, kernels[k].name, NULL);
    cl_mem o = cpu_rig_buffer(rig, sizeof(lengths), NULL), length;
    cl_event event;

    for (unsigned i = 0; i < N; i++)
        lengths[i] = i * 7 % (17 + 15 * (more / 3));
    length = cpu_rig_buffer(rig, sizeof(lengths), lengths);
    clSetKernelArg(kernel, 0, sizeof(o), &o);
    clSetKernelArg(kernel, 1, sizeof(length), &length);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &locals[more % 3], 0, NULL, &event),
                     CL_SUCCESS);
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
    clReleaseKernel(kernel);
    clReleaseMemObject(o);
    clReleaseMemObject(length);
}

/* Behind the kernels that went wrong, all is well. */
static void check_right(struct cpu_rig *rig)
{
    cl_program program = cpu_rig_program(rig,
                                         "kernel void right(global uint *o) { uint w[16]; uint i = get_global_id(0); "
                                         "for (uint k = 0; k < 16; k++) w[(k + i) % 16] = k; o[i] = w[i * 5 % 16]; }",
                                         "");
    cl_mem o = cpu_rig_buffer(rig, N * sizeof(cl_uint), NULL);
    cl_uint got[N];

    cpu_rig_run(rig, program, "right", 1, &o, 0, NULL, N);
    cpu_rig_read(rig, o, sizeof(got), got);
    for (unsigned i = 0; i < N; i++)
        must(got[i] == i * 4 % 16);
    clReleaseMemObject(o);
    clReleaseProgram(program);
}

/* A process of its own, as cmocka takes the signals of faults. */
static void run_all(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    void *rig;

    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        signal(faults[i], SIG_DFL);
    must(cpu_rig_setup(&rig) == 0);
    for (unsigned k = 0; k < N_KERNELS; k++) {
        cl_program made = make(rig, k);

        for (unsigned more = 0; more < 6; more++)
            check(rig, made, k, more);
        clReleaseProgram(made);
    }
    check_right(rig);
    must(cpu_rig_teardown(&rig) == 0);
}

static void every_launch_ends(void **state)
{
    (void)state;
    assert_int_equal(ending(run_all), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_launch_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
