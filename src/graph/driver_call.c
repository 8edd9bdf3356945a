/* The call of the driver for an operation: its memory is bound first. By the thread that drains the port, without the
 * lock. */
#include "graph/driver_call.h"

#include "base/sets.h"
#include "driver/driver.h"
#include "footprint/window.h"
#include "graph/coherence.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/variants.h"
#include "object/image.h"
#include "object/queue.h"
#include "object/svm.h"
#include "program/launch.h"
#include "program/program.h"
#include "tile/tile.h"
#include "trace/trace.h"

#include <stdlib.h>

/* Arguments of most launches fit on the stack. */
#define FEW_ARGS 16

/* ---- Binding ----------------------------------------------------------------------------------------------------- */

/* The member's own copy. */
static cl_int copy_mem(struct tsl_port *port, struct tsl_data *data, struct tsl_mem **mem)
{
    struct tsl_residence *residence = &data->residences[port->index];
    cl_int error = residence->mem ? CL_SUCCESS : tsl_member_memory_alloc(port, data);
    *mem = residence->mem;
    return error;
}

/* The copy of an object in a space, for an operation of that port. Spread memory is the same from each of its members;
 * for others it is its home's. */
static cl_int space_mem(struct tsl_port *port, struct tsl_data *data, unsigned space, struct tsl_mem **mem)
{
    struct tsl_port *of = tsl_space_port(port->graph, data, space);
    if (space != TSL_SPACE_SPREAD)
        return copy_mem(of, data, mem);
    return tsl_spread_mem(data, port, tsl_space_has_part(data, port->index) ? port : of, mem);
}

/* Does the operation's kernel work on spread memory? */
static bool is_on_spread(const struct tsl_op *op, const struct tsl_data *data)
{
    return tsl_spread_binds(data->spread, op->port->index, op->number);
}

/* What the operation's kernel works on. */
static cl_int data_mem(const struct tsl_op *op, struct tsl_data *data, struct tsl_mem **mem)
{
    struct tsl_port *port = op->port;
    return is_on_spread(op, data) ? tsl_spread_mem(data, port, port, mem) : copy_mem(port, data, mem);
}

static cl_int buffer_mem(const struct tsl_op *op, struct tsl_buffer *buffer, struct tsl_mem **mem)
{
    struct tsl_port *port = op->port;
    struct tsl_data *data = tsl_data_of(buffer);
    bool whole = buffer->offset == 0 && buffer->size == data->size && (!buffer->image || !buffer->parent);
    cl_int error = whole || !buffer->image ? data_mem(op, data, mem) : buffer_mem(op, buffer->parent, mem);
    if (error || whole)
        return error;
    struct tsl_mem **slot = tsl_sub_mem(buffer->sub_mems, port->index, is_on_spread(op, data));
    if (!*slot)
        error = buffer->image ? port->member->driver->image_of(*mem, &buffer->image->desc, slot)
                              : port->member->driver->mem_sub(*mem, buffer->offset, buffer->size, slot);
    *mem = *slot;
    return error;
}

/* The member's side of a copy between the host and an area. */
static cl_int bind_slice(struct tsl_port *port, const struct tsl_slice *slice, struct tsl_place *place)
{
    place->offset = slice->at + (place->offset - slice->begin);
    return tsl_area_mem(port, slice, &place->mem);
}

/* A member that works on the host's copy has that copy as memory of its own. */
static cl_int bind_side(const struct tsl_op *op, const struct tsl_side *side, struct tsl_place *place)
{
    struct tsl_port *port = op->port;
    *place = (struct tsl_place){.offset = side->offset, .row_pitch = side->row_pitch, .slice_pitch = side->slice_pitch};
    if (op->slice && side->space != TSL_SPACE_HOST)
        return bind_slice(port, side == &op->src && op->from_slice ? op->from_slice : op->slice, place);
    if (side->data && side->space != TSL_SPACE_HOST)
        return space_mem(port, side->data, side->space, &place->mem);
    if (side->data && !tsl_port_is_host(port) && tsl_space_of(port, side->data) == TSL_SPACE_HOST)
        return copy_mem(port, side->data, &place->mem);
    place->host = side->data ? side->data->host : side->host;
    return CL_SUCCESS;
}

