/* Launches that no member can hold and that wait one behind another: they are chained, compute what they would one by
 * one, and move less. In virtual time. */
/* variant: one TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_LOG=place:error,tile:off,graph:off */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_LOG=place:error,tile:off,graph:off TESELA_CACHE=off */
#include "graph/chain.h"
#include "larger_bed.h"

#include <stdlib.h>

enum { DEPTH = 12 };

static void begin_chain(const struct tsl_fake_member *members, unsigned n)
{
    tsl_chain_window_ns = 0; /* Here windows are tiny. */
    begin(members, n);
}

static unsigned char expected[3][SIZE + 2];

/* The model: a launch of the kernel on plain arrays. */
static void step(unsigned number, unsigned char *to, const unsigned char *from, uint32_t value, size_t n)
{
    unsigned char old[SIZE + 2];

    if (from)
        memcpy(old, from, sizeof old);
    for (size_t i = 0; i < n; i++)
        if (number == FILL)
            to[i] = (unsigned char)value;
        else if (number == UPDATE)
            to[i] = (unsigned char)(to[i] + value);
        else
            to[i + 1] = (unsigned char)(old[i] + old[i + 1] + old[i + 2]);
}

static void assert_all(struct tsl_buffer *buffer, const unsigned char *bytes)
{
    static unsigned char got[SIZE + 2];
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {sizeof got, 1, 1}};

    assert_int_equal(tsl_enqueue_read(&e, buffer, got, &box), CL_SUCCESS);
    for (size_t i = 0; i < sizeof got; i++)
        if (got[i] != bytes[i])
            fail_msg("byte %zu is %u, not %u", i, got[i], bytes[i]);
}

static void write_all(struct tsl_buffer *buffer, const unsigned char *bytes)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE + 2, 1, 1}};

    assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &box), CL_SUCCESS);
}

static void begin_bytes(void)
{
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < SIZE + 2; i++)
            expected[k][i] = (unsigned char)(i * (7 + k) + i / 100);
    write_all(a, expected[0]);
    write_all(b, expected[1]);
    timed_finish(&t);
    tsl_fake_reset_counts();
}

