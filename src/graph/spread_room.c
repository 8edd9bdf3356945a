#include "graph/spread_room.h"

#include "base/log.h"
#include "driver/driver.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/queue.h"
#include "graph/readiness.h"
#include "graph/residency.h"
#include "graph/space.h"
#include "graph/spread_make.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "object/buffer.h"
#include "program/program.h"

/* Arguments beyond these are not spread for room. */
#define MOST_ARGUMENTS 64u

/* What each of the members needs; of what isn't spread the largest. */
struct needs {
    uint64_t total[TSL_MAX_MEMBERS], largest[TSL_MAX_MEMBERS];
};

/* A domain that is looked at for a launch. */
struct room {
    const struct tsl_command *command;
    tsl_members members;
    uint64_t spread; /* arguments whose objects are to be spread (bits) */
};

/* ---- Domains ----------------------------------------------------------------------------------------------------- */

static bool can_join(const struct tsl_member *member)
{
    return member->caps.domain && member->caps.domain_atomics && !tsl_member_is_lost(member);
}

/* Those that are in one domain with this one. Any kernel may run there, so atomic operations are whole. */
static tsl_members domain_of(const struct tsl_graph *graph, unsigned member)
{
    const struct tsl_member *one = graph->ports[member].member;
    tsl_members domain = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        const struct tsl_member *other = graph->ports[i].member;
        if (can_join(other) && tsl_member_shares_domain(other, one))
            tsl_members_add(&domain, i);
    }
    return domain;
}

static double speed_of(const struct tsl_graph *graph, tsl_members members)
{
    double speed = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && graph->ports[i].member->caps.speed > speed)
            speed = graph->ports[i].member->caps.speed;
    return speed;
}

static uint64_t memory_of(const struct tsl_graph *graph, tsl_members members)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        size += tsl_members_has(members, i) ? graph->ports[i].member->caps.memory_size : 0;
    return size;
}

/* The domain with most memory, all of the context that is in it, of which two and more of the members are; none of it
 * is among the holders, which are slower. */
static tsl_members find_domain(const struct tsl_graph *graph, tsl_members members, tsl_members holders)
{
    tsl_members best = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        if (!tsl_members_has(members, i) || !can_join(graph->ports[i].member))
            continue;
        tsl_members domain = domain_of(graph, i);
        bool has_holder = !tsl_members_is_empty(tsl_members_common(domain, holders));
        if (!has_holder && tsl_members_count(tsl_members_common(domain, members)) > 1 &&
            memory_of(graph, domain) > memory_of(graph, best))
            best = domain;
    }
    return speed_of(graph, best) > speed_of(graph, holders) ? best : TSL_MEMBERS_NONE;
}

/* ---- Needs ------------------------------------------------------------------------------------------------------- */

static void add_whole(const struct room *room, const struct tsl_data *data, struct needs *needs)
{
    for (unsigned i = 0; i < room->command->graph->n_ports; i++) {
        if (data->svm && tsl_members_has(data->svm->members, i)) /* It is the host's memory. */
            continue;
        needs->total[i] += tsl_space_size_on(data, i);
        if (!tsl_space_is_spread(data, i) && data->size > needs->largest[i])
            needs->largest[i] = data->size;
    }
}

static void add_parts(const struct room *room, const struct tsl_data *data, struct needs *needs)
{
    size_t sizes[TSL_MAX_MEMBERS];
    tsl_spread_sizes(room->command->graph, data, room->members, sizes);
    for (unsigned i = 0; i < room->command->graph->n_ports; i++)
        needs->total[i] += sizes[i];
}

/* As far as is known: others may have some of its memory. */
static bool has(struct tsl_member *member, uint64_t total, uint64_t largest)
{
    return tsl_member_memory_has(member, total) &&
           (!member->caps.max_alloc_size || largest <= member->caps.max_alloc_size);
}

static bool have_room(const struct tsl_graph *graph, tsl_members members, const struct needs *needs)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && !has(graph->ports[i].member, needs->total[i], needs->largest[i]))
            return false;
    return true;
}

/* ---- Members without room ---------------------------------------------------------------------------------------- */

/* Spread memory that can't be had: a member's room is another's now, or the member is lost. No bytes are there alone.
 */
static bool is_void(const struct tsl_graph *graph, struct tsl_data *data)
{
    uint64_t begin = 0, end;
    if (!data || !tsl_spread_is(data->spread) ||
        !(atomic_load(&data->spread->refused) || tsl_space_has_lost_part(graph, data)))
        return false;
    return tsl_spread_may_leave(data) && !tsl_valid_only_in(data, TSL_SPACE_SPREAD, &begin, &end);
}

/* One member may still have room for all of it: then the object goes there as any does. */
static void leave_void(struct tsl_command *c, struct tsl_data *data)
{
    if (!is_void(c->graph, data))
        return;
    if (!data->spread->residence.resident)
        tsl_spread_leave(data);
    else
        tsl_residency_evict(c, data, TSL_SPACE_SPREAD);
}

/* ---- A launch ---------------------------------------------------------------------------------------------------- */

static struct tsl_data *data_of(const struct tsl_args *args, cl_uint i)
{
    return args->args[i].buffer ? tsl_data_of(args->args[i].buffer) : NULL;
}

/* Is the argument the first that names its object? */
static bool is_first(const struct tsl_args *args, cl_uint i)
{
    const struct tsl_data *data = data_of(args, i);
    for (cl_uint k = 0; k < i && data; k++)
        if (data_of(args, k) == data)
            return false;
    return data;
}

