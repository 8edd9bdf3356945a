/*
 * The policies auto and model, which are one: the member on which the command is estimated to end first.
 *
 *     start = the latest of: what was placed there has ended, what the command needs is there
 *     end   = start + the kernel itself
 *
 * These are estimated by estimate.h.
 *
 * *Rivals.* Two drivers of the same processors (PoCL beside the built-in CPU) don't compute side by side. What waits on
 * one keeps the other busy as well, so the one that takes less time for the launch has it.
 *
 * *Late.* A command that could only start long from now isn't placed yet, if its member has something to do meanwhile:
 * when that ends, more is known. So work whose times nobody can know (the rows of a Mandelbrot set) goes to the member
 * that is free, and what the first runs of a new kernel show still serves the others. Data of a placed command are
 * moved while it waits; HORIZON_NS is for that, and for the time to notice an end. But a command that waits for other
 * kernels, not for its member, is placed at once if some member is idle, which may then get what follows in the queue.
 *
 * *No harm.* A member that is much slower than the best, whatever it says of itself, must not cost the program more
 * than noise. Nothing is expected of a kind that was never compared with the others: it counts as FEAR times slower, if
 * it doesn't say to be slower still. And it is tried only out of a purse, which gets TSL_TRY_PART of what the others'
 * launches take, and pays what the try is feared to take; the difference to what it took is settled afterwards. So all
 * tries of a run together cost no more than that part of its time (and a try that took longer than feared is paid off
 * before the next). Tries that tell nothing new come ever more rarely. The first try of a kernel is free where so many
 * launches of it wait behind that the others are busy for longer than the try is feared to take, and nothing needs it
 * before.
 */
#include "place/estimate.h"

#include <math.h>

#define HORIZON_NS  5e6
#define AHEAD_NS    1e8 /* a command that waits for others is placed so long before its start at most */
#define MOST_AHEAD  128 /* ... and so many behind each other: each use of data that isn't over makes planning slower */
#define SOON_NS     2e5
#define PARTS_IN    4   /* cut launches: of one the parts are timed, however long they are */
#define WATCH_NS    1e6 /* in a queue that grows, ends are noticed about this often */
#define CARE        0.6 /* how much of what seems to wait behind is counted on */
#define FREE_TRIES  3   /* of a class on a kind, before they become rare */
#define KNOWN_TRIES 6   /* where there are samples enough: as if so many had been made */
#define MOST_LATE   10  /* times its price */
#define ENOUGH      3   /* samples of a class: from then on only some runs are timed */
#define TIMED_IN    16
#define DISTURBED   1.25 /* times as long as the whole launch */
#define MOST_DOUBT  1024 /* times its price: a move to a faster member is never dearer */
#define TIMED_NS    5e5 /* ... and those of one in so much work at most: timing may cost as much as some small kernels */
#define SMALL_NS    2e4 /* of a launch: smaller ones are timed and watched more rarely, as either costs about as much */
#define SLOWER      2   /* times as long takes a launch on a member that is slower with it, not just differently busy */
#define MUCH_LATER  4   /* times what a launch takes elsewhere, with its results' way back */
#define ON_THE_WAY  8   /* times as long as a launch takes its bytes may be on their way to another member and back */
#define TOO_LATE    100 /* times as long as its bytes are on their way home is busy: it may leave all the same */
#define NO_HELP     4   /* times as long takes a launch on a member that is no help with it */
#define SMALL_IN    8   /* ... so many times */
#define NEVER_NS    9e18 /* the latest end: some three hundred years */

/* Data hold commands where they are: for one kernel it doesn't pay to move them to a faster member, for many it may.
 * What each loses by staying is added up, and when it would have paid for the move, the next one goes (so it costs
 * twice the best at most, however long the program is). That is right where later ones find the data there: where each
 * needs other data, or the same ones back, the price doubles each time, until one stays by itself. */
