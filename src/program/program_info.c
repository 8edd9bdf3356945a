/*
 * Queries of programs (OpenCL 3.0, 5.8.8).
 */
#include "program/program_info.h"
#include "base/fork.h"
#include "facts/il.h"

#include <stdlib.h>
#include <string.h>

static cl_int binary_sizes(struct tsl_program *program, const struct tsl_info *info)
{
    size_t *sizes = calloc(program->n_devices, sizeof(*sizes));
    cl_int error = sizes ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    for (cl_uint i = 0; i < program->n_devices && error == CL_SUCCESS && info->value; i++) {
        void *data;

        error = tsl_program_binary(program, i, &data, &sizes[i]);
        free(data);
    }
    if (error == CL_SUCCESS)
        error = tsl_info_bytes(info, sizes, program->n_devices * sizeof(*sizes));
    free(sizes);
    return error;
}

/* The value is an array of pointers to the places of the devices' binaries; NULL skips a device. The application has
 * sized them by CL_PROGRAM_BINARY_SIZES. */
static cl_int binaries(struct tsl_program *program, const struct tsl_info *info)
{
    size_t size = program->n_devices * sizeof(unsigned char *);
    unsigned char **to = info->value;
    cl_int error = CL_SUCCESS;

    if (to && info->size < size)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; to && i < program->n_devices && error == CL_SUCCESS; i++) {
        size_t binary_size;
        void *data;

        if (!to[i])
            continue;
        error = tsl_program_binary(program, i, &data, &binary_size);
        if (binary_size)
            memcpy(to[i], data, binary_size);
        free(data);
    }
    if (error == CL_SUCCESS && info->size_ret)
        *info->size_ret = size;
    return error;
}

/* Both queries need a built program (OpenCL 3.0, 5.8.8). */
static cl_int kernel_names(struct tsl_program *program, cl_program_info param, const struct tsl_info *info)
{
    const char *names;
    cl_int error;

    if (!tsl_program_begin_read(program))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    names = program->kernel_names ? program->kernel_names : "";
    error = param == CL_PROGRAM_NUM_KERNELS ? tsl_info_size(info, tsl_program_count_kernels(names))
                                            : tsl_info_string(info, names);
    tsl_program_end_read(program);
    return error;
}

/* Queries of the built program, under its lock. */
static cl_int built_info(struct tsl_program *program, cl_program_info param, const struct tsl_info *info)
{
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES; /* A thread of the parent process may have held the lock. */
    switch (param) {
    case CL_PROGRAM_BINARY_SIZES:
        return binary_sizes(program, info);
    case CL_PROGRAM_BINARIES:
        return binaries(program, info);
    default:
        return kernel_names(program, param, info);
    }
}

cl_int tsl_program_info(struct tsl_program *program, cl_program_info param, const struct tsl_info *info)
{
    switch (param) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return tsl_info_uint(info, tsl_object_users(&program->object));
    case CL_PROGRAM_CONTEXT:
        return tsl_info_pointer(info, program->context);
    case CL_PROGRAM_NUM_DEVICES:
        return tsl_info_uint(info, program->n_devices);
    case CL_PROGRAM_DEVICES:
        return tsl_info_bytes(info, program->devices, program->n_devices * sizeof(program->devices[0]));
    case CL_PROGRAM_SOURCE:
        return tsl_info_string(info, program->source);
    case CL_PROGRAM_IL:
        return tsl_info_bytes(info, program->il ? program->il->module : NULL, program->il ? program->il->size : 0);
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES:
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES:
        return built_info(program, param, info);
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
        return tsl_info_uint(info, CL_FALSE);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int build_options(struct tsl_program *program, tsl_members members, const struct tsl_info *info)
{
    const char *options = NULL;
    cl_int error;

    tsl_lock_take(&program->lock);
    for (unsigned i = 0; tsl_members_reach(members, i) && !options; i++)
        if (tsl_members_has(members, i))
            options = program->parts[i].options;
    error = tsl_info_string(info, options);
    tsl_lock_give(&program->lock);
    return error;
}

static cl_int build_log(struct tsl_program *program, tsl_members members, const struct tsl_info *info)
{
    char *log = tsl_program_log(program, members);
    cl_int error = log ? tsl_info_string(info, log) : CL_OUT_OF_HOST_MEMORY;

    free(log);
    return error;
}

static size_t variables_size_locked(const struct tsl_program *program, tsl_members members) TSL_REQUIRES(program->lock)
{
    size_t size = 0;

    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && program->parts[i].variables_size > size)
            size = program->parts[i].variables_size;
    return size;
}

cl_int tsl_program_build_info(struct tsl_program *program, struct tsl_device *device, cl_program_build_info param,
                              const struct tsl_info *info)
{
    tsl_members members = tsl_context_members_of(program->context, device);
    cl_program_binary_type type;
    cl_build_status status;
    size_t variables;

    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    tsl_lock_take(&program->lock);
    status = tsl_program_status_locked(program, members);
    type = tsl_program_type_locked(program, members);
    variables = variables_size_locked(program, members);
    tsl_lock_give(&program->lock);
    switch (param) {
    case CL_PROGRAM_BUILD_STATUS:
        return tsl_info_bytes(info, &status, sizeof(status));
    case CL_PROGRAM_BUILD_OPTIONS:
        return build_options(program, members, info);
    case CL_PROGRAM_BUILD_LOG:
        return build_log(program, members, info);
    case CL_PROGRAM_BINARY_TYPE:
        return tsl_info_bytes(info, &type, sizeof(type));
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return tsl_info_size(info, variables);
    default:
        return CL_INVALID_VALUE;
    }
}
