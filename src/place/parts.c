/*
 * Parts of a launch that is cut over members.
 *
 * By the policy auto all parts should end together, so each member gets of the work what it does in the same time. What
 * the members do with a kernel is known from its runs, whole or in parts (place/model.h).
 *
 * *Where data lie.* The parts follow only speeds, not what waits on the members at the moment: else each launch would
 * have other borders, and bytes would move to and fro. A member that has other work to do has no part. Parts that
 * differ little from those of the launch before stay as those were, whatever its kernel.
 *
 * *Never lose.* A launch is cut if it is expected to end earlier, moves included, by more than a margin and what a cut
 * costs, which is measured. Where only the moves are against it, what is lost by that is added up, and when it would
 * have paid for the moves they are made. That is right where data stay: where they must move again for the next cut,
 * the price doubles each time, until cuts without moves have shown that it was worth it. A kernel of which nothing is
 * known is cut over equal members only, if its work is large, and if nothing moves for it that needn't move anyway.
 *
 * *The ledger.* A cut distributes data, and the price may be paid by other launches, which need them together. So a
 * ledger sets what each cut gains, without moves, against all moves between members, of cut and whole launches. When
 * it is OVERDRAWN_NS in the red nothing is cut for a while, each time longer.
 *
 * *Unknown members.* A kind on which the kernel never ran is given a very small part, out of the purse that also pays
 * for tries of whole launches (auto.c).
 */
#include "base/log.h"
#include "place/internal.h"

#include <math.h>
#include <string.h>

#define LEAST_NS      6e4        /* launches that take less are not cut */
#define LEAST_PART_NS 2e4        /* nor are parts given that take less */
#define LEAST_ITEMS   (1u << 18) /* of a kernel of which nothing is known */
#define FIRST_CUT_NS  2e4        /* what a cut costs, before that was measured */
#define SURE_CUTS     3          /* measured cuts, from which on what they cost counts */
#define FORGIVE       8          /* after so many launches that a cut's cost kept whole, that cost is doubted */
#define OVERDRAWN_NS  2e7        /* what cuts may lose before nothing is cut for a while */
#define LATENCY_NS    6e4 /* by so much later what waits for moves between members starts, before that was measured */
#define JOINTS_LONGER 2   /* times as long as expected do copies of shares take, before that was measured */
#define PAUSE         64  /* launches, at first */
#define MOST_PAUSE    (1u << 20)
#define MOST_DOUBT    64   /* times what they cost: moves are never dearer */
#define MARGIN        1.05 /* so many times as fast a cut launch must seem to be at least */
#define BUSY          0.25 /* a member has other work to do if that takes longer than so much of the launch */
#define SAME          0.04 /* parts that differ by less, of themselves, are the same */
#define TRY_PART      1e-3
#define LEAST_TRY_NS  1e6 /* nothing is tried beside launches that take less */

static bool takes_part(const struct tsl_ask *ask, unsigned i)
{
    return ask->candidates[i].eligible && ask->candidates[i].windows;
}

static unsigned count(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    unsigned n = 0;

    for (unsigned i = 0; i < placer->n; i++)
        n += parts->of[i] > 0;
    return n;
}

/* Makes the sum 1. False: fewer than `least` members have a part. */
static bool normalise(const struct tsl_placer *placer, struct tsl_parts *parts, unsigned least)
{
    double sum = 0;

    for (unsigned i = 0; i < placer->n; i++)
        sum += parts->of[i];
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] = sum > 0 ? parts->of[i] / sum : 0;
    return count(placer, parts) >= least;
}

/* ---- Always, and by weights ---- */

static bool equal_parts(const struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] = takes_part(ask, i);
    parts->n_windows = count(placer, parts) == 1 ? 2 : 1;
    return normalise(placer, parts, 1);
}

static bool weighted_parts(const struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] = takes_part(ask, i) ? placer->weight[i] : 0;
    return normalise(placer, parts, 2);
}

/* ---- By what is known ---- */

/* Has the member nothing else to do while the launch could run? */
static bool is_free(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, double run_ns)
{
    double left = tsl_load_left_ns(&placer->load[i], ask->now_ns);
    double ready = ask->ready_ns > ask->now_ns ? (double)(ask->ready_ns - ask->now_ns) : 0;

    return left <= ready + BUSY * run_ns;
}

/* May the member take part beside the one that is best for the whole launch? */
static bool may_join(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, unsigned best)
{
    return takes_part(ask, i) && (placer->split != TSL_SPLIT_ALIKE || placer->kind[i] == placer->kind[best]);
}

