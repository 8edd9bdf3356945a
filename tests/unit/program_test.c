/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/vendors-none */
/*
 * Programs and kernels over several members: all build at once, one that can't is left out and named in the log;
 * binaries find their members again; a launch goes only where it can run, and is refused with the right error where it
 * can't.
 */
#include "object/buffer.h"
#include "program/kernel_info.h"
#include "program/launch.h"
#include "program/program_info.h"

#include "program_bed.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tsl_program_notify nobody;

static void register_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE, TSL_FACT_LOCAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE, 0, 0};

    tsl_fake_kernel("one", body, 1, kinds, access);
    tsl_fake_kernel("two", body, 2, kinds, access);
    tsl_fake_kernel("three", body, 3, kinds, access);
}

static void begin(const struct tsl_fake_setup *setup)
{
    register_kernels();
    begin_context(setup);
}

static void begin_members(unsigned n)
{
    begin(&(struct tsl_fake_setup){.n_members = n});
}

static struct tsl_program *make(const char *source)
{
    struct tsl_program *program;

    assert_int_equal(tsl_program_create_source(context, 1, &source, NULL, &program), CL_SUCCESS);
    return program;
}

static unsigned all(void)
{
    return tsl_context_members_of(context, devices[0]);
}

static cl_int build(struct tsl_program *program)
{
    return tsl_program_build(program, NULL, NULL, NULL, NULL);
}

static cl_build_status status_of(struct tsl_program *program)
{
    cl_build_status status;

    tsl_lock_take(&program->lock);
    status = tsl_program_status_locked(program, all());
    tsl_lock_give(&program->lock);
    return status;
}

static struct tsl_program *make_built(const char *source)
{
    struct tsl_program *program = make(source);

    assert_int_equal(build(program), CL_SUCCESS);
    return program;
}

static struct tsl_kernel *make_kernel(struct tsl_program *program, const char *name)
{
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(program, name, &kernel), CL_SUCCESS);
    return kernel;
}

