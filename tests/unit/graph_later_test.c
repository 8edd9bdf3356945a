/* Launches whose work-groups overwrite each other's bytes, as programs have them that round up their rows or leave each
 * group's result where others have stored: cut, they leave what they leave whole, where each share has a copy of the
 * memory for itself. */
/* timeout: 60 */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always:exact TESELA_LOG=graph:warn */
/* variant: checked TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always:exact TESELA_CHECK=split,coherence TESELA_LOG=graph:warn */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
#include "base/settings.h"
#include "caught.h"
#include "footprint_bed.h"
#include "graph/redo.h"
#include "test.h"
#include "timed.h"
#include "windows_ran.h"

#include <stdlib.h>

enum {
    COLUMNS = 8,
    WIDTH = 20,
    ROW = 17,
    HEIGHT = 24,
    GROUP = 4,
    WRITTEN = ROW * (HEIGHT - 1) + WIDTH,
    SIZE = WRITTEN + 13
};

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static unsigned char *bytes_of(const struct tsl_fake_run *run)
{
    return run->args[0].ptr;
}

static uint32_t value_of(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    return value;
}

static unsigned char item_value(size_t x, size_t y, uint32_t value)
{
    return (unsigned char)(x * 7 + y * 13 + value);
}

/* Groups [from, to) of each of these rows, in their order: each item stores where its row is, then the group its result
 * in front. */
static void pile(unsigned char *bytes, const size_t first[2], const size_t end[2], uint32_t value)
{
    for (size_t y = first[1]; y < end[1]; y++)
        for (size_t x = first[0]; x < end[0]; x++) {
            bytes[y * ROW + x] = item_value(x, y, value);
            if (x % GROUP == GROUP - 1)
                bytes[y * (WIDTH / GROUP) + x / GROUP] = item_value(y, x, value + 1);
        }
}

/* Columns, in the order of groups: what is below the last row of one lies in the next. */
static void turn(unsigned char *bytes, const size_t first[2], const size_t end[2], uint32_t value)
{
    for (size_t y = first[1]; y < end[1]; y++)
        for (size_t x = first[0]; x < end[0]; x++)
            bytes[x * ROW + y] = item_value(x, y, value);
}

static void turn_body(const struct tsl_fake_run *run)
{
    note(run);
    turn(bytes_of(run), run->first, run->end, value_of(run));
}

static void pile_body(const struct tsl_fake_run *run)
{
    note(run);
    pile(bytes_of(run), run->first, run->end, value_of(run));
}

static void update_body(const struct tsl_fake_run *run)
{
    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes_of(run)[i] = (unsigned char)(bytes_of(run)[i] + value_of(run));
}

/* PILE, TURN: all is sure. MAYBE: the group's results aren't. LOOK: a result is read before it is written. */
enum { PILE, TURN, MAYBE, LOOK, UPDATE, N_KERNELS };
static const struct {
    const char *name;
    tsl_fake_body_fn *body;
    size_t size[2];
} kernels[N_KERNELS] = {
    [PILE] = {"pile", pile_body, {WIDTH, HEIGHT}},   [TURN] = {"turn", turn_body, {COLUMNS, WIDTH}},
    [MAYBE] = {"maybe", pile_body, {WIDTH, HEIGHT}}, [LOOK] = {"look", pile_body, {WIDTH, HEIGHT}},
    [UPDATE] = {"update", update_body, {SIZE, 1}},
};

static uint32_t along(struct bed *bed, uint8_t op, int64_t pitch)
{
    uint32_t row = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, op, 1), bed_constant(bed, 64, pitch));

    return bed_two(bed, TSL_NODE_ADD, row, bed_leaf(bed, op, 0));
}

