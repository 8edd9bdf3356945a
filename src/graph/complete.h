/*
 * submitted → done: ends that are noticed, and whom they concern.
 *
 * Under the graph's lock, which all but tsl_op_finish give meanwhile.
 */
#ifndef TSL_GRAPH_COMPLETE_H
#define TSL_GRAPH_COMPLETE_H

#include "base/lock.h"
#include "graph/op.h"
#include "graph/state.h"

/* The operation is done, or never will be: tells all that wait for it. */
void tsl_op_finish(struct tsl_op *op, cl_int status);
/* The operation is known to be complete with that status, and so is all before it on its lane. */
void tsl_op_retire(struct tsl_op *op, cl_int status);
/* Not even a mark of the operation could be submitted, with that error. */
void tsl_op_retire_refused(struct tsl_op *op, cl_int error);
/* Notices what has ended of all that comes before a submitted operation on its lane, and of what it waits for
 * natively. False: not all has, as far as drivers tell. */
bool tsl_op_retire_before(struct tsl_op *op);
/* Waits for an operation that the driver has, in this thread, and notices its end. */
void tsl_op_pull(struct tsl_op *op);
/* Asks the driver for the status of an operation that has a fence, and retires it if that is complete. */
cl_int tsl_op_ask(struct tsl_op *op);
/* The operation's fence, made late if need be; NULL if that fails. */
struct tsl_fence *tsl_op_fence(struct tsl_op *op);
/* Handles fences that told of completion. */
void tsl_complete_signalled(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);
/* Asks for notification of the operations in to_watch. */
void tsl_complete_watched(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);

#endif
