/* What programs that measure share: the clock, and ending with a sentence. */
#ifndef TSL_BENCH_MEASURE_H
#define TSL_BENCH_MEASURE_H

#include <CL/cl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Microseconds of a clock that only goes forward. */
static inline double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Ends the program if there is an error, saying what failed. */
static inline void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: %s failed with error %d\n", program_invocation_short_name, what, error);
    exit(1);
}

static inline cl_mem device_buffer(cl_context context, size_t size)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &error);
    must(error, "clCreateBuffer");
    return mem;
}

static inline cl_kernel program_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    must(error, name);
    return kernel;
}

/* Ends the program unless the platform is Tesela: some loaders don't read OCL_ICD_VENDORS, and give another, which
 * would be measured beside itself. */
static inline void must_be_tesela(const char *platform, const char *vendors)
{
    if (!strcmp(platform, "Tesela"))
        return;
    fprintf(stderr, "%s: the loader here finds \"%s\" by OCL_ICD_VENDORS=%s, not Tesela\n",
            program_invocation_short_name, platform, vendors);
    exit(1);
}

#endif
