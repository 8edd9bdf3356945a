/* Where the current bytes of an object are: questions to its directory, and what changes it. Under the graph's lock. */
#ifndef TSL_GRAPH_VALID_H
#define TSL_GRAPH_VALID_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

struct tsl_data;

/* Bytes of [begin, end) that are not valid in a space. */
uint64_t tsl_valid_missing(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* Is all of [begin, end) valid in a space? */
bool tsl_valid_is_in(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The first range at or behind *begin of which that space has the only copy; false: there is none. */
bool tsl_valid_only_in(struct tsl_data *data, unsigned space, uint64_t *begin, uint64_t *end);
/* The space's copy of [begin, end) is valid, too. */
cl_int tsl_valid_add(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The space's copy is valid nowhere any more. */
void tsl_valid_remove_all(struct tsl_data *data, unsigned space);
/* Nobody needs what the object holds: it counts as never written. */
void tsl_valid_forget_all(struct tsl_data *data);
/* All of the range is written, whatever was there: only that space's copy counts. */
cl_int tsl_valid_set_only(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* All of the range is undefined from now on, as if it had never been written. */
cl_int tsl_valid_forget(struct tsl_data *data, uint64_t begin, uint64_t end);
/* The newest bytes of [begin, end) count as the host's: a write is to bring them. */
cl_int tsl_valid_await_on_host(struct tsl_data *data, uint64_t begin, uint64_t end);
/* Warns, once for each object, if some of [begin, end) is read before anything was written to it. */
void tsl_valid_warn_unwritten(struct tsl_data *data, uint64_t begin, uint64_t end);

#endif
