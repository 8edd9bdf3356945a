/*
 * What kernels do to their arguments whatever compiler made them: which sources are the same for any
 * (compiler/front/same.cpp), and what is read off their code before any pass (compiler/analysis/argument_access.c).
 */
#include "footprint/evaluate.h"
#include "footprint/format.h"

#include "kc_env.h"

/* One letter for each argument of the first kernel: r, w (may be written), '-' for what isn't global memory. */
static void letters_of(const struct tsl_kernel_facts *facts, char *letters)
{
    for (cl_uint i = 0; i < facts->n_args; i++)
        *letters++ = facts->args[i].kind != TSL_FACT_GLOBAL ? '-' : facts->args[i].may & TSL_MAY_WRITE ? 'w' : 'r';
    *letters = 0;
}

struct program {
    const char *source;
    const char *expected; /* letters; NULL: not the same for any compiler */
    const char *why;      /* part of the reason, where it is worth knowing */
    const char *options;
};

/* False, and a message: it isn't so. */
static bool is_so(const struct program *program)
{
    const char *options = program->options ? program->options : "";
    struct tsl_wire_build request = kc_request(program->source, options);
    struct tsl_compiled compiled;
    char letters[64] = "nothing";
    bool so;

    request.target = TSL_WIRE_ACCESS;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    if (compiled.built.n_kernels)
        letters_of(&compiled.built.kernels[0].facts, letters);
    so = strcmp(letters, program->expected ? program->expected : "nothing") == 0 &&
         (!program->why || strstr(compiled.built.log, program->why));
    if (!so)
        print_error("%s instead of %s (%s) for\n%s\nwith \"%s\":\n%s\n", letters, program->expected, program->why,
                    program->source, options, compiled.built.log);
    tsl_compiled_finish(&compiled);
    return so;
}

static void check(const struct program *programs, size_t n)
{
    unsigned n_wrong = 0;

    for (size_t i = 0; i < n; i++)
        n_wrong += !is_so(&programs[i]);
    assert_int_equal(n_wrong, 0);
}

#define CHECK(programs) check(programs, sizeof(programs) / sizeof((programs)[0]))

#define ARGS   "kernel void f(global int *a, global int *b) "
#define BODY   "{ b[0] = a[0]; }"
#define PLAIN  ARGS BODY
#define BODY_W "{ b[0] = a[0]; a[1] = 0; }"

/* What they do to memory is told where it is known who compiles them; it is the same then. */
static void footprints_come_with_roles(void **state)
{
    struct tsl_wire_build request = kc_request("kernel void f(global int *a, global int *b) {\n"
                                               "  a[get_global_id(0)] = b[get_global_id(0)]; }",
                                               "");
    const struct tsl_footprint *footprint;
    struct tsl_compiled compiled;

    (void)state;
    request.target = TSL_WIRE_ACCESS;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    footprint = compiled.built.kernels[0].facts.footprint;
    assert_non_null(footprint);
    assert_int_equal(footprint->n_accesses, 2);
    assert_int_equal(footprint->accesses[0].argument, 1);
    assert_int_equal(footprint->accesses[1].flags, TSL_ACCESS_SURE);
    tsl_compiled_finish(&compiled);
}

/* How many bytes of the first argument sixteen work-items are said to write; their second scalar is 3. */
static uint64_t n_written(const char *body)
{
    static const struct tsl_window whole = {
        .work_dim = 1, .global_size = {16, 1, 1}, .local_size = {16, 1, 1}, .whole = true};
    const int n = 3;
    struct tsl_argument_value values[3] = {{.memory = 256}, {.memory = 256}, {.value = &n, .size = sizeof(n)}};
    struct tsl_argument_touch touches[3];
    char source[512];
    struct tsl_wire_build request;
    struct tsl_compiled compiled;

    snprintf(source, sizeof(source), "kernel void f(global int *a, global const int *b, int n) { %s }", body);
    request = kc_request(source, "");
    request.target = TSL_WIRE_ACCESS;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    assert_non_null(compiled.built.kernels[0].facts.footprint);
    tsl_footprint_evaluate(compiled.built.kernels[0].facts.footprint, &whole, values, touches);
    tsl_compiled_finish(&compiled);
    return tsl_byte_set_size(&touches[0].write, 256);
}

#define STRUCT "struct s { int x[3]; }; int i = get_global_id(0); global struct s *p = (global struct s *)a; "

/* PoCL makes them with -cl-opt-disable, oclgrind always, which writes a whole vector to change a component. */
static void idle_stores_of_vendors_count(void **state)
{
    (void)state;
    assert_int_equal(n_written("int i = get_global_id(0); a[i] = a[i];"), 64);
    assert_int_equal(n_written("int i = get_global_id(0); a[i] += 0;"), 64);
    assert_int_equal(n_written("int i = get_global_id(0); a[i] ^= n; a[i] ^= n;"), 64);
    assert_int_equal(n_written("int i = get_global_id(0), x; a[i] = x;"), 64);
    assert_int_equal(n_written(STRUCT "if (i < n) p[i] = p[i];"), 36);
    assert_int_equal(n_written(STRUCT "struct s t = p[i]; if (i < n) { t.x[1] = 7; p[i] = t; }"), 36);
    assert_int_equal(n_written(STRUCT "struct s t = p[i]; struct s u = t; if (i < n) p[i] = u;"), 36);
    assert_int_equal(n_written("int i = get_global_id(0); if (i < n) a[i] = b[i]; else a[i] = a[i];"), 64);
    assert_int_equal(n_written("int i = get_global_id(0); ((global int4 *)a)[i].y = 1;"), 256);
    assert_int_equal(n_written("int i = get_global_id(0); if (i < n) a[i] = b[i];"), 12);
    assert_int_equal(
        n_written("int i = get_global_id(0), x[4]; x[i & 3] = b[i]; x[i & 3] = x[i & 3]; if (i < n) a[i] = x[0];"), 12);
}

/* Windows of a vendor's launch answer such questions otherwise (kernel_facts.h). */
static void who_asks_by_a_function_asks(void **state)
{
    struct tsl_wire_build request =
        kc_request("int group(int x) { return (int)get_group_id(0) + x; }\n"
                   "kernel void by_function(global int *a) { a[get_global_id(0)] = group(1); }\n"
                   "kernel void linear(global int *a) { a[get_global_id(0)] = (int)get_global_linear_id(); }\n"
                   "kernel void neither(global int *a) { a[get_global_id(0)] = (int)get_local_id(0); }\n",
                   "-cl-std=CL2.0");
    struct tsl_compiled compiled;

    (void)state;
    request.target = TSL_WIRE_ACCESS;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    assert_int_equal(compiled.built.n_kernels, 3);
    assert_true(compiled.built.kernels[0].facts.whole_launch);
    assert_true(compiled.built.kernels[1].facts.whole_launch);
    assert_false(compiled.built.kernels[2].facts.whole_launch);
    tsl_compiled_finish(&compiled);
}

/* ---- Directives -------------------------------------------------------------------------------------------------- */

static void conditions_may_ask_for_the_programs_own_macros(void **state)
{
    static const struct program programs[] = {
        {PLAIN, "rw", NULL, NULL},
        {"#define N 3\n#if N > 2 && defined(N)\n" PLAIN "\n#else\n" ARGS BODY_W "\n#endif\n", "rw", NULL, NULL},
        {"#define N 1\n#if N > 2\n" PLAIN "\n#else\n" ARGS BODY_W "\n#endif\n", "ww", NULL, NULL},
        {"#if N > 2\n" PLAIN "\n#else\n" ARGS BODY_W "\n#endif\n", "rw", NULL, "-DN=3"},
        {"#if N > 2\n" PLAIN "\n#else\n" ARGS BODY_W "\n#endif\n", "ww", NULL, "-D N=2"},
        {"#ifdef N\n" PLAIN "\n#endif\n", "rw", NULL, "-DN"},
        {"#define A B\n#define B 1\n#if A\n" PLAIN "\n#endif\n", NULL, "a condition on A", NULL},
        {"#ifndef GUARD_H\n#define GUARD_H\n" PLAIN "\n#endif\n", "rw", NULL, NULL},
        {"#ifndef TILE\n  #  define TILE 16\n#endif\n#if TILE > 8\n" PLAIN "\n#endif\n", "rw", NULL, NULL},
        {"#ifndef TILE // mine\n/* really */ #define TILE 16\n#endif\n" PLAIN, "rw", NULL, "-DTILE=2"},
        {"#if 0\n#ifdef __oclgrind__\nwhatever\n#endif\n#endif\n" PLAIN, NULL, "line 2: it has __oclgrind__", NULL},
        {"#if 1\n" PLAIN "\n#elif defined(__oclgrind__)\nwhatever\n#endif\n", NULL, "__oclgrind__", NULL},
        {"#define __MINE 1\n#if __MINE\n" PLAIN "\n#endif\n", NULL, "__MINE", NULL},
    };

    (void)state;
    CHECK(programs);
}

