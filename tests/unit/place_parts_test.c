/* Parts of launches that are cut: how large they are, whether they pay, and what is learned of cuts. */
#include "place/internal.h"

#include "place/model_file.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N      4
#define LARGE  (UINT64_C(1) << 20) /* work-items */
#define KERNEL 1

static struct tsl_member members[N];
static struct tsl_member *const pointers[N] = {&members[0], &members[1], &members[2], &members[3]};
static struct tsl_candidate all[N];
static struct tsl_placer *placer;
static struct tsl_layout_mark mark;
static uint64_t now_ns, ready_ns;

/* The first n members take part, each of a kind of its own. */
static void begin(enum tsl_policy policy, enum tsl_split split, unsigned n, double *weights)
{
    struct tsl_settings settings = {.policy = policy, .split = split, .weights = weights, .n_weights = weights ? N : 0};

    for (unsigned i = 0; i < N; i++) {
        members[i].caps.speed = 1;
        members[i].index = i;
        all[i] = (struct tsl_candidate){.eligible = i < n, .windows = i < n};
    }
    placer = tsl_placer_create(&settings, pointers, N);
    mark = (struct tsl_layout_mark){0};
    assert_non_null(placer);
    for (unsigned i = 0; i < N; i++)
        placer->used[i] = true;
    now_ns = 1000000000;
    ready_ns = 0;
}

static void begin_auto(unsigned n)
{
    begin(TSL_POLICY_AUTO, TSL_SPLIT_AUTO, n, NULL);
}

/* The first n members are equal. */
static void begin_alike(unsigned n)
{
    begin_auto(n);
    for (unsigned i = 1; i < n; i++)
        placer->kind[i] = placer->kind[0];
}

static int end(void **state)
{
    (void)state;
    tsl_placer_destroy(placer);
    return 0;
}

static struct tsl_ask question(uint64_t kernel, uint64_t size)
{
    return (struct tsl_ask){.candidates = all, .kernel = kernel, .size = size, .now_ns = now_ns, .ready_ns = ready_ns};
}

static bool ask(uint64_t kernel, uint64_t size, struct tsl_parts *parts)
{
    struct tsl_ask asked = question(kernel, size);

    return tsl_placer_parts(placer, &asked, parts);
}

/* All that moves is one object. */
static bool pays_asked(const struct tsl_ask *asked, const struct tsl_parts *parts)
{
    for (unsigned i = 0; i < N; i++) {
        all[i].unpaid_ns = all[i].uncounted_ns = 0;
        if (all[i].move_ns > 0)
            tsl_placer_moves(placer, &mark, all[i].move_ns, &all[i]);
    }
    bool it_pays = tsl_placer_pays(placer, asked, parts);
    tsl_placer_decided(placer, &mark);
    return it_pays;
}

static bool pays(uint64_t kernel, uint64_t size, const struct tsl_parts *parts)
{
    struct tsl_ask asked = question(kernel, size);

    return pays_asked(&asked, parts);
}

/* As long as the whole launch takes there; halves, and so on, take as much less. */
static void learn(unsigned member, uint64_t kernel, double ns)
{
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[member], kernel, LARGE, ns);
}

/* How long it takes on the first two members. */
static void learn_both(uint64_t kernel, double first_ns, double second_ns)
{
    learn(0, kernel, first_ns);
    learn(1, kernel, second_ns);
}

static void assert_parts(const struct tsl_parts *parts, const double *of)
{
    for (unsigned i = 0; i < N; i++)
        assert_true(fabs(parts->of[i] - of[i]) < 1e-6);
}

static void assert_whole(uint64_t kernel, uint64_t size)
{
    struct tsl_parts parts;

    assert_false(ask(kernel, size, &parts));
}

static void assert_cut(uint64_t kernel, struct tsl_parts *parts)
{
    assert_true(ask(kernel, LARGE, parts));
    assert_true(pays(kernel, LARGE, parts));
}

static void assert_no_gain(uint64_t kernel, struct tsl_parts *parts)
{
    assert_true(ask(kernel, LARGE, parts));
    assert_false(pays(kernel, LARGE, parts));
}

/* ---- Sizes ---- */

static void test_by_speed(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(3);
    learn_both(KERNEL, 3e6, 1e6);
    learn(2, KERNEL, 6e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){2 / 9.0, 6 / 9.0, 1 / 9.0, 0});
    assert_true(parts.known);
    assert_int_equal(parts.n_windows, 1);
    assert_true(fabs(parts.run_ns - 1e6 * 6 / 9) < 10);
    assert_true(parts.whole_ns >= 1e6 && parts.whole_ns < 1.1e6);
    assert_true(pays(KERNEL, LARGE, &parts));
}

/* Members 0 and 1 drive the same processors: the faster one alone has a part, and is busy with what the other does. */
static void test_rivals(void **state)
{
    struct tsl_parts parts;
    struct tsl_placement busy = {.run_ns = 1e7};

    (void)state;
    begin_auto(3);
    tsl_members_add(&placer->rivals[0], 1);
    tsl_members_add(&placer->rivals[1], 0);
    learn_both(KERNEL, 3e6, 1e6);
    learn(2, KERNEL, 3e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0, 0.75, 0.25, 0});
    all[2].windows = false;
    assert_false(ask(KERNEL, LARGE, &parts));
    all[2].windows = true;
    tsl_load_add(&placer->load[0], &busy, now_ns);
    assert_false(ask(KERNEL, LARGE, &parts));
}

static void test_alike(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(4);
    learn(0, KERNEL, 4e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.25, 0.25, 0.25, 0.25});
    assert_true(pays(KERNEL, LARGE, &parts));
}

/* Borders stay where they are for a little, whatever the kernel, and follow more than that. */
static void test_borders_stay(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e7, 1e7);
    learn_both(KERNEL + 1, 1e7, 1.05e7);
    learn_both(KERNEL + 2, 1e7, 1.5e7);
    assert_cut(KERNEL, &parts);
    assert_cut(KERNEL + 1, &parts);
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    assert_true(parts.run_ns > 0.52e7); /* estimated for these parts, not for the best ones */
    assert_cut(KERNEL + 2, &parts);
    assert_parts(&parts, (double[N]){0.6, 0.4, 0, 0});
    assert_cut(KERNEL + 1, &parts);
    assert_parts(&parts, (double[N]){1.05 / 2.05, 1 / 2.05, 0, 0});
}

/* What didn't pay leaves the borders where they were. */
static void test_borders_of_what_was_cut(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e7, 1e7);
    learn_both(KERNEL + 1, 1e7, 1.05e7);
    assert_cut(KERNEL, &parts);
    all[1].move_ns = 1e9;
    learn_both(KERNEL + 2, 1e7, 3e7);
    assert_no_gain(KERNEL + 2, &parts);
    all[1].move_ns = 0;
    assert_true(ask(KERNEL + 1, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
}

/* ---- Whole ---- */

static void test_small(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 5.9e4);
    assert_false(ask(KERNEL, LARGE, &parts));
    assert_int_not_equal(parts.why, TSL_UNCUT_SMALL);
    learn(0, KERNEL + 2, 2.9e4); /* It needn't be asked about again. */
    assert_false(ask(KERNEL + 2, LARGE, &parts));
    assert_int_equal(parts.why, TSL_UNCUT_SMALL);
    learn(0, KERNEL + 1, 2e5);
    assert_true(ask(KERNEL + 1, LARGE, &parts));
    end(NULL);
    begin_alike(4); /* Parts would be too small. */
    learn(0, KERNEL, 7.9e4);
    assert_whole(KERNEL, LARGE);
}

/* A member that is so slow that it saves nothing worth mentioning. */
static void test_no_gain(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e7, 1e9);
    assert_no_gain(KERNEL, &parts);
}

