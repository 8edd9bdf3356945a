/*
 * Thirty-two threads create, use and destroy everything at once, from the very first call on: each in contexts of its
 * own, and all in one. Half of the objects are released while they are used. Results are right, nothing crashes.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic,pthread TESELA_POLICY=round-robin */
/* variant: cpu TESELA_VENDORS={build}/vendors-none */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* timeout: 200 */
#include "proof.h"

#include <CL/cl_tesela.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_threads = 32, n_rounds = 2, n_ints = 256, size = n_ints * sizeof(cl_int) };

static const char *const source = "kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }\n";

static pthread_barrier_t together;
static cl_context shared; /* NULL: each thread makes its own */
static atomic_uint n_owed, n_called;

/* Everything that one thread makes in one round. */
struct things {
    cl_device_id device, members[8];
    cl_uint n_members;
    cl_context context;
    cl_command_queue queue;
    cl_mem buffer, sub;
    cl_program program;
    cl_kernel kernel;
    cl_event user;
};

static cl_device_id tesela(void)
{
    cl_platform_id platforms[16], found = NULL;
    cl_device_id device = NULL;
    cl_uint n = 0;

    proof_ok(clGetPlatformIDs(16, platforms, &n));
    for (cl_uint i = 0; i < n && !found; i++) {
        char name[64] = "";

        proof_ok(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL));
        found = strcmp(name, "Tesela") ? NULL : platforms[i];
    }
    proof_must(found != NULL);
    proof_ok(clGetDeviceIDs(found, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    return device;
}

static void CL_CALLBACK count_mem(cl_mem mem, void *arg)
{
    (void)mem, (void)arg;
    n_called++;
}

static void CL_CALLBACK count_event(cl_event event, cl_int status, void *arg)
{
    (void)event, (void)arg;
    proof_must(status == CL_COMPLETE);
    n_called++;
}

static void make_program(struct things *t, unsigned number)
{
    cl_int error;

    t->program = clCreateProgramWithSource(t->context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    proof_ok(error);
    proof_ok(clBuildProgram(t->program, 0, NULL, number % 4 ? "" : "-cl-kernel-arg-info", NULL, NULL));
    t->kernel = clCreateKernel(t->program, "add", &error);
    proof_ok(error);
}

static void make(struct things *t, unsigned number)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    const cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES,
        (number & 1 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0) | (number & 2 ? CL_QUEUE_PROFILING_ENABLE : 0), 0};
    const cl_buffer_region region = {0, size / 2};
    cl_int error = CL_SUCCESS;

    *t = (struct things){.device = tesela()};
    proof_ok(clCreateSubDevices(t->device, by_member, 8, t->members, &t->n_members));
    t->context = shared ? shared : clCreateContext(NULL, 1, &t->device, NULL, NULL, &error);
    proof_ok(error);
    proof_ok(clRetainContext(t->context));
    t->queue = clCreateCommandQueueWithProperties(t->context, t->device, properties, &error);
    proof_ok(error);
    t->buffer = clCreateBuffer(t->context, CL_MEM_READ_WRITE, size, NULL, &error);
    proof_ok(error);
    n_owed++;
    proof_ok(clSetMemObjectDestructorCallback(t->buffer, count_mem, NULL));
    t->sub = clCreateSubBuffer(t->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    proof_ok(error);
    t->user = clCreateUserEvent(t->context, &error);
    proof_ok(error);
    make_program(t, number);
}

static cl_event launch(const struct things *t, cl_mem buffer, size_t n, cl_int y, cl_event after)
{
    cl_event event;

    proof_ok(clSetKernelArg(t->kernel, 0, sizeof buffer, &buffer));
    proof_ok(clSetKernelArg(t->kernel, 1, sizeof y, &y));
    proof_ok(clEnqueueNDRangeKernel(t->queue, t->kernel, 1, NULL, &n, NULL, 1, &after, &event));
    proof_ok(clReleaseEvent(after));
    return event;
}

/* A chain by events alone, behind a user event, so that queues of both kinds do it in order. */
static void use(struct things *t, cl_int number)
{
    cl_int *mapped, error, zero = 0;
    cl_event filled, done;

    proof_ok(clEnqueueFillBuffer(t->queue, t->buffer, &zero, sizeof zero, 0, size, 1, &t->user, &filled));
    done = launch(t, t->sub, n_ints / 2, number, launch(t, t->buffer, n_ints, 1, filled));
    n_owed++;
    proof_ok(clSetEventCallback(done, CL_COMPLETE, count_event, NULL));
    proof_ok(clSetUserEventStatus(t->user, CL_COMPLETE));
    mapped = clEnqueueMapBuffer(t->queue, t->buffer, CL_TRUE, CL_MAP_READ, 0, size, 1, &done, NULL, &error);
    proof_ok(error);
    for (int i = 0; i < n_ints; i++)
        proof_must(mapped[i] == 1 + (i < n_ints / 2 ? number : 0));
    proof_ok(clEnqueueUnmapMemObject(t->queue, t->buffer, mapped, 0, NULL, NULL));
    proof_ok(clReleaseEvent(done));
}

/* What nobody waits for, on things that are let go meanwhile. */
static void leave(const struct things *t)
{
    const size_t n = n_ints;

    proof_ok(clSetKernelArg(t->kernel, 0, sizeof t->buffer, &t->buffer));
    proof_ok(clEnqueueNDRangeKernel(t->queue, t->kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    proof_ok(clEnqueueCopyBuffer(t->queue, t->buffer, t->buffer, 0, size / 2, size / 2, 0, NULL, NULL));
}

static void destroy(const struct things *t, unsigned number)
{
    if (number & 4)
        leave(t);
    proof_ok(clReleaseContext(t->context));
    if (!shared)
        proof_ok(clReleaseContext(t->context));
    proof_ok(clReleaseMemObject(t->buffer));
    proof_ok(clReleaseMemObject(t->sub));
    proof_ok(clReleaseProgram(t->program));
    proof_ok(clReleaseKernel(t->kernel));
    proof_ok(clReleaseEvent(t->user));
    for (cl_uint i = 0; i < t->n_members; i++)
        proof_ok(clReleaseDevice(t->members[i]));
    proof_ok(clReleaseCommandQueue(t->queue));
}

static void *live(void *arg)
{
    const unsigned *number = arg;

    pthread_barrier_wait(&together);
    for (unsigned i = 0; i < n_rounds; i++) {
        struct things t;

        make(&t, *number + i);
        use(&t, (cl_int)*number);
        destroy(&t, *number + i);
    }
    return NULL;
}

static void crowd(void)
{
    pthread_t threads[n_threads];
    unsigned numbers[n_threads];

    n_owed = n_called = 0;
    pthread_barrier_init(&together, NULL, n_threads);
    for (unsigned i = 0; i < n_threads; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, live, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&together);
}

/* Callbacks come from a thread of Tesela's, some after the last release. */
static void all_callbacks_come(void)
{
    for (unsigned i = 0; i < 10000 && n_called < n_owed; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(n_called, n_owed);
    assert_int_equal(n_owed, 2 * n_threads * n_rounds);
}

static void each_in_its_own_context(void **state)
{
    (void)state;
    shared = NULL;
    crowd();
    all_callbacks_come();
}

static void all_in_one_context(void **state)
{
    cl_device_id device = tesela();

    (void)state;
    shared = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    assert_non_null(shared);
    crowd();
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    all_callbacks_come();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_in_its_own_context),
        cmocka_unit_test(all_in_one_context),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
