/* bridge.c: the thread that passes on what was held, and tells of fences. */
#ifndef TSL_CUDA_BRIDGE_BRIDGE_H
#define TSL_CUDA_BRIDGE_BRIDGE_H

#include "cuda_bridge/internal.h"

/* The thread will pass on what the lane holds, and keeps a reference to it until it holds nothing. lane->lock held. */
cl_int tsl_cuda_bridge_hold(struct tsl_cuda_lane *lane);
/* The lane holds nothing any more; the caller, in the bridge thread, drops the reference. lane->lock held. */
void tsl_cuda_bridge_release(struct tsl_cuda_lane *lane);
/* As fence_notify, for a fence that isn't complete. */
cl_int tsl_cuda_watch(struct tsl_cuda_fence *fence, tsl_notify_fn *fn, void *arg);
/* Something changed for which the bridge thread or waiters may wait. Any thread; doesn't block. */
void tsl_cuda_bridge_kick(struct tsl_cuda_member *member);
/* There is pinned memory to be given back by the bridge thread, which is started for that. */
void tsl_cuda_bridge_trim(struct tsl_cuda_member *member);
void tsl_cuda_bridge_stop(struct tsl_cuda_member *member);
/* The number of changes so far, and waiting until there is another; for loops that look in between. */
unsigned tsl_cuda_changes(struct tsl_cuda_member *member);
void tsl_cuda_await_change(struct tsl_cuda_member *member, unsigned seen);

#endif
