/* Device memory, from a pool of the member's own: CUDA's plain cuMemFree would wait for all of the device's work. */
#include "cuda_bridge/memory.h"
#include "cuda_bridge/host.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/piece.h"
#include "cuda_bridge/region.h"
#include "cuda_bridge/spread.h"
#include "cuda_bridge/svm.h"
#include "cuda_bridge/texture.h"

#include "base/log.h"
#include "base/settings.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct tsl_cuda_member *members[TSL_MAX_MEMBERS];         /* open ones; guarded by members_lock */

/* Held while pools are opened to others, which may take long. */
static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Peers: whose pool may whom reach ---------------------------------------------------------------------------- */

/* Does the device of `other` reach the memory of m? */
static bool reaches_into(const struct tsl_cuda_member *other, const struct tsl_cuda_member *m)
{
    int can = 0;

    return tsl_settings()->peers != TSL_PEERS_OFF &&
           !tsl_cu.cuDeviceCanAccessPeer(&can, other->gpu->device, m->gpu->device) && can;
}

bool tsl_cuda_can_reach(const struct tsl_cuda_member *a, const struct tsl_cuda_member *b)
{
    return reaches_into(a, b) && reaches_into(b, a);
}

/* Lets the device of `other` into the pool of m. */
static bool let_in(struct tsl_cuda_member *m, const struct tsl_cuda_member *other)
{
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = other->gpu->device},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };

    return reaches_into(other, m) && tsl_cu.cuMemPoolSetAccess(m->pool, &access, 1) == CUDA_SUCCESS;
}

struct tsl_cuda_member *tsl_cuda_member_at(unsigned slot)
{
    struct tsl_cuda_member *member;

    pthread_mutex_lock(&members_lock);
    member = members[slot];
    pthread_mutex_unlock(&members_lock);
    return member;
}

void tsl_cuda_take_slot(struct tsl_cuda_member *member)
{
    unsigned slot = 0;

    pthread_mutex_lock(&members_lock);
    while (slot + 1 < TSL_MAX_MEMBERS && members[slot])
        slot++;
    members[slot] = member;
    member->slot = slot;
    pthread_mutex_unlock(&members_lock);
}

void tsl_cuda_peers_join(struct tsl_cuda_member *member)
{
    pthread_mutex_lock(&peers_lock);
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++) {
        struct tsl_cuda_member *other = tsl_cuda_member_at(i);

        if (!other || other == member || !other->joined || !let_in(member, other) || !let_in(other, member))
            continue;
        atomic_fetch_or(&member->peers, 1u << i);
        atomic_fetch_or(&other->peers, 1u << member->slot);
    }
    member->joined = true;
    pthread_mutex_unlock(&peers_lock);
}

void tsl_cuda_give_slot(struct tsl_cuda_member *member)
{
    pthread_mutex_lock(&peers_lock);
    member->joined = false;
    pthread_mutex_lock(&members_lock);
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++)
        if (members[i])
            atomic_fetch_and(&members[i]->peers, ~(1u << member->slot));
    members[member->slot] = NULL;
    pthread_mutex_unlock(&members_lock);
    pthread_mutex_unlock(&peers_lock);
}

struct tsl_cuda_member *tsl_cuda_twin(const struct tsl_cuda_member *member)
{
    struct tsl_cuda_member *twin = NULL;

    pthread_mutex_lock(&members_lock);
    for (unsigned i = 0; i < TSL_MAX_MEMBERS && !twin; i++)
        if (members[i] && members[i] != member && members[i]->gpu->capability == member->gpu->capability &&
            tsl_member_is_ready(&members[i]->base) && !tsl_member_is_lost(&members[i]->base))
            twin = members[i];
    pthread_mutex_unlock(&members_lock);
    return twin;
}

bool tsl_cuda_reaches(const struct tsl_cuda_member *from, const struct tsl_cuda_member *to)
{
    return from == to || (atomic_load(&from->peers) >> to->slot & 1);
}

