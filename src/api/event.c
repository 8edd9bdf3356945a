#include "api.h"
#include "api/check.h"
#include "base/info.h"

cl_event CL_API_CALL tsl_api_clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
    struct tsl_context *c = tsl_context_from(context);
    struct tsl_event *event = NULL;
    cl_int error = c ? tsl_event_create_user(c, &event) : CL_INVALID_CONTEXT;

    return tsl_created(event, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clSetUserEventStatus(cl_event event, cl_int execution_status)
{
    struct tsl_event *e = tsl_event_from(event);

    if (!e || tsl_event_type(e) != CL_COMMAND_USER)
        return CL_INVALID_EVENT;
    if (execution_status != CL_COMPLETE && execution_status >= 0)
        return CL_INVALID_VALUE;
    return tsl_event_set_user(e, execution_status);
}

static cl_int check_events(cl_uint n, const cl_event *events)
{
    const struct tsl_event *first;

    if (n == 0 || !events)
        return CL_INVALID_VALUE;
    first = tsl_event_from(events[0]);
    for (cl_uint i = 0; i < n; i++) {
        const struct tsl_event *event = tsl_event_from(events[i]);

        if (!event)
            return CL_INVALID_EVENT;
        if (event->context != first->context)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clWaitForEvents(cl_uint num_events, const cl_event *event_list)
{
    cl_int error = check_events(num_events, event_list);

    return error ? error : tsl_events_wait(num_events, (struct tsl_event *const *)event_list);
}

cl_int CL_API_CALL tsl_api_clRetainEvent(cl_event event)
{
    struct tsl_event *e = tsl_event_from(event);

    if (!e)
        return CL_INVALID_EVENT;
    tsl_object_retain(&e->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseEvent(cl_event event)
{
    struct tsl_event *e = tsl_event_from(event);

    return e && tsl_object_release(&e->object) ? CL_SUCCESS : CL_INVALID_EVENT;
}

cl_int CL_API_CALL tsl_api_clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size,
                                          void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_event *e = tsl_event_from(event);

    if (!e)
        return CL_INVALID_EVENT;
    switch (param_name) {
    case CL_EVENT_COMMAND_QUEUE:
        return tsl_info_pointer(&info, e->queue);
    case CL_EVENT_CONTEXT:
        return tsl_info_pointer(&info, e->context);
    case CL_EVENT_COMMAND_TYPE:
        return tsl_info_uint(&info, tsl_event_type(e));
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return tsl_info_uint(&info, (cl_uint)tsl_event_status(e));
    case CL_EVENT_REFERENCE_COUNT:
        return tsl_info_uint(&info, tsl_object_users(&e->object));
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL tsl_api_clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_event *e = tsl_event_from(event);
    cl_ulong ns;
    cl_int error;

    if (!e)
        return CL_INVALID_EVENT;
    if (param_name < CL_PROFILING_COMMAND_QUEUED || param_name > CL_PROFILING_COMMAND_COMPLETE)
        return CL_INVALID_VALUE;
    error = tsl_event_profile(e, param_name, &ns);
    return error ? error : tsl_info_ulong(&info, ns);
}

cl_int CL_API_CALL tsl_api_clSetEventCallback(cl_event event, cl_int command_exec_callback_type,
                                              void(CL_CALLBACK *pfn_notify)(cl_event, cl_int, void *), void *user_data)
{
    struct tsl_event *e = tsl_event_from(event);

    if (!e)
        return CL_INVALID_EVENT;
    if (!pfn_notify || command_exec_callback_type < CL_COMPLETE || command_exec_callback_type > CL_SUBMITTED)
        return CL_INVALID_VALUE;
    return tsl_event_callback(e, command_exec_callback_type, pfn_notify, user_data);
}
