/* The freeing of the memory that an object leaves. The graph's lock is held, and given meanwhile. */
#ifndef TSL_GRAPH_EVICT_RUN_H
#define TSL_GRAPH_EVICT_RUN_H

struct tsl_op;
struct tsl_port;
struct tsl_residence;

/* Frees the object's memory on that member. Nobody uses it, and whoever will comes after.
 */
void tsl_evict_run_free(struct tsl_residence *residence, struct tsl_port *port);
/* Runs an operation of the kind EVICT; by the thread that drains the port. */
void tsl_evict_run(struct tsl_op *op);

#endif
