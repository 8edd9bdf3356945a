/*
 * What transfers of boxes fetch and claim. A box of few rows far from each other (runs.h) takes each row for itself; of
 * others the range from the first to the last byte is taken, and the operation has extents (extent.h).
 *
 * Writing the range of a box with gaps would make one copy of all of it the only valid one: a column of a matrix would
 * bring the whole matrix to the next reader. So what is small is written to all copies that are valid, which stay
 * so. Under the graph's lock.
 */
#ifndef TSL_GRAPH_BOXES_H
#define TSL_GRAPH_BOXES_H

#include "base/sets.h"

#include <CL/cl.h>
#include <stdint.h>

struct tsl_box_copy;
struct tsl_command;
struct tsl_data;
struct tsl_op;

/* So many bytes at most, counted for each copy, are written to all copies: for more of them it may be quicker to move
 * the range. */
#define TSL_BOX_TO_ALL_SIZE ((size_t)256 << 10)

/* All are about the box's dst side. */

/* Bytes that are to be fetched for the box. */
uint64_t tsl_box_missing(struct tsl_data *data, const struct tsl_box_copy *box, unsigned space);
cl_int tsl_box_fetch(struct tsl_command *command, struct tsl_data *data, const struct tsl_box_copy *box,
                     unsigned space);
cl_int tsl_box_claim_read(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space);
/* Of bytes that the operation surely writes; fetches what lies between them where that is claimed, too. */
cl_int tsl_box_overwrite(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space);

/* The copies that are all to be written; none: the box is to be written to one copy as any other. */
tsl_spaces tsl_box_copies(const struct tsl_command *command, struct tsl_data *data, const struct tsl_box_copy *box);
/* The same where the application has written the box to the host's copy, which is one of them: there the question is
 * the same with one member. */
tsl_spaces tsl_box_copies_with_host(struct tsl_data *data, const struct tsl_box_copy *box);
/* The operation writes the box to one of these copies. */
cl_int tsl_box_claim_copy(struct tsl_op *op, struct tsl_data *data, const struct tsl_box_copy *box, unsigned space);
/* The box was written to all copies. Where others wrote around its rows while they were mapped, the host's copy is
 * valid in the rows alone: many rows then give it up, so that the directory's tiles become few again. */
cl_int tsl_box_settle(struct tsl_data *data, const struct tsl_box_copy *box);

#endif
