/* The door for the API: each call makes one command and puts it into its queue. */
#include "base/fork.h"
#include "base/lock.h"
#include "base/sets.h"
#include "base/settings.h"
#include "base/small_vector.h"
#include "graph/coalesce.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/data.h"
#include "graph/either_way.h"
#include "graph/event.h"
#include "graph/graph.h"
#include "graph/member_memory.h"
#include "graph/out_of_core.h"
#include "graph/queue.h"
#include "graph/schedule.h"
#include "graph/senders.h"
#include "graph/spread_room.h"
#include "graph/stretch.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "handle/object.h"
#include "object/buffer.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

/* NULL: not_begun() tells the error. In a forked child any lock may be held by a thread that the child doesn't have, so
 * none is taken. */
static struct tsl_command *begin(const struct tsl_enqueue *e)
{
    return tsl_forked() ? NULL : tsl_command_create(e->queue->context->graph, e->queue->graph_queue, e->type);
}

static cl_int not_begun(void)
{
    return tsl_forked() ? CL_OUT_OF_RESOURCES : CL_OUT_OF_HOST_MEMORY;
}

/* A command that was never committed. The lock is held. */
static void drop(struct tsl_command *c)
{
    c->next = c->graph->garbage;
    c->graph->garbage = c;
}

/* The same without the lock. */
static cl_int abandon(struct tsl_command *c, cl_int error)
{
    struct tsl_graph *graph = c->graph;
    tsl_lock_take(&graph->lock);
    drop(c);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    return error;
}

static struct tsl_buffer *keep(struct tsl_buffer *buffer)
{
    tsl_object_ref(&buffer->object);
    return buffer;
}

static bool add_wait(struct tsl_command *c, struct tsl_command *before)
{
    if (!TSL_SMALL_PUSH(&c->waits, before))
        return false;
    before->refs++;
    return true;
}

static cl_int schedule(const struct tsl_enqueue *e, struct tsl_command *c)
{
    c->has_event = e->event != NULL;
    for (cl_uint i = 0; i < e->n_wait; i++)
        if (!add_wait(c, e->wait[i]->command))
            return CL_OUT_OF_HOST_MEMORY;
    return tsl_schedule_command(c);
}

/* With the order sync, the papers' synchronous policy. What depends on an unset user event can't be waited for: only
 * the application can set that, after this call. */
static bool waits_at_once(const struct tsl_command *c)
{
    return c->sync && c->state != TSL_HELD;
}

/* The failure of a command that has no event to tell it; CL_SUCCESS if there is none. From now on it counts as told.
 * The lock is held. */
static cl_int take_untold(struct tsl_graph_queue *queue)
{
    cl_int error = queue->pending_error;
    queue->pending_error = CL_SUCCESS;
    return error;
}

/* Waits. A failure that nobody was told of is told now; the caller tells it for a map, where something must be undone.
 */
static cl_int block(struct tsl_command *c, struct tsl_graph_queue *queue)
{
    bool map = tsl_command_maps(c);
    cl_int error = tsl_command_wait(c);
    if (error == queue->pending_error || (!error && !map))
        error = take_untold(queue);
    return error;
}

/* Sends a launch that is cut on its way, and tells the placer what that, and to plan it, took the host. Whoever holds
 * the lock for the next launch would keep insides from beginning; what isn't divided goes beside that one's planning.
 */
static void send_cut(struct tsl_command *c)
{
    struct tsl_graph *graph = c->graph;
    uint64_t asked_ns = c->share.asked_ns;
    if (!c->n_more || !asked_ns)
        return;
    bool divided = c->n_inside, usual = tsl_cut_is_usual(c) && !graph->submit_first; /* Else it does others' work. */
    tsl_graph_work(graph, TSL_WHO_APPLICATION);
    if (divided)
        tsl_senders_join(graph);
    if (usual)
        tsl_placer_parts_planned(graph->placer, c->kernel->place_key, (double)(tsl_clock_ns() - asked_ns), divided);
}

#define LONG_NS 100000 /* is the lock held for a launch */

/* Other threads may drop the context as soon as the lock is given. */
static void leave(struct tsl_graph *graph, bool yields) TSL_RELEASES(graph->lock)
{
    struct tsl_context *context = graph->context;
    if (yields)
        tsl_object_ref(&context->object);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    if (!yields)
        return;
    tsl_graph_yield(graph);
    tsl_object_unref(&context->object);
}

