/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu VERSIONS_ALL=1 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: two TESELA_VENDORS={build}/vendors-pocl TESELA_MEMBERS=cpu,opencl TESELA_POLICY=round-robin */
/* variant: mixed TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=cpu,opencl TESELA_POLICY=round-robin */
/* any: */
/* timeout: 300 */
/*
 * A program in each version of OpenCL C finds the functions that exist since the first, with pointers to each address
 * space; and those of 2.0 if the device has the features to which they belong since 3.0. VERSIONS_ALL: each function
 * must exist, even if the device doesn't list its feature.
 */
#include "begin.h"

#include <CL/cl_tesela.h>

#include <stdbool.h>
#include <stdlib.h>

static const struct version {
    const char *option;
    cl_version number; /* 0: the device's own choice */
} versions[] = {{"", 0},
                {"-cl-std=CL1.0", CL_MAKE_VERSION(1, 0, 0)},
                {"-cl-std=CL1.1", CL_MAKE_VERSION(1, 1, 0)},
                {"-cl-std=CL1.2", CL_MAKE_VERSION(1, 2, 0)},
                {"-cl-std=CL2.0", CL_MAKE_VERSION(2, 0, 0)},
                {"-cl-std=CL3.0", CL_MAKE_VERSION(3, 0, 0)}};

static cl_context context;
static cl_command_queue queue;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseContext(context);
}

/* The program's kernel "f", built on all members; fails with the log. */
static cl_kernel make_kernel(const char *source, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    cl_kernel kernel;
    char log[8192] = "";

    assert_int_equal(error, CL_SUCCESS);
    error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    if (error != CL_SUCCESS || strstr(log, "failed, error"))
        fail_msg("%s: %s", options, log);
    kernel = clCreateKernel(program, "f", &error);
    assert_int_equal(error, CL_SUCCESS);
    clReleaseProgram(program);
    return kernel;
}

