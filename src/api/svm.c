/* Shared virtual memory (OpenCL 3.0, 5.6 and 5.9.2). */
#include "object/svm.h"
#include "base/fork.h"

#include "api.h"
#include "api/check.h"
#include "device/shared_memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Allocation ------------------------------------------------------------------------------------------------- */

static bool is_power_of_two(size_t n)
{
    return n && !(n & (n - 1));
}

/* The largest alignment that a device may need is that of long16: programs can't count on more. */
#define LARGEST_ALIGN 128u

static bool check_alloc(const struct tsl_context *context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    const cl_svm_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
    cl_device_svm_capabilities has = tsl_shared_memory_capabilities(context->members, context->n_members);

    if (!has || (flags & ~access & ~(cl_svm_mem_flags)(CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)))
        return false;
    if (flags & CL_MEM_SVM_ATOMICS && (!(flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) || !(has & CL_DEVICE_SVM_ATOMICS)))
        return false;
    if (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER && !(has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
        return false;
    if ((access && !is_power_of_two(access)) || !size)
        return false;
    if (alignment && (!is_power_of_two(alignment) || alignment > LARGEST_ALIGN))
        return false;
    for (cl_uint i = 0; i < context->n_devices; i++)
        if (size > tsl_device_number(context->devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE))
            return false;
    return true;
}

void *CL_API_CALL tsl_api_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    struct tsl_context *c = tsl_context_from(context);

    return c && !tsl_forked() && check_alloc(c, flags, size, alignment) ? tsl_svm_alloc(c, flags, size, alignment)
                                                                        : NULL;
}

void CL_API_CALL tsl_api_clSVMFree(cl_context context, void *svm_pointer)
{
    struct tsl_context *c = tsl_context_from(context);

    if (c && svm_pointer)
        tsl_svm_free(c, svm_pointer);
}

/* ---- Commands --------------------------------------------------------------------------------------------------- */

/* Begins on a queue whose device has shared virtual memory. */
static cl_int begin(struct tsl_enqueue *e, cl_command_queue queue, cl_command_type type, bool blocking)
{
    cl_int error = tsl_check_queue(e, queue, type, blocking);

    if (error)
        return error;
    return tsl_device_number(e->queue->device, CL_DEVICE_SVM_CAPABILITIES) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

/* A part of a region, while a call uses it. */
struct part {
    struct tsl_buffer *region; /* with a reference; NULL: none */
    size_t offset;
};

/* CL_INVALID_VALUE: the part begins in a region and reaches past its end, or past the last address. */
static cl_int find(const struct tsl_enqueue *e, const void *pointer, size_t size, struct part *part)
{
    *part = (struct part){NULL, 0};
    if (size > UINTPTR_MAX - (uintptr_t)pointer)
        return CL_INVALID_VALUE;
    part->region = tsl_svm_find(e->queue->context, pointer, 1, &part->offset);
    if (!part->region || size <= part->region->size - part->offset)
        return CL_SUCCESS;
    tsl_object_unref(&part->region->object);
    part->region = NULL;
    return CL_INVALID_VALUE;
}

static void drop(const struct part *part)
{
    if (part->region)
        tsl_object_unref(&part->region->object);
}

/* The same, but memory of the application outside all regions becomes a region for one command. */
static cl_int find_or_borrow(const struct tsl_enqueue *e, void *pointer, size_t size, struct part *part)
{
    cl_int error = find(e, pointer, size, part);

    return error || part->region ? error : tsl_svm_borrow(e->queue->context, pointer, size, &part->region);
}

static bool overlap(const void *a, const void *b, size_t size)
{
    uintptr_t from = (uintptr_t)a, to = (uintptr_t)b;

    return (from < to ? to - from : from - to) < size;
}

static cl_int copy_to(const struct tsl_enqueue *e, void *dst, const struct part *from, const void *src, size_t size)
{
    struct part to;
    cl_int error = from->region ? find(e, dst, size, &to) : find_or_borrow(e, dst, size, &to);
    const struct tsl_box_copy box = {.region = {size, 1, 1}, .dst_offset = to.offset, .src_offset = from->offset};

    if (error)
        return error;
    if (!from->region)
        error = tsl_enqueue_write(e, to.region, src, &box);
    else if (to.region)
        error = tsl_enqueue_copy(e, from->region, to.region, &box);
    else
        error = tsl_enqueue_read(e, from->region, dst, &box);
    drop(&to);
    return error;
}

static cl_int copy(const struct tsl_enqueue *e, void *dst, const void *src, size_t size)
{
    struct part from;
    cl_int error = find(e, src, size, &from);

    if (!error)
        error = copy_to(e, dst, &from, src, size);
    drop(&from);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void *dst_ptr,
                                              const void *src_ptr, size_t size, cl_uint num_events_in_wait_list,
                                              const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    cl_int error = begin(&e, command_queue, CL_COMMAND_SVM_MEMCPY, blocking_copy);

    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error && size == 0)
        return tsl_enqueue_marker(&e, false);
    if (!error && (!dst_ptr || !src_ptr))
        error = CL_INVALID_VALUE;
    if (!error && overlap(dst_ptr, src_ptr, size))
        error = CL_MEM_COPY_OVERLAP;
    return error ? error : copy(&e, dst_ptr, src_ptr, size);
}

static cl_int check_fill(const void *pointer, const void *pattern, size_t pattern_size, size_t size)
{
    if (!pointer || !pattern || !is_power_of_two(pattern_size) || pattern_size > LARGEST_ALIGN)
        return CL_INVALID_VALUE;
    return size % pattern_size || (uintptr_t)pointer % pattern_size ? CL_INVALID_VALUE : CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMemFill(cl_command_queue command_queue, void *svm_ptr, const void *pattern,
                                               size_t pattern_size, size_t size, cl_uint num_events_in_wait_list,
                                               const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    struct part part;
    cl_int error = begin(&e, command_queue, CL_COMMAND_SVM_MEMFILL, false);

    if (!error)
        error = check_fill(svm_ptr, pattern, pattern_size, size);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    if (size == 0)
        return tsl_enqueue_marker(&e, false);
    error = find_or_borrow(&e, svm_ptr, size, &part);
    if (error)
        return error;
    error = tsl_enqueue_fill(&e, part.region, pattern, pattern_size, part.offset, size);
    drop(&part);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags,
                                           void *svm_ptr, size_t size, cl_uint num_events_in_wait_list,
                                           const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    struct part part;
    void *mapped;
    cl_int error = begin(&e, command_queue, CL_COMMAND_SVM_MAP, blocking_map);

    if (!error)
        error = !svm_ptr || !size ? CL_INVALID_VALUE : tsl_check_map_flags(flags);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    error = find(&e, svm_ptr, size, &part);
    if (error)
        return error;
    error = part.region ? tsl_enqueue_map(&e, part.region, flags, part.offset, size, &mapped) : CL_INVALID_VALUE;
    drop(&part);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMUnmap(cl_command_queue command_queue, void *svm_ptr,
                                             cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                             cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    struct part part;
    cl_int error = begin(&e, command_queue, CL_COMMAND_SVM_UNMAP, false);

    if (!error && !svm_ptr)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    find(&e, svm_ptr, 1, &part);
    error = part.region ? tsl_enqueue_unmap(&e, part.region, svm_ptr) : CL_INVALID_VALUE;
    drop(&part);
    return error;
}

/* ---- Migration -------------------------------------------------------------------------------------------------- */

/* The application's list: a size of 0 means the whole region. */
static cl_int find_all(const struct tsl_enqueue *e, cl_uint n, const void **pointers, const size_t *sizes,
                       struct tsl_buffer **regions)
{
    for (cl_uint i = 0; i < n; i++) {
        struct part part = {NULL, 0};

        if (!pointers[i] || find(e, pointers[i], sizes && sizes[i] ? sizes[i] : 1, &part) || !part.region)
            return CL_INVALID_VALUE;
        regions[i] = part.region;
    }
    return CL_SUCCESS;
}

static cl_int check_migration(cl_uint n, const void **pointers, cl_mem_migration_flags flags)
{
    if (n == 0 || !pointers)
        return CL_INVALID_VALUE;
    if (flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                                  const void **svm_pointers, const size_t *sizes,
                                                  cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                                  const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_buffer **regions = NULL;
    struct tsl_enqueue e;
    cl_int error = begin(&e, command_queue, CL_COMMAND_SVM_MIGRATE_MEM, false);

    if (!error)
        error = check_migration(num_svm_pointers, svm_pointers, flags);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    regions = calloc(num_svm_pointers, sizeof(*regions));
    error = regions ? find_all(&e, num_svm_pointers, svm_pointers, sizes, regions) : CL_OUT_OF_HOST_MEMORY;
    if (!error)
        error = tsl_enqueue_migrate(&e, num_svm_pointers, regions, flags);
    for (cl_uint i = 0; regions && i < num_svm_pointers; i++)
        if (regions[i])
            tsl_object_unref(&regions[i]->object);
    free(regions);
    return error;
}

/* ---- clEnqueueSVMFree ------------------------------------------------------------------------------------------- */

typedef void(CL_CALLBACK free_fn)(cl_command_queue, cl_uint, void *[], void *);

struct freeing {
    struct tsl_queue *queue; /* kept by its command, which is in flight */
    free_fn *fn;             /* NULL: Tesela frees */
    void *arg;
    cl_uint n;
    void *pointers[];
};

static void CL_CALLBACK run_free(void *arg)
{
    struct freeing *f = arg;

    if (f->fn)
        f->fn((cl_command_queue)f->queue, f->n, f->pointers, f->arg);
    for (cl_uint i = 0; !f->fn && i < f->n; i++)
        if (f->pointers[i])
            tsl_svm_free(f->queue->context, f->pointers[i]);
}

/* Runs after all commands that use the regions, in any queue. Pointers outside all regions are left to the function. */
static cl_int enqueue_free(const struct tsl_enqueue *e, struct freeing *f)
{
    struct tsl_buffer **regions = malloc((f->n + 1) * sizeof(*regions));
    void ***slots = malloc((f->n + 1) * sizeof(*slots));
    struct tsl_enqueue own = *e;
    cl_int error = CL_OUT_OF_HOST_MEMORY;
    cl_uint n = 0;

    for (cl_uint i = 0; regions && slots && i < f->n; i++) {
        size_t offset;

        regions[n] = f->pointers[i] ? tsl_svm_find(e->queue->context, f->pointers[i], 1, &offset) : NULL;
        slots[n] = &f->pointers[i];
        if (regions[n] && offset == 0)
            n++;
        else if (regions[n])
            tsl_object_unref(&regions[n]->object);
    }
    own.own_task = !f->fn;
    if (regions && slots)
        error = tsl_enqueue_native(&own, run_free, f, n, regions, slots);
    else
        free(f);
    while (n > 0)
        tsl_object_unref(&regions[--n]->object);
    free(regions);
    free(slots);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                            void *svm_pointers[],
                                            void(CL_CALLBACK *pfn_free_func)(cl_command_queue queue,
                                                                             cl_uint num_svm_pointers,
                                                                             void *svm_pointers[], void *user_data),
                                            void *user_data, cl_uint num_events_in_wait_list,
                                            const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct freeing *f;
    struct tsl_enqueue e;
    cl_int error = begin(&e, command_queue, CL_COMMAND_SVM_FREE, false);

    if (!error && (num_svm_pointers == 0) != (svm_pointers == NULL))
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    f = malloc(sizeof(*f) + num_svm_pointers * sizeof(*f->pointers));
    if (!f)
        return CL_OUT_OF_HOST_MEMORY;
    *f = (struct freeing){.queue = e.queue, .fn = pfn_free_func, .arg = user_data, .n = num_svm_pointers};
    if (f->n)
        memcpy(f->pointers, svm_pointers, f->n * sizeof(*f->pointers));
    return enqueue_free(&e, f);
}

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

static bool context_has_svm(const struct tsl_kernel *kernel)
{
    const struct tsl_context *context = kernel->program->context;

    return tsl_shared_memory_capabilities(context->members, context->n_members);
}

cl_int CL_API_CALL tsl_api_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void *arg_value)
{
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    if (!it)
        return CL_INVALID_KERNEL;
    return context_has_svm(it) ? tsl_kernel_set_svm(it, arg_index, arg_value) : CL_INVALID_OPERATION;
}

/* System memory isn't shared: the only valid value is CL_FALSE. */
static cl_int set_system(size_t size, const void *value)
{
    cl_bool wanted;

    if (!value || size != sizeof(wanted))
        return CL_INVALID_VALUE;
    memcpy(&wanted, value, sizeof(wanted));
    return wanted ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static cl_int set_pointers(struct tsl_kernel *kernel, size_t size, const void *value)
{
    /* An empty list replaces the one before. */
    if (size % sizeof(void *) || (size == 0) != (value == NULL))
        return CL_INVALID_VALUE;
    return tsl_kernel_set_svm_list(kernel, size / sizeof(void *), value);
}

cl_int CL_API_CALL tsl_api_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name,
                                               size_t param_value_size, const void *param_value)
{
    struct tsl_kernel *it = tsl_kernel_from(kernel);

    if (!it)
        return CL_INVALID_KERNEL;
    if (!context_has_svm(it))
        return CL_INVALID_OPERATION;
    switch (param_name) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
        return set_pointers(it, param_value_size, param_value);
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        return set_system(param_value_size, param_value);
    default:
        return CL_INVALID_VALUE;
    }
}
