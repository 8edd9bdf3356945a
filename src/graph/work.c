/* The work that every entry leaves to be done without the lock. */
#include "graph/work.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/pause.h"
#include "base/pool.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/coherence.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/dependences.h"
#include "graph/joints.h"
#include "graph/lane.h"
#include "graph/life.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/record.h"
#include "graph/schedule.h"
#include "graph/scratch.h"
#include "graph/senders.h"
#include "graph/split_check.h"
#include "graph/state.h"
#include "graph/submit.h"
#include "handle/object.h"
#include "object/queue.h"
#include "program/program.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- The bridge -------------------------------------------------------------------------------------------------- */

void tsl_graph_bridge(struct tsl_job *job)
{
    struct tsl_graph *graph = (struct tsl_graph *)((char *)job - offsetof(struct tsl_graph, bridge_job));
    struct tsl_context *context = graph->context;
    tsl_lock_take(&graph->lock);
    graph->bridge_posted = false;
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    tsl_object_unref(&context->object);
}

static struct tsl_worker callback_worker = TSL_WORKER(TSL_CALLBACK_THREAD);

bool tsl_graph_callbacks_idle(void)
{
    return tsl_worker_is_idle(&callback_worker);
}

/* If no thread can be had, the callbacks stay due until the next entry tries again. */
static void post_callbacks(struct tsl_graph *graph)
{
    tsl_object_ref(&graph->context->object);
    graph->callbacks_posted = true;
    if (!tsl_worker_post(&callback_worker, &graph->callback_job))
        graph->surplus_refs++;
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* The thread that does work that was left. */
struct worker {
    enum tsl_who who;
    const struct tsl_command *awaited; /* what it waits for; NULL: nothing */
    const struct tsl_port *port;       /* whose jobs it runs, alone; NULL: none's */
    bool serves_several;               /* members, in this round */
};

/* Does the thread run the ready task itself when it is through with all else? Not where that takes long: copies on the
 * host, or submissions to several members. */
static bool keeps(const struct worker *w, const struct tsl_op *op)
{
    if (w->serves_several || !STAILQ_EMPTY(&op->port->graph->host.ready))
        return false;
    return w->awaited ? tsl_task_is_before(op, w->awaited) : w->who == TSL_WHO_TASK;
}

/* Is it left to a thread of the application's that sleeps until it is done? That thread is woken instead of one of
 * ours, and then runs what follows, too. */
static bool leaves(const struct worker *w, const struct tsl_op *op)
{
    const struct tsl_command *asleep_for = op->port->graph->asleep_for;
    if (w->who == TSL_WHO_APPLICATION || !asleep_for || !tsl_task_is_before(op, asleep_for))
        return false;
    tsl_graph_changed(op->port->graph);
    return true;
}

/* A task that the thread keeps stays ready: whoever serves the port before the thread is that far has it run. */
static void serve_tasks(struct tsl_port *port, const struct worker *w)
{
    struct tsl_op *op, *kept = NULL;
    while ((op = STAILQ_FIRST(&port->ready))) {
        STAILQ_REMOVE_HEAD(&port->ready, ready);
        if (!kept && (keeps(w, op) || leaves(w, op)))
            kept = op;
        else if (!tsl_port_post_task(op)) /* No thread could be had: this one runs the task. */
            tsl_submit_task(op);
    }
    if (kept)
        STAILQ_INSERT_HEAD(&port->ready, kept, ready);
}

/* Drains a port, or has it drained. Work that executes in the submitting call goes to a thread of its own, as it may be
 * long; the host's own copies are done by the application's thread if this is one (it asked for them, and no hop
 * between threads is faster). */
static void serve_port(struct tsl_port *port, const struct worker *w)
{
    bool host = port == &port->graph->host;
    if (port->beside) {
        serve_tasks(port, w);
        return;
    }
    if (!port->sync || (host && w->who == TSL_WHO_APPLICATION)) {
        tsl_port_drain(port);
        return;
    }
    if (port->posted || port->draining)
        return;
    tsl_object_ref(&port->graph->context->object);
    port->posted = tsl_worker_post(port->worker, &port->job);
    if (!port->posted) { /* No thread could be had: this one drains the port. */
        port->graph->surplus_refs++;
        tsl_port_drain(port);
    }
}

static void send_all(struct tsl_graph *graph)
{
    while (!STAILQ_EMPTY(&graph->ports_unsent))
        tsl_port_send(graph);
}

/* What drivers send by a flush for all lanes stays unsent: more may come together with it. But the host's copies take
 * this thread's time, so all else is submitted and sent before. */
static void serve_ports(struct tsl_graph *graph, const struct worker *w)
{
    struct tsl_port *port = STAILQ_FIRST(&graph->ports_ready);
    const bool several = port && STAILQ_NEXT(port, link);
    struct worker now = *w;
    bool host = false;
    unsigned n = 0;
    STAILQ_FOREACH(port, &graph->ports_ready, link)
    n += port != &graph->tasks;
    now.serves_several = n > 1;
    while ((port = STAILQ_FIRST(&graph->ports_ready))) {
        STAILQ_REMOVE_HEAD(&graph->ports_ready, link);
        port->listed = false;
        if (port == &graph->host)
            host = true;
        else if (!several || !tsl_senders_take(port))
            serve_port(port, &now);
    }
    if (!host)
        return;
    send_all(graph);
    serve_port(&graph->host, w);
}

void tsl_graph_send(struct tsl_graph *graph, enum tsl_who who)
{
    serve_ports(graph, &(struct worker){.who = who});
}

/* While this thread held the lock the senders could not begin. */
void tsl_graph_begin_now(struct tsl_graph *graph)
{
    serve_ports(graph, &(struct worker){.who = TSL_WHO_APPLICATION});
    send_all(graph);
    tsl_senders_join(graph);
}

/* ---- What is dropped --------------------------------------------------------------------------------------------- */

static void free_op(struct tsl_graph *graph, struct tsl_op *op)
{
    tsl_fence_unref(op->fence);
    tsl_fence_unref(op->mark);
    for (unsigned i = 0; op->pieces && i + 1 < op->pieces->n; i++)
        tsl_fence_unref(op->pieces->fences[i]);
    TSL_SMALL_FINISH(&op->natives);
    TSL_SMALL_FINISH(&op->gates);
    TSL_SMALL_FINISH(&op->out);
    free(op->extents);
    free(op->pieces);
    free(op->joint);
    tsl_pool_put(&graph->op_pool, op);
}

void tsl_graph_bury(struct tsl_graph *graph)
{
    struct tsl_op_queue dead = STAILQ_HEAD_INITIALIZER(dead);
    struct tsl_op *op;
    while ((op = STAILQ_FIRST(&graph->dead_ops))) {
        STAILQ_REMOVE_HEAD(&graph->dead_ops, ready);
        tsl_op_forget_befores(op); /* This may make more dead ones. */
        tsl_coherence_end(op->check);
        STAILQ_INSERT_TAIL(&dead, op, ready);
    }
    tsl_graph_open(graph);
    while ((op = STAILQ_FIRST(&dead))) {
        STAILQ_REMOVE_HEAD(&dead, ready);
        free_op(graph, op);
    }
    tsl_graph_close(graph);
}

static void bury_queues(struct tsl_graph *graph)
{
    struct tsl_graph_queue *queue;
    while ((queue = LIST_FIRST(&graph->dead_queues))) {
        LIST_REMOVE(queue, link);
        tsl_graph_open(graph);
        tsl_graph_lane_destroy_all(queue->lanes, queue->n_lanes);
        tsl_graph_lane_destroy_all(queue->timed_lanes, queue->n_lanes);
        free(queue);
        tsl_graph_close(graph);
    }
}

/* Drops what a reported command holds. Without the lock, as objects may be destroyed. */
static void release_payload(struct tsl_command *c)
{
    struct tsl_buffer *buffers[] = {c->src, c->dst};
    for (int i = 0; i < 2; i++)
        if (buffers[i])
            tsl_object_unref(&buffers[i]->object);
    for (cl_uint i = 0; i < c->n_buffers; i++)
        tsl_object_unref(&c->buffers[i]->object);
    free(c->buffers);
    free(c->slots);
    free(c->native_args);
    free(c->pattern);
    if (c->kernel)
        tsl_object_unref(&c->kernel->object);
    tsl_args_let_go(c->args);
    tsl_joints_destroy(c->joints);
    if (c->split_check)
        tsl_args_unref(c->split_check->share.args);
    tsl_split_check_destroy(c->split_check);
    tsl_object_unref(&c->queue->handle->object);
}

static void collect_garbage(struct tsl_graph *graph)
{
    struct tsl_command *garbage = graph->garbage, *c;
    graph->garbage = NULL;
    for (c = garbage; c; c = c->next) {
        tsl_dependences_finish(&c->own);
        tsl_dependences_finish(&c->frontier);
    }
    graph->n_collecting++;
    tsl_graph_open(graph);
    for (c = garbage; c; c = c->next)
        release_payload(c);
    tsl_graph_close(graph);
    graph->n_collecting--;
    tsl_graph_dropped(graph);
    while ((c = garbage)) {
        garbage = c->next;
        c->src = c->dst = NULL;
        c->joints = NULL;
        c->split_check = NULL;
        c->queue = NULL;
        tsl_command_unref(c);
    }
}

static void write_records(struct tsl_graph *graph)
{
    struct tsl_op_record *records = graph->records;
    graph->records = NULL;
    graph->n_writing++;
    tsl_graph_open(graph);
    tsl_record_write(records);
    tsl_graph_close(graph);
    graph->n_writing--;
    tsl_graph_dropped(graph);
}

#define WAKE_NS 500000 /* is waited for others, at most */

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* Is there a new job for the thread's port? Nobody else would submit what that is for, and behind it the thread comes
 * back: so what takes long is left. */
static bool has_job(const struct worker *w)
{
    return w->port && w->port->posted;
}

/* Is a task ready that the thread would keep, while a sender has a port? The sender does what else is to be done. */
static bool goes_on(const struct tsl_graph *graph, const struct worker *w)
{
    const struct tsl_op *task = STAILQ_FIRST(&graph->tasks.ready);
    return task && STAILQ_EMPTY(&graph->ports_ready) && atomic_load(&graph->n_sending) && keeps(w, task);
}

/* One that submits gives the lock for each call into the driver, and wants it back behind that: each time it would wait
 * for one that plans. A sender doesn't wait until others are through, as its own port may have a job by then. */
static bool others_go_first(const struct tsl_graph *graph, bool is_sender)
{
    return atomic_load(&graph->n_wanting) ||
           (!is_sender && (atomic_load(&graph->n_draining) || atomic_load(&graph->n_sending)));
}

static void yield(const struct tsl_graph *graph, bool is_sender)
{
    uint64_t until_ns = tsl_clock_ns() + WAKE_NS;
    while (!tsl_simulation && others_go_first(graph, is_sender) && tsl_clock_ns() < until_ns)
        tsl_pause();
}

void tsl_graph_yield(const struct tsl_graph *graph)
{
    yield(graph, false);
}

/* Until that is over nobody goes on with what was put off. What a sender would wait for may be its own. */
static void let_others_in(struct tsl_graph *graph, const struct worker *w)
{
    tsl_graph_open(graph);
    yield(graph, w->port);
    tsl_graph_close(graph);
    graph->submit_first = false;
}

#define REFUSED_NS 500000 /* is planning, at most: a call into a driver may load code, or wait for memory */

/* Not while another thread submits what was planned: it would wait for this one at each step, and does this itself when
 * it is through. */
static bool has_to_wait(struct tsl_graph *graph)
{
    if (!atomic_load_explicit(&graph->n_draining, memory_order_relaxed)) {
        graph->refused_ns = 0;
        return false;
    }
    if (tsl_simulation)
        return true;
    uint64_t now_ns = tsl_clock_ns();
    graph->refused_ns = graph->refused_ns ? graph->refused_ns : now_ns;
    if (now_ns - graph->refused_ns < REFUSED_NS)
        return true;
    graph->refused_ns = 0;
    return false;
}

static bool may_plan(struct tsl_graph *graph, const struct worker *w)
{
    return graph->ask_again && !graph->submit_first && !STAILQ_EMPTY(&graph->later) && !has_job(w) &&
           !has_to_wait(graph);
}

static bool work(struct tsl_graph *graph, const struct worker *w) TSL_REQUIRES(graph->lock)
{
    for (bool any = false;; any = true) {
        if (goes_on(graph, w))
            return any;
        if (!STAILQ_EMPTY(&graph->signalled))
            tsl_complete_signalled(graph);
        else if (may_plan(graph, w))
            tsl_schedule_later(graph);
        else if (!STAILQ_EMPTY(&graph->ports_ready))
            serve_ports(graph, w);
        else if (!STAILQ_EMPTY(&graph->ports_unsent))
            tsl_port_send(graph);
        else if (!STAILQ_EMPTY(&graph->to_watch))
            tsl_complete_watched(graph);
        else if (has_job(w))
            return any;
        else if (graph->submit_first)
            let_others_in(graph, w);
        else if (graph->records)
            write_records(graph);
        else if (graph->garbage)
            collect_garbage(graph);
        else if (!STAILQ_EMPTY(&graph->dead_ops))
            tsl_graph_bury(graph);
        else if (!LIST_EMPTY(&graph->dead_queues))
            bury_queues(graph);
        else if (!TAILQ_EMPTY(&graph->dead_scratch))
            tsl_scratch_bury(graph);
        else if (graph->callbacks && !graph->callbacks_posted)
            post_callbacks(graph);
        else
            return any;
    }
}

bool tsl_graph_work(struct tsl_graph *graph, enum tsl_who who)
{
    return work(graph, &(struct worker){.who = who});
}

bool tsl_graph_work_awaiting(struct tsl_graph *graph, const struct tsl_command *awaited)
{
    return work(graph, &(struct worker){.who = TSL_WHO_APPLICATION, .awaited = awaited});
}

void tsl_graph_clean_up(struct tsl_context *context)
{
    struct tsl_graph *graph = context->graph;
    if (!graph || tsl_forked())
        return;
    tsl_lock_take(&graph->lock);
    tsl_graph_work(graph, TSL_WHO_APPLICATION);
    while (graph->n_collecting > 0)
        tsl_graph_wait(graph);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
}

static void leave(struct tsl_graph *graph, const struct worker *w) TSL_RELEASES(graph->lock)
{
    struct tsl_context *context = graph->context;
    tsl_object_ref(&context->object); /* What is dropped below may be the last reference but this. */
    work(graph, w);
    unsigned surplus = graph->surplus_refs;
    graph->surplus_refs = 0;
    tsl_lock_give(&graph->lock);
    for (; surplus > 0; surplus--)
        tsl_object_unref(&context->object);
    tsl_object_unref(&context->object);
}

void tsl_graph_leave(struct tsl_graph *graph, enum tsl_who who)
{
    leave(graph, &(struct worker){.who = who});
}

void tsl_graph_leave_port(struct tsl_port *port)
{
    leave(port->graph, &(struct worker){.who = TSL_WHO_WORKER, .port = port});
}
