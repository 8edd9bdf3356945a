#include "graph/spread_make.h"

#include "driver/driver.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/fetch.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/residency.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "graph/valid.h"
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

/* Is all work with the drivers that uses the object's copies on these members? What is still to be submitted binds its
 * memory then, and would take another than was planned. */
static bool is_settled(struct tsl_data *data, tsl_members members)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_prune(tile);
        for (unsigned i = 0; i < tile->uses.n; i++) {
            const struct tsl_use *use = &tile->uses.list[i];
            const struct tsl_op *op = (const struct tsl_op *)use->user;
            bool there = use->space != TSL_SPACE_HOST && tsl_members_has(members, use->space - 1);
            if (there && op->kind != TSL_OP_JOIN && op->state < TSL_OP_SUBMITTED)
                return false;
        }
    }
    return true;
}

/* Equal parts in whole granules, the last one shorter. */
static void make_sizes(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members members, size_t *sizes)
{
    size_t left = data->size, n = tsl_members_count(members);
    size_t granule = graph->ports[tsl_members_first(members)].member->caps.domain_granule;
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
    return !data->image && !data->svm && LIST_EMPTY(&data->sub_mems) && has_room(graph, data, members) &&
           is_settled(data, members);
}

/* ---- Becoming spread --------------------------------------------------------------------------------------------- */

static uint64_t only_there(struct tsl_data *data, unsigned space)
{
    uint64_t begin = 0, end, size = 0;
    for (; tsl_valid_only_in(data, space, &begin, &end); begin = end)
        size += end - begin;
    return size;
}

/* The member whose own copy is the least loss, as it goes before the range comes. */
static unsigned choose_home(struct tsl_graph *graph, struct tsl_data *data, tsl_members members)
{
    unsigned best = tsl_members_first(members);
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        uint64_t lost = tsl_members_has(members, i) ? only_there(data, graph->ports[i].space) : UINT64_MAX;
        bool resident = data->residences[i].resident;
        if (lost < least || (lost == least && lost < UINT64_MAX && !resident && data->residences[best].resident)) {
            best = i;
            least = lost;
        }
    }
    return best;
}

static struct tsl_spread *create(struct tsl_graph *graph, const struct tsl_data *data, tsl_members members,
                                 unsigned home)
{
    struct tsl_spread *spread = calloc(1, sizeof(*spread));
    if (!spread)
        return NULL;
    spread->members = members;
    spread->home = home;
    make_sizes(graph, data, members, spread->sizes);
    tsl_lock_init(&spread->lock);
    return spread;
}

cl_int tsl_spread_make(struct tsl_command *command, struct tsl_data *data, tsl_members members)
{
    struct tsl_graph *graph = command->graph;
    if (data->spread)
        return CL_SUCCESS;
    unsigned home = choose_home(graph, data, members);
    struct tsl_spread *spread = create(graph, data, members, home);
    if (!spread)
        return CL_OUT_OF_HOST_MEMORY;
    cl_int error = tsl_residency_evict(command, data, &graph->ports[home]);
    if (error) {
        tsl_spread_destroy(spread);
        return error;
    }
    data->spread = spread;
    for (unsigned i = 0; i < graph->n_ports; i++) /* Now, not when the old copies are freed, which may be later. */
        data->residences[i].changed |= tsl_members_has(members, i);
    error = tsl_fetch(command, data, 0, data->size, graph->ports[home].space);
    for (unsigned i = 0; i < graph->n_ports && !error; i++)
        if (i != home && tsl_members_has(members, i))
            error = tsl_residency_evict(command, data, &graph->ports[i]);
    return error;
}
