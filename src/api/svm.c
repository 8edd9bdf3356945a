/* Shared virtual memory: CL_DEVICE_SVM_CAPABILITIES is 0. */

#include "api/refuse.h"

void *CL_API_CALL tsl_api_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    return NULL;
}

void CL_API_CALL tsl_api_clSVMFree(cl_context context, void *svm_pointer)
{
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                            void *svm_pointers[],
                                            void(CL_CALLBACK *pfn_free_func)(cl_command_queue queue,
                                                                             cl_uint num_svm_pointers,
                                                                             void *svm_pointers[], void *user_data),
                                            void *user_data, cl_uint num_events_in_wait_list,
                                            const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void *dst_ptr,
                                              const void *src_ptr, size_t size, cl_uint num_events_in_wait_list,
                                              const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMemFill(cl_command_queue command_queue, void *svm_ptr, const void *pattern,
                                               size_t pattern_size, size_t size, cl_uint num_events_in_wait_list,
                                               const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags,
                                           void *svm_ptr, size_t size, cl_uint num_events_in_wait_list,
                                           const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMUnmap(cl_command_queue command_queue, void *svm_ptr,
                                             cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                             cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                                  const void **svm_pointers, const size_t *sizes,
                                                  cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                                  const cl_event *event_wait_list, cl_event *event)
{
    return tsl_refuse_enqueue(command_queue, CL_INVALID_OPERATION);
}

cl_int CL_API_CALL tsl_api_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void *arg_value)
{
    return tsl_kernel_from(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

cl_int CL_API_CALL tsl_api_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name,
                                               size_t param_value_size, const void *param_value)
{
    return tsl_kernel_from(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
