/* Failures in words. */
#ifndef TSL_GRAPH_FAILURE_LOG_H
#define TSL_GRAPH_FAILURE_LOG_H

#include <CL/cl.h>

struct tsl_op;

/* The operation failed by itself, and no call says so: tells of it. Nothing of what only makes room. Under the graph's
 * lock. */
void tsl_failure_log_op(const struct tsl_op *op, cl_int error);

#endif
