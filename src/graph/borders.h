/*
 * Where one share of a launch ends and the next one begins, along a dimension, in whole groups.
 *
 * A border by the speeds of members alone would lie anywhere. But kernels work on planes, rows and blocks: the shares'
 * writes are boxes, and don't meet, only for borders between these. And a program's kernels work on the same data in
 * launches of a few groups more or less, and in groups of 2, 8 or 32 rows: where their borders differ, the rows between
 * go to and fro.
 *
 * So a border lies at a round number of groups first, a multiple of a power of two, which is the same row for all of
 * these; then at round fractions of the launch, finer ones before coarser ones, by which the shares are less balanced.
 *
 * Pure.
 */
#ifndef TSL_GRAPH_BORDERS_H
#define TSL_GRAPH_BORDERS_H

#include <stdbool.h>
#include <stdint.h>

/* Attempts, at most. */
#define TSL_BORDERS_TRIES 9u

/* The launch's shares in the order of their groups. */
struct tsl_borders {
    uint64_t n_groups;
    unsigned n;         /* shares, > 0 */
    const double *part; /* of each, of what is to be shared out; >= 0, the sum is 1 */
    uint64_t done;      /* groups, the first of the launch, that aren't to be shared out; fewer than n_groups */
    double off;         /* so far may a border lie from its place for a round number, as a part of the smallest share */
};

/* Writes ends[s]: behind the last group of share s; ascending, none before `done`, the last one is n_groups, equal ones
 * are empty shares.
 * attempt: 0 is round numbers, 1 the finest fraction. False: there is none for that attempt, and nothing is written;
 * never for 0. */
bool tsl_borders_place(const struct tsl_borders *borders, unsigned attempt, uint64_t *ends);

#endif
