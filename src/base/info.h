/*
 * Answers of the clGet…Info functions: one convention for all (OpenCL 3.0, 4.1 and others).
 */
#ifndef TSL_BASE_INFO_H
#define TSL_BASE_INFO_H

#include <CL/cl.h>
#include <stddef.h>

/* Where the application wants the answer: the last three arguments of the call. */
struct tsl_info {
    size_t size;      /* bytes at value */
    void *value;      /* NULL: only the size is asked for */
    size_t *size_ret; /* may be NULL */
};

/* Gives the answer; CL_INVALID_VALUE when it doesn't fit into info->size bytes, then nothing is written. */
cl_int tsl_info_bytes(const struct tsl_info *info, const void *data, size_t data_size);
/* With the closing NUL; NULL is answered as "". */
cl_int tsl_info_string(const struct tsl_info *info, const char *text);

cl_int tsl_info_uint(const struct tsl_info *info, cl_uint value);
cl_int tsl_info_ulong(const struct tsl_info *info, cl_ulong value);
cl_int tsl_info_size(const struct tsl_info *info, size_t value);
cl_int tsl_info_pointer(const struct tsl_info *info, const void *value);

#endif
