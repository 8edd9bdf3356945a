/*
 * What do further members do for a program? What its launches take, what the ledger (pays.c) says of its cuts, and what
 * other members than the one with most launches did, is added up and kept for later runs.
 *
 * A program whose launches run whole, or whose cuts gain next to nothing, is served better where its data aren't
 * distributed in the first place: what lies on two members must be brought together for a launch that needs all of it.
 * One for which further members did next to nothing is served better without them: opening a device disturbs others,
 * and each launch is placed more slowly. Neither is believed of a run whose launches are much longer than those were.
 *
 * Of a program that never had a choice nobody knows what others would do for it. What its launches took is added up
 * over its runs, so that others are opened for it some day though each run is short (graph/readiness.c).
 *
 * Launches of unknown kernels count when they have run whole; whether a cut one gained something nobody knows.
 */
#include "place/internal.h"

#include <math.h>

#define GAINS     0.05 /* of what all launches take: cuts that gain less are no reason to distribute data */
#define NOTES     64   /* launches, after which the model is told, or ... */
#define NOTES_NS  1e8  /* ... what they take: many a program doesn't release its context */
#define LEAST_NS  1e6  /* of a program that takes less nothing is kept */
#define JUDGED_NS 2e8  /* so long launches must have had a choice before they say that it was of no use */
#define LONGER    2    /* times as long as before: another program under the same name */
#define NOTHING   1.0  /* ns: makes what earlier runs said fade */
#define SCALE     1e6  /* of squares */

/* The model knows these sums as kernels of their own. */
#define GAINS_KEY   UINT64_C(0x6a09e667f3bcc908)
#define TAKES_KEY   UINT64_C(0xbb67ae8584caa73b)
#define SQUARES_KEY UINT64_C(0x510e527fade682d1)
#define AMONG_KEY   UINT64_C(0xcbbb9d5dc1059ed8)
#define HELP_KEY    UINT64_C(0x629a292a367cd507)
#define WAITED_KEY  UINT64_C(0x5be0cd19137e2179)

static double past_ns(const struct tsl_placer *placer, uint64_t key)
{
    return placer->model ? tsl_model_past_ns(placer->model, placer->program ^ key) : 0;
}

static void spent(struct tsl_placer *placer, uint64_t key, double ns)
{
    tsl_model_spent(placer->model, placer->program ^ key, fmax(ns, NOTHING));
}

/* What earlier runs said doesn't change in this one. */
static const struct tsl_past *past_of(struct tsl_placer *placer)
{
    struct tsl_past *past = &placer->gains.past;

    if (past->is_read)
        return past;
    past->is_read = true;
    past->takes_ns = past_ns(placer, TAKES_KEY);
    past->squares = past_ns(placer, SQUARES_KEY);
    past->among_ns = past_ns(placer, AMONG_KEY);
    past->waited_ns = past_ns(placer, WAITED_KEY);
    past->saved_ns = past_ns(placer, GAINS_KEY) + past_ns(placer, HELP_KEY);
    return past;
}

/* What was waited in earlier runs, until the model, which all contexts of the process share, has been told of it. */
static double untold_ns(const struct tsl_placer *placer)
{
    double past = past_ns(placer, WAITED_KEY);

    return tsl_model_ahead_ns(placer->model, placer->program ^ WAITED_KEY) >= past ? past : 0;
}

/* What others did than the member that did most. Never less than before. */
static double help_ns(const struct tsl_gains *gains)
{
    double sum = 0, most = 0;

    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++) {
        sum += gains->of_ns[i];
        most = fmax(most, gains->of_ns[i]);
    }
    return sum - most;
}

void tsl_gains_tell(struct tsl_placer *placer)
{
    struct tsl_gains *gains = &placer->gains;
    double help = help_ns(gains);

    if (!placer->model || gains->launches_ns < LEAST_NS)
        return;
    spent(placer, TAKES_KEY, gains->launches_ns);
    spent(placer, SQUARES_KEY, gains->squares);
    if (!gains->chose)
        spent(placer, WAITED_KEY, gains->launches_ns + untold_ns(placer));
    if (gains->among_ns > 0) { /* A run that had no choice says nothing of what that is good for. */
        spent(placer, AMONG_KEY, gains->among_ns);
        spent(placer, HELP_KEY, help - gains->helped_ns);
        spent(placer, GAINS_KEY, gains->net_ns);
    }
    gains->helped_ns = help;
    gains->launches_ns = gains->squares = gains->among_ns = 0;
    gains->net_ns = fmin(gains->net_ns, 0); /* The model takes no losses. */
}

/* A processor beside the first of several GPUs says nothing of what the others would do. */
static bool has_choice(const struct tsl_placer *placer, const struct tsl_ask *ask)
{
    unsigned n = 0;

    for (unsigned i = 0; i < placer->n && n < 2; i++)
        n += ask->candidates[i].eligible && placer->speed[i] * TSL_MUCH_FASTER > placer->second_speed;
    return n > 1;
}

static void add(struct tsl_placer *placer, double whole_ns, bool among)
{
    struct tsl_gains *gains = &placer->gains;

    gains->launches_ns += whole_ns;
    gains->squares += whole_ns * whole_ns / SCALE;
    gains->among_ns += among ? whole_ns : 0;
    gains->chose |= among;
    gains->all_ns += whole_ns;
    gains->all_squares += whole_ns * whole_ns / SCALE;
    if (++gains->n % NOTES == 0 || gains->launches_ns >= NOTES_NS)
        tsl_gains_tell(placer);
}

void tsl_gains_launched(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, double whole_ns)
{
    bool among = placer->n > 1 && (has_choice(placer, ask) || tsl_apart_holds(placer));

    if (placer->n < 2)
        return;
    placer->gains.of_ns[member] += among ? whole_ns : 0;
    add(placer, whole_ns, among);
}

void tsl_gains_ended(struct tsl_placer *placer, double whole_ns)
{
    if (placer->n > 1)
        add(placer, whole_ns, false);
}

void tsl_gains_cut(struct tsl_placer *placer, double whole_ns)
{
    add(placer, whole_ns, true);
}

void tsl_gains_booked(struct tsl_placer *placer, double ns)
{
    placer->gains.net_ns += ns;
}

bool tsl_gains_are_alike(struct tsl_placer *placer)
{
    const struct tsl_gains *gains = &placer->gains;
    const struct tsl_past *past = past_of(placer);

    return gains->all_ns <= 0 || gains->all_squares * past->takes_ns <= LONGER * past->squares * gains->all_ns;
}

bool tsl_placer_gains(const struct tsl_placer *placer)
{
    double takes_ns = past_ns(placer, TAKES_KEY);

    return takes_ns == 0 || past_ns(placer, GAINS_KEY) >= GAINS * takes_ns;
}

double tsl_placer_help(struct tsl_placer *placer)
{
    const struct tsl_past *past = past_of(placer);

    if (past->among_ns < JUDGED_NS || !tsl_gains_are_alike(placer))
        return -1;
    return fmin(past->saved_ns / past->among_ns, 1);
}

double tsl_placer_waited_ns(struct tsl_placer *placer)
{
    return past_of(placer)->waited_ns;
}
