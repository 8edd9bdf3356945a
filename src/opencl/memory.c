/* Memory: buffers of the vendor's context. */
#include "opencl/memory.h"
#include "opencl/gate.h"
#include "opencl/member.h"
#include "opencl/operations.h"
#include "opencl/stage.h"

#include "base/numa.h"

#include <stdlib.h>

/* What kernels may do. What the host may do is no concern of the vendor's: we copy for it. */
#define KERNEL_ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

struct tsl_opencl_mem *tsl_opencl_new_mem(struct tsl_member *member, size_t size)
{
    struct tsl_opencl_mem *m = calloc(1, sizeof(*m));

    if (m)
        m->base = (struct tsl_mem){.member = member, .size = size};
    return m;
}

cl_int tsl_opencl_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host,
                            struct tsl_mem **mem)
{
    struct tsl_opencl_member *v = tsl_opencl_member(member);
    struct tsl_opencl_mem *m;
    cl_int error;

    if (!member->caps.zero_copy)
        host = NULL;
    /* Not every vendor refuses what it can't hold. */
    if (size > tsl_member_alloc_limit(member))
        return CL_INVALID_BUFFER_SIZE;
    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    m = tsl_opencl_new_mem(member, size);
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_opencl_collect(v);
    tsl_opencl_enter(v->device);
    m->buffer = v->cl->clCreateBuffer(v->context, (flags & KERNEL_ACCESS) | (host ? CL_MEM_USE_HOST_PTR : 0), size,
                                      host, &error);
    tsl_opencl_leave(v->device);
    if (!m->buffer) {
        free(m);
        return tsl_opencl_error(v, error ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    m->root = m;
    *mem = &m->base;
    return CL_SUCCESS;
}

/* Vendors take no part of a part, so a part is always one of the root. */
cl_int tsl_opencl_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub)
{
    struct tsl_opencl_mem *of = tsl_opencl_mem(mem), *m;
    struct tsl_opencl_member *v = tsl_opencl_member(mem->member);
    cl_buffer_region region = {.origin = of->offset + offset, .size = size};
    cl_int error;

    if (!size || offset > mem->size || size > mem->size - offset)
        return CL_INVALID_VALUE;
    if (region.origin % mem->member->caps.base_align)
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    m = tsl_opencl_new_mem(mem->member, size);
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->root = of->root;
    m->offset = region.origin;
    tsl_opencl_enter(v->device);
    m->buffer = v->cl->clCreateSubBuffer(m->root->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    tsl_opencl_leave(v->device);
    if (!m->buffer) {
        free(m);
        return tsl_opencl_error(v, error ? error : CL_OUT_OF_RESOURCES);
    }
    *sub = &m->base;
    return CL_SUCCESS;
}

/* Vendors pin what CL_MEM_ALLOC_HOST_PTR allocates, and map it where it is. */
static cl_int map_pinned(struct tsl_opencl_member *v, struct tsl_opencl_mem *m)
{
    cl_int error;

    m->queue = v->cl->clCreateCommandQueue(v->context, v->device->id, 0, &error);
    if (!m->queue)
        return error ? error : CL_OUT_OF_RESOURCES;
    m->buffer =
        v->cl->clCreateBuffer(v->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, m->base.size, NULL, &error);
    if (!m->buffer)
        return error ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    m->mapped = v->cl->clEnqueueMapBuffer(m->queue, m->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, m->base.size, 0,
                                          NULL, NULL, &error);
    return m->mapped ? CL_SUCCESS : error ? error : CL_MAP_FAILURE;
}

cl_int tsl_opencl_host_alloc(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem)
{
    struct tsl_opencl_member *v = tsl_opencl_member(member);
    struct tsl_numa_policy before;
    struct tsl_opencl_mem *m;
    cl_int error;

    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    m = tsl_opencl_new_mem(member, size);
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_opencl_collect(v);
    tsl_numa_prefer(tsl_path_numa_node(member->path), &before);
    tsl_opencl_enter(v->device);
    error = map_pinned(v, m);
    tsl_opencl_leave(v->device);
    tsl_numa_restore(&before);
    if (error) {
        tsl_opencl_mem_free(&m->base);
        return tsl_opencl_error(v, error);
    }
    m->root = m;
    tsl_opencl_note_pinned(v, m, true);
    *host = m->mapped;
    *mem = &m->base;
    return CL_SUCCESS;
}

/* After an unmap that fails the memory counts as unmapped: nothing else can be done. */
static void unmap_pinned(struct tsl_opencl_member *v, struct tsl_opencl_mem *m)
{
    tsl_opencl_enter(v->device);
    if (m->mapped && !v->cl->clEnqueueUnmapMemObject(m->queue, m->buffer, m->mapped, 0, NULL, NULL))
        v->cl->clFlush(m->queue);
    tsl_opencl_leave(v->device);
    tsl_opencl_release(v, TSL_OPENCL_QUEUE, m->queue);
}

void tsl_opencl_mem_free(struct tsl_mem *mem)
{
    struct tsl_opencl_mem *m = tsl_opencl_mem(mem);
    struct tsl_opencl_member *v = tsl_opencl_member(mem->member);

    if (m->svm) {
        tsl_opencl_release(v, TSL_OPENCL_SVM, m);
        return;
    }
    if (m->queue && m->root) /* Not if it could not be made. */
        tsl_opencl_note_pinned(v, m, false);
    if (m->queue)
        unmap_pinned(v, m);
    if (!m->buffer) {
        free(m);
        return;
    }
    tsl_opencl_release(v, TSL_OPENCL_MEM, m->buffer);
    free(m);
}
