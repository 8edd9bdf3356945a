/* The fake driver's memory: separate for each member, poisoned when fresh and when freed. */
#include "driver/fake/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No two allocations look alike, and no byte of it looks like a likely value. */
void tsl_fake_poison(void *bytes, size_t size, uint64_t which)
{
    unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(0xa5 ^ (which * 29) ^ (i * 7));
}

cl_int tsl_fake_mem_take_locked(struct fake_mem *root)
{
    struct fake_member *member = fake_member(root->base.member);

    if (root->taken || root->hosts || root->spread)
        return CL_SUCCESS;
    if (member->used_size + root->base.size > member->is.memory_size)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    member->used_size += root->base.size;
    tsl_fake.live.mem_size += root->base.size;
    root->taken = true;
    return CL_SUCCESS;
}

struct fake_mem *tsl_fake_mem_new_locked(struct tsl_member *member, size_t size)
{
    struct fake_mem *mem = tsl_fake_new_locked(sizeof *mem);

    *mem = (struct fake_mem){.base = {.member = member, .size = size}, .root = mem, .next = tsl_fake.mems};
    tsl_fake.mems = mem;
    return mem;
}

/* host: NULL, or what becomes the storage. */
static cl_int alloc_locked(struct fake_member *member, size_t size, void *host, struct tsl_mem **created)
{
    struct fake_mem *mem;
    cl_int rc = CL_SUCCESS;

    if (!size)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "mem_alloc of 0 bytes");
    if (!size || size > member->is.max_alloc_size)
        return CL_INVALID_BUFFER_SIZE;
    mem = tsl_fake_mem_new_locked(&member->base, size);
    mem->hosts = host;
    if (!member->is.lazy_memory)
        rc = tsl_fake_mem_take_locked(mem);
    if (rc == CL_SUCCESS) {
        mem->bytes = mem->hosts ? host : malloc(size);
        if (!mem->bytes)
            rc = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    if (rc) {
        tsl_fake.mems = mem->next;
        return rc;
    }
    if (!mem->hosts)
        tsl_fake_poison(mem->bytes, size, ++tsl_fake.stamp);
    tsl_fake.live.mems++;
    *created = &mem->base;
    return CL_SUCCESS;
}

cl_int tsl_fake_mem_alloc(struct tsl_member *base, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    cl_int rc = tsl_fake_enter_locked(fake_member(base), TSL_FAKE_ALLOC, "mem_alloc");

    (void)flags;
    if (rc)
        return rc;
    rc = alloc_locked(fake_member(base), size, fake_member(base)->is.zero_copy ? host : NULL, mem);
    tsl_fake_leave_locked();
    return rc;
}

/* ---- Memory of the application's: only noted ---- */

static bool registered_locked(uintptr_t host, size_t size)
{
    for (struct fake_mem *mem = tsl_fake.mems; mem; mem = mem->next)
        if (mem->registered && !mem->freed && (uintptr_t)mem->bytes < host + size &&
            host < (uintptr_t)mem->bytes + mem->base.size)
            return true;
    return false;
}

bool tsl_fake_registered(const void *host, size_t size)
{
    bool registered;

    pthread_mutex_lock(&tsl_fake.lock);
    registered = registered_locked((uintptr_t)host, size);
    pthread_mutex_unlock(&tsl_fake.lock);
    return registered;
}

cl_int tsl_fake_host_register(struct tsl_member *base, void *host, size_t size, struct tsl_mem **created)
{
    cl_int rc = tsl_fake_enter_locked(fake_member(base), TSL_FAKE_N_CALLS, "host_register");
    struct fake_mem *mem;

    if (rc)
        return rc;
    if (!host || !size || !fake_member(base)->is.register_after)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "host_register of %zu bytes at %p", size, host);
    if (registered_locked((uintptr_t)host, size)) {
        tsl_fake_leave_locked();
        return CL_INVALID_VALUE;
    }
    mem = tsl_fake_mem_new_locked(base, size);
    mem->registered = mem->hosts = true;
    mem->bytes = host;
    tsl_fake.live.mems++;
    *created = &mem->base;
    tsl_fake_leave_locked();
    return CL_SUCCESS;
}

/* ---- Parts ---- */

static cl_int sub_locked(struct fake_mem *mem, size_t offset, size_t size, struct tsl_mem **created)
{
    struct fake_mem *sub;

    if (mem->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "mem_sub of freed memory");
        return CL_INVALID_MEM_OBJECT;
    }
    if (mem->root != mem || !size || offset > mem->base.size || size > mem->base.size - offset) {
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "mem_sub of %zu bytes at %zu of %zu%s", size, offset,
                                mem->base.size, mem->root != mem ? " of a sub" : "");
        return CL_INVALID_VALUE;
    }
    if (offset % fake_member(mem->base.member)->is.base_align) {
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "mem_sub at %zu is not aligned", offset);
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    }
    sub = tsl_fake_mem_new_locked(mem->base.member, size);
    sub->root = mem;
    sub->bytes = mem->bytes + offset;
    mem->n_subs++;
    tsl_fake.live.subs++;
    *created = &sub->base;
    return CL_SUCCESS;
}

cl_int tsl_fake_mem_sub(struct tsl_mem *base, size_t offset, size_t size, struct tsl_mem **sub)
{
    cl_int rc = tsl_fake_enter_locked(fake_member(base->member), TSL_FAKE_SUB, "mem_sub");

    if (rc)
        return rc;
    rc = sub_locked((struct fake_mem *)base, offset, size, sub);
    tsl_fake_leave_locked();
    return rc;
}

