/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/vendors-none */
/* variant: model TESELA_MEMBERS=fake TESELA_VENDORS={build}/vendors-none TESELA_POLICY=model */
/* Builds of programs for members of which one is much slower than the other: nobody waits long for its code. */
#include "program/program.h"

#include "program_bed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static pthread_t builder;
static atomic_bool held; /* whoever builds beside the builder's thread waits meanwhile */

/* The faster member's job, or the last one's, runs in the builder's thread. */
static void hold(void *arg, const char *operation)
{
    (void)arg;
    if (strcmp(operation, "build") != 0 || pthread_equal(pthread_self(), builder))
        return;
    while (atomic_load(&held))
        usleep(1000);
}

static void begin_with(double first, double second)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE};
    struct tsl_fake_setup setup = {
        .n_members = 2, .members = {{.speed = first}, {.speed = second}}, .threads = true, .on_call = hold};

    builder = pthread_self();
    atomic_store(&held, true);
    tsl_fake_kernel("one", body, 1, kinds, access);
    begin_context(&setup);
}

static struct tsl_program *make(const char *source)
{
    struct tsl_program *program;

    assert_int_equal(tsl_program_create_source(context, 1, &source, NULL, &program), CL_SUCCESS);
    return program;
}

static tsl_members eligible(struct tsl_program *program)
{
    struct tsl_kernel *kernel;
    tsl_members members;

    assert_int_equal(tsl_kernel_create(program, "one", &kernel), CL_SUCCESS);
    members = kernel->eligible;
    tsl_object_release(&kernel->object);
    return members;
}

static void until_programs(unsigned n)
{
    for (unsigned i = 0; i < 5000 && tsl_fake_live().programs != n; i++)
        usleep(1000);
    assert_int_equal(tsl_fake_live().programs, n);
}

static void *release_soon(void *arg)
{
    usleep(400000);
    atomic_store(&held, false);
    return arg;
}

static cl_int build_released_soon(struct tsl_program *program)
{
    pthread_t thread;
    cl_int error;

    assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
    error = tsl_program_build(program, NULL, NULL, NULL, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return error;
}

static void a_slow_members_code_may_come_too_late(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin_with(100, 1);
    program = make("kernel one a\n");
    assert_int_equal(tsl_program_build(program, NULL, NULL, NULL, NULL), CL_SUCCESS);
    assert_int_equal(eligible(program), 1);
    /* It goes on where it is, also when the program is gone. */
    tsl_object_release(&program->object);
    atomic_store(&held, false);
    until_programs(0);
    for (unsigned i = 0; i < 5000 && tsl_object_live(TSL_PROGRAM); i++)
        usleep(1000);
}

static void a_slow_members_code_in_time_counts(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin_with(1, 100);
    program = make("kernel one a\n");
    atomic_store(&held, false);
    assert_int_equal(tsl_program_build(program, NULL, NULL, NULL, NULL), CL_SUCCESS);
    assert_int_equal(eligible(program), 3);
    tsl_object_release(&program->object);
}

static void members_that_are_about_as_fast_are_waited_for(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin_with(2, 1);
    program = make("kernel one a\n");
    assert_int_equal(build_released_soon(program), CL_SUCCESS);
    assert_int_equal(eligible(program), 3);
    tsl_object_release(&program->object);
}

static void a_slow_member_is_waited_for_where_no_other_has_code(void **state)
{
    struct tsl_program *program;

    (void)state;
    begin_with(100, 1);
    program = make("error 0 no code for this one\nkernel one a\n");
    assert_int_equal(build_released_soon(program), CL_SUCCESS);
    assert_int_equal(eligible(program), 2);
    tsl_object_release(&program->object);
}

#define TEST(function) cmocka_unit_test_teardown(function, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_slow_members_code_may_come_too_late),
        TEST(a_slow_members_code_in_time_counts),
        TEST(members_that_are_about_as_fast_are_waited_for),
        TEST(a_slow_member_is_waited_for_where_no_other_has_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
