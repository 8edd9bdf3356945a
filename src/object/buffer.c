/* Memory objects: creation, mappings, destruction. The graph owns their data. */
#include "object/buffer.h"

#include "base/fork.h"
#include "graph/data.h"
#include "object/svm.h"

#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t last_id;

static void run_destructors(struct tsl_buffer *buffer)
{
    struct tsl_destructor *d;
    while ((d = buffer->destructors)) {
        buffer->destructors = d->next;
        d->fn((cl_mem)buffer, d->arg);
        free(d);
    }
}

static int compare(const struct tsl_mapping *a, const struct tsl_mapping *b)
{
    uintptr_t x = (uintptr_t)a->ptr, y = (uintptr_t)b->ptr;
    if (x != y)
        return x < y ? -1 : 1;
    return a->number > b->number ? -1 : a->number < b->number;
}

RB_PROTOTYPE(tsl_mapping_tree, tsl_mapping, node, compare)
RB_GENERATE(tsl_mapping_tree, tsl_mapping, node, compare)

void tsl_buffer_add_mapping(struct tsl_buffer *buffer, struct tsl_mapping *mapping)
{
    mapping->number = ++buffer->n_mapped;
    RB_INSERT(tsl_mapping_tree, &buffer->mappings, mapping);
    buffer->n_mappings++;
}

struct tsl_mapping *tsl_buffer_take_mapping(struct tsl_buffer *buffer, const void *ptr)
{
    struct tsl_mapping newest = {.ptr = (void *)(uintptr_t)ptr, .number = UINT64_MAX};
    struct tsl_mapping *mapping = RB_NFIND(tsl_mapping_tree, &buffer->mappings, &newest);
    if (!mapping || mapping->ptr != ptr)
        return NULL;
    RB_REMOVE(tsl_mapping_tree, &buffer->mappings, mapping);
    buffer->n_mappings--;
    return mapping;
}

static void free_mappings(struct tsl_buffer *buffer)
{
    struct tsl_mapping *mapping;
    while ((mapping = RB_ROOT(&buffer->mappings))) {
        RB_REMOVE(tsl_mapping_tree, &buffer->mappings, mapping);
        free(mapping);
    }
}

/* The data are destroyed before the destructor callbacks run: these may free the memory of CL_MEM_USE_HOST_PTR (OpenCL
 * 3.0, 5.5.1: in effect called "after the resources are freed"). */
static void destroy(struct tsl_object *object)
{
    struct tsl_buffer *buffer = (struct tsl_buffer *)object;
    struct tsl_context *context = buffer->context;
    if (tsl_forked())
        return;
    tsl_sub_mems_destroy(buffer->sub_mems);
    if (buffer->data)
        tsl_data_destroy(buffer->data);
    tsl_svm_destroy(buffer->svm);
    run_destructors(buffer);
    free_mappings(buffer);
    free(buffer->properties);
    free(buffer->image);
    pthread_mutex_destroy(&buffer->lock);
    if (buffer->parent)
        tsl_object_hide(&buffer->parent->object);
    tsl_object_hide(&context->object);
}

struct tsl_buffer *tsl_buffer_new(struct tsl_context *context, cl_mem_flags flags, size_t offset, size_t size)
{
    struct tsl_buffer *buffer = tsl_object_create(TSL_BUFFER, sizeof(*buffer), &context->object, destroy);
    if (!buffer)
        return NULL;
    buffer->context = context;
    buffer->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    buffer->type = CL_MEM_OBJECT_BUFFER;
    buffer->flags = flags;
    buffer->offset = offset;
    buffer->size = size;
    pthread_mutex_init(&buffer->lock, NULL);
    tsl_object_show(&context->object);
    return buffer;
}

/* CL_MEM_COPY_HOST_PTR: copies the application's memory to the host's copy now. */
static bool copy_in(struct tsl_buffer *buffer, const void *host_ptr)
{
    if (buffer->flags & CL_MEM_ALLOC_HOST_PTR)
        tsl_data_pin(buffer->data);
    char *host = tsl_data_host(buffer->data);
    if (host)
        memcpy(host, host_ptr, buffer->size);
    return host != NULL;
}

