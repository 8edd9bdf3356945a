/*
 * The rungs `merge` and `reduce` of the split: shares that may write the same memory work on copies of it, which become
 * one afterwards (a joint).
 *
 * merge: what may be written is unknown, or meets. Each share has a copy with the old bytes; what it has changed in its
 *   copy counts. Two work-groups that store to one element race, in the whole launch too, so either value is right,
 *   as long as it is whole: elements are those of the narrowest store, at addresses that its width divides.
 * reduce: the memory is changed by atomic operations alone, all of one kind that commutes and of one width, and nobody
 *   looks at their results. Each share begins with neutral elements; the copies are combined by the operation.
 *
 * All arguments that lie in one root object are joined together. Pure: no locks, no OpenCL calls.
 */
#ifndef TSL_FOOTPRINT_JOINT_H
#define TSL_FOOTPRINT_JOINT_H

#include "footprint/cut.h"

struct tsl_joint {
    const void *root;
    bool reduce;
    uint8_t atomic;                      /* enum tsl_atomic_op of a reduction */
    uint32_t width;                      /* bytes of an element: 1, 2, 4 or 8 */
    uint64_t begin, end;                 /* bytes of the root, whole elements: what the shares may write */
    uint64_t touched_begin, touched_end; /* what they may touch at all; includes that */
};

/* How the root's copies of these shares become one; arguments as tsl_cut_shares has them. False: they can't, as the
 * verdict says (`why` is one of ATOMICS_…, WRITES_UNKNOWN and WRITES_MEET). Some share may write there. */
bool tsl_joint_find(const struct tsl_footprint *footprint, unsigned n, const struct tsl_argument_touch *const *shares,
                    const struct tsl_cut_memory *memories, const void *root, struct tsl_joint *joint,
                    struct tsl_cut_verdict *verdict);

/* The neutral element of the reduction. */
uint64_t tsl_joint_neutral(const struct tsl_joint *joint);

/* May launches of the kernel need joints: does it do atomics, or store where the work-items' ids alone don't say?
 * Nothing is evaluated, so the answer may be wrong either way. */
bool tsl_joint_may_need(const struct tsl_footprint *footprint);

#endif
