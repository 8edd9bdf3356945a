/*
 * A window: a box of work-groups of one launch. Drivers run windows, footprints are evaluated for them.
 */
#ifndef TSL_FOOTPRINT_WINDOW_H
#define TSL_FOOTPRINT_WINDOW_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Of one dimension: a part may have the last group, which may be smaller. */
static inline uint64_t tsl_window_items_of(const struct tsl_window *window, unsigned dimension)
{
    if (window->whole)
        return window->global_size[dimension];
    uint64_t begin = (uint64_t)window->group_begin[dimension] * window->local_size[dimension];
    uint64_t end = begin + (uint64_t)window->group_count[dimension] * window->local_size[dimension];
    return (end < window->global_size[dimension] ? end : window->global_size[dimension]) - begin;
}

/* Work-items. */
static inline uint64_t tsl_window_items(const struct tsl_window *window)
{
    uint64_t n = 1;

    for (unsigned d = 0; d < window->work_dim; d++)
        n *= tsl_window_items_of(window, d);
    return n;
}

#endif
