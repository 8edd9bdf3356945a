/* The memory of spread objects. */
#include "graph/spread.h"

#include "driver/driver.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/port.h"
#include "graph/residency.h"
#include "graph/state.h"

#include <stdlib.h>
#include <string.h>

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

void tsl_spread_destroy(struct tsl_spread *spread)
{
    if (spread)
        tsl_lock_finish(&spread->lock);
    free(spread);
}
