/* Which memory objects are resident where, as planned. residency.h has the rules. */
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

void tsl_residency_begin(struct tsl_seat *seat, struct tsl_port *port)
{
    if (seat->seated)
        return;
    seat->seated = true;
    TAILQ_INSERT_TAIL(&port->seats, seat, link);
    tsl_member_memory_reserve(port->member, seat->data->size);
}

void tsl_residency_end(struct tsl_seat *seat, struct tsl_port *port)
{
    if (!seat->seated)
        return;
    seat->seated = false;
    TAILQ_REMOVE(&port->seats, seat, link);
    tsl_member_memory_release(port->member, seat->data->size);
}

static void warm(struct tsl_seat *seat, struct tsl_port *port)
{
    if (!TAILQ_NEXT(seat, link))
        return;
    TAILQ_REMOVE(&port->seats, seat, link);
    TAILQ_INSERT_TAIL(&port->seats, seat, link);
}

void tsl_unseat_all(struct tsl_data *data)
{
    struct tsl_graph *graph = data->context->graph;
    for (unsigned i = 0; i < graph->n_ports; i++)
        tsl_residency_end(&data->seats[i], &graph->ports[i]);
}

void tsl_pin(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port)
{
    data->seats[port->index].pin = command->id;
}

void tsl_pin_args(struct tsl_command *command, struct tsl_port *port)
{
    for (cl_uint i = 0; i < command->args->n_all; i++)
        if (command->args->args[i].buffer)
            tsl_pin(command, tsl_data_of(command->args->args[i].buffer), port);
}

/* ---- Evictions --------------------------------------------------------------------------------------------------- */

static cl_int spill_all(struct tsl_command *command, struct tsl_data *data, unsigned space)
{
    uint64_t begin = 0, end;
    cl_int error = CL_SUCCESS;
    for (; !error && tsl_only_there(data, space, &begin, &end); begin = end)
        error = tsl_spill(command, data, begin, end, space);
    return error;
}

static cl_int plan_eviction(struct tsl_op *op)
{
    struct tsl_data *data = op->victim->data;
    unsigned space = tsl_space_of(op->port, data);
    cl_int error = spill_all(op->command, data, space);
    if (!error)
        error = tsl_claim_place(op, data, space);
    if (!error)
        tsl_leave_space(op, data, space);
    return error;
}

/* The last eviction of the port that is planned and not done; NULL: none. */
static struct tsl_op *last_eviction(struct tsl_port *port)
{
    if (port->evicting && port->evicting->user.done) {
        tsl_op_unref(port->evicting);
        port->evicting = NULL;
    }
    return port->evicting;
}

/* One comes after the other: who waits for the last has all the room that was made. */
static void chain(struct tsl_op *op)
{
    struct tsl_port *port = op->port;
    struct tsl_op *last = last_eviction(port);
    if (last)
        tsl_op_depend(op, last, false);
    tsl_op_unref(last);
    op->user.refs++;
    port->evicting = op;
}

/* False: it couldn't be planned. What is planned of it does no harm. */
static bool evict(struct tsl_command *command, struct tsl_seat *victim, struct tsl_port *port)
{
    struct tsl_op *op = tsl_op_create(command, port, NULL, TSL_OP_ROOM);
    if (!op)
        return false;
    op->aside = true;
    if (!tsl_dependences_add(&command->frontier, op, false)) /* What the command itself does need not come after it. */
        tsl_starve(command);
    bool lives = tsl_object_try_ref(victim->data->owner);
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
    tsl_op_go(op);
    tsl_op_unref(op);
    return planned;
}

void tsl_seat(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port)
{
    struct tsl_seat *seat = &data->seats[port->index], *victim = TAILQ_FIRST(&port->seats), *next;
    seat->pin = command->id;
    if (seat->seated) {
        warm(seat, port);
        return;
    }
    for (; victim && tsl_member_memory_full(port, data->size); victim = next) {
        next = TAILQ_NEXT(victim, link);
        if (victim->pin != command->id)
            evict(command, victim, port);
    }
    tsl_residency_begin(seat, port);
    if (last_eviction(port))
        tsl_follow_place(port->evicting, data, tsl_space_of(port, data));
}

void tsl_stay_seated(struct tsl_data *data, struct tsl_port *port)
{
    struct tsl_seat *seat = &data->seats[port->index];
    seat->n_void = seat->n_evictions;
    tsl_residency_begin(seat, port);
}
