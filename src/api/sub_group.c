/* Sub-groups: CL_DEVICE_MAX_NUM_SUB_GROUPS is 0. */

#include "api/refuse.h"

cl_int CL_API_CALL tsl_api_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                                   cl_kernel_sub_group_info param_name, size_t input_value_size,
                                                   const void *input_value, size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret)
{
    return tsl_kernel_from(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

cl_int CL_API_CALL tsl_api_clGetKernelSubGroupInfoKHR(cl_kernel in_kernel, cl_device_id in_device,
                                                      cl_kernel_sub_group_info param_name, size_t input_value_size,
                                                      const void *input_value, size_t param_value_size,
                                                      void *param_value, size_t *param_value_size_ret)
{
    return tsl_kernel_from(in_kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
