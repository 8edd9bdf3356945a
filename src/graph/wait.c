/* Blocking. The thread that waits pulls completion from the driver itself, so that no other thread need wake. */
#include "graph/wait.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "graph/callback.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/data.h"
#include "graph/deferred_write.h"
#include "graph/graph.h"
#include "graph/lane.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/schedule.h"
#include "graph/senders.h"
#include "graph/state.h"
#include "graph/submit.h"
#include "graph/work.h"
#include "object/buffer.h"

static struct tsl_op *pullable_of(const tsl_dependences *list)
{
    for (unsigned i = list->n; i-- > 0;) {
        struct tsl_op *op = TSL_SMALL_AT(list, i)->op;
        if (op->state == TSL_OP_SUBMITTED && !op->port->sync)
            return op;
    }
    return NULL;
}

/* An operation that the driver has, and that the command, with its in-order queue, waits for; NULL: none. Where a join
 * stands for what is before the command, its own operations are all that is seen. */
static struct tsl_op *pullable(struct tsl_command *c)
{
    if (c->state == TSL_HELD)
        return NULL;
    struct tsl_op *op = pullable_of(&c->frontier);
    return op ? op : pullable_of(&c->own);
}

/* Of a window by which the held command, or one that it waits for, has begun (lead.h). */
static struct tsl_op *pullable_lead(const struct tsl_command *c)
{
    struct tsl_op *op = c->lead ? pullable(c->lead) : NULL;
    for (unsigned i = 0; i < c->waits.n && !op; i++) {
        const struct tsl_command *before = *TSL_SMALL_AT(&c->waits, i);
        op = before->lead ? pullable(before->lead) : NULL;
    }
    return op;
}

/* The operation to pull for the command. A command of an in-order queue is reported after the oldest one there, so that
 * one's is pulled where it has none itself, or where the next host task may wait for it. A simulation has one thread,
 * which must find places for held commands first, as other threads of ours do elsewhere. */
static struct tsl_op *next_to_pull(struct tsl_command *c)
{
    if (tsl_simulation)
        return pullable(c);
    struct tsl_command *oldest = c->in_order ? TAILQ_FIRST(&c->queue->commands) : c;
    struct tsl_op *op = pullable(c->graph->n_tasks ? oldest : c);
    op = op ? op : pullable(c->graph->n_tasks ? c : oldest);
    return op || c->state != TSL_HELD ? op : pullable_lead(c);
}

/* ---- Halfway ---- */

/* With more ends than so many the middle one is awaited first; so many ends, and commands, are looked at. */
#define FEW_ENDS      4u
#define MOST_ENDS     128u
#define MOST_COMMANDS 256u

/* The n-th operation of these, counted on from *seen, that the driver has and that has a fence; NULL: there are fewer.
 */
static struct tsl_op *nth_fenced(const tsl_dependences *own, unsigned n, unsigned *seen)
{
    for (unsigned i = 0; i < own->n; i++) {
        struct tsl_op *op = TSL_SMALL_AT(own, i)->op;
        if (op->state == TSL_OP_SUBMITTED && op->fence && !op->port->sync && (*seen)++ == n)
            return op;
    }
    return NULL;
}

/* Behind a command that is held no other has operations. */
static struct tsl_op *nth_until(const struct tsl_command *c, unsigned n, unsigned *seen)
{
    const struct tsl_command *before = TAILQ_FIRST(&c->queue->commands);
    struct tsl_op *op = NULL;
    *seen = 0;
    for (unsigned i = 0; i < MOST_COMMANDS && *seen < MOST_ENDS && before && before->state != TSL_HELD && !op; i++) {
        op = nth_fenced(&before->own, n, seen);
        before = before == c ? NULL : TAILQ_NEXT(before, link);
    }
    return op;
}

/* To notice an end takes some microseconds of this thread. So where many operations end before the command, half of
 * those that are left are awaited first, and what they take goes by while the devices work on the others. NULL: they
 * are few. One member's operations hardly have fences, and in a simulation nobody else would notice other ends
 * meanwhile. */
static struct tsl_op *halfway(const struct tsl_command *c)
{
    unsigned n, seen;
    if (!c->queue || !c->in_order || c->graph->n_ports < 2 || c->graph->n_tasks || tsl_simulation)
        return NULL;
    nth_until(c, MOST_ENDS, &n);
    return n > FEW_ENDS ? nth_until(c, n / 2, &seen) : NULL;
}

/* Waits for the operation in its driver. This thread does what follows. */
static void pull(struct tsl_op *op)
{
    const bool fenced = op->fence;
    op->user.refs++;
    op->n_awaiting += fenced;
    tsl_op_pull(op);
    op->n_awaiting -= fenced;
    tsl_op_unref(op);
}

/* One step on the way to the command's end. A host task that comes before that is run here: to wait for a thread that
 * runs it would take longer. */
static void step(struct tsl_command *c)
{
    struct tsl_op *op;
    if (tsl_graph_work_awaiting(c->graph, c))
        return;
    if ((op = tsl_port_take_task(&c->graph->tasks, c))) {
        tsl_senders_wake_behind(op);
        tsl_submit_task(op);
    } else if ((op = halfway(c)) || (op = next_to_pull(c)))
        pull(op);
    else
        tsl_graph_wait_awaiting(c);
}