static void conditions_may_not_ask_for_a_compilers_macros(void **state)
{
    static const struct program programs[] = {
        {"#ifdef __oclgrind__\n" PLAIN "\n#else\n" ARGS BODY_W "\n#endif\n", NULL, "line 1: it has __oclgrind__", NULL},
        {"#ifndef __oclgrind__\n" PLAIN "\n#else\n" ARGS BODY_W "\n#endif\n", NULL, "line 1: it has __ocl", NULL},
        {"#ifdef __NV_CL_C_VERSION\n#endif\n" PLAIN, "rw", NULL, NULL}, /* nothing is in it */
        {"#ifdef __NV_CL_C_VERSION\n#define W a\n#else\n#define W b\n#endif\n" ARGS "{ W[0] = 1; }", NULL, NULL, NULL},
        {"#ifdef cl_khr_fp64\n#define W a\n#else\n#define W b\n#endif\n" ARGS "{ W[0] = 1; }", NULL, NULL, NULL},
        {"#if __OPENCL_VERSION__ >= 120\n" PLAIN "\n#endif\n", NULL, "__OPENCL_VERSION__", NULL},
        {"#if __OPENCL_C_VERSION__ >= 120\n" PLAIN "\n#endif\n", NULL, "__OPENCL_C_VERSION__", NULL},
        {"#if defined(cl_khr_fp64) || defined(X)\n" PLAIN "\n#endif\n", NULL, "cl_khr_fp64", NULL},
        {"#if !defined(__IMAGE_SUPPORT__)\n#else\n" PLAIN "\n#endif\n", NULL, "__IMAGE_SUPPORT__", NULL},
        {"#if UNKNOWN\n#else\n" PLAIN "\n#endif\n", NULL, "its own", NULL},
        {"#if UNKNOWN\n#else\n" PLAIN "\n#endif\n", NULL, "its own", "-Werror"},
        {"#if UNKNOWN\n#else\n" PLAIN "\n#endif\n", NULL, "-Wno-undef", "-w -Wno-undef"},
        {"#define A UNKNOWN\n#if A\n#else\n" PLAIN "\n#endif\n", NULL, "its own", NULL},
        {"#define A __oclgrind__\n#if A\n#else\n" PLAIN "\n#endif\n", NULL, "__oclgrind__", NULL},
        {"#define A defined(__oclgrind__)\n#if A\n#else\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#define N 1\n#define A defined(N)\n#if A\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#define N 1\n#define A() defined(N)\n#if A()\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#define N 1\n#if 0\n#elifdef N\n" PLAIN "\n#endif\n", NULL, "lines", NULL},
        {"#define N 1\n#define F(x) x\nF(\n#ifdef N\n" PLAIN "\n#endif\n)", NULL, "among a macro's arguments", NULL},
        {"#define J(a, b) a##b\n#if J(__ocl, grind__)\n#else\n" PLAIN "\n#endif\n", NULL,
         "operators of the preprocessor", NULL},
        {"#if 0\n#elif defined(__oclgrind__)\n#else\n" PLAIN "\n#endif\n", NULL, "__oclgrind__", NULL},
        {"#if __has_include(\"x.h\")\n#else\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#if __has_builtin(__builtin_trap)\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#if __LINE__ == 1\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#ifdef FAST\n#else\n" PLAIN "\n#endif\n", NULL, "FAST", NULL},
        {"#ifndef INTELFPGA_CL\n#define INTELFPGA_CL\n" PLAIN "\n#endif\n", NULL, "INTELFPGA_CL", NULL},
        {"#ifndef __oclgrind__\n#define __oclgrind__\n" PLAIN "\n#endif\n", NULL, "__oclgrind__", NULL},
        {"#ifndef TILE\n#define OTHER 16\n#endif\n" PLAIN, NULL, "TILE", NULL},
        {"#ifndef M_PI\n#define M_PI 3\n#endif\n" PLAIN, NULL, "M_PI", NULL},
        {"#undef __OPENCL_VERSION__\n#ifdef __OPENCL_VERSION__\n#else\n" PLAIN "\n#endif\n", NULL, NULL, NULL},
        {"#if __OPENCL_VERSION__ > 1\n" PLAIN "\n#endif\n", NULL, "__OPENCL_VERSION__", "-D__OPENCL_VERSION__=2"},
        {"#ifdef cl_mine\n" PLAIN "\n#endif\n", NULL, "cl_mine", "-Dcl_mine"},
        {"#if CLK_LOCAL_MEM_FENCE == 1\n" PLAIN "\n#endif\n", NULL, "CLK_LOCAL_MEM_FENCE", NULL},
    };

    (void)state;
    CHECK(programs);
}

static void groups_of_pragmas_alone_are_nothing(void **state)
{
    static const struct program programs[] = {
        {"#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n" PLAIN, "rw", NULL, NULL},
        {"#if defined(cl_khr_fp64)\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#elif defined(cl_amd_fp64)\n"
         "#pragma OPENCL EXTENSION cl_amd_fp64 : enable\n#else\n#error \"no double here\"\n#endif\n" PLAIN,
         "rw", NULL, NULL},
        {"#if __OPENCL_VERSION__ < 120\n/* old\n#define W */\n# pragma OPENCL EXTENSION all : enable\n#endif\n" PLAIN,
         "rw", NULL, NULL},
        {"#ifdef __oclgrind__\n#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : "
         "enable\n#endif\n#endif\n" PLAIN,
         "rw", NULL, NULL},
        {"#ifdef __oclgrind__\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#define W a\n#endif\n" PLAIN, NULL, NULL,
         NULL},
        {"#ifdef __oclgrind__\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nint x;\n#endif\n" PLAIN, NULL, NULL,
         NULL},
        {"#ifdef __oclgrind__\n#ifdef X\n#undef Y\n#endif\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#ifdef __oclgrind__\n#pragma pack(1)\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#ifdef __oclgrind__\n#pragma push_macro(\"W\")\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#ifdef __oclgrind__\n#line 3\n#endif\n" PLAIN, NULL, NULL, NULL},
        /* The group ends where it ends. */
        {"#ifdef __oclgrind__\n#endif\n#ifdef __oclgrind__\n#else\n" PLAIN "\n#endif\n", NULL, "line 3", NULL},
    };

    (void)state;
    CHECK(programs);
}

