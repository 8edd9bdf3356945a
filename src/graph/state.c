/* Waiting for changes of a graph, and the thread that makes some. */
#include "graph/state.h"

#include "base/lock.h"
#include "base/worker.h"
#include "graph/command.h"
#include "handle/object.h"
#include "object/context.h"

void tsl_graph_changed(struct tsl_graph *graph)
{
    if (graph->n_waiting)
        pthread_cond_broadcast(&graph->changed);
}

void tsl_graph_dropped(struct tsl_graph *graph)
{
    if (graph->n_waiting > graph->n_awaiting)
        pthread_cond_broadcast(&graph->changed);
}

TSL_UNCHECKED void tsl_graph_wait(struct tsl_graph *graph)
{
    if (tsl_simulation) {
        tsl_lock_give(&graph->lock);
        tsl_simulation->block();
        tsl_lock_take(&graph->lock);
        return;
    }
    graph->n_waiting++;
    tsl_lock_wait(&graph->lock, &graph->changed);
    graph->n_waiting--;
}

void tsl_graph_wait_awaiting(struct tsl_command *command)
{
    struct tsl_graph *graph = command->graph;
    graph->n_awaiting++;
    if (!tsl_simulation)
        graph->asleep_for = command;
    tsl_graph_wait(graph);
    if (graph->asleep_for == command)
        graph->asleep_for = NULL;
    graph->n_awaiting--;
}

static struct tsl_worker bridge = TSL_VENDORS_WORKER("tesela-bridge");

bool tsl_graph_will_post(struct tsl_graph *graph)
{
    if (graph->bridge_posted)
        return false;
    tsl_object_ref(&graph->context->object);
    graph->bridge_posted = true;
    return true;
}

static void did_not_post(struct tsl_graph *graph)
{
    graph->bridge_posted = false;
    graph->surplus_refs++;
}

void tsl_graph_post_now(struct tsl_graph *graph)
{
    if (tsl_worker_post(&bridge, &graph->bridge_job))
        return;
    tsl_lock_take(&graph->lock);
    did_not_post(graph);
    tsl_lock_give(&graph->lock);
}

void tsl_graph_post(struct tsl_graph *graph)
{
    if (tsl_graph_will_post(graph) && !tsl_worker_post(&bridge, &graph->bridge_job))
        did_not_post(graph);
}

void tsl_graph_leave_to_others(struct tsl_graph *graph)
{
    bool asks = graph->ask_again && !STAILQ_EMPTY(&graph->later);
    if (asks || !STAILQ_EMPTY(&graph->ports_ready) || !STAILQ_EMPTY(&graph->signalled))
        tsl_graph_post(graph);
}
