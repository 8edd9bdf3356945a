/*
 * Which members can take a launch.
 */
#include "program/launch.h"
#include "device/device.h"
#include "object/context.h"
#include "object/image.h"
#include "object/svm.h"
#include "program/kernel_info.h"

#include <string.h>

static const struct tsl_kernel_facts *facts_of(const struct tsl_kernel *kernel, unsigned i)
{
    return &kernel->parts[i].facts;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static cl_int check_required(const struct tsl_kernel_facts *facts, const struct tsl_window *window)
{
    if (!facts->reqd_size[0])
        return CL_SUCCESS;
    for (unsigned d = 0; d < 3; d++)
        if (window->local_size[d] != facts->reqd_size[d])
            return CL_INVALID_WORK_GROUP_SIZE;
    return CL_SUCCESS;
}

/* A launch of fewer dimensions has groups of 1 in the others: a required size may say otherwise. */
static bool has_its_dimensions(const struct tsl_window *window)
{
    for (unsigned d = window->work_dim; d < 3; d++)
        if (window->local_size[d] != 1)
            return false;
    return true;
}

/* Checks the work-group size against one member. A window without one suits every member. */
static cl_int check_sizes(const struct tsl_kernel_part *part, const struct tsl_window *window)
{
    size_t group_size = 1;

    if (!window->local_size[0])
        return CL_SUCCESS;
    if (!has_its_dimensions(window))
        return CL_INVALID_WORK_GROUP_SIZE;
    for (unsigned d = 0; d < window->work_dim; d++) {
        if (window->local_size[d] > part->limits.max_items[d])
            return CL_INVALID_WORK_ITEM_SIZE;
        if (window->global_size[d] % window->local_size[d] && !part->limits.non_uniform)
            return CL_INVALID_WORK_GROUP_SIZE;
        if (__builtin_mul_overflow(group_size, window->local_size[d], &group_size))
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (part->facts.work_group_size && group_size > part->facts.work_group_size)
        return CL_INVALID_WORK_GROUP_SIZE;
    return check_required(&part->facts, window);
}

/* A required size is the size of launches that give none. */
static void fill_required(const struct tsl_kernel *kernel, struct tsl_window *window)
{
    if (window->local_size[0])
        return;
    for (unsigned i = 0; tsl_members_reach(kernel->eligible, i); i++)
        if (tsl_members_has(kernel->eligible, i) && facts_of(kernel, i)->reqd_size[0]) {
            memcpy(window->local_size, facts_of(kernel, i)->reqd_size, sizeof(window->local_size));
            return;
        }
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* If the argument is shared virtual memory or a buffer of such: the members that know the region's addresses; else
 * none. */
static tsl_members members_knowing(const struct tsl_arg *arg)
{
    const struct tsl_svm *svm = arg->buffer ? tsl_svm_of(arg->buffer) : NULL;

    return svm ? svm->members : TSL_MEMBERS_NONE;
}

/* Vendors accept a sub-buffer as an argument only if it begins at a multiple of their alignment. Members that know the
 * addresses of shared virtual memory get its sub-buffers by address. */
static cl_int check_alignment(const struct tsl_args *args, tsl_members members, size_t align)
{
    if (align <= 1)
        return CL_SUCCESS;
    for (cl_uint i = 0; i < args->n_all; i++)
        if (args->args[i].buffer && !args->args[i].buffer->image && args->args[i].buffer->offset % align &&
            !tsl_members_meet(members_knowing(&args->args[i]), members))
            return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    return CL_SUCCESS;
}

/* Addresses need a member that knows them. An image of shared virtual memory needs a member that takes the memory as a
 * buffer's storage, or that has a copy of its own. */
static cl_int check_svm(const struct tsl_args *args, unsigned member)
{
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_arg *arg = &args->args[i];
        bool knows = tsl_members_has(members_knowing(arg), member);

        if (arg->kind == TSL_ARG_SVM && arg->buffer && !knows)
            return CL_INVALID_OPERATION;
        if (knows && arg->buffer->image && !tsl_members_has(tsl_svm_of(arg->buffer)->as_mem, member))
            return CL_INVALID_OPERATION;
    }
    return CL_SUCCESS;
}

/* A buffer of shared virtual memory may contain addresses: if one of the members knows them, the others are left
 * out. */
static tsl_members prefer_members_knowing(const struct tsl_args *args, tsl_members members)
{
    for (cl_uint i = 0; i < args->n_all; i++)
        if (tsl_members_meet(members_knowing(&args->args[i]), members))
            members = tsl_members_common(members_knowing(&args->args[i]), members);
    return members;
}

static cl_int check_images(const struct tsl_kernel_facts *facts, const struct tsl_args *args, unsigned member)
{
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_image *image = args->args[i].buffer ? args->args[i].buffer->image : NULL;
        bool both = i < facts->n_args && facts->args[i].access == CL_KERNEL_ARG_ACCESS_READ_WRITE;

        if (image && !tsl_members_has(both ? image->read_write_members : image->members, member))
            return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    }
    return CL_SUCCESS;
}

/* Is no argument an image, shared virtual memory, or a part of another object? Then any member takes them, which most
 * launches learn by one look at each. */
static bool are_plain(const struct tsl_args *args)
{
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_buffer *buffer = args->args[i].buffer;

        if (buffer && (buffer->parent || buffer->offset || buffer->image || buffer->svm))
            return false;
    }
    return true;
}

