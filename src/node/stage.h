/*
 * Where data are between MPI and a member: memory to which MPI receives and from which a driver copies, or the other
 * way. Of a driver that has such (caps.pins_host) it is pinned memory, so that a copy is the device's own work, which
 * goes on beside others and beside MPI; else it is heap. The server's thread alone takes and gives it.
 */
#ifndef TSL_NODE_STAGE_H
#define TSL_NODE_STAGE_H

#include "driver/driver.h"

/* At least size bytes, for copies from or to that member (NULL: of any); NULL: no memory. */
void *node_stage_take(struct tsl_member *member, size_t size);
/* Its size is added to *sum for as long as it isn't given back. */
void node_stage_count(void *data, size_t *sum);
/* No copy or message uses it any more; NULL allowed. */
void node_stage_give(void *data);

#endif
