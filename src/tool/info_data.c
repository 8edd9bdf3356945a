#include "tool/info_data.h"

#include "base/settings.h"
#include "compile_client/client.h"
#include "members/members.h"
#include "members/ready.h"
#include "tool/hardware.h"
#include "variant/call.h"
#include "variant/variant.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *type_name(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_GPU)
        return "GPU";
    if (type & CL_DEVICE_TYPE_CPU)
        return "CPU";
    return type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator" : "custom";
}

static void add_text(cJSON *object, const char *key, const char *value)
{
    cJSON_AddStringToObject(object, key, value ? value : "");
}

/* Leaves the key out if the device doesn't answer. */
static void add_ulong(cJSON *object, const char *key, const struct tsl_path *path, cl_device_info param)
{
    cl_ulong value;

    if (path->driver->info(path, param, sizeof value, &value, NULL) == CL_SUCCESS)
        cJSON_AddNumberToObject(object, key, (double)value);
}

static cJSON *describe_path(const struct tsl_path *path)
{
    cJSON *object = cJSON_CreateObject();
    cl_uint units;

    add_text(object, "path", path->id);
    add_text(object, "device", path->device_name);
    add_text(object, "platform", path->platform_name);
    add_text(object, "driver_version", path->driver_version);
    add_text(object, "type", type_name(path->type));
    add_ulong(object, "memory_size", path, CL_DEVICE_GLOBAL_MEM_SIZE);
    add_ulong(object, "max_alloc_size", path, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (path->driver->info(path, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL) == CL_SUCCESS)
        cJSON_AddNumberToObject(object, "compute_units", units);
    if (tsl_path_numa_node(path) >= 0)
        cJSON_AddNumberToObject(object, "numa_node", tsl_path_numa_node(path));
    return object;
}

static void add_members(cJSON *info)
{
    cJSON *array = cJSON_AddArrayToObject(info, "members");
    unsigned n = 0;
    struct tsl_member *const *members = tsl_members_open(&n);

    tsl_ready_all(members, n);
    for (unsigned i = 0; i < n; i++) {
        cJSON *object;

        if (tsl_member_is_lost(members[i]))
            continue;
        object = describe_path(members[i]->path);
        cJSON_AddNumberToObject(object, "index", members[i]->index);
        cJSON_AddNumberToObject(object, "used_memory_size", (double)members[i]->caps.memory_size);
        cJSON_AddBoolToObject(object, "zero_copy", members[i]->caps.zero_copy);
        cJSON_AddNumberToObject(object, "speed", members[i]->caps.speed);
        cJSON_AddItemToArray(array, object);
    }
}

static void add_empty(cJSON *array, const struct tsl_found_list *found)
{
    for (unsigned i = 0; i < found->n_empty; i++) {
        cJSON *object = cJSON_CreateObject();

        add_text(object, "name", found->empty[i].name);
        add_text(object, "why", found->empty[i].why);
        cJSON_AddItemToArray(array, object);
    }
}

static bool serves(const struct tsl_found *row)
{
    return row->member && !tsl_member_is_lost(row->member);
}

static const char *why_left_out(const struct tsl_found *row)
{
    if (row->member && atomic_load(&row->member->lost_why))
        return atomic_load(&row->member->lost_why);
    return row->why_not ? row->why_not : row->path.why_not;
}

static const char *const troubles[] = {
    [TSL_TROUBLE_OTHER] = "other",           [TSL_TROUBLE_NO_VENDORS] = "no-vendors",
    [TSL_TROUBLE_NO_LIBRARY] = "no-library", [TSL_TROUBLE_UNFIT] = "unfit-library",
    [TSL_TROUBLE_NO_CUDA] = "no-cuda",       [TSL_TROUBLE_CUDA] = "cuda",
    [TSL_TROUBLE_NO_GPU] = "no-gpu",
};

static const char *const lacks[] = {
    [TSL_CLIENT_LACKS_NOTHING] = "nothing",
    [TSL_CLIENT_ABSENT] = "absent",
    [TSL_CLIENT_UNRUNNABLE] = "unrunnable",
    [TSL_CLIENT_FORBIDDEN] = "forbidden",
    [TSL_CLIENT_NO_FILES] = "no-files",
    [TSL_CLIENT_NO_MEMORY] = "no-memory",
    [TSL_CLIENT_BROKEN] = "broken",
    [TSL_CLIENT_OTHER] = "other-version",
    [TSL_CLIENT_ENDS_AT_ONCE] = "ends-at-once",
};

/* The place of an object's kind in a list of words; 0: in none. */
static unsigned find_kind(const cJSON *object, const char *const words[], unsigned n)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "kind"));
    unsigned i = n;

    while (word && --i && strcmp(words[i], word) != 0)
        ;
    return word ? i : 0;
}

