/*
 * Programs and kernels: one handle for the application, one driver object per member behind it.
 * docs/dev/kernels.md tells how a program reaches the members.
 */
#ifndef TSL_PROGRAM_PROGRAM_H
#define TSL_PROGRAM_PROGRAM_H

#include "base/lock.h"
#include "base/spin.h"
#include "facts/kernel_facts.h"
#include "handle/object.h"
#include "object/context.h"
#include "program/text_access.h"

#include <pthread.h>

struct tsl_buffer;
struct tsl_footprint_cache;

/* One member's share of a program. */
struct tsl_program_part {
    struct tsl_dprogram *program;  /* NULL: not built, or failed */
    cl_int error;                  /* of the last build on this member */
    char *log;                     /* heap, NULL before a build */
    char *kernel_names;            /* ';'-separated, heap; NULL: not built, or the driver can't tell */
    bool non_uniform;              /* its launches may have remainders: the language version and the device allow it */
    bool unpromised;               /* so may its code, which was loaded; but the device allows none */
    cl_build_status status;        /* of the last build on this member; never CL_BUILD_IN_PROGRESS */
    cl_program_binary_type type;   /* of what was built, or was loaded */
    char *options;                 /* of the last build, heap; NULL before */
    struct tsl_text_access *roles; /* of its kernels' arguments, a reference; NULL: nothing is known */
    bool has_variables;            /* of program scope */
    size_t variables_size;         /* bytes of these; 0: none, not known, or not built */
    bool no_arg_info;              /* built from source, and nobody asked for the arguments of its kernels */
    void *binary;                  /* what the application loaded for this member; owned, constant; NULL: nothing */
    size_t binary_size;
};

/* A binary as it was told the application. */
struct tsl_told_binary {
    void *data;
    size_t size;
};

struct tsl_program {
    struct tsl_object object;
    struct tsl_context *context; /* shown (tsl_object_show) */
    cl_uint n_devices;           /* associated with the program */
    struct tsl_device **devices; /* the context's; those that a binary was given for; the array is owned */
    char *source;                /* concatenated; NULL for binaries */
    size_t source_size;          /* bytes without the closing 0 */
    struct tsl_il *il;           /* NULL: not of an intermediate language */
    _Atomic(uint64_t) digest;    /* of the source, or of what was loaded; 0: not yet asked for */
    bool built_in;               /* of built-in kernels: ready from the beginning, never built */
    bool linked;                 /* made by clLinkProgram, and so not to be built */

    struct tsl_lock lock; /* guards all that follows; leaf: no other lock is taken under it */
    unsigned building;    /* the members that a running build is for, which keeps others from building; 0: none runs */
    struct tsl_program_part *parts; /* context->n_members; read without the lock between begin_read and end_read */
    char *kernel_names;             /* ';'-separated, those that some member has; NULL before a build */
    struct tsl_told_binary *told;   /* n_devices; data NULL: not asked for since the last build */
    unsigned n_kernels;             /* live kernel objects: a rebuild is refused while there are any */
    unsigned n_readers;             /* calls that use the parts without the lock; a build waits until there are none */
    pthread_cond_t no_readers;
};

/* Strings are concatenated; lengths may be NULL, a length of 0 means up to the closing 0 (OpenCL 3.0, 5.8.1). */
cl_int tsl_program_create_source(struct tsl_context *context, cl_uint n, const char *const *strings,
                                 const size_t *lengths, struct tsl_program **program);

/* A module of an intermediate language, for the members that take it. CL_INVALID_OPERATION: the context's devices take
 * none; CL_INVALID_VALUE: it is no SPIR-V. Asks drivers. */
cl_int tsl_program_create_il(struct tsl_context *context, const void *module, size_t size,
                             struct tsl_program **program);

/* clSetProgramSpecializationConstant: every error of it but that of a wrong handle. Counts for builds that begin
 * later. Asks drivers. */
cl_int tsl_program_set_special(struct tsl_program *program, cl_uint id, size_t size, const void *value);

/* A program binary of ours (program/container.h), or bytes that some vendor's compiler made: each member is asked
 * whether it takes those. */
struct tsl_program_load {
    struct tsl_device *device;
    const void *binary;
    size_t size;
    cl_int status; /* out: CL_INVALID_BINARY: damaged, or for no member behind this device */
};

/* The first error among the loads' is returned, and then there is no program. May block; calls drivers. */
cl_int tsl_program_create_binary(struct tsl_context *context, cl_uint n, struct tsl_program_load *loads,
                                 struct tsl_program **program);

