/*
 * What a share of a launch touches of its arguments, in ranges that the directory and the host map know: the kernel's
 * footprint (footprint/evaluate.h) for the share's window and scalars, or all of an argument where that isn't known.
 *
 * A set of a few rows, or of some more large ones, is claimed row by row. Of a set with many rows each box is claimed
 * from its first to its last byte, and near ones as one, so that a launch cuts no directory into more than
 * TSL_FOOTING_MAX_RANGES ranges an argument and direction; such a write may leave bytes of the range as they were, so
 * the old bytes are fetched.
 *
 * Shares of a launch that is cut would meet so, where each has a part of each plane of a volume. They claim slabs: a
 * box's large rows, or what it has of each plane from the first to the last byte there, as ranges that repeat.
 */
#ifndef TSL_GRAPH_FOOTING_H
#define TSL_GRAPH_FOOTING_H

#include "compile_client/kernel_image.h"
#include "footprint/evaluate.h"
#include "graph/data.h"
#include "graph/runs.h"

#include <CL/cl.h>

struct tsl_args;
struct tsl_command;
struct tsl_kernel_facts;
struct tsl_kernel_part;
struct tsl_op;
struct tsl_window;

#define TSL_FOOTING_MAX_RANGES TSL_RUNS_MOST

/* A range of a root object's bytes, or several of one size, each stride bytes behind the one before. */
struct tsl_footing_range {
    uint64_t begin, end; /* of the first */
    uint64_t stride;     /* end - begin at least */
    uint32_t more;       /* so many follow; 0: it is one, and the stride says nothing */
    bool overwritten;    /* of a write: all of it is surely written, so the old bytes are of no use */
};

/* The i-th of them, from 0 to `more`. */
static inline struct tsl_range tsl_footing_range_at(const struct tsl_footing_range *range, uint64_t i)
{
    return (struct tsl_range){range->begin + i * range->stride, range->end + i * range->stride};
}

/* Do they have a byte in common? */
bool tsl_footing_ranges_meet(const struct tsl_footing_range *a, const struct tsl_footing_range *b);
/* Is all of b in a? May say no where both have more than one. */
bool tsl_footing_range_holds(const struct tsl_footing_range *a, const struct tsl_footing_range *b);

struct tsl_footing_ranges {
    unsigned n;
    struct tsl_footing_range list[TSL_FOOTING_MAX_RANGES];
};

/* Kernels with more arguments than that are rare: all of their memory counts as touched. */
#define TSL_FOOTING_MAX_ARGUMENTS 64u

/* Is it worth the time to know what a launch touches? Not where nothing could run beside it or elsewhere: with one
 * member, or with a small launch whose data are nowhere else, one in-order queue, and launches that aren't cut. Under
 * the graph's lock. */
bool tsl_footing_matters(const struct tsl_command *command);

/* What a window of the command's launch touches on that member, by argument; NULL: of each argument all. Good until the
 * next call for the same kernel and member. *id: a number of the answer (footprint/cache.h); may be NULL. Under the
 * graph's lock. */
const struct tsl_argument_touch *tsl_footing_of(const struct tsl_command *command, const struct tsl_window *window,
                                                struct tsl_kernel_part *part, uint64_t *id);

/* Arguments as evaluation takes them. What kernels see of images and samplers lies behind them. */
struct tsl_footing_values {
    struct tsl_argument_value of[TSL_FOOTING_MAX_ARGUMENTS];
    union {
        struct {
            struct tsl_kc_image seen; /* without the address of its data */
            struct tsl_pixel_layout pixels;
        } image;
        uint64_t sampler;
    } described[TSL_FOOTING_MAX_ARGUMENTS];
};

/* The first n arguments, at most MAX_ARGUMENTS. The values point into the arguments and into themselves. */
void tsl_footing_values(const struct tsl_args *args, cl_uint n, struct tsl_footing_values *values);

/* What a kernel may do to the memory behind an argument (TSL_MAY_ bits): what the facts say, narrowed by the buffer's
 * flags. */
unsigned tsl_footing_access(const struct tsl_kernel_facts *facts, cl_uint argument, const struct tsl_buffer *buffer);

/* How finely: shares of one launch take slabs, so that they don't meet. Other launches take single ranges. */
enum tsl_footing_grain { TSL_FOOTING_SINGLE, TSL_FOOTING_SLABS };

/* The ranges of one argument's memory, in bytes of the root. touch NULL: all of it. */
void tsl_footing_reads(const struct tsl_argument_touch *touch, const struct tsl_buffer *buffer,
                       enum tsl_footing_grain grain, struct tsl_footing_ranges *ranges);
void tsl_footing_writes(const struct tsl_argument_touch *touch, const struct tsl_buffer *buffer,
                        enum tsl_footing_grain grain, struct tsl_footing_ranges *ranges);

/* Are the set's rows claimed one by one? Else each box is from its first to its last byte. */
bool tsl_footing_is_by_rows(const struct tsl_byte_set *set);

/* Notes for the launch's operation which bytes it touches of objects of which single ranges say more; where it takes
 * slabs these are what it touches. touches: of the first n arguments; NULL: nothing is known. Before the first claim.
 */
void tsl_footing_note_extents(struct tsl_op *op, const struct tsl_args *args, const struct tsl_argument_touch *touches,
                              enum tsl_footing_grain grain, cl_uint n);

#endif
