#include "graph/borders.h"

#include <math.h>

/* A border is off by no more than this part of the smallest share, for the finest fraction. */
#define MOST_OFF 0.01

/* Fractions of more pieces than that aren't looked for. */
#define MOST_PIECES 1024u

/* Into how many equal pieces of whole groups the launch is divided for the first attempt: the smallest number that is
 * fine enough; 0: there is none. */
static uint64_t finest(const struct tsl_borders *b)
{
    double least = 1;
    for (unsigned s = 0; s < b->n; s++)
        least = b->part[s] > 0 ? fmin(least, b->part[s]) : least;
    double wanted = ceil(0.5 / (MOST_OFF * least));
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

/* 0: borders lie where they lie. */
static uint64_t pieces_of(const struct tsl_borders *b, unsigned attempt)
{
    uint64_t pieces = finest(b);
    if (pieces == 0 && attempt > 0)
        pieces = b->n_groups < MOST_PIECES ? b->n_groups : MOST_PIECES;
    for (unsigned i = 0; i < attempt && pieces; i++)
        pieces = coarser(b, pieces);
    return pieces;
}

bool tsl_borders_place(const struct tsl_borders *b, unsigned attempt, uint64_t *ends)
{
    uint64_t pieces = attempt < TSL_BORDERS_TRIES ? pieces_of(b, attempt) : 0;
    if (pieces == 0 && attempt > 0)
        return false;
    uint64_t all = pieces ? pieces : b->n_groups, size = b->n_groups / all;
    double sum = (double)b->done / (double)b->n_groups, left = 1 - sum;
    for (unsigned s = 0; s < b->n; s++) {
        sum += b->part[s] * left;
        uint64_t end = (uint64_t)(sum * (double)all + 0.5);
        ends[s] = (end < all ? end : all) * size;
        ends[s] = ends[s] < b->done ? b->done : ends[s];
    }
    ends[b->n - 1] = b->n_groups;
    return true;
}
