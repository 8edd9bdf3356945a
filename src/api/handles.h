/*
 * From handles to objects: each function returns the object behind a handle, or NULL for NULL, a freed handle, a handle
 * of another kind, or a foreign one.
 */
#ifndef TSL_API_HANDLES_H
#define TSL_API_HANDLES_H

#include "handle/object.h"

static inline struct tsl_platform *tsl_platform_from(cl_platform_id handle)
{
    return tsl_object_is(handle, TSL_PLATFORM) ? (struct tsl_platform *)handle : NULL;
}

static inline struct tsl_device *tsl_device_from(cl_device_id handle)
{
    return tsl_object_is(handle, TSL_DEVICE) ? (struct tsl_device *)handle : NULL;
}

static inline struct tsl_context *tsl_context_from(cl_context handle)
{
    return tsl_object_is(handle, TSL_CONTEXT) ? (struct tsl_context *)handle : NULL;
}

static inline struct tsl_queue *tsl_queue_from(cl_command_queue handle)
{
    return tsl_object_is(handle, TSL_QUEUE) ? (struct tsl_queue *)handle : NULL;
}

static inline struct tsl_buffer *tsl_buffer_from(cl_mem handle)
{
    return tsl_object_is(handle, TSL_BUFFER) ? (struct tsl_buffer *)handle : NULL;
}

static inline struct tsl_sampler *tsl_sampler_from(cl_sampler handle)
{
    return tsl_object_is(handle, TSL_SAMPLER) ? (struct tsl_sampler *)handle : NULL;
}

static inline struct tsl_program *tsl_program_from(cl_program handle)
{
    return tsl_object_is(handle, TSL_PROGRAM) ? (struct tsl_program *)handle : NULL;
}

static inline struct tsl_kernel *tsl_kernel_from(cl_kernel handle)
{
    return tsl_object_is(handle, TSL_KERNEL) ? (struct tsl_kernel *)handle : NULL;
}

static inline struct tsl_event *tsl_event_from(cl_event handle)
{
    return tsl_object_is(handle, TSL_EVENT) ? (struct tsl_event *)handle : NULL;
}

/* Ends a call that creates something: errcode_ret may be NULL. */
static inline void *tsl_created(void *handle, cl_int error, cl_int *errcode_ret)
{
    if (errcode_ret)
        *errcode_ret = error;
    return error == CL_SUCCESS ? handle : NULL;
}

#endif
