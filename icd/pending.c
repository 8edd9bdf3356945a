/* Stand-ins for what is still being written: weak, so that each goes when its real one arrives. */
#include "api.h"
#include "driver/members.h"
#include "graph/graph.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

__attribute__((weak)) struct tsl_member *const *tsl_members_open(unsigned *n)
{
    *n = 0;
    return NULL;
}

__attribute__((weak)) cl_int tsl_graph_create(struct tsl_context *context, struct tsl_graph **graph)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) void tsl_graph_destroy(struct tsl_graph *graph)
{
}

__attribute__((weak)) cl_int tsl_stream_create(struct tsl_queue *queue, struct tsl_stream **stream)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) void tsl_stream_destroy(struct tsl_stream *stream)
{
}

__attribute__((weak)) cl_int tsl_enqueue_read(const struct tsl_enqueue *e, struct tsl_buffer *src, void *dst,
                                              const struct tsl_box_copy *box)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_write(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *src,
                                               const struct tsl_box_copy *box)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_copy(const struct tsl_enqueue *e, struct tsl_buffer *src,
                                              struct tsl_buffer *dst, const struct tsl_box_copy *box)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_fill(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *pattern,
                                              size_t pattern_size, size_t offset, size_t size)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_map(const struct tsl_enqueue *e, struct tsl_buffer *buffer, cl_map_flags flags,
                                             size_t offset, size_t size, void **ptr)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_unmap(const struct tsl_enqueue *e, struct tsl_buffer *buffer, void *ptr)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_kernel(const struct tsl_enqueue *e, struct tsl_kernel *kernel,
                                                const struct tsl_window *window, unsigned members)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_marker(const struct tsl_enqueue *e, bool barrier)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_migrate(const struct tsl_enqueue *e, cl_uint n,
                                                 struct tsl_buffer *const *buffers, cl_mem_migration_flags flags)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_enqueue_native(const struct tsl_enqueue *e, void(CL_CALLBACK *fn)(void *), void *args,
                                                cl_uint n, struct tsl_buffer *const *buffers, void **const *slots)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_queue_flush(struct tsl_queue *queue)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_queue_finish(struct tsl_queue *queue)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) void tsl_queue_let_go(struct tsl_queue *queue)
{
}

__attribute__((weak)) cl_int tsl_event_create_user(struct tsl_context *context, struct tsl_event **event)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_event_set_user(struct tsl_event *event, cl_int status)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_event_status(struct tsl_event *event)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_command_type tsl_event_type(struct tsl_event *event)
{
    return 0;
}

__attribute__((weak)) cl_int tsl_events_wait(cl_uint n, struct tsl_event *const *events)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_event_callback(struct tsl_event *event, cl_int status, tsl_event_fn *fn, void *arg)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_event_profile(struct tsl_event *event, cl_profiling_info param, cl_ulong *ns)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) bool tsl_forked(void)
{
    return false;
}

__attribute__((weak)) cl_int tsl_buffer_create(struct tsl_context *context, cl_mem_flags flags, size_t size,
                                               void *host_ptr, const cl_mem_properties *properties,
                                               struct tsl_buffer **buffer)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_buffer_create_sub(struct tsl_buffer *root, cl_mem_flags flags, size_t offset,
                                                   size_t size, struct tsl_buffer **sub)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_buffer_on_destroy(struct tsl_buffer *buffer, tsl_buffer_destructor_fn *fn, void *arg)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_uint tsl_buffer_map_count(struct tsl_buffer *buffer)
{
    return CL_OUT_OF_RESOURCES;
}

__attribute__((weak)) cl_int tsl_queue_create(struct tsl_context *context, struct tsl_device *device,
                                              cl_command_queue_properties flags, const cl_queue_properties *properties,
                                              size_t n_properties, struct tsl_queue **queue)
{
    return CL_OUT_OF_RESOURCES;
}
