/* Moves that fail: the bytes are where they were. Under the graph's lock. */
#ifndef TSL_GRAPH_MOVE_FAILED_H
#define TSL_GRAPH_MOVE_FAILED_H

#include <stdbool.h>
#include <stdint.h>

struct tsl_data;
struct tsl_op;

/* A move failed: its target's copy is not valid after all, where another one is. Before it counts as done. */
void tsl_move_failed(struct tsl_op *op);
/* A copy from an area to the host failed. If it may have begun, what it was to write is good nowhere, where other
 * copies aren't. Before it counts as done. */
void tsl_move_spoiled(struct tsl_op *op);
/* op, which isn't done, won't have moved these bytes: where they were not written since, they are still in `from`.
 * True: an eviction was to give them up there meanwhile. */
bool tsl_move_failed_range(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to,
                           unsigned from);

#endif
