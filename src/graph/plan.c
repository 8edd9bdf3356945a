/* A plan per kind of command: where it runs, which moves and operations that takes. Under the graph's lock. */
#include "graph/plan.h"

#include "base/small_vector.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"
#include "graph/choose.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/fetch.h"
#include "graph/lazy.h"
#include "graph/mapped.h"
#include "graph/member_memory.h"
#include "graph/memory_order.h"
#include "graph/move.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/residency.h"
#include "graph/space.h"
#include "graph/valid.h"
#include "object/buffer.h"
#include "object/svm.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"

/* ---- Parts that plans share ------------------------------------------------------------------------------------- */

static struct tsl_port *port_of(struct tsl_graph *graph, unsigned space)
{
    return space == TSL_SPACE_HOST ? &graph->host : &graph->ports[space - 1];
}

/* Who works on the data's copy in a space. What lies on the host is the business of the member that works on it there
 * itself, so that its lanes keep the order; but not if that member computes inside the call: the host can do that too.
 */
static struct tsl_port *worker_of(struct tsl_command *c, unsigned space, const struct tsl_data *data)
{
    struct tsl_graph *graph = c->graph;
    int member = c->stream->pinned >= 0 ? c->stream->pinned : graph->n_ports == 1 ? 0 : data->home;
    if (space == TSL_SPACE_HOST && member >= 0) {
        struct tsl_port *port = &graph->ports[member];
        bool works = tsl_space_of(port, data) == TSL_SPACE_HOST && !port->sync;
        if (data->svm && !(data->svm->as_mem >> member & 1))
            works = false; /* Its kernels do, by addresses alone. */
        return works ? port : &graph->host;
    }
    return port_of(graph, space);
}

static void after_opaque(struct tsl_op *op)
{
    struct tsl_op *opaque = op->port->graph->opaque;
    if (opaque)
        tsl_op_depend(op, opaque, false);
}

static struct tsl_track *track_for(struct tsl_command *c, struct tsl_port *port, bool timed)
{
    if (tsl_is_host(port))
        return NULL;
    return timed || c->profile ? &c->stream->timed_tracks[port->index] : &c->stream->tracks[port->index];
}

/* An operation that does (part of) what the application asked for: it runs after `order`, and its fate is the
 * command's. */
static struct tsl_op *main_op(struct tsl_command *c, const tsl_dependences *order, struct tsl_port *port,
                              enum tsl_op_kind kind)
{
    /* The placer wants the times of some launches, not of all: some drivers' lanes are slower while they profile. */
    bool timed = kind == TSL_OP_LAUNCH && c->placement.timed;
    struct tsl_op *op = tsl_op_create(c, port, track_for(c, port, timed), kind);
    if (!op)
        return NULL;
    if (!tsl_dependences_add(&c->own, op, true))
        tsl_starve(c);
    for (unsigned i = 0; i < order->n; i++) {
        const struct tsl_dependence *d = TSL_SMALL_AT(order, i);
        tsl_op_depend(op, d->op, d->strict);
    }
    after_opaque(op);
    op->timed = timed;
    op->want_fence = c->has_event || timed;
    if (!c->main) {
        c->main = op;
        op->user.refs++;
    }
    return op;
}

/* The plan of this operation is made: it may go, or, if that failed, takes its place in the order without running. */
static cl_int go(struct tsl_op *op, cl_int error)
{
    if (error && !op->poison)
        op->poison = error;
    tsl_op_go(op);
    tsl_op_unref(op);
    return error;
}

static bool is_lent(const struct tsl_data *data)
{
    return data->host && !data->host_owned;
}

/* NULL: nothing. */
static void run_after(struct tsl_op *op, const tsl_dependences *order)
{
    for (unsigned i = 0; order && i < order->n; i++)
        tsl_op_depend(op, TSL_SMALL_AT(order, i)->op, false);
}