/* A launch's arguments on one member. */
struct binding {
    const struct tsl_op *op;
    struct tsl_port *port;
    struct tsl_bound_arg *args;
    char **addresses; /* of arguments that are bound by address; room for all */
    struct tsl_bound_svm *svm;
    struct tsl_bound_part *parts;    /* of arguments that are bound to parts of memory; room for all */
    const struct tsl_slices *slices; /* of a launch that runs window by window; NULL: it doesn't */
    cl_uint n_named, n_svm;          /* the first n_named of svm are regions to which arguments lead */
    bool changed;                    /* an argument's memory is another than it was when arguments were bound last */
};

/* Adds the region to those that the launch may touch, unless an argument has led there; unnamed regions are listed once
 * each. */
static void name_region(struct binding *b, const struct tsl_svm *svm, bool unnamed)
{
    for (cl_uint i = 0; i < b->n_named; i++)
        if (b->svm[i].host == svm->begin)
            return;
    b->svm[b->n_svm++] =
        (struct tsl_bound_svm){.host = svm->begin, .size = svm->size, .mem = svm->mem, .unnamed = unnamed};
    b->n_named += !unnamed;
}

/* The region of a buffer that the member gets by address: a member that knows the region's addresses gets buffers of it
 * by address, too, as they may begin anywhere. */
static const struct tsl_svm *known_region(const struct tsl_port *port, const struct tsl_buffer *buffer)
{
    const struct tsl_svm *svm = tsl_svm_of(buffer);
    return svm && !buffer->image && tsl_members_has(svm->members, port->index) ? svm : NULL;
}

/* The kernel finds each byte of the slice where it would be in the whole buffer. */
static cl_int bind_part(struct binding *b, const struct tsl_slice *slice, const struct tsl_buffer *buffer, cl_uint i)
{
    b->parts[i].shift = (int64_t)slice->at - (int64_t)slice->begin + (int64_t)buffer->offset;
    b->parts[i].size = buffer->size;
    b->args[i].part = &b->parts[i];
    b->changed = true; /* Each window has other memory. */
    return tsl_area_mem(b->port, slice, &b->args[i].mem);
}

static cl_int bind_arg(struct binding *b, const struct tsl_arg *arg, cl_uint i)
{
    struct tsl_bound_arg *bound = &b->args[i];
    *bound = (struct tsl_bound_arg){.kind = arg->kind, .size = arg->size, .value = arg->value};
    if (!arg->buffer)
        return CL_SUCCESS;
    const struct tsl_slice *slice = b->slices ? tsl_slice_of(b->slices, tsl_data_of(arg->buffer)) : NULL;
    if (slice)
        return bind_part(b, slice, arg->buffer, i);
    const struct tsl_svm *svm = known_region(b->port, arg->buffer);
    if (svm)
        name_region(b, svm, false);
    if (svm && arg->kind == TSL_ARG_MEM) {
        b->addresses[i] = svm->begin + arg->buffer->offset;
        *bound = (struct tsl_bound_arg){.kind = TSL_ARG_SVM, .size = sizeof(char *), .value = &b->addresses[i]};
    }
    if (svm)
        return CL_SUCCESS;
    b->changed |= tsl_data_of(arg->buffer)->residences[b->port->index].changed;
    return buffer_mem(b->op, arg->buffer, &bound->mem);
}

static cl_int bind_args(struct binding *b, const struct tsl_args *args)
{
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < args->n && !error; i++)
        error = bind_arg(b, &args->args[i], i);
    for (cl_uint i = args->n; i < args->n_all && !error; i++)
        name_region(b, args->args[i].buffer->svm, true);
    return error;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* One behind another. Where copies may fail each for itself, each one waits for the one before, so that the last one's
 * fence tells of all. Else it is enough that the last one waits for what the first one does. */
