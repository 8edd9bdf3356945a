/* Stand-ins for what is still being written: weak, so that each goes when its real one arrives. */
#include "api.h"
#include "driver/members.h"
#include "graph/graph.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

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
