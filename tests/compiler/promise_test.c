/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
/*
 * What the virtual device promises for one member's sake (here the built-in CPU's read-write images), others see, too:
 * all members compile one text.
 */
#include "program/dialect.h"

#include "kc_env.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define PROMISED "__opencl_c_read_write_images"

/* Another member, of OpenCL 3.0: whether it has the feature itself. */
static bool has_feature;

static cl_int info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    const cl_name_version feature = {.version = CL_MAKE_VERSION(3, 0, 0), .name = PROMISED};
    const cl_name_version newest = {.version = CL_MAKE_VERSION(3, 0, 0), .name = "OpenCL C"};
    const void *answer = "OpenCL 3.0 x";
    size_t length = sizeof("OpenCL 3.0 x");

    (void)path;
    if (param == CL_DEVICE_OPENCL_C_FEATURES || param == CL_DEVICE_OPENCL_C_ALL_VERSIONS) {
        answer = param == CL_DEVICE_OPENCL_C_FEATURES ? &feature : &newest;
        length = param == CL_DEVICE_OPENCL_C_FEATURES && !has_feature ? 0 : sizeof(newest);
    } else if (param != CL_DEVICE_VERSION) {
        return CL_INVALID_VALUE;
    }
    if (size_ret)
        *size_ret = length;
    if (value && size >= length)
        memcpy(value, answer, length);
    return CL_SUCCESS;
}

static bool defines(const char *options_text)
{
    static const struct tsl_driver driver = {.name = "test", .info = info};
    static const struct tsl_path path = {.driver = &driver};
    struct tsl_build_options options;
    struct tsl_dialect dialect;
    size_t size = 0;

    assert_int_equal(tsl_build_options_read(options_text, &options), CL_SUCCESS);
    tsl_dialect_choose(tsl_device_root(), &path, &options, &dialect);
    assert_false(dialect.translated);
    char *text = tsl_dialect_source(tsl_device_root(), &path, &options, &dialect, "", &size);
    bool found = text && strstr(text, "#define " PROMISED " 1\n");

    free(text);
    return found;
}

static void a_member_sees_what_another_has(void **state)
{
    (void)state;
    kc_use(NULL);
    has_feature = false;
    assert_true(defines("-cl-std=CL3.0"));
    assert_false(defines("-cl-std=CL3.0 -D" PROMISED "=7")); /* the application's own */
    assert_false(defines("-cl-std=CL1.2"));                  /* features are of OpenCL C 3.0 */
    has_feature = true;
    assert_false(defines("-cl-std=CL3.0")); /* its compiler does */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_member_sees_what_another_has)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
