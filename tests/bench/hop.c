/*
 * A chain of kernels that alternates between the first two members, each kernel waiting for the one before by its
 * event: microseconds for each hop, all enqueued ahead and with a wait of the host after each. Not a test.
 */
#include "measure.h"

#include <CL/cl.h>
#include <CL/cl_tesela.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_HOPS 1000
#define ROUNDS 4

static const char source[] = "kernel void add(global int *x) { x[get_global_id(0)] += 1; }";

static struct rig {
    cl_context context;
    cl_command_queue queues[2];
    cl_program program;
} rig;

static void set_up(void)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_platform_id platform;
    cl_device_id device, members[32];
    const char *text = source;
    char name[200];
    cl_uint n;
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    must(clCreateSubDevices(device, by_member, 32, members, &n), "clCreateSubDevices");
    must(n < 2 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS, "finding two members");
    rig.context = clCreateContext(NULL, 2, members, NULL, NULL, &error);
    must(error, "clCreateContext");
    for (int i = 0; i < 2; i++) {
        rig.queues[i] = clCreateCommandQueueWithProperties(rig.context, members[i], NULL, &error);
        must(error, "a queue");
        must(clGetDeviceInfo(members[i], CL_DEVICE_NAME, sizeof(name), name, NULL), "clGetDeviceInfo");
        printf("member %d: %s\n", i, name);
    }
    rig.program = clCreateProgramWithSource(rig.context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(rig.program, 0, NULL, "", NULL, NULL), "clBuildProgram");
}

static double chain(cl_kernel *kernels, size_t n, bool waits)
{
    cl_event before = NULL, event;
    double begin = now_us();
    for (int i = 0; i < N_HOPS; i++) {
        must(clEnqueueNDRangeKernel(rig.queues[i % 2], kernels[i % 2], 1, NULL, &n, NULL, before ? 1 : 0,
                                    before ? &before : NULL, &event),
             "a launch");
        if (before)
            clReleaseEvent(before);
        before = event;
        must(waits ? clWaitForEvents(1, &event) : clFlush(rig.queues[i % 2]), "a wait");
    }
    must(clWaitForEvents(1, &before), "a wait");
    clReleaseEvent(before);
    return (now_us() - begin) / N_HOPS;
}

/* Each kernel has a buffer of its own, or both have one; right: every hop added one. */
static void measure(size_t size, bool shared)
{
    size_t n = size / sizeof(cl_int);
    cl_int *host = calloc(n, sizeof(*host)), error;
    cl_kernel kernels[2];
    cl_mem mems[2];
    double best[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 2; i++) {
        mems[i] = clCreateBuffer(rig.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, host, &error);
        must(error, "clCreateBuffer");
        kernels[i] = clCreateKernel(rig.program, "add", &error);
        must(error, "clCreateKernel");
        must(clSetKernelArg(kernels[i], 0, sizeof(cl_mem), &mems[shared ? 0 : i]), "clSetKernelArg");
    }
    for (int round = 0; round < 2 * ROUNDS; round++)
        best[round / ROUNDS] = fmin(best[round / ROUNDS], chain(kernels, n, round / ROUNDS));
    must(clEnqueueReadBuffer(rig.queues[0], mems[0], CL_TRUE, 0, size, host, 0, NULL, NULL), "a read");
    printf("%8zu bytes, %-11s  ahead %7.2f us, host waits %7.2f us%s\n", size, shared ? "one buffer" : "own buffers",
           best[0], best[1], host[n - 1] == 2 * ROUNDS * N_HOPS / (shared ? 1 : 2) ? "" : "  WRONG");
    for (int i = 0; i < 2; i++) {
        clReleaseMemObject(mems[i]);
        clReleaseKernel(kernels[i]);
    }
    free(host);
}

int main(void)
{
    set_up();
    measure(4, true);
    measure(4, false);
    measure((size_t)64 << 10, true);
    measure((size_t)4 << 20, true);
    return 0;
}
