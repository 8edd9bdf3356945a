/* What stands in a kernel's place is launched as it is, on members that take functions of shared objects: this process
 * calls them, or another one that has the file, too. The original adds 1000, the functions of the library add 1. */
/* timeout: 120 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
#include "compile_client/client.h"
#include "driver_env.h"
#include "variant/call.h"
#include "variant/variant.h"

#include <stdio.h>

enum { N = 1000, LOCAL = 10 };

static const char source[] = "kernel void add_one(global const int *in, global int *out, int n) {\n"
                             "    if (get_global_id(0) < n) out[get_global_id(0)] = in[get_global_id(0)] + 1000;\n"
                             "}\n";

static char library[4096];
static struct tsl_dprogram *program;
static struct tsl_dkernel *original, *other;
static struct tsl_mem *in, *out;

/* By this process, not by a node. */
static bool is_called_here(void)
{
    return strcmp(driver->name, "remote") != 0;
}

/* What the driver is given: the description of a file, and the call of it from here. */
struct given {
    struct tsl_call_file file;
    struct tsl_variant *variant;
    struct tsl_call call;
};

static struct given given_of(const char *function, bool trial)
{
    struct given g = {.file = {"test", library, function, 4, trial}};

    g.variant = tsl_variant_of_file(&g.file);
    assert_non_null(g.variant);
    g.call = tsl_variant_call(g.variant);
    return g;
}

static cl_int substitute(const struct tsl_substitute *what)
{
    char *log = NULL;
    cl_int error = driver->substitute(original, what, &other, &log);

    assert_non_null(log);
    free(log);
    return error;
}

/* Launches it over all, or over some groups; returns what it added to the element at that place. */
static int run(const struct tsl_window *window, size_t at)
{
    const struct tsl_bound_arg args[] = {mem_arg(in), mem_arg(out), VALUE_ARG(cl_int, N)};
    const struct tsl_bound_args bound = bind(3, args);

    assert_int_equal(fill_ints(lane, in, 5, N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, out, 5, N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){other, &bound, window}, NULL, NULL), CL_SUCCESS);
    return get_int(out, at) - 5;
}

static int run_function(const char *function, bool trial)
{
    struct given g = given_of(function, trial);
    struct tsl_window window = whole(N, LOCAL);
    int added;

    assert_int_equal(substitute(&(struct tsl_substitute){.call = &g.call, .file = &g.file}), CL_SUCCESS);
    added = run(&window, N - 1);
    driver->kernel_free(other);
    tsl_variant_unref(g.variant);
    return added;
}

static void a_function_runs_in_its_place(void **state)
{
    (void)state;
    assert_int_equal(run_function("add_one_well", false), 1);
    assert_int_equal(run_function("add_one_well", true), 1);
}

static void it_does_windows(void **state)
{
    struct given g = given_of("add_one_well", false);
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *same;
    struct tsl_window window = whole(N, LOCAL);

    (void)state;
    assert_int_equal(driver->kernel_create(program, "add_one", &same, &facts), CL_SUCCESS);
    assert_true(driver->windows_ok(original, &facts));
    assert_int_equal(substitute(&(struct tsl_substitute){.call = &g.call, .file = &g.file}), CL_SUCCESS);
    window.whole = false;
    window.group_begin[0] = 30;
    window.group_count[0] = 20;
    assert_int_equal(run(&window, 30 * LOCAL), 1);
    assert_int_equal(get_int(out, 30 * LOCAL - 1), 5);
    assert_int_equal(get_int(out, 50 * LOCAL - 1), 6);
    assert_int_equal(get_int(out, 50 * LOCAL), 5);
    driver->kernel_free(other);
    driver->kernel_free(same);
    tsl_kernel_facts_finish(&facts);
    tsl_variant_unref(g.variant);
}

static void what_it_refuses_the_original_does(void **state)
{
    (void)state;
    assert_int_equal(run_function("refuse", false), 1000);
    assert_int_equal(run_function("no_such_function", false), 1000);
}

static void what_crashes_in_its_trial_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(run_function("crash", true), 1000);
}

/* The member's own process is this one, or it can't have it. */
static void a_function_of_this_process_runs_here(void **state)
{
    struct given g = given_of("add_one_well", false);
    cl_int error = substitute(&(struct tsl_substitute){.call = &g.call});
    struct tsl_window window = whole(N, LOCAL);

    (void)state;
    if (is_called_here()) {
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(run(&window, 0), 1);
        driver->kernel_free(other);
    } else {
        assert_int_equal(error, CL_INVALID_OPERATION);
    }
    tsl_variant_unref(g.variant);
}

/* A library that isn't there: the file is looked for where another process calls it, else when it is called. */
static void a_library_that_is_not_there_is_no_harm(void **state)
{
    struct given g = given_of("add_one_well", false);
    struct tsl_window window = whole(N, LOCAL);
    cl_int error;

    (void)state;
    tsl_variant_unref(g.variant);
    g.file.library = "/nowhere/lib.so";
    g.variant = tsl_variant_of_file(&g.file);
    g.call = tsl_variant_call(g.variant);
    error = substitute(&(struct tsl_substitute){.call = &g.call, .file = &g.file});
    assert_int_equal(error, is_called_here() ? CL_SUCCESS : CL_INVALID_BINARY);
    if (!error) {
        assert_int_equal(run(&window, 7), 1000);
        driver->kernel_free(other);
    }
    tsl_variant_unref(g.variant);
}

static void code_that_the_member_cannot_run_is_refused(void **state)
{
    (void)state;
    assert_int_equal(
        substitute(&(struct tsl_substitute){.code = ".version 7.0", .code_size = 12, .function = "add_one"}),
        CL_INVALID_OPERATION);
}

static int open_and_build(void **state)
{
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = source, .size = strlen(source), .options = ""};
    static char path[4096];
    const char *build = getenv("TESELA_BUILD");
    struct tsl_kernel_facts facts;
    char *log = NULL;

    snprintf(path, sizeof(path), "%s/kc/tesela-kc", build ? build : ".");
    tsl_client_set_program(path, NULL);
    snprintf(library, sizeof(library), "%s/tests/libvariant-functions.so", build ? build : ".");
    if (open_members(state) || driver->build(member, &input, &program, &log))
        return -1;
    free(log);
    in = new_mem(N * sizeof(int));
    out = new_mem(N * sizeof(int));
    if (driver->kernel_create(program, "add_one", &original, &facts))
        return -1;
    tsl_kernel_facts_finish(&facts);
    return 0;
}

static int close_and_free(void **state)
{
    driver->mem_free(in);
    driver->mem_free(out);
    driver->kernel_free(original);
    driver->program_free(program);
    return close_members(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_runs_in_its_place),
        cmocka_unit_test(it_does_windows),
        cmocka_unit_test(what_it_refuses_the_original_does),
        cmocka_unit_test(what_crashes_in_its_trial_is_left_out),
        cmocka_unit_test(a_function_of_this_process_runs_here),
        cmocka_unit_test(a_library_that_is_not_there_is_no_harm),
        cmocka_unit_test(code_that_the_member_cannot_run_is_refused),
    };

    return cmocka_run_group_tests(tests, open_and_build, close_and_free);
}
