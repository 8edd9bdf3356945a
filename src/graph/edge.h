/* The edges between operations, and from operations to commands; op.h tells what they are. Under the graph's lock. */
#ifndef TSL_GRAPH_EDGE_H
#define TSL_GRAPH_EDGE_H

#include <stdbool.h>

struct tsl_command;
struct tsl_op;

/* Makes op run after `before`. strict: op fails if `before` fails. */
void tsl_op_depend(struct tsl_op *op, struct tsl_op *before, bool strict);
/* Makes the command complete after `before`, which becomes part of its frontier, and, when strict, of its status. */
void tsl_command_depend(struct tsl_command *command, struct tsl_op *before, bool strict);

#endif
