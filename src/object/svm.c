#include "object/svm.h"

#include "base/fork.h"
#include "device/shared_memory.h"
#include "graph/data.h"

#include <stdlib.h>

/* ---- The context's regions -------------------------------------------------------------------------------------- */

static int compare(const struct tsl_svm *a, const struct tsl_svm *b)
{
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

RB_PROTOTYPE(tsl_svm_tree, tsl_svm, node, compare)
RB_GENERATE(tsl_svm_tree, tsl_svm, node, compare)

/* The last region that begins at or before the address. */
static struct tsl_svm *at_or_before(struct tsl_context *context, const char *address) TSL_REQUIRES(context->lock)
{
    const struct tsl_svm key = {.begin = (char *)(uintptr_t)address};
    struct tsl_svm *next = RB_NFIND(tsl_svm_tree, &context->svm, (struct tsl_svm *)(uintptr_t)&key);

    if (next && next->begin == address)
        return next;
    return next ? RB_PREV(tsl_svm_tree, &context->svm, next) : RB_MAX(tsl_svm_tree, &context->svm);
}

struct tsl_buffer *tsl_svm_find(struct tsl_context *context, const void *pointer, size_t size, size_t *offset)
{
    struct tsl_buffer *found = NULL;

    tsl_lock_take(&context->lock);
    const struct tsl_svm *svm = at_or_before(context, pointer);
    size_t at = svm ? (size_t)((const char *)pointer - svm->begin) : 0;
    if (svm && at < svm->size && size <= svm->size - at && tsl_object_try_ref(&svm->buffer->object))
        found = svm->buffer;
    tsl_lock_give(&context->lock);
    if (found && offset)
        *offset = at;
    return found;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

/* Kernels may need the alignment of their largest type, and a member that uses the memory as a buffer's storage its own
 * buffer alignment. */
#define LEAST_ALIGN ((size_t)128)

static size_t alignment_of(const struct tsl_context *context, size_t wanted, tsl_members as_mem)
{
    size_t align = wanted > LEAST_ALIGN ? wanted : LEAST_ALIGN;

    for (unsigned i = 0; tsl_members_reach(as_mem, i); i++)
        if (tsl_members_has(as_mem, i) && context->members[i]->caps.base_align > align)
            align = context->members[i]->caps.base_align;
    return align;
}

/* Allocates on a member whose memory the others of the set know, or on the heap if any address will do. */
static bool get_memory(const struct tsl_context *context, cl_svm_mem_flags flags, size_t align, struct tsl_svm *svm)
{
    const struct tsl_svm_request request = {.flags = flags, .size = svm->size, .alignment = align};
    unsigned n = context->n_members;
    void *host = NULL;
    bool given = true;

    for (unsigned k = 0; k < 2 * n; k++) { /* Those that are ready come first. */
        struct tsl_member *member = context->members[k % n];

        if (!tsl_members_has(svm->members, k % n) || !tsl_shared_memory_is_own(member) ||
            tsl_member_is_ready(member) != (k < n))
            continue;
        given = !member->driver->svm_alloc(member, &request, &host, &svm->mem);
        svm->begin = host;
        svm->coarse = given && !(member->caps.svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
        if (given)
            return true;
    }
    if (!given)
        return false;
    /* CPU compilers read a whole vector where a kernel asks for a part: the allocation reaches past the end. */
    size_t size = svm->size > SIZE_MAX - 2 * align ? 0 : (svm->size + 2 * align - 1) / align * align;
    svm->begin = size ? aligned_alloc(align, size) : NULL;
    return svm->begin;
}

void tsl_svm_destroy(struct tsl_svm *svm)
{
    if (!svm)
        return;
    if (svm->mem)
        svm->mem->member->driver->mem_free(svm->mem);
    else if (!svm->borrowed)
        free(svm->begin);
    free(svm);
}

static tsl_members as_mem(const struct tsl_context *context, tsl_members members)
{
    tsl_members set = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < context->n_members; i++)
        if (tsl_members_has(members, i) &&
            (context->members[i]->caps.zero_copy || context->members[i]->caps.svm_is_mem))
            tsl_members_add(&set, i);
    return set;
}

static struct tsl_svm *create(struct tsl_context *context, cl_svm_mem_flags flags, size_t size, size_t alignment)
{
    struct tsl_svm *svm = calloc(1, sizeof(*svm));

    if (!svm)
        return NULL;
    svm->size = size;
    svm->members = tsl_shared_memory_members(context->members, context->n_members);
    svm->as_mem = as_mem(context, svm->members);
    if (!get_memory(context, flags, alignment_of(context, alignment, svm->as_mem), svm)) {
        free(svm);
        return NULL;
    }
    return svm;
}

#define ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

/* The buffer then owns the region. */
static bool give_buffer(struct tsl_context *context, cl_svm_mem_flags flags, struct tsl_svm *svm)
{
    if (tsl_buffer_create(context, (flags & ACCESS) | CL_MEM_USE_HOST_PTR, svm->size, svm->begin, NULL, &svm->buffer))
        return false;
    svm->buffer->svm = svm;
    tsl_data_set_svm(svm->buffer->data, svm);
    return true;
}

void *tsl_svm_alloc(struct tsl_context *context, cl_svm_mem_flags flags, size_t size, size_t alignment)
{
    struct tsl_svm *svm = tsl_forked() ? NULL : create(context, flags, size, alignment);

    if (!svm)
        return NULL;
    if (!give_buffer(context, flags, svm)) {
        tsl_svm_destroy(svm);
        return NULL;
    }
    tsl_lock_take(&context->lock);
    RB_INSERT(tsl_svm_tree, &context->svm, svm);
    tsl_lock_give(&context->lock);
    return svm->begin;
}

/* All members count as working on the host's copy, so that none has another. */
cl_int tsl_svm_borrow(struct tsl_context *context, void *pointer, size_t size, struct tsl_buffer **region)
{
    struct tsl_svm *svm = tsl_forked() ? NULL : calloc(1, sizeof(*svm));

    if (!svm)
        return CL_OUT_OF_HOST_MEMORY;
    svm->begin = pointer;
    svm->size = size;
    svm->borrowed = true;
    svm->members = TSL_MEMBERS_ALL;
    if (!give_buffer(context, 0, svm)) {
        tsl_svm_destroy(svm);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *region = svm->buffer;
    tsl_object_ref(&(*region)->object);
    tsl_object_release(&(*region)->object);
    return CL_SUCCESS;
}

bool tsl_svm_free(struct tsl_context *context, void *pointer)
{
    struct tsl_svm *svm;

    if (tsl_forked())
        return false;
    tsl_lock_take(&context->lock);
    svm = at_or_before(context, pointer);
    if (svm && svm->begin == pointer)
        RB_REMOVE(tsl_svm_tree, &context->svm, svm);
    else
        svm = NULL;
    tsl_lock_give(&context->lock);
    return svm && tsl_object_release(&svm->buffer->object);
}

cl_int tsl_svm_buffer_create(struct tsl_buffer *region, cl_mem_flags flags, size_t offset, size_t size,
                             const cl_mem_properties *properties, struct tsl_buffer **result)
{
    struct tsl_buffer *buffer = tsl_buffer_new(region->context, flags, offset, size);

    if (!buffer)
        return CL_OUT_OF_HOST_MEMORY;
    if (!tsl_buffer_make_part(buffer, region) || !tsl_buffer_keep_properties(buffer, properties)) {
        tsl_object_release(&buffer->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *result = buffer;
    return CL_SUCCESS;
}
