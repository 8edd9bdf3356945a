/*
 * The OpenCL C that a program is written for is the virtual device's; each member's compiler speaks its own. What is
 * done about it: -cl-std is lowered for older members, and a prelude before the source takes away the macros that the
 * virtual device doesn't promise, so that every member compiles the same branches of the same program (but for what it
 * promises of images, which one member may have alone).
 */
#ifndef TSL_PROGRAM_DIALECT_H
#define TSL_PROGRAM_DIALECT_H

#include "device/device.h"
#include "facts/build_options.h"

struct tsl_dialect {
    unsigned
        std; /* the version that this member compiles, as in tsl_build_options; 0: as the options say, or as it likes */
    unsigned meant;    /* without -cl-std, the version that the program is to see; 0: as the options say */
    bool translated;   /* it is older than the one asked for */
    bool non_uniform;  /* launches may have remainders */
    bool kept_uniform; /* the member would take them, and make them where it chooses the groups; the program was
                          promised none: -cl-uniform-work-group-size */
};

/* May launches on this device have remainders? */
bool tsl_dialect_has_remainders(struct tsl_device *device);

/* Does the member make code for them of an intermediate language, which says nothing of its own? (OpenCL 3.0, 5.8.6.5)
 */
bool tsl_dialect_il_has_remainders(const struct tsl_path *path, const struct tsl_build_options *options);

/* How this member is to compile. Calls the driver (info). */
void tsl_dialect_choose(struct tsl_device *device, const struct tsl_path *path, const struct tsl_build_options *options,
                        struct tsl_dialect *dialect);

/* The source with its prelude (heap, *size bytes; NULL without memory). Line numbers in messages stay those of the
 * source. Calls the driver (info). */
char *tsl_dialect_source(struct tsl_device *device, const struct tsl_path *path,
                         const struct tsl_build_options *options, const struct tsl_dialect *dialect, const char *source,
                         size_t *size);

#endif
