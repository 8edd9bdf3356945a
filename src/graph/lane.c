/* The graph's side of a driver's lanes. */
#include "graph/lane.h"

#include "base/lock.h"
#include "driver/driver.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/state.h"

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

cl_int tsl_track_make_lane(struct tsl_track *track)
{
    if (track->lane)
        return CL_SUCCESS;
    return track->port->member->driver->lane_create(track->port->member, track->profile, &track->lane);
}

cl_int tsl_track_lane(struct tsl_track *track, struct tsl_lane **lane)
{
    cl_int error = tsl_track_make_lane(track);
    *lane = track->lane;
    return error;
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
cl_int tsl_lane_finish_work(struct tsl_track *track)
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

cl_int tsl_lane_status(const struct tsl_op *op)
{
    return op->user.order <= op->track->failed_upto ? op->track->failed : CL_COMPLETE;
}

static cl_int lane_status(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    tsl_lock_take(&graph->lock);
    cl_int status = tsl_lane_finish_work(tsl_op_track(op));
    if (op->track && status == CL_SUCCESS)
        status = tsl_lane_status(op);
    tsl_lock_give(&graph->lock);
    return status;
}

cl_int tsl_lane_wait(struct tsl_op *op, struct tsl_fence *fence)
{
    const struct tsl_track *track = tsl_op_track(op);
    if (!track->lane) /* None could be made: who tried has waited for all before it. */
        return CL_SUCCESS;
    cl_int status = lane_status(op), own = CL_QUEUED;
    if (fence) /* It may be over, and not what failed. */
        own = status ? fence->driver->fence_status(fence) : fence->driver->fence_wait(fence);
    return own <= CL_COMPLETE ? own : status;
}

struct tsl_track *tsl_track_create_all(struct tsl_stream *stream, bool profile)
{
    struct tsl_graph *graph = stream->graph;
    struct tsl_track *tracks = calloc(graph->n_ports, sizeof(*tracks));
    for (unsigned i = 0; tracks && i < graph->n_ports; i++)
        tsl_track_init(&tracks[i], &graph->ports[i], stream, profile);
    return tracks;
}

/* Operations keep a pointer to their track until they are finished, and all are. */
void tsl_track_destroy_all(struct tsl_graph *graph, struct tsl_track *tracks)
{
    for (unsigned i = 0; tracks && i < graph->n_ports; i++)
        tsl_track_finish(&tracks[i]);
    free(tracks);
}

cl_int tsl_op_wait(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    const struct tsl_driver *driver = op->port->member->driver;
    struct tsl_fence *fence = op->fence ? tsl_fence_ref(op->fence) : NULL;
    tsl_track_pin(op->track);
    bool sent = !fence || tsl_track_flush(op->track);
    tsl_graph_open(graph);
    cl_int status = fence && sent ? driver->fence_wait(fence) : tsl_lane_wait(op, fence);
    tsl_fence_unref(fence);
    tsl_graph_close(graph);
    tsl_track_unpin(op->track);
    return status;
}
