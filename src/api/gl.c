/* Sharing with OpenGL: no context of ours is made from an OpenGL context, and no memory object from an OpenGL object.
 */

#include "api/refuse.h"

cl_mem CL_API_CALL tsl_api_clCreateFromGLBuffer(cl_context context, cl_mem_flags flags, cl_GLuint bufobj,
                                                cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromGLTexture(cl_context context, cl_mem_flags flags, cl_GLenum target,
                                                 cl_GLint miplevel, cl_GLuint texture, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags, cl_GLenum target,
                                                   cl_GLint miplevel, cl_GLuint texture, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags, cl_GLenum target,
                                                   cl_GLint miplevel, cl_GLuint texture, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags, cl_GLuint renderbuffer,
                                                      cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clGetGLObjectInfo(cl_mem memobj, cl_gl_object_type *gl_object_type,
                                             cl_GLuint *gl_object_name)
{
    return tsl_buffer_from(memobj) ? CL_INVALID_GL_OBJECT : CL_INVALID_MEM_OBJECT;
}

cl_int CL_API_CALL tsl_api_clGetGLTextureInfo(cl_mem memobj, cl_gl_texture_info param_name, size_t param_value_size,
                                              void *param_value, size_t *param_value_size_ret)
{
    return tsl_buffer_from(memobj) ? CL_INVALID_GL_OBJECT : CL_INVALID_MEM_OBJECT;
}

cl_int CL_API_CALL tsl_api_clEnqueueAcquireGLObjects(cl_command_queue command_queue, cl_uint num_objects,
                                                     const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                     const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clEnqueueReleaseGLObjects(cl_command_queue command_queue, cl_uint num_objects,
                                                     const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                     const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL tsl_api_clGetGLContextInfoKHR(const cl_context_properties *properties, cl_gl_context_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

cl_event CL_API_CALL tsl_api_clCreateEventFromGLsyncKHR(cl_context context, cl_GLsync sync, cl_int *errcode_ret)
{
    return tsl_created(NULL, CL_INVALID_CONTEXT, errcode_ret);
}
