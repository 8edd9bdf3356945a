/*
 * Shared virtual memory of a vendor's. Where it is fine-grained it is the host's as any memory, and kernels get its
 * addresses. Where it is coarse-grained the core wants it to be the host's whenever no launch that names it runs: so it
 * is mapped always but then, and each such launch has an unmap before and a map behind it.
 */
#include "opencl/svm.h"
#include "opencl/gate.h"
#include "opencl/member.h"
#include "opencl/memory.h"
#include "opencl/operations.h"
#include "opencl/program.h"
#include "opencl/submit.h"

#include "base/log.h"
#include "base/settings.h"

#include <stdlib.h>

#define COARSE CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
#define FINE   CL_DEVICE_SVM_FINE_GRAIN_BUFFER

static bool has_functions(const struct tsl_opencl_cl *cl)
{
    return cl->clSVMAlloc && cl->clSVMFree && cl->clEnqueueSVMMap && cl->clEnqueueSVMUnmap &&
           cl->clSetKernelArgSVMPointer && cl->clSetKernelExecInfo && cl->clEnqueueMarkerWithWaitList;
}

void tsl_opencl_svm_caps(const struct tsl_opencl_device *device, struct tsl_member_caps *caps)
{
    cl_device_svm_capabilities has = 0;

    if (!has_functions(&device->cl) ||
        device->cl.clGetDeviceInfo(device->id, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, NULL) || !(has & COARSE))
        return;
    if (tsl_settings()->svm == TSL_SVM_COARSE) {
        caps->svm = COARSE;
        return;
    }
    caps->svm = has & (COARSE | FINE);
    caps->svm_anywhere = has & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
}

bool tsl_opencl_svm_reaches(struct tsl_member *from, struct tsl_member *to)
{
    return from == to;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

#define LARGEST_TYPE 128u
#define ACCESS       (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

static cl_int map(const struct tsl_opencl_member *v, cl_command_queue queue, cl_bool blocking, struct tsl_opencl_mem *m)
{
    cl_int error =
        v->cl->clEnqueueSVMMap(queue, blocking, CL_MAP_READ | CL_MAP_WRITE, m->mapped, m->base.size, 0, NULL, NULL);

    m->unmapped = error != CL_SUCCESS;
    return error;
}

/* NVIDIA's OpenCL (580) gives none while another thread gives some back. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Sets m->svm, and where in it what was wanted begins: vendors take no larger alignment than their largest type's. */
static cl_int allocate(struct tsl_opencl_member *v, cl_svm_mem_flags flags, size_t alignment, struct tsl_opencl_mem *m)
{
    size_t more = alignment > LARGEST_TYPE ? alignment : 0;
    cl_uint wanted = more ? LARGEST_TYPE : (cl_uint)alignment;
    uintptr_t at;

    if (m->base.size > SIZE_MAX - more)
        return CL_INVALID_BUFFER_SIZE;
    m->svm = v->cl->clSVMAlloc(v->context, flags, m->base.size + more, wanted);
    if (!m->svm)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    at = ((uintptr_t)m->svm + alignment - 1) / alignment * alignment;
    m->mapped = (void *)at;
    /* A vendor that aligns less than it was asked for leaves no room behind. */
    return more || m->mapped == m->svm ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* Coarse-grained memory begins as the host's. */
static cl_int get_coarse(struct tsl_opencl_member *v, size_t alignment, struct tsl_opencl_mem *m)
{
    cl_int error;

    m->unmapped = true;
    m->queue = v->cl->clCreateCommandQueue(v->context, v->device->id, 0, &error);
    if (!m->queue)
        return error ? error : CL_OUT_OF_RESOURCES;
    error = allocate(v, CL_MEM_READ_WRITE, alignment, m);
    return error ? error : map(v, m->queue, CL_TRUE, m);
}

static cl_int get(struct tsl_opencl_member *v, cl_svm_mem_flags flags, size_t alignment, struct tsl_opencl_mem *m)
{
    return v->base.caps.svm & FINE ? allocate(v, (flags & ACCESS) | CL_MEM_SVM_FINE_GRAIN_BUFFER, alignment, m)
                                   : get_coarse(v, alignment, m);
}

cl_int tsl_opencl_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                            struct tsl_mem **mem)
{
    struct tsl_opencl_member *v = tsl_opencl_member(member);
    size_t size = request->size;
    struct tsl_opencl_mem *m;
    cl_int error;

    if (!size || !member->caps.svm || size > member->caps.max_alloc_size)
        return CL_INVALID_BUFFER_SIZE;
    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    m = tsl_opencl_new_mem(member, size);
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->root = m;
    tsl_opencl_collect(v);
    tsl_opencl_enter(v->device);
    pthread_mutex_lock(&turn);
    error = get(v, request->flags, request->alignment, m);
    pthread_mutex_unlock(&turn);
    tsl_opencl_leave(v->device);
    if (error) {
        tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_WARN, "%s gives no %zu bytes of shared virtual memory (%s): %d",
                member->path->id, size, m->svm ? "they can't be mapped" : "clSVMAlloc", (int)error);
        tsl_opencl_release(v, TSL_OPENCL_SVM, m);
        return tsl_opencl_error(v, error);
    }
    *host = m->mapped;
    *mem = &m->base;
    return CL_SUCCESS;
}

