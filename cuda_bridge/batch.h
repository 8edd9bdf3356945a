/* batch.c: launches that go on their way together. All with lane->lock held. */
#ifndef TSL_CUDA_BRIDGE_BATCH_H
#define TSL_CUDA_BRIDGE_BATCH_H

#include "cuda_bridge/work.h"

extern uint64_t tsl_cuda_quick_ns; /* launches that follow each other faster are quick; only tests change it */

/* Keeps the launch for later, if it is one of many quick ones. Its fence, which it may only have where others are kept
 * already, is the caller's affair. Neither enters nor blocks. */
bool tsl_cuda_batch_save(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work);
bool tsl_cuda_batch_is_full(const struct tsl_cuda_lane *lane);
bool tsl_cuda_batch_has(const struct tsl_cuda_lane *lane);
/* Sends what was kept. Entered. */
void tsl_cuda_batch_send(struct tsl_cuda_lane *lane);
/* Instead, where the member is lost. */
void tsl_cuda_batch_drop(struct tsl_cuda_lane *lane, cl_int error);
/* The error with which something kept could not be sent: told once. */
cl_int tsl_cuda_batch_error(struct tsl_cuda_lane *lane);
/* Sends a launch of one grid at once; launch.args has the grid's hidden argument, too. Entered. */
CUresult tsl_cuda_batch_launch(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work,
                               const struct tsl_cuda_grid *grid);
/* The host waits for the lane: what comes next goes at once. */
void tsl_cuda_batch_pause(struct tsl_cuda_lane *lane);
/* When the lane is freed, and no launch is saved any more. Entered. */
void tsl_cuda_batch_free(struct tsl_cuda_lane *lane);

#endif
