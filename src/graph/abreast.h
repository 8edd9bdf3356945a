/*
 * An out-of-order queue has several lanes on members that run lanes beside each other, so that launches which don't
 * need each other run at the same time, as in several queues. Launches that share what one of them may write keep to
 * one lane, as do those that wait for each other: fences between lanes cost more than the order of one.
 */
#ifndef TSL_GRAPH_ABREAST_H
#define TSL_GRAPH_ABREAST_H

struct tsl_command;
struct tsl_graph;
struct tsl_port;

/* How many lanes a queue that is made out-of-order has for each member, of each kind; any other has one. */
unsigned tsl_abreast_lanes(const struct tsl_graph *graph);

/* Where in the queue's lanes that of a launch on the port is. The same for all of its shares. Under the graph's lock.
 */
unsigned tsl_abreast_lane(struct tsl_command *launch, const struct tsl_port *port);

#endif
