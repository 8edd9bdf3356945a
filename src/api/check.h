/*
 * Checks that several entry points share. Each returns the error that the specification gives for what it looked at.
 */
#ifndef TSL_API_CHECK_H
#define TSL_API_CHECK_H

#include "api/handles.h"
#include "graph/graph.h"

/* CL_INVALID_DEVICE_TYPE for what is no type; CL_DEVICE_NOT_FOUND for custom devices alone, which nobody has. */
cl_int tsl_check_device_type(cl_device_type type);

/* ---- Enqueues --------------------------------------------------------------------------------------------------- */

/* The arguments that end every clEnqueue… call. */
struct tsl_tail {
    cl_uint n_wait;
    const cl_event *wait;
    cl_event *event;
};

/* Begins *e: CL_INVALID_COMMAND_QUEUE; CL_OUT_OF_RESOURCES in a forked child, which has neither our threads nor theirs,
 * who may hold any lock. */
cl_int tsl_check_queue(struct tsl_enqueue *e, cl_command_queue queue, cl_command_type type, bool blocking);

/* CL_INVALID_MEM_OBJECT, or CL_INVALID_CONTEXT if it isn't of the queue's context. */
cl_int tsl_check_buffer(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **buffer);

/* Completes *e: CL_INVALID_EVENT_WAIT_LIST, or CL_INVALID_CONTEXT if an event isn't of the queue's context. */
cl_int tsl_check_tail(struct tsl_enqueue *e, const struct tsl_tail *tail);

/* ---- Ranges and boxes ------------------------------------------------------------------------------------------- */

/* CL_INVALID_VALUE unless [offset, offset + size) lies in the buffer. */
cl_int tsl_check_range(const struct tsl_buffer *buffer, size_t offset, size_t size);

/* One side of a rectangle command, as the application gave it; pitches of 0 become what they stand for. */
struct tsl_side {
    const size_t *origin;
    size_t row_pitch, slice_pitch;
    size_t offset; /* result: of the box's first byte */
    size_t end;    /* result: one past the box's last byte */
};

/* CL_INVALID_VALUE unless the pitches suit the region and the box ends at `limit` bytes or before. */
cl_int tsl_check_side(struct tsl_side *side, const size_t *region, size_t limit);

/* Do two boxes of one region have a byte in common, when they begin at these offsets of one memory? */
bool tsl_sides_overlap(const struct tsl_side *a, size_t a_offset, const struct tsl_side *b, size_t b_offset,
                       const size_t *region);

#endif
