/* The ranges of which a box of bytes is made: one, or its rows; in ascending order. */
#ifndef TSL_GRAPH_RUNS_H
#define TSL_GRAPH_RUNS_H

#include "graph/copies.h"

struct tsl_box_copy;

/* Does the region lie without gaps? */
bool tsl_runs_linear(const size_t region[3], size_t row_pitch, size_t slice_pitch);
/* Bytes from the first to behind the last that the box has in dst. */
size_t tsl_runs_hull(const struct tsl_box_copy *box);
/* How many ranges the box is made of in dst, and each of them. */
size_t tsl_runs_count(const struct tsl_box_copy *box);
struct tsl_range tsl_runs_at(const struct tsl_box_copy *box, size_t i);

#endif
