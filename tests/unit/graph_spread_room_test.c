/* Launches whose buffers no member holds, but the memory of a domain: they run on memory that is spread over its
 * members, in virtual time. */
/* variant: turns TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_LOG=tile:off */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_LOG=tile:off */
/* variant: cut TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always TESELA_LOG=tile:off */
#include "device/device.h"
#include "graph/copies.h"
#include "graph/spread.h"
#include "larger_bed.h"
#include "object/buffer.h"

#include <stdlib.h>

static struct tsl_fake_member of_domain(uint64_t memory)
{
    struct tsl_fake_member member = plain;
    member.peer = true;
    member.domain = 1;
    member.domain_atomics = true;
    member.domain_granule = 64;
    member.memory_size = member.max_alloc_size = memory;
    return member;
}

/* Each has MEMORY: one large buffer fits four. */
static void begin_domain(unsigned n, uint64_t memory)
{
    const struct tsl_fake_member member = of_domain(memory);
    begin((struct tsl_fake_member[]){member, member, member, member}, n);
}

static bool is_spread(struct tsl_buffer *buffer)
{
    return tsl_spread_is(tsl_data_of(buffer)->spread);
}

static void assert_on_all(unsigned n)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < n; i++)
        size += tsl_data_of(a)->spread->sizes[i];
    assert_int_equal(size, SIZE + 2);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* What a GPU alone doesn't hold stays in the memory of all of them: nothing goes home between launches. */
static void test_stays(void **state)
{
    (void)state;
    begin_domain(4, MEMORY);
    launch(FILL, a, NULL, 7);
    for (unsigned i = 0; i < 10; i++)
        launch(UPDATE, a, NULL, 3);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    timed_assert_moved(&t, 0, 0);
    assert_bytes(a, 0, SIZE, 37);
    assert_true(is_spread(a));
    assert_on_all(4);
}

/* A part may be larger than any buffer that a member has by itself. */
static void test_large_parts(void **state)
{
    struct tsl_fake_member member = of_domain(MEMORY);

    (void)state;
    member.max_alloc_size = MEMORY / 2;
    begin((struct tsl_fake_member[]){member, member, member, member}, 4);
    launch(FILL, a, NULL, 7);
    launch(UPDATE, a, NULL, 1);
    assert_bytes(a, 0, SIZE, 8);
    assert_true(is_spread(a));
    assert_on_all(4);
}

/* Others have some of the memory. */
static void test_no_more_memory(void **state)
{
    (void)state;
    begin_domain(4, MEMORY);
    atomic_store(&t.context->graph->ports[2].member->books.found_size, MEMORY / 2);
    atomic_store(&t.context->graph->ports[2].member->books.found_ns, tsl_clock_ns());
    launch(FILL, a, NULL, 7);
    launch(UPDATE, a, NULL, 1);
    assert_bytes(a, 0, SIZE, 8);
    assert_false(is_spread(a));
}

/* Launches that can't be cut, nor run window by window. */
static void test_any_launch(void **state)
{
    (void)state;
    begin_domain(4, MEMORY);
    launch(SCATTER, a, NULL, 5);
    assert_int_equal(try(COUNT, a, NULL, 0, 8, NULL), CL_SUCCESS);
    assert_bytes(a, 8, SIZE - 8, 5);
    assert_true(is_spread(a));
    assert_on_all(4);
}

/* The largest objects are spread; others stay whole on each member, as far as there is room. */
static void test_small_ones_stay_whole(void **state)
{
    (void)state;
    begin_domain(4, MEMORY);
    assert_int_equal(try(FILL, small, NULL, 9, SMALL, NULL), CL_SUCCESS);
    launch(GATHER, a, small, 0);
    assert_bytes(a, 0, SIZE, 9);
    assert_true(is_spread(a));
    assert_false(is_spread(small));
}

static void test_two_large_ones(void **state)
{
    (void)state;
    begin_domain(4, 2 * MEMORY);
    launch(FILL, b, NULL, 1);
    launch(STENCIL, a, b, 0);
    launch(STENCIL, b, a, 0);
    assert_bytes(a, 2, SIZE - 3, 3);
    assert_bytes(b, 3, SIZE - 6, 9);
    assert_true(is_spread(a) && is_spread(b));
}

