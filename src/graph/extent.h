/*
 * Extents: which bytes of an object an operation touches, where its claims take more. A claim of many rows takes the
 * range from the first to the last byte, so that the directory keeps few tiles (footing.h). Two operations whose
 * extents don't meet get no edge, though these ranges do.
 *
 * An operation has extents for all that it does to an object, or none. Under the graph's lock.
 */
#ifndef TSL_GRAPH_EXTENT_H
#define TSL_GRAPH_EXTENT_H

#include "footprint/evaluate.h"

struct tsl_data;
struct tsl_op;

/* Of one object. Sets may say too much, never too little. */
struct tsl_extent {
    const struct tsl_data *data;
    struct tsl_byte_set read, write; /* bytes of the root object */
};

/* Room for the extents of so many objects. Where there is none, the operation has no extents. */
void tsl_extents_reserve(struct tsl_op *op, unsigned n);
/* Adds to what the operation touches of the object. The set's bytes, or all `size` if it is unknown, begin at offset.
 */
void tsl_extents_add(struct tsl_op *op, const struct tsl_data *data, const struct tsl_byte_set *set, uint64_t offset,
                     uint64_t size, bool write);
/* The same of a copy or fill whose sides are set. src, dst: the claims of that side, an object's, take more than its
 * box. */
void tsl_extents_of_box(struct tsl_op *op, bool src, bool dst);

/* NULL: the operation touches of the object whatever it claims. */
const struct tsl_extent *tsl_extent_of(const struct tsl_op *op, const struct tsl_data *data);
/* The extent of the object whose host copy has all of these host addresses; NULL: none, or several such objects. */
const struct tsl_extent *tsl_extent_on_host(const struct tsl_op *op, uint64_t begin, uint64_t end);
/* That range, read and written. */
struct tsl_extent tsl_extent_range(uint64_t begin, uint64_t end);
/* What a launch touches of an argument's memory, which is `size` bytes of the object from offset on. */
void tsl_extent_of_touch(struct tsl_extent *extent, const struct tsl_argument_touch *touch, uint64_t offset,
                         uint64_t size);

/* Is any byte of the range touched? */
bool tsl_extent_meets(const struct tsl_extent *extent, uint64_t begin, uint64_t end);

/* How an extent is looked at: which of the two sets count, and where the object's first byte lies. */
struct tsl_extent_view {
    const struct tsl_extent *extent;
    uint64_t base;
    bool reads, writes;
};

/* May two operations touch the same byte, and one of them writes it? */
bool tsl_extents_conflict(const struct tsl_extent_view *a, const struct tsl_extent_view *b);
/* Will all that conflicts with `old` conflict with `new`, too? May say no. */
bool tsl_extent_covers(const struct tsl_extent_view *new, const struct tsl_extent_view *old);

#endif
