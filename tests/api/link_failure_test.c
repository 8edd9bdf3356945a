/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* timeout: 120 */
/*
 * A link that fails. On PoCL alone: oclgrind accepts a program that lacks a function, and crashes if a function is
 * defined twice.
 */
#include "begin.h"

static void a_failed_link_leaves_a_program(void **state)
{
    const char *source = "int helper(int x);\nkernel void answer(global int *out) { *out = helper(1); }\n";
    cl_context context = make_context();
    cl_program object = clCreateProgramWithSource(context, 1, &source, NULL, NULL), program;
    cl_build_status status = 77;
    char log[8192] = "";
    cl_int error = 1;
    (void)state;

    assert_int_equal(clCompileProgram(object, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    program = clLinkProgram(context, 0, NULL, NULL, 1, &object, NULL, NULL, &error);
    assert_int_equal(error, CL_LINK_PROGRAM_FAILURE);
    /* The link began, so there is a program, which tells that it failed, and why. */
    assert_non_null(program);
    assert_int_equal(
        clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL),
        CL_SUCCESS);
    assert_int_equal(status, CL_BUILD_ERROR);
    assert_int_equal(clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
                     CL_SUCCESS);
    assert_non_null(strstr(log, "failed"));
    assert_refused(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(program, "answer", err));
    clReleaseProgram(program);
    clReleaseProgram(object);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_failed_link_leaves_a_program)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
