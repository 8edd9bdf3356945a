/* Includes cmocka after the headers that it needs, in the order that it needs. */
#ifndef TSL_TESTS_TEST_H
#define TSL_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka only prints that a group's teardown failed, and the program succeeds. With this it fails. */
struct tsl_group {
    CMFixtureFunction teardown;
    bool torn_down;
};

static inline struct tsl_group *tsl_group(void)
{
    static struct tsl_group group;

    return &group;
}

static inline int tsl_group_teardown(void **state)
{
    struct tsl_group *group = tsl_group();
    int error = group->teardown(state); /* doesn't return from a failed assertion */

    group->torn_down = error == 0;
    return error;
}

static inline int tsl_run_group(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                CMFixtureFunction teardown)
{
    int n_failed;

    *tsl_group() = (struct tsl_group){.teardown = teardown, .torn_down = !teardown};
    n_failed = _cmocka_run_group_tests(name, tests, n, setup, teardown ? tsl_group_teardown : NULL);
    return n_failed ? n_failed : !tsl_group()->torn_down;
}

#undef cmocka_run_group_tests
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests(tests, setup, teardown) \
    tsl_run_group(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    tsl_run_group(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

#endif
