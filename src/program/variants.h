/*
 * Variants of a program's kernels on the members that can have them (variant/variant.h). They are made with the kernel,
 * and what can't be made is left out with a sentence: no call of the application's ever fails for a variant.
 */
#ifndef TSL_PROGRAM_VARIANTS_H
#define TSL_PROGRAM_VARIANTS_H

#include "footprint/window.h"

#include <CL/cl.h>
#include <CL/cl_tesela.h>
#include <stdbool.h>
#include <stdint.h>

struct tsl_args;
struct tsl_dkernel;
struct tsl_dprogram;
struct tsl_kernel;
struct tsl_kernel_part;
struct tsl_member;
struct tsl_program;
struct tsl_variant;

/* One variant on one member. */
struct tsl_kernel_variant {
    struct tsl_variant *variant; /* owned reference */
    struct tsl_dkernel *kernel;
    bool windows;       /* it can run parts of a launch */
    uint64_t place_key; /* what placement knows it by, from run to run */
};

/* Gives the kernel, whose members are known, its variants. Blocks; calls drivers and compilers. */
void tsl_variants_attach(struct tsl_kernel *kernel);
/* Of one part, before its kernel is freed. call: false in a forked child, where no driver is called. */
void tsl_variants_detach(struct tsl_kernel_part *part, struct tsl_member *member, bool call);

/* clAddKernelVariantTESELA: all of its errors but CL_INVALID_PROGRAM. */
cl_int tsl_variants_add(struct tsl_program *program, const char *description, cl_variant_function_tesela function,
                        void *user_data);
/* What a program has of variants, at its end. call: as above. */
struct tsl_program_variants;
void tsl_variants_end(struct tsl_program *program, bool call);

/* Does it take the launch? part: a part of the launch. False for one that is out. */
bool tsl_variant_takes(const struct tsl_kernel_variant *v, const struct tsl_args *args, const struct tsl_window *window,
                       bool part);
/* The sizes with which it is launched. Only after it takes the launch. */
struct tsl_window tsl_variant_window(const struct tsl_kernel_variant *v, const struct tsl_args *args,
                                     const struct tsl_window *window);

#endif
