/*
 * Order as the specification guarantees it, on different members: user events and commands that may not overtake them,
 * events between queues, out-of-order queues, markers, barriers, blocking calls.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin PROOF_SPIN=20000 PROOF_ROUNDS=5 */
/* any: */
#include "proof.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_ints = 256, size = n_ints * sizeof(cl_int) };

/* combine: out = 3 a + b + k, all of it by one work-item each, after some spinning. */
static const char *const source =
    "kernel void combine(global int *out, global const int *a, global const int *b, uint k, uint n)\n"
    "{\n"
    "    uint i = get_global_id(0), v = n;\n"
    "    for (uint j = 0; i == 0 && j < n; j++)\n"
    "        v = v * 1664525 + 1013904223;\n"
    "    out[i] = 3 * a[i] + b[i] + k + (v == 4294967295u);\n"
    "}\n";

static struct proof proof;
static cl_kernel mix;
static cl_mem zero; /* all bytes 0 */

static unsigned rounds(void)
{
    const char *value = getenv("PROOF_ROUNDS");

    return value ? (unsigned)atoi(value) : 25;
}

static cl_mem make_buffer(void)
{
    cl_mem buffer = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL);
    const cl_int pattern = 0;

    proof_did(&proof, clEnqueueFillBuffer(proof.queue, buffer, &pattern, sizeof(pattern), 0, size, 0, NULL, NULL));
    proof_ok(clFinish(proof.queue));
    return buffer;
}

struct mix {
    cl_mem out, a, b;
    cl_uint k, spin;
};

static cl_event enqueue(cl_command_queue queue, struct mix m, cl_uint n_wait, const cl_event *wait)
{
    cl_mem buffers[] = {m.out, m.a, m.b};
    cl_uint values[] = {m.k, m.spin};
    const size_t n = n_ints;
    cl_event event;

    proof_set(mix, 3, buffers, 2, values);
    proof_did(&proof, clEnqueueNDRangeKernel(queue, mix, 1, NULL, &n, NULL, n_wait, wait, &event));
    return event;
}

/* The same without an event. */
static void launch(cl_command_queue queue, struct mix m, cl_uint n_wait, const cl_event *wait)
{
    proof_ok(clReleaseEvent(enqueue(queue, m, n_wait, wait)));
}

static void check_buffer(cl_command_queue queue, cl_mem buffer, cl_int value)
{
    cl_int data[n_ints];

    proof_did(&proof, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], value);
}

static cl_int status_of(cl_event event)
{
    cl_int status;

    proof_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    return status;
}

static cl_event user_event(void)
{
    cl_int error;
    cl_event event = clCreateUserEvent(proof.context, &error);

    proof_ok(error);
    return event;
}

static void release_events(unsigned n, const cl_event *events)
{
    for (unsigned i = 0; i < n; i++)
        proof_ok(clReleaseEvent(events[i]));
}

static void release_queues(unsigned n, const cl_command_queue *queues)
{
    for (unsigned i = 0; i < n; i++)
        proof_ok(clReleaseCommandQueue(queues[i]));
}

static void release_buffers(unsigned n, const cl_mem *buffers)
{
    for (unsigned i = 0; i < n; i++)
        proof_ok(clReleaseMemObject(buffers[i]));
}

/* ---- User events ------------------------------------------------------------------------------------------------- */

struct setter {
    cl_event work, user;
};

/* Waits for other work, and only then lets the queue go on. */
static void *wait_and_set(void *arg)
{
    const struct setter *s = arg;

    proof_ok(clWaitForEvents(1, &s->work));
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    proof_ok(clSetUserEventStatus(s->user, CL_COMPLETE));
    return NULL;
}

/*
 * A command waits for a user event; the one behind it in the queue touches nothing of the first's, but reads what other
 * work writes before the event is set. So it may not go before.
 *
 * way 0: the first waits for the user event itself; 1: for a command of another queue that does; 2: it is a barrier of
 * an out-of-order queue.
 */
