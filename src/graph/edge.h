/* The edges between operations, and from operations to commands; op.h tells what they are. Under the graph's lock. */
#ifndef TSL_GRAPH_EDGE_H
#define TSL_GRAPH_EDGE_H

#include "graph/dependences.h"
#include "graph/op.h"

/* Makes op run after `before`. strict: op fails if `before` fails. */
void tsl_op_depend(struct tsl_op *op, struct tsl_op *before, bool strict);
/* Was that done already, by the call for op that came last of all that were about `before`? */
bool tsl_op_depends(const struct tsl_op *op, const struct tsl_op *before, bool strict);
/* Makes the command complete after `before`, which becomes part of its frontier, and, when strict, of its status. */
void tsl_command_depend(struct tsl_command *command, struct tsl_op *before, bool strict);
/* Makes op run after all of the list; NULL: nothing. */
void tsl_op_follow(struct tsl_op *op, const tsl_dependences *list);
/* Makes op run after the last operation whose effects nobody knows. */
void tsl_op_after_opaque(struct tsl_op *op);
/* Is an edge from an operation in that state met? */
bool tsl_edge_is_met(enum tsl_edge_kind kind, enum tsl_op_state state);

#endif
