/*
 * From a kernel's footprint to the bytes that a window of a launch touches: pure, no locks, no OpenCL calls, a few
 * microseconds.
 *
 * How it is computed. The ids and loop counters of a window are a product of ranges. Each node becomes an affine form
 * over these, an integer that stands for the node's value modulo 2^bits, or a range of integers, or unknown. Whoever
 * takes a form as a signed or unsigned number (a conversion, a comparison, a division, the address) reduces it to that
 * number's range. Reductions, divisions, minima, choices and guards cut the product into parts, in each of which the
 * forms are affine again; wraps are exact so. A condition over several variables that no cut of ranges expresses stays
 * with its part as a constraint. An access' boxes are the images of its parts. Past 64 parts nothing is cut any more:
 * ranges serve, and nothing more is sure.
 *
 * The rules of exactness, by which a caller moves and claims bytes:
 *   read, write   cover everything that may be touched: over-approximated, by hulls of strided boxes and at last by the
 *                 whole range from the first to the last byte
 *   sure          never says more than what is written: where a box must be made larger to be representable, or a
 * guard, a count or an address isn't exact, it says less, at last nothing
 *
 * A group's id and local id are the quotient and the remainder of the global id, so a tile's address is as exact as one
 * by get_global_id, and a smaller last group is a part of its own.
 */
#ifndef TSL_FOOTPRINT_EVALUATE_H
#define TSL_FOOTPRINT_EVALUATE_H

#include "footprint/format.h"
#include "footprint/window.h"

/* The bytes offset + i * stride[0] + j * stride[1] + [0, width) for i < count[0], j < count[1]. Counts are at least 1;
 * a stride with count 1 is 0; stride[0] >= width and stride[1] >= (count[0] - 1) * stride[0] + width, so that the parts
 * are in ascending order and don't meet. */
struct tsl_byte_box {
    uint64_t offset, width; /* bytes; width > 0 */
    uint64_t stride[2], count[2];
};

#define TSL_MAX_BYTE_BOXES 16

/* A union of boxes, which may meet each other. */
struct tsl_byte_set {
    bool unknown; /* all of the argument, and n is 0. Never of a sure set */
    unsigned n;
    struct tsl_byte_box boxes[TSL_MAX_BYTE_BOXES];
};

/* How an image's pixels lie in its memory: (x, y, z) at x * step[0] + y * step[1] + z * step[2], in the coordinates
 * that the image has (of a 1D array y is the layer). */
struct tsl_pixel_layout {
    uint64_t size[3]; /* pixels, at least 1; 1 for coordinates that the image has not. Others are no pixels of it */
    uint64_t step[3]; /* bytes: step[0] is a pixel's size, step[1] >= size[0] * step[0], step[2] >= size[1] * step[1];
                         of what has one pixel it doesn't matter */
};

/* A value as clSetKernelArg was given it, or what kernels see of an image or a sampler. */
struct tsl_argument_value {
    const void *value; /* NULL: no scalar, or not known */
    size_t size;       /* bytes of the value */
    uint64_t memory;   /* of a pointer: bytes from where it points to the end of its buffer; boxes are cut off there.
                          Of an image: its bytes */
    const struct tsl_pixel_layout *pixels; /* of an image; NULL: how its pixels lie isn't known */
};

/* What one argument's memory suffers from a window. */
struct tsl_argument_touch {
    struct tsl_byte_set read, write, sure; /* an atomic is in read and in write */
    bool reads, writes;                    /* at all */
    bool atomics;                          /* is touched by atomics */
    bool plain;                            /* is touched by others than atomics */
    uint8_t atomic;                        /* enum tsl_atomic_op: the one that all atomics have, else OTHER */
    uint8_t atomic_width;                  /* bytes of each atomic; 0: they differ */
    bool result_used;                      /* of some atomic */
    bool constant;                         /* all stores store one constant, of `narrow` bytes each */
    uint64_t constant_value;
    uint32_t narrow;              /* bytes of the narrowest element stored; 0: none */
    uint32_t why_read, why_write; /* access that made the set unknown, TSL_FOOTPRINT_NONE if none did */
};

/* arguments and touches: footprint->n_arguments elements each. Sets of images whose `pixels` is NULL are unknown in the
 * directions in which they are accessed at all. local_size of the window is set (the size that the launch will really
 * have); where it is 0, what groups decide is unknown. Never fails: what isn't known is unknown. The footprint is
 * valid. Takes 2 KiB of the stack and 1.5 for each level of nodes; a microsecond or some, tens of milliseconds for the
 * worst table of nodes, as there are bounds. False: one of these was met, so the answer depends on what else was asked.
 */
bool tsl_footprint_evaluate(const struct tsl_footprint *footprint, const struct tsl_window *window,
                            const struct tsl_argument_value *arguments, struct tsl_argument_touch *touches);
/* The same of the arguments i < 64 of which bit i is set; touches of others stay as they are. */
bool tsl_footprint_evaluate_some(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                 const struct tsl_argument_value *arguments, uint64_t some,
                                 struct tsl_argument_touch *touches);
void tsl_argument_touch_copy(struct tsl_argument_touch *to, const struct tsl_argument_touch *from);

/* How many rounds the loop has that the kernel is (footprint->stride, which isn't 0). False: that isn't known. */
bool tsl_footprint_stride(const struct tsl_footprint *footprint, const struct tsl_argument_value *arguments,
                          int64_t *n);

/* The same for the pixels of an image argument: boxes of origins and sizes. */
struct tsl_pixel_box {
    uint64_t origin[3], size[3];
};
struct tsl_pixel_set {
    bool unknown;
    unsigned n;
    struct tsl_pixel_box boxes[4];
};
/* Coordinates are cut at 0, not at the image's size, which isn't known here; those that an image has not are 0, size 1.
 */
void tsl_footprint_evaluate_image(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                  const struct tsl_argument_value *arguments, uint32_t argument,
                                  struct tsl_pixel_set *read, struct tsl_pixel_set *write);

/* ---- Sets of bytes ----------------------------------------------------------------------------------------------- */

/* Boxes end at 2^62 at most; memory is the bytes of the argument, which is what an unknown set is. */

/* From the first to behind the last byte; false: the set is empty. */
bool tsl_byte_set_hull(const struct tsl_byte_set *set, uint64_t memory, uint64_t *begin, uint64_t *end);
/* Bytes in the set, counted once where boxes don't meet; an upper bound else. */
uint64_t tsl_byte_set_size(const struct tsl_byte_set *set, uint64_t memory);
/* May they meet (false: surely not)? b is shifted by `shift` bytes against a (both lie in one root buffer). Exact, but
 * where two boxes have unlike strides and more than 4096 rows each: these are said to meet if their hulls do. */
bool tsl_byte_sets_meet(const struct tsl_byte_set *a, const struct tsl_byte_set *b, int64_t shift, uint64_t memory_a,
                        uint64_t memory_b);
/* Is all of b in a? May say no where a box of b isn't in one box of a. Neither is unknown. */
bool tsl_byte_set_contains(const struct tsl_byte_set *a, const struct tsl_byte_set *b);
/* Adds a box. Boxes whose union is found to be a box become that. Where there is no room two boxes become one: two of
 * one shape become rows of a stride, else, may: the pair whose joint hull (first as a strided box with the common
 * strides, else as a range) adds the fewest bytes; sure: the smallest is dropped. */
void tsl_byte_set_add(struct tsl_byte_set *set, const struct tsl_byte_box *box, bool sure);

#endif
