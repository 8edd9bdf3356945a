/*
 * What several members of one kind are worth: independent kernels of one in-order queue; transfers in both directions
 * and kernels, of three queues of the first member, alone and at once; copies from member to member; and a chain
 * of four matrix products, B[i] = A[i] C1 C2 C3 C4 and the norm of B[i] by a host task, once in one queue of the
 * virtual device, once as a pipeline over queues of its sub-devices. Run it with one member and with several
 * (TESELA_MEMBERS) and compare. Not a test.
 */
#include "measure.h"

#include <CL/cl.h>
#include <CL/cl_tesela.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_KERNELS   64
#define N_ITEMS     ((size_t)1 << 18) /* of each of them */
#define N_LOOPS     65536
#define SIDE        2048 /* of matrices */
#define MATRIX      ((size_t)SIDE * SIDE * sizeof(float))
#define N_STAGES    4
#define N_CHAINS    16
#define COPY_SIZE   ((size_t)1 << 30)
#define WAY_SIZE    ((size_t)256 << 20)
#define N_BUSY      8
#define ROUNDS      5
#define MAX_MEMBERS 8

static const char source[] =
    "kernel void busy(global float *x, int n) {\n"
    "  size_t i = get_global_id(0); float a = x[i];\n"
    "  for (int k = 0; k < n; k++) a = fma(a, 0.999f, 0.001f);\n"
    "  x[i] = a;\n"
    "}\n"
    "kernel void touch(global float *x) { x[get_global_id(0)] += 1; }\n"
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void product(global const float *a, global const float *b, global float *out, int n) {\n"
    "  local float s[16][16], t[16][16];\n"
    "  int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1); float sum = 0;\n"
    "  for (int k = 0; k < n; k += 16) {\n"
    "    s[j][i] = a[y * n + k + i]; t[j][i] = b[(k + j) * n + x]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int m = 0; m < 16; m++) sum += s[j][m] * t[m][i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  out[y * n + x] = sum;\n"
    "}\n";

static struct rig {
    cl_device_id device, members[MAX_MEMBERS];
    cl_uint n_members;
    cl_context context;
    cl_command_queue queue, queues[MAX_MEMBERS],
        tasks; /* host tasks keep their turn in a queue, so they have their own */
    cl_program program;
} rig;

static double now_ms(void)
{
    return now_us() / 1e3;
}

static void set_up(void)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_device_id all[MAX_MEMBERS + 1];
    cl_platform_id platform;
    const char *text = source;
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &rig.device, NULL), "clGetDeviceIDs");
    must(clCreateSubDevices(rig.device, by_member, MAX_MEMBERS, rig.members, &rig.n_members), "clCreateSubDevices");
    all[0] = rig.device;
    for (cl_uint i = 0; i < rig.n_members; i++)
        all[i + 1] = rig.members[i];
    rig.context = clCreateContext(NULL, rig.n_members + 1, all, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig.queue = clCreateCommandQueueWithProperties(rig.context, rig.device, NULL, &error);
    must(error, "a queue of the device");
    rig.tasks = clCreateCommandQueueWithProperties(rig.context, rig.device, NULL, &error);
    must(error, "a queue for host tasks");
    for (cl_uint i = 0; i < rig.n_members; i++) {
        rig.queues[i] = clCreateCommandQueueWithProperties(rig.context, rig.members[i], NULL, &error);
        must(error, "a queue of a sub-device");
    }
    rig.program = clCreateProgramWithSource(rig.context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(rig.program, 0, NULL, "", NULL, NULL), "clBuildProgram");
}

static void finish_all(void)
{
    must(clFinish(rig.queue), "clFinish");
    for (cl_uint i = 0; i < rig.n_members; i++)
        must(clFinish(rig.queues[i]), "clFinish");
    must(clFinish(rig.tasks), "clFinish");
}

/* ---- Independent kernels ---------------------------------------------------------------------------------------- */

static void independent(void)
{
    cl_kernel kernel = program_kernel(rig.program, "busy");
    cl_mem mems[N_KERNELS];
    const cl_int loops = N_LOOPS;
    const size_t n = N_ITEMS;
    double best = INFINITY;
    for (int i = 0; i < N_KERNELS; i++)
        mems[i] = device_buffer(rig.context, N_ITEMS * sizeof(float));
    must(clSetKernelArg(kernel, 1, sizeof(loops), &loops), "clSetKernelArg");
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ms();
        for (int i = 0; i < N_KERNELS; i++) {
            must(clSetKernelArg(kernel, 0, sizeof(cl_mem), &mems[i]), "clSetKernelArg");
            must(clEnqueueNDRangeKernel(rig.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), "a launch");
        }
        must(clFinish(rig.queue), "clFinish");
        best = fmin(best, now_ms() - begin);
    }
    printf("%d independent kernels, one in-order queue   %8.2f ms\n", N_KERNELS, best);
    for (int i = 0; i < N_KERNELS; i++)
        clReleaseMemObject(mems[i]);
    clReleaseKernel(kernel);
}

