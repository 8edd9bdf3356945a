/* The operations of joints. */
#include "graph/plan_joints.h"

#include "base/small_vector.h"
#include "facts/kernel_facts.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/fetch.h"
#include "graph/joints.h"
#include "graph/move.h"
#include "graph/op.h"
#include "graph/plan_op.h"
#include "graph/residency.h"
#include "graph/scratch.h"
#include "graph/space.h"
#include "graph/stand_in.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"

#include <stdlib.h>

/* ---- Scratch objects --------------------------------------------------------------------------------------------- */

static struct tsl_buffer *take(struct tsl_command *c, size_t size, const struct tsl_port *port)
{
    return tsl_stand_ins_take(&c->joints->stand_ins, c->graph, size, port->index);
}

/* The buffers of a share in the place of the command's. */
struct replacing {
    struct tsl_joints *joints;
    unsigned share;
    bool failed;
};

static struct tsl_buffer *replace(void *arg, struct tsl_buffer *buffer)
{
    struct replacing *r = arg;
    const struct tsl_data *data = tsl_data_of(buffer);
    for (unsigned j = 0; j < r->joints->n; j++) {
        struct tsl_buffer *copy = r->joints->copies[j * r->joints->n_copies + r->share];
        if (tsl_joint_data(&r->joints->list[j]) != data)
            continue;
        copy = tsl_stand_ins_for(&r->joints->stand_ins, copy, buffer);
        r->failed |= !copy;
        return copy ? copy : buffer;
    }
    return buffer;
}

