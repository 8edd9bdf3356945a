/*
 * Members that aren't ready yet (members/ready.h): the placer doesn't know of them, unless no other will do, until a
 * thread of ours has made them ready. That thread begins when launches large enough to be cut, or to run side by side,
 * have taken twice as long as it took to open the first member, and the program has run for a second, or ten times as
 * long: so a short program doesn't pay for members that it doesn't need, and a long one loses little.
 */
#ifndef TSL_GRAPH_READINESS_H
#define TSL_GRAPH_READINESS_H

#include "base/sets.h"

#include <stdint.h>

struct tsl_command;
struct tsl_ended;
struct tsl_graph;
struct tsl_placement;

/* Those of the set that are ready; all of it, if none is. Under the graph's lock. */
tsl_members tsl_readiness_of(struct tsl_graph *graph, tsl_members members);

/* A launch was placed, or has ended. Under the graph's lock. */
void tsl_readiness_placed(struct tsl_graph *graph, const struct tsl_placement *placement, uint64_t now_ns);
void tsl_readiness_ended(struct tsl_graph *graph, const struct tsl_placement *placement, const struct tsl_ended *ended);

#endif
