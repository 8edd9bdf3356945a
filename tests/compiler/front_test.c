/*
 * The kernel compiler's front end: the language's versions, options, headers, messages, separate compilation, and what
 * it tells about kernels.
 */
#include "kc_env.h"

#include <unistd.h>

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void messages_have_line_column_and_caret(void **state)
{
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(
        kc_build("#undef cl_khr_fp16\n#line 1\nkernel void f(global int *x) {\n  x[0] = y;\n}\n", "", &compiled),
        CL_BUILD_PROGRAM_FAILURE);
    kc_assert_log(&compiled, "<kernel>:2:10: error: use of undeclared identifier 'y'");
    kc_assert_log(&compiled, "x[0] = y;\n");
    kc_assert_log(&compiled, "         ^");
    kc_assert_log(&compiled, "1 error generated");
    tsl_compiled_finish(&compiled);
}

static void warnings_do_not_fail_unless_they_shall(void **state)
{
    static const char source[] = "#warning beware\nkernel void f(void) {}";
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(kc_build(source, "", &compiled), CL_SUCCESS);
    kc_assert_log(&compiled, "<kernel>:1:2: warning: beware");
    tsl_compiled_finish(&compiled);
    assert_int_equal(kc_result(source, "-Werror"), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(kc_build(source, "-w", &compiled), CL_SUCCESS);
    assert_string_equal(compiled.built.log, "");
    tsl_compiled_finish(&compiled);
}

static void functions_that_are_nowhere_are_named(void **state)
{
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(kc_build("int foo(int);\nkernel void f(global int *x) { x[0] = foo(1); }", "", &compiled),
                     CL_BUILD_PROGRAM_FAILURE);
    kc_assert_log(&compiled, "foo");
    tsl_compiled_finish(&compiled);
}

/* What ends by calling itself, or each other, is a loop; kernels without recursion stay. */
static void recursion_costs_only_the_kernels_that_have_it(void **state)
{
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(kc_build("int r(int n) { return n < 2 ? 1 : r(n - 1) + r(n - 2); }\n"
                              "int t(int n, int p) { if (n <= 1) return p; return t(n - 1, p * n); }\n"
                              "int odd(int n); int even(int n) { return n == 0 ? 1 : odd(n - 1); }\n"
                              "int odd(int n) { return n == 0 ? 0 : even(n - 1); }\n"
                              "kernel void f(global int *x) { x[0] = r(x[1]); }\n"
                              "kernel void tail(global int *x) { x[0] = t(x[1], 1); }\n"
                              "kernel void turns(global int *x) { x[0] = even(x[1]); }\n"
                              "kernel void other(global int *x) { x[0] = 1; }",
                              "", &compiled),
                     CL_SUCCESS);
    kc_assert_log(&compiled, "the kernel f is left out: the function r calls itself");
    assert_int_equal(compiled.built.n_kernels, 3);
    tsl_compiled_finish(&compiled);
}

static void recursion_is_refused(void **state)
{
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(kc_build("int r(int n) { return n < 2 ? 1 : r(n - 1) + r(n - 2); }\n"
                              "kernel void f(global int *x) { x[0] = r(x[1]); }",
                              "", &compiled),
                     CL_BUILD_PROGRAM_FAILURE);
    kc_assert_log(&compiled, "calls itself");
    tsl_compiled_finish(&compiled);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static void all_options_of_the_specification_are_taken(void **state)
{
    static const char *const options[] = {"-D A",
                                          "-DA=1",
                                          "-D A=1",
                                          "-I /tmp",
                                          "-I/tmp",
                                          "-cl-single-precision-constant",
                                          "-cl-denorms-are-zero",
                                          "-cl-fp32-correctly-rounded-divide-sqrt",
                                          "-cl-opt-disable",
                                          "-cl-mad-enable",
                                          "-cl-no-signed-zeros",
                                          "-cl-unsafe-math-optimizations",
                                          "-cl-finite-math-only",
                                          "-cl-fast-relaxed-math",
                                          "-cl-uniform-work-group-size",
                                          "-cl-no-subgroup-ifp",
                                          "-w",
                                          "-Werror",
                                          "-cl-std=CL1.0",
                                          "-cl-std=CL1.1",
                                          "-cl-std=CL1.2",
                                          "-cl-std=CL2.0",
                                          "-cl-std=CL3.0",
                                          "-cl-kernel-arg-info",
                                          "-g",
                                          "  -cl-mad-enable   -D X=\"a b\" -D Y=\"c d\"  -cl-std=CL1.1  "};

    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (kc_result("kernel void f(global float *x) { x[get_global_id(0)] *= 0.1f; }", options[i]) != CL_SUCCESS)
            fail_msg("%s", options[i]);
}

static void unknown_options_are_refused_by_name(void **state)
{
    static const char *const options[] = {"-cl-nonsense", "-cl-std=CL4.0", "-D", "-I", "file.cl", "-fplugin=x"};
    struct tsl_compiled compiled;

    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        assert_int_equal(kc_build("kernel void f(void) {}", options[i], &compiled), CL_INVALID_BUILD_OPTIONS);
        kc_assert_log(&compiled, options[i]);
        tsl_compiled_finish(&compiled);
    }
}

/* Is the condition of the preprocessor true? */
static bool holds(const char *condition, const char *options)
{
    char source[512];

    snprintf(source, sizeof(source), "#if !(%s)\n#error no\n#endif\nkernel void f(void) {}", condition);
    return kc_result(source, options) == CL_SUCCESS;
}

static void macros_say_what_is_there(void **state)
{
    (void)state;
    assert_true(holds("__OPENCL_C_VERSION__ == 120", ""));
    assert_true(holds("__OPENCL_C_VERSION__ == 100", "-cl-std=CL1.0"));
    assert_true(holds("__OPENCL_C_VERSION__ == 110", "-cl-std=CL1.1"));
    assert_true(holds("__OPENCL_C_VERSION__ == 300", "-cl-std=CL3.0"));
    assert_true(holds("__OPENCL_VERSION__ == 300 && __ENDIAN_LITTLE__ == 1", ""));
    assert_true(holds("__IMAGE_SUPPORT__ == 1 && defined(cl_khr_3d_image_writes) && defined(cl_khr_fp16) && "
                      "!defined(cl_khr_subgroups)",
                      ""));
    assert_true(holds("defined(cl_khr_fp64) && defined(cl_khr_int64_base_atomics)", ""));
    assert_true(holds("defined(cl_khr_depth_images) && defined(cl_khr_image2d_from_buffer)", ""));
    assert_true(holds("__opencl_c_fp64 && __opencl_c_int64 && __opencl_c_generic_address_space", "-cl-std=CL3.0"));
    assert_true(holds("__opencl_c_atomic_order_seq_cst && __opencl_c_atomic_scope_device", "-cl-std=CL3.0"));
    assert_true(
        holds("__opencl_c_images && __opencl_c_3d_image_writes && !defined(__opencl_c_subgroups)", "-cl-std=CL3.0"));
    assert_true(holds("__FAST_RELAXED_MATH__", "-cl-fast-relaxed-math"));
    assert_true(holds("!defined(__FAST_RELAXED_MATH__)", ""));
    assert_true(holds("A == 3 && B == 1", "-D A=3 -D B"));
}

static cl_int kernel_of(const char *statement)
{
    char source[256];

    snprintf(source, sizeof(source), "kernel void f(global float *x, global half *h) { %s; }", statement);
    return kc_result(source, "");
}

/* Clang has no declarations of these; a program's own come first. */
static void aligned_halves_may_be_one(void **state)
{
    static const char own[] = "float vloada_half(size_t i, global const short *p) { return p[i]; }\n"
                              "kernel void f(global float *x, global const short *h) { x[0] = vloada_half(0, h); }\n";
    static const char *const uses[] = {"x[0] = vloada_half(0, h)",     "vstorea_half(x[0], 0, h)",
                                       "vstorea_half_rte(x[0], 0, h)", "vstorea_half_rtz(x[0], 0, h)",
                                       "vstorea_half_rtp(x[0], 0, h)", "vstorea_half_rtn(x[0], 0, h)"};
    static const char *const others[] = {"x[0] = vloada_halfs(0, h)", "vstorea_half_rtx(x[0], 0, h)",
                                         "vstorea_half(h, 0, h)"};

    (void)state;
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        assert_int_equal(kernel_of(uses[i]), CL_SUCCESS);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(kernel_of(others[i]), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(kc_result(own, ""), CL_SUCCESS);
}

/* ---- Headers ----------------------------------------------------------------------------------------------------- */

/* A folder of its own, in `folder`, with this one file, whose path goes to `path`; and the option for it. */
static void make_folder(const char *name, const char *text, char folder[32], char path[64], char options[64])
{
    FILE *file;

    strcpy(folder, "/tmp/tesela-kc-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, 64, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(options, 64, "-I %s", folder);
}

static void headers_are_found_in_folders(void **state)
{
    char folder[32], path[64], options[64];

    (void)state;
    make_folder("value.h", "#define VALUE 7\n", folder, path, options);
    assert_int_equal(kc_result("#include <value.h>\n#if VALUE != 7\n#error\n#endif\nkernel void f(void) {}", options),
                     CL_SUCCESS);
    assert_int_equal(kc_result("#include <value.h>\nkernel void f(void) {}", ""), CL_BUILD_PROGRAM_FAILURE);
    /* Relative to where the program is. */
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(kc_result("#include \"value.h\"\nkernel void f(int x[VALUE]) {}\n", ""),
                     CL_BUILD_PROGRAM_FAILURE); /* an array parameter: the header was found, this is the error */
    assert_int_equal(kc_result("#include \"value.h\"\nkernel void f(void) { int x[VALUE]; }\n", ""), CL_SUCCESS);
    assert_int_equal(chdir("/"), 0);
    unlink(path);
    rmdir(folder);
}

/* Clang looks for it in the program's folders, too. */
static void the_languages_own_header_is_ours(void **state)
{
    static const char source[] = "#include \"opencl-c-base.h\"\nkernel void f(global int *a) { a[0] = OURS; }";
    char folder[32], path[64], options[64];

    (void)state;
    make_folder("opencl-c-base.h", "#define OURS 1\n", folder, path, options);
    assert_int_equal(kc_result(source, options), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(kc_result("kernel void f(global float4 *a) { a[0] = (float4)(OURS); }", options),
                     CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(kc_result("kernel void f(global uint4 *a) { a[0] = (uint4)(1); }", options), CL_SUCCESS);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(kc_result(source, options), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(chdir("/"), 0);
    unlink(path);
    rmdir(folder);
}

static void embedded_headers_come_first(void **state)
{
    struct tsl_wire_text headers[] = {{"a.h", "#include \"sub/b.h\"\n"}, {"sub/b.h", "#define B 1\nint wrong = ;\n"}};
    struct tsl_wire_build request = kc_request("#include \"a.h\"\nkernel void f(void) {}", "");
    struct tsl_compiled compiled;

    (void)state;
    request.action = TSL_WIRE_COMPILE;
    request.n_headers = 2;
    request.headers = headers;
    assert_int_equal(tsl_compile(&request, &compiled), CL_COMPILE_PROGRAM_FAILURE);
    kc_assert_log(&compiled, "sub/b.h:2:");
    assert_null(strstr(compiled.built.log, "<headers>"));
    tsl_compiled_finish(&compiled);
    headers[1].text = "#define B 1\n";
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    assert_true(compiled.built.artefact_size > 0);
    tsl_compiled_finish(&compiled);
}

/* ---- Separate compilation ---------------------------------------------------------------------------------------- */

static struct tsl_compiled compile_one(const char *source)
{
    struct tsl_wire_build request = kc_request(source, "");
    struct tsl_compiled compiled;

    request.action = TSL_WIRE_COMPILE;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    return compiled;
}

static cl_int link_two(const struct tsl_compiled *a, const struct tsl_compiled *b, const char *options,
                       struct tsl_compiled *linked)
{
    struct tsl_wire_input inputs[] = {{a->built.artefact, a->built.artefact_size},
                                      {b ? b->built.artefact : NULL, b ? b->built.artefact_size : 0}};
    struct tsl_wire_build request = kc_request("", options);

    request.action = TSL_WIRE_LINK;
    request.n_inputs = b ? 2 : 1;
    request.inputs = inputs;
    return tsl_compile(&request, linked);
}

static void programs_are_linked(void **state)
{
    struct tsl_compiled f = compile_one("int twice(int);\nkernel void f(global int *x) { x[0] = twice(x[1]); }");
    struct tsl_compiled twice = compile_one("int twice(int x) { return 2 * x; }");
    struct tsl_compiled linked, library;

    (void)state;
    assert_int_equal(link_two(&f, &twice, "", &linked), CL_SUCCESS);
    assert_int_equal(linked.built.n_kernels, 1);
    assert_string_equal(linked.built.kernels[0].facts.name, "f");
    tsl_compiled_finish(&linked);

    assert_int_equal(link_two(&f, NULL, "", &linked), CL_LINK_PROGRAM_FAILURE);
    kc_assert_log(&linked, "twice");
    tsl_compiled_finish(&linked);

    assert_int_equal(link_two(&twice, NULL, "-create-library", &library), CL_SUCCESS);
    assert_int_equal(link_two(&f, &library, "-cl-fast-relaxed-math", &linked), CL_SUCCESS);
    tsl_compiled_finish(&linked);
    tsl_compiled_finish(&library);

    assert_int_equal(link_two(&twice, &twice, "", &linked), CL_LINK_PROGRAM_FAILURE);
    kc_assert_log(&linked, "twice");
    tsl_compiled_finish(&linked);
    assert_int_equal(link_two(&f, &twice, "-D A", &linked), CL_INVALID_LINKER_OPTIONS);
    tsl_compiled_finish(&linked);

    twice.built.artefact_size /= 2;
    assert_int_equal(link_two(&f, &twice, "", &linked), CL_LINK_PROGRAM_FAILURE);
    tsl_compiled_finish(&linked);
    tsl_compiled_finish(&f);
    tsl_compiled_finish(&twice);
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

static void kernels_are_described(void **state)
{
    struct tsl_compiled compiled;
    const struct tsl_kernel_facts *facts;

    (void)state;
    assert_int_equal(
        kc_build("typedef struct { float4 a; int b; } S;\n"
                 "kernel __attribute__((reqd_work_group_size(8, 2, 1)))\n"
                 "__attribute__((vec_type_hint(uint4)))\n"
                 "void f(global const float *restrict in, constant int *c, local float4 *l, float3 v, S s)\n"
                 "{ }\n"
                 "kernel void g(global int *x) { if (get_group_id(0)) f(0, 0, 0, 0, (S){0}); }",
                 "", &compiled),
        CL_SUCCESS);
    assert_int_equal(compiled.built.n_kernels, 2);
    facts = &compiled.built.kernels[0].facts;
    if (strcmp(facts->name, "f"))
        facts = &compiled.built.kernels[1].facts;
    assert_string_equal(facts->attributes, "reqd_work_group_size(8,2,1) vec_type_hint(uint4)");
    assert_int_equal(facts->reqd_size[0], 8);
    assert_int_equal(facts->reqd_size[2], 1);
    assert_true(facts->has_arg_info && facts->proven);
    assert_int_equal(facts->n_args, 5);
    assert_int_equal(facts->args[0].kind, TSL_FACT_GLOBAL);
    assert_string_equal(facts->args[0].name, "in");
    assert_string_equal(facts->args[0].type_name, "float*");
    assert_int_equal(facts->args[0].type_qualifier, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT);
    assert_int_equal(facts->args[0].address, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    assert_int_equal(facts->args[0].access, CL_KERNEL_ARG_ACCESS_NONE);
    assert_int_equal(facts->args[1].kind, TSL_FACT_CONSTANT);
    assert_int_equal(facts->args[1].address, CL_KERNEL_ARG_ADDRESS_CONSTANT);
    assert_int_equal(facts->args[2].kind, TSL_FACT_LOCAL);
    assert_int_equal(facts->args[3].kind, TSL_FACT_VALUE);
    assert_int_equal(facts->args[3].size, 16);
    assert_int_equal(facts->args[4].kind, TSL_FACT_VALUE);
    assert_int_equal(facts->args[4].size, 32);
    tsl_compiled_finish(&compiled);
}

/* The access to argument x of the only kernel. */
static unsigned access_of(const char *body, const char *options)
{
    char source[1024];
    struct tsl_compiled compiled;
    unsigned may;

    snprintf(source, sizeof(source),
             "void store(global int *p, int v) { *p = v; }\n"
             "kernel void f(global int *x, global int *y, int n) { size_t i = get_global_id(0); %s }",
             body);
    assert_int_equal(kc_build(source, options, &compiled), CL_SUCCESS);
    assert_true(compiled.built.kernels[0].facts.proven);
    may = compiled.built.kernels[0].facts.args[0].may;
    tsl_compiled_finish(&compiled);
    return may;
}

static bool is_opaque(const char *body)
{
    char source[1024];
    struct tsl_compiled compiled;
    bool opaque;

    snprintf(source, sizeof(source),
             "global int one = 1, two = 2; struct place { global int *at; constant struct place *next; };\n"
             "extern constant struct place places[2]; constant struct place *constant first = places;\n"
             "constant struct place places[2] = {{&one, places + 1}, {&two, places}};\n"
             "constant int numbers[4] = {3, 1, 4, 1}; const global int kept[2] = {2, 7};\n"
             "void add(struct place place, int n) { place.at[0] += n; }\n"
             "kernel void f(global int *x, int n) { size_t i = get_global_id(0); %s }",
             body);
    assert_int_equal(kc_build(source, "-cl-std=CL2.0", &compiled), CL_SUCCESS);
    opaque = compiled.built.kernels[0].facts.opaque;
    tsl_compiled_finish(&compiled);
    return opaque;
}

/* Whatever way leads to them. */
static void variables_of_the_program_are_seen(void **state)
{
    (void)state;
    assert_true(is_opaque("one += n;"));
    assert_true(is_opaque("x[i] = two;"));
    assert_true(is_opaque("(n ? &one : x)[0] = 1;"));
    assert_true(is_opaque("places[n].at[0] += n;"));
    assert_true(is_opaque("first[n].next->at[0] += n;"));
    assert_true(is_opaque("global int *p[2] = {&one, &two}; p[n][0] += n;"));
    assert_true(is_opaque("struct place p = {&one, 0}; add(p, n);"));
    assert_true(is_opaque("size_t p = (size_t)&one; *(global int *)p = n;"));
    assert_true(is_opaque("static global int own; own += n;"));
    assert_false(is_opaque("x[i] = numbers[n] + kept[n];"));
    assert_false(is_opaque("struct place p = {x, 0}; add(p, n);"));
    assert_false(is_opaque("printf(\"%d\", x[i]); x[i] = (int)sin((float)n);"));
}

static void access_is_proven(void **state)
{
    const unsigned r = TSL_MAY_READ, w = TSL_MAY_WRITE;

    (void)state;
    assert_int_equal(access_of("y[i] = x[i];", ""), r);
    assert_int_equal(access_of("x[i] = y[i];", ""), w);
    assert_int_equal(access_of("x[i] += y[i];", ""), r | w);
    assert_int_equal(access_of("y[i] = n;", ""), 0);
    /* const doesn't matter, what is done does. */
    assert_int_equal(access_of("*(global int *)(global const int *)(x + 1) = 1;", ""), w);
    assert_int_equal(access_of("store(x + i, 1);", ""), w);
    assert_int_equal(access_of("global int *p = n ? x : y; p[i] = 1;", ""), w);
    assert_int_equal(access_of("for (global int *p = x; p < x + n; p++) y[i] += *p;", ""), r);
    assert_int_equal(access_of("vstore4((int4)(1), i, x);", ""), w);
    assert_int_equal(access_of("y[i] = vload4(i, x).s1;", ""), r);
    assert_int_equal(access_of("atomic_inc(x);", ""), r | w);
    assert_int_equal(access_of("global int *p[2] = {x, y}; p[n & 1][i] = 1;", ""), r | w);
    assert_int_equal(access_of("int *p = x; *p = 1;", "-cl-std=CL3.0"), w);
    assert_int_equal(access_of("y[i] = (int)(size_t)x;", "") & ~(r | w), 0);
    assert_int_equal(access_of("((global int *)((size_t)x + 4))[0] = 1;", ""), r | w);
    assert_int_equal(access_of("printf(\"%d\\n\", x[i]);", ""), r);
}

static struct tsl_kernel_facts flags_of(const char *body)
{
    char source[1024];
    struct tsl_compiled compiled;
    struct tsl_kernel_facts flags;

    snprintf(source, sizeof(source), "kernel void f(global int *x, local int *l) { %s }", body);
    assert_int_equal(kc_build(source, strstr(body, "to_") ? "-cl-std=CL3.0" : "", &compiled), CL_SUCCESS);
    flags = compiled.built.kernels[0].facts;
    tsl_compiled_finish(&compiled);
    return flags;
}

static void what_is_nowhere_is_named(void **state)
{
    static const char function[] = "int f(int x);\nkernel void k(global int *x) { x[0] = f(1); }\n",
                      variable[] = "extern constant int f;\nkernel void k(global int *x) { x[0] = f; }\n";
    struct tsl_compiled compiled;
    (void)state;

    assert_int_equal(kc_build(function, "", &compiled), CL_BUILD_PROGRAM_FAILURE);
    assert_non_null(strstr(compiled.built.log, "the function f is called and defined nowhere"));
    tsl_compiled_finish(&compiled);
    assert_int_equal(kc_build(variable, "", &compiled), CL_BUILD_PROGRAM_FAILURE);
    assert_non_null(strstr(compiled.built.log, "the variable f is used and defined nowhere"));
    tsl_compiled_finish(&compiled);
}

/* As C has them: with no other body anywhere. */
static void inline_functions_need_no_optimiser(void **state)
{
    static const char source[] = "inline int twice(int x) { return 2 * x; }\n"
                                 "kernel void f(global int *x) { x[0] = twice(x[1]); }\n";
    struct tsl_compiled compiled;
    (void)state;

    assert_int_equal(kc_build(source, "-cl-opt-disable", &compiled), CL_SUCCESS);
    tsl_compiled_finish(&compiled);
}

static void effects_are_seen(void **state)
{
    (void)state;
    assert_false(flags_of("x[get_global_id(0)] = get_local_id(0);").whole_launch);
    assert_true(flags_of("x[0] = get_group_id(0);").whole_launch);
    assert_true(flags_of("x[0] = get_num_groups(0);").whole_launch);
    assert_true(flags_of("x[0] = get_global_size(1);").whole_launch);
    assert_true(flags_of("x[0] = get_global_offset(2);").whole_launch);
    assert_false(flags_of("x[0] = 1;").prints);
    assert_true(flags_of("if (x[0]) printf(\"hello\");").prints);
    assert_false(flags_of("int *p = x; if (to_private(p)) x[0] = 1;").prints);
    assert_false(flags_of("x[0] = 1;").atomics);
    assert_true(flags_of("atomic_add(x, 1);").atomics);
    assert_false(flags_of("atomic_add(l, 1);").atomics);
    assert_false(flags_of("x[0] = l[0];").opaque);
}

/* Double precision in the program's own words; not what printf or a constant makes of floats. */
static void double_precision_is_seen(void **state)
{
    static const char helpers[] =
        "double twice(double a) { return 2 * a; } int third(int a) { return (int)twice(a); }\n"
        "typedef struct { int a; double4 b; } S; constant double table[2] = {1, 2};\n"
        "kernel void f(global int *x, %s) { float v = as_float(x[0]); %s }";
    static const struct {
        const char *arg, *body;
        bool fp64;
    } cases[] = {
        {"float y", "x[1] = (int)(v + y);", false},
        {"float y", "x[1] = (int)(0.5 * v);", false},
        {"float y", "printf(\"%f %v2f\", v, (float2)(v));", false},
        {"float y", "x[1] = (int)sin(v);", false},
        {"float y", "x[1] = (int)lgamma(v);", false},
        {"float y", "double d = v; x[1] = (int)(d * d);", true},
        {"float y", "x[1] = third(x[0]);", true},
        {"float y", "x[1] = table[x[0] & 1];", true},
        {"float y", "((global double *)x)[1] = v;", true},
        {"float y", "x[1] = *(global double *)x > 1;", true},
        {"double y", "x[1] = 0;", true},
        {"global double2 *y", "x[1] = 0;", true},
        {"S y", "x[1] = (int)y.b.x;", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tsl_compiled compiled;
        char source[1024];

        snprintf(source, sizeof(source), helpers, cases[i].arg, cases[i].body);
        assert_int_equal(kc_build(source, "-w", &compiled), CL_SUCCESS);
        if (compiled.built.kernels[0].facts.fp64 != cases[i].fp64)
            fail_msg("%s, %s", cases[i].arg, cases[i].body);
        tsl_compiled_finish(&compiled);
    }
}

static cl_int build_for(const char *processor, struct tsl_compiled *compiled)
{
    struct tsl_wire_build request = kc_request("kernel void f(global int *x) { *x = 1; }", "");

    request.target = TSL_WIRE_CPU;
    request.processor = (char *)processor;
    return tsl_compile(&request, compiled);
}

static void processors_are_those_that_llvm_knows(void **state)
{
    struct tsl_compiled compiled;

    (void)state;
    assert_int_equal(build_for("x86-64", &compiled), CL_SUCCESS);
    tsl_compiled_finish(&compiled);
    assert_int_equal(build_for("i8008", &compiled), CL_BUILD_PROGRAM_FAILURE);
    kc_assert_log(&compiled, "LLVM knows no processor i8008");
    kc_assert_log(&compiled, "TESELA_PROCESSOR");
    tsl_compiled_finish(&compiled);
}

/* kc_build's target has no opinion but the source's. On the CPU a required size binds only a kernel that asks for its
 * group's sizes or places. */
static void sizes_are_recommended(void **state)
{
    static const struct {
        const char *attribute, *value;
        size_t size[3], target_size[3];
    } cases[] = {
        {"", "1", {0, 0, 0}, {256, 1, 1}},
        {"__attribute__((reqd_work_group_size(4, 2, 3)))", "get_local_id(0)", {4, 2, 3}, {4, 2, 3}},
        {"__attribute__((reqd_work_group_size(4, 2, 3)))", "1", {4, 2, 3}, {256, 1, 1}},
        {"__attribute__((work_group_size_hint(16, 8, 1)))", "1", {16, 8, 1}, {16, 8, 1}},
        {"__attribute__((work_group_size_hint(100000, 8, 1)))", "1", {100000, 8, 1}, {256, 1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char source[256];
        struct tsl_wire_build build = {.target = TSL_WIRE_CPU, .options = (char *)"", .source = source};
        struct tsl_compiled facts, cpu;

        snprintf(source, sizeof(source), "kernel %s void f(global int *x) { x[get_global_id(0)] = %s; }",
                 cases[i].attribute, cases[i].value);
        assert_int_equal(tsl_compile(&build, &cpu), CL_SUCCESS);
        build.target = TSL_WIRE_FACTS;
        assert_int_equal(tsl_compile(&build, &facts), CL_SUCCESS);
        assert_memory_equal(facts.built.kernels[0].facts.recommended_size, cases[i].size, sizeof(cases[i].size));
        assert_memory_equal(cpu.built.kernels[0].facts.recommended_size, cases[i].target_size, sizeof(cases[i].size));
        tsl_compiled_finish(&facts);
        tsl_compiled_finish(&cpu);
    }
}

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
        cmocka_unit_test(messages_have_line_column_and_caret),
        cmocka_unit_test(warnings_do_not_fail_unless_they_shall),
        cmocka_unit_test(functions_that_are_nowhere_are_named),
        cmocka_unit_test(recursion_is_refused),
        cmocka_unit_test(recursion_costs_only_the_kernels_that_have_it),
        cmocka_unit_test(all_options_of_the_specification_are_taken),
        cmocka_unit_test(unknown_options_are_refused_by_name),
        cmocka_unit_test(macros_say_what_is_there),
        cmocka_unit_test(aligned_halves_may_be_one),
        cmocka_unit_test(headers_are_found_in_folders),
        cmocka_unit_test(the_languages_own_header_is_ours),
        cmocka_unit_test(embedded_headers_come_first),
        cmocka_unit_test(programs_are_linked),
        cmocka_unit_test(kernels_are_described),
        cmocka_unit_test(access_is_proven),
        cmocka_unit_test(variables_of_the_program_are_seen),
        cmocka_unit_test(what_is_nowhere_is_named),
        cmocka_unit_test(inline_functions_need_no_optimiser),
        cmocka_unit_test(effects_are_seen),
        cmocka_unit_test(double_precision_is_seen),
        cmocka_unit_test(processors_are_those_that_llvm_knows),
        cmocka_unit_test(sizes_are_recommended),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