/* Of a kernel of which nothing is known only large launches, over equal members, if nothing moves for that. */
static void test_unknown(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(3);
    placer->kind[2] = 77;
    assert_whole(KERNEL, (1u << 18) - 1);
    assert_true(ask(KERNEL, 1u << 18, &parts));
    assert_false(parts.known);
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    assert_true(pays(KERNEL, 1u << 18, &parts));
    all[1].move_ns = 1e5;
    assert_false(pays(KERNEL, 1u << 18, &parts));
    all[0].move_ns = all[2].move_ns = 1e5; /* as it does for the whole launch */
    assert_true(ask(KERNEL, 1u << 18, &parts));
    assert_true(pays(KERNEL, 1u << 18, &parts));
    placer->kind[1] = 78;
    assert_whole(KERNEL, 1u << 18);
}

static double lead(uint64_t size, unsigned member, uint64_t n_groups)
{
    struct tsl_ask asked = question(KERNEL, size);

    return tsl_placer_lead(placer, &asked, member, n_groups);
}

/* The window by which a launch begins is as small as what fills the member, but a 256th of the launch, and it is a
 * small part of that. */
static void test_lead(void **state)
{
    (void)state;
    begin_alike(2);
    assert_true(fabs(lead(LARGE, 0, 1u << 14) - 1.0 / 256) < 1e-9);
    placer->n_units[0] = 100;
    assert_true(fabs(lead(LARGE, 0, 2000) - 0.1) < 1e-9);
    assert_true(lead(LARGE, 0, 1000) <= 0);
    placer->fill[0] = 100 * 2048;
    assert_true(lead(LARGE, 0, 2000) <= 0);
    assert_true(fabs(lead(100 * 2048 * 20, 0, 2000) - 0.05) < 1e-9);
    assert_true(lead((1u << 14) - 1, 1, 1u << 14) <= 0);
}

/* When they have cost much there are none, until launches have taken a hundred times as long. */
static void test_leads_cost(void **state)
{
    (void)state;
    begin_alike(2);
    tsl_placer_led(placer, 9e6);
    assert_true(lead(LARGE, 0, 1u << 14) > 0);
    tsl_placer_led(placer, 3e6);
    assert_true(lead(LARGE, 0, 1u << 14) <= 0);
    for (unsigned i = 0; i < 3; i++) {
        struct tsl_ask asked = question(KERNEL, LARGE);
        struct tsl_placement placement;

        tsl_placer_choose(placer, &asked, &placement);
        tsl_placer_done(placer, &placement,
                        &(struct tsl_ended){.kernel = KERNEL, .size = LARGE, .ran_ns = 100000000, .now_ns = now_ns});
    }
    assert_true(lead(LARGE, 0, 1u << 14) > 0);
}

/* By other settings there are none. */
static void test_no_lead(void **state)
{
    static const enum tsl_split splits[] = {TSL_SPLIT_OFF, TSL_SPLIT_ALWAYS, TSL_SPLIT_ALWAYS_EXACT};

    (void)state;
    for (unsigned i = 0; i < sizeof splits / sizeof *splits; i++) {
        begin(TSL_POLICY_AUTO, splits[i], 2, NULL);
        assert_true(lead(LARGE, 0, 1u << 14) <= 0);
        end(NULL);
    }
    begin(TSL_POLICY_EAGER, TSL_SPLIT_AUTO, 2, NULL);
    assert_true(lead(LARGE, 0, 1u << 14) <= 0);
    end(NULL);
}

static void keep_busy(unsigned member, double ns)
{
    struct tsl_ask asked = question(99 + member, LARGE);
    struct tsl_placement placement;

    learn(member, 99 + member, ns);
    tsl_placer_place_part(placer, &asked, member, LARGE, &placement);
    assert_true(placement.placed);
    assert_int_equal(placement.member, member);
}

static void test_busy(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(3);
    learn(0, KERNEL, 4e6);
    keep_busy(1, 9e5); /* less than a quarter of the launch */
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){1 / 3.0, 1 / 3.0, 1 / 3.0, 0});
    keep_busy(2, 2e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    ready_ns = now_ns + 2000000; /* Until then it will be free. */
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){1 / 3.0, 1 / 3.0, 1 / 3.0, 0});
    ready_ns = 0;
    now_ns += 1100000;
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){1 / 3.0, 1 / 3.0, 1 / 3.0, 0});
}

/* Member 1 had a part of the last cut, is late with parts, and has a whole launch to do that takes so long. */
static bool keeps_part_beside(double ns)
{
    struct tsl_parts parts;
    struct tsl_ask asked;
    struct tsl_placement placement = {.member = 0};
    bool keeps;

    begin_alike(2);
    learn(0, KERNEL, 4e6);
    assert_cut(KERNEL, &parts);
    keep_busy(1, 9e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    asked = question(7, LARGE);
    learn(0, 7, ns);
    all[0].eligible = false;
    tsl_placer_choose(placer, &asked, &placement);
    all[0].eligible = true;
    assert_int_equal(placement.member, 1);
    keeps = ask(KERNEL, LARGE, &parts);
    tsl_placer_destroy(placer);
    return keeps;
}

/* However late with parts; not beside much other work. */
static void test_busy_with_parts(void **state)
{
    (void)state;
    assert_true(keeps_part_beside(6e5));
    assert_false(keeps_part_beside(2e6));
    begin_alike(2);
}

/* A launch of a part's size may do other work than the part: that fills the device, so it is told by the whole. */
static void test_told_by_the_whole(void **state)
{
    struct tsl_parts parts;
    const uint64_t size = 4 * LARGE;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6); /* a quarter of the size, but more than a quarter of the time */
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], KERNEL, 2 * LARGE, 4e6);
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], KERNEL, size, 4e6);
    assert_true(ask(KERNEL, size, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    assert_true(fabs(parts.run_ns - 2e6) < 10);
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], tsl_part_key(KERNEL), size / 2, 3e6);
    assert_true(ask(KERNEL, size, &parts));
    assert_true(fabs(parts.run_ns - 3e6) < 10);
}

static void learn_halves(unsigned n, double ns)
{
    for (unsigned i = 0; i < n; i++)
        tsl_model_ran(placer->model, placer->kind[0], tsl_part_key(KERNEL), LARGE / 2, ns);
}

static double whole_of_halves_ns(void)
{
    struct tsl_parts parts;

    assert_true(ask(KERNEL, LARGE, &parts));
    return parts.whole_run_ns;
}

/* What no launch runs whole to tell, as parts take ever less, is told by these; unless they take now this, now that. */
static void test_ever_less(void **state)
{
    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e7);
    learn_halves(2, 1e6); /* may be chance */
    assert_true(fabs(whole_of_halves_ns() - 1e7) < 10);
    learn_halves(1, 8e6);
    learn_halves(4, 1e6); /* uneven work */
    assert_true(fabs(whole_of_halves_ns() - 1e7) < 10);
    learn_halves(TSL_N_SAMPLES, 1e6);
    assert_true(fabs(whole_of_halves_ns() - 2.5e6) < 10);
    learn_halves(TSL_N_SAMPLES, 6e6);
    assert_true(fabs(whole_of_halves_ns() - 1e7) < 10);
}

/* Members of other kinds take other times for the same. */
static void test_ever_less_of_two_kinds(void **state)
{
    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e7, 1e7);
    learn_halves(TSL_N_SAMPLES, 1e6);
    struct tsl_parts parts;
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_true(fabs(parts.whole_run_ns - 1e7) < 10);
}

