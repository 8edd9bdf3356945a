/*
 * Claims: an operation takes a range of an object's copy. It gets edges from all that conflicts there (the same copy of
 * the same bytes, and one of the two writes) and leaves its own use on the tiles. A write makes its copy the only valid
 * one. Under the graph's lock.
 */
#ifndef TSL_GRAPH_CLAIM_H
#define TSL_GRAPH_CLAIM_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_command;
struct tsl_data;
struct tsl_op;

/* The operation will touch [begin, end) of that space's copy. may: TSL_MAY_… bits; 0: it is given the memory and
 * touches none of it. Fetch first, unless all of the range is overwritten. */
cl_int tsl_claim(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space, unsigned may);
/* The operation, which is one of to_all, will write in the range, in that copy of several which all stay valid. */
cl_int tsl_claim_one_copy(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The operation will touch the application's memory. */
cl_int tsl_claim_host(struct tsl_op *op, const void *host, size_t size, bool write);
/* The operation is done: the host map may forget the application's memory that it touched. */
void tsl_claim_forget_host(struct tsl_op *op);
/* The command (a map, an unmap) touches the host's copy without an operation of its own. exclusive: that becomes the
 * only valid copy. */
cl_int tsl_claim_for_command(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end,
                             unsigned may, bool exclusive);

#endif
