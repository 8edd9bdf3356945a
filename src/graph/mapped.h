/* Ranges of an object that the application has mapped for writing. Under the graph's lock. */
#ifndef TSL_GRAPH_MAPPED_H
#define TSL_GRAPH_MAPPED_H

#include <CL/cl.h>
#include <stdint.h>

struct tsl_command;
struct tsl_data;

/* [begin, end) is mapped for writing, is so no longer. */
cl_int tsl_mapped_add(struct tsl_data *data, uint64_t begin, uint64_t end);
void tsl_mapped_remove(struct tsl_data *data, uint64_t begin, uint64_t end);
/* The host's copy of what is mapped of [begin, end) stays valid. */
cl_int tsl_mapped_keep(struct tsl_data *data, uint64_t begin, uint64_t end);
/* The command, a map or unmap, failed: a map that failed maps nothing, and what an unmap that failed would have
 * unmapped isn't mapped either; what the application wrote there is undefined. Nothing for other commands. */
void tsl_mapped_undo(struct tsl_command *command);

#endif
