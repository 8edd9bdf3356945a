/* The graph's side of a driver's lanes. */
#include "graph/lane.h"

#include "base/lock.h"
#include "driver/driver.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/state.h"

void tsl_graph_lane_init(struct tsl_graph_lane *lane, struct tsl_port *port, struct tsl_graph_queue *queue,
                         unsigned use)
{
    *lane = (struct tsl_graph_lane){.port = port, .queue = queue, .use = use};
    TAILQ_INIT(&lane->flight);
}

void tsl_graph_lane_finish(struct tsl_graph_lane *lane)
{
    if (lane->driver_lane)
        lane->port->member->driver->lane_free(lane->driver_lane);
    lane->driver_lane = NULL;
}

cl_int tsl_graph_lane_make(struct tsl_graph_lane *lane)
{
    if (lane->driver_lane)
        return CL_SUCCESS;
    return lane->port->member->driver->lane_create(lane->port->member, lane->use, &lane->driver_lane);
}

void tsl_graph_lane_ref(struct tsl_graph_lane *lane)
{
    if (lane->queue)
        lane->queue->refs++;
}

void tsl_graph_lane_unref(struct tsl_graph_lane *lane)
{
    if (lane->queue)
        tsl_graph_queue_unref(lane->queue);
}

bool tsl_graph_lane_flush(struct tsl_graph_lane *lane)
{
    struct tsl_graph *graph = lane->port->graph;
    unsigned n = lane->n_dirty;
    if (n == lane->n_sent || !lane->driver_lane)
        return true;
    tsl_graph_lane_ref(lane);
    tsl_graph_open(graph);
    cl_int error = lane->port->member->driver->flush(lane->driver_lane);
    tsl_graph_close(graph);
    if (error == CL_SUCCESS && (int)(n - lane->n_sent) > 0) /* Other threads may have flushed meanwhile. */
        lane->n_sent = n;
    tsl_graph_lane_unref(lane);
    return error == CL_SUCCESS;
}

/* In a simulation one thread's work runs within another's wait, so threads can't wait for each other here. */
cl_int tsl_graph_lane_finish_work(struct tsl_graph_lane *lane)
{
    struct tsl_graph *graph = lane->port->graph;
    while (lane->finishing && !tsl_simulation)
        tsl_graph_wait(graph);
    lane->finishing = true;
    tsl_graph_open(graph);
    cl_int status = lane->port->member->driver->finish(lane->driver_lane);
    tsl_graph_close(graph);
    lane->finishing = false;
    if (status < 0) {
        lane->failed_upto = lane->given;
        lane->failed = status;
    }
    tsl_graph_changed(graph);
    return status;
}

cl_int tsl_graph_lane_status(const struct tsl_op *op)
{
    return op->user.order <= op->lane->failed_upto ? op->lane->failed : CL_COMPLETE;
}

static cl_int lane_status(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    tsl_lock_take(&graph->lock);
    cl_int status = tsl_graph_lane_finish_work(tsl_op_lane(op));
    if (op->lane && status == CL_SUCCESS)
        status = tsl_graph_lane_status(op);
    tsl_lock_give(&graph->lock);
    return status;
}

cl_int tsl_graph_lane_wait(struct tsl_op *op, struct tsl_fence *fence)
{
    const struct tsl_graph_lane *lane = tsl_op_lane(op);
    if (!lane->driver_lane) /* No lane could be made: the thread that tried has waited for all before the operation. */
        return CL_SUCCESS;
    cl_int status = lane_status(op), own = CL_QUEUED;
    if (fence) /* The fence may be complete, and another operation have failed. */
        own = status ? fence->driver->fence_status(fence) : fence->driver->fence_wait(fence);
    return own <= CL_COMPLETE ? own : status;
}

struct tsl_graph_lane *tsl_graph_lane_create_all(struct tsl_graph_queue *queue, bool profile)
{
    struct tsl_graph *graph = queue->graph;
    struct tsl_graph_lane *lanes = calloc(queue->n_lanes, sizeof(*lanes));
    for (unsigned i = 0; lanes && i < queue->n_lanes; i++)
        tsl_graph_lane_init(&lanes[i], &graph->ports[i % graph->n_ports], queue, profile ? TSL_LANE_PROFILES : 0);
    return lanes;
}

void tsl_graph_lane_destroy_all(struct tsl_graph_lane *lanes, unsigned n)
{
    for (unsigned i = 0; lanes && i < n; i++)
        tsl_graph_lane_finish(&lanes[i]);
    free(lanes);
}

cl_int tsl_op_wait(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    const struct tsl_driver *driver = op->port->member->driver;
    struct tsl_fence *fence = op->fence ? tsl_fence_ref(op->fence) : NULL;
    tsl_graph_lane_ref(op->lane);
    bool sent = !fence || tsl_graph_lane_flush(op->lane);
    tsl_graph_open(graph);
    cl_int status = fence && sent ? driver->fence_wait(fence) : tsl_graph_lane_wait(op, fence);
    tsl_fence_unref(fence);
    tsl_graph_close(graph);
    tsl_graph_lane_unref(op->lane);
    return status;
}

cl_int tsl_op_cause(const struct tsl_op *op, cl_int status)
{
    const struct tsl_pieces *pieces = op->pieces;
    for (unsigned i = 0; status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && pieces && i + 1 < pieces->n; i++) {
        cl_int own = pieces->fences[i] ? pieces->fences[i]->driver->fence_wait(pieces->fences[i]) : CL_COMPLETE;
        if (own < 0)
            return own;
    }
    return status;
}
