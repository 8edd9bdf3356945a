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
static uint64_t now_ns;

static struct tsl_placer *make(enum tsl_policy policy, const double *speeds, double *weights, size_t n_weights)
{
    struct tsl_settings settings = {.policy = policy, .weights = weights, .n_weights = n_weights};
    struct tsl_placer *placer;

    for (unsigned i = 0; i < N; i++) {
        members[i].caps.speed = speeds ? speeds[i] : 1;
        members[i].index = i;
        all[i] = (struct tsl_candidate){.eligible = true};
    }
    placer = tsl_placer_create(&settings, pointers, N);
    assert_non_null(placer);
    return placer;
}

static struct tsl_placement ask(struct tsl_placer *placer, uint64_t kernel, uint64_t size)
{
    struct tsl_ask question = {.candidates = all, .kernel = kernel, .size = size, .now_ns = now_ns};
    struct tsl_placement placement;

    tsl_placer_choose(placer, &question, &placement);
    return placement;
}

/* It ran, and took that long. */
static void done(struct tsl_placer *placer, struct tsl_placement *placement, uint64_t kernel, uint64_t size,
                 uint64_t ns)
{
    struct tsl_ended ended = {.kernel = kernel, .size = size, .ran_ns = ns, .end_ns = now_ns, .now_ns = now_ns};

    tsl_placer_done(placer, placement, &ended);
}

/* One that is over at once. */
static unsigned choose(struct tsl_placer *placer)
{
    struct tsl_placement placement = ask(placer, 1, 1024);

    done(placer, &placement, 1, 1024, 0);
    return placement.member;
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
                all[i] = (struct tsl_candidate){.eligible = mask >> i & 1, .move_ns = rand()};
            struct tsl_placement placement = ask(placer, (uint64_t)rand() % 8, 1u << rand() % 20);
            chosen = placement.member;
            assert_true(chosen < N && mask >> chosen & 1);
            now_ns += (uint64_t)rand() % 5000000;
            if (rand() % 2)
                done(placer, &placement, (uint64_t)rand() % 8, 1024, (uint64_t)rand());
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
    static const unsigned order[] = {1, 2, 3, 0, 1, 2, 3, 0};
    struct tsl_placement placed[8], more;

    (void)state;
    for (unsigned k = 0; k < 8; k++) { /* the least waiting: of equals the fastest, of equals the first */
        placed[k] = ask(placer, 1, 1);
        assert_false(placed[k].later);
        assert_int_equal(placed[k].member, order[k]);
    }
    more = ask(placer, 1, 1); /* each has one that runs and one that waits: who is ready first gets the next */
    assert_true(more.later);
    done(placer, &placed[3], 1, 1, 0);
    more = ask(placer, 1, 1);
    assert_false(more.later);
    assert_int_equal(more.member, 0);
    tsl_placer_destroy(placer);
}

/* Everything on the fastest, however busy it is. */
static void test_fastest(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_FASTEST, (double[]){1, 2, 7, 7}, NULL, 0);

    (void)state;
    all[2].missing_size = UINT64_C(1) << 40;
    all[2].move_ns = 1e12;
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

/* Weights are of all members, in their order; a context of some takes theirs. */
static void test_weights_of_some_members(void **state)
{
    double weights[N] = {9, 1, 0, 3};
    struct tsl_settings settings = {.policy = TSL_POLICY_WEIGHTS, .weights = weights, .n_weights = N};
    struct tsl_member *const some[] = {&members[1], &members[3]};
    struct tsl_placer *placer;

    (void)state;
    tsl_placer_destroy(make(TSL_POLICY_FASTEST, NULL, NULL, 0));
    placer = tsl_placer_create(&settings, some, 2);
    assert_true(placer->weight[0] == 1 && placer->weight[1] == 3);
    tsl_placer_destroy(placer);
}

/* ---- auto ---- */

static void learn(struct tsl_placer *placer, unsigned member, uint64_t kernel, uint64_t size, uint64_t ns)
{
    tsl_model_ran(placer->model, placer->kind[member], kernel, size, (double)ns);
}

