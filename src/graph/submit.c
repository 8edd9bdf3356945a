/*
 * Ready operations → drivers. A port is drained by one thread at a time, in the order in which operations became ready,
 * so that same-member edges hold: whoever is waited for natively was submitted before. The graph's lock is given for
 * each driver call.
 */
#include "graph/submit.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "facts/window.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/data.h"
#include "graph/evict.h"
#include "graph/failure_log.h"
#include "graph/lane.h"
#include "graph/make_room.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/pinning.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "handle/object.h"
#include "object/image.h"
#include "object/queue.h"
#include "object/svm.h"
#include "program/launch.h"
#include "program/program.h"
#include "tile/tile.h"
#include "trace/trace.h"

#include <stdlib.h>

/* How many submissions of a track may go without a fence before one is asked for, so that finished ones are noticed. */
#define FENCE_EVERY 64

/* Arguments of most launches fit on the stack. */
#define FEW_ARGS 16

void tsl_track_init(struct tsl_track *track, struct tsl_port *port, struct tsl_stream *stream, bool profile)
{
    *track = (struct tsl_track){.port = port, .stream = stream, .profile = profile};
    TAILQ_INIT(&track->flight);
}

void tsl_track_finish(struct tsl_track *track)
{
    if (track->lane)
        track->port->member->driver->lane_free(track->lane);
    track->lane = NULL;
}

void tsl_track_pin(struct tsl_track *track)
{
    if (track->stream)
        track->stream->refs++;
}

void tsl_track_unpin(struct tsl_track *track)
{
    if (track->stream)
        tsl_stream_unref(track->stream);
}

bool tsl_track_flush(struct tsl_track *track)
{
    struct tsl_graph *graph = track->port->graph;
    unsigned n = track->n_dirty;
    if (n == track->n_sent || !track->lane)
        return true;
    tsl_track_pin(track);
    tsl_graph_open(graph);
    cl_int error = track->port->member->driver->flush(track->lane);
    tsl_graph_close(graph);
    if (error == CL_SUCCESS && (int)(n - track->n_sent) > 0) /* Until then others send it, too. */
        track->n_sent = n;
    tsl_track_unpin(track);
    return error == CL_SUCCESS;
}

/* The lock is held, and given meanwhile; the track is pinned, and has a lane. (A simulation's threads can't wait for
 * each other here: one is within the other.) */
static cl_int finish_lane(struct tsl_track *track)
{
    struct tsl_graph *graph = track->port->graph;
    while (track->finishing && !tsl_simulation)
        tsl_graph_wait(graph);
    track->finishing = true;
    tsl_graph_open(graph);
    cl_int status = track->port->member->driver->finish(track->lane);
    tsl_graph_close(graph);
    track->finishing = false;
    if (status < 0) {
        track->failed_upto = track->given;
        track->failed = status;
    }
    tsl_graph_changed(graph);
    return status;
}

static cl_int lane_status(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    tsl_lock_take(&graph->lock);
    cl_int status = finish_lane(op->track ? op->track : &op->port->up);
    if (op->track && status == CL_SUCCESS)
        status = tsl_lane_status(op);
    tsl_lock_give(&graph->lock);
    return status;
}

cl_int tsl_lane_wait(struct tsl_op *op, struct tsl_fence *fence)
{
    const struct tsl_track *track = op->track ? op->track : &op->port->up;
    if (!track->lane) /* None could be made: who tried has waited for all before it. */
        return CL_SUCCESS;
    cl_int status = lane_status(op), own = CL_QUEUED;
    if (fence) /* It may be over, and not what failed. */
        own = status ? fence->driver->fence_status(fence) : fence->driver->fence_wait(fence);
    return own <= CL_COMPLETE ? own : status;
}

/* ---- Binding: what an operation's sides and arguments are on this member (no lock; the drainer alone) -------------
 */

static cl_int data_mem(struct tsl_port *port, struct tsl_data *data, struct tsl_mem **mem)
{
    struct tsl_seat *seat = &data->seats[port->index];
    cl_int error = seat->mem ? CL_SUCCESS : tsl_room_alloc(port, data);
    *mem = seat->mem;
    return error;
}

