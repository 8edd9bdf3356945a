/* Two copies of Tesela in one process, such as a package's and a wheel's: each runs the kernels that it has built. */
/* variant: alone TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_CACHE=off TESELA_NVIDIA=opencl ASAN_OPTIONS=detect_leaks=1:detect_odr_violation=0 */
#include "test.h"

#include <CL/cl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_COPIES 2
#define N_BUILDS 4

static char folder[] = "/tmp/tesela-copies-XXXXXX";

static void run_shell(const char *text)
{
    char line[4 * PATH_MAX];

    snprintf(line, sizeof(line), text, folder, getenv("TESELA_BUILD"));
    assert_int_equal(system(line), 0);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    run_shell(
        "cd '%s' && b='%s' && cp \"$b/libtesela.so\" . && ln -s \"$b/kc\" \"$b/libtesela-team.so\" . && mkdir icd "
        "&& echo \"$b/libtesela.so\" > icd/a.icd && echo \"$PWD/libtesela.so\" > icd/b.icd");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    run_shell("rm -r '%s'");
    return 0;
}

struct copy {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

static void open_copy(struct copy *copy, cl_platform_id platform)
{
    cl_int error;

    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &copy->device, NULL), CL_SUCCESS);
    copy->context = clCreateContext(NULL, 1, &copy->device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    copy->queue = clCreateCommandQueue(copy->context, copy->device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
}

/* A kernel that answers its number. */
static cl_program build(const struct copy *copy, unsigned number)
{
    char source[128];
    const char *text = source;
    cl_int error;
    cl_program program;

    snprintf(source, sizeof(source), "kernel void answer(global int *to) { *to = %u; }", number);
    program = clCreateProgramWithSource(copy->context, 1, &text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    return program;
}

static unsigned answer_of(const struct copy *copy, cl_program program)
{
    cl_int error, answer = -1;
    cl_kernel kernel = clCreateKernel(program, "answer", &error);
    cl_mem to = clCreateBuffer(copy->context, CL_MEM_READ_WRITE, sizeof(answer), NULL, &error);

    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clEnqueueTask(copy->queue, kernel, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(copy->queue, to, CL_TRUE, 0, sizeof(answer), &answer, 0, NULL, NULL),
                     CL_SUCCESS);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    return (unsigned)answer;
}

static void each_has_its_own_kernels(void **state)
{
    char icd[PATH_MAX];
    cl_platform_id platforms[N_COPIES];
    struct copy copies[N_COPIES];
    cl_program programs[N_BUILDS][N_COPIES];
    cl_uint n;

    (void)state;
    snprintf(icd, sizeof(icd), "%s/icd", folder);
    assert_int_equal(setenv("OCL_ICD_VENDORS", icd, 1), 0);
    assert_int_equal(clGetPlatformIDs(N_COPIES, platforms, &n), CL_SUCCESS);
    assert_int_equal(n, N_COPIES);
    for (unsigned c = 0; c < N_COPIES; c++)
        open_copy(&copies[c], platforms[c]);
    for (unsigned b = 0; b < N_BUILDS; b++)
        for (unsigned c = 0; c < N_COPIES; c++)
            programs[b][c] = build(&copies[c], 10 * b + c);
    for (unsigned b = 0; b < N_BUILDS; b++)
        for (unsigned c = 0; c < N_COPIES; c++) {
            assert_int_equal(answer_of(&copies[c], programs[b][c]), 10 * b + c);
            clReleaseProgram(programs[b][c]);
        }
    for (unsigned c = 0; c < N_COPIES; c++) {
        clReleaseCommandQueue(copies[c].queue);
        clReleaseContext(copies[c].context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(each_has_its_own_kernels, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
