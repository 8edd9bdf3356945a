/* Device memory, from a pool of the member's own: CUDA's plain cuMemFree would wait for all of the device's work. */
#include "cuda_bridge/internal.h"

#include "core/log.h"

#include <stdlib.h>

static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tsl_cuda_member *members[TSL_MAX_MEMBERS]; /* open ones; guarded by members_lock */

/* ---- Peers: whose pool may whom reach -----------------------------------------------------------------------------
 */

/* Lets the device of `other` into the pool of m. */
static bool let_in(struct tsl_cuda_member *m, const struct tsl_cuda_member *other)
{
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = other->gpu->device},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    int can = 0;

    if (tsl_cu.cuDeviceCanAccessPeer(&can, other->gpu->device, m->gpu->device) || !can)
        return false;
    return tsl_cu.cuMemPoolSetAccess(m->pool, &access, 1) == CUDA_SUCCESS;
}

void tsl_cuda_peers_join(struct tsl_cuda_member *member)
{
    unsigned slot = 0;

    pthread_mutex_lock(&members_lock);
    while (slot < TSL_MAX_MEMBERS && members[slot])
        slot++;
    if (slot < TSL_MAX_MEMBERS) {
        members[slot] = member;
        member->slot = slot;
    }
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++) {
        struct tsl_cuda_member *other = members[i];

        if (!other || other == member || !let_in(member, other) || !let_in(other, member))
            continue;
        atomic_fetch_or(&member->peers, 1u << i);
        atomic_fetch_or(&other->peers, 1u << member->slot);
    }
    pthread_mutex_unlock(&members_lock);
}

void tsl_cuda_peers_leave(struct tsl_cuda_member *member)
{
    pthread_mutex_lock(&members_lock);
    for (unsigned i = 0; i < TSL_MAX_MEMBERS; i++)
        if (members[i])
            atomic_fetch_and(&members[i]->peers, ~(1u << member->slot));
    members[member->slot] = NULL;
    pthread_mutex_unlock(&members_lock);
}

bool tsl_cuda_can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    if (from == to)
        return true;
    if (from->driver != to->driver)
        return false;
    return atomic_load(&tsl_cuda_member(from)->peers) >> tsl_cuda_member(to)->slot & 1;
}

/* ---- Allocation ---------------------------------------------------------------------------------------------------
 */

/* Memory of the pool may be used by other streams when the allocation's own stream is through with it, which is at once
 * unless memory has to be mapped. */
static CUresult allocate_locked(struct tsl_cuda_member *m, size_t size, CUdeviceptr *address)
{
    CUresult result = tsl_cu.cuMemAllocFromPoolAsync(address, size, m->pool, m->memory_stream);

    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        /* What was freed may not be known as such, or lie there in other sizes. */
        tsl_cu.cuStreamSynchronize(m->memory_stream);
        tsl_cu.cuMemPoolTrimTo(m->pool, 0);
        result = tsl_cu.cuMemAllocFromPoolAsync(address, size, m->pool, m->memory_stream);
    }
    return result ? result : tsl_cu.cuStreamSynchronize(m->memory_stream);
}

cl_int tsl_cuda_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);
    struct tsl_cuda_mem *made;
    CUresult result;
    cl_int error;

    (void)flags, (void)host;
    if (size == 0 || size > member->caps.max_alloc_size)
        return CL_INVALID_BUFFER_SIZE;
    made = calloc(1, sizeof(*made));
    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    error = tsl_cuda_enter(m);
    if (!error) {
        pthread_mutex_lock(&m->memory_lock);
        result = allocate_locked(m, size, &made->address);
        pthread_mutex_unlock(&m->memory_lock);
        tsl_cuda_leave(m);
        error = tsl_cuda_error(m, result);
        if (result == CUDA_ERROR_OUT_OF_MEMORY)
            error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    if (error) {
        free(made);
        return error;
    }
    made->base = (struct tsl_mem){.member = member, .size = size};
    *mem = &made->base;
    return CL_SUCCESS;
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
    part->is_part = true;
    *sub = &part->base;
    return CL_SUCCESS;
}

void tsl_cuda_mem_free(struct tsl_mem *mem)
{
    struct tsl_cuda_mem *m = tsl_cuda_mem(mem);
    struct tsl_cuda_member *member = tsl_cuda_member(mem->member);

    if (!m->is_part && !tsl_cuda_enter(member)) {
        tsl_cuda_error(member, tsl_cu.cuMemFreeAsync(m->address, member->memory_stream));
        tsl_cuda_leave(member);
    }
    free(m);
}
