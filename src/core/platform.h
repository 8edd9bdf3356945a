/*
 * What the platform says of itself: constants, as asking must touch no vendor (loaders ask while they enumerate).
 */
#ifndef TSL_CORE_PLATFORM_H
#define TSL_CORE_PLATFORM_H

#include "core/device.h"
#include "core/info.h"

#define TSL_NAME   "Tesela" /* also the vendor's */
#define TSL_SUFFIX "TSL"    /* ends the names of functions that only Tesela has */

cl_int tsl_platform_info(cl_platform_info param, const struct tsl_info *info);

#endif
