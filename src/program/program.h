/*
 * Programs and kernels: one handle for the application, one driver object per member behind it.
 * docs/dev/kernels.md tells how a program reaches the members.
 */
#ifndef TSL_PROGRAM_PROGRAM_H
#define TSL_PROGRAM_PROGRAM_H

#include "base/density.h"
#include "base/lock.h"
#include "base/sets.h"
#include "base/spin.h"
#include "facts/kernel_facts.h"
#include "footprint/cut_proofs.h"
#include "handle/object.h"
#include "object/context.h"
#include "program/text_access.h"

#include <pthread.h>

struct tsl_buffer;
struct tsl_footprint_cache;
struct tsl_kernel_variant;
struct tsl_program_variants;

/* One member's part of a program. */
struct tsl_program_part {
    struct tsl_dprogram *program;   /* NULL: not built, or failed */
    cl_int error;                   /* of the last build on this member */
    bool late;                      /* ... which is that its code wasn't ready in time (build.c) */
    char *log;                      /* heap, NULL before a build */
    char *kernel_names;             /* ';'-separated, heap; NULL: not built, or the driver can't tell */
    bool non_uniform;               /* its launches may have remainders: the language version and the device allow it */
    bool unpromised;                /* its code, which was loaded, may have remainders, but the device promises none */
    cl_build_status status;         /* of the last build on this member; never CL_BUILD_IN_PROGRESS */
    cl_program_binary_type type;    /* of what was built or loaded */
    char *options;                  /* of the last build, heap; NULL before */
    struct tsl_text_access *access; /* argument access of its kernels, a reference; NULL: nothing is known */
    bool has_variables;             /* of program scope */
    size_t variables_size;          /* bytes of these; 0: none, not known, or not built */
    bool no_arg_info;               /* built from source without -cl-kernel-arg-info */
    void *binary;                   /* the bytes that the application loaded for this member; owned, constant; NULL:
                                       none */
    size_t binary_size;
    bool of_text; /* these bytes were made of the program's kept text */
};

/* A binary as the application was told it. */
struct tsl_told_binary {
    void *data;
    size_t size;
};

struct tsl_program {
    struct tsl_object object;
    struct tsl_context *context; /* shown (tsl_object_show) */
    cl_uint n_devices;           /* associated with the program */
    struct tsl_device **devices; /* those of the context for which a binary was given; the array is owned */
    char *source;                /* concatenated; NULL for binaries */
    size_t source_size;          /* bytes without the closing 0 */
    char *kept, *kept_options;   /* of a program of binaries: the text of which some were made, and how; NULL: none */
    struct tsl_il *il;           /* NULL: not a program of an intermediate language */
    _Atomic(uint64_t) digest;    /* of the source or of the loaded binaries; 0: not computed yet */
    bool built_in;               /* of built-in kernels: ready from the beginning, never built */
    bool linked;                 /* made by clLinkProgram, and so not to be built */

    struct tsl_lock lock; /* guards all that follows; leaf: no other lock is taken under it */
    tsl_members building; /* those that a running build is for, which keeps others from building; none: none runs */
    struct tsl_program_part *parts; /* context->n_members; read without the lock between begin_read and end_read */
    char *kernel_names;             /* ';'-separated, those that some member has; NULL before a build */
    struct tsl_told_binary *told;   /* n_devices; data NULL: not told since the last build */
    unsigned n_kernels;             /* live kernel objects: a rebuild is refused while there are any */
    struct tsl_idle *idle;          /* what released kernels left (program/idle.h); owned */
    struct tsl_program_variants *variants; /* program/variants.h; owned; NULL: nobody asked for any */
    unsigned n_readers; /* calls that use the parts without the lock; a build waits until there are none */
    pthread_cond_t no_readers;
};

/* Strings are concatenated; lengths may be NULL, a length of 0 means up to the closing 0 (OpenCL 3.0, 5.8.1). */
cl_int tsl_program_create_source(struct tsl_context *context, cl_uint n, const char *const *strings,
                                 const size_t *lengths, struct tsl_program **program);

/* A module of an intermediate language, for the members that take it. CL_INVALID_OPERATION: the context's devices take
 * none; CL_INVALID_VALUE: it isn't SPIR-V. Calls drivers. */
cl_int tsl_program_create_il(struct tsl_context *context, const void *module, size_t size,
                             struct tsl_program **program);

/* clSetProgramSpecializationConstant: all of its errors but that of a wrong handle. Counts for builds that begin later.
 * Calls drivers. */
cl_int tsl_program_set_special(struct tsl_program *program, cl_uint id, size_t size, const void *value);

