/*
 * Small launches that stay where their data are are asked about rarely, also where each touches other bytes, and where
 * a few bytes are elsewhere. In virtual time.
 */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_CACHE=off */
#include "footprint_bed.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/valid.h"
#include "program/program.h"
#include "test.h"
#include "timed.h"

#define SIZE     (1u << 20)
#define ITEMS    4096u
#define PITCH    1000 /* from the first byte that a launch touches to that of the next */
#define WARM     64u
#define LAUNCHES 256u

static struct timed t;
static struct tsl_buffer *buffer;
static struct tsl_kernel *kernel;

static void no_body(const struct tsl_fake_run *run)
{
    (void)run;
}

/* One member is a hundred times as fast as the other. */
static void begin(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE, 0};
    static const struct tsl_fake_member members[] = {{.name = "fast", .item_ns = 1, .gates = true},
                                                     {.name = "slow", .item_ns = 100, .gates = true}};
    static struct bed bed;

    bed_begin(&bed, 2);
    uint32_t row = bed_two(&bed, TSL_NODE_MUL, bed_scalar(&bed, 64, 1, 0), bed_constant(&bed, 64, PITCH));
    uint32_t at = bed_two(&bed, TSL_NODE_ADD, row, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
    bed_access(&bed, 0, TSL_ACCESS_READ, 1, at);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 1, at);
    tsl_fake_kernel("walk", no_body, 2, kinds, access);
    tsl_fake_kernel_traits("walk", &(struct tsl_fake_traits){.footprint = &bed.footprint});
    timed_begin(&t, members, 2, "kernel walk a,row\n", 0);
    buffer = timed_buffer(&t, SIZE);
    assert_int_equal(tsl_kernel_create(t.program, "walk", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&kernel->object);
    tsl_object_release(&buffer->object);
    timed_end(&t);
    return 0;
}

/* The program waits for it. */
static void launch_of(size_t n_items, int64_t row)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {n_items, 1, 1}, .local_size = {64, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof(row), &row), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
    timed_finish(&t);
}

static void launch(int64_t row)
{
    launch_of(ITEMS, row);
}

/* How many of LAUNCHES are asked about. */
static unsigned count_asked(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < LAUNCHES; i++) {
        launch(i % 200);
        n += kernel->n_stayed == 0;
    }
    return n;
}

static void test_other_bytes_each_time(void **state)
{
    (void)state;
    begin();
    launch_of(SIZE, 0);
    for (unsigned i = 0; i < WARM; i++)
        launch(0);
    assert_in_range(count_asked(), 1, LAUNCHES / 8);
}

/* As a try on the other member leaves them, where they aren't touched again. */
static void test_stray_bytes(void **state)
{
    struct tsl_data *data;

    (void)state;
    begin();
    data = tsl_data_of(buffer);
    launch_of(SIZE, 0);
    for (unsigned i = 0; i < WARM; i++)
        launch(i % 200);
    assert_int_equal(tsl_valid_set_only(data, SIZE - 8, SIZE, TSL_SPACE_MEMBER(1)), CL_SUCCESS);
    assert_in_range(count_asked(), 1, LAUNCHES / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_other_bytes_each_time, end),
        cmocka_unit_test_teardown(test_stray_bytes, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
