/* Launches like the one before go with it (graph/coalesce.c): few operations are made of many launches, what they do is
 * the same, and whoever could tell the difference ends the row. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests */
#include "graph/state.h"
#include "graph_bed.h"

#include <pthread.h>

static struct tsl_kernel *add, *other_add;
static struct tsl_buffer *a, *b;

/* As add's, with a word of its second argument. */
static void sum_body(const struct tsl_fake_run *run)
{
    add_word(run->args[0].ptr, run->args[1].ptr);
}

static uint64_t delay_ns; /* of the member */

static int begin(void **state)
{
    static const enum tsl_fact_kind both[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ};

    (void)state;
    tsl_fake_kernel("sum", sum_body, 2, both, access);
    begin_graph(delay_ns, "kernel add a,v\nkernel sum a,b\n");
    a = make_buffer();
    b = make_buffer();
    add = make_kernel("add", a);
    other_add = make_kernel("add", a);
    return 0;
}

static int begin_slow(void **state)
{
    delay_ns = 20000000;
    return begin(state);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&add->object);
    tsl_object_release(&other_add->object);
    tsl_object_release(&a->object);
    tsl_object_release(&b->object);
    end_graph();
    delay_ns = 0;
    return 0;
}

static void launch_with(struct tsl_kernel *kernel, struct tsl_queue *in, cl_uint n, struct tsl_event *const *wait,
                        struct tsl_event **event, uint32_t value)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = in, .type = CL_COMMAND_NDRANGE_KERNEL, .n_wait = n, .wait = wait, .event = event};

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
}

static void launch(uint32_t value)
{
    launch_with(add, queue, 0, NULL, NULL, value);
}

static uint32_t sum_in(struct tsl_buffer *buffer)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {sizeof(uint32_t), 1, 1}};
    uint32_t sum = 0;

    assert_int_equal(tsl_enqueue_read(&e, buffer, &sum, &box), CL_SUCCESS);
    return sum;
}

/* The first moves the bytes, the second claims them where there is nothing to go back to. */
static void begin_row(void)
{
    launch(1);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    launch(1);
}

static uint64_t n_ops(void)
{
    return context->graph->n_ops;
}

/* ---- Rows ---- */

static void test_few_operations(void **state)
{
    uint64_t before;
    uint32_t sum = 2;

    (void)state;
    begin_row();
    before = n_ops();
    for (uint32_t i = 0; i < 1000; i++) {
        launch(i);
        sum += i;
    }
    assert_true(n_ops() - before < 1000 / 32);
    assert_int_equal(sum_in(a), sum);
    assert_int_equal(tsl_fake_counts(0).did[TSL_FAKE_DID_LAUNCH], 1002);
}

/* Does this launch make an operation? */
static bool begins_anew(struct tsl_kernel *kernel, struct tsl_queue *in)
{
    uint64_t before = n_ops();

    launch_with(kernel, in, 0, NULL, NULL, 1);
    return n_ops() > before;
}

static void test_ends_of_rows(void **state)
{
    struct tsl_event *event, *waited;

    (void)state;
    begin_row();
    assert_false(begins_anew(add, queue));
    assert_true(begins_anew(other_add, queue)); /* Its own arguments may be others at any time. */
    assert_true(begins_anew(add, queue));
    assert_false(begins_anew(add, queue));

    assert_true(begins_anew(add, other));
    assert_true(begins_anew(add, queue)); /* It waits for the other queue's, */
    assert_true(begins_anew(add, queue)); /* so it has a fence. */
    assert_false(begins_anew(add, queue));

    launch_with(add, queue, 0, NULL, &event, 1); /* An event is the end of one launch, not of a row. */
    assert_true(begins_anew(add, queue));
    assert_false(begins_anew(add, queue));
    launch_with(add, queue, 1, (struct tsl_event *const[]){event}, NULL, 1);
    assert_true(begins_anew(add, queue));
    assert_int_equal(tsl_events_wait(1, &event), CL_SUCCESS);
    tsl_object_release(&event->object);

    begins_anew(add, queue);
    assert_int_equal(tsl_queue_flush(queue), CL_SUCCESS);
    assert_true(begins_anew(add, queue));
    assert_int_equal(
        tsl_enqueue_marker(&(struct tsl_enqueue){.queue = queue, .type = CL_COMMAND_MARKER, .event = &waited}, false),
        CL_SUCCESS);
    assert_true(begins_anew(add, queue));
    assert_int_equal(tsl_events_wait(1, &waited), CL_SUCCESS);
    tsl_object_release(&waited->object);

    begins_anew(add, queue);
    assert_int_equal(tsl_kernel_set_arg(add, 0, sizeof(cl_mem), &b), CL_SUCCESS);
    assert_true(begins_anew(add, queue));
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_int_equal(sum_in(b), 1);
}

/* One of the row is refused: that is told once, and what those before it did stays. Those behind it need what it was to
 * write, so they don't run; who comes after the telling does. */
static void test_refused(void **state)
{
    (void)state;
    begin_row();
    for (unsigned i = 0; i < 5; i++)
        launch(1);
    tsl_fake_fail_call(0, TSL_FAKE_LAUNCH, 3, CL_OUT_OF_RESOURCES);
    for (unsigned i = 0; i < 5; i++)
        launch(1);
    assert_int_equal(tsl_queue_finish(queue), CL_OUT_OF_RESOURCES);
    assert_int_equal(sum_in(a), 2 + 5 + 2);
    launch(1);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    assert_int_equal(sum_in(a), 2 + 5 + 2 + 1);
}

