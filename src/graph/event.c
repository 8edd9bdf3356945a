/* Events: the application's handles on commands. User events are commands without a stream, held until they are set. */
#include "graph/event.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/pool.h"
#include "base/small_vector.h"
#include "driver/driver.h"
#include "graph/callback.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/graph.h"
#include "graph/lazy.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/schedule.h"
#include "graph/state.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "handle/object.h"

#include <stdlib.h>

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void destroy(struct tsl_object *object)
{
    struct tsl_event *event = (struct tsl_event *)object;
    struct tsl_context *context = event->context;
    if (tsl_forked())
        return;
    if (event->command) {
        tsl_lock_take(&context->graph->lock);
        tsl_command_unref(event->command);
        tsl_graph_leave(context->graph, TSL_WHO_WORKER);
    }
    if (event->queue)
        tsl_object_hide(&event->queue->object);
    tsl_object_hide(&context->object);
}

/* An event without a command yet. */
struct tsl_event *tsl_event_create(struct tsl_context *context, struct tsl_queue *queue)
{
    struct tsl_event *event = tsl_object_create(TSL_EVENT, sizeof(*event), &context->object, destroy);
    if (!event)
        return NULL;
    event->context = context;
    event->queue = queue;
    tsl_object_show(&context->object);
    if (queue)
        tsl_object_show(&queue->object);
    return event;
}

