/*
 * Memory objects: buffers, and images (object/image.h has their additions). A root owns the data (tile/tile.h tracks
 * its copies); a sub-buffer is a range of a root, and so is an image made from a buffer or sub-buffer.
 */
#ifndef TSL_OBJECT_BUFFER_H
#define TSL_OBJECT_BUFFER_H

#include "handle/object.h"
#include "object/context.h"
#include "tile/tile.h"

typedef void(CL_CALLBACK tsl_buffer_destructor_fn)(cl_mem, void *);

struct tsl_svm;

struct tsl_destructor {
    struct tsl_destructor *next;
    tsl_buffer_destructor_fn *fn;
    void *arg;
};

/* A box of bytes: 1D when region[1] and region[2] are 1. One offset is in the memory object (a part's own), the other
 * from the host's pointer or in another object. A 1D region may be empty. */
struct tsl_box_copy {
    size_t region[3];
    size_t dst_offset, dst_row_pitch, dst_slice_pitch; /* offset already includes the origin */
    size_t src_offset, src_row_pitch, src_slice_pitch;
};

/* The application's mapping. Under the graph's lock. */
struct tsl_mapping {
    RB_ENTRY(tsl_mapping) node;
    void *ptr;               /* what clEnqueueMapBuffer or clEnqueueMapImage returned */
    uint64_t number;         /* counts the buffer's mappings from 1: of several at one pointer, the newest comes
                                first */
    struct tsl_box_copy box; /* dst_…: which bytes, in the root */
    cl_map_flags flags;
};

RB_HEAD(tsl_mapping_tree, tsl_mapping);

struct tsl_buffer {
    struct tsl_object object;
    struct tsl_context *context; /* shown */
    struct tsl_buffer *parent;   /* NULL for a root; else shown: the object of which it is a part, which may be a part
                                    itself */
    uint64_t id;                 /* unique in the process: a handle's memory is reused, its id is not */
    cl_mem_object_type type;
    cl_mem_flags flags; /* as reported (inherited where the specification says so) */
    size_t offset;      /* in the root, bytes */
    size_t size;        /* bytes; of an image its span (driver/image.h) */
    void *host_ptr;     /* CL_MEM_USE_HOST_PTR: the application's memory (sub-buffers: their part); else NULL */
    cl_mem_properties *properties;
    size_t n_properties;
    struct tsl_image *image;            /* object/image.h, owned; NULL: no image */
    struct tsl_destructor *destructors; /* newest first; under lock */
    pthread_mutex_t lock;               /* leaf */

    /* Roots only. */
    struct tsl_svm *svm;           /* object/svm.h, owned: it is a region of shared virtual memory; else NULL */
    struct tsl_data *data;         /* graph/data.h, owned */
    struct tsl_sub_mems *sub_mems; /* graph/data.h: a part's memory on the members; NULL for roots */
    /* Per buffer; guarded by the graph's lock. */
    struct tsl_mapping_tree mappings;
    cl_uint n_mappings;
    uint64_t n_mapped; /* ever */
};

static inline struct tsl_buffer *tsl_buffer_root(struct tsl_buffer *buffer)
{
    while (buffer->parent)
        buffer = buffer->parent;
    return buffer;
}

/* The memory object from which the application made it; NULL: none, also for a buffer of shared virtual memory. */
static inline struct tsl_buffer *tsl_buffer_made_of(const struct tsl_buffer *buffer)
{
    return buffer->parent && !buffer->parent->svm ? buffer->parent : NULL;
}

/* The API has checked the arguments. With CL_MEM_COPY_HOST_PTR host_ptr is read before this returns. */
cl_int tsl_buffer_create(struct tsl_context *context, cl_mem_flags flags, size_t size, void *host_ptr,
                         const cl_mem_properties *properties, struct tsl_buffer **buffer);
/* clReleaseMemObject: false if the application had no reference left. Blocks if the application lent memory
 * (CL_MEM_USE_HOST_PTR) that is pinned and in use. Not under a lock. */
bool tsl_buffer_release(struct tsl_buffer *buffer);
cl_int tsl_buffer_create_sub(struct tsl_buffer *root, cl_mem_flags flags, size_t offset, size_t size,
                             struct tsl_buffer **sub);

/* For object/image.c. new: an object without data; offset: in the root. keep_properties: false without memory; the
 * caller then releases the buffer. */
struct tsl_buffer *tsl_buffer_new(struct tsl_context *context, cl_mem_flags flags, size_t offset, size_t size);
bool tsl_buffer_keep_properties(struct tsl_buffer *buffer, const cl_mem_properties *properties);
bool tsl_buffer_make_part(struct tsl_buffer *part, struct tsl_buffer *of);

/* clSetMemObjectDestructorCallback: fn is called once, when the buffer's memory is freed. */
cl_int tsl_buffer_on_destroy(struct tsl_buffer *buffer, tsl_buffer_destructor_fn *fn, void *arg);

/* Under the graph's lock. The buffer owns the mapping until it is taken. take: the newest mapping at that pointer,
 * which is then the caller's to free; NULL: there is none. */
void tsl_buffer_add_mapping(struct tsl_buffer *buffer, struct tsl_mapping *mapping);
struct tsl_mapping *tsl_buffer_take_mapping(struct tsl_buffer *buffer, const void *ptr);

#endif