/* Ends what begin() began: the command is scheduled, and waited for if the call blocks. The error of a blocking call is
 * its command's, or an earlier one that is still to be told. An event, where asked for, holds the command. */
static cl_int commit(const struct tsl_enqueue *e, struct tsl_command *c)
{
    struct tsl_graph *graph = c->graph;
    struct tsl_event *event = NULL;
    cl_int error = CL_SUCCESS;
    if (e->event && !(event = tsl_event_create(e->queue->context, e->queue)))
        return abandon(c, CL_OUT_OF_HOST_MEMORY);
    tsl_lock_take(&graph->lock);
    uint64_t since_ns = graph->n_ports > 1 ? tsl_clock_ns() : 0;
    if (event) {
        event->command = c;
        c->refs++;
    }
    error = schedule(e, c);
    bool was_long = since_ns && tsl_clock_ns() - since_ns >= LONG_NS;
    if (error) {
        drop(c);
        tsl_graph_leave(graph, TSL_WHO_APPLICATION);
        if (event)
            tsl_object_release(&event->object);
        return error;
    }
    send_cut(c);
    if (e->blocking)
        error = block(c, e->queue->graph_queue);
    else if (waits_at_once(c))
        tsl_command_wait(c);
    tsl_command_unref(c);
    leave(graph, was_long && !e->blocking);
    if (e->event)
        *e->event = event;
    return error;
}

cl_int tsl_enqueue_read(const struct tsl_enqueue *e, struct tsl_buffer *src, void *dst, const struct tsl_box_copy *box)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    c->src = keep(src);
    c->host = dst;
    c->box = *box;
    return commit(e, c);
}

cl_int tsl_enqueue_write(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *src,
                         const struct tsl_box_copy *box)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    c->dst = keep(dst);
    c->host = (char *)(uintptr_t)src; /* Only read: one field serves reads and writes. */
    c->box = *box;
    c->may_defer = !e->blocking && !dst->image;
    return commit(e, c);
}

cl_int tsl_enqueue_copy(const struct tsl_enqueue *e, struct tsl_buffer *src, struct tsl_buffer *dst,
                        const struct tsl_box_copy *box)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    c->src = keep(src);
    c->dst = keep(dst);
    c->box = *box;
    return commit(e, c);
}

static struct tsl_box_copy linear_box(size_t offset, size_t size)
{
    return (struct tsl_box_copy){.region = {size, 1, 1}, .dst_offset = offset};
}

cl_int tsl_enqueue_fill(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *pattern, size_t pattern_size,
                        size_t offset, size_t size)
{
    const struct tsl_box_copy box = linear_box(offset, size);
    return tsl_enqueue_fill_box(e, dst, pattern, pattern_size, &box);
}

cl_int tsl_enqueue_fill_box(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *pattern,
                            size_t pattern_size, const struct tsl_box_copy *box)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    c->dst = keep(dst);
    c->box = *box;
    c->pattern_size = pattern_size;
    c->pattern = malloc(pattern_size);
    if (!c->pattern)
        return abandon(c, CL_OUT_OF_HOST_MEMORY);
    memcpy(c->pattern, pattern, pattern_size);
    return commit(e, c);
}

/* ---- Maps: the pointer is fixed at the call ---------------------------------------------------------------------- */

/* box: in the root. */
static cl_int add_mapping(struct tsl_buffer *buffer, cl_map_flags flags, const struct tsl_box_copy *box, void **ptr)
{
    struct tsl_graph *graph = buffer->context->graph;
    struct tsl_data *data = tsl_buffer_root(buffer)->data;
    struct tsl_mapping *mapping = malloc(sizeof(*mapping));
    tsl_data_pin(data);
    tsl_lock_take(&graph->lock);
    char *host = mapping ? tsl_data_host(data) : NULL;
    if (host) {
        *mapping = (struct tsl_mapping){
            .ptr = host + box->dst_offset, .box = *box, .flags = flags ? flags : CL_MAP_READ | CL_MAP_WRITE};
        tsl_buffer_add_mapping(buffer, mapping);
        *ptr = mapping->ptr;
    }
    tsl_lock_give(&graph->lock);
    if (!host)
        free(mapping);
    return host ? CL_SUCCESS : CL_MAP_FAILURE;
}

