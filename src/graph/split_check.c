/* TESELA_CHECK=split: a launch that is cut is also planned whole. */
#include "graph/split_check.h"

#include "base/log.h"
#include "base/sets.h"
#include "base/small_vector.h"
#include "driver/member.h"
#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/edge.h"
#include "graph/fetch.h"
#include "graph/footing.h"
#include "graph/joints.h"
#include "graph/member_memory.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/plan_joints.h"
#include "graph/plan_op.h"
#include "graph/queue.h"
#include "graph/residency.h"
#include "graph/scratch.h"
#include "graph/space.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "program/program.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Launches of the process: those that are cut, those of them that are compared, and what is found. */
static atomic_ullong n_cut, n_planned, n_unread, n_different, n_rounded;

/* ---- What is copied ---------------------------------------------------------------------------------------------- */

static bool may_write(struct tsl_command *c, cl_uint argument)
{
    const struct tsl_buffer *b = c->args->args[argument].buffer;
    unsigned access = 0;
    for (unsigned s = 0; s <= c->n_more; s++)
        access |= tsl_footing_access(&c->kernel->parts[tsl_command_share(c, s)->placement.member].facts, argument, b);
    return access & TSL_MAY_WRITE;
}

static struct tsl_split_pair *pair_of(struct tsl_split_check *check, const struct tsl_data *data)
{
    for (unsigned i = 0; i < check->n; i++)
        if (check->pairs[i].data == data)
            return &check->pairs[i];
    return NULL;
}

static void list_pairs(struct tsl_command *c, struct tsl_split_check *check)
{
    for (cl_uint i = 0; i < c->args->n; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        if (b && !pair_of(check, tsl_data_of(b)) && may_write(c, i))
            check->pairs[check->n++].data = tsl_data_of(b);
    }
}

static bool has_images(const struct tsl_split_check *check)
{
    for (unsigned i = 0; i < check->n; i++)
        if (check->pairs[i].data->image)
            return true;
    return false;
}

/* Bytes that aren't in the member's memory yet: the arguments, the copies, and what the shares will need there beside
 * the arguments. */
static uint64_t lacking(struct tsl_command *c, const struct tsl_split_check *check, const struct tsl_port *port)
{
    uint64_t size = c->joints ? tsl_joints_size(c, c->joints, port->index) : 0;
    uint64_t there = tsl_scratch_size(c->graph, port->index), copies = 0;
    for (cl_uint i = 0; i < c->args->n; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        if (b && !tsl_space_residence_on(tsl_data_of(b), port->index)->resident)
            size += tsl_data_of(b)->size;
    }
    for (unsigned i = 0; i < check->n; i++)
        copies += check->pairs[i].data->size;
    size += tsl_members_is_empty(c->spread_over) ? copies : 2 * copies;
    return size > there ? size - there : 0;
}

static bool has_room(struct tsl_command *c, const struct tsl_split_check *check, const struct tsl_port *port)
{
    uint64_t size = lacking(c, check, port);
    /* No member holds the buffers. But who bounds a member's memory to try that leaves some. */
    return c->out_of_core ? size <= port->member->caps.unbound_size : !tsl_member_memory_full(port, size);
}

/* The member of a share that has room; -1: none. */
static int find_member(struct tsl_command *c, const struct tsl_split_check *check)
{
    for (unsigned s = 0; s <= c->n_more; s++) {
        unsigned member = tsl_command_share(c, s)->placement.member;
        if (has_room(c, check, &c->graph->ports[member]))
            return (int)member;
    }
    return -1;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static struct tsl_op *begin_op(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                               struct tsl_graph_lane *lane, enum tsl_op_kind kind)
{
    struct tsl_op *op = tsl_op_create(c, port, lane, kind);
    if (!op)
        return NULL;
    if (!tsl_dependences_add(&c->frontier, op, false))
        tsl_memory_order_begin(c);
    for (unsigned i = 0; i < order->n; i++)
        tsl_op_depend(op, TSL_SMALL_AT(order, i)->op, TSL_SMALL_AT(order, i)->strict);
    tsl_op_after_opaque(op);
    op->is_side = true;
    op->want_fence = true;
    return op;
}

static cl_int plan_copy(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                        const struct tsl_split_pair *pair)
{
    struct tsl_data *from = pair->data, *to = pair->copy->data;
    struct tsl_op *op = begin_op(c, order, port, &port->up, TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->region[0] = from->size;
    op->region[1] = op->region[2] = 1;
    op->src = (struct tsl_side){.data = from, .space = tsl_space_of(port, from)};
    op->dst = (struct tsl_side){.data = to, .space = tsl_space_of(port, to)};
    cl_int error = tsl_claim(op, from, 0, from->size, op->src.space, TSL_MAY_READ);
    error = error ? error : tsl_claim(op, to, 0, to->size, op->dst.space, TSL_MAY_WRITE);
    return tsl_plan_go(op, error);
}

/* All of each object, whatever is known of what the launch touches: that may be wrong. */
static cl_int fetch(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port)
{
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < c->args->n && !error; i++) {
        struct tsl_data *data = c->args->args[i].buffer ? tsl_data_of(c->args->args[i].buffer) : NULL;
        const struct tsl_range range = {0, data ? data->size : 0};
        if (data && !data->image)
            error = tsl_joints_write_unwritten(c, order, port, data, &range);
        if (data && !error)
            error = tsl_fetch(c, data, 0, data->size, tsl_space_of(port, data));
    }
    return error;
}

static cl_int copy_pairs(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port)
{
    struct tsl_split_check *check = c->split_check;
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < check->n && !error; i++) {
        struct tsl_split_pair *pair = &check->pairs[i];
        pair->copy = tsl_stand_ins_take(&check->stand_ins, c->graph, pair->data->size, port->index);
        if (!pair->copy)
            return CL_OUT_OF_HOST_MEMORY;
        tsl_residency_pin(c, pair->copy->data, port);
        error = plan_copy(c, order, port, pair);
    }
    return error;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

struct replacing {
    struct tsl_split_check *check;
    bool failed;
};

static struct tsl_buffer *replace(void *arg, struct tsl_buffer *buffer)
{
    struct replacing *r = arg;
    const struct tsl_split_pair *pair = pair_of(r->check, tsl_data_of(buffer));
    struct tsl_buffer *copy = pair ? tsl_stand_ins_for(&r->check->stand_ins, pair->copy, buffer) : buffer;
    r->failed |= !copy;
    return copy ? copy : buffer;
}

static bool is_copy(const struct tsl_split_check *check, const struct tsl_data *data)
{
    for (unsigned i = 0; i < check->n; i++)
        if (check->pairs[i].copy->data == data)
            return true;
    return false;
}

static cl_int claim_args(struct tsl_op *op, const struct tsl_args *args)
{
    const struct tsl_split_check *check = op->command->split_check;
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < args->n && !error; i++) {
        struct tsl_data *data = args->args[i].buffer ? tsl_data_of(args->args[i].buffer) : NULL;
        if (data)
            error = tsl_claim(op, data, 0, data->size, tsl_space_of(op->port, data),
                              is_copy(check, data) ? TSL_MAY_READ | TSL_MAY_WRITE : TSL_MAY_READ);
    }
    return error;
}

