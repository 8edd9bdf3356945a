/* What programs that overlap by hand need besides: pinned memory of the host, a second queue, events. */
#ifndef EXAMPLE_PINNED_H
#define EXAMPLE_PINNED_H

#include "example.h"

/* Memory of the host that transfers reach without a copy in between: a mapped buffer. */
struct pinned {
    cl_mem mem;
    void *at;
};

static inline struct pinned pin(const struct example *e, size_t size)
{
    struct pinned pinned = {make_buffer(e->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size), NULL};
    cl_int error;
    pinned.at =
        clEnqueueMapBuffer(e->queue, pinned.mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
    return pinned;
}

static inline void unpin(const struct example *e, struct pinned *pinned)
{
    must(clEnqueueUnmapMemObject(e->queue, pinned->mem, pinned->at, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    finish(e->queue);
    clReleaseMemObject(pinned->mem);
}

static inline cl_command_queue second_queue(const struct example *e)
{
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(e->context, e->device, 0, &error);
    must(error, "clCreateCommandQueue");
    return queue;
}

/* Lets go of an event, if there is one. */
static inline void forget(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

#endif