/* Twice, so that two members have their turn. */
static void run(cl_kernel kernel, size_t items, void *data, size_t size, size_t local_size)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, size, data, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    if (local_size)
        assert_int_equal(clSetKernelArg(kernel, 1, local_size, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(buffer);
}

/* Such a name, and such a version unless that is 0. */
static bool lists(cl_device_info param, const char *name, cl_version version)
{
    cl_name_version list[64];
    size_t size = 0;
    bool found = false;

    assert_int_equal(clGetDeviceInfo(our_device(), param, sizeof list, list, &size), CL_SUCCESS);
    for (size_t i = 0; i < size / sizeof list[0]; i++)
        found |= strcmp(list[i].name, name) == 0 && (!version || list[i].version == version);
    return found;
}

/* PoCL 3.1 lists OpenCL C 1.0, and refuses it. */
static bool is_tried(const struct version *version)
{
    if (getenv("VERSIONS_ALL"))
        return true;
    return version->number != CL_MAKE_VERSION(1, 0, 0) &&
           lists(CL_DEVICE_OPENCL_C_ALL_VERSIONS, "OpenCL C", version->number);
}

static void functions_with_pointers(void **state)
{
    static const char source[] = "kernel void f(global float *out, local float *l)\n"
                                 "{\n"
                                 "    float p; int n;\n"
                                 "    out[0] = fract(2.75f, &p); out[1] = p;\n"
                                 "    out[2] = frexp(8.0f, &n); out[3] = n;\n"
                                 "    out[4] = modf(5.5f, l); out[5] = l[0];\n"
                                 "    out[6] = sincos(0.0f, out + 7);\n"
                                 "    out[8] = remquo(7.0f, 2.0f, &n); out[9] = n & 7;\n"
                                 "    lgamma_r(3.0f, &n); out[10] = n; out[11] = 11;\n"
                                 "    vstore2(vload2(0, out), 6, out);\n"
                                 "}\n";
    static const float wanted[] = {0.75f, 2, 0.5f, 4, 0.5f, 5, 0, 1, -1, 4, 1, 11, 0.75f, 2};
    (void)state;

    for (size_t i = 0; i < LENGTH(versions); i++) {
        float out[LENGTH(wanted)] = {0};
        cl_kernel kernel;

        if (!is_tried(&versions[i]))
            continue;
        kernel = make_kernel(source, versions[i].option);
        run(kernel, 1, out, sizeof out, sizeof(float));
        for (size_t k = 0; k < LENGTH(wanted); k++)
            if (out[k] != wanted[k])
                fail_msg("%s: number %zu is %g, not %g", versions[i].option, k, (double)out[k], (double)wanted[k]);
        clReleaseKernel(kernel);
    }
}

static void atomics_of_2(void **state)
{
    static const char source[] = "kernel void f(global atomic_int *x)\n"
                                 "{\n"
                                 "    atomic_fetch_add(x, 1);\n"
                                 "    work_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
                                 "    atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);\n"
                                 "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, "
                                 "memory_scope_device);\n"
                                 "}\n";
    bool there = lists(CL_DEVICE_OPENCL_C_FEATURES, "__opencl_c_atomic_order_seq_cst", 0) &&
                 lists(CL_DEVICE_OPENCL_C_FEATURES, "__opencl_c_atomic_scope_device", 0);
    (void)state;

    assert_true(there || !getenv("VERSIONS_ALL"));
    for (size_t i = LENGTH(versions) - 2; there && i < LENGTH(versions); i++) {
        cl_kernel kernel;
        cl_int sum = 0;

        if (!is_tried(&versions[i]))
            continue;
        kernel = make_kernel(source, versions[i].option);
        run(kernel, 64, &sum, sizeof sum, 0);
        assert_int_equal(sum, 2 * 2 * 64);
        clReleaseKernel(kernel);
    }
}

/* Where the device has no smaller last groups, none of its members makes some (OpenCL 3.0, 5.10). */
static void groups_nobody_chose_are_as_promised(void **state)
{
    static const char source[] = "kernel void f(global uint *x)\n"
                                 "{\n"
                                 "    x[get_global_id(0)] = get_local_size(0);\n"
                                 "}\n";
    enum { N = 323 * 17 };
    cl_bool smaller = CL_FALSE;

    (void)state;
    clGetDeviceInfo(our_device(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof smaller, &smaller, NULL);
    for (size_t i = 0; i < LENGTH(versions); i++) {
        cl_uint *sizes = calloc(N, sizeof *sizes);
        cl_kernel kernel;

        assert_non_null(sizes);
        if (is_tried(&versions[i])) {
            kernel = make_kernel(source, versions[i].option);
            run(kernel, N, sizes, N * sizeof *sizes, 0);
            for (size_t k = 0; k < N && !smaller; k++)
                if (sizes[k] != sizes[0])
                    fail_msg("%s: work-item %zu is in a group of %u, the first in one of %u", versions[i].option, k,
                             sizes[k], sizes[0]);
            clReleaseKernel(kernel);
        }
        free(sizes);
    }
}

/* The device, its context and its program "f" in OpenCL C 3.0, or that again of the binary of another's. */
struct built {
    cl_device_id device;
    cl_context context;
    cl_program program;
};

static struct built build_for(cl_device_id device, const struct built *other)
{
    static const char *source = "kernel void f(global uint *x)\n"
                                "{\n"
                                "    x[get_global_id(0)] = get_local_size(0);\n"
                                "}\n";
    struct built b = {.device = device};
    unsigned char *binary = NULL;
    size_t size;
    cl_int error, status;

    b.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (other) {
        assert_int_equal(clGetProgramInfo(other->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), 0);
        binary = malloc(size);
        assert_non_null(binary);
        assert_int_equal(clGetProgramInfo(other->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), 0);
        b.program =
            clCreateProgramWithBinary(b.context, 1, &device, &size, (const unsigned char **)&binary, &status, &error);
    } else {
        b.program = clCreateProgramWithSource(b.context, 1, &source, NULL, &error);
    }
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(b.program, 0, NULL, "-cl-std=CL3.0", NULL, NULL), CL_SUCCESS);
    free(binary);
    return b;
}

static void drop_built(struct built *b)
{
    clReleaseProgram(b->program);
    clReleaseContext(b->context);
}

/* What a launch says. The sizes of its groups, if it is done. */
static cl_int launch_on(const struct built *b, size_t n, const size_t *local, cl_uint *sizes)
{
    cl_int error;
    cl_command_queue q = clCreateCommandQueue(b->context, b->device, 0, &error);
    cl_mem buffer = clCreateBuffer(b->context, CL_MEM_READ_WRITE, n * sizeof *sizes, NULL, &error);
    cl_kernel kernel = clCreateKernel(b->program, "f", &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    error = clEnqueueNDRangeKernel(q, kernel, 1, NULL, &n, local, 0, NULL, NULL);
    if (!error)
        assert_int_equal(clEnqueueReadBuffer(q, buffer, CL_TRUE, 0, n * sizeof *sizes, sizes, 0, NULL, NULL), 0);
    clReleaseKernel(kernel);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(q);
    return error;
}

/* A program that was loaded takes the launches that it took where it was built; on a device without smaller last groups
 * it has none, wherever it comes from. */
static void load_from(cl_device_id member, bool smaller)
{
    enum { N = 323 * 17 };
    static cl_uint sizes[N];
    const size_t local = 64;
    struct built first = build_for(member, NULL), again = build_for(member, &first);
    struct built whole = build_for(our_device(), &first);

    assert_int_equal(launch_on(&first, N, &local, sizes), launch_on(&again, N, &local, sizes));
    if (!smaller) {
        assert_int_equal(launch_on(&whole, N, &local, sizes), CL_INVALID_WORK_GROUP_SIZE);
        assert_int_equal(launch_on(&whole, N, NULL, sizes), CL_SUCCESS);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(sizes[i], sizes[0]);
    }
    drop_built(&whole);
    drop_built(&again);
    drop_built(&first);
}

static void programs_that_were_loaded_have_the_same_groups(void **state)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_device_id members[8] = {our_device()};
    cl_bool smaller = CL_FALSE;
    cl_uint n = 1;

    (void)state;
    if (!lists(CL_DEVICE_OPENCL_C_ALL_VERSIONS, "OpenCL C", CL_MAKE_VERSION(3, 0, 0)))
        return;
    clGetDeviceInfo(our_device(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof smaller, &smaller, NULL);
    assert_true(smaller || !getenv("VERSIONS_ALL"));
    if (clCreateSubDevices(our_device(), by_member, 8, members, &n))
        n = 1;
    for (cl_uint i = 0; i < n; i++)
        load_from(members[i], smaller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_with_pointers), cmocka_unit_test(atomics_of_2),
                                       cmocka_unit_test(groups_nobody_chose_are_as_promised),
                                       cmocka_unit_test(programs_that_were_loaded_have_the_same_groups)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
