/* What build options mean to every member, and that a member whose build fails isn't left out in silence. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl TESELA_LOG=warn */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind TESELA_LOG=warn */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_LOG=warn */
/* variant: turns TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_LOG=warn */
/* any: TESELA_LOG=warn */
#include "begin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static cl_context context;
static cl_command_queue queue;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static char *said_by_build(const char *text, const char *options, cl_program *program)
{
    FILE *caught = tmpfile();
    int real = dup(STDERR_FILENO);
    char *said = calloc(1, 4096);

    assert_true(caught && real >= 0 && said);
    *program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    dup2(fileno(caught), STDERR_FILENO);
    cl_int error = clBuildProgram(*program, 0, NULL, options, NULL, NULL);
    dup2(real, STDERR_FILENO);
    close(real);
    rewind(caught);
    said[fread(said, 1, 4095, caught)] = '\0';
    fclose(caught);
    assert_int_equal(error, CL_SUCCESS);
    return said;
}

/* Each member computes it, in turns where there are several. */
static void value_is(const char *options, cl_int expected)
{
    cl_program program;
    char *said = said_by_build("kernel void value(global int *out) { out[0] = V; }", options, &program);
    cl_kernel kernel = clCreateKernel(program, "value", NULL);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, sizeof(cl_int));
    const size_t one = 1;

    assert_null(strstr(said, "could not be built"));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    for (int i = 0; i < 4; i++) {
        cl_int value = -1;

        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(value, expected);
    }
    free(said);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static void an_apostrophe_is_no_quote(void **state)
{
    (void)state;
    value_is("-D V='A'", 'A');
    value_is("-DV='A' -DW=1", 'A');
    value_is("-D V='\\\\'", '\\');
    value_is("-D V='\\''", '\'');
    value_is("-D \"V='A'\"", 'A');
    value_is("-D \"V= 8\" -D W='B'", 8);
}

/* PoCL's compiler refuses it, oclgrind's and ours know it. */
static void a_level_of_optimisation_is_no_error(void **state)
{
    (void)state;
    value_is("-O3 -DV=7", 7);
}

/* Whoever looks for the reason why a device has nothing to do finds it in the log. */
static void a_member_left_out_is_told(void **state)
{
    cl_uint n = 1;
    cl_program program;
    char *said;
    (void)state;

    clGetDeviceInfo(our_device(), CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof n, &n, NULL);
    if (n < 2 || !getenv("TESELA_POLICY"))
        return;
    /* PoCL's compiler defines the macro, oclgrind's doesn't. */
    said = said_by_build("#ifdef POCL_DEVICE_ADDRESS_BITS\nkernel void only(global int *out) { out[0] = 1; }\n#else\n"
                         "kernel void only(global int *out) { out[0] = undeclared; }\n#endif\n",
                         "", &program);
    assert_non_null(strstr(said, "program: warn: a program that others run could not be built for opencl:"));
    assert_non_null(strstr(said, "error -11"));
    free(said);
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_apostrophe_is_no_quote),
        cmocka_unit_test(a_level_of_optimisation_is_no_error),
        cmocka_unit_test(a_member_left_out_is_told),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
