/*
 * Comparing variants with the original: each runs on copies of the memory that the kernel may write, the original on
 * the memory itself, whose results stay.
 *
 * Everything is waited for, in the thread that submits. That can't hang: what the launch waits for is with the drivers
 * already. Without the graph's lock.
 */
#ifndef TSL_GRAPH_VARIANT_CHECK_H
#define TSL_GRAPH_VARIANT_CHECK_H

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_fence;
struct tsl_kernel_variant;
struct tsl_lane;
struct tsl_launch;
struct tsl_op;
struct tsl_waits;

struct tsl_variant_check {
    unsigned n;
    const struct tsl_kernel_variant *const *variants; /* that take the launch */
    bool fails; /* a difference fails the launch, and variants stay; else they are put out */
};

/* Launches the original, as the driver's launch, and compares. CL_OUT_OF_RESOURCES also if a difference was told. */
cl_int tsl_variant_check(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_launch *launch,
                         const struct tsl_waits *waits, struct tsl_fence **fence,
                         const struct tsl_variant_check *check);

#endif
