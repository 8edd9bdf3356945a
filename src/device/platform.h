/*
 * What the platform reports: constants, as these queries must not load any vendor (loaders ask while they enumerate).
 */
#ifndef TSL_DEVICE_PLATFORM_H
#define TSL_DEVICE_PLATFORM_H

#include "base/info.h"
#include "device/device.h"

#define TSL_NAME   "Tesela" /* also the vendor's */
#define TSL_SUFFIX "TSL"    /* ends the names of functions that only Tesela has */

/* clIcdSetPlatformDispatchDataKHR: sets the second word of the platform, its devices, and all later objects. */
void tsl_platform_set_dispatch_data(void *data);

cl_int tsl_platform_info(cl_platform_info param, const struct tsl_info *info);

#endif