struct tsl_op *tsl_plan_move(struct tsl_command *c, const struct tsl_move *move, const struct tsl_image_box *box)
{
    unsigned from = move->from, to = move->to;
    struct tsl_port *port = port_of(c->graph, to == TSL_SPACE_HOST ? from : to);
    const struct tsl_place place = tsl_place_of(move->data, box);
    size_t size = box->region[0] * box->region[1] * box->region[2];
    bool timed = tsl_placer_wants_move(c->graph->placer, from, to, size);
    struct tsl_track *track = to == TSL_SPACE_HOST ? timed ? &port->timed_down : &port->down
                              : timed              ? &port->timed_up
                                                   : &port->up;
    struct tsl_op *op = tsl_op_create(c, port, track, TSL_OP_COPY);
    if (!op)
        return NULL;
    op->move = true;
    op->aside = move->aside;
    if (to == TSL_SPACE_HOST && is_lent(move->data) && c->graph->n_tasks)
        run_after(op, c->order_now); /* Tasks may be at the application's memory. */
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
    if (!tsl_dependences_add(move->aside ? &c->frontier : &c->own, op, !move->aside))
        tsl_starve(c);
    after_opaque(op);
    return op;
}

static bool linear(const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    return (region[1] == 1 || row_pitch == region[0]) && (region[2] == 1 || slice_pitch == region[0] * region[1]);
}

static size_t dst_hull(const struct tsl_box_copy *box)
{
    return tsl_hull(box->region, box->dst_row_pitch, box->dst_slice_pitch);
}

/* The ranges of which a box of dst is made: one, or its rows; in ascending order. */
static size_t n_runs(const struct tsl_box_copy *box)
{
    return linear(box->region, box->dst_row_pitch, box->dst_slice_pitch) ? 1 : box->region[1] * box->region[2];
}

static struct tsl_range run_at(const struct tsl_box_copy *box, size_t i)
{
    size_t row = i % box->region[1], slice = i / box->region[1];
    uint64_t begin = box->dst_offset + slice * box->dst_slice_pitch + row * box->dst_row_pitch;
    return (struct tsl_range){begin, n_runs(box) == 1 ? begin + dst_hull(box) : begin + box->region[0]};
}

/* A context with one member: everything is there, as in the vendor's own implementation. */
static bool one_member(const struct tsl_graph *graph)
{
    return graph->n_ports == 1;
}

/* The space of a member where most of the range is; the host's if only that has it all. */
static unsigned richest_space(struct tsl_graph *graph, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    unsigned best = TSL_SPACE_HOST;
    uint64_t least = tsl_missing(data, begin, end, TSL_SPACE_HOST);
    if (one_member(graph))
        return tsl_space_of(&graph->ports[0], data);
    for (unsigned i = 0; i < graph->n_ports; i++) {
        unsigned space = tsl_space_of(&graph->ports[i], data);
        uint64_t missing = tsl_missing(data, begin, end, space);
        if (missing < least || (missing == least && (int)i == data->home)) {
            least = missing;
            best = space;
        }
    }
    return best;
}

static void copy_region(struct tsl_op *op, const struct tsl_box_copy *box)
{
    for (int d = 0; d < 3; d++)
        op->region[d] = box->region[d];
}

/* ---- Read ------------------------------------------------------------------------------------------------------- */

