/*
 * Gathering by a kernel, for drivers of devices whose kernels reach other devices' memory: OpenCL C that the driver's
 * own build compiles, and its launch runs. One launch costs the host as much as one copy does, and brings many pieces.
 * Made at the first call that asks for it; it costs nothing those who don't.
 */
#ifndef TSL_DRIVER_GATHER_KERNELS_H
#define TSL_DRIVER_GATHER_KERNELS_H

#include "driver/own_program.h"
#include "driver/work.h"

/* A member's. */
struct tsl_gather_kernels {
    struct tsl_own_program own;
    struct tsl_dkernel *kernel;
};

void tsl_gather_kernels_init(struct tsl_gather_kernels *kernels);
/* Makes the kernels, at the first call; that blocks. False: the member can't build them. */
bool tsl_gather_kernels_make(struct tsl_gather_kernels *kernels, struct tsl_member *member);
/* Submits a gather as launches of the driver's, which are made if they aren't yet; that blocks. CL_INVALID_OPERATION:
 * the member can't build them; nothing was submitted. Both memories lie at multiples of 16 bytes. */
cl_int tsl_gather_kernels_run(struct tsl_gather_kernels *kernels, struct tsl_lane *lane,
                              const struct tsl_gather *gather, const struct tsl_waits *waits, struct tsl_fence **fence);
/* Bytes that a work-item copies at a time, TSL_GATHER_UNIT at most: the largest unit that divides all bounds. */
#define TSL_GATHER_UNIT 16u
unsigned tsl_gather_kernels_unit(const struct tsl_gather *gather);
/* Before the member closes. */
void tsl_gather_kernels_finish(struct tsl_gather_kernels *kernels);

#endif
