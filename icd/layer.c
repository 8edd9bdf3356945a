/*
 * Tesela as a layer of the loader (OPENCL_LAYERS): programs see its platform in place of all that the loader found.
 *
 * The layer answers what is asked without a handle, and makes contexts. All else it leaves to the loader, which calls
 * the functions of the handle's own table: Tesela's for Tesela's objects, the vendor's for objects that a program has
 * of a vendor by other ways.
 *
 * As in icd.c, the loader holds a lock of its own while it calls the exported functions.
 */
#include "device/platform.h"
#include "dispatch.h"

#include <CL/cl_layer.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Khronos' loader since 2025; Debian's headers don't have it yet. */
cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                             cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret,
                                             const intptr_t *properties);

/* The table behind this layer. Where several loaders of one process have the layer, that of the last: any of them
 * dispatches by the handle. */
static const cl_icd_dispatch *behind;

static const cl_icd_dispatch *next(void)
{
    return __atomic_load_n(&behind, __ATOMIC_ACQUIRE);
}

static cl_platform_id own_platform(void)
{
    return (cl_platform_id)tsl_platform_get();
}

/* Do these context properties name Tesela, or no platform? Debian's loader refuses platforms that it didn't find. */
static bool is_ours(const cl_context_properties *properties)
{
    for (size_t i = 0; properties && properties[i]; i += 2)
        if (properties[i] == CL_CONTEXT_PLATFORM && properties[i + 1])
            return properties[i + 1] == (cl_context_properties)own_platform();
    return true;
}

/* Loaders choose a platform of theirs where a program names none. */
static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info param_name, size_t param_value_size,
                                        void *param_value, size_t *param_value_size_ret)
{
    if (!platform)
        return tsl_api_clGetPlatformInfo(own_platform(), param_name, param_value_size, param_value,
                                         param_value_size_ret);
    return next()->clGetPlatformInfo(platform, param_name, param_value_size, param_value, param_value_size_ret);
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries,
                                     cl_device_id *devices, cl_uint *num_devices)
{
    if (!platform)
        return tsl_api_clGetDeviceIDs(own_platform(), device_type, num_entries, devices, num_devices);
    return next()->clGetDeviceIDs(platform, device_type, num_entries, devices, num_devices);
}

static cl_context CL_API_CALL context(const cl_context_properties *properties, cl_uint num_devices,
                                      const cl_device_id *devices,
                                      void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *),
                                      void *user_data, cl_int *errcode_ret)
{
    if (is_ours(properties) && (num_devices == 0 || !devices || tsl_object_is(devices[0], TSL_DEVICE)))
        return tsl_api_clCreateContext(properties, num_devices, devices, pfn_notify, user_data, errcode_ret);
    return next()->clCreateContext(properties, num_devices, devices, pfn_notify, user_data, errcode_ret);
}

static cl_context CL_API_CALL context_from_type(const cl_context_properties *properties, cl_device_type device_type,
                                                void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t,
                                                                              void *),
                                                void *user_data, cl_int *errcode_ret)
{
    if (is_ours(properties))
        return tsl_api_clCreateContextFromType(properties, device_type, pfn_notify, user_data, errcode_ret);
    return next()->clCreateContextFromType(properties, device_type, pfn_notify, user_data, errcode_ret);
}

static cl_int CL_API_CALL gl_context_info(const cl_context_properties *properties, cl_gl_context_info param_name,
                                          size_t param_value_size, void *param_value, size_t *param_value_size_ret)
{
    if (is_ours(properties))
        return tsl_api_clGetGLContextInfoKHR(properties, param_name, param_value_size, param_value,
                                             param_value_size_ret);
    return next()->clGetGLContextInfoKHR(properties, param_name, param_value_size, param_value, param_value_size_ret);
}

/* Tesela's first: another vendor's function of that name would get Tesela's objects. Those for loaders aren't told. */
static void *CL_API_CALL extension_function(const char *func_name)
{
    void *function = NULL;

    if (func_name && strncmp(func_name, "clIcd", 5) != 0)
        function = tsl_api_clGetExtensionFunctionAddress(func_name);
    return function ? function : next()->clGetExtensionFunctionAddress(func_name);
}

/* Where it has nothing, loaders put what is behind. */
static const struct tsl_dispatch layer_table = {
    .clGetPlatformIDs = tsl_api_clGetPlatformIDs,
    .clGetPlatformInfo = platform_info,
    .clGetDeviceIDs = device_ids,
    .clCreateContext = context,
    .clCreateContextFromType = context_from_type,
    .clGetGLContextInfoKHR = gl_context_info,
    .clGetExtensionFunctionAddress = extension_function,
};

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size, void *param_value,
                                         size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};

    switch (param_name) {
    case CL_LAYER_API_VERSION:
        return tsl_info_uint(&info, CL_LAYER_API_VERSION_100);
#ifdef CL_LAYER_NAME
    case CL_LAYER_NAME:
        return tsl_info_string(&info, TSL_NAME);
#endif
    default:
        return CL_INVALID_VALUE;
    }
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                      cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    const size_t last = offsetof(cl_icd_dispatch, clGetGLContextInfoKHR) / sizeof(void *);

    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret || num_entries <= last)
        return CL_INVALID_VALUE;
    __atomic_store_n(&behind, target_dispatch, __ATOMIC_RELEASE);
    tsl_platform_enter_layer();
    *num_entries_ret = TSL_N_SLOTS;
    *layer_dispatch_ret = (const cl_icd_dispatch *)&layer_table;
    return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                                    cl_uint *num_entries_ret,
                                                    const cl_icd_dispatch **layer_dispatch_ret,
                                                    const intptr_t *properties)
{
    (void)properties; /* None is known. */
    return clInitLayer(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
}
