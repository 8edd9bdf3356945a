/* Evictions at once, by the thread whose submission found no memory. */
#ifndef TSL_GRAPH_EVICT_NOW_H
#define TSL_GRAPH_EVICT_NOW_H

#include <stdbool.h>

struct tsl_graph;
struct tsl_member;
struct tsl_port;

/* Evicts the coldest object on that member that nobody uses, of a graph that has it. False: there is none. port: which
 * this thread drains. The graph's lock is held, and given meanwhile. */
bool tsl_evict_now_idle(struct tsl_graph *graph, struct tsl_port *port, const struct tsl_member *member);

#endif
