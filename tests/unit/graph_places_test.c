/* Where writes go while nobody knows their reader: counted by the fake driver. */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/vendors-none TESELA_CACHE=off */
#include "core_end.h"
#include "driver/member.h"
#include "graph/graph.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "test.h"

#include <string.h>

#define SIZE (64u * 1024)

static struct tsl_context *context;
static struct tsl_queue *queue;
static struct tsl_buffer *a;
static unsigned char bytes[SIZE], back[SIZE];

static void begin(double first, double second, size_t memory_size)
{
    struct tsl_fake_setup setup = {.n_members = 2, .threads = true};
    struct tsl_device *device = tsl_device_root();

    setup.members[0] = (struct tsl_fake_member){.gates = true, .speed = first, .memory_size = memory_size};
    setup.members[1] = (struct tsl_fake_member){.gates = true, .speed = second};
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    assert_int_equal(tsl_context_create(NULL, 0, &device, 1, &context), CL_SUCCESS);
    assert_int_equal(tsl_queue_create(context, device, 0, NULL, 0, &queue), CL_SUCCESS);
    assert_int_equal(tsl_buffer_create(context, 0, SIZE, NULL, NULL, &a), CL_SUCCESS);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&a->object);
    tsl_queue_let_go(queue);
    tsl_object_release(&queue->object);
    tsl_object_release(&context->object);
    end_core();
    return 0;
}

static void write_it(struct tsl_buffer *buffer)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE, 1, 1}};

    assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &box), CL_SUCCESS);
}

static void assert_right(struct tsl_buffer *buffer)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE, 1, 1}};

    memset(back, 0, sizeof back);
    assert_int_equal(tsl_enqueue_read(&e, buffer, back, &box), CL_SUCCESS);
    assert_memory_equal(back, bytes, SIZE);
}

static uint64_t written(unsigned member)
{
    return tsl_fake_counts(member).did_size[TSL_FAKE_DID_WRITE];
}

static void to_the_fastest(void **state)
{
    (void)state;
    begin(1, 100, 0);
    write_it(a);
    assert_int_equal(written(0), 0);
    assert_int_equal(written(1), SIZE);
    assert_right(a);
}

static void to_the_host_where_two_are_as_fast(void **state)
{
    (void)state;
    begin(100, 100, 0);
    write_it(a);
    assert_int_equal(written(0) + written(1), 0);
    assert_right(a);
}

static void not_to_a_lost_member(void **state)
{
    (void)state;
    begin(100, 1, 0);
    tsl_member_lose(context->members[0], "the test says so");
    write_it(a);
    assert_int_equal(written(0), 0);
    assert_right(a);
}

static void not_where_others_would_have_to_go(void **state)
{
    struct tsl_buffer *b;

    (void)state;
    begin(100, 1, SIZE + SIZE / 2);
    assert_int_equal(tsl_buffer_create(context, 0, SIZE, NULL, NULL, &b), CL_SUCCESS);
    write_it(a);
    write_it(b);
    assert_int_equal(written(0), SIZE);
    assert_right(a);
    assert_right(b);
    tsl_object_release(&b->object);
}

#define TEST(function) cmocka_unit_test_teardown(function, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(to_the_fastest),
        TEST(to_the_host_where_two_are_as_fast),
        TEST(not_to_a_lost_member),
        TEST(not_where_others_would_have_to_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
