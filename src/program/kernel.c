/*
 * Kernels: one handle, and behind it a kernel on each member that can run it.
 */
#include "base/bytes.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/settings.h"
#include "facts/il.h"
#include "footprint/cache.h"
#include "footprint/joint.h"
#include "members/ready.h"
#include "program/arguments.h"
#include "program/idle.h"
#include "program/variants.h"

#include <stdlib.h>
#include <string.h>

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void clear_part(struct tsl_kernel_part *part, struct tsl_member *member)
{
    /* In a forked child no driver is called. */
    tsl_variants_detach(part, member, !tsl_forked());
    if (part->kernel && !tsl_forked())
        member->driver->kernel_free(part->kernel);
    tsl_footprint_cache_destroy(part->footprints);
    tsl_kernel_facts_finish(&part->facts);
    part->footprints = NULL;
    part->kernel = NULL;
}

/* Programs with kernels can't be built again. False: no executable is built. */
static bool attach(struct tsl_program *program)
{
    bool built;

    tsl_lock_take(&program->lock);
    built = tsl_program_is_executable_locked(program);
    if (built)
        program->n_kernels++;
    tsl_lock_give(&program->lock);
    return built;
}

static void detach(struct tsl_program *program)
{
    tsl_lock_take(&program->lock);
    program->n_kernels--;
    tsl_lock_give(&program->lock);
}

void tsl_kernel_clear(struct tsl_kernel *kernel)
{
    const struct tsl_context *context = kernel->program->context;

    for (unsigned i = 0; kernel->parts && i < context->n_members; i++)
        clear_part(&kernel->parts[i], context->members[i]);
    tsl_cut_proofs_free(&kernel->cut.proofs);
    free(kernel->cut.kept);
    free(kernel->parts);
    free(kernel->name);
}

/* The program is detached last: it may be built again then, which frees what its kernels were made of. */
static void destroy_kernel(struct tsl_object *object)
{
    struct tsl_kernel *kernel = (struct tsl_kernel *)object;
    struct tsl_program *program = kernel->program;
    bool whole = kernel->args;

    if (tsl_forked())
        return; /* A thread of the parent process may have held the program's lock. */
    tsl_args_unref(kernel->args);
    if (!whole || !tsl_idle_keep(kernel))
        tsl_kernel_clear(kernel);
    detach(program);
    tsl_object_hide(&program->object);
}

/* Linked programs have neither source nor loaded binaries: to placement, their kernels of one name are one kernel. */
static uint64_t program_digest(struct tsl_program *program)
{
    uint64_t digest = atomic_load_explicit(&program->digest, memory_order_relaxed);

    if (digest)
        return digest;
    if (program->source)
        digest = tsl_bytes_sum(program->source, program->source_size);
    else if (program->il)
        digest = tsl_bytes_sum(program->il->module, program->il->size);
    for (unsigned i = 0; i < program->context->n_members && !digest; i++)
        if (program->parts[i].binary)
            digest = tsl_bytes_sum(program->parts[i].binary, program->parts[i].binary_size);
    digest += !digest;
    atomic_store_explicit(&program->digest, digest, memory_order_relaxed);
    return digest;
}

/* A sum without protection against collisions is enough: a wrong estimate costs time, no more. The options don't change
 * while kernels are attached. */
static uint64_t place_key(const struct tsl_kernel *kernel)
{
    const char *options = "";

    for (unsigned i = 0; i < kernel->program->context->n_members && !*options; i++)
        if (kernel->program->parts[i].options)
            options = kernel->program->parts[i].options;
    uint64_t sums[] = {program_digest(kernel->program), tsl_bytes_sum(options, strlen(options)),
                       tsl_bytes_sum(kernel->name, strlen(kernel->name))};

    return tsl_bytes_sum(sums, sizeof(sums));
}

