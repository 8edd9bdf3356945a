/*
 * What launches that could have gone whole took window by window (either_way.h): told to the placer. Under the graph's
 * lock.
 */
#ifndef TSL_GRAPH_WINDOW_TIMES_H
#define TSL_GRAPH_WINDOW_TIMES_H

#include <stdint.h>

struct tsl_command;

/* A launch is complete. */
void tsl_window_times_complete(struct tsl_command *command);
/* So many launches of one chain, all of that one's kernel and size, took so long together. */
void tsl_window_times_chained(struct tsl_command *command, unsigned n, uint64_t ns);

#endif
