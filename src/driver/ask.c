#include "driver/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *tsl_member_ask(const struct tsl_member *member, cl_device_info param, size_t *size)
{
    char *answer;

    if (member->driver->info(member->path, param, 0, NULL, size))
        return NULL;
    answer = malloc(*size + 1);
    if (answer && member->driver->info(member->path, param, *size, answer, NULL)) {
        free(answer);
        return NULL;
    }
    if (answer)
        answer[*size] = '\0';
    return answer;
}

cl_version tsl_member_version(const struct tsl_member *member, cl_device_info param, const char *prefix)
{
    size_t size;
    char *text = tsl_member_ask(member, param, &size);
    cl_version version = 0;
    unsigned major, minor;

    if (text && strncmp(text, prefix, strlen(prefix)) == 0 &&
        sscanf(text + strlen(prefix), "%u.%u", &major, &minor) == 2)
        version = CL_MAKE_VERSION(major, minor, 0);
    free(text);
    return version;
}

bool tsl_member_knows_3(const struct tsl_member *member)
{
    return tsl_member_version(member, CL_DEVICE_VERSION, "OpenCL ") >= CL_MAKE_VERSION(3, 0, 0);
}

bool tsl_member_lists_feature(const struct tsl_member *member, const char *name)
{
    size_t size;
    cl_name_version *items = tsl_member_ask(member, CL_DEVICE_OPENCL_C_FEATURES, &size);
    bool found = false;

    for (size_t i = 0; items && i < size / sizeof *items && !found; i++)
        found = strncmp(items[i].name, name, CL_NAME_VERSION_MAX_NAME_SIZE) == 0;
    free(items);
    return found;
}

bool tsl_member_has_variables(const struct tsl_member *member)
{
    if (tsl_member_knows_3(member))
        return tsl_member_lists_feature(member, TSL_FEATURE_VARIABLES);
    return tsl_member_version(member, CL_DEVICE_OPENCL_C_VERSION, "OpenCL C ") >= CL_MAKE_VERSION(2, 0, 0);
}
