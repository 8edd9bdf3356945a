/* Kernels that write to buffers which were made CL_MEM_READ_ONLY: it is undefined, and natively does what they expect.
 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl */
/* variant: own_memory TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* variant: turns TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* any: */
#include "begin.h"

#include <stdio.h>

enum { N = 1000, TURNS = 6 };

static const char *source = "kernel void add(global int *out, global const int *in) {\n"
                            "    out[get_global_id(0)] += in[get_global_id(0)] + 1;\n"
                            "}\n";

static cl_kernel make_kernel(cl_context context, cl_program *program)
{
    cl_int error;
    cl_kernel kernel;

    *program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(*program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(*program, "add", &error);
    assert_int_equal(error, CL_SUCCESS);
    return kernel;
}

static void what_is_written_is_there(void **state)
{
    cl_context context = make_context();
    cl_command_queue queue = make_queue(context, 0);
    cl_mem out, in;
    cl_program program;
    cl_kernel kernel = make_kernel(context, &program);
    const size_t global = N;
    cl_int numbers[N], got[N], error;
    (void)state;

    for (int i = 0; i < N; i++)
        numbers[i] = i;
    in = make_buffer(context, CL_MEM_READ_ONLY, sizeof(numbers));
    assert_int_equal(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, sizeof(numbers), numbers, 0, NULL, NULL), CL_SUCCESS);
    memset(got, 0, sizeof(got));
    out = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(got), got, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(out), &out), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(in), &in), CL_SUCCESS);
    for (int turn = 1; turn <= TURNS; turn++) {
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL), CL_SUCCESS);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], turn * (i + 1));
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_there)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