enum tsl_trouble tsl_info_trouble(const cJSON *problem)
{
    return (enum tsl_trouble)find_kind(problem, troubles, sizeof troubles / sizeof troubles[0]);
}

enum tsl_client_lack tsl_info_lack(const cJSON *info)
{
    return (enum tsl_client_lack)find_kind(cJSON_GetObjectItemCaseSensitive(info, "compiler"), lacks,
                                           sizeof lacks / sizeof lacks[0]);
}

/* No NVIDIA driver is no problem where there is no NVIDIA GPU, nor that no vendor's OpenCL is installed where nobody
 * asked for it. */
static bool is_needless(enum tsl_trouble trouble)
{
    const char *vendors = secure_getenv("TESELA_VENDORS");

    if (trouble == TSL_TROUBLE_NO_CUDA)
        return !tsl_settings()->cuda_library && !tsl_has_nvidia_files("") && !tsl_has_gpu_of("", TSL_PCI_NVIDIA);
    return trouble == TSL_TROUBLE_NO_VENDORS && (!vendors || !vendors[0]);
}

static void add_problem(cJSON *array, const struct tsl_problem *problem)
{
    cJSON *object = cJSON_CreateObject();

    add_text(object, "what", problem->sentence);
    add_text(object, "kind", troubles[problem->trouble]);
    cJSON_AddBoolToObject(object, "needless", is_needless(problem->trouble));
    cJSON_AddItemToArray(array, object);
}

/* A path that is used but has no member failed to open: since tsl_members_open its row says why. */
static void add_left_out(cJSON *info)
{
    const struct tsl_found_list *found = tsl_members_probe();
    cJSON *left_out = cJSON_AddArrayToObject(info, "left_out");
    cJSON *problems = cJSON_AddArrayToObject(info, "problems");

    for (unsigned i = 0; i < found->n; i++) {
        const struct tsl_found *row = &found->rows[i];
        cJSON *object;

        if (serves(row))
            continue;
        object = describe_path(&row->path);
        add_text(object, "why", why_left_out(row));
        cJSON_AddItemToArray(left_out, object);
    }
    for (unsigned i = 0; i < found->n_problems; i++)
        add_problem(problems, &found->problems[i]);
    add_empty(cJSON_AddArrayToObject(info, "without_devices"), found);
}

static void add_variants(cJSON *array)
{
    static const char *const kinds[] = {[TSL_VARIANT_NOTHING] = "",
                                        [TSL_VARIANT_OPENCL] = "OpenCL C",
                                        [TSL_VARIANT_CODE] = "code",
                                        [TSL_VARIANT_FUNCTION] = "function",
                                        [TSL_VARIANT_GIVEN] = "function of the program"};
    unsigned n;
    struct tsl_variant *const *variants = tsl_variants_folder(&n);

    for (unsigned i = 0; i < n; i++) {
        cJSON *object = cJSON_CreateObject();
        const char *why = "";
        bool there = tsl_variant_look(variants[i], &why);

        add_text(object, "variant", variants[i]->name);
        add_text(object, "kernel", variants[i]->kernel);
        add_text(object, "members", variants[i]->members);
        add_text(object, "implementation", kinds[variants[i]->kind]);
        add_text(object, "file", variants[i]->file);
        add_text(object, "why", there ? "" : why);
        cJSON_AddItemToArray(array, object);
    }
}

/* Builds need it, and what it lacks is else seen by the first of them. */
static void add_compiler(cJSON *info)
{
    cJSON *object = cJSON_AddObjectToObject(info, "compiler");
    const char *missing, *path = tsl_client_program(&missing);
    char *why = NULL;

    add_text(object, "path", path);
    if (path)
        tsl_client_greet(TSL_CLIENT_GREET_MS, &why);
    add_text(object, "why", path ? why : missing);
    add_text(object, "kind", lacks[path && !why ? TSL_CLIENT_LACKS_NOTHING : tsl_client_lack()]);
    free(why);
}

static void add_setting(const char *name, const char *value, void *data)
{
    cJSON *object = cJSON_AddObjectToObject(data, name);
    const char *set = secure_getenv(name);

    add_text(object, "value", value);
    cJSON_AddBoolToObject(object, "set", set && set[0]);
}

cJSON *tsl_info_gather(void)
{
    cJSON *info = cJSON_CreateObject();

    if (!info)
        return NULL;
    add_text(info, "version", TESELA_VERSION);
    add_members(info);
    add_left_out(info);
    add_compiler(info);
    add_variants(cJSON_AddArrayToObject(info, "variants"));
    tsl_settings_each(tsl_settings(), add_setting, cJSON_AddObjectToObject(info, "settings"));
    return info;
}