void tsl_opencl_svm_free(struct tsl_opencl_mem *m)
{
    struct tsl_opencl_member *v = tsl_opencl_member(m->base.member);

    pthread_mutex_lock(&turn);
    if (m->queue && !m->unmapped && !v->cl->clEnqueueSVMUnmap(m->queue, m->mapped, 0, NULL, NULL))
        v->cl->clFinish(m->queue);
    if (m->svm)
        v->cl->clSVMFree(v->context, m->svm);
    if (m->queue)
        v->cl->clReleaseCommandQueue(m->queue);
    pthread_mutex_unlock(&turn);
    free(m);
}

/* ---- Launches --------------------------------------------------------------------------------------------------- */

/* The region's memory, if it is coarse-grained and this member's; else NULL. To this member's launches another member's
 * is host memory. Only one member has a region at a time. */
static struct tsl_opencl_mem *coarse(const struct tsl_opencl_member *m, const struct tsl_bound_svm *svm)
{
    struct tsl_opencl_mem *mem = svm->mem && svm->mem->member == &m->base ? tsl_opencl_mem(svm->mem) : NULL;

    return mem && mem->queue ? mem : NULL;
}

bool tsl_opencl_svm_wants_turns(const struct tsl_opencl_member *m, const struct tsl_bound_args *args)
{
    for (cl_uint i = 0; i < args->n_svm; i++)
        if (coarse(m, &args->svm[i]))
            return true;
    return false;
}

/* Memory that couldn't be mapped last time is unmapped still. */
cl_int tsl_opencl_svm_unmap_all(const struct tsl_opencl_submit *s, const struct tsl_bound_args *args)
{
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < args->n_svm && !error; i++) {
        struct tsl_opencl_mem *mem = coarse(s->member, &args->svm[i]);

        if (!mem || mem->unmapped)
            continue;
        error = s->member->cl->clEnqueueSVMUnmap(s->queue, mem->mapped, s->n, s->events, NULL);
        mem->unmapped = !error;
    }
    return error;
}

cl_int tsl_opencl_svm_map_all(const struct tsl_opencl_submit *s, const struct tsl_bound_args *args)
{
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < args->n_svm; i++) {
        struct tsl_opencl_mem *mem = coarse(s->member, &args->svm[i]);
        cl_int failed = mem && mem->unmapped ? map(s->member, s->queue, CL_FALSE, mem) : CL_SUCCESS;

        error = error ? error : failed;
    }
    return error;
}

/* The addresses to which no argument leads; the caller frees. */
static cl_int list_unnamed(const struct tsl_bound_args *args, void ***unnamed, cl_uint *n)
{
    *n = 0;
    *unnamed = malloc((args->n_svm + 1) * sizeof(**unnamed));
    if (!*unnamed)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < args->n_svm; i++)
        if (args->svm[i].unnamed && args->svm[i].mem)
            (*unnamed)[(*n)++] = args->svm[i].host;
    return CL_SUCCESS;
}

/* False: the vendor knows of memory that it won't forget. */
static bool forget_unnamed(const struct tsl_opencl_member *m, struct tsl_opencl_kernel *k)
{
    bool forgotten = !k->names_svm || !m->cl->clSetKernelExecInfo(k->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL);

    k->names_svm = !forgotten;
    return forgotten;
}

/* NVIDIA's OpenCL (580) doesn't take a buffer for an argument that has been an address. */
static bool takes_buffers_back(const struct tsl_opencl_kernel *k, const struct tsl_bound_args *args)
{
    for (cl_uint i = 0; k->addresses && i < args->n; i++)
        if (k->addresses[i] && args->args[i].kind == TSL_ARG_MEM)
            return true;
    return false;
}

static cl_int note_addresses(struct tsl_opencl_kernel *k, const struct tsl_bound_args *args)
{
    for (cl_uint i = 0; i < args->n; i++) {
        if (args->args[i].kind != TSL_ARG_SVM)
            continue;
        if (!k->addresses)
            k->addresses = calloc(args->n, sizeof(*k->addresses));
        if (!k->addresses)
            return CL_OUT_OF_HOST_MEMORY;
        k->addresses[i] = true;
    }
    return CL_SUCCESS;
}

cl_int tsl_opencl_svm_prepare(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k,
                              const struct tsl_bound_args *args)
{
    void **unnamed = NULL;
    cl_uint n = 0;
    cl_int error = CL_SUCCESS;

    if (!args->n_svm && !k->names_svm && !k->addresses)
        return CL_SUCCESS;
    if (takes_buffers_back(k, args))
        error = tsl_opencl_kernel_renew(m, k);
    if (!error)
        error = list_unnamed(args, &unnamed, &n);
    if (!error && (n == 0 || m->base.caps.svm_anywhere) && !forget_unnamed(m, k))
        error = tsl_opencl_kernel_renew(m, k);
    if (!error && n && !m->base.caps.svm_anywhere) {
        k->names_svm = true;
        error = m->cl->clSetKernelExecInfo(k->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, n * sizeof(*unnamed), unnamed);
    }
    free(unnamed);
    return error ? error : note_addresses(k, args);
}