/* What a slow member can do is worth its moves only in a long launch. */
static void test_weak(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e6, 5e7);
    assert_whole(KERNEL, LARGE);
    learn_both(KERNEL + 1, 1e7, 5e8);
    assert_true(ask(KERNEL + 1, LARGE, &parts));
    assert_parts(&parts, (double[N]){50 / 51.0, 1 / 51.0, 0, 0});
}

static void test_no_windows(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(3);
    learn(0, KERNEL, 4e6);
    all[1].windows = false;
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0, 0.5, 0});
    all[2].eligible = false;
    assert_whole(KERNEL, LARGE);
}

static void test_off(void **state)
{
    (void)state;
    begin(TSL_POLICY_AUTO, TSL_SPLIT_OFF, 2, NULL);
    assert_false(tsl_placer_cuts(placer));
    placer->kind[1] = placer->kind[0];
    learn(0, KERNEL, 1e8);
    assert_whole(KERNEL, LARGE);
    end(NULL);
    begin(TSL_POLICY_ROUND_ROBIN, TSL_SPLIT_AUTO, 2, NULL); /* It knows no times. */
    assert_false(tsl_placer_cuts(placer));
    assert_whole(KERNEL, LARGE);
}

/* ---- By other ways ---- */

static void test_always(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin(TSL_POLICY_EAGER, TSL_SPLIT_ALWAYS, 3, NULL);
    all[0].windows = false;
    assert_true(ask(KERNEL, 1, &parts));
    assert_parts(&parts, (double[N]){0, 0.5, 0.5, 0});
    assert_int_equal(parts.n_windows, 1);
    all[1].eligible = false;
    assert_true(ask(KERNEL, 1, &parts));
    assert_parts(&parts, (double[N]){0, 0, 1, 0});
    assert_int_equal(parts.n_windows, 2);
    all[2].move_ns = 1e15;
    assert_true(pays(KERNEL, 1, &parts));
    all[2].windows = false;
    assert_whole(KERNEL, 1);
}

static void test_weights(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin(TSL_POLICY_WEIGHTS, TSL_SPLIT_AUTO, 3, (double[N]){1, 0, 3, 4});
    assert_true(ask(KERNEL, 1, &parts));
    assert_parts(&parts, (double[N]){0.25, 0, 0.75, 0});
    assert_true(pays(KERNEL, 1, &parts));
    all[0].windows = false;
    assert_whole(KERNEL, 1);
    end(NULL);
    begin(TSL_POLICY_WEIGHTS_WHOLE, TSL_SPLIT_AUTO, 3, (double[N]){1, 0, 3, 4});
    assert_whole(KERNEL, LARGE);
}

/* Only over members of the kind that would run it whole. */
static void test_only_alike(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin(TSL_POLICY_AUTO, TSL_SPLIT_ALIKE, 4, NULL);
    placer->kind[2] = placer->kind[0];
    learn_both(KERNEL, 1e6, 2e6);
    learn(3, KERNEL, 3e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0, 0.5, 0});
    learn(1, KERNEL + 1, 1e6);
    learn(0, KERNEL + 1, 2e6);
    assert_whole(KERNEL + 1, LARGE);
}

/* ---- Does it pay? ---- */

static void test_moves_at_once(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e7);
    assert_true(ask(KERNEL, LARGE, &parts));
    all[1].move_ns = 4e6; /* less than the half that is saved */
    assert_true(pays(KERNEL, LARGE, &parts));
    all[1].move_ns = 5e6;
    assert_false(pays(KERNEL, LARGE, &parts));
}

/* Data that would move once, for many launches: they move when that would have paid. */
static void test_moves_by_regret(void **state)
{
    struct tsl_parts parts;
    unsigned n_whole = 0;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e7);
    all[1].move_ns = 4e7;
    for (bool cut = false; !cut && n_whole < 100;) {
        assert_true(ask(KERNEL, LARGE, &parts));
        cut = pays(KERNEL, LARGE, &parts);
        n_whole += !cut;
    }
    assert_in_range(n_whole, 4e7 / 5e6 - 1, 4e7 / 4.5e6 + 1);
    all[1].move_ns = 0; /* They have. */
    for (unsigned i = 0; i < 10; i++)
        assert_cut(KERNEL, &parts);
    all[1].move_ns = 4e7; /* What was regretted is paid. */
    assert_no_gain(KERNEL, &parts);
}

/* Two alike, of which one lacks data; an earlier run of the program took so long with launches of the kernel. */
static void begin_knowing(double ns)
{
    struct tsl_model *before = tsl_model_create();
    struct tsl_writer kept = {0};

    begin_alike(2);
    tsl_model_spent(before, KERNEL, ns);
    tsl_model_encode(before, &kept);
    assert_true(tsl_model_decode(placer->model, kept.data, kept.size));
    free(kept.data);
    tsl_model_unref(before);
    learn(0, KERNEL, 1e7);
    all[1].move_ns = 4e7;
    placer->layout.whole_pace = (struct tsl_pace){1e8, 1e8};
}

/* The moves will be paid for, or not. */
static void test_moves_by_foresight(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_knowing(2e8); /* of which a cut gains somewhat less than half */
    assert_cut(KERNEL, &parts);
    end(NULL);
    begin_knowing(1e8);
    assert_no_gain(KERNEL, &parts);
    end(NULL);
}

/* What the placer's model knows, as the next process that runs the program finds it. */
static void begin_again(void)
{
    struct tsl_writer kept = {0};

    tsl_gains_tell(placer);
    tsl_model_encode(placer->model, &kept);
    end(NULL);
    begin_alike(2);
    assert_true(tsl_model_decode(placer->model, kept.data, kept.size));
    free(kept.data);
}

static void run_whole(uint64_t kernel, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct tsl_ask asked = question(kernel, LARGE);
        struct tsl_placement placement;

        tsl_placer_choose(placer, &asked, &placement);
        tsl_placer_done(placer, &placement, &(struct tsl_ended){.kernel = kernel, .size = LARGE, .ran_ns = 1000000});
    }
}

/* Data are distributed where nothing is known of earlier runs, and where cuts gained something in these; also beside
 * launches of another kernel that run whole, unless they take nearly all of the time. */
static void test_gains_of_earlier_runs(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    assert_true(tsl_placer_gains(placer));
    learn_both(KERNEL, 1e6, 1e6);
    run_whole(KERNEL, 8);
    assert_true(tsl_placer_gains(placer)); /* It is about earlier runs. */
    begin_again();
    assert_false(tsl_placer_gains(placer));
    learn_both(KERNEL + 1, 1e7, 1e7);
    assert_cut(KERNEL + 1, &parts);
    begin_again();
    assert_true(tsl_placer_gains(placer));
    run_whole(KERNEL, 400);
    begin_again();
    assert_false(tsl_placer_gains(placer));
    end(NULL);
}

/* Two launches at a time, one after another or side by side. */
static void run_by_twos(unsigned n, bool side_by_side, uint64_t ns)
{
    for (unsigned i = 0; i < n; i++) {
        struct tsl_ask asked = question(KERNEL, LARGE);
        struct tsl_placement first, second;
        struct tsl_ended ended = {.kernel = KERNEL, .size = LARGE, .ran_ns = ns};

        tsl_placer_choose(placer, &asked, &first);
        if (!side_by_side)
            tsl_placer_done(placer, &first, &ended);
        tsl_placer_choose(placer, &asked, &second);
        assert_int_equal(first.member != second.member, side_by_side);
        tsl_placer_done(placer, &second, &ended);
        if (side_by_side)
            tsl_placer_done(placer, &first, &ended);
    }
}

/* Further members did something for a program if they had launches, or parts of these; where little was seen, or
 * launches are longer now, nobody knows. */