/* One operation that reads [offset …) of src's copy in a space into the application's memory. */
static cl_int read_box(struct tsl_command *c, const tsl_dependences *order, unsigned space,
                       const struct tsl_box_copy *box)
{
    struct tsl_data *data = tsl_data_of(c->src);
    struct tsl_op *op = main_op(c, order, worker_of(c, space, data), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    op->src = (struct tsl_side){.data = data,
                                .space = space,
                                .offset = box->src_offset,
                                .row_pitch = box->src_row_pitch,
                                .slice_pitch = box->src_slice_pitch};
    op->dst = (struct tsl_side){.host = c->host,
                                .offset = box->dst_offset,
                                .row_pitch = box->dst_row_pitch,
                                .slice_pitch = box->dst_slice_pitch};
    copy_region(op, box);
    size_t src_size = tsl_hull(box->region, box->src_row_pitch, box->src_slice_pitch);
    size_t dst_size = tsl_hull(box->region, box->dst_row_pitch, box->dst_slice_pitch);
    cl_int error = tsl_claim(op, data, box->src_offset, box->src_offset + src_size, space, TSL_MAY_READ);
    if (!error)
        error = tsl_claim_host(op, c->host + box->dst_offset, dst_size, true);
    return go(op, error);
}

/* The space to read a tile from: the host's copy if it is current, else where it was used last, else any. */
static unsigned read_space(struct tsl_graph *graph, const struct tsl_data *data, uint32_t valid)
{
    unsigned only = one_member(graph) ? tsl_space_of(&graph->ports[0], data) : TSL_SPACE_HOST;
    unsigned home = data->home >= 0 ? tsl_space_of(&graph->ports[data->home], data) : TSL_SPACE_HOST;
    if (one_member(graph) && (valid == 0 || (valid & TSL_SPACE_BIT(only))))
        return only;
    if (valid == 0 || (valid & TSL_SPACE_BIT(TSL_SPACE_HOST)))
        return TSL_SPACE_HOST;
    if (valid & TSL_SPACE_BIT(home))
        return home;
    return (unsigned)__builtin_ctz(valid);
}

/* Is a transfer between the application's memory and a member's copy slow, where one of the host's copy, whose begin is
 * aligned, wouldn't be? */
static bool better_by_host(const struct tsl_command *c, unsigned space, const struct tsl_data *data, uint64_t offset,
                           const char *host)
{
    size_t align = space == TSL_SPACE_HOST ? 0 : c->graph->ports[space - 1].member->caps.dma_align;
    return align && (uintptr_t)host % align && offset % align == 0 && (data->host_owned || !data->host);
}

/* A linear read takes each run of tiles from where it is. */
static cl_int read_linear(struct tsl_command *c, const tsl_dependences *order, uint64_t begin, uint64_t end)
{
    struct tsl_data *data = tsl_data_of(c->src);
    size_t into = c->box.dst_offset;
    while (begin < end) {
        struct tsl_tile *tile = tsl_tiles_at(&data->tiles, begin);
        unsigned space = read_space(c->graph, data, tile->valid);
        uint64_t run_end = tile->end;
        while (run_end < end) {
            tile = tsl_tiles_at(&data->tiles, run_end);
            if (read_space(c->graph, data, tile->valid) != space)
                break;
            run_end = tile->end;
        }
        run_end = run_end < end ? run_end : end;
        cl_int error = space == TSL_SPACE_LOST ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
        if (!error && better_by_host(c, space, data, begin, c->host + into)) {
            space = TSL_SPACE_HOST;
            error = tsl_fetch(c, data, begin, run_end, space);
        }
        struct tsl_box_copy box = {.region = {run_end - begin, 1, 1}, .src_offset = begin, .dst_offset = into};
        if (!error)
            error = read_box(c, order, space, &box);
        if (error)
            return error;
        into += run_end - begin;
        begin = run_end;
    }
    return CL_SUCCESS;
}

/* Does the application name the host's copy itself, as it may with CL_MEM_USE_HOST_PTR (OpenCL 3.0, 5.2.2)? Then the
 * bytes need only be right there. */
static bool names_host_copy(const struct tsl_command *c, const struct tsl_data *data, size_t offset, size_t host_offset)
{
    const size_t *region = c->box.region;
    bool same = (region[1] == 1 || c->box.src_row_pitch == c->box.dst_row_pitch) &&
                (region[2] == 1 || c->box.src_slice_pitch == c->box.dst_slice_pitch);
    return data->host && same && c->host + host_offset == data->host + offset;
}

static cl_int read_in_place(struct tsl_command *c, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    cl_int error = tsl_fetch(c, data, begin, end, TSL_SPACE_HOST);
    return error ? error : tsl_claim_for_command(c, data, begin, end, TSL_MAY_READ, false);
}

static cl_int plan_read(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *data = tsl_data_of(c->src);
    struct tsl_box_copy box = c->box;
    box.src_offset += c->src->offset;
    size_t size = tsl_hull(box.region, box.src_row_pitch, box.src_slice_pitch);
    tsl_warn_unwritten(data, box.src_offset, box.src_offset + size);
    if (names_host_copy(c, data, box.src_offset, box.dst_offset))
        return read_in_place(c, data, box.src_offset, box.src_offset + size);
    if (linear(box.region, box.src_row_pitch, box.src_slice_pitch) &&
        linear(box.region, box.dst_row_pitch, box.dst_slice_pitch))
        return read_linear(c, order, box.src_offset, box.src_offset + size);
    unsigned space = richest_space(c->graph, data, box.src_offset, box.src_offset + size);
    if (better_by_host(c, space, data, box.src_offset, c->host + box.dst_offset))
        space = TSL_SPACE_HOST;
    cl_int error = tsl_fetch(c, data, box.src_offset, box.src_offset + size, space);
    return error ? error : read_box(c, order, space, &box);
}

/* ---- Write, copy, fill ------------------------------------------------------------------------------------------ */

/* Claims the box's range of dst. All of it is overwritten when the box has no gaps; else the old bytes must be there.
 */
static cl_int overwrite(struct tsl_command *c, struct tsl_op *op, const struct tsl_box_copy *box, unsigned space)
{
    size_t size = dst_hull(box);
    bool gaps = !linear(box->region, box->dst_row_pitch, box->dst_slice_pitch);
    uint64_t begin = box->dst_offset, end = begin + size;
    cl_int error = gaps ? tsl_fetch(c, tsl_data_of(c->dst), begin, end, space) : CL_SUCCESS;
    return error ? error
                 : tsl_claim(op, tsl_data_of(c->dst), begin, end, space, TSL_MAY_WRITE | (gaps ? TSL_MAY_READ : 0));
}

/* A space that could hold both objects (which may be one): this, or else the host's. */
static unsigned with_room(const struct tsl_graph *graph, unsigned space, const struct tsl_data *a,
                          const struct tsl_data *b)
{
    return space == TSL_SPACE_HOST || tsl_room_for_two(&graph->ports[space - 1], a, b) ? space : TSL_SPACE_HOST;
}

/* Where a write goes while the reader's place is unknown: to the host, unless there is only one place. A sub-device's
 * queue says what the place is. */
static unsigned write_space(const struct tsl_command *c, const struct tsl_data *data)
{
    const struct tsl_graph *graph = c->graph;
    unsigned space = TSL_SPACE_HOST;
    if (c->stream->pinned >= 0)
        space = tsl_space_of(&graph->ports[c->stream->pinned], data);
    else if (one_member(graph))
        space = tsl_space_of(&graph->ports[0], data);
    return with_room(graph, space, data, data);
}

/* Where a copy to dst or (data and dst are one) a fill is done: at home with its source, or where a sub-device's queue
 * wants it. */
static unsigned work_space(const struct tsl_command *c, struct tsl_data *data, uint64_t begin, uint64_t end,
                           const struct tsl_data *dst)
{
    unsigned space = c->stream->pinned >= 0 ? tsl_space_of(&c->graph->ports[c->stream->pinned], data)
                                            : richest_space(c->graph, data, begin, end);
    return with_room(c->graph, space, data, dst);
}

static void set_dst(struct tsl_op *op, struct tsl_data *data, unsigned space, const struct tsl_box_copy *box)
{
    op->dst = (struct tsl_side){.data = data,
                                .space = space,
                                .offset = box->dst_offset,
                                .row_pitch = box->dst_row_pitch,
                                .slice_pitch = box->dst_slice_pitch};
    copy_region(op, box);
}

/* Where a host task may come before, nobody knows what it writes into the host's copy, which is mapped, say, or the
 * application's: so that who counts on the bytes there comes after it, an operation without work takes these ranges of
 * dst's copy on the host. */
static cl_int take_in_turn(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box,
                           unsigned may)
{
    if (!order->n || !c->graph->n_tasks)
        return CL_SUCCESS;
    struct tsl_op *op = main_op(c, order, &c->graph->host, TSL_OP_MARK);
    cl_int error = CL_SUCCESS;
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < n_runs(box) && !error; i++) {
        struct tsl_range run = run_at(box, i);
        error = tsl_claim(op, tsl_data_of(c->dst), run.begin, run.end, TSL_SPACE_HOST, may);
    }
    return go(op, error);
}

