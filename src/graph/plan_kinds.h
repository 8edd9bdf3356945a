/* The plan of each kind of command. `order`: what its own operations run after. */
#ifndef TSL_GRAPH_PLAN_KINDS_H
#define TSL_GRAPH_PLAN_KINDS_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_box_copy;
struct tsl_command;

cl_int tsl_plan_read(struct tsl_command *c, const tsl_dependences *order);
/* A write into that space's copy; a write of what the host's copy is itself. */
cl_int tsl_plan_write_to(struct tsl_command *c, const tsl_dependences *order, unsigned space);
cl_int tsl_plan_write_in_place(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box);
cl_int tsl_plan_copy(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_fill(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_map(struct tsl_command *c);
cl_int tsl_plan_unmap(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_migrate(struct tsl_command *c);
cl_int tsl_plan_native(struct tsl_command *c, const tsl_dependences *order);
/* Markers and barriers only wait. For a barrier of an out-of-order queue that waits for work in many lanes of a member
 * one operation does, as all that comes behind it would wait for each of these. */
cl_int tsl_plan_marker(struct tsl_command *c, const tsl_dependences *order);
cl_int tsl_plan_kernel(struct tsl_command *c, const tsl_dependences *order);

#endif
