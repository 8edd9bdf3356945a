#include "graph/borders.h"

#include <math.h>

/* A border is off by no more than this part of the smallest share, for the finest fraction. */
#define MOST_OFF 0.01

/* Fractions of more pieces than that aren't looked for. */
#define MOST_PIECES 1024u

/* So many groups are round enough: a power of two. */
#define ROUND 32u

static double smallest(const struct tsl_borders *b)
{
    double least = 1;
    for (unsigned s = 0; s < b->n; s++)
        least = b->part[s] > 0 ? fmin(least, b->part[s]) : least;
    return least;
}

/* Into how many equal pieces of whole groups the launch is divided for the first fraction: the smallest number that is
 * fine enough; 0: there is none. */
static uint64_t finest(const struct tsl_borders *b)
{
    double wanted = ceil(0.5 / (MOST_OFF * smallest(b)));
    if (wanted > MOST_PIECES)
        return 0;
    for (uint64_t n = (uint64_t)wanted; n <= 2 * (uint64_t)wanted && n <= b->n_groups; n++)
        if (b->n_groups % n == 0)
            return n;
    return 0;
}

/* The next one that is much coarser. 0: there is none that leaves each share a piece. */
static uint64_t coarser(const struct tsl_borders *b, uint64_t pieces)
{
    for (pieces = 2 * pieces / 3; pieces >= b->n; pieces--)
        if (b->n_groups % pieces == 0)
            return pieces;
    return 0;
}

/* 0: there is none. attempt > 0 */
static uint64_t pieces_of(const struct tsl_borders *b, unsigned attempt)
{
    uint64_t pieces = finest(b);
    unsigned i = pieces ? 1 : 0;
    if (!pieces)
        pieces = b->n_groups < MOST_PIECES ? b->n_groups : MOST_PIECES;
    for (; i < attempt && pieces; i++)
        pieces = coarser(b, pieces);
    return pieces;
}

/* The multiple of the largest power of two that is near enough, of whole groups. */
static uint64_t round_near(const struct tsl_borders *b, double at)
{
    double most_off = b->off * smallest(b) * (double)(b->n_groups - b->done);
    for (uint64_t unit = ROUND; unit > 1; unit /= 2) {
        double end = rint(at / (double)unit) * (double)unit;
        if (fabs(end - at) <= most_off && end <= (double)b->n_groups)
            return (uint64_t)end;
    }
    return (uint64_t)(at + 0.5);
}

static uint64_t end_of(const struct tsl_borders *b, double sum, uint64_t pieces)
{
    if (!pieces)
        return round_near(b, sum * (double)b->n_groups);
    return (uint64_t)(sum * (double)pieces + 0.5) * (b->n_groups / pieces);
}

bool tsl_borders_place(const struct tsl_borders *b, unsigned attempt, uint64_t *ends)
{
    uint64_t pieces = attempt > 0 && attempt < TSL_BORDERS_TRIES ? pieces_of(b, attempt) : 0;
    if (pieces == 0 && attempt > 0)
        return false;
    double sum = (double)b->done / (double)b->n_groups, left = 1 - sum;
    for (unsigned s = 0; s < b->n; s++) {
        sum += b->part[s] * left;
        uint64_t end = end_of(b, sum, pieces);
        ends[s] = end < b->n_groups ? end : b->n_groups;
        ends[s] = ends[s] < b->done ? b->done : ends[s];
    }
    ends[b->n - 1] = b->n_groups;
    return true;
}
