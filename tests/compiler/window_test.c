/*
 * Windows of launches on the built-in CPU: any part of a launch's work-groups, whose ids and sizes answer as for the
 * whole; the parts together are the whole.
 */
/* timeout: 100 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none */
#include "cpu_bed.h"

#define RECORD 16u

/* Each work-item writes what it is told into its own record. The second kernel has barriers. */
static const char source[] =
    "void tell(global uint *o) { for (uint d = 0; d < 3; d++) { o[d] = get_group_id(d); o[3 + d] = get_num_groups(d);\n"
    "        o[6 + d] = get_global_size(d); o[9 + d] = get_global_id(d) - get_global_offset(d); o[12 + d] = "
    "get_local_id(d); }\n"
    "    o[15]++; }\n"
    "global uint *record(global uint *o, uint by) { return o + by * ((get_global_id(0) - get_global_offset(0)) +\n"
    "        get_global_size(0) * ((get_global_id(1) - get_global_offset(1)) + get_global_size(1) *\n"
    "        (get_global_id(2) - get_global_offset(2)))); }\n"
    "kernel void plain(global uint *o, uint by) { tell(record(o, by)); }\n"
    "kernel void barriers(global uint *o, uint by) { local uint t; if (get_local_id(0) + get_local_id(1) +\n"
    "        get_local_id(2) == 0) t = get_group_id(0);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); tell(record(o, by)); if (t != get_group_id(0)) *record(o, by) = 77; }\n"
    "kernel void flat(global uint *o, uint by) { o[get_global_id(0) + by * get_global_id(1)]++; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void required(global uint *o, uint by) {\n"
    "    o[get_global_id(0) + by * get_global_id(1)]++; }\n";

/* Groups of 5 x 2 x 3, and a grid that has a first, a middle and a last one in each dimension. */
static const size_t locals[3] = {5, 2, 3}, groups[3] = {7, 3, 4}, offsets[3] = {11, 0, 100};

static size_t size_of(unsigned d)
{
    return locals[d] * groups[d];
}

static void launch_window(struct tsl_dkernel *kernel, struct tsl_mem *mem, const size_t *begin, const size_t *count)
{
    static unsigned serial;
    cl_uint by = RECORD;
    struct tsl_bound_arg args[2] = {{.kind = TSL_ARG_MEM, .mem = mem},
                                    {.kind = TSL_ARG_VALUE, .size = sizeof(by), .value = &by}};
    struct tsl_bound_args bound = {.serial = ++serial, .n = 2, .args = args};
    struct tsl_window window = {.work_dim = 3};
    struct tsl_fence *fence;

    for (unsigned d = 0; d < 3; d++) {
        window.global_offset[d] = offsets[d];
        window.global_size[d] = size_of(d);
        window.local_size[d] = locals[d];
        window.group_begin[d] = begin[d];
        window.group_count[d] = count[d];
    }
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
}

/* The record of work-item i, which ran `times` times. */
static void check_record(const unsigned *record, const size_t *at, unsigned times)
{
    for (unsigned d = 0; d < 3 && times; d++) {
        assert_int_equal(record[d], at[d] / locals[d]);
        assert_int_equal(record[3 + d], groups[d]);
        assert_int_equal(record[6 + d], size_of(d));
        assert_int_equal(record[9 + d], at[d]);
        assert_int_equal(record[12 + d], at[d] % locals[d]);
    }
    assert_int_equal(record[15], times);
}

static bool is_inside(const size_t *at, const size_t *begin, const size_t *count)
{
    for (unsigned d = 0; d < 3; d++)
        if (at[d] / locals[d] < begin[d] || at[d] / locals[d] >= begin[d] + count[d])
            return false;
    return true;
}

/* Those of the window ran once more than `before`. */
static void check_all(struct tsl_mem *mem, const size_t *begin, const size_t *count, unsigned before)
{
    const unsigned *records = (const unsigned *)bed_ints(mem);
    size_t at[3];

    for (at[2] = 0; at[2] < size_of(2); at[2]++)
        for (at[1] = 0; at[1] < size_of(1); at[1]++)
            for (at[0] = 0; at[0] < size_of(0); at[0]++)
                check_record(records + RECORD * (at[0] + size_of(0) * (at[1] + size_of(1) * at[2])), at,
                             before + is_inside(at, begin, count));
}

