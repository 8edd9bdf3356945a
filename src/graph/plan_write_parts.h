/* Writes of what the last launch had in parts: each part goes where the old one is. */
#ifndef TSL_GRAPH_PLAN_WRITE_PARTS_H
#define TSL_GRAPH_PLAN_WRITE_PARTS_H

#include "graph/dependences.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_command;

/* Plans the write so; false: it isn't one of those, and nothing was done. *error is the plan's. */
bool tsl_plan_write_in_parts(struct tsl_command *c, const tsl_dependences *order, cl_int *error);

#endif