unsigned tsl_auto_or_move(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                          unsigned best)
{
    unsigned chosen = best;

    placer->regret_ns[best] = 0;
    placer->doubt[best] /= 2;
    for (unsigned i = 0; i < placer->n; i++) {
        double move_ns = tsl_estimate_delay_ns(placer, ask, i), loss = options[best].run_ns - options[i].run_ns;

        if (i == best || !tsl_candidate_of(ask, i)->eligible || !options[i].n_samples || loss <= 0 ||
            options[i].start_ns - move_ns > options[best].start_ns)
            continue;
        /* Those for which it stands may have been smaller, and took less than a handover. */
        placer->regret_ns[i] += loss + (fmax(ask->n_stands, 1) - 1) * fmin(loss, tsl_pays_latency_ns(placer, 1));
        if (placer->regret_ns[i] >= move_ns * fmax(placer->doubt[i], 1))
            chosen = i;
    }
    if (chosen == best)
        return best;
    placer->regret_ns[chosen] = 0;
    placer->doubt[chosen] = fmin(fmax(placer->doubt[chosen], 1) * 2, MOST_DOUBT);
    return chosen;
}

/* Would the launch at home be over before its results were back from the other member? A member that is slower, or no
 * faster with a small launch, is only of use if what it takes off home is more than the results' way back. */
static bool is_sooner_at_home(const struct tsl_option *home, const struct tsl_option *to, double back_ns,
                              bool ends_first)
{
    if (to->run_ns >= home->run_ns * (home->run_ns < SMALL_NS ? 1 : SLOWER))
        return home->run_ns <= back_ns;
    return ends_first && to->run_ns >= home->run_ns && to->end_ns + back_ns >= home->end_ns;
}

/* Does it keep the link busy for much longer than home? Members that hand each other what they could have made
 * themselves get on no faster, and that home is busy is no reason where a program enqueues ahead. */
static bool is_on_the_way(const struct tsl_ask *ask, const struct tsl_option *options, unsigned home, unsigned to,
                          double way_ns)
{
    double there_ns = fmax(tsl_candidate_of(ask, to)->move_ns - tsl_candidate_of(ask, home)->move_ns, 0);
    double ns = there_ns + way_ns;

    return ns > ON_THE_WAY * options[home].run_ns && options[home].start_ns - (double)ask->now_ns < TOO_LATE * ns;
}

static bool is_free_too_late(const struct tsl_ask *ask, const struct tsl_option *home, double elsewhere_ns)
{
    return home->start_ns - (double)ask->now_ns > fmax(HORIZON_NS, MUCH_LATER * elsewhere_ns);
}

/* What a launch writes is likely to be needed where it was used before. So it leaves its home only if its results can
 * be back there sooner, or if home is busy for much longer than all that takes, or if it needs more to be moved there.
 * ends_first: elsewhere it ends sooner; otherwise it goes there to leave home to others. Returns where to go: home, or
 * `to`. */
static unsigned or_home(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                        unsigned to, bool ends_first)
{
    int home = -1;

    if (!ask->back_ns || !options[to].n_samples)
        return to;
    double way_ns = ask->back_ns(ask->arg, to, &home), back_ns = way_ns + tsl_pays_latency_ns(placer, 1);
    if (home < 0 || !tsl_candidate_of(ask, (unsigned)home)->eligible || !options[home].n_samples ||
        tsl_candidate_of(ask, to)->move_ns < tsl_candidate_of(ask, (unsigned)home)->move_ns)
        return to;
    if (is_on_the_way(ask, options, (unsigned)home, to, way_ns))
        return (unsigned)home;
    ends_first &= way_ns > 0; /* Both work on one copy otherwise. */
    bool leaves = !is_sooner_at_home(&options[home], &options[to], back_ns, ends_first) ||
                  is_free_too_late(ask, &options[home], options[to].run_ns + back_ns);
    return leaves ? to : (unsigned)home;
}

