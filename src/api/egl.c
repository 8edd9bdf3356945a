/* Sharing with EGL: no object of ours is made from an EGL object. */

#include "api/refuse.h"

cl_mem CL_API_CALL tsl_api_clCreateFromEGLImageKHR(cl_context context, CLeglDisplayKHR egldisplay,
                                                   CLeglImageKHR eglimage, cl_mem_flags flags,
                                                   const cl_egl_image_properties_khr *properties, cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clEnqueueAcquireEGLObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                         const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                         const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_EGL_OBJECT_KHR);
}

cl_int CL_API_CALL tsl_api_clEnqueueReleaseEGLObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                         const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                         const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_EGL_OBJECT_KHR);
}

cl_event CL_API_CALL tsl_api_clCreateEventFromEGLSyncKHR(cl_context context, CLeglSyncKHR sync, CLeglDisplayKHR display,
                                                         cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_EGL_OBJECT_KHR, errcode_ret);
}
