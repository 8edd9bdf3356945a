/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: mixed TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl,cpu TESELA_POLICY=round-robin */
/*
 * Program-scope variables are shared by all launches, whatever the members. No member here has the feature, but their
 * compilers accept such variables in OpenCL C 2.0 (PoCL 3.1 creates some for each kernel, so that it can't be tested
 * alone).
 */
#include "begin.h"

#define N 120

static const char source[] = "global int total = 0;\n"
                             "kernel void add(int n) { if (get_global_id(0) == 0) total += n; }\n"
                             "kernel void tell(global int *a) { if (get_global_id(0) == 0) a[0] = total; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_device_id device;

static int setup(void **state)
{
    (void)state;
    device = our_device();
    context = make_context();
    queue = make_queue(context, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseContext(context) ? -1 : 0;
}

static cl_program build(const char *text)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL), CL_SUCCESS);
    return program;
}

static void launch(cl_kernel kernel, size_t local)
{
    size_t global = 64;

    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
}

/* Groups of other sizes are other code on some members. */
static void every_launch_meets_the_same_variable(void **state)
{
    cl_program program = build(source);
    cl_kernel add = clCreateKernel(program, "add", NULL), tell = clCreateKernel(program, "tell", NULL);
    cl_mem buffer = clCreateBuffer(context, 0, sizeof(cl_int), NULL, NULL);
    cl_int sum = 0, told;

    (void)state;
    assert_int_equal(clSetKernelArg(tell, 0, sizeof buffer, &buffer), CL_SUCCESS);
    for (cl_int i = 1; i <= N; i++) {
        size_t local = i % 3 == 0 ? 1 : i % 3 == 1 ? 32 : 64;

        assert_int_equal(clSetKernelArg(add, 0, sizeof i, &i), CL_SUCCESS);
        launch(add, local);
        launch(tell, local);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof told, &told, 0, NULL, NULL), CL_SUCCESS);
        sum += i;
        assert_int_equal(told, sum);
    }
    clReleaseMemObject(buffer);
    clReleaseKernel(add);
    clReleaseKernel(tell);
    clReleaseProgram(program);
}

static void constants_are_read_everywhere(void **state)
{
    cl_program program =
        build("constant int table[4] = {3, 1, 4, 1};\n"
              "kernel void look(global int *a) { a[get_global_id(0)] = table[get_global_id(0) % 4]; }\n");
    cl_kernel look = clCreateKernel(program, "look", NULL);
    cl_mem buffer = clCreateBuffer(context, 0, 64 * sizeof(cl_int), NULL, NULL);
    cl_int told[64];

    (void)state;
    assert_int_equal(clSetKernelArg(look, 0, sizeof buffer, &buffer), CL_SUCCESS);
    for (int i = 0; i < 6; i++) {
        launch(look, 16);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof told, told, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(told[62], 4);
    }
    clReleaseMemObject(buffer);
    clReleaseKernel(look);
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_launch_meets_the_same_variable),
        cmocka_unit_test(constants_are_read_everywhere),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
