/*
 * Several implementations of a kernel (program/variants.h): which one a launch runs, and its call. They all claim what
 * the original's footprint says.
 *
 * Launches of more than one implementation are measured apart (place/variants.c). A variant that any program's kernel
 * may have serves after TSL_VARIANT_PROOFS launches whose results were compared with the original's. With
 * TESELA_CHECK=variants no variant serves: each one that takes a launch is compared.
 */
#ifndef TSL_GRAPH_VARIANTS_H
#define TSL_GRAPH_VARIANTS_H

#include "base/sets.h"
#include "place/place.h"

#include <CL/cl.h>

struct tsl_command;
struct tsl_fence;
struct tsl_kernel;
struct tsl_kernel_variant;
struct tsl_lane;
struct tsl_launch;
struct tsl_op;
struct tsl_share;
struct tsl_waits;

/* What members could run of a launch. */
struct tsl_choices {
    struct tsl_ways ways[TSL_MAX_MEMBERS];
    unsigned whole[TSL_MAX_MEMBERS], part[TSL_MAX_MEMBERS]; /* the best */
};

/* ---- Under the graph's lock ---- */

/* Tells the candidates what they would run. choices: NULL for kernels without variants. */
void tsl_variants_offer(const struct tsl_command *command, tsl_members members, struct tsl_candidate *candidates,
                        struct tsl_choices *choices);
/* The launch was placed whole, or in parts. */
void tsl_variants_settle(struct tsl_command *command, const struct tsl_choices *choices);
/* What the share's times are known by. */
uint64_t tsl_variants_key(const struct tsl_command *command, const struct tsl_share *share);
/* The share's variant on its member; NULL: the original. Also without the lock. */
const struct tsl_kernel_variant *tsl_variants_of(const struct tsl_kernel *kernel, const struct tsl_share *share);

/* ---- Without it, by the thread that drains the port ---- */

/* Launches what the share runs, or compares. As the driver's launch, whose errors it returns. */
cl_int tsl_variants_launch(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_launch *launch,
                           const struct tsl_waits *waits, struct tsl_fence **fence);

#endif
