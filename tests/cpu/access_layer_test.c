/*
 * The layer that checks our compiler's findings about vendors' kernels (tests/layer/access_layer.h): it accepts what is
 * true, and reports what isn't. Natively on vendors.
 */
/* variant: pocl OCL_ICD_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread OPENCL_LAYERS={build}/tests/access-layer.so */
/* variant: oclgrind OCL_ICD_VENDORS={build}/vendors-oclgrind OPENCL_LAYERS={build}/tests/access-layer.so */
#include "child.h"

#include "../layer/access_layer.h"

#include <CL/cl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { n_ints = 64 };

static const char source[] =
    "kernel void f(global int *y, global int *x) { y[get_global_id(0)] = x[get_global_id(0)] + 1; }\n";

/* y and x may be the same. */
static void run(bool same)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    size_t n = n_ints;
    const char *text = source;

    must(!clGetPlatformIDs(1, &platform, NULL) && !clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    must(!clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "f", &error);
    cl_int values[n_ints] = {0};
    cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &error);
    cl_mem y = same ? x : clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof values, NULL, &error);

    for (unsigned i = 0; i < 3; i++) {
        must(!clSetKernelArg(kernel, 0, sizeof y, &y) && !clSetKernelArg(kernel, 1, sizeof x, &x));
        must(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL) && !clFinish(queue));
    }
    exit(0);
}

static void run_both(void)
{
    run(false);
}

static void run_on_one(void)
{
    run(true);
}

static const struct access_counts *count(char *path, size_t size)
{
    const struct access_counts *counts;
    int file;

    snprintf(path, size, "/tmp/tesela-access-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0 && ftruncate(file, sizeof *counts) == 0);
    setenv("ACCESS_COUNTS", path, 1);
    counts = mmap(NULL, sizeof *counts, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    assert_ptr_not_equal(counts, MAP_FAILED);
    return counts;
}

static void what_is_true_goes_by(void **state)
{
    char path[64];
    const struct access_counts *counts = count(path, sizeof path);

    (void)state;
    assert_int_equal(ending(run_both), 0);
    assert_int_equal(counts->known, 1);
    assert_int_equal(counts->launches, 3);
    assert_int_equal(counts->copies, 3);
    assert_int_equal(counts->skipped + counts->shared + counts->differences, 0);
    unlink(path);
}

static void what_is_written_by_another_argument_is_not_looked_at(void **state)
{
    char path[64];
    const struct access_counts *counts = count(path, sizeof path);

    (void)state;
    assert_int_equal(ending(run_on_one), 0);
    assert_int_equal(counts->shared, 3);
    assert_int_equal(counts->copies, 0);
    unlink(path);
}

static void a_lie_is_found(void **state)
{
    char path[64];
    const struct access_counts *counts = count(path, sizeof path);

    (void)state;
    setenv("ACCESS_LIE", "1", 1);
    assert_int_equal(ending(run_both), 1000 + SIGABRT);
    unsetenv("ACCESS_LIE");
    assert_int_equal(counts->differences, 1);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_true_goes_by),
        cmocka_unit_test(what_is_written_by_another_argument_is_not_looked_at),
        cmocka_unit_test(a_lie_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
