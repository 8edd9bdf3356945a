#include "core/device.h"

#include "core/device_facts.h"
#include "core/log.h"
#include "core/platform.h"
#include "core/settings.h"
#include "dispatch.h"
#include "driver/members.h"

#include <CL/cl_ext.h>
#include <stdio.h>

static struct tsl_device root = {
    .object = {.dispatch = &tsl_dispatch_table, .kind = TSL_DEVICE, .users = 1, .visible = 1, .refs = 1}};

struct tsl_device *tsl_device_root(void)
{
    return &root;
}

struct tsl_member *const *tsl_device_members(struct tsl_device *device, unsigned *n)
{
    (void)device; /* No sub-devices yet. */
    return tsl_members_open(n);
}

void tsl_device_log_no_member(void)
{
    tsl_log(TSL_ROOM_CORE, TSL_LOG_ERROR,
            "no device to run on was found, so no context can be made; `tesela info` says what was looked at, and why "
            "each was left out");
}

/*
 * Made at the first question that needs the members. No lock is held while the members are asked, as vendors may come
 * back to us through a loader; two threads that come first both ask, and one result is kept.
 */
static struct tsl_device_facts *_Atomic root_facts;

static const struct tsl_device_facts *facts_of(struct tsl_device *device)
{
    struct tsl_device_facts *facts = atomic_load_explicit(&root_facts, memory_order_acquire);
    struct tsl_device_facts *made;
    struct tsl_member *const *members;
    unsigned n;

    if (facts)
        return facts;
    members = tsl_device_members(device, &n);
    made = tsl_device_facts_create(members, n);
    if (made && !atomic_compare_exchange_strong(&root_facts, &facts, made)) {
        tsl_device_facts_destroy(made);
        return facts;
    }
    return made;
}

void tsl_device_forget(void)
{
    tsl_device_facts_destroy(atomic_exchange(&root_facts, NULL));
}

/* GPU unless by setting: many programs take nothing else, and a CPU makes others take slow paths. */
static cl_device_type reported_type(void)
{
    switch (tsl_settings()->device_type) {
    case TSL_DEVICE_TYPE_CPU:
        return CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_DEFAULT;
    case TSL_DEVICE_TYPE_ACCELERATOR:
        return CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_DEFAULT;
    case TSL_DEVICE_TYPE_GPU:
        break;
    }
    return CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT;
}

/* "OpenCL 3.0 Tesela 0.1.0", with the words that the specification asks for before the number. */
static cl_int answer_version(const char *words, cl_version version, const struct tsl_info *info)
{
    char text[64];

    snprintf(text, sizeof text, "%s %u.%u " TSL_NAME " " TESELA_VERSION, words, CL_VERSION_MAJOR(version),
             CL_VERSION_MINOR(version));
    return tsl_info_string(info, text);
}

/* What doesn't depend on the members, and isn't a number; CL_INVALID_VALUE for the rest. */
static cl_int constant_info(struct tsl_device *device, cl_device_info param, const struct tsl_info *info)
{
    static const cl_device_partition_property no_partition = 0;

    switch (param) {
    case CL_DEVICE_TYPE:
        return tsl_info_ulong(info, reported_type());
    case CL_DEVICE_PLATFORM:
        return tsl_info_pointer(info, tsl_platform_get());
    case CL_DEVICE_PARENT_DEVICE:
        return tsl_info_pointer(info, device->parent);
    case CL_DEVICE_NAME:
        return tsl_info_string(info, TSL_NAME " virtual device");
    case CL_DEVICE_VENDOR:
        return tsl_info_string(info, TSL_NAME);
    case CL_DRIVER_VERSION:
        return tsl_info_string(info, TESELA_VERSION);
    case CL_DEVICE_PROFILE:
        return tsl_info_string(info, "FULL_PROFILE");
    case CL_DEVICE_IL_VERSION:
    case CL_DEVICE_BUILT_IN_KERNELS:
        return tsl_info_string(info, "");
    case CL_DEVICE_ILS_WITH_VERSION:
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        return tsl_info_bytes(info, NULL, 0);
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE:
        return tsl_info_bytes(info, &no_partition, sizeof no_partition);
    case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
        return tsl_info_string(info, "v0000-01-01-00"); /* the specification's way to say: none */
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int member_info(const struct tsl_device_facts *facts, cl_device_info param, const struct tsl_info *info)
{
    const struct tsl_number_row *row = tsl_number_row(param);

    if (row)
        return tsl_number_answer(row, tsl_number_value(row, facts), info);
    switch (param) {
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
        return tsl_names_answer_text(facts->extensions, info);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return tsl_names_answer_versions(facts->extensions, info);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int tsl_device_info(struct tsl_device *device, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    const struct tsl_info info = {size, value, size_ret};
    const struct tsl_number_row *row = tsl_number_row(param);
    const struct tsl_device_facts *facts;
    cl_ulong number;
    cl_int error;

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
