/*
 * Partitions of the virtual device (OpenCL 3.0, 4.3): by member, and by NUMA node if the members are on several. A
 * node's sub-device can be partitioned by member in its turn.
 */
#ifndef TSL_DEVICE_PARTITION_H
#define TSL_DEVICE_PARTITION_H

#include "device/device.h"
#include "device/platform.h"

/*
 * clCreateSubDevices: one for each member, in order of index, or one for each node, in order of number. A member on
 * several nodes, or on an unknown one, is in none of the latter. out may be NULL; *n_ret is the number of sub-devices.
 * CL_INVALID_VALUE: the device doesn't have these properties, or out is too small (n). CL_DEVICE_PARTITION_FAILED:
 * there is no member. May block (opens members). Sub-devices live by reference counts.
 */
cl_int tsl_partition(struct tsl_device *device, const cl_device_partition_property *properties, cl_uint n,
                     struct tsl_device **out, cl_uint *n_ret);

/* The queries CL_DEVICE_PARTITION_…. May block. */
cl_int tsl_partition_info(struct tsl_device *device, cl_device_info param, const struct tsl_info *info);

#endif