/* ---- Both ways of the bus and the kernels ------------------------------------------------------------------------ */

enum { UP = 1, DOWN = 2, KERNELS = 4, N_WAYS = 8 };

static struct ways {
    cl_command_queue queues[3]; /* of the first member: up, down, kernels */
    cl_kernel touch, busy;
    cl_mem up, down, own, pinned[2];
    char *host[2];
} ways;

static void launch_on(cl_command_queue queue, cl_kernel kernel, cl_mem mem, size_t n)
{
    must(clSetKernelArg(kernel, 0, sizeof(mem), &mem), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), "a launch");
}

static void set_up_ways(void)
{
    const cl_int loops = N_LOOPS;
    cl_int error;
    for (int i = 0; i < 3; i++) {
        ways.queues[i] = clCreateCommandQueueWithProperties(rig.context, rig.members[0], NULL, &error);
        must(error, "a queue of a sub-device");
    }
    ways.touch = program_kernel(rig.program, "touch");
    ways.busy = program_kernel(rig.program, "busy");
    must(clSetKernelArg(ways.busy, 1, sizeof(loops), &loops), "clSetKernelArg");
    ways.up = device_buffer(rig.context, WAY_SIZE);
    ways.down = device_buffer(rig.context, WAY_SIZE);
    ways.own = device_buffer(rig.context, N_ITEMS * sizeof(float));
    for (int i = 0; i < 2; i++) {
        ways.pinned[i] = clCreateBuffer(rig.context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, WAY_SIZE, NULL, &error);
        must(error, "clCreateBuffer");
        ways.host[i] = clEnqueueMapBuffer(ways.queues[0], ways.pinned[i], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                          WAY_SIZE, 0, NULL, NULL, &error);
        must(error, "clEnqueueMapBuffer");
        memset(ways.host[i], i, WAY_SIZE);
    }
}

static void finish_ways(void)
{
    for (int i = 0; i < 3; i++)
        must(clFinish(ways.queues[i]), "clFinish");
}

static void flush_ways(void)
{
    for (int i = 0; i < 3; i++)
        must(clFlush(ways.queues[i]), "clFlush");
}

/* What is written is read by a kernel, so that it has to get there. */
static double go(int which)
{
    launch_on(ways.queues[1], ways.touch, ways.down, WAY_SIZE / sizeof(float)); /* Nobody else has what is read. */
    finish_ways();
    double begin = now_ms();
    if (which & UP) {
        must(clEnqueueWriteBuffer(ways.queues[0], ways.up, CL_FALSE, 0, WAY_SIZE, ways.host[0], 0, NULL, NULL),
             "write");
        launch_on(ways.queues[0], ways.touch, ways.up, 1);
    }
    if (which & DOWN)
        must(clEnqueueReadBuffer(ways.queues[1], ways.down, CL_FALSE, 0, WAY_SIZE, ways.host[1], 0, NULL, NULL),
             "read");
    for (int i = 0; which & KERNELS && i < N_BUSY; i++)
        launch_on(ways.queues[2], ways.busy, ways.own, N_ITEMS);
    flush_ways();
    finish_ways();
    return now_ms() - begin;
}

static void both_ways(void)
{
    double best[N_WAYS];
    set_up_ways();
    for (int which = 1; which < N_WAYS; which++)
        best[which] = INFINITY;
    for (int round = 0; round < ROUNDS; round++)
        for (int which = 1; which < N_WAYS; which++)
            best[which] = fmin(best[which], go(which));
    printf("%zu MiB to the first member, as much from it, kernels: %.2f, %.2f, %.2f ms\n"
           "... both ways %.2f ms, to it with kernels %.2f, from it with kernels %.2f, all at once %.2f\n",
           WAY_SIZE >> 20, best[UP], best[DOWN], best[KERNELS], best[UP | DOWN], best[UP | KERNELS],
           best[DOWN | KERNELS], best[UP | DOWN | KERNELS]);
    for (int i = 0; i < 2; i++) {
        must(clEnqueueUnmapMemObject(ways.queues[0], ways.pinned[i], ways.host[i], 0, NULL, NULL), "an unmap");
        clReleaseMemObject(ways.pinned[i]);
    }
    finish_ways();
    for (int i = 0; i < 3; i++)
        clReleaseCommandQueue(ways.queues[i]);
    clReleaseMemObject(ways.up);
    clReleaseMemObject(ways.down);
    clReleaseMemObject(ways.own);
    clReleaseKernel(ways.touch);
    clReleaseKernel(ways.busy);
}

/* ---- From member to member -------------------------------------------------------------------------------------- */

static void touch(cl_kernel kernel, cl_uint member)
{
    const size_t n = COPY_SIZE / sizeof(float);
    must(clEnqueueNDRangeKernel(rig.queues[member], kernel, 1, NULL, &n, NULL, 0, NULL, NULL), "a launch");
    must(clFinish(rig.queues[member]), "clFinish");
}