static void nothing_overtakes(unsigned way)
{
    cl_mem x = make_buffer(), y = make_buffer(), z = make_buffer(), w = make_buffer();
    cl_command_queue all[] = {proof_queue(&proof, way == 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0),
                              proof_queue(&proof, 0), proof_queue(&proof, 0)};
    cl_command_queue queue = all[0], other = all[1], working = all[2];

    for (unsigned round = 1; round <= rounds(); round++) {
        struct setter s = {.user = user_event()};
        cl_event between = NULL, last;
        pthread_t thread;

        if (way == 1)
            between = enqueue(other, (struct mix){w, zero, zero, 1, 0}, 1, &s.user);
        if (way == 2)
            proof_did(&proof, clEnqueueBarrierWithWaitList(queue, 1, &s.user, NULL));
        else
            launch(queue, (struct mix){z, zero, zero, 1, 0}, 1, way ? &between : &s.user);
        last = enqueue(queue, (struct mix){y, x, zero, 5, 0}, 0, NULL);
        proof_ok(clFlush(queue));
        s.work = enqueue(working, (struct mix){x, zero, zero, round, proof_spin() / 20}, 0, NULL);
        assert_int_equal(pthread_create(&thread, NULL, wait_and_set, &s), 0);
        proof_ok(clWaitForEvents(1, &last));
        pthread_join(thread, NULL);
        check_buffer(queue, y, (cl_int)(3 * round + 5));
        release_events(way == 1 ? 4 : 3, (cl_event[]){s.work, s.user, last, between});
    }
    release_buffers(4, (cl_mem[]){x, y, z, w});
    release_queues(3, all);
}

static void nothing_overtakes_a_command_that_waits_for_a_user_event(void **state)
{
    (void)state;
    nothing_overtakes(0);
}

static void nor_one_that_depends_on_a_user_event_by_others(void **state)
{
    (void)state;
    nothing_overtakes(1);
}

static void nor_a_barrier(void **state)
{
    (void)state;
    nothing_overtakes(2);
}

/* Two commands that both wait for one user event and write one buffer, on members that differ: no deadlock. */
static void ownership_is_taken_when_ready(void **state)
{
    cl_mem x = make_buffer(), y = make_buffer();
    cl_command_queue queues[] = {proof_queue(&proof, 0), proof_queue(&proof, 0)};
    cl_event user[] = {user_event(), user_event()};

    (void)state;
    launch(queues[0], (struct mix){x, x, zero, 1, 0}, 1, &user[0]);
    launch(queues[0], (struct mix){y, x, zero, 0, 0}, 0, NULL);
    launch(queues[1], (struct mix){y, y, zero, 1, 0}, 1, &user[1]);
    launch(queues[1], (struct mix){x, y, zero, 0, 0}, 0, NULL);
    proof_ok(clSetUserEventStatus(user[1], CL_COMPLETE)); /* Later enqueued, earlier ready. */
    proof_ok(clFinish(queues[1]));
    check_buffer(queues[1], x, 3);
    proof_ok(clSetUserEventStatus(user[0], CL_COMPLETE));
    proof_ok(clFinish(queues[0]));
    check_buffer(queues[0], x, 10);
    check_buffer(queues[0], y, 30);
    release_events(2, user);
    release_queues(2, queues);
    release_buffers(2, (cl_mem[]){x, y});
}

/* ---- What is reported -------------------------------------------------------------------------------------------- */

/* A quick command behind a slow one, on another member and with nothing in common: its event still comes second, and
 * who waits for it in another queue waits for both. */
static void events_keep_the_order_of_their_queue(void **state)
{
    cl_mem x = make_buffer(), y = make_buffer(), z = make_buffer();
    cl_command_queue other = proof_queue(&proof, 0);

    (void)state;
    for (unsigned round = 1; round <= 3; round++) {
        cl_event events[2] = {enqueue(proof.queue, (struct mix){x, zero, zero, round, proof_spin()}, 0, NULL),
                              enqueue(proof.queue, (struct mix){y, zero, zero, round, 0}, 0, NULL)};

        launch(other, (struct mix){z, x, y, 0, 0}, 1, &events[1]);
        proof_ok(clFlush(proof.queue));
        while (status_of(events[1]) != CL_COMPLETE) {
            /* Asks on. */
        }
        assert_int_equal(status_of(events[0]), CL_COMPLETE);
        check_buffer(other, z, (cl_int)(4 * round));
        release_events(2, events);
    }
    release_queues(1, &other);
    release_buffers(3, (cl_mem[]){x, y, z});
}

