/* Fences → operations that are done → commands. */
#include "graph/complete.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/small_vector.h"
#include "driver/driver.h"
#include "graph/choose.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/failure_log.h"
#include "graph/lane.h"
#include "graph/memory_order.h"
#include "graph/move_failed.h"
#include "graph/op.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/record.h"
#include "graph/redo.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/undo.h"
#include "handle/object.h"
#include "place/place.h"
#include "program/program.h"

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* When the operation ran, as far as is known: what its lane told, or, of a launch that was watched, what we saw. */
static void times_of(const struct tsl_op *op, uint64_t *start_ns, uint64_t *end_ns)
{
    *start_ns = op->start_ns;
    *end_ns = op->end_ns;
    if (*end_ns > *start_ns || !op->timed || !tsl_op_share(op)->placement.watch)
        return;
    *start_ns = op->submit_ns > op->port->ended_ns ? op->submit_ns : op->port->ended_ns;
    *end_ns = tsl_clock_ns();
}

/* Launches that a queue has side by side take the member in turns: a device tells of each from when its lane came to
 * it. So that all together don't take more than the time that went by, each counts from the end of the one before. */
static void share_times(struct tsl_port *port, uint64_t *start_ns, uint64_t end_ns)
{
    if (*start_ns < port->abreast_end_ns)
        *start_ns = port->abreast_end_ns < end_ns ? port->abreast_end_ns : end_ns;
    if (end_ns > port->abreast_end_ns)
        port->abreast_end_ns = end_ns;
}

/* What a piece of a joint took. */
static void tell_joint(const struct tsl_op *op)
{
    struct tsl_placer *placer = op->port->graph->placer;
    uint64_t size = op->region[0], ns = op->end_ns - op->start_ns;
    if (op->status < 0 || op->end_ns <= op->start_ns)
        return;
    if (op->kind == TSL_OP_COPY && op->src.space != op->dst.space)
        tsl_placer_moved(placer, op->src.space, op->dst.space, size, ns);
    else
        tsl_placer_worked(placer, op->port->index, tsl_op_work(op), size, ns);
}

static void tell_placer(struct tsl_op *op)
{
    uint64_t start_ns = 0, end_ns = 0;
    bool moves = op->move || (op->slice && !op->from_slice); /* Or it is between an area and the host. */
    if (moves && op->status >= 0 && op->end_ns > op->start_ns)
        tsl_placer_moved(op->port->graph->placer, tsl_space_of_link(op->dst.data, op->src.space),
                         tsl_space_of_link(op->dst.data, op->dst.space), tsl_op_bytes(op), op->end_ns - op->start_ns);
    if (op->joining)
        tell_joint(op);
    if (op->kind != TSL_OP_LAUNCH || !tsl_op_share(op)->placement.placed)
        return;
    if (op->status >= 0)
        times_of(op, &start_ns, &end_ns);
    if (op->command->queue->n_abreast > 1)
        share_times(op->port, &start_ns, end_ns);
    tsl_place_ended(op->command, tsl_op_share(op), start_ns, end_ns);
    tsl_place_drop_launch(op);
    op->port->ended_ns = tsl_clock_ns();
}

static void note_run(const struct tsl_op *op)
{
    if (op->kind == TSL_OP_LAUNCH && op->status >= 0)
        op->command->kernel->parts[op->port->index].has_run = true;
}

static bool is_forgiven(struct tsl_op *op)
{
    return op->command->may_redo && tsl_redo_forgives(op);
}

