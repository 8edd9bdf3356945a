/* For tests of the CPU driver from within: its member, programs and launches in one line. */
#ifndef TSL_TESTS_CPU_BED_H
#define TSL_TESTS_CPU_BED_H

#include "cpu_device/internal.h"

#include "../support/driver_env.h"
#include "kc_env.h"

static inline int bed_open(void **state)
{
    int error;

    kc_use(NULL);
    error = open_members(state);
    alarm(0); /* CTest's limit is longer */
    return error;
}

static inline struct tsl_dprogram *bed_build(const char *source, const char *options)
{
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = source, .size = strlen(source), .options = options};
    struct tsl_dprogram *program;
    char *log = NULL;

    if (driver->build(member, &input, &program, &log))
        fail_msg("%s", log);
    free(log);
    return program;
}

static inline struct tsl_dkernel *bed_kernel(struct tsl_dprogram *program, const char *name)
{
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    assert_int_equal(driver->kernel_create(program, name, &kernel, &facts), CL_SUCCESS);
    tsl_kernel_facts_finish(&facts);
    return kernel;
}

/* One dimension; the arguments are a buffer and a number. local 0: the driver's choice. */
static inline void bed_launch(struct tsl_lane *l, struct tsl_dkernel *kernel, struct tsl_mem *mem, cl_uint value,
                              size_t global, size_t local, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    static atomic_uint serials;
    struct tsl_bound_arg args[2] = {{.kind = TSL_ARG_MEM, .mem = mem},
                                    {.kind = TSL_ARG_VALUE, .size = sizeof(value), .value = &value}};
    struct tsl_bound_args bound = {.serial = atomic_fetch_add(&serials, 1) + 1, .n = 2, .args = args};
    struct tsl_window window = {
        .work_dim = 1, .global_size = {global, 1, 1}, .local_size = {local, local != 0, local != 0}, .whole = true};

    assert_int_equal(driver->launch(l, &(struct tsl_launch){kernel, &bound, &window}, waits, fence), CL_SUCCESS);
}

static inline int *bed_ints(struct tsl_mem *mem)
{
    return (int *)(void *)((struct cpu_mem *)mem)->data;
}

#endif