/* A blocking read means everything of its queue before it; a blocking write has read the memory when it returns. */
static void blocking_calls_block(void **state)
{
    cl_mem x = make_buffer(), y = make_buffer();
    cl_int data[n_ints];

    (void)state;
    for (unsigned round = 1; round <= rounds(); round++) {
        cl_event slow = enqueue(proof.queue, (struct mix){x, zero, zero, round, proof_spin() / 20}, 0, NULL);

        for (int i = 0; i < n_ints; i++)
            data[i] = (cl_int)round;
        proof_did(&proof, clEnqueueWriteBuffer(proof.queue, y, CL_TRUE, 0, size, data, 0, NULL, NULL));
        memset(data, -1, size);
        assert_int_equal(status_of(slow), CL_COMPLETE);
        check_buffer(proof.queue, y, (cl_int)round);
        check_buffer(proof.queue, x, (cl_int)round);
        release_events(1, &slow);
    }
    release_buffers(2, (cl_mem[]){x, y});
}

/* ---- Events between queues --------------------------------------------------------------------------------------- */

/* x goes back and forth between two queues, each step by the other's event, on members in turns. */
static void a_chain_over_two_queues_and_two_members(void **state)
{
    enum { n_steps = 12 };
    cl_mem x = make_buffer();
    cl_command_queue queues[] = {proof_queue(&proof, 0), proof_queue(&proof, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
    cl_event events[n_steps];
    cl_uint value = 0;

    (void)state;
    for (unsigned i = 0; i < n_steps; i++) {
        events[i] = enqueue(queues[i % 2], (struct mix){x, x, zero, i + 1, proof_spin() / 20}, i > 0,
                            i > 0 ? &events[i - 1] : NULL);
        value = 3 * value + i + 1;
    }
    for (int i = 0; i < 2; i++)
        proof_ok(clFlush(queues[i]));
    proof_ok(clWaitForEvents(1, &events[n_steps - 1]));
    for (unsigned i = 0; i < n_steps; i++)
        assert_int_equal(status_of(events[i]), CL_COMPLETE);
    check_buffer(queues[0], x, (cl_int)value);
    release_events(n_steps, events);
    release_queues(2, queues);
    release_buffers(1, &x);
}

static unsigned random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 16) % n;
}

/* A command of a random program, and what must be done before it: whoever wrote what it touches, and whoever reads what
 * it writes. */
struct history {
    cl_event events[64];
    unsigned out[64], a[64], b[64];
};

static unsigned waits_of(const struct history *h, unsigned command, cl_event *wait)
{
    unsigned n = 0;

    for (unsigned i = 0; i < command; i++) {
        unsigned o = h->out[i], mine = h->out[command];

        if (o == mine || o == h->a[command] || o == h->b[command] || h->a[i] == mine || h->b[i] == mine)
            wait[n++] = h->events[i];
    }
    return n;
}