/* A refused launch takes nothing with it that one before it wrote, though there is an older copy to go back to. */
static void test_refused_with_older_copy(void **state)
{
    struct tsl_enqueue migrate = {.queue = queue, .type = CL_COMMAND_MIGRATE_MEM_OBJECTS};

    (void)state;
    begin_row();
    assert_int_equal(tsl_enqueue_migrate(&migrate, 1, &a, CL_MIGRATE_MEM_OBJECT_HOST), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    tsl_fake_fail_call(0, TSL_FAKE_LAUNCH, 2, CL_OUT_OF_RESOURCES);
    launch(1);
    launch(1);
    assert_int_equal(tsl_queue_finish(queue), CL_OUT_OF_RESOURCES);
    assert_int_equal(sum_in(a), 3);
}

/* A member is lost: what failed without an event is told by the next clFinish, also if an event has told it before. */
static void test_lost(void **state)
{
    struct tsl_event *event;

    (void)state;
    begin_row();
    launch(1);
    launch_with(add, queue, 0, NULL, &event, 1);
    assert_int_equal(tsl_queue_flush(queue), CL_SUCCESS);
    tsl_fake_lose(0, 1);
    assert_true(tsl_events_wait(1, &event) < 0);
    assert_true(tsl_queue_finish(queue) < 0);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    tsl_object_release(&event->object);
}

/* A blocking call tells what nobody has told yet, and a map maps nothing then. */
static void test_told_by_blocking_calls(void **state)
{
    struct tsl_enqueue read = {.queue = queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_enqueue map = {.queue = queue, .type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    struct tsl_enqueue unmap = {.queue = queue, .type = CL_COMMAND_UNMAP_MEM_OBJECT};
    struct tsl_box_copy box = {.region = {sizeof(uint32_t), 1, 1}};
    uint32_t word;
    void *mapped;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin_row();
        tsl_fake_fail_call(0, TSL_FAKE_LAUNCH, 1, CL_OUT_OF_RESOURCES);
        launch(1);
        if (i == 0) {
            assert_int_equal(tsl_enqueue_read(&read, b, &word, &box), CL_OUT_OF_RESOURCES);
            assert_int_equal(tsl_enqueue_read(&read, b, &word, &box), CL_SUCCESS);
        } else {
            assert_int_equal(tsl_enqueue_map(&map, b, CL_MAP_WRITE, 0, 4, &mapped), CL_OUT_OF_RESOURCES);
            assert_int_equal(b->n_mappings, 0);
            assert_int_equal(tsl_enqueue_map(&map, b, CL_MAP_WRITE, 0, 4, &mapped), CL_SUCCESS);
            assert_int_equal(tsl_enqueue_unmap(&unmap, b, mapped), CL_SUCCESS);
        }
        assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    }
    assert_int_equal(sum_in(a), 4);
}

static void set_by_map(struct tsl_buffer *buffer, uint32_t value)
{
    struct tsl_enqueue map = {.queue = other, .type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    struct tsl_enqueue unmap = {.queue = other, .type = CL_COMMAND_UNMAP_MEM_OBJECT};
    void *word;

    assert_int_equal(tsl_enqueue_map(&map, buffer, CL_MAP_WRITE, 0, sizeof value, &word), CL_SUCCESS);
    memcpy(word, &value, sizeof value);
    assert_int_equal(tsl_enqueue_unmap(&unmap, buffer, word), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(other), CL_SUCCESS);
}

/* What only touches the host's copy of what the row reads depends on none of it, but what comes after is no row. */
static void test_changed_between(void **state)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL};
    struct tsl_kernel *sum;

    (void)state;
    sum = make_kernel("sum", a);
    assert_int_equal(tsl_kernel_set_arg(sum, 1, sizeof(cl_mem), &b), CL_SUCCESS);
    for (uint32_t i = 0; i < 12; i++) {
        if (i % 4 == 0)
            set_by_map(b, i);
        assert_int_equal(tsl_enqueue_kernel(&e, sum, &window, sum->eligible), CL_SUCCESS);
        if (i % 4 == 0) /* While its bytes are on their way there is nothing to go back to: no row. */
            assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    }
    assert_int_equal(sum_in(a), 4 * (4 + 8));
    tsl_object_release(&sum->object);
}

#define N_THREADED 20000

static atomic_bool done;

static void *finish_often(void *arg)
{
    (void)arg;
    while (!done)
        if (tsl_queue_finish(queue) != CL_SUCCESS || tsl_queue_flush(queue) != CL_SUCCESS)
            return "failed";
    return NULL;
}

/* Others wait while it grows: nothing ends early, and nothing is forgotten. */
static void test_waited_for_by_others(void **state)
{
    pthread_t thread;
    void *wrong;

    (void)state;
    done = false;
    assert_int_equal(pthread_create(&thread, NULL, finish_often, NULL), 0);
    for (unsigned i = 0; i < N_THREADED; i++) {
        launch(1);
        if (i % 512 == 0)
            assert_int_equal(sum_in(a), i + 1);
    }
    done = true;
    pthread_join(thread, &wrong);
    assert_null(wrong);
    assert_int_equal(sum_in(a), N_THREADED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_few_operations, begin, end),
        cmocka_unit_test_setup_teardown(test_ends_of_rows, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_refused_with_older_copy, begin, end),
        cmocka_unit_test_setup_teardown(test_lost, begin_slow, end),
        cmocka_unit_test_setup_teardown(test_told_by_blocking_calls, begin, end),
        cmocka_unit_test_setup_teardown(test_changed_between, begin, end),
        cmocka_unit_test_setup_teardown(test_waited_for_by_others, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