/* The application has written there before the call, or a task is to do it. */
static cl_int write_in_place(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    cl_int error = take_in_turn(c, order, box, TSL_MAY_WRITE);
    for (size_t i = 0; i < n_runs(box) && !error; i++) {
        struct tsl_range run = run_at(box, i);
        error = tsl_claim_for_command(c, data, run.begin, run.end, TSL_MAY_WRITE, true);
    }
    return error;
}

cl_int tsl_plan_write_to(struct tsl_command *c, const tsl_dependences *order, unsigned space)
{
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    if (better_by_host(c, space, tsl_data_of(c->dst), box.dst_offset, c->host + box.src_offset))
        space = TSL_SPACE_HOST;
    struct tsl_op *op = main_op(c, order, worker_of(c, space, tsl_data_of(c->dst)), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    set_dst(op, tsl_data_of(c->dst), space, &box);
    op->src = (struct tsl_side){
        .host = c->host, .offset = box.src_offset, .row_pitch = box.src_row_pitch, .slice_pitch = box.src_slice_pitch};
    size_t size = tsl_hull(box.region, box.src_row_pitch, box.src_slice_pitch);
    cl_int error = tsl_claim_host(op, c->host + box.src_offset, size, false);
    return go(op, error ? error : overwrite(c, op, &box, space));
}

static cl_int plan_write(struct tsl_command *c, const tsl_dependences *order)
{
    unsigned space = write_space(c, tsl_data_of(c->dst));
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    if (names_host_copy(c, tsl_data_of(c->dst), box.dst_offset, box.src_offset))
        return write_in_place(c, order, &box);
    return tsl_may_be_lazy(c) ? tsl_wait_for_place(c, order) : tsl_plan_write_to(c, order, space);
}

static cl_int plan_copy(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *src = tsl_data_of(c->src);
    struct tsl_box_copy box = c->box;
    box.src_offset += c->src->offset;
    box.dst_offset += c->dst->offset;
    uint64_t begin = box.src_offset, end = begin + tsl_hull(box.region, box.src_row_pitch, box.src_slice_pitch);
    unsigned space = work_space(c, src, begin, end, tsl_data_of(c->dst));
    if (space != TSL_SPACE_HOST)
        tsl_pin(c, tsl_data_of(c->dst), &c->graph->ports[space - 1]);
    cl_int error = tsl_fetch(c, src, begin, end, space);
    if (error)
        return error;
    struct tsl_op *op = main_op(c, order, worker_of(c, space, src), TSL_OP_COPY);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    set_dst(op, tsl_data_of(c->dst), space, &box);
    op->src = (struct tsl_side){.data = src,
                                .space = space,
                                .offset = box.src_offset,
                                .row_pitch = box.src_row_pitch,
                                .slice_pitch = box.src_slice_pitch};
    error = tsl_claim(op, src, begin, end, space, TSL_MAY_READ);
    return go(op, error ? error : overwrite(c, op, &box, space));
}

static cl_int plan_fill(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    unsigned space = work_space(c, data, box.dst_offset, box.dst_offset + dst_hull(&box), data);
    struct tsl_op *op = main_op(c, order, worker_of(c, space, data), TSL_OP_FILL);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    if (n_runs(&box) == 1)
        box = (struct tsl_box_copy){.region = {dst_hull(&box), 1, 1}, .dst_offset = box.dst_offset};
    set_dst(op, data, space, &box);
    return go(op, overwrite(c, op, &box, space));
}

/* ---- Map, unmap, migrate, native -------------------------------------------------------------------------------- */

static cl_int map_run(struct tsl_command *c, uint64_t begin, uint64_t end)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    bool discard = c->map_flags & CL_MAP_WRITE_INVALIDATE_REGION;
    unsigned may = c->map_flags == CL_MAP_READ ? TSL_MAY_READ : TSL_MAY_READ | TSL_MAY_WRITE;
    if (c->map_flags == CL_MAP_READ)
        tsl_warn_unwritten(data, begin, end);
    cl_int error = discard ? CL_SUCCESS : tsl_fetch(c, data, begin, end, TSL_SPACE_HOST);
    if (!error && (may & TSL_MAY_WRITE)) {
        error = tsl_map_range(data, begin, end);
        c->n_ranged += !error;
    }
    return error ? error : tsl_claim_for_command(c, data, begin, end, may, discard);
}

