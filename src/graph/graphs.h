/* All graphs of the process. Under no lock. */
#ifndef TSL_GRAPH_GRAPHS_H
#define TSL_GRAPH_GRAPHS_H

struct tsl_graph;

void tsl_graphs_add(struct tsl_graph *graph);
void tsl_graphs_remove(struct tsl_graph *graph);
/* The next graph after this one (NULL: the first), with a reference to its context; NULL: there is none. */
struct tsl_graph *tsl_graphs_next(struct tsl_graph *graph);

#endif