/* Nothing known: the member that says it is the fastest; its equals when it has something to do. */
static void test_auto_without_history(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){1, 2, 1, 2}, NULL, 0);
    struct tsl_placement placement;

    (void)state;
    placer->kind[3] = placer->kind[1];
    assert_int_equal(choose(placer), 1);
    ask(placer, 1, 1024);
    assert_int_equal(ask(placer, 1, 1024).member, 3);
    ask(placer, 1, 1024);
    ask(placer, 1, 1024);
    placement = ask(placer, 1, 1024); /* two on each: the first will tell whether members 0 and 2 are of any use */
    assert_true(placement.later);
    assert_true(placement.member == 1 || placement.member == 3);
    tsl_placer_destroy(placer);
}

/* Data counts: what takes longer to move than to compute stays. */
static void test_auto_counts_moves(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, NULL, NULL, 0);

    (void)state;
    for (unsigned i = 0; i < N; i++)
        learn(placer, i, 1, 1024, i == 1 ? 500000 : 1000000);
    assert_int_equal(choose(placer), 1);
    for (unsigned i = 0; i < N; i++)
        all[i].move_ns = i == 2 ? 0 : 600000;
    assert_int_equal(choose(placer), 2);
    for (unsigned i = 0; i < N; i++)
        all[i].move_ns = i == 2 ? 0 : 400000;
    assert_int_equal(choose(placer), 1);
    tsl_placer_destroy(placer);
}

/* What was measured beats what the speeds said, per kernel and per size. */
static void test_auto_learns(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){8, 1, 1, 1}, NULL, 0);

    (void)state;
    all[2].eligible = all[3].eligible = false;
    for (unsigned k = 0; k < 3; k++) {
        learn(placer, 0, 1, 1024, 9000000);
        learn(placer, 1, 1, 1024, 1000000);
        learn(placer, 0, 1, 1 << 20, 20000000);
        learn(placer, 1, 1, 1 << 20, 90000000);
    }
    assert_int_equal(ask(placer, 1, 1024).member, 1);
    assert_int_equal(ask(placer, 1, 1 << 20).member, 0);
    tsl_placer_destroy(placer);
}

/* One slow first run (a cold start) is forgotten after the second, one disturbed run at once. */
static void test_samples(void **state)
{
    struct tsl_samples samples = {0};

    (void)state;
    tsl_samples_add(&samples, 800);
    assert_true(samples.typical == 800);
    tsl_samples_add(&samples, 10);
    assert_true(samples.typical == 10);
    for (unsigned i = 0; i < 4; i++)
        tsl_samples_add(&samples, 10 + i);
    tsl_samples_add(&samples, 1e6);
    assert_true(samples.typical >= 10 && samples.typical <= 13);
    tsl_samples_add(&samples, NAN);
    tsl_samples_add(&samples, -1);
    tsl_samples_add(&samples, 0);
    assert_true(samples.typical >= 10 && samples.typical <= 13);
    for (unsigned i = 0; i < TSL_N_SAMPLES / 2 + 1; i++) /* what lasts is followed */
        tsl_samples_add(&samples, 100);
    assert_true(samples.typical == 100);
}

/* Another size of the kernel tells something. */
static void test_other_sizes(void **state)
{
    struct tsl_model *model = tsl_model_create();

    (void)state;
    tsl_model_ran(model, 5, 1, 1024, 1e6);
    assert_int_equal(tsl_model_run(model, 5, 1, 1024).n_samples, 1);
    assert_true(fabs(tsl_model_run(model, 5, 1, 4096).ns - 4e6) < 10);
    assert_int_equal(tsl_model_run(model, 5, 1, 4096).n_samples, 0);
    assert_true(fabs(tsl_model_run(model, 5, 1, 100).ns - 1e8 / 1024) < 10);
    assert_true(tsl_model_run(model, 6, 1, 1024).ns == 0);
    assert_true(tsl_model_run(model, 5, 2, 1024).ns == 0);
    tsl_model_unref(model);
}

/* What was found nearest is remembered, until something nearer comes, or it goes itself. */
static void test_nearest_size_changes(void **state)
{
    struct tsl_model *model = tsl_model_create();

    (void)state;
    tsl_model_ran(model, 5, 1, 1024, 1024);
    for (int i = 0; i < 3; i++)
        assert_true(tsl_model_run(model, 6, 1, 1024).ns == 0);
    tsl_model_ran(model, 6, 1, 64 * 1024, 64 * 1024);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(tsl_model_run(model, 6, 1, 4 * 1024).ns - 4 * 1024) < 10);
    tsl_model_ran(model, 6, 1, 8 * 1024, 16 * 1024);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(tsl_model_run(model, 6, 1, 4 * 1024).ns - 8 * 1024) < 10);
    for (uint64_t k = 2; k < 2 * TSL_MODEL_MAX_RUNS; k++)
        tsl_model_ran(model, 5, k, 1, 100);
    for (int i = 0; i < 3; i++)
        assert_true(tsl_model_run(model, 6, 1, 4 * 1024).ns == 0);
    tsl_model_unref(model);
}

