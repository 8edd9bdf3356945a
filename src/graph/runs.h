/* The ranges of which a box of bytes is made: one, or its rows; in ascending order. */
#ifndef TSL_GRAPH_RUNS_H
#define TSL_GRAPH_RUNS_H

#include "graph/copies.h"

struct tsl_box_copy;

/* So many rows of a box or of a footprint are claimed one by one; of a footprint's, which a launch may have in large
 * data, up to TSL_RUNS_MOST if they have tsl_runs_large bytes on the average. Tests change both. */
#define TSL_RUNS_MOST 64u
extern unsigned tsl_runs_most;
extern size_t tsl_runs_large;

/* Rows are far from each other that are so many bytes apart on the average. Tests change it. */
extern size_t tsl_runs_far;

/* Does the region lie without gaps? */
bool tsl_runs_linear(const size_t region[3], size_t row_pitch, size_t slice_pitch);
/* Bytes from the first to behind the last that the box has in dst. */
size_t tsl_runs_hull(const struct tsl_box_copy *box);
/* How many ranges the box is made of in dst, and each of them. */
size_t tsl_runs_count(const struct tsl_box_copy *box);
struct tsl_range tsl_runs_at(const struct tsl_box_copy *box, size_t i);
/* Are these ranges few, and far from each other? Then each is fetched and claimed for itself, else the range from the
 * first to the last byte: gaps of a few KiB are moved sooner than each row by itself. */
bool tsl_runs_are_few(const struct tsl_box_copy *box);
/* Brings ranges into ascending order, and joins those that meet or touch: so many are left. */
unsigned tsl_runs_tidy(struct tsl_range *ranges, unsigned n);
/* The box with its src in the place of its dst. */
struct tsl_box_copy tsl_runs_of_src(const struct tsl_box_copy *box);

#endif
