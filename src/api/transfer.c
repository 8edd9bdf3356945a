/* Commands that move the bytes of buffers. */
#include "api.h"
#include "api/check.h"

static struct tsl_box_copy linear_copy(size_t dst_offset, size_t src_offset, size_t size)
{
    return (struct tsl_box_copy){.region = {size, 1, 1}, .dst_offset = dst_offset, .src_offset = src_offset};
}

static struct tsl_box_copy box_copy(const struct tsl_side *dst, const struct tsl_side *src, const size_t *region)
{
    return (struct tsl_box_copy){
        .region = {region[0], region[1], region[2]},
        .dst_offset = dst->offset,
        .dst_row_pitch = dst->row_pitch,
        .dst_slice_pitch = dst->slice_pitch,
        .src_offset = src->offset,
        .src_row_pitch = src->row_pitch,
        .src_slice_pitch = src->slice_pitch,
    };
}

/* ---- Reads and writes ---- */

static cl_int check_linear(const struct tsl_enqueue *e, cl_mem handle, size_t offset, size_t size,
                           struct tsl_buffer **buffer)
{
    cl_int error = tsl_check_buffer(e, handle, buffer);

    return error ? error : tsl_check_range(*buffer, offset, size);
}

cl_int CL_API_CALL tsl_api_clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                                               size_t offset, size_t size, void *ptr, cl_uint num_events_in_wait_list,
                                               const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    const struct tsl_box_copy copy = linear_copy(0, offset, size);
    struct tsl_buffer *src;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_READ_BUFFER, blocking_read);

    if (!error)
        error = check_linear(&e, buffer, offset, size, &src);
    if (!error && !ptr)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = tsl_check_host_access(src, TSL_HOST_READS);
    return error ? error : tsl_enqueue_read(&e, src, ptr, &copy);
}

cl_int CL_API_CALL tsl_api_clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                                                size_t offset, size_t size, const void *ptr,
                                                cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    const struct tsl_box_copy copy = linear_copy(offset, 0, size);
    struct tsl_buffer *dst;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_WRITE_BUFFER, blocking_write);

    if (!error)
        error = check_linear(&e, buffer, offset, size, &dst);
    if (!error && !ptr)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = tsl_check_host_access(dst, TSL_HOST_WRITES);
    return error ? error : tsl_enqueue_write(&e, dst, ptr, &copy);
}

/* Checks both sides of a rectangle between a buffer and the application's memory. */
static cl_int check_rect(const struct tsl_enqueue *e, cl_mem handle, struct tsl_side *in_buffer,
                         struct tsl_side *in_host, const size_t *region, const void *ptr, struct tsl_buffer **buffer)
{
    cl_int error = tsl_check_buffer(e, handle, buffer);

    if (!error && !ptr)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_side(in_buffer, region, (*buffer)->size);
    return error ? error : tsl_check_side(in_host, region, TSL_HOST_SPAN);
}

cl_int CL_API_CALL tsl_api_clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                                                   const size_t *buffer_origin, const size_t *host_origin,
                                                   const size_t *region, size_t buffer_row_pitch,
                                                   size_t buffer_slice_pitch, size_t host_row_pitch,
                                                   size_t host_slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_side in_buffer = {buffer_origin, buffer_row_pitch, buffer_slice_pitch, 0, 0};
    struct tsl_side in_host = {host_origin, host_row_pitch, host_slice_pitch, 0, 0};
    struct tsl_box_copy copy;
    struct tsl_buffer *src;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_READ_BUFFER_RECT, blocking_read);

    if (!error)
        error = check_rect(&e, buffer, &in_buffer, &in_host, region, ptr, &src);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = tsl_check_host_access(src, TSL_HOST_READS);
    if (error)
        return error;
    copy = box_copy(&in_host, &in_buffer, region);
    return tsl_enqueue_read(&e, src, ptr, &copy);
}

cl_int CL_API_CALL tsl_api_clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                                    cl_bool blocking_write, const size_t *buffer_origin,
                                                    const size_t *host_origin, const size_t *region,
                                                    size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                                    size_t host_row_pitch, size_t host_slice_pitch, const void *ptr,
                                                    cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                    cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_side in_buffer = {buffer_origin, buffer_row_pitch, buffer_slice_pitch, 0, 0};
    struct tsl_side in_host = {host_origin, host_row_pitch, host_slice_pitch, 0, 0};
    struct tsl_box_copy copy;
    struct tsl_buffer *dst;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_WRITE_BUFFER_RECT, blocking_write);

    if (!error)
        error = check_rect(&e, buffer, &in_buffer, &in_host, region, ptr, &dst);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = tsl_check_host_access(dst, TSL_HOST_WRITES);
    if (error)
        return error;
    copy = box_copy(&in_buffer, &in_host, region);
    return tsl_enqueue_write(&e, dst, ptr, &copy);
}