/* A stencil to and fro: all launches in one go through the data. */
static void test_stencils(void **state)
{
    (void)state;
    begin_chain(&plain, 1);
    begin_bytes();
    for (unsigned i = 0; i < DEPTH; i++) {
        launch(STENCIL, i % 2 ? b : a, i % 2 ? a : b, 0);
        step(STENCIL, expected[i % 2], expected[1 - i % 2], 0, SIZE);
    }
    timed_finish(&t);
    timed_assert_moved(&t, SIZE + 4, 2 * SIZE); /* All of b, and the ends of a, which is overwritten between. */
    assert_all(a, expected[0]);
    assert_all(b, expected[1]);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* So many launches that what each of their units touches is found out once. */
static void test_many(void **state)
{
    (void)state;
    begin_chain(&plain, 1);
    begin_bytes();
    for (unsigned i = 0; i < 5 * DEPTH; i++) {
        launch(STENCIL, i % 2 ? b : a, i % 2 ? a : b, 0);
        step(STENCIL, expected[i % 2], expected[1 - i % 2], 0, SIZE);
    }
    assert_all(a, expected[0]);
    assert_all(b, expected[1]);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* With a bus that is slower than the work, launches by themselves wait for it; chained they hardly do. */
static void test_time(void **state)
{
    struct tsl_fake_member member = plain;
    uint64_t began, ended;

    (void)state;
    member.item_ns = 1;
    member.bandwidth = 250000000; /* Four times as long as the work. */
    begin_chain(&member, 1);
    began = tsl_clock_ns();
    for (unsigned i = 0; i < DEPTH; i++)
        launch(UPDATE, a, NULL, 1);
    ended = timed_finish(&t);
    assert_in_range(ended - began, DEPTH * SIZE, DEPTH * SIZE * 115 / 100);
    assert_bytes(a, 0, SIZE, DEPTH);
}

/* Rates of a GPU of today: all data cross the bus in the time of 44 launches, each way, and a launch that takes a
 * millisecond has two microseconds of its own. Returns how long a hundred take against what they take in core. */
static double many_on_gpus(unsigned n)
{
    enum { LAUNCHES = 100, LAUNCH_NS = 1000000, ROW_NS = LAUNCH_NS / SIZE };
    struct tsl_fake_member gpu = plain;

    gpu.name = "gpu"; /* Of one kind. */
    gpu.item_ns = ROW_NS;
    gpu.delay_ns = 2000;
    gpu.memory_size = gpu.max_alloc_size = 2 * MEMORY; /* A third of the two. */
    gpu.bandwidth = (uint64_t)(2e9 * SIZE / (44.0 * LAUNCH_NS));
    gpu.own_bandwidth = 30 * gpu.bandwidth;
    const struct tsl_fake_member members[2] = {gpu, gpu};
    begin_chain(members, n);
    begin_bytes();
    local_size = 1;
    uint64_t began = tsl_clock_ns();
    for (unsigned i = 0; i < LAUNCHES; i++) {
        launch(STENCIL, i % 2 ? b : a, i % 2 ? a : b, 0);
        step(STENCIL, expected[i % 2], expected[1 - i % 2], 0, SIZE);
    }
    uint64_t ended = timed_finish(&t);
    local_size = 8;
    assert_all(a, expected[0]);
    assert_all(b, expected[1]);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
    return (double)(ended - began) / ((double)LAUNCHES * SIZE * ROW_NS);
}

/* They cost little more than with all data in memory, */
static void test_gpu(void **state)
{
    (void)state;
    double part = many_on_gpus(1);
    assert_true(part > 1 && part < 1.12);
}

/* and two members do half of it each: one is a little behind the other. */
static void test_two_gpus(void **state)
{
    (void)state;
    double part = many_on_gpus(2);
    assert_true(part > 0.5 && part < 0.68);
}

/* On a member that takes long for each operation a chain of many narrow windows loses, whatever was expected: it is
 * left soon. */
static void test_loses(void **state)
{
    struct tsl_fake_member member = plain;
    uint64_t took_ns[6];

    (void)state;
    member.item_ns = 1;
    member.delay_ns = 20000;
    begin_chain(&member, 1);
    begin_bytes();
    for (unsigned k = 0; k < 6; k++) {
        uint64_t began = tsl_clock_ns();
        for (unsigned i = 0; i < 3 * DEPTH; i++) {
            launch(STENCIL, i % 2 ? b : a, i % 2 ? a : b, 0);
            step(STENCIL, expected[i % 2], expected[1 - i % 2], 0, SIZE);
        }
        took_ns[k] = timed_finish(&t) - began;
    }
    assert_true(took_ns[5] < took_ns[0] / 2);
    assert_all(a, expected[0]);
    assert_all(b, expected[1]);
}

/* Events are told in order, and an event of the chain in a wait list breaks no chain. */
static void test_events(void **state)
{
    struct tsl_event *events[DEPTH];

    (void)state;
    begin_chain(&plain, 1);
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(try(UPDATE, a, NULL, 1, SIZE, &events[i]), CL_SUCCESS);
    assert_int_equal(tsl_events_wait(1, &events[DEPTH / 2]), CL_SUCCESS);
    for (unsigned i = 0; i <= DEPTH / 2; i++)
        assert_int_equal(tsl_event_status(events[i]), CL_COMPLETE);
    timed_finish(&t);
    for (unsigned i = 0; i < DEPTH; i++) {
        assert_int_equal(tsl_event_status(events[i]), CL_COMPLETE);
        tsl_object_release(&events[i]->object);
    }
    timed_assert_moved(&t, SIZE, SIZE);
    assert_bytes(a, 0, SIZE, DEPTH);
}

/* What a launch must find beside its windows lies whole on the member. */
static void test_whole(void **state)
{
    (void)state;
    begin_chain(&plain, 1);
    assert_int_equal(try(FILL, small, NULL, 5, SMALL, NULL), CL_SUCCESS);
    launch(GATHER, a, small, 0);
    launch(UPDATE, a, NULL, 2);
    launch(GATHER, b, small, 0);
    assert_bytes(a, 0, SIZE, 7);
    assert_bytes(b, 0, SIZE, 5);
}

/* If one fails all do that aren't complete; nobody finds old bytes behind it. */
static void test_failure(void **state)
{
    struct tsl_event *events[4];
    unsigned char byte[1];
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {1, 1, 1}, .src_offset = SIZE - 8};

    (void)state;
    begin_chain(&plain, 1);
    launch(FILL, a, NULL, 1);
    timed_finish(&t);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 10, CL_OUT_OF_RESOURCES);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(try(UPDATE, a, NULL, 1, SIZE, &events[i]), CL_SUCCESS);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(tsl_events_wait(1, &events[i]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    for (unsigned i = 0; i < 4; i++)
        tsl_object_release(&events[i]->object);
    launch(FILL, a, NULL, 9);
    e.queue = t.queue;
    assert_int_equal(tsl_enqueue_read(&e, a, byte, &box), CL_SUCCESS);
    assert_int_equal(byte[0], 9);
    assert_bytes(a, 0, SIZE, 9);
}

static void random_launch(struct tsl_buffer *const *buffers)
{
    static const unsigned kinds[] = {FILL, UPDATE, UPDATE, STENCIL, STENCIL, STENCIL};
    unsigned number = kinds[(unsigned)rand() % 6], to = (unsigned)rand() % 3, from = (unsigned)rand() % 3;
    uint32_t value = (uint32_t)rand() % 200;
    size_t n = rand() % 4 ? SIZE : SIZE / 2 + (size_t)rand() % (SIZE / 2) / 8 * 8;

    if (number == STENCIL && from == to)
        from = (to + 1) % 3;
    assert_int_equal(try(number, buffers[to], number == STENCIL ? buffers[from] : NULL, value, n, NULL), CL_SUCCESS);
    step(number, expected[to], number == STENCIL ? expected[from] : NULL, value, n);
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct tsl_fake_member members[2] = {plain, plain};
        members[1].item_ns = 30;
        begin_chain(members, 1 + i % 2);
        struct tsl_buffer *third = timed_buffer(&t, SIZE + 2), *const buffers[3] = {a, b, third};
        memset(expected, 0, sizeof expected);
        srand(i);
        for (unsigned k = 0; k < 40; k++) {
            random_launch(buffers);
            if (rand() % 12 == 0)
                assert_all(buffers[(unsigned)k % 3], expected[k % 3]);
        }
        for (unsigned k = 0; k < 3; k++)
            assert_all(buffers[k], expected[k]);
        assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
        tsl_object_release(&third->object);
        if (i < 7)
            end(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_many, end),    cmocka_unit_test_teardown(test_stencils, end),
        cmocka_unit_test_teardown(test_gpu, end),     cmocka_unit_test_teardown(test_two_gpus, end),
        cmocka_unit_test_teardown(test_loses, end),   cmocka_unit_test_teardown(test_time, end),
        cmocka_unit_test_teardown(test_events, end),  cmocka_unit_test_teardown(test_whole, end),
        cmocka_unit_test_teardown(test_failure, end), cmocka_unit_test_teardown(test_random, end),
    };

    return cmocka_run_group_tests_name("chains of launches larger than their member", tests, NULL, NULL);
}
