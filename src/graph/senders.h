/*
 * Senders: threads of ours that submit at once what one thread would submit one after the other.
 *
 * A launch that is cut becomes some operations for each of its members, and some drivers' libraries take a thread
 * several microseconds for each (submits_slowly). So each such member has a thread that can drain the ports of that
 * member. To be woken takes longer than to submit. So the senders are woken when it is known that there will be shares
 * for them, and look out for LOOKS_US before they sleep again. Whoever finds a sender asleep submits himself.
 *
 * Host tasks that follow each other closely are another such work: while a thread submits what one of them made ready,
 * it can't run the next. So the senders of what comes behind such a task are woken for it, too.
 *
 * A graph has none where the process has few processors, and with TESELA_SENDERS=off.
 */
#ifndef TSL_GRAPH_SENDERS_H
#define TSL_GRAPH_SENDERS_H

#include "base/lock.h"
#include "graph/state.h"

#include <stdbool.h>

struct tsl_command;

/* Gives the ports of a new graph their senders. */
void tsl_senders_appoint(struct tsl_graph *graph);
/* Wakes those of the members that have shares of the command. Under the graph's lock. */
void tsl_senders_wake(struct tsl_command *command);
/* Wakes those of the members that have operations behind the host task, if it begins soon after the one before. Under
 * the graph's lock. */
void tsl_senders_wake_behind(const struct tsl_op *task);
/* Hands the port, which has ready operations, to its sender. False: that is asleep, or there is none. Under the graph's
 * lock. */
bool tsl_senders_take(struct tsl_port *port);
/* Waits until the senders have submitted what they were handed, but not for long. Whoever waits for the operations then
 * finds them with their drivers. The lock is given meanwhile. */
void tsl_senders_join(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);

#endif
