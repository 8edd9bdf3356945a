/* lane.c: lanes. */
#ifndef TSL_OPENCL_LANE_H
#define TSL_OPENCL_LANE_H

#include "opencl/internal.h"

void tsl_opencl_lane_unref(struct tsl_opencl_lane *lane);
/* Sends what was submitted since the last flush. */
cl_int tsl_opencl_lane_flush(struct tsl_opencl_lane *lane);
/* Waits for all of it, twice if the vendor refuses, and returns the first error; the caller entered the device. */
cl_int tsl_opencl_lane_drain(struct tsl_opencl_lane *lane);

#endif
