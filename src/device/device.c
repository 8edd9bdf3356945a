#include "device/device.h"

#include "base/log.h"
#include "base/settings.h"
#include "device/device_facts.h"
#include "device/partition.h"
#include "device/platform.h"
#include "dispatch.h"
#include "members/members.h"

#include <CL/cl_ext.h>
#include <CL/cl_tesela.h>
#include <stdio.h>
#include <stdlib.h>

static struct tsl_device root = {
    .object = {.dispatch = &tsl_dispatch_table, .kind = TSL_DEVICE, .users = 1, .visible = 1, .refs = 1}};

struct tsl_device *tsl_device_root(void)
{
    return &root;
}

struct tsl_member *const *tsl_device_members(struct tsl_device *device, unsigned *n)
{
    if (!device->parent)
        return tsl_members_open(n);
    *n = device->n_members;
    return device->members;
}

bool tsl_device_has(const struct tsl_device *device, const struct tsl_member *member)
{
    bool has = !device->parent;

    for (unsigned i = 0; i < device->n_members && !has; i++)
        has = device->members[i] == member;
    return has;
}

void tsl_device_log_no_member(void)
{
    tsl_log(TSL_LOG_IN_DEVICE, TSL_LOG_ERROR,
            "no device to run on was found, so no context can be made; `tesela info` says what was looked at, and why "
            "each was left out");
}

/*
 * No lock is held while the members are asked, as vendors may call back into Tesela through a loader. If two threads
 * ask first at once, one result is kept.
 */
static const struct tsl_device_facts *facts_of(struct tsl_device *device)
{
    struct tsl_device_facts *facts = atomic_load_explicit(&device->facts, memory_order_acquire);
    struct tsl_device_facts *made;
    struct tsl_member *const *members;
    unsigned n;

    if (facts)
        return facts;
    members = tsl_device_members(device, &n);
    made = tsl_device_facts_create(members, n);
    if (made && !atomic_compare_exchange_strong(&device->facts, &facts, made)) {
        tsl_device_facts_destroy(made);
        return facts;
    }
    return made;
}

bool tsl_device_takes_il(struct tsl_device *device)
{
    const struct tsl_device_facts *facts = facts_of(device);

    return facts && facts->ils->n > 0;
}

void tsl_device_forget(void)
{
    tsl_device_facts_destroy(atomic_exchange(&root.facts, NULL));
}

/* ---- Sub-devices by member --------------------------------------------------------------------------------------- */

/* "pthread-haswell (opencl:0.1)" */
static cl_int sub_device_name(const struct tsl_path *path, const struct tsl_info *info)
{
    char *name;
    cl_int error;

    if (asprintf(&name, "%s (%s)", path->device_name, path->id) < 0)
        return CL_OUT_OF_HOST_MEMORY;
    error = tsl_info_string(info, name);
    free(name);
    return error;
}

/* Does a sub-device answer this query as its member does, and not by the virtual device's rules? */
static bool is_members_own(const struct tsl_member *member, cl_device_info param)
{
    size_t size;

    switch (param) {
    case CL_DEVICE_TYPE:
    case CL_DEVICE_NAME:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_MEMBER_TESELA:
    case CL_DEVICE_REFERENCE_COUNT:
        return true;
    case CL_DEVICE_VENDOR:
    case CL_DEVICE_VENDOR_ID:
    case CL_DEVICE_PROFILE:
    case CL_DEVICE_UUID_KHR:
    case CL_DRIVER_UUID_KHR:
    case CL_DEVICE_LUID_VALID_KHR:
    case CL_DEVICE_LUID_KHR:
    case CL_DEVICE_NODE_MASK_KHR:
        return member->driver->info(member->path, param, 0, NULL, &size) == CL_SUCCESS;
    default:
        return false;
    }
}

