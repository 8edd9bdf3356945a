/*
 * Writes of what the last launch had in parts. Where launches are cut each member has the bytes of its shares. A
 * program that writes the object anew mostly launches the same again: so each part is written where the old bytes of
 * that part are, straight from the application's memory. By the host's copy they would be copied there first, and moved
 * while the launch waits.
 */
#include "graph/plan_write_parts.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut.h"
#include "graph/deferred_write.h"
#include "graph/plan_kinds.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "tile/tile.h"

#define LEAST_SIZE  ((uint64_t)1 << 20) /* of a write; where all launches are cut any */
#define MOST_PARTS  64u
#define MOST_SHARED 8u /* at most one byte of so many is one that several members have, as halos are */

struct part {
    unsigned space;
    uint64_t begin, end; /* of the object */
};

struct parts {
    unsigned n;
    struct part list[MOST_PARTS];
    uint64_t shared_size; /* bytes that several members have */
    unsigned n_members;   /* parts that aren't the host's */
};

static tsl_spaces of_members(const struct tsl_graph *graph, const struct tsl_tile *tile)
{
    tsl_spaces spaces = tile->valid;
    tsl_spaces_remove(&spaces, TSL_SPACE_HOST);
    tsl_spaces_remove(&spaces, TSL_SPACE_LOST);
    tsl_spaces_remove(&spaces, TSL_SPACE_SPREAD);
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_member_is_lost(graph->ports[i].member))
            tsl_spaces_remove(&spaces, TSL_SPACE_MEMBER(i));
    return spaces;
}

/* False: there are too many. */
static bool add(struct parts *parts, unsigned space, uint64_t begin, uint64_t end)
{
    struct part *last = parts->n ? &parts->list[parts->n - 1] : NULL;
    if (last && last->space == space) {
        last->end = end;
        return true;
    }
    if (parts->n == MOST_PARTS)
        return false;
    parts->list[parts->n++] = (struct part){space, begin, end};
    parts->n_members += space != TSL_SPACE_HOST;
    return true;
}

/* What several members have stays with the part before it, if that may be. */
static bool find(const struct tsl_graph *graph, struct tsl_data *data, uint64_t begin, uint64_t end,
                 struct parts *parts)
{
    uint64_t at = begin;
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        tsl_spaces spaces = of_members(graph, tile);
        unsigned before = parts->n ? parts->list[parts->n - 1].space : TSL_SPACE_HOST;
        uint64_t until = tile->end < end ? tile->end : end;
        unsigned space = tsl_spaces_is_empty(spaces)      ? TSL_SPACE_HOST
                         : tsl_spaces_has(spaces, before) ? before
                                                          : tsl_spaces_first(spaces);
        if (tile->begin > at || !add(parts, space, at, until))
            return false;
        parts->shared_size += tsl_spaces_count(spaces) > 1 ? until - at : 0;
        at = until;
    }
    return at == end && parts->n_members > 1 && parts->shared_size <= (end - begin) / MOST_SHARED;
}

/* The times of a command are those of one operation, so a write that profiles stays in one. */
static bool may_part(const struct tsl_command *c, const struct tsl_data *data)
{
    bool linear = c->box.region[1] == 1 && c->box.region[2] == 1;
    bool large = c->box.region[0] >= LEAST_SIZE || tsl_cut_is_wanted(c->graph);
    return data->last_cut && linear && large && !data->image && !tsl_spread_is(data->spread) && !data->svm &&
           !c->profile && c->queue->pinned < 0;
}

bool tsl_plan_write_in_parts(struct tsl_command *c, const tsl_dependences *order, cl_int *error)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    uint64_t begin = c->dst->offset + c->box.dst_offset;
    const struct tsl_box_copy whole = c->box;
    struct parts parts; /* The list is filled before it is read. */
    parts.n = parts.n_members = 0;
    parts.shared_size = 0;
    if (!may_part(c, data) || !find(c->graph, data, begin, begin + c->box.region[0], &parts))
        return false;
    *error = CL_SUCCESS;
    tsl_deferred_write_all(c->graph); /* Writes of one object keep their order. */
    for (unsigned i = 0; i < parts.n && !*error; i++) {
        const struct part *part = &parts.list[i];
        c->box.dst_offset = part->begin - c->dst->offset;
        c->box.src_offset = whole.src_offset + (part->begin - begin);
        c->box.region[0] = part->end - part->begin;
        *error = tsl_plan_write_to(c, order, part->space);
    }
    c->box = whole;
    data->host_is_members &= begin > 0 || whole.region[0] < data->size;
    return true;
}
