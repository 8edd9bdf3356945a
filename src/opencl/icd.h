/*
 * Vendors' libraries and platforms: reading the .icd files, loading what they name, asking each for its platforms.
 *
 * libOpenCL is never used. A library is never unloaded, not even when it turned out useless: vendors leave threads and
 * exit handlers behind. Platforms and devices live until the process ends, and are the same ones when probed again.
 */
#ifndef TSL_OPENCL_ICD_H
#define TSL_OPENCL_ICD_H

#include "opencl/cl.h"
#include "opencl/quirks.h"

#include <pthread.h>
#include <stdatomic.h>

struct tsl_opencl_platform {
    cl_platform_id id;
    struct tsl_opencl_cl cl;
    unsigned version; /* as tsl_opencl_cl_version gives it */
    bool modest;      /* it has that, though it says less; so do its devices */
    char *name;       /* CL_PLATFORM_NAME */
    struct tsl_opencl_device *devices;
    unsigned probe; /* the number of the probe that reported it last */
    struct tsl_opencl_platform *next;
};

struct tsl_opencl_device {
    cl_device_id id;
    struct tsl_opencl_platform *platform;
    struct tsl_opencl_cl cl; /* what both the platform and the device have */
    unsigned version;
    struct tsl_opencl_quirks quirks;
    bool was_changed;             /* tsl_opencl_is_changed(), when the vendor had just been loaded: some ask once */
    pthread_mutex_t lock;         /* held over each call that concerns the device, where the quirks say synchronous */
    atomic_int default_variables; /* opencl/variables.c: 0 not asked, 1 yes, -1 no */
    struct tsl_opencl_device *next;
};

/* Called for each platform that is another vendor's, once even if several .icd files lead to it. */
typedef void tsl_opencl_platform_fn(void *arg, struct tsl_opencl_platform *platform);

/* Reads the .icd files of the folder, opens all their libraries, then asks each, in the order of the names. What can't
 * be read or loaded is reported by tsl_driver_report_problem. Only one thread at a time (the registry's lock). */
void tsl_opencl_platforms(const char *folder, tsl_opencl_platform_fn *fn, void *arg);

/* The device's structure, made at the first call; NULL if memory ran out. Same locking. */
struct tsl_opencl_device *tsl_opencl_device(struct tsl_opencl_platform *platform, cl_device_id id,
                                            unsigned device_version, const char *device_name);

/* A string that clGetPlatformInfo or clGetDeviceInfo gives (heap); NULL if it gives none. */
char *tsl_opencl_platform_string(const struct tsl_opencl_cl *cl, cl_platform_id platform, cl_platform_info param);
char *tsl_opencl_device_string(const struct tsl_opencl_cl *cl, cl_device_id device, cl_device_info param);

#endif
