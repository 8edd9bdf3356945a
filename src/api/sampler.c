/* Samplers: none, as there are no images. */

#include "api/refuse.h"

cl_sampler CL_API_CALL tsl_api_clCreateSampler(cl_context context, cl_bool normalized_coords,
                                               cl_addressing_mode addressing_mode, cl_filter_mode filter_mode,
                                               cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_sampler CL_API_CALL tsl_api_clCreateSamplerWithProperties(cl_context context,
                                                             const cl_sampler_properties *sampler_properties,
                                                             cl_int *errcode_ret)
{
    return tsl_refuse_create(context, CL_INVALID_OPERATION, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clRetainSampler(cl_sampler sampler)
{
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL tsl_api_clReleaseSampler(cl_sampler sampler)
{
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL tsl_api_clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name, size_t param_value_size,
                                            void *param_value, size_t *param_value_size_ret)
{
    return CL_INVALID_SAMPLER;
}
