#include "device/platform.h"

#include "api.h"
#include "api/handles.h"
#include "base/clock.h"
#include "dispatch.h"

#include <string.h>

cl_int CL_API_CALL tsl_api_clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    if ((num_entries == 0 && platforms) || (!platforms && !num_platforms))
        return CL_INVALID_VALUE;
    if (platforms)
        platforms[0] = (cl_platform_id)tsl_platform_get();
    if (num_platforms)
        *num_platforms = 1;
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                             size_t param_value_size, void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};

    if (!tsl_platform_from(platform))
        return CL_INVALID_PLATFORM;
    return tsl_platform_info(param_name, &info);
}

/* The functions of the extensions that we report. Core functions are not found by name (OpenCL 3.0, 9.2), except those
 * with which loaders begin. */
void *CL_API_CALL tsl_api_clGetExtensionFunctionAddress(const char *func_name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"clIcdGetPlatformIDsKHR", (void *)tsl_api_clGetPlatformIDs},
        {"clIcdGetFunctionAddressForPlatformKHR", (void *)tsl_api_clIcdGetFunctionAddressForPlatformKHR},
        {"clIcdSetPlatformDispatchDataKHR", (void *)tsl_api_clIcdSetPlatformDispatchDataKHR},
        {"clGetPlatformInfo", (void *)tsl_api_clGetPlatformInfo},
        {"clCreateCommandQueueWithPropertiesKHR", (void *)tsl_api_clCreateCommandQueueWithProperties},
        {"clCreateProgramWithILKHR", (void *)tsl_api_clCreateProgramWithIL},
        {"clSetQueuePolicyTESELA", (void *)tsl_api_clSetQueuePolicyTESELA},
        {"clAddKernelVariantTESELA", (void *)tsl_api_clAddKernelVariantTESELA},
        {"clGetKernelSuggestedLocalWorkSizeKHR", (void *)tsl_api_clGetKernelSuggestedLocalWorkSize},
    };

    for (size_t i = 0; func_name && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, func_name) == 0)
            return functions[i].function;
    return NULL;
}

void *CL_API_CALL tsl_api_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *func_name)
{
    return tsl_platform_from(platform) ? tsl_api_clGetExtensionFunctionAddress(func_name) : NULL;
}

void *CL_API_CALL tsl_api_clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *func_name)
{
    void *function;

    if (!tsl_platform_from(platform) || !func_name)
        return NULL;
    function = tsl_dispatch_function(func_name);
    return function ? function : tsl_api_clGetExtensionFunctionAddress(func_name);
}

cl_int CL_API_CALL tsl_api_clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *dispatch_data)
{
    if (!tsl_platform_from(platform))
        return CL_INVALID_PLATFORM;
    tsl_platform_set_dispatch_data(dispatch_data);
    return CL_SUCCESS;
}

/* A hint: nothing can be unloaded, as the compilers are the vendors'. */
cl_int CL_API_CALL tsl_api_clUnloadCompiler(void)
{
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clUnloadPlatformCompiler(cl_platform_id platform)
{
    return tsl_platform_from(platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int CL_API_CALL tsl_api_clGetHostTimer(cl_device_id device, cl_ulong *host_timestamp)
{
    if (!tsl_device_from(device))
        return CL_INVALID_DEVICE;
    if (!host_timestamp)
        return CL_INVALID_VALUE;
    *host_timestamp = tsl_clock_ns();
    return CL_SUCCESS;
}

/* One clock for all (base/clock.h): profiling times are in this clock, so the device's time is the host's. */
cl_int CL_API_CALL tsl_api_clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_timestamp,
                                                   cl_ulong *host_timestamp)
{
    if (!tsl_device_from(device))
        return CL_INVALID_DEVICE;
    if (!device_timestamp || !host_timestamp)
        return CL_INVALID_VALUE;
    *device_timestamp = *host_timestamp = tsl_clock_ns();
    return CL_SUCCESS;
}
