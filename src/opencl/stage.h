/* stage.c: big transfers through pinned memory. */
#ifndef TSL_OPENCL_STAGE_H
#define TSL_OPENCL_STAGE_H

#include "opencl/internal.h"

/* The size from which on transfers go through pinned memory (TESELA_STAGING); 0: never. */
size_t tsl_opencl_stage_size(const struct tsl_opencl_member *m);
/* Is the copy one of those? */
bool tsl_opencl_wants_stage(const struct tsl_opencl_lane *lane, const struct tsl_copy *copy);
/* As tsl_opencl_copy. False: it can't be had, nothing was done. */
bool tsl_opencl_stage_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                           struct tsl_fence **fence);
/* At close, when all work is complete: ends the threads. */
void tsl_opencl_stage_destroy(struct tsl_opencl_member *m);
/* Memory of host_alloc comes or goes. */
void tsl_opencl_note_pinned(struct tsl_opencl_member *m, struct tsl_opencl_mem *mem, bool pinned);

#endif
