/* Several implementations of one kernel on a member: the fastest that is known runs, and trying the others costs
 * little. */
#include "place/internal.h"
#include "test.h"

#include <stdlib.h>

#define N    3
#define SIZE 4096u

static struct tsl_member member = {.caps.speed = 1};
static struct tsl_placer *placer;
static struct tsl_ways ways = {.n = N, .keys = {11, 12, 13}, .allowed = {true, true, true}, .size = SIZE};
static uint64_t now_ns;
static unsigned n_runs[N];

static void begin(enum tsl_policy policy)
{
    struct tsl_settings settings = {.policy = policy};
    struct tsl_member *const members[] = {&member};

    placer = tsl_placer_create(&settings, members, 1);
    assert_non_null(placer);
    for (unsigned i = 0; i < N; i++)
        n_runs[i] = 0, ways.allowed[i] = true;
}

static int end(void **state)
{
    (void)state;
    tsl_placer_destroy(placer);
    placer = NULL;
    return 0;
}

/* One launch from its placement to its end; each implementation takes its time. Returns which ran. */
static unsigned launch(const uint64_t ns[N])
{
    struct tsl_candidate candidate = {.eligible = true};
    unsigned best = tsl_placer_best_variant(placer, 0, &ways), chosen;
    struct tsl_ask ask = {
        .candidates = &candidate, .kernel = ways.keys[0], .size = SIZE, .now_ns = now_ns += 1000000000};
    struct tsl_placement placement;

    candidate.kernel = ways.keys[best];
    tsl_placer_choose(placer, &ask, &placement);
    chosen = tsl_placer_try_variant(placer, 0, &ways, best);
    now_ns += ns[chosen];
    tsl_placer_done(
        placer, &placement,
        &(struct tsl_ended){
            .kernel = ways.keys[chosen], .size = SIZE, .ran_ns = ns[chosen], .end_ns = now_ns, .now_ns = now_ns});
    n_runs[chosen]++;
    return chosen;
}

static void the_fastest_runs(void **state)
{
    const uint64_t ns[N] = {1000000, 3000000, 200000};

    (void)state;
    begin(TSL_POLICY_AUTO);
    assert_int_equal(launch(ns), 0); /* The original is measured first. */
    for (unsigned i = 0; i < 200; i++)
        launch(ns);
    assert_int_equal(tsl_placer_best_variant(placer, 0, &ways), 2);
    assert_true(n_runs[2] > 180);
    assert_true(n_runs[1] >= 2 && n_runs[1] < 8);
    ways.allowed[2] = false; /* Its condition refuses: what is left is chosen from. */
    assert_int_equal(tsl_placer_best_variant(placer, 0, &ways), 0);
}

static void slow_ones_cost_little(void **state)
{
    const uint64_t ns[N] = {1000000, 50000000, 80000000};
    uint64_t all = 0, least = 0;

    (void)state;
    begin(TSL_POLICY_AUTO);
    for (unsigned i = 0; i < 20; i++)
        launch(ns);
    for (unsigned i = 0; i < 20000; i++) {
        all += ns[launch(ns)];
        least += ns[0];
    }
    assert_true(n_runs[1] >= 2 && n_runs[2] >= 2);
    assert_true((double)all < 1.03 * (double)least);
}

static void one_that_becomes_slow_is_left(void **state)
{
    const uint64_t first[N] = {1000000, 500000, 2000000}, then[N] = {1000000, 4000000, 2000000};

    (void)state;
    begin(TSL_POLICY_AUTO);
    for (unsigned i = 0; i < 30; i++)
        launch(first);
    assert_int_equal(tsl_placer_best_variant(placer, 0, &ways), 1);
    for (unsigned i = 0; i < 60; i++)
        launch(then);
    assert_int_equal(tsl_placer_best_variant(placer, 0, &ways), 0);
}

static void one_is_tried_at_a_time(void **state)
{
    const uint64_t ns[N] = {1000000, 1000000, 1000000};
    unsigned tried;

    (void)state;
    begin(TSL_POLICY_AUTO);
    launch(ns);
    tried = tsl_placer_try_variant(placer, 0, &ways, 0);
    assert_int_not_equal(tried, 0);
    assert_int_equal(tsl_placer_try_variant(placer, 0, &ways, 0), 0); /* Its end isn't known yet. */
}

static void other_policies_leave_the_original(void **state)
{
    const uint64_t ns[N] = {1000000, 1, 1};

    (void)state;
    begin(TSL_POLICY_FASTEST);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(launch(ns), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_fastest_runs, end),
        cmocka_unit_test_teardown(slow_ones_cost_little, end),
        cmocka_unit_test_teardown(one_that_becomes_slow_is_left, end),
        cmocka_unit_test_teardown(one_is_tried_at_a_time, end),
        cmocka_unit_test_teardown(other_policies_leave_the_original, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
