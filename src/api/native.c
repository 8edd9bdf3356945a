/* Native kernels: functions of the application, run on a thread of ours. */
#include "api.h"
#include "api/check.h"

#include <stdlib.h>
#include <string.h>

/* The application's arguments: a block, and where in it the addresses of buffers go. */
struct native {
    void *args;
    size_t args_size;
    cl_uint n;
    const cl_mem *buffers;
    const void **locations;
};

static cl_int check_native(const struct native *native)
{
    if (native->args ? native->args_size == 0 : native->args_size > 0 || native->n > 0)
        return CL_INVALID_VALUE;
    if (native->n > 0)
        return native->buffers && native->locations ? CL_SUCCESS : CL_INVALID_VALUE;
    return native->buffers || native->locations ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* NULL is allowed for a buffer: its address is then NULL, too. */
static cl_int check_native_buffer(const struct tsl_enqueue *e, cl_mem handle)
{
    struct tsl_buffer *buffer;
    cl_int error = handle ? tsl_check_mem(e, handle, &buffer) : CL_SUCCESS;

    return handle && !error && buffer->image ? CL_INVALID_MEM_OBJECT : error;
}

/* Each location needs space for an address within the block. */
static cl_int check_native_buffers(const struct tsl_enqueue *e, const struct native *native)
{
    for (cl_uint i = 0; i < native->n; i++) {
        size_t offset = (uintptr_t)native->locations[i] - (uintptr_t)native->args;
        cl_int error = check_native_buffer(e, native->buffers[i]);

        if (error)
            return error;
        if (native->args_size < sizeof(void *) || offset > native->args_size - sizeof(void *))
            return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

/* The slots in the copy of the block for the buffers' addresses. Returns the number of buffers. */
static cl_uint find_slots(const struct native *native, char *args, struct tsl_buffer **buffers, void ***slots)
{
    cl_uint n = 0;

    for (cl_uint i = 0; i < native->n; i++) {
        void **slot = (void **)(args + ((const char *)native->locations[i] - (const char *)native->args));

        if (native->buffers[i]) {
            buffers[n] = (struct tsl_buffer *)native->buffers[i];
            slots[n++] = slot;
        } else {
            *slot = NULL;
        }
    }
    return n;
}

/* The application may use its block again at once, so the function gets a copy. */
static cl_int enqueue(const struct tsl_enqueue *e, void(CL_CALLBACK *fn)(void *), const struct native *native)
{
    /* One byte more, so that the block isn't NULL even if it is empty. */
    char *args = native->args_size < SIZE_MAX ? malloc(native->args_size + 1) : NULL;
    struct tsl_buffer **buffers = malloc((native->n + 1) * sizeof *buffers);
    void ***slots = malloc((native->n + 1) * sizeof *slots);
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (args && buffers && slots) {
        if (native->args)
            memcpy(args, native->args, native->args_size);
        error = tsl_enqueue_native(e, fn, args, find_slots(native, args, buffers, slots), buffers, slots);
        args = NULL;
    }
    free(args);
    free(buffers);
    free(slots);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueNativeKernel(cl_command_queue command_queue, void(CL_CALLBACK *user_func)(void *),
                                                 void *args, size_t cb_args, cl_uint num_mem_objects,
                                                 const cl_mem *mem_list, const void **args_mem_loc,
                                                 cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                 cl_event *event)
{
    const struct native native = {args, cb_args, num_mem_objects, mem_list, args_mem_loc};
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_NATIVE_KERNEL, false);

    if (!error)
        error = user_func ? check_native(&native) : CL_INVALID_VALUE;
    if (!error)
        error = check_native_buffers(&e, &native);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    return error ? error : enqueue(&e, user_func, &native);
}
