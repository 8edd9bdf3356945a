/*
 * Does it pay to cut a launch?
 *
 * *Never lose.* A launch is cut if it is expected to end earlier, moves included, by more than a margin and what a cut
 * costs, which is measured. Where only the moves are against it, all launches together may pay for these (layout.c). Of
 * a kernel of which nothing is known no launch is cut for which something moves that needn't move anyway. The first
 * launch on a member costs as much as a large move: memory is taken and code is loaded there.
 *
 * *The ledger.* A cut distributes data, and the price may be paid by other launches, which need them together. So a
 * ledger sets what each cut gains, without moves, against all moves between members, of cut and whole launches, but for
 * those that take place beside the insides of launches that are divided. When it is OVERDRAWN_NS in the red nothing is
 * cut for a while, each time longer. Moves take longer than thought where all members make some at once: what launches
 * were seen to wait for them beyond that is set against it as well. Moves that others pay for (layout.c) aren't set
 * against it once more; but launches wait for them, so it may lose as much again. Where the next whole launch would
 * first have to bring together what is distributed, it may lose what that takes. What a cut costs grows with its parts:
 * where more than two are in the red, launches are cut in half as many first. When many of these have gained, more are
 * tried again.
 *
 * The same entries, over the whole program, tell later runs whether its data are to be distributed (gains.c).
 *
 * *Whole launches are measured.* A small launch doesn't fill a large device, and its parts take as long as it does. So
 * what the whole takes mustn't be told by its parts: after some launches that were cut one runs whole. And its parts
 * are thought to take as long as the whole until some were seen, for which the purse for tries pays (auto.c).
 *
 * *To ask costs, too.* A kernel whose launches were found not to pay, time after time, is asked about ever more rarely,
 * unless launches are cut and its data are distributed by now, until it didn't pay then either.
 */
#include "base/log.h"
#include "place/internal.h"

#include <math.h>
#include <string.h>

#define FIRST_CUT_NS  2e4 /* what a cut costs, before that was measured */
#define SURE_CUTS     3   /* measured cuts, from which on what they cost counts */
#define FORGIVE       8   /* after so many launches that a cut's cost kept whole, that cost is doubted */
#define OVERDRAWN_NS  2e7 /* what cuts may lose before nothing is cut for a while */
#define LATENCY_NS    6e4 /* by so much later what waits for moves between members starts, before that was measured */
#define JOINTS_LONGER 2   /* times as long as expected do copies of shares take, before that was measured */
#define PAUSE_NS      4e8 /* that while at first: what is lost in between is a twentieth of it */
#define LEAST_PAUSE   64  /* launches */
#define TRUSTED       512 /* cuts in fewer parts that gain, before more are tried at first; then four times as many */
#define MOST_PAUSE    (1u << 20)
#define UNTHOUGHT_NS  1e6   /* waits for moves that are longer by so much than they were thought to be cost that */
#define FIRST_USE_NS  1.5e7 /* of a member that doesn't say: code is loaded, or made, and memory is taken */
#define FULL_NS       2e6   /* ... if it doesn't take as long */
#define MEASURE_PART  0.05  /* of what cut launches took, to measure whole ones */
#define ENOUGH_NO     4     /* launches that it didn't pay to cut; from then on they are asked about more rarely */
#define ASK_NS        1e5   /* to ask takes so long at most; ... */
#define ASKED_NS      (20 * ASK_NS) /* ... it is done once in launches that take so much */
#define MOST_SKIPPED  31
#define LONG_NO       32   /* after so many ... */
#define RARER         4    /* ... so much more rarely */
#define PLAN_DIVIDED  2    /* times as long as for others is what the host does for a launch that is divided */
#define DIVIDED_NS    1e5  /* the longest part, at least, of which the moves are hidden */
#define TIMED_NS      1e7  /* parts that take so long are all timed */
#define MARGIN        1.05 /* so many times as fast a cut launch must seem to be at least */

/* ---- Is it worth asking? ----------------------------------------------------------------------------------------- */

/* Few kernels are cut at a time: where two share a place, the one forgets the other. */
static struct tsl_asked *asked_of(struct tsl_placer *placer, uint64_t kernel)
{
    struct tsl_asked *asked = &placer->asked[(kernel ^ kernel >> 32) % TSL_N_ASKED];

    if (asked->kernel != kernel)
        *asked = (struct tsl_asked){.kernel = kernel, .n_stand = 1};
    return asked;
}

