/*
 * The driver contract: kernels that stand in another one's place. A driver that has `substitute` makes them of
 * functions of this process, or of its technology's own machine code (PTX, cubin). They take the original's arguments
 * and are launched as it is.
 */
#ifndef TSL_DRIVER_CALL_H
#define TSL_DRIVER_CALL_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver/work.h"

/* An argument of a call. */
struct tsl_call_arg {
    enum tsl_arg_kind kind; /* VALUE, MEM or LOCAL */
    size_t size;            /* bytes of the value, of the memory, or of local memory */
    void *at;               /* where the value is; the memory's address on the member; NULL of local memory */
};

/* What a function is called with, borrowed for the call. */
struct tsl_call_launch {
    unsigned n_args;
    const struct tsl_call_arg *args;
    const struct tsl_window *window; /* with a local size where the launch has one */
    void *stream;                    /* of CUDA: the stream in which the work is to be enqueued; else NULL */
    const void *processors;          /* of the host's members: a cpu_set_t of those that the work may use; else NULL */
    unsigned n_threads;              /* likewise: how many threads the member has; else 0 */
};

/* The function did nothing, and nothing was written: the original runs in its place. Positive: no OpenCL error. */
#define TSL_CALL_REFUSED 1

/* CL_SUCCESS, TSL_CALL_REFUSED, or an error with which the launch fails. Of members of the host the work is done when
 * it returns; of CUDA it is in the stream, and the context is current. The thread may be any. */
struct tsl_call {
    cl_int (*run)(void *self, const struct tsl_call_launch *launch);
    void *self;
};

/* Where a call's function is, for a driver whose members are called by another process. Strings are borrowed. */
struct tsl_call_file {
    const char *name;    /* for sentences */
    const char *library; /* a shared object's file */
    const char *function;
    size_t align; /* bytes, > 0: so the addresses of memory must be aligned, or the original runs */
    bool trial;   /* its first call is tried in a process of its own (variant/trial.h) */
};

/* What is to stand in a kernel's place. */
struct tsl_substitute {
    const struct tsl_call *call;      /* copied; NULL: it is code */
    const struct tsl_call_file *file; /* what `call` calls; NULL: a function that no other process has */
    const void *code;
    size_t code_size;
    const char *function; /* in the code */
};

#endif
