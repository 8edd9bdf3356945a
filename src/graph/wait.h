/* Waiting for ends, and seeing to it that they are noticed. Under the graph's lock, which is given meanwhile. */
#ifndef TSL_GRAPH_WAIT_H
#define TSL_GRAPH_WAIT_H

#include "base/lock.h"

#include <CL/cl.h>

struct tsl_command;
struct tsl_graph_queue;

/* Until the command is reported. Returns its status (CL_COMPLETE or an error). */
cl_int tsl_command_wait(struct tsl_command *command) TSL_UNCHECKED;
/* All that is in the queue now goes to the devices. */
void tsl_graph_queue_flush(struct tsl_graph_queue *queue);
/* All that is in the queue now is reported; what is enqueued meanwhile is not waited for. */
void tsl_graph_queue_wait(struct tsl_graph_queue *queue) TSL_UNCHECKED;

#endif
