/* Ready operations → drivers. The graph's lock is held at entry and exit, not in between. */
#ifndef TSL_GRAPH_SUBMIT_H
#define TSL_GRAPH_SUBMIT_H

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

#endif