void tsl_op_finish(struct tsl_op *op, cl_int status)
{
    struct tsl_command *command = op->command;
    struct tsl_graph *graph = op->port->graph;
    if (op->state == TSL_OP_SUBMITTED && op->lane && !op->port->sync)
        TAILQ_REMOVE(&op->lane->flight, op, flight);
    op->state = TSL_OP_DONE;
    if (!op->poison && status < 0)
        tsl_failure_log_op(op, status);
    op->status = op->poison ? op->poison : status < 0 ? status : CL_COMPLETE;
    if (op->status < 0 && op->has_rollback)
        tsl_undo_claims(op);
    if (op->status < 0 && op->move)
        tsl_move_failed(op);
    if (op->status < 0 && op->spoils)
        tsl_move_spoiled(op);
    tsl_user_end(&op->user);
    tsl_op_forget_befores(op);
    op->port->n_pending--;
    graph->n_under_way--;
    graph->n_tasks -= op->kind == TSL_OP_NATIVE && !command->own_task;
    tsl_claim_forget_host(op);
    note_run(op);
    tell_placer(op);
    tsl_record_op(op);
    if (op->status < 0 && !is_forgiven(op) && !op->is_side && command->status == CL_COMPLETE)
        command->status = op->unfed && !op->misfed ? CL_DEVICE_NOT_AVAILABLE : op->status;
    tsl_op_pass_on(op);
    if (command->kernel && command->n_undone == 1)
        tsl_place_complete(command);
    tsl_command_step(command);
    tsl_command_unref(command);
    op->command = NULL;
    tsl_op_unref(op);
    tsl_memory_order_next(graph);
}

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

/* Waits for the fence. Nobody else may flush a mark that was made late. */
static cl_int wait_flushed(struct tsl_op *op, struct tsl_fence *fence)
{
    cl_int error = fence->driver->flush(op->lane->driver_lane);
    return error ? tsl_graph_lane_wait(op, fence) : fence->driver->fence_wait(fence);
}

/* When the operation ran, which its fence tells; of one with several pieces two fences. Blocks as the driver does. */
static struct tsl_times times_by(struct tsl_fence *fence, struct tsl_fence *first)
{
    struct tsl_times times, begun;
    if (fence->driver->fence_times(fence, &times) != CL_SUCCESS)
        return (struct tsl_times){0, 0};
    if (first && first->driver->fence_times(first, &begun) == CL_SUCCESS && begun.start_ns < times.start_ns)
        times.start_ns = begun.start_ns;
    return times;
}

/* The status and the times of an operation that is complete because a later one of its lane is. The driver is asked for
 * a status that is not known yet, and for times that somebody wants. lost: the later operation's member is lost. Then
 * this one is waited for: its work may still be writing to the host's memory. The lock is given meanwhile. */
static cl_int final_status(struct tsl_op *op, bool known, cl_int status, bool lost)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_times times = {0, 0};
    if (!op->fence || (known && !op->timed))
        return known ? status : CL_COMPLETE;
    struct tsl_fence *fence = tsl_fence_ref(op->fence);
    bool timed = op->timed;
    tsl_graph_lane_ref(op->lane);
    tsl_graph_open(graph);
    if (!known)
        status = fence->driver->fence_status(fence);
    /* Some vendors complete a later event first: the earlier one may fail yet. A fence that was made late is a mark
     * behind the operation, and tells nothing of it. */
    if (status > CL_COMPLETE)
        status = op->unfenced && !lost ? CL_COMPLETE : wait_flushed(op, fence);
    if (timed && status >= 0)
        times = times_by(fence, tsl_op_first_fence(op));
    tsl_graph_close(graph);
    tsl_graph_lane_unref(op->lane);
    tsl_fence_unref(fence); /* Not the last reference: the operation has another, and this thread has the operation. */
    op->start_ns = times.start_ns;
    op->end_ns = times.end_ns;
    return status;
}

static struct tsl_op *submitted_before(const struct tsl_op *op)
{
    for (unsigned i = 0; i < op->natives.n; i++)
        if ((*TSL_SMALL_AT(&op->natives, i))->state == TSL_OP_SUBMITTED)
            return *TSL_SMALL_AT(&op->natives, i);
    for (unsigned i = 0; i < op->gates.n; i++)
        if ((*TSL_SMALL_AT(&op->gates, i))->state == TSL_OP_SUBMITTED)
            return *TSL_SMALL_AT(&op->gates, i);
    return NULL;
}

/* The first operation whose end is to be noticed before op's. If op is complete, so is all that is before it on its
 * lane and all that it waits for natively. How these ended decides how op ended, so their ends are noticed first: a
 * driver knows nothing of an operation that never got to it, or that was only before op in its lane. *last: on the way
 * there the last operation that another lane waits for; op if there is none. */