unsigned tsl_pays_stands_for(struct tsl_placer *placer, uint64_t kernel)
{
    return asked_of(placer, kernel)->n_stand;
}

void tsl_pays_ask_all(struct tsl_placer *placer)
{
    for (unsigned i = 0; i < TSL_N_ASKED; i++) {
        placer->asked[i].n_refused = placer->asked[i].skip = 0;
        placer->asked[i].n_stand = 1;
    }
}

/* On whichever member the launch ran whole, others would have to bring it so much. */
static double least_peer_ns(const struct tsl_placer *placer, const struct tsl_ask *ask)
{
    double least = INFINITY;

    for (unsigned i = 0; i < placer->n; i++)
        if (ask->candidates[i].eligible)
            least = fmin(least, ask->candidates[i].peer_ns);
    return least;
}

bool tsl_pays_skips(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_parts *parts)
{
    struct tsl_asked *asked = asked_of(placer, ask->kernel);

    if (placer->paused) {
        placer->paused -= !ask->again;
        parts->why = TSL_UNCUT_PAUSED;
        return true;
    }
    bool distributed = placer->n_cuts && asked->n_refused < LONG_NO && least_peer_ns(placer, ask) >= ASK_NS;
    if (!asked->skip || distributed)
        return false;
    asked->skip -= !ask->again;
    parts->why = TSL_UNCUT_UNPAID;
    return true;
}

static void refused(struct tsl_asked *asked, const struct tsl_parts *parts)
{
    if (++asked->n_refused < ENOUGH_NO || !parts->known)
        return;
    unsigned skip = (unsigned)fmin(ASKED_NS / parts->whole_run_ns, MOST_SKIPPED);
    asked->skip = skip * (asked->n_refused > LONG_NO ? RARER : 1);
    asked->n_stand = asked->skip + 1;
}

static void accepted(struct tsl_asked *asked, const struct tsl_parts *parts)
{
    asked->n_refused = 0;
    asked->n_stand = 1;
    asked->cut_ns += parts->run_ns;
}

bool tsl_pays_measures(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_whole *whole,
                       struct tsl_parts *parts)
{
    struct tsl_asked *asked = asked_of(placer, ask->kernel);
    double largest = 0;

    for (unsigned i = 0; i < placer->n; i++)
        largest = fmax(largest, parts->of[i] * (double)ask->size);
    if (whole->measured || largest >= TSL_FULL_ITEMS || parts->run_ns >= FULL_NS ||
        whole->run_ns + whole->move_ns > asked->cut_ns * MEASURE_PART)
        return false;
    asked->cut_ns = 0;
    parts->why = TSL_UNCUT_MEASURED;
    return true;
}

/* ---- The ledger -------------------------------------------------------------------------------------------------- */

/* What a cut costs beside the longest part and the moves. A few measurements may be chance. */
static double cost_ns(const struct tsl_placer *placer)
{
    return placer->cut.n >= SURE_CUTS ? placer->cut.typical : FIRST_CUT_NS;
}

/* What the host does for a launch that is cut, of whatever kernel; 0: not known. */
static double plan_any_ns(const struct tsl_placer *placer, bool divided)
{
    bool knows = placer->plan.n >= SURE_CUTS, knows_divided = placer->plan_divided.n >= SURE_CUTS;

    if (divided)
        return knows_divided ? placer->plan_divided.typical : knows ? placer->plan.typical * PLAN_DIVIDED : 0;
    return knows ? placer->plan.typical : knows_divided ? placer->plan_divided.typical / PLAN_DIVIDED : 0;
}

/* What it does for one of that kernel: what launches touch may be anything from one range to thousands. */
static double plan_ns(struct tsl_placer *placer, uint64_t kernel)
{
    const struct tsl_samples *its = &asked_of(placer, kernel)->plan;

    return its->n >= SURE_CUTS ? its->typical : plan_any_ns(placer, false);
}

/* How long from now the launch's data, and the members that have parts, are busy. Parts that follow data start as the
 * whole would, but for the moves. */
static double start_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    double start = ask->ready_ns > ask->now_ns ? (double)(ask->ready_ns - ask->now_ns) : 0;

    if (parts->follows)
        return fmax(fmax(parts->whole_ns - parts->whole_run_ns - parts->whole_move_ns, start),
                    tsl_busy_ns(placer, parts->whole_member, ask->now_ns));
    for (unsigned i = 0; i < placer->n; i++)
        if (parts->of[i] > 0)
            start = fmax(start, tsl_busy_ns(placer, i, ask->now_ns));
    return start;
}

