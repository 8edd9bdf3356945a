/* The pace of launches, whose time the host, or the members, may set. */
#include "place/internal.h"

#include "test.h"

#include <math.h>

#define N      2
#define KERNEL 100
#define WHOLE  1e6 /* ns that a launch takes whole */
#define PART   6e5 /* ... and each of its parts */
#define MOST   1000

static struct tsl_member members[N];
static struct tsl_member *const pointers[N] = {&members[0], &members[1]};
static struct tsl_placer *placer;
static uint64_t now_ns, free_ns[N];

/* What is placed and hasn't ended. */
static struct {
    struct tsl_placement placement;
    uint64_t end_ns;
} pending[MOST];
static unsigned n_pending;

static void begin(void)
{
    struct tsl_settings settings = {.policy = TSL_POLICY_AUTO, .split = TSL_SPLIT_AUTO};

    for (unsigned i = 0; i < N; i++)
        members[i] = (struct tsl_member){.caps.speed = 1, .index = i};
    placer = tsl_placer_create(&settings, pointers, N);
    assert_non_null(placer);
    now_ns = free_ns[0] = free_ns[1] = 1000000000;
    n_pending = 0;
}

static int end(void **state)
{
    (void)state;
    tsl_placer_destroy(placer);
    return 0;
}

/* Ends are noticed in their order. */
static void pass(double ns)
{
    unsigned left = 0;

    now_ns += (uint64_t)ns;
    for (unsigned i = 0; i < n_pending; i++) {
        struct tsl_ended ended = {.kernel = KERNEL, .end_ns = pending[i].end_ns, .now_ns = now_ns};
        if (ended.end_ns <= now_ns)
            tsl_pace_ended(placer, &pending[i].placement, &ended);
        else
            pending[left++] = pending[i];
    }
    n_pending = left;
}

/* A launch is placed on so many members, each of which takes `ns` for it. */
static void launch(unsigned n, double ns)
{
    for (unsigned i = 0; i < n; i++) {
        struct tsl_placement placement = {.member = i, .part = n > 1, .work_ns = WHOLE / n, .run_ns = ns};
        tsl_pace_placed(placer, &placement, now_ns);
        free_ns[i] = (free_ns[i] > now_ns ? free_ns[i] : now_ns) + (uint64_t)ns;
        assert_true(n_pending < MOST);
        pending[n_pending].placement = placement;
        pending[n_pending++].end_ns = free_ns[i];
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
    for (unsigned i = 0; i < n; i++) {
        launch(1, WHOLE);
        pass(WHOLE);
    }
}

static void begin_epoch(void)
{
    tsl_pace_begin(placer, now_ns);
    placer->layout.began_ns = placer->layout.paid_at_ns = now_ns - (uint64_t)1e9; /* all has settled */
    placer->layout.watch_ns = 1e18;
}

static void cut_ones(unsigned n, double every_ns)
{
    for (unsigned i = 0; i < n; i++) {
        launch(N, PART);
        pass(every_ns);
    }
}

/* Launches that are placed far ahead of the members get on as these do. */
static void test_ahead(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    assert_near(pace_of(&placer->layout.whole_pace), 1);
    begin_epoch();
    cut_ones(200, 5e4);
    assert_near(pace_of(&placer->layout.pace), WHOLE / PART);
    for (unsigned i = 0; i < 200; i++)
        pass(PART);
    assert_near(pace_of(&placer->layout.pace), WHOLE / PART);
}

/* Where the host is slower than the members it sets the pace. */
static void test_slow_host(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    begin_epoch();
    cut_ones(200, 9e5);
    assert_near(pace_of(&placer->layout.pace), WHOLE / 9e5);
}

/* Whole launches that end in an epoch tell nothing of it, and cut ones that end behind it nothing of whole ones. */
static void test_late(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 50; i++)
        launch(1, WHOLE);
    begin_epoch();
    pass(25 * WHOLE);
    assert_true(placer->layout.pace.time_ns <= 0);
    pass(25 * WHOLE);
    cut_ones(50, 5e4);
    tsl_layout_close(placer);
    double work_ns = placer->layout.whole_pace.work_ns;
    pass(50 * PART);
    assert_near(pace_of(&placer->layout.whole_pace), 1);
    assert_true(placer->layout.whole_pace.work_ns <= work_ns);
}

/* What the epoch's first moves take counts for no launch. */
static void test_settles(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    begin_epoch();
    placer->layout.began_ns = placer->layout.paid_at_ns = now_ns;
    launch(N, 2e7);
    pass(2e7);
    cut_ones(20, PART);
    assert_near(pace_of(&placer->layout.pace), WHOLE / PART);
}

/* A member that opens is late with all it has; it does so once. So is a program that does something else. */
static void test_opens(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    begin_epoch();
    launch(N, 5e7);
    pass(5e7);
    cut_ones(100, PART);
    assert_near(pace_of(&placer->layout.pace), 101 * WHOLE / (100 * PART + 1e6 + 2 * WHOLE));
}

/* Nothing follows from a few. */
static void test_few_are_not_enough(void **state)
{
    (void)state;
    begin();
    whole_ones(50);
    begin_epoch();
    placer->layout.watch_ns = 0;
    cut_ones(7, PART);
    assert_false(placer->layout.is_due);
    cut_ones(1, PART);
    assert_true(placer->layout.is_due);
}

/* Members that have enough to do get no more parts for now. */
static void has(unsigned n, double run_ns, bool enough)
{
    struct tsl_candidate candidates[N] = {{.eligible = true}, {.eligible = true}};
    struct tsl_ask ask = {.kernel = KERNEL, .candidates = candidates};
    unsigned member = N;

    begin();
    placer->kind[1] = placer->kind[0];
    placer->n_cuts = 1;
    placer->last_of[0] = placer->last_of[1] = 0.5;
    for (unsigned i = 0; i < N * n; i++) {
        struct tsl_placement part = {.member = i % N, .part = true, .run_ns = run_ns};
        tsl_load_add(&placer->load[i % N], &part, now_ns);
    }
    ask.now_ns = now_ns;
    assert_int_equal(tsl_placer_is_ahead(placer, &ask, &member), enough);
    assert_int_equal(member < N, enough);
    ask.by = TSL_PLACE_BY_EAGER;
    assert_false(tsl_placer_is_ahead(placer, &ask, &member));
    ask.by = TSL_PLACE_BY_SETTINGS;
    candidates[1].eligible = false; /* The launch can't be cut. */
    assert_false(tsl_placer_is_ahead(placer, &ask, &member));
    tsl_placer_destroy(placer);
}

static void test_enough_to_do(void **state)
{
    (void)state;
    has(8, 2e6, true);
    has(7, 2e6, false);
    has(8, 1e6, false);
    has(64, 4e4, true); /* Many short ones are enough, too. */
    has(63, 4e4, false);
    has(64, 2e4, false);
    begin();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ahead, end),        cmocka_unit_test_teardown(test_slow_host, end),
        cmocka_unit_test_teardown(test_late, end),         cmocka_unit_test_teardown(test_settles, end),
        cmocka_unit_test_teardown(test_opens, end),        cmocka_unit_test_teardown(test_few_are_not_enough, end),
        cmocka_unit_test_teardown(test_enough_to_do, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