static cl_int buffer_mem(struct tsl_port *port, struct tsl_buffer *buffer, struct tsl_mem **mem)
{
    struct tsl_data *data = tsl_data_of(buffer);
    bool whole = buffer->offset == 0 && buffer->size == data->size && (!buffer->image || !buffer->parent);
    cl_int error = whole || !buffer->image ? data_mem(port, data, mem) : buffer_mem(port, buffer->parent, mem);
    if (error || whole)
        return error;
    struct tsl_mem **slot = &buffer->sub_mems->mems[port->index];
    if (!*slot)
        error = buffer->image ? port->member->driver->image_of(*mem, &buffer->image->desc, slot)
                              : port->member->driver->mem_sub(*mem, buffer->offset, buffer->size, slot);
    *mem = *slot;
    return error;
}

/* A member that works on the host's copy knows it as memory of its own. */
static cl_int bind_side(struct tsl_port *port, const struct tsl_side *side, struct tsl_place *place)
{
    struct tsl_graph *graph = port->graph;
    *place = (struct tsl_place){.offset = side->offset, .row_pitch = side->row_pitch, .slice_pitch = side->slice_pitch};
    if (side->data && side->space != TSL_SPACE_HOST)
        return data_mem(&graph->ports[side->space - 1], side->data, &place->mem);
    if (side->data && !tsl_is_host(port) && tsl_space_of(port, side->data) == TSL_SPACE_HOST)
        return data_mem(port, side->data, &place->mem);
    place->host = side->data ? side->data->host : side->host;
    return CL_SUCCESS;
}

/* A launch's arguments on one member. */
struct binding {
    struct tsl_port *port;
    struct tsl_bound_arg *args;
    char **addresses; /* of arguments that are bound by address; room for all */
    struct tsl_bound_svm *svm;
    cl_uint n_named, n_svm; /* the first are those to which arguments lead */
    bool changed;           /* the memory of one is another than it was */
};

/* The region as one that the launch may touch, unless an argument has led there. A list has each once. */
static void name_region(struct binding *b, const struct tsl_svm *svm, bool unnamed)
{
    for (cl_uint i = 0; i < b->n_named; i++)
        if (b->svm[i].host == svm->begin)
            return;
    b->svm[b->n_svm++] =
        (struct tsl_bound_svm){.host = svm->begin, .size = svm->size, .mem = svm->mem, .unnamed = unnamed};
    b->n_named += !unnamed;
}

/* A member that knows the region's addresses gets buffers of it by address, too: they may begin anywhere. */
static const struct tsl_svm *known_region(const struct tsl_port *port, const struct tsl_buffer *buffer)
{
    const struct tsl_svm *svm = tsl_svm_of(buffer);
    return svm && !buffer->image && (svm->members >> port->index & 1) ? svm : NULL;
}

