/* Pipes: CL_DEVICE_PIPE_SUPPORT is false. */

#include "api/refuse.h"

cl_mem CL_API_CALL tsl_api_clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint pipe_packet_size,
                                        cl_uint pipe_max_packets, const cl_pipe_properties *properties,
                                        cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name, size_t param_value_size,
                                         void *param_value, size_t *param_value_size_ret)
{
    return CL_INVALID_MEM_OBJECT;
}
