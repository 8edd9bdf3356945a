/*
 * A program of two binaries, one for each of two devices, that were built of one text with different options: what the
 * one's kernel only reads the other's writes.
 */
/* timeout: 120 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* variant: both TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off */
#include "proof.h"

#include <CL/cl_tesela.h>
#include <stdlib.h>

enum { n = 1 << 12 };

static const char *source = "kernel void f(global int *a, global int *b) { size_t i = get_global_id(0);\n"
                            "#if BACK\n a[i] = b[i] + 5;\n#else\n b[i] = a[i] + 1;\n#endif\n }\n";

static cl_device_id devices[2];
static cl_context context;

/* Of the program as built for that device alone. */
static unsigned char *binary_of(unsigned device, const char *options, size_t *size)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    unsigned char *binaries[2] = {NULL, NULL};
    size_t sizes[2];

    proof_ok(error);
    proof_ok(clBuildProgram(program, 1, &devices[device], options, NULL, NULL));
    proof_ok(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL));
    binaries[device] = malloc(sizes[device]);
    proof_ok(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binaries), binaries, NULL));
    *size = sizes[device];
    proof_ok(clReleaseProgram(program));
    return binaries[device];
}

static cl_program program_of_both(void)
{
    size_t sizes[2];
    unsigned char *binaries[2] = {binary_of(0, "-DBACK=0", &sizes[0]), binary_of(1, "-DBACK=1", &sizes[1])};
    cl_int status[2], error;
    cl_program program =
        clCreateProgramWithBinary(context, 2, devices, sizes, (const unsigned char **)binaries, status, &error);

    proof_ok(error);
    proof_ok(clBuildProgram(program, 2, devices, "", NULL, NULL));
    free(binaries[0]);
    free(binaries[1]);
    return program;
}

static void each_has_its_own_text(void **state)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    const size_t size = n;
    static cl_int values[n];
    cl_device_id root;
    cl_platform_id platform;
    cl_int error;

    (void)state;
    proof_ok(clGetPlatformIDs(1, &platform, NULL));
    proof_ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &root, NULL));
    proof_ok(clCreateSubDevices(root, by_member, 2, devices, NULL));
    context = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    proof_ok(error);
    cl_program program = program_of_both();
    cl_kernel kernel = clCreateKernel(program, "f", &error);
    cl_mem buffers[2];
    cl_command_queue queues[2];

    proof_ok(error);
    for (unsigned i = 0; i < 2; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(values), values, &error);
        proof_ok(error);
        queues[i] = clCreateCommandQueueWithProperties(context, devices[i], NULL, &error);
        proof_ok(error);
        proof_ok(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
    }
    for (unsigned i = 0; i < 3; i++) {
        proof_ok(clEnqueueNDRangeKernel(queues[i % 2], kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
        proof_ok(clFinish(queues[i % 2]));
    }
    proof_ok(clEnqueueReadBuffer(queues[0], buffers[1], CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL));
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(values[i], 1 + 5 + 1);
    for (unsigned i = 0; i < 2; i++) {
        clReleaseMemObject(buffers[i]);
        clReleaseCommandQueue(queues[i]);
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_its_own_text)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
