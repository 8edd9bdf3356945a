/*
 * Memory order. Where there is no memory for an edge, or for an entry in a list of dependences, the graph keeps the
 * order by doing one thing after the other:
 *
 *   - No further command is scheduled. Those that could be wait in graph->later.
 *   - Operations that go are parked. Each becomes ready when nothing that went before it is under way, and so needs no
 *     edge: all that it comes after went before it.
 *   - The command that was being scheduled, and a deferred write that got its place then, are complete after all this.
 *   - Every end is noticed without anybody pulling, as the lists of what to pull may lack an entry.
 *
 * When nothing is under way, all that the edges and entries would have waited for is over, and all goes on as usual.
 */
#include "graph/memory_order.h"

#include "base/log.h"
#include "graph/command.h"
#include "graph/lane.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/state.h"

static void watch_lane(struct tsl_graph_lane *lane)
{
    struct tsl_op *op;
    TAILQ_FOREACH(op, &lane->flight, flight)
    tsl_op_watch(op);
}

/* What is submitted later is watched at its submission. */
static void watch_all(struct tsl_graph *graph)
{
    struct tsl_graph_queue *queue;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        struct tsl_port *port = &graph->ports[i];
        watch_lane(&port->up);
        watch_lane(&port->down);
        watch_lane(&port->timed_up);
        watch_lane(&port->timed_down);
    }
    LIST_FOREACH(queue, &graph->queues, link)
    for (unsigned i = 0; i < queue->n_lanes; i++) {
        watch_lane(&queue->lanes[i]);
        watch_lane(&queue->timed_lanes[i]);
    }
}

void tsl_memory_order_begin(struct tsl_command *c)
{
    struct tsl_graph *graph = c->graph;
    if (c->in_memory_order)
        return;
    c->in_memory_order = true;
    c->n_undone++;
    c->next = graph->memory_order;
    graph->memory_order = c;
    if (c->next)
        return;
    tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_WARN, "out of memory while ordering commands: they run one after the other");
    watch_all(graph);
}

void tsl_memory_order_park(struct tsl_op *op)
{
    op->user.refs++;
    STAILQ_INSERT_TAIL(&op->port->graph->parked, op, ready);
}
