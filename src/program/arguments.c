/*
 * Kernel arguments: checked when they are set, immutable once a launch has taken them.
 *
 * One allocation holds the arguments and a small slot for each one's value; larger values have heap of their own. While
 * only the kernel holds them they are changed in place, else copied first. They get their serial when a launch takes
 * them, so setting ten arguments costs no atomic operation.
 */
#include "program/arguments.h"
#include "base/fork.h"
#include "object/image.h"
#include "object/sampler.h"
#include "object/svm.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a value that is kept beside the arguments: scalars, pointers, vectors of four floats, samplers. */
#define SLOT_SIZE 16

static atomic_uint_fast64_t last_serial;

/* The arguments of clSetKernelArg after their check. */
struct setting {
    enum tsl_arg_kind kind;
    size_t size;
    const void *value;
    struct tsl_buffer *buffer;
    struct tsl_sampler_desc sampler; /* where value points for SAMPLER */
};

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void *slot_of(struct tsl_args *args, cl_uint index)
{
    return (char *)&args->args[args->n_all] + (size_t)index * SLOT_SIZE;
}

static struct tsl_args *create(cl_uint n, cl_uint n_all)
{
    struct tsl_args *args = calloc(1, sizeof(*args) + n_all * (sizeof(args->args[0]) + SLOT_SIZE));

    if (!args)
        return NULL;
    atomic_init(&args->refs, 1);
    args->n = args->n_unset = n;
    args->n_all = n_all;
    return args;
}

struct tsl_args *tsl_args_create(cl_uint n)
{
    return create(n, n);
}

/* Frees or releases what one argument holds. */
static void free_value(struct tsl_args *args, cl_uint index)
{
    if (args->args[index].value != slot_of(args, index))
        free(args->args[index].value);
    args->args[index].value = NULL;
}

/* Gives an argument a copy of size bytes; false, with nothing changed, if out of memory. */
static bool keep_value(struct tsl_args *args, cl_uint index, const void *value, size_t size)
{
    void *place = size <= SLOT_SIZE ? slot_of(args, index) : malloc(size);

    if (!place)
        return false;
    if (args->args[index].value != place)
        free_value(args, index);
    memcpy(place, value, size);
    args->args[index].value = place;
    return true;
}

