/* The plan of a chain (chain.h). */
#ifndef TSL_GRAPH_PLAN_CHAIN_H
#define TSL_GRAPH_PLAN_CHAIN_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_chain;

/* Plans all of its windows, tile by tile. orders: by launch, what its own operations run after. If it fails, all of the
 * commands must. Under the graph's lock. */
cl_int tsl_plan_chain(struct tsl_chain *chain, const tsl_dependences *orders);

#endif
