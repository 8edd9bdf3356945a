/* The freeing of the memory that an object leaves. */
#include "graph/evict_run.h"

#include "driver/driver.h"
#include "graph/complete.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/space.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "handle/object.h"

#include <string.h>

#define FEW_SUBS 32

static unsigned take_subs(struct tsl_data *data, unsigned index, bool spread, struct tsl_mem **mems)
{
    struct tsl_sub_mems *subs;
    unsigned n = 0;
    LIST_FOREACH(subs, &data->sub_mems, link)
    {
        struct tsl_mem **mem = tsl_sub_mem(subs, index, spread);
        if (!*mem || n == FEW_SUBS)
            continue;
        mems[n++] = *mem;
        *mem = NULL;
    }
    return n;
}

static void free_subs(struct tsl_data *data, struct tsl_graph *graph, unsigned index, bool spread)
{
    struct tsl_mem *mems[FEW_SUBS];
    unsigned n;
    while ((n = take_subs(data, index, spread, mems)) > 0) {
        tsl_graph_open(graph);
        for (unsigned i = 0; i < n; i++)
            mems[i]->member->driver->mem_free(mems[i]);
        tsl_graph_close(graph);
    }
}

/* A spread object leaves all its members. */
static void free_spread(struct tsl_data *data, struct tsl_port *port)
{
    struct tsl_graph *graph = port->graph;
    struct tsl_spread *spread = data->spread;
    struct tsl_mem *mems[TSL_MAX_MEMBERS];
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(spread->members, i)) {
            free_subs(data, graph, i, true);
            data->residences[i].changed = true;
        }
    tsl_spread_gone(data);
    if (!tsl_spread_take(data, mems))
        return;
    if (spread->residence.n_freeing > 0 && !spread->orphans[spread->home]) {
        memcpy(spread->orphans, mems, sizeof(mems));
        port->n_leaving++;
        return;
    }
    tsl_graph_open(graph);
    tsl_spread_free(data, mems);
    tsl_graph_close(graph);
}

/* Of a spread object this is what the member had of it before. */
static void free_own(struct tsl_residence *residence, struct tsl_port *port)
{
    struct tsl_graph *graph = port->graph;
    struct tsl_data *data = residence->data;
    free_subs(data, graph, port->index, false);
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

void tsl_evict_run_free(struct tsl_residence *residence, struct tsl_port *port)
{
    if (tsl_residence_is_spread(residence))
        free_spread(residence->data, port);
    else
        free_own(residence, port);
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