/* ---- Images: plain memory of the canonical layout ---- */

/* Every format that OpenCL has, with pixels of a usual size. */
cl_int tsl_fake_image_formats(struct tsl_member *base, const struct tsl_format_query *query, cl_uint *n_formats)
{
    cl_uint found = 0;

    (void)base;
    for (cl_channel_order order = CL_R; order <= CL_ABGR; order++)
        for (cl_channel_type channels = CL_SNORM_INT8; channels <= CL_UNORM_INT_101010_2; channels++) {
            const cl_image_format format = {order, channels};
            size_t size = tsl_image_element_size(&format);

            if (!size || size > 16 || size & (size - 1))
                continue;
            if (query->formats && found < query->n)
                query->formats[found] = format;
            found++;
        }
    if (n_formats)
        *n_formats = found;
    return CL_SUCCESS;
}

static void make_image(struct tsl_mem *base, const struct tsl_image_desc *desc)
{
    struct fake_mem *mem = (struct fake_mem *)base;

    mem->is_image = true;
    mem->desc = *desc;
}

cl_int tsl_fake_image_alloc(struct tsl_member *base, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                            struct tsl_mem **mem)
{
    struct fake_member *member = fake_member(base);
    bool own = !member->is.zero_copy || !member->is.zero_copy_images;
    cl_int rc = tsl_fake_enter_locked(member, TSL_FAKE_ALLOC, "image_alloc");

    (void)flags;
    if (rc)
        return rc;
    if (!member->is.images || !desc->row_pitch || !desc->slice_pitch ||
        tsl_image_element_size(&desc->format) != desc->element_size)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "image_alloc of what isn't offered, or isn't described");
    rc = alloc_locked(member, tsl_image_span(desc), own ? NULL : host, mem);
    if (rc == CL_SUCCESS)
        make_image(*mem, desc);
    tsl_fake_leave_locked();
    return rc;
}

static cl_int image_of_locked(struct fake_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **created)
{
    struct fake_mem *image;

    if (mem->freed || mem->root->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "image_of of freed memory");
        return CL_INVALID_MEM_OBJECT;
    }
    if (mem->is_image || tsl_image_span(desc) > mem->base.size) {
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "image_of of %zu bytes, which are %s", mem->base.size,
                                mem->is_image ? "an image" : "too few");
        return CL_INVALID_VALUE;
    }
    image = tsl_fake_mem_new_locked(mem->base.member, tsl_image_span(desc));
    image->root = mem->root;
    image->bytes = mem->bytes;
    make_image(&image->base, desc);
    mem->root->n_subs++;
    tsl_fake.live.subs++;
    *created = &image->base;
    return CL_SUCCESS;
}

cl_int tsl_fake_image_of(struct tsl_mem *base, const struct tsl_image_desc *desc, struct tsl_mem **image)
{
    cl_int rc = tsl_fake_enter_locked(fake_member(base->member), TSL_FAKE_SUB, "image_of");

    if (rc)
        return rc;
    rc = image_of_locked((struct fake_mem *)base, desc, image);
    tsl_fake_leave_locked();
    return rc;
}

/* ---- The end ---- */

static const char *name(const struct fake_mem *mem)
{
    static _Thread_local char text[80];

    snprintf(text, sizeof text, "%zu bytes of fake:%u", mem->base.size, fake_member(mem->base.member)->number);
    return text;
}

static void free_root_locked(struct fake_mem *mem)
{
    struct fake_member *member = fake_member(mem->base.member);

    if (mem->n_subs)
        tsl_fake_violate_locked(TSL_FAKE_FREE_BUSY, "mem_free of %s, which %u subs need", name(mem), mem->n_subs);
    if (mem->taken) {
        member->used_size -= mem->base.size;
        tsl_fake.live.mem_size -= mem->base.size;
    }
    tsl_fake.live.mems--;
    if (mem->spread) {
        mem->spread->is_used |= mem->n_unknown > 0;
        tsl_fake_spread_put_locked(mem->spread);
        return;
    }
    /* Work that still runs on it (a violation already told) may not crash the test. */
    if (!mem->n_unknown && !mem->hosts) {
        free(mem->bytes);
        mem->bytes = NULL;
    }
    free(mem->history.items);
    mem->history = (struct fake_accesses){0};
}

static void free_locked(struct fake_mem *mem)
{
    if (mem->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "mem_free of %s a second time", name(mem));
        return;
    }
    tsl_fake_lost_locked(fake_member(mem->base.member)); /* Notices it. */
    if (mem->n_unknown)
        tsl_fake_violate_locked(TSL_FAKE_FREE_BUSY, "mem_free of %s while %u operations on it may be running",
                                name(mem), mem->n_unknown);
    mem->freed = true;
    if (mem->root == mem) {
        free_root_locked(mem);
    } else {
        mem->root->n_subs--;
        tsl_fake.live.subs--;
    }
}

void tsl_fake_mem_free(struct tsl_mem *base)
{
    if (tsl_fake_enter_locked(fake_member(base->member), TSL_FAKE_N_CALLS, "mem_free"))
        return;
    free_locked((struct fake_mem *)base);
    tsl_fake_leave_locked();
}