static cl_int replace_args(struct tsl_command *c, unsigned i)
{
    struct replacing r = {.joints = c->joints, .share = i};
    struct tsl_share *share = tsl_command_share(c, i);
    share->args = tsl_args_with(c->args, replace, &r);
    return share->args && !r.failed ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* Bytes of an object's copy. */
struct place {
    struct tsl_data *data;
    unsigned space;
    uint64_t offset;
};

static struct tsl_side side_of(const struct place *place)
{
    return (struct tsl_side){.data = place->data, .space = place->space, .offset = place->offset};
}

static struct tsl_op *begin_op(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                               enum tsl_op_kind kind, uint64_t size, bool timed)
{
    struct tsl_op *op = tsl_plan_helper(c, order, port, kind, timed);
    if (!op)
        return NULL;
    op->joining = true;
    op->want_fence = true; /* What comes next is in another lane. */
    op->region[0] = size;
    op->region[1] = op->region[2] = 1;
    return op;
}

static cl_int claim(struct tsl_op *op, const struct place *place, uint64_t size, unsigned may)
{
    return tsl_claim(op, place->data, place->offset, place->offset + size, place->space, may);
}

static cl_int plan_copy(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                        const struct place *dst, const struct place *src, uint64_t size)
{
    struct tsl_placer *placer = c->graph->placer;
    bool timed = dst->space == src->space ? tsl_placer_wants_work(placer, port->index, TSL_WORK_COPY, size)
                                          : tsl_placer_wants_move(placer, src->space, dst->space, size);
    struct tsl_op *op = begin_op(c, order, port, TSL_OP_COPY, size, timed);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->dst = side_of(dst);
    op->src = side_of(src);
    cl_int error = claim(op, src, size, TSL_MAY_READ);
    if (!error)
        error = claim(op, dst, size, TSL_MAY_WRITE);
    return tsl_plan_go(op, error);
}

static cl_int plan_fill(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                        const struct place *dst, uint64_t size, uint64_t pattern, unsigned width)
{
    bool timed = tsl_placer_wants_work(c->graph->placer, port->index, TSL_WORK_FILL, size);
    struct tsl_op *op = begin_op(c, order, port, TSL_OP_FILL, size, timed);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->joint = calloc(1, sizeof(*op->joint));
    if (!op->joint)
        return tsl_plan_go(op, CL_OUT_OF_HOST_MEMORY);
    op->joint->pattern = pattern;
    op->joint->width = width;
    op->dst = side_of(dst);
    return tsl_plan_go(op, claim(op, dst, size, TSL_MAY_WRITE));
}

static enum tsl_combine_how how_of(const struct tsl_joint *joint)
{
    static const enum tsl_combine_how hows[TSL_N_ATOMIC_OPS] = {
        [TSL_ATOMIC_ADD] = TSL_COMBINE_ADD,   [TSL_ATOMIC_AND] = TSL_COMBINE_AND,
        [TSL_ATOMIC_OR] = TSL_COMBINE_OR,     [TSL_ATOMIC_XOR] = TSL_COMBINE_XOR,
        [TSL_ATOMIC_SMIN] = TSL_COMBINE_SMIN, [TSL_ATOMIC_SMAX] = TSL_COMBINE_SMAX,
        [TSL_ATOMIC_UMIN] = TSL_COMBINE_UMIN, [TSL_ATOMIC_UMAX] = TSL_COMBINE_UMAX,
    };
    return joint->reduce ? hows[joint->atomic] : TSL_COMBINE_CHANGED;
}

static bool keep_end(struct tsl_command *c, struct tsl_op *op)
{
    struct tsl_op **ends = realloc(c->ends, (c->n_ends + 1) * sizeof(*ends));
    if (!ends)
        return false;
    c->ends = ends;
    ends[c->n_ends++] = tsl_op_ref(op);
    return true;
}

/* What a combine works on: dst is the object's or b; before is the object's, but of a reduction, where b is. */
struct combining {
    struct tsl_command *command;
    const tsl_dependences *order;
    struct tsl_port *port;
    const struct tsl_joint *joint;
    struct place object, a, b;
    uint64_t size;
};

static cl_int claim_combined(struct tsl_op *op, const struct combining *w, bool last)
{
    const unsigned change = TSL_MAY_READ | TSL_MAY_WRITE;
    cl_int error = claim(op, &w->a, w->size, TSL_MAY_READ);
    if (!error && !w->joint->reduce)
        error = claim(op, &w->b, w->size, last ? TSL_MAY_READ : change);
    return error ? error : claim(op, &w->object, w->size, last || w->joint->reduce ? change : TSL_MAY_READ);
}

/* last: the result goes into the object. */
static cl_int plan_combine(const struct combining *w, bool last)
{
    struct tsl_command *c = w->command;
    bool timed = tsl_placer_wants_work(c->graph->placer, w->port->index, TSL_WORK_COMBINE, w->size);
    struct tsl_op *op = begin_op(c, w->order, w->port, TSL_OP_COMBINE, w->size, timed);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->joint = calloc(1, sizeof(*op->joint));
    if (!op->joint || (last && !keep_end(c, op)))
        return tsl_plan_go(op, CL_OUT_OF_HOST_MEMORY);
    op->src = side_of(&w->a);
    op->joint->b = side_of(w->joint->reduce ? &w->object : &w->b);
    if (!w->joint->reduce)
        op->joint->before = side_of(&w->object);
    op->dst = last || w->joint->reduce ? side_of(&w->object) : op->joint->b;
    op->joint->how = how_of(w->joint);
    op->joint->width = w->joint->width;
    return tsl_plan_go(op, claim_combined(op, w, last));
}

/* ---- Before the launch ------------------------------------------------------------------------------------------- */

static struct tsl_port *port_of(struct tsl_command *c, unsigned share)
{
    return &c->graph->ports[tsl_command_share(c, share)->placement.member];
}

static struct tsl_buffer *copy_of(const struct tsl_joints *joints, unsigned joint, unsigned share)
{
    return joints->copies[joint * joints->n_copies + share];
}

static bool find_unwritten(struct tsl_data *data, uint64_t *begin, uint64_t *end)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, *begin, *end);
    while (tile && !tsl_spaces_is_empty(tile->valid))
        tile = tsl_tiles_next_meeting(tile, *end);
    if (!tile)
        return false;
    *begin = tile->begin > *begin ? tile->begin : *begin;
    *end = tile->end < *end ? tile->end : *end;
    return true;
}

