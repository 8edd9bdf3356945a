/* Launches whose buffers the members can't hold: they run window by window through an arena, or fail with an error that
 * says why. Seen in what runs and moves, in virtual time. */
/* variant: one TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_LOG=place:info,tile:off */
#include "larger_bed.h"

/* ---- Single launches ---- */

/* What is surely overwritten comes from nowhere; all of it goes home. */
static void test_fill(void **state)
{
    (void)state;
    begin(&plain, 1);
    launch(FILL, a, NULL, 7);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_int_equal(n_windows(), SIZE / AREA);
    timed_assert_moved(&t, 0, SIZE);
    assert_bytes(a, 0, SIZE, 7);
    assert_bytes(a, SIZE, 2, 0);
}

static void test_update(void **state)
{
    (void)state;
    begin(&plain, 1);
    launch(FILL, a, NULL, 7);
    launch(UPDATE, a, NULL, 3);
    launch(UPDATE, a, NULL, 30);
    assert_bytes(a, 0, SIZE, 40);
    timed_assert_moved(&t, 0, SIZE); /* They are chained (graph_chain_test.c). */
}

/* Halos are read by two windows. */
static void test_stencil(void **state)
{
    (void)state;
    begin(&plain, 1);
    launch(FILL, b, NULL, 1);
    launch(STENCIL, a, b, 0);
    launch(STENCIL, b, a, 0);
    assert_bytes(a, 1, 1, 3);
    assert_bytes(a, 2, SIZE - 3, 3);
    assert_bytes(b, 3, SIZE - 6, 9);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* The next window's bytes move while one is computed, and the last one's go home: with copies as long as the work each
 * way, the launch takes little more than the work alone. */
static void test_overlap(void **state)
{
    struct tsl_fake_member member = plain;
    uint64_t began, ended;

    (void)state;
    member.item_ns = 1;
    begin(&member, 1);
    began = tsl_clock_ns();
    launch(UPDATE, a, NULL, 3);
    ended = timed_finish(&t);
    assert_in_range(ended - began, SIZE, SIZE + 3 * AREA);
}

/* A small buffer of which each window may read all has a copy of its own beside the arena. */
static void test_gather(void **state)
{
    (void)state;
    begin(&plain, 1);
    assert_int_equal(try(FILL, small, NULL, 5, SMALL, NULL), CL_SUCCESS);
    launch(GATHER, a, small, 0);
    assert_bytes(a, 0, SIZE, 5);
    assert_true(n_windows() > SIZE / AREA);
}

/* ---- Beside others ---- */

/* The arena goes when other launches need the memory, comes again, and other buffers go for it. */
static void test_room(void **state)
{
    struct tsl_buffer *most;

    (void)state;
    begin(&plain, 1);
    most = timed_buffer(&t, MEMORY - 64);
    for (uint32_t i = 1; i < 4; i++) {
        launch(UPDATE, a, NULL, 1);
        assert_int_equal(try(UPDATE, most, NULL, i, MEMORY - 64, NULL), CL_SUCCESS);
    }
    assert_bytes(a, 0, SIZE, 3);
    assert_bytes(most, 0, MEMORY - 64, 6);
    assert_int_equal(tsl_fake_counts(0).calls[TSL_FAKE_ALLOC], 3 * (TSL_ARENA_AREAS + 1));
    tsl_object_release(&most->object);
}

/* Launches one after another keep the arena. */
static void test_stays(void **state)
{
    (void)state;
    begin(&plain, 1);
    for (uint32_t i = 1; i < 4; i++) {
        launch(UPDATE, a, NULL, 1);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    }
    assert_int_equal(tsl_fake_counts(0).calls[TSL_FAKE_ALLOC], TSL_ARENA_AREAS);
}

static void test_members(void **state)
{
    struct tsl_fake_record record;
    unsigned of[2] = {0};

    (void)state;
    begin((struct tsl_fake_member[]){plain, plain}, 2);
    launch(UPDATE, a, NULL, 2);
    launch(STENCIL, b, a, 0);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    for (unsigned i = 0; timed_run(i, &record); i++)
        of[record.member]++;
    assert_in_range(of[0], of[1], of[1] + 1);
    assert_bytes(b, 2, SIZE - 3, 6);
}

/* What each window may read has a copy on each of the members, beside areas that are alike: so small that the member
 * with the least memory has room for both. */
static void test_whole_on_each(void **state)
{
    struct tsl_fake_member large = plain;
    struct tsl_buffer *table;

    (void)state;
    large.memory_size = 2 * MEMORY;
    begin((struct tsl_fake_member[]){large, plain}, 2);
    table = timed_buffer(&t, MEMORY / 8 * 5);
    assert_int_equal(try(FILL, table, NULL, 5, SMALL, NULL), CL_SUCCESS);
    launch(GATHER, a, table, 0);
    assert_bytes(a, 0, SIZE, 5);
    tsl_object_release(&table->object);
}

/* ---- Failures ---- */

/* A window that fails leaves what the host had; the others' stays. */
static void test_failure(void **state)
{
    struct tsl_event *event;

    (void)state;
    begin(&plain, 1);
    launch(FILL, a, NULL, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 2, CL_OUT_OF_RESOURCES);
    assert_int_equal(try(UPDATE, a, NULL, 1, SIZE, &event), CL_SUCCESS);
    assert_int_equal(tsl_events_wait(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    tsl_object_release(&event->object);
    assert_bytes(a, 0, AREA, 2);
    assert_bytes(a, AREA, AREA, 1);
    assert_bytes(a, 2 * AREA, SIZE - 2 * AREA, 2);
}

static void test_refused(void **state)
{
    struct tsl_fake_member other = plain;

    (void)state;
    begin(&plain, 1);
    assert_int_equal(try(SCATTER, a, NULL, 1, SIZE, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(try(GATHER, a, b, 1, SIZE, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    launch(FILL, a, NULL, 1);
    assert_bytes(a, 0, SIZE, 1);
    end(state);
    other.takes_parts = false;
    begin(&other, 1);
    assert_int_equal(try(FILL, a, NULL, 1, SIZE, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

/* What was never written has no copy on a member that can't hold it, either. */
static void test_unwritten(void **state)
{
    struct tsl_buffer *large;
    unsigned char bytes[16];
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {sizeof bytes, 1, 1}, .src_offset = SIZE / 2};
    struct tsl_box_copy rect = {.region = {4, 4, 1},
                                .src_row_pitch = SIZE / 4,
                                .src_slice_pitch = SIZE,
                                .dst_row_pitch = 4,
                                .dst_slice_pitch = 16};

    (void)state;
    begin(&plain, 1);
    e.queue = t.queue;
    assert_int_equal(tsl_buffer_create(t.context, 0, SIZE, NULL, NULL, &large), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_read(&e, large, bytes, &box), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_read(&e, large, bytes, &rect), CL_SUCCESS);
    launch(FILL, large, NULL, 4);
    assert_bytes(large, 0, SIZE, 4);
    assert_int_equal(tsl_enqueue_read(&e, large, bytes, &rect), CL_SUCCESS);
    assert_int_equal(bytes[15], 4);
    tsl_object_release(&large->object);
}

/* A launch that touches little of large buffers has one window. */
static void test_little(void **state)
{
    (void)state;
    begin(&plain, 1);
    assert_int_equal(try(FILL, a, NULL, 9, SMALL, NULL), CL_SUCCESS);
    assert_bytes(a, 0, SMALL, 9);
    assert_bytes(a, SMALL, SMALL, 0);
    assert_int_equal(n_windows(), 1);
    launch(COUNT, a, NULL, 1); /* Such launches can't be cut, and needn't be. */
    assert_bytes(a, 0, 1, 10);
    assert_bytes(a, 1, SMALL - 1, 9);
    assert_int_equal(n_windows(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_fill, end),          cmocka_unit_test_teardown(test_update, end),
        cmocka_unit_test_teardown(test_stencil, end),       cmocka_unit_test_teardown(test_overlap, end),
        cmocka_unit_test_teardown(test_gather, end),        cmocka_unit_test_teardown(test_room, end),
        cmocka_unit_test_teardown(test_stays, end),         cmocka_unit_test_teardown(test_members, end),
        cmocka_unit_test_teardown(test_whole_on_each, end), cmocka_unit_test_teardown(test_failure, end),
        cmocka_unit_test_teardown(test_refused, end),       cmocka_unit_test_teardown(test_little, end),
        cmocka_unit_test_teardown(test_unwritten, end),
    };

    return cmocka_run_group_tests_name("launches larger than their member", tests, NULL, NULL);
}