static struct tsl_mapping *take_mapping(struct tsl_buffer *buffer, const void *ptr)
{
    struct tsl_graph *graph = buffer->context->graph;
    tsl_lock_take(&graph->lock);
    struct tsl_mapping *mapping = tsl_buffer_take_mapping(buffer, ptr);
    tsl_lock_give(&graph->lock);
    return mapping;
}

static void put_mapping_back(struct tsl_buffer *buffer, struct tsl_mapping *mapping)
{
    struct tsl_graph *graph = buffer->context->graph;
    tsl_lock_take(&graph->lock);
    tsl_buffer_add_mapping(buffer, mapping);
    tsl_lock_give(&graph->lock);
}

cl_uint tsl_buffer_map_count(struct tsl_buffer *buffer)
{
    struct tsl_graph *graph = buffer->context->graph;
    if (tsl_forked())
        return 0; /* A thread of the parent process may have held the lock. */
    tsl_lock_take(&graph->lock);
    cl_uint n = buffer->n_mappings;
    tsl_lock_give(&graph->lock);
    return n;
}

/* unseen: the application never got the pointer, so it wrote nothing there. */
static cl_int unmap(const struct tsl_enqueue *e, struct tsl_buffer *buffer, void *ptr, bool unseen)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    struct tsl_mapping *mapping = take_mapping(buffer, ptr);
    if (!mapping)
        return abandon(c, CL_INVALID_VALUE);
    c->dst = keep(buffer);
    c->map_flags = mapping->flags;
    c->box = mapping->box;
    c->map_unseen = unseen;
    cl_int error = commit(e, c);
    if (error)
        put_mapping_back(buffer, mapping);
    else
        free(mapping);
    return error;
}

/* After a failure that was not told the mapped bytes may be wrong: the map fails, and is undone. */
static cl_int tell_by_map(const struct tsl_enqueue *e, struct tsl_buffer *buffer, void *ptr)
{
    struct tsl_graph *graph = e->queue->context->graph;
    const struct tsl_enqueue undo = {.queue = e->queue, .type = CL_COMMAND_UNMAP_MEM_OBJECT};
    tsl_lock_take(&graph->lock);
    cl_int error = take_untold(e->queue->graph_queue);
    tsl_lock_give(&graph->lock);
    if (!error || unmap(&undo, buffer, ptr, true) == CL_SUCCESS)
        return error;
    tsl_lock_take(&graph->lock); /* There is no memory to undo the map: another call is to tell. */
    e->queue->graph_queue->pending_error = error;
    tsl_lock_give(&graph->lock);
    return CL_SUCCESS;
}

cl_int tsl_enqueue_map(const struct tsl_enqueue *e, struct tsl_buffer *buffer, cl_map_flags flags, size_t offset,
                       size_t size, void **ptr)
{
    const struct tsl_box_copy box = linear_box(offset, size);
    return tsl_enqueue_map_box(e, buffer, flags, &box, ptr);
}

cl_int tsl_enqueue_map_box(const struct tsl_enqueue *e, struct tsl_buffer *buffer, cl_map_flags flags,
                           const struct tsl_box_copy *box, void **ptr)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    c->box = *box;
    c->box.dst_offset += buffer->offset;
    cl_int error = add_mapping(buffer, flags, &c->box, ptr);
    if (error)
        return abandon(c, error);
    c->dst = keep(buffer);
    c->map_flags = flags ? flags : CL_MAP_READ | CL_MAP_WRITE;
    error = commit(e, c);
    if (error)
        free(take_mapping(buffer, *ptr));
    return !error && e->blocking ? tell_by_map(e, buffer, *ptr) : error;
}

cl_int tsl_enqueue_unmap(const struct tsl_enqueue *e, struct tsl_buffer *buffer, void *ptr)
{
    return unmap(e, buffer, ptr, false);
}

/* ---- Kernels, tasks, markers ------------------------------------------------------------------------------------- */

static bool empty(const struct tsl_window *window)
{
    for (cl_uint d = 0; d < window->work_dim; d++)
        if (window->global_size[d] == 0)
            return true;
    return false;
}