static void test_help_of_others(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn_both(KERNEL, 1e6, 1e6);
    run_by_twos(50, false, 1000000);
    begin_again();
    assert_true(tsl_placer_help(placer) < 0);
    run_by_twos(200, false, 1000000);
    assert_true(tsl_placer_help(placer) < 0); /* It is about earlier runs. */
    begin_again();
    assert_true(tsl_placer_help(placer) >= 0 && tsl_placer_help(placer) < 0.05);
    learn_both(KERNEL, 1e7, 1e7);
    run_by_twos(1, false, 10000000);
    assert_true(tsl_placer_help(placer) < 0);
    end(NULL);

    begin_alike(2);
    learn_both(KERNEL, 1e6, 1e6);
    run_by_twos(200, true, 1000000);
    begin_again();
    assert_true(tsl_placer_help(placer) > 0.4);
    for (unsigned i = 0; i < 6; i++) {
        run_by_twos(300, false, 1000000);
        begin_again();
    }
    assert_true(tsl_placer_help(placer) >= 0 && tsl_placer_help(placer) < 0.05);
    learn_both(KERNEL + 1, 1e8, 1e8);
    for (unsigned i = 0; i < 8; i++)
        assert_cut(KERNEL + 1, &parts);
    begin_again();
    double help = tsl_placer_help(placer);
    assert_true(help > 0.2);
    for (unsigned i = 0; i < 5; i++) { /* Runs that had no choice say nothing. */
        all[1].eligible = false;
        run_by_twos(20, false, 100000000);
        all[1].eligible = true;
        begin_again();
    }
    assert_true(tsl_placer_help(placer) > help * 0.99);
    end(NULL);
}

/* Of runs without a choice it is known how long they took together. */
static void test_runs_without_others_add_up(void **state)
{
    (void)state;
    begin_alike(2);
    learn_both(KERNEL, 1e6, 1e6);
    begin_again();
    for (unsigned i = 1; i <= 3; i++) {
        all[1].eligible = false;
        run_by_twos(200, false, 1000000);
        begin_again();
        if (fabs(tsl_placer_waited_ns(placer) - i * 4e8) > 4e7)
            fail_msg("run %u: %.0f ms", i, tsl_placer_waited_ns(placer) / 1e6);
    }
    run_by_twos(200, false, 1000000);
    begin_again();
    assert_true(fabs(tsl_placer_waited_ns(placer) - 3 * 4e8) < 4e7 * 3);
    end(NULL);
}

/* The second of two that are equally fast is closed; the third is ready, but slow. */
static void begin_beside_a_slow_one(void)
{
    begin_again();
    placer->speed[1] = placer->speed[0] = placer->second_speed = 100;
    all[1].eligible = false;
    all[2] = (struct tsl_candidate){.eligible = true, .windows = true};
    learn(2, KERNEL, 1e8);
}

/* A slow member is no choice where there is another fast one: what that would do isn't known yet. */
static void test_a_slow_member_is_no_choice(void **state)
{
    (void)state;
    begin_alike(2);
    learn_both(KERNEL, 1e6, 1e6);
    for (unsigned i = 1; i <= 2; i++) {
        begin_beside_a_slow_one();
        run_by_twos(200, false, 1000000);
        begin_again();
        assert_true(tsl_placer_help(placer) < 0);
        assert_true(fabs(tsl_placer_waited_ns(placer) - i * 4e8) < 4e7);
    }
    run_by_twos(200, false, 1000000);
    begin_again();
    assert_true(tsl_placer_help(placer) >= 0 && tsl_placer_help(placer) < 0.05);
    end(NULL);
}

/* A program of one launch of each kernel: none is known before it has run. */
static void test_gains_of_unknown_launches(void **state)
{
    (void)state;
    begin_alike(2);
    for (uint64_t kernel = 1; kernel <= 3; kernel++)
        run_whole(kernel, 1);
    begin_again();
    assert_false(tsl_placer_gains(placer));
    end(NULL);
}

/* Data that are elsewhere before each launch: they move ever more rarely. */
static void test_moves_in_vain(void **state)
{
    struct tsl_parts parts;
    unsigned n_cut[2] = {0};

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e7);
    all[1].move_ns = 4e7;
    for (unsigned i = 0; i < 10000; i++) {
        assert_true(ask(KERNEL, LARGE, &parts));
        n_cut[i >= 2000] += pays(KERNEL, LARGE, &parts);
    }
    assert_in_range(n_cut[0], 5, 12);
    assert_in_range(n_cut[1], 1, 8000 / 500); /* of launches that would gain 4.7 ms, each for 40 ms: under 1 % */
    all[1].move_ns = 0;
    for (unsigned i = 0; i < 10; i++) /* They stay after all. */
        assert_cut(KERNEL, &parts);
    all[1].move_ns = 4e7;
    placer->layout.lost_ns = 0;
    for (unsigned i = 0; i < 10; i++)
        n_cut[0] += ask(KERNEL, LARGE, &parts) && pays(KERNEL, LARGE, &parts);
    assert_in_range(n_cut[0], 6, 13);
}

/* A launch that is held is regretted once, however often it is asked for. */
static void test_asked_again(void **state)
{
    struct tsl_ask again = question(KERNEL, LARGE);
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e7);
    all[1].move_ns = 4e7;
    again.again = true;
    assert_no_gain(KERNEL, &parts);
    for (unsigned i = 0; i < 100; i++)
        assert_false(pays_asked(&again, &parts));
}

/* Where a cut gains nothing even without the moves there is nothing to regret. */
static void test_no_regret(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e7, 1e9);
    all[1].move_ns = 10;
    for (unsigned i = 0; i < 1000; i++) {
        assert_no_gain(KERNEL, &parts);
    }
}

/* What cuts cost is measured, and doubted now and then. */
static void test_cost(void **state)
{
    struct tsl_parts parts;
    unsigned n_whole = 0;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    assert_cut(KERNEL, &parts);
    tsl_placer_parts_ended(placer, 500000, 510000);
    assert_true(pays(KERNEL, LARGE, &parts));
    for (unsigned i = 0; i < 8; i++)
        tsl_placer_parts_ended(placer, 500000, 1300000);
    assert_false(pays(KERNEL, LARGE, &parts));
    while (n_whole < 10000 && !(ask(KERNEL, LARGE, &parts) && pays(KERNEL, LARGE, &parts)))
        n_whole++;
    assert_in_range(n_whole, 31, 1000);
}

/* What waits for moves between members begins later than by these alone: that is measured, and doubted, too. */
static void test_waits(void **state)
{
    struct tsl_parts parts;
    unsigned n_whole = 0;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    all[0].move_ns = all[0].peer_ns = all[1].move_ns = all[1].peer_ns = 1e4;
    assert_cut(KERNEL, &parts);
    for (unsigned i = 0; i < 8; i++)
        tsl_placer_parts_waited(placer, 1e4, 910000);
    for (unsigned i = 0; i < 64; i++)
        n_whole += !(ask(KERNEL, LARGE, &parts) && pays(KERNEL, LARGE, &parts));
    assert_in_range(n_whole, 16, 63); /* Regret and doubt. */
}

/* Moves beside parts aren't set against what cuts gain, others are: then cuts of little gain stop. */
static void test_moves_beside_parts(void **state)
{
    (void)state;
    for (unsigned divided = 0; divided < 2; divided++) {
        struct tsl_parts parts;
        unsigned n_cut = 0;

        if (divided)
            end(NULL);
        begin_alike(2);
        learn(0, KERNEL, 1e6);
        all[0].move_ns = all[0].peer_ns = all[1].move_ns = all[1].peer_ns = 2e5;
        assert_cut(KERNEL, &parts);
        parts.divided = divided;
        for (unsigned i = 0; i < 8; i++)
            tsl_placer_parts_ended(placer, 500000, 620000);
        for (unsigned i = 0; i < 8; i++)
            tsl_placer_parts_waited(placer, 2e5, 6e5);
        for (; n_cut < 400; n_cut++) {
            struct tsl_ask asked = question(KERNEL, LARGE);

            if (!tsl_placer_repeats(placer, &asked))
                break;
            tsl_placer_repeat(placer, &asked, &parts);
        }
        assert_true(divided ? n_cut == 400 : n_cut < 300);
    }
}