/* ---- What waits behind ---- */

/* Does another driver of the same processors run the launch faster? */
static bool has_faster_rival(const struct tsl_placer *placer, const struct tsl_option *options, unsigned i)
{
    for (unsigned k = 0; k < placer->n; k++)
        if (tsl_placer_rivals(placer, i, k) && options[k].known &&
            (options[k].run_ns < options[i].run_ns || (options[k].run_ns == options[i].run_ns && k < i)))
            return true;
    return false;
}

/* For how long the members whose times are known will be busy with what waits behind the command and doesn't need it.
 * Some care is taken, as that may be less work than it seems. Found out at most once for a question. */
static double slack_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                       unsigned best, double *slack)
{
    double parallel = 0;

    if (*slack >= 0)
        return *slack;
    for (unsigned i = 0; i < placer->n; i++)
        if (options[i].known && !has_faster_rival(placer, options, i))
            parallel += options[best].run_ns / options[i].run_ns;
    *slack = ask->n_behind ? CARE * ask->n_behind(ask->arg) * options[best].run_ns / fmax(parallel, 1) : 0;
    return *slack;
}

/* How long before its start a launch may be placed. Where data take longer than that to get to a member, the placer
 * must look as far ahead to send them in time; if the kernel's times are known well. */
static double horizon_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *option)
{
    double longest = 0;

    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_candidate_of(ask, i)->eligible)
            longest = fmax(longest, tsl_candidate_of(ask, i)->move_ns);
    return longest > HORIZON_NS && option->spread <= TSL_VARIES ? HORIZON_NS + longest : HORIZON_NS;
}

/* Has the member enough to do? One launch that runs and one that waits at least. More if they surely end soon, or if
 * they are small: holding small ones back costs more than they do, and the host's time to submit them is a part of what
 * they seem to take. */
static bool enough_to_do(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *option,
                         unsigned i)
{
    double wait_ns = option->start_ns - (double)ask->now_ns;

    if (placer->load[i].n < 2 || option->n_samples < ENOUGH)
        return placer->load[i].n >= 2;
    return option->run_ns >= SMALL_NS && wait_ns * option->spread > horizon_ns(placer, ask, option);
}

/* A member to take instead of the best one, which has enough to do. A member on which the command ends later is worth
 * as much, as long as the best one will be busy until then with what waits behind. Its rivals are busy with the same.
 * Returns best if there is none. */
static unsigned as_good(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                        unsigned best, double *slack)
{
    unsigned chosen = best;

    for (unsigned i = 0; i < placer->n; i++) {
        if (i == best || tsl_placer_rivals(placer, best, i) || !tsl_candidate_of(ask, i)->eligible ||
            options[i].n_samples < ENOUGH || enough_to_do(placer, ask, &options[i], i) ||
            or_home(placer, ask, options, i, false) != i)
            continue;
        if (options[i].end_ns > options[best].start_ns + slack_ns(placer, ask, options, best, slack))
            continue;
        if (chosen == best || options[i].end_ns < options[chosen].end_ns)
            chosen = i;
    }
    return chosen;
}

/* Would holding the command back keep others idle? It would if what the command waits for, not what was placed on the
 * member, keeps it from starting, and a member that has nothing to do could have done as much before the start: nothing
 * behind the command is placed before it is. */
static bool keeps_others_idle(const struct tsl_placer *placer, const struct tsl_ask *ask,
                              const struct tsl_option *options, unsigned best)
{
    double start_ns = options[best].start_ns, now = (double)ask->now_ns;
    double free_ns = now + tsl_busy_ns(placer, best, ask->now_ns);

    if (start_ns > now + AHEAD_NS || placer->load[best].n >= MOST_AHEAD || (double)ask->ready_ns + SOON_NS < free_ns)
        return false;
    for (unsigned i = 0; i < placer->n; i++)
        if (i != best && !tsl_placer_rivals(placer, best, i) && tsl_candidate_of(ask, i)->eligible &&
            options[i].n_samples >= ENOUGH && now + tsl_busy_ns(placer, i, ask->now_ns) + options[i].run_ns < start_ns)
            return true;
    return false;
}

