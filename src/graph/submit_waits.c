/* What a driver is to wait for before it runs an operation. */
#include "graph/submit_waits.h"

#include "base/lock.h"
#include "base/small_vector.h"
#include "driver/driver.h"
#include "graph/complete.h"
#include "graph/lane.h"
#include "graph/op.h"
#include "graph/state.h"
#include "graph/submit.h"

#include <stdlib.h>

/* `before` has no fence that the driver could wait for (a refused mark or flush, no memory): this thread waits for all
 * of its lane. */
TSL_UNCHECKED static void wait_for_lane(struct tsl_op *before)
{
    struct tsl_graph_lane *lane = before->lane;
    tsl_graph_lane_ref(lane);
    if (lane->driver_lane)
        tsl_graph_lane_finish_work(lane); /* The lane remembers what that told. */
    tsl_graph_lane_unref(lane);
}

static bool strictly_after(const struct tsl_op *op, const struct tsl_op *before)
{
    for (unsigned i = 0; i < before->out.n; i++)
        if (TSL_SMALL_AT(&before->out, i)->to == op && TSL_SMALL_AT(&before->out, i)->strict)
            return true;
    return false;
}

/* The same, and `before` is retired if its driver has it: perhaps only its lane can tell how it ended. If it failed,
 * op, which no driver would tell, fails with it where it is to. */
static void wait_here(struct tsl_op *before)
{
    if (before->state == TSL_OP_SUBMITTED)
        tsl_op_pull(before);
    else
        wait_for_lane(before);
}

/* A fence that completes well when `before` is done, however that ended: drivers fail what waits for a failed fence.
 * NULL: none could be had. */
static struct tsl_fence *mark_behind(struct tsl_op *before)
{
    struct tsl_graph *graph = before->port->graph;
    struct tsl_graph_lane *lane = before->lane;
    struct tsl_fence *fence = NULL;
    if (before->mark)
        return tsl_fence_ref(before->mark);
    if (!lane->driver_lane)
        return NULL;
    tsl_graph_lane_ref(lane);
    tsl_graph_open(graph);
    lane->port->member->driver->mark(lane->driver_lane, NULL, &fence);
    tsl_graph_close(graph);
    lane->n_dirty++;
    tsl_graph_lane_unref(lane);
    return fence;
}

/* Does its fence complete well, whatever failed before? It does behind nothing but its lane. */
static bool is_bare_mark(const struct tsl_op *op)
{
    return op->kind == TSL_OP_MARK && op->is_side;
}

/* No failure of `before` can come by its fence. */
static bool ends_well(const struct tsl_op *before)
{
    const struct tsl_driver *driver = before->port->member->driver;
    return before->fence && driver->fence_ends_well && driver->fence_ends_well(before->fence);
}

/* What the driver is to wait for, with a reference; NULL: nothing could be had. An operation without a fence keeps the
 * mark as a late fence: another lane can't tell whether it was lost. */
static struct tsl_fence *native_fence(struct tsl_op *op, struct tsl_op *before)
{
    if (!strictly_after(op, before) && !before->unfenced && !is_bare_mark(before) && !ends_well(before))
        return mark_behind(before);
    struct tsl_fence *fence = tsl_op_fence(before);
    return fence ? tsl_fence_ref(fence) : NULL;
}

/* Waits by a fence that is flushed, as waits between lanes need. The lane is referenced. A mark stands behind all that
 * its lane was given: none of that waits for op, which no driver has yet. */
static void wait_natively(struct tsl_op *op, struct tsl_op *before, tsl_fences *waits)
{
    struct tsl_fence *fence = native_fence(op, before);
    if (!fence || !TSL_SMALL_PUSH(waits, fence)) {
        wait_here(before);
        tsl_graph_open(op->port->graph);
        tsl_fence_unref(fence);
        tsl_graph_close(op->port->graph);
        return;
    }
    if (before->port == op->port && op->port->member->driver->flushes_all)
        return; /* It is sent with the operation itself. */
    if (!tsl_graph_lane_flush(before->lane))
        wait_for_lane(before);
}