/* How long the launch keeps either the members or the host busy: launches come no sooner than the host plans them. From
 * then on where members would start sooner than it is planned, as where a program waits for each launch: they do
 * nothing while it is. */
static double busy_ns(struct tsl_placer *placer, uint64_t kernel, const struct tsl_parts *parts, double start)
{
    double plan = plan_ns(placer, kernel);

    return fmax(fmax(parts->run_ns, plan), parts->run_ns + plan - start);
}

static double joints_ns(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    return parts->joint_ns * (placer->joints.n ? placer->joints.typical : JOINTS_LONGER);
}

double tsl_pays_latency_ns(const struct tsl_placer *placer, double peer_ns)
{
    double typical = placer->latency.n >= SURE_CUTS ? placer->latency.typical : LATENCY_NS;

    return peer_ns > 0 ? typical : 0;
}

static double with_latency(const struct tsl_placer *placer, double peer_ns)
{
    return peer_ns + tsl_pays_latency_ns(placer, peer_ns);
}

/* What a cut costs must be measured anew. */
static void forget_costs(struct tsl_placer *placer)
{
    placer->cut = placer->plan = placer->plan_divided = (struct tsl_samples){0};
    for (unsigned i = 0; i < TSL_N_ASKED; i++)
        placer->asked[i].plan = (struct tsl_samples){0};
}

/* False: launches were cut in two. */
static bool take_fewer(struct tsl_placer *placer)
{
    unsigned n = tsl_placer_count(placer, placer->last_of);

    if (n <= 2)
        return false;
    placer->most_parts = (n + 1) / 2;
    placer->n_trusted = placer->n_trusted ? (unsigned)fmin(placer->n_trusted * 4.0, MOST_PAUSE) : TRUSTED;
    placer->n_gained = 0;
    forget_costs(placer);
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "cuts in %u parts cost more than they gain: they have %u from now on", n,
            placer->most_parts);
    return true;
}

static void take_more(struct tsl_placer *placer)
{
    if (!placer->most_parts || ++placer->n_gained < placer->n_trusted)
        return;
    placer->most_parts = placer->most_parts * 2 < placer->n ? placer->most_parts * 2 : 0;
    placer->n_gained = 0;
    forget_costs(placer);
}

/* What was gained is kept up to what may be lost: a program may change. */
void tsl_pays_correct(struct tsl_placer *placer, double ns)
{
    tsl_gains_booked(placer, ns);
    placer->ledger_ns = fmin(placer->ledger_ns + ns, OVERDRAWN_NS);
}

void tsl_pays_pause(struct tsl_placer *placer)
{
    placer->ledger_ns = placer->back_ns = 0;
    placer->pause_ns = placer->pause_ns > 0 ? placer->pause_ns * 2 : PAUSE_NS;
    placer->paused = (unsigned)fmin(fmax(placer->pause_ns / fmax(placer->whole_ns, 1), LEAST_PAUSE), MOST_PAUSE);
    placer->n_cuts = 0;
    tsl_layout_close(placer);
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "cuts cost more than they gain: the next %u launches run whole",
            placer->paused);
}

static void book(struct tsl_placer *placer, double ns)
{
    double floor_ns = fmax(OVERDRAWN_NS, placer->back_ns) + (placer->layout.is_open ? placer->layout.spent_ns : 0);

    tsl_pays_correct(placer, ns);
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "the ledger has %.0f µs, by %+.0f", placer->ledger_ns / 1e3, ns / 1e3);
    if (placer->ledger_ns > -floor_ns)
        return;
    placer->ledger_ns = placer->back_ns = 0;
    if (!take_fewer(placer))
        tsl_pays_pause(placer);
}

/* Of no launch that is cut. */
static void book_loss(struct tsl_placer *placer, double ns)
{
    placer->layout.booked_ns -= ns;
    book(placer, -ns);
}

void tsl_parts_book_whole(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member)
{
    double peer_ns = ask->candidates[member].peer_ns;

    if (placer->n_cuts && peer_ns > 0)
        book_loss(placer, with_latency(placer, peer_ns));
    placer->layout.earned_ns -= peer_ns;
    placer->back_ns = fmax(placer->back_ns - peer_ns, 0); /* It has brought so much together. */
}

