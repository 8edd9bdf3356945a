/* Launches that their work-groups don't divide: the last groups are smaller, where the program and the device allow it.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* any: REMAINDERS_MAY_LACK=1 */
#include "cpu_rig.h"
#include "test.h"

#include <stdlib.h>

#define X 17
#define Y 11
#define Z 7
#define N (X * Y * Z)

/* What each work-item sees of itself and, past a barrier, how many its group has. */
#define BODY                                                                                               \
    "(global uint *x) { local uint n; uint l = get_local_id(0) + get_local_id(1) + get_local_id(2);\n"     \
    "    size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) - 100\n"                     \
    "               + get_global_size(1) * get_global_id(2));\n"                                           \
    "    if (l == 0) n = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&n); barrier(CLK_LOCAL_MEM_FENCE);\n" \
    "    x[i] = n + 100 * (get_local_size(0) * get_local_size(1) * get_local_size(2))\n"                   \
    "         + 10000 * (get_num_groups(0) * get_num_groups(1) * get_num_groups(2))\n"                     \
    "         + 10000000 * get_group_id(0); }\n"

static const char source[] =
    "kernel void any" BODY "kernel __attribute__((reqd_work_group_size(5, 4, 3))) void required" BODY;

static const size_t global[3] = {X, Y, Z}, local[3] = {5, 4, 3}, offset[3] = {0, 100, 0};

static cl_int enqueue(struct cpu_rig *rig, cl_program program, const char *name, cl_mem buffer)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_SUCCESS);
    error = clEnqueueNDRangeKernel(rig->queue, kernel, 3, offset, global, local, 0, NULL, NULL);
    clReleaseKernel(kernel);
    return error;
}

/* Of the group that work-item `at` is in. */
static unsigned size_of(unsigned d, unsigned at)
{
    unsigned begin = at / (unsigned)local[d] * (unsigned)local[d];

    return global[d] - begin < local[d] ? (unsigned)(global[d] - begin) : (unsigned)local[d];
}

static void check(struct cpu_rig *rig, cl_program program, const char *name)
{
    static unsigned x[N];
    cl_mem buffer = cpu_rig_buffer(rig, sizeof(x), x);

    assert_int_equal(enqueue(rig, program, name, buffer), CL_SUCCESS);
    cpu_rig_read(rig, buffer, sizeof(x), x);
    for (unsigned i = 0; i < N; i++) {
        unsigned size = size_of(0, i % X) * size_of(1, i / X % Y) * size_of(2, i / X / Y);

        assert_int_equal(x[i], size * 101 + 10000 * (4 * 3 * 3) + 10000000 * (i % X / 5));
    }
    clReleaseMemObject(buffer);
}

static void check_refused(struct cpu_rig *rig, cl_program program)
{
    cl_mem buffer = cpu_rig_buffer(rig, N * sizeof(cl_uint), NULL);

    assert_int_equal(enqueue(rig, program, "any", buffer), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(enqueue(rig, program, "required", buffer), CL_INVALID_WORK_GROUP_SIZE);
    clReleaseMemObject(buffer);
}

static void last_groups_are_smaller(void **state)
{
    struct cpu_rig *rig = *state;
    cl_program program =
        cpu_rig_program(rig, source, cpu_rig_has(rig, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) ? "-cl-std=CL3.0" : "");

    if (cpu_rig_has(rig, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT)) {
        check(rig, program, "any");
        check(rig, program, "required");
    } else {
        assert_non_null(getenv("REMAINDERS_MAY_LACK"));
        check_refused(rig, program);
    }
    clReleaseProgram(program);
}

/* As OpenCL C 1.2 has it, and who asks for it. */
static void others_have_none(void **state)
{
    static const char *const options[] = {"", "-cl-std=CL1.2", "-cl-std=CL3.0 -cl-uniform-work-group-size"};
    unsigned n = cpu_rig_has(*state, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) ? 3 : 2;

    for (unsigned i = 0; i < n; i++) {
        cl_program program = cpu_rig_program(*state, source, options[i]);

        check_refused(*state, program);
        clReleaseProgram(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(last_groups_are_smaller), cmocka_unit_test(others_have_none)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
