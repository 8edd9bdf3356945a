/*
 * Shared virtual memory: CUDA's managed memory, which has one address for the host and all GPUs. Its pages go to who
 * touches them, so that it is also the host's while kernels run, on GPUs that allow that (all since Pascal, on Linux).
 *
 * To give it back, CUDA waits until all of the device's work has ended, and lets no other thread submit meanwhile. So
 * what was freed is kept for the next that fits, up to a limit.
 */
#include "cuda_bridge/svm.h"
#include "cuda_bridge/member.h"

#include <stdlib.h>

#define UNIT     ((size_t)64 << 10) /* sizes are rounded up to this, or to CUDA_ALIGN */
#define KEPT_MAX ((size_t)1 << 30)  /* bytes, of all members together */

struct tsl_cuda_svm {
    struct tsl_cuda_member *member; /* by which CUDA gave it */
    uintptr_t begin, end;           /* as the core knows it */
    CUdeviceptr owned;              /* what CUDA gave */
    size_t size;                    /* of that */
    LIST_ENTRY(tsl_cuda_svm) link;
};

LIST_HEAD(list, tsl_cuda_svm);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf; guards these */
static struct list used = LIST_HEAD_INITIALIZER(used), kept = LIST_HEAD_INITIALIZER(kept);
static size_t kept_size;

bool tsl_cuda_svm_has(const void *begin, size_t size)
{
    const uintptr_t at = (uintptr_t)begin;
    struct tsl_cuda_svm *svm;

    pthread_mutex_lock(&lock);
    LIST_FOREACH(svm, &used, link)
    if (svm->begin <= at && at + size <= svm->end)
        break;
    pthread_mutex_unlock(&lock);
    return svm != NULL;
}

/* ---- Allocation -------------------------------------------------------------------------------------------------- */

/* Bytes; CUDA itself aligns managed memory so. */
#define CUDA_ALIGN ((size_t)256)

/* The size with room for the alignment; 0: it would be too large. */
static size_t whole_size(size_t size, size_t alignment)
{
    size_t more = alignment > CUDA_ALIGN ? alignment : 0, unit = size < UNIT ? CUDA_ALIGN : UNIT;

    return size > SIZE_MAX / 2 || more > SIZE_MAX / 4 ? 0 : (size + more + unit - 1) / unit * unit;
}

/* Kept memory of the member's that has so many bytes, and not more than most; NULL: there is none. */
static struct tsl_cuda_svm *take(const struct tsl_cuda_member *member, size_t size, size_t most)
{
    struct tsl_cuda_svm *svm;

    pthread_mutex_lock(&lock);
    LIST_FOREACH(svm, &kept, link)
    if (svm->member == member && svm->size >= size && svm->size <= most)
        break;
    if (svm) {
        LIST_REMOVE(svm, link);
        kept_size -= svm->size;
    }
    pthread_mutex_unlock(&lock);
    return svm;
}

static cl_int allocate(struct tsl_cuda_svm *svm)
{
    CUresult result;
    cl_int error = tsl_cuda_enter(svm->member);

    if (error)
        return error;
    result = tsl_cu.cuMemAllocManaged(&svm->owned, svm->size, CU_MEM_ATTACH_GLOBAL);
    tsl_cuda_leave(svm->member);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CL_MEM_OBJECT_ALLOCATION_FAILURE : tsl_cuda_error(svm->member, result);
}

static cl_int make(struct tsl_cuda_member *member, size_t size, struct tsl_cuda_svm **svm)
{
    cl_int error;

    *svm = calloc(1, sizeof(**svm));
    if (!*svm)
        return CL_OUT_OF_HOST_MEMORY;
    (*svm)->member = member;
    (*svm)->size = size;
    error = allocate(*svm);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE && !tsl_cuda_enter(member)) {
        tsl_cuda_svm_finish(member); /* The memory that is kept may be what is lacking. */
        tsl_cuda_leave(member);
        error = allocate(*svm);
    }
    if (error)
        free(*svm);
    return error;
}

static cl_int find(struct tsl_cuda_member *member, size_t size, struct tsl_cuda_svm **svm)
{
    *svm = take(member, size, size + size / 4);
    return *svm ? CL_SUCCESS : make(member, size, svm);
}

cl_int tsl_cuda_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                          struct tsl_mem **mem)
{
    size_t size = request->size, alignment = request->alignment;
    size_t whole = whole_size(size, alignment);
    struct tsl_cuda_mem *made;
    struct tsl_cuda_svm *svm;
    cl_int error;

    if (!size || !whole || !member->caps.svm)
        return CL_INVALID_BUFFER_SIZE;
    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    made = calloc(1, sizeof(*made));
    error = made ? find(tsl_cuda_member(member), whole, &svm) : CL_OUT_OF_HOST_MEMORY;
    if (error) {
        free(made);
        return error;
    }
    svm->begin = (svm->owned + alignment - 1) / alignment * alignment;
    svm->end = svm->begin + size;
    pthread_mutex_lock(&lock);
    LIST_INSERT_HEAD(&used, svm, link);
    pthread_mutex_unlock(&lock);
    made->base = (struct tsl_mem){.member = member, .size = size};
    made->svm = svm;
    *host = (void *)svm->begin;
    *mem = &made->base;
    return CL_SUCCESS;
}

bool tsl_cuda_svm_reaches(struct tsl_member *from, struct tsl_member *to)
{
    return from->driver == to->driver && from->caps.svm && to->caps.svm;
}

/* ---- Giving back ------------------------------------------------------------------------------------------------- */

/* Entered. */
static void give_back(struct tsl_cuda_svm *svm)
{
    tsl_cuda_error(svm->member, tsl_cu.cuMemFree_v2(svm->owned));
    free(svm);
}

void tsl_cuda_svm_free(struct tsl_cuda_svm *svm)
{
    bool keep;

    pthread_mutex_lock(&lock);
    LIST_REMOVE(svm, link);
    keep = svm->size <= KEPT_MAX - kept_size;
    if (keep) {
        LIST_INSERT_HEAD(&kept, svm, link);
        kept_size += svm->size;
    }
    pthread_mutex_unlock(&lock);
    if (keep)
        return;
    if (tsl_cuda_enter_anyway(svm->member)) {
        struct tsl_cuda_member *member = svm->member;

        give_back(svm);
        tsl_cuda_leave(member);
    } else {
        free(svm);
    }
}

void tsl_cuda_svm_finish(struct tsl_cuda_member *member)
{
    struct tsl_cuda_svm *svm;

    while ((svm = take(member, 0, SIZE_MAX)))
        give_back(svm);
}
