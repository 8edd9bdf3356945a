/* Launches whose work lies unevenly: borders go where the shares' times say that it lies. In virtual time. */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_CACHE=off */
#include "base/clock.h"
#include "footprint_bed.h"
#include "test.h"
#include "timed.h"

#define ITEMS (1u << 21)
#define GROUP 64u
#define PITCH 1024u /* of rows, in launches of two dimensions */

static struct timed t;
static struct tsl_buffer *buffer;
static struct tsl_kernel *kernel;

static void no_body(const struct tsl_fake_run *run)
{
    (void)run;
}

static void make_kernel(void)
{
    if (kernel)
        tsl_object_release(&kernel->object);
    assert_int_equal(tsl_kernel_create(t.program, "ramp", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
}

static void begin(unsigned n, uint64_t item_ns)
{
    static const enum tsl_fact_kind one[] = {TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_WRITE};
    static struct bed bed;
    struct tsl_fake_member members[4];

    bed_begin(&bed, 1);
    uint32_t row = bed_two(&bed, TSL_NODE_MUL, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1), bed_constant(&bed, 64, PITCH));
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 1, bed_two(&bed, TSL_NODE_ADD, row, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0)));
    tsl_fake_kernel("ramp", no_body, 1, one, access);
    tsl_fake_kernel_traits("ramp", &(struct tsl_fake_traits){.footprint = &bed.footprint, .ramp = true});
    for (unsigned i = 0; i < n; i++)
        members[i] = (struct tsl_fake_member){.name = "fake", .item_ns = item_ns, .gates = true};
    timed_begin(&t, members, n, "kernel ramp a\n", 0);
    buffer = timed_buffer(&t, ITEMS);
    make_kernel();
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&kernel->object);
    kernel = NULL;
    tsl_object_release(&buffer->object);
    timed_end(&t);
    return 0;
}

static void enqueue(size_t width, size_t height)
{
    struct tsl_window window = {
        .work_dim = height > 1 ? 2 : 1, .global_size = {width, height, 1}, .local_size = {GROUP, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL};

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
}

static double launch_of_ns(size_t width, size_t height)
{
    uint64_t before = tsl_clock_ns();

    enqueue(width, height);
    return (double)(timed_finish(&t) - before);
}

static double launch_ns(void)
{
    return launch_of_ns(ITEMS, 1);
}

/* After so many launches the time is near to the best one. */
static void comes_near(unsigned n, uint64_t item_ns, unsigned n_launches)
{
    double ideal_ns = (double)ITEMS * (double)item_ns / n, ns = 0;

    begin(n, item_ns);
    for (unsigned i = 0; i < n_launches; i++)
        ns = launch_ns();
    print_message("%u members: %.3f of the ideal time at launch %u\n", n, ns / ideal_ns, n_launches);
    assert_true(ns < 1.12 * ideal_ns);
}

/* One launch tells what is no chance. Equal halves would take 1.5 times as long. */
static void test_long_launches(void **state)
{
    (void)state;
    comes_near(2, 100, 4);
}

static void test_four(void **state)
{
    (void)state;
    comes_near(4, 100, 6);
}

/* Of launches of 2 ms several have to say so. */
static void test_short_launches(void **state)
{
    (void)state;
    comes_near(2, 1, 100);
}

/* Other kernel objects need not learn it again: programs make new ones, and are run again. */
static void test_new_object(void **state)
{
    double ideal_ns = (double)ITEMS * 100 / 2;

    (void)state;
    comes_near(2, 100, 6);
    make_kernel();
    assert_true(launch_ns() < 1.12 * ideal_ns);
}

/* Launches of other sizes, whose work lies otherwise along another dimension, between those of one: what was learned of
 * that is known when it comes again. */
static void test_sizes_in_turns(void **state)
{
    const double ideal_ns = (double)ITEMS * 100 / 2;

    (void)state;
    comes_near(2, 100, 4);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned part = 2; part <= 4; part++)
            assert_true(launch_of_ns(PITCH, ITEMS / PITCH / part) < 1.12 * ideal_ns / part);
        assert_true(launch_ns() < 1.12 * ideal_ns);
    }
}

/* The same, where the next launch is planned before the last one ends: which shares it had isn't what the last one had.
 */
static void test_sizes_at_once(void **state)
{
    const double ideal_ns = (double)ITEMS * 100 / 2;

    (void)state;
    comes_near(2, 100, 4);
    for (unsigned i = 0; i < 4; i++)
        launch_of_ns(PITCH, ITEMS / PITCH / 2);
    for (unsigned i = 0; i < 4; i++) {
        enqueue(ITEMS, 1);
        enqueue(PITCH, ITEMS / PITCH / 2);
        timed_finish(&t);
        assert_true(launch_ns() < 1.12 * ideal_ns);
        assert_true(launch_of_ns(PITCH, ITEMS / PITCH / 2) < 1.12 * ideal_ns / 2);
    }
}

/* As in eliminations, where each launch is smaller than the last one: short ones tell it together, whatever their
 * sizes.
 */
static void test_ever_other_sizes(void **state)
{
    const size_t step = 64 * GROUP;
    size_t items = ITEMS;
    double ns = 0;

    (void)state;
    begin(2, 1);
    for (unsigned i = 0; i < 100; i++) {
        items -= step;
        ns = launch_of_ns(items, 1);
    }
    print_message("%.3f of the ideal time\n", ns / ((double)items / 2));
    assert_true(ns < 1.12 * (double)items / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_long_launches, end),    cmocka_unit_test_teardown(test_four, end),
        cmocka_unit_test_teardown(test_short_launches, end),   cmocka_unit_test_teardown(test_new_object, end),
        cmocka_unit_test_teardown(test_sizes_in_turns, end),   cmocka_unit_test_teardown(test_sizes_at_once, end),
        cmocka_unit_test_teardown(test_ever_other_sizes, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
