/* The process's end: what is under way is waited for. */
#ifndef TSL_GRAPH_EXIT_H
#define TSL_GRAPH_EXIT_H

struct tsl_graph;

/* The graph is made: should the process end, what its members have is waited for. */
void tsl_exit_expect(const struct tsl_graph *graph);

#endif
