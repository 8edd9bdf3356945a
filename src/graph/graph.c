/* A context's graph as a whole: its making and end, and the work that every entry leaves to be done without the lock.
 */
#include "graph/graph.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/pool.h"
#include "base/settings.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "driver/host.h"
#include "graph/callback.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/dependences.h"
#include "graph/exit.h"
#include "graph/graphs.h"
#include "graph/lane.h"
#include "graph/life.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/record.h"
#include "graph/schedule.h"
#include "graph/state.h"
#include "graph/submit.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "handle/object.h"
#include "object/context.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"
#include "trace/trace.h"

#include <stdlib.h>

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void first_graph(void)
{
    tsl_user_free = tsl_op_free;
    tsl_fork_expect();
}

static struct tsl_worker bridge = TSL_VENDORS_WORKER("tesela-bridge");
static struct tsl_worker callback_worker = TSL_WORKER("tesela-call");

static void bridge_job(struct tsl_job *job)
{
    struct tsl_graph *graph = (struct tsl_graph *)((char *)job - offsetof(struct tsl_graph, bridge_job));
    struct tsl_context *context = graph->context;
    tsl_lock_take(&graph->lock);
    graph->bridge_posted = false;
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    tsl_object_unref(&context->object);
}

static void init(struct tsl_graph *graph, struct tsl_context *context)
{
    tsl_lock_init(&graph->lock);
    pthread_cond_init(&graph->changed, NULL);
    graph->context = context;
    LIST_INIT(&graph->streams);
    LIST_INIT(&graph->dead_streams);
    STAILQ_INIT(&graph->ports_ready);
    STAILQ_INIT(&graph->to_watch);
    STAILQ_INIT(&graph->signalled);
    STAILQ_INIT(&graph->dead_ops);
    STAILQ_INIT(&graph->later);
    STAILQ_INIT(&graph->parked);
    TAILQ_INIT(&graph->lazy);
    graph->callbacks_end = &graph->callbacks;
    graph->bridge_job.run = bridge_job;
    graph->callback_job.run = tsl_run_callbacks;
    tsl_tiles_init(&graph->host_map, 0, 0, false);
    tsl_pool_init(&graph->op_pool, sizeof(struct tsl_op));
    tsl_pool_init(&graph->command_pool, sizeof(struct tsl_command));
}

cl_int tsl_graph_create(struct tsl_context *context, struct tsl_graph **result)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, first_graph);
    struct tsl_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return CL_OUT_OF_HOST_MEMORY;
    init(graph, context);
    graph->ports = calloc(context->n_members, sizeof(*graph->ports));
    graph->placer = tsl_placer_create(tsl_settings(), context->members, context->n_members);
    if (!graph->ports || !graph->placer) {
        tsl_graph_destroy(graph);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (unsigned i = 0; i < context->n_members; i++)
        tsl_port_init(&graph->ports[i], graph, context->members[i], i);
    graph->n_ports = context->n_members;
    tsl_port_init(&graph->host, graph, tsl_host_member(), TSL_HOST_INDEX);
    tsl_port_init(&graph->tasks, graph, tsl_host_member(), TSL_HOST_INDEX);
    tsl_room_add_graph(graph);
    tsl_exit_expect(graph);
    *result = graph;
    return CL_SUCCESS;
}

static void bury(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);

void tsl_graph_destroy(struct tsl_graph *graph)
{
    if (!graph || tsl_forked())
        return;
    for (unsigned i = 0; i < graph->n_ports; i++)
        tsl_port_finish(&graph->ports[i]);
    if (graph->host.member) { /* It was made as a whole. */
        tsl_room_remove_graph(graph);
        tsl_port_finish(&graph->host);
        tsl_port_finish(&graph->tasks);
    }
    tsl_placer_destroy(graph->placer);
    tsl_lock_take(&graph->lock);
    tsl_tiles_finish(&graph->host_map); /* Its uses may be the last that hold their operations. */
    tsl_op_unref(graph->opaque);
    tsl_dependences_finish(&graph->since_opaque);
    for (unsigned i = 0; i < graph->n_ports; i++)
        tsl_op_unref(graph->ports[i].evicting);
    bury(graph);
    tsl_lock_give(&graph->lock);
    tsl_pool_finish(&graph->op_pool);
    tsl_pool_finish(&graph->command_pool);
    pthread_cond_destroy(&graph->changed);
    tsl_lock_finish(&graph->lock);
    free(graph->ports);
    free(graph);
}

