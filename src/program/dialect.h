/*
 * A program is written in the virtual device's OpenCL C, but each member's compiler has its own version and macros. So
 * -cl-std is lowered for older members, and a prelude before the source undefines the macros that the virtual device
 * doesn't promise. Every member then compiles the same branches of the same program (except for images, which the
 * virtual device may promise although one member alone has them).
 */
#ifndef TSL_PROGRAM_DIALECT_H
#define TSL_PROGRAM_DIALECT_H

#include "device/device.h"
#include "facts/build_options.h"

struct tsl_dialect {
    unsigned
        std; /* the version that this member compiles, as in tsl_build_options; 0: as the options say, or its default */
    unsigned meant;    /* the version that the program sees without -cl-std; 0: as the options say */
    bool translated;   /* std is older than the version asked for */
    bool non_uniform;  /* launches may have remainders */
    bool kept_uniform; /* -cl-uniform-work-group-size is added: the member would accept remainders, and make them where
                          it chooses the group size, but the program was promised none */
};

/* May launches on this device have remainders? */
bool tsl_dialect_has_remainders(struct tsl_device *device);

/* Does the member compile a module of an intermediate language, which has no version of its own, for launches with
 * remainders (OpenCL 3.0, 5.8.6.5)? */
bool tsl_dialect_il_has_remainders(const struct tsl_path *path, const struct tsl_build_options *options);

/* How this member has to compile the program. Calls the driver (info). */
void tsl_dialect_choose(struct tsl_device *device, const struct tsl_path *path, const struct tsl_build_options *options,
                        struct tsl_dialect *dialect);

/* The source with its prelude (heap, *size bytes; NULL without memory). Line numbers in messages remain the source's.
 * Calls the driver (info). */
char *tsl_dialect_source(struct tsl_device *device, const struct tsl_path *path,
                         const struct tsl_build_options *options, const struct tsl_dialect *dialect, const char *source,
                         size_t *size);

#endif