/* Arguments that aren't plain. */
static cl_int check_arguments(const struct tsl_kernel *kernel, unsigned i, const struct tsl_args *args)
{
    cl_int error = check_images(facts_of(kernel, i), args, i);

    if (!error)
        error = check_svm(args, i);
    return error ? error
                 : check_alignment(args, tsl_members_of(i), kernel->program->context->members[i]->caps.base_align);
}

static cl_int check_member(const struct tsl_kernel *kernel, unsigned i, const struct tsl_window *window,
                           const struct tsl_args *args, size_t local_mem_size, bool plain)
{
    const struct tsl_kernel_part *part = &kernel->parts[i];
    cl_int error = check_sizes(part, window);

    if (error != CL_SUCCESS)
        return error;
    if (part->facts.local_mem_size + local_mem_size > part->limits.local_mem_size)
        return CL_OUT_OF_RESOURCES;
    return plain ? CL_SUCCESS : check_arguments(kernel, i, args);
}

cl_int tsl_launch_check(struct tsl_kernel *kernel, struct tsl_window *window, tsl_members *members)
{
    tsl_members left = tsl_members_common(*members, kernel->eligible);
    cl_int result = !tsl_members_is_empty(left) ? CL_SUCCESS : CL_INVALID_PROGRAM_EXECUTABLE;
    struct tsl_args *args;
    size_t local_mem_size;
    bool plain;
    cl_int error = tsl_kernel_args(kernel, &args);

    if (error != CL_SUCCESS)
        return error;
    fill_required(kernel, window);
    local_mem_size = tsl_args_local_size(args);
    plain = are_plain(args);
    for (unsigned i = 0; tsl_members_reach(left, i); i++) {
        if (!tsl_members_has(left, i))
            continue;
        error = check_member(kernel, i, window, args, local_mem_size, plain);
        if (error == CL_SUCCESS)
            continue;
        tsl_members_remove(&left, i);
        result = result == CL_SUCCESS ? error : result;
    }
    if (!plain)
        left = prefer_members_knowing(args, left);
    tsl_args_let_go(args);
    *members = left;
    return tsl_members_is_empty(left) ? result : CL_SUCCESS;
}

cl_int tsl_launch_check_offsets(struct tsl_kernel *kernel, size_t align)
{
    struct tsl_args *args;
    cl_int error = tsl_kernel_args(kernel, &args);

    if (error != CL_SUCCESS)
        return error;
    error = check_alignment(args, TSL_MEMBERS_ALL, align);
    tsl_args_let_go(args);
    return error;
}

/* ---- Suggestion -------------------------------------------------------------------------------------------------- */

/* The largest divisor of size up to limit; a multiple of `multiple` if possible. */
static size_t best_divisor(size_t size, size_t limit, size_t multiple)
{
    size_t best = 1;

    for (size_t divisor = limit < size ? limit : size; divisor > 0; divisor--) {
        if (size % divisor)
            continue;
        if (divisor % multiple == 0)
            return divisor;
        if (best == 1)
            best = divisor;
    }
    return best;
}

/* Can groups have this size in a launch of this window on each of these members? */
static bool suits_all(const struct tsl_kernel *kernel, tsl_members members, const struct tsl_window *window,
                      const size_t *size, size_t limit)
{
    if (size[0] * size[1] * size[2] > limit)
        return false;
    for (unsigned d = 0; d < 3; d++) {
        if ((d < window->work_dim ? window->global_size[d] : 1) % size[d])
            return false;
        for (unsigned i = 0; tsl_members_reach(members, i); i++)
            if (tsl_members_has(members, i) && kernel->parts[i].limits.max_items[d] < size[d])
                return false;
    }
    return true;
}

