/* Failures in words. An event tells a failure by a number alone; here it is told to standard error and to the context's
 * function (OpenCL 3.0, clCreateContext, pfn_notify). */
#include "graph/failure_log.h"

#include "base/log.h"
#include "graph/callback.h"
#include "graph/command.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/record.h"
#include "graph/state.h"
#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is this the port's first failure with that error? A member that fails a thousand commands alike is one line on
 * standard error. */
static bool is_new(struct tsl_port *port, cl_int error)
{
    uint64_t bit = UINT64_C(1) << (error > -63 ? -error : 63);
    bool new = !(port->reported & bit);
    port->reported |= bit;
    return new;
}

static void tell_context(struct tsl_graph *graph, const char *text)
{
    struct tsl_callback *callback = calloc(1, sizeof(*callback));
    if (callback && (callback->text = strdup(text)))
        tsl_callback_due(graph, callback);
    else
        free(callback);
}

void tsl_failure_log_op(const struct tsl_op *op, cl_int error)
{
    const struct tsl_command *c = op->command;
    struct tsl_graph *graph = op->port->graph;
    char text[320];
    if (op->is_side || error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        return;
    bool new = is_new(op->port, error);
    if (!new && !graph->context->error_fn)
        return;
    snprintf(text, sizeof(text), "%s%s failed on %s with error %d; what depends on it fails, too",
             op->move ? "a transfer for " : "", c->kernel ? c->kernel->name : tsl_command_name(c->type), op->port->name,
             error);
    if (new)
        tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_ERROR, "%s", text);
    if (graph->context->error_fn)
        tell_context(graph, text);
}