/* A latency and a bandwidth for each pair of kinds. */
static void test_moves(void **state)
{
    struct tsl_model *model = tsl_model_create();

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        tsl_model_moved(model, TSL_KIND_HOST, 5, 100, 8000);
        tsl_model_moved(model, TSL_KIND_HOST, 5, 1 << 20, 108000);     /* 10 GB/s */
        tsl_model_moved(model, TSL_KIND_HOST, 6, 1 << 20, 1048576000); /* 1 MB/s */
    }
    assert_true(fabs(tsl_model_move_ns(model, TSL_KIND_HOST, 5, 64, 0) - 8000) < 1000);
    assert_true(fabs(tsl_model_move_ns(model, TSL_KIND_HOST, 5, 512 << 10, 0) / 58000 - 1) < 0.1);
    assert_true(fabs(tsl_model_move_ns(model, TSL_KIND_HOST, 5, 64 << 20, 0) / (64 * 108000) - 1) < 0.1);
    assert_true(fabs(tsl_model_move_ns(model, 5, TSL_KIND_HOST, 64 << 20, 0) / (64 * 108000) - 1) < 0.1);
    assert_true(tsl_model_move_ns(model, TSL_KIND_HOST, 6, 4 << 20, 0) > 4e9);
    assert_true(tsl_model_move_ns(model, TSL_KIND_HOST, 6, 4096, 0) < 1e7); /* smaller than any seen */
    tsl_model_unref(model);
}

/* Runs a kernel `rounds` times, one after the other; true_ns is what it takes on each member. Returns the time. */
static double simulate(struct tsl_placer *placer, const double *true_ns, unsigned rounds, unsigned *counts)
{
    double total = 0;

    for (unsigned k = 0; k < rounds; k++) {
        struct tsl_placement placement = ask(placer, 1, 1024);

        assert_false(placement.later);
        now_ns += (uint64_t)true_ns[placement.member];
        total += true_ns[placement.member];
        counts[placement.member]++;
        done(placer, &placement, 1, 1024, (uint64_t)true_ns[placement.member]);
    }
    return total;
}

/* No harm: members that are much slower than the best, said so or not, cost under 3 %, however long it runs. */
static void test_auto_does_no_harm(void **state)
{
    double true_ns[N] = {1e6, 5e7, 3e7, 1e6};
    double honest[N] = {100, 2, 3, 100}, wrong[N] = {1, 1, 1, 1};

    (void)state;
    for (unsigned lie = 0; lie < 2; lie++)
        for (unsigned rounds = 10; rounds <= 100000; rounds *= 10) {
            struct tsl_placer *placer = make(TSL_POLICY_AUTO, lie ? wrong : honest, NULL, 0);
            unsigned counts[N] = {0};

            assert_true(simulate(placer, true_ns, rounds, counts) < 1.03 * rounds * 1e6);
            assert_true(rounds < 100000 || counts[1] >= 1);
            tsl_placer_destroy(placer);
        }
}

/* Even a member that is far worse than feared is paid off before the next try. */
static void test_auto_pays_off(void **state)
{
    double true_ns[N] = {1e6, 1e10, 1e10, 1e10};
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, NULL, NULL, 0);
    unsigned counts[N] = {0};

    (void)state;
    simulate(placer, true_ns, 100000, counts);
    assert_int_equal(counts[1] + counts[2] + counts[3], 1);
    tsl_placer_destroy(placer);
}

