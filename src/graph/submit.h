/* Ready operations → drivers. The graph's lock is held at entry and exit, not in between. */
#ifndef TSL_GRAPH_SUBMIT_H
#define TSL_GRAPH_SUBMIT_H

#include <stdbool.h>

struct tsl_command;
struct tsl_graph;
struct tsl_graph_lane;
struct tsl_op;
struct tsl_port;

/* Submits what is ready, unless another thread does already. */
void tsl_port_drain(struct tsl_port *port);
/* Leaves the flush of that lane until all ports are drained: its driver's flush is for all lanes. */
void tsl_port_send_later(struct tsl_graph_lane *lane);
/* Flushes what was left of one port. The lock is given meanwhile. */
void tsl_port_send(struct tsl_graph *graph);
/* Runs a ready operation of a port that runs them side by side. */
void tsl_submit_task(struct tsl_op *op);
/* Is that command reported only after the task? */
bool tsl_task_is_before(const struct tsl_op *task, const struct tsl_command *command);
/* Takes a ready host task, one for which the command waits (NULL: any), from the port's list; NULL: there is none. */
struct tsl_op *tsl_port_take_task(struct tsl_port *tasks, const struct tsl_command *command);

#endif
