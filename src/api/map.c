#include "api.h"
#include "api/check.h"

void *CL_API_CALL tsl_api_clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map,
                                             cl_map_flags map_flags, size_t offset, size_t size,
                                             cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                             cl_event *event, cl_int *errcode_ret)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_buffer *b;
    struct tsl_enqueue e;
    void *ptr = NULL;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_MAP_BUFFER, blocking_map);

    if (!error)
        error = tsl_check_buffer(&e, buffer, &b);
    if (!error)
        error = size == 0 ? CL_INVALID_VALUE : tsl_check_range(b, offset, size);
    if (!error)
        error = tsl_check_map_flags(map_flags);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = tsl_check_map_access(b, map_flags);
    if (!error)
        error = tsl_enqueue_map(&e, b, map_flags, offset, size, &ptr);
    return tsl_created(ptr, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void *mapped_ptr,
                                                   cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                   cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_buffer *buffer;
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_UNMAP_MEM_OBJECT, false);

    if (!error)
        error = tsl_check_mem(&e, memobj, &buffer);
    if (!error && !mapped_ptr)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    return error ? error : tsl_enqueue_unmap(&e, buffer, mapped_ptr);
}
