/* TESELA_CHECK=access: kernels whose footprints are true run as without it, and code with checks in it is what runs. */
/* variant: alone TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_CHECK=access TESELA_CACHE=off */
/* timeout: 120 */
#include "test.h"

#include <CL/cl.h>
#include <string.h>

#define N 1024

static const char source[] =
    "kernel void add(global const int *a, global const int *b, global int *c, int n)\n"
    "{ int i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }\n"
    "kernel void column(global int *m, int w, int x) { m[get_global_id(0) * w + x] = 7; }\n"
    "kernel void gather(global const int *from, global const int *index, global int *to)\n"
    "{ int i = get_global_id(0); to[i] = from[index[i]]; }\n"
    "kernel void stride(global int *a, int n)\n"
    "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i] += 1; }\n"
    "kernel void histogram(global const int *a, global int *bins) { atomic_inc(&bins[a[get_global_id(0)] & 15]); }\n"
    "kernel void turn(global const float4 *a, global float *b, local float *t)\n"
    "{ int l = get_local_id(0); t[l] = a[get_global_id(0)].y; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  b[get_group_id(0) * get_local_size(0) + l] = t[get_local_size(0) - 1 - l]; }\n"
    "kernel void triangle(global float *m, int n)\n"
    "{ int i = get_global_id(0); for (int k = 0; k <= i; k++) m[i * n + k] = k; }\n";

struct rig {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

static struct rig begin(void)
{
    cl_platform_id platform;
    cl_device_id device;
    struct rig rig;
    const char *text = source;

    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    rig.context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    rig.queue = clCreateCommandQueue(rig.context, device, 0, NULL);
    rig.program = clCreateProgramWithSource(rig.context, 1, &text, NULL, NULL);
    assert_int_equal(clBuildProgram(rig.program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    return rig;
}

static void end(struct rig *rig)
{
    clReleaseProgram(rig->program);
    clReleaseCommandQueue(rig->queue);
    clReleaseContext(rig->context);
}

static cl_mem buffer(const struct rig *rig, const void *data, size_t size)
{
    return clCreateBuffer(rig->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)data, NULL);
}

static void run(const struct rig *rig, cl_kernel kernel, size_t n, size_t local)
{
    cl_event event;
    cl_int status;

    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &n, local ? &local : NULL, 0, NULL, &event),
                     CL_SUCCESS);
    clWaitForEvents(1, &event);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
    assert_int_equal(status, CL_COMPLETE);
    clReleaseEvent(event);
    clReleaseKernel(kernel);
}

static cl_kernel kernel_of(const struct rig *rig, const char *name, cl_mem a, cl_mem b, cl_mem c)
{
    cl_kernel kernel = clCreateKernel(rig->program, name, NULL);
    cl_mem all[] = {a, b, c};

    for (cl_uint i = 0; i < 3 && all[i]; i++)
        assert_int_equal(clSetKernelArg(kernel, i, sizeof(cl_mem), &all[i]), CL_SUCCESS);
    return kernel;
}

static void set_int(cl_kernel kernel, cl_uint at, cl_int value)
{
    assert_int_equal(clSetKernelArg(kernel, at, sizeof(value), &value), CL_SUCCESS);
}

static void true_footprints_pass(void **state)
{
    static cl_int numbers[4 * N], indices[4 * N];
    struct rig rig = begin();

    (void)state;
    for (int i = 0; i < 4 * N; i++) {
        numbers[i] = i;
        indices[i] = (i * 7 + 3) % N;
    }
    cl_mem a = buffer(&rig, numbers, sizeof(numbers)), b = buffer(&rig, indices, sizeof(indices));
    cl_mem c = buffer(&rig, numbers, sizeof(numbers));
    cl_kernel kernel = kernel_of(&rig, "add", a, b, c);
    set_int(kernel, 3, N - 5);
    run(&rig, kernel, N, 64);
    kernel = kernel_of(&rig, "column", c, NULL, NULL);
    set_int(kernel, 1, 32);
    set_int(kernel, 2, 3);
    run(&rig, kernel, 64, 0);
    run(&rig, kernel_of(&rig, "gather", a, b, c), N, 0);
    kernel = kernel_of(&rig, "stride", c, NULL, NULL);
    set_int(kernel, 1, 4 * N - 1);
    run(&rig, kernel, 100, 10);
    run(&rig, kernel_of(&rig, "histogram", b, c, NULL), N, 32);
    kernel = kernel_of(&rig, "turn", a, c, NULL);
    assert_int_equal(clSetKernelArg(kernel, 2, 16 * sizeof(cl_float), NULL), CL_SUCCESS);
    run(&rig, kernel, 512, 16);
    kernel = kernel_of(&rig, "triangle", c, NULL, NULL);
    set_int(kernel, 1, 60);
    run(&rig, kernel, 60, 4);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(c);
    end(&rig);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(true_footprints_pass)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
