/* Ready operations → drivers. A port is drained by one thread at a time, in the order in which operations became ready,
 * so that same-member edges hold: whoever is waited for natively was submitted before. The graph's lock is given for
 * each driver call. */
#include "graph/submit.h"

#include "base/busy.h"
#include "base/clock.h"
#include "base/small_vector.h"
#include "driver/driver.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/driver_call.h"
#include "graph/evict_run.h"
#include "graph/failure_log.h"
#include "graph/lane.h"
#include "graph/make_room.h"
#include "graph/op.h"
#include "graph/pinning.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/state.h"
#include "graph/submit_waits.h"
#include "trace/trace.h"

/* So many submissions of a lane may go without a fence before one is asked for, so that ends are noticed. */
#define FENCE_EVERY 64

/* ---- One operation ----------------------------------------------------------------------------------------------- */

/* One submission, while it is under way. */
struct submission {
    struct tsl_op *op;
    struct tsl_waits waits;
    bool wants_fence;
    cl_int poison;             /* in: the operation's; out: that, or why the submission was refused */
    struct tsl_fence *fence;   /* out */
    uint64_t start_ns, end_ns; /* out, of synchronous ports */
};

static bool submit_ahead(struct tsl_op *of);

static cl_int submit(struct submission *s, struct tsl_lane *lane, struct tsl_fence **fence)
{
    s->op->port->lacking = s->op->port;
    return tsl_driver_call(s->op, lane, &s->waits, fence);
}

/* Submits; where the driver has no memory for that, room is made. */
static cl_int submit_in_room(struct submission *s, struct tsl_lane *lane, struct tsl_fence **fence)
{
    struct tsl_port *port = s->op->port;
    cl_int error = submit(s, lane, fence);
    for (bool first = true; tsl_make_room_helps(port, error) && tsl_make_room(s->op, first, submit_ahead);
         first = false)
        error = submit(s, lane, fence);
    if (!error)
        port->fresh_size = 0;
    return error;
}

/* Nothing could be submitted, not even a mark. What comes next counts on all before it, so this thread waits for that.
 * All of it is with the drivers, and needs no thread of ours. */
static void wait_for_befores(const struct submission *s)
{
    for (unsigned i = 0; i < s->waits.n; i++)
        s->waits.fences[i]->driver->fence_wait(s->waits.fences[i]);
    tsl_graph_lane_wait(s->op, NULL);
}

static cl_int submit_or_mark(struct submission *s)
{
    struct tsl_graph_lane *lane = tsl_op_lane(s->op);
    struct tsl_fence **fence = s->wants_fence || s->poison ? &s->fence : NULL;
    cl_int error = tsl_graph_lane_make(lane);
    if (error) {
        wait_for_befores(s);
        return error;
    }
    if (!s->poison) {
        error = submit_in_room(s, lane->driver_lane, fence);
        if (!error)
            return CL_SUCCESS;
        s->poison = error;
    }
    error = lane->driver_lane->member->driver->mark(lane->driver_lane, &s->waits, &s->fence);
    if (error)
        wait_for_befores(s);
    return error;
}

/* Is a fence wanted? It is also where the operation may turn out not to have run: what comes after it must not run
 * either, and learns that from the fence. */
static bool wants_fence(const struct tsl_op *op)
{
    return op->want_fence || op->natives.n > 0 || op->gates.n > 0 || op->watched || op->poison ||
           op->lane->n_unfenced + 1 >= FENCE_EVERY || op->command->profile || tsl_trace_on() ||
           op->port->graph->memory_order;
}

/* On synchronous ports: the work is done when this returns. */
static cl_int run_sync(struct submission *s)
{
    const struct tsl_driver *driver = s->op->port->member->driver;
    s->start_ns = tsl_clock_ns();
    cl_int status = submit_or_mark(s);
    if (s->fence) {
        struct tsl_lane *lane = tsl_op_lane(s->op)->driver_lane;
        status = driver->flush(lane) ? tsl_graph_lane_wait(s->op, s->fence) : driver->fence_wait(s->fence);
        status = tsl_op_cause(s->op, status);
    }
    s->end_ns = tsl_clock_ns();
    return status;
}

