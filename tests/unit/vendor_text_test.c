/* Finding in a program's text what some vendors' compilers die of, and in PTX the kernels. */
#include "opencl/program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static bool uses(const char *source, const char *header)
{
    struct tsl_program_header one = {"h", header ? header : "", header ? strlen(header) : 0};
    struct tsl_program_headers headers = {header ? 1 : 0, &one};
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = source, .size = strlen(source)};

    return tsl_opencl_deadly_text(&(struct tsl_opencl_quirks){.extern_kills = true}, &input, &headers) != NULL;
}

static bool mixes(const char *source)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = source, .size = strlen(source)};

    assert_null(tsl_opencl_deadly_text(&(struct tsl_opencl_quirks){.extern_kills = true}, &input, NULL));
    return tsl_opencl_deadly_text(&(struct tsl_opencl_quirks){.sampler_mix_kills = true}, &input, NULL) != NULL;
}

#define USE "kernel void k(global float *p) { *p = a[0]; }"

static void variables_that_are_used_are_found(void **state)
{
    (void)state;
    assert_true(uses("extern constant float a; kernel void k(global float *p) { *p = a; }", NULL));
    assert_true(uses("extern constant float a[4];" USE, NULL));
    assert_true(uses("extern constant float b, a[SIZE(4)];" USE, NULL));
    assert_true(uses("extern __attribute__((aligned(16))) constant float a[];" USE, NULL));
    assert_true(uses("extern constant struct bar { float x, y; } a;" USE, NULL));
    assert_true(uses("#define EXT extern\nEXT constant float a[4];" USE, NULL));
    assert_true(uses("extern int f(int);\nextern constant float *a;" USE, NULL));
}

static void headers_count(void **state)
{
    (void)state;
    assert_true(uses("#include \"h\"\n" USE, "extern constant float a[4];\n"));
    assert_false(uses("#include \"h\"\n" USE, "extern constant float b[4];\n"));
    assert_true(uses("extern constant float a[4];\n#include \"h\"\n", USE));
}

static void everything_else_is_left_alone(void **state)
{
    (void)state;
    assert_false(uses(USE, NULL));
    assert_false(uses("extern constant float a;", NULL));
    assert_false(uses("extern constant float a; kernel void k(global float *aa) { *aa = 1; }", NULL));
    assert_false(uses("extern int a(int); kernel void k(global int *p) { *p = a(1); }", NULL));
    assert_false(uses("extern kernel void a(global int *p); kernel void k(global int *p) { a(p); }", NULL));
    assert_false(uses("constant float externals[4]; kernel void k(global float *p) { *p = externals[0]; }", NULL));
    assert_false(uses("extern constant float a = 1; kernel void k(global float *p) { *p = a; }", NULL));
    assert_false(uses("", NULL));
    assert_false(uses("extern", NULL));
    assert_false(uses("extern constant float a[", NULL));
    assert_false(uses("extern constant float a", NULL));
}

#define CONSTANT "constant sampler_t c = CLK_FILTER_NEAREST;"
#define ARGUMENT \
    "kernel void k(read_only image2d_t i, sampler_t s, global float4 *p) { *p = read_imagef(i, s, (int2)(0)); }"

static void samplers_of_both_kinds_are_found(void **state)
{
    (void)state;
    assert_true(mixes(CONSTANT ARGUMENT));
    assert_true(mixes(ARGUMENT "kernel void b(global int *p) { const sampler_t c = CLK_FILTER_LINEAR; *p = 1; }"));
    assert_true(mixes("float4 f(image2d_t i, sampler_t);" CONSTANT));
    assert_false(mixes(CONSTANT CONSTANT));
    assert_false(mixes(ARGUMENT ARGUMENT));
    assert_false(mixes("const sampler_t"));
    assert_false(mixes("int my_sampler_t = 1;" ARGUMENT));
    assert_false(mixes(""));
}

static void assert_names(const char *ptx, const char *expected)
{
    char *names = tsl_opencl_ptx_names(ptx, strlen(ptx));

    assert_non_null(names);
    assert_string_equal(names, expected);
    free(names);
}

static void kernels_are_found_in_ptx(void **state)
{
    (void)state;
    assert_names("", "");
    assert_names("//\n.version 8.8\n.target sm_90\n\n\t// .globl\tone\n\n.entry one(\n\t.param .u64 one_param_0\n)\n{\n"
                 "\tret;\n}\n.visible .entry two_2$(\n)\n{\n}\n.weak .entry _3\n(\n)\n.visible .func entry(\n)",
                 "one;two_2$;_3");
    assert_names("// .entry commented(\n .entry inside(\n.entry last", "last");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplers_of_both_kinds_are_found),
        cmocka_unit_test(variables_that_are_used_are_found),
        cmocka_unit_test(headers_count),
        cmocka_unit_test(everything_else_is_left_alone),
        cmocka_unit_test(kernels_are_found_in_ptx),
    };

    return cmocka_run_group_tests_name("vendor_text", tests, NULL, NULL);
}
