/*
 * Parts of a launch that is cut over members.
 *
 * By the policy auto all parts should end together, so each member gets of the work what it does in the same time. What
 * the members do with a kernel is known from its runs, whole or in parts (place/model.h).
 *
 * *Where data lie.* The parts follow only speeds, not what waits on the members at the moment: else each launch would
 * have other borders, and bytes would move to and fro. A member that has other work to do has no part. Parts that
 * differ little from those of the launch before stay as those were, whatever its kernel. And where it takes longer to
 * bring a launch's data together than to run it, it has the parts of the last cut, which has distributed them, whatever
 * waits on the members: most of that are launches which it needs, and would have to wait for whole, too.
 *
 * *Does it pay?* That is asked when it is known what moves for the parts (pays.c).
 *
 * *Rivals.* Of several drivers of the same processors one has a part: the fastest.
 *
 * *Weak members.* One that is much slower than the others is left out where its part is so small that the launch hardly
 * gets shorter: its share of the data would move all the same.
 *
 * *Unknown members.* A kind on which the kernel never ran is given a very small part, out of the purse that also pays
 * for tries of whole launches (auto.c), or beside a launch so long that the try is hidden. So a program of one launch
 * learns of all members, too, from run to run.
 */
#include "place/internal.h"

#include <math.h>
#include <string.h>

#define LEAST_NS      6e4        /* launches that take less, with what other members bring them, are not cut */
#define LEAST_PART_NS 2e4        /* nor are parts given that take less */
#define LEAST_ITEMS   (1u << 18) /* of a kernel of which nothing is known */
#define BUSY          0.25       /* a member has other work to do if that takes longer than so much of the launch */
#define SAME          0.04       /* parts that differ by less, of themselves, are the same */
#define WEAK          0.5        /* a member whose part is smaller than so much of the largest ... */
#define WORTH_NS      5e4        /* ... has none if it doesn't shorten the launch by so much */
#define CACHED        1.25       /* times as fast a part may be as the whole, as its data may fit into caches */
#define TRY_PART      1e-3
#define LEAST_TRY_NS  1e6  /* nothing is tried beside launches that take less */
#define MOST_TRY_NS   2e7  /* a try takes no longer at worst, if it has several groups ... */
#define MOST_TRY      0.02 /* ... or than so much of the others' parts */
#define LONG_NS       2e8  /* of the others' parts: code is built for a member meanwhile */
#define WORST         10   /* times slower than it says, as far as that may be seen, is a member */
#define HIDDEN        0.5  /* of the others' parts: a try that takes no longer ends before them */

static bool takes_part(const struct tsl_ask *ask, unsigned i)
{
    return ask->candidates[i].eligible && ask->candidates[i].windows;
}