cl_int tsl_joints_write_unwritten(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                                  struct tsl_data *data, const struct tsl_range *range)
{
    uint64_t begin = range->begin, end = range->end;
    cl_int error = CL_SUCCESS;
    while (!error && begin < range->end && find_unwritten(data, &begin, &end)) {
        const struct place place = {data, tsl_space_of(port, data), begin};
        error = plan_fill(c, order, port, &place, end - begin, 0, 1);
        begin = end;
        end = range->end;
    }
    return error;
}

/* What was never written differs from member to member, and would seem to be changed. */
static cl_int write_unwritten(struct tsl_command *c, const tsl_dependences *order, const struct tsl_joint *joint)
{
    const struct tsl_range range = {joint->touched_begin, joint->touched_end};
    return tsl_joints_write_unwritten(c, order, port_of(c, 0), tsl_joint_data(joint), &range);
}

static cl_int fetch(struct tsl_command *c, const tsl_dependences *order, const struct tsl_joint *joint)
{
    cl_int error = joint->reduce ? CL_SUCCESS : write_unwritten(c, order, joint);
    for (unsigned s = 0; s <= c->n_more && !error && !joint->reduce; s++) {
        struct tsl_port *port = port_of(c, s);
        error = tsl_fetch(c, tsl_joint_data(joint), joint->touched_begin, joint->touched_end,
                          tsl_space_of(port, tsl_joint_data(joint)));
    }
    return error;
}

static cl_int make_copy(struct tsl_command *c, const tsl_dependences *order, unsigned j, unsigned s)
{
    const struct tsl_joint *joint = &c->joints->list[j];
    struct tsl_port *port = port_of(c, s);
    struct tsl_data *data = tsl_joint_data(joint);
    struct tsl_buffer *copy = take(c, data->size, port);
    if (!copy)
        return CL_OUT_OF_HOST_MEMORY;
    c->joints->copies[j * c->joints->n_copies + s] = copy;
    tsl_residency_pin(c, data, port);
    tsl_residency_pin(c, copy->data, port);
    if (joint->reduce) {
        const struct place to = {copy->data, port->space, joint->begin};
        return plan_fill(c, order, port, &to, joint->end - joint->begin, tsl_joint_neutral(joint), joint->width);
    }
    const struct place from = {data, tsl_space_of(port, data), joint->touched_begin};
    const struct place to = {copy->data, port->space, joint->touched_begin};
    return plan_copy(c, order, port, &to, &from, joint->touched_end - joint->touched_begin);
}

static cl_int begin(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_joints *joints = c->joints;
    cl_int error = CL_SUCCESS;
    joints->n_copies = c->n_more + 1;
    joints->copies = calloc((size_t)joints->n * joints->n_copies, sizeof(*joints->copies));
    if (!joints->copies)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned s = 0; s <= c->n_more; s++)
        tsl_residency_pin_args(c, port_of(c, s));
    for (unsigned j = 0; j < joints->n && !error; j++)
        error = fetch(c, order, &joints->list[j]);
    for (unsigned s = 0; s <= c->n_more && !error; s++) {
        for (unsigned j = 0; j < joints->n && !error; j++)
            error = make_copy(c, order, j, s);
        error = error ? error : replace_args(c, s);
    }
    return error;
}

cl_int tsl_joints_begin(struct tsl_command *c, const tsl_dependences *order)
{
    cl_int error = c->joints ? begin(c, order) : CL_SUCCESS;
    if (error)
        tsl_scratch_give_all(c->graph);
    return error;
}

/* ---- Behind it --------------------------------------------------------------------------------------------------- */

