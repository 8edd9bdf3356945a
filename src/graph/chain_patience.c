#include "graph/chain_patience.h"

#include "base/lock.h"
#include "base/worker.h"
#include "graph/queue.h"
#include "graph/schedule.h"
#include "graph/state.h"
#include "graph/work.h"
#include "handle/object.h"
#include "object/context.h"

#include <stddef.h>
#include <time.h>

/* A program that enqueues launches one after another takes some microseconds for each. What waits so long moves
 * hundreds of megabytes. */
#define LOOK_NS 1000000

static struct tsl_worker watcher = TSL_WORKER("tesela-chain");

/* The wait ends where no command has come since the last look. */
static bool look(struct tsl_graph *graph)
{
    struct tsl_graph_queue *queue;
    bool waits = false;
    LIST_FOREACH(queue, &graph->queues, link)
    {
        if (!queue->chain)
            continue;
        queue->chain->chain_due |= queue->n_in_chain == queue->n_seen;
        waits |= !queue->chain->chain_due;
        queue->n_seen = queue->n_in_chain;
    }
    tsl_schedule_chains(graph, true);
    return waits;
}

/* Without a thread the wait ends at the next look of anybody's. */
static void post(struct tsl_graph *graph)
{
    tsl_object_ref(&graph->context->object);
    graph->chain_posted = true;
    if (tsl_worker_post(&watcher, &graph->chain_job))
        return;
    graph->chain_posted = false;
    graph->surplus_refs++;
}

void tsl_chain_patience_begin(struct tsl_graph *graph)
{
    if (!graph->chain_posted && !tsl_simulation)
        post(graph);
}

void tsl_chain_patience_look(struct tsl_job *job)
{
    struct tsl_graph *graph = (struct tsl_graph *)((char *)job - offsetof(struct tsl_graph, chain_job));
    struct tsl_context *context = graph->context;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    tsl_lock_take(&graph->lock);
    graph->chain_posted = false;
    if (look(graph))
        post(graph);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    tsl_object_unref(&context->object);
}
