/* Memory and images. What there is room for is decided by our own books; the node is only asked when they are nearly
 * full, as other processes may have their part. */
#include "remote/svm.h"

#include <stdlib.h>
#include <string.h>

struct remote_mem *remote_mem_of(const struct tsl_mem *mem)
{
    return (struct remote_mem *)mem;
}

static struct remote_mem *create_locked(struct remote_member *m, size_t size)
{
    struct remote_mem *mem = calloc(1, sizeof(*mem));

    if (!mem)
        return NULL;
    mem->base.member = &m->base;
    mem->base.size = size;
    mem->id = remote_new_id_locked(m->node->connection);
    return mem;
}

/* Enters it, and says whether the node should be asked; CL_MEM_OBJECT_ALLOCATION_FAILURE: there is no room. */
static cl_int book_locked(struct remote_member *m, struct remote_mem *mem, bool *ask)
{
    uint64_t most = m->base.caps.memory_size, size = mem->base.size;

    if (size > most || m->used_size > most - size)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    m->used_size += size;
    mem->booked_size = size;
    *ask = m->used_size > most / 4 * 3;
    return CL_SUCCESS;
}

static void unbook(struct remote_member *m, struct remote_mem *mem)
{
    remote_lock(m->node->connection);
    m->used_size -= mem->booked_size;
    remote_unlock(m->node->connection);
    free(mem);
}

/* request: all but the id and the member. */
static cl_int allocate(struct remote_member *m, struct tsl_remote_request *request, size_t size, struct tsl_mem **mem)
{
    struct remote_mem *made;
    bool ask = false;
    cl_int error;

    if (tsl_member_is_lost(&m->base))
        return CL_DEVICE_NOT_AVAILABLE;
    remote_lock(m->node->connection);
    made = create_locked(m, size);
    error = made ? book_locked(m, made, &ask) : CL_OUT_OF_HOST_MEMORY;
    if (!error) {
        request->id = made->id;
        request->member = m->path->index;
        if (!ask)
            remote_say_locked(m->node, request);
    }
    remote_unlock(m->node->connection);
    if (error) {
        free(made);
        return error;
    }
    error = ask ? remote_ask(m->node, request, NULL, NULL) : CL_SUCCESS;
    if (error)
        unbook(m, made);
    else
        *mem = &made->base;
    return error;
}

cl_int remote_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_ALLOC, .size = size, .flags = flags};

    if (host)
        return CL_INVALID_HOST_PTR;
    if (size == 0 || size > member->caps.max_alloc_size)
        return CL_INVALID_BUFFER_SIZE;
    return allocate(remote_member_of(member), &request, size, mem);
}

/* A part, or a view, of other memory. */
static cl_int derive(struct tsl_mem *mem, struct tsl_remote_request *request, size_t size, struct tsl_mem **made)
{
    struct remote_member *m = remote_member_of(mem->member);
    struct remote_mem *part;

    remote_lock(m->node->connection);
    part = create_locked(m, size);
    if (part) {
        request->id = part->id;
        request->of = remote_mem_of(mem)->id;
        request->member = m->path->index;
        if (!m->node->lost)
            remote_say_locked(m->node, request);
    }
    remote_unlock(m->node->connection);
    if (!part)
        return CL_OUT_OF_HOST_MEMORY;
    *made = &part->base;
    return CL_SUCCESS;
}

cl_int remote_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_SUB, .offset = offset, .size = size};

    if (offset % mem->member->caps.base_align)
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (size == 0 || offset > mem->size || size > mem->size - offset)
        return CL_INVALID_VALUE;
    return derive(mem, &request, size, sub);
}

void remote_mem_free(struct tsl_mem *mem)
{
    struct remote_member *m = remote_member_of(mem->member);
    struct remote_mem *own = remote_mem_of(mem);

    if (own->svm) {
        remote_svm_free(own);
        return;
    }
    remote_lock(m->node->connection);
    m->used_size -= own->booked_size;
    if (!m->node->lost)
        remote_say_locked(m->node, &(struct tsl_remote_request){.kind = TSL_REMOTE_MEM_FREE, .id = own->id});
    remote_unlock(m->node->connection);
    free(own);
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

cl_int remote_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats)
{
    struct remote_member *m = remote_member_of(member);
    struct tsl_remote_request request = {
        .kind = TSL_REMOTE_FORMATS, .member = m->path->index, .flags = query->flags, .param = query->type};
    void *data;
    size_t size, n;
    cl_int error = remote_ask(m->node, &request, &data, &size);

    n = error ? 0 : size / sizeof(cl_image_format);
    if (!error && query->formats)
        memcpy(query->formats, data, (n < query->n ? n : query->n) * sizeof(cl_image_format));
    if (!error && n_formats)
        *n_formats = (cl_uint)n;
    free(data);
    return error;
}

cl_int remote_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                          struct tsl_mem **mem)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_IMAGE, .flags = flags, .image = *desc};

    if (host)
        return CL_INVALID_HOST_PTR;
    return allocate(remote_member_of(member), &request, tsl_image_span(desc), mem);
}

cl_int remote_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_IMAGE_OF, .image = *desc};

    return derive(mem, &request, tsl_image_span(desc), image);
}
