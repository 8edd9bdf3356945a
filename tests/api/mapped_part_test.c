/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic,pthread TESELA_POLICY=round-robin */
/* any: */
/*
 * One half of a buffer is mapped for writing while kernels on two members work on the other half. Tesela can't know
 * which half a kernel accesses, so the buffer moves from member to member as a whole, by way of the host, and must not
 * overwrite what the application writes meanwhile.
 */
#include <CL/cl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HALF 4096

static const char *source = "kernel void add(global uint *x) { x[4096 + get_global_id(0)] += 1; }";

static void mapped_half_survives_kernels_on_the_other(void **state)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    cl_uint zeros[2 * HALF] = {0}, back[2 * HALF];
    size_t global = HALF;
    (void)state;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    assert_non_null(context);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros, &error);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_SUCCESS);

    cl_uint *mapped =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, HALF * sizeof(cl_uint), 0, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (cl_uint i = 0; i < HALF; i++) {
        mapped[i] = i;
        if (i % (HALF / 8) == 0)
            assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
        if (i % (HALF / 4) == 0)
            assert_int_equal(clFinish(queue), CL_SUCCESS);
    }
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(back), back, 0, NULL, NULL), CL_SUCCESS);
    for (cl_uint i = 0; i < HALF; i++) {
        assert_int_equal(back[i], i);
        assert_int_equal(back[HALF + i], 8);
    }
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mapped_half_survives_kernels_on_the_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
