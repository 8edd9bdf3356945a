/*
 * What Tesela offers beyond OpenCL: cl_tesela_members, the real devices ("members") behind the virtual one.
 *
 * Khronos gives vendors blocks of 16 tokens below 0x10000; Tesela has none, so its tokens begin with its
 * CL_DEVICE_VENDOR_ID, 0x54534C ("TSL"), where Khronos assigns nothing.
 */
#ifndef CL_TESELA_H
#define CL_TESELA_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define cl_tesela_members                1
#define CL_TESELA_MEMBERS_EXTENSION_NAME "cl_tesela_members"

/*
 * cl_device_partition_property. clCreateSubDevices of the virtual device with
 *
 *     const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
 *
 * gives one sub-device for each member, in the order of `tesela info`. A queue of a sub-device runs its kernels on that
 * member alone, and its clEnqueueWriteBuffer, Copy, Fill and MigrateMemObjects bring the data to that member. Contexts
 * may hold sub-devices, the virtual device, or both; buffers are shared by all of a context's devices, of whatever
 * vendors. Among the properties of CL_DEVICE_PARTITION_PROPERTIES where the device has members.
 */
#define CL_DEVICE_PARTITION_BY_MEMBER_TESELA 0x54534C01

/*
 * cl_device_info, char[]: Tesela's name of the member behind a sub-device: "opencl:0.1" is the second device of the
 * first platform that it found; TESELA_MEMBERS and `tesela info` use the same names. Empty for the virtual device.
 */
#define CL_DEVICE_MEMBER_TESELA 0x54534C10

#ifdef __cplusplus
}
#endif

#endif