static void make_footprint(struct bed *bed, unsigned kernel)
{
    uint32_t group = 0;

    bed_begin(bed, 2);
    if (kernel == TURN) {
        uint32_t column = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, ROW));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1,
                   bed_two(bed, TSL_NODE_ADD, column, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 1)));
        return;
    }
    if (kernel == UPDATE) {
        bed_access(bed, 0, TSL_ACCESS_READ, 1, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0));
        return;
    }
    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, along(bed, TSL_NODE_GLOBAL_ID, ROW));
    group = along(bed, TSL_NODE_GROUP_ID, WIDTH / GROUP);
    struct tsl_access *access = bed_access(bed, 0, TSL_ACCESS_WRITE, 1, group);
    access->guards[access->n_guards++] =
        bed_two(bed, TSL_NODE_EQ, bed_leaf(bed, TSL_NODE_LOCAL_ID, 0), bed_constant(bed, 64, GROUP - 1));
    access->flags = kernel == MAYBE ? 0 : access->flags;
    if (kernel == LOOK)
        bed_access(bed, 0, TSL_ACCESS_READ, 1, group);
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        const unsigned may = TSL_MAY_WRITE | (i >= LOOK ? TSL_MAY_READ : 0);

        make_footprint(&beds[i], i);
        tsl_fake_kernel(kernels[i].name, kernels[i].body, 2, kinds, (const unsigned[]){may, 0});
        tsl_fake_kernel_traits(kernels[i].name, &(struct tsl_fake_traits){.footprint = &beds[i].footprint});
    }
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

static struct timed t;
static struct tsl_buffer *buffer;
static unsigned char expected[SIZE];

static void write_expected(size_t begin, size_t size)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.dst_offset = begin, .src_offset = begin, .region = {size, 1, 1}};

    assert_int_equal(tsl_enqueue_write(&e, buffer, expected, &box), CL_SUCCESS);
}

static void begin_members(const struct tsl_fake_member *members, unsigned n)
{
    name_kernels();
    timed_begin(&t, members, n,
                "kernel pile a,s\nkernel turn a,s\nkernel maybe a,s\nkernel look a,s\nkernel update a,s\n", 0);
    buffer = timed_buffer(&t, SIZE);
    memset(expected, 0, sizeof expected);
    write_expected(0, SIZE);
    n_ran = 0;
}

static void begin(unsigned n)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true};

    begin_members((struct tsl_fake_member[]){member, member, member}, n);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&buffer->object);
    timed_end(&t);
    return 0;
}

/* members: 0: all. */
static void launch_on(unsigned number, uint32_t value, unsigned members, struct tsl_event **event)
{
    const size_t *size = kernels[number].size;
    struct tsl_window window = {.work_dim = size[1] > 1 ? 2 : 1,
                                .global_size = {size[0], size[1], 1},
                                .local_size = {GROUP, 1, 1},
                                .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = event};
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(t.program, kernels[number].name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible & (members ? members : ~0u)), CL_SUCCESS);
    tsl_object_release(&kernel->object);
}

/* The same on the host. */
static void expect(unsigned number, uint32_t value)
{
    if (number == TURN)
        turn(expected, (const size_t[]){0, 0}, (const size_t[]){COLUMNS, WIDTH}, value);
    if (number != TURN && number != UPDATE)
        pile(expected, (const size_t[]){0, 0}, (const size_t[]){WIDTH, HEIGHT}, value);
    for (size_t i = 0; i < SIZE && number == UPDATE; i++)
        expected[i] = (unsigned char)(expected[i] + value);
}

static void launch(unsigned number, uint32_t value, unsigned members)
{
    launch_on(number, value, members, NULL);
    expect(number, value);
}

static void assert_ran(unsigned n)
{
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    if (!tsl_settings()->check) /* Else they also run whole. */
        assert_int_equal(n_ran, n);
    n_ran = 0;
}

static void assert_read(size_t begin, size_t size)
{
    unsigned char bytes[SIZE];
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.src_offset = begin, .region = {size, 1, 1}};

    assert_int_equal(tsl_enqueue_read(&e, buffer, bytes, &box), CL_SUCCESS);
    assert_memory_equal(bytes, expected + begin, size);
}

/* ---- Cut --------------------------------------------------------------------------------------------------------- */