/* Row by row, as what lies between the rows isn't mapped. */
static cl_int plan_map(struct tsl_command *c)
{
    cl_int error = CL_SUCCESS;
    size_t n = n_runs(&c->box);
    if (n > 1 && !(c->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)) /* In few moves. */
        error =
            tsl_fetch(c, tsl_data_of(c->dst), c->box.dst_offset, c->box.dst_offset + dst_hull(&c->box), TSL_SPACE_HOST);
    for (size_t i = 0; i < n && !error; i++) {
        struct tsl_range run = run_at(&c->box, i);
        error = map_run(c, run.begin, run.end);
    }
    return error;
}

static cl_int unmap_run(struct tsl_command *c, uint64_t begin, uint64_t end)
{
    tsl_unmap_range(tsl_data_of(c->dst), begin, end);
    return tsl_claim_for_command(c, tsl_data_of(c->dst), begin, end, TSL_MAY_WRITE, true);
}

static cl_int plan_unmap(struct tsl_command *c, const tsl_dependences *order)
{
    bool reads = c->map_flags == CL_MAP_READ;
    cl_int error = take_in_turn(c, order, &c->box, reads ? TSL_MAY_READ : TSL_MAY_WRITE);
    if (reads)
        return error;
    for (size_t n = n_runs(&c->box); c->n_ranged < n && !error; c->n_ranged++) {
        struct tsl_range run = run_at(&c->box, n - 1 - c->n_ranged); /* As they were added last. */
        error = unmap_run(c, run.begin, run.end);
    }
    return error;
}