/* What copies cost counts as the work does. */
static void test_copies(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, 1, 1e6);
    assert_true(ask(1, LARGE, &parts));
    parts.joint_ns = 6e5;
    assert_false(pays(1, LARGE, &parts));
    parts.joint_ns = 2e5;
    assert_true(pays(1, LARGE, &parts));
}

/* Rates of work in one memory are guessed by kind until they are known, and apart from those of moves. */
static void test_work(void **state)
{
    double guess, learned;

    (void)state;
    begin_alike(2);
    guess = tsl_placer_work_ns(placer, 0, TSL_WORK_COMBINE, 1 << 20);
    assert_true(tsl_placer_wants_work(placer, 0, TSL_WORK_COMBINE, 1 << 20));
    for (unsigned i = 0; i < 5; i++)
        tsl_placer_worked(placer, 0, TSL_WORK_COMBINE, 1 << 20, 77000);
    learned = tsl_placer_work_ns(placer, 1, TSL_WORK_COMBINE, 1 << 20); /* of the same kind */
    assert_true(guess > 1e5);
    assert_true(fabs(learned - 77000) < 1000);
    assert_true(tsl_placer_work_ns(placer, 0, TSL_WORK_COPY, 1 << 20) == guess);
    assert_true(tsl_placer_work_ns(placer, 0, TSL_WORK_COMBINE, 64 << 20) > 60 * learned);
}

/* So long the host took to plan some cuts. */
static void plans_took(double ns)
{
    for (unsigned i = 0; i < 8; i++)
        tsl_placer_parts_planned(placer, KERNEL, ns, false);
}

/* Launches come no sooner than the host plans their cuts. */
static void test_plans(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 2e5);
    assert_cut(KERNEL, &parts);
    plans_took(5e4);
    assert_true(pays(KERNEL, LARGE, &parts));
    plans_took(2.5e5);
    assert_false(pays(KERNEL, LARGE, &parts));
}

static void set_peers(double ns)
{
    for (unsigned i = 0; i < 2; i++)
        all[i].move_ns = all[i].peer_ns = ns;
}

static struct tsl_asked *asked_of(uint64_t kernel)
{
    for (unsigned i = 0; i < TSL_N_ASKED; i++)
        if (placer->asked[i].kernel == kernel)
            return &placer->asked[i];
    return NULL;
}

/* A launch whose data take longer to bring together than it takes has the parts of the cut before, though a member is
 * busy with what is no part; and is asked about though it never paid to cut it before. */
static void test_parts_follow_data(void **state)
{
    const uint64_t tiny = 7, other = 8;
    struct tsl_parts parts;
    struct tsl_placement placement;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    learn(0, tiny, 2e4);
    learn(0, other, 5e6);
    assert_cut(KERNEL, &parts);
    all[1].eligible = false;
    struct tsl_ask whole = question(other, LARGE);
    tsl_placer_choose(placer, &whole, &placement);
    assert_int_equal(placement.member, 0);
    all[1].eligible = true;
    assert_whole(tiny, LARGE);
    set_peers(5e5);
    assert_true(ask(tiny, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    set_peers(0);
    assert_true(pays(tiny, LARGE, &parts));
    asked_of(tiny)->skip = 9;
    set_peers(5e5);
    assert_true(ask(tiny, LARGE, &parts));
    asked_of(tiny)->n_refused = 1000;
    assert_whole(tiny, LARGE);
}

/* One kernel whose cuts take long to plan says nothing of another. */
static void test_plans_of_kernels(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 2e5);
    learn(0, KERNEL + 1, 2e5);
    for (unsigned i = 0; i < 8; i++) {
        tsl_placer_parts_planned(placer, KERNEL, 2.5e5, false);
        tsl_placer_parts_planned(placer, KERNEL + 1, 1e3, false);
    }
    assert_no_gain(KERNEL, &parts);
    assert_cut(KERNEL + 1, &parts);
    assert_no_gain(KERNEL, &parts);
}

/* While a launch is planned nobody works, unless earlier ones keep the members busy for so long. */
static void test_plans_while_nobody_works(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 2e5);
    assert_cut(KERNEL, &parts);
    plans_took(9e4);
    assert_no_gain(KERNEL, &parts);
    ready_ns = now_ns + 1000000;
    assert_cut(KERNEL, &parts);
}

/* Moves are hidden where the members, not the host, are what is slow, and where there is enough to hide them behind. */
static void test_divides(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_true(tsl_placer_divides(placer, &parts, 1e5));
    assert_false(tsl_placer_divides(placer, &parts, 0));
    assert_false(tsl_placer_divides(placer, &parts, parts.run_ns * 2));
    for (unsigned i = 0; i < 8; i++)
        tsl_placer_parts_planned(placer, KERNEL, parts.run_ns * 2, true);
    assert_false(tsl_placer_divides(placer, &parts, 1e5));
    for (unsigned i = 0; i < 1000 && !tsl_placer_divides(placer, &parts, 1e5); i++) /* It is doubted now and then. */
        assert_int_not_equal(i, 999);
}

/* What regret has paid for isn't booked once more: the next launches are cut, too. */
static void test_paid_once(void **state)
{
    struct tsl_parts parts;
    double ledger_ns;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    all[1].move_ns = all[1].peer_ns = 3e7;
    assert_true(ask(KERNEL, LARGE, &parts));
    ledger_ns = placer->ledger_ns;
    for (unsigned i = 0; i < 1000 && !pays(KERNEL, LARGE, &parts); i++)
        assert_int_not_equal(i, 999);
    assert_true(placer->ledger_ns >= ledger_ns);
    assert_int_equal(placer->paused, 0);
}

/* How long copies take that become one again is measured as a whole. */
static void test_joints(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    assert_true(ask(KERNEL, LARGE, &parts));
    parts.joint_ns = 1e5;
    assert_true(pays(KERNEL, LARGE, &parts));
    tsl_placer_joints_ended(placer, 1e5, 9e5);
    assert_false(pays(KERNEL, LARGE, &parts));
    for (unsigned i = 0; i < 8; i++)
        tsl_placer_joints_ended(placer, 1e5, 5e4);
    assert_true(pays(KERNEL, LARGE, &parts));
}

/* Shares that ended before others began have no negative cost. */
static void test_cost_of_nothing(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 1e6);
    tsl_placer_parts_ended(placer, 500000, 400000);
    tsl_placer_parts_ended(placer, 500000, 500000);
    assert_cut(KERNEL, &parts);
}

/* ---- Tries ---- */

/* A kind that doesn't know the kernel gets a thousandth where the purse pays for that. */
static void test_tries(void **state)
{
    struct tsl_ask asked = question(KERNEL, LARGE);
    struct tsl_placement placement;
    struct tsl_parts parts;

    (void)state;
    begin_alike(3);
    placer->kind[2] = 77;
    learn(0, KERNEL, 1e7);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    placer->purse_ns = 1e6;
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_true(fabs(parts.of[2] - 1e-3 / 1.001) < 1e-6);
    assert_true(fabs(parts.of[0] - parts.of[1]) < 1e-9);
    assert_true(pays(KERNEL, LARGE, &parts));
    all[2].move_ns = 6e6; /* It isn't worth so much. */
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    all[2].move_ns = 0;
    tsl_placer_place_part(placer, &asked, 2, LARGE / 1000, &placement);
    assert_true(placement.try && placement.timed && placement.watch);
    assert_true(placer->purse_ns <= 1e6 - 50e7 / 1001);
    learn(0, KERNEL + 1, 9e5); /* Beside small launches nothing is tried. */
    placer->purse_ns = 1e6;
    assert_true(ask(KERNEL + 1, LARGE, &parts));
    assert_true(parts.of[2] == 0);
}

