/* Images: none until they work on every member; the device says CL_DEVICE_IMAGE_SUPPORT is false. */

#include "api/refuse.h"

cl_mem CL_API_CALL tsl_api_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
                                         const cl_image_desc *image_desc, void *host_ptr, cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                                       cl_mem_flags flags, const cl_image_format *image_format,
                                                       const cl_image_desc *image_desc, void *host_ptr,
                                                       cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
                                           size_t image_width, size_t image_height, size_t image_row_pitch,
                                           void *host_ptr, cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
                                           size_t image_width, size_t image_height, size_t image_depth,
                                           size_t image_row_pitch, size_t image_slice_pitch, void *host_ptr,
                                           cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                      cl_mem_object_type image_type, cl_uint num_entries,
                                                      cl_image_format *image_formats, cl_uint *num_image_formats)
{
    if (!tsl_context_from(context))
        return CL_INVALID_CONTEXT;
    if (num_entries == 0 && image_formats)
        return CL_INVALID_VALUE;
    if (num_image_formats)
        *num_image_formats = 0;
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size,
                                          void *param_value, size_t *param_value_size_ret)
{
    return CL_INVALID_MEM_OBJECT;
}

cl_int CL_API_CALL tsl_api_clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                                              const size_t *origin, const size_t *region, size_t row_pitch,
                                              size_t slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
                                              const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write,
                                               const size_t *origin, const size_t *region, size_t input_row_pitch,
                                               size_t input_slice_pitch, const void *ptr,
                                               cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                               cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void *fill_color,
                                              const size_t *origin, const size_t *region,
                                              cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                              cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                                              const size_t *src_origin, const size_t *dst_origin, const size_t *region,
                                              cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                              cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                                      cl_mem dst_buffer, const size_t *src_origin, const size_t *region,
                                                      size_t dst_offset, cl_uint num_events_in_wait_list,
                                                      const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                                      cl_mem dst_image, size_t src_offset, const size_t *dst_origin,
                                                      const size_t *region, cl_uint num_events_in_wait_list,
                                                      const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

void *CL_API_CALL tsl_api_clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                                            cl_map_flags map_flags, const size_t *origin, const size_t *region,
                                            size_t *image_row_pitch, size_t *image_slice_pitch,
                                            cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                            cl_event *event, cl_int *errcode_ret)
{
    return tsl_created(NULL, tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION), errcode_ret);
}
