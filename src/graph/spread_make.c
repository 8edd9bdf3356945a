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
        if (!tsl_member_shares_domain(other, one))
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

static uint64_t memory_of(const struct tsl_graph *graph, unsigned i)
{
    uint64_t size = graph->ports[i].member->caps.memory_size;
    return size ? size : UINT64_MAX;
}

static uint64_t largest_memory(const struct tsl_graph *graph, tsl_members members)
{
    uint64_t largest = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && memory_of(graph, i) > largest)
            largest = memory_of(graph, i);
    return largest;
}

/* The bytes behind the last whole granule go to the last member that has a part, as each part begins at a granule. One
 * with less memory gets them instead of a granule, which goes to `large`. */
static void add_rest(const struct tsl_graph *graph, size_t *sizes, unsigned large, size_t rest, size_t granule)
{
    unsigned last = large;
    for (unsigned i = 0; i < graph->n_ports; i++)
        last = sizes[i] ? i : last;
    bool swaps = rest && memory_of(graph, last) < memory_of(graph, large);
    sizes[last] = sizes[last] + rest - (swaps ? granule : 0);
    sizes[large] += swaps ? granule : 0;
}

/* Equal parts in whole granules for the members with most memory; for one with less its share of that, as if by its
 * memory. So launches whose objects one of the members could hold have room on each of them when the objects are
 * spread.
 */
void tsl_spread_sizes(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members members, size_t *sizes)
{
    size_t granule = granule_of(graph, members), left = data->size / granule;
    uint64_t largest = largest_memory(graph, members);
    unsigned n = tsl_members_count(members), n_large = 0, large = 0;
    for (unsigned i = graph->n_ports; i-- > 0;) {
        sizes[i] = 0;
        if (!tsl_members_has(members, i))
            continue;
        if (memory_of(graph, i) == largest) {
            n_large++;
            large = i;
            continue;
        }
        size_t part = (size_t)((double)left / n * (double)memory_of(graph, i) / (double)largest);
        sizes[i] = part * granule;
    }
    for (unsigned i = 0; i < graph->n_ports; i++)
        left -= sizes[i] / granule;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && memory_of(graph, i) == largest) {
            size_t part = (left + n_large - 1) / n_large;
            sizes[i] = part * granule;
            left -= part;
            n_large--;
        }
    add_rest(graph, sizes, large, data->size % granule, granule);
}

static bool has_room(struct tsl_graph *graph, const struct tsl_data *data, tsl_members members)
{
    size_t sizes[TSL_MAX_MEMBERS];
    tsl_spread_sizes(graph, data, members, sizes);
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (sizes[i] && tsl_member_memory_full(&graph->ports[i], sizes[i]))
            return false;
    return true;
}

static bool was_elsewhere(const struct tsl_data *data, tsl_members members)
{
    return data->spread && !tsl_members_are(data->spread->members, members);
}

bool tsl_spread_can_be(const struct tsl_data *data, tsl_members members)
{
    return !tsl_spread_is(data->spread) && !data->image && !data->svm && !was_elsewhere(data, members);
}

bool tsl_spread_may(struct tsl_graph *graph, struct tsl_data *data, tsl_members members)
{
    if (data->spread && atomic_load(&data->spread->refused)) /* Nobody waits for room: others run it whole. */
        return false;
    if (tsl_spread_is(data->spread))
        return !was_elsewhere(data, members);
    return tsl_spread_can_be(data, members) && has_room(graph, data, members);
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
    tsl_spread_sizes(graph, data, members, spread->sizes);
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
            error = tsl_residency_evict(command, data, TSL_SPACE_MEMBER(i));
    return error;
}

cl_int tsl_spread_make(struct tsl_command *command, struct tsl_data *data, tsl_members members)
{
    struct tsl_graph *graph = command->graph;
    struct tsl_spread *spread = data->spread ? data->spread : create(graph, data, members);
    if (!spread)
        return CL_OUT_OF_HOST_MEMORY;
    spread->residence.pin = command->id;
    if (tsl_spread_is(data->spread))
        return evict_own(command, data);
    if (data->spread) {
        tsl_spread_return(data);
        return CL_SUCCESS;
    }
    data->spread = spread;
    atomic_fetch_add(&graph->n_spread, 1);
    for (unsigned i = 0; i < graph->n_ports; i++) /* Now, not when the old copies are freed, which may be later. */
        data->residences[i].changed |= tsl_members_has(members, i);
    return CL_SUCCESS;
}
