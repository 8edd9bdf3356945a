/* Kernels may divide by 0 and overflow: the result is undefined, but the program continues (OpenCL C 3.0, 6.3),
 * whichever of our threads runs the vendor's code. */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* variant: turns TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic,pthread TESELA_POLICY=round-robin */
#include "begin.h"

static const char source[] = "kernel void divide(global const int *a, global const int *b, global int *c)\n"
                             "{ size_t i = get_global_id(0); c[i] = a[i] / b[i]; }\n";

static void test_division(void **state)
{
    enum { n = 64 };
    cl_int a[n], b[n], c[n];
    const char *text = source;
    const size_t items = n;
    cl_context context = make_context();
    cl_command_queue queue = make_queue(context, 0);
    cl_mem buffers[3];
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    cl_kernel kernel;

    (void)state;
    for (int i = 0; i < n; i++) {
        a[i] = i % 3 == 0 ? CL_INT_MIN : i * 100;
        b[i] = i % 3 == 0 ? -1 : i % 3 == 1 ? 0 : i + 1;
    }
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "divide", NULL);
    for (cl_uint i = 0; i < 3; i++) {
        buffers[i] = make_buffer(context, CL_MEM_READ_WRITE, sizeof a);
        assert_int_equal(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), CL_SUCCESS);
    }
    for (int round = 0; round < 4; round++) {
        clEnqueueWriteBuffer(queue, buffers[0], CL_FALSE, 0, sizeof a, a, 0, NULL, NULL);
        clEnqueueWriteBuffer(queue, buffers[1], CL_FALSE, 0, sizeof b, b, 0, NULL, NULL);
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), CL_SUCCESS);
        for (int i = 0; i < n; i++)
            if (i % 3 == 2)
                assert_int_equal(c[i], a[i] / b[i]);
    }
    for (cl_uint i = 0; i < 3; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_division)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
