/* Evictions at once, by the thread whose submission found no memory. */
#ifndef TSL_GRAPH_EVICT_NOW_H
#define TSL_GRAPH_EVICT_NOW_H

#include <stdbool.h>

struct tsl_graph;
struct tsl_port;

/* Evicts the coldest object that nobody uses, of a graph that has the port's member. False: there is none. The graph's
 * lock is held, and given meanwhile. */
bool tsl_evict_now_idle(struct tsl_graph *graph, struct tsl_port *port);

#endif
