#include "base/density.h"

#include <math.h>

/* The least work of a piece, beside what it has if all lies evenly: it must be able to grow again. */
#define LEAST 1e-3

/* How much of piece i lies between two positions, given in pieces: 0 to 1. */
static double covered(unsigned i, double from, double to)
{
    return fmax(fmin(to, i + 1.0) - fmax(from, i), 0);
}

double tsl_density_work(const struct tsl_density *density, double from, double to)
{
    double work = 0;

    if (!density->uneven)
        return to - from;
    for (unsigned i = 0; i < TSL_DENSITY_PIECES; i++)
        work += (double)density->piece[i] * covered(i, from * TSL_DENSITY_PIECES, to * TSL_DENSITY_PIECES);
    return fmin(work, 1);
}

double tsl_density_at(const struct tsl_density *density, double work)
{
    double before = 0;

    if (!density->uneven)
        return work;
    for (unsigned i = 0; i < TSL_DENSITY_PIECES; i++) {
        double piece = (double)density->piece[i];
        if (before + piece > work)
            return fmin((i + (work - before) / piece) / TSL_DENSITY_PIECES, 1);
        before += piece;
    }
    return 1;
}

static void make_even(struct tsl_density *density)
{
    for (unsigned i = 0; i < TSL_DENSITY_PIECES; i++)
        density->piece[i] = 1.0f / TSL_DENSITY_PIECES;
    density->uneven = true;
}

void tsl_density_learn(struct tsl_density *density, double from, double to, double work, double belief)
{
    double sum = 0;

    if (!density->uneven)
        make_even(density);
    double known = fmax(tsl_density_work(density, from, to), LEAST / TSL_DENSITY_PIECES);
    double times = pow(work / known, belief);
    double others = known < 1 - LEAST ? fmax(1 - known * times, LEAST) / (1 - known) : 1;
    for (unsigned i = 0; i < TSL_DENSITY_PIECES; i++) {
        double part = covered(i, from * TSL_DENSITY_PIECES, to * TSL_DENSITY_PIECES);
        double piece = (double)density->piece[i] * (part * times + (1 - part) * others);
        density->piece[i] = (float)fmax(piece, LEAST / TSL_DENSITY_PIECES);
        sum += (double)density->piece[i];
    }
    for (unsigned i = 0; i < TSL_DENSITY_PIECES; i++)
        density->piece[i] = (float)((double)density->piece[i] / sum);
}
