/*
 * clGetKernelInfo, clGetKernelArgInfo, clGetKernelWorkGroupInfo: one answer out of the members'.
 */
#ifndef TSL_PROGRAM_KERNEL_INFO_H
#define TSL_PROGRAM_KERNEL_INFO_H

#include "base/info.h"
#include "base/sets.h"
#include "program/program.h"

cl_int tsl_kernel_info(struct tsl_kernel *kernel, cl_kernel_info param, const struct tsl_info *info);

/* CL_KERNEL_ARG_INFO_NOT_AVAILABLE: no member tells. */
cl_int tsl_kernel_arg_info(struct tsl_kernel *kernel, cl_uint index, cl_kernel_arg_info param,
                           const struct tsl_info *info);

/* Over the eligible members of a device of the program: the work-group size is the smallest and never larger than the
 * device's, memory the largest, the preferred multiple one of all. */
cl_int tsl_kernel_work_group_info(struct tsl_kernel *kernel, struct tsl_device *device, cl_kernel_work_group_info param,
                                  const struct tsl_info *info);

/* The same numbers, for the core: what programs are told of the size of groups, by which they size local memory; the
 * preferred multiple over the eligible members in the set. */
size_t tsl_kernel_work_group_size(const struct tsl_kernel *kernel, struct tsl_device *device);
size_t tsl_kernel_preferred_multiple(const struct tsl_kernel *kernel, tsl_members members);

#endif