static unsigned count(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    return tsl_placer_count(placer, parts->of);
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

/* What waits on the member, and on others with its processors, that is no part of a cut. */
static double other_ns(const struct tsl_placer *placer, unsigned i)
{
    double ns = placer->load[i].other_ns;

    for (unsigned k = 0; k < placer->n; k++)
        ns += tsl_placer_rivals(placer, i, k) ? placer->load[k].other_ns : 0;
    return ns;
}

/* Has the member nothing else to do while the launch could run? One that had a part of the last cut, and has hardly
 * anything but parts to do, keeps its part: what makes it late mostly makes the launch late as well, and to change
 * members moves data. */
static bool is_free(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, double run_ns)
{
    double left = tsl_busy_ns(placer, i, ask->now_ns);
    double ready = ask->ready_ns > ask->now_ns ? (double)(ask->ready_ns - ask->now_ns) : 0;

    return left <= ready + BUSY * run_ns || (placer->last_of[i] > 0 && other_ns(placer, i) <= BUSY * run_ns);
}

/* What the launch takes whole, and what others of its members have to bring it for that: however short it is itself, it
 * is cut where its data are distributed. */
static double together_ns(const struct tsl_ask *ask, const struct tsl_whole *whole)
{
    return whole->run_ns + ask->candidates[whole->member].peer_ns;
}

/* May the member take part beside the one that is best for the whole launch? */
static bool may_join(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, unsigned best)
{
    return takes_part(ask, i) && (placer->split != TSL_SPLIT_ALIKE || placer->kind[i] == placer->kind[best]);
}

/* Is the part of this member rather left out than that of the other? One that had none in the last cut, then the slower
 * one. */
static bool is_dearer(const struct tsl_placer *placer, unsigned i, unsigned than)
{
    bool had = placer->last_of[i] > 0, other_had = placer->last_of[than] > 0;

    return had != other_had ? other_had : !tsl_placer_faster(placer, i, than);
}

/* No more parts than the ledger allows; the member keeps its own. */
static void keep_few(const struct tsl_placer *placer, struct tsl_parts *parts, unsigned member)
{
    while (placer->most_parts && count(placer, parts) > placer->most_parts) {
        unsigned out = placer->n;

        for (unsigned i = 0; i < placer->n; i++)
            if (i != member && parts->of[i] > 0 && (out == placer->n || is_dearer(placer, i, out)))
                out = i;
        parts->of[out] = 0;
    }
}

/* Of members that have no work but parts of the cut before. A program that enqueues launches ahead asks about all of
 * them before anything is known, and a whole one among them would bring together what the first has distributed. */
static bool parts_of_unknown(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                             struct tsl_parts *parts)
{
    if (ask->size < LEAST_ITEMS)
        return false;
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] =
            takes_part(ask, i) && placer->kind[i] == placer->kind[whole->member] && is_free(placer, ask, i, 0);
    keep_few(placer, parts, whole->member);
    return normalise(placer, parts, 2);
}

/* How long the whole launch takes on a member that doesn't know it, if code has to be built and it is many times slower
 * than it says. */
static double worst_ns(const struct tsl_placer *placer, const struct tsl_whole *whole, unsigned i, double feared_ns)
{
    return fmax(feared_ns, WORST * whole->run_ns * placer->speed[whole->member] / placer->speed[i]);
}

/* Would the try end long before the others' parts do? Then it costs no time of the program's, and one that is made
 * before the purse has anything is paid off before the next. */
static bool is_hidden(const struct tsl_placer *placer, double try_ns, double others_ns)
{
    return placer->purse_ns >= 0 && others_ns >= LONG_NS && try_ns <= others_ns * HIDDEN;
}

/* A kind that doesn't know the kernel gets a part that is small even if it is as slow as feared, where the purse pays
 * for that or the others' parts hide it, and where no large data move for it. Beside much slower members than the
 * others the part is smaller still, so that it ends soon at worst; it has a group at least. */
static double try_part(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i,
                       const struct tsl_whole *whole, double feared_ns, double others_ns)
{
    double worst = worst_ns(placer, whole, i, feared_ns), most_ns = fmax(MOST_TRY_NS, MOST_TRY * others_ns);
    double part = ask->n_groups ? fmax(fmin(TRY_PART, most_ns / worst), 1 / (double)ask->n_groups) : TRY_PART;
    bool cheap = part * feared_ns <= placer->purse_ns || is_hidden(placer, part * worst, others_ns);

    return cheap && ask->candidates[i].move_ns <= whole->run_ns / 2 && whole->run_ns >= LEAST_TRY_NS ? part : 0;
}

/* Work-items per nanosecond, with a part of that size. Unknown: 0. */
static double speed_with(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, double part)
{
    bool known;
    double size = fmax(part * (double)ask->size, 1);
    double ns = tsl_auto_part_ns(placer, ask, i, (uint64_t)size, &known);

    return known ? size / ns : 0;
}

/* Two drivers of the same processors gain nothing side by side: the slower one's part goes. */
static void drop_rivals(const struct tsl_placer *placer, struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        for (unsigned k = 0; k < placer->n; k++)
            if (tsl_placer_rivals(placer, i, k) && parts->of[k] > 0 && parts->of[k] <= parts->of[i])
                parts->of[k] = 0;
}

