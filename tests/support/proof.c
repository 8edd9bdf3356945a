#include "proof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

static pthread_t test_thread;
static pthread_once_t started = PTHREAD_ONCE_INIT;

static void fail_here(const char *file, int line)
{
    if (pthread_equal(pthread_self(), test_thread))
        _fail(file, line);
    abort(); /* cmocka may only be left from the test's own thread. */
}

void proof_check(cl_int error, const char *what, const char *file, int line)
{
    if (error == CL_SUCCESS)
        return;
    print_error("%s:%d: error %d of %s\n", file, line, (int)error, what);
    fail_here(file, line);
}

void proof_holds(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    print_error("%s:%d: not so: %s\n", file, line, what);
    fail_here(file, line);
}

/* ---- The context ------------------------------------------------------------------------------------------------ */

static cl_device_id find_device(void)
{
    cl_platform_id platforms[16];
    cl_device_id device;
    cl_uint n = 0;
    char name[64];

    proof_ok(clGetPlatformIDs(16, platforms, &n));
    assert_int_equal(n, 1);
    proof_ok(clGetPlatformInfo(platforms[0], CL_PLATFORM_NAME, sizeof(name), name, NULL));
    assert_string_equal(name, "Tesela");
    proof_ok(clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
    return device;
}

static void start(void)
{
    test_thread = pthread_self();
    proof_trace_start();
}

static cl_program build(const struct proof *p, const char *source)
{
    static char log[65536];
    cl_int error;
    cl_program program = clCreateProgramWithSource(p->context, 1, &source, NULL, &error);

    proof_ok(error);
    error = clBuildProgram(program, 0, NULL, "", NULL, NULL);
    if (error) {
        proof_ok(clGetProgramBuildInfo(program, p->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        print_error("%s\n", log);
    }
    proof_ok(error);
    return program;
}

cl_device_id proof_root(void)
{
    pthread_once(&started, start);
    return find_device();
}

void proof_open(struct proof *p, const char *source)
{
    cl_device_id root = proof_root();

    proof_open_on(p, source, 1, &root);
}

void proof_open_on(struct proof *p, const char *source, cl_uint n, const cl_device_id *devices)
{
    cl_int error;

    *p = (struct proof){.device = devices[0], .trace.position = proof_trace_end()};
    p->context = clCreateContext(NULL, n, devices, NULL, NULL, &error);
    proof_ok(error);
    p->queue = proof_queue(p, 0);
    p->program = source ? build(p, source) : NULL;
}

void proof_close(struct proof *p)
{
    if (p->program)
        proof_ok(clReleaseProgram(p->program));
    proof_ok(clReleaseCommandQueue(p->queue));
    proof_ok(clReleaseContext(p->context));
    free(p->trace.spans);
    p->trace = (struct proof_trace){0};
}

cl_command_queue proof_queue(struct proof *p, cl_command_queue_properties properties)
{
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(p->context, p->device, properties, &error);

    proof_ok(error);
    return queue;
}

cl_mem proof_buffer(struct proof *p, cl_mem_flags flags, size_t size, void *host_ptr)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(p->context, flags, size, host_ptr, &error);

    proof_ok(error);
    return buffer;
}

cl_mem proof_sub_buffer(cl_mem root, cl_mem_flags flags, size_t offset, size_t size)
{
    cl_int error;
    cl_buffer_region region = {offset, size};
    cl_mem buffer = clCreateSubBuffer(root, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

    proof_ok(error);
    return buffer;
}

cl_kernel proof_kernel(struct proof *p, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(p->program, name, &error);

    proof_ok(error);
    return kernel;
}

void proof_set(cl_kernel kernel, unsigned n_buffers, const cl_mem *buffers, unsigned n_uints, const cl_uint *uints)
{
    for (unsigned i = 0; i < n_buffers; i++)
        proof_ok(clSetKernelArg(kernel, i, sizeof(buffers[i]), &buffers[i]));
    for (unsigned i = 0; i < n_uints; i++)
        proof_ok(clSetKernelArg(kernel, n_buffers + i, sizeof(uints[i]), &uints[i]));
}

/* ---- Settings of the variants ------------------------------------------------------------------------------------ */

cl_uint proof_spin(void)
{
    const char *value = getenv("PROOF_SPIN");

    return value ? (cl_uint)strtoul(value, NULL, 10) : 10000000;
}

bool proof_policy_is(const char *policy)
{
    const char *value = getenv("TESELA_POLICY");

    return value && !strcmp(value, policy);
}

uint64_t proof_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
