/* fence.c: what the other files do with fences. */
#ifndef TSL_OPENCL_FENCE_H
#define TSL_OPENCL_FENCE_H

#include "opencl/internal.h"

/* A fence with one reference, without event; NULL if memory ran out. */
struct tsl_opencl_fence *tsl_opencl_fence_new(struct tsl_opencl_member *member, struct tsl_opencl_lane *lane);
/* As clGetEventInfo tells. A call that fails twice counts as a failure of the work. */
cl_int tsl_opencl_event_status(const struct tsl_opencl_cl *cl, cl_event event);
/* Reads the final status, and on profiling lanes the times, lets the event go. The event is complete. */
void tsl_opencl_fence_settle(struct tsl_opencl_fence *fence);
/* Tells of fences that have failed, where the vendor doesn't. May be called from callbacks. */
void tsl_opencl_notice_failures(struct tsl_opencl_member *member);
/* At close: frees pool and notices. */
void tsl_opencl_fences_finish(struct tsl_opencl_member *member);

#endif
