/*
 * Where a driver refuses an allocation, or the first submission that needs one: the thread that drains the port evicts
 * objects that nobody uses, of its own context and of others, waits for what is on its way, and tries again. Memory
 * that is spread over members may lack room on another member than the port's (port->lacking): then that is done there.
 */
#ifndef TSL_GRAPH_MAKE_ROOM_H
#define TSL_GRAPH_MAKE_ROOM_H

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_op;
struct tsl_port;

/* The driver had no memory for the submission of op. True: something changed, try again. first: the first time with
 * this submission. submit_ahead: submits what is ready behind op and doesn't need it, as that may end and be evicted;
 * false: there is nothing such. By the thread that drains the port, without the lock. */
bool tsl_make_room(struct tsl_op *op, bool first, bool (*submit_ahead)(struct tsl_op *op));
/* Does the error of a submission say that the member has no memory? */
bool tsl_make_room_helps(const struct tsl_port *port, cl_int error);

#endif