void tsl_args_unref(struct tsl_args *args)
{
    /* Release orders this holder's uses before the free, acquire orders the other holders' before ours. */
    if (!args || atomic_fetch_sub_explicit(&args->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (cl_uint i = 0; i < args->n_all; i++)
        free_value(args, i);
    free(args);
}

/* New arguments with one reference. The first `same` are copied; the others, behind the kernel's, are unset. NULL
 * without memory. */
static struct tsl_args *copy_some(const struct tsl_args *from, cl_uint same, cl_uint n_all)
{
    struct tsl_args *args = create(from->n, n_all);

    if (!args)
        return NULL;
    args->n_unset = from->n_unset;
    for (cl_uint i = 0; i < same; i++) {
        args->args[i].kind = from->args[i].kind;
        args->args[i].size = from->args[i].size;
        if (from->args[i].value && !keep_value(args, i, from->args[i].value, from->args[i].size))
            goto failed;
        args->args[i].buffer = from->args[i].buffer;
        args->args[i].buffer_id = from->args[i].buffer_id;
    }
    return args;
failed:
    tsl_args_unref(args);
    return NULL;
}

static struct tsl_args *copy_of(const struct tsl_args *from)
{
    return copy_some(from, from->n_all, from->n_all);
}

struct tsl_args *tsl_args_with(const struct tsl_args *from, tsl_other_buffer_fn *other, void *arg)
{
    struct tsl_args *args = copy_of(from);

    for (cl_uint i = 0; args && i < args->n_all; i++)
        if (args->args[i].buffer)
            args->args[i].buffer = other(arg, args->args[i].buffer);
    if (args)
        args->serial = tsl_args_new_serial();
    return args;
}

/* ---- Understanding clSetKernelArg ------------------------------------------------------------------------------- */

/* The handle in a value, whatever its alignment. */
static void *handle_in(const void *value)
{
    void *handle;

    memcpy(&handle, value, sizeof(handle));
    return handle;
}

static cl_int read_buffer(const struct tsl_kernel *kernel, size_t size, const void *value, struct setting *setting)
{
    struct tsl_buffer *buffer = NULL;

    if (size != sizeof(cl_mem))
        return CL_INVALID_ARG_SIZE;
    if (value)
        buffer = handle_in(value);
    if (buffer && !tsl_object_is(buffer, TSL_BUFFER))
        return CL_INVALID_MEM_OBJECT;
    if (buffer && buffer->context != kernel->program->context)
        return CL_INVALID_CONTEXT;
    *setting = (struct setting){.kind = TSL_ARG_MEM, .size = size, .buffer = buffer};
    return CL_SUCCESS;
}

static cl_int read_image(const struct tsl_kernel *kernel, const struct tsl_arg_fact *fact, size_t size,
                         const void *value, struct setting *setting)
{
    cl_int error = read_buffer(kernel, size, value, setting);

    if (error != CL_SUCCESS)
        return error;
    if (!setting->buffer || !setting->buffer->image)
        return CL_INVALID_MEM_OBJECT;
    if (!tsl_image_fits_type(&setting->buffer->image->desc, fact->type_name))
        return CL_INVALID_ARG_VALUE;
    if ((fact->access == CL_KERNEL_ARG_ACCESS_READ_ONLY && setting->buffer->flags & CL_MEM_WRITE_ONLY) ||
        (fact->access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY && setting->buffer->flags & CL_MEM_READ_ONLY))
        return CL_INVALID_ARG_VALUE;
    return CL_SUCCESS;
}

static cl_int read_global(const struct tsl_kernel *kernel, size_t size, const void *value, struct setting *setting)
{
    cl_int error = read_buffer(kernel, size, value, setting);

    if (error == CL_SUCCESS && setting->buffer && setting->buffer->image)
        return CL_INVALID_MEM_OBJECT;
    return error;
}

static cl_int read_sampler(const struct tsl_kernel *kernel, size_t size, const void *value, struct setting *setting)
{
    struct tsl_sampler *sampler = value ? handle_in(value) : NULL;

    if (size != sizeof(cl_sampler))
        return CL_INVALID_ARG_SIZE;
    if (!tsl_object_is(sampler, TSL_SAMPLER))
        return CL_INVALID_SAMPLER;
    if (sampler->context != kernel->program->context)
        return CL_INVALID_CONTEXT;
    *setting = (struct setting){.kind = TSL_ARG_SAMPLER, .size = sizeof(sampler->desc), .sampler = sampler->desc};
    return CL_SUCCESS;
}

static cl_int read_local(size_t size, const void *value, struct setting *setting)
{
    if (value)
        return CL_INVALID_ARG_VALUE;
    if (size == 0)
        return CL_INVALID_ARG_SIZE;
    *setting = (struct setting){.kind = TSL_ARG_LOCAL, .size = size};
    return CL_SUCCESS;
}

/* Where the type's size isn't known (structures), the members' limit on parameters still holds. */
static cl_int read_value(const struct tsl_kernel *kernel, const struct tsl_arg_fact *fact, size_t size,
                         const void *value, struct setting *setting)
{
    if (!value)
        return CL_INVALID_ARG_VALUE;
    if (size == 0 || size > kernel->parameter_size || (fact->size && size != fact->size))
        return CL_INVALID_ARG_SIZE;
    *setting = (struct setting){.kind = TSL_ARG_VALUE, .size = size, .value = value};
    return CL_SUCCESS;
}

/* The argument's type is unknown, so the value tells it. NULL with the size of a handle may mean a null pointer or as
 * many bytes of local memory; vendors are told both in the same way. */
static cl_int read_unknown(const struct tsl_kernel *kernel, const struct tsl_arg_fact *fact, size_t size,
                           const void *value, struct setting *setting)
{
    if (!value)
        return read_local(size, value, setting);
    if (size == sizeof(cl_mem) && tsl_object_is_address(handle_in(value), TSL_BUFFER))
        return read_buffer(kernel, size, value, setting);
    if (size == sizeof(cl_sampler) && tsl_object_is_address(handle_in(value), TSL_SAMPLER))
        return read_sampler(kernel, size, value, setting);
    return read_value(kernel, fact, size, value, setting);
}

static cl_int read_setting(const struct tsl_kernel *kernel, const struct tsl_arg_fact *fact, size_t size,
                           const void *value, struct setting *setting)
{
    switch (fact->kind) {
    case TSL_FACT_VALUE:
        return read_value(kernel, fact, size, value, setting);
    case TSL_FACT_GLOBAL:
    case TSL_FACT_CONSTANT:
        return read_global(kernel, size, value, setting);
    case TSL_FACT_LOCAL:
        return read_local(size, value, setting);
    case TSL_FACT_IMAGE:
    case TSL_FACT_PIPE:
        return read_image(kernel, fact, size, value, setting);
    case TSL_FACT_SAMPLER:
        return read_sampler(kernel, size, value, setting);
    case TSL_FACT_UNKNOWN:
        break;
    }
    return read_unknown(kernel, fact, size, value, setting);
}

/* ---- Setting ----------------------------------------------------------------------------------------------------- */

static bool is_same(const struct tsl_arg *arg, const struct setting *setting)
{
    if (arg->kind != setting->kind || arg->size != setting->size || arg->buffer != setting->buffer)
        return false;
    if (setting->buffer && arg->buffer_id != setting->buffer->id)
        return false;
    return !setting->value || memcmp(arg->value, setting->value, arg->size) == 0;
}

static bool put_setting(struct tsl_args *args, cl_uint index, const struct setting *setting)
{
    struct tsl_arg *arg = &args->args[index];

    if (setting->value && !keep_value(args, index, setting->value, setting->size))
        return false;
    if (!setting->value)
        free_value(args, index);
    if (arg->kind == TSL_ARG_UNSET)
        args->n_unset--;
    arg->kind = setting->kind;
    arg->size = setting->size;
    arg->buffer = setting->buffer;
    arg->buffer_id = setting->buffer ? setting->buffer->id : 0;
    args->serial = 0;
    return true;
}

/* The caller unrefs *old_args without the lock. */
static cl_int set_locked(struct tsl_kernel *kernel, cl_uint index, const struct setting *setting,
                         struct tsl_args **old_args) TSL_REQUIRES(kernel->lock)
{
    struct tsl_args *args = kernel->args;

    if (is_same(&args->args[index], setting))
        return CL_SUCCESS;
    /* Acquire: once the last launch has released the arguments, its reads are over before we write. New references are
     * only taken under our lock. */
    if (atomic_load_explicit(&args->refs, memory_order_acquire) > 1) {
        struct tsl_args *copy = copy_of(args);

        if (!copy)
            return CL_OUT_OF_HOST_MEMORY;
        *old_args = args;
        args = kernel->args = copy;
    }
    return put_setting(args, index, setting) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int tsl_kernel_set_arg(struct tsl_kernel *kernel, cl_uint index, size_t size, const void *value)
{
    struct setting setting;
    struct tsl_args *old_args = NULL;
    cl_int error;

    if (index >= kernel->facts->n_args)
        return CL_INVALID_ARG_INDEX;
    error = read_setting(kernel, &kernel->facts->args[index], size, value, &setting);
    if (error != CL_SUCCESS)
        return error;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES; /* A thread of the parent process may have held the lock. */
    if (setting.kind == TSL_ARG_SAMPLER)
        setting.value = &setting.sampler;
    tsl_spin_take(&kernel->lock);
    error = set_locked(kernel, index, &setting, &old_args);
    tsl_spin_give(&kernel->lock);
    tsl_args_unref(old_args);
    return error;
}

/* ---- Shared virtual memory --------------------------------------------------------------------------------------- */

/* The region that contains the pointer; the caller drops its reference. It is looked up now: when the memory is another
 * region's later, the pointer would mean something else. */
static cl_int read_pointer(const struct tsl_kernel *kernel, const void *pointer, struct tsl_buffer **region)
{
    *region = pointer ? tsl_svm_find(kernel->program->context, pointer, 1, NULL) : NULL;
    return pointer && !*region ? CL_INVALID_VALUE : CL_SUCCESS;
}

static bool takes_pointer(const struct tsl_arg_fact *fact)
{
    return fact->kind == TSL_FACT_GLOBAL || fact->kind == TSL_FACT_CONSTANT || fact->kind == TSL_FACT_UNKNOWN;
}

cl_int tsl_kernel_set_svm(struct tsl_kernel *kernel, cl_uint index, const void *pointer)
{
    struct setting setting = {.kind = TSL_ARG_SVM, .size = sizeof(pointer), .value = &pointer};
    struct tsl_args *old_args = NULL;
    cl_int error;

    if (index >= kernel->facts->n_args)
        return CL_INVALID_ARG_INDEX;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    if (!takes_pointer(&kernel->facts->args[index]) || read_pointer(kernel, pointer, &setting.buffer))
        return CL_INVALID_ARG_VALUE;
    tsl_spin_take(&kernel->lock);
    error = set_locked(kernel, index, &setting, &old_args);
    tsl_spin_give(&kernel->lock);
    tsl_args_unref(old_args);
    if (setting.buffer)
        tsl_object_unref(&setting.buffer->object);
    return error;
}

/* Puts the list, without repetitions, in the place of the one before. */
static cl_int put_list_locked(struct tsl_kernel *kernel, cl_uint n, struct tsl_buffer *const *regions,
                              struct tsl_args **old_args) TSL_REQUIRES(kernel->lock)
{
    struct tsl_args *args = copy_some(kernel->args, kernel->args->n, kernel->args->n + n);

    if (!args)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < n; i++) {
        args->args[args->n + i].kind = TSL_ARG_SVM;
        args->args[args->n + i].buffer = regions[i];
        args->args[args->n + i].buffer_id = regions[i]->id;
    }
    *old_args = kernel->args;
    kernel->args = args;
    return CL_SUCCESS;
}

static int compare(const void *a, const void *b)
{
    const struct tsl_buffer *const *x = a, *const *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Moves repeated regions to the end; returns the number of different ones. */
static cl_uint put_first(struct tsl_buffer **regions, size_t n)
{
    cl_uint n_first = 0;

    qsort(regions, n, sizeof(struct tsl_buffer *), compare);
    for (size_t i = 0; i < n; i++) {
        struct tsl_buffer *region = regions[i];

        if (n_first && regions[n_first - 1] == region)
            continue;
        regions[i] = regions[n_first];
        regions[n_first++] = region;
    }
    return n_first;
}

static void drop_regions(struct tsl_buffer **regions, size_t n)
{
    while (n-- > 0)
        tsl_object_unref(&regions[n]->object);
    free(regions);
}

cl_int tsl_kernel_set_svm_list(struct tsl_kernel *kernel, size_t n, const void *const *pointers)
{
    struct tsl_buffer **regions = n < UINT32_MAX - kernel->facts->n_args ? calloc(n + 1, sizeof(*regions)) : NULL;
    struct tsl_args *old_args = NULL;
    cl_int error = regions ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    size_t found = 0;

    if (!error && tsl_forked())
        error = CL_OUT_OF_RESOURCES;
    while (!error && found < n) {
        error = pointers[found] ? read_pointer(kernel, pointers[found], &regions[found]) : CL_INVALID_VALUE;
        found += !error;
    }
    if (!error) {
        cl_uint n_first = put_first(regions, n);

        tsl_spin_take(&kernel->lock);
        error = put_list_locked(kernel, n_first, regions, &old_args);
        tsl_spin_give(&kernel->lock);
    }
    tsl_args_unref(old_args);
    drop_regions(regions, found);
    return error;
}

uint64_t tsl_args_new_serial(void)
{
    return atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed) + 1;
}

/* ---- Taking ------------------------------------------------------------------------------------------------------ */

struct tsl_args *tsl_args_share(struct tsl_kernel *kernel)
{
    struct tsl_args *args;

    tsl_spin_take(&kernel->lock);
    args = kernel->args;
    if (!args->serial)
        args->serial = tsl_args_new_serial();
    /* Relaxed: we hold the kernel's reference while we take ours. */
    atomic_fetch_add_explicit(&args->refs, 1, memory_order_relaxed);
    tsl_spin_give(&kernel->lock);
    return args;
}

static void drop_buffers(struct tsl_args *args, cl_uint n)
{
    for (cl_uint i = 0; i < n; i++)
        if (args->args[i].buffer)
            tsl_object_unref(&args->args[i].buffer->object);
}

/* Takes a reference if the argument's buffer still exists. The reference comes before the look at the id, as the memory
 * of a handle that was just released may become another buffer at any time: *other is that buffer, to be unreferenced
 * without a lock. */
static bool keep_buffer(const struct tsl_arg *arg, struct tsl_buffer **other)
{
    *other = NULL;
    if (!tsl_object_is(arg->buffer, TSL_BUFFER) || !tsl_object_try_ref(&arg->buffer->object))
        return false;
    if (arg->buffer->id == arg->buffer_id)
        return true;
    *other = arg->buffer;
    return false;
}

/* Takes the references for all launches. False: the buffer of argument *kept is gone; the references of the arguments
 * before it, and *other, are to be dropped without the lock. */
static bool keep_buffers_locked(struct tsl_args *args, cl_uint *kept, struct tsl_buffer **other)
    TSL_REQUIRES(args->lock)
{
    for (; args->n_held == 0 && *kept < args->n_all; ++*kept)
        if (args->args[*kept].buffer && !keep_buffer(&args->args[*kept], other))
            return false;
    args->n_held++;
    return true;
}

enum held { HELD, ARGUMENT_GONE, LISTED_GONE };

/* The first of the launches in flight takes references for all of them; the next ones wait until it has. */
static enum held hold(struct tsl_args *args)
{
    struct tsl_buffer *other = NULL;
    cl_uint kept = 0;
    bool held;

    tsl_spin_take(&args->lock);
    held = keep_buffers_locked(args, &kept, &other);
    tsl_spin_give(&args->lock);
    if (held)
        return HELD;
    drop_buffers(args, kept);
    if (other)
        tsl_object_unref(&other->object);
    return kept < args->n ? ARGUMENT_GONE : LISTED_GONE;
}

void tsl_args_hold(struct tsl_args *args)
{
    tsl_spin_take(&args->lock);
    args->n_held++;
    tsl_spin_give(&args->lock);
    /* Relaxed: the caller has a reference. */
    atomic_fetch_add_explicit(&args->refs, 1, memory_order_relaxed);
}

void tsl_args_let_go(struct tsl_args *args)
{
    bool last;

    if (!args)
        return;
    tsl_spin_take(&args->lock);
    last = --args->n_held == 0;
    tsl_spin_give(&args->lock);
    /* A launch that takes the arguments from now on takes new references. */
    if (last)
        drop_buffers(args, args->n_all);
    tsl_args_unref(args);
}

/* Drops freed regions from the list of those that no argument leads to: OpenCL doesn't ask applications to remove them
 * from it first. Does nothing if the kernel has got other arguments meanwhile. */
static cl_int forget_freed(struct tsl_kernel *kernel, const struct tsl_args *args)
{
    struct tsl_buffer **regions = malloc((args->n_all - args->n) * sizeof(*regions)), *other;
    struct tsl_args *old_args = NULL;
    cl_int error = CL_SUCCESS;
    cl_uint n = 0;

    if (!regions)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = args->n; i < args->n_all; i++) {
        if (keep_buffer(&args->args[i], &other))
            regions[n++] = args->args[i].buffer;
        else if (other)
            tsl_object_unref(&other->object);
    }
    tsl_spin_take(&kernel->lock);
    if (kernel->args == args)
        error = put_list_locked(kernel, n, regions, &old_args);
    tsl_spin_give(&kernel->lock);
    tsl_args_unref(old_args);
    drop_regions(regions, n);
    return error;
}

cl_int tsl_kernel_args(struct tsl_kernel *kernel, struct tsl_args **args)
{
    for (;;) {
        struct tsl_args *taken = tsl_args_share(kernel);
        enum held held = taken->n_unset ? ARGUMENT_GONE : hold(taken);
        cl_int error = CL_SUCCESS;

        if (held == HELD) {
            *args = taken;
            return CL_SUCCESS;
        }
        if (held == LISTED_GONE)
            error = forget_freed(kernel, taken);
        tsl_args_unref(taken);
        if (held == ARGUMENT_GONE || error)
            return error ? error : CL_INVALID_KERNEL_ARGS;
    }
}

size_t tsl_args_local_size(const struct tsl_args *args)
{
    size_t size = 0;

    for (cl_uint i = 0; i < args->n; i++)
        if (args->args[i].kind == TSL_ARG_LOCAL)
            size += args->args[i].size;
    return size;
}