static cl_int submit_pieces(struct tsl_op *op, struct tsl_lane *lane, struct tsl_copy *copy,
                            const struct tsl_waits *waits, struct tsl_fence **fence)
{
    const struct tsl_pieces *pieces = op->pieces;
    const bool chained = !lane->member->driver->fails_on;
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < pieces->n && !error; i++) {
        const bool first = i == 0, last = i + 1 == pieces->n;
        const bool own = !last && (chained || (first && (op->timed || tsl_trace_on())));
        const struct tsl_waits chain = {1, &pieces->fences[first ? 0 : i - 1]};
        const struct tsl_waits *before = first ? waits : chained ? &chain : last ? waits : NULL;
        struct tsl_fence *made = NULL, **wanted = last ? fence : own ? &made : NULL;
        copy->dst.offset = copy->src.offset = pieces->list[i].begin;
        copy->region[0] = pieces->list[i].end - pieces->list[i].begin;
        error = lane->member->driver->copy(lane, copy, before, wanted);
        if (error || !own)
            continue;
        tsl_fence_unref(pieces->fences[i]); /* Of an attempt for which there was no room. */
        pieces->fences[i] = made;
    }
    return error;
}

static bool is_image(const struct tsl_side *side)
{
    return side->data && side->data->image;
}

#define BOX_ROW ((size_t)64 << 10) /* longer pieces take longer than to submit them, and drivers have better ways */

/* Short pieces of one size at equal distances, as slabs' halos are, are a box, and one copy. False: they are none, or
 * so few that it would save nothing. Boxes of images are of pixels. */
static bool make_box(const struct tsl_op *op, struct tsl_copy *copy)
{
    const struct tsl_pieces *pieces = op->pieces;
    const struct tsl_range_of_bytes *list = pieces->list;
    if (is_image(&op->dst) || is_image(&op->src))
        return false;
    const uint64_t size = list[0].end - list[0].begin, pitch = pieces->n > 1 ? list[1].begin - list[0].begin : 0;
    for (unsigned i = 1; i < pieces->n; i++)
        if (list[i].begin - list[i - 1].begin != pitch || list[i].end - list[i].begin != size)
            return false;
    copy->dst.offset = copy->src.offset = list[0].begin;
    copy->dst.row_pitch = copy->src.row_pitch = pitch;
    copy->region[0] = size;
    copy->region[1] = pieces->n;
    return pieces->n > 2 && size <= BOX_ROW;
}

/* CL_INVALID_OPERATION: the driver can't, or a side isn't a buffer's memory. */
static cl_int gather_pieces(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_copy *copy,
                            const struct tsl_waits *waits, struct tsl_fence **fence)
{
    const struct tsl_gather gather = {copy->dst.mem, copy->src.mem, op->pieces->n, op->pieces->list};
    if (!lane->member->driver->gather || !copy->dst.mem || !copy->src.mem)
        return CL_INVALID_OPERATION;
    return lane->member->driver->gather(lane, &gather, waits, fence);
}

static cl_int submit_copy(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                          struct tsl_fence **fence)
{
    struct tsl_copy copy = {.region = {op->region[0], op->region[1], op->region[2]}, .loose = op->move};
    cl_int error = bind_side(op, &op->dst, &copy.dst);
    if (!error)
        error = bind_side(op, &op->src, &copy.src);
    if (!error && op->pieces) {
        struct tsl_copy box = copy;
        error = gather_pieces(op, lane, &copy, waits, fence);
        if (error != CL_INVALID_OPERATION)
            return error;
        if (!make_box(op, &box))
            return submit_pieces(op, lane, &copy, waits, fence);
        copy = box;
        error = CL_SUCCESS;
    }
    return error ? error : lane->member->driver->copy(lane, &copy, waits, fence);
}

static cl_int submit_fill(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                          struct tsl_fence **fence)
{
    const struct tsl_command *c = op->command;
    struct tsl_fill fill = {.region = {op->region[0], op->region[1], op->region[2]},
                            .pattern = op->joint ? &op->joint->pattern : c->pattern,
                            .pattern_size = op->joint ? op->joint->width : c->pattern_size};
    cl_int error = bind_side(op, &op->dst, &fill.dst);
    return error ? error : lane->member->driver->fill(lane, &fill, waits, fence);
}