bool tsl_buffer_keep_properties(struct tsl_buffer *buffer, const cl_mem_properties *properties)
{
    if (!properties)
        return true;
    size_t n = 1;
    while (properties[n - 1])
        n += 2;
    buffer->properties = malloc(n * sizeof(*properties));
    if (!buffer->properties)
        return false;
    memcpy(buffer->properties, properties, n * sizeof(*properties));
    buffer->n_properties = n;
    return true;
}

cl_int tsl_buffer_create(struct tsl_context *context, cl_mem_flags flags, size_t size, void *host_ptr,
                         const cl_mem_properties *properties, struct tsl_buffer **result)
{
    struct tsl_buffer *buffer = tsl_buffer_new(context, flags, 0, size);
    if (!buffer)
        return CL_OUT_OF_HOST_MEMORY;
    buffer->data = tsl_data_create(buffer, host_ptr);
    if (!buffer->data || !tsl_buffer_keep_properties(buffer, properties) ||
        ((flags & CL_MEM_COPY_HOST_PTR) && !copy_in(buffer, host_ptr))) {
        tsl_object_release(&buffer->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (flags & CL_MEM_USE_HOST_PTR)
        buffer->host_ptr = host_ptr;
    *result = buffer;
    return CL_SUCCESS;
}

/* Does the object, or one of which it is a part, have destructor callbacks? */
static bool has_destructors(struct tsl_buffer *buffer)
{
    bool has = false;
    for (; buffer && !has; buffer = buffer->parent) {
        pthread_mutex_lock(&buffer->lock);
        has = buffer->destructors;
        pthread_mutex_unlock(&buffer->lock);
    }
    return has;
}

bool tsl_buffer_release(struct tsl_buffer *buffer)
{
    bool lends = (buffer->flags & CL_MEM_USE_HOST_PTR) && !buffer->parent;
    if (tsl_forked() || !(lends || has_destructors(buffer)) || !tsl_object_try_ref(&buffer->object))
        return tsl_object_release(&buffer->object);
    bool released = tsl_object_release(&buffer->object);
    if (released && tsl_object_users(&buffer->object) == 0) {
        if (lends)
            tsl_data_unregister(buffer->data);
        if (has_destructors(buffer))
            tsl_data_let_go(buffer);
    }
    tsl_object_unref(&buffer->object);
    return released;
}

bool tsl_buffer_make_part(struct tsl_buffer *part, struct tsl_buffer *of)
{
    if (!tsl_object_try_show(&of->object)) /* It is being released by another thread. */
        return false;
    part->parent = of;
    part->sub_mems = tsl_sub_mems_create(tsl_data_of(of));
    part->host_ptr = of->host_ptr ? (char *)of->host_ptr + (part->offset - of->offset) : NULL;
    return part->sub_mems;
}

cl_int tsl_buffer_create_sub(struct tsl_buffer *root, cl_mem_flags flags, size_t offset, size_t size,
                             struct tsl_buffer **result)
{
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES; /* The buffer would be kept under the graph's lock. */
    struct tsl_buffer *sub = tsl_buffer_new(root->context, flags, offset, size);
    if (!sub)
        return CL_OUT_OF_HOST_MEMORY;
    if (!tsl_buffer_make_part(sub, root)) {
        tsl_object_release(&sub->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *result = sub;
    return CL_SUCCESS;
}

cl_int tsl_buffer_on_destroy(struct tsl_buffer *buffer, tsl_buffer_destructor_fn *fn, void *arg)
{
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES; /* A thread of the parent process may have held the lock. */
    struct tsl_destructor *d = malloc(sizeof(*d));
    if (!d)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&buffer->lock);
    *d = (struct tsl_destructor){.next = buffer->destructors, .fn = fn, .arg = arg};
    buffer->destructors = d;
    pthread_mutex_unlock(&buffer->lock);
    return CL_SUCCESS;
}
