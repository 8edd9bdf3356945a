/*
 * A window: a box of work-groups of one launch. Drivers run windows, footprints are evaluated for them.
 */
#ifndef TSL_FOOTPRINT_WINDOW_H
#define TSL_FOOTPRINT_WINDOW_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A launch and the part of it to run. The whole launch has global_size work-items from global_offset in groups of
 * local_size; the last group of a dimension may be smaller (OpenCL 2.0 and later). local_size[0] == 0 leaves the choice
 * to the driver (then the window is the whole). group_begin and group_count select the window in work-groups; ids and
 * sizes answer as for the whole launch. Sizes past work_dim are 1, offsets 0.
 */
struct tsl_window {
    cl_uint work_dim;
    size_t global_offset[3];
    size_t global_size[3];
    size_t local_size[3];
    size_t group_begin[3];
    size_t group_count[3];
    bool whole; /* the window is the whole launch; group_begin and group_count are not set */
};

#endif
