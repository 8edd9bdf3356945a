/* What the tests of the vendor driver share: the one member that the environment chose, a lane, and short ways to do
 * things of which a test isn't about. */
#ifndef TSL_TESTS_VENDOR_ENV_H
#define TSL_TESTS_VENDOR_ENV_H

#include "opencl/internal.h"

#include "driver_env.h"

static inline int open_member(void **state)
{
    int error = open_members(state);

    assert_int_equal(n_members, 1);
    assert_string_equal(driver->name, "opencl");
    return error;
}

static inline bool is_platform(const char *name)
{
    return strstr(member->path->platform_name, name) != NULL;
}

static inline struct tsl_dprogram *build(const char *source)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = source, .options = ""};
    struct tsl_dprogram *program;
    char *log = NULL;
    cl_int error;

    input.size = strlen(source);
    error = driver->build(member, &input, &program, &log);
    if (error)
        fail_msg("build: %d, %s", error, log);
    assert_non_null(log);
    free(log);
    return program;
}

/* Calls made through one function pointer of the driver's copy of the vendor's table, for the length of a test. */
static inline struct tsl_opencl_cl *table(void)
{
    return &tsl_opencl_member(member)->device->cl;
}

#endif
