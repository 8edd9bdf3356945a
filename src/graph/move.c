/* Moves: their ways and their operations. */
#include "graph/move.h"

#include "base/sets.h"
#include "driver/driver.h"
#include "driver/image.h"
#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/progress.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "graph/undo.h"
#include "graph/valid.h"
#include "place/place.h"
#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

/* ---- Ways -------------------------------------------------------------------------------------------------------- */

/* The port that does a move, and the other member if there is one: that of the target, or of the source where the
 * target is the host's. A member's own copy goes to spread memory of its by that member, the host's by that of which
 * the first byte is. */
struct way {
    struct tsl_port *port, *other; /* other NULL: the host */
};

static struct tsl_port *port_beside_host(struct tsl_graph *graph, const struct tsl_data *data, unsigned space,
                                         uint64_t offset)
{
    uint64_t end;
    return space == TSL_SPACE_SPREAD ? &graph->ports[tsl_spread_part(data->spread, offset, &end)]
                                     : tsl_space_port(graph, data, space);
}

static struct way way_of(struct tsl_graph *graph, const struct tsl_data *data, unsigned from, unsigned to,
                         uint64_t offset)
{
    if (to == TSL_SPACE_HOST)
        return (struct way){port_beside_host(graph, data, from, offset), NULL};
    if (from == TSL_SPACE_HOST)
        return (struct way){port_beside_host(graph, data, to, offset), NULL};
    struct tsl_port *source = tsl_space_port(graph, data, from), *target = tsl_space_port(graph, data, to);
    if (to == TSL_SPACE_SPREAD && tsl_space_has_part(data, source->index))
        target = source;
    if (from == TSL_SPACE_SPREAD && tsl_space_has_part(data, target->index))
        source = target;
    return (struct way){target, source};
}

bool tsl_move_is_direct(struct tsl_graph *graph, const struct tsl_data *data, unsigned from, unsigned to)
{
    struct way way = way_of(graph, data, from, to, 0);
    if (!way.other || way.other == way.port)
        return true;
    struct tsl_member *a = way.other->member, *b = way.port->member;
    return a->driver == b->driver && a->driver->can_copy_peer(a, b);
}

/* How late the copy is there: 0 where nothing writes it any more, else by the order of what still does. */
static unsigned arrival(const struct tsl_tile *tile, unsigned space)
{
    for (unsigned i = tile->uses.n; i > 0; i--)
        if (tile->uses.list[i - 1].write && tile->uses.list[i - 1].space == space && !tile->uses.list[i - 1].left)
            return i;
    return 0;
}

unsigned tsl_move_source(struct tsl_graph *graph, const struct tsl_data *data, const struct tsl_tile *tile, unsigned to)
{
    if (to == TSL_SPACE_HOST)
        return tsl_spaces_first(tile->valid);
    tsl_spaces members = tsl_spaces_without(tile->valid, tsl_spaces_of(TSL_SPACE_HOST));
    unsigned best = TSL_SPACE_HOST, first = 0;
    tsl_spaces_remove(&members, TSL_SPACE_LOST);
    for (; !tsl_spaces_is_empty(members); tsl_spaces_remove(&members, tsl_spaces_first(members))) {
        unsigned from = tsl_spaces_first(members);
        if (!tsl_move_is_direct(graph, data, from, to))
            continue;
        unsigned its = tsl_spaces_count(members) > 1 || best != TSL_SPACE_HOST ? arrival(tile, from) : 0;
        if (best == TSL_SPACE_HOST || its < first) {
            best = from;
            first = its;
        }
    }
    return best != TSL_SPACE_HOST ? best : tsl_spaces_first(tile->valid); /* The host is the lowest. */
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

unsigned tsl_move_boxes(const struct tsl_data *data, uint64_t begin, uint64_t end,
                        struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES])
{
    if (data->padded)
        return tsl_image_cut(data->image, begin, end, boxes);
    boxes[0] = (struct tsl_image_box){.offset = begin, .region = {end - begin, 1, 1}};
    return 1;
}

/* Is its host copy not ours, but the application's? */
static bool has_lent_copy(const struct tsl_data *data)
{
    return data->host && !data->host_owned;
}