bool tsl_program_has_device(const struct tsl_program *program, const struct tsl_device *device);

typedef void(CL_CALLBACK tsl_program_fn)(cl_program, void *);

/* For which of the program's devices something is to be built. */
struct tsl_targets {
    cl_uint n;
    struct tsl_device *const *devices;
};

/* Builds for the members behind the targets (NULL: all of the program's devices), all at once. A device has succeeded
 * when one of its members has; the result is that of the devices, and the first failure among them. With fn: returns
 * when the build has begun; a thread of ours ends it and calls fn. CL_INVALID_OPERATION while kernels are attached or a
 * build is running. options may be NULL. Blocks; calls drivers. */
cl_int tsl_program_build(struct tsl_program *program, const struct tsl_targets *targets, const char *options,
                         tsl_program_fn *fn, void *arg);

/* A program of built-in kernels, named in a list with ';' between them: each member has those of them that it has.
 * CL_INVALID_VALUE: no member behind one of the devices has one of them. Blocks; calls drivers. */
cl_int tsl_program_create_built_in(struct tsl_context *context, const struct tsl_targets *targets, const char *names,
                                   struct tsl_program **program);

/* Who hears of the end of a compilation or a link, as fn and arg above. */
struct tsl_program_notify {
    tsl_program_fn *fn;
    void *arg;
};

/* Other programs that have a part in one: headers with their names, or what is linked (names NULL). */
struct tsl_program_includes {
    cl_uint n;
    struct tsl_program *const *programs;
    const char *const *names;
};

/* The same for clCompileProgram: the program becomes one that can be linked. CL_INVALID_OPERATION also without a
 * source. */
cl_int tsl_program_compile(struct tsl_program *program, const struct tsl_targets *targets, const char *options,
                           const struct tsl_program_includes *headers, const struct tsl_program_notify *notify);

/* For clLinkProgram: an empty program, and the link that fills it for all of its devices. *began false: nothing was
 * done, the error is one of the arguments (CL_INVALID_OPERATION: an input isn't compiled, or a build of it is running);
 * else it is the link's. */
cl_int tsl_program_create_empty(struct tsl_context *context, cl_uint n_devices, struct tsl_device *const *devices,
                                struct tsl_program **program);
cl_int tsl_program_link(struct tsl_program *program, const char *options, const struct tsl_program_includes *inputs,
                        const struct tsl_program_notify *notify, bool *began);

/* Did the last builds leave something that kernels can be made of, on one member at least? */
bool tsl_program_is_executable_locked(const struct tsl_program *program) TSL_REQUIRES(program->lock);

/* What the members in the set have come to together: the best that one of them has. */
cl_build_status tsl_program_status_locked(const struct tsl_program *program, unsigned members)
    TSL_REQUIRES(program->lock);
cl_program_binary_type tsl_program_type_locked(const struct tsl_program *program, unsigned members)
    TSL_REQUIRES(program->lock);

/* The parts stay as they are, and without a lock, from a begin that returned true (the program is executable) to its
 * end. */
bool tsl_program_begin_read(struct tsl_program *program);
void tsl_program_end_read(struct tsl_program *program);

/* Lists of names with ';' between them: how many, and is one among them (names NULL: no)? */
cl_uint tsl_program_count_kernels(const char *names);
bool tsl_program_names_have(const char *names, const char *name);

/* The program's build log for a device (heap; NULL without memory): the vendor's own where there is one member that
 * says anything, else one section for each member that failed or said something. */
char *tsl_program_log(struct tsl_program *program, unsigned members);

/* What the members behind the program's device i have built (or were given), as a binary of ours: heap, the caller
 * frees; size 0 and NULL where there is nothing. The same bytes until the next build, so that room made for the size is
 * enough (vendors' binaries grow while kernels run). Blocks; calls drivers. */
cl_int tsl_program_binary(struct tsl_program *program, cl_uint i, void **data, size_t *size);

/* What a launch of one kernel may be on one member. */
struct tsl_launch_limits {
    size_t max_items[3];     /* CL_DEVICE_MAX_WORK_ITEM_SIZES */
    cl_ulong local_mem_size; /* CL_DEVICE_LOCAL_MEM_SIZE */
    size_t parameter_size;   /* CL_DEVICE_MAX_PARAMETER_SIZE */
    bool non_uniform;        /* a launch may have remainders */
    bool unpromised;         /* … only the code may: the member doesn't choose the size of groups */
};