cl_int tsl_command_wait(struct tsl_command *c)
{
    struct tsl_graph *graph = c->graph;
    c->refs++;
    c->awaited = true;
    if (c->queue && c->state != TSL_REPORTED) {
        tsl_schedule_chain(c->queue);
        tsl_graph_queue_flush(c->queue);
    }
    while (c->state != TSL_REPORTED)
        step(c);
    cl_int status = c->status;
    tsl_command_unref(c);
    if (graph->records) /* A program that reads the timeline now finds the command there. */
        tsl_graph_work(graph, TSL_WHO_APPLICATION);
    while (graph->n_writing > 0)
        tsl_graph_wait(graph);
    return status;
}

void tsl_graph_queue_flush(struct tsl_graph_queue *queue)
{
    struct tsl_graph *graph = queue->graph;
    struct tsl_command *c, *first = NULL;
    queue->refs++;
    if (tsl_simulation) /* Which has no thread that ends the wait. */
        tsl_schedule_chain(queue);
    tsl_deferred_write_all(graph);
    TAILQ_FOREACH_REVERSE(c, &queue->commands, tsl_command_list, link)
    {
        if (c->flushed)
            break; /* All before it are flushed, too. */
        first = c;
    }
    for (c = first; c; c = TAILQ_NEXT(c, link)) {
        c->flushed = true;
        tsl_callback_submitted(c);
    }
    for (unsigned i = 0; i < queue->n_lanes; i++) {
        tsl_graph_lane_flush(&queue->lanes[i]);
        tsl_graph_lane_flush(&queue->timed_lanes[i]);
    }
    for (unsigned i = 0; i < graph->n_ports; i++) {
        tsl_graph_lane_flush(&graph->ports[i].up);
        tsl_graph_lane_flush(&graph->ports[i].down);
        tsl_graph_lane_flush(&graph->ports[i].timed_up);
        tsl_graph_lane_flush(&graph->ports[i].timed_down);
    }
    tsl_graph_queue_unref(queue);
}

static struct tsl_graph *graph_of(struct tsl_queue *queue)
{
    return queue->context->graph;
}

cl_int tsl_queue_flush(struct tsl_queue *queue)
{
    struct tsl_graph *graph = graph_of(queue);
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    tsl_graph_queue_flush(queue->graph_queue);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return CL_SUCCESS;
}

/* In an out-of-order queue the last command may be reported long before others. */
TSL_UNCHECKED void tsl_graph_queue_wait(struct tsl_graph_queue *queue)
{
    struct tsl_command *c = TAILQ_LAST(&queue->commands, tsl_command_list);
    uint64_t last = c ? c->id : 0;
    if (c && queue->in_order)
        tsl_command_wait(c);
    while ((c = TAILQ_FIRST(&queue->commands)) && c->id <= last)
        tsl_command_wait(c);
}

cl_int tsl_queue_finish(struct tsl_queue *handle)
{
    struct tsl_graph *graph = graph_of(handle);
    struct tsl_graph_queue *queue = handle->graph_queue;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    tsl_graph_queue_wait(queue);
    cl_int error = queue->pending_error;
    queue->pending_error = CL_SUCCESS;
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return error;
}

/* Perhaps nobody will wait for what is on its way: its ends must be noticed all the same. */
void tsl_queue_let_go(struct tsl_queue *queue)
{
    struct tsl_graph *graph = graph_of(queue);
    struct tsl_command *c;
    if (tsl_forked())
        return;
    tsl_lock_take(&graph->lock);
    tsl_schedule_chain(queue->graph_queue);
    tsl_deferred_write_all(graph);
    TAILQ_FOREACH(c, &queue->graph_queue->commands, link)
    tsl_command_watch(c);
    tsl_graph_queue_flush(queue->graph_queue);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
}

static bool is_of(struct tsl_buffer *buffer, const struct tsl_buffer *root)
{
    return buffer && tsl_buffer_root(buffer) == root;
}

/* Does the command keep the object, or a part of it? */
static bool keeps(const struct tsl_command *c, const struct tsl_buffer *root)
{
    bool found = is_of(c->src, root) || is_of(c->dst, root);
    for (cl_uint i = 0; c->args && i < c->args->n_all && !found; i++)
        found = is_of(c->args->args[i].buffer, root);
    for (cl_uint i = 0; i < c->n_buffers && !found; i++)
        found = is_of(c->buffers[i], root);
    return found;
}

void tsl_data_let_go(struct tsl_buffer *buffer)
{
    struct tsl_graph *graph = buffer->context->graph;
    struct tsl_graph_queue *queue;
    struct tsl_command *c;
    tsl_lock_take(&graph->lock);
    tsl_schedule_chains(graph, false);
    tsl_deferred_write_all(graph);
    LIST_FOREACH(queue, &graph->queues, link)
    TAILQ_FOREACH(c, &queue->commands, link)
    if (keeps(c, tsl_buffer_root(buffer)))
        tsl_command_watch(c);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
}

cl_int tsl_events_wait(cl_uint n, struct tsl_event *const *events)
{
    struct tsl_graph *graph = events[0]->context->graph;
    cl_int error = CL_SUCCESS;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    for (cl_uint i = 0; i < n; i++) /* All are flushed before the first wait, as one may depend on another. */
        if (events[i]->command->queue && events[i]->command->state != TSL_REPORTED)
            tsl_graph_queue_flush(events[i]->command->queue);
    for (cl_uint i = 0; i < n; i++)
        if (tsl_command_wait(events[i]->command) < 0)
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return error;
}
