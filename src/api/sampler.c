/* Samplers (OpenCL 3.0, 5.7). */
#include "object/sampler.h"

#include "api.h"
#include "api/check.h"
#include "base/info.h"

static bool is_addressing(cl_ulong mode)
{
    return mode >= CL_ADDRESS_NONE && mode <= CL_ADDRESS_MIRRORED_REPEAT;
}

static bool is_filter(cl_ulong mode)
{
    return mode == CL_FILTER_NEAREST || mode == CL_FILTER_LINEAR;
}

static cl_int check_desc(cl_ulong normalized, cl_ulong addressing, cl_ulong filter, struct tsl_sampler_desc *desc)
{
    if (normalized > CL_TRUE || !is_addressing(addressing) || !is_filter(filter))
        return CL_INVALID_VALUE;
    *desc = (struct tsl_sampler_desc){(cl_bool)normalized, (cl_addressing_mode)addressing, (cl_filter_mode)filter};
    return CL_SUCCESS;
}

cl_sampler CL_API_CALL tsl_api_clCreateSampler(cl_context context, cl_bool normalized_coords,
                                               cl_addressing_mode addressing_mode, cl_filter_mode filter_mode,
                                               cl_int *errcode_ret)
{
    struct tsl_context *c = tsl_context_from(context);
    struct tsl_sampler *sampler = NULL;
    struct tsl_sampler_desc desc;
    cl_int error = tsl_check_images(c);

    if (!error)
        error = check_desc(normalized_coords, addressing_mode, filter_mode, &desc);
    if (!error)
        error = tsl_sampler_create(c, &desc, NULL, 0, &sampler);
    return tsl_created(sampler, error, errcode_ret);
}

/* Reads a list with each property at most once; missing ones have the specification's default (OpenCL 3.0, 5.7.1). */
static cl_int read_properties(const cl_sampler_properties *properties, struct tsl_sampler_desc *desc, size_t *n)
{
    cl_ulong values[3] = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
    bool given[3] = {false};

    for (*n = 0; properties && properties[*n]; *n += 2) {
        cl_sampler_properties name = properties[*n] - CL_SAMPLER_NORMALIZED_COORDS;

        if (name > 2 || given[name])
            return CL_INVALID_VALUE;
        given[name] = true;
        values[name] = properties[*n + 1];
    }
    *n += properties != NULL;
    return check_desc(values[0], values[1], values[2], desc);
}

_Static_assert(CL_SAMPLER_ADDRESSING_MODE == CL_SAMPLER_NORMALIZED_COORDS + 1 &&
                   CL_SAMPLER_FILTER_MODE == CL_SAMPLER_NORMALIZED_COORDS + 2,
               "read_properties counts on the order of the names");

cl_sampler CL_API_CALL tsl_api_clCreateSamplerWithProperties(cl_context context,
                                                             const cl_sampler_properties *sampler_properties,
                                                             cl_int *errcode_ret)
{
    struct tsl_context *c = tsl_context_from(context);
    struct tsl_sampler *sampler = NULL;
    struct tsl_sampler_desc desc;
    size_t n;
    cl_int error = tsl_check_images(c);

    if (!error)
        error = read_properties(sampler_properties, &desc, &n);
    if (!error)
        error = tsl_sampler_create(c, &desc, sampler_properties, n, &sampler);
    return tsl_created(sampler, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clRetainSampler(cl_sampler sampler)
{
    struct tsl_sampler *it = tsl_sampler_from(sampler);

    if (!it)
        return CL_INVALID_SAMPLER;
    tsl_object_retain(&it->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseSampler(cl_sampler sampler)
{
    struct tsl_sampler *it = tsl_sampler_from(sampler);

    return it && tsl_object_release(&it->object) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL tsl_api_clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name, size_t param_value_size,
                                            void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    const struct tsl_sampler *it = tsl_sampler_from(sampler);

    if (!it)
        return CL_INVALID_SAMPLER;
    switch (param_name) {
    case CL_SAMPLER_REFERENCE_COUNT:
        return tsl_info_uint(&info, tsl_object_users(&it->object));
    case CL_SAMPLER_CONTEXT:
        return tsl_info_pointer(&info, it->context);
    case CL_SAMPLER_NORMALIZED_COORDS:
        return tsl_info_uint(&info, it->desc.normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
        return tsl_info_uint(&info, it->desc.addressing);
    case CL_SAMPLER_FILTER_MODE:
        return tsl_info_uint(&info, it->desc.filter);
    case CL_SAMPLER_PROPERTIES:
        return tsl_info_bytes(&info, it->properties, it->n_properties * sizeof *it->properties);
    default:
        return CL_INVALID_VALUE;
    }
}
