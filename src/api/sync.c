/* Markers and barriers. */
#include "api.h"
#include "api/check.h"

static cl_int enqueue(cl_command_queue queue, cl_command_type type, const struct tsl_tail *tail)
{
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, queue, type, false);

    if (!error)
        error = tsl_check_tail(&e, tail);
    return error ? error : tsl_enqueue_marker(&e, type == CL_COMMAND_BARRIER);
}

cl_int CL_API_CALL tsl_api_clEnqueueMarkerWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list,
                                                       const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};

    return enqueue(command_queue, CL_COMMAND_MARKER, &tail);
}

cl_int CL_API_CALL tsl_api_clEnqueueBarrierWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};

    return enqueue(command_queue, CL_COMMAND_BARRIER, &tail);
}

/* ---- OpenCL 1.0 ---- */

cl_int CL_API_CALL tsl_api_clEnqueueMarker(cl_command_queue command_queue, cl_event *event)
{
    const struct tsl_tail tail = {0, NULL, event};

    if (!tsl_queue_from(command_queue))
        return CL_INVALID_COMMAND_QUEUE;
    return event ? enqueue(command_queue, CL_COMMAND_MARKER, &tail) : CL_INVALID_VALUE;
}

cl_int CL_API_CALL tsl_api_clEnqueueBarrier(cl_command_queue command_queue)
{
    const struct tsl_tail tail = {0, NULL, NULL};

    return enqueue(command_queue, CL_COMMAND_BARRIER, &tail);
}

/* A barrier: later commands wait for these events. Its error codes differ from those of wait lists. */
cl_int CL_API_CALL tsl_api_clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint num_events,
                                                  const cl_event *event_list)
{
    const struct tsl_tail tail = {num_events, event_list, NULL};
    cl_int error;

    if (!tsl_queue_from(command_queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (num_events == 0 || !event_list)
        return CL_INVALID_VALUE;
    error = enqueue(command_queue, CL_COMMAND_BARRIER, &tail);
    return error == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : error;
}