/* One of our containers (program/container.h), or a vendor's binary: then each member is asked whether it takes it. */
struct tsl_program_load {
    struct tsl_device *device;
    const void *binary;
    size_t size;
    cl_int status; /* out: CL_INVALID_BINARY: damaged, or for no member behind this device */
};

/* If one of the loads fails, the first error is returned and there is no program. May block; calls drivers. */
cl_int tsl_program_create_binary(struct tsl_context *context, cl_uint n, struct tsl_program_load *loads,
                                 struct tsl_program **program);

bool tsl_program_has_device(const struct tsl_program *program, const struct tsl_device *device);

typedef void(CL_CALLBACK tsl_program_fn)(cl_program, void *);

/* The devices for which something is built. */
struct tsl_targets {
    cl_uint n;
    struct tsl_device *const *devices;
};

/* Builds for the members behind the targets (NULL: all of the program's devices), all at once. A device succeeds if one
 * of its members does; the result is the first failure among the devices. With fn: returns when the build has begun; a
 * thread of ours ends it and calls fn. CL_INVALID_OPERATION while kernels are attached or a build is running. options
 * may be NULL. Blocks; calls drivers. */
cl_int tsl_program_build(struct tsl_program *program, const struct tsl_targets *targets, const char *options,
                         tsl_program_fn *fn, void *arg);

/* A program of built-in kernels, named in a list with ';' between them: each member provides those that it has.
 * CL_INVALID_VALUE: no member behind one of the devices has one of them. Blocks; calls drivers. */
cl_int tsl_program_create_built_in(struct tsl_context *context, const struct tsl_targets *targets, const char *names,
                                   struct tsl_program **program);

/* The callback at the end of a compilation or a link, as fn and arg above. */
struct tsl_program_notify {
    tsl_program_fn *fn;
    void *arg;
};

/* Other programs that go into one: headers with their names, or a link's inputs (names NULL). */
struct tsl_program_includes {
    cl_uint n;
    struct tsl_program *const *programs;
    const char *const *names;
};

/* The same for clCompileProgram: the program can be linked afterwards. CL_INVALID_OPERATION also without a source. */
cl_int tsl_program_compile(struct tsl_program *program, const struct tsl_targets *targets, const char *options,
                           const struct tsl_program_includes *headers, const struct tsl_program_notify *notify);

/* For clLinkProgram: an empty program, and the link that fills it for all of its devices. *began false: nothing was
 * done, and the error is one of the arguments (CL_INVALID_OPERATION: an input isn't compiled, or a build of it is
 * running); else it is the link's. */
cl_int tsl_program_create_empty(struct tsl_context *context, cl_uint n_devices, struct tsl_device *const *devices,
                                struct tsl_program **program);
cl_int tsl_program_link(struct tsl_program *program, const char *options, const struct tsl_program_includes *inputs,
                        const struct tsl_program_notify *notify, bool *began);

/* Can kernels be made of the program, on one member at least? */
bool tsl_program_is_executable_locked(const struct tsl_program *program) TSL_REQUIRES(program->lock);

/* The build status over the members in the set: the best that one of them has. */
cl_build_status tsl_program_status_locked(const struct tsl_program *program, tsl_members members)
    TSL_REQUIRES(program->lock);
cl_program_binary_type tsl_program_type_locked(const struct tsl_program *program, tsl_members members)
    TSL_REQUIRES(program->lock);

/* From a begin that returned true (the program is executable) to its end the parts don't change, and may be read
 * without a lock. */
bool tsl_program_begin_read(struct tsl_program *program);
void tsl_program_end_read(struct tsl_program *program);

/* Lists of names with ';' between them: their number, and whether one is in the list (names NULL: no). */
cl_uint tsl_program_count_kernels(const char *names);
bool tsl_program_names_have(const char *names, const char *name);

/* The program's build log for a device (heap; NULL without memory): the member's own text if only one member has any,
 * else one section for each member that failed or has text. */
char *tsl_program_log(struct tsl_program *program, tsl_members members);

/* The binary of the program's device i: a container of what its members have built or were given. Heap, the caller
 * frees; size 0 and NULL if there is nothing. The bytes stay the same until the next build, so that a buffer of the
 * size told before is large enough (vendors' binaries grow while kernels run). Blocks; calls drivers. */
cl_int tsl_program_binary(struct tsl_program *program, cl_uint i, void **data, size_t *size);

/* Limits of one kernel's launches on one member. */
struct tsl_launch_limits {
    size_t max_items[3];     /* CL_DEVICE_MAX_WORK_ITEM_SIZES */
    cl_ulong local_mem_size; /* CL_DEVICE_LOCAL_MEM_SIZE */
    size_t parameter_size;   /* CL_DEVICE_MAX_PARAMETER_SIZE */
    bool non_uniform;        /* a launch may have remainders */
    bool gpu;                /* small groups suit it: see tsl_launch_choose() */
    bool unpromised;         /* only the code may: as long as the member doesn't choose the group size */
};

