/*
 * Host tasks with roles: functions of the program that take their turn among kernels (clEnqueueNativeKernel), and name
 * the buffers that they read (IN), overwrite (OUT) or change (both), so that no other bytes move for them.
 *
 * Each frame has an in-order queue and one buffer of three parts. A task fills the first part, a kernel makes the
 * second part of it, a task adds up the second part into the third, which it also reads. The program waits once, at the
 * end. The roles are those of sub-buffers: of one that the host only reads, one that it only writes, and one of which
 * nothing is said. Tasks of different queues run at the same time. Sums are computed again on the host and must agree.
 *
 *     host_tasks [ROUNDS [FLOATS]]     OCL_PLATFORM: part of the name of the platform to take, instead of the first
 */
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_frames = 2, part_align = 4096, sum_size = part_align };

static const char *const source = "kernel void square(global const float *in, global float *out)\n"
                                  "{\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    out[i] = in[i] * in[i];\n"
                                  "}\n";

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "host_tasks: %s failed with error %d\n", what, error);
    exit(1);
}

/* ---- The tasks: pointers are put into their arguments when they run ---------------------------------------------- */

struct fill {
    float *out; /* OUT */
    unsigned n, value;
};

static void CL_CALLBACK fill(void *arguments)
{
    const struct fill *a = arguments;

    for (unsigned i = 0; i < a->n; i++)
        a->out[i] = (float)((i + a->value) % 8);
}

struct add_up {
    const float *in; /* IN */
    double *sum;     /* both */
    unsigned n;
};

static void CL_CALLBACK add_up(void *arguments)
{
    const struct add_up *a = arguments;

    for (unsigned i = 0; i < a->n; i++)
        *a->sum += a->in[i];
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

struct frame {
    cl_command_queue queue;
    cl_mem all;
    cl_mem input, result; /* as the kernel sees them */
    cl_mem out, in, sum;  /* the same two and the sum, in the roles of tasks */
};

static cl_mem part(cl_mem all, cl_mem_flags flags, size_t offset, size_t size)
{
    const cl_buffer_region region = {offset, size};
    cl_int error;
    cl_mem sub = clCreateSubBuffer(all, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

    check(error, "clCreateSubBuffer");
    return sub;
}

static struct frame make_frame(cl_context context, cl_device_id device, unsigned n)
{
    size_t size = (n * sizeof(float) + part_align - 1) / part_align * part_align;
    const double zero = 0;
    struct frame f;
    cl_int error;

    f.queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    f.all = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * size + sum_size, NULL, &error);
    check(error, "clCreateBuffer");
    f.input = part(f.all, CL_MEM_READ_ONLY, 0, size);
    f.result = part(f.all, CL_MEM_WRITE_ONLY, size, size);
    f.out = part(f.all, CL_MEM_HOST_WRITE_ONLY, 0, size);
    f.in = part(f.all, CL_MEM_HOST_READ_ONLY, size, size);
    f.sum = part(f.all, CL_MEM_READ_WRITE, 2 * size, sum_size);
    check(clEnqueueFillBuffer(f.queue, f.sum, &zero, sizeof zero, 0, sum_size, 0, NULL, NULL), "clEnqueueFillBuffer");
    return f;
}

static void enqueue_round(const struct frame *f, cl_kernel kernel, unsigned n, unsigned value)
{
    struct fill filling = {.n = n, .value = value};
    struct add_up adding = {.n = n};
    const cl_mem read[] = {f->in, f->sum};
    const void *filled[] = {&filling.out}, *added[] = {&adding.in, &adding.sum};
    const size_t items = n;

    check(clEnqueueNativeKernel(f->queue, fill, &filling, sizeof filling, 1, &f->out, filled, 0, NULL, NULL),
          "clEnqueueNativeKernel");
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &f->input), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &f->result), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueNativeKernel(f->queue, add_up, &adding, sizeof adding, 2, read, added, 0, NULL, NULL),
          "clEnqueueNativeKernel");
    check(clFlush(f->queue), "clFlush");
}

/* What a frame must have added up. */
static double expected(unsigned frame, unsigned rounds, unsigned n)
{
    double sum = 0;

    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < n; i++) {
            unsigned x = (i + round * n_frames + frame) % 8;

            sum += (double)(x * x);
        }
    return sum;
}

static bool finish_frame(const struct frame *f, unsigned frame, unsigned rounds, unsigned n)
{
    double sum;

    check(clEnqueueReadBuffer(f->queue, f->sum, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL), "clEnqueueReadBuffer");
    printf("frame %u: sum %.0f, expected %.0f\n", frame, sum, expected(frame, rounds, n));
    const cl_mem parts[] = {f->input, f->result, f->out, f->in, f->sum, f->all};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        clReleaseMemObject(parts[i]);
    clReleaseCommandQueue(f->queue);
    return sum == expected(frame, rounds, n);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

/* The first device of the first platform, or of the first whose name contains $OCL_PLATFORM, that runs host tasks. */
static cl_device_id choose_device(void)
{
    const char *wanted = getenv("OCL_PLATFORM");
    cl_device_exec_capabilities can;
    cl_platform_id platforms[32];
    cl_device_id device;
    cl_uint n = 0;
    char name[256];

    check(clGetPlatformIDs(32, platforms, &n), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n && i < 32; i++) {
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo");
        if ((wanted && !strstr(name, wanted)) || clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL))
            continue;
        check(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL), "clGetDeviceInfo");
        if (can & CL_EXEC_NATIVE_KERNEL)
            return device;
    }
    fprintf(stderr, "host_tasks: no device here runs native kernels\n");
    exit(1);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 16, n = argc > 2 ? (unsigned)atoi(argv[2]) : 1 << 20;
    cl_device_id device = choose_device();
    struct frame frames[n_frames];
    bool right = true;
    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)(size_t)&source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "square", &error);
    check(error, "clCreateKernel");
    for (unsigned i = 0; i < n_frames; i++)
        frames[i] = make_frame(context, device, n);
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < n_frames; i++)
            enqueue_round(&frames[i], kernel, n, round * n_frames + i);
    for (unsigned i = 0; i < n_frames; i++)
        right &= finish_frame(&frames[i], i, rounds, n);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseContext(context);
    return right ? 0 : 1;
}
