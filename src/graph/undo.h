/*
 * Claims that fail.
 *
 * An operation that has the old bytes and may write some of them makes its own copy the only valid one when it is
 * scheduled, long before it is known whether the bytes ever get there, and whether it runs. Until it has ended well its
 * tiles keep what was good before: the copies that no move on its way writes. If the operation fails, these are valid
 * again. Nobody has written them meanwhile, as a later writer comes strictly after the operation. (If a later writer
 * overwrote all of a tile, nothing is kept.) But a driver runs what only stands behind a failed operation in its lane,
 * and after that moves that wait for what ran: what these write is no good either.
 *
 * Operations that claim a tile of one copy side by side have a row of records there. While one of the row is on its
 * way, or after it has ended well, the tile stays with that copy. A later claim of another copy, which took no byte
 * that a failed operation writes, stays as well.
 *
 * Under the graph's lock.
 */
#ifndef TSL_GRAPH_UNDO_H
#define TSL_GRAPH_UNDO_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

struct tsl_data;
struct tsl_graph;
struct tsl_op;

/* The operation, which has the old bytes in that space, is to change some: makes its copy the only valid one, and keeps
 * what was good. */
cl_int tsl_undo_note(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* May a copy of the range become valid that isn't so now, since a move on its way takes the bytes from there? If that
 * move fails, they are as they were when it was planned. */
bool tsl_undo_may_come_back(struct tsl_graph *graph, struct tsl_data *data, uint64_t begin, uint64_t end);
/* The move may write there though it fails: that space is none to go back to. */
void tsl_undo_spoil(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The range goes back to what it kept when the operation claimed it. */
void tsl_undo_range(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end);

/* An operation that claimed what it may change failed: its tiles go back to what they kept; where nothing good is left,
 * readers fail. If others of its command wrote other copies, its copy isn't valid. Before it counts as done. */
void tsl_undo_claims(struct tsl_op *op);

#endif