/* All of it is memory on which the port's member works. */
static cl_int bind_combined(struct tsl_port *port, const struct tsl_side *side, struct tsl_combine_side *bound)
{
    if (!side->data)
        return CL_SUCCESS;
    bound->offset = side->offset;
    if (side->space == TSL_SPACE_HOST)
        return copy_mem(port, side->data, &bound->mem);
    return space_mem(port, side->data, side->space, &bound->mem);
}

static cl_int submit_combine(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                             struct tsl_fence **fence)
{
    const struct tsl_op_joint *joint = op->joint;
    struct tsl_combine combine = {.size = op->region[0], .width = joint->width, .how = joint->how};
    cl_int error = bind_combined(op->port, &op->dst, &combine.dst);
    error = error ? error : bind_combined(op->port, &op->src, &combine.a);
    error = error ? error : bind_combined(op->port, &joint->b, &combine.b);
    error = error ? error : bind_combined(op->port, &joint->before, &combine.before);
    return error ? error : lane->member->driver->combine(lane, &combine, waits, fence);
}

static cl_int submit_launch(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                            struct tsl_fence **fence)
{
    const struct tsl_command *c = op->command;
    const struct tsl_args *of = tsl_share_args(c, tsl_op_share(op));
    cl_uint n = of->n_all;
    struct few {
        struct tsl_bound_arg args[FEW_ARGS];
        struct tsl_bound_svm svm[FEW_ARGS];
        char *addresses[FEW_ARGS];
        struct tsl_bound_part parts[FEW_ARGS];
    } few;
    struct binding b = {.op = op,
                        .port = op->port,
                        .args = few.args,
                        .svm = few.svm,
                        .addresses = few.addresses,
                        .parts = few.parts,
                        .slices = tsl_op_share(op)->slices};
    size_t each = sizeof(*b.args) + sizeof(*b.svm) + sizeof(*b.addresses) + sizeof(*b.parts);
    char *many = n > FEW_ARGS ? malloc(n * each) : NULL;
    cl_int error = n > FEW_ARGS && !many ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (many) {
        b.args = (struct tsl_bound_arg *)many;
        b.svm = (struct tsl_bound_svm *)(b.args + n);
        b.addresses = (char **)(b.svm + n);
        b.parts = (struct tsl_bound_part *)(b.addresses + n);
    }
    if (!error)
        error = bind_args(&b, of);
    /* A buffer's memory on a member stays the same until it is evicted: until then the serial of the arguments serves.
     */
    uint64_t serial = b.changed ? tsl_args_new_serial() : of->serial;
    struct tsl_bound_args args = {.serial = serial, .n = of->n, .args = b.args, .n_svm = b.n_svm, .svm = b.svm};
    const struct tsl_window *window = &tsl_op_share(op)->window;
    struct tsl_window limited;
    if (!window->local_size[0]) {
        limited = *window;
        tsl_launch_limit(c->kernel, c->queue->handle->device, op->port->index, &limited);
        window = &limited;
    }
    const struct tsl_launch launch = {c->kernel->parts[op->port->index].kernel, &args, window};
    if (!error)
        error = c->kernel->has_variants ? tsl_variants_launch(op, lane, &launch, waits, fence)
                                        : lane->member->driver->launch(lane, &launch, waits, fence);
    free(many);
    return error;
}

/* A host task: the buffers' host addresses go where the application wants them, then its function is called. */
static cl_int run_native(struct tsl_op *op)
{
    const struct tsl_command *c = op->command;
    for (cl_uint i = 0; i < c->n_buffers; i++)
        *c->slots[i] = tsl_data_of(c->buffers[i])->host + c->buffers[i]->offset;
    c->native_fn(c->native_args);
    return CL_SUCCESS;
}

cl_int tsl_driver_call(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    if (op->kind == TSL_OP_LAUNCH)
        return submit_launch(op, lane, waits, fence);
    switch (op->kind) {
    case TSL_OP_COPY:
        return submit_copy(op, lane, waits, fence);
    case TSL_OP_FILL:
        return submit_fill(op, lane, waits, fence);
    case TSL_OP_COMBINE:
        return submit_combine(op, lane, waits, fence);
    case TSL_OP_NATIVE:
        return run_native(op);
    case TSL_OP_CHECK:
        return tsl_coherence_compare(op);
    default:
        return lane->member->driver->mark(lane, waits, fence);
    }
}
