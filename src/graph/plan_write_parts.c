/*
 * Writes of what the last launch had in parts. Where launches are cut each member has the bytes of its shares. A
 * program that writes the object anew mostly launches the same again: so each part is written where the old bytes of
 * that part are, straight from the application's memory. By the host's copy they would be copied there first, and moved
 * while the launch waits.
 *
 * Other large writes, where members are near to each other: each of them gets as much. All of their ways from the host
 * are used, and whichever member reads it has the rest soon, even if the last launch ran whole on one of them.
 */
#include "graph/plan_write_parts.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut.h"
#include "graph/deferred_write.h"
#include "graph/plan_kinds.h"
#include "graph/plan_space.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "tile/tile.h"

#define LEAST_SIZE  ((uint64_t)1 << 20) /* of a write; where all launches are cut any */
#define MOST_PARTS  64u
#define MOST_SHARED 8u /* at most one byte of so many is one that several members have, as halos are */
#define PEERS_SIZE  ((uint64_t)16 << 20) /* of a write over near members; where all launches are cut any */
#define PEERS_UNIT  ((uint64_t)64 << 10) /* of their parts; ... 64 bytes */

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

/* The parts of near members, by their places in the object. */
static bool share_out(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members peers, uint64_t begin,
                      uint64_t end, struct parts *parts)
{
    uint64_t unit = tsl_cut_is_wanted(graph) ? 64 : PEERS_UNIT, n = tsl_members_count(peers), at = begin;
    for (uint64_t i = 1; i <= n; i++) {
        unsigned member = tsl_members_first(peers);
        uint64_t border = i < n ? data->size * i / n / unit * unit : data->size, until = border < end ? border : end;
        tsl_members_remove(&peers, member);
        if (until > at && !add(parts, TSL_SPACE_MEMBER(member), at, until))
            return false;
        at = until > at ? until : at;
    }
    return parts->n > 0;
}

/* The times of a command are those of one operation, so a write that profiles stays in one. */
static bool may_part(const struct tsl_command *c, const struct tsl_data *data, uint64_t least_size)
{
    bool linear = c->box.region[1] == 1 && c->box.region[2] == 1;
    bool large = c->box.region[0] >= least_size || (tsl_cut_is_wanted(c->graph) && c->box.region[0] > 0);
    return linear && large && !data->image && !tsl_spread_is(data->spread) && !data->svm && !c->profile &&
           c->queue->pinned < 0;
}

static cl_int plan_parts(struct tsl_command *c, const tsl_dependences *order, const struct parts *parts)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    uint64_t begin = tsl_deferred_write_begin(c);
    const struct tsl_box_copy whole = c->box;
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < parts->n && !error; i++) {
        const struct part *part = &parts->list[i];
        c->box.dst_offset = part->begin - c->dst->offset;
        c->box.src_offset = whole.src_offset + (part->begin - begin);
        c->box.region[0] = part->end - part->begin;
        error = tsl_plan_write_to(c, order, part->space);
    }
    c->box = whole;
    data->host_is_members &= begin > 0 || whole.region[0] < data->size;
    return error;
}

bool tsl_plan_write_in_parts(struct tsl_command *c, const tsl_dependences *order, cl_int *error)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    struct parts parts; /* The list is filled before it is read. */
    parts.n = parts.n_members = 0;
    parts.shared_size = 0;
    if (!data->last_cut || !may_part(c, data, LEAST_SIZE) ||
        !find(c->graph, data, tsl_deferred_write_begin(c), tsl_deferred_write_end(c), &parts))
        return false;
    tsl_deferred_write_all(c->graph); /* Writes of one object keep their order. */
    *error = plan_parts(c, order, &parts);
    return true;
}

cl_int tsl_plan_write_likely(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    tsl_members peers = TSL_MEMBERS_NONE;
    struct parts parts;
    parts.n = parts.n_members = 0;
    if (may_part(c, data, PEERS_SIZE))
        peers = tsl_plan_write_peers(c, data);
    if (!tsl_members_is_empty(peers) &&
        share_out(c->graph, data, peers, tsl_deferred_write_begin(c), tsl_deferred_write_end(c), &parts))
        return plan_parts(c, order, &parts);
    return tsl_plan_write_to(c, order, tsl_plan_write_space(c, data));
}