/* By speed, in two rounds, as speeds may depend on sizes. */
static void balance(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                    struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        parts->of[i] = may_join(placer, ask, i, whole->member) && is_free(placer, ask, i, together_ns(ask, whole));
    keep_few(placer, parts, whole->member);
    for (unsigned round = 0; round < 2; round++) {
        normalise(placer, parts, 1);
        for (unsigned i = 0; i < placer->n; i++)
            if (parts->of[i] > 0)
                parts->of[i] = speed_with(placer, ask, i, parts->of[i]);
        drop_rivals(placer, parts);
    }
    normalise(placer, parts, 1);
}

/* How long the member's part takes; 0: it has none, or that isn't known. */
static double part_ns(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts, unsigned i)
{
    double size = parts->of[i] * (double)ask->size, speed = size > 0 ? speed_with(placer, ask, i, parts->of[i]) : 0;

    return speed > 0 ? size / speed : 0;
}

/* The longest part of all members but one (placer->n: of all). Tries don't count. */
static double longest_but(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts,
                          unsigned but)
{
    double longest = 0;

    for (unsigned i = 0; i < placer->n; i++)
        if (i != but && !tsl_members_has(parts->tried, i))
            longest = fmax(longest, part_ns(placer, ask, parts, i));
    return longest;
}

/* A member that can do little makes the launch longer, or hardly shorter: what it does isn't worth the moves. */
static bool is_burden(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts, unsigned i)
{
    double most = 0;

    for (unsigned k = 0; k < placer->n; k++)
        most = fmax(most, parts->of[k]);
    if (parts->of[i] <= 0 || parts->of[i] >= most * WEAK)
        return false;
    double with_ns = longest_but(placer, ask, parts, placer->n),
           without_ns = longest_but(placer, ask, parts, i) / (1 - parts->of[i]);
    return without_ns < with_ns + WORTH_NS;
}

static void drop_burdens(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        if (is_burden(placer, ask, parts, i)) {
            parts->of[i] = 0;
            normalise(placer, parts, 1);
        }
}

static void add_tries(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                      struct tsl_parts *parts)
{
    double others_ns = longest_but(placer, ask, parts, placer->n);
    if (parts->of[whole->member] <= 0) /* What else is asked of a cut isn't asked of one for tries alone. */
        return;
    for (unsigned i = 0; i < placer->n; i++) {
        bool known;
        if (parts->of[i] > 0 || !may_join(placer, ask, i, whole->member) || !is_free(placer, ask, i, 0))
            continue;
        double feared_ns = tsl_auto_part_ns(placer, ask, i, ask->size, &known);
        if (!known)
            parts->of[i] = try_part(placer, ask, i, whole, feared_ns, others_ns);
        if (parts->of[i] > 0)
            tsl_members_add(&parts->tried, i);
    }
    normalise(placer, parts, 1);
}

/* Are these, as good as, the parts of the launch before? */
static bool much_the_same(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        if (fabs(parts->of[i] - placer->last_of[i]) > SAME * parts->of[i])
            return false;
    return true;
}

static bool any_unseen(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    for (unsigned i = 0; i < placer->n; i++)
        if (parts->of[i] > 0 && tsl_auto_part_unseen(placer, ask, i, (uint64_t)(parts->of[i] * (double)ask->size)))
            return true;
    return false;
}

/* A kernel may do ever less with as many work-items, as an elimination does. While its launches are cut none tells that
 * of whole ones: these take no longer than the parts would one after another. Known of members of one kind alone. */
static void bound_whole(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, struct tsl_parts *parts)
{
    double sum_ns = 0;

    for (unsigned i = 0; i < placer->n; i++) {
        if (parts->of[i] <= 0)
            continue;
        double ns = tsl_auto_part_most_ns(placer, ask, i, (uint64_t)(parts->of[i] * (double)ask->size));
        if (ns <= 0 || !tsl_placer_alike(placer, i, member))
            return;
        sum_ns += ns * CACHED;
    }
    double less_ns = fmax(parts->whole_run_ns - sum_ns, 0);
    parts->whole_run_ns -= less_ns;
    parts->whole_ns -= less_ns;
}

