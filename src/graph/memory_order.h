/* The order in which all is done while there is no memory for an edge: one thing after the other. memory_order.c has
 * the rules. Under the graph's lock. */
#ifndef TSL_GRAPH_MEMORY_ORDER_H
#define TSL_GRAPH_MEMORY_ORDER_H

struct tsl_command;
struct tsl_graph;
struct tsl_op;

/* There was no memory for what the command, or one of its operations, comes after: all is done in turn for a while. The
 * command is being scheduled. */
void tsl_memory_order_begin(struct tsl_command *command);
/* The operation, planned meanwhile, waits until all that went before it is done. */
void tsl_memory_order_park(struct tsl_op *op);
/* Something is done, or a command was scheduled: in this order the next one's turn may have come. */
void tsl_memory_order_next(struct tsl_graph *graph);

#endif
