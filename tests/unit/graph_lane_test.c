/* Work without a fence: that it failed only its lane's finish tells, once, and not of which. Whoever asked, everybody
 * for whom it may have been hears of it. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests */
#include "graph/command.h"
#include "graph_bed.h"

#include <pthread.h>

#define N_BUFFERS 3
#define N_ROUNDS  300

static struct tsl_kernel *kernels[N_BUFFERS]; /* each on its buffer */
static struct tsl_buffer *buffers[N_BUFFERS];

static void launch(unsigned i, struct tsl_queue *in, struct tsl_event *wait, struct tsl_event **event)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {1, 1, 1}, .whole = true};
    struct tsl_enqueue e = {
        .queue = in, .type = CL_COMMAND_NDRANGE_KERNEL, .n_wait = wait != NULL, .wait = &wait, .event = event};

    assert_int_equal(tsl_enqueue_kernel(&e, kernels[i], &window, kernels[i]->eligible), CL_SUCCESS);
}

static void make_one(unsigned i)
{
    uint32_t value = 1;

    buffers[i] = make_buffer();
    kernels[i] = make_kernel("add", buffers[i]);
    assert_int_equal(tsl_kernel_set_arg(kernels[i], 1, sizeof value, &value), CL_SUCCESS);
    for (int round = 0; round < 2; round++) { /* The bytes are there, and are what nothing goes back to. */
        launch(i, queue, NULL, NULL);
        assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    }
}

static int begin(void **state)
{
    begin_graph(*(const uint64_t *)*state, "kernel add a,v\n");
    for (unsigned i = 0; i < N_BUFFERS; i++)
        make_one(i);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_BUFFERS; i++) {
        tsl_object_release(&kernels[i]->object);
        tsl_object_release(&buffers[i]->object);
    }
    end_graph();
    return 0;
}

static void wait_for(struct tsl_event *event, cl_int status)
{
    tsl_events_wait(1, &event);
    assert_int_equal(event->command->status, status);
    tsl_object_release(&event->object);
}

/* The thread that submits has to wait for the lane, as its flush is refused: what that told isn't for it. */
static void test_heard_by_another(void **state)
{
    struct tsl_event *well;

    (void)state;
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 2, -9004);
    launch(1, queue, NULL, &well);
    launch(0, queue, NULL, NULL);
    tsl_fake_fail_call(0, TSL_FAKE_FLUSH, 1, CL_OUT_OF_RESOURCES);
    launch(2, other, well, NULL);
    assert_int_equal(tsl_queue_finish(queue), -9004);
    assert_int_equal(tsl_queue_finish(other), CL_SUCCESS);
    wait_for(well, CL_COMPLETE);
}

/* Whose fence knows better isn't blamed. */
static void test_fence_knows(void **state)
{
    struct tsl_event *well;

    (void)state;
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9005);
    launch(0, queue, NULL, NULL);
    launch(1, queue, NULL, &well);
    for (unsigned i = 1; i <= 3; i++)
        tsl_fake_fail_call(0, TSL_FAKE_FLUSH, i, CL_OUT_OF_RESOURCES);
    wait_for(well, CL_COMPLETE);
    assert_int_equal(tsl_queue_finish(queue), -9005);
}

/* Who failed tells nothing of who came before it in its lane, and takes nothing of who comes after. */
static void test_failure_of_another(void **state)
{
    struct tsl_event *first, *bad, *last;

    (void)state;
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 3, -9003);
    launch(1, other, NULL, &first);
    launch(0, queue, NULL, NULL);
    launch(2, queue, first, &bad);
    launch(1, queue, NULL, NULL);
    launch(0, queue, NULL, &last);
    wait_for(bad, -9003);
    wait_for(last, CL_COMPLETE);
    assert_int_equal(tsl_queue_finish(queue), CL_SUCCESS);
    wait_for(first, CL_COMPLETE);
}

static pthread_barrier_t turn;
static cl_int told[2];

static void *finish_each(void *arg)
{
    for (unsigned i = 0; i < N_ROUNDS; i++) {
        pthread_barrier_wait(&turn);
        *(cl_int *)arg = tsl_queue_finish(queue);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

/* Two threads wait for one lane, and one of them is told; the other mustn't be first to say that all went well. */
static void test_two_at_once(void **state)
{
    pthread_t threads[2];
    unsigned n_lost = 0;

    (void)state;
    assert_int_equal(pthread_barrier_init(&turn, NULL, 3), 0);
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, finish_each, &told[k]), 0);
    for (unsigned i = 0; i < N_ROUNDS; i++) {
        tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9001);
        launch(0, queue, NULL, NULL);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        n_lost += !told[0] && !told[1] && !tsl_queue_finish(queue);
    }
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    pthread_barrier_destroy(&turn);
    assert_int_equal(n_lost, 0);
}

int main(void)
{
    static uint64_t slow = 20000000, quick = 100000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_heard_by_another, begin, end, &slow),
        cmocka_unit_test_prestate_setup_teardown(test_fence_knows, begin, end, &slow),
        cmocka_unit_test_prestate_setup_teardown(test_failure_of_another, begin, end, &slow),
        cmocka_unit_test_prestate_setup_teardown(test_two_at_once, begin, end, &quick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
