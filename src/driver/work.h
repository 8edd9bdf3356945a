/*
 * The driver contract, its second part: what a member holds while it works (lanes, memory, fences), and what is
 * submitted to it. Each structure that is marked as a base is embedded first in a driver's own.
 */
#ifndef TSL_DRIVER_WORK_H
#define TSL_DRIVER_WORK_H

#include "driver/image.h"
#include "footprint/window.h"

#include <CL/cl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_driver;
struct tsl_member;
struct tsl_dkernel;

/* ---- Lanes, memory, fences -------------------------------------------------------------------------------------- */

/* Base. An ordered stream of submissions on one member: an in-order queue, a CUDA stream. */
struct tsl_lane {
    struct tsl_member *member;
};

/* Base. Device memory, a range of such (mem_sub), or an image. */
struct tsl_mem {
    struct tsl_member *member;
    size_t size; /* bytes; of an image its span in the canonical layout (driver/image.h) */
};

/* Base. Completion of a piece of work, whatever the technology (the papers' generic event); or a gate, a fence that the
 * host completes (a user event). Its life: driver.h. */
struct tsl_fence {
    const struct tsl_driver *driver;
    struct tsl_member *member;
    atomic_uint refs;
};

/* Called once when a fence completes. status: CL_COMPLETE or a negative error. It may run in any thread, also inside a
 * call into the driver; it must not block and must not call the driver, gate_open and fence_free excepted. */
typedef void tsl_notify_fn(void *arg, cl_int status);

/* When a piece of work ran, in ns of the one clock. The times of queueing and submission are the core's. */
struct tsl_times {
    uint64_t start_ns, end_ns;
};

/* ---- Requests for memory ---------------------------------------------------------------------------------------- */

/* Shared virtual memory that is wanted. */
struct tsl_svm_request {
    cl_svm_mem_flags flags; /* CL_MEM_SVM_FINE_GRAIN_BUFFER: the host and launches use it at the same time */
    size_t size;            /* bytes */
    size_t alignment;       /* bytes, a power of two */
};

/* Memory that is wanted over several members of one domain. The parts follow each other in the order of the members. */
struct tsl_spread_request {
    unsigned n;                        /* members, > 0 */
    struct tsl_member *const *members; /* each once */
    const size_t *sizes; /* bytes of each one's part, which may be 0. Each is a multiple of caps.domain_granule, except
                            that of the last part; their sum, > 0, is the size of the memory */
};

/* As clGetSupportedImageFormats is asked. */
struct tsl_format_query {
    cl_mem_flags flags;
    cl_mem_object_type type;
    cl_uint n;                /* room in formats */
    cl_image_format *formats; /* filled; NULL: they are only counted */
};

/* ---- Submissions ------------------------------------------------------------------------------------------------ */

/* What a submission waits for besides its lane's order: fences for which can_wait() is true on that member. */
struct tsl_waits {
    unsigned n;
    struct tsl_fence *const *fences; /* borrowed for the call */
};

/* One side of a copy, or what a fill writes: device memory, or host memory where mem is NULL.
 *
 * Of an image whose memory is its own (image_alloc) the places are those of the canonical layout, whatever the
 * technology's own is: a box has the image's own row step and slice pitch (driver/image.h) and whole pixels; a range
 * (one row, however long) begins and ends at pixels, goes on from row to row, and meets no padding. */
struct tsl_place {
    struct tsl_mem *mem;
    void *host;         /* used when mem is NULL */
    size_t offset;      /* bytes from the start of mem or host to the first byte of the box */
    size_t row_pitch;   /* bytes; ignored while region[1] and region[2] are 1 */
    size_t slice_pitch; /* bytes; ignored while region[2] is 1 */
};

/* A box of bytes to copy. region[0] is in bytes, region[1] in rows, region[2] in slices; none is 0. src and dst do not
 * overlap. At least one side is memory of the lane's member; the other is that member's, host memory, or memory of
 * another member for which can_copy_peer() is true. */
struct tsl_copy {
    struct tsl_place dst, src;
    size_t region[3];
    bool loose; /* nothing good is in dst: it may be written though the copy fails for what it waits for */
};

/* Bytes of a buffer. */
struct tsl_range_of_bytes {
    uint64_t begin, end;
};

/* Several ranges to copy, to the same places of another buffer. dst is memory of the lane's member; src is that
 * member's, too, or memory of another one for which can_copy_peer() is true. Neither is an image. */