/* Moves beside parts cost what is longer than these. Waits for them all the same are seen (tsl_placer_parts_ended). */
static double open_ns(const struct tsl_placer *placer, const struct tsl_parts *parts, double peer_ns)
{
    double moves_ns = with_latency(placer, peer_ns);

    return parts->divided ? fmax(moves_ns - parts->run_ns, 0) : moves_ns;
}

/* paid_ns: what others pay of the moves. */
static void book_cut(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts,
                     double paid_ns)
{
    double peer_ns = 0, gain_ns = 0;

    if (parts->known)
        gain_ns = parts->whole_run_ns - busy_ns(placer, ask->kernel, parts, start_ns(placer, ask, parts)) -
                  joints_ns(placer, parts) - cost_ns(placer);

    for (unsigned i = 0; i < placer->n; i++)
        if (parts->of[i] > 0)
            peer_ns = fmax(peer_ns, ask->candidates[i].peer_ns);
    if (parts->known)
        tsl_gains_cut(placer, parts->whole_run_ns);
    tsl_pace_cut(placer, ask->now_ns);
    placer->n_cuts += !placer->paused; /* What was just judged may have ended them. */
    placer->back_ns = fmax(placer->back_ns, parts->whole_peer_ns);
    if (gain_ns > 0)
        take_more(placer);
    gain_ns -= open_ns(placer, parts, fmax(peer_ns - paid_ns, 0));
    placer->layout.cut_ns = parts->known ? parts->whole_run_ns : 0;
    placer->layout.cut_booked_ns = gain_ns;
    placer->layout.cut_at_ns = ask->now_ns;
    book(placer, gain_ns);
}

void tsl_parts_time(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    if (placer->timing_ns != ask->now_ns) {
        placer->timing_ns = ask->now_ns;
        placer->follows = placer->times;
        placer->times = false;
    }
    if (!placer->follows && placement->run_ns < TIMED_NS) {
        placer->times |= placement->timed;
        return;
    }
    placement->timed = true;
    placement->watch |= !placer->profiles[placement->member];
}

/* ---- Does it pay? ------------------------------------------------------------------------------------------------ */

/* The launch stays whole. What cuts cost, and how long they wait, was measured once and may be less by now: so it is
 * doubted now and then. */
static void forgive(struct tsl_placer *placer, struct tsl_asked *asked)
{
    if (asked->n_refused % FORGIVE == 0 && asked->plan.n >= SURE_CUTS)
        tsl_samples_add(&asked->plan, asked->plan.typical / 2);
    if (++placer->n_uncut % FORGIVE)
        return;
    if (cost_ns(placer) > FIRST_CUT_NS)
        tsl_samples_add(&placer->cut, cost_ns(placer) / 2);
    if (tsl_pays_latency_ns(placer, 1) > LATENCY_NS)
        tsl_samples_add(&placer->latency, tsl_pays_latency_ns(placer, 1) / 2);
    if (placer->n_uncut % (FORGIVE * FORGIVE) == 0 && placer->plan.n >= SURE_CUTS)
        tsl_samples_add(&placer->plan, placer->plan.typical / 2);
    if (placer->n_uncut % (FORGIVE * FORGIVE) == 0 && placer->joints.n && placer->joints.typical > 1)
        tsl_samples_add(&placer->joints, placer->joints.typical / 2);
}

static double first_use_ns(const struct tsl_placer *placer, unsigned member)
{
    return placer->first_use_ns[member] > 0 ? placer->first_use_ns[member] : FIRST_USE_NS;
}

/* Of members that get their first launch. One member has to, whatever is decided; tries have a purse of their own. */
static double use_ns(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    double sum = 0, least = 1e300;
    bool used = false;

    for (unsigned i = 0; i < placer->n; i++) {
        used |= placer->used[i];
        if (parts->of[i] > 0 && !placer->used[i] && !tsl_members_has(parts->tried, i)) {
            sum += first_use_ns(placer, i);
            least = fmin(least, first_use_ns(placer, i));
        }
    }
    return used ? sum : fmax(sum - least, 0);
}