/* One member's part of a kernel. */
struct tsl_kernel_part {
    struct tsl_dkernel *kernel; /* NULL: this member can't run the kernel */
    struct tsl_kernel_facts facts;
    struct tsl_launch_limits limits;
    struct tsl_footprint_cache *footprints; /* what launches touched lately; owned; NULL: not asked yet. Under the
                                             * graph's lock */
    bool windows;        /* a launch on the member may be cut into windows: windows_ok of its driver, asked once */
    bool combines;       /* its launches may need joints (footprint/joint.h): the member is asked whether it combines */
    bool has_run;        /* a launch on the member has ended well; under the graph's lock */
    unsigned n_variants; /* constant, as is the list */
    struct tsl_kernel_variant *variants; /* other implementations (program/variants.h); heap */
};

/* A kernel's arguments at one time. Immutable once an enqueue has taken a reference: clSetKernelArg then copies
 * them. */
struct tsl_args {
    atomic_uint refs;
    struct tsl_spin lock; /* leaf; guards n_held */
    unsigned n_held;      /* launches that hold them: while it is not 0, every buffer has one internal reference for all
                             launches */
    uint64_t serial;      /* unique in the process, never 0 once they were taken; a changed copy gets a new one */
    cl_uint n;            /* number of the kernel's arguments */
    cl_uint n_all;        /* n and behind them the shared memory that no argument leads to (clSetKernelExecInfo) */
    cl_uint n_unset;
    struct tsl_arg {
        enum tsl_arg_kind kind; /* TSL_ARG_UNSET until set */
        size_t size;            /* bytes of the value or of local memory */
        void *value;            /* VALUE, SAMPLER and SVM: points into this allocation or to heap owned by the args */
        struct tsl_buffer *buffer; /* MEM, SVM (the region's root); NULL is a null pointer. It may be destroyed while no
                                      launch holds the arguments: kernels don't keep their arguments alive (OpenCL 3.0,
                                      5.9.2) */
        uint64_t buffer_id;        /* tells a destroyed buffer from a new one in the same memory */
    } args[];
};

/* Whether the last launch of a kernel could be cut with joints (graph/joints.h), and how. */
struct tsl_joint_memo {
    enum { TSL_JOINT_NOT_TRIED, TSL_JOINT_WORKS, TSL_JOINT_REFUSED } state;
    uint64_t arguments; /* bits: those whose memory has copies */
    unsigned dimension;
};

/* How the shares of a kernel's launches were divided into insides and rims (graph/cut_rims.h). */
struct tsl_rim_memo {
    unsigned n_shares;
    size_t width;             /* of rims, in groups; 0: not known */
    unsigned n_doubted;       /* how often an inside lacked something all the same */
    uint64_t low, high;       /* bits: shares that have one at their beginning, at their end */
    unsigned skip, n_skipped; /* none was found: so many more launches aren't asked about, and so many weren't */
};

/* The share of a launch whose time differs most from what was thought: by so much of that. */
struct tsl_odd_share {
    unsigned share;
    double by;
};

/* Where along a dimension the work of a kernel's launches of one size lies (graph/cut_work.h). */
struct tsl_work_memo {
    uint64_t n_items; /* of these launches; 0: there were none */
    struct tsl_density work;
    unsigned dimension;        /* along which it lies so */
    struct tsl_odd_share odd;  /* of the last cut launch ... */
    unsigned n_uneven;         /* ... and so many in a row differed so */
    unsigned n_dear, even_for; /* launches in a row whose borders cost more than they gain; so many more take the work
                                  for even */
};

#define TSL_WORK_SIZES 4u /* of a kernel's launches are known; more than programs launch in turns, mostly */

/* Along which dimension the last launch of a kernel was cut (graph/cut.h). */
struct tsl_cut_memo {
    size_t global_size[3], local_size[3]; /* of that launch; global_size[0] 0: there was none */
    unsigned dimension;                   /* 3: it could not be cut by the rung `exact` ... */
    unsigned why;                         /* ... for this reason (footprint/cut.h) */
    unsigned attempt;                     /* at which borders it could (graph/borders.h) */
    bool overwrites;                      /* ... if later shares may overwrite what earlier ones write */
    struct tsl_cut_proofs proofs;
    struct tsl_rim_memo rims;
    struct tsl_cut_kept *kept; /* how it was cut last (graph/cut.c); heap, owned; NULL: nothing is kept */
    struct tsl_work_memo works[TSL_WORK_SIZES]; /* the first is what cuts go by now; the last ones of their sizes */
    struct tsl_joint_memo joint;                /* whether it could be cut with joints */
    unsigned n_refused;                         /* launches since then that were not looked at */
    bool no_domain;                             /* the rung `domain` was refused, too */
    uint64_t small_size; /* work-items; so large launches are much too small, when last looked at */
    unsigned n_small;    /* so many more of them need not be looked at */
    unsigned n_first;    /* launches that were cut while it wasn't known how long their parts take */
    unsigned told;       /* why launches weren't cut, as far as that was logged: bits */
    unsigned traced;     /* ... and as far as the trace has it */
};

