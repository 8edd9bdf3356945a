/* The application's functions that hear of commands and errors. */
#include "graph/callback.h"

#include "base/lock.h"
#include "graph/command.h"
#include "graph/graph.h"
#include "graph/state.h"
#include "handle/object.h"

#include <stddef.h>
#include <stdlib.h>

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

/* Makes the callbacks for `when` due, in the order in which they were set. */
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

void tsl_callback_reach(struct tsl_command *c, cl_int status)
{
    for (cl_int when = CL_SUBMITTED; c->callbacks && when >= CL_COMPLETE && when >= status; when--)
        call(c, when, status < 0 ? status : when);
}

void tsl_callback_submitted(struct tsl_command *c)
{
    if (c->callbacks && tsl_command_is_submitted(c))
        call(c, CL_SUBMITTED, CL_SUBMITTED);
}

/* Under no lock of ours. A program that has released its context may have freed the argument, too: then nothing is
 * called. */
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

void tsl_callback_run(struct tsl_job *job)
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
