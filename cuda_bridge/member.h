/* member.c: contexts, errors, events, the clock. */
#ifndef TSL_CUDA_BRIDGE_MEMBER_H
#define TSL_CUDA_BRIDGE_MEMBER_H

#include "cuda_bridge/internal.h"

/* Makes the member's context the calling thread's, on top of what the application made current; leave() puts that back.
 * Every call of CUDA stands between the two. A member that isn't ready is made so, which blocks.
 * CL_DEVICE_NOT_AVAILABLE: the member is lost; nothing to leave. */
cl_int tsl_cuda_enter(struct tsl_cuda_member *member);
/* The same where it is known that the context is there, though the member may not be ready. */
cl_int tsl_cuda_enter_open(struct tsl_cuda_member *member);
void tsl_cuda_leave(struct tsl_cuda_member *member);
/* As enter, to give back what the context holds: also if the member is lost, where CUDA answers with errors. False: the
 * context is gone, and leave() is not called. */
bool tsl_cuda_enter_anyway(struct tsl_cuda_member *member);

/* CUDA's result as OpenCL's error. One after which the context is dead marks the member as lost, and is logged. */
cl_int tsl_cuda_error(struct tsl_cuda_member *member, CUresult result);

/* The newest epoch with a reference, renewed if it is old and the device answers; NULL: none could be had. The context
 * is entered. */
struct tsl_cuda_epoch *tsl_cuda_epoch_get(struct tsl_cuda_member *member);
void tsl_cuda_epoch_put(struct tsl_cuda_member *member, struct tsl_cuda_epoch *epoch);

/* A thread that serves the member, on that node. False: none could be had. */
bool tsl_cuda_thread_start(struct tsl_cuda_member *member, pthread_t *thread, void *(*run)(void *arg), void *arg);

/* Events from the pool, entered. NULL: CUDA has none, *result says why. */
CUevent tsl_cuda_event_get(struct tsl_cuda_member *member, bool times, CUresult *result);
void tsl_cuda_event_put(struct tsl_cuda_member *member, bool times, CUevent event);

#endif