/* Is it of no use to hold the launch back? Where it ends first is known well, and all others that could run it are
 * drivers of the same processors: what ends before it changes nothing. */
static bool among_rivals(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                         unsigned best)
{
    if (tsl_members_is_empty(placer->rivals[best]) || options[best].n_samples < ENOUGH)
        return false;
    for (unsigned i = 0; i < placer->n; i++)
        if (i != best && tsl_candidate_of(ask, i)->eligible && !tsl_placer_rivals(placer, best, i))
            return false;
    return true;
}

/* ---- Tries ---- */

/* What it is feared to cost to run the launch there once. */
static double once_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                      unsigned i)
{
    return options[i].run_ns + options[i].risk_ns + 2 * tsl_estimate_delay_ns(placer, ask, i); /* there and back */
}

/* What trying a member is feared to cost, or INFINITY: it has something to do, or its times are known well enough. */
static double price_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                       unsigned i)
{
    unsigned n_tries = options[i].n_tries + (options[i].n_samples < ENOUGH ? 0 : KNOWN_TRIES);
    double rarer = ldexp(1, n_tries < FREE_TRIES ? 0 : (int)(n_tries - FREE_TRIES + 1));

    if (!tsl_candidate_of(ask, i)->eligible || placer->load[i].n_watched > 0 ||
        tsl_load_left_ns(&placer->load[i], ask->now_ns) > 0)
        return INFINITY;
    return once_ns(placer, ask, options, i) * rarer;
}

/* A member to try instead of the best one. The best one must be known: what nobody knows isn't worth anything yet. */
unsigned tsl_auto_to_try(const struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                         unsigned best, double *slack)
{
    for (unsigned i = 0; i < placer->n && options[best].n_samples; i++) {
        double price = i == best ? INFINITY : price_ns(placer, ask, options, i);

        if (isinf(price) || placer->kind[i] == placer->kind[best])
            continue;
        if (price <= placer->purse_ns)
            return i;
        if (options[i].n_samples || options[i].n_tries || options[best].n_samples < TSL_N_SAMPLES ||
            tsl_placer_rivals(placer, best, i))
            continue;
        if (price <= slack_ns(placer, ask, options, best, slack))
            return i;
    }
    return best;
}

static void pay(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                struct tsl_placement *placement)
{
    unsigned i = placement->member;

    placement->try_delay_ns = tsl_estimate_delay_ns(placer, ask, i);
    placement->try_risk_ns = options[i].risk_ns;
    placement->try_ready_ns = ask->ready_ns > ask->now_ns ? ask->ready_ns : ask->now_ns;
    placer->purse_ns -= once_ns(placer, ask, options, i);
    tsl_model_tried(placer->model, placer->kind[i], tsl_kernel_known_as(ask, i), ask->size);
}

/* How much longer its data took than they were thought to, there and, in all likelihood, back. It may have waited for
 * something else of which nobody knew, so that is bounded. */
static double late_ns(const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    double end_ns = (double)(ended->end_ns ? ended->end_ns : ended->now_ns);
    double began_ns = end_ns - (double)ended->ran_ns, thought_ns = (double)placement->try_ready_ns;
    double price_ns = placement->run_ns + 2 * placement->try_delay_ns;

    if (placement->part)
        return 0;
    return fmin(2 * fmax(began_ns - thought_ns - placement->try_delay_ns, 0), MOST_LATE * price_ns);
}