/* A map that failed maps nothing, and what an unmap that failed would have unmapped isn't mapped either. */
void tsl_plan_failed(struct tsl_command *c)
{
    bool map = tsl_command_maps(c);
    bool unmap = tsl_command_unmaps(c) && c->map_flags != CL_MAP_READ;
    size_t n = map ? c->n_ranged : unmap ? n_runs(&c->box) - c->n_ranged : 0;
    while (n-- > 0) {
        struct tsl_range run = run_at(&c->box, n);
        tsl_unmap_range(tsl_data_of(c->dst), run.begin, run.end);
    }
    c->n_ranged = unmap ? n_runs(&c->box) : 0;
}

static cl_int plan_migrate(struct tsl_command *c)
{
    bool host = c->map_flags & CL_MIGRATE_MEM_OBJECT_HOST;
    if (c->map_flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)
        return CL_SUCCESS;
    for (cl_uint i = 0; i < c->n_buffers; i++) {
        struct tsl_buffer *b = c->buffers[i];
        struct tsl_data *data = tsl_data_of(b);
        unsigned space = host ? TSL_SPACE_HOST : write_space(c, data);
        if (!host && data->home >= 0 && c->stream->pinned < 0)
            space = with_room(c->graph, tsl_space_of(&c->graph->ports[data->home], data), data, data);
        cl_int error = tsl_fetch(c, data, b->offset, b->offset + b->size, space);
        if (error)
            return error;
    }
    return CL_SUCCESS;
}

/* What a host task may do to a buffer. */
static unsigned host_role(const struct tsl_buffer *buffer)
{
    return buffer->flags & CL_MEM_HOST_READ_ONLY ? TSL_MAY_READ : TSL_MAY_READ | TSL_MAY_WRITE;
}

static cl_int fetch_for_host(struct tsl_command *c, struct tsl_buffer *b)
{
    if (host_role(b) == TSL_MAY_READ)
        tsl_warn_unwritten(tsl_data_of(b), b->offset, b->offset + b->size);
    return tsl_fetch(c, tsl_data_of(b), b->offset, b->offset + b->size, TSL_SPACE_HOST);
}

