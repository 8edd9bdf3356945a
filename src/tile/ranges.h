/*
 * A set of byte ranges, each with how often it was added. Ranges that meet another one are found without looking at the
 * rest. Ranges may overlap. The owner locks.
 */
#ifndef TSL_TILE_RANGES_H
#define TSL_TILE_RANGES_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_ranged {
    RB_ENTRY(tsl_ranged) node;
    uint64_t begin, end; /* bytes; begin < end */
    uint64_t last;       /* the largest end in its part of the tree */
    unsigned n;          /* added so often, and not removed */
};

/* All zero: empty. */
struct tsl_ranges {
    RB_HEAD(tsl_ranged_tree, tsl_ranged) tree;
};

/* False: no memory. */
bool tsl_ranges_add(struct tsl_ranges *ranges, uint64_t begin, uint64_t end);
/* Takes away one adding; nothing if the range isn't in the set. */
void tsl_ranges_remove(struct tsl_ranges *ranges, uint64_t begin, uint64_t end);
void tsl_ranges_finish(struct tsl_ranges *ranges);

static inline bool tsl_ranges_empty(const struct tsl_ranges *ranges)
{
    return RB_EMPTY(&ranges->tree);
}

/* The first that meets [begin, end), in the order of their begins (then of their ends); NULL: none. */
const struct tsl_ranged *tsl_ranges_meeting(const struct tsl_ranges *ranges, uint64_t begin, uint64_t end);
/* The next range that meets the same [begin, end). */
const struct tsl_ranged *tsl_ranges_next_meeting(const struct tsl_ranged *ranged, uint64_t begin, uint64_t end);

RB_PROTOTYPE(tsl_ranged_tree, tsl_ranged, node, compare)

#endif
