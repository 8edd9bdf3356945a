/* The freeing of the memory that an object leaves. */
#include "graph/evict_run.h"

#include "driver/driver.h"
#include "graph/complete.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "handle/object.h"

#define FEW_SUBS 32

static unsigned take_subs(struct tsl_data *data, unsigned index, struct tsl_mem **mems)
{
    struct tsl_sub_mems *subs;
    unsigned n = 0;
    LIST_FOREACH(subs, &data->sub_mems, link)
    if (subs->mems[index] && n < FEW_SUBS) {
        mems[n++] = subs->mems[index];
        subs->mems[index] = NULL;
    }
    return n;
}

static void free_subs(struct tsl_data *data, struct tsl_graph *graph, unsigned index)
{
    struct tsl_mem *mems[FEW_SUBS];
    unsigned n;
    while ((n = take_subs(data, index, mems)) > 0) {
        tsl_graph_open(graph);
        for (unsigned i = 0; i < n; i++)
            mems[i]->member->driver->mem_free(mems[i]);
        tsl_graph_close(graph);
    }
}

/* A spread object leaves its home, and so all its members. */
static void free_spread(struct tsl_data *data, struct tsl_graph *graph)
{
    struct tsl_mem *mem;
    unsigned member = 0;
    while ((mem = tsl_spread_take(data, &member))) {
        free_subs(data, graph, member);
        data->residences[member].changed = true;
        tsl_graph_open(graph);
        tsl_spread_free(data, member, mem);
        tsl_graph_close(graph);
    }
}

void tsl_evict_run_free(struct tsl_residence *residence, struct tsl_port *port)
{
    struct tsl_graph *graph = port->graph;
    struct tsl_data *data = residence->data;
    free_subs(data, graph, port->index);
    if (data->spread && data->spread->home == port->index)
        free_spread(data, graph);
    struct tsl_mem *mem = residence->mem;
    residence->mem = NULL;
    residence->changed = true;
    if (mem && residence->n_freeing > 0 && !residence->orphan) {
        residence->orphan = mem;
        port->n_leaving++;
    } else if (mem) {
        tsl_graph_open(graph);
        tsl_member_memory_free(residence, mem);
        tsl_graph_close(graph);
    }
}

void tsl_evict_run(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_residence *residence = op->victim;
    op->user.refs++;
    if (op->frees_arena)
        tsl_arena_free(op->port);
    if (residence && !op->poison && op->eviction >= residence->n_void)
        tsl_evict_run_free(residence, op->port);
    tsl_op_finish(op, CL_COMPLETE);
    tsl_op_unref(op);
    if (!residence)
        return;
    tsl_graph_open(graph);
    tsl_object_unref(residence->data->owner);
    tsl_graph_close(graph);
}
