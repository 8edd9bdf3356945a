/*
 * Where along a line some work lies: how much of it between any two positions. A line goes from 0 to 1, and so does the
 * work. It is kept by pieces of equal length, within which the work lies evenly.
 *
 * Pure. All zero is a line whose work lies evenly.
 */
#ifndef TSL_BASE_DENSITY_H
#define TSL_BASE_DENSITY_H

#include <stdbool.h>

#define TSL_DENSITY_PIECES 64

struct tsl_density {
    bool uneven;
    float piece[TSL_DENSITY_PIECES]; /* > 0, the sum is 1; only if uneven */
};

/* How much of the work lies between them. 0 <= from <= to <= 1. */
double tsl_density_work(const struct tsl_density *density, double from, double to);
/* Where so much of the work, 0 to 1, lies before it. */
double tsl_density_at(const struct tsl_density *density, double work);
/* Between these positions lay so much of the work. The rest is left in proportion. belief: about how much is believed
 * of what is lacking, 1 is all. work > 0, from < to. */
void tsl_density_learn(struct tsl_density *density, double from, double to, double work, double belief);

#endif
