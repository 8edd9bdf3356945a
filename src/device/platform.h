/*
 * What the platform reports: constants, as these queries must not load any vendor (loaders ask while they enumerate).
 */
#ifndef TSL_DEVICE_PLATFORM_H
#define TSL_DEVICE_PLATFORM_H

#include "base/info.h"
#include "device/device.h"

#define TSL_NAME   "Tesela" /* also the vendor's */
#define TSL_SUFFIX "TSL"    /* ends the names of functions that only Tesela has */

/* clIcdSetPlatformDispatchDataKHR: sets the second word of the platform, its devices, and all later objects, which have
 * the marked table (icd/icd2.h). */
void tsl_platform_set_dispatch_data(void *data);

/* Said when a loader takes us as a layer, which tells no word of its own: from now on loaders dispatch by the
 * handles' own table, unless a loader has told its word before, or does later. */
void tsl_platform_enter_layer(void);

cl_int tsl_platform_info(cl_platform_info param, const struct tsl_info *info);

#endif
