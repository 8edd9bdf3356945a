/* The host's copy of an object: what it costs, and its freeing; data.h has its making. */
#ifndef TSL_GRAPH_HOST_COPY_H
#define TSL_GRAPH_HOST_COPY_H

struct tsl_data;

/* The host's copy, which is ours, goes. Calls a driver where the copy is pinned: not under a lock. */
void tsl_host_copy_free(struct tsl_data *data);

/* What it is thought to take, in nanoseconds, to make the host's copy; 0: there is one. Under the graph's lock. */
double tsl_host_copy_ns(const struct tsl_data *data);

#endif
