/*
 * Which of several implementations of a kernel a member runs: the one that is known to take the least time there, the
 * first of them (the original) as long as it isn't known itself. Others are tried:
 *
 * - Their first FREE_TRIES launches at a size are free once the original is known at that size, unless other sizes show
 *   that they take SLOWER times as long as the best: who names a variant wants it tried.
 * - One is tried at a time: what a try shows counts for the next one.
 * - Later tries are paid out of the purse (auto.c) with what they are expected to take longer than the best, and come
 *   ever more rarely. So a variant that has become better, or the original, is found again.
 */
#include "place/internal.h"

#include <math.h>

#define FREE_TRIES 2u
#define SLOWER     2.0
#define LEAST_PART 0.1 /* a later try costs at least that part of the best's time */

static bool measures(const struct tsl_placer *placer)
{
    return placer->model && !placer->one_kind;
}

void tsl_placer_time(struct tsl_placer *placer, struct tsl_placement *placement)
{
    if (!placement->placed)
        return;
    placement->timed = true;
    placement->watch |= !placer->profiles[placement->member];
}

unsigned tsl_placer_best_variant(struct tsl_placer *placer, unsigned member, const struct tsl_ways *ways)
{
    double least = INFINITY;
    unsigned best = 0;

    for (unsigned i = 0; i < ways->n && measures(placer); i++) {
        double ns =
            ways->allowed[i] ? tsl_model_run(placer->model, placer->kind[member], ways->keys[i], ways->size).ns : 0;

        if (i == 0 && ns <= 0)
            return 0;
        if (ns > 0 && ns < least)
            least = ns, best = i;
    }
    return best;
}

/* What a try is expected to cost; 0: it is free. INFINITY: none is wanted. */
static double price_ns(const struct tsl_guess *guess, double best_ns)
{
    bool slow = guess->n_samples == 0 && guess->ns > SLOWER * best_ns;
    double rarer = ldexp(1, (int)(guess->n_tries < 60 ? guess->n_tries : 60));

    if (guess->n_tries < FREE_TRIES && guess->n_samples < FREE_TRIES && !slow)
        return 0;
    return fmax(guess->ns - best_ns, LEAST_PART * best_ns) * rarer;
}

unsigned tsl_placer_try_variant(struct tsl_placer *placer, unsigned member, const struct tsl_ways *ways, unsigned best)
{
    uint64_t kind = placer->kind[member];
    struct tsl_guess known = {0};

    if (!measures(placer) || placer->trying)
        return best;
    known = tsl_model_run(placer->model, kind, ways->keys[best], ways->size);
    if (!known.n_samples)
        return best;
    for (unsigned i = 0; i < ways->n; i++) {
        struct tsl_guess guess;
        double price;

        if (i == best || !ways->allowed[i])
            continue;
        guess = tsl_model_run(placer->model, kind, ways->keys[i], ways->size);
        price = price_ns(&guess, known.ns);
        if (price > fmax(placer->purse_ns, 0))
            continue;
        placer->trying = ways->keys[i];
        placer->purse_ns -= price > 0 ? fmax(guess.ns - known.ns, 0) : 0;
        tsl_model_tried(placer->model, kind, ways->keys[i], ways->size);
        return i;
    }
    return best;
}
