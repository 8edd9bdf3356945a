/*
 * Queries of kernels (OpenCL 3.0, 5.9.4).
 */
#include "program/kernel_info.h"
#include "base/fork.h"
#include "device/device.h"
#include "object/context.h"

#include <string.h>

/* The next eligible member in the set at or after *i. */
static const struct tsl_kernel_facts *next_facts(const struct tsl_kernel *kernel, tsl_members members, unsigned *i)
{
    for (members = tsl_members_common(members, kernel->eligible); tsl_members_reach(members, *i); ++*i)
        if (tsl_members_has(members, *i))
            return &kernel->parts[*i].facts;
    return NULL;
}

/* Not every vendor tells the attributes. */
static const char *attributes_of(const struct tsl_kernel *kernel)
{
    const struct tsl_kernel_facts *facts;

    for (unsigned i = 0; (facts = next_facts(kernel, kernel->eligible, &i)); i++)
        if (facts->attributes && facts->attributes[0])
            return facts->attributes;
    return "";
}

cl_int tsl_kernel_info(struct tsl_kernel *kernel, cl_kernel_info param, const struct tsl_info *info)
{
    switch (param) {
    case CL_KERNEL_FUNCTION_NAME:
        return tsl_info_string(info, kernel->name);
    case CL_KERNEL_NUM_ARGS:
        return tsl_info_uint(info, kernel->facts->n_args);
    case CL_KERNEL_REFERENCE_COUNT:
        return tsl_info_uint(info, tsl_object_users(&kernel->object));
    case CL_KERNEL_CONTEXT:
        return tsl_info_pointer(info, kernel->program->context);
    case CL_KERNEL_PROGRAM:
        return tsl_info_pointer(info, kernel->program);
    case CL_KERNEL_ATTRIBUTES:
        return tsl_info_string(info, attributes_of(kernel));
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int tsl_kernel_arg_info(struct tsl_kernel *kernel, cl_uint index, cl_kernel_arg_info param,
                           const struct tsl_info *info)
{
    const struct tsl_kernel_facts *facts = kernel->facts;
    const struct tsl_arg_fact *arg;

    if (index >= facts->n_args)
        return CL_INVALID_ARG_INDEX;
    if (!facts->has_arg_info || kernel->no_arg_info)
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    arg = &facts->args[index];
    switch (param) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return tsl_info_bytes(info, &arg->address, sizeof(arg->address));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return tsl_info_bytes(info, &arg->access, sizeof(arg->access));
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return tsl_info_bytes(info, &arg->type_qualifier, sizeof(arg->type_qualifier));
    case CL_KERNEL_ARG_TYPE_NAME:
        return tsl_info_string(info, arg->type_name);
    case CL_KERNEL_ARG_NAME:
        return tsl_info_string(info, arg->name);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- Over members ------------------------------------------------------------------------------------------------ */

static size_t smallest_group(const struct tsl_kernel *kernel, tsl_members members)
{
    const struct tsl_kernel_facts *facts;
    size_t size = SIZE_MAX;

    for (unsigned i = 0; (facts = next_facts(kernel, members, &i)); i++)
        if (tsl_told_group_size(facts) < size)
            size = tsl_told_group_size(facts);
    return size == SIZE_MAX ? 0 : size;
}

size_t tsl_kernel_work_group_size(const struct tsl_kernel *kernel, struct tsl_device *device)
{
    size_t of_device = tsl_device_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    size_t of_kernel = smallest_group(kernel, tsl_context_members_of(kernel->program->context, device));

    return of_kernel < of_device ? of_kernel : of_device;
}

static size_t greatest_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The least common multiple, if a group may have that size, else the largest. */
size_t tsl_kernel_preferred_multiple(const struct tsl_kernel *kernel, tsl_members members)
{
    size_t limit = smallest_group(kernel, members), common = 1, largest = 1;
    const struct tsl_kernel_facts *facts;

    for (unsigned i = 0; (facts = next_facts(kernel, members, &i)); i++) {
        size_t multiple = facts->preferred_multiple ? facts->preferred_multiple : 1;

        if (multiple > largest)
            largest = multiple;
        if (common <= limit)
            common *= multiple / greatest_divisor(common, multiple);
    }
    return common <= limit ? common : largest;
}

/* The required size; 0 0 0 if no member knows one. */
static const size_t *required_size(const struct tsl_kernel *kernel, tsl_members members)
{
    const struct tsl_kernel_facts *facts;

    for (unsigned i = 0; (facts = next_facts(kernel, members, &i)); i++)
        if (facts->reqd_size[0])
            return facts->reqd_size;
    return kernel->facts->reqd_size;
}

/* Local memory includes the arguments' share, as far as they are set. */
static cl_ulong memory_size(struct tsl_kernel *kernel, tsl_members members, bool local)
{
    const struct tsl_kernel_facts *facts;
    cl_ulong size = 0;

    for (unsigned i = 0; (facts = next_facts(kernel, members, &i)); i++) {
        cl_ulong own = local ? facts->local_mem_size : facts->private_mem_size;

        if (own > size)
            size = own;
    }
    if (local) {
        tsl_spin_take(&kernel->lock);
        size += tsl_args_local_size(kernel->args);
        tsl_spin_give(&kernel->lock);
    }
    return size;
}

/* The smallest of the members' answers; for built-in kernels alone (OpenCL 3.0, 5.9.4). */
static cl_int global_size(const struct tsl_kernel *kernel, tsl_members members, const struct tsl_info *info)
{
    size_t size[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    const struct tsl_kernel_facts *facts;
    bool told = false;

    for (unsigned i = 0; kernel->program->built_in && (facts = next_facts(kernel, members, &i)); i++) {
        told |= facts->max_global_size[0];
        for (unsigned d = 0; d < 3; d++)
            if (facts->max_global_size[d] && facts->max_global_size[d] < size[d])
                size[d] = facts->max_global_size[d];
    }
    return told ? tsl_info_bytes(info, size, sizeof(size)) : CL_INVALID_VALUE;
}

cl_int tsl_kernel_work_group_info(struct tsl_kernel *kernel, struct tsl_device *device, cl_kernel_work_group_info param,
                                  const struct tsl_info *info)
{
    tsl_members members = tsl_context_members_of(kernel->program->context, device);

    switch (param) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return tsl_info_size(info, tsl_kernel_work_group_size(kernel, device));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return tsl_info_bytes(info, required_size(kernel, members), sizeof(kernel->facts->reqd_size));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return tsl_info_size(info, tsl_kernel_preferred_multiple(kernel, members));
    case CL_KERNEL_LOCAL_MEM_SIZE:
        /* A thread of the parent process may have held the lock of the arguments. */
        return tsl_forked() ? CL_OUT_OF_RESOURCES : tsl_info_ulong(info, memory_size(kernel, members, true));
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return tsl_info_ulong(info, memory_size(kernel, members, false));
    case CL_KERNEL_GLOBAL_WORK_SIZE:
        return global_size(kernel, members, info);
    default:
        return CL_INVALID_VALUE;
    }
}