void tsl_auto_done(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    double ns = ended->ran_ns ? (double)ended->ran_ns : placement->run_ns;

    tsl_lead_earn(placer, ns, ended->ran_ns > 0);
    tsl_apart_ended(placer, placement, ended);
    if (!placement->try)
        placer->purse_ns += TSL_TRY_PART * ns;
    else if (ended->ran_ns)
        placer->purse_ns +=
            placement->run_ns + placement->try_risk_ns - (double)ended->ran_ns - late_ns(placement, ended);
}

/* ---- The choice ---- */

/* A queue that grows is watched: now and then, and one of it at least. */
static bool decide_watch(const struct tsl_load *load, const struct tsl_ask *ask, const struct tsl_option *option)
{
    double wait_ns = (option->start_ns - (double)ask->now_ns + option->run_ns) * option->spread;
    double often_ns = load->n_watched == 0 && option->run_ns >= SMALL_NS ? SOON_NS : WATCH_NS;

    if (option->n_samples == 0)
        return true;
    return load->n > 0 && wait_ns >= SOON_NS && load->unwatched_ns + option->run_ns >= often_ns;
}

static bool decide_timed(const struct tsl_load *load, const struct tsl_option *option, bool watch)
{
    unsigned rarely = option->run_ns < SMALL_NS || option->stays ? SMALL_IN : 1;

    if (option->n_samples < ENOUGH || (watch && rarely == 1))
        return true;
    return load->n_untimed >= TIMED_IN * rarely && load->untimed_ns >= TIMED_NS * rarely;
}

static void decide_flags(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *option,
                         struct tsl_placement *placement)
{
    struct tsl_load *load = &placer->load[placement->member];

    placement->watch = !option->stays && decide_watch(load, ask, option);
    load->n_untimed++;
    load->untimed_ns += option->run_ns;
    bool long_one = option->run_ns >= WATCH_NS && (!option->part || placer->n_cuts % PARTS_IN == 0);
    placement->timed = decide_timed(load, option, placement->watch) || long_one;
    placement->watch |= placement->timed && !placer->profiles[placement->member];
    if (placement->timed)
        load->n_untimed = 0, load->untimed_ns = 0;
}

static void place(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *option,
                  struct tsl_placement *placement)
{
    struct tsl_load *load = &placer->load[placement->member];
    const struct tsl_candidate *candidate = tsl_candidate_of(ask, placement->member);

    placer->used[placement->member] = true;
    placement->known = option->known;
    placement->run_ns = option->run_ns;
    if (option->known && !placement->part)
        placement->work_ns = option->run_ns;
    placement->end_ns = (uint64_t)fmin(option->end_ns, NEVER_NS);
    if (option->known && !placement->part) {
        tsl_gains_launched(placer, ask, placement->member, option->run_ns);
        tsl_apart_placed(placer, placement, candidate->move_ns);
    }
    tsl_pace_placed(placer, placement, ask->now_ns);
    decide_flags(placer, ask, option, placement);
    /* As if the data moved at once: until what the command waits for is there, the link is free for others. */
    if (candidate->move_ns > 0)
        load->link_free_ns = fmax(load->link_free_ns, (double)ask->now_ns) + candidate->move_ns;
    tsl_load_add(load, placement, ask->now_ns);
}

void tsl_place_auto(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    struct tsl_option options[TSL_MAX_MEMBERS];
    double slack = -1;
    unsigned best;

    tsl_estimate_runs(placer, ask, options);
    tsl_estimate_risks(placer, ask, options);
    tsl_estimate_ends(placer, ask, options);
    best = tsl_auto_or_move(placer, ask, options, tsl_estimate_earliest(placer, ask, options));
    best = or_home(placer, ask, options, best, true);
    placement->member = tsl_auto_to_try(placer, ask, options, best, &slack);
    placement->try = placement->member != best;
    if (placement->try) {
        pay(placer, ask, options, placement);
    } else if (among_rivals(placer, ask, options, best)) {
        options[best].stays = true;
    } else if (enough_to_do(placer, ask, &options[best], best)) {
        placement->member = as_good(placer, ask, options, best, &slack);
        placement->later = placement->member == best && !keeps_others_idle(placer, ask, options, best);
        if (placement->later)
            return;
    }
    place(placer, ask, &options[placement->member], placement);
    tsl_parts_book_whole(placer, ask, placement->member);
}