/* A cut for a try's sake alone gains nothing: the purse pays for it, or it is left. */
static void test_only_a_try(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn(0, KERNEL, 1e8);
    assert_whole(KERNEL, LARGE);
    placer->purse_ns = 6e6;
    assert_cut(KERNEL, &parts);
    assert_true(fabs(parts.of[1] - 1e-3 / 1.001) < 1e-6);
    assert_true(placer->purse_ns < 6e6);
    placer->purse_ns = 6e6;
    assert_true(ask(KERNEL, LARGE, &parts));
    parts.joint_ns = 1e7; /* There is no room for the copies in it. */
    assert_false(pays(KERNEL, LARGE, &parts));
    assert_true(placer->purse_ns == 6e6);
}

/* Beside a long launch a try costs nothing: no purse is needed, but a debt is paid off before. */
static void test_hidden_try(void **state)
{
    struct tsl_ask asked = question(KERNEL, LARGE);
    struct tsl_placement placement;
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn(0, KERNEL, 3e8);
    assert_cut(KERNEL, &parts);
    assert_true(fabs(parts.of[1] - 1e-3 / 1.001) < 1e-6);
    tsl_placer_place_part(placer, &asked, 1, LARGE / 1000, &placement);
    assert_true(placement.try && placer->purse_ns < 0);
    learn(0, KERNEL + 1, 3e8);
    assert_whole(KERNEL + 1, LARGE);
    placer->purse_ns = 0;
    placer->speed[1] = placer->speed[0] / 60; /* It may be much slower than it says. */
    assert_whole(KERNEL + 1, LARGE);
    placer->speed[1] = placer->speed[0];
    learn(0, KERNEL + 2, 1e8); /* Code for it might take longer to build. */
    assert_whole(KERNEL + 2, LARGE);
    learn(0, KERNEL + 3, 3e8);
    all[1].move_ns = 2e8; /* The moves would take too long. */
    assert_whole(KERNEL + 3, LARGE);
}

/* What hides a try are the others' parts, which end sooner than the launch would whole. */
static void test_hidden_by_parts(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(3);
    placer->kind[2] = 77;
    learn(0, KERNEL, 3e8);
    assert_cut(KERNEL, &parts);
    assert_parts(&parts, (double[N]){0.5, 0.5, 0, 0});
    learn(0, KERNEL + 1, 6e8);
    assert_cut(KERNEL + 1, &parts);
    assert_true(parts.of[2] > 0);
}

/* A member that is said to be much slower has so few groups that they end soon, even if it is worse than that. */
static void test_bounded_try(void **state)
{
    struct tsl_ask asked = question(KERNEL, LARGE);
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    placer->speed[1] = placer->speed[0] / 40;
    learn(0, KERNEL, 5e9);
    asked.n_groups = 400000;
    assert_true(tsl_placer_parts(placer, &asked, &parts));
    assert_true(parts.of[1] > 0 && parts.of[1] * 5e9 * 400 <= 0.02 * 5e9);
    asked.n_groups = 500; /* One might end after the rest of the launch. */
    assert_false(tsl_placer_parts(placer, &asked, &parts));
    asked.n_groups = 4000;
    assert_true(tsl_placer_parts(placer, &asked, &parts));
    assert_true(fabs(parts.of[1] - 1 / 4001.0) < 1e-9);
}

/* A thousandth of few groups is none: the try has one, where the purse pays for that. */
static void test_try_of_a_group(void **state)
{
    struct tsl_ask asked = question(KERNEL, LARGE);
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn(0, KERNEL, 1e7);
    asked.n_groups = 100;
    placer->purse_ns = 4e6;
    assert_false(tsl_placer_parts(placer, &asked, &parts));
    placer->purse_ns = 6e6;
    assert_true(tsl_placer_parts(placer, &asked, &parts));
    assert_true(fabs(parts.of[1] - 0.01 / 1.01) < 1e-6);
    assert_true(tsl_placer_pays(placer, &asked, &parts));
}

/* What a try has shown counts from then on. */
static void test_after_a_try(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn(0, KERNEL, 1e7);
    assert_whole(KERNEL, LARGE);
    tsl_model_ran(placer->model, placer->kind[1], KERNEL, LARGE / 1000, 1e4);
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_true(parts.of[1] > 0.4 && parts.of[1] < 0.6);
}

/* One part that took longer than the whole launch says nothing yet: something else ran there. */
static void test_disturbed_part(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_auto(2);
    learn_both(KERNEL, 1e7, 2e7);
    tsl_model_ran(placer->model, placer->kind[0], tsl_part_key(KERNEL), LARGE * 2 / 3, 3e7);
    assert_cut(KERNEL, &parts);
    for (unsigned i = 0; i < 2; i++)
        tsl_model_ran(placer->model, placer->kind[0], tsl_part_key(KERNEL), LARGE * 2 / 3, 3e7);
    assert_no_gain(KERNEL, &parts);
}

/* ---- Placing ---- */

static void test_place(void **state)
{
    struct tsl_ask asked;
    struct tsl_placement placement;
    struct tsl_ended ended = {.kernel = KERNEL, .size = LARGE / 2};

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 4e6);
    all[1].move_ns = 1e6;
    asked = question(KERNEL, LARGE);
    tsl_placer_place_part(placer, &asked, 1, LARGE / 2, &placement);
    assert_int_equal(placement.member, 1);
    assert_true(placement.placed && !placement.try && !placement.later);
    assert_true(fabs(placement.run_ns - 2e6) < 10);
    assert_in_range(placement.end_ns, now_ns + 3000000, now_ns + 3010000);
    assert_true(tsl_load_left_ns(&placer->load[1], now_ns) > 1.9e6);
    now_ns += 3000000;
    ended.ran_ns = 3000000;
    ended.end_ns = ended.now_ns = now_ns;
    tsl_placer_done(placer, &placement, &ended);
    assert_false(placement.placed);
    assert_true(tsl_load_left_ns(&placer->load[1], now_ns) == 0);
    assert_int_equal(tsl_model_run(placer->model, placer->kind[1], KERNEL, LARGE / 2).n_samples, 1);
    end(NULL);
    begin(TSL_POLICY_ROUND_ROBIN, TSL_SPLIT_ALWAYS, 2, NULL);
    tsl_placer_place_part(placer, &asked, 1, 5, &placement);
    assert_int_equal(placement.member, 1);
    assert_false(placement.placed);
}

/* ---- The ledger ---- */

/* A launch that needs together what cuts distribute. */
static void place_whole(uint64_t kernel, double peer_ns)
{
    struct tsl_ask asked = question(kernel, 1);
    struct tsl_placement placement;

    for (unsigned i = 0; i < N; i++)
        all[i].move_ns = all[i].peer_ns = peer_ns;
    asked.again = true; /* As if it had been held before: it counts once, when it is placed. */
    tsl_placer_choose(placer, &asked, &placement);
    tsl_placer_done(placer, &placement, &(struct tsl_ended){.kernel = kernel, .size = 1, .now_ns = now_ns});
    for (unsigned i = 0; i < N; i++)
        all[i].move_ns = all[i].peer_ns = 0;
}

static unsigned cut_count(struct tsl_parts *parts)
{
    assert_true(ask(KERNEL, LARGE, parts));
    return tsl_placer_count(placer, parts->of);
}