static void same_as_whole(unsigned n_members)
{
    begin(n_members);
    launch(PILE, 1, 0);
    assert_ran(n_members);
    assert_read(0, SIZE);
    for (unsigned i = 0; i < 5; i++) /* Ahead, with nothing read between. */
        launch(PILE, 2 + i, 0);
    assert_ran(5 * n_members);
    assert_read(0, SIZE);
}

static void test_two_members(void **state)
{
    (void)state;
    same_as_whole(2);
}

static void test_three_members(void **state)
{
    (void)state;
    same_as_whole(3);
}

/* A launch that runs on one member alone finds what is right, though that member's copy has other bytes. */
static void test_whole_after_it(void **state)
{
    (void)state;
    begin(3);
    for (unsigned i = 0; i < 9; i++) {
        launch(PILE, i, 0);
        launch(UPDATE, 3 + i, 1u << i % 3);
        assert_ran(3 + 2); /* One member has two windows. */
        assert_read(i * 10, SIZE - i * 20);
    }
    launch(PILE, 77, 0);
    launch(UPDATE, 5, 0);
    assert_ran(6);
    assert_read(0, SIZE);
}

/* The shares lie across each other, each with a part of each column. */
static void test_columns(void **state)
{
    (void)state;
    begin(3);
    launch(PILE, 1, 0);
    launch(TURN, 2, 0);
    assert_ran(6);
    assert_read(0, SIZE);
    launch(TURN, 3, 0);
    launch(UPDATE, 4, 1);
    launch(TURN, 5, 0);
    assert_ran(8);
    assert_read(0, SIZE);
}

/* Nothing is brought for what is overwritten, and only results come home. */
static void test_moves(void **state)
{
    (void)state;
    begin(2);
    launch(PILE, 1, 0);
    assert_ran(2);
    if (tsl_settings()->check)
        return;
    timed_assert_moved(&t, 0, 0);
    launch(PILE, 2, 0);
    assert_ran(2);
    timed_assert_moved(&t, 0, 0);
    assert_read(0, WRITTEN);
    timed_assert_moved(&t, 0, WRITTEN);
}

/* All kinds of commands, by chance. */
static void test_by_chance(void **state)
{
    uint64_t random = 4711;

    (void)state;
    begin(3);
    for (unsigned i = 0; i < 400; i++) {
        const unsigned which = (unsigned)(bed_chance(&random) % 8), number = (unsigned)(bed_chance(&random) % 200);

        if (which < 4) {
            launch(which == 3 ? UPDATE : which ? PILE : TURN, number, bed_chance(&random) % 8);
        } else if (which == 4) {
            memset(expected + number, (int)number, 1 + number / 2);
            write_expected(number, 1 + number / 2);
        } else if (which == 5) {
            assert_read(number, 1 + number / 2);
        } else {
            launch(PILE, number, 0);
        }
    }
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_read(0, SIZE);
}

/* ---- Whole ------------------------------------------------------------------------------------------------------- */

static void assert_whole(unsigned kernel)
{
    n_ran = 0;
    for (unsigned i = 0; i < 2; i++)
        launch(kernel, 5 + i, 0);
    assert_ran(2);
    assert_read(0, SIZE);
}

/* What may stay as it was; what was read before. */
static void test_not_sure(void **state)
{
    (void)state;
    begin(2);
    assert_whole(MAYBE);
    assert_whole(LOOK);
}

/* Members that work on the host's memory, and two windows on one member. */
static void test_one_memory(void **state)
{
    static const struct tsl_fake_member shared = {.item_ns = 1000, .gates = true, .zero_copy = true};

    (void)state;
    begin_members((struct tsl_fake_member[]){shared, shared}, 2);
    assert_whole(PILE);
    end(NULL);
    begin(1);
    assert_whole(PILE);
    end(NULL);
    begin_members((struct tsl_fake_member[]){shared, {.item_ns = 1000, .gates = true}, shared}, 3);
    assert_whole(PILE);
}

