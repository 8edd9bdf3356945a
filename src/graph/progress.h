/* Operations on their way: planned → ready → submitted, and what their edges pass on. Under the graph's lock. */
#ifndef TSL_GRAPH_PROGRESS_H
#define TSL_GRAPH_PROGRESS_H

#include <stdbool.h>

struct tsl_op;

/* The operation is planned: it becomes ready when its edges are met. All operations that it has edges to went before.
 */
void tsl_op_go(struct tsl_op *op);
/* The same in the order of memory_order.h, when its turn has come. */
void tsl_op_set_out(struct tsl_op *op);
/* The operation was submitted, and will be once more: it is ready again. */
void tsl_op_resubmit(struct tsl_op *op);
/* The operation was handed to the driver. */
void tsl_op_submitted(struct tsl_op *op);
/* The operation fails, or will: what is to fail with it, and isn't with its driver yet, won't get there. */
void tsl_op_doom_next(struct tsl_op *op);
/* Did it, a move that failed, bring nothing because a member is lost, and for no other reason? */
bool tsl_op_lost_move(const struct tsl_op *op);
/* The operation is done, and its status is known: its edges are met, carry failure on, and go. */
void tsl_op_pass_on(struct tsl_op *op);

#endif
