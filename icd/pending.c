/* Stand-ins for what is still being written: weak, so that each goes when its real one arrives. */
#include "api.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

__attribute__((weak)) cl_context CL_API_CALL tsl_api_clCreateContext(
    const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
    void(CL_CALLBACK *pfn_notify)(const char *errinfo, const void *private_info, size_t cb, void *user_data),
    void *user_data, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_context CL_API_CALL tsl_api_clCreateContextFromType(
    const cl_context_properties *properties, cl_device_type device_type,
    void(CL_CALLBACK *pfn_notify)(const char *errinfo, const void *private_info, size_t cb, void *user_data),
    void *user_data, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clRetainContext(cl_context context)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clReleaseContext(cl_context context)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetContextInfo(cl_context context, cl_context_info param_name,
                                                                  size_t param_value_size, void *param_value,
                                                                  size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetContextDestructorCallback(
    cl_context context, void(CL_CALLBACK *pfn_notify)(cl_context context, void *user_data), void *user_data)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_command_queue CL_API_CALL tsl_api_clCreateCommandQueue(cl_context context, cl_device_id device,
                                                                                cl_command_queue_properties properties,
                                                                                cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_command_queue CL_API_CALL tsl_api_clCreateCommandQueueWithProperties(
    cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                                                cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clRetainCommandQueue(cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clReleaseCommandQueue(cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetCommandQueueInfo(cl_command_queue command_queue,
                                                                       cl_command_queue_info param_name,
                                                                       size_t param_value_size, void *param_value,
                                                                       size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetCommandQueueProperty(cl_command_queue command_queue,
                                                                           cl_command_queue_properties properties,
                                                                           cl_bool enable,
                                                                           cl_command_queue_properties *old_properties)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clFlush(cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clFinish(cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_mem CL_API_CALL tsl_api_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                                                                void *host_ptr, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_mem CL_API_CALL tsl_api_clCreateBufferWithProperties(cl_context context,
                                                                              const cl_mem_properties *properties,
                                                                              cl_mem_flags flags, size_t size,
                                                                              void *host_ptr, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_mem CL_API_CALL tsl_api_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
                                                                   cl_buffer_create_type buffer_create_type,
                                                                   const void *buffer_create_info, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clRetainMemObject(cl_mem memobj)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clReleaseMemObject(cl_mem memobj)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name,
                                                                    size_t param_value_size, void *param_value,
                                                                    size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetMemObjectDestructorCallback(
    cl_mem memobj, void(CL_CALLBACK *pfn_notify)(cl_mem memobj, void *user_data), void *user_data)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_program CL_API_CALL tsl_api_clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                               const char **strings,
                                                                               const size_t *lengths,
                                                                               cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_program CL_API_CALL tsl_api_clCreateProgramWithBinary(
    cl_context context, cl_uint num_devices, const cl_device_id *device_list, const size_t *lengths,
    const unsigned char **binaries, cl_int *binary_status, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_program CL_API_CALL tsl_api_clCreateProgramWithBuiltInKernels(cl_context context,
                                                                                       cl_uint num_devices,
                                                                                       const cl_device_id *device_list,
                                                                                       const char *kernel_names,
                                                                                       cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_program CL_API_CALL tsl_api_clCreateProgramWithIL(cl_context context, const void *il,
                                                                           size_t length, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clRetainProgram(cl_program program)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clReleaseProgram(cl_program program)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetProgramReleaseCallback(
    cl_program program, void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id,
                                                                                    size_t spec_size,
                                                                                    const void *spec_value)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL
tsl_api_clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
                       void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL
tsl_api_clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
                         cl_uint num_input_headers, const cl_program *input_headers, const char **header_include_names,
                         void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_program CL_API_CALL tsl_api_clLinkProgram(
    cl_context context, cl_uint num_devices, const cl_device_id *device_list, const char *options,
    cl_uint num_input_programs, const cl_program *input_programs,
    void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetProgramInfo(cl_program program, cl_program_info param_name,
                                                                  size_t param_value_size, void *param_value,
                                                                  size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                                       cl_program_build_info param_name,
                                                                       size_t param_value_size, void *param_value,
                                                                       size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_kernel CL_API_CALL tsl_api_clCreateKernel(cl_program program, const char *kernel_name,
                                                                   cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clCreateKernelsInProgram(cl_program program, cl_uint num_kernels,
                                                                          cl_kernel *kernels, cl_uint *num_kernels_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_kernel CL_API_CALL tsl_api_clCloneKernel(cl_kernel source_kernel, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clRetainKernel(cl_kernel kernel)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clReleaseKernel(cl_kernel kernel)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size,
                                                                const void *arg_value)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name,
                                                                 size_t param_value_size, void *param_value,
                                                                 size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx,
                                                                    cl_kernel_arg_info param_name,
                                                                    size_t param_value_size, void *param_value,
                                                                    size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                                          cl_kernel_work_group_info param_name,
                                                                          size_t param_value_size, void *param_value,
                                                                          size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetKernelSuggestedLocalWorkSize(cl_command_queue command_queue,
                                                                                   cl_kernel kernel, cl_uint work_dim,
                                                                                   const size_t *global_work_offset,
                                                                                   const size_t *global_work_size,
                                                                                   size_t *suggested_local_work_size)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueNDRangeKernel(
    cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim, const size_t *global_work_offset,
    const size_t *global_work_size, const size_t *local_work_size, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
                                                               cl_uint num_events_in_wait_list,
                                                               const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                                     cl_bool blocking_read, size_t offset, size_t size,
                                                                     void *ptr, cl_uint num_events_in_wait_list,
                                                                     const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueReadBufferRect(
    cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read, const size_t *buffer_origin,
    const size_t *host_origin, const size_t *region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
    size_t host_row_pitch, size_t host_slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                                      cl_bool blocking_write, size_t offset,
                                                                      size_t size, const void *ptr,
                                                                      cl_uint num_events_in_wait_list,
                                                                      const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueWriteBufferRect(
    cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, const size_t *buffer_origin,
    const size_t *host_origin, const size_t *region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
    size_t host_row_pitch, size_t host_slice_pitch, const void *ptr, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer,
                                                                     cl_mem dst_buffer, size_t src_offset,
                                                                     size_t dst_offset, size_t size,
                                                                     cl_uint num_events_in_wait_list,
                                                                     const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueCopyBufferRect(
    cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, const size_t *src_origin,
    const size_t *dst_origin, const size_t *region, size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
    size_t dst_slice_pitch, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                                     const void *pattern, size_t pattern_size,
                                                                     size_t offset, size_t size,
                                                                     cl_uint num_events_in_wait_list,
                                                                     const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueMigrateMemObjects(
    cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem *mem_objects, cl_mem_migration_flags flags,
    cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) void *CL_API_CALL tsl_api_clEnqueueMapBuffer(
    cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map, cl_map_flags map_flags, size_t offset,
    size_t size, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj,
                                                                         void *mapped_ptr,
                                                                         cl_uint num_events_in_wait_list,
                                                                         const cl_event *event_wait_list,
                                                                         cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueNativeKernel(
    cl_command_queue command_queue, void(CL_CALLBACK *user_func)(void *), void *args, size_t cb_args,
    cl_uint num_mem_objects, const cl_mem *mem_list, const void **args_mem_loc, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueMarker(cl_command_queue command_queue, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueMarkerWithWaitList(cl_command_queue command_queue,
                                                                             cl_uint num_events_in_wait_list,
                                                                             const cl_event *event_wait_list,
                                                                             cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueBarrier(cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                                                              cl_uint num_events_in_wait_list,
                                                                              const cl_event *event_wait_list,
                                                                              cl_event *event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clEnqueueWaitForEvents(cl_command_queue command_queue,
                                                                        cl_uint num_events, const cl_event *event_list)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clWaitForEvents(cl_uint num_events, const cl_event *event_list)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetEventInfo(cl_event event, cl_event_info param_name,
                                                                size_t param_value_size, void *param_value,
                                                                size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
                                                                         size_t param_value_size, void *param_value,
                                                                         size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clRetainEvent(cl_event event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clReleaseEvent(cl_event event)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_event CL_API_CALL tsl_api_clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = CL_INVALID_OPERATION;
    return NULL;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetUserEventStatus(cl_event event, cl_int execution_status)
{
    return CL_INVALID_OPERATION;
}

__attribute__((weak)) cl_int CL_API_CALL tsl_api_clSetEventCallback(
    cl_event event, cl_int command_exec_callback_type,
    void(CL_CALLBACK *pfn_notify)(cl_event event, cl_int event_command_status, void *user_data), void *user_data)
{
    return CL_INVALID_OPERATION;
}

#include "driver/members.h"

__attribute__((weak)) struct tsl_member *const *tsl_members_open(unsigned *n)
{
    *n = 0;
    return NULL;
}