/* Tries pay for their data's way there and back, also where that takes far longer than it was thought to. */
static void test_tries_pay_for_moves(void **state)
{
    static const double honest[N] = {100, 2, 2, 2};
    const double run_ns[N] = {1e6, 5e7, 5e7, 5e7}, move_ns = 2e8;

    (void)state;
    for (unsigned rounds = 3000; rounds <= 30000; rounds *= 10) {
        struct tsl_placer *placer = make(TSL_POLICY_AUTO, honest, NULL, 0);
        unsigned at = 0, n_tries = 0;
        double total = 0;

        for (unsigned k = 0; k < rounds; k++) {
            for (unsigned i = 0; i < N; i++)
                all[i] = (struct tsl_candidate){.eligible = true, .move_ns = i == at ? 0 : 1e6};
            struct tsl_placement placement = ask(placer, 1, 1024);
            double ns = run_ns[placement.member];

            assert_false(placement.later);
            now_ns += (uint64_t)(ns + (placement.member == at ? 0 : move_ns));
            total += ns + (placement.member == at ? 0 : move_ns);
            n_tries += placement.try;
            at = placement.member;
            done(placer, &placement, 1, 1024, (uint64_t)ns);
        }
        assert_true(total < 1.05 * rounds * 1e6 + 2 * move_ns + 5e7);
        assert_true(n_tries >= 1);
        tsl_placer_destroy(placer);
    }
}

static double back_at_home_ns;

static double back_to_first(void *arg, unsigned member, int *home)
{
    (void)arg;
    (void)member;
    *home = 0;
    return back_at_home_ns;
}

/* Member 0 is busy for so long; member 1 is idle, and takes so many times as long. Where does the launch go? */
static unsigned chosen_beside(double busy_ns, double home_ns, double back_ns, double slower)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){1, 1, 1, 1}, NULL, 0);
    struct tsl_ask question = {.candidates = all, .kernel = 2, .size = 1024, .back_ns = back_to_first};
    struct tsl_placement busy, placement;

    back_at_home_ns = back_ns;
    for (unsigned k = 0; k < 8; k++) {
        tsl_model_ran(placer->model, placer->kind[0], 1, 1024, busy_ns);
        tsl_model_ran(placer->model, placer->kind[0], 2, 1024, home_ns);
        tsl_model_ran(placer->model, placer->kind[1], 2, 1024, slower * home_ns);
    }
    only(0);
    busy = ask(placer, 1, 1024);
    all[1].eligible = true;
    question.now_ns = now_ns;
    tsl_placer_choose(placer, &question, &placement);
    done(placer, &busy, 1, 1024, (uint64_t)busy_ns);
    tsl_placer_destroy(placer);
    return placement.member;
}

static void test_results_are_needed_at_home(void **state)
{
    (void)state;
    for (double slower = 1; slower <= 5; slower += 4) {
        assert_int_equal(chosen_beside(3e6, 5e3, 1e3, slower), 0); /* a handover alone takes longer */
        assert_int_equal(chosen_beside(3e6, 4e5, 1e4, slower), 1);
        assert_int_equal(chosen_beside(3e9, 4e5, 1e6, slower), 1); /* home is busy for far longer than all that takes */
        assert_int_equal(chosen_beside(3e8, 4e5, 4e6, slower), 0); /* but one link is busy for longer than it */
        assert_int_equal(chosen_beside(3e9, 4e5, 4e6, slower), 1);
    }
    assert_int_equal(chosen_beside(3e6, 4e5, 1e6, 5), 0);   /* it brings less than its results take back */
    assert_int_equal(chosen_beside(3e6, 4e5, 1e6, 1), 1);   /* but it isn't small, and the other is as fast */
    assert_int_equal(chosen_beside(3e6, 5e3, 1e3, 0.5), 1); /* results are made faster elsewhere */
    assert_int_equal(chosen_beside(5e5, 4e5, 1e6, 1), 0);   /* it would end sooner elsewhere, but be back later */
    assert_int_equal(chosen_beside(5e5, 4e5, 2e5, 1), 1);
    assert_int_equal(chosen_beside(5e5, 4e5, 0, 1), 1); /* both have one copy */
}

/* A try that takes as long as it was feared to costs the purse what it took. */
static void test_risks_are_given_back(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){100, 2, 2, 2}, NULL, 0);
    unsigned n_tries = 0;

    (void)state;
    only(0);
    all[1].eligible = true;
    for (unsigned k = 0; k < 200000 && n_tries < 3; k++) {
        double before_ns = placer->purse_ns;
        struct tsl_placement placement = ask(placer, 1, 1024);
        uint64_t ns = placement.try ? (uint64_t)placement.run_ns : k % 5 ? 1000000 : 8000000;

        assert_false(placement.later);
        now_ns += ns;
        done(placer, &placement, 1, 1024, ns);
        if (placement.try)
            assert_true(fabs(placer->purse_ns - (before_ns - (double)ns)) < 0.02 * before_ns + 1);
        n_tries += placement.try;
    }
    assert_int_equal(n_tries, 3);
    tsl_placer_destroy(placer);
}

