/* pipeline.c: big transfers of memory that is not pinned. */
#ifndef TSL_CUDA_BRIDGE_PIPELINE_H
#define TSL_CUDA_BRIDGE_PIPELINE_H

#include "cuda_bridge/internal.h"

/* Starts moving the box between the application's memory and the device's, or between devices that don't reach each
 * other, behind the stream's work so far. Ends in tsl_cuda_lane_piped(), for which it keeps a reference to the lane.
 * Entered, lane->lock held. */
cl_int tsl_cuda_pipe(struct tsl_cuda_lane *lane, const struct tsl_copy *copy);
/* NULL is fine. Entered. */
void tsl_cuda_pipeline_destroy(struct tsl_cuda_pipeline *pipeline);
/* Does CUDA know the host's memory there as pinned? Entered. */
bool tsl_cuda_is_pinned_at(const void *at);
/* One asynchronous copy of a box between device memory and host memory that is pinned, or within device memory. */
CUresult tsl_cuda_copy_box(const struct tsl_place *dst, const struct tsl_place *src, const size_t region[3],
                           CUstream stream);

#endif