cl_int tsl_event_create_user(struct tsl_context *context, struct tsl_event **result)
{
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    struct tsl_event *event = tsl_event_create(context, NULL);
    struct tsl_command *command = tsl_command_create(context->graph, NULL, CL_COMMAND_USER);
    if (!event || !command) {
        if (command)
            tsl_pool_put(&context->graph->command_pool, command);
        if (event)
            tsl_object_release(&event->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    command->has_event = true;
    event->command = command;
    *result = event;
    return CL_SUCCESS;
}

cl_int tsl_event_set_user(struct tsl_event *event, cl_int status)
{
    struct tsl_graph *graph = event->context->graph;
    struct tsl_command *c = event->command;
    cl_int error = CL_INVALID_OPERATION;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    if (c->type == CL_COMMAND_USER && c->state == TSL_HELD) {
        error = CL_SUCCESS;
        c->state = TSL_REPORTED;
        c->status = status < 0 ? status : CL_COMPLETE;
        tsl_command_callbacks(c, c->status);
        tsl_command_let_go(c);
        tsl_graph_changed(graph);
    }
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return error;
}

/* ---- Status ----------------------------------------------------------------------------------------------------- */

/* Is there anything before it in its in-order queue that is not reported? Then it is SUBMITTED at most. */
static bool behind_others(const struct tsl_command *c)
{
    return c->in_order && TAILQ_FIRST(&c->stream->commands) != c;
}

/* Or past that. A user event is from its beginning. */
static bool is_submitted(const struct tsl_command *c)
{
    return c->type == CL_COMMAND_USER || (c->state != TSL_HELD && c->flushed);
}

/* QUEUED, SUBMITTED or RUNNING; or it turns out to be reported. A driver may say early that work runs, so that counts
 * only when all before it is known to have ended: who asks about that next is to hear so. The lock is given meanwhile.
 */
static cl_int unfinished_status(struct tsl_command *c)
{
    if (!is_submitted(c))
        return CL_QUEUED;
    struct tsl_op *op = c->main;
    if (behind_others(c) || !op)
        return CL_SUBMITTED;
    if (op->state == TSL_OP_DONE)
        return CL_RUNNING; /* Others of its operations aren't finished. */
    if (op->state != TSL_OP_SUBMITTED || !op->fence || tsl_op_ask(op) > CL_RUNNING || !tsl_retire_before(op))
        return CL_SUBMITTED;
    return c->state == TSL_REPORTED ? c->status : CL_RUNNING;
}

/* Looks whether submitted operations have finished, without waiting: its own, and, for it is reported after them, those
 * of the commands before it in an in-order queue. The lock is given meanwhile. */
static void poll(struct tsl_command *c)
{
    for (unsigned i = 0; c->state != TSL_REPORTED && i < c->frontier.n; i++) {
        struct tsl_op *op = TSL_SMALL_AT(&c->frontier, i)->op;
        if (op->state != TSL_OP_SUBMITTED || op->port->sync)
            continue;
        op->user.refs++;
        if (tsl_op_fence(op))
            tsl_op_ask(op);
        tsl_op_unref(op);
    }
}

/* ---- Callbacks -------------------------------------------------------------------------------------------------- */

void tsl_callback_due(struct tsl_graph *graph, struct tsl_callback *callback)
{
    callback->next = NULL;
    *graph->callbacks_end = callback;
    graph->callbacks_end = &callback->next;
}

static void make_due(struct tsl_command *c, struct tsl_callback *callback, cl_int status)
{
    callback->status = status;
    tsl_callback_due(c->graph, callback);
}

/* Those for `when`, in the order in which they were set. */
static void call(struct tsl_command *c, cl_int when, cl_int status)
{
    struct tsl_callback **at = &c->callbacks, *due = NULL, *callback;
    while ((callback = *at)) {
        if (callback->when == when) {
            *at = callback->next;
            callback->next = due;
            due = callback;
        } else {
            at = &callback->next;
        }
    }
    while ((callback = due)) {
        due = callback->next;
        make_due(c, callback, status);
    }
}

/* It has come as far as that, or has failed. */
void tsl_command_callbacks(struct tsl_command *c, cl_int status)
{
    for (cl_int when = CL_SUBMITTED; c->callbacks && when >= CL_COMPLETE && when >= status; when--)
        call(c, when, status < 0 ? status : when);
}

void tsl_command_submitted(struct tsl_command *c)
{
    if (c->callbacks && is_submitted(c))
        call(c, CL_SUBMITTED, CL_SUBMITTED);
}

/* Under no lock of ours. Who can't reach the context any more may have let go of the argument, too. */
static void run(const struct tsl_context *context, const struct tsl_callback *callback)
{
    if (!callback->text)
        callback->fn((cl_event)callback->event, callback->status, callback->arg);
    else if (tsl_object_is(&context->object, TSL_CONTEXT))
        context->error_fn(callback->text, NULL, 0, context->error_arg);
}

static void drop(struct tsl_callback *callback)
{
    if (callback->event)
        tsl_object_hide(&callback->event->object);
    free(callback->text);
    free(callback);
}

/* On the callback thread: the application's functions, in the order in which they became due. */
void tsl_run_callbacks(struct tsl_job *job)
{
    struct tsl_graph *graph = (struct tsl_graph *)((char *)job - offsetof(struct tsl_graph, callback_job));
    struct tsl_context *context = graph->context;
    tsl_lock_take(&graph->lock);
    struct tsl_callback *list = graph->callbacks, *callback;
    graph->callbacks = NULL;
    graph->callbacks_end = &graph->callbacks;
    graph->callbacks_posted = false;
    tsl_lock_give(&graph->lock);
    while ((callback = list)) {
        list = callback->next;
        run(context, callback);
        drop(callback);
    }
    tsl_object_unref(&context->object);
}

void tsl_command_watch(struct tsl_command *c)
{
    c->watched = true;
    if (c->state == TSL_HELD)
        return; /* Scheduling looks at the mark. */
    tsl_settle_all(c->graph);
    for (unsigned i = 0; i < c->frontier.n; i++)
        tsl_op_watch(TSL_SMALL_AT(&c->frontier, i)->op);
}

cl_int tsl_event_callback(struct tsl_event *event, cl_int when, tsl_event_fn *fn, void *arg)
{
    struct tsl_graph *graph = event->context->graph;
    struct tsl_command *c = event->command;
    struct tsl_callback *callback = calloc(1, sizeof(*callback));
    if (!callback)
        return CL_OUT_OF_HOST_MEMORY;
    if (tsl_forked()) {
        free(callback);
        return CL_OUT_OF_RESOURCES;
    }
    *callback = (struct tsl_callback){.fn = fn, .arg = arg, .when = when, .event = event};
    tsl_object_show(&event->object); /* What the function is given is an event, also if the application gave it up. */
    tsl_object_ref(&event->object);  /* The function may release it before this call has ended. */
    tsl_lock_take(&graph->lock);
    if (c->state == TSL_REPORTED) {
        make_due(c, callback, c->status < 0 ? c->status : when);
    } else {
        callback->next = c->callbacks;
        c->callbacks = callback;
        if (c->stream)
            tsl_stream_flush(c->stream); /* Watching sends it, so it is submitted. */
        tsl_command_submitted(c);
        if (c->state != TSL_REPORTED)
            tsl_command_watch(c);
    }
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    tsl_object_unref(&event->object);
    return CL_SUCCESS;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

cl_int tsl_event_status(struct tsl_event *event)
{
    struct tsl_graph *graph = event->context->graph;
    struct tsl_command *c = event->command;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    if (c->stream && c->state != TSL_REPORTED)
        tsl_stream_flush(c->stream); /* Who asks again and again means to see it end, flushed or not. */
    poll(c);
    tsl_graph_work(graph, TSL_WHO_APPLICATION);
    cl_int status = c->state == TSL_REPORTED ? c->status : unfinished_status(c);
    if (status == CL_RUNNING)
        tsl_command_callbacks(c, status); /* Who waits to be told is, too. */
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return status;
}

cl_command_type tsl_event_type(struct tsl_event *event)
{
    return event->command->type;
}

/* ---- Profiling -------------------------------------------------------------------------------------------------- */

/* Start and end as the member tells; our own where it can't, or where the command had no operation. */
static void device_times(struct tsl_command *c, struct tsl_command_times *times)
{
    struct tsl_times device = {c->complete_ns, c->complete_ns};
    const struct tsl_op *op = c->main;
    if (op && op->port->sync)
        device = (struct tsl_times){op->start_ns, op->end_ns};
    if (op && op->fence)
        op->fence->driver->fence_times(op->fence, &device);
    tsl_command_times_fit(times, device.start_ns, device.end_ns);
}

/* The device's clock may be known better at the next question, but the answers must fit each other: the first stays. */
static void keep_times(struct tsl_command *c, struct tsl_command_times *times)
{
    tsl_lock_take(&c->graph->lock);
    if (!c->end_ns) {
        c->start_ns = times->start;
        c->end_ns = times->end;
    }
    times->start = c->start_ns;
    times->end = c->end_ns;
    tsl_lock_give(&c->graph->lock);
}

/* The command is reported: nothing of it changes any more, so no lock is needed to read it. */
cl_int tsl_event_profile(struct tsl_event *event, cl_profiling_info param, cl_ulong *ns)
{
    struct tsl_graph *graph = event->context->graph;
    struct tsl_command *c = event->command;
    if (!c->profile)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    bool complete = c->state == TSL_REPORTED;
    tsl_lock_give(&graph->lock);
    if (!complete || c->status < 0)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    struct tsl_command_times times = {.queued = c->queued_ns, .submit = c->submit_ns, .end = c->complete_ns};
    device_times(c, &times);
    keep_times(c, &times);
    switch (param) {
    case CL_PROFILING_COMMAND_QUEUED:
        *ns = times.queued;
        return CL_SUCCESS;
    case CL_PROFILING_COMMAND_SUBMIT:
        *ns = times.submit;
        return CL_SUCCESS;
    case CL_PROFILING_COMMAND_START:
        *ns = times.start;
        return CL_SUCCESS;
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE:
        *ns = times.end;
        return CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}
