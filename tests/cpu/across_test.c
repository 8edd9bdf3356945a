/*
 * Values that work-items keep across barriers: those of which no two are of use at once lie in one place. On the
 * built-in CPU alone.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <string.h>

#define N 1056u

static const char source[] =
    /* Before and after a barrier the sum is another value of the compiler's. */
    "kernel void sum(global const int *a, global int *o, int n) {\n"
    "    local int t[32]; int l = get_local_id(0), z = get_local_size(0), i = get_global_id(0), s = 0;\n"
    "    for (int k = 0; k < n; k++) { t[l] = a[i] + k; barrier(CLK_LOCAL_MEM_FENCE); s += t[(l + k) % z];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "    o[i] = s; }\n"
    /* y is of use on one way alone, x on the other; both are there when the way is chosen. */
    "kernel void ways(global const int *a, global int *o, int n) {\n"
    "    local int t[32]; int l = get_local_id(0), z = get_local_size(0), i = get_global_id(0), x = a[i], y = 0;\n"
    "    t[l] = x; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (n > 0) { y = t[(l + 1) % z] * a[(i + 5) % 1056]; barrier(CLK_LOCAL_MEM_FENCE); x = y - 1; }\n"
    "    else { barrier(CLK_LOCAL_MEM_FENCE); x += t[(l + 2) % z]; }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); o[i] = x; }\n"
    /* Two that change places with each step. */
    "kernel void turns(global const int *a, global int *o, int n) {\n"
    "    local int t[32]; int l = get_local_id(0), z = get_local_size(0), i = get_global_id(0), x = a[i], y = a[i] ^ "
    "77;\n"
    "    for (int k = 0; k < n; k++) { int old = x; t[l] = y; barrier(CLK_LOCAL_MEM_FENCE); x = y + t[(l + k) % z];\n"
    "        y = old; barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "    o[i] = 3 * x + y; }\n";

static unsigned a[N], out[N];

static unsigned right_sum(unsigned begin, unsigned l, unsigned z, int n)
{
    unsigned s = 0;

    for (int k = 0; k < n; k++)
        s += a[begin + (l + (unsigned)k) % z] + (unsigned)k;
    return s;
}

static unsigned right_way(unsigned begin, unsigned l, unsigned z, int n)
{
    if (n > 0)
        return a[begin + (l + 1) % z] * a[(begin + l + 5) % N] - 1;
    return a[begin + l] + a[begin + (l + 2) % z];
}

static unsigned right_turn(unsigned begin, unsigned l, unsigned z, int n)
{
    unsigned x[2][32], y[2][32];

    for (unsigned i = 0; i < z; i++) {
        x[0][i] = a[begin + i];
        y[0][i] = a[begin + i] ^ 77;
    }
    for (int k = 0; k < n; k++)
        for (unsigned i = 0; i < z; i++) {
            x[~k & 1][i] = y[k & 1][i] + y[k & 1][(i + (unsigned)k) % z];
            y[~k & 1][i] = x[k & 1][i];
        }
    return 3 * x[n & 1][l] + y[n & 1][l];
}

static cl_kernel kernel_of(cl_program program, const char *name, const cl_mem *buffers, int n)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    for (cl_uint k = 0; k < 2; k++)
        assert_int_equal(clSetKernelArg(kernel, k, sizeof(buffers[k]), &buffers[k]), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof(n), &n), CL_SUCCESS);
    return kernel;
}

static void check(struct cpu_rig *rig, const char *name, unsigned (*right)(unsigned, unsigned, unsigned, int))
{
    static const size_t sizes[] = {1, 3, 16, 22, 32};
    cl_program program = cpu_rig_program(rig, source, "");
    cl_mem buffers[2] = {cpu_rig_buffer(rig, sizeof(a), a), cpu_rig_buffer(rig, sizeof(out), NULL)};
    size_t global = N;

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (int n = 0; n < 6; n++) {
            cl_kernel kernel = kernel_of(program, name, buffers, n);

            assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &sizes[s], 0, NULL, NULL),
                             CL_SUCCESS);
            cpu_rig_read(rig, buffers[1], sizeof(out), out);
            for (unsigned i = 0; i < N; i++) {
                unsigned l = i % (unsigned)sizes[s];

                assert_int_equal(out[i], right(i - l, l, (unsigned)sizes[s], n));
            }
            clReleaseKernel(kernel);
        }
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    clReleaseProgram(program);
}

static void what_loops_change(void **state)
{
    check(*state, "sum", right_sum);
}

static void what_one_way_needs(void **state)
{
    check(*state, "ways", right_way);
}

static void what_changes_places(void **state)
{
    check(*state, "turns", right_turn);
}

/* The bytes of one work-item. */
static cl_ulong kept_by(struct cpu_rig *rig, const char *name)
{
    cl_program program = cpu_rig_program(rig, source, "");
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    cl_ulong size = 0;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(
        clGetKernelWorkGroupInfo(kernel, rig->device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(size), &size, NULL),
        CL_SUCCESS);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return size;
}

static void places_are_shared(void **state)
{
    assert_int_equal(kept_by(*state, "sum"), sizeof(int));
    assert_int_equal(kept_by(*state, "ways"), 2 * sizeof(int));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_loops_change),
        cmocka_unit_test(what_one_way_needs),
        cmocka_unit_test(what_changes_places),
        cmocka_unit_test(places_are_shared),
    };

    for (unsigned i = 0; i < N; i++)
        a[i] = (unsigned)(cpu_rig_random() >> 40);
    return cmocka_run_group_tests_name("across", tests, cpu_rig_setup, cpu_rig_teardown);
}