static void other_directives_and_lines(void **state)
{
    static const struct program programs[] = {
        {"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\n" PLAIN, "rw", NULL, NULL},
        {ARGS "{\n#pragma promote_to_registers\nint t[2] = {a[0], 1}; b[0] = t[t[0] & 1]; }", "rw", NULL, NULL},
        {"kernel void f(global int *a, constant int *b __attribute__((max_constant_size(32)))) { a[0] = b[0]; }", "w-",
         NULL, NULL},
        {ARGS "{\n#pragma unroll 4\nfor (int i = 0; i < 9; i++) b[i] = a[i]; }", "rw", NULL, NULL},
        {"#pragma GCC poison x\n" PLAIN, NULL, "pragma", NULL},
        {"#pragma push_macro(\"W\")\n" PLAIN, NULL, "pragma", NULL},
        {"#pragma once\n" PLAIN, NULL, "pragma", NULL},
        {"_Pragma(\"OPENCL EXTENSION cl_khr_fp64 : enable\")\n" PLAIN, NULL, NULL, NULL},
        {"#define P _Pragma(\"weak f\")\nP\n" PLAIN, NULL, NULL, NULL},
        {"#include \"opencl-c-base.h\"\n" PLAIN, NULL, NULL, NULL},
        {"#include <opencl-c-base.h>\n" PLAIN, NULL, "#include", NULL},
        {"#include \"/etc/hostname.h\"\n" PLAIN, NULL, NULL, NULL},
        {"#define X 1\n#define X 2\n" PLAIN, NULL, "defines X again", NULL},
        {"#define X 1\n#define X 1\n" PLAIN, "rw", NULL, NULL},
        {"#define X 1\n#undef X\n#define X 2\n" PLAIN, "rw", NULL, NULL},
        {"#define X 1\n" PLAIN, NULL, "defines X again", "-DX=2"},
        {PLAIN, NULL, "odd definitions", "-DX=1 -DX=2"},
        {PLAIN, "rw", NULL, "-I/tmp -I . -DX"},
        {PLAIN, NULL, "option -I", "-I -DX"},
        {PLAIN, NULL, "-I", "-I"},
        {PLAIN, NULL, "option", "-I/tmp/a b"},
        {PLAIN, NULL, "option", "-U X"},
        {PLAIN, NULL, "options", "-DX=1\n-DY=2"},
        {PLAIN, NULL, "options", "-DX=\"a b\""},
        {PLAIN, NULL, "options", "-DX=a\\ b"},
        {PLAIN, NULL, NULL, "-cl-vendors-own"},
        {PLAIN, "rw", NULL, "-cl-std=CL3.0 -cl-fast-relaxed-math -w -DX=3 -cl-opt-disable"},
        {PLAIN, "rw", NULL, "-cl-std=CL2.0"},
        {"// what?\?/\n" ARGS BODY_W "\n" PLAIN, NULL, "lines", NULL},
        {"// what \\ \n" ARGS BODY_W "\n" PLAIN, NULL, "lines", NULL},
        {"// what \r" ARGS BODY_W "\n", NULL, "lines", NULL},
        {"#define X \\\n 1\r\n#define Y 2\r\n" PLAIN, "rw", NULL, NULL},
        {"this is an error", NULL, NULL, NULL},
        {"#error no\n" PLAIN, NULL, NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void values_of_compilers_are_in_no_condition(void **state)
{
    static const struct program programs[] = {
        {ARGS "{ b[0] = a[0] + INT_MAX; b[1] = (int)(M_PI_F * FLT_MAX); b[2] = as_int(1.0f); int *p = NULL; }", "rw",
         NULL, NULL},
        {ARGS "{ barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); b[0] = a[0]; }", "rw", NULL, NULL},
        {"#define SYNC() barrier(CLK_LOCAL_MEM_FENCE)\n#define S(f) barrier(f)\n" ARGS
         "{ SYNC(); S(CLK_GLOBAL_MEM_FENCE); mem_fence((CLK_GLOBAL_MEM_FENCE)); b[0] = a[0]; }",
         "rw", NULL, NULL},
        {"void g(global int *a, int f) { if (f == 1) a[0] = 1; }" ARGS "{ g(a, CLK_LOCAL_MEM_FENCE); b[0] = 1; }", "ww",
         NULL, NULL},
        {ARGS "{ if (CLK_LOCAL_MEM_FENCE == 2) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ barrier(CLK_LOCAL_MEM_FENCE == 2 ? (a[0] = 1) : 1); b[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ barrier((a[0] = 1) ? CLK_LOCAL_MEM_FENCE : 1); b[0] = 1; }", "ww", NULL, NULL},
        {"enum { E = CLK_LOCAL_MEM_FENCE };" ARGS "{ if (E == 2) a[0] = 1; b[0] = 1; }", NULL, "constant condition",
         NULL},
        {"#define F CLK_LOCAL_MEM_FENCE\n" ARGS "{ if (F + 1 == 2) a[0] = 1; b[0] = 1; }", NULL, "constant condition",
         NULL},
        {ARGS "{ if (INT_MAX > 0) b[0] = 1; else a[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ switch (1) { case CLK_LOCAL_MEM_FENCE: b[0] = 1; default: a[0] = 1; } }", NULL, "case", NULL},
        {"#define barrier(x) if (x == 2) a[0] = 1\n" ARGS "{ barrier(CLK_LOCAL_MEM_FENCE); b[0] = 1; }", NULL,
         "barrier", NULL},
        {"constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
         "kernel void f(global int *a, read_only image2d_t i) { const sampler_t t = CLK_FILTER_LINEAR;"
         " a[0] = read_imagei(i, s, (int2)(0, 0)).x + read_imagei(i, t, (float2)(0, 0)).x; }",
         "w-", NULL, NULL},
        {"constant int s = CLK_FILTER_NEAREST;" PLAIN, "rw", NULL, NULL},
        {"constant int s = CLK_FILTER_NEAREST;" ARGS "{ if (s == 16) a[0] = 1; b[0] = 1; }", NULL, "constant condition",
         NULL},
        {ARGS "{ sampler_t s = CLK_FILTER_NEAREST == 16 ? (a[0] = 1) : 1; b[0] = 1; }", NULL, NULL, NULL},
        {ARGS "{ b[0] = CLK_RGBA; }", "rw", NULL, NULL},
        {ARGS "{ b[0] = FP_ILOGB0; }", NULL, "FP_ILOGB0", NULL},
        {ARGS "{ if (memory_order_relaxed == 0) a[0] = 1; b[0] = 1; }", NULL, "constant condition", "-cl-std=CL2.0"},
        {ARGS "{ b[0] = __OPENCL_VERSION__; }", NULL, "__OPENCL_VERSION__", NULL},
        {ARGS "{ b[__LINE__] = 1; }", NULL, "__LINE__", NULL},
        {ARGS "{ b[0] = __COUNTER__; }", NULL, "__COUNTER__", NULL},
        {ARGS "{ b[0] = cl_khr_fp64; }", NULL, "cl_khr_fp64", NULL},
    };

    (void)state;
    CHECK(programs);
}

static void words_of_compilers_are_not_the_languages(void **state)
{
    static const struct program programs[] = {
        {"__kernel void f(__global const int *restrict a, __global int *b) " BODY, "rw", NULL, NULL},
        {"__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void f(__global int *a) { a[0] = 1; }", "w", NULL,
         NULL},
        {"__attribute__((always_inline)) int g(int x) { return x; } typedef struct { int x __attribute__((packed)); }"
         " __attribute__((aligned(8), __packed__)) S;" PLAIN,
         "rw", NULL, NULL},
        {"kernel __attribute__((vec_type_hint(float4))) void f(global int *a) { a[0] = 1; }", "w", NULL, NULL},
        {ARGS "{ b[0] = __builtin_popcount(a[0]); }", NULL, "__builtin_popcount", NULL},
        {"#define J(a, b) a b\n" ARGS "{ b[0] = J(__builtin_, popcount)(a[0]); }", NULL, "__builtin_", NULL},
        {ARGS "{ b[0] = X(a[0]); }", NULL, "__builtin_popcount", "-DX=__builtin_popcount"},
        {ARGS "{ asm(\"\"); b[0] = a[0]; }", NULL, NULL, NULL},
        {ARGS "{ __asm__(\"\"); b[0] = a[0]; }", NULL, "__asm__", NULL},
        {ARGS "{ b[0] = _Generic(a[0], int: 1, default: 2); }", NULL, "_Generic", NULL},
        {ARGS "{ b[0] = _mine(a[0]); }", NULL, NULL, NULL},
        {"int _mine(int x) { return x; }" ARGS "{ b[0] = _mine(a[0]); }", NULL, "_mine", NULL},
        {"constant int _mine = 1;" ARGS "{ b[0] = a[_mine]; }", NULL, "_mine", NULL},
        {"struct _mine { int _0; }; kernel void _f(global int *_a, global int *b) { struct _mine _m = {_a[0]}; b[0] = "
         "_m._0; }",
         "rw", NULL, NULL},
        {ARGS "{ int _cl_mine = a[0]; b[0] = _cl_mine; }", NULL, "_cl_mine", NULL},
        {ARGS "{ int _Mine = a[0]; b[0] = _Mine; }", NULL, "_Mine", NULL},
        {"#define _mine 1\n" PLAIN, NULL, "_mine", NULL},
        {"int __attribute__((overloadable)) g(int x) { return x; }" PLAIN, NULL, "overloadable", NULL},
        {"int __attribute__((vendors_own)) g(int x) { return x; }" PLAIN, NULL, "vendors_own", NULL},
        {"int __attribute__((noinline, weak)) g(int x) { return x; }" PLAIN, NULL, "weak", NULL},
        {"typedef int *p __attribute__((address_space(1)));" PLAIN, NULL, "address_space", NULL},
        {"[[vendors::own]] int g(int x) { return x; }" PLAIN, NULL, NULL, NULL},
        {"int nowhere(global int *);" ARGS "{ b[0] = nowhere(a); }", "ww", NULL, NULL},
        {ARGS "{ b[0] = nowhere(a); }", NULL, NULL, NULL},
        {"void vstore4(float4 v, size_t i, const global float *p) {}" PLAIN, NULL, NULL, NULL},
        {"void intel_mine(const global float *p) {}" PLAIN, NULL, "intel_mine", NULL},
        {"void barrier(global int *x) {}" PLAIN, NULL, "barrier", NULL},
        {"int get_random(const global int *x) { return x[0]; }" PLAIN, "rw", NULL, NULL},
        {"int get_queue_of(const global int *x) { return x[0]; }" PLAIN, NULL, "get_queue_of", NULL},
        {"int get_intel_mine(const global int *x) { return x[0]; }" PLAIN, NULL, "get_intel_mine", NULL},
        {"kernel void f(global int *a, global int *b) { void vstores(global int *); vstores(a); b[0] = 1; }", NULL,
         "vstores", NULL},
        {"#define packed weak\nint __attribute__((packed)) g(int x) { return x; }" PLAIN, NULL, "packed", NULL},
        {"#define A __attribute__\nint A((weak)) g(int x) { return x; }" PLAIN, NULL, "without arguments", NULL},
        {"#define A(x) __attribute__((x))\nint A(weak) g(int x) { return x; }" PLAIN, NULL, "attribute", NULL},
        {"#define E\n[E[vendors::own]] int g(int x) { return x; }" PLAIN, NULL, "brackets", NULL},
        {"int sub_group_mine(int x) { return x; }" PLAIN, "rw", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Clang leaves out what they never take, before anybody could see it. */
static void constant_conditions_must_be_of_whole_numbers(void **state)
{
    static const struct program programs[] = {
        {"enum { A = 1, B }; constant int c = 3;" ARGS
         "{ if (B == 1 || c > 3 || !(7 / 2 & 1)) a[0] = 1; b[0] = a[0]; while (1) { b[1] = 2; if (b[0]) break; } }",
         "rw", NULL, NULL},
        {ARGS "{ do b[0] = a[0]; while (0); for (;;) break; if (N > 2) a[1] = 1; }", "rw", NULL, "-DN=1"},
        {ARGS "{ if (0.1 + 0.2 == 0.3) a[0] = 1; b[0] = a[0]; }", NULL, "constant condition", NULL},
        {ARGS "{ b[0] = 0.1 + 0.2 != 0.3 || (a[0] = 1); }", NULL, "constant condition", NULL},
        {ARGS "{ b[0] = 0.1 + 0.2 == 0.3 ? (a[0] = 1) : 2; }", NULL, "constant condition", NULL},
        {ARGS "{ while (0.1f + 0.2f == 0.3) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ for (; 0.1f + 0.2f == 0.3;) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ switch ((int)(0.1 * 10)) { case 0: a[0] = 1; } b[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ if (sizeof(sampler_t) == 4) a[0] = 1; b[0] = 1; }", NULL, NULL, NULL},
        {ARGS "{ if (sizeof(bool) == 4) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {"enum e { A = 1 };" ARGS "{ if ((enum e)-1 > 0) ; else a[0] = 1; b[0] = 1; }", NULL, "constant condition",
         NULL},
        {"enum { A = (int)(0.1 + 0.2 == 0.3) };" ARGS "{ if (A) a[0] = 1; b[0] = 1; }", NULL, "constant condition",
         NULL},
        {"enum { Z = sizeof(bool), A };" ARGS "{ if (A == 3) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {"constant int c = 0.1 + 0.2 == 0.3;" ARGS "{ if (c) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ if ('ab' == 1) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
    };

    (void)state;
    CHECK(programs);
}

/* ---- Access ------------------------------------------------------------------------------------------------------ */

/* Passes would take these writes away; a vendor's compiler may do them. */
static void every_write_in_the_text_counts(void **state)
{
    static const struct program programs[] = {
        {ARGS "{ a[1] = a[1]; b[0] = 1; }", "ww", NULL, NULL},
        {ARGS "{ int t = a[0]; a[0] = 5; a[0] = t; b[0] = 1; }", "ww", NULL, NULL},
        {ARGS "{ int x; a[0] = x; b[0] = 1; }", "ww", NULL, NULL},
        {ARGS "{ int x = 3; if (x == 4) a[0] = 1; b[0] = 1; }", "ww", NULL, NULL},
        {"void g(global int *p, double x) { if (x == 0.3) p[0] = 1; }" ARGS "{ g(a, 0.1 + 0.2); b[0] = 1; }", "ww",
         NULL, NULL},
        {ARGS "{ if (native_sin(1.0f) > 2) a[0] = 1; b[0] = 1; }", "ww", NULL, NULL},
        {ARGS "{ int z = 0; if (b[0] / z) a[0] = 1; b[0] = 1; }", "ww", NULL, NULL},
        {ARGS "{ for (int i = 0; i < 0; i++) a[0] = 1; b[0] = 1; }", "ww", NULL, NULL},
        {"kernel void f(global const int *a, global int *b) { ((global int *)a)[0] = 1; }", "wr", NULL, NULL},
        {"kernel void f(global const int *restrict a, global int *b) { *(global int *)(ulong)a = 1; }", "ww", NULL,
         NULL},
        {ARGS "{ vstore2((int2)(1, 2), 0, a); b[0] = 1; }", "ww", NULL, NULL},
        {ARGS "{ b[0] = atomic_add(a, 1); }", "ww", NULL, NULL},
        {ARGS "{ b[0] = vload2(0, a).x; prefetch(a, 4); }", "rw", NULL, NULL},
        {"kernel void f(global float *a, global float *b) { b[0] = vload_half(0, (global half *)a); }", "rw", NULL,
         NULL},
        {"kernel void f(global float *a, global float *b) { b[0] = fract(1.5f, a); }", "ww", NULL, NULL},
        {"kernel void f(global int *a, local int *l, global int *b) { event_t e = async_work_group_copy(l, a, 4, 0);"
         " e = async_work_group_copy(b, l, 4, e); wait_group_events(1, &e); }",
         "r-w", NULL, NULL},
        {ARGS "{ printf(\"%d\\n\", a[0]); b[0] = 1; }", "rw", NULL, NULL},
        {"kernel void f(global int *a, global int *b) {}", "rr", NULL, NULL},
        {"kernel void f(constant int *a, local int *b, int c, global int *d) { d[0] = a[0] + c; b[0] = 1; }", "---w",
         NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

static void pointers_are_followed_or_taken_for_written(void **state)
{
    static const struct program programs[] = {
        {"int get(global const int *p, int i) { return p[i]; } void put(global int *p, int v) { *p = v; }" ARGS
         "{ put(b + 1, get(a, 3)); }",
         "rw", NULL, NULL},
        {"int one(global int *p) { return p[0]; } int two(global int *p) { return one(p + 1); }" ARGS
         "{ b[0] = two(a); }",
         "rw", NULL, NULL},
        {"void one(global int *p) { p[0] = 1; } void two(global int *p) { one(p + 1); }" ARGS "{ two(a); b[0] = 1; }",
         "ww", NULL, NULL},
        {"kernel void g(global int *x) { x[0] = 1; }\nkernel void f(global int *a, global int *b) { g(b); }", "w", NULL,
         NULL},
        {ARGS "{ global int *p = b[0] ? a : b; b[0] = *p; }", "rw", NULL, NULL},
        {ARGS "{ global int *p = b[0] ? a : b; *p = 1; }", "ww", NULL, NULL},
        {ARGS "{ global int *p[2]; p[0] = a; p[1] = b; *p[b[0] & 1] = 1; }", "ww", NULL, NULL},
        {ARGS "{ global int *p; p = a; for (int i = 0; i < 3; i++) b[i] = *p++; }", "rw", NULL, NULL},
        {ARGS "{ global int *p = a + (b - a); *p = 1; }", "ww", NULL, NULL},
        {"typedef struct { global int *p; } S; S make(global int *p) { S s; s.p = p; return s; }\n"
         "void put(S *s) { s->p[0] = 1; }" ARGS "{ S s = make(a); put(&s); b[0] = 1; }",
         "ww", NULL, NULL},
        {"typedef struct { global int *p, *q; } S; void put(S s) { s.p[0] = s.q[0]; }" ARGS "{ S s = {a, b}; put(s); }",
         "ww", NULL, NULL},
        {"typedef union { global int *p; ulong n; } U; void put(ulong n) { U u; u.n = n; u.p[0] = 1; }" ARGS
         "{ U u; u.p = a; put(u.n); b[0] = 1; }",
         "ww", NULL, NULL},
        {"global int *row(global int *p, int i) { return p + 8 * i; }" ARGS "{ *row(a, 1) = 1; b[0] = 1; }", "ww", NULL,
         NULL},
        {"void put(global int **p) { **p = 1; }" ARGS "{ global int *p = a; put(&p); b[0] = 1; }", "ww", NULL, NULL},
        {"void r(global int *p, int n) { if (n) { p[n] = 1; r(p, n - 1); } }" ARGS "{ r(a, 3); b[0] = 1; }", "ww", NULL,
         NULL},
        {ARGS "{ global int *local p; p = a; barrier(CLK_LOCAL_MEM_FENCE); *p = 1; b[0] = 1; }", "ww", NULL, NULL},
        {"void put(int *p) { *p = 1; }" ARGS "{ put(a); b[0] = 1; }", "ww", NULL, "-cl-std=CL2.0"},
        {"int get(const int *p) { return *p; }" ARGS "{ b[0] = get(a); }", "rw", NULL, "-cl-std=CL2.0"},
        {ARGS "{ void (^put)(void) = ^{ a[0] = 1; }; put(); b[0] = 1; }", NULL, "blocks", "-cl-std=CL2.0"},
    };

    (void)state;
    CHECK(programs);
}

/* ---- What a review found ---------------------------------------------------------------------------------------- */

#define A_OR_B(condition) condition "\n#define W a\n#else\n#define W b\n#endif\n" ARGS "{ W[0] += 1; }"
#define CAT               "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n"
#define IS                                                                              \
    "#define ARG_1 0,\n#define SECOND(a, b, ...) b\n#define IS3(x) SECOND(x 1, 0, 0)\n" \
    "#define IS2(v) IS3(ARG_##v)\n#define IS(x) IS2(x)\n"

/* Each of these once counted as the same for any compiler. Those that are marked were run on PoCL, and lost what one of
 * two members wrote. */
static void programs_that_were_taken_for_the_same(void **state)
{
    static const struct program programs[] = {
        /* A name of the vendor's is swallowed before anybody hears of it. */
        {IS A_OR_B("#if IS(__x86_64__)"), NULL, NULL, NULL},    /* lost */
        {IS A_OR_B("#if IS(X)"), NULL, NULL, "-DX=__x86_64__"}, /* lost */
        {"#define J_(a, b) a##b\n#define J(a, b) J_(a, b)\nvoid put_1(global int *p) { p[0] += 1; }\n"
         "void put___x86_64__(global int *p) {}\n" ARGS "{ J(put_, __x86_64__)(a); b[0] += 1; }",
         NULL, NULL, NULL}, /* lost */
        {"#define SECOND(a, b, ...) b\n#define HAS(...) SECOND(x __VA_OPT__(,) 1, 0, 0)\n" A_OR_B("#if HAS(z)"), NULL,
         NULL, NULL},
        /* Functions of the language are macros somewhere. */
        {"#ifndef atomic_inc\n#define atomic_inc(p) (*(p))\n#endif\n" ARGS "{ b[0] = atomic_inc(a); }", NULL, NULL,
         NULL}, /* lost */
        {"#ifndef atom_inc\n#define atom_inc(p) (*(p))\n#endif\n" ARGS "{ b[0] = atom_inc(a); }", NULL, NULL,
         NULL}, /* lost */
        {"int mine(volatile global int *p) { return *p; }\n" ARGS "{ b[0] = atomic_inc(a); }", NULL, NULL,
         "-Datomic_inc=mine"}, /* lost */
        {PLAIN, NULL, NULL, "-Dsqrt=native_sqrt"},
        {CAT "#define IS_min 1\n#define OP min\n" A_OR_B("#if CAT(IS_, OP) == 1"), NULL, NULL, NULL},        /* lost */
        {CAT "#define READS_vload4 1\n#define OP vload4\n" A_OR_B("#if CAT(READS_, OP)"), NULL, NULL, NULL}, /* lost */
        {"#define atomic_inc(p) (*(p))\n" ARGS "{ b[0] = atomic_inc(a); }", NULL, NULL, NULL},
        {"#ifndef LLVM_15_0\n#define LLVM_15_0 0\n#endif\n" A_OR_B("#if LLVM_15_0"), NULL, NULL, NULL},
        {"#ifndef IMG_RO_AQ\n#define IMG_RO_AQ 0\n#endif\n" A_OR_B("#if IMG_RO_AQ"), NULL, NULL, NULL},
        {"#ifndef INTTYPE\n#define INTTYPE 0\n#endif\n" A_OR_B("#if INTTYPE"), NULL, NULL, NULL},
        {"#ifndef MAX_WORK_DIM\n#define MAX_WORK_DIM 1\n#endif\n" A_OR_B("#if MAX_WORK_DIM == 1"), NULL, NULL, NULL},
        {"#ifndef intel_gpu\n#define intel_gpu 0\n#endif\n" A_OR_B("#if intel_gpu"), NULL, NULL, NULL},
        {"#ifndef my_gpu\n#define my_gpu 0\n#endif\n" A_OR_B("#if my_gpu"), NULL, NULL, NULL},
        {"#ifndef while\n#define while if\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#ifndef image2d_t\n#define image2d_t int\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#ifndef sub_group_reduce_add\n#define sub_group_reduce_add(x) x\n#endif\n" PLAIN, NULL, NULL, NULL},
        /* Nobody says anything of a system header. */
        {"# 1 \"x.h\" 3\n" A_OR_B("#if __x86_64__"), NULL, NULL, NULL}, /* lost */
        {"# 1 \"x.h\" 3\n" A_OR_B("#if UNKNOWN"), NULL, NULL, NULL},
        {"#line 1 \"x.h\"\n" PLAIN, NULL, NULL, NULL},
        /* A line that is read in two ways. */
        {"#ifndef __x86_64__\n#warning x /*\n#endif\n#define W b\n#if 1 // */\n#endif\n#ifndef W\n#define W "
         "a\n#endif\n" ARGS "{ W[0] += 1; }",
         NULL, NULL, NULL}, /* lost */
        {"#ifndef __x86_64__\n#error don't /*\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#ifndef __x86_64__\n#endif ' /*\n" PLAIN, NULL, NULL, NULL},
        {"#ifndef __x86_64__\n#pragma OPENCL ' /*\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"#pragma OPENCL ' /*\n" PLAIN, NULL, NULL, NULL},
        /* Widths and floats in labels and constants. */
        {ARGS "{ switch (4) { case sizeof(size_t): a[0] = 1; } b[0] = a[0]; }", NULL, NULL, NULL},
        {ARGS "{ switch (4) { case sizeof(local int *): a[0] = 1; } b[0] = 1; }", NULL, NULL, NULL},
        {ARGS "{ switch (1) { case (int)(0.1f + 0.2f == 0.3f): break; default: a[0] = 1; } b[0] = a[0]; }", NULL, NULL,
         NULL},
        {ARGS "{ switch (4) { case 1 ... sizeof(size_t): a[0] = 1; } b[0] = a[0]; }", NULL, NULL, NULL},
        {ARGS "{ if ((size_t)-1 == 0xffffffffu) a[0] = 1; b[0] = a[0]; }", NULL, NULL, NULL},
        {"constant size_t m = -1;" ARGS "{ if (m == 0xffffffffu) a[0] = 1; b[0] = a[0]; }", NULL, NULL, NULL},
        {"typedef uintptr_t mine;" ARGS "{ if ((mine)-1 == 0xffffffffu) a[0] = 1; b[0] = a[0]; }", NULL, NULL, NULL},
        {ARGS "{ if (1LL << 40 == 0) a[0] = 1; b[0] = a[0]; }", NULL, NULL, NULL},
        {ARGS "{ switch (a[0]) { case 1 ... 3: b[0] = 1; case 8: b[1] = 2; } }", "rw", NULL, NULL},
        {"typedef ulong mine;" ARGS "{ if ((mine)-1 == 0xffffffffu) a[0] = 1; b[0] = a[0]; }", "rw", NULL, NULL},
        /* Blocks. */
        {"void (^const put)(global int *) = ^(global int *p) { if (0.1 + 0.2 == 0.3) *p = 1; };\n" ARGS
         "{ put(a); b[0] = 1; }",
         NULL, NULL, "-cl-std=CL2.0"},
        {"typedef void (^B)(global int *);\nconstant B put = (B)^(global int *p) { *p = 1; };\n" ARGS
         "{ put(a); b[0] = 1; }",
         NULL, NULL, "-cl-std=CL2.0"},
        {ARGS "{ b[0] = a[0] ^ (a[1]); b[1] ^= 3; }", "rw", NULL, NULL},
        /* Values out of the header's macros. */
        {CAT "void put_2147483647(global int *p) {}\n" ARGS "{ CAT(put_, INT_MAX)(a); b[0] = 1; }", NULL, NULL, NULL},
        {CAT ARGS "{ if (CAT(CLK_LOCAL_MEM_FENCE, u) != 1u) a[0] = 1; b[0] = a[0]; }", NULL, NULL, NULL},
        /* Options. */
        {PLAIN, NULL, NULL, "-Wp,-DB=b"},
        {PLAIN, NULL, NULL, "-Wall"},
        {PLAIN, NULL, NULL, "-DA=1\t-DB=b"},
        {PLAIN, NULL, NULL, "-D_CL_OVERLOADABLE="},
        {PLAIN, NULL, NULL, "-DA=/*"},
        {PLAIN, NULL, NULL, "-DA(x)=x"},
        {PLAIN, "rw", NULL, "-D  A=1   -DB=b -w -Werror"},
        /* Small ones of the preprocessor. */
        {A_OR_B("#if true"), NULL, NULL, NULL},
        {A_OR_B("#if '\\xff' < 0"), NULL, NULL, NULL},
        {A_OR_B("#if 'ab' == 24930"), NULL, NULL, NULL},
        {A_OR_B("#if DBL_DIG"), NULL, NULL, NULL},
        {A_OR_B("#if 4294967296 == 0"), NULL, NULL, NULL},
        {A_OR_B("#if 0x10"), NULL, NULL, NULL},
        {"#define caf\\u00e9 b\n" A_OR_B("#ifdef caf\xc3\xa9"), NULL, NULL, NULL},
        {"int \xc3\xa9;" PLAIN, NULL, NULL, NULL},
        {"// \xc3\xa9 '\n/* \xc3\xa9 \" */" PLAIN, "rw", NULL, NULL},
        {"enum { N =\n#embed \"/etc/hostname\" limit(1)\n};" PLAIN, NULL, NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* More of the same kinds. */
static void words_count_wherever_they_stand(void **state)
{
    static const struct program programs[] = {
        {"#define NOTHING(x)\nNOTHING(__x86_64__)\n" PLAIN, NULL, "__x86_64__", NULL},
        {"#if 0\n__x86_64__\n#endif\n" PLAIN, NULL, "__x86_64__", NULL},
        {"#define F __x86_64__\n" PLAIN, NULL, "__x86_64__", NULL},
        {"#define S(x) #x\n" PLAIN, NULL, NULL, NULL},
        {"#define F(x...) 1\n" PLAIN, NULL, NULL, NULL},
        {"#define F(x) x\n#define N 1\nint i = F(\n#if N\n1\n#endif\n);" PLAIN, NULL, NULL, NULL},
        {"#define OPEN (\n" PLAIN, NULL, NULL, NULL},
        {"#define F(x) x\nconstant int i = F\n#define G 1\n(1);" PLAIN, NULL, NULL, NULL},
        {"#define N\\\nM 1\n" PLAIN, NULL, NULL, NULL},
        {"#if 0\ndon't\n#endif\n" PLAIN, NULL, NULL, NULL},
        {"%:define N 1\n" PLAIN, NULL, NULL, NULL},
        {"#\n" PLAIN, NULL, NULL, NULL},
        {"#ident \"x\"\n" PLAIN, NULL, NULL, NULL},
        {"#ifndef G\n#define G\n#elif 1\n#define M 5\n#endif\n" A_OR_B("#if M"), NULL, NULL, NULL},
        {"#ifndef G\n#define G\n#define M 5\n#endif\n" A_OR_B("#if M"), NULL, NULL, "-DG"},
        {"#define N 1\n#if N\n#define M 5\n#endif\n" A_OR_B("#if M"), NULL, NULL, NULL},
        {"#define N(x) 1\n" A_OR_B("#if N(1)"), NULL, NULL, NULL},
        {"int i$; " PLAIN, NULL, NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* ---- What a second review found --------------------------------------------------------------------------------- */

#define OF_TWO(index)   ARGS "{ global int *p[2] = {a, b}; *p[" index "] = 1; }"
#define OTHER_F         "kernel void f(global int *a, global int *b, int c) { a[0] = 1; }\n"
#define UNLESS(name, x) "#ifndef " name "\n#define " name " 0\n#endif\n" A_OR_B("#if " x)

/* Which pointer it is was known to Clang alone, where an array of them was taken apart. */
static void numbers_choose_among_all_pointers(void **state)
{
    static const struct program programs[] = {
        {OF_TWO("sizeof(size_t) == 8"), "ww", NULL, NULL}, /* not where addresses have 32 bits */
        {OF_TWO("(size_t)-1 > 0xffffffffu"), "ww", NULL, NULL},
        {OF_TWO("0.1f + 0.2f == 0.3f"), "ww", NULL, NULL},
        {OF_TWO("CLK_LOCAL_MEM_FENCE - 1"), "ww", NULL, NULL},
        {OF_TWO("memory_order_relaxed == 0"), "ww", NULL, "-cl-std=CL2.0"},
        {OF_TWO("as_uchar4(1u).x"), "ww", NULL, NULL},
        {OF_TWO("'\\q' == 'q'"), "ww", NULL, NULL},
        {OF_TWO("1"), "ww", NULL, NULL},
        {"enum { N = sizeof(size_t) == 8 };" OF_TWO("N"), "ww", NULL, NULL},
        {ARGS "{ *(global int *[2]){a, b}[sizeof(size_t) == 8] = 1; }", "ww", NULL, NULL},
        {"typedef struct { global int *p[2]; } S;" ARGS "{ S s = {{a, b}}; *s.p[sizeof(size_t) == 8] = 1; }", "ww",
         NULL, NULL},
        {"typedef struct { uint3 v; global int *p, *q; } S;" ARGS
         "{ S s; s.p = a; s.q = b; **(global int **)((char *)&s + 24) = 1; }",
         "ww", NULL, NULL},
        {ARGS "{ union { uint i; uchar c[4]; } u; u.i = 1; global int *p[2] = {a, b}; *p[u.c[0]] = 1; }", "ww", NULL,
         NULL},
        {ARGS "{ for (ulong n = 0; n < 9; n++) if ((global int *)n == a) b[0] = 1; }", "ww", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Nobody says which of two ways is right, or some go another. */
static void what_is_read_in_two_ways_is_refused(void **state)
{
    static const struct program programs[] = {
        /* Who knows the operator sees a name of a file there, others a comment. */
        {"#ifdef __oclgrind__\n#if __has_include(<x/*>)\n#endif\n#endif\n#define W a\n#ifdef __oclgrind__\n#if 1 // */ "
         ")\n"
         "#endif\n#endif\n#ifndef W\n#define W b\n#endif\n" ARGS "{ W[0] += 1; }",
         NULL, "__oclgrind__", NULL},
        /* C's own example of what is left open (C99, 6.10.3.4), and others of its kind. */
        {"int put(global int *p) { return p[0] = 1; }\n#define put(x) 1 * g\n#define g(x) put(x)\n" ARGS
         "{ int g = 0; b[0] = put(2)(a); }",
         NULL, "without arguments", NULL},
        {"#define NIL(x) x\n#define G_0(x) NIL(G_1)(x)\n#define G_1(x) NIL(x)\n" ARGS "{ b[0] = G_0(42); }", NULL,
         "without arguments", NULL},
        {"#define F(x) x\n#define G F\n" ARGS "{ b[0] = G(42); }", NULL, "without arguments", NULL},
        {"#define F(x) x\n" ARGS "{ b[0] = G(42); }", NULL, "without arguments", "-DG=F"},
        {"#define F(x) x\n" ARGS "{ b[0] = F\n(42); }", NULL, "without arguments", NULL},
        {"#define F(x) x\n#undef F\n#define F 1\n" PLAIN, NULL, "a macro that has arguments", NULL},
        {"#define F(x) x\n#define CALL(x) F(F(x))\n" ARGS "{ b[0] = F(CALL(F(a[0]))); }", "rw", NULL, NULL},
        /* Strings and numbers of other languages. */
        {"#define R\nconstant char s[] = R\"(\";\n" OTHER_F "constant char t[] = \")\";\n" PLAIN, NULL, "odd text",
         NULL},
        {"#ifndef __x86_64__\n#error R\"(\" \"\n#endif\n" PLAIN, NULL, "__x86_64__", NULL},
        {"#define u8\nconstant char s[] = u8\"x\";\n" PLAIN, NULL, "odd text", NULL},
        {"#define N\nconstant char s[] = \"x\"N;\n" PLAIN, NULL, "odd text", NULL},
        {"#if 0\n1'0'2\n#endif\n" PLAIN, NULL, "odd text", NULL},
        /* More than 64 bits, and less than 16. */
        {A_OR_B("#if 999999999 * 999999999 * 999999999 > 0"), NULL, "condition", NULL},
        {A_OR_B("#if ~0 > 0"), NULL, "condition", NULL},
        {ARGS "{ if (-9223372036854775808 > 0) b[0] = 1; else a[0] = 1; }", NULL, "width", NULL},
        {ARGS "{ b[0] = a[0] + 18446744073709551616UL; }", NULL, "width", NULL},
        {ARGS "{ b[0] = a[0] + 9223372036854775807 % 7 + (9223372036854775808UL + 18446744073709551615u) % 9; }", "rw",
         NULL, NULL},
        {ARGS "{ if (2147483647 + 1 < 0) b[0] = 1; else a[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ if (1 << 33 == 2) b[0] = 1; else a[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ if ('\\e' == 27) b[0] = 1; else a[0] = 1; }", NULL, "constant condition", NULL},
        {ARGS "{ b[0] = a[0] + 0xffffffffffffffff + 3.14159265358979323846; }", "rw", NULL, NULL},
        /* Lines. */
        {"// \\\r\n" OTHER_F PLAIN, NULL, "lines", NULL},
        {"// \f" OTHER_F PLAIN, NULL, "lines", NULL},
        {"// \v" OTHER_F PLAIN, NULL, "lines", NULL},
        {"// \x1b$B*/\n" PLAIN, NULL, "lines", NULL},
        {PLAIN "// \x1a\n" OTHER_F, NULL, "lines", NULL},
        {"// \x95\\\n" OTHER_F PLAIN, NULL, "lines", NULL},     /* a letter of Shift-JIS */
        {"// \xc6\x92\\\n" OTHER_F PLAIN, NULL, "lines", NULL}, /* and of UTF-8 that may be read as that */
        {"/* \xe3*/ int i; /* */" PLAIN, NULL, "lines", NULL},
        {"\xef\xbb\xbf#define W a\n" PLAIN, NULL, "lines", NULL},
        {PLAIN "// \\", NULL, "lines", NULL},
        {PLAIN "\\\n", NULL, "lines", NULL},
        {PLAIN "// the end", "rw", NULL, NULL},
        {"#define F\\\n(x) 1\n" PLAIN, NULL, NULL, NULL},
        /* Arguments that are evaluated, or not. */
        {ARGS "{ b[0] = vec_step(a[0] = 1); }", NULL, "vec_step", NULL},
        /* Names. */
        {UNLESS("quad", "quad"), NULL, "quad", NULL},
        {UNLESS("to_global", "to_global"), NULL, "to_global", NULL},
        {UNLESS("CLC_VERSION_1_2", "CLC_VERSION_1_2"), NULL, "CLC_", NULL},
        {UNLESS("HAVE_CUDA", "HAVE_CUDA"), NULL, "CUDA", NULL},
        {UNLESS("MY_SIZE", "MY_SIZE"), "rw", NULL, NULL},
        /* Options that some look for everywhere, or that a shell may see. */
        {PLAIN, NULL, "odd definitions", "-DX=-cl-std=CL2.0"},
        {PLAIN, NULL, "several ways", "-DX=a;b"},
        {PLAIN, NULL, "several ways", "-cl-opt-disable\t-DX"},
        {PLAIN, NULL, "odd macros", "-DX=("},
        {PLAIN, "rw", NULL, "-DX=(-1) -DY=-.5e-3f -DT=float4 -DZ=(1+2)*3"},
    };

    (void)state;
    CHECK(programs);
}

/* ---- What a third review found ---------------------------------------------------------------------------------- */

#define IDLE     "#ifdef __oclgrind__\n#endif"
#define LEAVE(c) ARGS "{ while (" c ") { if (b[0]++) return; } a[0] = 1; }"
#define AGAIN(c) ARGS "{ global int *p = b; do { *p = 1; p = a; } while (" c "); }"
#define LOOPS(c)                                   \
    {LEAVE(c), NULL, "constant condition", NULL},  \
    {                                              \
        AGAIN(c), NULL, "constant condition", NULL \
    }
#define OF_LIST(t) ARGS "{ " t "; b[0] = 1; }"

/* Compilers leave out what stands behind #endif, so it isn't text. */
static void what_stands_behind_endif_is_no_text(void **state)
{
    static const struct program programs[] = {
        {"#define F(x) x\n#define N 1\n" ARGS "{ b[0] = a[0]; int i =\n" IDLE
         " )\nF(\n#if N\n1\n#else\n2\n#endif\n); }",
         NULL, "among a macro's arguments", NULL},
        {"int put(global int *p) { return p[0]; }\nint put_1(global int *p) { return p[0] = 1; }\n#define put(x) "
         "put_1(x)\n" ARGS "{ b[0] = put\n" IDLE " (a)\n(a); }",
         NULL, "without arguments", NULL},
        {"int __attribute__\n" IDLE " ((unused))\n((weak)) g(int x) { return x; }" PLAIN, NULL, "without arguments",
         NULL},
        {IDLE " '\n" PLAIN, NULL, "odd characters", NULL},
        {IDLE " __oclgrind__ /* (\n */ )\n" PLAIN, "rw", NULL, NULL},
        {IDLE "\n" IDLE "\n" PLAIN "\n" IDLE, "rw", NULL, NULL},
        {IDLE " (", NULL, NULL, NULL}, /* and no kernel */
    };

    (void)state;
    CHECK(programs);
}

/* Known as constant to what makes the code alone, which ends a function behind a loop that never ends, and has no way
 * back in one that never begins again. Of subnormal numbers, strings and NAN devices may think otherwise. */
static void constants_of_the_code_generator_are_constants(void **state)
{
    static const struct program programs[] = {
        LOOPS("as_float(1) > 0.0f"),
        LOOPS("as_float(1) == 0.0f"),
        LOOPS("as_int(CLK_LOCAL_MEM_FENCE) == 1"),
        LOOPS("NAN != NAN"),
        LOOPS("!(NAN == NAN)"),
        LOOPS("b[0] += 1, NAN != NAN"),
        LOOPS("b[0] = NAN != NAN"),
        LOOPS("(char)as_int(1.0f)"),
        LOOPS("1 ? as_int(1.0f) : b[0]"),
        LOOPS("INFINITY > 1.0f"),
        {LEAVE("\"a\" == \"a\""), NULL, "constant condition", NULL},
        {LEAVE("b[0] && as_int(1.0f)"), NULL, "constant condition", NULL},
        {ARGS "{ if (as_int(1.0f)) a[0] = 1; b[0] = 1; }", NULL, "constant condition", NULL},
        {LEAVE("1"), "rw", NULL, NULL}, /* not touched */
        {LEAVE("b[1] = 3"), "rw", NULL, NULL},
        {LEAVE("b[1]++, 3"), "rw", NULL, NULL},
        {LEAVE("b[0]"), "ww", NULL, NULL},
        {LEAVE("as_float(b[0]) > 0.0f"), "ww", NULL, NULL},
        {LEAVE("b[0] == 1 && (b[1] || !b[2]) && b"), "ww", NULL, NULL},
        {LEAVE("isnan(as_float(b[0])) + 1"), "ww", NULL, NULL},
        {LEAVE("vload4(0, b).x > 3"), "ww", NULL, NULL},
        {LEAVE("(b[0] ? b[1] : b[2]) - 1"), "ww", NULL, NULL},
        {LEAVE("get_global_id(0) < 8"), "ww", NULL, NULL},
        {LEAVE("--b[0]"), "ww", NULL, NULL},
        {LEAVE("b[0] -= 1"), "ww", NULL, NULL},
        {LEAVE("b[0] = b[1]"), "ww", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Of two initializers for one thing the first may be done or not (C99, 6.7.8); and those that are too many. */
static void initializers_that_may_be_left_out_are_refused(void **state)
{
    static const struct program programs[] = {
        {OF_LIST("int t[2] = {[0] = (a[0] = 1), [0] = 2}"), NULL, "left out", NULL},
        {"int put(global int *p) { return p[0] = 1; }" OF_LIST("int t[2] = {[0] = put(a), 2, [0] = 2}"), NULL,
         "left out", NULL},
        {"typedef struct { int x, y; } S;" OF_LIST("S s = {.y = (a[0] = 1), .x = 1, 2}"), NULL, "left out", NULL},
        {"typedef struct { int x, y; } S; typedef struct { S s; } T;" OF_LIST(
             "S s = {1, 2}; T t = {.s = {(a[0] = 1), 2}, .s = s}"),
         NULL, "left out", NULL},
        {"typedef struct { int x, y; } S; typedef struct { S s; } T;" OF_LIST("S s; T t = {.s = s, .s.x = (a[0] = 1)}"),
         NULL, "left out", NULL},
        {"typedef union { int x; float y; } U;" OF_LIST("U u = {.x = (a[0] = 1), .y = 1}"), NULL, "left out", NULL},
        {OF_LIST("int t = ((int[2]){[0] = (a[0] = 1), [0] = 2})[1]"), NULL, "left out", NULL},
        {OF_LIST("int t[1] = {1, (a[0] = 1)}"), NULL, "left out", NULL},
        {OF_LIST("int t = {1, (a[0] = 1)}"), NULL, "left out", NULL},
        {OF_LIST("int t[2] = {[1] = a[1]++, [0] = b[0]++}"), "ww", NULL, NULL},
        {OF_LIST("int t[2][2] = {{a[0], 1}, {b[0]++, get_global_id(0)}}; int4 v = {1, 2, a[0], 3}"), "rw", NULL, NULL},
        {"typedef struct { int x[2]; float4 y; } S;" OF_LIST("S s = {.x = {1, b[0]++}, .y = (float4)(sin(1.0f))}"),
         "rw", NULL, NULL},
        {"typedef struct { int x; float y; } S;" OF_LIST("S s = {.y = b[0]++, .x = b[0] + sin(1.0f)}"), "rw", NULL,
         NULL},
        {OF_LIST("int t[4] = {[0 ... 3] = 1}; float u[2] = {[0] = 1, [0] = 2}"), "rw", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Each word of it is refused; that took as long as the text's length squared, once. */
static void long_texts_take_no_time(void **state)
{
    enum { n_words = 400000 };
    char *text = malloc(sizeof(PLAIN) + 6 * (size_t)n_words), *to;
    struct program program = {text, NULL, "it has __x", NULL};

    (void)state;
    assert_non_null(text);
    to = stpcpy(text, PLAIN);
    for (unsigned i = 0; i < n_words; i++)
        to = stpcpy(to, " __x\n");
    check(&program, 1);
    free(text);
}

/* ---- What a fourth review found --------------------------------------------------------------------------------- */

#define NAMED(function) function "\n" ARGS

/* Names that compilers may have, which aren't reserved. */
static void names_that_some_compilers_have(void **state)
{
    static const struct program programs[] = {
        {UNLESS("cles_khr_int64", "cles_khr_int64"), NULL, "cles_khr_int64", NULL},
        {UNLESS("INF", "INF"), NULL, "INF", NULL},
        {UNLESS("DF_SIGN_OFFSET", "DF_SIGN_OFFSET"), NULL, "DF_SIGN_OFFSET", NULL},
        /* Intel's compiler for CPUs makes of such calls what C's library does. */
        {NAMED("void bcopy(global int *to, global int *from, int n) { to[n] = from[n]; }") "{ bcopy(b, a, 1); }", NULL,
         "bcopy", NULL},
        {NAMED("float frexpf(float x, global int *p) { return x + p[0]; }") "{ b[0] = frexpf(1.0f, a); }", NULL,
         "frexpf", NULL},
        {NAMED("static void memcpy(global int *to, global int *from, int n) { to[n] = from[n]; }") "{ memcpy(b, a, 1); "
                                                                                                   "}",
         NULL, "memcpy", NULL},
        {NAMED("void pocl_swap(global int *p) { p[0] = 1; }") "{ pocl_swap(b); a[0]; }", NULL, "pocl_swap", NULL},
        {NAMED("int labs(int x) { return x; }") "{ b[0] = labs(a[0]); }", "rw", NULL, NULL}, /* no pointers */
        {NAMED("void copy(global int *to, global int *from) { to[0] = from[0]; }") "{ copy(b, a); }", "rw", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Clang of 2013 took a pragma for the statement. */
static void pragmas_stand_between_statements(void **state)
{
#define PRAGMA "\n#pragma OPENCL EXTENSION all : disable\n"
    static const struct program programs[] = {
        {ARGS "{ if (1) b[0] = 1; else" PRAGMA "a[0] = 1; }", NULL, "place of a statement", NULL},
        {ARGS "{ if (b[0])" PRAGMA "a[0] = 1; }", NULL, "place of a statement", NULL},
        {ARGS "{ if (1) b[0] = 1; else\n#ifdef __oclgrind__" PRAGMA "#endif\na[0] = 1; }", NULL, "place of a statement",
         NULL},
        {ARGS "{ if (b[0])\n#pragma unroll\nfor (int i = 0; i < 9; i++) a[i] = 1; }", NULL, "place of a statement",
         NULL},
        {ARGS "{" PRAGMA "b[0] = a[0];" PRAGMA "{ b[1] = a[1]; }" PRAGMA "}" PRAGMA, "rw", NULL, NULL},
        {ARGS "{ b[0] = a[0];\n#ifdef __oclgrind__" PRAGMA "#endif\n}", "rw", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

static void what_c_leaves_open_is_not_sure(void **state)
{
    static const struct program programs[] = {
        {"enum { X = 4294967295 };" ARGS "{ if (X > 0) b[0] = 1; else a[0] = 1; }", NULL, "constant condition", NULL},
        {"enum { X = -2147483647 - 1, Y = 2147483647 };" ARGS "{ if (X < Y) b[0] = a[0]; else a[0] = 1; }", "rw", NULL,
         NULL},
        {"kernel void f(global int *a, volatile global int *b) { while (b[0] = 1) { if (b[1]++) return; } a[0] = 1; }",
         NULL, "constant condition", NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Undefined in C, but compilers make code of it that writes there. */
static void odd_addresses_are_followed(void **state)
{
    static const struct program programs[] = {
        {ARGS "{ local int *q = (local int *)(int *)b; *q = a[0]; }", "rw", NULL, "-cl-std=CL3.0"},
        {"kernel void f(global int *a, global int *b, local int *t) { local int *q = a[0] ? (local int *)(int *)b : t;"
         " q[7] = 1; }",
         "rw-", NULL, "-cl-std=CL3.0"},
        {"void put(local int *p) { *p = 1; }\n" ARGS "{ put((local int *)(int *)b); a[0]; }", "rw", NULL,
         "-cl-std=CL3.0"},
        {"kernel void f(global int *a, local int *t) { ((global int *)t)[0] = a[0]; }", NULL, NULL, NULL},
        {"void put(global int *p, global int *q) { p[0] = 1; if (q) q[0] = 1; }\n" ARGS "{ put(b, 0); a[0]; }", "rw",
         NULL, NULL},
        {"kernel void f(global int *a, local int *t) { t[0] = a[0]; }", "r-", NULL, NULL},
    };

    (void)state;
    CHECK(programs);
}

/* Each access leads to all before it; that took as long as their number cubed, once. */
static void long_chains_of_pointers_take_no_time(void **state)
{
    static const char step[] = "*p++ = a[0];\n";
    enum { n_steps = 20000 };
    char *text = malloc(sizeof(ARGS) + 64 + sizeof(step) * (size_t)n_steps), *to;
    struct program program = {text, "rw", NULL, NULL};

    (void)state;
    assert_non_null(text);
    to = stpcpy(text, ARGS "{ global int *p = b;\n");
    for (unsigned i = 0; i < n_steps; i++)
        to = stpcpy(to, step);
    stpcpy(to, "}");
    check(&program, 1);
    free(text);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    kc_use(NULL);
    kc_use_no_cache();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(footprints_come_with_roles),
        cmocka_unit_test(idle_stores_of_vendors_count),
        cmocka_unit_test(who_asks_by_a_function_asks),
        cmocka_unit_test(conditions_may_ask_for_the_programs_own_macros),
        cmocka_unit_test(conditions_may_not_ask_for_a_compilers_macros),
        cmocka_unit_test(groups_of_pragmas_alone_are_nothing),
        cmocka_unit_test(other_directives_and_lines),
        cmocka_unit_test(values_of_compilers_are_in_no_condition),
        cmocka_unit_test(words_of_compilers_are_not_the_languages),
        cmocka_unit_test(constant_conditions_must_be_of_whole_numbers),
        cmocka_unit_test(every_write_in_the_text_counts),
        cmocka_unit_test(pointers_are_followed_or_taken_for_written),
        cmocka_unit_test(programs_that_were_taken_for_the_same),
        cmocka_unit_test(words_count_wherever_they_stand),
        cmocka_unit_test(numbers_choose_among_all_pointers),
        cmocka_unit_test(what_is_read_in_two_ways_is_refused),
        cmocka_unit_test(what_stands_behind_endif_is_no_text),
        cmocka_unit_test(constants_of_the_code_generator_are_constants),
        cmocka_unit_test(initializers_that_may_be_left_out_are_refused),
        cmocka_unit_test(long_texts_take_no_time),
        cmocka_unit_test(names_that_some_compilers_have),
        cmocka_unit_test(pragmas_stand_between_statements),
        cmocka_unit_test(what_c_leaves_open_is_not_sure),
        cmocka_unit_test(odd_addresses_are_followed),
        cmocka_unit_test(long_chains_of_pointers_take_no_time),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
