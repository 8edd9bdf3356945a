/*
 * The platform and its devices: the virtual one (one per process) and its sub-devices, each of which has one member or
 * the members of one NUMA node.
 */
#ifndef TSL_DEVICE_DEVICE_H
#define TSL_DEVICE_DEVICE_H

#include "driver/driver.h"
#include "handle/object.h"

struct tsl_platform {
    struct tsl_object object;
};

struct tsl_device_facts;

struct tsl_device {
    struct tsl_object object;
    struct tsl_device *parent;   /* NULL: the virtual device itself */
    struct tsl_member *member;   /* the member of a sub-device by member; NULL: several members, or another kind of
                                    partition */
    struct tsl_member **members; /* the members of a sub-device (owned); NULL: the virtual device, which has all */
    unsigned n_members;
    cl_device_partition_property partition[3]; /* how a sub-device was partitioned, with the closing 0 */
    /* device/device_facts.h: owned; made at the first query that needs the members, constant from then on. */
    struct tsl_device_facts *_Atomic facts;
};

/* The one platform and its one root device. Static; using them loads no vendor and calls no driver. */
struct tsl_platform *tsl_platform_get(void);
struct tsl_device *tsl_device_root(void);

/* The members behind a device, in order of index; opens them at the first call (may block; not under a lock of ours).
 * If *n is 0, none was found, and the caller reports CL_DEVICE_NOT_AVAILABLE (tsl_device_log_no_member logs the
 * sentence). */
struct tsl_member *const *tsl_device_members(struct tsl_device *device, unsigned *n);
void tsl_device_log_no_member(void);
bool tsl_device_has(const struct tsl_device *device, const struct tsl_member *member);

/* clGetDeviceInfo for a device of ours: every value by a rule from the members (docs/user/limits.md has the table). */
cl_int tsl_device_info(struct tsl_device *device, cl_device_info param, size_t size, void *value, size_t *size_ret);

/* A number for Tesela's own use (size_t and narrower values of clGetDeviceInfo); 0 if the query isn't a number. */
cl_ulong tsl_device_number(struct tsl_device *device, cl_device_info param);

/* Does one of its members build programs of an intermediate language? */
bool tsl_device_takes_il(struct tsl_device *device);

/* Tests only, after tsl_members_reset: the next query asks the members again. */
void tsl_device_forget(void);

#endif