/* size: bytes that are moved, all of the box or some. */
static struct tsl_op *create_op(struct tsl_command *c, const struct tsl_move *move, const struct tsl_image_box *box,
                                size_t size)
{
    unsigned from = move->from, to = move->to;
    struct tsl_port *port = way_of(c->graph, move->data, from, to, box->offset).port;
    const struct tsl_place place = tsl_move_place(move->data, box);
    bool timed = tsl_placer_wants_move(c->graph->placer, tsl_space_of_link(move->data, from),
                                       tsl_space_of_link(move->data, to), size);
    struct tsl_graph_lane *lane = to == TSL_SPACE_HOST ? timed ? &port->timed_down : &port->down
                                  : timed              ? &port->timed_up
                                                       : &port->up;
    struct tsl_op *op = tsl_op_create(c, port, lane, TSL_OP_COPY);
    if (!op)
        return NULL;
    op->move = true;
    op->is_side = move->is_side || c->side_moves;
    if (to == TSL_SPACE_HOST && has_lent_copy(move->data) && c->graph->n_tasks)
        tsl_op_follow(op, c->order_now); /* Host tasks may be using the application's memory. */
    op->timed = timed;
    op->want_fence = true;
    op->dst = (struct tsl_side){.data = move->data,
                                .space = to,
                                .offset = place.offset,
                                .row_pitch = place.row_pitch,
                                .slice_pitch = place.slice_pitch};
    op->src = op->dst;
    op->src.space = from;
    for (int d = 0; d < 3; d++)
        op->region[d] = box->region[d];
    if (!tsl_dependences_add(op->is_side ? &c->frontier : &c->own, op, !op->is_side))
        tsl_memory_order_begin(c);
    tsl_op_after_opaque(op);
    return op;
}

struct tsl_op *tsl_move_op(struct tsl_command *command, const struct tsl_move *move, const struct tsl_image_box *box)
{
    return create_op(command, move, box, box->region[0] * box->region[1] * box->region[2]);
}

static cl_int claim_range(struct tsl_op *op, const struct tsl_move *move, uint64_t begin, uint64_t end)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_toucher t = {.op = op};
    cl_int error = tsl_touch_copy(graph, &t, move->data, begin, end, move->from, TSL_MAY_READ);
    if (!error)
        error = tsl_touch_copy(graph, &t, move->data, begin, end, move->to, TSL_MAY_WRITE);
    tsl_undo_spoil(op, move->data, begin, end, move->to);
    return error ? error : tsl_valid_add(move->data, begin, end, move->to);
}

/* error: of its claims. */
static cl_int go(struct tsl_op *op, struct tsl_data *data, cl_int error)
{
    if (error)
        op->poison = error;
    data->moved = true;
    tsl_op_go(op);
    tsl_op_unref(op);
    return error;
}

static cl_int move_box(struct tsl_command *command, const struct tsl_move *move, const struct tsl_image_box *box)
{
    struct tsl_op *op = tsl_move_op(command, move, box);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    return go(op, move->data, claim_range(op, move, box->offset, box->offset + tsl_side_hull(op, &op->dst)));
}

cl_int tsl_move_plan_pieces(struct tsl_command *command, const struct tsl_move *move, const struct tsl_range *list,
                            unsigned n)
{
    struct tsl_image_box box = {.offset = move->begin, .region = {move->end - move->begin, 1, 1}};
    struct tsl_pieces *pieces = malloc(sizeof(*pieces) + n * (sizeof(*list) + sizeof(*pieces->fences)));
    size_t size = 0;
    for (unsigned i = 0; i < n; i++)
        size += list[i].end - list[i].begin;
    struct tsl_op *op = pieces ? create_op(command, move, &box, size) : NULL;
    cl_int error = CL_SUCCESS;
    if (!op) {
        free(pieces);
        return CL_OUT_OF_HOST_MEMORY;
    }
    pieces->n = n;
    for (unsigned i = 0; i < n; i++)
        pieces->list[i] = (struct tsl_range_of_bytes){list[i].begin, list[i].end};
    pieces->fences = (struct tsl_fence **)(void *)(pieces->list + n);
    memset(pieces->fences, 0, n * sizeof(*pieces->fences));
    op->pieces = pieces;
    for (unsigned i = 0; i < n && !error; i++)
        error = claim_range(op, move, list[i].begin, list[i].end);
    return go(op, move->data, error);
}

cl_int tsl_move_plan(struct tsl_command *command, const struct tsl_move *move)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_move_boxes(move->data, move->begin, move->end, boxes);
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < n && !error; i++)
        error = move_box(command, move, &boxes[i]);
    /* Bytes that are no pixels are moved nowhere, so they count as valid everywhere. */
    return error ? error : tsl_valid_add(move->data, move->begin, move->end, move->to);
}

cl_int tsl_move_spill(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    const struct tsl_move spill = {data, begin, end, space, TSL_SPACE_HOST, true};
    return tsl_move_plan(command, &spill);
}