static void log_is(struct tsl_program *program, const char *expected)
{
    char *log = tsl_program_log(program, all());

    assert_string_equal(log, expected);
    free(log);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void every_member_builds(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(3);
    program = make_built("kernel one a\nkernel two a,b\n");
    log_is(program, "");
    assert_string_equal(program->kernel_names, "one;two");
    assert_int_equal(status_of(program), CL_BUILD_SUCCESS);
    kernel = make_kernel(program, "two");
    assert_int_equal(kernel->eligible, 7);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_member_that_fails_is_left_out_and_named(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(3);
    program = make_built("kernel one a\nerror 1 no such thing\n");
    log_is(program, "[fake:1 fake 1] failed, error -11\nerror: no such thing\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(kernel->eligible, 5);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static size_t variables_of(struct tsl_program *program)
{
    size_t size = 99;
    const struct tsl_info info = {.size = sizeof(size), .value = &size};

    assert_int_equal(
        tsl_program_build_info(program, tsl_device_root(), CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, &info),
        CL_SUCCESS);
    return size;
}

/* What one member writes to them no other would see. */
static void variables_of_a_program_keep_it_on_one_member(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(3);
    tsl_fake_kernel_traits("one", &(struct tsl_fake_traits){.unproven = true});
    program = make_built("kernel one a\nvariables 32\nvariables 1 64\nerror 0 no\n");
    log_is(program, "[fake:0 fake 0] failed, error -11\nerror: no\n"
                    "[fake:2 fake 2] failed, error -11\n"
                    "the program's variables of program scope are on one device: it runs on fake:1 fake 1 alone\n");
    assert_int_equal(variables_of(program), 64);
    kernel = make_kernel(program, "one");
    assert_int_equal(kernel->eligible, 2);
    assert_true(kernel->parts[1].facts.opaque); /* waits for all before it, as nobody knows what it touches */
    tsl_object_release(&kernel->object);
    assert_int_equal(build(program), CL_SUCCESS); /* kernels of before don't stand behind new ones */
    tsl_fake_kernel_traits("one", NULL);
    kernel = make_kernel(program, "one");
    assert_false(kernel->parts[1].facts.opaque); /* its compiler knows */
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

/* Some vendors count constants as variables; who knows better and has built the program without any is right. */
static void constants_are_no_variables(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(2);
    program = make_built("kernel one a\nvariables 1 64\n");
    assert_int_equal(variables_of(program), 0);
    kernel = make_kernel(program, "one");
    assert_int_equal(kernel->eligible, 3);
    assert_false(kernel->parts[1].facts.opaque);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_program_without_variables_is_on_all(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(2);
    program = make_built("kernel one a\n");
    assert_int_equal(variables_of(program), 0);
    kernel = make_kernel(program, "one");
    assert_int_equal(kernel->eligible, 3);
    assert_false(kernel->parts[0].facts.opaque);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_build_fails_when_no_member_is_left(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(2);
    program = make("kernel one a\nerror bad\n");
    assert_int_equal(build(program), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(status_of(program), CL_BUILD_ERROR);
    log_is(program, "[fake:0 fake 0] failed, error -11\nerror: bad\n[fake:1 fake 1] failed, error -11\nerror: bad\n");
    assert_int_equal(tsl_kernel_create(program, "one", &kernel), CL_INVALID_PROGRAM_EXECUTABLE);
    tsl_object_release(&program->object);
}

static void one_member_s_log_is_the_program_s(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin_members(1);
    program = make("kernel one a\nerror bad\n");
    assert_int_equal(build(program), CL_BUILD_PROGRAM_FAILURE);
    log_is(program, "error: bad\n");
    tsl_object_release(&program->object);
    program = make_built("kernel one a\nlog hello\n");
    log_is(program, "hello\n");
    tsl_object_release(&program->object);
}

static void bad_options_are_told_if_nobody_takes_them(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin_members(2);
    program = make("kernel one a\n");
    for (unsigned i = 0; i < 2; i++)
        tsl_fake_fail_call(i, TSL_FAKE_BUILD, 1, CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(build(program), CL_INVALID_BUILD_OPTIONS);
    tsl_fake_fail_call(0, TSL_FAKE_BUILD, 1, CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(build(program), CL_SUCCESS);
    assert_int_equal(tsl_program_build(program, NULL, "-cl-std=CL7.0", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    /* What is refused at once leaves the build before as it was. */
    assert_int_equal(status_of(program), CL_BUILD_SUCCESS);
    tsl_object_release(&program->object);
}

/* The fake driver compiles nothing separately, as devices of OpenCL 1.1 don't. */
static void members_without_a_linker_are_left_out(void **state)
{
    const struct tsl_program_includes none = {.n = 0};
    struct tsl_program *program;

    (void)state;
    begin_members(2);
    program = make("kernel one a\n");
    assert_int_equal(tsl_program_compile(program, NULL, NULL, &none, &nobody), CL_COMPILER_NOT_AVAILABLE);
    assert_int_equal(status_of(program), CL_BUILD_ERROR);
    log_is(program, "[fake:0 fake 0] failed, error -3\n[fake:1 fake 1] failed, error -3\n");
    tsl_object_release(&program->object);
}

static void a_failed_rebuild_takes_the_old_program_away(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(1);
    program = make_built("kernel one a\n");
    tsl_fake_fail_call(0, TSL_FAKE_BUILD, 1, CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(build(program), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(tsl_kernel_create(program, "one", &kernel), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(build(program), CL_SUCCESS);
    tsl_object_release(&program->object);
}

static void no_rebuild_while_there_are_kernels(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(2);
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(build(program), CL_INVALID_OPERATION);
    tsl_object_release(&kernel->object);
    assert_int_equal(build(program), CL_SUCCESS);
    tsl_object_release(&program->object);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static pthread_barrier_t together;

static void meet(void *arg, const char *operation)
{
    (void)arg;
    if (strcmp(operation, "build") == 0)
        pthread_barrier_wait(&together);
}

static void members_build_at_once(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 3, .on_call = meet});
    pthread_barrier_init(&together, NULL, 3);
    program = make_built("kernel one a\n"); /* one after the other, the first would wait for ever */
    pthread_barrier_destroy(&together);
    tsl_object_release(&program->object);
}

struct notice {
    sem_t done;
    struct tsl_program *program;
    pthread_t thread;
    bool signals_blocked;
    cl_build_status status;
};

static void CL_CALLBACK note(cl_program program, void *arg)
{
    struct notice *notice = arg;
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    notice->signals_blocked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGUSR1);
    notice->thread = pthread_self();
    notice->program = (struct tsl_program *)program;
    notice->status = status_of(notice->program);
    sem_post(&notice->done);
}

/* ---- Built-in kernels -------------------------------------------------------------------------------------------- */

/* Each member has its share of them, ready without a build. */
static void built_in_kernels_run_where_they_are(void **state)
{
    const struct tsl_fake_setup setup = {.n_members = 3, .members = {{.built_ins = "one;two"}, {.built_ins = "two"}}};
    char names[64];
    const struct tsl_info info = {sizeof(names), names, NULL};
    const struct tsl_targets targets = {1, devices};
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&setup);
    assert_int_equal(tsl_device_info(devices[0], CL_DEVICE_BUILT_IN_KERNELS, sizeof(names), names, NULL), CL_SUCCESS);
    assert_string_equal(names, "one;two");
    assert_int_equal(tsl_program_create_built_in(context, &targets, "one;none", &program), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_create_built_in(context, &targets, "three", &program), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_create_built_in(context, &targets, "", &program), CL_INVALID_VALUE);
    assert_int_equal(tsl_program_create_built_in(context, &targets, "two;one", &program), CL_SUCCESS);
    assert_int_equal(tsl_program_info(program, CL_PROGRAM_KERNEL_NAMES, &info), CL_SUCCESS);
    assert_string_equal(names, "two;one");
    assert_int_equal(tsl_program_build(program, NULL, "", NULL, NULL), CL_INVALID_OPERATION);
    kernel = make_kernel(program, "two");
    assert_int_equal(kernel->eligible, 3);
    tsl_object_release(&kernel->object);
    kernel = make_kernel(program, "one");
    assert_int_equal(kernel->eligible, 1);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

/* A member that can't make what it names is no reason to fail while another can. */
static void a_member_that_fails_its_built_ins(void **state)
{
    const struct tsl_fake_setup setup = {.n_members = 2, .members = {{.built_ins = "one;ghost"}, {.built_ins = "one"}}};
    const struct tsl_targets targets = {1, devices};
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&setup);
    assert_int_equal(tsl_program_create_built_in(context, &targets, "ghost", &program), CL_OUT_OF_RESOURCES);
    tsl_fake_fail_call(0, TSL_FAKE_BUILD, 1, CL_OUT_OF_RESOURCES);
    assert_int_equal(tsl_program_create_built_in(context, &targets, "one", &program), CL_SUCCESS);
    kernel = make_kernel(program, "one");
    assert_int_equal(kernel->eligible, 2);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

/* With a callback the call returns at once; until the build is over nobody else may build. */
static void a_build_in_the_background(void **state)
{
    static struct notice notice;
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 1, .on_call = meet});
    pthread_barrier_init(&together, NULL, 2);
    sem_init(&notice.done, 0, 0);
    program = make("kernel one a\n");
    assert_int_equal(tsl_program_build(program, NULL, "", note, &notice), CL_SUCCESS);
    assert_int_equal(build(program), CL_INVALID_OPERATION);
    assert_int_equal(tsl_kernel_create(program, "one", &kernel), CL_INVALID_PROGRAM_EXECUTABLE);
    pthread_barrier_wait(&together); /* now it may go on */
    sem_wait(&notice.done);
    assert_ptr_equal(notice.program, program);
    assert_int_equal(notice.status, CL_BUILD_SUCCESS);
    assert_true(notice.signals_blocked);
    assert_false(pthread_equal(notice.thread, pthread_self()));
    kernel = make_kernel(program, "one");
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
    /* The thread lets the program go after the callback. */
    for (int i = 0; i < 5000 && tsl_object_live(TSL_PROGRAM); i++)
        usleep(1000);
    pthread_barrier_destroy(&together);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void a_kernel_runs_where_it_is(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;
    cl_uint n;

    (void)state;
    begin_members(2);
    program = make_built("kernel one a\nkernel two a,b\nwithout 0 two\nwithout 1 one\n");
    assert_string_equal(program->kernel_names, "one;two");
    kernel = make_kernel(program, "two");
    assert_int_equal(kernel->eligible, 2);
    assert_int_equal(kernel->facts->n_args, 2);
    tsl_object_release(&kernel->object);
    assert_int_equal(tsl_kernel_create(program, "three", &kernel), CL_INVALID_KERNEL_NAME);
    assert_int_equal(tsl_kernel_create_all(program, 0, NULL, &n), CL_SUCCESS);
    assert_int_equal(n, 2);
    tsl_object_release(&program->object);
}

static void all_kernels_or_none(void **state)
{
    struct tsl_program *program;
    cl_kernel kernels[2];
    cl_uint n;

    (void)state;
    begin_members(2);
    program = make_built("kernel one a\nkernel two a,b\n");
    assert_int_equal(tsl_kernel_create_all(program, 1, kernels, &n), CL_INVALID_VALUE);
    tsl_fake_fail_call(0, TSL_FAKE_KERNEL, 2, CL_OUT_OF_HOST_MEMORY);
    tsl_fake_fail_call(1, TSL_FAKE_KERNEL, 2, CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(tsl_kernel_create_all(program, 2, kernels, &n), CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(program->n_kernels, 0);
    assert_int_equal(tsl_kernel_create_all(program, 2, kernels, &n), CL_SUCCESS);
    assert_string_equal(((struct tsl_kernel *)kernels[1])->name, "two");
    for (n = 0; n < 2; n++)
        tsl_object_release((struct tsl_object *)kernels[n]);
    tsl_object_release(&program->object);
}

/* Between the members' kernel_create calls the body of "one" gets another signature. */
static void change_signature(void *arg, const char *operation)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_LOCAL};
    static const unsigned access[] = {0};
    unsigned *calls = arg;

    if (strcmp(operation, "kernel_create") == 0 && ++*calls == 2)
        tsl_fake_kernel("one", body, 1, kinds, access);
}

static void another_signature_excludes_a_member(void **state)
{
    unsigned calls = 0;
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .on_call = change_signature, .on_call_arg = &calls});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(calls, 2);
    assert_int_equal(kernel->eligible, 1);
    assert_int_equal(kernel->facts->args[0].kind, TSL_FACT_GLOBAL);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

/* Members build in threads of their own, so calls come from several at once. */
static void count_questions(void *arg, const char *operation)
{
    atomic_uint *questions = arg;

    *questions += strcmp(operation, "windows_ok") == 0;
}

static void windows_are_asked_for_once(void **state)
{
    struct tsl_fake_traits traits = {.whole_launch = true};
    struct tsl_program *program;
    struct tsl_kernel *one, *two;
    atomic_uint questions = 0;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .on_call = count_questions, .on_call_arg = &questions});
    tsl_fake_kernel_traits("two", &traits);
    program = make_built("kernel one a\nkernel two a,b\n");
    one = make_kernel(program, "one");
    assert_int_equal(questions, 2); /* one of each member */
    two = make_kernel(program, "two");
    assert_int_equal(questions, 4);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(one->parts[i].windows);
        assert_false(two->parts[i].windows);
    }
    tsl_object_release(&one->object);
    tsl_object_release(&two->object);
    tsl_fake_kernel_traits("two", NULL);
    tsl_object_release(&program->object);
}

/* ---- Binaries ---------------------------------------------------------------------------------------------------- */

static cl_int load(const void *binary, size_t size, struct tsl_program **program)
{
    struct tsl_program_load loads = {.device = devices[0], .binary = binary, .size = size};
    cl_int error = tsl_program_create_binary(context, 1, &loads, program);

    assert_int_equal(loads.status, error);
    return error;
}

static void binaries_find_their_members(void **state)
{
    struct tsl_program *program, *loaded;
    struct tsl_kernel *kernel;
    void *binary, *again;
    size_t size, size_again;

    (void)state;
    begin_members(2);
    program = make("kernel one a\nerror 1 not here\n");
    assert_int_equal(tsl_program_binary(program, 0, &binary, &size), CL_SUCCESS);
    assert_int_equal(size, 0); /* there is nothing before a build */
    assert_int_equal(build(program), CL_SUCCESS);
    assert_int_equal(tsl_program_binary(program, 0, &binary, &size), CL_SUCCESS);
    tsl_object_release(&program->object);

    assert_int_equal(load(binary, size, &loaded), CL_SUCCESS);
    assert_int_equal(tsl_kernel_create(loaded, "one", &kernel), CL_INVALID_PROGRAM_EXECUTABLE); /* build it first */
    assert_int_equal(build(loaded), CL_SUCCESS);
    kernel = make_kernel(loaded, "one");
    assert_int_equal(kernel->eligible, 1);
    assert_int_equal(tsl_program_binary(loaded, 0, &again, &size_again), CL_SUCCESS);
    assert_int_equal(size_again, size);
    assert_memory_equal(again, binary, size);
    tsl_object_release(&kernel->object);
    tsl_object_release(&loaded->object);

    ((char *)binary)[size / 2] ^= 1;
    assert_int_equal(load(binary, size, &loaded), CL_INVALID_BINARY);
    assert_int_equal(load("#!/bin/sh", 9, &loaded), CL_INVALID_BINARY);
    free(binary);
    free(again);
}

static void a_binary_without_members_is_invalid(void **state)
{
    struct tsl_program *program, *loaded;
    void *binary;
    size_t size;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 1, .members = {{.name = "old"}}});
    program = make_built("kernel one a\n");
    assert_int_equal(tsl_program_binary(program, 0, &binary, &size), CL_SUCCESS);
    tsl_object_release(&program->object);
    assert_int_equal(end(NULL), 0);
    begin(&(struct tsl_fake_setup){.n_members = 1, .members = {{.name = "new"}}});
    assert_int_equal(load(binary, size, &loaded), CL_INVALID_BINARY);
    free(binary);
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static void queries_before_and_after_a_build(void **state)
{
    struct tsl_program *program;
    size_t n = 0, size = 0;
    char text[64];
    struct tsl_info number = {sizeof(n), &n, &size}, string = {sizeof(text), text, &size};

    (void)state;
    begin_members(2);
    program = make("kernel one a\n");
    assert_int_equal(tsl_program_info(program, CL_PROGRAM_NUM_KERNELS, &number), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(tsl_program_build_info(program, devices[0], CL_PROGRAM_BUILD_OPTIONS, &string), CL_SUCCESS);
    assert_string_equal(text, "");
    assert_int_equal(tsl_program_build(program, NULL, "-w  -DA", NULL, NULL), CL_SUCCESS);
    assert_int_equal(tsl_program_build_info(program, devices[0], CL_PROGRAM_BUILD_OPTIONS, &string), CL_SUCCESS);
    assert_string_equal(text, "-w  -DA");
    assert_int_equal(tsl_program_info(program, CL_PROGRAM_NUM_KERNELS, &number), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(tsl_program_info(program, CL_PROGRAM_SOURCE, &string), CL_SUCCESS);
    assert_string_equal(text, "kernel one a\n"); /* without any prelude */
    assert_int_equal(tsl_program_info(program, CL_PROGRAM_IL, &string), CL_SUCCESS);
    assert_int_equal(size, 0);
    tsl_object_release(&program->object);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static struct tsl_window window_of(size_t global, size_t local)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {global, 1, 1}, .whole = true};

    if (local)
        window.local_size[0] = local;
    window.local_size[1] = window.local_size[2] = local ? 1 : 0;
    return window;
}

static void launch_is(struct tsl_kernel *kernel, size_t global, size_t local, cl_int error, unsigned members)
{
    struct tsl_window window = window_of(global, local);
    unsigned left = all();

    assert_int_equal(tsl_launch_check(kernel, &window, &left), error);
    if (error == CL_SUCCESS)
        assert_int_equal(left, members);
}

static void a_launch_goes_where_its_groups_fit(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .members = {{.work_group_size = 64}, {.work_group_size = 256}}});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    launch_is(kernel, 1024, 64, CL_INVALID_KERNEL_ARGS, 0);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    launch_is(kernel, 1024, 0, CL_SUCCESS, 3);
    launch_is(kernel, 1024, 64, CL_SUCCESS, 3);
    launch_is(kernel, 1024, 128, CL_SUCCESS, 2);
    launch_is(kernel, 1024, 512, CL_INVALID_WORK_ITEM_SIZE, 0);
    launch_is(kernel, 1000, 64, CL_INVALID_WORK_GROUP_SIZE, 0); /* a remainder */
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_group_of_three_dimensions_is_their_product(void **state)
{
    struct tsl_window window = {.work_dim = 3, .global_size = {32, 32, 32}, .local_size = {8, 8, 8}, .whole = true};
    struct tsl_program *program;
    struct tsl_kernel *kernel;
    unsigned left;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 1, .members = {{.work_group_size = 256}}});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    left = all();
    assert_int_equal(tsl_launch_check(kernel, &window, &left), CL_INVALID_WORK_GROUP_SIZE);
    window.local_size[2] = 4;
    left = all();
    assert_int_equal(tsl_launch_check(kernel, &window, &left), CL_SUCCESS);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_required_size_is_given_and_asked_for(void **state)
{
    struct tsl_fake_traits traits = {.reqd_size = {16, 1, 1}};
    struct tsl_window window = window_of(64, 0);
    struct tsl_program *program;
    struct tsl_kernel *kernel;
    unsigned left;

    (void)state;
    begin_members(2);
    tsl_fake_kernel_traits("one", &traits);
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    launch_is(kernel, 64, 16, CL_SUCCESS, 3);
    launch_is(kernel, 64, 32, CL_INVALID_WORK_GROUP_SIZE, 0);
    launch_is(kernel, 60, 0, CL_INVALID_WORK_GROUP_SIZE, 0);
    left = all();
    assert_int_equal(tsl_launch_check(kernel, &window, &left), CL_SUCCESS);
    assert_int_equal(window.local_size[0], 16);
    tsl_fake_kernel_traits("one", NULL);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void local_memory_counts_static_and_dynamic(void **state)
{
    struct tsl_fake_traits traits = {.local_mem_size = 30000};
    struct tsl_program *program;
    struct tsl_kernel *kernel;
    int value = 0;

    (void)state;
    begin_members(1);
    tsl_fake_kernel_traits("three", &traits);
    program = make_built("kernel three a,b,c\n");
    kernel = make_kernel(program, "three");
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, 4, &value), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 2, 2768, NULL), CL_SUCCESS); /* 32768 in all */
    launch_is(kernel, 64, 64, CL_SUCCESS, 1);
    assert_int_equal(tsl_kernel_set_arg(kernel, 2, 2769, NULL), CL_SUCCESS);
    launch_is(kernel, 64, 64, CL_OUT_OF_RESOURCES, 0);
    tsl_fake_kernel_traits("three", NULL);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_sub_buffer_runs_where_it_is_aligned(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;
    struct tsl_buffer *sub;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .members = {{.base_align = 128}, {.base_align = 4096}}});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    sub = tsl_object_create(TSL_BUFFER, sizeof(*sub), NULL, no_destroy);
    sub->context = context;
    sub->type = CL_MEM_OBJECT_BUFFER;
    sub->offset = 4096;
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &sub), CL_SUCCESS);
    launch_is(kernel, 64, 64, CL_SUCCESS, 3);
    sub->offset = 256;
    launch_is(kernel, 64, 64, CL_SUCCESS, 1);
    sub->offset = 100;
    launch_is(kernel, 64, 64, CL_MISALIGNED_SUB_BUFFER_OFFSET, 0);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
    tsl_object_release(&sub->object);
}

static void suggest(struct tsl_kernel *kernel, struct tsl_window *window)
{
    kernel->suggested = true;
    tsl_launch_keep_suggestion(kernel, tsl_device_root(), 3, window);
}

/* On that member; 0: its driver may choose. */
static size_t chosen(const struct tsl_kernel *kernel, unsigned member, size_t global)
{
    struct tsl_window window = window_of(global, 0);

    tsl_launch_keep_suggestion(kernel, tsl_device_root(), 3, &window);
    assert_int_equal(window.local_size[0], 0);
    tsl_launch_limit(kernel, tsl_device_root(), member, &window);
    return window.local_size[0];
}

/* Programs size local memory by what CL_KERNEL_WORK_GROUP_SIZE and CL_DEVICE_MAX_WORK_GROUP_SIZE say. */
static void no_driver_chooses_more_than_was_promised(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .members = {{.work_group_size = 64}, {.work_group_size = 256}}});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(chosen(kernel, 0, 192), 0);
    assert_int_equal(chosen(kernel, 1, 192), 64);
    assert_int_equal(chosen(kernel, 1, 100), 50);
    kernel->eligible = 2; /* the device still says 64 */
    assert_int_equal(chosen(kernel, 1, 192), 64);
    kernel->eligible = 3;
    kernel->parts[1].facts.recommended_size[0] = 32; /* it chooses no more */
    kernel->parts[1].facts.recommended_size[1] = kernel->parts[1].facts.recommended_size[2] = 1;
    assert_int_equal(chosen(kernel, 1, 192), 0);
    kernel->parts[1].facts.recommended_size[1] = 4; /* a hint of the source's */
    assert_int_equal(chosen(kernel, 1, 192), 64);
    kernel->parts[1].facts.recommended_size[0] = 0;
    kernel->parts[1].facts.work_group_size = 32; /* the kernel takes fewer there */
    assert_int_equal(chosen(kernel, 1, 192), 0);
    assert_int_equal(chosen(kernel, 0, 192), 32);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static size_t told(struct tsl_kernel *kernel)
{
    size_t size = 0;
    const struct tsl_info info = {.size = sizeof(size), .value = &size};

    assert_int_equal(tsl_kernel_work_group_info(kernel, tsl_device_root(), CL_KERNEL_WORK_GROUP_SIZE, &info),
                     CL_SUCCESS);
    return size;
}