/* Does the launch go with the one before (coalesce.h)? Then the arguments are taken. */
static bool goes_with_last(const struct tsl_enqueue *e, const struct tsl_kernel *kernel,
                           const struct tsl_window *window, struct tsl_args *args)
{
    struct tsl_graph *graph = e->queue->context->graph;
    if (graph->n_ports > 1 || e->event || e->n_wait || empty(window))
        return false;
    tsl_lock_take(&graph->lock);
    if (!tsl_coalesce_launch(e->queue->graph_queue, kernel, window, &args)) {
        tsl_lock_give(&graph->lock);
        return false;
    }
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
    tsl_args_let_go(args);
    return true;
}

/* Where the launch's objects have room, and how. False: nowhere. */
static bool find_room(struct tsl_command *c, tsl_members members)
{
    c->members = tsl_member_memory_holders(c->graph, members, c->args);
    if (tsl_members_are(c->members, members) || tsl_spread_room_find(c, members))
        return true;
    if (tsl_members_is_empty(c->members) && !tsl_members_is_empty(members) && !tsl_out_of_core_allow(c, members))
        return false;
    if (!c->out_of_core)
        tsl_either_way_find(c, members);
    return true;
}

static bool is_let_in(struct tsl_command *c, tsl_members members)
{
    uint64_t spread = tsl_spread_room_look(c);
    if (!find_room(c, members))
        return false;
    tsl_spread_room_keep(c, spread);
    return true;
}

cl_int tsl_enqueue_kernel(const struct tsl_enqueue *e, struct tsl_kernel *kernel, const struct tsl_window *window,
                          tsl_members members)
{
    struct tsl_args *args;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    cl_int error = tsl_kernel_args(kernel, &args);
    if (error)
        return error;
    if (goes_with_last(e, kernel, window, args))
        return CL_SUCCESS;
    struct tsl_command *c = begin(e);
    if (!c) {
        tsl_args_let_go(args);
        return not_begun();
    }
    c->args = args;
    c->share.window = *window;
    if (!empty(window)) {
        c->kernel = kernel;
        tsl_object_ref(&kernel->object);
        tsl_stretch(kernel, args, members, &c->share.window);
    }
    return is_let_in(c, members) ? commit(e, c) : abandon(c, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

cl_int tsl_enqueue_marker(const struct tsl_enqueue *e, bool barrier)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    c->barrier = barrier;
    return commit(e, c);
}

/* The buffers of a migration or host task. */
static bool keep_all(struct tsl_command *c, cl_uint n, struct tsl_buffer *const *buffers)
{
    if (n == 0)
        return true;
    c->buffers = calloc(n, sizeof(*c->buffers));
    if (!c->buffers)
        return false;
    for (cl_uint i = 0; i < n; i++)
        c->buffers[i] = keep(buffers[i]);
    c->n_buffers = n;
    return true;
}

cl_int tsl_enqueue_migrate(const struct tsl_enqueue *e, cl_uint n, struct tsl_buffer *const *buffers,
                           cl_mem_migration_flags flags)
{
    struct tsl_command *c = begin(e);
    if (!c)
        return not_begun();
    if (!keep_all(c, n, buffers))
        return abandon(c, CL_OUT_OF_HOST_MEMORY);
    c->map_flags = flags;
    return commit(e, c);
}

cl_int tsl_enqueue_native(const struct tsl_enqueue *e, void(CL_CALLBACK *fn)(void *), void *args, cl_uint n,
                          struct tsl_buffer *const *buffers, void **const *slots)
{
    struct tsl_command *c = begin(e);
    if (!c) {
        free(args);
        return CL_OUT_OF_HOST_MEMORY;
    }
    c->native_args = args;
    if (!keep_all(c, n, buffers))
        return abandon(c, CL_OUT_OF_HOST_MEMORY);
    if (n > 0 && !(c->slots = malloc(n * sizeof(*c->slots))))
        return abandon(c, CL_OUT_OF_HOST_MEMORY);
    for (cl_uint i = 0; i < n; i++)
        c->slots[i] = slots[i];
    c->native_fn = fn;
    c->own_task = e->own_task;
    return commit(e, c);
}
