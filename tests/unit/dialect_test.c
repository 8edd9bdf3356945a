/* variant: none TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=none */
/*
 * What a member's compiler is given: an older version where it is older, and a prelude that takes away what the virtual
 * device doesn't promise. The virtual device has no member here, so it promises nothing.
 */
#include "program/dialect.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

/* A member that answers these four questions. */
static struct {
    const char *version, *c_version, *extensions;
    cl_uint newest; /* in CL_DEVICE_OPENCL_C_ALL_VERSIONS; 0: rubbish */
} member;

static cl_int give(const void *data, size_t data_size, size_t size, void *value, size_t *size_ret)
{
    if (size_ret)
        *size_ret = data_size;
    if (value && size < data_size)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, data, data_size);
    return CL_SUCCESS;
}

static cl_int info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    cl_name_version newest = {.version = member.newest ? member.newest : 0xffffffff, .name = "OpenCL C"};

    (void)path;
    switch (param) {
    case CL_DEVICE_VERSION:
        return give(member.version, strlen(member.version) + 1, size, value, size_ret);
    case CL_DEVICE_OPENCL_C_VERSION:
        return give(member.c_version, strlen(member.c_version) + 1, size, value, size_ret);
    case CL_DEVICE_EXTENSIONS:
        return give(member.extensions, strlen(member.extensions) + 1, size, value, size_ret);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return give(&newest, sizeof(newest), size, value, size_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

static const struct tsl_driver driver = {.name = "test", .info = info};
static const struct tsl_path path = {.driver = &driver};

static void member_is(const char *version, const char *c_version, cl_uint newest, const char *extensions)
{
    member.version = version;
    member.c_version = c_version;
    member.newest = newest;
    member.extensions = extensions;
}

static struct tsl_dialect choose(const char *text, struct tsl_build_options *options)
{
    struct tsl_dialect dialect;

    assert_int_equal(tsl_build_options_read(text, options), CL_SUCCESS);
    tsl_dialect_choose(tsl_device_root(), &path, options, &dialect);
    return dialect;
}

static void std_is(const char *text, unsigned std, bool translated)
{
    struct tsl_build_options options;
    struct tsl_dialect dialect = choose(text, &options);

    assert_int_equal(dialect.std, std);
    assert_int_equal(dialect.translated, translated);
}

/* Heap. */
static char *source_of(const char *text, const char *source)
{
    struct tsl_build_options options;
    struct tsl_dialect dialect = choose(text, &options);
    size_t size = strlen(source);
    char *result = tsl_dialect_source(tsl_device_root(), &path, &options, &dialect, source, &size);

    assert_non_null(result);
    assert_int_equal(strlen(result), size);
    return result;
}

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);

    for (const char *at = text; (at = strstr(at, line)); at += n)
        if ((at == text || at[-1] == '\n') && at[n] == '\n')
            return true;
    return false;
}

/* ---- Versions ---------------------------------------------------------------------------------------------------- */

static void a_version_that_the_member_has_is_kept(void **state)
{
    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "");
    std_is("-cl-std=CL3.0", 300, false);
    std_is("-cl-std=CL2.0", 200, false);
    std_is("-cl-std=CL1.1", 110, false);
}

static void an_older_member_gets_its_newest(void **state)
{
    (void)state;
    member_is("OpenCL 1.2 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), ""); /* before 3.0 the list isn't believed */
    std_is("-cl-std=CL3.0", 120, true);
    std_is("-cl-std=CL2.0", 120, true);
    std_is("-cl-std=CL1.2", 120, false);
    member_is("OpenCL 1.1 x", "OpenCL C 1.1 x", 0, "");
    std_is("-cl-std=CL1.2", 110, true);
}

/* Its compiler isn't told: PoCL 6.0 lacks functions in OpenCL C 1.2, which it doesn't take by itself. */
static void meant_is(const char *text, unsigned meant)
{
    struct tsl_build_options options;
    struct tsl_dialect dialect = choose(text, &options);
    char *options_text = tsl_build_options_with(&options, dialect.std, false);

    assert_int_equal(dialect.meant, meant);
    assert_string_equal(options_text, text);
    free(options_text);
}

static void without_a_version_opencl_c_1_is_meant(void **state)
{
    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "");
    std_is("-DX", 0, false);
    meant_is("-DX", 120);
    meant_is("-cl-std=CL3.0", 0);
    member_is("OpenCL 1.1 x", "OpenCL C 1.1 x", 0, "");
    meant_is("", 110);
    meant_is("-cl-std=CLC++", 0); /* the vendor's matter */
}

/* ---- Preludes ---------------------------------------------------------------------------------------------------- */

static void what_is_not_promised_is_taken_away(void **state)
{
    char *text;

    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "cl_khr_fp64 cl_vendor_thing");
    text = source_of("", "kernel void f() {}\n");
    assert_true(has_line(text, "#undef cl_khr_fp64"));
    assert_true(has_line(text, "#undef cl_vendor_thing"));
    assert_true(has_line(text, "#undef cl_khr_fp16")); /* compilers define it whatever the device says */
    assert_true(has_line(text, "#undef __IMAGE_SUPPORT__"));
    assert_true(has_line(text, "#undef __opencl_c_int64"));
    assert_non_null(strstr(text, "#line 1\nkernel void f() {}\n"));
    free(text);
}

