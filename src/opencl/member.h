/* member.c: errors of the vendor; shared.c: does a device work on the host's memory? */
#ifndef TSL_OPENCL_MEMBER_H
#define TSL_OPENCL_MEMBER_H

#include "opencl/internal.h"

/* What the vendor returned, also as an event's end, and what the contract makes of it. A vendor that says
 * CL_DEVICE_NOT_AVAILABLE has lost the device, and so have we. A number that OpenCL doesn't know is
 * CL_OUT_OF_RESOURCES. */
cl_int tsl_opencl_error(struct tsl_opencl_member *member, cl_int error);

/* Does the device work on the host's memory itself? The caller entered the device. */
bool tsl_opencl_shares_memory(const struct tsl_opencl_member *m);

#endif
