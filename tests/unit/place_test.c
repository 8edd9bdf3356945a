/* Placement: each policy keeps what its name promises, among the members that can take the command and no others. */
#include "place/internal.h"

#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 4

static struct tsl_member members[N];
static struct tsl_member *const pointers[N] = {&members[0], &members[1], &members[2], &members[3]};
static struct tsl_candidate all[N];
static const int kernels[8]; /* their addresses stand for kernels */

static struct tsl_placer *make(enum tsl_policy policy, const double *speeds, double *weights, size_t n_weights)
{
    struct tsl_settings settings = {.policy = policy, .weights = weights, .n_weights = n_weights};
    struct tsl_placer *placer;

    for (unsigned i = 0; i < N; i++) {
        members[i].caps.speed = speeds ? speeds[i] : 1;
        all[i] = (struct tsl_candidate){.eligible = true};
    }
    placer = tsl_placer_create(&settings, pointers, N);
    assert_non_null(placer);
    return placer;
}

static unsigned choose(struct tsl_placer *placer)
{
    return tsl_placer_choose(placer, all, &kernels[0], 1024);
}

static void only(unsigned i)
{
    for (unsigned j = 0; j < N; j++)
        all[j].eligible = i == j;
}

/* Whatever the policy, and whatever stands against it: an ineligible member is never chosen. */
static void test_eligible(void **state)
{
    double weights[N] = {1, 0, 3, 0}, speeds[N] = {1, 2, 3, 4};

    (void)state;
    for (int policy = TSL_POLICY_AUTO; policy <= TSL_POLICY_WEIGHTS; policy++) {
        struct tsl_placer *placer = make((enum tsl_policy)policy, speeds, weights, N);

        srand(1);
        for (unsigned round = 0; round < 2000; round++) {
            unsigned mask = 1 + (unsigned)rand() % 15, chosen;

            for (unsigned i = 0; i < N; i++)
                all[i] = (struct tsl_candidate){
                    .eligible = mask >> i & 1, .pending = (unsigned)rand() % 4, .missing_size = (uint64_t)rand()};
            chosen = tsl_placer_choose(placer, all, &kernels[rand() % 8], 1u << rand() % 20);
            assert_true(chosen < N && mask >> chosen & 1);
            tsl_placer_ran(placer, chosen, &kernels[0], 1024, (uint64_t)rand());
        }
        for (unsigned i = 0; i < N; i++) {
            only(i);
            assert_int_equal(choose(placer), i);
        }
        tsl_placer_destroy(placer);
    }
}

static void test_eager(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_EAGER, (double[]){1, 5, 5, 2}, NULL, 0);

    (void)state;
    assert_int_equal(choose(placer), 1); /* all free: the fastest, of equals the first */
    all[1].pending = all[2].pending = 1;
    assert_int_equal(choose(placer), 3);
    all[3].pending = 2;
    assert_int_equal(choose(placer), 0);
    all[0].pending = 3;
    assert_int_equal(choose(placer), 1);
    tsl_placer_destroy(placer);
}

/* Everything on the fastest, however busy it is. */
static void test_fastest(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_FASTEST, (double[]){1, 2, 7, 7}, NULL, 0);

    (void)state;
    all[2].pending = 100;
    all[2].missing_size = UINT64_C(1) << 40;
    assert_int_equal(choose(placer), 2);
    all[2].eligible = false;
    assert_int_equal(choose(placer), 3);
    tsl_placer_destroy(placer);
}

/* Consecutive commands go to different members; who can't take one is passed over and keeps no claim. */
static void test_round_robin(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_ROUND_ROBIN, NULL, NULL, 0);

    (void)state;
    for (unsigned i = 0; i < 3 * N; i++)
        assert_int_equal(choose(placer), i % N);
    all[1].eligible = false;
    assert_int_equal(choose(placer), 0);
    assert_int_equal(choose(placer), 2);
    all[1].eligible = true;
    assert_int_equal(choose(placer), 3);
    assert_int_equal(choose(placer), 0);
    assert_int_equal(choose(placer), 1);
    tsl_placer_destroy(placer);
}

/* After any number of choices each member is within one of its share, and the heavy one is spread. */
static void test_weights(void **state)
{
    double weights[N] = {1, 3, 0, 4};
    struct tsl_placer *placer = make(TSL_POLICY_WEIGHTS, NULL, weights, N);
    unsigned counts[N] = {0}, last = N, runs = 0;

    (void)state;
    for (unsigned k = 1; k <= 800; k++) {
        unsigned chosen = choose(placer);

        counts[chosen]++;
        runs += chosen == last;
        last = chosen;
        for (unsigned i = 0; i < N; i++)
            assert_true(fabs(counts[i] - k * weights[i] / 8) <= 1);
    }
    assert_int_equal(counts[2], 0);
    assert_true(runs <= 200); /* 4 of 8 can alternate with the rest */
    only(2);
    assert_int_equal(choose(placer), 2); /* without a share, but nobody else can take it */
    tsl_placer_destroy(placer);
}

/* Fewer weights than members: the others get nothing; none left: all the same. */
static void test_weights_that_do_not_fit(void **state)
{
    double few[2] = {0, 1}, far[6] = {0, 0, 0, 0, 0, 2};
    struct tsl_placer *placer = make(TSL_POLICY_WEIGHTS, NULL, few, 2);
    unsigned counts[N] = {0};

    (void)state;
    for (unsigned k = 0; k < 8; k++)
        assert_int_equal(choose(placer), 1);
    tsl_placer_destroy(placer);
    placer = make(TSL_POLICY_WEIGHTS, NULL, far, 6);
    for (unsigned k = 0; k < 8; k++)
        counts[choose(placer)]++;
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(counts[i], 2);
    tsl_placer_destroy(placer);
}

