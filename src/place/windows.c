/* Launches that go whole on a member that holds their buffers, or window by window on one that doesn't. */
#include "place/estimate.h"

#include <math.h>

/* What the model knows launches by that ran window by window; chains by the work-items of all their launches. */
static uint64_t windows_of(const struct tsl_ask *ask, unsigned n_chained)
{
    return ask->kernel ^ (n_chained > 1 ? UINT64_C(0xd1b54a32d192ed03) : UINT64_C(0x8cb92ba72f3d8dd7));
}

/* Which of the two a member is asked about. */
static bool by_windows(const struct tsl_ask *ask, unsigned i)
{
    return tsl_candidate_of(ask, i)->eligible && tsl_candidate_of(ask, i)->windows;
}

static void ask_model_windows(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                              struct tsl_option *options)
{
    tsl_estimate_known(placer, ask, options);
    for (unsigned i = 0; i < placer->n; i++) {
        if (!by_windows(ask, i))
            continue;
        struct tsl_guess guess =
            tsl_model_run(placer->model, placer->kind[i], windows_of(ask, n_chained), ask->size * n_chained);
        guess.ns /= n_chained;
        options[i] = tsl_estimate_of(&guess);
    }
}

/* Like from_others(), for a launch or its windows. Where windows were seen, which also wait for their bytes, what the
 * work alone takes tells more. */
static double from_work(struct tsl_placer *placer, const struct tsl_ask *ask, const struct tsl_option *options,
                        unsigned i)
{
    double ns = INFINITY;

    for (unsigned j = 0; j < placer->n; j++) {
        double other_ns = options[j].known ? options[j].run_ns : 0;
        double work_ns =
            by_windows(ask, j) ? tsl_model_run(placer->model, placer->kind[j], ask->kernel, ask->size).ns : 0;
        other_ns = work_ns > 0 ? work_ns : other_ns;
        if (other_ns > 0)
            ns = fmin(ns, other_ns * tsl_estimate_fear(placer, j, i));
    }
    return ns;
}

static void estimate_windows(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                             struct tsl_option *options)
{
    ask_model_windows(placer, ask, n_chained, options);
    for (unsigned i = 0; i < placer->n; i++) {
        if (!tsl_candidate_of(ask, i)->eligible || options[i].known)
            continue;
        options[i].run_ns = from_work(placer, ask, options, i);
        if (isinf(options[i].run_ns))
            options[i].run_ns = tsl_estimate_unknown_ns(placer, ask, i);
    }
}

/* Windows of which nothing is known are expected to be worth it only on a member that is much faster than all that hold
 * the launch. */
static bool is_much_faster(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i)
{
    for (unsigned k = 0; k < placer->n; k++)
        if (tsl_candidate_of(ask, k)->eligible && !by_windows(ask, k) &&
            placer->speed[i] < placer->speed[k] * TSL_MUCH_FASTER)
            return false;
    return true;
}

static bool any_holds(const struct tsl_placer *placer, const struct tsl_ask *ask)
{
    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_candidate_of(ask, i)->eligible && !by_windows(ask, i))
            return true;
    return false;
}

/* As the choice of a place, with all that it learns by tries. */
static unsigned choose_way(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                           const struct tsl_option *options)
{
    unsigned best = tsl_auto_or_move(placer, ask, options, tsl_estimate_earliest(placer, ask, options));
    double slack = 0;
    unsigned chosen = tsl_auto_to_try(placer, ask, options, best, &slack);

    if (chosen == best)
        return best;
    placer->purse_ns -= options[chosen].run_ns;
    if (by_windows(ask, chosen))
        tsl_model_tried(placer->model, placer->kind[chosen], windows_of(ask, n_chained), ask->size * n_chained);
    else
        tsl_model_tried(placer->model, placer->kind[chosen], tsl_kernel_known_as(ask, chosen), ask->size);
    return chosen;
}

enum tsl_by_windows tsl_auto_windows(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                                     bool tries)
{
    struct tsl_option options[TSL_MAX_MEMBERS];

    estimate_windows(placer, ask, n_chained, options);
    tsl_estimate_risks(placer, ask, options);
    tsl_estimate_ends(placer, ask, options);
    for (unsigned i = 0; i < placer->n; i++)
        if (by_windows(ask, i) && !options[i].known && !is_much_faster(placer, ask, i))
            options[i].end_ns = INFINITY;
    unsigned best = tries && !ask->again ? choose_way(placer, ask, n_chained, options)
                                         : tsl_estimate_earliest(placer, ask, options);
    if (!by_windows(ask, best))
        return TSL_BY_WINDOWS_NO;
    return options[best].known || !any_holds(placer, ask) ? TSL_BY_WINDOWS_KNOWN : TSL_BY_WINDOWS_GUESSED;
}

void tsl_auto_windows_ended(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, unsigned n_chained,
                            uint64_t ns)
{
    tsl_model_ran(placer->model, placer->kind[member], windows_of(ask, n_chained), ask->size * n_chained, (double)ns);
    placer->purse_ns += TSL_TRY_PART * (double)ns;
}