/* Two objects take turns in memory that holds one of them: each goes home, and is spread again for its next launch. */
static void test_take_turns(void **state)
{
    (void)state;
    begin_domain(4, MEMORY);
    for (unsigned i = 0; i < 3; i++) {
        launch(i ? UPDATE : FILL, a, NULL, 2);
        assert_true(is_spread(a));
        assert_false(is_spread(b));
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        launch(i ? UPDATE : FILL, b, NULL, 3);
        assert_true(is_spread(b));
        assert_false(is_spread(a));
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    }
    assert_bytes(a, 0, SIZE, 6);
    assert_bytes(b, 0, SIZE, 9);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* A launch that was let in while its object was spread, and waits: meanwhile the object has gone home. */
static void test_let_in_before(void **state)
{
    struct tsl_event *user;
    struct tsl_queue *queue;
    struct tsl_window window = {
        .work_dim = 1, .global_size = {SIZE, 1, 1}, .local_size = {local_size, 1, 1}, .whole = true};
    uint32_t value = 5;
    struct tsl_kernel *kernel;

    (void)state;
    begin_domain(4, MEMORY);
    launch(FILL, a, NULL, 2);
    assert_true(is_spread(a));
    assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_event_create_user(t.context, &user), CL_SUCCESS);
    assert_int_equal(tsl_kernel_create(t.program, names[UPDATE], &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &a), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL, .n_wait = 1, .wait = &user};
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
    launch(FILL, b, NULL, 3);
    assert_false(is_spread(a));
    assert_int_equal(tsl_event_set_user(user, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_bytes(a, 0, SIZE, 7);
    assert_bytes(b, 0, SIZE, 3);
    tsl_object_release(&kernel->object);
    tsl_object_release(&user->object);
    tsl_object_release(&queue->object);
}

/* The application's bytes, and those of a fill, go where the object is spread. */
static void test_written_first(void **state)
{
    struct tsl_enqueue e;
    static const unsigned char pattern = 4, bytes[100] = {1};

    (void)state;
    begin_domain(4, 3 * MEMORY - 64);
    e = (struct tsl_enqueue){.queue = t.queue, .type = CL_COMMAND_FILL_BUFFER};
    assert_int_equal(tsl_enqueue_fill(&e, a, &pattern, 1, 0, SIZE), CL_SUCCESS);
    assert_true(is_spread(a));
    e.type = CL_COMMAND_WRITE_BUFFER;
    assert_int_equal(tsl_enqueue_write(&e, a, bytes, &(struct tsl_box_copy){.region = {100, 1, 1}}), CL_SUCCESS);
    launch(UPDATE, a, NULL, 2);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    timed_assert_moved(&t, sizeof bytes, 0);
    assert_bytes(a, 0, 1, 3);
    assert_bytes(a, 1, 99, 2);
    assert_bytes(a, 100, SIZE - 100, 6);
}

/* Where the domain has no room for it either, launches run window by window, as ever. */
static void test_too_large(void **state)
{
    (void)state;
    begin_domain(2, MEMORY);
    launch(FILL, a, NULL, 7);
    launch(UPDATE, a, NULL, 3);
    assert_bytes(a, 0, SIZE, 10);
    assert_false(is_spread(a));
}

/* Whose atomic operations are whole on one member alone has no such memory: any kernel may come. */
static void test_without_atomics(void **state)
{
    struct tsl_fake_member member = of_domain(MEMORY);

    (void)state;
    member.domain_atomics = false;
    begin((struct tsl_fake_member[]){member, member, member, member}, 4);
    launch(FILL, a, NULL, 7);
    assert_bytes(a, 0, SIZE, 7);
    assert_false(is_spread(a));
}

/* A slower member that holds all isn't preferred, a faster one is. */
static void beside(double speed, bool spread)
{
    struct tsl_fake_member member = of_domain(MEMORY), other = plain;

    member.speed = 1;
    other.speed = speed;
    other.memory_size = other.max_alloc_size = 100 * MEMORY;
    begin((struct tsl_fake_member[]){other, member, member, member, member}, 5);
    launch(FILL, a, NULL, 7);
    assert_bytes(a, 0, SIZE, 7);
    assert_int_equal(is_spread(a), spread);
}

static void test_beside_a_slower_one(void **state)
{
    (void)state;
    beside(0.1, true);
}

static void test_beside_a_faster_one(void **state)
{
    (void)state;
    beside(10, false);
}

/* Programs are told of what they have. */
static void test_told(void **state)
{
    (void)state;
    begin_domain(4, MEMORY);
    assert_int_equal(tsl_device_number(tsl_device_root(), CL_DEVICE_GLOBAL_MEM_SIZE), 4 * MEMORY);
    assert_int_equal(tsl_device_number(tsl_device_root(), CL_DEVICE_MAX_MEM_ALLOC_SIZE), 4 * MEMORY);
}

/* A large write goes to members that are near to each other, but not where one of them can't have the object. */
static void test_written_beside_a_smaller_one(void **state)
{
    const size_t size = (size_t)24 << 20;
    struct tsl_fake_member large = of_domain((uint64_t)64 << 20), other = large;
    struct tsl_enqueue e = {.type = CL_COMMAND_WRITE_BUFFER};

    (void)state;
    large.domain_atomics = other.domain_atomics = false;
    other.max_alloc_size = (uint64_t)16 << 20;
    begin((struct tsl_fake_member[]){large, other}, 2);
    e.queue = t.queue;
    struct tsl_buffer *written = timed_buffer(&t, size);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, 5, size);
    assert_int_equal(tsl_enqueue_write(&e, written, bytes, &(struct tsl_box_copy){.region = {size, 1, 1}}), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_bytes(written, size - 4096, 4096, 5);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
    tsl_object_release(&written->object);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stays, end),
        cmocka_unit_test_teardown(test_large_parts, end),
        cmocka_unit_test_teardown(test_no_more_memory, end),
        cmocka_unit_test_teardown(test_any_launch, end),
        cmocka_unit_test_teardown(test_small_ones_stay_whole, end),
        cmocka_unit_test_teardown(test_two_large_ones, end),
        cmocka_unit_test_teardown(test_take_turns, end),
        cmocka_unit_test_teardown(test_let_in_before, end),
        cmocka_unit_test_teardown(test_written_first, end),
        cmocka_unit_test_teardown(test_written_beside_a_smaller_one, end),
        cmocka_unit_test_teardown(test_too_large, end),
        cmocka_unit_test_teardown(test_without_atomics, end),
        cmocka_unit_test_teardown(test_beside_a_slower_one, end),
        cmocka_unit_test_teardown(test_beside_a_faster_one, end),
        cmocka_unit_test_teardown(test_told, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