/* Brings a piece of a share's copy to the port, in whatever object. */
static cl_int bring(const struct combining *w, struct tsl_data *copy, unsigned from, uint64_t begin,
                    struct place *place)
{
    struct tsl_command *c = w->command;
    unsigned to = w->port->space;
    *place = (struct place){copy, to, begin};
    if (from == to)
        return CL_SUCCESS;
    if (!tsl_move_is_direct(c->graph, copy, from, to) || to == TSL_SPACE_HOST) {
        cl_int error = tsl_fetch(c, copy, begin, begin + w->size, TSL_SPACE_HOST);
        if (error || to == TSL_SPACE_HOST)
            return error;
        from = TSL_SPACE_HOST;
    }
    struct tsl_buffer *room = take(c, w->size, w->port);
    if (!room)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_residency_pin(c, room->data, w->port);
    const struct place source = {copy, from, begin};
    *place = (struct place){room->data, to, 0};
    return plan_copy(c, w->order, w->port, place, &source, w->size);
}

/* The first of the shares on that port, of which there is one. */
static unsigned share_on(struct tsl_command *c, const struct tsl_port *port)
{
    unsigned s = 0;
    while (port_of(c, s) != port)
        s++;
    return s;
}

/* One piece: of all shares' copies. A merge begins with that of a share which worked there. */
static cl_int make_piece(struct combining *w, unsigned j, uint64_t begin)
{
    struct tsl_command *c = w->command;
    unsigned own = share_on(c, w->port), n = c->n_more + 1, done = w->joint->reduce ? 0 : 1;
    cl_int error = CL_SUCCESS;
    w->object = (struct place){tsl_joint_data(w->joint), tsl_space_of(w->port, tsl_joint_data(w->joint)), begin};
    w->b = (struct place){copy_of(c->joints, j, own)->data, w->port->space, begin};
    if (w->joint->reduce)
        error = tsl_fetch(c, w->object.data, begin, begin + w->size, w->object.space);
    for (unsigned s = 0; s < n && !error; s++) {
        if (s == own && !w->joint->reduce)
            continue;
        error = bring(w, copy_of(c->joints, j, s)->data, port_of(c, s)->space, begin, &w->a);
        if (!error)
            error = plan_combine(w, ++done == n);
    }
    return error;
}

/* A piece for each member that has a share, in their order. */
static cl_int join(struct tsl_command *c, const tsl_dependences *order, unsigned j)
{
    const struct tsl_joint *joint = &c->joints->list[j];
    tsl_members members = TSL_MEMBERS_NONE;
    cl_int error = CL_SUCCESS;
    for (unsigned s = 0; s <= c->n_more; s++)
        tsl_members_add(&members, port_of(c, s)->index);
    unsigned n = (unsigned)tsl_members_count(members);
    uint64_t at = joint->begin, size = tsl_joint_piece(joint, n);
    for (unsigned i = 0; i < c->graph->n_ports && at < joint->end; i++) {
        if (!tsl_members_has(members, i))
            continue;
        struct combining w = {.command = c, .order = order, .port = &c->graph->ports[i], .joint = joint};
        w.size = joint->end - at < size ? joint->end - at : size;
        cl_int failed = make_piece(&w, j, at); /* Also past an error: the command fails, whatever is made. */
        error = error ? error : failed;
        at += w.size;
    }
    return error;
}

cl_int tsl_joints_end(struct tsl_command *c, const tsl_dependences *order)
{
    cl_int error = CL_SUCCESS;
    if (!c->joints)
        return CL_SUCCESS;
    for (unsigned j = 0; j < c->joints->n && !error; j++) {
        struct tsl_data *data = tsl_joint_data(&c->joints->list[j]);
        error = join(c, order, j);
        data->last_member = (int)port_of(c, 0)->index;
        data->last_cut = true;
    }
    tsl_scratch_give_all(c->graph);
    return error;
}
