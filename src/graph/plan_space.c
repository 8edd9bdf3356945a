/* In which space, and by which port, a transfer is done. */
#include "graph/plan_space.h"

#include "base/clock.h"
#include "base/sets.h"
#include "graph/boxes.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/member_memory.h"
#include "graph/queue.h"
#include "graph/readiness.h"
#include "graph/space.h"
#include "graph/state.h"
#include "place/place.h"
#include "tile/tile.h"

#define LEAST_FOR_PEERS ((uint64_t)1 << 20) /* bytes of an object: smaller ones are soon copied */

struct tsl_port *tsl_plan_port(struct tsl_command *c, unsigned space, const struct tsl_data *data)
{
    struct tsl_graph *graph = c->graph;
    int member = c->queue->pinned >= 0 ? c->queue->pinned : graph->n_ports == 1 ? 0 : data->last_member;
    if (space == TSL_SPACE_HOST && member >= 0) {
        struct tsl_port *port = &graph->ports[member];
        bool works = tsl_space_of(port, data) == TSL_SPACE_HOST && !port->sync;
        if (data->svm && !tsl_members_has(data->svm->as_mem, member))
            works = false; /* Its kernels do so, by addresses alone. */
        return works ? port : &graph->host;
    }
    return tsl_space_port(graph, data, space);
}

/* In a context with one member everything is with that member, as in the vendor's own implementation. */
static bool one_member(const struct tsl_graph *graph)
{
    return graph->n_ports == 1;
}

/* The members that are open. */
static tsl_members open_members(struct tsl_graph *graph)
{
    tsl_members all = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (!tsl_member_is_lost(graph->ports[i].member))
            tsl_members_add(&all, i);
    return tsl_readiness_of(graph, all);
}

/* Of the members that are open, if it is clear. */
static int likely_of_all(struct tsl_graph *graph)
{
    return tsl_placer_learns(graph->placer) ? tsl_placer_likely(graph->placer, open_members(graph)) : -1;
}

/* If it isn't clear: members that are near to each other. What is on one of them gets to the others sooner than from a
 * copy in the host's memory, for which pages would have to be pinned. */
static tsl_members likely_peers(struct tsl_graph *graph, const struct tsl_data *data)
{
    bool large = data->size >= LEAST_FOR_PEERS || tsl_cut_is_wanted(graph);
    if (!large || !tsl_placer_learns(graph->placer))
        return TSL_MEMBERS_NONE;
    return tsl_placer_likely_peers(graph->placer, open_members(graph));
}

static bool is_spread(const struct tsl_graph *graph, const struct tsl_data *data)
{
    return tsl_spread_is(data->spread) && !tsl_space_has_lost_part(graph, data);
}

/* The member whose kernels are thought to use the object next; -1: nobody can tell. */
static int likely_member(struct tsl_graph *graph, const struct tsl_data *data)
{
    if (is_spread(graph, data))
        return (int)data->spread->home;
    int only = one_member(graph) ? 0 : tsl_readiness_only(graph);
    if (only >= 0 || !tsl_placer_learns(graph->placer))
        return only;
    if (data->last_member >= 0) {
        bool lost = tsl_member_is_lost(graph->ports[data->last_member].member);
        return lost || data->last_cut ? -1 : data->last_member;
    }
    int likely = likely_of_all(graph);
    return likely >= 0 ? likely : tsl_placer_idlest(graph->placer, likely_peers(graph, data), tsl_clock_ns());
}

bool tsl_plan_knows_place(struct tsl_graph *graph)
{
    return tsl_readiness_only(graph) >= 0 || likely_of_all(graph) >= 0;
}

unsigned tsl_plan_richest_space(struct tsl_graph *graph, struct tsl_data *data, const struct tsl_box_copy *box)
{
    unsigned best = TSL_SPACE_HOST;
    uint64_t least = tsl_box_missing(data, box, TSL_SPACE_HOST);
    if (one_member(graph))
        return tsl_plan_with_room(graph, tsl_space_of(&graph->ports[0], data), data, data);
    for (unsigned i = 0; i < graph->n_ports; i++) {
        unsigned space = tsl_space_of(&graph->ports[i], data);
        uint64_t missing = tsl_box_missing(data, box, space);
        if (missing < least || (missing == least && (int)i == data->last_member)) {
            least = missing;
            best = space;
        }
    }
    return best;
}

unsigned tsl_plan_read_space(struct tsl_graph *graph, const struct tsl_data *data, tsl_spaces valid)
{
    unsigned only = one_member(graph) ? tsl_space_of(&graph->ports[0], data) : TSL_SPACE_HOST;
    unsigned last = data->last_member >= 0 ? tsl_space_of(&graph->ports[data->last_member], data) : TSL_SPACE_HOST;
    if (one_member(graph) && tsl_spaces_is_empty(valid)) /* Never written; it may be too large to be there. */
        return tsl_plan_with_room(graph, only, data, data);
    if (one_member(graph) && tsl_spaces_has(valid, only))
        return only;
    if (tsl_spaces_is_empty(valid) || tsl_spaces_has(valid, TSL_SPACE_HOST))
        return TSL_SPACE_HOST;
    if (tsl_spaces_has(valid, last))
        return last;
    return tsl_spaces_first(valid);
}

