/* fence.c: what the other files do with fences. */
#ifndef TSL_CUDA_BRIDGE_FENCE_H
#define TSL_CUDA_BRIDGE_FENCE_H

#include "cuda_bridge/internal.h"

/* In state HELD, with one reference. NULL without memory. lane: NULL for a gate. */
struct tsl_cuda_fence *tsl_cuda_fence_new(struct tsl_cuda_member *member, struct tsl_cuda_lane *lane);
/* Records the fence behind what was submitted: SENT. Entered. */
cl_int tsl_cuda_fence_send(struct tsl_cuda_fence *fence);
/* Another state than HELD, or HELD. With acquire: what was written before it is seen. */
static inline enum tsl_cuda_state tsl_cuda_fence_state(const struct tsl_cuda_fence *fence)
{
    return (enum tsl_cuda_state)atomic_load_explicit(&fence->state, memory_order_acquire);
}
/* HELD → OVER, by the host. */
void tsl_cuda_fence_end(struct tsl_cuda_fence *fence, cl_int status);
/* Without waiting: its state after a look at the device. Entered. */
enum tsl_cuda_state tsl_cuda_fence_look(struct tsl_cuda_fence *fence);
/* From now on the lane's flag will tell of it, if it can. */
void tsl_cuda_fence_flag(struct tsl_cuda_fence *fence);
/* Is it with the device, and is there no sign yet that it is through? False: look. */
bool tsl_cuda_fence_unflagged(struct tsl_cuda_fence *fence);
/* Was it sent, in the same lane, after `other`, which was sent? */
bool tsl_cuda_fence_is_behind(const struct tsl_cuda_fence *fence, const struct tsl_cuda_fence *other);
void tsl_cuda_fences_finish(struct tsl_cuda_member *member);

#endif