/* Member 0 alone has the data, and is busy for 0.4 ms; member 1 takes twice as long. */
static void test_small_launches_stay_with_their_data(void **state)
{
    (void)state;
    for (unsigned small = 0; small < 2; small++) {
        struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){1, 1, 1, 1}, NULL, 0);
        struct tsl_ask question = {.candidates = all, .kernel = 2, .size = 1024, .now_ns = now_ns};
        double ns = small ? 5e3 : 1e5;
        struct tsl_placement busy, placement;

        for (unsigned k = 0; k < 8; k++) {
            tsl_model_ran(placer->model, placer->kind[0], 1, 1024, 4e5);
            tsl_model_ran(placer->model, placer->kind[0], 2, 1024, ns);
            tsl_model_ran(placer->model, placer->kind[1], 2, 1024, 2 * ns);
        }
        only(0);
        busy = ask(placer, 1, 1024);
        all[1] = (struct tsl_candidate){.eligible = true, .move_ns = 1e4};
        assert_int_equal(tsl_placer_stay(placer, &question, 0, &placement), small);
        assert_true(!small || (placement.member == 0 && !placement.watch));
        if (small)
            done(placer, &placement, 2, 1024, (uint64_t)ns);
        done(placer, &busy, 1, 1024, 400000);
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
    simulate(placer, true_ns, 100000, counts);
    assert_true(counts[2] > 80000);
    tsl_placer_destroy(placer);
}

/* Members 0 and 1 are two drivers of the same processors, and 1 takes three times as long. Launches that have no order
 * all go to 0, however many wait there; member 2, which is another device, gets its part of them. */
static void test_rivals_share_processors(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, NULL, NULL, 0);
    struct tsl_placement placed[8], last[4];
    unsigned counts[N] = {0};

    (void)state;
    tsl_members_add(&placer->rivals[0], 1);
    tsl_members_add(&placer->rivals[1], 0);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < 3; i++)
            learn(placer, i, 1, 1024, i == 0 ? 1000000 : 3000000);
    all[3].eligible = false;
    for (unsigned k = 0; k < 8; k++) {
        placed[k] = ask(placer, 1, 1024);
        counts[placed[k].member] += placed[k].placed;
    }
    assert_true(counts[0] > 2 && counts[2] > 0);
    assert_int_equal(counts[1], 0);
    all[2].eligible = false; /* No other device could have a launch that is held back. */
    for (unsigned k = 0; k < 4; k++) {
        last[k] = ask(placer, 1, 1024);
        assert_true(last[k].placed && last[k].member == 0);
    }
    assert_true(tsl_busy_ns(placer, 1, now_ns) == tsl_load_left_ns(&placer->load[0], now_ns));
    assert_true(tsl_busy_ns(placer, 2, now_ns) == tsl_load_left_ns(&placer->load[2], now_ns));
    for (unsigned k = 0; k < 8; k++)
        done(placer, &placed[k], 1, 1024, 0);
    for (unsigned k = 0; k < 4; k++)
        done(placer, &last[k], 1, 1024, 0);
    tsl_placer_destroy(placer);
}

/* Which members are rivals is told by their paths. */
static void test_who_is_a_rival(void **state)
{
    static const struct tsl_driver own, vendors;
    struct tsl_path paths[N] = {{.driver = &own, .platform_name = (char *)"own"},
                                {.driver = &own, .platform_name = (char *)"own"},
                                {.driver = &vendors, .platform_name = (char *)"A"},
                                {.driver = &vendors, .platform_name = (char *)"B"}};

    (void)state;
    for (unsigned i = 0; i < N; i++)
        paths[i].identity.is_host_cpu = true;
    assert_false(tsl_path_shares_processors(&paths[0], &paths[1]));
    assert_true(tsl_path_shares_processors(&paths[1], &paths[2]));
    assert_true(tsl_path_shares_processors(&paths[2], &paths[3]));
    paths[2].identity.processors = 6;
    assert_true(tsl_path_shares_processors(&paths[2], &paths[3]));
    paths[3].identity.processors = 9;
    assert_false(tsl_path_shares_processors(&paths[2], &paths[3]));
    paths[3].identity.processors = 4;
    assert_true(tsl_path_shares_processors(&paths[2], &paths[3]));
    paths[3].identity.host_id = 1;
    assert_false(tsl_path_shares_processors(&paths[2], &paths[3]));
    paths[2].identity.is_host_cpu = false;
    assert_false(tsl_path_shares_processors(&paths[1], &paths[2]));
}

