/* Which memory objects are resident where, as planned; residency.h has the rules. */
#include "graph/residency.h"

#include "graph/command.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/evict.h"
#include "graph/member_memory.h"
#include "graph/memory_order.h"
#include "graph/move.h"
#include "graph/op.h"
#include "graph/progress.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "handle/object.h"
#include "program/program.h"

/* ---- Places ------------------------------------------------------------------------------------------------------ */

void tsl_residency_begin(struct tsl_residence *residence, struct tsl_port *port)
{
    if (residence->resident)
        return;
    residence->resident = true;
    TAILQ_INSERT_TAIL(&port->residents, residence, link);
    tsl_member_memory_reserve(port, residence);
}

void tsl_residency_end(struct tsl_residence *residence, struct tsl_port *port)
{
    if (!residence->resident)
        return;
    residence->resident = false;
    TAILQ_REMOVE(&port->residents, residence, link);
    tsl_member_memory_release(port, residence);
}

static void mark_used(struct tsl_residence *residence, struct tsl_port *port)
{
    if (!TAILQ_NEXT(residence, link))
        return;
    TAILQ_REMOVE(&port->residents, residence, link);
    TAILQ_INSERT_TAIL(&port->residents, residence, link);
}

void tsl_residency_end_all(struct tsl_data *data)
{
    struct tsl_graph *graph = data->context->graph;
    for (unsigned i = 0; i < graph->n_ports; i++)
        tsl_residency_end(&data->residences[i], &graph->ports[i]);
    if (data->spread)
        tsl_residency_end(&data->spread->residence, &graph->ports[data->spread->home]);
}

void tsl_residency_pin(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port)
{
    tsl_space_residence_on(data, port->index)->pin = command->id;
}

void tsl_residency_pin_args(struct tsl_command *command, struct tsl_port *port)
{
    for (cl_uint i = 0; i < command->args->n_all; i++)
        if (command->args->args[i].buffer)
            tsl_residency_pin(command, tsl_data_of(command->args->args[i].buffer), port);
}

/* ---- Evictions --------------------------------------------------------------------------------------------------- */

static cl_int spill_all(struct tsl_command *command, struct tsl_data *data, unsigned space)
{
    uint64_t begin = 0, end;
    cl_int error = CL_SUCCESS;
    for (; !error && tsl_valid_only_in(data, space, &begin, &end); begin = end)
        error = tsl_move_spill(command, data, begin, end, space);
    return error;
}

static cl_int plan_eviction(struct tsl_op *op)
{
    struct tsl_data *data = op->victim->data;
    unsigned space = tsl_space_of_residence(op->victim);
    cl_int error = spill_all(op->command, data, space);
    if (!error)
        error = tsl_evict_claim(op, data, space);
    if (!error)
        tsl_evict_leave(op, data, space);
    return error;
}

/* The last eviction of the port that was planned, if it is not done; NULL: none. */
static struct tsl_op *last_eviction(struct tsl_port *port)
{
    if (port->evicting && port->evicting->user.done) {
        tsl_op_unref(port->evicting);
        port->evicting = NULL;
    }
    return port->evicting;
}

/* A port's evictions come one after the other: what waits for the last has all the memory that they free. */
static void chain_on(struct tsl_op *op, struct tsl_port *port)
{
    struct tsl_op *last = last_eviction(port);
    if (last)
        tsl_op_depend(op, last, false);
    tsl_op_unref(last);
    op->user.refs++;
    port->evicting = op;
}

/* The members that have memory of the residence's copy; of that port's if there is none. */
static tsl_members members_of(const struct tsl_residence *residence, const struct tsl_port *port)
{
    bool spread = residence && tsl_residence_is_spread(residence);
    return spread ? residence->data->spread->members : tsl_members_of(port->index);
}

static void chain(struct tsl_op *op)
{
    tsl_members members = members_of(op->victim, op->port);
    for (unsigned i = 0; i < op->port->graph->n_ports; i++)
        if (tsl_members_has(members, i))
            chain_on(op, &op->port->graph->ports[i]);
}

/* Plans to evict the object. False: that couldn't be planned; what is planned of it does no harm. */
static bool evict(struct tsl_command *command, struct tsl_residence *victim, struct tsl_port *port)
{
    struct tsl_op *op = tsl_op_create(command, port, NULL, TSL_OP_EVICT);
    if (!op)
        return false;
    op->is_side = true;
    if (!tsl_dependences_add(&command->frontier, op,
                             false)) /* The command's own operations need not come after the eviction. */
        tsl_memory_order_begin(command);
    bool lives = tsl_object_try_ref(victim->data->owner);
    bool leaves = tsl_residence_is_spread(victim) && tsl_spread_may_leave(victim->data);
    if (lives) {
        op->victim = victim;
        op->eviction = victim->n_evictions++;
        op->poison = plan_eviction(op);
    }
    bool planned = lives && !op->poison;
    if (planned) {
        tsl_residency_end(victim, port);
        chain(op);
    }
    if (planned && leaves)
        tsl_spread_leave(victim->data);
    tsl_op_go(op);
    tsl_op_unref(op);
    return planned;
}

