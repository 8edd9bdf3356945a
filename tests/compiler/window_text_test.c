/*
 * The text with which vendors launch windows (compiler/front/windows.hpp): kernels that ask for more of a launch than
 * global ids get parameters, whatever way the question goes; texts that can't be made so are refused; and what is told
 * of its kernels is what the text does.
 */
#include "footprint/format.h"

#include "kc_env.h"

static struct tsl_compiled compiled;

static char *make(const char *source, const char *options)
{
    struct tsl_wire_build request = kc_request(source, options);

    request.target = TSL_WIRE_WINDOWS;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    return compiled.built.artefact_size ? strndup(compiled.built.artefact, compiled.built.artefact_size) : NULL;
}

struct row {
    const char *source;
    const char *expected; /* the end of the text, or a part of the reason why there is none */
    bool refused;
    const char *options;
};

/* False, and a message: it isn't so. */
static bool is_so(const struct row *row)
{
    char *text = make(row->source, row->options ? row->options : "");
    const char *found = text ? text : compiled.built.log;
    size_t length = strlen(row->expected), all = strlen(found);
    bool so = row->refused ? !text && strstr(found, row->expected)
                           : text && all >= length && !strcmp(found + all - length, row->expected);

    if (!so)
        print_error("for\n%s\nthere is\n%s\n", row->source, found);
    tsl_compiled_finish(&compiled);
    free(text);
    return so;
}