bool tsl_plan_better_by_host(const struct tsl_command *c, unsigned space, const struct tsl_data *data, uint64_t offset,
                             const char *host)
{
    const struct tsl_port *port = tsl_space_port(c->graph, data, space);
    size_t align = space == TSL_SPACE_HOST ? 0 : port->member->caps.dma_align;
    return align && (uintptr_t)host % align && offset % align == 0 && (data->host_owned || !data->host);
}

bool tsl_plan_names_host_copy(const struct tsl_command *c, const struct tsl_data *data, size_t offset,
                              size_t host_offset)
{
    const size_t *region = c->box.region;
    bool same = (region[1] == 1 || c->box.src_row_pitch == c->box.dst_row_pitch) &&
                (region[2] == 1 || c->box.src_slice_pitch == c->box.dst_slice_pitch);
    return data->host && same && c->host + host_offset == data->host + offset;
}

unsigned tsl_plan_with_room(struct tsl_graph *graph, unsigned space, const struct tsl_data *a, const struct tsl_data *b)
{
    if (space == TSL_SPACE_HOST || tsl_member_memory_holds_two(tsl_space_port(graph, a, space), a, b))
        return space;
    return TSL_SPACE_HOST;
}

unsigned tsl_plan_space_beside(struct tsl_graph *graph, unsigned space, const struct tsl_data *a,
                               const struct tsl_data *b)
{
    return space == TSL_SPACE_HOST ? space : tsl_space_of(tsl_space_port(graph, a, space), b);
}

/* Might the object be used elsewhere as well? */
static bool is_guess(const struct tsl_command *c)
{
    return c->queue->pinned < 0 && !one_member(c->graph) && tsl_readiness_only(c->graph) < 0;
}

unsigned tsl_plan_write_space(const struct tsl_command *c, const struct tsl_data *data)
{
    struct tsl_graph *graph = c->graph;
    unsigned space = TSL_SPACE_HOST;
    int member = c->queue->pinned >= 0 ? c->queue->pinned : likely_member(graph, data);
    if (member >= 0)
        space = tsl_space_of(&graph->ports[member], data);
    if (is_guess(c) && space != TSL_SPACE_HOST && space != TSL_SPACE_SPREAD && !data->residences[member].resident &&
        tsl_member_memory_full(&graph->ports[member], data->size))
        return TSL_SPACE_HOST; /* Others would have to make room. */
    return tsl_plan_with_room(graph, space, data, data);
}

/* Can the member have the object, and without that others would have to make room? */
static bool takes_part(const struct tsl_port *port, const struct tsl_data *data)
{
    return tsl_member_memory_holds_two(port, data, data) &&
           (data->residences[port->index].resident || !tsl_member_memory_full(port, data->size));
}

tsl_members tsl_plan_write_peers(const struct tsl_command *c, const struct tsl_data *data)
{
    struct tsl_graph *graph = c->graph;
    if (!is_guess(c) || tsl_spread_is(data->spread) || likely_of_all(graph) >= 0)
        return TSL_MEMBERS_NONE;
    if (!tsl_cut_is_wanted(graph) && !tsl_placer_gains(graph->placer))
        return TSL_MEMBERS_NONE;
    tsl_members peers = likely_peers(graph, data);
    if (data->last_member >= 0 && !tsl_members_has(peers, (unsigned)data->last_member))
        return TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(peers, i) && !takes_part(&graph->ports[i], data))
            return TSL_MEMBERS_NONE;
    return peers;
}

/* A fill needs no bytes: where no space has more of them than another, it is done where the object is used next. What
 * is spread stays so. */
static unsigned fill_space(struct tsl_graph *graph, struct tsl_data *data, const struct tsl_box_copy *box)
{
    if (is_spread(graph, data))
        return TSL_SPACE_SPREAD;
    unsigned space = tsl_plan_richest_space(graph, data, box);
    int member = space == TSL_SPACE_HOST ? likely_member(graph, data) : -1;
    if (member < 0)
        return space;
    unsigned likely = tsl_space_of(&graph->ports[member], data);
    return tsl_box_missing(data, box, likely) <= tsl_box_missing(data, box, space) ? likely : space;
}

unsigned tsl_plan_work_space(const struct tsl_command *c, struct tsl_data *data, const struct tsl_box_copy *box,
                             const struct tsl_data *dst)
{
    unsigned space = c->queue->pinned >= 0 ? tsl_space_of(&c->graph->ports[c->queue->pinned], data)
                     : data == dst         ? fill_space(c->graph, data, box)
                                           : tsl_plan_richest_space(c->graph, data, box);
    return tsl_plan_with_room(c->graph, space, data, dst);
}
