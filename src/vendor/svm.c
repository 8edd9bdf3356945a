/*
 * Shared virtual memory of a vendor's. Where it is fine-grained it is the host's as any memory, and kernels get its
 * addresses. Where it is coarse-grained the core wants it to be the host's whenever no launch that names it runs: so it
 * is mapped always but then, and each such launch has an unmap before and a map behind it.
 */
#include "vendor/internal.h"

#include "core/settings.h"

#include <stdlib.h>

#define COARSE CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
#define FINE   CL_DEVICE_SVM_FINE_GRAIN_BUFFER

static bool has_functions(const struct tsl_vendor_cl *cl)
{
    return cl->clSVMAlloc && cl->clSVMFree && cl->clEnqueueSVMMap && cl->clEnqueueSVMUnmap &&
           cl->clSetKernelArgSVMPointer && cl->clSetKernelExecInfo && cl->clEnqueueMarkerWithWaitList;
}

void tsl_vendor_svm_caps(const struct tsl_vendor_device *device, struct tsl_member_caps *caps)
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

bool tsl_vendor_svm_reaches(struct tsl_member *from, struct tsl_member *to)
{
    return from == to;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

#define ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

static cl_int map(const struct tsl_vendor_member *v, cl_command_queue queue, cl_bool blocking, void *host, size_t size)
{
    return v->cl->clEnqueueSVMMap(queue, blocking, CL_MAP_READ | CL_MAP_WRITE, host, size, 0, NULL, NULL);
}

/* Coarse-grained memory begins as the host's. */
static cl_int get_coarse(struct tsl_vendor_member *v, size_t size, cl_uint alignment, struct tsl_vendor_mem *m)
{
    cl_int error;

    m->queue = v->cl->clCreateCommandQueue(v->context, v->device->id, 0, &error);
    if (!m->queue)
        return error ? error : CL_OUT_OF_RESOURCES;
    m->svm = v->cl->clSVMAlloc(v->context, CL_MEM_READ_WRITE, size, alignment);
    return m->svm ? map(v, m->queue, CL_TRUE, m->svm, size) : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static cl_int get(struct tsl_vendor_member *v, cl_svm_mem_flags flags, size_t alignment, struct tsl_vendor_mem *m)
{
    /* Vendors take no larger one than their largest type's; most align better. */
    cl_uint wanted = alignment < 128 ? (cl_uint)alignment : 0;

    if (!(v->base.caps.svm & FINE))
        return get_coarse(v, m->base.size, wanted, m);
    m->svm = v->cl->clSVMAlloc(v->context, (flags & ACCESS) | CL_MEM_SVM_FINE_GRAIN_BUFFER, m->base.size, wanted);
    return m->svm ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

cl_int tsl_vendor_svm_alloc(struct tsl_member *member, cl_svm_mem_flags flags, size_t size, size_t alignment,
                            void **host, struct tsl_mem **mem)
{
    struct tsl_vendor_member *v = tsl_vendor_member(member);
    struct tsl_vendor_mem *m;
    cl_int error;

    if (!size || !member->caps.svm || size > member->caps.max_alloc_size)
        return CL_INVALID_BUFFER_SIZE;
    m = tsl_vendor_new_mem(member, size);
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->root = m;
    tsl_vendor_collect(v);
    tsl_vendor_enter(v->device);
    error = get(v, flags, alignment, m);
    tsl_vendor_leave(v->device);
    if (!error && (uintptr_t)m->svm % alignment)
        error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (error) {
        tsl_vendor_svm_free(m);
        return error;
    }
    *host = m->svm;
    *mem = &m->base;
    return CL_SUCCESS;
}

void tsl_vendor_svm_free(struct tsl_vendor_mem *m)
{
    struct tsl_vendor_member *v = tsl_vendor_member(m->base.member);

    tsl_vendor_enter(v->device);
    if (m->queue && m->svm && !v->cl->clEnqueueSVMUnmap(m->queue, m->svm, 0, NULL, NULL))
        v->cl->clFinish(m->queue);
    if (m->svm)
        v->cl->clSVMFree(v->context, m->svm);
    tsl_vendor_leave(v->device);
    if (m->queue)
        tsl_vendor_release(v, TSL_VENDOR_QUEUE, m->queue);
    free(m);
}

/* ---- Launches --------------------------------------------------------------------------------------------------- */

static bool is_coarse(const struct tsl_bound_svm *svm)
{
    return svm->mem && svm->mem->member->driver == &tsl_vendor_driver && tsl_vendor_mem(svm->mem)->queue;
}

bool tsl_vendor_svm_wants_turns(const struct tsl_bound_args *args)
{
    for (cl_uint i = 0; i < args->n_svm; i++)
        if (is_coarse(&args->svm[i]))
            return true;
    return false;
}

cl_int tsl_vendor_svm_unmap_all(const struct tsl_vendor_submit *s, const struct tsl_bound_args *args, cl_uint *n)
{
    cl_int error = CL_SUCCESS;

    for (*n = 0; *n < args->n_svm && !error; *n += !error)
        if (is_coarse(&args->svm[*n]))
            error = s->member->cl->clEnqueueSVMUnmap(s->queue, args->svm[*n].host, s->n, s->events, NULL);
    return error;
}

cl_int tsl_vendor_svm_map_all(const struct tsl_vendor_submit *s, const struct tsl_bound_args *args, cl_uint n)
{
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < n; i++)
        if (is_coarse(&args->svm[i])) {
            cl_int failed = map(s->member, s->queue, CL_FALSE, args->svm[i].host, args->svm[i].size);

            error = error ? error : failed;
        }
    return error;
}

/* Those that no argument leads to; the caller frees. */
static cl_int list_unnamed(const struct tsl_bound_args *args, void ***unnamed, cl_uint *n)
{
    *n = 0;
    *unnamed = malloc((args->n_svm + 1) * sizeof(**unnamed));
    if (!*unnamed)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < args->n_svm; i++)
        if (args->svm[i].unnamed)
            (*unnamed)[(*n)++] = args->svm[i].host;
    return CL_SUCCESS;
}

cl_int tsl_vendor_svm_name(const struct tsl_vendor_member *m, struct tsl_vendor_kernel *k,
                           const struct tsl_bound_args *args)
{
    void **unnamed;
    cl_uint n;
    cl_int error;

    if (m->base.caps.svm_anywhere || (!args->n_svm && !k->names_svm))
        return CL_SUCCESS;
    error = list_unnamed(args, &unnamed, &n);
    if (error)
        return error;
    if (n)
        error = m->cl->clSetKernelExecInfo(k->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, n * sizeof(*unnamed), unnamed);
    else if (k->names_svm) /* Not every vendor takes that; what it knows from before does no harm then. */
        m->cl->clSetKernelExecInfo(k->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL);
    k->names_svm = n > 0;
    free(unnamed);
    return error;
}
