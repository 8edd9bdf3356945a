/*
 * Deferred writes. A write that needn't be done at once is scheduled without an operation: until somebody reads what it
 * writes, nobody knows where that is wanted. If a kernel comes for it, it goes from the application's memory straight
 * to the kernel's member. Everything else that is scheduled, waited for, flushed or asked about makes it go first where
 * a blocking write would go: to where its reader is likely to be, or to the host's copy. So nothing but kernels that
 * don't touch its bytes is ever scheduled between the write and its operation, and the operation's edges are those that
 * it would have had at once.
 *
 * Under the graph's lock.
 */
#ifndef TSL_GRAPH_DEFERRED_WRITE_H
#define TSL_GRAPH_DEFERRED_WRITE_H

#include "graph/command.h"
#include "graph/dependences.h"

#include <CL/cl.h>
#include <stdint.h>

struct tsl_graph;

/* May the write be deferred? */
bool tsl_deferred_write_allowed(const struct tsl_command *write);
/* Defers it. */
cl_int tsl_deferred_write_add(struct tsl_command *write, const tsl_dependences *order);
/* Gives a place to all deferred writes that the command, which is about to be scheduled (a kernel: placed), might come
 * after. */
void tsl_deferred_write_before(struct tsl_command *command);
/* All deferred writes go where they are likely to be read. */
void tsl_deferred_write_all(struct tsl_graph *graph);
/* The bytes of its object that it writes. */
static inline uint64_t tsl_deferred_write_begin(const struct tsl_command *write)
{
    return write->dst->offset + write->box.dst_offset;
}

static inline uint64_t tsl_deferred_write_end(const struct tsl_command *write)
{
    return tsl_deferred_write_begin(write) + write->box.region[0];
}

#endif
