/* What a window of a launch that runs window by window moves between the host's copies and its slices (arena.h). Under
 * the graph's lock. */
#ifndef TSL_GRAPH_WINDOW_MOVE_H
#define TSL_GRAPH_WINDOW_MOVE_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_area;
struct tsl_byte_box;
struct tsl_command;
struct tsl_footing_range;
struct tsl_op;
struct tsl_port;
struct tsl_range;
struct tsl_slice;

/* Plans a copy of the range, which the host has, to the slice, and adds it to ins. */
cl_int tsl_window_in(struct tsl_command *command, struct tsl_port *port, const struct tsl_slice *slice,
                     const struct tsl_range *range, tsl_dependences *ins);
/* Plans a copy of the range from the slice to the host, where it makes the only valid copy, and adds it to outs. It
 * fails if the launch does. It is the command's work: the launch's, or one of a chain. rows: where in the root object
 * the bytes of the range lie that are copied; NULL: all are. What lies between must stay as it is though the copy
 * fails. */
cl_int tsl_window_out(struct tsl_command *command, struct tsl_op *launch, const struct tsl_slice *slice,
                      const struct tsl_footing_range *range, const struct tsl_byte_box *rows, struct tsl_op *end,
                      tsl_dependences *outs);
/* Plans a copy of the range from the slice `from` to another one of the same object, in another area of the same
 * member, after the launch, which was the last to write there, and adds it to ins and carries. */
cl_int tsl_window_carry(struct tsl_command *command, struct tsl_op *launch, const struct tsl_slice *from,
                        const struct tsl_slice *to, const struct tsl_range *range, tsl_dependences *ins,
                        tsl_dependences *carries);
/* Later users of the area come after these copies from it, too. */
void tsl_window_carried(struct tsl_command *command, struct tsl_op *launch, struct tsl_area *area,
                        const tsl_dependences *carries);

/* The end of the window's use of its area: later users come after a mark behind its copies to the host or, without any,
 * its launch, which may be done, and know its command no more. failed: perhaps nothing of the window was planned, and
 * the launch is another one's, so those who used the area before aren't done with it. */
void tsl_window_end(struct tsl_command *command, struct tsl_op *launch, struct tsl_area *area,
                    const tsl_dependences *outs, bool failed);

#endif