static bool parts_of_unknown(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                             struct tsl_parts *parts)
{
    if (ask->size < LEAST_ITEMS)
        return false;
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] = takes_part(ask, i) && placer->kind[i] == placer->kind[whole->member] &&
                       tsl_load_left_ns(&placer->load[i], ask->now_ns) <= 0;
    return normalise(placer, parts, 2);
}

/* A kind that doesn't know the kernel gets a part that is small even if it is as slow as feared, where the purse pays
 * for that, and where no large data move for it. */
static double try_part(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i,
                       const struct tsl_whole *whole, double feared_ns)
{
    bool cheap = TRY_PART * feared_ns <= placer->purse_ns && ask->candidates[i].move_ns <= whole->run_ns / 2;

    return cheap && whole->run_ns >= LEAST_TRY_NS ? TRY_PART : 0;
}

/* Work-items per nanosecond, with a part of that size. Unknown: 0. */
static double speed_with(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, double part)
{
    bool known;
    double size = fmax(part * (double)ask->size, 1);
    double ns = tsl_auto_part_ns(placer, ask, i, (uint64_t)size, &known);

    return known ? size / ns : 0;
}

/* By speed, in two rounds, as speeds may depend on sizes. */
static void balance(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                    struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] = may_join(placer, ask, i, whole->member) && is_free(placer, ask, i, whole->run_ns);
    for (unsigned round = 0; round < 2; round++) {
        normalise(placer, parts, 1);
        for (unsigned i = 0; i < placer->n; i++)
            if (parts->of[i] > 0)
                parts->of[i] = speed_with(placer, ask, i, parts->of[i]);
    }
    normalise(placer, parts, 1);
}

static void add_tries(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                      struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++) {
        bool known;
        if (parts->of[i] > 0 || !may_join(placer, ask, i, whole->member) || !is_free(placer, ask, i, 0))
            continue;
        double feared_ns = tsl_auto_part_ns(placer, ask, i, ask->size, &known);
        if (!known)
            parts->of[i] = try_part(placer, ask, i, whole, feared_ns);
    }
    normalise(placer, parts, 1);
}

/* The longest part. What is tried is small and doesn't count. */
static double longest_ns(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    double longest = 0;

    for (unsigned i = 0; i < placer->n; i++) {
        double size = parts->of[i] * (double)ask->size, speed = speed_with(placer, ask, i, parts->of[i]);
        if (size > 0 && speed > 0)
            longest = fmax(longest, size / speed);
    }
    return longest;
}

/* Are these, as good as, the parts of the launch before? */
static bool much_the_same(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        if (fabs(parts->of[i] - placer->last_of[i]) > SAME * parts->of[i])
            return false;
    return true;
}

static bool known_parts(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                        struct tsl_parts *parts)
{
    if (whole->run_ns < LEAST_NS)
        return false;
    balance(placer, ask, whole, parts);
    add_tries(placer, ask, whole, parts);
    if (count(placer, parts) < 2)
        return false;
    if (much_the_same(placer, parts))
        memcpy(parts->of, placer->last_of, placer->n * sizeof(*parts->of));
    parts->run_ns = longest_ns(placer, ask, parts);
    return parts->run_ns >= LEAST_PART_NS;
}

static bool auto_parts(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    if (placer->paused) {
        placer->paused--;
        parts->paused = true;
        return false;
    }
    struct tsl_whole whole = tsl_auto_whole(placer, ask);

    parts->known = whole.known;
    parts->unknown = !whole.known;
    parts->small = whole.known && whole.run_ns < LEAST_NS / 2;
    parts->whole_ns = whole.end_ns;
    parts->whole_run_ns = whole.run_ns;
    parts->whole_move_ns = whole.move_ns;
    return whole.known ? known_parts(placer, ask, &whole, parts) : parts_of_unknown(placer, ask, &whole, parts);
}

/* ---- The ledger -------------------------------------------------------------------------------------------------- */

/* What a cut costs beside the longest part and the moves. A few measurements may be chance. */
static double cost_ns(const struct tsl_placer *placer)
{
    return placer->cut.n >= SURE_CUTS ? placer->cut.typical : FIRST_CUT_NS;
}

/* How long the launch keeps either the members or the host busy: launches come no sooner than the host plans them. */
static double busy_ns(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    return fmax(parts->run_ns, placer->plan.n >= SURE_CUTS ? placer->plan.typical : 0);
}

