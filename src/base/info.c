#include "base/info.h"

#include <string.h>

cl_int tsl_info_bytes(const struct tsl_info *info, const void *data, size_t data_size)
{
    if (info->value) {
        if (info->size < data_size)
            return CL_INVALID_VALUE;
        /* No bytes: data may be NULL, which memcpy doesn't allow. */
        if (data_size > 0)
            memcpy(info->value, data, data_size);
    }
    if (info->size_ret)
        *info->size_ret = data_size;
    return CL_SUCCESS;
}

cl_int tsl_info_string(const struct tsl_info *info, const char *text)
{
    if (!text)
        text = "";
    return tsl_info_bytes(info, text, strlen(text) + 1);
}

cl_int tsl_info_uint(const struct tsl_info *info, cl_uint value)
{
    return tsl_info_bytes(info, &value, sizeof value);
}

cl_int tsl_info_ulong(const struct tsl_info *info, cl_ulong value)
{
    return tsl_info_bytes(info, &value, sizeof value);
}

cl_int tsl_info_size(const struct tsl_info *info, size_t value)
{
    return tsl_info_bytes(info, &value, sizeof value);
}

cl_int tsl_info_pointer(const struct tsl_info *info, const void *value)
{
    return tsl_info_bytes(info, &value, sizeof value);
}