static void run_windows(const char *name)
{
    static const size_t windows[][2][3] = {
        {{0, 0, 0}, {1, 1, 1}}, {{6, 2, 3}, {1, 1, 1}}, {{2, 1, 1}, {3, 1, 2}},
        {{0, 2, 0}, {7, 1, 4}}, {{3, 0, 0}, {4, 3, 1}},
    };
    static const size_t nothing[3] = {0, 0, 0};
    struct tsl_dprogram *program = bed_build(source, "");
    struct tsl_dkernel *kernel = bed_kernel(program, name);
    size_t size = size_of(0) * size_of(1) * size_of(2) * RECORD * sizeof(cl_uint);
    struct tsl_mem *mem = new_mem(size);

    for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
        memset(bed_ints(mem), 0, size);
        launch_window(kernel, mem, windows[w][0], windows[w][1]);
        check_all(mem, windows[w][0], windows[w][1], 0);
    }
    /* Two halves, cut in the middle dimension. */
    memset(bed_ints(mem), 0, size);
    launch_window(kernel, mem, (const size_t[]){0, 0, 0}, (const size_t[]){7, 1, 4});
    launch_window(kernel, mem, (const size_t[]){0, 1, 0}, (const size_t[]){7, 2, 4});
    check_all(mem, nothing, nothing, 1);
    driver->mem_free(mem);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void windows_of_plain_kernels(void **state)
{
    (void)state;
    run_windows("plain");
}

static void windows_of_kernels_with_barriers(void **state)
{
    (void)state;
    run_windows("barriers");
}

/* Nothing depends on the groups of the kernel, so its windows run in others: they are where they were asked for. */
static void run_flat(const char *name)
{
    enum { COLUMNS = 8 * 33, ROWS = 4 * 9 };
    static const size_t windows[][2][2] = {{{0, 0}, {33, 9}}, {{0, 3}, {33, 2}}, {{1, 0}, {32, 9}},
                                           {{5, 8}, {1, 1}},  {{7, 2}, {13, 5}}, {{32, 0}, {1, 9}}};
    struct tsl_dprogram *program = bed_build(source, "");
    struct tsl_dkernel *kernel = bed_kernel(program, name);
    struct tsl_mem *mem = new_mem(COLUMNS * ROWS * sizeof(cl_uint));
    cl_uint by = COLUMNS;
    struct tsl_bound_arg args[2] = {{.kind = TSL_ARG_MEM, .mem = mem},
                                    {.kind = TSL_ARG_VALUE, .size = sizeof(by), .value = &by}};

    for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
        const size_t *begin = windows[w][0], *count = windows[w][1];
        struct tsl_bound_args bound = {.serial = 1000 + w, .n = 2, .args = args};
        struct tsl_window window = {.work_dim = 2,
                                    .global_size = {COLUMNS, ROWS, 1},
                                    .local_size = {8, 4, 1},
                                    .group_begin = {begin[0], begin[1], 0},
                                    .group_count = {count[0], count[1], 1}};
        struct tsl_fence *fence;

        memset(bed_ints(mem), 0, COLUMNS * ROWS * sizeof(cl_uint));
        assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &bound, &window}, NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        tsl_fence_unref(fence);
        for (size_t y = 0; y < ROWS; y++)
            for (size_t x = 0; x < COLUMNS; x++)
                assert_int_equal(bed_ints(mem)[x + COLUMNS * y],
                                 x / 8 - begin[0] < count[0] && y / 4 - begin[1] < count[1]);
    }
    driver->mem_free(mem);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void windows_in_other_groups(void **state)
{
    (void)state;
    run_flat("flat");
    run_flat("required");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_plain_kernels),
        cmocka_unit_test(windows_of_kernels_with_barriers),
        cmocka_unit_test(windows_in_other_groups),
    };

    return cmocka_run_group_tests(tests, bed_open, close_members);
}