static double joints_ns(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    return parts->joint_ns * (placer->joints.n ? placer->joints.typical : JOINTS_LONGER);
}

/* Of moves between members; 0 without moves. */
static double latency_ns(const struct tsl_placer *placer, double peer_ns)
{
    double typical = placer->latency.n >= SURE_CUTS ? placer->latency.typical : LATENCY_NS;

    return peer_ns > 0 ? typical : 0;
}

static double with_latency(const struct tsl_placer *placer, double peer_ns)
{
    return peer_ns + latency_ns(placer, peer_ns);
}

/* What was gained is kept up to what may be lost: a program may change. */
static void book(struct tsl_placer *placer, double ns)
{
    placer->ledger_ns = fmin(placer->ledger_ns + ns, OVERDRAWN_NS);
    if (placer->ledger_ns > -OVERDRAWN_NS)
        return;
    placer->ledger_ns = 0;
    placer->pause = placer->pause ? placer->pause * 2 : PAUSE;
    placer->pause = placer->pause < MOST_PAUSE ? placer->pause : MOST_PAUSE;
    placer->paused = placer->pause;
    placer->n_cuts = 0;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "cuts cost more than they gain: the next %u launches run whole",
            placer->pause);
}

void tsl_parts_book_whole(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member)
{
    double peer_ns = ask->candidates[member].peer_ns;

    if (placer->n_cuts && peer_ns > 0)
        book(placer, -with_latency(placer, peer_ns));
}

static void book_cut(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    double peer_ns = 0, gain_ns = parts->known ? parts->whole_run_ns - busy_ns(placer, parts) -
                                                     joints_ns(placer, parts) - cost_ns(placer)
                                               : 0;

    for (unsigned i = 0; i < placer->n; i++)
        if (parts->of[i] > 0)
            peer_ns = fmax(peer_ns, ask->candidates[i].peer_ns);
    placer->n_cuts++;
    book(placer, gain_ns - with_latency(placer, peer_ns));
}

void tsl_parts_time(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    if (placer->timing_ns != ask->now_ns) {
        placer->timing_ns = ask->now_ns;
        placer->follows = placer->times;
        placer->times = false;
    }
    if (!placer->follows) {
        placer->times |= placement->timed;
        return;
    }
    placement->timed = true;
    placement->watch |= !placer->profiles[placement->member];
}

/* ---- Does it pay? ------------------------------------------------------------------------------------------------ */

/* Only the moves are against it. They are made when what was lost without them has added up to what they cost. */
static bool regrets(struct tsl_placer *placer, const struct tsl_ask *ask, double loss_ns, double move_ns)
{
    double doubt = fmax(placer->cut_doubt, 1);

    if (loss_ns <= 0)
        return false;
    placer->cut_regret_ns += ask->again ? 0 : loss_ns;
    if (placer->cut_regret_ns < move_ns * doubt)
        return false;
    placer->cut_regret_ns = 0;
    placer->cut_doubt = fmin(doubt * 2, MOST_DOUBT);
    return true;
}

/* The launch stays whole. What cuts cost, and how long they wait, was measured once and may be less by now: so it is
 * doubted now and then. */
static void forgive(struct tsl_placer *placer)
{
    if (++placer->n_uncut % FORGIVE)
        return;
    if (cost_ns(placer) > FIRST_CUT_NS)
        tsl_samples_add(&placer->cut, cost_ns(placer) / 2);
    if (latency_ns(placer, 1) > LATENCY_NS)
        tsl_samples_add(&placer->latency, latency_ns(placer, 1) / 2);
    if (placer->n_uncut % (FORGIVE * FORGIVE) == 0 && placer->plan.n >= SURE_CUTS)
        tsl_samples_add(&placer->plan, placer->plan.typical / 2);
    if (placer->n_uncut % (FORGIVE * FORGIVE) == 0 && placer->joints.n && placer->joints.typical > 1)
        tsl_samples_add(&placer->joints, placer->joints.typical / 2);
}

