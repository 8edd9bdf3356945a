/* The names by which binaries made before are looked for: of a program's text, and of the kernels in it. */
#include "opencl/program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void kernels(const char *text, const char *expected)
{
    char *names = tsl_opencl_kernels_in(text, strlen(text));

    assert_non_null(names);
    assert_string_equal(names, expected);
    free(names);
}

static void definitions_are_found(void **state)
{
    (void)state;
    kernels("kernel void a(global int *x) {} __kernel void b(void){}", "a;b");
    kernels("__kernel\n__attribute__((reqd_work_group_size(1, (2), 1)))\nvoid\nname_1 (int x)", "name_1");
    kernels("kernel void __attribute__((vec_type_hint(int))) a(int x) { }", "a");
    kernels("kernel void a(int x); kernel void a(int x) { }", "a");
    kernels("kernel void aa(int x) { } kernel void a(int x) { }", "aa;a");
}

static void everything_else_is_not(void **state)
{
    (void)state;
    kernels("", "");
    kernels("kernel", "");
    kernels("kernel void", "");
    kernels("kernel void a", "");
    kernels("kernel __attribute__((", "");
    kernels("// kernel void a()\n/* kernel void b() */ void kernels(int x); int kernel(int void_);", "");
    kernels("/* // */ kernel void c() {} // kernel void d()", "c");
    kernels("constant char *t = \"kernel void a() \\\" /*\"; kernel void b() { }", "b");
    kernels("my_kernel void a() {} kernel voids a() {}", "");
    kernels("/* unclosed kernel void a()", "");
}

/* As sha256sum says. */
static void texts_have_names(void **state)
{
    char name[TSL_OPENCL_NAME_SIZE + 1];

    (void)state;
    tsl_opencl_program_name("abc", 3, "", name);
    assert_string_equal(name, "ba7816bf8f01cfea");
    tsl_opencl_program_name("abc", 3, " \t", name);
    assert_string_equal(name, "ba7816bf8f01cfea");
    tsl_opencl_program_name("a", 1, "bc", name);
    assert_string_not_equal(name, "ba7816bf8f01cfea");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_found),
        cmocka_unit_test(everything_else_is_not),
        cmocka_unit_test(texts_have_names),
    };

    return cmocka_run_group_tests_name("vendor_prebuilt", tests, NULL, NULL);
}