static struct tsl_op *earliest(struct tsl_op *op, struct tsl_op **last)
{
    *last = op;
    for (;;) {
        struct tsl_op *before = TAILQ_FIRST(&op->lane->flight);
        if (before == op && (before = submitted_before(op)))
            *last = before;
        if (!before)
            return op;
        op = before;
    }
}

/* Did it fail, and is its member lost (driver/member.h)? Then work of its lane may have been lost before it, too. */
static bool ended_lost(const struct tsl_op *op, cl_int status)
{
    return status < 0 && op->port->member && tsl_member_is_lost(op->port->member);
}

/* Has the driver work with the operation when the device is through with it: bytes that come from or go to the host? */
static bool ends_on_host(const struct tsl_op *op)
{
    return op->kind == TSL_OP_COPY && (op->src.space == TSL_SPACE_HOST || op->dst.space == TSL_SPACE_HOST);
}

/* Does op's good end say that `first`, which it came after, has ended well? Where what comes after a failure fails, it
 * does. */
static bool tells_of(const struct tsl_op *op, const struct tsl_op *first, cl_int status)
{
    return first == op || (status == CL_COMPLETE && first->port == op->port && op->port->member->driver->fails_on &&
                           !ends_on_host(first));
}

/* Retires `first`, which earliest() found for op. status: op's. The lock is given meanwhile. */
static void retire_first(struct tsl_op *op, struct tsl_op *first, cl_int status)
{
    first->user.refs++;
    cl_int s = final_status(first, tells_of(op, first, status), status, ended_lost(op, status));
    if (s == CL_COMPLETE && first->unfenced)
        s = tsl_graph_lane_status(first);
    if (s < 0 && first->pieces) {
        tsl_graph_open(first->port->graph);
        s = tsl_op_cause(first, s);
        tsl_graph_close(first->port->graph);
    }
    /* While the lock was given another thread may have retired the operation. */
    if (first->state == TSL_OP_SUBMITTED)
        tsl_op_finish(first, s < 0 ? s : CL_COMPLETE);
    tsl_op_unref(first);
}

/* The operation whose driver must be asked how `first` ended; NULL: op tells it. An operation of another lane is asked
 * for itself: op may only come after it, or have failed because of another one. What a lost member had without a fence
 * may be lost, too, or still be running: only its lane tells. */
static struct tsl_op *witness(struct tsl_op *op, struct tsl_op *first, struct tsl_op *last, cl_int status)
{
    if (last != op && last->fence)
        return last;
    return ended_lost(op, status) && first != op && !first->fence ? first : NULL;
}

void tsl_op_retire(struct tsl_op *op, cl_int status)
{
    op->user.refs++;
    while (op->state == TSL_OP_SUBMITTED) {
        struct tsl_op *last, *first = earliest(op, &last), *asked = witness(op, first, last, status);
        if (asked)
            tsl_op_pull(asked);
        else
            retire_first(op, first, status);
    }
    tsl_op_unref(op);
}

void tsl_op_pull(struct tsl_op *op)
{
    op->user.refs++;
    cl_int status = tsl_op_wait(op);
    if (op->state == TSL_OP_SUBMITTED)
        tsl_op_retire(op, status);
    tsl_op_unref(op);
}

/* Op's error tells nothing of the operations before it. These are over: submit.c has waited for them. */
void tsl_op_retire_refused(struct tsl_op *op, cl_int error)
{
    struct tsl_op *first, *last;
    op->user.refs++;
    while (op->state == TSL_OP_SUBMITTED && (first = earliest(op, &last)) != op)
        tsl_op_pull(last != op ? last : first);
    if (op->state == TSL_OP_SUBMITTED)
        tsl_op_retire(op, error);
    tsl_op_unref(op);
}

cl_int tsl_op_ask(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_fence *fence = tsl_fence_ref(op->fence);
    op->user.refs++;
    tsl_graph_open(graph);
    cl_int status = fence->driver->fence_status(fence);
    tsl_fence_unref(fence);
    tsl_graph_close(graph);
    if (status <= CL_COMPLETE && op->state == TSL_OP_SUBMITTED)
        tsl_op_retire(op, status);
    tsl_op_unref(op);
    return status;
}

