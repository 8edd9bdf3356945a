/* The driver over other vendors' OpenCL: their ICDs, loaded by ourselves. Paths are "opencl:PLATFORM.DEVICE". */
#ifndef TSL_OPENCL_OPENCL_DRIVER_H
#define TSL_OPENCL_OPENCL_DRIVER_H

#include "driver/driver.h"

extern const struct tsl_driver tsl_opencl_driver;

#endif