static inline void after_submission(struct tsl_op *op, cl_int error)
{
    struct tsl_graph_lane *lane = op->lane;
    TAILQ_INSERT_TAIL(&lane->flight, op, flight);
    if (error) { /* Not even a mark could be submitted: the operation is over, and so is all that it came after. */
        if (!op->poison) {
            tsl_failure_log_op(op, error);
            op->poison = error;
            op->refused = true;
        }
        tsl_op_submitted(op);
        tsl_op_retire_refused(op, error);
        return;
    }
    lane->n_dirty++;
    lane->n_unfenced = op->fence ? 0 : lane->n_unfenced + 1;
    tsl_op_submitted(op);
    if (op->watched || op->port->graph->memory_order) {
        op->watched = true;
        op->user.refs++;
        STAILQ_INSERT_TAIL(&op->port->graph->to_watch, op, ready);
    }
    tsl_graph_changed(op->port->graph);
    if (!op->command->flushed)
        return;
    if (op->port->member->driver->flushes_all)
        tsl_port_send_later(lane);
    else
        tsl_graph_lane_flush(lane);
}

/* The n-th oldest operation on its way that has a fence, or the newest that has one if there are fewer; NULL: none has.
 */
static struct tsl_op *nth_fenced(struct tsl_graph_lane *lane, unsigned n)
{
    struct tsl_op *found = NULL, *op;
    TAILQ_FOREACH(op, &lane->flight, flight)
    {
        if (op->fence)
            found = op;
        if (op->fence && --n == 0)
            break;
    }
    return found;
}

/* Retires all up to that operation if it is complete. */
static bool retire_nth(struct tsl_graph_lane *lane, unsigned n)
{
    struct tsl_op *op = nth_fenced(lane, n);
    return op && tsl_op_ask(op) <= CL_COMPLETE;
}

/* Notices what has ended, so that long runs without any wait don't pile up. To ask a driver may cost as much as to
 * submit, so each question is about twice as many operations as the one before. */
static void retire_old(struct tsl_graph_lane *lane)
{
    for (unsigned n = 1; retire_nth(lane, n); n *= 2)
        ;
}

static inline void note(struct tsl_op *op, const struct submission *s, cl_int status)
{
    op->fence = s->fence;
    op->start_ns = s->start_ns;
    op->end_ns = s->end_ns;
    if (!op->poison && s->poison) { /* The operation may have been poisoned while the lock was given. */
        tsl_failure_log_op(op, s->poison);
        op->poison = s->poison;
        op->refused = true;
    }
    if (op->poison)
        tsl_op_doom_next(op);
    if (op->port->sync)
        tsl_op_finish(op, status);
    else
        after_submission(op, status);
}

/* NULL: none could be had. The graph is open. */
static struct tsl_fence *mark_behind(const struct tsl_op *op)
{
    struct tsl_lane *lane = op->lane->driver_lane;
    struct tsl_fence *mark = NULL;
    lane->member->driver->mark(lane, NULL, &mark);
    return mark;
}

static void submit_op(struct tsl_op *op)
{
    if (op->kind == TSL_OP_EVICT) {
        tsl_evict_run(op);
        return;
    }
    struct tsl_graph *graph = op->port->graph;
    tsl_fences waits = {0};
    bool sync = op->port->sync;
    op->user.refs++;
    tsl_graph_lane_ref(tsl_op_lane(op)); /* Another thread may notice the end before this one is through. */
    tsl_submit_waits_collect(op, &waits);
    struct submission s = {.op = op,
                           .waits = {.n = waits.n, .fences = TSL_SMALL_AT(&waits, 0)},
                           .wants_fence = sync ? !tsl_port_is_host(op->port) : wants_fence(op),
                           .poison = op->poison};
    op->unfenced = !s.wants_fence && !sync;
    op->submit_ns = tsl_command_stamp(op->command);
    if (op->lane)
        op->lane->given = op->user.order;
    tsl_pinning_count(op);
    tsl_graph_open(graph);
    cl_int status = sync ? run_sync(&s) : submit_or_mark(&s);
    struct tsl_fence *mark = op->want_mark && !sync && !status ? mark_behind(op) : NULL;
    tsl_submit_waits_drop(&waits);
    tsl_graph_close(graph);
    op->mark = mark;
    note(op, &s, status);
    if (!sync && ++op->lane->n_submitted % FENCE_EVERY == 0)
        retire_old(op->lane);
    tsl_graph_lane_unref(tsl_op_lane(op));
    tsl_op_unref(op);
}

