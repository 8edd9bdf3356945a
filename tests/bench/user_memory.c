/*
 * Memory of the program's own as a buffer (CL_MEM_USE_HOST_PTR) that goes to the device and back again and again:
 * milliseconds until so many rounds were done, of the buffer's release, and of the processors meanwhile. The first
 * platform's first device, whose OpenCL may be anybody's. Not a test.
 */
#include "measure.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define ROUNDS 64

static const char source[] = "kernel void add_value(global int *x, int value) { x[get_global_id(0)] += value; }";

static struct rig {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
} rig;

static void set_up(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_program program;
    const char *text = source;
    char name[200];
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    must(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL), "clGetPlatformInfo");
    rig.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    rig.queue = clCreateCommandQueueWithProperties(rig.context, device, NULL, &error);
    must(error, "a queue");
    program = clCreateProgramWithSource(rig.context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    rig.kernel = clCreateKernel(program, "add_value", &error);
    must(error, "clCreateKernel");
    must(clSetKernelArg(rig.kernel, 1, sizeof(cl_int), &(cl_int){1}), "clSetKernelArg");
    printf("%s\n%9s %10s", name, "MiB", "create");
    for (int i = 1; i <= ROUNDS; i *= 2)
        printf(" %9d", i);
    printf(" %9s %9s   ms\n", "release", "processor");
}

/* Of all threads of the process. */
static double processor_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int *map(cl_mem buffer, cl_map_flags flags, size_t size)
{
    cl_int error;
    int *at = clEnqueueMapBuffer(rig.queue, buffer, CL_TRUE, flags, 0, size, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
    return at;
}

static void unmap(cl_mem buffer, int *at)
{
    must(clEnqueueUnmapMemObject(rig.queue, buffer, at, 0, NULL, NULL), "clEnqueueUnmapMemObject");
}

/* All of it goes to the device, and what a kernel made of it comes back. */
static void go_round(cl_mem buffer, size_t size, int number)
{
    size_t n = size / sizeof(int);
    int *at = map(buffer, CL_MAP_WRITE_INVALIDATE_REGION, size);
    at[n - 1] = number;
    unmap(buffer, at);
    must(clEnqueueNDRangeKernel(rig.queue, rig.kernel, 1, NULL, &n, NULL, 0, NULL, NULL), "a launch");
    at = map(buffer, CL_MAP_READ, size);
    must(at[n - 1] == number + 1 ? CL_SUCCESS : CL_INVALID_VALUE, "a round");
    unmap(buffer, at);
    must(clFinish(rig.queue), "clFinish");
}

static void measure(size_t size, bool prints)
{
    char *pages = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double begin, cpu, times[ROUNDS + 2];
    cl_int error;
    must(pages == MAP_FAILED ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS, "mmap");
    memset(pages, 1, size + 4096);
    begin = now_us();
    cpu = processor_us();
    cl_mem buffer = clCreateBuffer(rig.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, pages + 64, &error);
    must(error, "clCreateBuffer");
    must(clSetKernelArg(rig.kernel, 0, sizeof(buffer), &buffer), "clSetKernelArg");
    times[0] = now_us() - begin;
    for (int i = 1; i <= ROUNDS; i++) {
        go_round(buffer, size, i);
        times[i] = now_us() - begin;
    }
    cpu = processor_us() - cpu;
    begin = now_us();
    must(clReleaseMemObject(buffer), "clReleaseMemObject");
    times[ROUNDS + 1] = now_us() - begin;
    munmap(pages, size + 4096);
    if (!prints)
        return;
    printf("%9.2f %10.3f", (double)size / 1048576, times[0] / 1e3);
    for (int i = 1; i <= ROUNDS; i *= 2)
        printf(" %9.3f", times[i] / 1e3);
    printf(" %9.3f %9.1f\n", times[ROUNDS + 1] / 1e3, cpu / 1e3);
}

/* Up to so many MiB, 256 without a number. */
int main(int n, char **args)
{
    size_t most = (n > 1 ? strtoul(args[1], NULL, 10) : 256) << 20;
    set_up();
    measure(1 << 20, false);
    for (size_t size = 1 << 18; size <= most; size *= 4)
        measure(size, true);
    return 0;
}
