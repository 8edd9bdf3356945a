/*
 * Launches of kernels that are one loop over what is to be done, `for (i = get_global_id(0); i < n; i +=
 * get_global_size(0))`, as libraries write them for all sizes (footprint/format.h, `stride`). Of such a launch each
 * work-group touches all the memory, a little of it in each round, so shares would lie across each other. With a
 * work-item for each i it does the same, and each group has a piece of its own.
 */
#ifndef TSL_GRAPH_STRETCH_H
#define TSL_GRAPH_STRETCH_H

#include "base/sets.h"

struct tsl_args;
struct tsl_kernel;
struct tsl_window;

/* Gives the launch, of a checked window, as many work-items as its loop has rounds, where several of these members
 * could share it, or one is a CPU, and that is right. What it touches is as before. Takes a microsecond where the
 * kernel is such a loop; else no time. args: held by the caller. */
void tsl_stretch(const struct tsl_kernel *kernel, const struct tsl_args *args, tsl_members members,
                 struct tsl_window *window);

#endif