struct tsl_kernel {
    struct tsl_object object;
    struct tsl_program *program; /* shown */
    char *name;
    uint64_t place_key;                   /* what placement knows it by: the same for equal kernels, from run to run */
    tsl_members eligible;                 /* those of the context's members that can run it */
    struct tsl_kernel_part *parts;        /* context->n_members */
    const struct tsl_kernel_facts *facts; /* for argument queries: those of the first eligible member that knows */
    bool has_variants;                    /* on some member; constant */
    bool no_arg_info;                     /* not built with -cl-kernel-arg-info: the facts know, but queries don't
                                             tell */
    size_t parameter_size;                /* the largest size of a value: the largest of the eligible members' limits */
    struct tsl_cut_memo cut;              /* under the graph's lock */
    unsigned n_stayed;                    /* launches since one was asked about (graph/stay.h); under the same lock */
    atomic_bool suggested;                /* a work-group size was suggested: launches without one must use it */
    struct tsl_spin lock;                 /* leaf; guards args */
    struct tsl_args *args;
};

/* CL_INVALID_PROGRAM_EXECUTABLE: no member has built the program; CL_INVALID_KERNEL_NAME: no member has that kernel.
 * Members whose signature differs from the first one's are left out. May block; calls drivers. */
cl_int tsl_kernel_create(struct tsl_program *program, const char *name, struct tsl_kernel **kernel);
/* Frees all that is behind the handle but the arguments. Inside of programs; calls drivers. */
void tsl_kernel_clear(struct tsl_kernel *kernel);
/* Creates one of each kernel of the program that has one definition; *n_ret is their number, and the rest of kernels is
 * NULL. kernels NULL: only counts all of them. CL_INVALID_VALUE: there are more than n. */
cl_int tsl_kernel_create_all(struct tsl_program *program, cl_uint n, cl_kernel *kernels, cl_uint *n_ret);
/* The same kernel with the same arguments; later changes to one don't affect the other. */
cl_int tsl_kernel_clone(struct tsl_kernel *source, struct tsl_kernel **kernel);

/* clSetKernelArg: all of its errors but CL_INVALID_KERNEL. Thread-safe, except beside itself on the same kernel. */
cl_int tsl_kernel_set_arg(struct tsl_kernel *kernel, cl_uint index, size_t size, const void *value);

/* clSetKernelArgSVMPointer, and clSetKernelExecInfo with CL_KERNEL_EXEC_INFO_SVM_PTRS: likewise. NULL is a null
 * pointer. */
cl_int tsl_kernel_set_svm(struct tsl_kernel *kernel, cl_uint index, const void *pointer);
cl_int tsl_kernel_set_svm_list(struct tsl_kernel *kernel, size_t n, const void *const *pointers);

/* The present arguments for a launch, with a reference. All their buffers are kept alive until tsl_args_let_go.
 * CL_INVALID_KERNEL_ARGS if one is unset or its buffer was released. */
cl_int tsl_kernel_args(struct tsl_kernel *kernel, struct tsl_args **args);
/* Another reference for another launch with them, while one has them. */
void tsl_args_hold(struct tsl_args *args);
void tsl_args_let_go(struct tsl_args *args); /* NULL allowed; may destroy buffers: not under the graph's lock */
void tsl_args_unref(struct tsl_args *args);  /* NULL allowed */

/* The arguments with other buffers: `other` gives the one that stands in a buffer's place, or that buffer. Buffers are
 * not kept alive by the new arguments, which have one reference. NULL without memory. */
typedef struct tsl_buffer *tsl_other_buffer_fn(void *arg, struct tsl_buffer *buffer);
struct tsl_args *tsl_args_with(const struct tsl_args *args, tsl_other_buffer_fn *other, void *arg);

/* A new serial, which no arguments have. */
uint64_t tsl_args_new_serial(void);

/* Bytes of local memory that the arguments ask for. */
size_t tsl_args_local_size(const struct tsl_args *args);

#endif
