/* All graphs of the process. */
#include "graph/graphs.h"

#include "base/lock.h"
#include "graph/state.h"
#include "handle/object.h"
#include "object/context.h"

#include <pthread.h>
#include <sys/queue.h>

static struct tsl_lock graphs_lock = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static LIST_HEAD(, tsl_graph) graphs = LIST_HEAD_INITIALIZER(graphs);

void tsl_graphs_add(struct tsl_graph *graph)
{
    tsl_lock_take(&graphs_lock);
    LIST_INSERT_HEAD(&graphs, graph, link);
    tsl_lock_give(&graphs_lock);
}

void tsl_graphs_remove(struct tsl_graph *graph)
{
    tsl_lock_take(&graphs_lock);
    LIST_REMOVE(graph, link);
    tsl_lock_give(&graphs_lock);
}

struct tsl_graph *tsl_graphs_next(struct tsl_graph *graph)
{
    tsl_lock_take(&graphs_lock);
    graph = graph ? LIST_NEXT(graph, link) : LIST_FIRST(&graphs);
    while (graph && !tsl_object_try_ref(&graph->context->object))
        graph = LIST_NEXT(graph, link);
    tsl_lock_give(&graphs_lock);
    return graph;
}
