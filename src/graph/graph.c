/* The making and the end of a context's graph. */
#include "graph/graph.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/pool.h"
#include "base/sets.h"
#include "base/settings.h"
#include "driver/host.h"
#include "graph/callback.h"
#include "graph/chain_patience.h"
#include "graph/coherence.h"
#include "graph/command.h"
#include "graph/dependences.h"
#include "graph/exit.h"
#include "graph/graphs.h"
#include "graph/life.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/readiness.h"
#include "graph/senders.h"
#include "graph/work.h"
#include "place/place.h"
#include "tile/tile.h"

#include <stdlib.h>

static void first_graph(void)
{
    tsl_user_free = tsl_op_free;
    tsl_fork_expect();
}

static void init(struct tsl_graph *graph, struct tsl_context *context)
{
    tsl_lock_init(&graph->lock);
    pthread_cond_init(&graph->changed, NULL);
    graph->context = context;
    LIST_INIT(&graph->queues);
    LIST_INIT(&graph->dead_queues);
    STAILQ_INIT(&graph->ports_ready);
    STAILQ_INIT(&graph->ports_unsent);
    STAILQ_INIT(&graph->to_watch);
    STAILQ_INIT(&graph->signalled);
    STAILQ_INIT(&graph->dead_ops);
    STAILQ_INIT(&graph->later);
    STAILQ_INIT(&graph->parked);
    TAILQ_INIT(&graph->deferred);
    TAILQ_INIT(&graph->scratch);
    TAILQ_INIT(&graph->dead_scratch);
    graph->callbacks_end = &graph->callbacks;
    graph->begin_now = tsl_graph_begin_now;
    graph->bridge_job.run = tsl_graph_bridge;
    graph->chain_job.run = tsl_chain_patience_look;
    graph->readiness.over.run = tsl_readiness_over;
    graph->callback_job.run = tsl_callback_run;
    tsl_tiles_init(&graph->host_map, 0, TSL_SPACES_NONE, false);
    tsl_pool_init(&graph->op_pool, sizeof(struct tsl_op));
    tsl_pool_init(&graph->command_pool, sizeof(struct tsl_command));
}

cl_int tsl_graph_create(struct tsl_context *context, struct tsl_graph **result)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, first_graph);
    struct tsl_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return CL_OUT_OF_HOST_MEMORY;
    init(graph, context);
    graph->ports = calloc(context->n_members, sizeof(*graph->ports));
    graph->cuts_always = tsl_split_always(tsl_settings()->split);
    graph->spreads = graph->cuts_always || tsl_settings()->split == TSL_SPLIT_DOMAIN;
    graph->placer = tsl_placer_create(tsl_settings(), context->members, context->n_members);
    unsigned check = tsl_settings()->check, checks = check & (TSL_CHECK_COHERENCE | TSL_CHECK_SPLIT);
    graph->checks = checks ? tsl_coherence_create(check & TSL_CHECK_COHERENCE) : NULL;
    graph->checks_cuts = check & TSL_CHECK_SPLIT;
    if (!graph->ports || !graph->placer || (checks && !graph->checks)) {
        tsl_graph_destroy(graph);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (unsigned i = 0; i < context->n_members; i++)
        tsl_port_init(&graph->ports[i], graph, context->members[i], i);
    graph->n_ports = context->n_members;
    tsl_senders_appoint(graph);
    tsl_port_init(&graph->host, graph, tsl_host_member(), TSL_HOST_INDEX);
    tsl_port_init(&graph->tasks, graph, tsl_host_member(), TSL_HOST_INDEX);
    tsl_graphs_add(graph);
    tsl_exit_expect(graph);
    tsl_readiness_expect(graph);
    *result = graph;
    return CL_SUCCESS;
}

void tsl_graph_destroy(struct tsl_graph *graph)
{
    if (!graph || tsl_forked())
        return;
    for (unsigned i = 0; i < graph->n_ports; i++)
        tsl_port_finish(&graph->ports[i]);
    if (graph->host.member) { /* The graph was made as a whole. */
        tsl_graphs_remove(graph);
        tsl_port_finish(&graph->host);
        tsl_port_finish(&graph->tasks);
    }
    tsl_placer_destroy(graph->placer);
    tsl_lock_take(&graph->lock);
    tsl_tiles_finish(&graph->host_map); /* The last references to operations may be the uses there. */
    tsl_op_unref(graph->opaque);
    tsl_dependences_finish(&graph->since_opaque);
    for (unsigned i = 0; i < graph->n_ports; i++)
        tsl_op_unref(graph->ports[i].evicting), tsl_arena_forget(&graph->ports[i]);
    tsl_coherence_destroy(graph->checks);
    tsl_graph_bury(graph);
    tsl_lock_give(&graph->lock);
    tsl_pool_finish(&graph->op_pool);
    tsl_pool_finish(&graph->command_pool);
    pthread_cond_destroy(&graph->changed);
    tsl_lock_finish(&graph->lock);
    free(graph->ports);
    free(graph);
}
