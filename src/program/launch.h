/*
 * The checks of a launch: the errors of clEnqueueNDRangeKernel (OpenCL 3.0, 5.10), and the members that can take it.
 */
#ifndef TSL_PROGRAM_LAUNCH_H
#define TSL_PROGRAM_LAUNCH_H

#include "base/sets.h"
#include "program/program.h"

/*
 * Clears in *members (bits of the context's members) those that can't run this kernel, with its arguments, in this
 * window. If none is left the first member's error is returned: CL_INVALID_KERNEL_ARGS, CL_INVALID_WORK_GROUP_SIZE,
 * CL_INVALID_WORK_ITEM_SIZE, CL_OUT_OF_RESOURCES (local memory), CL_MISALIGNED_SUB_BUFFER_OFFSET. A required work-group
 * size is put into a window that leaves the choice (local_size[0] is 0).
 */
cl_int tsl_launch_check(struct tsl_kernel *kernel, struct tsl_window *window, tsl_members *members);
/* CL_MISALIGNED_SUB_BUFFER_OFFSET: a sub-buffer among its arguments doesn't begin at a multiple of `align` bytes;
 * CL_INVALID_KERNEL_ARGS. */
cl_int tsl_launch_check_offsets(struct tsl_kernel *kernel, size_t align);

/*
 * Puts a work-group size into a checked window without one if a size was suggested for this kernel before: a launch
 * with the same sizes must then have it (cl_khr_suggested_local_work_size). The size divides the global size, suits all
 * those of the device's members, and is a multiple of the preferred size where possible.
 */
void tsl_launch_keep_suggestion(const struct tsl_kernel *kernel, struct tsl_device *device, tsl_members members,
                                struct tsl_window *window);

/* Puts a work-group size that suits all those members into a window without one: it divides the global size. */
void tsl_launch_choose(const struct tsl_kernel *kernel, struct tsl_device *device, tsl_members members,
                       struct tsl_window *window);

/* The same with groups so small that there are n_groups, if that can be. */
void tsl_launch_choose_small(const struct tsl_kernel *kernel, struct tsl_device *device, tsl_members members,
                             uint64_t n_groups, struct tsl_window *window);

/* Puts a work-group size into a window without one if the member that will run the launch might choose more work-items
 * than the program was told as the maximum: programs size local memory by that. Otherwise the driver chooses. */
void tsl_launch_limit(const struct tsl_kernel *kernel, struct tsl_device *device, unsigned member,
                      struct tsl_window *window);

#endif