/* The first operation from `first` on, but before op, whose driver can tell how it ended; NULL: none. */
static struct tsl_op *next_fenced(struct tsl_op *first, const struct tsl_op *op)
{
    while (first && first != op && !first->fence)
        first = TAILQ_NEXT(first, flight);
    return first != op ? first : NULL;
}

bool tsl_op_retire_before(struct tsl_op *op)
{
    struct tsl_op *first, *last, *asked;
    cl_int status = CL_COMPLETE;
    op->user.refs++;
    while (status <= CL_COMPLETE && op->state == TSL_OP_SUBMITTED && (first = earliest(op, &last)) != op) {
        asked = next_fenced(first, op);
        status = asked ? tsl_op_ask(asked) : CL_SUBMITTED;
    }
    tsl_op_unref(op);
    return status <= CL_COMPLETE;
}

/* So many notes are looked through for each that comes. */
#define MOST_NOTES 8

/* Edges from the operation that lead where `edge` leads and aren't met. */
static unsigned unmet_like(const struct tsl_op *op, const struct tsl_edge *edge)
{
    unsigned n = 0;
    for (unsigned i = 0; i < op->out.n; i++) {
        const struct tsl_edge *e = TSL_SMALL_AT(&op->out, i);
        n += e->unmet && e->to == edge->to && e->to_command == edge->to_command;
    }
    return n;
}

/* So much of what the command has undone is over with the operation: it may be the command's own, and the command may
 * wait for it. */
static unsigned undone_with(const struct tsl_op *op, const struct tsl_command *c)
{
    const struct tsl_edge like = {.to_command = (struct tsl_command *)(uintptr_t)c};
    return (op->state != TSL_OP_DONE && op->command == c) + unmet_like(op, &like);
}

/* Has the command undone what is neither over with the operation nor with those of which it was told? */
static bool has_more_undone(const struct tsl_op *op, const struct tsl_command *c)
{
    unsigned n_told = undone_with(op, c);
    const struct tsl_op *told;
    STAILQ_FOREACH(told, &op->port->graph->signalled, ready)
    n_told += undone_with(told, c);
    return c->n_undone > n_told;
}

/* Does what the edge leads to come after something else, too, whose end nobody has told yet? Whoever notices that end
 * handles all notes. */
static bool waits_for_others(const struct tsl_op *op, const struct tsl_edge *edge)
{
    if (!edge->to)
        return has_more_undone(op, edge->to_command);
    unsigned n_told = unmet_like(op, edge);
    const struct tsl_op *told;
    STAILQ_FOREACH(told, &op->port->graph->signalled, ready)
    n_told += unmet_like(told, edge);
    return edge->to->n_unmet > n_told;
}

static bool has_room_for_notes(const struct tsl_graph *graph)
{
    const struct tsl_op *told;
    unsigned n = 0;
    STAILQ_FOREACH(told, &graph->signalled, ready)
    n++;
    return n < MOST_NOTES;
}

/* Is the command's end seen by nothing but what its operations' edges lead to? It is behind another command of its
 * queue, or nothing has an interest in it, and the command behind it isn't complete. */
static bool is_unseen(const struct tsl_command *c)
{
    const struct tsl_command *next = TAILQ_NEXT(c, link);
    if (!c->in_order)
        return false;
    return TAILQ_FIRST(&c->queue->commands) != c ||
           (!c->has_event && !c->awaited && !c->callbacks && next && next->state != TSL_COMPLETE);
}

/* Is it a launch as a whole, for whose end nothing else looks? */
static bool is_plain_launch(const struct tsl_op *op)
{
    const struct tsl_command *c = op->command;
    return op->kind == TSL_OP_LAUNCH && c->n_more == 0 && !c->joints && !c->is_lead && !c->lead && !c->barrier &&
           !c->chain_watch && !c->may_redo && !tsl_op_share(op)->placement.watch &&
           STAILQ_EMPTY(&op->port->graph->later);
}

/* Can the note wait for the next thread that comes along? One will, to notice another end, and handles all notes. The
 * operation's end was noticed already, or it is a move, or a launch whose end is seen by nothing else, for which
 * nothing waits alone: what comes after it comes after something else, too, that isn't done. Mostly that is a host
 * task, which waits for the task before it. */
