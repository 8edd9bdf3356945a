/* What others ask of the plan of a kernel. Under the graph's lock. */
#ifndef TSL_GRAPH_PLAN_KERNEL_H
#define TSL_GRAPH_PLAN_KERNEL_H

#include "graph/dependences.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_command;
struct tsl_data;
struct tsl_op;
struct tsl_range;
struct tsl_share;

/* A range of an object, in the space where a share works: written says that it may write there, else the bytes are
 * needed as they were. */
typedef void tsl_plan_range_fn(void *arg, struct tsl_data *data, unsigned space, const struct tsl_range *range,
                               bool written);

/* What the share would fetch and claim by its placement. */
void tsl_plan_kernel_look(struct tsl_command *command, const struct tsl_share *share, tsl_plan_range_fn *fn, void *arg);
/* Plans the command's share i, a window of a chain, for which an area was taken. It comes strictly after ins. *made: a
 * reference to the launch; NULL: there is none. */
cl_int tsl_plan_kernel_window(struct tsl_command *command, unsigned i, const tsl_dependences *order,
                              const tsl_dependences *ins, struct tsl_op **made);
/* Plans the command's share i once more, by its placement: fetches, claims and the launch. */
void tsl_plan_kernel_again(struct tsl_command *command, unsigned i);

#endif
