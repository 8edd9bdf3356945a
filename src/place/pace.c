/*
 * Does the program get on faster where its data are distributed?
 *
 * What a cut gains and costs is an estimate, and a program may lose by what no launch is charged with: the host plans
 * many small launches more slowly, say, while the members wait. So the pace is measured, what launches take whole by
 * the time from the end of one to that of the next: of those placed before an epoch of layout.c, or before launches
 * were cut whose moves were no matter, and of those placed in it, from when most of its moves are over. If it isn't
 * higher there, twice, the epoch ends as if the ledger were overdrawn. What is measured so corrects the ledger, and is
 * what later runs are told.
 *
 * Ends count. When launches are placed says little: cut ones, and those that earlier runs tell of, are placed far ahead
 * of the members. An end that isn't measured is when it is noticed.
 *
 * From one end to the next no more time counts than what ends may take: the program may do something else meanwhile,
 * and a member that opens does so once.
 */
#include "place/internal.h"

#include "base/log.h"

#include <math.h>

#define QUIET_NS      5e6 /* an epoch is judged from so long after the last of its first moves, but not later than ... */
#define SETTLE        8   /* ... times what they take after it began, and so long */
#define WINDOW_NS     1.5e7 /* so long is watched first */
#define LATER_NS      1e8 /* and each time after that; until the kernel comes again with which it began, if that is ... */
#define CYCLE         4   /* ... in so many times as long: what a program does by turns has paces of its own */
#define KEPT_NS       1e8 /* of the pace before an epoch the last so much counts, as a rule */
#define GAP_NS        1e6 /* so much time counts at most from one end to the next, and ... */
#define GAP           4   /* ... times what the next takes */
#define LEAST_WATCHED 16  /* ends of launches and parts: of one that is late nothing follows */
#define LEAST_GAIN    1.02
#define KNOWN_NS      2e7 /* what was watched before an epoch says nothing if it is less */
#define FAILED        4   /* times as much regret as otherwise takes the next epoch after one that gained nothing */

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
static bool is_enough(const struct tsl_layout *layout, uint64_t kernel)
{
    double time_ns = layout->pace.time_ns;

    if (layout->n_watched < LEAST_WATCHED)
        return false;
    return time_ns >= layout->watch_ns && (kernel == layout->first_kernel || time_ns >= layout->watch_ns * CYCLE);
}

static void forget(struct tsl_layout *layout)
{
    layout->pace = (struct tsl_pace){0};
    layout->n_watched = 0;
    layout->is_due = false;
}

/* What was measured takes the place of what was estimated. */
static void judge(struct tsl_placer *placer)
{
    struct tsl_layout *layout = &placer->layout;
    double faster = pace_of(&layout->pace) / pace_of(&layout->whole_pace), time_ns = layout->pace.time_ns;

    forget(layout);
    layout->watch_ns = WINDOW_NS;
    if (!tsl_pace_knows(placer))
        return;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "with distributed data launches get on %.2f times as fast", faster);
    double correction_ns = time_ns * (faster - 1) - layout->booked_ns;
    /* The ledger holds little of what was booked: where there is a gain nothing is taken from it. */
    tsl_pays_correct(placer, faster < LEAST_GAIN ? correction_ns : fmax(correction_ns, 0));
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

    layout->is_watched = true;
    layout->phase++;
    layout->began_ns = now_ns;
    layout->watch_ns = WINDOW_NS;
    layout->n_slow = 0;
    forget(layout);
}

void tsl_pace_end(struct tsl_placer *placer)
{
    placer->layout.is_watched = false;
    forget(&placer->layout);
}

void tsl_pace_cut(struct tsl_placer *placer, uint64_t now_ns)
{
    if (placer->layout.is_due)
        judge(placer);
    if (placer->layout.is_watched || placer->paused)
        return;
    tsl_pace_begin(placer, now_ns);
    placer->layout.paid_at_ns = now_ns;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

enum { UNPACED, WHOLE, PHASES }; /* phases of launches: those of epochs come last */

void tsl_pace_placed(struct tsl_placer *placer, struct tsl_placement *placement, uint64_t now_ns)
{
    const struct tsl_layout *layout = &placer->layout;

    if (!layout->is_watched)
        placement->paced = WHOLE;
    else
        placement->paced = settles(layout, now_ns) ? UNPACED : PHASES + layout->phase;
}

/* What of the time since the last end counts for one that takes so much whole. Several may be noticed together. */
static double counted_ns(struct tsl_layout *layout, const struct tsl_ended *ended, double work_ns)
{
    uint64_t end_ns = ended->end_ns && ended->end_ns < ended->now_ns ? ended->end_ns : ended->now_ns;

    if (end_ns > layout->end_ns) {
        layout->owed_ns = layout->end_ns ? (double)(end_ns - layout->end_ns) : 0;
        layout->allowed_ns = GAP_NS;
        layout->end_ns = end_ns;
    }
    layout->allowed_ns += GAP * work_ns;
    double ns = fmin(layout->owed_ns, layout->allowed_ns);
    layout->owed_ns -= ns;
    layout->allowed_ns -= ns;
    return ns;
}

static void watch_whole(struct tsl_layout *layout, double work_ns, double time_ns)
{
    add(&layout->whole_pace, work_ns, time_ns);
    if (layout->whole_pace.time_ns > KEPT_NS)
        halve(&layout->whole_pace);
}

static void watch(struct tsl_layout *layout, const struct tsl_placement *placement, uint64_t kernel, double work_ns,
                  double time_ns)
{
    if (layout->n_watched++ == 0) {
        layout->first_kernel = kernel;
        layout->booked_ns = 0;
    }
    layout->booked_ns += placement->booked_ns;
    add(&layout->pace, work_ns, time_ns);
    layout->is_due |= is_enough(layout, kernel);
}

void tsl_pace_ended(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    struct tsl_layout *layout = &placer->layout;
    bool first = !layout->end_ns;
    double work_ns = ended->ran_ns && !placement->part ? (double)ended->ran_ns : placement->work_ns,
           time_ns = counted_ns(layout, ended, work_ns);

    if (work_ns <= 0 || first)
        return;
    if (placement->paced == WHOLE && !placement->part)
        watch_whole(layout, work_ns, time_ns);
    else if (layout->is_watched && placement->paced == PHASES + layout->phase)
        watch(layout, placement, ended->kernel, work_ns, time_ns);
}
