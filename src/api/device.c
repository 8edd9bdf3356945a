#include "device/device.h"
#include "device/partition.h"

#include "api.h"
#include "api/check.h"

/*
 * Every request but one for custom devices alone finds the virtual device: it may have members of every type behind it,
 * and many programs ask for one type and accept nothing else. So no vendor has to be loaded here: Debian's loader asks
 * each platform for its GPUs while it enumerates.
 */
cl_int CL_API_CALL tsl_api_clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries,
                                          cl_device_id *devices, cl_uint *num_devices)
{
    cl_int error = tsl_check_device_type(device_type);

    if (!tsl_platform_from(platform))
        return CL_INVALID_PLATFORM;
    if (error == CL_INVALID_DEVICE_TYPE)
        return error;
    if ((num_entries == 0 && devices) || (!devices && !num_devices))
        return CL_INVALID_VALUE;
    if (error)
        return error;
    if (devices)
        devices[0] = (cl_device_id)tsl_device_root();
    if (num_devices)
        *num_devices = 1;
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size,
                                           void *param_value, size_t *param_value_size_ret)
{
    struct tsl_device *d = tsl_device_from(device);

    if (!d)
        return CL_INVALID_DEVICE;
    return tsl_device_info(d, param_name, param_value_size, param_value, param_value_size_ret);
}

/* Root devices live as long as the platform; only sub-devices are counted (OpenCL 3.0, 4.3). */
cl_int CL_API_CALL tsl_api_clRetainDevice(cl_device_id device)
{
    struct tsl_device *d = tsl_device_from(device);

    if (!d)
        return CL_INVALID_DEVICE;
    if (d->parent)
        tsl_object_retain(&d->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseDevice(cl_device_id device)
{
    struct tsl_device *d = tsl_device_from(device);

    if (!d)
        return CL_INVALID_DEVICE;
    return !d->parent || tsl_object_release(&d->object) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL tsl_api_clCreateSubDevices(cl_device_id in_device, const cl_device_partition_property *properties,
                                              cl_uint num_devices, cl_device_id *out_devices, cl_uint *num_devices_ret)
{
    struct tsl_device *device = tsl_device_from(in_device);
    cl_uint n = 0;
    cl_int error;

    if (!device)
        return CL_INVALID_DEVICE;
    error = tsl_partition(device, properties, num_devices, (struct tsl_device **)out_devices, &n);
    if (!error && num_devices_ret)
        *num_devices_ret = n;
    return error;
}

/* cl_ext_device_fission, which we don't report. */
cl_int CL_API_CALL tsl_api_clCreateSubDevicesEXT(cl_device_id in_device,
                                                 const cl_device_partition_property_ext *properties,
                                                 cl_uint num_entries, cl_device_id *out_devices, cl_uint *num_devices)
{
    (void)properties;
    (void)num_entries;
    (void)out_devices;
    (void)num_devices;
    return tsl_device_from(in_device) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL tsl_api_clRetainDeviceEXT(cl_device_id device)
{
    return tsl_api_clRetainDevice(device);
}

cl_int CL_API_CALL tsl_api_clReleaseDeviceEXT(cl_device_id device)
{
    return tsl_api_clReleaseDevice(device);
}
