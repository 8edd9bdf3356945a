/*
 * What waits on a member: the estimated times of what was placed there and isn't known to have ended, less what has
 * passed since the last known end.
 *
 * Ends are often noticed late, when somebody waits. So what by estimate has ended is taken to have ended, unless its
 * end would have been noticed (it is watched): then it is late, and what is late by x is taken to last for another x,
 * as times that vary much (the rows of a Mandelbrot set) do.
 */
#include "place/internal.h"

#include <math.h>

static double passed_ns(const struct tsl_load *load, uint64_t now_ns)
{
    return now_ns > load->since_ns ? (double)(now_ns - load->since_ns) : 0;
}

double tsl_load_left_ns(const struct tsl_load *load, uint64_t now_ns)
{
    double left = load->ns + load->late_ns - passed_ns(load, now_ns);

    if (load->n == 0)
        return 0;
    if (left > 0)
        return left;
    return load->n_watched ? -left : 0;
}

double tsl_busy_ns(const struct tsl_placer *placer, unsigned member, uint64_t now_ns)
{
    double ns = tsl_load_left_ns(&placer->load[member], now_ns);

    for (unsigned i = 0; i < placer->n && !tsl_members_is_empty(placer->rivals[member]); i++)
        if (tsl_placer_rivals(placer, member, i))
            ns += tsl_load_left_ns(&placer->load[i], now_ns);
    return ns;
}

/* All before it has ended, as far as one can know: it is not counted any more, whenever that is noticed. */
static void begin_epoch(struct tsl_load *load, uint64_t now_ns)
{
    load->epoch++;
    load->n = 0;
    load->ns = load->other_ns = load->late_ns = 0;
    load->since_ns = now_ns;
    load->unwatched_ns = 0;
}

void tsl_load_add(struct tsl_load *load, struct tsl_placement *placement, uint64_t now_ns)
{
    if (load->n == 0 || (load->n_watched == 0 && tsl_load_left_ns(load, now_ns) <= 0))
        begin_epoch(load, now_ns);
    if (load->n > 0) /* What is late stays as late as it is, and the new one comes after it. */
        load->late_ns = fmax(passed_ns(load, now_ns) + tsl_load_left_ns(load, now_ns) - load->ns, 0);
    placement->epoch = load->epoch;
    placement->placed = true;
    load->n++;
    load->ns += placement->run_ns;
    load->other_ns += placement->part ? 0 : placement->run_ns;
    load->n_watched += placement->watch;
    load->unwatched_ns = placement->watch ? 0 : load->unwatched_ns + placement->run_ns;
}

void tsl_load_remove(struct tsl_load *load, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    uint64_t end_ns = ended->end_ns && ended->end_ns < ended->now_ns ? ended->end_ns : ended->now_ns;

    load->n_watched -= placement->watch;
    if (placement->epoch != load->epoch)
        return;
    load->n--;
    load->late_ns = 0;
    load->ns = fmax(load->ns - placement->run_ns, 0);
    load->other_ns = fmax(load->other_ns - (placement->part ? 0 : placement->run_ns), 0);
    if (end_ns > load->since_ns)
        load->since_ns = end_ns;
}
