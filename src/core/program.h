/*
 * Programs and kernels: one handle for the application, one driver object per member behind it.
 */
#ifndef TSL_CORE_PROGRAM_H
#define TSL_CORE_PROGRAM_H

#include "compile/facts.h"
#include "core/context.h"
#include "core/object.h"

#include <pthread.h>

struct tsl_buffer;

/* One member's share of a program. */
struct tsl_program_part {
    struct tsl_dprogram *program; /* NULL: not built, or failed */
    cl_int error;                 /* of the last build on this member */
    char *log;                    /* heap, NULL before a build */
};

struct tsl_program {
    struct tsl_object object;
    struct tsl_context *context; /* shown (tsl_object_show) */
    char *source;                /* concatenated; NULL for binaries */
    size_t source_size;
    char *options; /* of the last build; NULL before */
    cl_build_status status;
    struct tsl_program_part *parts; /* context->n_members */
    char *kernel_names;             /* ';'-separated, those that some member has; NULL before a build */
    unsigned n_kernels;             /* live kernel objects: a rebuild is refused while there are any */
    pthread_mutex_t lock;           /* guards all from options on; leaf: no other lock is taken under it */
};

/* One member's share of a kernel. */
struct tsl_kernel_part {
    struct tsl_dkernel *kernel; /* NULL: this member can't run it */
    struct tsl_kernel_facts facts;
};

/* A kernel's arguments at one time. Immutable once an enqueue has taken a reference (clSetKernelArg then copies it). */
struct tsl_args {
    atomic_uint refs;
    uint64_t serial; /* unique in the process, never 0; a changed copy gets a new one */
    cl_uint n;
    struct tsl_arg {
        enum tsl_arg_kind kind;    /* TSL_ARG_UNSET until set */
        size_t size;               /* bytes of the value or of local memory */
        void *value;               /* VALUE and SAMPLER: points into this allocation or to heap owned by the args */
        struct tsl_buffer *buffer; /* MEM: NULL is a null pointer; holds an internal reference (tsl_object_ref) */
    } args[];
};

struct tsl_kernel {
    struct tsl_object object;
    struct tsl_program *program; /* shown */
    char *name;
    unsigned eligible;                    /* bit i: member i of the context can run it */
    struct tsl_kernel_part *parts;        /* context->n_members */
    const struct tsl_kernel_facts *facts; /* of the first eligible member; what argument queries answer from */
    struct tsl_args *args;                /* guarded by lock */
    pthread_mutex_t lock;                 /* leaf */
};

/* The arguments as they are now, with a reference for the caller; CL_INVALID_KERNEL_ARGS if one is unset. */
cl_int tsl_kernel_args(struct tsl_kernel *kernel, struct tsl_args **args);
void tsl_args_unref(struct tsl_args *args); /* NULL allowed; may destroy buffers: not under the graph's lock */

#endif
