#include "graph/cut_work.h"

#include "base/log.h"
#include "graph/command.h"
#include "program/program.h"

#include <math.h>
#include <string.h>

#define UNEVEN      0.12 /* shares that took more or less than that part beside what was expected ... */
#define UNEVEN_NS   5e4  /* ... and by so much: less is chance */
#define LONGER      1.25
#define BELIEF      0.5  /* in what short launches say (base/density.h) */
#define SURE_UNEVEN 2    /* launches, one after another, of which the same share differs most, and as much */
#define GROSS       0.08 /* by which shares that take so long don't differ by chance */
#define GROSS_NS    1e7
#define TOO_DEAR    4   /* launches, one after another, whose moves cost more than their borders gain */
#define EVEN_FOR    256 /* launches */

/* The first memo becomes one of so many work-items, of which the kernel object knows nothing; the oldest goes. Launches
 * of which each has another size learn together, so what the last size had goes on. */
static void begin_size(struct tsl_command *c, uint64_t n_items)
{
    struct tsl_work_memo *works = c->kernel->cut.works;

    if (works[0].n_items)
        memmove(works + 1, works, (TSL_WORK_SIZES - 1) * sizeof(*works));
    works[0].n_items = n_items;
    if (tsl_placer_density(c->graph->placer, c->kernel->place_key, n_items, &works[0].dimension, &works[0].work))
        works[0].even_for = 0;
}

void tsl_cut_work_turn(struct tsl_command *c, uint64_t n_items)
{
    struct tsl_work_memo *works = c->kernel->cut.works, turned;
    unsigned i = 0;

    if (works[0].n_items == n_items)
        return;
    while (i < TSL_WORK_SIZES && works[i].n_items != n_items)
        i++;
    if (i == TSL_WORK_SIZES) {
        begin_size(c, n_items);
        return;
    }
    turned = works[i];
    memmove(works + 1, works, i * sizeof(*works));
    works[0] = turned;
}

void tsl_cut_work_place(const struct tsl_work_memo *memo, unsigned n, double *part)
{
    double work = 0, at = 0;

    for (unsigned s = 0; s < n && memo->work.uneven; s++) {
        work += part[s];
        double end = s + 1 < n ? tsl_density_at(&memo->work, fmin(work, 1)) : 1;
        part[s] = fmax(end - at, 0);
        at = fmax(end, at);
    }
}

/* The groups of a window as positions in the launch. */
static void positions(const struct tsl_window *window, unsigned d, double *from, double *to)
{
    size_t local = window->local_size[d] ? window->local_size[d] : 1;
    double all = ceil((double)window->global_size[d] / (double)local);

    *from = fmin((double)window->group_begin[d] / all, 1);
    *to = fmin((double)(window->group_begin[d] + window->group_count[d]) / all, 1);
}

double tsl_cut_work_of(const struct tsl_work_memo *memo, const struct tsl_window *window, unsigned dimension)
{
    double from, to;

    positions(window, dimension, &from, &to);
    return tsl_density_work(&memo->work, from, to);
}

double tsl_cut_work_gain(const struct tsl_work_memo *memo, unsigned n_members, const struct tsl_parts *parts)
{
    double at = 0, gain = 1;

    for (unsigned i = 0; i < n_members; i++)
        if (parts->of[i] > 0) {
            double end = fmin(at + parts->of[i], 1);
            gain = fmax(gain, tsl_density_work(&memo->work, at, end) / parts->of[i]);
            at = end;
        }
    return gain;
}

/* What is known of the kernel's launches is for all of its objects. */
static void keep(struct tsl_command *c)
{
    const struct tsl_work_memo *memo = &c->kernel->cut.works[0];

    tsl_placer_set_density(c->graph->placer, c->kernel->place_key, memo->n_items, memo->dimension, &memo->work);
}

void tsl_cut_work_moved(struct tsl_command *c, double gain, double run_ns, double peer_ns)
{
    struct tsl_work_memo *memo = &c->kernel->cut.works[0];

    if (!memo->work.uneven)
        return;
    memo->n_dear = peer_ns > run_ns * (gain - 1) ? memo->n_dear + 1 : 0;
    if (memo->n_dear < TOO_DEAR)
        return;
    memo->work.uneven = false;
    keep(c);
    memo->n_dear = 0;
    memo->even_for = EVEN_FOR;
}

/* ---- What shares' times say -------------------------------------------------------------------------------------- */

/* The shares that say something: rims are small. */
struct looked_at {
    unsigned n;  /* the first so many */
    double done; /* their work by their times */
    double part; /* how much of the launch they were thought to be */
    double speed[TSL_MAX_MEMBERS];
};

