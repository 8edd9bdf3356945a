#include "device/platform.h"

#include "device/device.h"
#include "dispatch.h"

#include <CL/cl_ext.h>

static struct tsl_platform platform = {
    .object = {.dispatch = &tsl_dispatch_table, .kind = TSL_PLATFORM, .users = 1, .visible = 1, .refs = 1}};

struct tsl_platform *tsl_platform_get(void)
{
    return &platform;
}

/* All other objects are made from these two, and inherit the words. */
static void set_dispatch(const struct tsl_dispatch *dispatch, void *data)
{
    tsl_object_set_dispatch(&platform.object, dispatch, data);
    tsl_object_set_dispatch(&tsl_device_root()->object, dispatch, data);
}

void tsl_platform_set_dispatch_data(void *data)
{
    set_dispatch(&tsl_dispatch_table, data);
}

void tsl_platform_enter_layer(void)
{
    if (!__atomic_load_n(&platform.object.dispatch_data, __ATOMIC_RELAXED))
        set_dispatch(tsl_dispatch_plain(), NULL);
}

/* The platform's own. What the device has in addition is known only when its members are. */
static const cl_name_version extensions[] = {
    {CL_MAKE_VERSION(2, 0, 0), "cl_khr_icd"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning"},
};
#define EXTENSIONS "cl_khr_icd cl_khr_extended_versioning"

cl_int tsl_platform_info(cl_platform_info param, const struct tsl_info *info)
{
    switch (param) {
    case CL_PLATFORM_PROFILE:
        return tsl_info_string(info, "FULL_PROFILE");
    case CL_PLATFORM_VERSION:
        return tsl_info_string(info, "OpenCL 3.0 " TSL_NAME " " TESELA_VERSION);
    case CL_PLATFORM_NUMERIC_VERSION:
        return tsl_info_uint(info, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME:
        return tsl_info_string(info, TSL_NAME);
    case CL_PLATFORM_VENDOR:
        return tsl_info_string(info, TSL_NAME);
    case CL_PLATFORM_EXTENSIONS:
        return tsl_info_string(info, EXTENSIONS);
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
        return tsl_info_bytes(info, extensions, sizeof extensions);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return tsl_info_string(info, TSL_SUFFIX);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        return tsl_info_ulong(info, 1); /* ns: base/clock.h */
    default:
        return CL_INVALID_VALUE;
    }
}