static void test_others_pay(void **state)
{
    struct tsl_parts parts;
    unsigned n = 0;

    (void)state;
    begin_alike(2);
    learn_both(KERNEL, 1e6, 1e6);
    while (n < 1000 && ask(KERNEL, LARGE, &parts)) {
        assert_true(pays(KERNEL, LARGE, &parts));
        place_whole(KERNEL + 1, 2e6);
        n++;
    }
    assert_in_range(n, 5, 50); /* some 20 ms */
    unsigned paused = placer->paused;
    assert_in_range(paused, 395, 400); /* 0.4 s of them */
    for (unsigned i = 0; i < paused; i++)
        assert_whole(KERNEL, LARGE);
    assert_cut(KERNEL, &parts);
}

/* Launches that wait much longer for moves than was thought aren't cut for long. */
static void test_moves_are_slow(void **state)
{
    struct tsl_parts parts;
    unsigned n = 0;

    (void)state;
    begin_alike(2);
    learn_both(KERNEL, 1e6, 1e6);
    for (; n < 1000 && ask(KERNEL, LARGE, &parts); n++) {
        assert_true(pays(KERNEL, LARGE, &parts));
        tsl_placer_parts_waited(placer, 5e6, 12e6 + n * 5e6);
    }
    assert_in_range(n, 2, 4); /* 20 ms; and what had been gained */
    assert_true(placer->paused > 0);
}

/* Four parts cost more than they gain: two are tried before launches run whole, and four again when two have gained. */
static void test_fewer_parts(void **state)
{
    struct tsl_parts parts;
    unsigned n = 0;

    (void)state;
    begin_alike(4);
    for (unsigned i = 0; i < 4; i++)
        learn(i, KERNEL, 1e6);
    assert_int_equal(cut_count(&parts), 4);
    for (; n < 1000 && cut_count(&parts) == 4; n++) {
        assert_true(pays(KERNEL, LARGE, &parts));
        place_whole(KERNEL + 1, 2e6);
    }
    assert_in_range(n, 5, 50);
    assert_int_equal(placer->paused, 0);
    assert_int_equal(cut_count(&parts), 2);
    assert_true(parts.of[0] > 0);
    for (n = 0; n < 1000 && cut_count(&parts) == 2; n++)
        assert_true(pays(KERNEL, LARGE, &parts));
    assert_in_range(n, 500, 520);
    assert_int_equal(cut_count(&parts), 4);
    for (n = 0; n < 100 && cut_count(&parts) == 4; n++) {
        assert_true(pays(KERNEL, LARGE, &parts));
        place_whole(KERNEL + 1, 2e6);
    }
    for (n = 0; n < 1000 && cut_count(&parts) == 2; n++)
        assert_true(pays(KERNEL, LARGE, &parts));
    assert_int_equal(n, 1000); /* It takes longer now. */
}

/* Moves that were made in hope are needed again and again: hope doesn't last. */
static void test_foresight_in_vain(void **state)
{
    struct tsl_parts parts;
    unsigned n_cut = 0;

    (void)state;
    begin_knowing(1e11);
    for (unsigned i = 0; i < 1000; i++) {
        now_ns += 10000000;
        assert_true(ask(KERNEL, LARGE, &parts));
        n_cut += pays(KERNEL, LARGE, &parts);
    }
    assert_in_range(n_cut, 2, 12); /* as by regret */
}

/* Everything moves between members, to each in so long. */
static void move_in(double ns)
{
    for (unsigned i = 0; i < 2; i++)
        all[i].move_ns = all[i].peer_ns = ns;
}

/* What cuts have distributed, 100 ms of moves, isn't brought together for less than they lose. small_ns: what moves for
 * another kernel's whole launches in between; 0: there are none. */
static void assert_way_back(double small_ns, unsigned least, unsigned most)
{
    struct tsl_parts parts;
    unsigned n = 0;

    begin_alike(2);
    for (; n < 1000 && !placer->paused; n++) {
        move_in(1e8);
        assert_true(ask(KERNEL, LARGE, &parts));
        move_in(2e6);
        assert_true(pays(KERNEL, LARGE, &parts));
        if (small_ns > 0)
            place_whole(KERNEL + 1, small_ns);
    }
    assert_in_range(n, least, most); /* 2 ms and a wait each, until it is 100 */
}

static void test_way_back(void **state)
{
    (void)state;
    assert_way_back(0, 45, 50);
}

static void test_way_back_small(void **state)
{
    (void)state;
    assert_way_back(1e3, 40, 50);
}

/* Launches that are enqueued ahead, of which nothing is known yet, are all cut. */
static void test_unknown_ahead(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    for (unsigned i = 0; i < 5; i++) {
        assert_cut(KERNEL, &parts);
        for (unsigned k = 0; k < 2; k++) {
            struct tsl_ask asked = question(KERNEL, LARGE);
            struct tsl_placement placement;
            tsl_placer_place_part(placer, &asked, k, LARGE / 2, &placement);
        }
        all[0].move_ns = all[0].peer_ns = all[1].move_ns = all[1].peer_ns = 0;
    }
    assert_true(tsl_load_left_ns(&placer->load[0], now_ns) > 0);
    assert_false(parts.known);
    tsl_load_add(&placer->load[0], &(struct tsl_placement){.run_ns = 1e6}, now_ns); /* other work */
    assert_whole(KERNEL, LARGE);
}

static void test_gains_outweigh(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    learn_both(KERNEL, 1e7, 1e7);
    for (unsigned i = 0; i < 200; i++) {
        assert_cut(KERNEL, &parts);
        place_whole(KERNEL + 1, 2e6);
    }
}

/* A launch of a kernel that keeps the members for too short a time to be told from its parts. */
#define SHORT_SIZE (UINT64_C(1) << 18)

/* Parts of a small launch take as long as all of it. */
static void test_measured_whole(void **state)
{
    struct tsl_parts parts;
    unsigned n = 0;

    (void)state;
    begin_alike(4);
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], KERNEL, SHORT_SIZE / 4, 9e4);
    for (; n < 1000 && ask(KERNEL, SHORT_SIZE, &parts); n++)
        assert_true(pays(KERNEL, SHORT_SIZE, &parts));
    assert_in_range(n, 70, 90); /* 360 µs are a twentieth of that */
    assert_int_equal(parts.why, TSL_UNCUT_MEASURED);
    tsl_model_ran(placer->model, placer->kind[0], KERNEL, SHORT_SIZE, 9.2e4);
    assert_false(ask(KERNEL, SHORT_SIZE, &parts) && pays(KERNEL, SHORT_SIZE, &parts));
}

static void test_measured_only_if_small(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_alike(2);
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], KERNEL, LARGE, 9e4);
    for (unsigned n = 0; n < 1000; n++)
        assert_true(ask(KERNEL, 2 * LARGE, &parts) && pays(KERNEL, 2 * LARGE, &parts));
}

/* ---- Launches that don't fill a GPU ---- */

#define FEW (UINT64_C(1) << 16) /* of the 270 336 work-items that it runs at a time */

/* Two equal GPUs; the launch took so long on one. */
static void begin_few(double ns)
{
    begin_alike(2);
    for (unsigned i = 0; i < 2; i++) {
        placer->fill[i] = 132 * 2048;
    }
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], KERNEL, FEW, ns);
}

static void part_took(double ns)
{
    for (unsigned i = 0; i < 3; i++)
        tsl_model_ran(placer->model, placer->kind[0], tsl_part_key(KERNEL), FEW / 2, ns);
}

static bool few_are_cut(void)
{
    struct tsl_parts parts;

    return ask(KERNEL, FEW, &parts) && pays(KERNEL, FEW, &parts);
}

