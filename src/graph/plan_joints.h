/* What a launch with joints (joints.h) does before its shares and behind them. Under the graph's lock. */
#ifndef TSL_GRAPH_PLAN_JOINTS_H
#define TSL_GRAPH_PLAN_JOINTS_H

#include "graph/dependences.h"

#include <CL/cl.h>

struct tsl_command;
struct tsl_data;
struct tsl_port;
struct tsl_range;

/* The copies, and the arguments of the command's shares. Nothing for a command without joints. */
cl_int tsl_joints_begin(struct tsl_command *command, const tsl_dependences *order);
/* The objects, of the copies. */
cl_int tsl_joints_end(struct tsl_command *command, const tsl_dependences *order);
/* Fills what of the range was never written with zeros, in the member's memory: that differs from member to member. */
cl_int tsl_joints_write_unwritten(struct tsl_command *command, const tsl_dependences *order, struct tsl_port *port,
                                  struct tsl_data *data, const struct tsl_range *range);

#endif
