/* Waiting for ends, and seeing to it that they are noticed. Under the graph's lock, which is given meanwhile. */
#ifndef TSL_GRAPH_WAIT_H
#define TSL_GRAPH_WAIT_H

#include "base/lock.h"

#include <CL/cl.h>

struct tsl_command;
struct tsl_stream;

/* Until the command is reported. Returns its status (CL_COMPLETE or an error). */
cl_int tsl_command_wait(struct tsl_command *command) TSL_UNCHECKED;
/* All that is in the stream now goes to the devices. */
void tsl_stream_flush(struct tsl_stream *stream);
/* All that is in the stream now is reported; what is enqueued meanwhile is not waited for. */
void tsl_stream_wait(struct tsl_stream *stream) TSL_UNCHECKED;

#endif
