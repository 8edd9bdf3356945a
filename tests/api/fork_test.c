/* A forked child: every call that needs a thread or a vendor fails, nothing hangs, and the parent continues. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: beside TESELA_VENDORS={build}/vendors */
/* any: */

#include "begin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_context context;
static cl_command_queue queue;
static cl_mem buffer;
static cl_program program;
static cl_kernel kernel;

static int setup(void **state)
{
    const char *source = "kernel void nothing(global int *x, local int *y) { y[0] = x[0]; x[1] = y[0]; }";
    char byte = 1;

    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, 4096);
    program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (clBuildProgram(program, 0, NULL, NULL, NULL, NULL))
        return -1;
    kernel = clCreateKernel(program, "nothing", NULL);
    return clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return clReleaseMemObject(buffer) || clReleaseCommandQueue(queue) || clReleaseContext(context);
}

/* Runs `child` in a forked process; what it returns, or 1000 and the signal: SIGALRM if it hung. */
static int forked(int (*child)(void))
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(30);
        _exit(child());
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void CL_CALLBACK on_mem(cl_mem mem, void *arg)
{
    (void)mem, (void)arg;
}

static void CL_CALLBACK on_context(cl_context of, void *arg)
{
    (void)of, (void)arg;
}

/* The number of the first call that did not fail; 0 if all did. */
static int use_everything(void)
{
    const cl_buffer_region region = {0, 64};
    cl_device_id device = our_device();
    cl_event event;
    cl_uint n;
    char byte;

    if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, NULL) == CL_SUCCESS)
        return 1;
    if (clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, 1, &byte, 0, NULL, &event) == CL_SUCCESS)
        return 2;
    if (clEnqueueMarkerWithWaitList(queue, 0, NULL, &event) == CL_SUCCESS)
        return 3;
    if (clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, NULL))
        return 4;
    if (clFinish(queue) == CL_SUCCESS)
        return 5;
    if (clCreateUserEvent(context, NULL))
        return 6;
    if (clCreateCommandQueue(context, device, 0, NULL))
        return 7;
    if (clCreateContext(NULL, 1, &device, NULL, NULL, NULL))
        return 8;
    if (clSetKernelArg(kernel, 0, sizeof buffer, &buffer) == CL_SUCCESS)
        return 9;
    if (clCreateKernel(program, "nothing", NULL) || clCloneKernel(kernel, NULL))
        return 10;
    if (clCreateKernelsInProgram(program, 0, NULL, &n) == CL_SUCCESS)
        return 11;
    if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, NULL) == CL_SUCCESS)
        return 12;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, NULL) == CL_SUCCESS)
        return 13;
    if (clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, 0, NULL, NULL) == CL_SUCCESS)
        return 14;
    if (clBuildProgram(program, 0, NULL, NULL, NULL, NULL) == CL_SUCCESS ||
        clLinkProgram(context, 0, NULL, NULL, 1, &program, NULL, NULL, NULL))
        return 15;
    if (clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL))
        return 16;
    if (clSetMemObjectDestructorCallback(buffer, on_mem, NULL) == CL_SUCCESS ||
        clSetContextDestructorCallback(context, on_context, NULL) == CL_SUCCESS)
        return 17;
    /* What needs neither may work, but must not wait for the parent's threads. */
    clReleaseMemObject(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL));
    clGetMemObjectInfo(buffer, CL_MEM_MAP_COUNT, sizeof n, &n, NULL);
    return 0;
}

static void the_child_gets_errors(void **state)
{
    char byte = 0;
    (void)state;

    assert_int_equal(forked(use_everything), 0);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(byte, 1);
}

/* As the destructors of a C++ program do at its end. */
static int release_everything(void)
{
    return clReleaseKernel(kernel) || clReleaseProgram(program) || clReleaseMemObject(buffer) ||
           clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static void the_child_may_release_what_it_got(void **state)
{
    (void)state;
    assert_int_equal(forked(release_everything), 0);
}

static bool _Atomic stop;

static void *work(void *arg)
{
    (void)arg;
    while (!stop) {
        cl_event event = clCreateUserEvent(context, NULL);
        cl_mem mine = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);

        clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
        clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, NULL);
        clReleaseKernel(clCreateKernel(program, "nothing", NULL));
        clSetUserEventStatus(event, CL_COMPLETE);
        clReleaseEvent(event);
        clEnqueueFillBuffer(queue, mine, "x", 1, 0, 64, 0, NULL, NULL);
        clFinish(queue);
        clReleaseMemObject(mine);
    }
    return NULL;
}

/* Whatever lock a thread holds at that moment, the child doesn't wait for it. */
static void the_child_never_hangs_while_the_parent_works(void **state)
{
    pthread_t thread;
    (void)state;

    stop = false;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    for (int i = 0; i < 50; i++) {
        int result = forked(i % 2 ? use_everything : release_everything);

        if (result) {
            stop = true;
            pthread_join(thread, NULL);
            fail_msg("round %d: %d", i, result);
        }
    }
    stop = true;
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_child_gets_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(the_child_may_release_what_it_got, setup, teardown),
        cmocka_unit_test_setup_teardown(the_child_never_hangs_while_the_parent_works, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
