/*
 * The policy auto: the member on which the command is estimated to finish first.
 *
 *     finish = what waits there already + moving the bytes that lack + the kernel itself
 *
 * The kernel itself: from this member's history of the kernel at this size class; where it has none, from that of the
 * member that has, scaled by the members' speeds; where nobody has any, from a guess per work-item. What waits: the
 * number of operations times what operations of that member usually take. Moving: over a bandwidth and a latency that
 * are taken as the same everywhere (learning them is the policy model's business, which is not there yet).
 *
 * Speeds before any measurement are rough, so an estimate from them must not rule a member out for ever; and a slow
 * member must not cost the program more than noise ("no harm"). So a member that isn't the best by estimate is tried
 * all the same when the kernel's runs of this class since its last try took TRY_PART times as long as the try is
 * estimated to take: all tries of one member together cost about 1 / TRY_PART of the time, whatever its speed. After
 * the try there is history, and the next one waits for TRY_PART times the time really taken.
 */
#include "place/internal.h"

#include <math.h>

#define BANDWIDTH  5e9  /* bytes per second between two spaces */
#define LATENCY_NS 2e4  /* of a move, whatever its size */
#define LAUNCH_NS  1e4  /* of a launch */
#define WAIT_NS    2e3  /* what an operation waits behind another at least */
#define ITEM_NS    2.0  /* of a work-item on the fastest member, when nothing is known of the kernel */
#define TRY_PART   20.0 /* tries may cost a twentieth */

static double fastest_speed(const struct tsl_placer *placer)
{
    double speed = 0;

    for (unsigned i = 0; i < placer->n; i++)
        speed = fmax(speed, placer->speed[i]);
    return speed;
}

/* The kernel's own time on member i. past may be NULL. */
static double run_ns(const struct tsl_placer *placer, const struct tsl_past *past, unsigned i, uint64_t size)
{
    double known = INFINITY;

    if (past && past->n_runs[i])
        return past->item_ns[i] * (double)size;
    for (unsigned j = 0; past && j < placer->n; j++)
        if (past->n_runs[j])
            known = fmin(known, past->item_ns[j] * placer->speed[j] / placer->speed[i]);
    if (isinf(known))
        known = ITEM_NS * fastest_speed(placer) / placer->speed[i];
    return LAUNCH_NS + known * (double)size;
}

static double move_ns(const struct tsl_candidate *candidate)
{
    return candidate->missing_size ? LATENCY_NS + (double)candidate->missing_size * 1e9 / BANDWIDTH : 0;
}

/* What waits on a member is taken as no shorter than the kernel to place: often it is the same kernel. */
static double queue_ns(const struct tsl_placer *placer, const struct tsl_candidate *candidate, unsigned i,
                       double kernel_ns)
{
    double usual = tsl_history_usual_ns(placer->history, i);

    return candidate->pending * (usual > 0 ? fmax(usual, WAIT_NS) : kernel_ns);
}

/* May this member, which isn't the best by estimate, be tried at that price? */
static bool may_try(const struct tsl_past *past, unsigned i, double price_ns)
{
    return past->spent_ns - (past->tried[i] ? past->tried_ns[i] : 0) >= TRY_PART * price_ns;
}

unsigned tsl_place_auto(struct tsl_placer *placer, const struct tsl_choice *choice)
{
    struct tsl_past *past = tsl_history_get(placer->history, choice->kernel, choice->size);
    double kernel_ns[TSL_MAX_MEMBERS], best_ns = INFINITY;
    unsigned best = 0, chosen;

    for (unsigned i = 0; i < placer->n; i++) {
        const struct tsl_candidate *candidate = &choice->candidates[i];
        double finish_ns;

        if (!candidate->eligible)
            continue;
        kernel_ns[i] = run_ns(placer, past, i, choice->size);
        finish_ns = queue_ns(placer, candidate, i, kernel_ns[i]) + move_ns(candidate) + kernel_ns[i];
        if (finish_ns < best_ns || (finish_ns == best_ns && tsl_placer_faster(placer, i, best))) {
            best = i;
            best_ns = finish_ns;
        }
    }
    chosen = best;
    for (unsigned i = 0; past && i < placer->n && chosen == best; i++)
        if (i != best && choice->candidates[i].eligible && !choice->candidates[i].pending &&
            may_try(past, i, kernel_ns[i] + move_ns(&choice->candidates[i])))
            chosen = i;
    if (past) {
        past->spent_ns += kernel_ns[chosen];
        past->tried[chosen] = true;
        past->tried_ns[chosen] = past->spent_ns;
    }
    return chosen;
}