static cl_int sub_device_info(const struct tsl_device *device, cl_device_info param, const struct tsl_info *info)
{
    const struct tsl_path *path = device->member->path;

    switch (param) {
    case CL_DEVICE_TYPE:
        return tsl_info_ulong(info, path->type & ~(cl_device_type)CL_DEVICE_TYPE_DEFAULT);
    case CL_DEVICE_NAME:
        return sub_device_name(path, info);
    case CL_DRIVER_VERSION:
        return tsl_info_string(info, path->driver_version);
    case CL_DEVICE_MEMBER_TESELA:
        return tsl_info_string(info, path->id);
    case CL_DEVICE_REFERENCE_COUNT:
        return tsl_info_uint(info, tsl_object_users(&device->object));
    default:
        return path->driver->info(path, param, info->size, info->value, info->size_ret);
    }
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* "OpenCL 3.0 Tesela 0.1.0": words are what the specification wants before the number. */
static cl_int answer_version(const char *words, cl_version version, const struct tsl_info *info)
{
    char text[64];

    snprintf(text, sizeof text, "%s %u.%u " TSL_NAME " " TESELA_VERSION, words, CL_VERSION_MAJOR(version),
             CL_VERSION_MINOR(version));
    return tsl_info_string(info, text);
}

static cl_int virtual_device_name(const struct tsl_device *device, const struct tsl_info *info)
{
    char name[64];

    if (!device->parent)
        return tsl_info_string(info, TSL_NAME " virtual device");
    snprintf(name, sizeof name, TSL_NAME " virtual device (NUMA node %u)",
             device->members[0]->path->identity.numa_node);
    return tsl_info_string(info, name);
}

/* Answers that don't depend on the members and aren't numbers; CL_INVALID_VALUE for all other queries. */
static cl_int constant_info(struct tsl_device *device, cl_device_info param, const struct tsl_info *info)
{
    switch (param) {
    case CL_DEVICE_PLATFORM:
        return tsl_info_pointer(info, tsl_platform_get());
    case CL_DEVICE_PARENT_DEVICE:
        return tsl_info_pointer(info, device->parent);
    case CL_DEVICE_NAME:
        return virtual_device_name(device, info);
    case CL_DEVICE_VENDOR:
        return tsl_info_string(info, TSL_NAME);
    case CL_DEVICE_PROFILE:
        return tsl_info_string(info, "FULL_PROFILE");
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE:
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
        return tsl_partition_info(device, param, info);
    case CL_DEVICE_MEMBER_TESELA:
        return tsl_info_string(info, "");
    case CL_DEVICE_LUID_KHR:
        return tsl_info_bytes(info, (const cl_uchar[CL_LUID_SIZE_KHR]){0}, CL_LUID_SIZE_KHR); /* not valid */
    case CL_DEVICE_REFERENCE_COUNT:
        return tsl_info_uint(info, device->parent ? tsl_object_users(&device->object) : 1);
    case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
        return tsl_info_string(info, "v0000-01-01-00"); /* the specification's value for "none" */
    default:
        return CL_INVALID_VALUE;
    }
}

/* A number of the list of PCI vendors? Those say who made the hardware, others who wrote the implementation. */
static bool tells_of_hardware(const struct tsl_path *path)
{
    cl_uint number = 0;
    cl_int error = path->driver->info(path, CL_DEVICE_VENDOR_ID, sizeof(number), &number, NULL);
    return !error && number > 0 && number <= 0xffff;
}

/* The fastest member, if its answer is the device's: programs that have parameters for known devices look these up.
 * NULL: there is no member, or it doesn't say. */
static const struct tsl_path *who_answers(struct tsl_device *device, cl_device_info param)
{
    bool named = tsl_settings()->device_name == TSL_DEVICE_NAME_FASTEST;
    bool asked = param == CL_DEVICE_NAME || param == CL_DEVICE_VENDOR || param == CL_DEVICE_VENDOR_ID;
    const struct tsl_path *path;
    size_t size;
    unsigned n;

    if (!asked || device->member || (!named && param != CL_DEVICE_VENDOR_ID))
        return NULL;
    struct tsl_member *const *members = tsl_device_members(device, &n);
    path = n ? members[tsl_fastest_member(members, n)]->path : NULL;
    if (path && param != CL_DEVICE_NAME && path->driver->info(path, param, 0, NULL, &size))
        return NULL;
    if (path && !named && !tells_of_hardware(path))
        return NULL;
    return path;
}

static cl_int path_info(const struct tsl_path *path, cl_device_info param, const struct tsl_info *info)
{
    return param == CL_DEVICE_NAME ? tsl_info_string(info, path->device_name)
                                   : path->driver->info(path, param, info->size, info->value, info->size_ret);
}

static cl_int member_info(const struct tsl_device_facts *facts, cl_device_info param, const struct tsl_info *info)
{
    const struct tsl_number_row *row = tsl_number_row(param);

    if (row)
        return tsl_number_answer(row, tsl_number_value(row, facts), info);
    switch (param) {
    case CL_DEVICE_TYPE:
        return tsl_info_ulong(info, facts->type);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return tsl_info_bytes(info, facts->work_item_sizes, sizeof facts->work_item_sizes);
    case CL_DEVICE_VERSION:
        return answer_version("OpenCL", facts->version, info);
    case CL_DEVICE_NUMERIC_VERSION:
        return tsl_info_uint(info, facts->version);
    case CL_DEVICE_OPENCL_C_VERSION:
        return answer_version("OpenCL C", facts->c_version, info);
    case CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR:
        return tsl_info_uint(info, facts->c_version);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return tsl_names_answer_versions(facts->c_versions, info);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return tsl_names_answer_versions(facts->c_features, info);
    case CL_DEVICE_EXTENSIONS:
        return tsl_names_answer_text(facts->extensions, ' ', info);
    case CL_DEVICE_IL_VERSION:
        return tsl_names_answer_ils(facts->ils, info);
    case CL_DEVICE_ILS_WITH_VERSION:
        return tsl_names_answer_versions(facts->ils, info);
    case CL_DEVICE_BUILT_IN_KERNELS:
        return tsl_names_answer_text(facts->built_ins, ';', info);
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        return tsl_names_answer_versions(facts->built_ins, info);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return tsl_names_answer_versions(facts->extensions, info);
    case CL_DRIVER_VERSION:
        return tsl_info_string(info, facts->driver_version);
    case CL_DEVICE_UUID_KHR:
        return tsl_info_bytes(info, facts->uuid, sizeof facts->uuid);
    case CL_DRIVER_UUID_KHR:
        return tsl_info_bytes(info, facts->driver_uuid, sizeof facts->driver_uuid);
    case CL_DEVICE_PCI_BUS_INFO_KHR:
        return facts->has_pci ? tsl_info_bytes(info, &facts->pci, sizeof facts->pci) : CL_INVALID_VALUE;
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int tsl_device_info(struct tsl_device *device, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    const struct tsl_info info = {size, value, size_ret};
    const struct tsl_number_row *row = tsl_number_row(param);
    const struct tsl_device_facts *facts;
    const struct tsl_path *path;
    cl_ulong number;
    cl_int error;

    if (device->member && is_members_own(device->member, param))
        return sub_device_info(device, param, &info);
    path = who_answers(device, param);
    if (path)
        return path_info(path, param, &info);
    if (row && tsl_number_fixed(row, &number))
        return tsl_number_answer(row, number, &info);
    error = constant_info(device, param, &info);
    if (error != CL_INVALID_VALUE)
        return error;
    facts = facts_of(device);
    return facts ? member_info(facts, param, &info) : CL_OUT_OF_HOST_MEMORY;
}

cl_ulong tsl_device_number(struct tsl_device *device, cl_device_info param)
{
    const struct tsl_number_row *row = tsl_number_row(param);
    const struct tsl_device_facts *facts;
    cl_ulong number;

    if (!row)
        return 0;
    if (tsl_number_fixed(row, &number))
        return number;
    facts = facts_of(device);
    return facts ? tsl_number_value(row, facts) : 0;
}
