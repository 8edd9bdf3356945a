/* Plans: where a command runs, and which moves and operations that takes; one for each kind of command. Under the
 * graph's lock. */
#ifndef TSL_GRAPH_PLAN_H
#define TSL_GRAPH_PLAN_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_command;

/* Plans the operations of a scheduled command. `order`: what its own operations run after. */
cl_int tsl_plan(struct tsl_command *command, const tsl_dependences *order);

#endif
