/*
 * Where one share of a launch ends and the next one begins, along a dimension, in whole groups.
 *
 * A border by the speeds of members alone would lie anywhere. But kernels work on planes, rows and blocks: the shares'
 * writes are boxes, and don't meet, only for borders between these. So borders lie at round fractions of the launch,
 * which also are the same for several kernels over the same data. Finer fractions come first, then coarser ones, by
 * which the shares are less balanced.
 *
 * Pure.
 */
#ifndef TSL_GRAPH_BORDERS_H
#define TSL_GRAPH_BORDERS_H

#include <stdbool.h>
#include <stdint.h>

/* Fractions that are tried, at most. */
#define TSL_BORDERS_TRIES 8u

/* The launch's shares in the order of their groups. */
struct tsl_borders {
    uint64_t n_groups;
    unsigned n;         /* shares, > 0 */
    const double *part; /* of each, of what is to be shared out; >= 0, the sum is 1 */
    uint64_t done;      /* groups, the first of the launch, that aren't to be shared out; fewer than n_groups */
};

/* Writes ends[s]: behind the last group of share s; ascending, none before `done`, the last one is n_groups, equal ones
 * are empty shares.
 * attempt: 0 is the finest fraction. False: there is none for that attempt, and nothing is written; never for 0. */
bool tsl_borders_place(const struct tsl_borders *borders, unsigned attempt, uint64_t *ends);

#endif
