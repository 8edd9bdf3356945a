/*
 * Policies of single queues, which a program switches at run time: an order by which enqueues return when their
 * commands are complete, and where kernels go.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_CACHE=off */
/* variant: sync TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_CACHE=off TESELA_ORDER=sync */
/* timeout: 120 */
#include "child.h"
#include "test.h"

#include <CL/cl.h>
#include <CL/cl_tesela.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] = "kernel void spin(global int *out, int n) {\n"
                             "  int x = get_global_id(0); for (int i = 0; i < n; i++) x = x * 3 + 1;\n"
                             "  out[get_global_id(0)] = x; }\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;
static cl_mem out;
static clSetQueuePolicyTESELA_fn set_policy;
static char trace[64];

static void make_rig(void)
{
    const char *text = source;
    cl_platform_id platform;
    cl_int error, n = 1000;

    must(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS);
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    must(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS);
    kernel = clCreateKernel(program, "spin", &error);
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096 * sizeof(int), NULL, &error);
    must(error == CL_SUCCESS);
    must(clSetKernelArg(kernel, 0, sizeof(out), &out) == CL_SUCCESS);
    must(clSetKernelArg(kernel, 1, sizeof(n), &n) == CL_SUCCESS);
    set_policy =
        (clSetQueuePolicyTESELA_fn)clGetExtensionFunctionAddressForPlatform(platform, "clSetQueuePolicyTESELA");
    must(set_policy != NULL);
}

static int setup(void **state)
{
    (void)state;
    make_rig();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}

static cl_uint told(cl_uint policy)
{
    cl_uint value = 99;
    size_t size = 0;

    assert_int_equal(clGetCommandQueueInfo(queue, policy, sizeof(value), &value, &size), CL_SUCCESS);
    assert_int_equal(size, sizeof(value));
    return value;
}

static cl_int launch(cl_event *event)
{
    size_t size = 4096;

    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, event);
}

static cl_int status_of(cl_event event)
{
    cl_int status = 99;

    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
                     CL_SUCCESS);
    return status;
}

static void errors_are_the_specified_ones(void **state)
{
    (void)state;
    assert_int_equal(set_policy(NULL, CL_QUEUE_ORDER_TESELA, 0), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(set_policy(queue, CL_QUEUE_CONTEXT, 0), CL_INVALID_VALUE);
    assert_int_equal(set_policy(queue, CL_QUEUE_ORDER_TESELA, 3), CL_INVALID_VALUE);
    assert_int_equal(set_policy(queue, CL_QUEUE_PLACEMENT_TESELA, 4), CL_INVALID_VALUE);
    assert_int_equal(told(CL_QUEUE_ORDER_TESELA), CL_ORDER_DEFAULT_TESELA);
    assert_int_equal(told(CL_QUEUE_PLACEMENT_TESELA), CL_PLACEMENT_DEFAULT_TESELA);
}

/* Under either default the queue does as it is told, from one command to the next. */
static void the_order_is_switched_at_any_time(void **state)
{
    cl_event event, gate;
    cl_int error;

    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        assert_int_equal(set_policy(queue, CL_QUEUE_ORDER_TESELA, CL_ORDER_SYNCHRONOUS_TESELA), CL_SUCCESS);
        assert_int_equal(told(CL_QUEUE_ORDER_TESELA), CL_ORDER_SYNCHRONOUS_TESELA);
        assert_int_equal(launch(&event), CL_SUCCESS);
        assert_int_equal(status_of(event), CL_COMPLETE);
        clReleaseEvent(event);
        assert_int_equal(set_policy(queue, CL_QUEUE_ORDER_TESELA, CL_ORDER_ASYNCHRONOUS_TESELA), CL_SUCCESS);
        gate = clCreateUserEvent(context, &error);
        size_t size = 4096;
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 1, &gate, &event), CL_SUCCESS);
        assert_true(status_of(event) > CL_COMPLETE);
        /* It stands behind an unset user event, which no enqueue waits for. */
        assert_int_equal(set_policy(queue, CL_QUEUE_ORDER_TESELA, CL_ORDER_SYNCHRONOUS_TESELA), CL_SUCCESS);
        assert_int_equal(launch(NULL), CL_SUCCESS);
        assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(clFinish(queue), CL_SUCCESS);
        assert_int_equal(status_of(event), CL_COMPLETE);
        clReleaseEvent(event);
        clReleaseEvent(gate);
        assert_int_equal(set_policy(queue, CL_QUEUE_ORDER_TESELA, CL_ORDER_DEFAULT_TESELA), CL_SUCCESS);
    }
}

/* ---- Where kernels go -------------------------------------------------------------------------------------------- */

#define N_EACH 8

static void launch_some(cl_uint placement)
{
    must(set_policy(queue, CL_QUEUE_PLACEMENT_TESELA, placement) == CL_SUCCESS);
    for (unsigned i = 0; i < N_EACH; i++)
        must(launch(NULL) == CL_SUCCESS);
    must(clFinish(queue) == CL_SUCCESS);
}

/* A process of its own, whose timeline is complete when it has ended. */
static void placed_child(void)
{
    setenv("TESELA_TRACE", trace, 1);
    make_rig();
    launch_some(CL_PLACEMENT_ROUND_ROBIN_TESELA);
    launch_some(CL_PLACEMENT_FASTEST_TESELA);
    launch_some(CL_PLACEMENT_ROUND_ROBIN_TESELA);
    launch_some(CL_PLACEMENT_EAGER_TESELA);
    launch_some(CL_PLACEMENT_DEFAULT_TESELA);
    exit(0);
}

/* On which of two members each kernel ran; those of one policy stand together. */
static unsigned read_members(unsigned *members, unsigned most)
{
    FILE *file = fopen(trace, "r");
    char line[4096];
    unsigned n = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (!strstr(line, "\"cat\":\"kernel\"") || !strstr(line, "\"name\":\"spin\""))
            continue;
        if (n < most)
            members[n++] = strstr(line, "\"member\":\"opencl:0.0\"") != NULL;
    }
    fclose(file);
    return n;
}

static unsigned sum(const unsigned *list)
{
    unsigned all = 0;

    for (unsigned i = 0; i < N_EACH; i++)
        all += list[i];
    return all;
}

static void the_placement_is_switched_at_any_time(void **state)
{
    unsigned members[5 * N_EACH];

    (void)state;
    assert_int_equal(ending(placed_child), 0);
    assert_int_equal(read_members(members, 5 * N_EACH), 5 * N_EACH);
    assert_int_equal(remove(trace), 0);
    assert_int_equal(sum(members), N_EACH / 2);
    assert_true(sum(members + N_EACH) == 0 || sum(members + N_EACH) == N_EACH);
    assert_int_equal(sum(members + 2 * N_EACH), N_EACH / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_placement_is_switched_at_any_time),
        cmocka_unit_test_setup_teardown(errors_are_the_specified_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(the_order_is_switched_at_any_time, setup, teardown),
    };

    snprintf(trace, sizeof(trace), "/tmp/tesela-queue-policy-%d", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
