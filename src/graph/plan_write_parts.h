/* Writes that go to several members, a part to each. */
#ifndef TSL_GRAPH_PLAN_WRITE_PARTS_H
#define TSL_GRAPH_PLAN_WRITE_PARTS_H

#include "graph/dependences.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_command;

/* Plans the write so, if the last launch had the object in parts: each goes where the old one is. False: it isn't one
 * of those, and nothing was done. *error is the plan's. */
bool tsl_plan_write_in_parts(struct tsl_command *c, const tsl_dependences *order, cl_int *error);

/* Plans a write that won't wait for its reader: to where that is likely to be. */
cl_int tsl_plan_write_likely(struct tsl_command *c, const tsl_dependences *order);

#endif
