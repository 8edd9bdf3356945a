/* The plan of each kind of command. `order`: what its own operations run after. */
#ifndef TSL_GRAPH_PLAN_KINDS_H
#define TSL_GRAPH_PLAN_KINDS_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_command;

cl_int tsl_plan_read(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_write(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_copy(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_fill(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_map(struct tsl_command *c);
cl_int tsl_plan_unmap(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_migrate(struct tsl_command *c);
cl_int tsl_plan_native(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_kernel(struct tsl_command *c, const tsl_dependences *order);

#endif
