/*
 * Does the program get on faster where its data are distributed?
 *
 * What a cut gains and costs is an estimate, and a program may lose by what no launch is charged with: the host plans
 * many small launches more slowly, say, while the members wait. So the pace is measured, what the launches take whole
 * by the time in which they were placed: before an epoch of layout.c, and in it, from when most of its moves are over.
 * If it isn't higher there, twice, the epoch ends as if the ledger were overdrawn. What is measured so corrects the
 * ledger, and is what later runs are told.
 *
 * From one launch to the next no more time counts than those before may take: the program may do something else
 * meanwhile. Launches that are cut may be placed far ahead of the members: so what members have to do more than before
 * counts as well.
 */
#include "place/internal.h"

#include "base/log.h"

#include <math.h>

#define QUIET_NS   5e6   /* an epoch is judged from so long after the last of its first moves, but not later than ... */
#define SETTLE     8     /* ... times what they take after it began, and so long */
#define WINDOW_NS  1.5e7 /* so long is watched first */
#define LATER_NS   1e8 /* and each time after that; until the kernel comes again with which it began, if that is ... */
#define CYCLE      4   /* ... in so many times as long: what a program does by turns has paces of its own */
#define KEPT_NS    1e8 /* of the pace before an epoch the last so much counts, as a rule */
#define GAP_NS     1e6 /* so much time counts at most from one launch to the next, and ... */
#define GAP        4   /* ... times what those before it take that can't be over yet */
#define LEAST_GAIN 1.02
#define KNOWN_NS   2e7 /* what was watched before an epoch says nothing if it is less */
#define FAILED     4   /* times as much regret as otherwise takes the next epoch after one that gained nothing */

/* The model knows as kernels of their own for how long the program got on faster with distributed data, and how long it
 * didn't. */
#define FASTER_KEY UINT64_C(0x3c6ef372fe94f82b)
#define SLOWER_KEY UINT64_C(0xa54ff53a5f1d36f1)

static double pace_of(const struct tsl_pace *pace)
{
    return pace->time_ns > 0 ? pace->work_ns / pace->time_ns : 0;
}

static void halve(struct tsl_pace *pace)
{
    pace->work_ns /= 2;
    pace->time_ns /= 2;
}

static void add(struct tsl_pace *pace, double work_ns, double time_ns)
{
    pace->work_ns += work_ns;
    pace->time_ns += time_ns;
}

static bool settles(const struct tsl_layout *layout, uint64_t now_ns)
{
    return (double)(now_ns - layout->paid_at_ns) < QUIET_NS &&
           (double)(now_ns - layout->began_ns) < QUIET_NS + layout->spent_ns * SETTLE;
}

bool tsl_pace_knows(const struct tsl_placer *placer)
{
    return placer->layout.whole_pace.time_ns >= KNOWN_NS;
}

/* Has so much been watched that it says something? */
static bool is_due(const struct tsl_layout *layout, uint64_t kernel)
{
    double time_ns = layout->pace.time_ns;

    return time_ns >= layout->watch_ns && (kernel == layout->first_kernel || time_ns >= layout->watch_ns * CYCLE);
}

/* What was measured takes the place of what was estimated. */
static void judge(struct tsl_placer *placer)
{
    struct tsl_layout *layout = &placer->layout;
    double faster = pace_of(&layout->pace) / pace_of(&layout->whole_pace), time_ns = layout->pace.time_ns;

    layout->pace = (struct tsl_pace){0};
    layout->watch_ns = WINDOW_NS;
    if (!tsl_pace_knows(placer))
        return;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "with distributed data launches get on %.2f times as fast", faster);
    tsl_pays_correct(placer, time_ns * (faster - 1) - layout->booked_ns);
    layout->n_slow = faster < LEAST_GAIN ? layout->n_slow + 1 : 0;
    if (layout->n_slow == 1) /* It may be chance, or what members do once. */
        return;
    tsl_model_spent(placer->model, placer->program ^ (layout->n_slow ? SLOWER_KEY : FASTER_KEY), time_ns);
    layout->watch_ns = LATER_NS;
    if (layout->n_slow) {
        layout->doubt = fmin(fmax(layout->doubt, 1) * FAILED, TSL_MOST_DOUBT);
        tsl_pays_pause(placer);
    }
}

bool tsl_pace_was_slower(struct tsl_placer *placer)
{
    return tsl_gains_are_alike(placer) && tsl_model_past_ns(placer->model, placer->program ^ FASTER_KEY) <
                                              tsl_model_past_ns(placer->model, placer->program ^ SLOWER_KEY);
}

void tsl_pace_begin(struct tsl_placer *placer, uint64_t now_ns)
{
    struct tsl_layout *layout = &placer->layout;

    layout->is_open = true;
    layout->began_ns = now_ns;
    layout->watch_ns = WINDOW_NS;
    layout->n_slow = 0;
    layout->pace = (struct tsl_pace){0};
}

/* How long from now members are busy with what was placed. */
static double longest_busy_ns(const struct tsl_placer *placer, uint64_t now_ns)
{
    double longest = 0;

    for (unsigned i = 0; i < placer->n; i++)
        longest = fmax(longest, tsl_busy_ns(placer, i, now_ns));
    return longest;
}

void tsl_pace_launched(struct tsl_placer *placer, const struct tsl_ask *ask, double whole_ns)
{
    uint64_t now_ns = ask->now_ns;
    struct tsl_layout *layout = &placer->layout;
    double passed_ns = now_ns > layout->last_at_ns ? (double)(now_ns - layout->last_at_ns) : 0,
           gap_ns = fmin(passed_ns, GAP_NS + GAP * layout->ahead_ns), busy_ns = longest_busy_ns(placer, now_ns),
           time_ns = fmax(gap_ns + busy_ns - layout->busy_ns, 0);

    layout->busy_ns = busy_ns;
    layout->last_at_ns = now_ns > layout->last_at_ns ? now_ns : layout->last_at_ns;
    layout->ahead_ns = fmax(layout->ahead_ns - passed_ns, 0) + whole_ns;
    if (!layout->is_open) {
        add(&layout->whole_pace, whole_ns, time_ns);
        if (layout->whole_pace.time_ns > KEPT_NS)
            halve(&layout->whole_pace);
        return;
    }
    if (settles(layout, now_ns)) {
        layout->pace = (struct tsl_pace){0};
        return;
    }
    if (layout->pace.time_ns <= 0) {
        layout->first_kernel = ask->kernel;
        layout->booked_ns = 0;
    }
    add(&layout->pace, whole_ns, time_ns);
    if (is_due(layout, ask->kernel))
        judge(placer);
}
