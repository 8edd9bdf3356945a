/* What a member was given is sent before this thread makes the host's own copies, where a flush is left until all that
 * was ready is submitted. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests */
#include "base/clock.h"
#include "base/lock.h"
#include "graph/port.h"
#include "graph/state.h"
#include "graph/work.h"
#include "graph_bed.h"

static struct tsl_driver sender;
static uint64_t sent_ns;

static cl_int flush(struct tsl_lane *lane)
{
    sent_ns = sent_ns ? sent_ns : tsl_clock_ns();
    return tsl_fake_driver.flush(lane);
}

static int begin(void **state)
{
    struct tsl_member *const *members;
    unsigned n;

    (void)state;
    begin_graph(0, "kernel add a,v\n");
    sender = tsl_fake_driver;
    sender.flushes_all = true;
    sender.flush = flush;
    members = tsl_members_open(&n);
    assert_int_equal(n, 1);
    members[0]->driver = &sender;
    return 0;
}

static int end(void **state)
{
    (void)state;
    end_graph();
    return 0;
}

static struct tsl_kernel *make_add(struct tsl_buffer *buffer)
{
    struct tsl_kernel *kernel = make_kernel("add", buffer);
    uint32_t value = 1;

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    return kernel;
}

static void launch(struct tsl_kernel *kernel, struct tsl_event *wait)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_NDRANGE_KERNEL, .n_wait = wait != NULL, .wait = &wait};

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible), CL_SUCCESS);
}

/* From the host's copy: no member has used the buffer. */
static struct tsl_event *read_bytes(struct tsl_queue *from, struct tsl_buffer *buffer, struct tsl_event *wait)
{
    static unsigned char bytes[SIZE];
    struct tsl_box_copy box = {.region = {SIZE, 1, 1}};
    struct tsl_event *event;
    struct tsl_enqueue e = {.queue = from, .type = CL_COMMAND_READ_BUFFER, .n_wait = 1, .wait = &wait, .event = &event};

    assert_int_equal(tsl_enqueue_read(&e, buffer, bytes, &box), CL_SUCCESS);
    return event;
}

/* A launch and a read become ready together, in either order. */
static void members_are_sent_theirs_first(void **state)
{
    (void)state;
    for (unsigned launches_first = 0; launches_first < 2; launches_first++) {
        struct tsl_buffer *of_member = make_buffer(), *of_host = make_buffer();
        struct tsl_kernel *kernel = make_add(of_member);
        struct tsl_event *start, *read;
        struct tsl_queue *timed;
        cl_ulong read_ns;

        assert_int_equal(tsl_queue_create(context, tsl_device_root(), CL_QUEUE_PROFILING_ENABLE, NULL, 0, &timed),
                         CL_SUCCESS);
        launch(kernel, NULL); /* The bytes are there. */
        assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
        assert_int_equal(tsl_event_create_user(context, &start), CL_SUCCESS);
        if (launches_first)
            launch(kernel, start);
        read = read_bytes(timed, of_host, start);
        if (!launches_first)
            launch(kernel, start);
        assert_int_equal(tsl_queue_flush(queue), CL_SUCCESS);
        assert_int_equal(tsl_queue_flush(timed), CL_SUCCESS);
        sent_ns = 0;
        assert_int_equal(tsl_event_set_user(start, CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(tsl_queue_finish(timed), CL_SUCCESS);
        assert_int_equal(tsl_event_profile(read, CL_PROFILING_COMMAND_START, &read_ns), CL_SUCCESS);
        assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
        tsl_object_release(&start->object);
        tsl_object_release(&read->object);
        tsl_queue_let_go(timed);
        tsl_object_release(&timed->object);
        tsl_object_release(&kernel->object);
        tsl_object_release(&of_member->object);
        tsl_object_release(&of_host->object);
        assert_in_range(sent_ns, 1, read_ns);
    }
}

/* Whoever runs a port's jobs leaves other work when there is a new one: nobody else would submit what is ready. */
static void a_port_comes_before_other_work(void **state)
{
    struct tsl_graph *graph = context->graph;

    (void)state;
    for (unsigned posted = 0; posted < 2; posted++) {
        tsl_lock_take(&graph->lock);
        graph->ports[0].posted = posted;
        graph->submit_first = true; /* Some work that was left. */
        tsl_graph_leave_port(&graph->ports[0]);
        tsl_lock_take(&graph->lock);
        graph->ports[0].posted = false;
        assert_int_equal(graph->submit_first, posted);
        tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_are_sent_theirs_first, begin, end),
        cmocka_unit_test_setup_teardown(a_port_comes_before_other_work, begin, end),
    };

    return cmocka_run_group_tests_name("send", tests, NULL, NULL);
}
