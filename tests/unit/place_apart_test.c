/* Whole launches on several members, or all on one: which gets on faster is measured. */
#include "place/internal.h"

#include "test.h"

#define N      2
#define KERNEL 1
#define SIZE   1024
#define RUN_NS 100000

static struct tsl_member members[N];
static struct tsl_member *const pointers[N] = {&members[0], &members[1]};
static struct tsl_candidate all[N];
static struct tsl_placer *placer;
static uint64_t now_ns;

/* What passes from one end to the next: where the launch runs where the last one ran, and elsewhere. */
struct world {
    uint64_t here_ns, there_ns;
};

static void begin(void)
{
    struct tsl_settings settings = {.policy = TSL_POLICY_AUTO};

    for (unsigned i = 0; i < N; i++) {
        members[i] = (struct tsl_member){.index = i, .caps.speed = 1};
        all[i] = (struct tsl_candidate){.eligible = true};
    }
    placer = tsl_placer_create(&settings, pointers, N);
    assert_non_null(placer);
    placer->kind[1] = placer->kind[0];
    for (unsigned i = 0; i < N; i++) {
        placer->used[i] = true;
        tsl_model_ran(placer->model, placer->kind[i], KERNEL, SIZE, RUN_NS);
    }
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], KERNEL, SIZE, RUN_NS);
    now_ns = 1000000000;
}

/* Launches one after another, of which each finds its data on the other member. Returns how often one went there. */
static unsigned run(const struct world *world, unsigned n, bool choice)
{
    unsigned last = 0, n_there = 0;

    for (unsigned i = 0; i < n; i++) {
        struct tsl_ask ask = {.candidates = all, .kernel = KERNEL, .size = SIZE, .now_ns = now_ns};
        struct tsl_placement placement;

        all[last].move_ns = 3e4;
        all[1 - last].move_ns = choice ? 1e4 : 0;
        all[last].eligible = choice;
        tsl_placer_choose(placer, &ask, &placement);
        assert_true(placement.placed);
        n_there += placement.member != last;
        now_ns += placement.member == last ? world->here_ns : world->there_ns;
        last = placement.member;
        all[0].eligible = all[1].eligible = true;
        tsl_placer_done(
            placer, &placement,
            &(struct tsl_ended){.kernel = KERNEL, .size = SIZE, .ran_ns = RUN_NS, .end_ns = now_ns, .now_ns = now_ns});
    }
    return n_there;
}

static int end(void **state)
{
    (void)state;
    tsl_placer_destroy(placer);
    return 0;
}

/* Each step to the other member looks like a gain, but takes twice as long: they stay together, but for tries, which
 * get rarer. Once nothing is lost by that any more, they go apart again. */
static void test_launches_that_lose_stay_together(void **state)
{
    static const struct world dear = {RUN_NS, 2 * RUN_NS}, cheap = {2 * RUN_NS, RUN_NS};

    (void)state;
    begin();
    assert_in_range(run(&dear, 1000, true), 100, 400);
    assert_true(placer->apart.together);
    unsigned n_first = run(&dear, 20000, true), n_later = run(&dear, 20000, true);
    assert_in_range(n_first, 1, 4000);
    assert_in_range(n_later, 1, n_first);
    run(&cheap, 100000, true);
    assert_false(placer->apart.together);
    assert_true(run(&cheap, 1000, true) > 900);
}

/* Where members do more than one could, moves cost nothing, or launches had no choice, nothing is tried; where they
 * gain, to be together is tried ever more rarely; where it is the same, they are together. */
static void test_launches_that_gain_stay_apart(void **state)
{
    static const struct world sooner = {RUN_NS, RUN_NS / 2}, gain = {3 * RUN_NS, 2 * RUN_NS},
                              level = {2 * RUN_NS, 2 * RUN_NS}, dear = {RUN_NS, 2 * RUN_NS};

    (void)state;
    begin();
    assert_int_equal(run(&sooner, 20000, true), 20000);
    end(NULL);
    begin();
    assert_in_range(run(&gain, 20000, true), 18000, 19990);
    assert_in_range(run(&gain, 20000, true), 19500, 20000);
    assert_false(placer->apart.together);
    end(NULL);
    begin();
    assert_in_range(run(&level, 20000, true), 1, 4000);
    assert_true(placer->apart.together);
    end(NULL);
    begin();
    run(&dear, 20000, false);
    assert_true(placer->apart.paces[false] == 0);
}

/* While launches are kept together: without their member they go elsewhere, one of an unknown kernel isn't kept, and a
 * long one ends it. */
static void test_what_cant_be_kept_goes_elsewhere(void **state)
{
    static const struct world dear = {RUN_NS, 2 * RUN_NS};
    struct tsl_ask ask = {.candidates = all, .kernel = KERNEL + 1, .size = SIZE};
    struct tsl_placement placement;

    (void)state;
    begin();
    run(&dear, 1000, true);
    assert_true(placer->apart.together);
    unsigned home = placer->apart.home, other = 1 - home;
    ask.now_ns = now_ns;
    all[home].move_ns = 1e9;
    all[other].move_ns = 0;
    tsl_placer_choose(placer, &ask, &placement);
    assert_int_equal(placement.member, other);
    ask.kernel = KERNEL;
    tsl_placer_choose(placer, &ask, &placement);
    assert_int_equal(placement.member, home);
    all[home].eligible = false;
    tsl_placer_choose(placer, &ask, &placement);
    assert_int_equal(placement.member, other);
    all[home].eligible = true;
    placement = (struct tsl_placement){.placed = true, .run_ns = 2e7, .way = TSL_TOGETHER};
    tsl_apart_ended(placer, &placement, &(struct tsl_ended){.kernel = KERNEL, .now_ns = now_ns + 1});
    assert_false(placer->apart.together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_launches_that_lose_stay_together, end),
        cmocka_unit_test_teardown(test_launches_that_gain_stay_apart, end),
        cmocka_unit_test_teardown(test_what_cant_be_kept_goes_elsewhere, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
