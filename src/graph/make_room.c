/* Making room on a member whose driver has no memory left. */
#include "graph/make_room.h"

#include "base/lock.h"
#include "base/log.h"
#include "driver/driver.h"
#include "graph/complete.h"
#include "graph/copies.h"
#include "graph/evict_now.h"
#include "graph/graphs.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "handle/object.h"
#include "object/context.h"

/* ---- Other contexts ---------------------------------------------------------------------------------------------- */

static bool evict_elsewhere(struct tsl_port *port, const struct tsl_member *member)
{
    struct tsl_graph *graph = tsl_graphs_next(NULL);
    bool done = false;
    while (graph && !done) {
        struct tsl_graph *this = graph;
        if (graph != port->graph) {
            tsl_lock_take(&graph->lock);
            done = tsl_evict_now_idle(graph, port, member);
            tsl_graph_post(graph); /* Another thread may have been waiting for the eviction's operation. */
            tsl_lock_give(&graph->lock);
        }
        graph = done ? NULL : tsl_graphs_next(this);
        tsl_object_unref(&this->context->object);
    }
    return done;
}

/* ---- What other threads are about to free ------------------------------------------------------------------------ */

/* Is another thread about to free memory of the port? Plans reckon with that memory at once, and an object that is
 * being destroyed can't be evicted. */
static bool is_leaving(const struct tsl_port *port)
{
    struct tsl_residence *residence;
    if (port->n_leaving > 0)
        return true;
    TAILQ_FOREACH(residence, &port->residents, link)
    if (tsl_object_dying(residence->data->owner))
        return true;
    return false;
}

/* The graph's lock is held, and given meanwhile. Between the end of an object's last reference and the end of its
 * memory no function of the application is called, so this wait is short. */
static bool wait_for_leaving(struct tsl_graph *graph, const struct tsl_member *member)
{
    for (unsigned i = 0; i < graph->n_ports; i++) /* Spread memory counts at its home alone. */
        if ((graph->ports[i].member == member || graph->n_spread) && is_leaving(&graph->ports[i])) {
            tsl_graph_wait(graph);
            return true;
        }
    return false;
}

static bool wait_for_leaving_anywhere(const struct tsl_member *member)
{
    struct tsl_graph *graph =
        tsl_simulation ? NULL : tsl_graphs_next(NULL); /* A simulation's other threads are below on the stack. */
    bool waited = false;
    while (graph) {
        struct tsl_graph *this = graph;
        if (!waited) {
            tsl_lock_take(&graph->lock);
            waited = wait_for_leaving(graph, member);
            tsl_lock_give(&graph->lock);
        }
        graph = waited ? NULL : tsl_graphs_next(this);
        tsl_object_unref(&this->context->object);
    }
    return waited;
}

/* ---- The thread that drains the port ----------------------------------------------------------------------------- */

bool tsl_make_room_helps(const struct tsl_port *port, cl_int error)
{
    if (port->member && (tsl_member_is_lost(port->member) || tsl_member_is_lost(port->lacking->member)))
        return false;
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || (error == CL_OUT_OF_RESOURCES && port->fresh_size > 0);
}

/* Of a queue's lanes on the port; NULL: they have none. */
static struct tsl_op *oldest_of(const struct tsl_graph_queue *queue, const struct tsl_port *port)
{
    struct tsl_op *op = NULL;
    for (unsigned i = port->index; i < queue->n_lanes && !op; i += port->graph->n_ports) {
        op = TAILQ_FIRST(&queue->lanes[i].flight);
        if (!op)
            op = TAILQ_FIRST(&queue->timed_lanes[i].flight);
    }
    return op;
}

static struct tsl_op *oldest(struct tsl_port *port)
{
    const struct tsl_graph_lane *const lanes[] = {&port->down, &port->timed_down, &port->up, &port->timed_up};
    struct tsl_op *op = NULL;
    struct tsl_graph_queue *queue;
    for (unsigned i = 0; i < 4 && !op; i++)
        op = TAILQ_FIRST(&lanes[i]->flight);
    for (queue = LIST_FIRST(&port->graph->queues); queue && !op; queue = LIST_NEXT(queue, link))
        op = oldest_of(queue, port);
    return op;
}

/* Waits for the end of one operation that the member's driver has: it ends by itself. */
static bool wait_for_one(struct tsl_port *port)
{
    struct tsl_op *op = oldest(port);
    if (!op)
        return false;
    op->user.refs++;
    tsl_op_pull(op);
    tsl_op_unref(op);
    return true;
}

bool tsl_make_room(struct tsl_op *op, bool first, bool (*submit_ahead)(struct tsl_op *op))
{
    struct tsl_port *port = op->port, *lacking = port->lacking;
    struct tsl_graph *graph = port->graph;
    if (first)
        tsl_member_memory_learn(lacking, lacking == port ? port->fresh_size : 0);
    tsl_lock_take(&graph->lock);
    bool changed = tsl_evict_now_idle(graph, port, lacking->member);
    tsl_lock_give(&graph->lock);
    if (changed || evict_elsewhere(port, lacking->member))
        return true;
    tsl_lock_take(&graph->lock); /* Meanwhile another thread may have noticed an end. */
    changed = tsl_evict_now_idle(graph, port, lacking->member) || wait_for_one(lacking) || submit_ahead(op);
    tsl_lock_give(&graph->lock);
    changed = changed || wait_for_leaving_anywhere(lacking->member);
    if (!changed)
        tsl_log(TSL_LOG_IN_TILE, TSL_LOG_ERROR,
                "%s has no memory left, and nothing there can go back to the host: use fewer or smaller buffers, "
                "or leave the device out (TESELA_MEMBERS)",
                lacking->name);
    return changed;
}