/* Random programs on two out-of-order queues, ordered by their wait lists alone. */
static void out_of_order_queues_follow_their_events(void **state)
{
    enum { n_buffers = 4, n_commands = 48 };
    static struct history h;
    cl_mem buffers[n_buffers];
    cl_uint values[n_buffers] = {0};
    cl_command_queue queues[] = {proof_queue(&proof, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
                                 proof_queue(&proof, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
    cl_event wait[n_commands];

    (void)state;
    for (int i = 0; i < n_buffers; i++)
        buffers[i] = make_buffer();
    for (unsigned i = 0; i < n_commands; i++) {
        unsigned o = h.out[i] = random_below(n_buffers), a = h.a[i] = random_below(n_buffers),
                 b = h.b[i] = random_below(n_buffers), n_wait = waits_of(&h, i, wait);

        h.events[i] = enqueue(queues[random_below(2)], (struct mix){buffers[o], buffers[a], buffers[b], i, 1000},
                              n_wait, n_wait ? wait : NULL);
        values[o] = 3 * values[a] + values[b] + i;
    }
    for (int i = 0; i < 2; i++)
        proof_ok(clFinish(queues[i]));
    for (int i = 0; i < n_buffers; i++)
        check_buffer(proof.queue, buffers[i], (cl_int)values[i]);
    release_events(n_commands, h.events);
    release_queues(2, queues);
    release_buffers(n_buffers, buffers);
}

/* ---- Markers and barriers ---------------------------------------------------------------------------------------- */

static void a_marker_waits_for_all_before_it(void **state)
{
    enum { n = 4 };
    cl_command_queue queue = proof_queue(&proof, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem x[n];
    cl_event events[n], marker;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        x[i] = make_buffer();
        events[i] = enqueue(queue, (struct mix){x[i], zero, zero, 7, i ? 0 : proof_spin()}, 0, NULL);
    }
    proof_did(&proof, clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker));
    proof_ok(clFlush(queue));
    while (status_of(marker) != CL_COMPLETE) {
        /* Asks on. */
    }
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(status_of(events[i]), CL_COMPLETE);
    release_events(1, &marker);
    release_events(n, events);
    for (unsigned i = 0; i < n; i++)
        check_buffer(queue, x[i], 7);
    release_buffers(n, x);
    release_queues(1, &queue);
}

/* With a list a marker waits for that alone: here it completes while another command still waits for a user event. */
static void a_marker_with_a_list_waits_for_that(void **state)
{
    cl_command_queue queue = proof_queue(&proof, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem x = make_buffer(), y = make_buffer();
    cl_event user = user_event(), marker, first, second;

    (void)state;
    first = enqueue(queue, (struct mix){x, zero, zero, 1, 0}, 1, &user);
    second = enqueue(queue, (struct mix){y, zero, zero, 1, 0}, 0, NULL);
    proof_did(&proof, clEnqueueMarkerWithWaitList(queue, 1, &second, &marker));
    proof_ok(clWaitForEvents(1, &marker));
    assert_int_equal(status_of(second), CL_COMPLETE);
    assert_int_not_equal(status_of(first), CL_COMPLETE);
    proof_ok(clSetUserEventStatus(user, CL_COMPLETE));
    proof_ok(clFinish(queue));
    release_events(4, (cl_event[]){user, marker, first, second});
    release_buffers(2, (cl_mem[]){x, y});
    release_queues(1, &queue);
}

/* Without events: what comes behind a barrier sees what was before it, on whichever member. */
static void barriers_order_an_out_of_order_queue(void **state)
{
    cl_command_queue queue = proof_queue(&proof, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem x = make_buffer(), y = make_buffer();
    cl_uint value_x = 0, value_y = 0;

    (void)state;
    for (unsigned round = 1; round <= rounds(); round++) {
        launch(queue, (struct mix){x, y, zero, round, proof_spin() / 50}, 0, NULL);
        value_x = 3 * value_y + round;
        if (round % 2)
            proof_did(&proof, clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
        else
            proof_did(&proof, clEnqueueBarrier(queue));
        launch(queue, (struct mix){y, x, zero, round, 0}, 0, NULL);
        value_y = 3 * value_x + round;
        proof_did(&proof, clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    }
    check_buffer(queue, x, (cl_int)value_x);
    check_buffer(queue, y, (cl_int)value_y);
    release_buffers(2, (cl_mem[]){x, y});
    release_queues(1, &queue);
}

/* ---- Set-up ------------------------------------------------------------------------------------------------------ */

static int open_proof(void **state)
{
    (void)state;
    proof_open(&proof, source);
    mix = proof_kernel(&proof, "combine");
    zero = make_buffer();
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    release_buffers(1, &zero);
    proof_ok(clReleaseKernel(mix));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_overtakes_a_command_that_waits_for_a_user_event),
        cmocka_unit_test(nor_one_that_depends_on_a_user_event_by_others),
        cmocka_unit_test(nor_a_barrier),
        cmocka_unit_test(ownership_is_taken_when_ready),
        cmocka_unit_test(events_keep_the_order_of_their_queue),
        cmocka_unit_test(blocking_calls_block),
        cmocka_unit_test(a_chain_over_two_queues_and_two_members),
        cmocka_unit_test(out_of_order_queues_follow_their_events),
        cmocka_unit_test(a_marker_waits_for_all_before_it),
        cmocka_unit_test(a_marker_with_a_list_waits_for_that),
        cmocka_unit_test(barriers_order_an_out_of_order_queue),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
