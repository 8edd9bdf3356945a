/*
 * The work that every entry leaves behind, done without the graph's lock: submitting, dropping references, asking for
 * notification, calling the application. The functions hold the lock at entry and, where nothing else is said, at exit.
 */
#ifndef TSL_GRAPH_WORK_H
#define TSL_GRAPH_WORK_H

#include "graph/state.h"

/* Which thread it is: our bridge must not run long host work; a waiter takes what it finds; one that has run a host
 * task (TASK) runs the next one. */
enum tsl_who { TSL_WHO_APPLICATION, TSL_WHO_WORKER, TSL_WHO_TASK };

/* Does the work that was left; was there any? The lock is given meanwhile. TSL_WHO_TASK: a host task that is ready is
 * left to the caller, who takes it (tsl_port_take_task). */
bool tsl_graph_work(struct tsl_graph *graph, enum tsl_who who) TSL_REQUIRES(graph->lock);
/* The same for a thread of the application's that waits for the command: a host task for which the command waits is
 * left to the caller. */
bool tsl_graph_work_awaiting(struct tsl_graph *graph, const struct tsl_command *awaited) TSL_REQUIRES(graph->lock);
/* tsl_graph_work, then gives the lock. */
void tsl_graph_leave(struct tsl_graph *graph, enum tsl_who who) TSL_RELEASES(graph->lock);
/* The same for the thread that runs the port's jobs: where the port has a new one what takes long is left
 * undone. */
void tsl_graph_leave_port(struct tsl_port *port) TSL_RELEASES(port->graph->lock);
/* Without the lock, by a thread that had it for long and may soon take it again: those that submit, or tell of an end,
 * have it first. A lock that is given and taken again at once is nobody else's: a thread that sleeps needs a while to
 * wake. */
void tsl_graph_yield(const struct tsl_graph *graph);
/* The job of the bridge thread: work that was left. Without the lock. */
void tsl_graph_bridge(struct tsl_job *job);
/* Does the callback thread, that of all graphs, call nothing? Without the lock. */
bool tsl_graph_callbacks_idle(void);
/* Frees operations that nobody refers to. The lock is given meanwhile. */
void tsl_graph_bury(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);

/* Sends what is ready to its members, or has it sent. The lock is given meanwhile. */
void tsl_graph_send(struct tsl_graph *graph, enum tsl_who who) TSL_REQUIRES(graph->lock);
/* The same, and what is ready is sent when it returns. For graph->begin_now. */
void tsl_graph_begin_now(struct tsl_graph *graph);

#endif