/* One member's share of a kernel. */
struct tsl_kernel_part {
    struct tsl_dkernel *kernel; /* NULL: this member can't run it */
    struct tsl_kernel_facts facts;
    struct tsl_launch_limits limits;
    struct tsl_footprint_cache *footprints; /* what launches touched lately; owned; NULL: not asked yet. Under the
                                             * graph's lock */
    bool windows; /* a launch there may be cut into windows: the driver's windows_ok, asked once */
    bool has_run; /* a launch there has ended well; under the graph's lock */
};

/* A kernel's arguments at one time. Immutable once an enqueue has taken a reference (clSetKernelArg then copies it). */
struct tsl_args {
    atomic_uint refs;
    struct tsl_spin lock; /* leaf; guards n_held */
    unsigned n_held;      /* by launches: while it is not 0, every buffer has one internal reference for all of them */
    uint64_t serial; /* unique in the process, never 0 in arguments that were taken; a changed copy gets a new one */
    cl_uint n;       /* the kernel's */
    cl_uint n_all;   /* and behind them the shared memory that no argument leads to (clSetKernelExecInfo) */
    cl_uint n_unset;
    struct tsl_arg {
        enum tsl_arg_kind kind; /* TSL_ARG_UNSET until set */
        size_t size;            /* bytes of the value or of local memory */
        void *value;            /* VALUE, SAMPLER and SVM: points into this allocation or to heap owned by the args */
        struct tsl_buffer *buffer; /* MEM, SVM (the memory's root): NULL is a null pointer; may be gone while nothing
                                    * holds (kernels don't keep their arguments' objects alive: OpenCL 3.0, 5.9.2) */
        uint64_t buffer_id;        /* tells a gone one from another in the same memory */
    } args[];
};

struct tsl_kernel {
    struct tsl_object object;
    struct tsl_program *program; /* shown */
    char *name;
    uint64_t place_key;                   /* what placement knows it by: the same for equal kernels, from run to run */
    unsigned eligible;                    /* bit i: member i of the context can run it */
    struct tsl_kernel_part *parts;        /* context->n_members */
    const struct tsl_kernel_facts *facts; /* for argument queries: of the first eligible member that knows */
    bool no_arg_info;                     /* nobody asked for them (-cl-kernel-arg-info): we know, but don't tell */
    size_t parameter_size;                /* the most that a value may have: the largest of the eligible members' */
    atomic_bool suggested;                /* a work-group size was suggested: launches that give none must use it */
    struct tsl_spin lock;                 /* leaf; guards args */
    struct tsl_args *args;
};

/* CL_INVALID_PROGRAM_EXECUTABLE: no member has built the program; CL_INVALID_KERNEL_NAME: none has that kernel. Members
 * whose signature differs from the first one's are left out. May block; calls drivers. */
cl_int tsl_kernel_create(struct tsl_program *program, const char *name, struct tsl_kernel **kernel);
/* One of each kernel of the program that has one definition; *n_ret tells how many these are, and NULL follows for the
 * others. kernels NULL: only counts, all of them. CL_INVALID_VALUE: there are more than n. */
cl_int tsl_kernel_create_all(struct tsl_program *program, cl_uint n, cl_kernel *kernels, cl_uint *n_ret);
/* The same kernel with the same arguments, which from then on change apart. */
cl_int tsl_kernel_clone(struct tsl_kernel *source, struct tsl_kernel **kernel);

/* clSetKernelArg: every error of it but CL_INVALID_KERNEL. Safe beside anything but itself on the same kernel. */
cl_int tsl_kernel_set_arg(struct tsl_kernel *kernel, cl_uint index, size_t size, const void *value);

/* clSetKernelArgSVMPointer, clSetKernelExecInfo with CL_KERNEL_EXEC_INFO_SVM_PTRS: likewise. NULL is a null pointer. */
cl_int tsl_kernel_set_svm(struct tsl_kernel *kernel, cl_uint index, const void *pointer);
cl_int tsl_kernel_set_svm_list(struct tsl_kernel *kernel, size_t n, const void *const *pointers);

/* The arguments as they are now, for a launch, with a reference and all their buffers kept alive until tsl_args_let_go;
 * CL_INVALID_KERNEL_ARGS if one is unset or its buffer was released. */
cl_int tsl_kernel_args(struct tsl_kernel *kernel, struct tsl_args **args);
void tsl_args_let_go(struct tsl_args *args); /* NULL allowed; may destroy buffers: not under the graph's lock */
void tsl_args_unref(struct tsl_args *args);  /* NULL allowed */

/* A serial that no arguments have. */
uint64_t tsl_args_new_serial(void);

/* Bytes of local memory that the arguments ask for. */
size_t tsl_args_local_size(const struct tsl_args *args);

#endif
