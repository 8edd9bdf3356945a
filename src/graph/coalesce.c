/*
 * Coalescing of launches. Small kernels often come many times in a row: the same kernel on the same buffers, into the
 * same in-order queue, and nothing else in between. Such a launch claims what the launch before claimed, and its lane
 * keeps it behind that launch. So nothing is planned: the operation of the launch before is submitted once more, with
 * the new arguments and sizes, and is done when its last submission is. The command stands for all of these launches.
 *
 * This is right as long as nobody can tell the difference:
 * - since the launch before nothing was made that might depend on its operation or have changed the tiles;
 * - nobody waits for either launch or holds its event;
 * - if the launch fails, its tiles have nothing to go back to, so that what the launches before it wrote stays.
 * A fence ends the coalescing, as a fence tells only of what was submitted before it. A fence is asked for often
 * (submit.c), so ends are noticed as ever.
 */
#include "graph/coalesce.h"

#include "footprint/window.h"
#include "graph/command.h"
#include "graph/lane.h"
#include "graph/op.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "program/program.h"
#include "trace/trace.h"

static bool same_buffers(const struct tsl_args *a, const struct tsl_args *b)
{
    if (a == b)
        return true;
    if (a->n_all != b->n_all)
        return false;
    for (cl_uint i = 0; i < a->n_all; i++)
        if (a->args[i].buffer != b->args[i].buffer)
            return false;
    return true;
}

/* May launches of the queue be coalesced? */
static bool may_coalesce(const struct tsl_graph_queue *queue)
{
    const struct tsl_graph *g = queue->graph;
    return queue->in_order && !queue->serial && !queue->profile && !g->memory_order && !g->checks && !tsl_trace_on();
}

/* Does nobody ask about the command, does it depend on no wait list, and has it claimed all of its arguments? */
static bool is_anonymous(const struct tsl_command *c)
{
    return !c->has_event && !c->n_listed && !c->awaited && !c->flushed && !c->watched && !c->profile &&
           c->status == CL_COMPLETE && !c->share.partial;
}

/* Is the operation with its driver, is nothing behind it in its lane, and does nothing depend on how or when it ends?
 */
static bool is_open(const struct tsl_op *op)
{
    return op->state == TSL_OP_SUBMITTED && op->user.order == op->lane->order &&
           op->user.order > op->lane->failed_upto && !op->want_fence && !op->fence && !op->watched &&
           !op->has_rollback && !op->poison && op->out.n == 0 && op->natives.n == 0 && op->gates.n == 0;
}

/* Was no command and no operation made since, in any queue? Then the command's claims stand. */
static bool is_last(const struct tsl_command *c)
{
    return c->id == c->graph->n_commands && c->share.op && c->share.op->number == c->graph->n_ops;
}

bool tsl_coalesce_launch(struct tsl_graph_queue *queue, const struct tsl_kernel *kernel,
                         const struct tsl_window *window, struct tsl_args **args)
{
    struct tsl_command *c = TAILQ_LAST(&queue->commands, tsl_command_list);
    if (kernel->has_variants) /* Another launch may be another variant's. */
        return false;
    if (!c || !may_coalesce(queue) || c->kernel != kernel || !is_anonymous(c) || !is_last(c) || !is_open(c->share.op) ||
        !same_buffers(c->args, *args))
        return false;
    struct tsl_args *before = c->args;
    c->args = *args;
    c->share.window = *window;
    *args = before;
    tsl_op_resubmit(c->share.op);
    return true;
}