/* Launches whose end nobody has noticed yet are taken to end when they were estimated to; but those that are watched
 * are late then, and may last. */
static void test_load(void **state)
{
    struct tsl_load load = {0};
    struct tsl_placement a = {.run_ns = 1000}, b = {.run_ns = 3000, .watch = true};
    struct tsl_ended ended = {.now_ns = 10000};

    (void)state;
    tsl_load_add(&load, &a, 5000);
    assert_true(tsl_load_left_ns(&load, 5600) == 400);
    assert_true(tsl_load_left_ns(&load, 9000) == 0);
    tsl_load_add(&load, &b, 9000); /* a must be over: it counts no more */
    assert_true(tsl_load_left_ns(&load, 9000) == 3000);
    tsl_load_remove(&load, &a, &ended);
    assert_true(tsl_load_left_ns(&load, 10000) == 2000);
    assert_true(tsl_load_left_ns(&load, 17000) == 5000);
    ended.now_ns = 18000;
    tsl_load_remove(&load, &b, &ended);
    assert_true(tsl_load_left_ns(&load, 18000) == 0);
    assert_int_equal(load.n, 0);
}

/* Of 2^64 work-items nobody sees the end; it still is a number, and later than that of smaller ones. */
static void test_auto_absurd_sizes(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, NULL, NULL, 0);
    struct tsl_placement small = ask(placer, 1, 1024), huge;

    (void)state;
    done(placer, &small, 1, 1024, 1000000);
    huge = ask(placer, 1, UINT64_MAX);
    assert_true(huge.end_ns > small.end_ns && huge.end_ns <= INT64_MAX);
    done(placer, &huge, 1, UINT64_MAX, 0);
    tsl_placer_destroy(placer);
}

/* Programs that make kernels without end don't fill the memory; what is in use is kept. */
static void test_model_is_bounded(void **state)
{
    struct tsl_model *model = tsl_model_create();

    (void)state;
    tsl_model_ran(model, 5, 0, 5, 500);
    for (uint64_t k = 1; k < 3 * TSL_MODEL_MAX_RUNS; k++) {
        tsl_model_ran(model, 6, k, 1, 100);
        if (k % 500 == 0)
            assert_int_equal(tsl_model_run(model, 5, 0, 5).n_samples, 1);
    }
    assert_int_equal(tsl_model_n_runs(model), TSL_MODEL_MAX_RUNS);
    tsl_model_unref(model);
}

/* Member 1 holds a launch, member 0 has windows of it. */
static enum tsl_by_windows by_windows(struct tsl_placer *placer, uint64_t kernel, unsigned n_chained)
{
    struct tsl_candidate candidates[N] = {{.eligible = true, .windows = true}, {.eligible = true}};
    struct tsl_ask question = {.candidates = candidates, .kernel = kernel, .size = 1 << 20, .now_ns = now_ns};

    return tsl_placer_windows(placer, &question, n_chained, false);
}

static void went_by_windows(struct tsl_placer *placer, uint64_t kernel, unsigned n_chained, uint64_t ns)
{
    struct tsl_ask question = {.kernel = kernel, .size = 1 << 20, .now_ns = now_ns};

    tsl_placer_windows_ended(placer, &question, 0, n_chained, ns);
}

/* Where nothing is known windows go to a member that is much faster; then what was measured counts, of chains by
 * itself. */
static void test_windows(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){100, 1, 1, 1}, NULL, 0);

    (void)state;
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_GUESSED);
    went_by_windows(placer, 1, 1, 30000000);
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_KNOWN);
    only(1);
    struct tsl_placement placement = ask(placer, 1, 1 << 20);
    now_ns += 10000000;
    done(placer, &placement, 1, 1 << 20, 10000000);
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_NO);
    assert_int_equal(by_windows(placer, 1, 16), TSL_BY_WINDOWS_GUESSED);
    went_by_windows(placer, 1, 16, 16 * 2000000);
    assert_int_equal(by_windows(placer, 1, 16), TSL_BY_WINDOWS_KNOWN);
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_NO);
    went_by_windows(placer, 2, 16, UINT64_C(16) * 50000000);
    only(1);
    placement = ask(placer, 2, 1 << 20);
    done(placer, &placement, 2, 1 << 20, 10000000);
    assert_int_equal(by_windows(placer, 2, 16), TSL_BY_WINDOWS_NO);
    tsl_placer_destroy(placer);
}