static double ran_ns(const struct tsl_share *share)
{
    return (double)(share->ran_to_ns - share->ran_from_ns);
}

/* How fast members are at the kernel: by what was expected of all shares of those that are alike. What is expected of a
 * single one may come from a launch that lay just so, and be uneven itself. False: it isn't known. */
static bool find_speeds(struct tsl_command *c, struct looked_at *of)
{
    struct tsl_placer *placer = c->graph->placer;

    for (unsigned s = 0; s < of->n; s++) {
        unsigned member = tsl_command_share(c, s)->placement.member;
        double work = 0, expected_ns = 0;
        for (unsigned k = 0; k < of->n; k++) {
            const struct tsl_share *other = tsl_command_share(c, k);
            if (!tsl_placer_alike(placer, member, other->placement.member))
                continue;
            if (!other->placement.known || other->placement.run_ns <= 0)
                return false;
            work += (double)other->work;
            expected_ns += other->placement.run_ns;
        }
        of->speed[member] = work / expected_ns;
    }
    return true;
}

/* The share's work by its time and by its member's speed. */
static double done(const struct looked_at *of, const struct tsl_share *share)
{
    return ran_ns(share) * of->speed[share->placement.member];
}

/* Of two that differ as much, as one of two shares has what the other lacks, it is the longer one. */
static double weight(double by)
{
    return by > 0 ? LONGER * by : -by;
}

/* Of all shares the one that differs most from what was thought: by how much of that. */
static struct tsl_odd_share find_odd(struct tsl_command *c, const struct tsl_work_memo *memo,
                                     const struct looked_at *of)
{
    struct tsl_odd_share odd = {0};

    for (unsigned s = 0; s < of->n; s++) {
        const struct tsl_share *share = tsl_command_share(c, s);
        double thought = tsl_cut_work_of(memo, &share->window, memo->dimension) / of->part;
        double by = done(of, share) / of->done / fmax(thought, 1e-9) - 1;
        if (fabs(by) * ran_ns(share) >= UNEVEN_NS && weight(by) > weight(odd.by))
            odd = (struct tsl_odd_share){s, by};
    }
    return odd;
}

/* Does it differ clearly, and is it no chance: did it in the launch before, too? */
static bool is_odd_again(struct tsl_work_memo *memo, struct tsl_odd_share odd)
{
    bool odd_now = fabs(odd.by) > UNEVEN;
    bool same = memo->odd.share == odd.share && fabs(memo->odd.by - odd.by) <= fabs(odd.by) / 2;

    memo->n_uneven = !odd_now ? 0 : same ? memo->n_uneven + 1 : 1;
    memo->odd = odd;
    return memo->n_uneven >= SURE_UNEVEN;
}

static bool is_gross(struct tsl_command *c, struct tsl_odd_share odd)
{
    const struct tsl_share *share = tsl_command_share(c, odd.share);

    return fabs(odd.by) > GROSS && ran_ns(share) >= GROSS_NS;
}

static void learn(struct tsl_command *c, struct tsl_work_memo *memo, const struct looked_at *of, double belief)
{
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "%s: its shares had other work than was thought", c->kernel->name);
    for (unsigned s = 0; s < of->n; s++) {
        const struct tsl_share *share = tsl_command_share(c, s);
        double from, to;
        positions(&share->window, memo->dimension, &from, &to);
        if (from < to)
            tsl_density_learn(&memo->work, from, to, done(of, share) / of->done * of->part, belief);
    }
    keep(c);
}

void tsl_cut_work_learn(struct tsl_command *c)
{
    struct tsl_work_memo *memo = &c->kernel->cut.works[0];
    struct looked_at of = {.n = c->n_inside ? c->n_inside : c->n_more + 1};
    struct tsl_window all = c->share.window;

    if (c->rung != TSL_RUNG_EXACT)
        return;
    all.whole = true;
    tsl_cut_work_turn(c, tsl_window_items(&all));
    if (memo->even_for) {
        memo->even_for--;
        return;
    }
    if (c->cut_dimension != memo->dimension) {
        memo->work.uneven = false;
        memo->dimension = c->cut_dimension;
    }
    if (!find_speeds(c, &of))
        return;
    for (unsigned s = 0; s < of.n; s++) {
        const struct tsl_share *share = tsl_command_share(c, s);
        of.done += done(&of, share);
        of.part += tsl_cut_work_of(memo, &share->window, memo->dimension);
    }
    if (of.part <= 0 || of.done <= 0)
        return;
    struct tsl_odd_share odd = find_odd(c, memo, &of);
    bool again = is_odd_again(memo, odd), gross = is_gross(c, odd);
    if (again || gross)
        learn(c, memo, &of, gross ? 1 : BELIEF);
}
