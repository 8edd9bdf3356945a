/*
 * The symbols that loaders look up in the library; all others are reached through the dispatch table.
 *
 * Loaders call these while they hold a lock of their own, at a program's first OpenCL call: nothing here reads the
 * settings, opens a vendor or calls a loader.
 */
#include "api.h"

#define EXPORT __attribute__((visibility("default")))

/* Debian's headers don't declare these. */
void *CL_API_CALL clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *func_name);
cl_int CL_API_CALL clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *dispatch_data);

EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *func_name)
{
    return tsl_api_clGetExtensionFunctionAddress(func_name);
}

EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    return tsl_api_clGetPlatformIDs(num_entries, platforms, num_platforms);
}

/* Loaders of ICD 1 ask for the extensions and the suffix by this symbol, before they know a dispatch table. */
EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                            size_t param_value_size, void *param_value, size_t *param_value_size_ret)
{
    return tsl_api_clGetPlatformInfo(platform, param_name, param_value_size, param_value, param_value_size_ret);
}

/* ICD 2: loaders fill their own table with these functions, and tell us its address. */
EXPORT void *CL_API_CALL clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *func_name)
{
    return tsl_api_clIcdGetFunctionAddressForPlatformKHR(platform, func_name);
}

EXPORT cl_int CL_API_CALL clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *dispatch_data)
{
    return tsl_api_clIcdSetPlatformDispatchDataKHR(platform, dispatch_data);
}
