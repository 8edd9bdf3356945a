/* What evictions claim of an object's copy in a member's memory, and how it stops being one. */
#ifndef TSL_GRAPH_EVICT_H
#define TSL_GRAPH_EVICT_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

struct tsl_data;
struct tsl_op;

/* All of the object's copy in that space belongs to the operation, when those that use it are done. */
cl_int tsl_evict_claim(struct tsl_op *op, struct tsl_data *data, unsigned space);
/* Operations that use the object's copy in that space from now on come after this operation, which itself comes after
 * none there. */
void tsl_evict_precede(struct tsl_op *op, struct tsl_data *data, unsigned space);
/* The operation, which makes the copy itself, claims that range of the host's copy. */
cl_int tsl_evict_claim_host(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end);
/* The space's copy is valid no longer: the operation, which has claimed it, takes it away. */
void tsl_evict_leave(struct tsl_op *op, struct tsl_data *data, unsigned space);
/* Is no unfinished operation using that space's copy of the object? Of [begin, end) of the host's? */
bool tsl_evict_is_idle(struct tsl_data *data, unsigned space);
bool tsl_evict_host_is_idle(struct tsl_data *data, uint64_t begin, uint64_t end);

#endif
