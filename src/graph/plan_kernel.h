/* What others ask of the plan of a kernel. Under the graph's lock. */
#ifndef TSL_GRAPH_PLAN_KERNEL_H
#define TSL_GRAPH_PLAN_KERNEL_H

#include <stdbool.h>

struct tsl_command;
struct tsl_data;
struct tsl_range;
struct tsl_share;

/* A range of an object, in the space where a share works: written says that it may write there, else the bytes are
 * needed as they were. */
typedef void tsl_plan_range_fn(void *arg, struct tsl_data *data, unsigned space, const struct tsl_range *range,
                               bool written);

/* What the share would fetch and claim by its placement. */
void tsl_plan_kernel_look(struct tsl_command *command, const struct tsl_share *share, tsl_plan_range_fn *fn, void *arg);
/* Plans the command's share i once more, by its placement: fetches, claims and the launch. */
void tsl_plan_kernel_again(struct tsl_command *command, unsigned i);

#endif
