/*
 * Memory objects. A root owns the data (tile/tile.h keeps track of its copies); a sub-buffer is a range of a root.
 */
#ifndef TSL_CORE_BUFFER_H
#define TSL_CORE_BUFFER_H

#include "core/context.h"
#include "core/object.h"
#include "tile/tile.h"

typedef void(CL_CALLBACK tsl_buffer_destructor_fn)(cl_mem, void *);

struct tsl_destructor {
    struct tsl_destructor *next;
    tsl_buffer_destructor_fn *fn;
    void *arg;
};

/* A mapping that the application holds. Under the graph's lock. */
struct tsl_mapping {
    struct tsl_mapping *next;
    void *ptr;     /* what clEnqueueMapBuffer returned */
    size_t offset; /* in the root, bytes */
    size_t size;
    cl_map_flags flags;
};

struct tsl_buffer {
    struct tsl_object object;
    struct tsl_context *context; /* shown */
    struct tsl_buffer *parent;   /* NULL for a root; else shown. Sub-buffers have no sub-buffers, so it is the root */
    uint64_t id;                 /* unique in the process: a handle's memory is used again, its id is not */
    cl_mem_object_type type;
    cl_mem_flags flags; /* as reported (inherited where the specification says so) */
    size_t offset;      /* in the root, bytes */
    size_t size;        /* bytes */
    void *host_ptr;     /* CL_MEM_USE_HOST_PTR: the application's memory (sub-buffers: their part); else NULL */
    cl_mem_properties *properties;
    size_t n_properties;
    struct tsl_destructor *destructors; /* newest first; under lock */
    pthread_mutex_t lock;               /* leaf */

    /* Roots only. */
    struct tsl_data *data;         /* graph/internal.h; guarded by the graph's lock */
    struct tsl_sub_mems *sub_mems; /* graph/internal.h: a sub-buffer's memory on the members; NULL for roots */
    /* Per buffer; guarded by the graph's lock. */
    struct tsl_mapping *mappings;
    cl_uint n_mappings;
};

static inline struct tsl_buffer *tsl_buffer_root(struct tsl_buffer *buffer)
{
    return buffer->parent ? buffer->parent : buffer;
}

/* Arguments were checked by the API. host_ptr is consumed on return when flags have CL_MEM_COPY_HOST_PTR. */
cl_int tsl_buffer_create(struct tsl_context *context, cl_mem_flags flags, size_t size, void *host_ptr,
                         const cl_mem_properties *properties, struct tsl_buffer **buffer);
cl_int tsl_buffer_create_sub(struct tsl_buffer *root, cl_mem_flags flags, size_t offset, size_t size,
                             struct tsl_buffer **sub);

/* clSetMemObjectDestructorCallback: fn is called once, when the buffer's memory is given back. */
cl_int tsl_buffer_on_destroy(struct tsl_buffer *buffer, tsl_buffer_destructor_fn *fn, void *arg);

/* CL_MEM_MAP_COUNT: mappings of this very buffer that were not unmapped. Takes the graph's lock. */
cl_uint tsl_buffer_map_count(struct tsl_buffer *buffer);

#endif
