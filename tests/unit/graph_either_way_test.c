/* Launches that a slow member holds and a much faster one doesn't: they go window by window where that ends sooner, and
 * whole where it doesn't or can't. In virtual time. */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_LOG=tile:off,graph:off TESELA_CACHE=off */
#include "graph/chain.h"
#include "larger_bed.h"

enum { GPU, CPU, N_MEMBERS, SPEED = 50, MANY = 24 };

/* A GPU, and processors that hold everything. A launch takes SIZE ns on the GPU, and 50 times as long on these.
 * way_ns: how long all bytes of a buffer take to the GPU, or back. */
static void begin_two(uint64_t way_ns)
{
    struct tsl_fake_member members[N_MEMBERS] = {[GPU] = plain, [CPU] = {.name = "cpu", .gates = true}};

    tsl_chain_window_ns = 0; /* Here windows are tiny. */
    members[GPU].speed = SPEED;
    members[GPU].item_ns = members[CPU].item_ns = SPEED;
    members[GPU].bandwidth = (uint64_t)(1e9 * SIZE / (double)way_ns);
    members[GPU].own_bandwidth = 100 * members[GPU].bandwidth;
    members[CPU].zero_copy = true;
    members[CPU].type = CL_DEVICE_TYPE_CPU;
    begin(members, N_MEMBERS);
}

/* Of the launches, whole ones and windows, since the last call. */
static unsigned n_on[N_MEMBERS];
static unsigned n_seen;

static void count(void)
{
    struct tsl_fake_record record;

    n_on[GPU] = n_on[CPU] = 0;
    for (; timed_run(n_seen, &record); n_seen++)
        n_on[record.member]++;
}

static int end_two(void **state)
{
    n_seen = 0;
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
    return end(state);
}

static uint64_t run_updates(unsigned n, bool wait_for_each)
{
    uint64_t begun = tsl_clock_ns();

    for (unsigned i = 0; i < n; i++) {
        launch(UPDATE, a, NULL, 1);
        if (wait_for_each)
            timed_finish(&t);
    }
    uint64_t ended = timed_finish(&t);
    count();
    return ended - begun;
}

/* Launches in a row are chained on the member that doesn't hold their buffer. */
static void test_chain(void **state)
{
    (void)state;
    begin_two(4 * SIZE);
    uint64_t took_ns = run_updates(MANY, false);
    assert_int_equal(n_on[CPU], 0);
    assert_true(n_on[GPU] > MANY);
    assert_in_range(took_ns, MANY * SIZE, 2 * MANY * SIZE);
    timed_assert_moved(&t, SIZE, SIZE);
    assert_bytes(a, 0, SIZE, MANY);
}

/* Each by itself still ends sooner there than whole. */
static void test_alone(void **state)
{
    (void)state;
    begin_two(4 * SIZE);
    for (unsigned i = 0; i < 4; i++) {
        run_updates(1, true);
        assert_int_equal(n_on[CPU], 0);
    }
    assert_bytes(a, 0, SIZE, 4);
}

/* Over a slow bus windows take longer than the launch whole: that is seen, and they are left. Now and then they are
 * tried again. */
static void test_slow_bus(void **state)
{
    (void)state;
    begin_two(200 * SIZE);
    run_updates(8, true);
    assert_in_range(n_on[CPU], 4, 7);
    uint64_t took_ns = run_updates(16, true);
    assert_in_range(n_on[CPU], 15, 16);
    assert_in_range(took_ns, 16 * SPEED * SIZE, 16 * SPEED * SIZE * 5 / 4);
    assert_bytes(a, 0, SIZE, 24);
}

/* No more than one is sent there for a trial, however many are enqueued at once. */
static void test_one_trial(void **state)
{
    (void)state;
    struct tsl_enqueue e = {.type = CL_COMMAND_MARKER};

    begin_two(200 * SIZE);
    e.queue = t.queue;
    for (unsigned i = 0; i < 16; i++) {
        launch(UPDATE, a, NULL, 1);
        assert_int_equal(tsl_enqueue_marker(&e, false), CL_SUCCESS); /* So they aren't chained. */
    }
    timed_finish(&t);
    count();
    assert_in_range(n_on[CPU], 12, 15);
}

/* Where each by itself is worse off there, many that wait may still be better off chained. */
static void test_chain_later(void **state)
{
    (void)state;
    begin_two(60 * SIZE);
    run_updates(8, true);
    assert_true(n_on[CPU] > 3);
    run_updates(2 * MANY, false);
    assert_in_range(n_on[CPU], 0, 8); /* The first ones go before others come. */
    run_updates(2 * MANY, false);
    uint64_t took_ns = run_updates(2 * MANY, false); /* Now others are expected. */
    assert_in_range(n_on[CPU], 0, 2);                /* What a chain leaves over. */
    assert_in_range(took_ns, 2 * MANY * SIZE, (2 * MANY + 2 * 60 + 3 * SPEED) * SIZE);
    assert_bytes(a, 0, SIZE, (unsigned char)(8 + 6 * MANY));
    run_updates(4, true);
    assert_in_range(n_on[CPU], 3, 4);
}

/* What can't be cut into windows runs whole, and what it needs of the windows before is there. */
static void test_no_windows(void **state)
{
    (void)state;
    begin_two(4 * SIZE);
    launch(UPDATE, a, NULL, 3);
    launch(SCATTER, b, NULL, 5);
    launch(GATHER, a, b, 0);
    launch(UPDATE, a, NULL, 1);
    timed_finish(&t);
    count();
    assert_int_equal(n_on[CPU], 2);
    assert_bytes(a, 0, SIZE, 6);
    assert_bytes(b, 0, SIZE, 5);
}

/* A launch in a queue of its own finds the GPU lost. */
static void lose_gpu(void)
{
    struct tsl_queue *queue = t.queue;

    assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &t.queue), CL_SUCCESS);
    tsl_fake_lose(GPU, tsl_clock_ns());
    assert_int_equal(try(FILL, small, NULL, 1, SMALL, NULL), CL_SUCCESS);
    tsl_queue_finish(t.queue);
    tsl_queue_let_go(t.queue);
    tsl_object_release(&t.queue->object);
    t.queue = queue;
}

/* A member that is lost before the windows are made of launches that wait for others: they go whole. */
static void test_lost(void **state)
{
    (void)state;
    begin_two(4 * SIZE);
    launch(UPDATE, a, NULL, 3);
    timed_finish(&t);
    launch(UPDATE, a, NULL, 1);
    launch(UPDATE, a, NULL, 1);
    lose_gpu();
    timed_finish(&t);
    count();
    assert_in_range(n_on[CPU], 2, 3); /* The one that found it goes there, too. */
    assert_bytes(a, 0, SIZE, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_chain, end_two),       cmocka_unit_test_teardown(test_alone, end_two),
        cmocka_unit_test_teardown(test_slow_bus, end_two),    cmocka_unit_test_teardown(test_one_trial, end_two),
        cmocka_unit_test_teardown(test_chain_later, end_two), cmocka_unit_test_teardown(test_no_windows, end_two),
        cmocka_unit_test_teardown(test_lost, end_two),
    };

    return cmocka_run_group_tests_name("launches that go whole or window by window", tests, NULL, NULL);
}