/* A kernel with nothing behind its handle. */
static cl_int create_handle(struct tsl_program *program, struct tsl_kernel **result)
{
    if (!attach(program))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    *result = tsl_object_create(TSL_KERNEL, sizeof(**result), &program->object, destroy_kernel);
    if (!*result) {
        detach(program);
        return CL_OUT_OF_HOST_MEMORY;
    }
    tsl_object_show(&program->object);
    (*result)->program = program;
    return CL_SUCCESS;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static void read_limits(struct tsl_launch_limits *limits, const struct tsl_path *path,
                        const struct tsl_program_part *built)
{
    size_t items[16];
    size_t size = 0;

    *limits = (struct tsl_launch_limits){.max_items = {SIZE_MAX, SIZE_MAX, SIZE_MAX},
                                         .local_mem_size = UINT64_MAX,
                                         .non_uniform = built->non_uniform,
                                         .gpu = path->type & CL_DEVICE_TYPE_GPU,
                                         .unpromised = built->unpromised};
    if (path->driver->info(path, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, &size) == CL_SUCCESS &&
        size >= 3 * sizeof(items[0]))
        memcpy(limits->max_items, items, sizeof(limits->max_items));
    if (path->driver->info(path, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(limits->local_mem_size), &limits->local_mem_size,
                           NULL) != CL_SUCCESS)
        limits->local_mem_size = UINT64_MAX;
    if (path->driver->info(path, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(limits->parameter_size), &limits->parameter_size,
                           NULL) != CL_SUCCESS)
        limits->parameter_size = 1024; /* the minimum of the specification */
}

/* Is the member a device of the program in its own right? Then its kernels must be the others' (OpenCL 3.0, 5.9.1). */
static bool is_own_device(const struct tsl_program *program, const struct tsl_member *member)
{
    for (cl_uint i = 0; i < program->n_devices; i++)
        if (program->devices[i]->member == member)
            return true;
    return false;
}

/* To make a member ready may take as long as to build a program, so only where launches may be cut so. */
static bool wants_combine(const struct tsl_context *context, const struct tsl_kernel_facts *facts)
{
    enum tsl_split split = tsl_settings()->split;

    if (split == TSL_SPLIT_OFF || !facts->footprint || (context->n_members == 1 && !tsl_split_always(split)))
        return false;
    return split == TSL_SPLIT_ALWAYS_MERGE || tsl_joint_may_need(facts->footprint);
}

/* Creates one member's part; leaves the member out if its kernel has another signature. */
static cl_int add_member(struct tsl_kernel *kernel, unsigned i)
{
    const struct tsl_program_part *built = &kernel->program->parts[i];
    struct tsl_member *member = kernel->program->context->members[i];
    struct tsl_kernel_part *part = &kernel->parts[i];
    cl_int error;

    /* Some vendors complain aloud, so they aren't asked for kernels that they don't have. */
    if (!built->program || (built->kernel_names && !tsl_program_names_have(built->kernel_names, kernel->name)))
        return CL_INVALID_KERNEL_NAME;
    error = member->driver->kernel_create(built->program, kernel->name, &part->kernel, &part->facts);
    if (error != CL_SUCCESS) {
        part->kernel = NULL;
        return error;
    }
    part->facts.opaque |= built->has_variables && !part->facts.proven; /* vendors don't tell which kernels use the
                                                                          variables */
    if (tsl_text_access_narrow(built->access, &part->facts))
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "kernel %s on %s: buffers that are only read are known", kernel->name,
                member->path->id);
    if (kernel->facts && !tsl_kernel_facts_same_signature(kernel->facts, &part->facts)) {
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_WARN, "kernel %s has other arguments on %s and won't run there",
                kernel->name, member->path->id);
        clear_part(part, member);
        return is_own_device(kernel->program, member) ? CL_INVALID_KERNEL_DEFINITION : CL_SUCCESS;
    }
    if (!kernel->facts || (part->facts.has_arg_info && !kernel->facts->has_arg_info))
        kernel->facts = &part->facts;
    read_limits(&part->limits, member->path, built);
    part->windows = member->driver->windows_ok(part->kernel, &part->facts);
    part->combines = part->windows && wants_combine(kernel->program->context, &part->facts);
    if (part->combines)
        tsl_ready_ask_combine(member);
    kernel->no_arg_info |= built->no_arg_info;
    if (part->limits.parameter_size > kernel->parameter_size)
        kernel->parameter_size = part->limits.parameter_size;
    tsl_members_add(&kernel->eligible, i);
    return CL_SUCCESS;
}

/* Where a compiler found double precision in the kernel, members without it are left out: what their compilers made of
 * it isn't the same. */
static void leave_out_without_fp64(struct tsl_kernel *kernel)
{
    bool fp64 = false;

    for (unsigned i = 0; tsl_members_reach(kernel->eligible, i); i++)
        fp64 |= tsl_members_has(kernel->eligible, i) && kernel->parts[i].facts.fp64;
    for (unsigned i = 0; fp64 && tsl_members_reach(kernel->eligible, i); i++) {
        const struct tsl_path *path = kernel->program->context->members[i]->path;
        cl_device_fp_config config = 0;

        if (!tsl_members_has(kernel->eligible, i) ||
            (path->driver->info(path, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(config), &config, NULL) == CL_SUCCESS &&
             config))
            continue;
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "kernel %s has double precision and won't run on %s", kernel->name,
                path->id);
        tsl_members_remove(&kernel->eligible, i);
    }
}

