/*
 * Slabs: what a share of a launch has of each plane of a volume, or of each large row of a matrix, from the first to
 * the last byte there. A set of bytes with too many rows to claim one by one may have few slabs, and shares whose rows
 * lie by turns in memory have slabs that don't meet, where ranges from the first to the last byte would.
 *
 * A slab may hold bytes that the set has not: those between two rows of one plane, and those of a plane in which
 * another box of the set has more.
 */
#ifndef TSL_GRAPH_SLABS_H
#define TSL_GRAPH_SLABS_H

#include "graph/footing.h"

/* So many slabs at most has an argument in one direction, of so many bytes on the average at least. Tests change both.
 */
extern uint32_t tsl_slabs_most;
extern uint64_t tsl_slabs_large;

/* The set's boxes as slabs, and those as ranges that have none, in bytes of the root. False: it has no slabs, or too
 * many, or too small ones; then the ranges say nothing. The set is known. */
bool tsl_slabs_of(const struct tsl_byte_set *set, const struct tsl_buffer *buffer, struct tsl_footing_ranges *ranges);

#endif
