/* Sharing with Direct3D: not available on this system, so no device and no context belongs to it. */

#include "api/refuse.h"

cl_int CL_API_CALL tsl_api_clGetDeviceIDsFromD3D10KHR(cl_platform_id platform, cl_uint source, void *object,
                                                      cl_uint set, cl_uint num_entries, cl_device_id *devices,
                                                      cl_uint *num_devices)
{
    if (!tsl_platform_from(platform))
        return CL_INVALID_PLATFORM;
    if (num_devices)
        *num_devices = 0;
    return CL_DEVICE_NOT_FOUND;
}

cl_mem CL_API_CALL tsl_api_clCreateFromD3D10BufferKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                      cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromD3D10Texture2DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromD3D10Texture3DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clEnqueueAcquireD3D10ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clEnqueueReleaseD3D10ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clGetDeviceIDsFromD3D11KHR(cl_platform_id platform, cl_uint source, void *object,
                                                      cl_uint set, cl_uint num_entries, cl_device_id *devices,
                                                      cl_uint *num_devices)
{
    if (!tsl_platform_from(platform))
        return CL_INVALID_PLATFORM;
    if (num_devices)
        *num_devices = 0;
    return CL_DEVICE_NOT_FOUND;
}

cl_mem CL_API_CALL tsl_api_clCreateFromD3D11BufferKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                      cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromD3D11Texture2DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromD3D11Texture3DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromDX9MediaSurfaceKHR(cl_context context, cl_mem_flags flags, cl_uint type,
                                                          void *surface, cl_uint plane, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clEnqueueAcquireD3D11ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clEnqueueReleaseD3D11ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clGetDeviceIDsFromDX9MediaAdapterKHR(cl_platform_id platform, cl_uint num_adapters,
                                                                cl_uint *types, void *adapters, cl_uint set,
                                                                cl_uint num_entries, cl_device_id *devices,
                                                                cl_uint *num_devices)
{
    if (!tsl_platform_from(platform))
        return CL_INVALID_PLATFORM;
    if (num_devices)
        *num_devices = 0;
    return CL_DEVICE_NOT_FOUND;
}

cl_int CL_API_CALL tsl_api_clEnqueueAcquireDX9MediaSurfacesKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                               const cl_mem *mem_objects,
                                                               cl_uint num_events_in_wait_list,
                                                               const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clEnqueueReleaseDX9MediaSurfacesKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                               const cl_mem *mem_objects,
                                                               cl_uint num_events_in_wait_list,
                                                               const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}
