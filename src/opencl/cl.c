#include "opencl/cl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct function {
    const char *name;
    unsigned version;
    size_t ours;   /* offset in struct tsl_opencl_cl */
    size_t theirs; /* offset in cl_icd_dispatch */
    bool required;
} functions[] = {
#define FUNCTION(version, name, required) \
    {#name, version, offsetof(struct tsl_opencl_cl, name), offsetof(cl_icd_dispatch, name), required},
    TSL_OPENCL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Slots are read and written as bytes: what C says about pointers to functions and to data stays untouched. */
static bool is_null(const struct tsl_opencl_cl *cl, const struct function *f)
{
    static const char zero[sizeof(void *)];

    return !memcmp((const char *)cl + f->ours, zero, sizeof(zero));
}

bool tsl_opencl_is_icd2(cl_platform_id platform)
{
    const char *table = *(const char *const *)platform;
    intptr_t ids, unload;

    memcpy(&ids, table + offsetof(cl_icd_dispatch, clGetPlatformIDs), sizeof(ids));
    memcpy(&unload, table + offsetof(cl_icd_dispatch, clUnloadCompiler), sizeof(unload));
    return ids == CL_ICD2_TAG_KHR && unload == CL_ICD2_TAG_KHR;
}

/* Is it a function of the loader? A vendor whose own library has that name is told apart by its other functions. */
static bool is_loaders(const void *address, const void *own)
{
    Dl_info here, there;
    const char *name;

    if (!dladdr(address, &here) || !here.dli_fname || (dladdr(own, &there) && there.dli_fbase == here.dli_fbase))
        return false;
    name = strrchr(here.dli_fname, '/');
    return !strncmp(name ? name + 1 : here.dli_fname, "libOpenCL.so", 12);
}

void tsl_opencl_cl_fill(struct tsl_opencl_cl *cl, cl_platform_id platform, tsl_opencl_address_fn address,
                        unsigned version)
{
    const char *table = *(const char *const *)platform;

    void *own;

    memset(cl, 0, sizeof(*cl));
    memcpy(&own, table + offsetof(cl_icd_dispatch, clGetPlatformInfo), sizeof(own));
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        void *found;

        if (f->version > version)
            continue;
        if (address)
            found = address(platform, f->name);
        else
            memcpy(&found, table + f->theirs, sizeof(found));
        if (found && (address || !is_loaders(found, own)))
            memcpy((char *)cl + f->ours, &found, sizeof(found));
    }
}

/* What lies behind a table's end may be no memory at all. */
static bool read_safely(const void *from, void *to, size_t size)
{
    struct iovec remote = {(void *)(uintptr_t)from, size}, local = {to, size};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Does the vendor's library have a function of that name in its slot of the table? */
static bool is_named(const char *table, const struct function *f, const void *own)
{
    Dl_info here, there;
    void *found;

    return read_safely(table + f->theirs, &found, sizeof(found)) && found && dladdr(found, &here) && here.dli_sname &&
           here.dli_saddr == found && !strncmp(here.dli_sname, f->name, strlen(f->name)) && dladdr(own, &there) &&
           here.dli_fbase == there.dli_fbase;
}

unsigned tsl_opencl_cl_version(cl_platform_id platform, tsl_opencl_address_fn address, unsigned said)
{
    const char *table = *(const char *const *)platform;
    void *own;

    if (said != 100)
        return said;
    memcpy(&own, table + offsetof(cl_icd_dispatch, clGetPlatformInfo), sizeof(own));
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        const struct function *f = &functions[i];

        if (f->version == 110 && !(address ? address(platform, f->name) != NULL : is_named(table, f, own)))
            return said;
    }
    return 110;
}

void tsl_opencl_cl_limit(struct tsl_opencl_cl *cl, unsigned version)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (functions[i].version > version)
            memset((char *)cl + functions[i].ours, 0, sizeof(void *));
}

const char *tsl_opencl_cl_missing(const struct tsl_opencl_cl *cl)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (functions[i].required && is_null(cl, &functions[i]))
            return functions[i].name;
    return NULL;
}

unsigned tsl_opencl_version(const char *text)
{
    unsigned long major, minor;
    char *end;

    if (strncmp(text, "OpenCL ", 7))
        return 0;
    major = strtoul(text + 7, &end, 10);
    if (*end != '.' || major > 99)
        return 0;
    minor = strtoul(end + 1, NULL, 10);
    return minor > 9 ? 0 : (unsigned)(major * 100 + minor * 10);
}
