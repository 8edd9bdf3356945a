/* What a trace tells of operations and commands. */
#ifndef TSL_GRAPH_RECORD_H
#define TSL_GRAPH_RECORD_H

#include <CL/cl.h>

struct tsl_command;
struct tsl_op;
struct tsl_op_record;

/* Keeps what the trace wants of a finished operation, of a reported command. Under the graph's lock. */
void tsl_record_op(struct tsl_op *op);
void tsl_record_command(struct tsl_command *command);
/* Writes what was kept, without the lock. */
void tsl_record_write(struct tsl_op_record *records);
const char *tsl_command_name(cl_command_type type);

#endif
