/* TESELA_ORDER, TESELA_PROFILING and TESELA_REPRODUCIBLE: which commands of one in-order queue may run at the same time
 * on two members. Seen in virtual time. */
/* variant: async TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
/* variant: sync TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_ORDER=sync */
/* variant: overlap TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_PROFILING=overlap */
/* variant: reproducible TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_REPRODUCIBLE=yes */
#include "base/settings.h"
#include "test.h"
#include "timed.h"

#define N_RUNS 6

static void nothing(const struct tsl_fake_run *run)
{
    (void)run;
}

static void begin(struct timed *t, cl_command_queue_properties properties)
{
    static const struct tsl_fake_member members[] = {{.name = "slow", .item_ns = 1000, .gates = true, .speed = 0.5},
                                                     {.name = "fast", .item_ns = 1000, .gates = true}};
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};

    tsl_fake_kernel("work", nothing, 1, kinds, (const unsigned[]){TSL_MAY_READ});
    timed_begin(t, members, 2, "kernel work a\n", properties);
}

/* Runs that began before the one before them had ended. */
static unsigned overlaps(unsigned *n_on_slow)
{
    struct tsl_fake_record a, b;
    unsigned n = 0;

    *n_on_slow = 0;
    for (unsigned i = 0; i < N_RUNS; i++) {
        assert_true(timed_run(i, &a));
        *n_on_slow += a.member == 0;
        for (unsigned j = 0; j < i; j++) {
            assert_true(timed_run(j, &b));
            n += a.start_ns < b.end_ns && b.start_ns < a.end_ns;
        }
    }
    return n;
}

static unsigned run(cl_command_queue_properties properties, unsigned *n_on_slow)
{
    struct timed t;
    struct tsl_buffer *buffers[N_RUNS];
    unsigned n;

    begin(&t, properties);
    for (unsigned i = 0; i < N_RUNS; i++) {
        struct tsl_event *event;

        buffers[i] = timed_buffer(&t, 64);
        timed_launch(&t, "work", 100, 1, &buffers[i], 0, &event);
        if (tsl_settings()->order == TSL_ORDER_SYNC)
            assert_int_equal(tsl_event_status(event), CL_COMPLETE);
        tsl_object_release(&event->object);
    }
    timed_finish(&t);
    n = overlaps(n_on_slow);
    for (unsigned i = 0; i < N_RUNS; i++)
        tsl_object_release(&buffers[i]->object);
    timed_end(&t);
    return n;
}

static void test_overlap(void **state)
{
    const struct tsl_settings *s = tsl_settings();
    unsigned on_slow, plain = run(0, &on_slow), profiled;

    (void)state;
    assert_int_equal(on_slow, s->reproducible ? 0 : N_RUNS / 2); /* all where the fastest is, and its like */
    profiled = run(CL_QUEUE_PROFILING_ENABLE, &on_slow);
    if (s->order == TSL_ORDER_SYNC || s->reproducible)
        assert_int_equal(plain, 0);
    else
        assert_true(plain > 0);
    if (s->profiling == TSL_PROFILING_OVERLAP)
        assert_true(profiled > 0);
    else
        assert_int_equal(profiled, 0);
}

/* sync: what depends on an unset user event isn't waited for, and what was held runs one after the other. */
static void test_held(void **state)
{
    struct timed t;
    struct tsl_buffer *buffers[N_RUNS];
    struct tsl_event *user;
    unsigned on_slow;

    (void)state;
    begin(&t, 0);
    assert_int_equal(tsl_event_create_user(t.context, &user), CL_SUCCESS);
    struct tsl_enqueue wait = {.queue = t.queue, .type = CL_COMMAND_BARRIER, .n_wait = 1, .wait = &user};
    assert_int_equal(tsl_enqueue_marker(&wait, true), CL_SUCCESS);
    for (unsigned i = 0; i < N_RUNS; i++) {
        buffers[i] = timed_buffer(&t, 64);
        timed_launch(&t, "work", 100, 1, &buffers[i], 0, NULL);
    }
    assert_int_equal(tsl_event_set_user(user, CL_COMPLETE), CL_SUCCESS);
    timed_finish(&t);
    if (tsl_settings()->order == TSL_ORDER_SYNC)
        assert_int_equal(overlaps(&on_slow), 0);
    for (unsigned i = 0; i < N_RUNS; i++)
        tsl_object_release(&buffers[i]->object);
    tsl_object_release(&user->object);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overlap), cmocka_unit_test(test_held)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