/* When a launch, whose data its member alone has, could have ended on the others at the earliest, from now, where all
 * of these are so slow that they are no help, or would take longer to give the results back than it takes here; 0: one
 * is a help. */
static double elsewhere_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, double ns)
{
    double least_ns = INFINITY;

    if (ns <= tsl_pays_latency_ns(placer, 1))
        return INFINITY;
    for (unsigned i = 0; i < placer->n; i++) {
        if (i == member || !tsl_candidate_of(ask, i)->eligible)
            continue;
        struct tsl_guess guess = tsl_model_run(placer->model, placer->kind[i], tsl_kernel_known_as(ask, i), ask->size);
        double its_ns = guess.n_samples ? guess.ns : ns * tsl_estimate_fear(placer, member, i);
        if (its_ns < NO_HELP * ns)
            return 0;
        least_ns = fmin(least_ns, its_ns);
    }
    return least_ns;
}

bool tsl_placer_stay(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member,
                     struct tsl_placement *placement)
{
    if (placer->choose != tsl_place_auto || placer->one_kind || tsl_split_always(placer->split) ||
        ask->by != TSL_PLACE_BY_SETTINGS)
        return false;
    tsl_apart_asked(placer, ask);
    if (!tsl_apart_allows(placer, member))
        return false;
    struct tsl_guess guess =
        tsl_model_run(placer->model, placer->kind[member], tsl_kernel_known_as(ask, member), ask->size);
    double left_ns = tsl_busy_ns(placer, member, ask->now_ns);
    if (guess.n_samples < ENOUGH ||
        (left_ns + guess.ns >= tsl_pays_latency_ns(placer, 1) &&
         (left_ns > HORIZON_NS / 2 || left_ns + guess.ns >= elsewhere_ns(placer, ask, member, guess.ns))))
        return false;
    struct tsl_option option = {.known = true,
                                .stays = true,
                                .n_samples = guess.n_samples,
                                .spread = tsl_estimate_spread(guess.spread, guess.ns),
                                .run_ns = guess.ns,
                                .start_ns = (double)ask->now_ns + left_ns};
    option.end_ns = option.start_ns + option.run_ns + TSL_LAUNCH_NS;
    *placement = (struct tsl_placement){.member = member};
    place(placer, ask, &option, placement);
    return true;
}

void tsl_auto_book(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    struct tsl_option options[TSL_MAX_MEMBERS];

    tsl_estimate_runs(placer, ask, options);
    tsl_estimate_ends(placer, ask, options);
    place(placer, ask, &options[placement->member], placement);
    tsl_parts_book_whole(placer, ask, placement->member);
}

/* ---- Parts ---- */

struct tsl_whole tsl_auto_whole(struct tsl_placer *placer, const struct tsl_ask *ask)
{
    struct tsl_option options[TSL_MAX_MEMBERS];

    tsl_estimate_runs(placer, ask, options);
    tsl_estimate_ends(placer, ask, options);
    unsigned best = tsl_estimate_earliest(placer, ask, options);
    return (struct tsl_whole){.member = best,
                              .known = options[best].known,
                              .measured = options[best].n_samples > 0,
                              .run_ns = options[best].run_ns,
                              .end_ns = options[best].end_ns - (double)ask->now_ns,
                              .move_ns = tsl_candidate_of(ask, best)->move_ns};
}

/* A part that took much longer than the whole launch was disturbed, unless that is seen again. Nobody would see that it
 * was, as no launch would be cut. */
static bool is_chance(const struct tsl_guess *seen, const struct tsl_guess *whole)
{
    return seen->n_samples < ENOUGH && whole->n_samples >= ENOUGH && seen->ns > whole->ns * DISTURBED;
}