/* ---- auto ---- */

/* Nothing known: the faster member; but data that would have to move, and work that waits, count. */
static void test_auto_without_history(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){1, 2, 1, 1}, NULL, 0);

    (void)state;
    assert_int_equal(choose(placer), 1);
    for (unsigned i = 0; i < N; i++)
        all[i].missing_size = i == 2 ? 0 : 64 << 20;
    assert_int_equal(choose(placer), 2);
    for (unsigned i = 0; i < N; i++)
        all[i] = (struct tsl_candidate){.eligible = true, .pending = i == 3 ? 0 : 5};
    assert_int_equal(choose(placer), 3);
    tsl_placer_destroy(placer);
}

/* Equal members with equal work: commands enqueued at once are spread evenly. */
static void test_auto_spreads(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, NULL, NULL, 0);

    (void)state;
    for (unsigned k = 0; k < 32; k++)
        all[choose(placer)].pending++;
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(all[i].pending, 8);
    tsl_placer_destroy(placer);
}

/* What was measured beats what the speeds said, per kernel and per size class. */
static void test_auto_learns(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){8, 1, 1, 1}, NULL, 0);

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        tsl_placer_ran(placer, 0, &kernels[0], 1024, 9000000);
        tsl_placer_ran(placer, 1, &kernels[0], 1024, 1000000);
    }
    assert_int_equal(choose(placer), 1);
    assert_int_equal(tsl_placer_choose(placer, all, &kernels[1], 1024), 0);
    assert_int_equal(tsl_placer_choose(placer, all, &kernels[0], 1 << 20), 0);
    tsl_placer_destroy(placer);
}

/* One slow first run (a cold start) is forgotten after the second. */
static void test_auto_forgives_cold_starts(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){2, 1, 1, 1}, NULL, 0);

    (void)state;
    all[2].eligible = all[3].eligible = false;
    tsl_placer_ran(placer, 0, &kernels[0], 1024, 800000000);
    tsl_placer_ran(placer, 1, &kernels[0], 1024, 200000);
    assert_int_equal(choose(placer), 1);
    tsl_placer_ran(placer, 0, &kernels[0], 1024, 100000);
    assert_int_equal(choose(placer), 0);
    tsl_placer_destroy(placer);
}

/* Runs a kernel `rounds` times, one after the other; true_ns is what it takes on each member. Returns the time. */
static double simulate(struct tsl_placer *placer, const double *true_ns, unsigned rounds, unsigned *counts)
{
    double total = 0;

    for (unsigned k = 0; k < rounds; k++) {
        unsigned i = choose(placer);

        total += true_ns[i];
        counts[i]++;
        tsl_placer_ran(placer, i, &kernels[0], 1024, (uint64_t)true_ns[i]);
    }
    return total;
}

/* No harm: members that are much slower than the best, said so or not, cost no more than some percent and one try. */
static void test_auto_does_no_harm(void **state)
{
    double true_ns[N] = {1e6, 1e8, 3e7, 1e6};
    double honest[N] = {100, 1, 3, 100}, wrong[N] = {1, 1, 1, 1};

    (void)state;
    for (unsigned lie = 0; lie < 2; lie++) {
        struct tsl_placer *placer = make(TSL_POLICY_AUTO, lie ? wrong : honest, NULL, 0);
        unsigned counts[N] = {0};
        double total = simulate(placer, true_ns, 20000, counts);

        assert_true(total < 1.11 * 20000 * 1e6 + 1.3e8);
        assert_true(counts[1] >= 1); /* tried, and boundedly */
        assert_true(counts[1] <= 20000 / 100 / 20 + 1);
        tsl_placer_destroy(placer);
    }
}

/* A member that is far better than its speed said is found, and then gets the work. */
static void test_auto_finds_the_best(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){100, 1, 1, 1}, NULL, 0);
    double true_ns[N] = {1e6, 1e6, 1e5, 1e6};
    unsigned counts[N] = {0};

    (void)state;
    simulate(placer, true_ns, 20000, counts);
    assert_true(counts[2] > 15000);
    tsl_placer_destroy(placer);
}

/* Programs that make kernels without end don't fill the memory; what is in use is kept. */
static void test_history_is_bounded(void **state)
{
    struct tsl_history *history = tsl_history_create();

    (void)state;
    tsl_history_add(history, 0, &kernels[0], 5, 500);
    for (uintptr_t k = 1; k < 3 * TSL_MAX_HISTORY; k++) {
        tsl_history_add(history, 1, (const void *)(k << 4), 1, 100);
        if (k % 1000 == 0)
            assert_int_equal(tsl_history_get(history, &kernels[0], 5)->n_runs[0], 1);
    }
    assert_int_equal(tsl_history_classes(history), TSL_MAX_HISTORY);
    tsl_history_destroy(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eligible),
        cmocka_unit_test(test_eager),
        cmocka_unit_test(test_fastest),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_that_do_not_fit),
        cmocka_unit_test(test_auto_without_history),
        cmocka_unit_test(test_auto_spreads),
        cmocka_unit_test(test_auto_learns),
        cmocka_unit_test(test_auto_forgives_cold_starts),
        cmocka_unit_test(test_auto_does_no_harm),
        cmocka_unit_test(test_auto_finds_the_best),
        cmocka_unit_test(test_history_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
