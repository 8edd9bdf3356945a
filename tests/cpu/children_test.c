/* Programs in which nobody can wait for a child, as Erlang's machine is one: the compiler's own children, its linker
 * among them, are waited for all the same. */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_CACHE=off */
#include "begin.h"

#include <signal.h>

enum { N = 64 };

static const char *source = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n";

static void kernels_are_built_and_run(void **state)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT};
    const size_t global = N;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    cl_int numbers[N], error;
    (void)state;

    assert_int_equal(sigaction(SIGCHLD, &ignored, NULL), 0);
    context = make_context();
    queue = make_queue(context, 0);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "twice", &error);
    assert_int_equal(error, CL_SUCCESS);
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    buffer = make_buffer(context, CL_MEM_READ_WRITE, sizeof(numbers));
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof(numbers), numbers, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(numbers), numbers, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_int_equal(numbers[i], 2 * i);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_built_and_run)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