static void fewer_items_than_fit_are_told_and_chosen(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .members = {{.work_group_size = 512}, {.work_group_size = 256}}});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    assert_int_equal(told(kernel), 256);
    kernel->parts[0].facts.told_group_size = 128;
    assert_int_equal(told(kernel), 128);
    assert_int_equal(chosen(kernel, 0, 256), 0); /* that driver keeps to what it tells */
    assert_int_equal(chosen(kernel, 1, 256), 128);
    launch_is(kernel, 1024, 512, CL_SUCCESS, 1); /* and yet takes more, as far as the device does */
    launch_is(kernel, 1024, 256, CL_SUCCESS, 3);
    kernel->parts[0].facts.recommended_size[0] = 192; /* the source asks for it */
    kernel->parts[0].facts.recommended_size[1] = kernel->parts[0].facts.recommended_size[2] = 1;
    assert_int_equal(told(kernel), 192);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void a_suggested_size_divides_and_fits(void **state)
{
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .members = {{.work_group_size = 64}, {.work_group_size = 256}}});
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    for (size_t global = 1; global < 300; global++) {
        struct tsl_window window = window_of(global, 0);

        suggest(kernel, &window);
        assert_int_equal(global % window.local_size[0], 0);
        assert_in_range(window.local_size[0], 1, 64);
        assert_int_equal(window.local_size[1], 1);
        if (global <= 64)
            assert_int_equal(window.local_size[0], global);
    }
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

