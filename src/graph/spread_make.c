#include "graph/spread_make.h"

#include "driver/driver.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/port.h"
#include "graph/residency.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "tile/tile.h"

#include <stdlib.h>

/* ---- May it be? -------------------------------------------------------------------------------------------------- */

bool tsl_spread_domain(const struct tsl_graph *graph, tsl_members members)
{
    unsigned first = tsl_members_first(members), n = 0;
    const struct tsl_member *one = graph->ports[first].member;
    for (unsigned i = first; i < graph->n_ports; i++) {
        const struct tsl_member *other = graph->ports[i].member;
        if (!tsl_members_has(members, i))
            continue;
        if (!other->caps.domain || other->driver != one->driver || other->caps.domain != one->caps.domain)
            return false;
        n++;
    }
    return n > 1;
}

/* Of each of the members' parts: powers of two, so that the largest serves all. */
static size_t granule_of(const struct tsl_graph *graph, tsl_members members)
{
    size_t granule = 1;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        size_t its = tsl_members_has(members, i) ? graph->ports[i].member->caps.domain_granule : 1;
        granule = its > granule ? its : granule;
    }
    return granule;
}

/* Equal parts in whole granules, the last one shorter. */
static void make_sizes(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members members, size_t *sizes)
{
    size_t left = data->size, n = tsl_members_count(members);
    size_t granule = granule_of(graph, members);
    size_t part = (data->size / n + granule) / granule * granule;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        sizes[i] = !tsl_members_has(members, i) ? 0 : left < part ? left : part;
        left -= sizes[i];
    }
}

static bool has_room(struct tsl_graph *graph, const struct tsl_data *data, tsl_members members)
{
    size_t sizes[TSL_MAX_MEMBERS];
    make_sizes(graph, data, members, sizes);
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (sizes[i] && tsl_member_memory_full(&graph->ports[i], sizes[i]))
            return false;
    return true;
}

bool tsl_spread_may(struct tsl_graph *graph, struct tsl_data *data, tsl_members members)
{
    if (data->spread)
        return tsl_members_are(data->spread->members, members);
    return !data->image && !data->svm && has_room(graph, data, members);
}

/* ---- Becoming spread --------------------------------------------------------------------------------------------- */

static struct tsl_spread *create(struct tsl_graph *graph, struct tsl_data *data, tsl_members members)
{
    struct tsl_spread *spread = calloc(1, sizeof(*spread));
    if (!spread)
        return NULL;
    spread->members = members;
    spread->home = tsl_members_first(members);
    spread->since = graph->n_ops;
    spread->residence.data = data;
    make_sizes(graph, data, members, spread->sizes);
    tsl_lock_init(&spread->lock);
    return spread;
}

/* Has the space bytes that are current, or will be if an operation fails? */
static bool is_needed(struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_prune(tile);
        if (tsl_spaces_has(tile->valid, space))
            return true;
        for (const struct tsl_rollback *r = tile->rollback; r; r = r->older)
            if (tsl_spaces_has(r->valid, space))
                return true;
    }
    return false;
}

/* Of what the members have of their own nothing is used again once its bytes have come along. */
static cl_int evict_own(struct tsl_command *command, struct tsl_data *data)
{
    struct tsl_graph *graph = command->graph;
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < graph->n_ports && !error; i++)
        if (tsl_members_has(data->spread->members, i) && data->residences[i].resident &&
            !is_needed(data, TSL_SPACE_MEMBER(i)))
            error = tsl_residency_evict(command, data, &graph->ports[i]);
    return error;
}

cl_int tsl_spread_make(struct tsl_command *command, struct tsl_data *data, tsl_members members)
{
    struct tsl_graph *graph = command->graph;
    if (data->spread)
        return evict_own(command, data);
    struct tsl_spread *spread = create(graph, data, members);
    if (!spread)
        return CL_OUT_OF_HOST_MEMORY;
    data->spread = spread;
    for (unsigned i = 0; i < graph->n_ports; i++) /* Now, not when the old copies are freed, which may be later. */
        data->residences[i].changed |= tsl_members_has(members, i);
    return CL_SUCCESS;
}
