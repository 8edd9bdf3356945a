/* A vendor without platforms that notes in VENDOR_ORDER when its library was opened and when it was asked. */
#include <CL/cl_icd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(const char *what)
{
    const char *before = getenv("VENDOR_ORDER");
    char all[256];

    snprintf(all, sizeof(all), "%s%s ", before ? before : "", what);
    setenv("VENDOR_ORDER", all, 1);
}

__attribute__((constructor)) static void opened(void)
{
    note("opened");
}

static cl_int CL_API_CALL platform_ids(cl_uint n, cl_platform_id *platforms, cl_uint *n_platforms)
{
    (void)n;
    (void)platforms;
    if (n_platforms)
        *n_platforms = 0;
    note("asked");
    return CL_PLATFORM_NOT_FOUND_KHR;
}

__attribute__((visibility("default"))) CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : (void *)platform_ids;
}