static bool has_room(const struct room *room)
{
    const struct tsl_args *args = room->command->args;
    struct needs needs = {0};
    for (cl_uint i = 0; i < args->n_all; i++) {
        if (!is_first(args, i))
            continue;
        if (i < MOST_ARGUMENTS && room->spread & UINT64_C(1) << i)
            add_parts(room, data_of(args, i), &needs);
        else
            add_whole(room, data_of(args, i), &needs);
    }
    return have_room(room->command->graph, room->members, &needs);
}

/* Adds the largest object that isn't spread yet; false: there is none that may be. */
static bool spread_one_more(struct room *room)
{
    const struct tsl_args *args = room->command->args;
    size_t largest = 0;
    cl_uint which = 0;
    for (cl_uint i = 0; i < args->n_all && i < MOST_ARGUMENTS; i++) {
        const struct tsl_data *data = data_of(args, i);
        if (room->spread & UINT64_C(1) << i || !is_first(args, i) || data->size <= largest ||
            !tsl_spread_can_be(data, room->members))
            continue;
        largest = data->size;
        which = i;
    }
    room->spread |= largest ? UINT64_C(1) << which : 0;
    return largest;
}

bool tsl_spread_room_find(struct tsl_command *c, tsl_members members)
{
    struct room room = {c, find_domain(c->graph, members, c->members), 0};
    if (!c->kernel || tsl_members_is_empty(room.members))
        return false;
    while (!has_room(&room))
        if (!spread_one_more(&room))
            return false;
    c->members = tsl_members_common(room.members, members);
    c->room_members = room.members;
    c->room_spread = room.spread;
    return true;
}

uint64_t tsl_spread_room_look(const struct tsl_command *c)
{
    const struct tsl_args *args = c->args;
    uint64_t spread = 0;
    for (cl_uint i = 0; i < args->n_all && i < MOST_ARGUMENTS && c->graph->n_spread; i++)
        if (data_of(args, i) && tsl_spread_is(data_of(args, i)->spread))
            spread |= UINT64_C(1) << i;
    return spread;
}

void tsl_spread_room_keep(struct tsl_command *c, uint64_t spread)
{
    if (spread && (c->out_of_core || !tsl_member_memory_holds_whole(c->graph, c->members, c->args)))
        c->room_spread |= spread;
}

static cl_int spread_all(struct tsl_command *c)
{
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < c->args->n_all && i < MOST_ARGUMENTS && !error; i++) {
        struct tsl_data *data = c->room_spread & UINT64_C(1) << i ? data_of(c->args, i) : NULL;
        if (data && !tsl_spread_is(data->spread))
            error = tsl_spread_make(c, data, c->room_members);
        else if (data)
            data->spread->residence.pin = c->id;
    }
    return error;
}

bool tsl_spread_room_make(struct tsl_command *c)
{
    if (!c->room_spread)
        return true;
    tsl_readiness_open(c->graph);
    cl_int error = spread_all(c);
    if (!error)
        return true;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_ERROR,
            "%s: its buffers can't be spread over several members: no memory to plan it", c->kernel->name);
    c->status = error;
    return false;
}

void tsl_spread_room_leave(struct tsl_command *c)
{
    if (c->room_spread || c->out_of_core || !tsl_members_is_empty(c->spread_over))
        return;
    for (cl_uint i = 0; i < c->args->n_all; i++)
        leave_void(c, data_of(c->args, i));
}

/* ---- An object by itself ----------------------------------------------------------------------------------------- */

static tsl_members living(const struct tsl_graph *graph)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (!tsl_member_is_lost(graph->ports[i].member))
            tsl_members_add(&members, i);
    return members;
}

static bool are_full(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members members)
{
    size_t sizes[TSL_MAX_MEMBERS];
    tsl_spread_sizes(graph, data, members, sizes);
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && tsl_member_memory_full(&graph->ports[i], sizes[i]))
            return true;
    return false;
}

static tsl_members holders_of(const struct tsl_graph *graph, const struct tsl_data *data, tsl_members members)
{
    tsl_members holders = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && has(graph->ports[i].member, data->size, data->size))
            tsl_members_add(&holders, i);
    return holders;
}

/* For some member of a domain: mostly not, and that is all that a small write asks. */
static bool is_too_large(const struct tsl_graph *graph, const struct tsl_data *data)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (can_join(graph->ports[i].member) && !has(graph->ports[i].member, data->size, data->size))
            return true;
    return false;
}

/* If all objects of the context were spread over these members as this one. */
static bool have_room_for_all(struct tsl_graph *graph, const struct tsl_data *data, tsl_members members)
{
    size_t sizes[TSL_MAX_MEMBERS];
    struct needs needs = {0};
    double times = (double)atomic_load(&graph->objects_size) / (double)data->size;
    tsl_spread_sizes(graph, data, members, sizes);
    for (unsigned i = 0; i < graph->n_ports; i++)
        needs.total[i] = (uint64_t)((double)sizes[i] * times);
    return have_room(graph, members, &needs);
}

cl_int tsl_spread_room_for(struct tsl_command *c, struct tsl_data *data)
{
    struct tsl_graph *graph = c->graph;
    if (graph->n_spread)
        leave_void(c, data);
    if (graph->n_ports < 2 || c->queue->pinned >= 0 || c->queue->place_by != TSL_PLACE_BY_SETTINGS ||
        tsl_spread_is(data->spread) || !is_too_large(graph, data))
        return CL_SUCCESS;
    tsl_members members = living(graph), domain = find_domain(graph, members, holders_of(graph, data, members));
    if (tsl_members_is_empty(domain) || !tsl_spread_can_be(data, domain) || !have_room_for_all(graph, data, domain) ||
        are_full(graph, data, domain))
        return CL_SUCCESS;
    tsl_readiness_open(graph);
    return tsl_spread_make(c, data, domain);
}
