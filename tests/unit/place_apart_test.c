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
    assert_in_range(n_later, 1, n_first / 2);
    run(&cheap, 100000, true);
    assert_false(placer->apart.together);
    assert_true(run(&cheap, 1000, true) > 990);
}

/* Where members do more than one could, or moves cost nothing, or launches had no choice, nothing is changed. */
static void test_launches_that_gain_stay_apart(void **state)
{
    static const struct world sooner = {RUN_NS, RUN_NS / 2}, level = {2 * RUN_NS, 2 * RUN_NS},
                              dear = {RUN_NS, 2 * RUN_NS};

    (void)state;
    begin();
    assert_int_equal(run(&sooner, 20000, true), 20000);
    end(NULL);
    begin();
    assert_true(run(&level, 20000, true) > 18000);
    assert_false(placer->apart.together);
    end(NULL);
    begin();
    assert_int_equal(run(&dear, 20000, false), 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_launches_that_lose_stay_together, end),
        cmocka_unit_test_teardown(test_launches_that_gain_stay_apart, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