/* All parts but one are tries. Such a cut gains nothing by itself. */
static bool only_tries(const struct tsl_placer *placer, const struct tsl_parts *parts)
{
    unsigned n_others = 0;

    for (unsigned i = 0; i < placer->n; i++)
        n_others += parts->of[i] > 0 && !tsl_members_has(parts->tried, i);
    return n_others == 1 && !tsl_members_is_empty(parts->tried);
}

/* What a cut for tries' sake costs is paid by the purse for tries, with what the launch itself will bring. Moves of
 * members that are tried take place beside the other part: parts.c sees to that. */
static bool purse_pays(struct tsl_placer *placer, const struct tsl_parts *parts, double move_ns)
{
    double price_ns = cost_ns(placer) + joints_ns(placer, parts) + move_ns;

    if (price_ns > placer->purse_ns + TSL_TRY_PART * parts->whole_run_ns)
        return false;
    placer->purse_ns -= price_ns;
    return true;
}

/* The parts' moves: the longest of each. */
static struct tsl_layout_moves moves_of(const struct tsl_placer *placer, const struct tsl_ask *ask,
                                        const struct tsl_parts *parts)
{
    struct tsl_layout_moves moves = {.use_ns = use_ns(placer, parts)};

    for (unsigned i = 0; i < placer->n; i++) {
        const struct tsl_candidate *candidate = &ask->candidates[i];
        if (parts->of[i] <= 0)
            continue;
        moves.ns = fmax(moves.ns, candidate->move_ns + tsl_pays_latency_ns(placer, candidate->peer_ns));
        moves.unpaid_ns = fmax(moves.unpaid_ns, candidate->unpaid_ns);
        moves.uncounted_ns = fmax(moves.uncounted_ns, candidate->uncounted_ns);
    }
    return moves;
}

/* *paid_ns: what others pay of its moves. */
static bool pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts, double *paid_ns)
{
    struct tsl_layout_moves moves = moves_of(placer, ask, parts);
    double move_ns = moves.ns + moves.use_ns, start = start_ns(placer, ask, parts);

    if (!parts->known)
        return move_ns <= parts->whole_move_ns + FIRST_CUT_NS;
    double cut_ns =
        start + (busy_ns(placer, ask->kernel, parts, start) + joints_ns(placer, parts)) * MARGIN + cost_ns(placer);
    if (parts->whole_run_ns >= TSL_COUNTS_FROM_NS)
        placer->whole_ns = parts->whole_run_ns;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG,
            "cut %.0f µs (parts %.0f, copies %.0f, cost %.0f) and moves %.0f, whole %.0f with moves %.0f", cut_ns / 1e3,
            parts->run_ns / 1e3, joints_ns(placer, parts) / 1e3, cost_ns(placer) / 1e3, move_ns / 1e3,
            parts->whole_ns / 1e3, parts->whole_move_ns / 1e3);
    for (unsigned i = 0; i < placer->n; i++)
        if (parts->of[i] > 0)
            tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "... member %u: %.4f of it%s", i, parts->of[i],
                    tsl_members_has(parts->tried, i) ? ", as a try" : "");
    if (only_tries(placer, parts))
        return purse_pays(placer, parts, 0);
    /* What would tell whether cuts gain is learned first. */
    if (tsl_pace_was_slower(placer) && !tsl_pace_knows(placer)) {
        tsl_pace_end(placer);
        return false;
    }
    if (cut_ns + move_ns < parts->whole_ns) {
        *paid_ns = tsl_layout_earned(placer, ask, &moves, parts->whole_run_ns - (cut_ns - start) - move_ns);
        return true;
    }
    *paid_ns = INFINITY;
    return (parts->unseen && purse_pays(placer, parts, move_ns)) ||
           tsl_layout_pays(placer, ask, parts, &moves, parts->whole_ns - cut_ns);
}

/* What moves beside launches that take no longer than planning them gains nothing: the host is what is slow. What that
 * takes is doubted now and then. */
bool tsl_placer_divides(struct tsl_placer *placer, const struct tsl_parts *parts, double move_ns)
{
    double host_ns = plan_any_ns(placer, true);

    if (tsl_split_always(placer->split))
        return true;
    if (!parts->known || move_ns <= 0 || move_ns > parts->run_ns || parts->run_ns < DIVIDED_NS)
        return false;
    if (parts->run_ns >= host_ns)
        return true;
    if (++placer->n_undivided % (FORGIVE * FORGIVE) == 0 && placer->plan_divided.n >= SURE_CUTS)
        tsl_samples_add(&placer->plan_divided, host_ns / 2);
    return false;
}

