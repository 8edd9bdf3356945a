/* Events: the application's handles on commands. User events are commands without a queue, held until they are set. */
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
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/schedule.h"
#include "graph/state.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "handle/object.h"

#include <stdlib.h>

/* ---- Life -------------------------------------------------------------------------------------------------------- */

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
        tsl_callback_reach(c, c->status);
        tsl_schedule_held_by(c);
        tsl_graph_changed(graph);
    }
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return error;
}

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/* Is anything before the command in its in-order queue not reported? Then the command is CL_SUBMITTED at most. */
static bool behind_others(const struct tsl_command *c)
{
    return c->in_order && TAILQ_FIRST(&c->queue->commands) != c;
}

/* The status of a command that is not reported. It may turn out to be reported. A driver may say early that work runs;
 * that counts only when all before it is known to have ended, so that whoever asks about an earlier command next hears
 * the same. Of a command that was said to run a share may be planned once more (redo.h): it runs all the same. The lock
 * is given meanwhile. */
static cl_int unfinished_status(struct tsl_command *c)
{
    if (c->told_running)
        return CL_RUNNING;
    if (!tsl_command_is_submitted(c))
        return CL_QUEUED;
    struct tsl_op *op = c->share.op;
    if (behind_others(c) || !op)
        return CL_SUBMITTED;
    if (op->state == TSL_OP_DONE)
        return CL_RUNNING; /* Some of its operations are not done. */
    if (op->state != TSL_OP_SUBMITTED || !op->fence || tsl_op_ask(op) > CL_RUNNING || !tsl_op_retire_before(op))
        return CL_SUBMITTED;
    return c->state == TSL_REPORTED ? c->status : CL_RUNNING;
}

/* Looks, without waiting, whether submitted operations have ended: the command's, and those of the commands before it
 * in an in-order queue, as it is reported after them. The lock is given meanwhile. */
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

cl_int tsl_event_status(struct tsl_event *event)
{
    struct tsl_graph *graph = event->context->graph;
    struct tsl_command *c = event->command;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    if (c->queue && c->state != TSL_REPORTED)
        tsl_graph_queue_flush(
            c->queue); /* A program that asks again and again means to see the command end, flushed or not. */
    poll(c);
    tsl_graph_work(graph, TSL_WHO_APPLICATION);
    cl_int status = c->state == TSL_REPORTED ? c->status : unfinished_status(c);
    c->told_running |= status == CL_RUNNING;
    if (status == CL_RUNNING)
        tsl_callback_reach(c, status); /* Callbacks that wait for CL_RUNNING hear it, too. */
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return status;
}

cl_command_type tsl_event_type(struct tsl_event *event)
{
    return event->command->type;
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

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
    tsl_object_show(&event->object); /* The function is given an event, even if the application has released it. */
    tsl_object_ref(&event->object);  /* The function may release it before this call has ended. */
    tsl_lock_take(&graph->lock);
    if (c->state == TSL_REPORTED) {
        callback->status = c->status < 0 ? c->status : when;
        tsl_callback_due(graph, callback);
    } else {
        callback->next = c->callbacks;
        c->callbacks = callback;
        if (c->queue)
            tsl_schedule_chain(c->queue);
        if (c->queue)
            tsl_graph_queue_flush(c->queue); /* Watching flushes the queue, so the command counts as submitted. */
        tsl_callback_submitted(c);
        if (c->state != TSL_REPORTED)
            tsl_command_watch(c);
    }
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    tsl_object_unref(&event->object);
    return CL_SUCCESS;
}

/* ---- Profiling --------------------------------------------------------------------------------------------------- */

/* Start and end as the member tells them; by our own clock where it can't, or where there was no operation. */
static struct tsl_times share_times(const struct tsl_command *c, const struct tsl_op *op)
{
    struct tsl_times device = {c->complete_ns, c->complete_ns};
    if (op && op->port->sync)
        device = (struct tsl_times){op->start_ns, op->end_ns};
    if (op && op->fence)
        op->fence->driver->fence_times(op->fence, &device);
    return device;
}

/* From the first start of a share, or of a window by which the launch began, to the last end, of a share or of what is
 * done behind them. */
static void device_times(struct tsl_command *c, struct tsl_command_times *times)
{
    struct tsl_times all = share_times(c, c->share.op);
    for (unsigned i = 1; i <= c->n_more; i++) {
        struct tsl_times one = share_times(c, tsl_command_share(c, i)->op);
        all.start_ns = one.start_ns < all.start_ns ? one.start_ns : all.start_ns;
        all.end_ns = one.end_ns > all.end_ns ? one.end_ns : all.end_ns;
    }
    if (c->first_op) {
        struct tsl_times one = share_times(c, c->first_op);
        all.start_ns = one.start_ns < all.start_ns ? one.start_ns : all.start_ns;
    }
    for (unsigned i = 0; i < c->n_ends; i++) {
        struct tsl_times one = share_times(c, c->ends[i]);
        all.end_ns = one.end_ns > all.end_ns ? one.end_ns : all.end_ns;
    }
    tsl_command_times_fit(times, all.start_ns, all.end_ns);
}

/* The device's clock may be known better at the next question, but the answers must fit each other: the first answer
 * stays. */
static void keep_times(struct tsl_command *c, struct tsl_command_times *times)
{
    tsl_lock_take(&c->graph->lock);
    if (!c->share.end_ns) {
        c->share.start_ns = times->start;
        c->share.end_ns = times->end;
    }
    times->start = c->share.start_ns;
    times->end = c->share.end_ns;
    tsl_lock_give(&c->graph->lock);
}

/* Nothing of a reported command changes any more, so no lock is needed to read it. */
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