bool tsl_cuda_can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    return from->driver == to->driver;
}

/* ---- Allocation -------------------------------------------------------------------------------------------------- */

/* Memory of the pool may be used by other streams when the allocation's own stream is through with it, which is at once
 * unless memory has to be mapped. */
static CUresult allocate_locked(struct tsl_cuda_member *m, size_t size, CUdeviceptr *address)
{
    CUresult result = tsl_cu.cuMemAllocFromPoolAsync(address, size, m->pool, m->memory_stream);

    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        /* Freed memory may not be known as free yet, or lie in the pool in other sizes. */
        tsl_cu.cuStreamSynchronize(m->memory_stream);
        tsl_cu.cuMemPoolTrimTo(m->pool, 0);
        result = tsl_cu.cuMemAllocFromPoolAsync(address, size, m->pool, m->memory_stream);
    }
    return result ? result : tsl_cu.cuStreamSynchronize(m->memory_stream);
}

/* Memory of the GPU. */
static cl_int allocate(struct tsl_cuda_member *m, size_t size, CUdeviceptr *address)
{
    CUresult result;
    cl_int error = tsl_cuda_enter(m);

    if (error)
        return error;
    pthread_mutex_lock(&m->memory_lock);
    result = allocate_locked(m, size, address);
    pthread_mutex_unlock(&m->memory_lock);
    tsl_cuda_leave(m);
    error = tsl_cuda_error(m, result);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error;
}

/* `extra` bytes of ours follow what the core knows of, which begins at a multiple of 256. */
static cl_int make(struct tsl_member *member, size_t size, size_t extra, struct tsl_cuda_mem **mem)
{
    size_t at = (size + 255) / 256 * 256;
    struct tsl_cuda_mem *made = calloc(1, sizeof(*made));
    cl_int error;

    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    error = allocate(tsl_cuda_member(member), extra ? at + extra : size, &made->address);
    if (error) {
        free(made);
        return error;
    }
    made->base = (struct tsl_mem){.member = member, .size = size};
    made->owned = made->address;
    made->plain = true;
    made->image = extra ? made->address + at : 0;
    *mem = made;
    return CL_SUCCESS;
}

/* Memory that kernels reach by its address has no other. */
static cl_int wrap(struct tsl_member *member, size_t size, void *host, struct tsl_mem **mem)
{
    struct tsl_cuda_mem *made = calloc(1, sizeof(*made));

    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    made->base = (struct tsl_mem){.member = member, .size = size};
    made->address = (CUdeviceptr)host;
    *mem = &made->base;
    return CL_SUCCESS;
}

cl_int tsl_cuda_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    struct tsl_cuda_mem *made;
    cl_int error;

    (void)flags;
    if (size == 0 || size > tsl_member_alloc_limit(member))
        return CL_INVALID_BUFFER_SIZE;
    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    if (host && tsl_cuda_svm_has(host, size))
        return wrap(member, size, host, mem);
    error = make(member, size, 0, &made);
    if (!error)
        *mem = &made->base;
    return error;
}

cl_int tsl_cuda_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub)
{
    struct tsl_cuda_mem *part;

    if (size == 0 || offset > mem->size || size > mem->size - offset)
        return CL_INVALID_VALUE;
    if (offset % mem->member->caps.base_align)
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    part = calloc(1, sizeof(*part));
    if (!part)
        return CL_OUT_OF_HOST_MEMORY;
    part->base = (struct tsl_mem){.member = mem->member, .size = size};
    part->address = tsl_cuda_mem(mem)->address + offset;
    part->spread = tsl_cuda_mem(mem)->spread;
    part->plain = tsl_cuda_mem(mem)->plain;
    *sub = &part->base;
    return CL_SUCCESS;
}