static cl_int bind_arg(struct binding *b, const struct tsl_arg *arg, cl_uint i)
{
    struct tsl_bound_arg *bound = &b->args[i];
    *bound = (struct tsl_bound_arg){.kind = arg->kind, .size = arg->size, .value = arg->value};
    if (!arg->buffer)
        return CL_SUCCESS;
    const struct tsl_svm *svm = known_region(b->port, arg->buffer);
    if (svm)
        name_region(b, svm, false);
    if (svm && arg->kind == TSL_ARG_MEM) {
        b->addresses[i] = svm->begin + arg->buffer->offset;
        *bound = (struct tsl_bound_arg){.kind = TSL_ARG_SVM, .size = sizeof(char *), .value = &b->addresses[i]};
    }
    if (svm)
        return CL_SUCCESS;
    b->changed |= tsl_data_of(arg->buffer)->seats[b->port->index].changed;
    return buffer_mem(b->port, arg->buffer, &bound->mem);
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

/* ---- Submissions, one per kind (no lock) --------------------------------------------------------------------------
 */

static cl_int submit_copy(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                          struct tsl_fence **fence)
{
    struct tsl_copy copy = {.region = {op->region[0], op->region[1], op->region[2]}, .loose = op->move};
    cl_int error = bind_side(op->port, &op->dst, &copy.dst);
    if (!error)
        error = bind_side(op->port, &op->src, &copy.src);
    return error ? error : lane->member->driver->copy(lane, &copy, waits, fence);
}

static cl_int submit_fill(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                          struct tsl_fence **fence)
{
    struct tsl_place dst;
    const struct tsl_command *c = op->command;
    cl_int error = bind_side(op->port, &op->dst, &dst);
    return error ? error
                 : lane->member->driver->fill(lane, &dst, op->region, c->pattern, c->pattern_size, waits, fence);
}

static cl_int submit_launch(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits,
                            struct tsl_fence **fence)
{
    const struct tsl_command *c = op->command;
    cl_uint n = c->args->n_all;
    struct few {
        struct tsl_bound_arg args[FEW_ARGS];
        struct tsl_bound_svm svm[FEW_ARGS];
        char *addresses[FEW_ARGS];
    } few;
    struct binding b = {.port = op->port, .args = few.args, .svm = few.svm, .addresses = few.addresses};
    char *many = n > FEW_ARGS ? malloc(n * (sizeof(*b.args) + sizeof(*b.svm) + sizeof(*b.addresses))) : NULL;
    cl_int error = n > FEW_ARGS && !many ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (many) {
        b.args = (struct tsl_bound_arg *)many;
        b.svm = (struct tsl_bound_svm *)(b.args + n);
        b.addresses = (char **)(b.svm + n);
    }
    if (!error)
        error = bind_args(&b, c->args);
    /* The memory of a buffer on a member stays the same until it is evicted: so long the arguments' serial serves. */
    uint64_t serial = b.changed ? tsl_args_new_serial() : c->args->serial;
    struct tsl_bound_args args = {.serial = serial, .n = c->args->n, .args = b.args, .n_svm = b.n_svm, .svm = b.svm};
    const struct tsl_window *window = &c->window;
    struct tsl_window limited;
    if (!window->local_size[0]) {
        limited = *window;
        tsl_launch_limit(c->kernel, c->stream->queue->device, op->port->index, &limited);
        window = &limited;
    }
    if (!error)
        error =
            lane->member->driver->launch(lane, c->kernel->parts[op->port->index].kernel, &args, window, waits, fence);
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

static cl_int submit(struct tsl_op *op, struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    switch (op->kind) {
    case TSL_OP_COPY:
        return submit_copy(op, lane, waits, fence);
    case TSL_OP_FILL:
        return submit_fill(op, lane, waits, fence);
    case TSL_OP_LAUNCH:
        return submit_launch(op, lane, waits, fence);
    case TSL_OP_NATIVE:
        return run_native(op);
    default:
        return lane->member->driver->mark(lane, waits, fence);
    }
}

/* ---- What is waited for (lock held, given meanwhile) --------------------------------------------------------------
 */

typedef TSL_SMALL_VECTOR(struct tsl_fence *, 8) fences;

/* It can't be waited for (a refused mark or flush, no memory): this thread waits for all of its lane. */
TSL_UNCHECKED static void wait_for_lane(struct tsl_op *before)
{
    struct tsl_track *track = before->track;
    tsl_track_pin(track);
    if (track->lane)
        finish_lane(track); /* The track remembers what that told. */
    tsl_track_unpin(track);
}

static bool strictly_after(const struct tsl_op *op, const struct tsl_op *before)
{
    for (unsigned i = 0; i < before->out.n; i++)
        if (TSL_SMALL_AT(&before->out, i)->to == op && TSL_SMALL_AT(&before->out, i)->strict)
            return true;
    return false;
}

/* As above. How `before` ended is noted, which perhaps only its lane can tell: if it failed, so does op, if it is to,
 * as no driver will see to that. */
static void wait_here(struct tsl_op *before)
{
    if (before->state == TSL_OP_SUBMITTED)
        tsl_op_pull(before);
    else
        wait_for_lane(before);
}

/* A fence that completes well when `before` is done, however that ended: drivers fail what waits for a failed fence. */
static struct tsl_fence *mark_behind(struct tsl_op *before)
{
    struct tsl_graph *graph = before->port->graph;
    struct tsl_track *track = before->track;
    struct tsl_fence *fence = NULL;
    if (!track->lane)
        return NULL;
    tsl_track_pin(track);
    tsl_graph_open(graph);
    track->port->member->driver->mark(track->lane, NULL, &fence);
    tsl_graph_close(graph);
    track->n_dirty++;
    tsl_track_unpin(track);
    return fence;
}

/* An owned reference to what the driver is to wait for; NULL: there is nothing to be had. What has no fence keeps the
 * mark as a late one: nobody of another lane can tell whether it was lost. */
static struct tsl_fence *native_fence(struct tsl_op *op, struct tsl_op *before)
{
    if (!strictly_after(op, before) && !before->unfenced)
        return mark_behind(before);
    struct tsl_fence *fence = tsl_op_fence(before);
    return fence ? tsl_fence_ref(fence) : NULL;
}

/* Same member, other track: a fence, flushed, as a wait between queues needs. The track is pinned. */
static void wait_natively(struct tsl_op *op, struct tsl_op *before, fences *waits)
{
    struct tsl_fence *fence = native_fence(op, before);
    if (!fence || !TSL_SMALL_PUSH(waits, fence)) {
        wait_here(before);
        tsl_graph_open(op->port->graph);
        tsl_fence_unref(fence);
        tsl_graph_close(op->port->graph);
        return;
    }
    if (!tsl_track_flush(before->track))
        wait_for_lane(before);
}

/* Opens a gate when the operation before it, on another member, is complete. Runs in a driver's callback. */
struct opening {
    struct tsl_fence *gate;
    bool strict; /* a failure goes on; else what comes after runs nevertheless */
};

static void open_gate(void *arg, cl_int status)
{
    struct opening *opening = arg;
    const struct tsl_driver *driver = opening->gate->driver;
    driver->gate_open(opening->gate, status < 0 && opening->strict ? status : CL_COMPLETE);
    tsl_fence_unref(opening->gate);
    free(opening);
}

/* Without the lock: a gate on the member that `fence` of another member opens. NULL: none could be had. */
static struct tsl_fence *gate_for(struct tsl_member *member, struct tsl_fence *fence, bool strict)
{
    struct opening *opening = malloc(sizeof(*opening));
    struct tsl_fence *gate = NULL;
    if (!opening || member->driver->gate_create(member, &gate) != CL_SUCCESS) {
        free(opening);
        return NULL;
    }
    if (member->driver->gate_by)
        member->driver->gate_by(gate, fence);
    *opening = (struct opening){.gate = tsl_fence_ref(gate), .strict = strict};
    if (fence->driver->fence_notify(fence, open_gate, opening) != CL_SUCCESS)
        open_gate(opening, fence->driver->fence_wait(fence));
    return gate;
}

/* The track is pinned. */
static void wait_by_gate(struct tsl_op *op, struct tsl_op *before, fences *waits)
{
    struct tsl_graph *graph = op->port->graph;
    bool strict = strictly_after(op, before), failed = false;
    struct tsl_fence *fence = tsl_op_fence(before);
    if (!fence) {
        wait_here(before);
        return;
    }
    tsl_fence_ref(fence);
    if (!tsl_track_flush(before->track))
        wait_for_lane(before);
    tsl_graph_open(graph);
    /* A technology may order the work of two members by itself. */
    bool native = strict && op->port->member->driver->can_wait(op->port->member, fence);
    struct tsl_fence *gate = native ? tsl_fence_ref(fence) : gate_for(op->port->member, fence, strict);
    if (!gate || !TSL_SMALL_PUSH(waits, gate)) { /* No gate to be had, or to be noted: this thread waits. */
        cl_int status = fence->driver->fence_wait(fence);
        tsl_fence_unref(gate);
        failed = status < 0 && strict;
    }
    tsl_fence_unref(fence);
    tsl_graph_close(graph);
    if (failed && !op->poison)
        op->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

/* As far as is known already; what waits for it by a fence that is made late hears nothing of that. */
static bool has_failed(const struct tsl_op *op)
{
    return op->poison || (op->unfenced && tsl_lane_status(op) < 0);
}

/* The lock is given meanwhile: what is waited for may end, and its stream with it. What failed before it got to its
 * driver left a mark there, which doesn't fail. */
static void collect_waits(struct tsl_op *op, fences *waits)
{
    unsigned n = op->natives.n + op->gates.n;
    for (unsigned i = 0; i < n; i++) {
        bool native = i < op->natives.n;
        struct tsl_op *before = native ? *TSL_SMALL_AT(&op->natives, i) : *TSL_SMALL_AT(&op->gates, i - op->natives.n);
        if (before->user.done)
            continue;
        if (has_failed(before) && !op->poison && strictly_after(op, before))
            op->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        tsl_track_pin(before->track);
        if (native)
            wait_natively(op, before, waits);
        else
            wait_by_gate(op, before, waits);
        tsl_track_unpin(before->track);
    }
}

/* ---- One operation ------------------------------------------------------------------------------------------------
 */

static struct tsl_track *track_of(struct tsl_op *op)
{
    return op->track ? op->track : &op->port->up;
}

/* One submission, while it is under way. */
struct submission {
    struct tsl_op *op;
    struct tsl_waits waits;
    bool wants_fence;
    cl_int poison;             /* in: the operation's; out: or why it was refused */
    struct tsl_fence *fence;   /* out */
    uint64_t start_ns, end_ns; /* out, of synchronous ports */
};

static cl_int make_lane(struct tsl_track *track)
{
    if (track->lane)
        return CL_SUCCESS;
    return track->port->member->driver->lane_create(track->port->member, track->profile, &track->lane);
}

cl_int tsl_track_lane(struct tsl_track *track, struct tsl_lane **lane)
{
    cl_int error = make_lane(track);
    *lane = track->lane;
    return error;
}

/* Where the driver had no memory for it, room is made. */
static cl_int submit_in_room(struct submission *s, struct tsl_lane *lane, struct tsl_fence **fence)
{
    struct tsl_port *port = s->op->port;
    cl_int error = submit(s->op, lane, &s->waits, fence);
    for (bool first = true; tsl_lacks_room(port, error) && tsl_make_room(s->op, first); first = false)
        error = submit(s->op, lane, &s->waits, fence);
    if (!error)
        port->fresh_size = 0;
    return error;
}

/* Submits it, or, if it is poisoned or that fails, a mark in its place: what comes after it may count on all before it.
 */

/* Nothing could be submitted, not even a mark: what comes next counts on all before it, so that is waited for here. It
 * is all with the drivers, and needs no thread of ours. */
static void wait_for_befores(const struct submission *s)
{
    for (unsigned i = 0; i < s->waits.n; i++)
        s->waits.fences[i]->driver->fence_wait(s->waits.fences[i]);
    tsl_lane_wait(s->op, NULL);
}

static cl_int submit_or_mark(struct submission *s)
{
    struct tsl_track *track = track_of(s->op);
    struct tsl_fence **fence = s->wants_fence || s->poison ? &s->fence : NULL;
    cl_int error = make_lane(track);
    if (error) {
        wait_for_befores(s);
        return error;
    }
    if (!s->poison) {
        error = submit_in_room(s, track->lane, fence);
        if (!error)
            return CL_SUCCESS;
        s->poison = error;
    }
    error = track->lane->member->driver->mark(track->lane, &s->waits, &s->fence);
    if (error)
        wait_for_befores(s);
    return error;
}

/* Also where it may turn out not to have run: who comes after it must not run either, and learns that from its fence.
 */
static bool wants_fence(const struct tsl_op *op)
{
    return op->want_fence || op->natives.n > 0 || op->gates.n > 0 || op->watched || op->poison ||
           op->track->n_unfenced + 1 >= FENCE_EVERY || op->command->profile || tsl_trace_on() ||
           op->port->graph->starving;
}

/* Synchronous ports: the work is done when this returns. */
static cl_int run_sync(struct submission *s)
{
    const struct tsl_driver *driver = s->op->port->member->driver;
    s->start_ns = tsl_clock_ns();
    cl_int status = submit_or_mark(s);
    if (s->fence) {
        struct tsl_lane *lane = track_of(s->op)->lane;
        status = driver->flush(lane) ? tsl_lane_wait(s->op, s->fence) : driver->fence_wait(s->fence);
    }
    s->end_ns = tsl_clock_ns();
    return status;
}

static void after_submission(struct tsl_op *op, cl_int error)
{
    struct tsl_track *track = op->track;
    TAILQ_INSERT_TAIL(&track->flight, op, flight);
    if (error) { /* Not even a mark could be submitted: it is over, and so is all that it came after. */
        if (!op->poison) {
            tsl_op_report(op, error);
            op->poison = error;
        }
        tsl_op_submitted(op);
        tsl_retire_refused(op, error);
        return;
    }
    track->n_dirty++;
    track->n_unfenced = op->fence ? 0 : track->n_unfenced + 1;
    tsl_op_submitted(op);
    if (op->watched || op->port->graph->starving) {
        op->watched = true;
        op->user.refs++;
        STAILQ_INSERT_TAIL(&op->port->graph->to_watch, op, ready);
    }
    tsl_graph_changed(op->port->graph);
    if (op->command->flushed)
        tsl_track_flush(track);
}

/* The n-th oldest operation on its way that has a fence, or the newest such; NULL: there is none. */
static struct tsl_op *nth_fenced(struct tsl_track *track, unsigned n)
{
    struct tsl_op *found = NULL, *op;
    TAILQ_FOREACH(op, &track->flight, flight)
    {
        if (op->fence)
            found = op;
        if (op->fence && --n == 0)
            break;
    }
    return found;
}

/* Retires up to that one if it is complete. */
static bool retire_nth(struct tsl_track *track, unsigned n)
{
    struct tsl_op *op = nth_fenced(track, n);
    return op && tsl_op_ask(op) <= CL_COMPLETE;
}

/* Notices what has finished, so that long runs without any wait don't pile up. To ask a driver may cost as much as to
 * submit, so each question is about twice as many as the one before. */
static void retire_old(struct tsl_track *track)
{
    for (unsigned n = 1; retire_nth(track, n); n *= 2)
        ;
}

static void drop_waits(fences *waits)
{
    for (unsigned i = 0; i < waits->n; i++)
        tsl_fence_unref(*TSL_SMALL_AT(waits, i));
    TSL_SMALL_FINISH(waits);
}

static void note(struct tsl_op *op, const struct submission *s, cl_int status)
{
    op->fence = s->fence;
    op->start_ns = s->start_ns;
    op->end_ns = s->end_ns;
    if (!op->poison && s->poison) { /* It may have been poisoned while the lock was given. */
        tsl_op_report(op, s->poison);
        op->poison = s->poison;
    }
    if (op->poison)
        tsl_op_doom_next(op);
    if (op->port->sync)
        tsl_op_finish(op, status);
    else
        after_submission(op, status);
}

static void submit_op(struct tsl_op *op)
{
    if (op->kind == TSL_OP_ROOM) {
        tsl_room_run(op);
        return;
    }
    struct tsl_graph *graph = op->port->graph;
    fences waits = {0};
    bool sync = op->port->sync;
    op->user.refs++;
    tsl_track_pin(track_of(op)); /* Another thread may notice the end before this one is through. */
    collect_waits(op, &waits);
    struct submission s = {.op = op,
                           .waits = {.n = waits.n, .fences = TSL_SMALL_AT(&waits, 0)},
                           .wants_fence = sync ? !tsl_is_host(op->port) : wants_fence(op),
                           .poison = op->poison};
    op->unfenced = !s.wants_fence && !sync;
    op->submit_ns = tsl_stamp(op->command);
    if (op->track)
        op->track->given = op->user.order;
    tsl_register_count(op);
    tsl_graph_open(graph);
    cl_int status = sync ? run_sync(&s) : submit_or_mark(&s);
    drop_waits(&waits);
    tsl_graph_close(graph);
    note(op, &s, status);
    if (!sync && ++op->track->n_submitted % FENCE_EVERY == 0)
        retire_old(op->track);
    tsl_track_unpin(track_of(op));
    tsl_op_unref(op);
}

/* Is one of these on the track, between `from` and `to` in the port's list? */
static bool track_waits(const struct tsl_op *from, const struct tsl_op *to)
{
    for (; from != to; from = STAILQ_NEXT(from, ready))
        if (from->track == to->track)
            return true;
    return false;
}

/* Everything that it waits for is with the driver: its lane's order, and other lanes' fences. */
static bool can_go_ahead(struct tsl_op *op, const struct tsl_op *of)
{
    if (op->kind == TSL_OP_ROOM)
        return true; /* All that it waits for is done. */
    if (op->kind != TSL_OP_LAUNCH || op->track == of->track || track_waits(STAILQ_FIRST(&op->port->ready), op))
        return false;
    for (unsigned i = 0; i < op->natives.n; i++)
        if ((*TSL_SMALL_AT(&op->natives, i))->state < TSL_OP_SUBMITTED)
            return false;
    return true;
}

bool tsl_submit_ahead(struct tsl_op *of)
{
    struct tsl_port *port = of->port;
    struct tsl_op *op;
    if (port->sync || port->ahead) /* There the list is the order; and one that can't be submitted is enough. */
        return false;
    STAILQ_FOREACH(op, &port->ready, ready)
    if (can_go_ahead(op, of)) {
        STAILQ_REMOVE(&port->ready, op, tsl_op, ready);
        port->ahead = true;
        submit_op(op);
        port->ahead = false;
        return true;
    }
    return false;
}

/* ---- Ports ----------------------------------------------------------------------------------------------------------
 */

void tsl_port_drain(struct tsl_port *port)
{
    struct tsl_op *op;
    if (port->draining)
        return; /* The other thread sees what was added. */
    port->draining = true;
    while ((op = STAILQ_FIRST(&port->ready))) {
        STAILQ_REMOVE_HEAD(&port->ready, ready);
        submit_op(op);
    }
    port->draining = false;
}

/* Threads of ours for work that executes inside the submitting call: one for the host's copies, one for the
 * application's host tasks, one for each member that works so. They are never joined, so they belong to the process. */
static struct tsl_worker host_worker = TSL_VENDORS_WORKER("tesela-host");
static struct tsl_worker task_worker = TSL_WORKER("tesela-task");
static struct tsl_worker member_workers[TSL_MAX_MEMBERS];
static pthread_once_t workers_once = PTHREAD_ONCE_INIT;

static void init_workers(void)
{
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++)
        member_workers[i] = (struct tsl_worker)TSL_VENDORS_WORKER("tesela-member");
}

static void drain_job(struct tsl_job *job)
{
    struct tsl_port *port = (struct tsl_port *)((char *)job - offsetof(struct tsl_port, job));
    struct tsl_graph *graph = port->graph;
    struct tsl_context *context = graph->context;
    tsl_lock_take(&graph->lock);
    port->posted = false;
    tsl_port_drain(port);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    tsl_object_unref(&context->object);
}

void tsl_port_init(struct tsl_port *port, struct tsl_graph *graph, struct tsl_member *member, unsigned index)
{
    bool host = index == TSL_HOST_INDEX;
    pthread_once(&workers_once, init_workers);
    *port = (struct tsl_port){.graph = graph, .member = member, .index = index, .job.run = drain_job};
    port->space = host || member->caps.zero_copy ? TSL_SPACE_HOST : TSL_SPACE_MEMBER(index);
    port->sync = host || member->caps.submits_block;
    port->name = host ? "host" : member->path->id;
    port->worker = port == &graph->tasks  ? &task_worker
                   : port == &graph->host ? &host_worker
                                          : &member_workers[member->index];
    STAILQ_INIT(&port->ready);
    TAILQ_INIT(&port->seats);
    TAILQ_INIT(&port->launches);
    tsl_track_init(&port->up, port, NULL, tsl_trace_on()); /* Nobody else asks for the times of moves. */
    tsl_track_init(&port->down, port, NULL, tsl_trace_on());
    tsl_track_init(&port->timed_up, port, NULL, true);
    tsl_track_init(&port->timed_down, port, NULL, true);
}

void tsl_port_finish(struct tsl_port *port)
{
    tsl_track_finish(&port->up);
    tsl_track_finish(&port->down);
    tsl_track_finish(&port->timed_up);
    tsl_track_finish(&port->timed_down);
}
