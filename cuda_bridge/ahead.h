/*
 * ahead.c: work that is sent before the gates for which it waits are open.
 *
 * A stream waits for a word of pinned memory, which opening the gate writes. Nothing can be called off then, should the
 * gate's opener fail: so only marks go ahead and copies whose target holds nothing good ("loose"), with those that wait
 * for such; their fences tell of the failure. A gate may be waited for on the device only if its opener is sure to end
 * soon by itself, all work that it needs having been sent before (fence_is_sure): then no call of CUDA's that blocks,
 * whoever makes it, keeps the gate from opening. Streams that wait for long slow the GPU down (half a millisecond for
 * others' work was seen), so where that happens nothing goes ahead for a while.
 */
#ifndef TSL_CUDA_BRIDGE_AHEAD_H
#define TSL_CUDA_BRIDGE_AHEAD_H

#include "cuda_bridge/work.h"

extern uint64_t tsl_cuda_long_ns; /* no stream should wait for longer; only tests change it */

/* May this work be sent although this gate isn't open? Entered, lane->lock held. */
bool tsl_cuda_may_go_ahead(const struct tsl_cuda_work *work, struct tsl_cuda_fence *gate);
/* Around calls that may wait for the device while another thread, which has gates to open, waits for the caller. False:
 * streams wait for gates now. Between the two none begins to. */
bool tsl_cuda_pinning_begin(struct tsl_cuda_member *member);
void tsl_cuda_pinning_end(struct tsl_cuda_member *member);
/* May the work be sent although one of the gates on which that fence's work depends isn't open? Entered, lane->lock
 * held. */
bool tsl_cuda_may_follow(const struct tsl_cuda_work *work, const struct tsl_cuda_fence *fence);
/* Has one of those gates failed, or is it doomed? */
bool tsl_cuda_has_failed(const struct tsl_cuda_fence *fence);
/* Are they all open, and none has failed, and it isn't doomed? */
bool tsl_cuda_is_certain(const struct tsl_cuda_fence *fence);
/* Do more gates leave it in doubt than it can know of? */
bool tsl_cuda_doubts_too_much(const struct tsl_cuda_work *work);
/* Makes the stream wait for gates, and sets the work's doubts. Entered, lane->lock held. */
cl_int tsl_cuda_wait_for_gates(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
/* Has any of what it waits for failed, once its doubts are set? Then it isn't done, and its fence is doomed. */
bool tsl_cuda_is_doomed(const struct tsl_cuda_work *work);
/* The work's fence, which isn't SENT yet, takes its doubts over. */
void tsl_cuda_keep_doubts(const struct tsl_cuda_work *work);
/* The gate is over: streams go on. Its state was changed under member->lock. */
void tsl_cuda_words_open(struct tsl_cuda_fence *gate);
void tsl_cuda_words_finish(struct tsl_cuda_member *member);

#endif