cl_int tsl_residency_evict(struct tsl_command *command, struct tsl_data *data, unsigned space)
{
    struct tsl_residence *residence = tsl_space_residence(data, space);
    struct tsl_port *port = tsl_space_port(command->graph, data, space);
    return !residence->resident || evict(command, residence, port) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* Plans to free the port's arena. */
static void evict_arena(struct tsl_command *command, struct tsl_port *port)
{
    struct tsl_op *op = tsl_op_create(command, port, NULL, TSL_OP_EVICT);
    if (!op)
        return;
    op->is_side = true;
    op->frees_arena = true;
    if (!tsl_dependences_add(&command->frontier, op, false))
        tsl_memory_order_begin(command);
    tsl_arena_leave(op);
    chain(op);
    tsl_op_go(op);
    tsl_op_unref(op);
}

/* Evicts what is listed at a port and lies on a member, what was used longest ago first, until the member has room for
 * so many bytes more. */
static void make_room_from(struct tsl_command *command, struct tsl_port *listed, struct tsl_port *port, size_t size)
{
    struct tsl_residence *victim = TAILQ_FIRST(&listed->residents), *next;
    for (; victim && tsl_member_memory_full(port, size); victim = next) {
        next = TAILQ_NEXT(victim, link);
        if (victim->pin != command->id && tsl_members_has(members_of(victim, listed), port->index))
            evict(command, victim, listed);
    }
}

/* Of spread objects that other members are the home of at last: all their members lose them. */
static void make_room(struct tsl_command *command, struct tsl_port *port, size_t size)
{
    struct tsl_graph *graph = port->graph;
    make_room_from(command, port, port, size);
    for (unsigned i = 0; i < graph->n_ports && graph->n_spread; i++)
        if (i != port->index)
            make_room_from(command, &graph->ports[i], port, size);
    if (port->arena.resident && !port->arena.held && port->arena.pin != command->id &&
        tsl_member_memory_full(port, size))
        evict_arena(command, port);
}

void tsl_residency_ensure(struct tsl_command *command, struct tsl_data *data, unsigned space)
{
    struct tsl_graph *graph = command->graph;
    struct tsl_port *port = tsl_space_port(graph, data, space);
    struct tsl_residence *residence = tsl_space_residence(data, space);
    tsl_members members = members_of(residence, port);
    residence->pin = command->id;
    if (residence->resident) {
        mark_used(residence, port);
        return;
    }
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i))
            make_room(command, &graph->ports[i], space == TSL_SPACE_SPREAD ? data->spread->sizes[i] : data->size);
    tsl_residency_begin(residence, port);
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && last_eviction(&graph->ports[i]))
            tsl_evict_precede(graph->ports[i].evicting, data, space);
}

/* Do areas serve of which each has so many bytes at least? Large ones don't where launches need much whole beside them.
 */
static bool serves(const struct tsl_port *port, size_t area_size)
{
    size_t most = port->arena.small ? tsl_arena_small_size(port) : SIZE_MAX;
    return port->arena.area_size >= area_size && (port->arena.area_size <= most || area_size > most);
}

void tsl_residency_ensure_arena(struct tsl_command *command, struct tsl_port *port, struct tsl_slices *slices)
{
    struct tsl_arena *arena = &port->arena;
    arena->pin = command->id;
    if (arena->resident && !serves(port, slices->area_size))
        evict_arena(command, port);
    if (arena->resident) {
        slices->area_size = arena->area_size > slices->area_size ? arena->area_size : slices->area_size;
        return;
    }
    size_t usual = arena->small ? tsl_arena_small_size(port) : tsl_arena_large_size(port);
    slices->area_size = usual > slices->area_size ? usual : slices->area_size;
    arena->area_size = slices->area_size;
    make_room(command, port, TSL_ARENA_AREAS * arena->area_size);
    arena->resident = true;
    tsl_member_memory_plan(port->member, TSL_ARENA_AREAS * arena->area_size);
    for (unsigned i = 0; last_eviction(port) && i < TSL_ARENA_AREAS; i++)
        tsl_area_add(&arena->areas[i], port->evicting);
}

void tsl_residency_stay(struct tsl_data *data, unsigned space)
{
    struct tsl_residence *residence = tsl_space_residence(data, space);
    residence->n_void = residence->n_evictions;
    if (space == TSL_SPACE_SPREAD)
        tsl_spread_return(data);
    tsl_residency_begin(residence, tsl_space_port(data->context->graph, data, space));
}