void tsl_cuda_mem_free(struct tsl_mem *mem)
{
    struct tsl_cuda_mem *m = tsl_cuda_mem(mem);
    struct tsl_cuda_member *member = tsl_cuda_member(mem->member);

    if (m->host)
        tsl_cuda_host_free(m->host);
    if (m->region)
        tsl_cuda_region_free(m->region);
    if (m->svm)
        tsl_cuda_svm_free(m->svm);
    if (m->spread_owner)
        tsl_cuda_spread_put(m->spread);
    if (m->owned && !tsl_cuda_enter(member)) {
        tsl_cuda_texture_free(m->texture);
        tsl_cuda_texture_free(m->filter);
        tsl_cuda_error(member, tsl_cu.cuMemFreeAsync(m->owned, member->memory_stream));
        tsl_cuda_leave(member);
    }
    free(m);
}

/* ---- Images: memory in the canonical layout, and beside it the description that kernels get
 * (compile_client/kernel_image.h) -------
 */

cl_int tsl_cuda_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats)
{
    cl_uint found = tsl_kc_formats(query->flags, query->type, query->n, query->formats);

    (void)member;
    if (n_formats)
        *n_formats = found;
    return CL_SUCCESS;
}

/* Few bytes, at once, through a piece; for want of one CUDA takes them from where they are. Entered. */
static CUresult write_now(struct tsl_cuda_member *m, CUdeviceptr address, const void *data, size_t size)
{
    struct tsl_cuda_piece *piece = tsl_cuda_piece_get(m, size);
    CUresult result;

    if (piece)
        memcpy(piece->host, data, size);
    pthread_mutex_lock(&m->memory_lock);
    result = tsl_cu.cuMemcpyHtoDAsync_v2(address, piece ? piece->host : data, size, m->memory_stream);
    if (!result)
        result = tsl_cu.cuStreamSynchronize(m->memory_stream);
    pthread_mutex_unlock(&m->memory_lock);
    if (piece)
        tsl_cuda_piece_put(m, piece);
    return result;
}

/* Writes the description; kernels that are launched later find it. On error the memory is freed. */
static cl_int describe(struct tsl_cuda_mem *mem, const struct tsl_image_desc *desc)
{
    struct tsl_cuda_member *m = tsl_cuda_member(mem->base.member);
    struct tsl_kc_image image = tsl_kc_image_of(desc, mem->address);
    cl_int error = tsl_cuda_enter(m);

    if (!error) {
        tsl_cuda_texture_make(mem, desc, &image);
        error = tsl_cuda_error(m, write_now(m, mem->image, &image, sizeof(image)));
        tsl_cuda_leave(m);
    }
    if (error)
        tsl_cuda_mem_free(&mem->base);
    return error;
}

cl_int tsl_cuda_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags,
                            void *host, struct tsl_mem **mem)
{
    struct tsl_cuda_mem *made;
    cl_int error;

    (void)flags, (void)host;
    if (tsl_image_span(desc) > member->caps.max_alloc_size)
        return CL_INVALID_IMAGE_SIZE;
    error = make(member, tsl_image_span(desc), sizeof(struct tsl_kc_image), &made);
    if (!error)
        error = describe(made, desc);
    if (!error)
        *mem = &made->base;
    return error;
}

cl_int tsl_cuda_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image)
{
    struct tsl_cuda_mem *made;
    cl_int error;

    if (tsl_image_span(desc) > mem->size)
        return CL_INVALID_IMAGE_SIZE;
    error = make(mem->member, sizeof(struct tsl_kc_image), 0, &made);
    if (error)
        return error;
    made->image = made->owned;
    made->address = tsl_cuda_mem(mem)->address;
    made->spread = tsl_cuda_mem(mem)->spread;
    made->plain = tsl_cuda_mem(mem)->plain;
    made->base.size = tsl_image_span(desc);
    error = describe(made, desc);
    if (!error)
        *image = &made->base;
    return error;
}