static bool opens_nothing(const struct tsl_op *op)
{
    if (op->state == TSL_OP_DONE)
        return op->port->graph->n_under_way > 0;
    if (op->port->graph->memory_order ||
        !(op->move ? has_more_undone(op, op->command) : is_plain_launch(op) && is_unseen(op->command)))
        return false;
    for (unsigned i = 0; i < op->out.n; i++) {
        const struct tsl_edge *edge = TSL_SMALL_AT(&op->out, i);
        if (edge->unmet && !waits_for_others(op, edge))
            return false;
    }
    return op->out.n > 0;
}

/* Called by any thread, maybe inside a driver call, so it only takes a note. The note has a reference to the operation
 * and one to the context, which keeps the graph alive; whoever handles the note drops them. That is the bridge thread,
 * but where a thread of the application's is about to notice the same end. */
static void on_fence(void *arg, cl_int status)
{
    struct tsl_op *op = arg;
    struct tsl_graph *graph = op->port->graph;
    atomic_fetch_add_explicit(&graph->n_wanting, 1, memory_order_relaxed);
    tsl_lock_take(&graph->lock);
    atomic_fetch_sub_explicit(&graph->n_wanting, 1, memory_order_relaxed);
    op->signal_status = status;
    bool can_wait = status == CL_COMPLETE && has_room_for_notes(graph) && opens_nothing(op);
    STAILQ_INSERT_TAIL(&graph->signalled, op, ready);
    bool posts = !can_wait && !op->n_awaiting && tsl_graph_will_post(graph);
    tsl_lock_give(&graph->lock);
    if (posts)
        tsl_graph_post_now(graph);
}

void tsl_complete_signalled(struct tsl_graph *graph)
{
    struct tsl_op *op;
    while ((op = STAILQ_FIRST(&graph->signalled))) {
        STAILQ_REMOVE_HEAD(&graph->signalled, ready);
        if (op->state == TSL_OP_SUBMITTED)
            tsl_op_retire(op, op->signal_status);
        tsl_op_unref(op);
        graph->surplus_refs++;
    }
}

/* A late fence is made by a mark, and so also waits for what was submitted after the operation. */
struct tsl_fence *tsl_op_fence(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    if (op->fence || !op->lane->driver_lane)
        return op->fence;
    struct tsl_fence *fence = NULL;
    tsl_graph_lane_ref(op->lane);
    tsl_graph_open(graph);
    op->port->member->driver->mark(op->lane->driver_lane, NULL, &fence);
    tsl_graph_close(graph);
    op->lane->n_dirty++;
    tsl_graph_lane_unref(op->lane);
    if (op->fence && fence) { /* Another thread has made one. */
        tsl_graph_open(graph);
        tsl_fence_unref(fence);
        tsl_graph_close(graph);
    } else if (fence) {
        op->fence = fence;
    }
    return op->fence;
}

static void notify(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_fence *fence = tsl_op_fence(op);
    const struct tsl_driver *driver = op->port->member->driver;
    bool sent = tsl_graph_lane_flush(op->lane);
    if (op->state != TSL_OP_SUBMITTED || op->notified)
        return;
    op->notified = true;
    op->user.refs++;
    tsl_object_ref(&graph->context->object);
    if (fence)
        tsl_fence_ref(fence);
    tsl_graph_open(graph);
    if (!fence || !sent)
        on_fence(op, tsl_graph_lane_wait(op, fence));
    else if (driver->fence_notify(fence, on_fence, op) != CL_SUCCESS)
        on_fence(op, driver->fence_wait(fence)); /* The driver can't notify: this thread waits. */
    tsl_fence_unref(fence);
    tsl_graph_close(graph);
}

static void watch(struct tsl_op *op)
{
    tsl_graph_lane_ref(op->lane);
    notify(op);
    tsl_graph_lane_unref(op->lane);
}

void tsl_complete_watched(struct tsl_graph *graph)
{
    struct tsl_op *op;
    while ((op = STAILQ_FIRST(&graph->to_watch))) {
        STAILQ_REMOVE_HEAD(&graph->to_watch, ready);
        if (op->state == TSL_OP_SUBMITTED)
            watch(op);
        tsl_op_unref(op);
    }
}