static cl_int launch(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port)
{
    struct tsl_split_check *check = c->split_check;
    struct replacing r = {.check = check};
    check->share.window = c->share.window;
    check->share.window.whole = true;
    check->share.placement.member = port->index;
    check->share.args = tsl_args_with(c->args, replace, &r);
    if (!check->share.args || r.failed)
        return CL_OUT_OF_HOST_MEMORY;
    struct tsl_op *op = begin_op(c, order, port, &c->queue->lanes[port->index], TSL_OP_LAUNCH);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->share = c->n_more + 1;
    return tsl_plan_go(op, claim_args(op, check->share.args));
}

/* ---- Around the plan --------------------------------------------------------------------------------------------- */

static cl_int begin(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_split_check *check = calloc(1, sizeof(*check) + c->args->n * sizeof(check->pairs[0]));
    if (!check)
        return CL_OUT_OF_HOST_MEMORY;
    c->split_check = check;
    list_pairs(c, check);
    int member = has_images(check) ? -1 : find_member(c, check);
    if (member < 0)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    struct tsl_port *port = &c->graph->ports[member];
    tsl_residency_pin_args(c, port);
    c->side_moves = true;
    cl_int error = fetch(c, order, port);
    c->side_moves = false;
    error = error ? error : copy_pairs(c, order, port);
    return error ? error : launch(c, order, port);
}

void tsl_split_check_begin(struct tsl_command *c, const tsl_dependences *order)
{
    if (!c->graph->checks_cuts || (!c->n_more && !c->out_of_core) || c->changes_by_turns)
        return;
    atomic_fetch_add(&n_cut, 1);
    if (begin(c, order) && c->split_check)
        c->split_check->n = 0;
}

void tsl_split_check_end(struct tsl_command *c)
{
    struct tsl_split_check *check = c->split_check;
    bool all = check && check->n;
    if (!check)
        return;
    for (unsigned i = 0; i < check->n; i++) {
        struct tsl_data *copy = check->pairs[i].copy->data;
        struct tsl_port *port = &c->graph->ports[check->share.placement.member];
        all &=
            tsl_coherence_plan_pair(c, check->pairs[i].data, copy, tsl_space_of(port, copy), tsl_split_check_compare);
    }
    atomic_fetch_add(&n_planned, all);
    tsl_scratch_give_all(c->graph);
}

void tsl_split_check_destroy(struct tsl_split_check *check)
{
    if (!check)
        return;
    atomic_fetch_add(&n_unread, check->n && check->unread);
    atomic_fetch_add(&n_different, check->told);
    atomic_fetch_add(&n_rounded, check->n_rounded > 0);
    tsl_stand_ins_finish(&check->stand_ins);
    free(check);
}

void tsl_split_check_sum_up(void)
{
    unsigned long long cut = atomic_load(&n_cut), compared = atomic_load(&n_planned) - atomic_load(&n_unread);
    if (!cut)
        return;
    tsl_log(TSL_LOG_IN_PLACE, compared < cut ? TSL_LOG_ERROR : TSL_LOG_INFO,
            "TESELA_CHECK: of %llu launches that were cut %llu were compared with the same launch run whole: %llu "
            "differed, %llu by rounding alone; for the others memory was lacking, or they write images",
            cut, compared, (unsigned long long)atomic_load(&n_different), (unsigned long long)atomic_load(&n_rounded));
}
