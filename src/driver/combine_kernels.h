/*
 * Combining by kernels, for drivers of devices: OpenCL C that the driver's own build compiles, and its launch runs.
 * Made at the first call that asks for them; nothing of it costs those who don't.
 */
#ifndef TSL_DRIVER_COMBINE_KERNELS_H
#define TSL_DRIVER_COMBINE_KERNELS_H

#include "driver/own_program.h"
#include "driver/work.h"

/* A member's. */
struct tsl_combine_kernels {
    struct tsl_own_program own;
    struct tsl_dkernel *kernels[TSL_N_COMBINE_HOWS][4]; /* by the logarithm of the width; NULL: there is none */
};

void tsl_combine_kernels_init(struct tsl_combine_kernels *kernels);
/* Makes them, at the first call. False: the member can't build them, as the log tells. Blocks. */
bool tsl_combine_kernels_make(struct tsl_combine_kernels *kernels, struct tsl_member *member);
/* Submits a combine as a launch of the driver's. They were made. */
cl_int tsl_combine_kernels_run(const struct tsl_combine_kernels *kernels, struct tsl_lane *lane,
                               const struct tsl_combine *combine, const struct tsl_waits *waits,
                               struct tsl_fence **fence);
/* Before the member closes. */
void tsl_combine_kernels_finish(struct tsl_combine_kernels *kernels);

#endif
