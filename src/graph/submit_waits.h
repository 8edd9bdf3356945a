/* What a driver is to wait for before it runs an operation: the fences of others, and gates. */
#ifndef TSL_GRAPH_SUBMIT_WAITS_H
#define TSL_GRAPH_SUBMIT_WAITS_H

#include "base/small_vector.h"

struct tsl_fence;
struct tsl_op;

typedef TSL_SMALL_VECTOR(struct tsl_fence *, 8) tsl_fences;

/* Into waits, with a reference each. What can't be had as a fence is waited for here. Under the lock, which is given
 * meanwhile: what is waited for may end, and its queue with it. */
void tsl_submit_waits_collect(struct tsl_op *op, tsl_fences *waits);
/* Drops the references; without the lock. */
void tsl_submit_waits_drop(tsl_fences *waits);

#endif
