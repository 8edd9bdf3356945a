/* Operations that do (part of) what the application asked for. */
#ifndef TSL_GRAPH_PLAN_OP_H
#define TSL_GRAPH_PLAN_OP_H

#include "graph/dependences.h"
#include "graph/op.h"

struct tsl_box_copy;

/* A new operation of the command, which runs after `order`, and whose fate is the command's. NULL without memory. */
struct tsl_op *tsl_plan_op(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                           enum tsl_op_kind kind);
/* The same, but its times are not the command's, and its lane isn't the queue's: that of moves to the member or, of a
 * combine, from it. Where an operation fails that others come strictly after, they don't run: a driver runs what is
 * only behind it in its lane. port: a member's. */
struct tsl_op *tsl_plan_helper(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                               enum tsl_op_kind kind, bool timed);
/* The launch of the command's share i. */
struct tsl_op *tsl_plan_launch(struct tsl_command *c, const tsl_dependences *order, unsigned i);
/* The box of a copy or fill, and where that goes to. */
void tsl_plan_region(struct tsl_op *op, const struct tsl_box_copy *box);
void tsl_plan_dst(struct tsl_op *op, struct tsl_data *data, unsigned space, const struct tsl_box_copy *box);
/* The plan of this operation is made: it may go, or, if that failed, takes its place in the order without running.
 * Takes the reference; returns the error. */
cl_int tsl_plan_go(struct tsl_op *op, cl_int error);
/* Takes dst's copy of these ranges on the host, by an operation without work, if a host task may come before: nobody
 * knows what the task writes into the host's copy, which may be mapped, or the application's own. So readers of these
 * bytes come after the task. */
cl_int tsl_plan_turn(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box, unsigned may);

#endif
