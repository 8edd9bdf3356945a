/*
 * Starts the MPI job of `tesela run --nodes`: tesela-head and the nodes. It is no child of this process, which becomes
 * the user's program, and ends when that has ended.
 */
#ifndef TSL_TOOL_NODES_H
#define TSL_TOOL_NODES_H

#include <stdbool.h>

/* nodes: a number, or a file of hosts. When all nodes are ready TESELA_NODES is set. False, with a sentence on standard
 * error: there is no job. */
bool tsl_tool_nodes_start(const char *nodes);

#endif
