/* variant: cpu TESELA_SPIRV=off TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
/* variant: missing TESELA_SPIRV=/nowhere/llvm-spirv TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
/* Without the program that reads it, no SPIR-V is offered, and none is taken. */
#include "begin.h"

static void none_is_taken(void **state)
{
    static const cl_uint module[] = {0x07230203, 0x00010000, 0, 1, 0};
    cl_context context = make_context();
    char text[64] = "?";
    cl_int error;
    (void)state;

    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_IL_VERSION, sizeof(text), text, NULL), CL_SUCCESS);
    assert_string_equal(text, "");
    assert_null(clCreateProgramWithIL(context, module, sizeof(module), &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_is_taken)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
