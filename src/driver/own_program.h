/*
 * A program of a driver's own for one member: OpenCL C that the driver's own build compiles at the first call that asks
 * for it. Nothing of it costs those who don't.
 */
#ifndef TSL_DRIVER_OWN_PROGRAM_H
#define TSL_DRIVER_OWN_PROGRAM_H

#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct tsl_dkernel;
struct tsl_dprogram;
struct tsl_member;

/* Zeroed, but for the lock, by init. */
struct tsl_own_program {
    pthread_mutex_t lock; /* guards the making */
    bool tried;
    atomic_bool made;             /* the rest, and the kernels, are constant then */
    struct tsl_dprogram *program; /* NULL: none */
};

/* What it is made of. */
struct tsl_own_source {
    const char *text;
    size_t size;       /* bytes, without a NUL */
    const char *lacks; /* what a member without it does: "… can't merge", for the log */
    size_t n_kernels;  /* places in the array of kernels */
    cl_int (*create)(struct tsl_dprogram *program, struct tsl_dkernel **kernels); /* fills places, by tsl_own_kernel */
};

void tsl_own_program_init(struct tsl_own_program *own);
/* Makes program and kernels, at the first call. False: the member can't build them, as the log tells; all kernels are
 * NULL. Blocks. */
bool tsl_own_program_make(struct tsl_own_program *own, struct tsl_member *member, const struct tsl_own_source *source,
                          struct tsl_dkernel **kernels);
/* One kernel, to be run in groups of so many work-items; NULL on error, as where the member takes fewer. */
cl_int tsl_own_kernel(struct tsl_dprogram *program, const char *name, size_t group, struct tsl_dkernel **kernel);
/* Before the member closes. */
void tsl_own_program_finish(struct tsl_own_program *own, const struct tsl_own_source *source,
                            struct tsl_dkernel **kernels);

#endif
