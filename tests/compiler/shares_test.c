/*
 * Kernels of a large program are compiled by several processes (compiler/middle/shares.h), and the program is one
 * again: its kernels in their order, its variables, what it prints.
 */
/* timeout: 200 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none TESELA_CACHE=off */
#include "cpu_bed.h"

#define N         1024u
#define N_KERNELS 5u

/* Much of the same, on the host and in kernels. */
#define STEP      x = (x ^ x >> 7) * 40503u + table[x & 3];
#define SOME      STEP STEP STEP STEP STEP STEP STEP STEP
#define MANY      SOME SOME SOME SOME SOME SOME SOME SOME
#define ALL       MANY MANY MANY MANY MANY MANY
#define TEXT(of)  #of
#define QUOTE(of) TEXT(of)

static const unsigned table[4] = {3, 14, 159, 2653};

/* Each kernel is some 4600 instructions of the front end. One calls another, one has local memory, one would print. */
static const char source[] =
    "constant uint table[4] = {3, 14, 159, 2653};\n"
    "uint work(uint x) { " QUOTE(
        ALL) " return x; }\n"
             "kernel void a(global uint *o, uint n) { o[get_global_id(0)] = work(get_global_id(0) + n); }\n"
             "kernel void b(global uint *o, uint n) { a(o, n + 1); }\n"
             "kernel void c(global uint *o, uint n) { local uint t[64]; uint l = get_local_id(0);\n"
             "    t[l] = work(get_global_id(0) + n + 2); barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[l ^ 1]; "
             "}\n"
             "kernel void d(global uint *o, uint n) { if (n == 12345678) printf(\"%u\\n\", n);\n"
             "    o[get_global_id(0)] = work(get_global_id(0) + n + 3); }\n"
             "kernel void e(global uint *o, uint n) { o[get_global_id(0)] = work(get_global_id(0) + n + 4) + table[n & "
             "3]; }\n";

static const char *const names[N_KERNELS] = {"a", "b", "c", "d", "e"};

static unsigned work(unsigned x)
{
    ALL return x;
}

static unsigned right(unsigned kernel, unsigned id, unsigned n)
{
    if (kernel == 2)
        id ^= 1;
    return work(id + n + kernel) + (kernel == 4 ? table[n & 3] : 0);
}

static void run_and_check(struct tsl_dprogram *program, unsigned kernel)
{
    struct tsl_dkernel *code = bed_kernel(program, names[kernel]);
    struct tsl_mem *mem = new_mem(N * sizeof(int));

    bed_launch(lane, code, mem, 7, N, 64, NULL, NULL);
    finish(lane);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal((unsigned)bed_ints(mem)[i], right(kernel, i, 7));
    driver->kernel_free(code);
    driver->mem_free(mem);
}

static void each_share_computes(void **state)
{
    struct tsl_dprogram *program = bed_build(source, "");

    (void)state;
    for (unsigned k = 0; k < N_KERNELS; k++)
        run_and_check(program, k);
    driver->program_free(program);
}

/* In the program's order, whatever the shares; a kernel that is called comes last. */
static void check_facts(const struct tsl_wire_built *built)
{
    static const char order[] = "bcdea";

    assert_int_equal(built->n_kernels, N_KERNELS);
    for (unsigned k = 0; k < N_KERNELS; k++) {
        assert_int_equal(built->kernels[k].facts.name[0], order[k]);
        assert_int_equal(built->kernels[k].facts.n_args, 2);
        assert_int_equal(built->kernels[k].facts.prints, order[k] == 'd');
        assert_non_null(built->kernels[k].facts.footprint);
    }
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

static void texts_are_one(void **state)
{
    struct tsl_wire_build request = kc_request(source, "");
    struct tsl_compiled compiled;
    char *text, entry[32];

    (void)state;
    request.target = TSL_WIRE_PTX;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    check_facts(&compiled.built);
    text = strndup(compiled.built.artefact, compiled.built.artefact_size);
    assert_non_null(strstr(text, "tsl_share_1_")); /* or it wasn't shared */
    assert_int_equal(count(text, ".version"), 1);
    assert_int_equal(count(text, ".address_size"), 1);
    assert_int_equal(count(text, ".extern .func"), 1);
    for (unsigned k = 0; k < N_KERNELS; k++) {
        snprintf(entry, sizeof(entry), ".entry %s(", names[k]);
        assert_int_equal(count(text, entry), 1);
    }
    free(text);
    tsl_compiled_finish(&compiled);
}

static void one_kernel_is_compiled_alone(void **state)
{
    struct tsl_wire_build request = kc_request(source, "");
    struct tsl_compiled compiled;
    char kernel[] = "c";

    (void)state;
    request.target = TSL_WIRE_CPU;
    request.kernel = kernel;
    assert_int_equal(tsl_compile(&request, &compiled), CL_SUCCESS);
    assert_int_equal(compiled.built.n_kernels, 1);
    assert_string_equal(compiled.built.kernels[0].facts.name, "c");
    tsl_compiled_finish(&compiled);
}

static void variables_in_common_stay_so(void **state)
{
    static const char shared[] = "global uint sum = 1;\n"
                                 "kernel void set(global uint *o, uint n) { sum = n + 40; }\n"
                                 "kernel void get(global uint *o, uint n) { o[get_global_id(0)] = sum; }\n";
    char *text;
    struct tsl_dprogram *program;
    struct tsl_dkernel *set, *get;
    struct tsl_mem *mem = new_mem(N * sizeof(int));

    (void)state;
    assert_true(asprintf(&text, "%s%s", source, shared) > 0);
    program = bed_build(text, "-cl-std=CL2.0");
    set = bed_kernel(program, "set");
    get = bed_kernel(program, "get");
    bed_launch(lane, set, mem, 2, 1, 1, NULL, NULL);
    finish(lane);
    bed_launch(lane, get, mem, 2, 1, 1, NULL, NULL);
    finish(lane);
    assert_int_equal(bed_ints(mem)[0], 42);
    driver->kernel_free(set);
    driver->kernel_free(get);
    driver->mem_free(mem);
    driver->program_free(program);
    free(text);
}

/* What ends a process of a share ends the build, with a log, and no other build. */
static void faults_end_the_build(void **state)
{
    static const char wrong[] = "kernel void f(global uint *o, uint n) { o[n] = work(n) + missing(n); }\n";
    struct tsl_compiled compiled;
    char *text;

    (void)state;
    assert_true(asprintf(&text, "%suint missing(uint n);\n%s", source, wrong) > 0);
    assert_int_equal(kc_build(text, "", &compiled), CL_BUILD_PROGRAM_FAILURE);
    kc_assert_log(&compiled, "missing");
    tsl_compiled_finish(&compiled);
    free(text);
    assert_int_equal(kc_result(source, "-D AGAIN"), CL_SUCCESS);
}

static int open_with_processes(void **state)
{
    static char option[] = "--jobs", number[] = "3";
    static char *const arguments[] = {option, number, NULL};
    int error;

    kc_use(arguments);
    error = open_members(state);
    alarm(0); /* CTest's limit is longer */
    return error;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_share_computes),          cmocka_unit_test(texts_are_one),
        cmocka_unit_test(one_kernel_is_compiled_alone), cmocka_unit_test(variables_in_common_stay_so),
        cmocka_unit_test(faults_end_the_build),
    };

    return cmocka_run_group_tests_name("shares", tests, open_with_processes, close_members);
}