/* The size that all members with a recommendation recommend; NULL: none does, or they differ. *most becomes the least
 * number of work-items that a member recommends, if that is less. */
static const size_t *recommended_size(const struct tsl_kernel *kernel, tsl_members members, size_t *most)
{
    const size_t *common = NULL;
    bool agreed = true;

    for (unsigned i = 0; tsl_members_reach(members, i); i++) {
        const size_t *size = facts_of(kernel, i)->recommended_size;

        if (!tsl_members_has(members, i) || !size[0])
            continue;
        agreed &= !common || memcmp(common, size, 3 * sizeof(*size)) == 0;
        common = size;
        if (size[0] * size[1] * size[2] < *most)
            *most = size[0] * size[1] * size[2];
    }
    return agreed ? common : NULL;
}

/* A GPU's groups, as the CUDA bridge chooses them. In larger ones all room is held until the last work-item is done: a
 * copy of floats takes a fifth longer in groups of 1024 on an H200. */
#define GPU_GROUP 256
#define GPU_ROW   32 /* ... where there is a second dimension */

static bool any_gpu(const struct tsl_kernel *kernel, tsl_members members)
{
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && kernel->parts[i].limits.gpu)
            return true;
    return false;
}

/* The most work-items that a group has in a dimension, of as many as are left for it. */
static size_t most_in(const struct tsl_window *window, unsigned d, size_t left, bool gpu)
{
    size_t most = left ? left : 1;

    if (gpu && d == 0 && window->work_dim > 1 && window->global_size[1] > 1 && most > GPU_ROW)
        most = GPU_ROW;
    return most;
}

static void choose(const struct tsl_kernel *kernel, tsl_members members, size_t limit, struct tsl_window *window)
{
    size_t multiple = tsl_kernel_preferred_multiple(kernel, members), most = limit;
    const size_t *recommended = recommended_size(kernel, tsl_members_common(members, kernel->eligible), &limit);
    bool gpu = any_gpu(kernel, members);

    if (recommended && suits_all(kernel, tsl_members_common(members, kernel->eligible), window, recommended, most)) {
        memcpy(window->local_size, recommended, sizeof(window->local_size));
        return;
    }
    if (gpu && (!limit || limit > GPU_GROUP))
        limit = GPU_GROUP;
    for (unsigned d = 0; d < 3; d++) {
        most = most_in(window, d, limit, gpu);
        for (unsigned i = 0; tsl_members_reach(members, i); i++)
            if (tsl_members_has(members, i) && kernel->parts[i].limits.max_items[d] < most)
                most = kernel->parts[i].limits.max_items[d];
        window->local_size[d] = d < window->work_dim ? best_divisor(window->global_size[d], most, multiple) : 1;
        limit /= window->local_size[d];
        multiple = 1;
    }
}

void tsl_launch_keep_suggestion(const struct tsl_kernel *kernel, struct tsl_device *device, tsl_members members,
                                struct tsl_window *window)
{
    if (!window->local_size[0] && atomic_load_explicit(&kernel->suggested, memory_order_relaxed))
        choose(kernel, members, tsl_kernel_work_group_size(kernel, device), window);
}

void tsl_launch_choose(const struct tsl_kernel *kernel, struct tsl_device *device, tsl_members members,
                       struct tsl_window *window)
{
    if (!window->local_size[0])
        choose(kernel, members, tsl_kernel_work_group_size(kernel, device), window);
}

void tsl_launch_choose_small(const struct tsl_kernel *kernel, struct tsl_device *device, tsl_members members,
                             uint64_t n_groups, struct tsl_window *window)
{
    size_t limit = tsl_kernel_work_group_size(kernel, device);
    uint64_t most = tsl_window_items(window) / n_groups;

    if (!window->local_size[0])
        choose(kernel, members, limit && most >= limit ? limit : most ? (size_t)most : 1, window);
}

/* May the driver choose larger groups on this member? Not if the member recommends a size, as the source may hint at
 * one. */
static bool may_exceed(const struct tsl_kernel_facts *facts, size_t limit)
{
    const size_t *own = facts->recommended_size;

    return limit && (own[0] ? own[0] * own[1] * own[2] : tsl_told_group_size(facts)) > limit;
}

void tsl_launch_limit(const struct tsl_kernel *kernel, struct tsl_device *device, unsigned member,
                      struct tsl_window *window)
{
    size_t limit = tsl_kernel_work_group_size(kernel, device);

    if (kernel->parts[member].limits.unpromised || may_exceed(facts_of(kernel, member), limit))
        choose(kernel, tsl_members_of(member), limit, window);
}
