/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/*
 * There is memory behind the last byte of a large buffer: kernels on CPUs may load a whole vector where only a part of
 * one is left. Every other buffer is released, so that none has a neighbour's bytes behind it by chance.
 */
#include <CL/cl.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define N 16

/* What kernels may read there: a vector. */
#define TAIL 128

/* The page of this byte; mincore(2) says ENOMEM where nothing is mapped. */
static int is_mapped(char *at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char there;
    int error = mincore(at - (uintptr_t)at % page, page, &there);

    assert_true(error == 0 || errno == ENOMEM);
    return error == 0;
}

static void there_is_memory_behind(cl_context context, cl_command_queue queue, size_t size)
{
    cl_mem buffers[N];
    char *mapped[N];
    cl_int error;

    for (unsigned i = 0; i < N; i++) {
        buffers[i] = clCreateBuffer(context, 0, size, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        mapped[i] = clEnqueueMapBuffer(queue, buffers[i], CL_TRUE, CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        mapped[i][size - 1] = 1;
    }
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(clEnqueueUnmapMemObject(queue, buffers[i], mapped[i], 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    for (unsigned i = 0; i < N; i += 2)
        clReleaseMemObject(buffers[i]);
    for (unsigned i = 1; i < N; i += 2) {
        assert_true(is_mapped(mapped[i] + size + TAIL - 1));
        clReleaseMemObject(buffers[i]);
    }
}

static void large_buffers_have_a_tail(void **state)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    (void)state;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    there_is_memory_behind(context, queue, (size_t)1 << 20);
    there_is_memory_behind(context, queue, (size_t)2 << 20);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_buffers_have_a_tail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