/* ---- The doors --------------------------------------------------------------------------------------------------- */

bool tsl_placer_pays(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    bool asked = tsl_split_always(placer->split) || placer->by_weight;
    double paid_ns = 0;

    tsl_layout_begin(placer);
    if (!asked && !pays(placer, ask, parts, &paid_ns)) {
        refused(asked_of(placer, ask->kernel), parts);
        forgive(placer, asked_of(placer, ask->kernel));
        return false;
    }
    memcpy(placer->last_of, parts->of, placer->n * sizeof(*parts->of));
    if (!asked) {
        accepted(asked_of(placer, ask->kernel), parts);
        book_cut(placer, ask, parts, paid_ns);
    }
    return true;
}

#define AHEAD_NS    1e7 /* a member that is busy for so long has enough to do, if ... */
#define AHEAD_PARTS 8   /* ... so many parts or launches wait there; */
#define SHORT_NS    2e6 /* so long where ... */
#define MANY_PARTS  64  /* ... so many wait, as each use of data that isn't over makes planning slower */

/* Is it one of those among which the last launch was cut, or of the same kind? */
static bool may_have_parts(const struct tsl_placer *placer, unsigned member)
{
    for (unsigned i = 0; i < placer->n; i++)
        if (placer->last_of[i] > 0 && placer->kind[i] == placer->kind[member])
            return true;
    return false;
}

static bool has_enough(const struct tsl_placer *placer, unsigned member, uint64_t now_ns)
{
    unsigned n = placer->load[member].n;

    return n >= AHEAD_PARTS && tsl_busy_ns(placer, member, now_ns) >= (n >= MANY_PARTS ? SHORT_NS : AHEAD_NS);
}

bool tsl_placer_is_ahead(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned *member)
{
    unsigned n = 0, shortest = 0;

    if (!placer->model || !placer->n_cuts || placer->paused || placer->by_weight || tsl_split_always(placer->split) ||
        ask->by != TSL_PLACE_BY_SETTINGS)
        return false;
    for (unsigned i = 0; i < placer->n; i++) {
        if (!ask->candidates[i].eligible || !may_have_parts(placer, i))
            continue;
        if (!has_enough(placer, i, ask->now_ns))
            return false;
        shortest = n++ && placer->load[shortest].ns <= placer->load[i].ns ? shortest : i;
    }
    *member = n > 1 ? shortest : *member;
    return n > 1;
}

bool tsl_placer_repeats(const struct tsl_placer *placer, const struct tsl_ask *ask)
{
    return placer->model && !placer->paused && !placer->by_weight && !tsl_split_always(placer->split) &&
           placer->split != TSL_SPLIT_OFF && ask->by == TSL_PLACE_BY_SETTINGS && !ask->again;
}

void tsl_placer_repeat(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_parts *parts)
{
    memcpy(placer->last_of, parts->of, placer->n * sizeof(*parts->of));
    accepted(asked_of(placer, ask->kernel), parts);
    book_cut(placer, ask, parts, 0);
}

void tsl_placer_parts_ended(struct tsl_placer *placer, uint64_t longest_ns, uint64_t wall_ns)
{
    tsl_samples_add(&placer->cut, wall_ns > longest_ns ? (double)(wall_ns - longest_ns) : 1);
}

void tsl_placer_parts_waited(struct tsl_placer *placer, double peer_ns, double waited_ns)
{
    double more_ns = waited_ns - with_latency(placer, peer_ns);

    if (more_ns > UNTHOUGHT_NS && placer->n_cuts)
        book_loss(placer, more_ns);
    tsl_samples_add(&placer->latency, fmax(waited_ns - peer_ns, 1));
}

void tsl_placer_joints_ended(struct tsl_placer *placer, double expected_ns, double real_ns)
{
    /* More than once: a doubt or two later don't count as much. */
    for (unsigned i = 0; i < SURE_CUTS; i++)
        tsl_samples_add(&placer->joints, fmax(real_ns, 1) / fmax(expected_ns, 1));
}

void tsl_placer_parts_planned(struct tsl_placer *placer, uint64_t kernel, double ns, bool divided)
{
    tsl_samples_add(divided ? &placer->plan_divided : &placer->plan, ns);
    if (!divided)
        tsl_samples_add(&asked_of(placer, kernel)->plan, ns);
}
