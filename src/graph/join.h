/* Joins: operations without work that stand for many others, so that lists stay short. join.c tells how. */
#ifndef TSL_GRAPH_JOIN_H
#define TSL_GRAPH_JOIN_H

#include "graph/dependences.h"

struct tsl_graph;
struct tsl_tile;

/* So many operations may be side by side before a join takes their place; tests have less. */
extern unsigned tsl_join_at;
/* Puts joins in the place of all that the list has, if there is memory for that. */
void tsl_join_dependences(tsl_dependences *list, struct tsl_graph *graph);
/* The same for those that read the tile's copy in that space, if they are many. The operation that is being planned is
 * left out: it may come after the join. */
void tsl_join_readers(struct tsl_tile *tile, struct tsl_graph *graph, unsigned space, const struct tsl_op *planned);

#endif