/* Of members' recommendations the least counts; one that suits the launch is taken as it is. */
static void a_suggested_size_is_a_recommended_one(void **state)
{
    struct tsl_fake_traits traits = {.recommended_size = {8, 4, 1}};
    struct tsl_window window = {.work_dim = 2, .global_size = {64, 12, 1}, .whole = true};
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 2, .members = {{.work_group_size = 64}, {.work_group_size = 256}}});
    tsl_fake_kernel_traits("one", &traits);
    program = make_built("kernel one a\n");
    kernel = make_kernel(program, "one");
    suggest(kernel, &window);
    assert_int_equal(window.local_size[0], 8);
    assert_int_equal(window.local_size[1], 4);
    window = window_of(1024, 0);
    suggest(kernel, &window);
    assert_int_equal(window.local_size[0], 32);
    kernel->parts[1].facts.recommended_size[1] = 2;
    window = (struct tsl_window){.work_dim = 2, .global_size = {64, 12, 1}, .whole = true};
    suggest(kernel, &window);
    assert_int_equal(window.local_size[0], 16);
    assert_int_equal(window.local_size[1], 1);
    tsl_fake_kernel_traits("one", NULL);
    tsl_object_release(&kernel->object);
    tsl_object_release(&program->object);
}

static void double_precision_excludes_members_without_it(void **state)
{
    struct tsl_fake_traits traits = {.fp64 = true};
    struct tsl_program *program;
    struct tsl_kernel *one, *two;
    int value = 0;

    (void)state;
    begin(&(struct tsl_fake_setup){.n_members = 3, .members = {{.fp64 = true}, {.fp64 = false}, {.fp64 = true}}});
    tsl_fake_kernel_traits("one", &traits);
    program = make_built("kernel one a\nkernel two a,b\n");
    one = make_kernel(program, "one");
    two = make_kernel(program, "two");
    assert_int_equal(tsl_kernel_set_arg(one, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(two, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(two, 1, sizeof(value), &value), CL_SUCCESS);
    launch_is(one, 64, 64, CL_SUCCESS, 5);
    launch_is(two, 64, 64, CL_SUCCESS, 7);
    tsl_fake_kernel_traits("one", NULL);
    tsl_object_release(&one->object);
    tsl_object_release(&two->object);
    tsl_object_release(&program->object);
}

static void double_precision_that_nobody_has(void **state)
{
    struct tsl_fake_traits traits = {.fp64 = true};
    struct tsl_program *program;
    struct tsl_kernel *kernel;

    (void)state;
    begin_members(2);
    tsl_fake_kernel_traits("one", &traits);
    program = make_built("kernel one a\n");
    assert_int_equal(tsl_kernel_create(program, "one", &kernel), CL_INVALID_PROGRAM_EXECUTABLE);
    tsl_fake_kernel_traits("one", NULL);
    tsl_object_release(&program->object);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, end)
    const struct CMUnitTest tests[] = {
        TEST(every_member_builds),
        TEST(a_member_that_fails_is_left_out_and_named),
        TEST(built_in_kernels_run_where_they_are),
        TEST(a_member_that_fails_its_built_ins),
        TEST(variables_of_a_program_keep_it_on_one_member),
        TEST(constants_are_no_variables),
        TEST(a_program_without_variables_is_on_all),
        TEST(a_build_fails_when_no_member_is_left),
        TEST(one_member_s_log_is_the_program_s),
        TEST(bad_options_are_told_if_nobody_takes_them),
        TEST(members_without_a_linker_are_left_out),
        TEST(a_failed_rebuild_takes_the_old_program_away),
        TEST(no_rebuild_while_there_are_kernels),
        TEST(members_build_at_once),
        TEST(a_build_in_the_background),
        TEST(a_kernel_runs_where_it_is),
        TEST(all_kernels_or_none),
        TEST(another_signature_excludes_a_member),
        TEST(windows_are_asked_for_once),
        TEST(binaries_find_their_members),
        TEST(a_binary_without_members_is_invalid),
        TEST(queries_before_and_after_a_build),
        TEST(a_launch_goes_where_its_groups_fit),
        TEST(a_group_of_three_dimensions_is_their_product),
        TEST(a_required_size_is_given_and_asked_for),
        TEST(local_memory_counts_static_and_dynamic),
        TEST(a_sub_buffer_runs_where_it_is_aligned),
        TEST(no_driver_chooses_more_than_was_promised),
        TEST(fewer_items_than_fit_are_told_and_chosen),
        TEST(a_suggested_size_divides_and_fits),
        TEST(a_suggested_size_is_a_recommended_one),
        TEST(double_precision_excludes_members_without_it),
        TEST(double_precision_that_nobody_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