static void test_windows_of_no_faster_member(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (double[]){1.5, 1, 1, 1}, NULL, 0);

    (void)state;
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_NO);
    tsl_placer_destroy(placer);
    placer = make(TSL_POLICY_FASTEST, (double[]){100, 1, 1, 1}, NULL, 0);
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_NO);
    tsl_placer_destroy(placer);
}

/* All runs choose alike: windows on the fastest kind, whatever is known. */
static void test_windows_reproducibly(void **state)
{
    struct tsl_settings settings = {.policy = TSL_POLICY_AUTO, .reproducible = TSL_REPRODUCIBLE_YES};

    (void)state;
    tsl_placer_destroy(make(TSL_POLICY_AUTO, (double[]){100, 1, 1, 1}, NULL, 0)); /* The members' speeds. */
    struct tsl_placer *placer = tsl_placer_create(&settings, pointers, N);
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_KNOWN);
    went_by_windows(placer, 1, 1, 30000000);
    assert_int_equal(by_windows(placer, 1, 1), TSL_BY_WINDOWS_KNOWN);
    tsl_placer_destroy(placer);
}

/* Where data are best written whose reader nobody knows: on one that is much faster than all others, or on members that
 * are near to each other. */
static void test_likely(void **state)
{
    struct tsl_placer *placer = make(TSL_POLICY_AUTO, (const double[N]){1000, 1000, 1, 1}, NULL, 0);
    tsl_members several = TSL_MEMBERS_NONE, fast_one, both = tsl_members_of(0);

    (void)state;
    for (unsigned i = 0; i < N; i++)
        tsl_members_add(&several, i);
    fast_one = tsl_members_without(several, tsl_members_of(0));
    tsl_members_add(&both, 1);
    assert_int_equal(tsl_placer_likely(placer, several), -1);
    assert_int_equal(tsl_placer_likely(placer, fast_one), 1);
    assert_int_equal(tsl_placer_likely(placer, TSL_MEMBERS_NONE), -1);
    assert_true(tsl_members_is_empty(tsl_placer_likely_peers(placer, several)));
    placer->domain[0] = placer->domain[1] = 7;
    assert_true(tsl_members_are(tsl_placer_likely_peers(placer, several), both));
    assert_true(tsl_members_is_empty(tsl_placer_likely_peers(placer, fast_one)));
    assert_true(tsl_members_is_empty(tsl_placer_likely_peers(placer, TSL_MEMBERS_NONE)));
    assert_int_equal(tsl_placer_idlest(placer, both, now_ns), 0);
    assert_int_equal(tsl_placer_idlest(placer, TSL_MEMBERS_NONE, now_ns), -1);
    tsl_load_add(&placer->load[0], &(struct tsl_placement){.run_ns = 1e6}, now_ns);
    assert_int_equal(tsl_placer_idlest(placer, both, now_ns), 1);
    placer->domain[1] = 8;
    assert_true(tsl_members_is_empty(tsl_placer_likely_peers(placer, several)));
    tsl_placer_destroy(placer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eligible),
        cmocka_unit_test(test_likely),
        cmocka_unit_test(test_eager),
        cmocka_unit_test(test_fastest),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_that_do_not_fit),
        cmocka_unit_test(test_weights_of_some_members),
        cmocka_unit_test(test_auto_without_history),
        cmocka_unit_test(test_auto_counts_moves),
        cmocka_unit_test(test_auto_learns),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_other_sizes),
        cmocka_unit_test(test_nearest_size_changes),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_auto_does_no_harm),
        cmocka_unit_test(test_auto_pays_off),
        cmocka_unit_test(test_tries_pay_for_moves),
        cmocka_unit_test(test_small_launches_stay_with_their_data),
        cmocka_unit_test(test_results_are_needed_at_home),
        cmocka_unit_test(test_risks_are_given_back),
        cmocka_unit_test(test_auto_finds_the_best),
        cmocka_unit_test(test_rivals_share_processors),
        cmocka_unit_test(test_who_is_a_rival),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_windows_of_no_faster_member),
        cmocka_unit_test(test_windows_reproducibly),
        cmocka_unit_test(test_auto_absurd_sizes),
        cmocka_unit_test(test_model_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