void tsl_submit_task(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct submission s = {.op = op, .poison = op->poison};
    op->user.refs++;
    op->submit_ns = tsl_command_stamp(op->command);
    tsl_graph_open(graph);
    tsl_busy_begin();
    s.start_ns = tsl_clock_ns();
    if (!s.poison)
        s.poison = tsl_driver_call(op, NULL, NULL, NULL);
    s.end_ns = tsl_clock_ns();
    tsl_busy_end();
    tsl_graph_close(graph);
    note(op, &s, CL_COMPLETE);
    tsl_op_unref(op);
}

bool tsl_task_is_before(const struct tsl_op *task, const struct tsl_command *command)
{
    const struct tsl_command *of = task->command;
    return of == command || (command->in_order && of->queue == command->queue && of->id <= command->id);
}

struct tsl_op *tsl_port_take_task(struct tsl_port *tasks, const struct tsl_command *command)
{
    struct tsl_op *op;
    STAILQ_FOREACH(op, &tasks->ready, ready)
    if (!command || tsl_task_is_before(op, command)) {
        STAILQ_REMOVE(&tasks->ready, op, tsl_op, ready);
        return op;
    }
    return NULL;
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* Is an operation between `from` and `to` in the port's list on the lane of `to`? */
static bool lane_waits(const struct tsl_op *from, const struct tsl_op *to)
{
    for (; from != to; from = STAILQ_NEXT(from, ready))
        if (from->lane == to->lane)
            return true;
    return false;
}

/* Can op be submitted before `of`, which is next? Everything that op waits for must be with the driver: its lane's
 * order, and other lanes' fences. */
static bool can_go_ahead(struct tsl_op *op, const struct tsl_op *of)
{
    if (op->kind == TSL_OP_EVICT)
        return true; /* An eviction's needs are all done. */
    if (op->kind != TSL_OP_LAUNCH || op->lane == of->lane || lane_waits(STAILQ_FIRST(&op->port->ready), op))
        return false;
    for (unsigned i = 0; i < op->natives.n; i++)
        if ((*TSL_SMALL_AT(&op->natives, i))->state < TSL_OP_SUBMITTED)
            return false;
    return true;
}

static bool submit_ahead(struct tsl_op *of)
{
    struct tsl_port *port = of->port;
    struct tsl_op *op;
    if (port->sync || port->ahead) /* On a synchronous port the list is the order; and one operation that can't be
                                      submitted is enough. */
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

void tsl_port_send_later(struct tsl_graph_lane *lane)
{
    struct tsl_port *port = lane->port;
    if (port->unsent)
        return;
    tsl_graph_lane_ref(lane);
    port->unsent = lane;
    STAILQ_INSERT_TAIL(&port->graph->ports_unsent, port, unsent_link);
}

void tsl_port_send(struct tsl_graph *graph)
{
    struct tsl_port *port = STAILQ_FIRST(&graph->ports_unsent);
    struct tsl_graph_lane *lane = port->unsent;
    STAILQ_REMOVE_HEAD(&graph->ports_unsent, unsent_link);
    port->unsent = NULL;
    tsl_graph_lane_flush(lane);
    tsl_graph_lane_unref(lane);
}

void tsl_port_drain(struct tsl_port *port)
{
    struct tsl_op *op;
    if (port->draining)
        return; /* The other thread sees what was added. */
    port->draining = true;
    atomic_fetch_add_explicit(&port->graph->n_draining, !port->sync, memory_order_relaxed);
    while ((op = STAILQ_FIRST(&port->ready))) {
        STAILQ_REMOVE_HEAD(&port->ready, ready);
        if (port->sync) /* This thread will be at that for long. */
            tsl_graph_leave_to_others(port->graph);
        submit_op(op);
    }
    atomic_fetch_sub_explicit(&port->graph->n_draining, !port->sync, memory_order_relaxed);
    port->draining = false;
}
