/* Sets of times, as ascending intervals without overlaps (meters.h). Functions that return bool: false without memory.
 */
#ifndef TSL_TOOL_INTERVALS_H
#define TSL_TOOL_INTERVALS_H

#include "tool/meters.h"

/* Adds an interval that starts at the last one's start or later. Empty ones are dropped. */
bool tsl_intervals_add(struct tsl_intervals *set, uint64_t start_ns, uint64_t end_ns);

/* set becomes the union of both. */
bool tsl_intervals_unite(struct tsl_intervals *set, const struct tsl_intervals *other);

uint64_t tsl_intervals_length(const struct tsl_intervals *set);

/* The length of what both have. */
uint64_t tsl_intervals_common(const struct tsl_intervals *a, const struct tsl_intervals *b);

/* The first interval that ends behind the time. */
size_t tsl_intervals_find(const struct tsl_intervals *set, uint64_t ns);

/* How long at least one of the units, and at least two of them, were busy: in sums[0] and sums[1]. */
bool tsl_intervals_depth(const struct tsl_unit *units, unsigned n, uint64_t sums[2]);

#endif
