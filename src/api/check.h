/*
 * Checks shared by several entry points. Each returns the error that the specification names for what it checks.
 */
#ifndef TSL_API_CHECK_H
#define TSL_API_CHECK_H

#include "api/handles.h"
#include "graph/graph.h"

/* CL_INVALID_DEVICE_TYPE for an invalid type; CL_DEVICE_NOT_FOUND for custom devices alone, as no member counts as
 * one. */
cl_int tsl_check_device_type(cl_device_type type);

/* ---- Enqueues --------------------------------------------------------------------------------------------------- */

/* The last arguments of every clEnqueue… call. */
struct tsl_tail {
    cl_uint n_wait;
    const cl_event *wait;
    cl_event *event;
};

/* Begins *e. CL_INVALID_COMMAND_QUEUE; CL_OUT_OF_RESOURCES in a forked child, which has none of the parent's threads,
 * ours or others', and any of these may have held a lock. */
cl_int tsl_check_queue(struct tsl_enqueue *e, cl_command_queue queue, cl_command_type type, bool blocking);

/* The alignment in bytes at which sub-buffers must begin that this queue's device is to use; 1 if it doesn't matter, or
 * no sub-buffer can violate it. */
size_t tsl_check_base_align(const struct tsl_queue *queue);

/* Any memory object, a buffer, an image: CL_INVALID_MEM_OBJECT, or CL_INVALID_CONTEXT if its context isn't the queue's.
 * A buffer: CL_MISALIGNED_SUB_BUFFER_OFFSET, too. */
cl_int tsl_check_mem(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **mem);
cl_int tsl_check_buffer(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **buffer);
cl_int tsl_check_image(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **image);

/* CL_INVALID_OPERATION: the flags don't let the host read, or write, the memory object. */
enum tsl_host_use { TSL_HOST_READS, TSL_HOST_WRITES };
cl_int tsl_check_host_access(const struct tsl_buffer *mem, enum tsl_host_use use);
cl_int tsl_check_map_access(const struct tsl_buffer *mem, cl_map_flags flags);
cl_int tsl_check_map_flags(cl_map_flags flags);

/* Completes *e. CL_INVALID_EVENT_WAIT_LIST, or CL_INVALID_CONTEXT if an event's context isn't the queue's. */
cl_int tsl_check_tail(struct tsl_enqueue *e, const struct tsl_tail *tail);

/* ---- Memory objects --------------------------------------------------------------------------------------------- */

/* Flags of a memory object: CL_INVALID_VALUE if they contradict each other. Flags of a part of one: it may allow less
 * than the whole, never more (OpenCL 3.0, 5.2.1), and inherits what they leave out. */
cl_int tsl_check_mem_flags(cl_mem_flags flags);
cl_int tsl_check_part_flags(cl_mem_flags whole, cl_mem_flags flags);
cl_mem_flags tsl_inherit_mem_flags(cl_mem_flags whole, cl_mem_flags flags);
/* CL_INVALID_HOST_PTR if the flags need a host_ptr and there is none, or the other way round. */
cl_int tsl_check_host_ptr(cl_mem_flags flags, const void *host_ptr);

/* CL_INVALID_CONTEXT, or CL_INVALID_OPERATION if none of its devices has images. May block (opens members). */
cl_int tsl_check_images(const struct tsl_context *context);

/* ---- Ranges and boxes ------------------------------------------------------------------------------------------- */

/* CL_INVALID_VALUE unless [offset, offset + size) lies in the buffer. */
cl_int tsl_check_range(const struct tsl_buffer *buffer, size_t offset, size_t size);

/* The largest span of host memory that is accepted: no processor gives programs more address bits. */
#define TSL_HOST_SPAN (SIZE_MAX >> 8)

/* CL_INVALID_VALUE if a box of region[0] bytes a row, region[1] rows and region[2] slices can't lie in the
 * application's memory. */
cl_int tsl_check_host_box(const size_t region[3], size_t row_pitch, size_t slice_pitch);

/* One side of a rectangle command, as the application gave it; pitches of 0 are replaced by their meaning. */
struct tsl_side {
    const size_t *origin;
    size_t row_pitch, slice_pitch;
    size_t offset; /* result: of the box's first byte */
    size_t end;    /* result: one past the box's last byte */
};

/* CL_INVALID_VALUE unless the pitches suit the region and the box ends at or before `limit` bytes. */
cl_int tsl_check_side(struct tsl_side *side, const size_t *region, size_t limit);

/* Do two boxes of one region, at these offsets in one memory, have a byte in common? */
bool tsl_sides_overlap(const struct tsl_side *a, size_t a_offset, const struct tsl_side *b, size_t b_offset,
                       const size_t *region);

#endif
