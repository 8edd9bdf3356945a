/* Fetches: the moves that bring an object's current bytes to a space. Under the graph's lock. */
#ifndef TSL_GRAPH_FETCH_H
#define TSL_GRAPH_FETCH_H

#include <CL/cl.h>
#include <stdint.h>

struct tsl_command;
struct tsl_data;

struct tsl_range;

/* Makes the current bytes of [begin, end) available in a space: plans the moves that are missing. */
cl_int tsl_fetch(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The same of many ranges, which come in ascending order and don't meet: what comes from one space is one move. */
cl_int tsl_fetch_ranges(struct tsl_command *command, struct tsl_data *data, const struct tsl_range *ranges, unsigned n,
                        unsigned space);

#endif
