/* How a memory object becomes spread (spread.h). Under the graph's lock. */
#ifndef TSL_GRAPH_SPREAD_MAKE_H
#define TSL_GRAPH_SPREAD_MAKE_H

#include "base/sets.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

struct tsl_command;
struct tsl_data;
struct tsl_graph;

/* Are these members, two or more, of one domain? */
bool tsl_spread_domain(const struct tsl_graph *graph, tsl_members members);
/* Is the object of a kind that can be spread, and isn't spread now? Not an image or shared virtual memory, and what was
 * spread before only over the same members. Takes no lock. */
bool tsl_spread_can_be(const struct tsl_data *data, tsl_members members);
/* By member: how large the parts of such an object would be. */
void tsl_spread_sizes(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members members, size_t *sizes);
/* May the object be spread over these members now, or is it already? Not if it is an image or shared virtual memory, or
 * if there is no room. */
bool tsl_spread_may(struct tsl_graph *graph, struct tsl_data *data, tsl_members members);
/* Spreads it, if it isn't, for a command that is being planned; what was spread before over the members that it was
 * spread over then. Else what the members still have of their own goes, where that isn't needed any more. */
cl_int tsl_spread_make(struct tsl_command *command, struct tsl_data *data, tsl_members members);

#endif
