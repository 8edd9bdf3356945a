/*
 * The policies that learn nothing: eager, fastest, round-robin and weights.
 */
#include "base/log.h"
#include "place/internal.h"

#include <limits.h>

#define NONE UINT_MAX

/* A member is given so many launches ahead: one runs, one waits. The next command is placed when one of them has ended,
 * so that a faster member gets more of them. */
#define EAGER_DEPTH 2

void tsl_place_eager(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    unsigned best = NONE;

    for (unsigned i = 0; i < placer->n; i++) {
        if (!ask->candidates[i].eligible)
            continue;
        if (best == NONE || placer->load[i].n < placer->load[best].n ||
            (placer->load[i].n == placer->load[best].n && tsl_placer_faster(placer, i, best)))
            best = i;
    }
    placement->member = best;
    placement->later = placer->load[best].n >= EAGER_DEPTH;
    if (placement->later)
        return;
    placement->watch = true; /* Else what it waits for would be unknown. */
    tsl_load_add(&placer->load[best], placement, ask->now_ns);
}

void tsl_place_fastest(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    unsigned best = NONE;

    for (unsigned i = 0; i < placer->n; i++)
        if (ask->candidates[i].eligible && (best == NONE || tsl_placer_faster(placer, i, best)))
            best = i;
    placement->member = best;
}

/* The next eligible one after the last that was chosen: consecutive commands go to different members where they can. */
void tsl_place_round_robin(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    for (unsigned step = 1; step <= placer->n; step++) {
        unsigned i = (placer->last + step) % placer->n;

        if (ask->candidates[i].eligible) {
            placement->member = placer->last = i;
            return;
        }
    }
}

/* ---- Weights ---- */

void tsl_place_weights_init(struct tsl_placer *placer, struct tsl_member *const *members, const double *weights,
                            size_t n_weights)
{
    double sum = 0;
    unsigned n_members = 0;

    for (unsigned i = 0; i < placer->n; i++) {
        n_members = members[i]->index >= n_members ? members[i]->index + 1 : n_members;
        sum += placer->weight[i] = members[i]->index < n_weights ? weights[members[i]->index] : 0;
    }
    if (n_weights < n_members || (n_weights > n_members && n_members == placer->n)) /* not a few of many members */
        tsl_log_once(TSL_LOG_IN_PLACE, TSL_LOG_WARN, "TESELA_POLICY names %zu weights for %u members: %s", n_weights,
                     n_members,
                     n_weights < n_members ? "members without one get nothing" : "those left over say nothing");
    if (sum > 0)
        return;
    tsl_log_once(TSL_LOG_IN_PLACE, TSL_LOG_WARN, "no member of this context has a weight: all get the same");
    for (unsigned i = 0; i < placer->n; i++)
        placer->weight[i] = 1;
}

/*
 * Smooth weighted round robin: each choice gives every eligible member its weight in credit and takes the sum from the
 * one with the most. So after any number of choices among the same candidates no member is further than one choice
 * from its share, and the heavy ones are spread, not bunched.
 */
void tsl_place_weights(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    unsigned best = NONE;
    double sum = 0;

    for (unsigned i = 0; i < placer->n; i++) {
        if (!ask->candidates[i].eligible || placer->weight[i] <= 0)
            continue;
        placer->credit[i] += placer->weight[i];
        sum += placer->weight[i];
        if (best == NONE || placer->credit[i] > placer->credit[best])
            best = i;
    }
    if (best == NONE) { /* only members with a share of nothing can take it: it must go somewhere */
        tsl_place_fastest(placer, ask, placement);
        return;
    }
    placer->credit[best] -= sum;
    placement->member = best;
}