static void check(const struct row *rows, size_t n)
{
    unsigned n_wrong = 0;

    for (size_t i = 0; i < n; i++)
        n_wrong += !is_so(&rows[i]);
    assert_int_equal(n_wrong, 0);
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

#define P       "__TSL_PARAMETERS"
#define L       "__TSL_LAUNCH"
#define KERNEL  "kernel void k(global uint *a) { a[get_global_id(0)] = "
#define KERNELP "kernel void k(global uint *a, " P ") { a[get_global_id(0)] = "

static void kernels_that_ask_get_parameters(void **state)
{
    static const struct row rows[] = {
        {KERNEL "1; }\n", KERNEL "1; }\n", false, NULL},
        {KERNEL "get_local_size(0) + get_work_dim(); }\n", KERNEL "get_local_size(0) + get_work_dim(); }\n", false,
         NULL},
        {KERNEL "get_group_id(1); }\n", KERNELP "__tsl_get_group_id(1, " L "); }\n", false, NULL},
        {KERNEL "get_num_groups(0) + get_global_size(0) + get_global_offset(2); }\n",
         KERNELP "__tsl_get_num_groups(0, " L ") + __tsl_get_global_size(0, " L ") + __tsl_get_global_offset(2, " L
                 "); }\n",
         false, NULL},
        {KERNEL "get_global_linear_id(); }\n", KERNELP "__tsl_get_global_linear_id(" L "); }\n", false,
         "-cl-std=CL2.0"},
        {KERNEL "get_group_id(get_group_id (0)); }\n",
         KERNELP "__tsl_get_group_id(__tsl_get_group_id (0, " L "), " L "); }\n", false, NULL},
        {KERNEL "as_uint((uint)get_group_id(0)); }\n", KERNELP "as_uint((uint)__tsl_get_group_id(0, " L ")); }\n",
         false, NULL},
        {"uint f(void) { return get_group_id(0); }\n" KERNEL "f(); }\n",
         "uint f(" P ") { return __tsl_get_group_id(0, " L "); }\n" KERNELP "f(" L "); }\n", false, NULL},
        {"uint f(uint);\nuint g(uint i) { return f(i); }\n" KERNEL
         "g(1); }\nuint f(uint i) { return get_group_id(i); }\n",
         "uint f(uint, " P ");\nuint g(uint i, " P ") { return f(i, " L "); }\n" KERNELP "g(1, " L
         "); }\nuint f(uint i, " P ") { return __tsl_get_group_id(i, " L "); }\n",
         false, NULL},
        {KERNEL "get_group_id(0); }\nkernel void l(global uint *b) { k(b); }\nkernel void m() { }\n",
         KERNELP "__tsl_get_group_id(0, " L "); }\nkernel void l(global uint *b, " P ") { k(b, " L
                 "); }\nkernel void m() { }\n",
         false, NULL},
    };

    (void)state;
    CHECK(rows);
}

/* The text has no directives: nobody decides again. */
static void macros_are_gone(void **state)
{
    static const struct row rows[] = {
        {"#define G get_group_id\n" KERNEL "G(0); }\n", KERNELP "__tsl_get_group_id(0, " L "); }\n", false, NULL},
        {"#define G(x) get_##x(0) + N\n" KERNEL "G(group_id); }\n", KERNELP "__tsl_get_group_id(0, " L ") + 7; }\n",
         false, "-DN=7 -D unused=1"},
        {"#ifdef __oclgrind__\n#define V 1\n#else\n#define V 2\n#endif\n" KERNEL "V; }\n", KERNEL "2; }\n", false,
         NULL},
        {"#if __OPENCL_VERSION__ >= 120 && defined(cl_khr_fp64)\n#define V 3\n#endif\n" KERNEL "V; }\n",
         KERNEL "3; }\n", false, NULL},
        {KERNEL "CLK_LOCAL_MEM_FENCE; } // ours\n", KERNEL "CLK_LOCAL_MEM_FENCE; }\n", false, NULL},
        {"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" KERNEL "1; }\n",
         "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" KERNEL "1; }\n", false, NULL},
        {"#ifndef M_PI_F\n#define M_PI_F 3\n#endif\n" KERNEL "M_PI_F; }\n", KERNEL "3; }\n", false, NULL},
        {KERNEL "INFINITY > 1; }\n", KERNEL "INFINITY > 1; }\n", false, "-Wall"},
    };

    (void)state;
    CHECK(rows);
}

static void what_cannot_be_told_is_refused(void **state)
{
    static const struct row rows[] = {
        {KERNEL "__my; }\n", "it has __my", true, NULL},
        {"typedef uint F(void);\nF f;\nuint f(void) { return get_group_id(0); }\n" KERNEL "f(); }\n", "odd way", true,
         NULL},
        {"kernel void k(global uint *a, ulong16 b, ulong16 c, ulong16 d, ulong16 e, ulong16 f, ulong16 g, ulong16 h)\n"
         "{ a[get_group_id(0)] = 1; }\n",
         "too many parameters", true, NULL},
        {"#ifdef __NV_CL_C_VERSION\n#endif\n#define X(y) __attribute__((address_space(y)))\n" KERNEL
         "1; X(1) uint *p = 0; }\n",
         "address_space", true, NULL},
        {KERNEL "get_group_id(0); }\nvoid f(void) { void (^b)(void) = ^{ }; b(); }\n", "blocks", true, "-cl-std=CL2.0"},
        {KERNEL "wrong; }\n", "undeclared", true, NULL},
        {KERNEL "1; }\n", "the versions are", true, "-cl-std=CL9.0"},
    };

    (void)state;
    CHECK(rows);
}

/* Facts are of the text, without its parameters; who asks by a function of its own asks, too. */
static void facts_are_of_the_text(void **state)
{
    const struct tsl_wire_kernel *kernels;
    char *text = make("#ifdef __oclgrind__\n#define TO b\n#else\n#define TO a\n#endif\n"
                      "uint f(void) { return get_group_id(0); }\n"
                      "kernel void one(global uint *a, global uint *b) { TO[get_global_id(0)] = f(); }\n"
                      "kernel void two(global uint *a, global uint *b) { TO[get_global_id(0)] = b[0]; }\n",
                      "");

    (void)state;
    assert_non_null(text);
    assert_int_equal(compiled.built.n_kernels, 2);
    kernels = compiled.built.kernels;
    assert_true(kernels[0].facts.whole_launch);
    assert_false(kernels[1].facts.whole_launch);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(kernels[i].facts.n_args, 2);
        assert_int_equal(kernels[i].facts.args[0].may, TSL_MAY_WRITE);
        assert_false(kernels[i].facts.args[1].may & TSL_MAY_WRITE);
        assert_non_null(kernels[i].facts.footprint);
    }
    free(text);
    tsl_compiled_finish(&compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_ask_get_parameters),
        cmocka_unit_test(macros_are_gone),
        cmocka_unit_test(what_cannot_be_told_is_refused),
        cmocka_unit_test(facts_are_of_the_text),
    };

    kc_use(NULL);
    kc_use_no_cache();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