struct tsl_gather {
    struct tsl_mem *dst, *src;
    unsigned n;                            /* > 0 */
    const struct tsl_range_of_bytes *list; /* ascending; they don't meet, and none is empty */
};

/* A box of bytes to fill with a pattern that repeats in each row. The region is as a copy's; dst is memory of the
 * lane's member. The pattern's size (1, 2, 4 … 128 bytes) divides dst's offset, region[0] and the pitches that count.
 * Of an image the pattern is one pixel, as its bytes are. */
struct tsl_fill {
    struct tsl_place dst;
    size_t region[3];
    const void *pattern; /* borrowed for the call */
    size_t pattern_size;
};

/* How a combine makes one element of two: a of struct tsl_combine, and b. */
enum tsl_combine_how {
    TSL_COMBINE_CHANGED, /* a where it differs from before, bit by bit; else b */
    TSL_COMBINE_ADD,     /* these are of integers, of 4 or 8 bytes; they wrap */
    TSL_COMBINE_AND,
    TSL_COMBINE_OR,
    TSL_COMBINE_XOR,
    TSL_COMBINE_SMIN,
    TSL_COMBINE_SMAX,
    TSL_COMBINE_UMIN,
    TSL_COMBINE_UMAX,
    TSL_N_COMBINE_HOWS
};

/* A range of a buffer. */
struct tsl_combine_side {
    struct tsl_mem *mem;
    size_t offset; /* bytes */
};

/* Two ranges become one, element by element. All is memory of the lane's member, and no image. dst may be the very same
 * bytes as a, b or before; else the ranges don't meet. `width` divides the size and each offset. */
struct tsl_combine {
    struct tsl_combine_side dst, a, b, before; /* before: only of CHANGED, else mem is NULL */
    size_t size;                               /* bytes, > 0 */
    unsigned width;                            /* bytes of an element: 1, 2, 4 or 8 */
    enum tsl_combine_how how;
};

/* What a kernel's argument is bound to on one member. */
enum tsl_arg_kind {
    TSL_ARG_UNSET,
    TSL_ARG_VALUE,   /* size bytes at value */
    TSL_ARG_MEM,     /* mem, also an image; NULL is a null pointer */
    TSL_ARG_LOCAL,   /* size bytes of local memory */
    TSL_ARG_SAMPLER, /* value points to a struct tsl_sampler_desc */
    TSL_ARG_SVM,     /* value points to an address in one of the launch's shared regions, or to NULL */
};

struct tsl_sampler_desc {
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
};

/* Of an argument of kind MEM: the memory holds a part of what the kernel is given. The kernel gets an address as if the
 * memory went on to all sides, so that its indices need no change: that of mem's first byte, plus shift. It touches
 * bytes that are in mem alone. Only for members whose caps say takes_parts. */
struct tsl_bound_part {
    int64_t shift; /* bytes */
    size_t size;   /* bytes of the whole */
};

struct tsl_bound_arg {
    enum tsl_arg_kind kind;
    size_t size;
    const void *value;
    struct tsl_mem *mem;
    const struct tsl_bound_part *part; /* NULL: mem is all of it */
};

/* Shared virtual memory that a launch may touch, by its arguments' addresses or by others that it finds there. */
struct tsl_bound_svm {
    char *host;
    size_t size;
    struct tsl_mem *mem; /* of svm_alloc, maybe another member's; NULL: the process's heap (all are svm_anywhere) */
    bool unnamed;        /* no argument leads there (CL_KERNEL_EXEC_INFO_SVM_PTRS) */
};

/* A kernel's arguments as they were at the enqueue, bound to one member's memory. Immutable. All are set, and of the
 * kinds that the kernel's facts tell; where these say TSL_FACT_UNKNOWN the driver refuses what doesn't fit. Two calls
 * for one member with the same serial (never 0, never used again in the process) carry the same arguments: a driver
 * that has them set already sets nothing. */
struct tsl_bound_args {
    uint64_t serial;
    cl_uint n;
    const struct tsl_bound_arg *args;
    cl_uint n_svm; /* each once */
    const struct tsl_bound_svm *svm;
};

/* A launch of one window. All is borrowed for the call. */
struct tsl_launch {
    struct tsl_dkernel *kernel; /* of the lane's member */
    const struct tsl_bound_args *args;
    const struct tsl_window *window; /* the whole, unless windows_ok said yes */
};

#endif