static bool pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    double move_ns = 0, start = ask->ready_ns > ask->now_ns ? (double)(ask->ready_ns - ask->now_ns) : 0;

    for (unsigned i = 0; i < placer->n; i++)
        if (parts->of[i] > 0) {
            move_ns = fmax(move_ns, ask->candidates[i].move_ns + latency_ns(placer, ask->candidates[i].peer_ns));
            start = fmax(start, tsl_load_left_ns(&placer->load[i], ask->now_ns));
        }
    if (!parts->known)
        return move_ns <= parts->whole_move_ns + FIRST_CUT_NS;
    double cut_ns = start + (busy_ns(placer, parts) + joints_ns(placer, parts)) * MARGIN + cost_ns(placer);
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG,
            "cut %.0f µs (parts %.0f, copies %.0f, cost %.0f) and moves %.0f, whole %.0f with moves %.0f", cut_ns / 1e3,
            parts->run_ns / 1e3, joints_ns(placer, parts) / 1e3, cost_ns(placer) / 1e3, move_ns / 1e3,
            parts->whole_ns / 1e3, parts->whole_move_ns / 1e3);
    if (cut_ns + move_ns >= parts->whole_ns)
        return regrets(placer, ask, parts->whole_ns - cut_ns, move_ns);
    placer->cut_doubt /= 2;
    return true;
}

/* ---- The doors --------------------------------------------------------------------------------------------------- */

bool tsl_placer_cuts(const struct tsl_placer *placer)
{
    return tsl_split_always(placer->split) || (placer->split != TSL_SPLIT_OFF && (placer->model || placer->by_weight));
}

bool tsl_placer_parts(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    struct tsl_candidate kept[TSL_MAX_MEMBERS];
    struct tsl_ask narrowed = *ask;

    *parts = (struct tsl_parts){.n_windows = 1};
    tsl_placer_narrow(placer, &narrowed, kept);
    if (!tsl_placer_cuts(placer))
        return false;
    if (tsl_split_always(placer->split))
        return equal_parts(placer, &narrowed, parts);
    if (placer->by_weight)
        return weighted_parts(placer, &narrowed, parts);
    return auto_parts(placer, &narrowed, parts);
}

/* By what is known of the kernel. Nothing: the members of the fastest kind alone. */
static bool parts_by_speed(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    unsigned best = placer->n;

    for (unsigned i = 0; i < placer->n; i++)
        if (takes_part(ask, i) && (best == placer->n || tsl_placer_faster(placer, i, best)))
            best = i;
    for (unsigned i = 0; i < placer->n && best < placer->n; i++)
        parts->of[i] = may_join(placer, ask, i, best) ? speed_with(placer, ask, i, 0.1) : 0;
    if (normalise(placer, parts, 1))
        return true;
    for (unsigned i = 0; i < placer->n && best < placer->n; i++)
        parts->of[i] = takes_part(ask, i) && placer->kind[i] == placer->kind[best];
    return normalise(placer, parts, 1);
}

void tsl_placer_must_cut(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    struct tsl_candidate kept[TSL_MAX_MEMBERS];
    struct tsl_ask narrowed = *ask;

    *parts = (struct tsl_parts){.n_windows = 1};
    tsl_placer_narrow(placer, &narrowed, kept);
    if (placer->by_weight && weighted_parts(placer, &narrowed, parts))
        return;
    if (!placer->model || !parts_by_speed(placer, &narrowed, parts))
        equal_parts(placer, &narrowed, parts);
}

bool tsl_placer_pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    bool asked = tsl_split_always(placer->split) || placer->by_weight;

    if (!asked && !pays(placer, ask, parts)) {
        forgive(placer);
        return false;
    }
    memcpy(placer->last_of, parts->of, placer->n * sizeof(*parts->of));
    if (!asked)
        book_cut(placer, ask, parts);
    return true;
}

void tsl_placer_place_part(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                           struct tsl_placement *placement)
{
    *placement = (struct tsl_placement){.member = member};
    if (placer->model)
        tsl_auto_place_part(placer, ask, member, size, placement);
}

void tsl_placer_parts_ended(struct tsl_placer *placer, uint64_t longest_ns, uint64_t wall_ns)
{
    tsl_samples_add(&placer->cut, wall_ns > longest_ns ? (double)(wall_ns - longest_ns) : 1);
}

void tsl_placer_parts_waited(struct tsl_placer *placer, double peer_ns, double waited_ns)
{
    tsl_samples_add(&placer->latency, fmax(waited_ns - peer_ns, 1));
}

void tsl_placer_joints_ended(struct tsl_placer *placer, double expected_ns, double real_ns)
{
    /* More than once: a doubt or two later don't count as much. */
    for (unsigned i = 0; i < SURE_CUTS; i++)
        tsl_samples_add(&placer->joints, fmax(real_ns, 1) / fmax(expected_ns, 1));
}

void tsl_placer_parts_planned(struct tsl_placer *placer, double ns)
{
    tsl_samples_add(&placer->plan, ns);
}
