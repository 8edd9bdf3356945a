#include "place/estimate.h"

#include <math.h>

#define FEAR     50.0 /* times slower: a kind that was never compared */
#define UNSURE   2.0  /* times slower: a kind that was compared with other kernels only */
#define NOISE_NS 5e4  /* runs that differ by no more than this, compared with what they take, don't vary */

/* ---- The kernel itself ---- */

double tsl_estimate_fear(const struct tsl_placer *placer, unsigned a, unsigned b)
{
    double measured = tsl_model_ratio(placer->model, placer->kind[a], placer->kind[b]);
    double claimed = placer->speed[a] / placer->speed[b];

    if (placer->kind[a] == placer->kind[b])
        return 1;
    if (measured > 0)
        return measured * UNSURE;
    return claimed <= 0.5 ? 1 : fmax(claimed, FEAR);
}

double tsl_estimate_spread(double spread, double run_ns)
{
    return 1 + (spread - 1) * run_ns / (run_ns + NOISE_NS);
}

struct tsl_option tsl_estimate_of(const struct tsl_guess *guess)
{
    return (struct tsl_option){.known = guess->ns > 0,
                               .n_samples = guess->n_samples,
                               .n_tries = guess->n_tries,
                               .spread = tsl_estimate_spread(guess->spread, guess->ns),
                               .run_ns = guess->ns};
}

double tsl_estimate_scaled(const struct tsl_placer *placer, unsigned i, double ns, double from, double to)
{
    double fill = placer->fill[i];

    return ns * fmax(to, fill) / fmax(from, fmax(fill, 1));
}

struct tsl_guess tsl_estimate_run(const struct tsl_placer *placer, unsigned i, uint64_t kernel, uint64_t size)
{
    struct tsl_guess guess = tsl_model_run(placer->model, placer->kind[i], kernel, size);

    if (guess.ns > 0 && !guess.n_samples)
        guess.ns = tsl_estimate_scaled(placer, i, guess.ns / (double)size * (double)guess.judged_by,
                                       (double)guess.judged_by, (double)size);
    return guess;
}

void tsl_estimate_known(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options)
{
    for (unsigned i = 0; i < placer->n; i++) {
        struct tsl_guess guess = {0};

        if (tsl_candidate_of(ask, i)->eligible)
            guess = tsl_estimate_run(placer, i, tsl_kernel_known_as(ask, i), ask->size);
        options[i] = tsl_estimate_of(&guess);
    }
}

static unsigned fastest(const struct tsl_placer *placer, const struct tsl_ask *ask)
{
    unsigned best = placer->n;

    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_candidate_of(ask, i)->eligible && (best == placer->n || tsl_placer_faster(placer, i, best)))
            best = i;
    return best;
}

static double from_others(const struct tsl_placer *placer, const struct tsl_option *options, unsigned i)
{
    double ns = INFINITY;

    for (unsigned j = 0; j < placer->n; j++)
        if (options[j].known)
            ns = fmin(ns, options[j].run_ns * tsl_estimate_fear(placer, j, i));
    return ns;
}

double tsl_estimate_unknown_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i)
{
    return fmax(TSL_ITEM_NS * (double)ask->size, TSL_UNKNOWN_NS) * tsl_estimate_fear(placer, fastest(placer, ask), i);
}

void tsl_estimate_runs(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options)
{
    tsl_estimate_known(placer, ask, options);
    for (unsigned i = 0; i < placer->n; i++) {
        if (!tsl_candidate_of(ask, i)->eligible || options[i].known)
            continue;
        options[i].run_ns = from_others(placer, options, i);
        if (isinf(options[i].run_ns))
            options[i].run_ns = tsl_estimate_unknown_ns(placer, ask, i);
    }
}

void tsl_estimate_risks(const struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options)
{
    double least = INFINITY, spread = 1;

    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_candidate_of(ask, i)->eligible && options[i].known) {
            least = fmin(least, options[i].run_ns);
            spread = fmax(spread, options[i].spread);
        }
    for (unsigned i = 0; spread > TSL_VARIES && i < placer->n; i++)
        options[i].risk_ns = options[i].run_ns > TSL_VARIES * least ? options[i].run_ns * (spread - 1) : 0;
}

/* ---- When it could start ---- */

double tsl_estimate_delay_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i)
{
    return tsl_candidate_of(ask, i)->move_ns + tsl_pays_latency_ns(placer, tsl_candidate_of(ask, i)->peer_ns);
}

void tsl_estimate_ends(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options)
{
    double now = (double)ask->now_ns, ready = fmax((double)ask->ready_ns, now);

    for (unsigned i = 0; i < placer->n; i++) {
        double there = ready;

        if (!tsl_candidate_of(ask, i)->eligible)
            continue;
        if (tsl_candidate_of(ask, i)->move_ns > 0)
            there = fmax(ready, placer->load[i].link_free_ns) + tsl_estimate_delay_ns(placer, ask, i);
        options[i].start_ns = fmax(there, now + tsl_busy_ns(placer, i, ask->now_ns));
        options[i].end_ns = options[i].start_ns + options[i].run_ns + options[i].risk_ns + TSL_LAUNCH_NS;
    }
}

unsigned tsl_estimate_earliest(const struct tsl_placer *placer, const struct tsl_ask *ask,
                               const struct tsl_option *options)
{
    unsigned best = placer->n;

    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_candidate_of(ask, i)->eligible &&
            (best == placer->n || options[i].end_ns < options[best].end_ns ||
             (options[i].end_ns == options[best].end_ns && tsl_placer_faster(placer, i, best))))
            best = i;
    return best;
}