static struct tsl_track *create_tracks(struct tsl_stream *stream, bool profile)
{
    struct tsl_graph *graph = stream->graph;
    struct tsl_track *tracks = calloc(graph->n_ports, sizeof(*tracks));
    for (unsigned i = 0; tracks && i < graph->n_ports; i++)
        tsl_track_init(&tracks[i], &graph->ports[i], stream, profile);
    return tracks;
}

/* Operations keep a pointer to their track until they are finished, and all are. */
static void destroy_tracks(struct tsl_graph *graph, struct tsl_track *tracks)
{
    for (unsigned i = 0; tracks && i < graph->n_ports; i++)
        tsl_track_finish(&tracks[i]);
    free(tracks);
}

static int pinned_member(const struct tsl_queue *queue)
{
    unsigned members = tsl_context_members_of(queue->context, queue->device);
    bool one = queue->device->parent && !(members & (members - 1));
    return one ? __builtin_ctz(members) : -1;
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
    stream->tracks = create_tracks(stream, tsl_trace_on());
    stream->timed_tracks = create_tracks(stream, true);
    return stream->tracks && stream->timed_tracks;
}

cl_int tsl_stream_create(struct tsl_queue *queue, struct tsl_stream **result)
{
    struct tsl_graph *graph = queue->context->graph;
    struct tsl_stream *stream = calloc(1, sizeof(*stream));
    if (!stream || !init_stream(stream, queue)) {
        if (stream) {
            destroy_tracks(graph, stream->tracks);
            destroy_tracks(graph, stream->timed_tracks);
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

void tsl_stream_unref(struct tsl_stream *stream)
{
    if (--stream->refs == 0)
        LIST_INSERT_HEAD(&stream->graph->dead_streams, stream, link);
}

/* ---- Work left ----------------------------------------------------------------------------------------------------
 */

bool tsl_graph_has_work(const struct tsl_graph *graph)
{
    return !STAILQ_EMPTY(&graph->ports_ready) || !STAILQ_EMPTY(&graph->signalled) || !STAILQ_EMPTY(&graph->to_watch) ||
           !STAILQ_EMPTY(&graph->dead_ops) || !LIST_EMPTY(&graph->dead_streams) || graph->garbage || graph->records ||
           (graph->callbacks && !graph->callbacks_posted) || (graph->ask_again && !STAILQ_EMPTY(&graph->later));
}

void tsl_graph_changed(struct tsl_graph *graph)
{
    if (graph->n_waiting)
        pthread_cond_broadcast(&graph->changed);
}

void tsl_graph_post(struct tsl_graph *graph)
{
    if (graph->bridge_posted)
        return;
    tsl_object_ref(&graph->context->object);
    graph->bridge_posted = true;
    if (!tsl_worker_post(&bridge, &graph->bridge_job)) {
        graph->bridge_posted = false;
        graph->surplus_refs++;
    }
}

/* If no thread can be had, the callbacks stay due until the next entry tries again. */
static void post_callbacks(struct tsl_graph *graph)
{
    tsl_object_ref(&graph->context->object);
    graph->callbacks_posted = true;
    if (!tsl_worker_post(&callback_worker, &graph->callback_job))
        graph->surplus_refs++;
}

/* Work that executes in the submitting call goes to a thread that may be long; the host's own copies, to the
 * application's thread if that is what we are in (it asked for it, and no hop between threads is faster). */
static void serve_port(struct tsl_port *port, enum tsl_who who)
{
    bool host = port == &port->graph->host;
    if (!port->sync || (host && who == TSL_WHO_APPLICATION)) {
        tsl_port_drain(port);
        return;
    }
    if (port->posted || port->draining)
        return;
    tsl_object_ref(&port->graph->context->object);
    port->posted = tsl_worker_post(port->worker, &port->job);
    if (!port->posted) { /* No thread to be had: this one does it. */
        port->graph->surplus_refs++;
        tsl_port_drain(port);
    }
}

static void serve_ports(struct tsl_graph *graph, enum tsl_who who)
{
    struct tsl_port *port;
    while ((port = STAILQ_FIRST(&graph->ports_ready))) {
        STAILQ_REMOVE_HEAD(&graph->ports_ready, link);
        port->listed = false;
        serve_port(port, who);
    }
}

static void free_op(struct tsl_graph *graph, struct tsl_op *op)
{
    tsl_fence_unref(op->fence);
    TSL_SMALL_FINISH(&op->natives);
    TSL_SMALL_FINISH(&op->gates);
    TSL_SMALL_FINISH(&op->out);
    tsl_pool_put(&graph->op_pool, op);
}

static void bury_streams(struct tsl_graph *graph)
{
    struct tsl_stream *stream;
    while ((stream = LIST_FIRST(&graph->dead_streams))) {
        LIST_REMOVE(stream, link);
        tsl_graph_open(graph);
        destroy_tracks(graph, stream->tracks);
        destroy_tracks(graph, stream->timed_tracks);
        free(stream);
        tsl_graph_close(graph);
    }
}

static void bury(struct tsl_graph *graph)
{
    struct tsl_op_queue dead = STAILQ_HEAD_INITIALIZER(dead);
    struct tsl_op *op;
    while ((op = STAILQ_FIRST(&graph->dead_ops))) {
        STAILQ_REMOVE_HEAD(&graph->dead_ops, ready);
        tsl_op_forget_befores(op); /* May make more dead ones. */
        STAILQ_INSERT_TAIL(&dead, op, ready);
    }
    tsl_graph_open(graph);
    while ((op = STAILQ_FIRST(&dead))) {
        STAILQ_REMOVE_HEAD(&dead, ready);
        free_op(graph, op);
    }
    tsl_graph_close(graph);
}

/* What a reported command holds. Without the lock: objects may be destroyed. */
static void release_payload(struct tsl_command *c)
{
    struct tsl_buffer *buffers[] = {c->src, c->dst};
    for (int i = 0; i < 2; i++)
        if (buffers[i])
            tsl_object_unref(&buffers[i]->object);
    for (cl_uint i = 0; i < c->n_buffers; i++)
        tsl_object_unref(&c->buffers[i]->object);
    free(c->buffers);
    free(c->slots);
    free(c->native_args);
    free(c->pattern);
    if (c->kernel)
        tsl_object_unref(&c->kernel->object);
    tsl_args_let_go(c->args);
    tsl_object_unref(&c->stream->queue->object);
}

static void collect_garbage(struct tsl_graph *graph)
{
    struct tsl_command *garbage = graph->garbage, *c;
    graph->garbage = NULL;
    for (c = garbage; c; c = c->next) {
        tsl_dependences_finish(&c->own);
        tsl_dependences_finish(&c->frontier);
    }
    graph->n_collecting++;
    tsl_graph_open(graph);
    for (c = garbage; c; c = c->next)
        release_payload(c);
    tsl_graph_close(graph);
    graph->n_collecting--;
    tsl_graph_changed(graph);
    while ((c = garbage)) {
        garbage = c->next;
        c->src = c->dst = NULL;
        c->stream = NULL;
        tsl_command_unref(c);
    }
}

static void write_records(struct tsl_graph *graph)
{
    struct tsl_op_record *records = graph->records;
    graph->records = NULL;
    graph->n_writing++;
    tsl_graph_open(graph);
    tsl_records_write(records);
    tsl_graph_close(graph);
    graph->n_writing--;
    tsl_graph_changed(graph);
}

void tsl_graph_work(struct tsl_graph *graph, enum tsl_who who)
{
    while (tsl_graph_has_work(graph)) {
        if (!STAILQ_EMPTY(&graph->signalled))
            tsl_handle_signalled(graph);
        else if (graph->ask_again && !STAILQ_EMPTY(&graph->later))
            tsl_place_held(graph);
        else if (!STAILQ_EMPTY(&graph->ports_ready))
            serve_ports(graph, who);
        else if (!STAILQ_EMPTY(&graph->to_watch))
            tsl_watch_pending(graph);
        else if (graph->records)
            write_records(graph);
        else if (graph->garbage)
            collect_garbage(graph);
        else if (!STAILQ_EMPTY(&graph->dead_ops))
            bury(graph);
        else if (!LIST_EMPTY(&graph->dead_streams))
            bury_streams(graph);
        else
            post_callbacks(graph);
    }
}

void tsl_graph_clean_up(struct tsl_context *context)
{
    struct tsl_graph *graph = context->graph;
    if (!graph || tsl_forked())
        return;
    tsl_lock_take(&graph->lock);
    tsl_graph_work(graph, TSL_WHO_APPLICATION);
    while (graph->n_collecting > 0)
        tsl_graph_wait(graph);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
}

void tsl_graph_leave(struct tsl_graph *graph, enum tsl_who who)
{
    struct tsl_context *context = graph->context;
    tsl_object_ref(&context->object); /* What is dropped below may be the last but this. */
    tsl_graph_work(graph, who);
    unsigned surplus = graph->surplus_refs;
    graph->surplus_refs = 0;
    tsl_lock_give(&graph->lock);
    for (; surplus > 0; surplus--)
        tsl_object_unref(&context->object);
    tsl_object_unref(&context->object);
}
