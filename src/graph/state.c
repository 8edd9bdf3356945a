/* Waiting for changes of a graph. */
#include "graph/state.h"

#include "base/lock.h"

void tsl_graph_changed(struct tsl_graph *graph)
{
    if (graph->n_waiting)
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