static cl_int plan_native(struct tsl_command *c, const tsl_dependences *order)
{
    cl_int error = CL_SUCCESS;
    bool frees = c->type == CL_COMMAND_SVM_FREE; /* … whatever became of the bytes. */
    for (cl_uint i = 0; i < c->n_buffers && !error; i++)
        error = fetch_for_host(c, c->buffers[i]);
    if (frees)
        error = CL_SUCCESS;
    struct tsl_op *op = main_op(c, order, c->own_task ? &c->graph->host : &c->graph->tasks, TSL_OP_NATIVE);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < c->n_buffers && !error; i++) {
        struct tsl_buffer *b = c->buffers[i];
        unsigned may = frees ? TSL_MAY_WRITE : host_role(b);
        error = tsl_claim(op, tsl_data_of(b), b->offset, b->offset + b->size, TSL_SPACE_HOST, may);
    }
    return go(op, error);
}

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

/* Some programs' kernels write to what they made CL_MEM_READ_ONLY, which is undefined (OpenCL 3.0, 5.2.1) and does what
 * they expect everywhere. So the flag counts only where it is of use, and nobody saw that the kernel writes. */
static bool is_kept(const struct tsl_kernel_facts *facts, cl_uint i, const struct tsl_buffer *buffer)
{
    bool seen = facts->proven || (i < facts->n_args && facts->args[i].written);
    return buffer->flags & CL_MEM_READ_ONLY && !seen && buffer->context->n_members > 1;
}

/* What a kernel may do to the memory behind an argument: the facts' word, narrowed by the buffer's flags. */
static unsigned arg_role(const struct tsl_kernel_facts *facts, cl_uint i, const struct tsl_buffer *buffer)
{
    unsigned may = i < facts->n_args ? facts->args[i].may : TSL_MAY_READ | TSL_MAY_WRITE;
    if (tsl_svm_of(buffer)) /* Who finds addresses there writes through them. */
        return TSL_MAY_READ | TSL_MAY_WRITE;
    return is_kept(facts, i, buffer) ? may & TSL_MAY_READ : may;
}

/* What of the object that is: all of it where it is shared memory that only one can have at a time. */
static struct tsl_range range_of_arg(const struct tsl_port *port, const struct tsl_buffer *b)
{
    const struct tsl_svm *svm = tsl_data_of(b)->svm;
    if (svm && svm->coarse && (svm->members >> port->index & 1))
        return (struct tsl_range){0, svm->size};
    return (struct tsl_range){b->offset, b->offset + b->size};
}

static cl_int fetch_args(struct tsl_command *c, const struct tsl_kernel_facts *facts, struct tsl_port *port)
{
    tsl_pin_args(c, port);
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        struct tsl_buffer *b = c->args->args[i].buffer;
        if (!b || !arg_role(facts, i, b))
            continue;
        if (!(arg_role(facts, i, b) & TSL_MAY_WRITE) && !(i < facts->n_args && facts->args[i].untouched))
            tsl_warn_unwritten(tsl_data_of(b), b->offset, b->offset + b->size);
        /* May-write is not must-write: the old bytes are fetched for a written argument too. */
        struct tsl_range range = range_of_arg(port, b);
        cl_int error = tsl_fetch(c, tsl_data_of(b), range.begin, range.end, tsl_space_of(port, tsl_data_of(b)));
        if (error)
            return error;
        tsl_data_of(b)->home = (int)port->index;
    }
    return CL_SUCCESS;
}

static cl_int claim_args(struct tsl_command *c, const struct tsl_kernel_facts *facts, struct tsl_op *op)
{
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        struct tsl_buffer *b = c->args->args[i].buffer;
        unsigned may = b ? arg_role(facts, i, b) : 0;
        /* A written range stays partly as it was: whoever wrote it before must have succeeded. */
        if (may & TSL_MAY_WRITE)
            may |= TSL_MAY_READ;
        if (!may)
            continue;
        struct tsl_range range = range_of_arg(op->port, b);
        unsigned space = tsl_space_of(op->port, tsl_data_of(b));
        cl_int error = tsl_claim(op, tsl_data_of(b), range.begin, range.end, space, may);
        if (error)
            return error;
    }
    return CL_SUCCESS;
}

static void after_each(struct tsl_op *op, const tsl_dependences *list)
{
    for (unsigned i = 0; i < list->n; i++)
        tsl_op_depend(op, TSL_SMALL_AT(list, i)->op, false);
}

/* Effects that no argument shows: after everything, and everything after it. What its own command moves it comes after
 * anyway. */
