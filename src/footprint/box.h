/*
 * Single boxes of bytes: pure arithmetic, inside footprint/. No box ends beyond 2^62.
 */
#ifndef TSL_FOOTPRINT_BOX_H
#define TSL_FOOTPRINT_BOX_H

#include "footprint/evaluate.h"

/* From the first byte to behind the last. */
uint64_t tsl_box_extent(const struct tsl_byte_box *box);
uint64_t tsl_box_size(const struct tsl_byte_box *box);
/* The same bytes as tsl_byte_box wants them, where strides may be full or counts 1. */
void tsl_box_normalise(struct tsl_byte_box *box);
/* Is all of b in a? May say no where a's strides aren't b's. */
bool tsl_box_contains(const struct tsl_byte_box *a, const struct tsl_byte_box *b);
/* a and b as one box of exactly their bytes; false: not found. */
bool tsl_box_join(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint);
/* The same, where a new stride may be made of the two's distance. */
bool tsl_box_pair(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint);
/* A box around both: with their common strides, else from the first to the last byte. */
void tsl_box_hull(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint);
/* Do they share a byte, where b lies `shift` bytes further? No is certain. Exact where the strides are equal or one has
 * few rows. */
bool tsl_box_meet(const struct tsl_byte_box *a, const struct tsl_byte_box *b, int64_t shift);

#endif
