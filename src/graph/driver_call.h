/* What operations are to their drivers. */
#ifndef TSL_GRAPH_DRIVER_CALL_H
#define TSL_GRAPH_DRIVER_CALL_H

#include <CL/cl.h>

struct tsl_fence;
struct tsl_lane;
struct tsl_op;
struct tsl_waits;

/* Binds the memory that the operation names, which is allocated at first use, and submits it. By the thread that drains
 * the port, without the lock. */
cl_int tsl_driver_call(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                       struct tsl_fence **fence);

#endif
