/* The freeing of the host's copy of an object; data.h has its making. */
#ifndef TSL_GRAPH_HOST_COPY_H
#define TSL_GRAPH_HOST_COPY_H

struct tsl_data;

/* The host's copy, which is ours, goes. Calls a driver where the copy is pinned: not under a lock. */
void tsl_host_copy_free(struct tsl_data *data);

#endif