/* 0: unknown. A launch of that size may do other work than a part of this launch: parts that were seen tell more, and
 * so does the whole where its part fills a device. Of one that doesn't fill a GPU nothing is hoped for. */
static double part_guess(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i, uint64_t size)
{
    uint64_t kernel = tsl_part_known_as(ask, i), kind = placer->kind[i];
    struct tsl_guess seen = tsl_model_run(placer->model, kind, tsl_part_key(kernel), size);

    struct tsl_guess whole = tsl_model_run(placer->model, kind, kernel, ask->size);
    if (seen.n_samples && !is_chance(&seen, &whole))
        return seen.ns;
    if (whole.n_samples && (size >= TSL_FULL_ITEMS || (double)size < placer->fill[i]))
        return tsl_estimate_scaled(placer, i, whole.ns, (double)ask->size, (double)size);
    return tsl_estimate_run(placer, i, kernel, size).ns;
}

bool tsl_auto_part_unseen(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size)
{
    uint64_t kernel = tsl_part_key(tsl_part_known_as(ask, member));

    return (double)size < placer->fill[member] &&
           !tsl_model_run(placer->model, placer->kind[member], kernel, size).n_samples;
}

double tsl_auto_part_most_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size)
{
    uint64_t kernel = tsl_part_key(tsl_part_known_as(ask, member));
    struct tsl_guess seen = tsl_model_run(placer->model, placer->kind[member], kernel, size);

    return seen.n_samples < ENOUGH ? 0 : seen.ns * seen.spread;
}

double tsl_auto_part_ns(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                        bool *known)
{
    double ns = part_guess(placer, ask, member, size);

    *known = ns > 0;
    if (*known)
        return ns;
    ns = INFINITY;
    for (unsigned i = 0; i < placer->n; i++) {
        if (placer->kind[i] == placer->kind[member] && tsl_part_known_as(ask, i) == tsl_part_known_as(ask, member))
            continue; /* As little is known of it. */
        double other = part_guess(placer, ask, i, size);
        if (other > 0)
            ns = fmin(ns, other * tsl_estimate_fear(placer, i, member));
    }
    return ns;
}

void tsl_auto_place_part(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, uint64_t size,
                         struct tsl_placement *placement)
{
    struct tsl_guess guess =
        tsl_model_run(placer->model, placer->kind[member], tsl_part_key(tsl_part_known_as(ask, member)), size);
    double now = (double)ask->now_ns, there = fmax((double)ask->ready_ns, now) + tsl_candidate_of(ask, member)->move_ns;
    struct tsl_option option = {
        .n_samples = guess.n_samples, .spread = tsl_estimate_spread(guess.spread, guess.ns), .part = true};
    bool known;

    option.run_ns = tsl_auto_part_ns(placer, ask, member, size, &known);
    option.known = known;
    bool is_try = !known && !isinf(option.run_ns);
    if (isinf(option.run_ns))
        option.run_ns = fmax(TSL_ITEM_NS * (double)size, TSL_UNKNOWN_NS);
    option.start_ns = fmax(there, now + tsl_busy_ns(placer, member, ask->now_ns));
    option.end_ns = option.start_ns + option.run_ns + TSL_LAUNCH_NS;
    *placement = (struct tsl_placement){.member = member, .try = is_try, .part = true, .first = option.n_samples == 0};
    bool booked = ask->size && placer->layout.cut_at_ns == ask->now_ns; /* Windows, say, are none of a cut's. */
    double share = booked ? (double)size / (double)ask->size : 0;
    placement->work_ns = placer->layout.cut_ns * share;
    placement->booked_ns = placer->layout.cut_booked_ns * share;
    placer->purse_ns -= is_try ? option.run_ns : 0;
    place(placer, ask, &option, placement);
    tsl_parts_time(placer, ask, placement);
}