/* One of the two works on the host's memory, the other has its own: which share that is doesn't matter. */
static void test_host_and_copy(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        const struct tsl_fake_member members[] = {{.item_ns = 1000, .gates = true, .zero_copy = first == 0},
                                                  {.item_ns = 1000, .gates = true, .zero_copy = first == 1}};

        begin_members(members, 2);
        for (unsigned i = 0; i < 6; i++) {
            launch(PILE, i, 0);
            launch(UPDATE, 3, 1 + i % 2);
        }
        assert_ran(6 * (2 + 2));
        assert_read(0, SIZE);
        if (first == 0)
            end(NULL);
    }
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

static void assert_right_again(void)
{
    cl_int error = tsl_queue_finish(t.queue);

    (void)error; /* The failure's. */
    launch(PILE, 9, 0);
    launch(UPDATE, 1, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_read(0, SIZE);
}

/* Beyond what the launch may have written all is as it was, and the next launch is right. */
static void test_failure(void **state)
{
    (void)state;
    for (unsigned refused = 0; refused < 2; refused++)
        for (unsigned member = 0; member < 3; member++) {
            struct tsl_event *event;

            begin(3);
            launch(UPDATE, 7, 1u << refused);
            assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
            if (refused)
                tsl_fake_fail_call(member, TSL_FAKE_LAUNCH, 1, -9001);
            else
                tsl_fake_fail_work(member, TSL_FAKE_LAUNCH, 1, -9001);
            launch_on(PILE, 1, 0, &event);
            assert_int_equal(tsl_queue_flush(t.queue), CL_SUCCESS);
            assert_int_equal(tsl_events_wait(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            assert_int_equal(tsl_event_status(event), -9001);
            tsl_object_release(&event->object);
            assert_read(WRITTEN, SIZE - WRITTEN);
            assert_right_again();
            end(NULL);
        }
}

/* The share isn't done again: on another share's member it would write over what that has written. */
static void test_loss(void **state)
{
    (void)state;
    for (unsigned member = 0; member < 3; member++) {
        unsigned long long before = tsl_redo_count();

        begin(3);
        launch(PILE, 1, 0);
        tsl_fake_lose(member, 1);
        catch_stderr();
        assert_int_not_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        free(release_stderr());
        assert_int_equal(tsl_redo_count(), before);
        n_ran = 0;
        launch(PILE, 2, 0);
        assert_ran(2);
        assert_read(0, WRITTEN);
        end(NULL);
    }
}

/* ---- Auto -------------------------------------------------------------------------------------------------------- */

/* Once it is known what the kernel takes, its launches are cut, also as the one before. */
static void test_auto(void **state)
{
    static const struct tsl_fake_member member = {.name = "fake", .item_ns = 100000, .gates = true};
    unsigned n_cut = 0;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2);
    for (unsigned i = 0; i < 40; i++) {
        n_ran = 0;
        launch(PILE, i, 0);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        n_cut += n_ran == 2;
        if (i % 3 == 0)
            assert_read(0, WRITTEN);
    }
    assert_in_range(n_cut, 30, 40);
}

/* With checks there are more launches than those that are to fail. */
static int run_failures(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failure), cmocka_unit_test(test_loss)};

    return tsl_settings()->check ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_auto(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_auto, end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_two_members, end),    cmocka_unit_test_teardown(test_three_members, end),
        cmocka_unit_test_teardown(test_whole_after_it, end), cmocka_unit_test_teardown(test_columns, end),
        cmocka_unit_test_teardown(test_moves, end),          cmocka_unit_test_teardown(test_by_chance, end),
        cmocka_unit_test_teardown(test_not_sure, end),       cmocka_unit_test_teardown(test_one_memory, end),
        cmocka_unit_test_teardown(test_host_and_copy, end),
    };

    if (tsl_settings()->split == TSL_SPLIT_AUTO)
        return run_auto();
    return cmocka_run_group_tests(tests, NULL, NULL) + run_failures();
}