/* CL_INVALID_KERNEL_NAME only if no member knows the kernel; any other error says more. */
static cl_int add_members(struct tsl_kernel *kernel)
{
    cl_int result = CL_INVALID_KERNEL_NAME;

    for (unsigned i = 0; i < kernel->program->context->n_members; i++) {
        cl_int error = add_member(kernel, i);

        if (error == CL_INVALID_KERNEL_DEFINITION)
            return error;
        if (error != CL_SUCCESS && result == CL_INVALID_KERNEL_NAME)
            result = error;
    }
    if (tsl_members_is_empty(kernel->eligible))
        return result;
    leave_out_without_fp64(kernel);
    return tsl_members_is_empty(kernel->eligible) ? CL_INVALID_PROGRAM_EXECUTABLE : CL_SUCCESS;
}

/* A kernel on each member that can run it, with its variants. */
static cl_int make(struct tsl_kernel *kernel, const char *name)
{
    cl_int error;

    kernel->name = strdup(name);
    kernel->parts = calloc(kernel->program->context->n_members, sizeof(kernel->parts[0]));
    if (!kernel->name || !kernel->parts)
        return CL_OUT_OF_HOST_MEMORY;
    kernel->place_key = place_key(kernel);
    error = add_members(kernel);
    if (error == CL_SUCCESS)
        tsl_variants_attach(kernel);
    return error;
}

cl_int tsl_kernel_create(struct tsl_program *program, const char *name, struct tsl_kernel **result)
{
    struct tsl_kernel *kernel;
    cl_int error = tsl_forked() ? CL_OUT_OF_RESOURCES : create_handle(program, &kernel);

    if (error != CL_SUCCESS)
        return error;
    error = tsl_idle_take(kernel, name) ? CL_SUCCESS : make(kernel, name);
    if (error == CL_SUCCESS) {
        kernel->args = tsl_args_create(kernel->facts->n_args);
        if (kernel->args) {
            *result = kernel;
            return CL_SUCCESS;
        }
        error = CL_OUT_OF_HOST_MEMORY;
    }
    tsl_object_release(&kernel->object);
    return error;
}

cl_int tsl_kernel_clone(struct tsl_kernel *source, struct tsl_kernel **result)
{
    struct tsl_kernel *kernel;
    cl_int error = tsl_kernel_create(source->program, source->name, &kernel);

    if (error != CL_SUCCESS)
        return error;
    /* Shared until an argument of either is set. */
    tsl_args_unref(kernel->args);
    kernel->args = tsl_args_share(source);
    *result = kernel;
    return CL_SUCCESS;
}

/* ---- All kernels of a program ------------------------------------------------------------------------------------ */

/* Creates the kernels of a list of names (which is cut up), except those whose definitions differ (OpenCL 3.0, 5.9.1);
 * if one fails, none are created. */
static cl_int create_named(struct tsl_program *program, char *names, cl_kernel *kernels, cl_uint *n)
{
    char *rest = NULL;
    cl_uint made = 0;
    cl_int error = CL_SUCCESS;

    for (char *name = strtok_r(names, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
        struct tsl_kernel *kernel;

        error = tsl_kernel_create(program, name, &kernel);
        if (error == CL_SUCCESS)
            kernels[made++] = (cl_kernel)kernel;
        else if (error != CL_INVALID_KERNEL_DEFINITION)
            break;
        error = CL_SUCCESS;
    }
    if (error != CL_SUCCESS)
        while (made > 0)
            tsl_object_release((struct tsl_object *)kernels[--made]);
    for (cl_uint i = made; i < *n; i++)
        kernels[i] = NULL;
    *n = made;
    return error;
}

cl_int tsl_kernel_create_all(struct tsl_program *program, cl_uint n, cl_kernel *kernels, cl_uint *n_ret)
{
    char *names;
    cl_int error = CL_SUCCESS;

    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    if (!tsl_program_begin_read(program))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    names = strdup(program->kernel_names ? program->kernel_names : "");
    tsl_program_end_read(program);
    if (!names)
        return CL_OUT_OF_HOST_MEMORY;
    *n_ret = tsl_program_count_kernels(names);
    if (kernels)
        error = n < *n_ret ? CL_INVALID_VALUE : create_named(program, names, kernels, n_ret);
    free(names);
    return error;
}
