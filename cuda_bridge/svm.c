/*
 * Shared virtual memory: CUDA's managed memory, which has one address for the host and all GPUs. Its pages go to who
 * touches them, so that it is also the host's while kernels run, on GPUs that allow that (all since Pascal, on Linux).
 */
#include "cuda_bridge/internal.h"

#include <stdlib.h>

struct tsl_cuda_svm {
    uintptr_t begin, end;
    CUdeviceptr owned; /* what CUDA gave: begin, or a bit before it */
    LIST_ENTRY(tsl_cuda_svm) link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static LIST_HEAD(, tsl_cuda_svm) all = LIST_HEAD_INITIALIZER(all);

bool tsl_cuda_svm_has(const void *begin, size_t size)
{
    const uintptr_t at = (uintptr_t)begin;
    struct tsl_cuda_svm *svm;

    pthread_mutex_lock(&lock);
    LIST_FOREACH(svm, &all, link)
    if (svm->begin <= at && at + size <= svm->end)
        break;
    pthread_mutex_unlock(&lock);
    return svm != NULL;
}

/* What CUDA aligns managed memory to by itself. */
#define CUDA_ALIGN 256u

static cl_int get(struct tsl_cuda_member *m, size_t size, size_t alignment, struct tsl_cuda_svm *svm)
{
    size_t more = alignment > CUDA_ALIGN ? alignment : 0;
    CUresult result;
    cl_int error;

    if (size > SIZE_MAX - more)
        return CL_INVALID_BUFFER_SIZE;
    error = tsl_cuda_enter(m);
    if (error)
        return error;
    result = tsl_cu.cuMemAllocManaged(&svm->owned, size + more, CU_MEM_ATTACH_GLOBAL);
    tsl_cuda_leave(m);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    error = tsl_cuda_error(m, result);
    svm->begin = error ? 0 : (svm->owned + alignment - 1) / alignment * alignment;
    svm->end = svm->begin + size;
    return error;
}

cl_int tsl_cuda_svm_alloc(struct tsl_member *member, cl_svm_mem_flags flags, size_t size, size_t alignment, void **host,
                          struct tsl_mem **mem)
{
    struct tsl_cuda_mem *made = calloc(1, sizeof(*made));
    struct tsl_cuda_svm *svm = calloc(1, sizeof(*svm));
    cl_int error = made && svm ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    (void)flags;
    if (!error)
        error = size && member->caps.svm ? get(tsl_cuda_member(member), size, alignment, svm) : CL_INVALID_VALUE;
    if (error) {
        free(made);
        free(svm);
        return error;
    }
    pthread_mutex_lock(&lock);
    LIST_INSERT_HEAD(&all, svm, link);
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

void tsl_cuda_svm_free(struct tsl_cuda_member *member, struct tsl_cuda_svm *svm)
{
    pthread_mutex_lock(&lock);
    LIST_REMOVE(svm, link);
    pthread_mutex_unlock(&lock);
    if (tsl_cuda_enter_anyway(member)) {
        tsl_cuda_error(member, tsl_cu.cuMemFree_v2(svm->owned));
        tsl_cuda_leave(member);
    }
    free(svm);
}