/* Opens a gate when the operation before it, on another member, is complete. Runs in a driver's callback. */
struct opening {
    struct tsl_fence *gate;
    bool strict; /* a failure goes on; else what comes after runs all the same */
};

static void open_gate(void *arg, cl_int status)
{
    struct opening *opening = arg;
    const struct tsl_driver *driver = opening->gate->driver;
    driver->gate_open(opening->gate, status < 0 && opening->strict ? status : CL_COMPLETE);
    tsl_fence_unref(opening->gate);
    free(opening);
}

/* A gate on the member, which `fence` of another member opens; NULL: none could be had. Without the lock. */
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

/* What another member's work waits for must be sent, but members of one driver, whose flush is for all, can have theirs
 * sent together when all is submitted. The driver may have something to say there for the gate. */
static void send_before(const struct tsl_op *op, struct tsl_op *before)
{
    if (op->port->member->driver->flushes_all && op->port->member->driver == before->port->member->driver) {
        before->lane->n_dirty++;
        tsl_port_send_later(before->lane);
    } else if (!tsl_graph_lane_flush(before->lane)) {
        wait_for_lane(before);
    }
}

/* Waits for an operation on another member, which has this fence, referenced. The lane is referenced. */
static void wait_by_gate(struct tsl_op *op, struct tsl_op *before, struct tsl_fence *fence, tsl_fences *waits)
{
    struct tsl_graph *graph = op->port->graph;
    bool strict = strictly_after(op, before), failed = false;
    send_before(op, before);
    tsl_graph_open(graph);
    struct tsl_fence *gate = gate_for(op->port->member, fence, strict);
    if (!gate || !TSL_SMALL_PUSH(waits, gate)) { /* No gate could be had, or noted: this thread waits. */
        cl_int status = fence->driver->fence_wait(fence);
        tsl_fence_unref(gate);
        failed = status < 0 && strict;
    }
    tsl_graph_close(graph);
    if (failed && !op->poison)
        op->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

/* Waits for an operation on another member; a technology may order the work of two members by itself. The lane is
 * referenced. */
static void wait_for_other(struct tsl_op *op, struct tsl_op *before, tsl_fences *waits)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_fence *fence = tsl_op_fence(before);
    if (!fence) {
        wait_here(before);
        return;
    }
    tsl_fence_ref(fence);
    tsl_graph_open(graph);
    bool native = op->port->member->driver->can_wait(op->port->member, fence);
    tsl_graph_close(graph);
    if (native)
        wait_natively(op, before, waits);
    else
        wait_by_gate(op, before, fence, waits);
    tsl_graph_open(graph);
    tsl_fence_unref(fence);
    tsl_graph_close(graph);
}

/* Has the operation failed, as far as is known? An operation that waits for it by a late fence hears nothing of a
 * failure. */
static bool has_failed(const struct tsl_op *op)
{
    return op->poison || (op->unfenced && tsl_graph_lane_status(op) < 0);
}

/* An operation that failed before it got to its driver has left a mark there, and the mark doesn't fail. */
void tsl_submit_waits_collect(struct tsl_op *op, tsl_fences *waits)
{
    unsigned n = op->natives.n + op->gates.n;
    for (unsigned i = 0; i < n; i++) {
        bool native = i < op->natives.n;
        struct tsl_op *before = native ? *TSL_SMALL_AT(&op->natives, i) : *TSL_SMALL_AT(&op->gates, i - op->natives.n);
        if (before->user.done)
            continue;
        if (has_failed(before) && !op->poison && strictly_after(op, before))
            op->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        tsl_graph_lane_ref(before->lane);
        if (native)
            wait_natively(op, before, waits);
        else
            wait_for_other(op, before, waits);
        tsl_graph_lane_unref(before->lane);
    }
}

void tsl_submit_waits_drop(tsl_fences *waits)
{
    for (unsigned i = 0; i < waits->n; i++)
        tsl_fence_unref(*TSL_SMALL_AT(waits, i));
    TSL_SMALL_FINISH(waits);
}