static void make_opaque(struct tsl_op *op)
{
    struct tsl_graph *g = op->port->graph;
    struct tsl_stream *stream;
    struct tsl_command *c;
    if (g->opaque) {
        after_each(op, &g->since_opaque);
        tsl_dependences_finish(&g->since_opaque);
    } else {
        LIST_FOREACH(stream, &g->streams, link)
        TAILQ_FOREACH(c, &stream->commands, link)
        if (c != op->command)
            after_each(op, &c->own);
    }
    tsl_op_unref(g->opaque);
    g->opaque = op;
    op->user.refs++;
}

/* Kernels that print share the standard output: address 0 of the host map stands for it. */
static cl_int claim_effects(struct tsl_op *op, const struct tsl_kernel_facts *facts)
{
    if (facts->opaque)
        make_opaque(op);
    return facts->prints ? tsl_claim_host(op, NULL, 1, true) : CL_SUCCESS;
}

static cl_int plan_kernel(struct tsl_command *c, const tsl_dependences *order)
{
    unsigned member = c->placement.member;
    struct tsl_port *port = &c->graph->ports[member];
    const struct tsl_kernel_facts *facts = &c->kernel->parts[member].facts;
    c->member = (int)member;
    cl_int error = fetch_args(c, facts, port);
    struct tsl_op *op = main_op(c, order, port, TSL_OP_LAUNCH);
    if (!op) {
        tsl_placement_ended(c, 0, 0);
        return CL_OUT_OF_HOST_MEMORY;
    }
    op->end_estimate_ns = c->placement.end_ns;
    tsl_port_launches(port, op);
    if (c->placement.watch)
        tsl_op_watch(op);
    if (!error)
        error = claim_args(c, facts, op);
    if (!error)
        error = claim_effects(op, facts);
    return go(op, error);
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

/* A transfer or fill of no bytes: it only takes its turn. */
static bool moves_nothing(const struct tsl_command *c)
{
    bool shared = c->type == CL_COMMAND_SVM_MEMCPY || c->type == CL_COMMAND_SVM_MEMFILL;
    return c->src || c->dst ? c->box.region[0] == 0 : shared;
}

static cl_int plan(struct tsl_command *c, const tsl_dependences *order)
{
    switch (c->type) {
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_READ_IMAGE:
        return plan_read(c, order);
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_WRITE_IMAGE:
        return plan_write(c, order);
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_COPY_BUFFER_RECT:
    case CL_COMMAND_COPY_IMAGE:
    case CL_COMMAND_COPY_IMAGE_TO_BUFFER:
    case CL_COMMAND_COPY_BUFFER_TO_IMAGE:
        return plan_copy(c, order);
    case CL_COMMAND_SVM_MEMCPY: /* From shared virtual memory, to it, or both. */
        return !c->src ? plan_write(c, order) : c->dst ? plan_copy(c, order) : plan_read(c, order);
    case CL_COMMAND_FILL_BUFFER:
    case CL_COMMAND_FILL_IMAGE:
    case CL_COMMAND_SVM_MEMFILL:
        return plan_fill(c, order);
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE:
    case CL_COMMAND_SVM_MAP:
        return plan_map(c);
    case CL_COMMAND_UNMAP_MEM_OBJECT:
    case CL_COMMAND_SVM_UNMAP:
        return plan_unmap(c, order);
    case CL_COMMAND_MIGRATE_MEM_OBJECTS:
    case CL_COMMAND_SVM_MIGRATE_MEM:
        return plan_migrate(c);
    case CL_COMMAND_NATIVE_KERNEL:
    case CL_COMMAND_SVM_FREE:
        return plan_native(c, order);
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK:
        return c->kernel ? plan_kernel(c, order) : CL_SUCCESS; /* An empty range has no work. */
    default:
        return CL_SUCCESS; /* Markers and barriers only wait. */
    }
}

cl_int tsl_plan(struct tsl_command *c, const tsl_dependences *order)
{
    if (moves_nothing(c))
        return CL_SUCCESS;
    c->order_now = order;
    cl_int error = plan(c, order);
    c->order_now = NULL;
    return error;
}