/* Not where nobody knows how long a part takes. */
static bool follows_data(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                         const struct tsl_parts *parts)
{
    unsigned n = tsl_placer_count(placer, placer->last_of);

    if (parts->whole_peer_ns < fmax(LEAST_NS, whole->run_ns) || !placer->n_cuts || n < 2 ||
        (placer->most_parts && n > placer->most_parts))
        return false;
    for (unsigned i = 0; i < placer->n; i++)
        if (placer->last_of[i] > 0 &&
            (!may_join(placer, ask, i, whole->member) || speed_with(placer, ask, i, placer->last_of[i]) <= 0))
            return false;
    return true;
}

static bool known_parts(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                        struct tsl_parts *parts)
{
    if (together_ns(ask, whole) < LEAST_NS)
        return false;
    parts->follows = follows_data(placer, ask, whole, parts);
    if (!parts->follows) {
        balance(placer, ask, whole, parts);
        drop_burdens(placer, ask, parts);
        add_tries(placer, ask, whole, parts);
        if (count(placer, parts) < 2)
            return false;
    }
    if (parts->follows || much_the_same(placer, parts))
        memcpy(parts->of, placer->last_of, placer->n * sizeof(*parts->of));
    parts->run_ns = longest_but(placer, ask, parts, placer->n);
    parts->unseen = any_unseen(placer, ask, parts);
    bound_whole(placer, ask, whole->member, parts);
    return parts->run_ns >= LEAST_PART_NS || parts->whole_peer_ns >= LEAST_NS;
}

static bool auto_parts(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    if (tsl_pays_skips(placer, ask, parts))
        return false;
    struct tsl_whole whole = tsl_auto_whole(placer, ask);

    parts->known = whole.known;
    parts->whole_member = whole.member;
    if (!whole.known)
        parts->why = TSL_UNCUT_UNKNOWN;
    else if (together_ns(ask, &whole) < LEAST_NS / 2)
        parts->why = TSL_UNCUT_SMALL;
    parts->whole_ns = whole.end_ns;
    parts->whole_run_ns = whole.run_ns;
    parts->whole_move_ns = whole.move_ns;
    parts->whole_peer_ns = ask->candidates[whole.member].peer_ns;
    if (!whole.known)
        return parts_of_unknown(placer, ask, &whole, parts);
    return known_parts(placer, ask, &whole, parts) && !tsl_pays_measures(placer, ask, &whole, parts);
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
    if (!tsl_placer_cuts(placer) || ask->by != TSL_PLACE_BY_SETTINGS)
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
    drop_rivals(placer, parts);
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

double tsl_placer_part_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size)
{
    bool known = false;
    double ns = placer->model ? tsl_auto_part_ns(placer, ask, member, size, &known) : 0;

    return known ? ns : 0;
}

void tsl_placer_place_part(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                           struct tsl_placement *placement)
{
    *placement = (struct tsl_placement){.member = member};
    if (placer->model)
        tsl_auto_place_part(placer, ask, member, size, placement);
}

void tsl_placer_place_rim(struct tsl_placer *placer, const struct tsl_placement *inside, double part, uint64_t now_ns,
                          struct tsl_placement *rim)
{
    *rim = (struct tsl_placement){.member = inside->member,
                                  .part = true,
                                  .timed = inside->timed,
                                  .watch = inside->watch,
                                  .run_ns = inside->run_ns * part,
                                  .work_ns = inside->work_ns * part,
                                  .booked_ns = inside->booked_ns * part,
                                  .paced = inside->paced,
                                  .end_ns = inside->end_ns};
    if (placer->model)
        tsl_load_add(&placer->load[rim->member], rim, now_ns);
}