/* By which Clang finds its own functions: in OpenCL C 2.0 by those that it defines itself. */
static void compilers_keep_the_features_of_functions(void **state)
{
    static const char generic[] = "#undef __opencl_c_generic_address_space",
                      named[] = "#define __opencl_c_named_address_space_builtins 1";
    char *text;

    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "cl_khr_fp64");
    text = source_of("-cl-std=CL2.0", "");
    assert_null(strstr(text, "__opencl_c_"));
    assert_true(has_line(text, "#undef cl_khr_fp64"));
    free(text);
    text = source_of("-cl-std=CLC++", "");
    assert_null(strstr(text, "__opencl_c_"));
    free(text);
    text = source_of("-cl-std=CL3.0", "");
    assert_true(has_line(text, generic));
    assert_true(has_line(text, named));
    free(text);
    text = source_of("-cl-std=CL3.0 -D__opencl_c_generic_address_space=1", "");
    assert_false(has_line(text, generic));
    assert_false(has_line(text, named));
    free(text);
    text = source_of("-cl-std=CL1.2", "");
    assert_true(has_line(text, generic));
    assert_false(has_line(text, named));
    free(text);
}

/* Which many an editor writes, and compilers take at the beginning of a file alone. */
static void a_byte_order_mark_is_not_amid_the_text(void **state)
{
    char *text;

    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "cl_khr_fp64");
    text = source_of("", "\xef\xbb\xbfkernel void f() {}\n");
    assert_non_null(strstr(text, "#line 1\nkernel void f() {}\n"));
    free(text);
    text = source_of("", "kernel \xef\xbb\xbf"); /* elsewhere it is the compiler's matter */
    assert_non_null(strstr(text, "#line 1\nkernel \xef\xbb\xbf"));
    free(text);
}

static void what_the_application_names_is_left_alone(void **state)
{
    char *text;

    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "cl_khr_fp64");
    text = source_of("-D cl_khr_fp64=7", "");
    assert_false(has_line(text, "#undef cl_khr_fp64"));
    free(text);
}

static void names_that_are_none_stay_out(void **state)
{
    char *text;

    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "good_one bad\"one 3bad \n#error two\nlines");
    text = source_of("", "");
    assert_true(has_line(text, "#undef good_one"));
    assert_null(strstr(text, "bad\""));
    assert_null(strstr(text, "3bad"));
    assert_null(strstr(text, "#error"));
    free(text);
}

static void a_translated_member_says_the_version_asked_for(void **state)
{
    char *text;

    (void)state;
    member_is("OpenCL 1.2 x", "OpenCL C 1.2 x", 0, "");
    text = source_of("-cl-std=CL3.0", "");
    assert_true(has_line(text, "#define __OPENCL_C_VERSION__ 300"));
    assert_true(has_line(text, "#define CL_VERSION_3_0 300"));
    assert_true(has_line(text, "#define __OPENCL_VERSION__ 300")); /* the virtual device's */
    free(text);
    text = source_of("-cl-std=CL2.0", "");
    assert_true(has_line(text, "#define __OPENCL_C_VERSION__ 200"));
    assert_false(has_line(text, "#define CL_VERSION_3_0 300"));
    free(text);
    text = source_of("-cl-std=CL1.2", "");
    assert_null(strstr(text, "__OPENCL_C_VERSION__"));
    free(text);
}

static void a_member_of_a_newer_default_says_the_version_that_is_meant(void **state)
{
    char *text;

    (void)state;
    member_is("OpenCL 3.0 x", "OpenCL C 1.2 x", CL_MAKE_VERSION(3, 0, 0), "");
    text = source_of("", "");
    assert_true(has_line(text, "#if __OPENCL_C_VERSION__ > 120"));
    assert_true(has_line(text, "#define __OPENCL_C_VERSION__ 120"));
    free(text);
    text = source_of("-D__OPENCL_C_VERSION__=7", "");
    assert_null(strstr(text, "__OPENCL_C_VERSION__"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_that_the_member_has_is_kept),
        cmocka_unit_test(an_older_member_gets_its_newest),
        cmocka_unit_test(without_a_version_opencl_c_1_is_meant),
        cmocka_unit_test(what_is_not_promised_is_taken_away),
        cmocka_unit_test(a_byte_order_mark_is_not_amid_the_text),
        cmocka_unit_test(compilers_keep_the_features_of_functions),
        cmocka_unit_test(what_the_application_names_is_left_alone),
        cmocka_unit_test(names_that_are_none_stay_out),
        cmocka_unit_test(a_translated_member_says_the_version_asked_for),
        cmocka_unit_test(a_member_of_a_newer_default_says_the_version_that_is_meant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
