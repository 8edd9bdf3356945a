/*
 * Shared virtual memory beside a buffer, on the first platform's first device, whose OpenCL may be anybody's: medians,
 * in milliseconds, of
 *
 *   turn     the host writes all of it, a kernel changes it, the host reads all of it
 *   kernels  twenty kernels, one after the other, on what is there already; for one of them
 *   empty    the same with a work-item each: what a launch costs
 *   make     made and released
 *
 * for sizes from 4 KiB to what is named in MiB (256). Not a test.
 */
#include "measure.h"

#include <CL/cl.h>
#include <stdbool.h>

enum { ROUNDS = 7, KERNELS = 20 };

static const char source[] = "kernel void add_value(global int *x, int value) { x[get_global_id(0)] += value; }";

static struct rig {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernels[2]; /* for buffers; for shared memory: NVIDIA's (580) doesn't take one after the other */
} rig;

static void set_up(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_program program;
    cl_device_svm_capabilities has = 0;
    const char *text = source;
    char name[200];
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    must(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL), "clGetPlatformInfo");
    must(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, NULL), "CL_DEVICE_SVM_CAPABILITIES");
    printf("%s, CL_DEVICE_SVM_CAPABILITIES %llu\n", name, (unsigned long long)has);
    if (!has)
        exit(1);
    rig.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig.queue = clCreateCommandQueueWithProperties(rig.context, device, NULL, &error);
    must(error, "a queue");
    program = clCreateProgramWithSource(rig.context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    for (int i = 0; i < 2; i++) {
        rig.kernels[i] = clCreateKernel(program, "add_value", &error);
        must(error, "clCreateKernel");
        must(clSetKernelArg(rig.kernels[i], 1, sizeof(cl_int), &(cl_int){1}), "clSetKernelArg");
    }
}

/* Either kind of memory. */
struct memory {
    size_t size;
    int *shared; /* NULL: a buffer */
    cl_mem buffer;
};

static struct memory make(size_t size, bool shared)
{
    struct memory m = {.size = size};
    cl_int error = CL_SUCCESS;
    if (shared)
        m.shared = clSVMAlloc(rig.context, CL_MEM_READ_WRITE, size, 0);
    else
        m.buffer = clCreateBuffer(rig.context, CL_MEM_READ_WRITE, size, NULL, &error);
    must(shared && !m.shared ? CL_OUT_OF_RESOURCES : error, "an allocation");
    return m;
}

static void release(struct memory *m)
{
    must(clFinish(rig.queue), "clFinish");
    if (m->shared)
        clSVMFree(rig.context, m->shared);
    else
        must(clReleaseMemObject(m->buffer), "clReleaseMemObject");
}

static int *map(struct memory *m, cl_map_flags flags)
{
    cl_int error;
    int *mapped = m->shared;
    if (m->shared)
        error = clEnqueueSVMMap(rig.queue, CL_TRUE, flags, m->shared, m->size, 0, NULL, NULL);
    else
        mapped = clEnqueueMapBuffer(rig.queue, m->buffer, CL_TRUE, flags, 0, m->size, 0, NULL, NULL, &error);
    must(error, "a map");
    return mapped;
}

static void unmap(struct memory *m, int *mapped)
{
    must(m->shared ? clEnqueueSVMUnmap(rig.queue, mapped, 0, NULL, NULL)
                   : clEnqueueUnmapMemObject(rig.queue, m->buffer, mapped, 0, NULL, NULL),
         "an unmap");
}

static void launch(struct memory *m, size_t n)
{
    cl_kernel kernel = rig.kernels[m->shared != NULL];
    must(m->shared ? clSetKernelArgSVMPointer(kernel, 0, m->shared)
                   : clSetKernelArg(kernel, 0, sizeof(cl_mem), &m->buffer),
         "an argument");
    must(clEnqueueNDRangeKernel(rig.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static double turn(struct memory *m)
{
    size_t n = m->size / sizeof(int);
    double begin = now_us();
    long long sum = 0;
    int *mapped = map(m, CL_MAP_WRITE_INVALIDATE_REGION);
    for (size_t i = 0; i < n; i++)
        mapped[i] = 3;
    unmap(m, mapped);
    launch(m, n);
    mapped = map(m, CL_MAP_READ);
    for (size_t i = 0; i < n; i++)
        sum += mapped[i];
    unmap(m, mapped);
    must(clFinish(rig.queue), "clFinish");
    must(sum == 4 * (long long)n ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "the sum");
    return now_us() - begin;
}

static double kernels(struct memory *m, size_t n)
{
    double begin;
    launch(m, n);
    must(clFinish(rig.queue), "clFinish");
    begin = now_us();
    for (int i = 0; i < KERNELS; i++)
        launch(m, n);
    must(clFinish(rig.queue), "clFinish");
    return (now_us() - begin) / KERNELS;
}

static double full(struct memory *m)
{
    return kernels(m, m->size / sizeof(int));
}

static double empty(struct memory *m)
{
    return kernels(m, 1);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static double median(struct memory *m, double measure(struct memory *m))
{
    double times[ROUNDS];
    measure(m);
    for (int i = 0; i < ROUNDS; i++)
        times[i] = measure(m);
    qsort(times, ROUNDS, sizeof(*times), compare);
    return times[ROUNDS / 2] / 1000;
}

static double make_ms(size_t size, bool shared)
{
    double begin = now_us();
    for (int i = 0; i < ROUNDS; i++) {
        struct memory m = make(size, shared);
        launch(&m, 1);
        release(&m);
    }
    return (now_us() - begin) / ROUNDS / 1000;
}

static void measure(size_t size)
{
    struct memory m[2] = {make(size, true), make(size, false)};
    double (*const measures[])(struct memory *) = {turn, full, empty};
    printf("%10zu", size >> 10);
    for (int i = 0; i < 3; i++) {
        double shared = median(&m[0], measures[i]), buffer = median(&m[1], measures[i]);
        printf("  %9.3f %9.3f %5.2f", shared, buffer, shared / buffer);
    }
    printf("  %9.3f %9.3f\n", make_ms(size, true), make_ms(size, false));
    fflush(stdout);
    release(&m[0]);
    release(&m[1]);
}

int main(int argc, char **argv)
{
    size_t most = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
    set_up();
    printf("%10s  %25s  %25s  %25s  %19s\n%10s", "", "turn", "kernels", "empty", "make", "KiB");
    for (int i = 0; i < 3; i++)
        printf("  %9s %9s %5s", "shared", "buffer", "ratio");
    printf("  %9s %9s\n", "shared", "buffer");
    for (size_t size = 4096; size <= most; size *= 16)
        measure(size);
    return 0;
}
