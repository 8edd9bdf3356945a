/* The memory of spread objects. */
#include "graph/spread.h"

#include "driver/driver.h"
#include "graph/copies.h"
#include "graph/evict.h"
#include "graph/member_memory.h"
#include "graph/port.h"
#include "graph/residency.h"
#include "graph/state.h"
#include "object/context.h"

#include <stdlib.h>
#include <string.h>

/* ---- States ------------------------------------------------------------------------------------------------------ */

/* `back` is read before `left`, and written after it. */
bool tsl_spread_binds(const struct tsl_spread *spread, unsigned member, uint64_t number)
{
    if (!spread || !tsl_members_has(spread->members, member))
        return false;
    uint64_t back = atomic_load(&spread->back), left = atomic_load(&spread->left);
    return number > atomic_load(&spread->since) && (number <= left || number > back);
}

bool tsl_spread_may_leave(struct tsl_data *data)
{
    return atomic_load(&data->spread->back) == 0 || tsl_evict_is_idle(data, TSL_SPACE_SPREAD);
}

/* Arguments that are bound are others from here on, not from when the memory is freed, which may be later. */
static void change(struct tsl_data *data)
{
    for (unsigned i = 0; i < data->context->n_members; i++)
        if (tsl_members_has(data->spread->members, i))
            data->residences[i].changed = true;
}

void tsl_spread_leave(struct tsl_data *data)
{
    struct tsl_spread *spread = data->spread;
    uint64_t back = atomic_load(&spread->back);
    if (back)
        atomic_store(&spread->since, back);
    atomic_store(&spread->left, data->context->graph->n_ops);
    atomic_store(&spread->back, UINT64_MAX);
    change(data);
}

void tsl_spread_return(struct tsl_data *data)
{
    struct tsl_graph *graph = data->context->graph;
    struct tsl_spread *spread = data->spread;
    if (tsl_spread_is(spread))
        return;
    if (tsl_spread_is_ordinary(spread)) {
        atomic_store(&spread->since, graph->n_ops);
        atomic_store(&spread->left, 0);
        atomic_store(&spread->back, 0);
        atomic_fetch_add(&graph->n_spread, 1);
    } else {
        atomic_store(&spread->back, graph->n_ops);
    }
    atomic_store(&spread->refused, false);
    change(data);
}

void tsl_spread_gone(struct tsl_data *data)
{
    if (tsl_spread_is(data->spread) || tsl_spread_is_ordinary(data->spread))
        return;
    atomic_store(&data->spread->since, UINT64_MAX);
    atomic_fetch_sub(&data->context->graph->n_spread, 1);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static cl_int alloc_locked(struct tsl_data *data, struct tsl_port *port) TSL_REQUIRES(data->spread->lock)
{
    struct tsl_graph *graph = port->graph;
    struct tsl_spread *spread = data->spread;
    struct tsl_member *members[TSL_MAX_MEMBERS];
    struct tsl_mem *mems[TSL_MAX_MEMBERS];
    size_t sizes[TSL_MAX_MEMBERS];
    unsigned n = 0, full = 0, index[TSL_MAX_MEMBERS];
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(spread->members, i)) {
            members[n] = graph->ports[i].member;
            sizes[n] = spread->sizes[i];
            index[n++] = i;
        }
    const struct tsl_spread_request request = {n, members, sizes};
    const struct tsl_driver *driver = graph->ports[spread->home].member->driver;
    cl_int error = driver->spread_alloc(&request, mems, &full);
    atomic_store(&spread->refused, error == CL_MEM_OBJECT_ALLOCATION_FAILURE);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
        port->lacking = &graph->ports[index[full]];
    if (error)
        return error == CL_OUT_OF_RESOURCES || error == CL_INVALID_BUFFER_SIZE ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                                                                               : error;
    for (unsigned i = 0; i < n; i++) {
        spread->mems[index[i]] = mems[i];
        tsl_member_memory_hold(members[i], sizes[i]);
    }
    spread->residence.mem = spread->mems[spread->home];
    return CL_SUCCESS;
}

cl_int tsl_spread_mem(struct tsl_data *data, struct tsl_port *port, const struct tsl_port *of, struct tsl_mem **mem)
{
    tsl_lock_take(&data->spread->lock);
    cl_int error = data->spread->mems[of->index] ? CL_SUCCESS : alloc_locked(data, port);
    *mem = data->spread->mems[of->index];
    tsl_lock_give(&data->spread->lock);
    return error;
}

unsigned tsl_spread_part(const struct tsl_spread *spread, uint64_t offset, uint64_t *end)
{
    unsigned part = spread->home;
    uint64_t at = 0;
    for (unsigned i = 0; i < TSL_MAX_MEMBERS && at <= offset; i++)
        if (spread->sizes[i]) {
            part = i;
            at += spread->sizes[i];
        }
    *end = at;
    return part;
}

bool tsl_spread_take(struct tsl_data *data, struct tsl_mem *mems[TSL_MAX_MEMBERS])
{
    struct tsl_spread *spread = data->spread;
    tsl_lock_take(&spread->lock);
    memcpy(mems, spread->mems, sizeof(spread->mems));
    memset(spread->mems, 0, sizeof(spread->mems));
    spread->residence.mem = NULL;
    tsl_lock_give(&spread->lock);
    return mems[spread->home];
}

void tsl_spread_free(struct tsl_data *data, struct tsl_mem *mems[TSL_MAX_MEMBERS])
{
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++) {
        struct tsl_member *on = mems[i] ? mems[i]->member : NULL;
        if (!on)
            continue;
        on->driver->mem_free(mems[i]);
        tsl_member_memory_let_go(on, data->spread->sizes[i]);
        mems[i] = NULL;
    }
}

void tsl_spread_destroy(struct tsl_graph *graph, struct tsl_spread *spread)
{
    if (!spread)
        return;
    if (!tsl_spread_is_ordinary(spread))
        atomic_fetch_sub(&graph->n_spread, 1);
    tsl_lock_finish(&spread->lock);
    free(spread);
}
