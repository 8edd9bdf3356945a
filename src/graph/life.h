/*
 * A door of the graph for the layers below it: the lives of a context's graph and of a queue's part of it, both opaque.
 * object/context.c, object/queue.c and program/build.c come in here; data.h is the other such door.
 *
 * Locks: every function takes the graph's lock itself; the caller holds no lock of the core.
 */
#ifndef TSL_GRAPH_LIFE_H
#define TSL_GRAPH_LIFE_H

#include <CL/cl.h>

struct tsl_context;
struct tsl_graph;
struct tsl_queue;
struct tsl_graph_queue;

/* One graph per context. Destroying waits for nothing: all commands are complete by then, as commands in flight hold
 * their queue, and queues hold their context. */
cl_int tsl_graph_create(struct tsl_context *context, struct tsl_graph **graph);
void tsl_graph_destroy(struct tsl_graph *graph); /* NULL allowed */
/* A wait may return while another thread still drops what the command held (its kernel, its buffers). After this call
 * nothing of what was reported before is held any more. Waits for destructors, so it is not for their callbacks (OpenCL
 * 3.0, clSetMemObjectDestructorCallback: nor are builds). A context that is being made, without graph yet, holds
 * nothing. */
void tsl_graph_clean_up(struct tsl_context *context);

/* One part per command queue. */
cl_int tsl_graph_queue_create(struct tsl_queue *handle, struct tsl_graph_queue **queue);
void tsl_graph_queue_destroy(struct tsl_graph_queue *queue); /* NULL allowed */

#endif
