/* The graph's side of a command queue. */
#include "graph/queue.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/sets.h"
#include "base/settings.h"
#include "graph/command.h"
#include "graph/dependences.h"
#include "graph/graph.h"
#include "graph/lane.h"
#include "graph/life.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "object/context.h"
#include "trace/trace.h"

#include <stdlib.h>

static int pinned_member(const struct tsl_queue *queue)
{
    tsl_members members = tsl_context_members_of(queue->context, queue->device);
    bool one = queue->device->parent && tsl_members_count(members) <= 1;
    return one ? (int)tsl_members_first(members) : -1;
}

static void follow_flags(struct tsl_stream *stream)
{
    cl_command_queue_properties flags = stream->queue->flags;
    stream->in_order = !(flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    stream->profile = flags & CL_QUEUE_PROFILING_ENABLE;
    stream->serial = (stream->profile && tsl_settings()->profiling == TSL_PROFILING_SERIAL) ||
                     tsl_settings()->order == TSL_ORDER_SYNC;
}

static bool init_stream(struct tsl_stream *stream, struct tsl_queue *queue)
{
    struct tsl_graph *graph = queue->context->graph;
    stream->refs = 1;
    stream->graph = graph;
    stream->queue = queue;
    follow_flags(stream);
    stream->pinned = pinned_member(queue);
    TAILQ_INIT(&stream->commands);
    stream->tracks = tsl_track_create_all(stream, tsl_trace_on());
    stream->timed_tracks = tsl_track_create_all(stream, true);
    return stream->tracks && stream->timed_tracks;
}

cl_int tsl_stream_create(struct tsl_queue *queue, struct tsl_stream **result)
{
    struct tsl_graph *graph = queue->context->graph;
    struct tsl_stream *stream = calloc(1, sizeof(*stream));
    if (!stream || !init_stream(stream, queue)) {
        if (stream) {
            tsl_track_destroy_all(graph, stream->tracks);
            tsl_track_destroy_all(graph, stream->timed_tracks);
        }
        free(stream);
        return CL_OUT_OF_HOST_MEMORY;
    }
    tsl_lock_take(&graph->lock);
    LIST_INSERT_HEAD(&graph->streams, stream, link);
    stream->id = ++graph->n_streams;
    tsl_lock_give(&graph->lock);
    *result = stream;
    return CL_SUCCESS;
}

void tsl_stream_destroy(struct tsl_stream *stream)
{
    if (!stream || tsl_forked())
        return;
    struct tsl_graph *graph = stream->graph;
    tsl_lock_take(&graph->lock);
    LIST_REMOVE(stream, link);
    tsl_dependences_finish(&stream->frontier);
    tsl_dependences_finish(&stream->task);
    tsl_dependences_finish(&stream->touching);
    if (stream->barrier)
        tsl_command_unref(stream->barrier);
    tsl_stream_unref(stream);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
}

static bool reorders(const struct tsl_queue *queue, cl_command_queue_properties flags, bool enable)
{
    cl_command_queue_properties changed = flags & (enable ? ~queue->flags : queue->flags);
    return changed & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
}

cl_int tsl_queue_set(struct tsl_queue *queue, cl_command_queue_properties flags, bool enable,
                     cl_command_queue_properties *old)
{
    struct tsl_stream *stream = queue->stream;
    struct tsl_graph *graph = stream->graph;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&graph->lock);
    while (reorders(queue, flags, enable) && !TAILQ_EMPTY(&stream->commands))
        tsl_stream_wait(stream);
    *old = queue->flags;
    queue->flags = enable ? *old | flags : *old & ~flags;
    follow_flags(stream);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return CL_SUCCESS;
}
