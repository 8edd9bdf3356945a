/* Sets of bytes of one object, as ranges in ascending order that neither meet nor touch. A set of zeros is empty. Where
 * memory is lacking a set has failed: what it holds is wrong then, and stays so until it is finished. */
#ifndef TSL_GRAPH_BYTE_RANGES_H
#define TSL_GRAPH_BYTE_RANGES_H

#include "graph/copies.h"

#include <stdbool.h>
#include <stdint.h>

struct tsl_byte_ranges {
    unsigned n, capacity;
    struct tsl_range *list; /* heap, owned */
    bool failed;
};

void tsl_byte_ranges_finish(struct tsl_byte_ranges *set);
void tsl_byte_ranges_add(struct tsl_byte_ranges *set, uint64_t begin, uint64_t end);
void tsl_byte_ranges_add_all(struct tsl_byte_ranges *set, const struct tsl_byte_ranges *other);
/* Adds what is in one set and not in the other, or in both. set is neither of them. */
void tsl_byte_ranges_add_without(struct tsl_byte_ranges *set, const struct tsl_byte_ranges *in,
                                 const struct tsl_byte_ranges *out);
void tsl_byte_ranges_add_common(struct tsl_byte_ranges *set, const struct tsl_byte_ranges *a,
                                const struct tsl_byte_ranges *b);

#endif
