/* Sub-groups: CL_DEVICE_MAX_NUM_SUB_GROUPS is 0. */

#include "api/refuse.h"
#include "program/kernel_info.h"

/* Without a device argument the program's only device is meant. */
static cl_int refuse(cl_kernel kernel, cl_device_id device)
{
    const struct tsl_kernel *it = tsl_kernel_from(kernel);
    const struct tsl_device *of = tsl_device_from(device);

    if (!it)
        return CL_INVALID_KERNEL;
    if (device ? !of || !tsl_program_has_device(it->program, of) : it->program->n_devices > 1)
        return CL_INVALID_DEVICE;
    return CL_INVALID_OPERATION;
}

cl_int CL_API_CALL tsl_api_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                                   cl_kernel_sub_group_info param_name, size_t input_value_size,
                                                   const void *input_value, size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret)
{
    return refuse(kernel, device);
}

cl_int CL_API_CALL tsl_api_clGetKernelSubGroupInfoKHR(cl_kernel in_kernel, cl_device_id in_device,
                                                      cl_kernel_sub_group_info param_name, size_t input_value_size,
                                                      const void *input_value, size_t param_value_size,
                                                      void *param_value, size_t *param_value_size_ret)
{
    return refuse(in_kernel, in_device);
}
