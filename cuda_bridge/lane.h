/* lane.c: lanes. */
#ifndef TSL_CUDA_BRIDGE_LANE_H
#define TSL_CUDA_BRIDGE_LANE_H

#include "cuda_bridge/internal.h"

void tsl_cuda_lane_unref(struct tsl_cuda_lane *lane);
/* The lane's events up to this number are over. */
void tsl_cuda_lane_saw(struct tsl_cuda_lane *lane, uint64_t sent);
/* Has the stream write to the lane's flag when it is through with what it was sent so far. For want of something it
 * isn't done: then only CUDA can be asked. Entered, lane->lock held. */
void tsl_cuda_lane_flag(struct tsl_cuda_lane *lane);
static inline bool tsl_cuda_lane_has_seen(struct tsl_cuda_lane *lane, uint64_t sent)
{
    /* Acquire: what the device wrote before was there when the number was stored. */
    return atomic_load_explicit(&lane->seen, memory_order_acquire) >= sent;
}
/* Passes on what the lane can pass on. In the bridge thread. False: nothing is held any more. *progress: something went
 * on; *polls: something waits for the device. */
bool tsl_cuda_lane_advance(struct tsl_cuda_lane *lane, bool *progress, bool *polls);
/* The pipeline is through with what it got of the lane. Drops the pipeline's reference. */
void tsl_cuda_lane_piped(struct tsl_cuda_lane *lane, cl_int status);

#endif
