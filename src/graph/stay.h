/*
 * Small launches that stay where their data are. To survey what a launch lacks on each member, and to evaluate which
 * bytes it touches, takes longer than many launches do. So a launch that takes less than a handover between members,
 * and whose data only one member has, is placed there at once. One of a few is asked about all the same: that one tells
 * whether another member would be faster, and stands for the others.
 */
#ifndef TSL_GRAPH_STAY_H
#define TSL_GRAPH_STAY_H

#include <stdbool.h>

struct tsl_ask;
struct tsl_command;

/* Places the launch so, if it may. Sets how many launches the ask stands for. Under the graph's lock. */
bool tsl_stay(struct tsl_command *command, struct tsl_ask *ask);

#endif
