/* The pace of launches, whose time the host, or the members, may set. */
#include "place/internal.h"

#include "test.h"

#include <math.h>

#define N      2
#define KERNEL 100
#define WHOLE  1e6 /* ns that a launch takes whole */
#define PART   6e5 /* ... and each of its parts */

static struct tsl_member members[N];
static struct tsl_member *const pointers[N] = {&members[0], &members[1]};
static struct tsl_placer *placer;
static uint64_t now_ns;

static void begin(void)
{
    struct tsl_settings settings = {.policy = TSL_POLICY_AUTO, .split = TSL_SPLIT_AUTO};

    for (unsigned i = 0; i < N; i++)
        members[i] = (struct tsl_member){.caps.speed = 1, .index = i};
    placer = tsl_placer_create(&settings, pointers, N);
    assert_non_null(placer);
    now_ns = 1000000000;
}

static int end(void **state)
{
    (void)state;
    tsl_placer_destroy(placer);
    return 0;
}

/* A launch is placed, `after_ns` later than the one before; `n` members have `ns` more to do by it. */
static void launch(double after_ns, unsigned n, double ns)
{
    struct tsl_ask ask = {.kernel = KERNEL, .now_ns = now_ns += (uint64_t)after_ns};

    tsl_pace_launched(placer, &ask, WHOLE);
    for (unsigned i = 0; i < n; i++) {
        struct tsl_placement placement = {.member = i, .run_ns = ns};
        tsl_load_add(&placer->load[i], &placement, now_ns);
    }
}

static double pace_of(const struct tsl_pace *pace)
{
    return pace->work_ns / pace->time_ns;
}

static void assert_near(double value, double expected)
{
    print_message("%.3f, expected %.3f\n", value, expected);
    assert_true(fabs(value - expected) < 0.05 * expected);
}

/* One after another, each as the one before ends. */
static void whole_ones(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        launch(WHOLE, 1, WHOLE);
}

static void begin_epoch(void)
{
    tsl_pace_begin(placer, now_ns);
    placer->layout.began_ns = placer->layout.paid_at_ns = now_ns - (uint64_t)1e9; /* all has settled */
    placer->layout.watch_ns = 1e18;
}

/* Launches that are cut are placed far ahead of the members, which set the pace all the same. */
static void test_ahead(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    assert_near(pace_of(&placer->layout.whole_pace), 1);
    begin_epoch();
    for (unsigned i = 0; i < 200; i++)
        launch(5e4, N, PART);
    assert_near(pace_of(&placer->layout.pace), WHOLE / PART);
}

/* Where the host is slower than the members it sets the pace. */
static void test_slow_host(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    begin_epoch();
    for (unsigned i = 0; i < 200; i++)
        launch(9e5, N, PART);
    assert_near(pace_of(&placer->layout.pace), WHOLE / 9e5);
}

/* After launches that are far ahead whole ones begin late; that is no time of theirs. */
static void test_backlog(void **state)
{
    (void)state;
    begin();
    begin_epoch();
    for (unsigned i = 0; i < 200; i++)
        launch(5e4, N, PART);
    tsl_layout_close(placer);
    launch(200 * (PART - 5e4), 1, WHOLE);
    whole_ones(50);
    assert_near(pace_of(&placer->layout.whole_pace), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ahead, end),
        cmocka_unit_test_teardown(test_slow_host, end),
        cmocka_unit_test_teardown(test_backlog, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