static void test_few_items_gain_nothing(void **state)
{
    (void)state;
    begin_few(4e6);
    placer->purse_ns = -1e6;
    for (unsigned i = 0; i < 100; i++)
        assert_false(few_are_cut());
    part_took(1e6);
    placer->asked[KERNEL % TSL_N_ASKED].skip = 0;
    assert_true(few_are_cut());
}

/* The purse pays for a cut that tells, and for the moves that it takes. */
static void test_few_items_are_tried(void **state)
{
    (void)state;
    begin_few(4e6);
    all[1].move_ns = 5e6;
    placer->purse_ns = 1e6;
    assert_false(few_are_cut());
    placer->purse_ns = 1e7;
    assert_true(few_are_cut());
    assert_true(placer->purse_ns < 5e6 && placer->purse_ns > 0);
    part_took(3.9e6);
    placer->purse_ns = 1e9;
    assert_false(few_are_cut());
}

/* Nor is a whole launch thought to take twice as long as its halves did. */
static void test_few_items_told_by_parts(void **state)
{
    struct tsl_parts parts;

    (void)state;
    begin_few(0);
    tsl_model_ran(placer->model, placer->kind[0], KERNEL, FEW / 2, 4e6);
    part_took(4e6);
    assert_true(ask(KERNEL, FEW, &parts));
    assert_true(fabs(parts.whole_run_ns - 4e6) < 10);
    assert_false(pays(KERNEL, FEW, &parts));
    tsl_model_ran(placer->model, placer->kind[0], KERNEL + 1, LARGE, 4e6);
    tsl_model_ran(placer->model, placer->kind[0], KERNEL + 1, LARGE, 4e6);
    assert_true(ask(KERNEL + 1, LARGE * 4, &parts));
    assert_true(fabs(parts.whole_run_ns - 16e6) < 10);
}

/* To ask about a small launch takes a good part of its time. */
static void test_asked_rarely(void **state)
{
    struct tsl_parts parts;
    unsigned n = 0;

    (void)state;
    begin_alike(2);
    learn(0, KERNEL, 2e5);
    all[1].move_ns = 6e6; /* of some 15 µs beside the wait for moves */
    for (unsigned i = 0; i < 100; i++)
        if (ask(KERNEL, LARGE, &parts)) {
            assert_false(pays(KERNEL, LARGE, &parts));
            n++;
        } else
            assert_int_equal(parts.why, TSL_UNCUT_UNPAID);
    assert_in_range(n, 10, 15);
    for (unsigned i = 0; i < 2000; i++) /* What is lost by that counts for all of them. */
        n += ask(KERNEL, LARGE, &parts) && pays(KERNEL, LARGE, &parts);
    assert_in_range(placer->n_cuts, 2, 6);
}

/* Code is loaded and memory taken on members that had nothing to do: not for a little. */
static void test_first_use(void **state)
{
    struct tsl_parts parts;
    unsigned n = 0;

    (void)state;
    begin_alike(4);
    placer->used[1] = placer->used[2] = placer->used[3] = false;
    assert_true(ask(KERNEL, LARGE, &parts));
    assert_false(pays(KERNEL, LARGE, &parts));
    learn(0, KERNEL, 4e6);
    while (n < 1000 && !(ask(KERNEL, LARGE, &parts) && pays(KERNEL, LARGE, &parts)))
        n++;
    assert_in_range(n, 12, 18); /* 45 ms for 3 ms each */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_others_pay, end),
        cmocka_unit_test_teardown(test_moves_are_slow, end),
        cmocka_unit_test_teardown(test_fewer_parts, end),
        cmocka_unit_test_teardown(test_way_back, end),
        cmocka_unit_test_teardown(test_way_back_small, end),
        cmocka_unit_test_teardown(test_unknown_ahead, end),
        cmocka_unit_test_teardown(test_gains_outweigh, end),
        cmocka_unit_test_teardown(test_by_speed, end),
        cmocka_unit_test_teardown(test_alike, end),
        cmocka_unit_test_teardown(test_rivals, end),
        cmocka_unit_test_teardown(test_borders_stay, end),
        cmocka_unit_test_teardown(test_borders_of_what_was_cut, end),
        cmocka_unit_test_teardown(test_small, end),
        cmocka_unit_test_teardown(test_no_gain, end),
        cmocka_unit_test_teardown(test_unknown, end),
        cmocka_unit_test_teardown(test_lead, end),
        cmocka_unit_test_teardown(test_leads_cost, end),
        cmocka_unit_test(test_no_lead),
        cmocka_unit_test_teardown(test_busy, end),
        cmocka_unit_test_teardown(test_busy_with_parts, end),
        cmocka_unit_test_teardown(test_weak, end),
        cmocka_unit_test_teardown(test_told_by_the_whole, end),
        cmocka_unit_test_teardown(test_ever_less, end),
        cmocka_unit_test_teardown(test_ever_less_of_two_kinds, end),
        cmocka_unit_test_teardown(test_no_windows, end),
        cmocka_unit_test_teardown(test_off, end),
        cmocka_unit_test_teardown(test_always, end),
        cmocka_unit_test_teardown(test_weights, end),
        cmocka_unit_test_teardown(test_only_alike, end),
        cmocka_unit_test_teardown(test_moves_at_once, end),
        cmocka_unit_test_teardown(test_moves_by_regret, end),
        cmocka_unit_test(test_moves_by_foresight),
        cmocka_unit_test_teardown(test_foresight_in_vain, end),
        cmocka_unit_test_teardown(test_moves_in_vain, end),
        cmocka_unit_test_teardown(test_asked_again, end),
        cmocka_unit_test_teardown(test_no_regret, end),
        cmocka_unit_test_teardown(test_divides, end),
        cmocka_unit_test_teardown(test_paid_once, end),
        cmocka_unit_test_teardown(test_cost, end),
        cmocka_unit_test_teardown(test_waits, end),
        cmocka_unit_test_teardown(test_moves_beside_parts, end),
        cmocka_unit_test_teardown(test_plans, end),
        cmocka_unit_test_teardown(test_parts_follow_data, end),
        cmocka_unit_test_teardown(test_plans_of_kernels, end),
        cmocka_unit_test_teardown(test_plans_while_nobody_works, end),
        cmocka_unit_test_teardown(test_joints, end),
        cmocka_unit_test_teardown(test_copies, end),
        cmocka_unit_test_teardown(test_work, end),
        cmocka_unit_test_teardown(test_cost_of_nothing, end),
        cmocka_unit_test_teardown(test_tries, end),
        cmocka_unit_test_teardown(test_only_a_try, end),
        cmocka_unit_test_teardown(test_hidden_try, end),
        cmocka_unit_test_teardown(test_hidden_by_parts, end),
        cmocka_unit_test_teardown(test_bounded_try, end),
        cmocka_unit_test_teardown(test_try_of_a_group, end),
        cmocka_unit_test_teardown(test_after_a_try, end),
        cmocka_unit_test_teardown(test_disturbed_part, end),
        cmocka_unit_test_teardown(test_place, end),
        cmocka_unit_test(test_gains_of_earlier_runs),
        cmocka_unit_test(test_gains_of_unknown_launches),
        cmocka_unit_test(test_help_of_others),
        cmocka_unit_test(test_runs_without_others_add_up),
        cmocka_unit_test(test_a_slow_member_is_no_choice),
        cmocka_unit_test_teardown(test_measured_whole, end),
        cmocka_unit_test_teardown(test_measured_only_if_small, end),
        cmocka_unit_test_teardown(test_asked_rarely, end),
        cmocka_unit_test_teardown(test_few_items_gain_nothing, end),
        cmocka_unit_test_teardown(test_few_items_are_tried, end),
        cmocka_unit_test_teardown(test_few_items_told_by_parts, end),
        cmocka_unit_test_teardown(test_first_use, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