/* ---- Copies ---- */

static cl_int check_pair(const struct tsl_enqueue *e, cl_mem src_handle, cl_mem dst_handle, struct tsl_buffer **src,
                         struct tsl_buffer **dst)
{
    cl_int error = tsl_check_buffer(e, src_handle, src);

    return error ? error : tsl_check_buffer(e, dst_handle, dst);
}

static cl_int check_copy_overlap(struct tsl_buffer *src, size_t src_offset, struct tsl_buffer *dst, size_t dst_offset,
                                 size_t size)
{
    size_t from = src->offset + src_offset;
    size_t to = dst->offset + dst_offset;

    if (tsl_buffer_root(src) != tsl_buffer_root(dst) || from + size <= to || to + size <= from)
        return CL_SUCCESS;
    return CL_MEM_COPY_OVERLAP;
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                                               size_t src_offset, size_t dst_offset, size_t size,
                                               cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                               cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    const struct tsl_box_copy copy = linear_copy(dst_offset, src_offset, size);
    struct tsl_buffer *src, *dst;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_COPY_BUFFER, false);

    if (!error)
        error = check_pair(&e, src_buffer, dst_buffer, &src, &dst);
    if (!error)
        error = tsl_check_range(src, src_offset, size);
    if (!error)
        error = tsl_check_range(dst, dst_offset, size);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error && size > 0)
        error = check_copy_overlap(src, src_offset, dst, dst_offset, size);
    return error ? error : tsl_enqueue_copy(&e, src, dst, &copy);
}

static cl_int check_rect_overlap(struct tsl_buffer *src, const struct tsl_side *from, struct tsl_buffer *dst,
                                 const struct tsl_side *to, const size_t *region)
{
    /* Within one buffer both sides must have the same pitches (OpenCL 3.0, 5.2.4). */
    if (src == dst && (from->row_pitch != to->row_pitch || from->slice_pitch != to->slice_pitch))
        return CL_INVALID_VALUE;
    if (tsl_buffer_root(src) == tsl_buffer_root(dst) && tsl_sides_overlap(from, src->offset, to, dst->offset, region))
        return CL_MEM_COPY_OVERLAP;
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                                                   const size_t *src_origin, const size_t *dst_origin,
                                                   const size_t *region, size_t src_row_pitch, size_t src_slice_pitch,
                                                   size_t dst_row_pitch, size_t dst_slice_pitch,
                                                   cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                   cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_side from = {src_origin, src_row_pitch, src_slice_pitch, 0, 0};
    struct tsl_side to = {dst_origin, dst_row_pitch, dst_slice_pitch, 0, 0};
    struct tsl_box_copy copy;
    struct tsl_buffer *src, *dst;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_COPY_BUFFER_RECT, false);

    if (!error)
        error = check_pair(&e, src_buffer, dst_buffer, &src, &dst);
    if (!error)
        error = tsl_check_side(&from, region, src->size);
    if (!error)
        error = tsl_check_side(&to, region, dst->size);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = check_rect_overlap(src, &from, dst, &to, region);
    if (error)
        return error;
    copy = box_copy(&to, &from, region);
    return tsl_enqueue_copy(&e, src, dst, &copy);
}

/* ---- Fills and migrations ---- */

/* The sizes of OpenCL C's scalars and vectors. */
static bool is_pattern_size(size_t size)
{
    return size > 0 && size <= 128 && (size & (size - 1)) == 0;
}

cl_int CL_API_CALL tsl_api_clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void *pattern,
                                               size_t pattern_size, size_t offset, size_t size,
                                               cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                               cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_buffer *dst;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_FILL_BUFFER, false);

    if (!error)
        error = check_linear(&e, buffer, offset, size, &dst);
    if (!error && (!pattern || !is_pattern_size(pattern_size) || offset % pattern_size || size % pattern_size))
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    return error ? error : tsl_enqueue_fill(&e, dst, pattern, pattern_size, offset, size);
}

static cl_int check_buffers(const struct tsl_enqueue *e, cl_uint n, const cl_mem *handles)
{
    struct tsl_buffer *buffer;
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; !error && i < n; i++)
        error = tsl_check_mem(e, handles[i], &buffer);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects,
                                                      const cl_mem *mem_objects, cl_mem_migration_flags flags,
                                                      cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                      cl_event *event)
{
    const cl_mem_migration_flags all = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, false);

    if (!error && (num_mem_objects == 0 || !mem_objects || flags & ~all))
        error = CL_INVALID_VALUE;
    if (!error)
        error = check_buffers(&e, num_mem_objects, mem_objects);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    return tsl_enqueue_migrate(&e, num_mem_objects, (struct tsl_buffer *const *)mem_objects, flags);
}
