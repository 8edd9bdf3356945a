/* The life of a command. */
#include "graph/command.h"

#include "base/pool.h"
#include "base/small_vector.h"
#include "graph/arena.h"
#include "graph/callback.h"
#include "graph/chain_pays.h"
#include "graph/dependences.h"
#include "graph/mapped.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/record.h"
#include "graph/redoable.h"
#include "graph/state.h"
#include "handle/object.h"
#include "object/queue.h"
#include "program/program.h"

#include <stdlib.h>

struct tsl_command *tsl_command_create(struct tsl_graph *graph, struct tsl_graph_queue *queue, cl_command_type type)
{
    struct tsl_command *c = tsl_pool_take(&graph->command_pool);
    if (!c)
        return NULL;
    c->refs = 1;
    c->graph = graph;
    c->queue = queue;
    c->type = type;
    c->n_hold = 1;
    if (queue)
        tsl_object_ref(&queue->handle->object); /* A reference until the command is reported. */
    return c;
}

void tsl_command_forget_waits(struct tsl_command *c)
{
    for (unsigned i = 0; i < c->waits.n; i++)
        tsl_command_unref(*TSL_SMALL_AT(&c->waits, i));
    TSL_SMALL_FINISH(&c->waits);
}

void tsl_command_forget_shares(struct tsl_command *c)
{
    for (unsigned i = 0; i <= c->n_more; i++) {
        tsl_args_unref(tsl_command_share(c, i)->args);
        tsl_command_share(c, i)->args = NULL;
    }
    for (unsigned i = 0; i < c->n_more; i++)
        tsl_op_unref(c->more[i].op), tsl_slices_unref(c->more[i].slices);
    free(c->more);
    c->more = NULL;
    c->n_more = 0;
    c->n_inside = 0;
}

void tsl_command_unref(struct tsl_command *c)
{
    if (--c->refs > 0)
        return;
    tsl_dependences_finish(&c->own);
    tsl_dependences_finish(&c->frontier);
    tsl_dependences_finish(&c->deferred_order);
    tsl_command_forget_waits(c);
    TSL_SMALL_FINISH(&c->held);
    tsl_command_forget_shares(c);
    for (unsigned i = 0; i < c->n_ends; i++)
        tsl_op_unref(c->ends[i]);
    free(c->ends);
    tsl_op_unref(c->share.op);
    tsl_op_unref(c->first_op);
    tsl_slices_unref(c->share.slices);
    tsl_pool_put(&c->graph->command_pool, c);
}

/* From now on the application sees the command as ended. What the command holds is dropped later, without the lock. */
static void report(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    c->state = TSL_REPORTED;
    TAILQ_REMOVE(&queue->commands, c, link); /* The queue's reference goes to the garbage. */
    if (c->status < 0 && !c->has_event && !queue->pending_error)
        queue->pending_error = c->status;
    tsl_record_command(c);
    tsl_callback_reach(c, c->status);
    c->next = c->graph->garbage;
    c->graph->garbage = c;
    if (c->awaited)
        tsl_graph_changed(c->graph);
}

static void report_in_order(struct tsl_graph_queue *queue)
{
    struct tsl_command *c;
    while ((c = TAILQ_FIRST(&queue->commands)) && c->state == TSL_COMPLETE)
        report(c);
}

static void complete(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    c->state = TSL_COMPLETE;
    tsl_redoable_end(c);
    if (c->chain_watch)
        tsl_chain_pays_complete(c);
    c->complete_ns = tsl_command_stamp(c);
    if (c->status < 0)
        tsl_mapped_undo(c);
    if (queue->barrier == c) {
        queue->barrier = NULL;
        tsl_command_unref(c);
    }
    if (c->is_lead)
        c->graph->ask_again = true;
    if (c->in_order)
        report_in_order(queue);
    else
        report(c);
}

void tsl_command_step(struct tsl_command *c)
{
    if (--c->n_undone > 0)
        return;
    complete(c);
    tsl_command_unref(c); /* The reference of schedule(). */
}
