/* What a window of a launch that runs window by window moves between the host's copies and its slices (arena.h). Under
 * the graph's lock. */
#ifndef TSL_GRAPH_WINDOW_MOVE_H
#define TSL_GRAPH_WINDOW_MOVE_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_area;
struct tsl_command;
struct tsl_footing_range;
struct tsl_op;
struct tsl_port;
struct tsl_slice;

/* Plans a copy of the range, which the host has, to the slice, and adds it to ins. */
cl_int tsl_window_in(struct tsl_command *command, struct tsl_port *port, const struct tsl_slice *slice,
                     const struct tsl_footing_range *range, tsl_dependences *ins);
/* Plans a copy of the range from the slice to the host, where it makes the only valid copy, and adds it to outs. It
 * fails if the window's launch does. */
cl_int tsl_window_out(struct tsl_op *launch, const struct tsl_slice *slice, const struct tsl_footing_range *range,
                      tsl_dependences *outs);

/* The end of the window's use of its area: later users wait for a mark, which doesn't fail, behind its copies to the
 * host or, without any, its launch. A mark of its own: one that is made when it is needed stands behind later windows,
 * too. */
void tsl_window_end(struct tsl_op *launch, struct tsl_area *area, const tsl_dependences *outs);

#endif
