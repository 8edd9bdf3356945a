/* A GPU that is lost to a wild kernel: that kernel's event tells, and all that comes next goes elsewhere. On the
 * stand-in for libcuda, which knows these kernels by their names. */
/* variant: cuda_standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 TESELA_CACHE={build}/cache/tesela TESELA_POLICY=round-robin */
/* variant: cuda_standin_auto TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 TESELA_CACHE={build}/cache/tesela */
#include "test.h"

#include <CL/cl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 64

static const char source[] = "kernel void add_value(global int *x, int value) { x[get_global_id(0)] += value; }\n"
                             "kernel void wild(ulong at) { *(global int *)at = 1; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;

static int set_up(void **state)
{
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    (void)state;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    return clBuildProgram(program, 1, &device, "", NULL, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    return clReleaseProgram(program) || clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static cl_int launch(cl_kernel kernel)
{
    const size_t n = N;
    cl_event event;
    cl_int status, error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &n, 0, NULL, &event);

    assert_int_equal(error, CL_SUCCESS);
    clWaitForEvents(1, &event);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
                     CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    return status;
}

static cl_mem new_buffer(void)
{
    static int zeros[N];
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros, &error);

    assert_int_equal(error, CL_SUCCESS);
    return buffer;
}

static void add_and_check(cl_kernel add, cl_mem buffer, int n)
{
    int out[N] = {0}, before, one = 1;

    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), CL_SUCCESS);
    before = out[0];
    assert_int_equal(clSetKernelArg(add, 0, sizeof(buffer), &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(add, 1, sizeof(one), &one), CL_SUCCESS);
    for (int i = 0; i < n; i++)
        assert_int_equal(launch(add), CL_COMPLETE);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], before + n);
}

static void a_lost_gpu_gets_no_more_work(void **state)
{
    cl_kernel add = clCreateKernel(program, "add_value", NULL), wild = clCreateKernel(program, "wild", NULL);
    cl_mem before = new_buffer(), after;
    cl_ulong at = 64;

    (void)state;
    assert_int_equal(clSetKernelArg(wild, 0, sizeof(at), &at), CL_SUCCESS);
    assert_true(launch(wild) < 0);
    add_and_check(add, before, 10);
    after = new_buffer();
    add_and_check(add, after, 10);
    clReleaseMemObject(before);
    clReleaseMemObject(after);
    clReleaseKernel(add);
    clReleaseKernel(wild);
}

/* A child has no GPU, and doesn't wait for one. */
static void a_forked_child_gets_errors(void **state)
{
    cl_kernel add = clCreateKernel(program, "add_value", NULL);
    cl_mem buffer = new_buffer();
    int status, byte;
    pid_t pid;

    (void)state;
    add_and_check(add, buffer, 3);
    pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(byte), &byte, 0, NULL, NULL) ==
                          CL_OUT_OF_RESOURCES &&
                      clFinish(queue) == CL_OUT_OF_RESOURCES
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    add_and_check(add, buffer, 3);
    clReleaseMemObject(buffer);
    clReleaseKernel(add);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_child_gets_errors),
        cmocka_unit_test(a_lost_gpu_gets_no_more_work),
    };

    return cmocka_run_group_tests_name("lost GPUs", tests, set_up, tear_down);
}
