#include "graph/joints.h"

#include "graph/command.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/move.h"
#include "graph/scratch.h"
#include "graph/space.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "place/place.h"
#include "program/program.h"

#include <stdlib.h>

/* Ranges of fewer bytes are one piece; pieces begin at multiples of so many, counted from the range's begin. */
#define LEAST_PIECE ((uint64_t)256 << 10)
#define PIECE_ALIGN ((uint64_t)4 << 10)

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

uint64_t tsl_joint_piece(const struct tsl_joint *joint, unsigned n)
{
    uint64_t size = joint->end - joint->begin;
    if (size < LEAST_PIECE)
        return size;
    return ((size + n - 1) / n + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
}

/* ---- What it takes ----------------------------------------------------------------------------------------------- */

static unsigned n_members(const struct tsl_graph *graph, const unsigned *shares)
{
    unsigned n = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        n += shares[i] > 0;
    return n;
}

/* Bytes of scratch on one member: its shares' copies, and room for the others' pieces. */
static uint64_t scratch_size(const struct tsl_joints *joints, unsigned here, unsigned elsewhere, unsigned n)
{
    uint64_t size = 0;
    for (unsigned j = 0; j < joints->n; j++)
        size += here * tsl_joint_data(&joints->list[j])->size + elsewhere * tsl_joint_piece(&joints->list[j], n);
    return size;
}

/* Bytes that the arguments need on the member, each object once. */
static uint64_t own_size(const struct tsl_command *c, unsigned member)
{
    uint64_t size = 0;
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        bool again = false;
        for (cl_uint k = 0; b && k < i && !again; k++)
            again = c->args->args[k].buffer && tsl_data_of(c->args->args[k].buffer) == tsl_data_of(b);
        if (b && !again && !tsl_space_residence_on(tsl_data_of(b), member)->resident)
            size += tsl_data_of(b)->size;
    }
    return size;
}

/* What others have there is left in peace: without room beside it the launch isn't cut so. */
static bool has_room(const struct tsl_command *c, const struct tsl_joints *joints, const unsigned *shares)
{
    const struct tsl_graph *graph = c->graph;
    unsigned n = n_members(graph, shares), all = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        all += shares[i];
    for (unsigned i = 0; i < graph->n_ports; i++) {
        uint64_t size = scratch_size(joints, shares[i], all - shares[i], n) + own_size(c, i);
        uint64_t there = tsl_scratch_size(graph, i);
        if (shares[i] && tsl_member_memory_full(&graph->ports[i], size > there ? size - there : 0))
            return false;
    }
    return true;
}

uint64_t tsl_joints_size(struct tsl_command *c, const struct tsl_joints *joints, unsigned member)
{
    unsigned shares[TSL_MAX_MEMBERS] = {0};
    for (unsigned s = 0; s <= c->n_more; s++)
        shares[tsl_command_share(c, s)->placement.member]++;
    return scratch_size(joints, shares[member], c->n_more + 1 - shares[member], n_members(c->graph, shares));
}

bool tsl_joints_may(const struct tsl_command *c, const struct tsl_joints *joints, const unsigned *shares)
{
    for (unsigned j = 0; j < joints->n; j++) {
        const struct tsl_data *data = tsl_joint_data(&joints->list[j]);
        if (data->image || data->svm || tsl_spread_is(data->spread))
            return false;
    }
    return has_room(c, joints, shares);
}

/* On one member: n pieces of other members come there, one after the other. */
static double member_ns(struct tsl_graph *graph, const struct tsl_joint *joint, const unsigned *shares, unsigned i)
{
    struct tsl_placer *placer = graph->placer;
    uint64_t size = joint->end - joint->begin, piece = tsl_joint_piece(joint, n_members(graph, shares));
    double ns = shares[i] * (joint->reduce ? tsl_placer_work_ns(placer, i, TSL_WORK_FILL, size)
                                           : tsl_placer_work_ns(placer, i, TSL_WORK_COPY,
                                                                joint->touched_end - joint->touched_begin));
    for (unsigned k = 0; k < graph->n_ports; k++) {
        unsigned from = graph->ports[k].space, to = graph->ports[i].space;
        ns += shares[k] * tsl_placer_work_ns(placer, i, TSL_WORK_COMBINE, piece);
        if (!shares[k] || from == to)
            continue;
        bool direct = tsl_move_is_direct(graph, tsl_joint_data(joint), from, to);
        double way = tsl_placer_move_ns(placer, direct ? from : TSL_SPACE_HOST, to, piece);
        ns += shares[k] * (direct ? way : way + tsl_placer_move_ns(placer, from, TSL_SPACE_HOST, piece));
    }
    return ns;
}

double tsl_joints_ns(const struct tsl_command *c, const struct tsl_joints *joints, const unsigned *shares)
{
    double longest = 0;
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        double ns = 0;
        for (unsigned j = 0; j < joints->n && shares[i]; j++)
            ns += member_ns(c->graph, &joints->list[j], shares, i);
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

void tsl_joints_destroy(struct tsl_joints *joints)
{
    if (!joints)
        return;
    tsl_stand_ins_finish(&joints->stand_ins);
    free(joints->copies);
    free(joints);
}