static void copies(void)
{
    cl_kernel kernel = program_kernel(rig.program, "touch");
    cl_mem mem = device_buffer(rig.context, COPY_SIZE);
    double best = INFINITY;
    must(clSetKernelArg(kernel, 0, sizeof(mem), &mem), "clSetKernelArg");
    for (int round = 0; round < 2 * ROUNDS; round++) {
        cl_uint from = (cl_uint)round % 2, to = 1 - from;
        double begin;
        touch(kernel, from);
        begin = now_ms();
        must(clEnqueueMigrateMemObjects(rig.queues[to], 1, &mem, 0, 0, NULL, NULL), "a migration");
        must(clFinish(rig.queues[to]), "clFinish");
        best = fmin(best, now_ms() - begin);
    }
    printf("%zu MiB from member to member               %8.2f ms, %.1f GB/s\n", COPY_SIZE >> 20, best,
           (double)COPY_SIZE / best / 1e6);
    clReleaseMemObject(mem);
    clReleaseKernel(kernel);
}

/* ---- The chain -------------------------------------------------------------------------------------------------- */

static struct chain {
    cl_mem factors[N_STAGES], steps[N_CHAINS][N_STAGES + 1]; /* C, A and what becomes of it */
    double norms[N_CHAINS];
    float *host;
} chain;

struct norm {
    const float *matrix;
    double *result;
};

static void CL_CALLBACK norm(void *arg)
{
    struct norm *task = arg;
    double sum = 0;
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        sum += (double)task->matrix[i] * (double)task->matrix[i];
    *task->result = sqrt(sum);
}

static void make_chain(void)
{
    chain.host = malloc(MATRIX);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        chain.host[i] = (float)((i * 7919) % 1000) / 1000.0f / SIDE;
    for (int s = 0; s < N_STAGES; s++) {
        chain.factors[s] = device_buffer(rig.context, MATRIX);
        must(clEnqueueWriteBuffer(rig.queue, chain.factors[s], CL_TRUE, 0, MATRIX, chain.host, 0, NULL, NULL), "write");
    }
    for (int i = 0; i < N_CHAINS; i++)
        for (int s = 0; s <= N_STAGES; s++)
            chain.steps[i][s] = device_buffer(rig.context, MATRIX);
}

static void enqueue_product(cl_kernel kernel, cl_command_queue queue, int i, int s, cl_event *event)
{
    const size_t global[2] = {SIDE, SIDE}, local[2] = {16, 16};
    const cl_int n = SIDE;
    must(clSetKernelArg(kernel, 0, sizeof(cl_mem), &chain.steps[i][s]), "clSetKernelArg");
    must(clSetKernelArg(kernel, 1, sizeof(cl_mem), &chain.factors[s]), "clSetKernelArg");
    must(clSetKernelArg(kernel, 2, sizeof(cl_mem), &chain.steps[i][s + 1]), "clSetKernelArg");
    must(clSetKernelArg(kernel, 3, sizeof(n), &n), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, *event ? 1 : 0, *event ? event : NULL, event),
         "a launch");
    must(clFlush(queue), "clFlush");
}

/* queues: one for each stage. */
static double run_chain(cl_kernel kernel, cl_command_queue *queues)
{
    double begin = now_ms();
    for (int i = 0; i < N_CHAINS; i++) {
        struct norm task = {.result = &chain.norms[i]};
        const void *place = &task.matrix;
        cl_event event = NULL;
        must(clEnqueueWriteBuffer(queues[0], chain.steps[i][0], CL_FALSE, 0, MATRIX, chain.host, 0, NULL, NULL),
             "a write");
        for (int s = 0; s < N_STAGES; s++) {
            cl_event before = event;
            enqueue_product(kernel, queues[s], i, s, &event);
            if (before)
                clReleaseEvent(before);
        }
        must(clEnqueueNativeKernel(rig.tasks, norm, &task, sizeof(task), 1, &chain.steps[i][N_STAGES], &place, 1,
                                   &event, NULL),
             "a host task");
        clReleaseEvent(event);
    }
    finish_all();
    return now_ms() - begin;
}

static void chains(void)
{
    cl_kernel kernel = program_kernel(rig.program, "product");
    cl_command_queue one[N_STAGES], spread[N_STAGES];
    double best[2] = {INFINITY, INFINITY}, sum = 0;
    make_chain();
    for (cl_uint s = 0; s < N_STAGES; s++) {
        one[s] = rig.queue;
        spread[s] = rig.queues[s * rig.n_members / N_STAGES];
    }
    for (int round = 0; round < ROUNDS; round++) {
        best[0] = fmin(best[0], run_chain(kernel, one));
        best[1] = fmin(best[1], run_chain(kernel, spread));
    }
    for (int i = 0; i < N_CHAINS; i++)
        sum += chain.norms[i];
    printf("%d chains of four products, one queue        %8.2f ms\n", N_CHAINS, best[0]);
    printf("the same as a pipeline over sub-devices      %8.2f ms (norms: %.9g)\n", best[1], sum);
}

int main(void)
{
    set_up();
    printf("%u members\n", rig.n_members);
    independent();
    both_ways();
    if (rig.n_members > 1)
        copies();
    chains();
    return 0;
}
