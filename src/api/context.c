#include "object/context.h"

#include "api.h"
#include "api/check.h"
#include "base/info.h"

/* Checks one property of a list of names and values. Each name may occur once (OpenCL 3.0, 4.4, table 7). */
static cl_int check_property(cl_context_properties name, cl_context_properties value, unsigned *seen)
{
    unsigned bit = name == CL_CONTEXT_PLATFORM ? 1 : name == CL_CONTEXT_INTEROP_USER_SYNC ? 2 : 0;

    if (bit == 0 || *seen & bit)
        return CL_INVALID_PROPERTY;
    *seen |= bit;
    if (name == CL_CONTEXT_PLATFORM)
        return tsl_platform_from((cl_platform_id)value) ? CL_SUCCESS : CL_INVALID_PLATFORM;
    return value == CL_TRUE || value == CL_FALSE ? CL_SUCCESS : CL_INVALID_PROPERTY;
}

/* *n: words, with the closing 0; 0 without a list. */
static cl_int check_properties(const cl_context_properties *properties, size_t *n)
{
    unsigned seen = 0;

    *n = 0;
    if (!properties)
        return CL_SUCCESS;
    for (*n = 1; properties[*n - 1]; *n += 2) {
        cl_int error = check_property(properties[*n - 1], properties[*n], &seen);

        if (error)
            return error;
    }
    return CL_SUCCESS;
}

/* The application's callback for later errors, which no call returns. */
struct notify {
    tsl_context_error_fn *fn;
    void *arg;
};

static cl_int create(const cl_context_properties *properties, struct tsl_device *const *devices, cl_uint n_devices,
                     const struct notify *notify, struct tsl_context **context)
{
    size_t n_properties;
    cl_int error = check_properties(properties, &n_properties);

    if (error)
        return error;
    if (!notify->fn && notify->arg)
        return CL_INVALID_VALUE;
    error = tsl_context_create(properties, n_properties, devices, n_devices, context);
    if (error)
        return error;
    (*context)->error_fn = notify->fn;
    (*context)->error_arg = notify->arg;
    return CL_SUCCESS;
}

static cl_int check_devices(const cl_device_id *devices, cl_uint n_devices)
{
    if (!devices || n_devices == 0)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n_devices; i++)
        if (!tsl_device_from(devices[i]))
            return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

cl_context CL_API_CALL tsl_api_clCreateContext(
    const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
{
    const struct notify notify = {pfn_notify, user_data};
    struct tsl_context *context = NULL;
    cl_int error = check_devices(devices, num_devices);

    if (!error)
        error = create(properties, (struct tsl_device *const *)devices, num_devices, &notify, &context);
    return tsl_created(context, error, errcode_ret);
}

cl_context CL_API_CALL tsl_api_clCreateContextFromType(
    const cl_context_properties *properties, cl_device_type device_type,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
{
    const struct notify notify = {pfn_notify, user_data};
    struct tsl_device *device = tsl_device_root();
    struct tsl_context *context = NULL;
    cl_int error = tsl_check_device_type(device_type);

    if (!error)
        error = create(properties, &device, 1, &notify, &context);
    return tsl_created(context, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clRetainContext(cl_context context)
{
    struct tsl_context *c = tsl_context_from(context);

    if (!c)
        return CL_INVALID_CONTEXT;
    tsl_object_retain(&c->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseContext(cl_context context)
{
    struct tsl_context *c = tsl_context_from(context);

    return c && tsl_object_release(&c->object) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int CL_API_CALL tsl_api_clGetContextInfo(cl_context context, cl_context_info param_name, size_t param_value_size,
                                            void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    const struct tsl_context *c = tsl_context_from(context);

    if (!c)
        return CL_INVALID_CONTEXT;
    switch (param_name) {
    case CL_CONTEXT_REFERENCE_COUNT:
        return tsl_info_uint(&info, tsl_object_users(&c->object));
    case CL_CONTEXT_NUM_DEVICES:
        return tsl_info_uint(&info, c->n_devices);
    case CL_CONTEXT_DEVICES:
        return tsl_info_bytes(&info, c->devices, c->n_devices * sizeof *c->devices);
    case CL_CONTEXT_PROPERTIES:
        return tsl_info_bytes(&info, c->properties, c->n_properties * sizeof *c->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL tsl_api_clSetContextDestructorCallback(cl_context context,
                                                          void(CL_CALLBACK *pfn_notify)(cl_context, void *),
                                                          void *user_data)
{
    struct tsl_context *c = tsl_context_from(context);

    if (!c)
        return CL_INVALID_CONTEXT;
    if (!pfn_notify)
        return CL_INVALID_VALUE;
    return tsl_context_on_destroy(c, pfn_notify, user_data);
}
