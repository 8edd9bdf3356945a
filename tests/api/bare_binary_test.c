/*
 * A binary from a vendor's own compiler is loaded on the members that take it, and the program runs there: the way in
 * which devices without a compiler get their programs. No member takes garbage.
 */
/* variant: three TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: all TESELA_VENDORS={build}/vendors POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* timeout: 200 */
#include "begin.h"

#include <CL/cl_icd.h>
#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const source = "kernel void answer(global int *x) { x[get_global_id(0)] = 42; }";

/* ---- The vendor, by its own door --------------------------------------------------------------------------------- */

/* The library that the vendor's .icd file names. */
static void *open_vendor(const char *name)
{
    char path[4096], line[4096] = "";
    void *library;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.icd", getenv("TESELA_VENDORS"), name);
    file = fopen(path, "r");
    if (!file)
        return NULL;
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\r\n")] = 0;
    library = dlopen(line, RTLD_NOW);
    assert_non_null(library);
    return library;
}

/* The first words of a handle of ICD 1. */
struct handle {
    const cl_icd_dispatch *dispatch;
};

/* What the vendor's last device makes of the source; NULL: the vendor isn't there. */
static unsigned char *vendor_binary(const char *vendor, size_t *size)
{
    typedef void *(*address_fn)(const char *);
    typedef cl_int (*platforms_fn)(cl_uint, cl_platform_id *, cl_uint *);
    void *library = open_vendor(vendor);
    const cl_icd_dispatch *cl;
    cl_platform_id platform;
    cl_device_id devices[8];
    cl_context context;
    cl_program program;
    unsigned char *binary;
    cl_uint n;
    cl_int error;

    if (!library)
        return NULL;
    assert_int_equal(((platforms_fn)((address_fn)dlsym(library, "clGetExtensionFunctionAddress"))(
                         "clIcdGetPlatformIDsKHR"))(1, &platform, NULL),
                     CL_SUCCESS);
    cl = ((const struct handle *)platform)->dispatch;
    assert_int_equal(cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &n), CL_SUCCESS);
    context = cl->clCreateContext(NULL, 1, &devices[n - 1], NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    program = cl->clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    assert_int_equal(cl->clBuildProgram(program, 1, &devices[n - 1], "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL), CL_SUCCESS);
    assert_true(*size > 0);
    binary = test_malloc(*size);
    assert_int_equal(cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), CL_SUCCESS);
    cl->clReleaseProgram(program);
    cl->clReleaseContext(context);
    return binary;
}

/* ---- Through Tesela ---------------------------------------------------------------------------------------------- */

static void must_answer(cl_context context, cl_device_id device, cl_program program)
{
    cl_int error, values[4] = {0};
    const size_t n = 4;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, sizeof values);
    cl_kernel kernel = clCreateKernel(program, "answer", &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(values[i], 42);
    clReleaseKernel(kernel);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

static void goes_to(cl_device_id device, const unsigned char *binary, size_t size)
{
    cl_int error, status = 77;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_program program, again;
    unsigned char *container;
    size_t container_size;

    assert_int_equal(error, CL_SUCCESS);
    program = clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(status, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    must_answer(context, device, program);
    /* What Tesela gives of it is a binary, too. */
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof container_size, &container_size, NULL),
                     CL_SUCCESS);
    container = test_malloc(container_size);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof container, &container, NULL), CL_SUCCESS);
    again = clCreateProgramWithBinary(context, 1, &device, &container_size, (const unsigned char **)&container, NULL,
                                      &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(again, 1, &device, "", NULL, NULL), CL_SUCCESS);
    must_answer(context, device, again);
    test_free(container);
    clReleaseProgram(again);
    clReleaseProgram(program);
    clReleaseContext(context);
}

/* A member refuses it, or runs it: PoCL takes what oclgrind makes, which is no more than SPIR. */
static void is_refused_or_runs(cl_device_id device, const char *vendor, const unsigned char *binary, size_t size)
{
    char name[256] = "";
    cl_int error, status = 77;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_program program;

    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), CL_SUCCESS);
    program = clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &error);
    assert_int_equal(status, error);
    if (!program)
        assert_int_equal(error, CL_INVALID_BINARY);
    if (strcmp(vendor, "pocl") == 0 && strstr(name, "Oclgrind"))
        assert_null(program);
    if (program) {
        if (clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS)
            must_answer(context, device, program);
        clReleaseProgram(program);
    }
    clReleaseContext(context);
}

static void try_vendor(const char *vendor, bool runs)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    size_t size;
    unsigned char *binary = vendor_binary(vendor, &size);
    cl_device_id subs[8];
    cl_uint n;

    if (!binary)
        return;
    if (runs)
        goes_to(our_device(), binary, size);
    assert_int_equal(clCreateSubDevices(our_device(), by_member, 8, subs, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n; i++) {
        is_refused_or_runs(subs[i], vendor, binary, size);
        assert_int_equal(clReleaseDevice(subs[i]), CL_SUCCESS);
    }
    test_free(binary);
}

static void a_vendors_binary_runs_on_its_members(void **state)
{
    (void)state;
    try_vendor("pocl", true);
    try_vendor("oclgrind", false);
}

/* Cut, changed, or of nobody: no vendor's loader may fall over it. */
static void rubbish_is_refused(void **state)
{
    cl_device_id device = our_device();
    cl_context context = make_context();
    unsigned seed = 1;

    (void)state;
    for (int i = 0; i < 60; i++) {
        unsigned char bytes[4096];
        const unsigned char *binary = bytes;
        size_t size = (size_t)i * i + 1;
        cl_int error, status;

        for (size_t k = 0; k < size && k < sizeof bytes; k++)
            bytes[k] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
        if (i % 3 == 1)
            memcpy(bytes, "\177ELF", size < 4 ? size : 4);
        if (i % 3 == 2)
            memcpy(bytes, "BC\xc0\xde", size < 4 ? size : 4);
        assert_null(clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &error));
        assert_int_equal(error, CL_INVALID_BINARY);
        assert_int_equal(status, CL_INVALID_BINARY);
    }
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vendors_binary_runs_on_its_members),
        cmocka_unit_test(rubbish_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
