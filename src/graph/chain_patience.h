/* Who ends the wait of launches for others to be chained with (chain.h), if nobody else does. */
#ifndef TSL_GRAPH_CHAIN_PATIENCE_H
#define TSL_GRAPH_CHAIN_PATIENCE_H

struct tsl_graph;
struct tsl_job;

/* Launches wait: a thread of ours looks now and then whether more come, and ends the wait when none do. Under the
 * graph's lock. */
void tsl_chain_patience_begin(struct tsl_graph *graph);
/* The thread's job. Without the lock. */
void tsl_chain_patience_look(struct tsl_job *job);

#endif
