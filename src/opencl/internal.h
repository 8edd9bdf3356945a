/*
 * Inside the vendor driver: what its files share.
 *
 * Lock order: device->lock (synchronous devices only), then kernel->lock, then samplers_lock; gates_lock below
 * device->lock, which is only tried under it. notices_lock and pool_lock are leaves, and no vendor is called under
 * them, because callbacks from vendors take them; so they do gates_lock (gate_open), under which vendors are only
 * called while no gate is unset, when no callback opens one.
 */
#ifndef TSL_OPENCL_INTERNAL_H
#define TSL_OPENCL_INTERNAL_H

#include "base/clock.h"
#include "base/worker.h"
#include "facts/kernel_facts.h"
#include "opencl/icd.h"
#include "opencl/opencl_driver.h"

#include <assert.h>
#include <sys/queue.h>

/* clCreateSampler's arguments are few, so each sampler is made once for a member and kept. */
#define TSL_OPENCL_ADDRESSINGS 5
#define TSL_OPENCL_FILTERS     2

struct tsl_opencl_garbage;
struct tsl_opencl_notice;
struct tsl_opencl_fence;
struct tsl_opencl_stage;

struct tsl_opencl_member {
    struct tsl_member base;
    struct tsl_opencl_device *device;
    const struct tsl_opencl_cl *cl; /* &device->cl */
    cl_context context;             /* of this one device; from open to close */
    struct tsl_clock_map clock;
    atomic_bool clock_seen; /* by a lane with profiling */
    bool no_views;          /* no images of buffers: the vendor makes none of such as ours */

    /* stage.c: big transfers through pinned memory */
    size_t stage_size;                  /* from so many bytes on; 0: never */
    pthread_mutex_t stage_lock;         /* guards the two below */
    struct tsl_opencl_stage *stage;     /* NULL: not yet */
    bool no_stage;                      /* it could not be made */
    pthread_mutex_t pinned_lock;        /* guards the list; a leaf */
    LIST_HEAD(, tsl_opencl_mem) pinned; /* memory of host_alloc */

    /* gate.c: while a gate is unset, nothing but events may be released (OpenCL 3.0, clSetUserEventStatus). */
    pthread_mutex_t gates_lock; /* guards the three below; releases happen under it */
    atomic_uint n_gates;        /* unset gates; also read without the lock */
    struct tsl_opencl_garbage *garbage;
    atomic_bool has_garbage; /* read without the lock, to spare it */
    struct tsl_job collecting;

    /* fence.c */
    pthread_mutex_t notices_lock;
    struct tsl_opencl_notice *notices; /* those that the vendor still owes a call for */
    unsigned n_searches;               /* for failures among them */
    pthread_mutex_t pool_lock;
    struct tsl_opencl_fence *pool; /* fences to use again */

    /* kernel.c */
    pthread_mutex_t samplers_lock;
    cl_sampler samplers[2][TSL_OPENCL_ADDRESSINGS][TSL_OPENCL_FILTERS];
};

struct tsl_opencl_lane {
    struct tsl_lane base;
    cl_command_queue queue;
    bool profile;
    atomic_uint refs;                /* its owner's, and one for each fence of it */
    atomic_uint n_submitted, n_sent; /* submissions, and how many of them are known to be flushed */
};

struct tsl_opencl_mem {
    struct tsl_mem base;
    cl_mem buffer;               /* or image */
    struct tsl_opencl_mem *root; /* whose part it is; itself if it is no part */
    size_t offset;               /* in the root */
    bool is_image;
    struct tsl_image_desc desc;        /* of an image */
    void *mapped;                      /* of host_alloc, svm_alloc: where it is the host's; else NULL */
    void *svm;                         /* of svm_alloc: what the vendor gave; else NULL */
    bool unmapped;                     /* coarse svm_alloc: it isn't the host's now */
    cl_command_queue queue;            /* of host_alloc, of coarse svm_alloc: the one by which it was mapped */
    LIST_ENTRY(tsl_opencl_mem) pinned; /* then: in the member's list */
};

struct tsl_opencl_fence {
    struct tsl_fence base;
    cl_event event; /* NULL: complete, and status and times are final. Only on synchronous devices */
    cl_int status;
    bool doomed;  /* what it waits for had failed: the event is that of a marker in its place, and the fence fails with
                     it */
    cl_event ran; /* whose times are the fence's, if not the event's; else NULL */
    struct tsl_opencl_lane *lane; /* a reference; NULL for gates */
    bool is_gate;
    bool times_known;
    atomic_bool opened;            /* gates only */
    uint64_t before_ns, after_ns;  /* our clock around the vendor's clEnqueue; 0 on lanes without profiling */
    struct tsl_times times;        /* if times_known */
    struct tsl_opencl_fence *next; /* in the pool */
};

/* As far as it decides whether a program may have variables of program scope, from no to yes. */
enum tsl_opencl_language {
    TSL_OPENCL_OLD,        /* OpenCL C 1, by -cl-std: none */
    TSL_OPENCL_BY_DEFAULT, /* nothing was said */
    TSL_OPENCL_NEWER,      /* or not known */
    TSL_OPENCL_SECOND,     /* OpenCL C 2, of which they are no choice */
};

struct tsl_opencl_program {
    struct tsl_dprogram base;
    cl_program program; /* NULL: compiled for a device without a compiler, and nothing but the names below */
    unsigned n_more;    /* binaries made before may be one for each kernel: the others */
    cl_program *more;
    char *kernels; /* of an object or library, where tsl_opencl_takes_prebuilt: to be looked for when it is linked */
    bool prints, opaque, of_text, built_in; /* for the facts of its kernels */
    enum tsl_opencl_language language;
};

struct tsl_opencl_kernel {
    struct tsl_dkernel base;
    cl_kernel kernel;
    size_t reqd_size[3];
    pthread_mutex_t lock; /* over setting the arguments and enqueuing */
    uint64_t serial;      /* of the arguments that are set; 0: unknown */
    bool names_svm;       /* … which are more than the kernel's own */
    bool *addresses;      /* which arguments have ever been addresses; NULL: none */
    char *name;
};

static inline struct tsl_opencl_member *tsl_opencl_member(struct tsl_member *member)
{
    assert(member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_member *)member;
}

static inline struct tsl_opencl_lane *tsl_opencl_lane(struct tsl_lane *lane)
{
    assert(lane->member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_lane *)lane;
}

static inline struct tsl_opencl_mem *tsl_opencl_mem(struct tsl_mem *mem)
{
    assert(mem->member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_mem *)mem;
}

static inline struct tsl_opencl_fence *tsl_opencl_fence(struct tsl_fence *fence)
{
    assert(fence->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_fence *)fence;
}

static inline struct tsl_opencl_program *tsl_opencl_program(struct tsl_dprogram *program)
{
    assert(program->member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_program *)program;
}

static inline struct tsl_opencl_kernel *tsl_opencl_kernel(struct tsl_dkernel *kernel)
{
    assert(kernel->program->member->driver == &tsl_opencl_driver);
    return (struct tsl_opencl_kernel *)kernel;
}

/* One call at a time for devices that need it; nothing for the others. */
static inline void tsl_opencl_enter(struct tsl_opencl_device *device)
{
    if (device->quirks.synchronous)
        pthread_mutex_lock(&device->lock);
}

static inline void tsl_opencl_leave(struct tsl_opencl_device *device)
{
    if (device->quirks.synchronous)
        pthread_mutex_unlock(&device->lock);
}

/*
 * What a callback of the vendor is given, and what was copied before a gate was opened, was written by another thread.
 * Vendors order the two, but with means that ThreadSanitizer doesn't see in libraries that aren't instrumented; so we
 * order them once more, for nanoseconds: give before the callback is set or the gate opened, take first of all in the
 * callback or after the wait.
 */
extern atomic_uint tsl_opencl_given;

static inline void tsl_opencl_give(void)
{
    atomic_fetch_add_explicit(&tsl_opencl_given, 1, memory_order_release);
}

static inline void tsl_opencl_take(void)
{
    atomic_load_explicit(&tsl_opencl_given, memory_order_acquire);
}

/* member.c: what the vendor returned, also as an event's end, and what the contract makes of it. A vendor that says
 * CL_DEVICE_NOT_AVAILABLE has lost the device, and so have we. */
cl_int tsl_opencl_error(struct tsl_opencl_member *member, cl_int error);

/* ---- submit.c: what copies, fills, launches and marks have in common --------------------------------------------- */

#define TSL_OPENCL_SMALL_WAITS 16

/* One submission, between begin and end. */
struct tsl_opencl_submit {
    struct tsl_opencl_lane *lane;
    struct tsl_opencl_member *member;
    cl_command_queue queue;
    cl_uint n;                      /* events to wait for */
    const cl_event *events;         /* NULL if n is 0 */
    cl_event *event_out;            /* for the vendor's last argument: NULL if nobody asks for a fence */
    bool refused;                   /* a wait failed already: enqueue nothing; end() enqueues a marker in its place */
    struct tsl_opencl_fence *fence; /* what end() will give out; NULL: none is asked for */
    cl_event event;
    cl_event few[TSL_OPENCL_SMALL_WAITS];
    cl_event *many;
};

/* Prepares *s, taking the locks that the vendor needs. On error nothing is held. If s->refused nothing may be enqueued.
 * Either way end() follows a begin() that succeeded, with the result of the enqueue; it gives the fence out. */
cl_int tsl_opencl_begin(struct tsl_opencl_submit *s, struct tsl_lane *lane, const struct tsl_waits *waits,
                        struct tsl_fence **fence);
cl_int tsl_opencl_end(struct tsl_opencl_submit *s, cl_int error, struct tsl_fence **fence);

/* A vendor's command of a submission that may take several: the first waits, the last gives the event. In between the
 * lane's order does. */
struct tsl_opencl_step {
    cl_command_queue queue;
    const struct tsl_opencl_cl *cl;
    cl_uint n;
    const cl_event *events;
    cl_event *event;
};

struct tsl_opencl_step tsl_opencl_step(const struct tsl_opencl_submit *s, bool first, bool last);

/* ---- image.c ----------------------------------------------------------------------------------------------------- */

/* Tries whether the vendor makes an image of a buffer such as ours (rusticl, Mesa 22.3, makes none of the host's
 * memory), and of a part of one (PoCL 3.1 makes none). The caller entered the device. */
void tsl_opencl_try_views(struct tsl_opencl_member *m);
/* Without images the device is said to have none. */
bool tsl_opencl_has_images(const struct tsl_opencl_device *device);
/* A copy, one side of which at least is an image; a fill of one: between tsl_opencl_begin and end. */
cl_int tsl_opencl_copy_image(const struct tsl_opencl_submit *s, const struct tsl_copy *copy);
cl_int tsl_opencl_fill_image(const struct tsl_opencl_submit *s, const struct tsl_fill *fill);
/* As in the table. */
cl_int tsl_opencl_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int tsl_opencl_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags,
                              void *host, struct tsl_mem **mem);
cl_int tsl_opencl_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);

/* memory.c: without anything of the vendor's yet; NULL without memory. */
struct tsl_opencl_mem *tsl_opencl_new_mem(struct tsl_member *member, size_t size);

/* copy.c: memory of a fill, which is freed when the event has come; the event stays the caller's. */
void tsl_opencl_free_after(const struct tsl_opencl_submit *s, cl_event event, char *piece);

/* ---- svm.c ----------------------------------------------------------------------------------------------------- */

/* Fills what is about shared virtual memory. The caller entered the device. */
void tsl_opencl_svm_caps(const struct tsl_opencl_device *device, struct tsl_member_caps *caps);
cl_int tsl_opencl_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                            struct tsl_mem **mem);
bool tsl_opencl_svm_reaches(struct tsl_member *from, struct tsl_member *to);
/* What tsl_opencl_release does when it may. */
void tsl_opencl_svm_free(struct tsl_opencl_mem *mem);
/* Is there coarse-grained memory of the member's among what the launch names? Then that is unmapped before it, and
 * mapped again behind it. Between tsl_opencl_begin and end. */
bool tsl_opencl_svm_wants_turns(const struct tsl_opencl_member *m, const struct tsl_bound_args *args);
cl_int tsl_opencl_svm_unmap_all(const struct tsl_opencl_submit *s, const struct tsl_bound_args *args);
cl_int tsl_opencl_svm_map_all(const struct tsl_opencl_submit *s, const struct tsl_bound_args *args);
/* Before the kernel's arguments are set: tells it of the memory to which none of them leads, and forgets what was so.
 * Under the kernel's lock. */
cl_int tsl_opencl_svm_prepare(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k,
                              const struct tsl_bound_args *args);
/* kernel.c: the same kernel without anything that was set. Under its lock. */
cl_int tsl_opencl_kernel_renew(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k);

/* ---- stage.c -----------------------------------------------------------------------------------------------------
 */

/* From what size on transfers are to go through pinned memory (TESELA_STAGING); 0: never. */
size_t tsl_opencl_stage_size(const struct tsl_opencl_member *m);
/* Is the copy one of those? */
bool tsl_opencl_wants_stage(const struct tsl_opencl_lane *lane, const struct tsl_copy *copy);
/* As tsl_opencl_copy. False: it can't be had, nothing was done. */
bool tsl_opencl_stage_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                           struct tsl_fence **fence);
/* At close, when all work is complete: ends the threads. */
void tsl_opencl_stage_destroy(struct tsl_opencl_member *m);
/* Memory of host_alloc comes or goes. */
void tsl_opencl_note_pinned(struct tsl_opencl_member *m, struct tsl_opencl_mem *mem, bool pinned);

/* ---- gate.c -------------------------------------------------------------------------------------------------------
 */

enum tsl_opencl_kind {
    TSL_OPENCL_QUEUE,
    TSL_OPENCL_MEM,
    TSL_OPENCL_SVM, /* a struct tsl_opencl_mem */
    TSL_OPENCL_PROGRAM,
    TSL_OPENCL_KERNEL,
};

/* Releases the object now or, if that would be wrong or would block, as soon as it would not: by a thread of ours, or
 * by tsl_opencl_collect(), whichever is first (with the quirk no_late_calls by the latter alone). */
void tsl_opencl_release(struct tsl_opencl_member *member, enum tsl_opencl_kind kind, void *object);
/* Releases what had to wait, if it need not wait any longer. Doesn't block. Not from a vendor's callback. */
void tsl_opencl_collect(struct tsl_opencl_member *member);
/* At open. */
void tsl_opencl_collect_init(struct tsl_opencl_member *member);
/* At close, when nothing is in use any more: releases all, and that thread has done with the member. */
void tsl_opencl_collect_last(struct tsl_opencl_member *member);

/* ---- fence.c ------------------------------------------------------------------------------------------------------
 */

/* A fence with one reference, without event; NULL if memory ran out. */
struct tsl_opencl_fence *tsl_opencl_fence_new(struct tsl_opencl_member *member, struct tsl_opencl_lane *lane);
/* As clGetEventInfo tells; an error of the call that stays is a failure too. */
cl_int tsl_opencl_event_status(const struct tsl_opencl_cl *cl, cl_event event);
/* Reads the final status, and on profiling lanes the times, lets the event go. The event is complete. */
void tsl_opencl_fence_settle(struct tsl_opencl_fence *fence);
/* Calls those who wait for fences that have failed, where the vendor doesn't. May be called from callbacks. */
void tsl_opencl_notice_failures(struct tsl_opencl_member *member);
/* At close: frees pool and notices. */
void tsl_opencl_fences_finish(struct tsl_opencl_member *member);

/* ---- lane.c -------------------------------------------------------------------------------------------------------
 */

void tsl_opencl_lane_unref(struct tsl_opencl_lane *lane);
/* Sends what was submitted since the last flush. */
cl_int tsl_opencl_lane_flush(struct tsl_opencl_lane *lane);
/* Waits for all of it, twice if the vendor refuses, and returns the first error; the caller entered the device. */
cl_int tsl_opencl_lane_drain(struct tsl_opencl_lane *lane);

/* ---- The operations of the table (driver.c) -----------------------------------------------------------------------
 */

cl_int tsl_opencl_probe(tsl_found_fn *found, void *arg);
cl_int tsl_opencl_open(const struct tsl_path *path, struct tsl_member **member);
void tsl_opencl_close(struct tsl_member *member);
cl_int tsl_opencl_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);

cl_int tsl_opencl_lane_create(struct tsl_member *member, bool profile, struct tsl_lane **lane);
void tsl_opencl_lane_free(struct tsl_lane *lane);
cl_int tsl_opencl_flush(struct tsl_lane *lane);
cl_int tsl_opencl_finish(struct tsl_lane *lane);

cl_int tsl_opencl_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host,
                            struct tsl_mem **mem);
cl_int tsl_opencl_host_alloc(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem);
cl_int tsl_opencl_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
void tsl_opencl_mem_free(struct tsl_mem *mem);

cl_int tsl_opencl_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                       struct tsl_fence **fence);
cl_int tsl_opencl_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                       struct tsl_fence **fence);
cl_int tsl_opencl_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                         struct tsl_fence **fence);
cl_int tsl_opencl_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);

cl_int tsl_opencl_fence_status(struct tsl_fence *fence);
cl_int tsl_opencl_fence_wait(struct tsl_fence *fence);
cl_int tsl_opencl_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int tsl_opencl_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void tsl_opencl_fence_free(struct tsl_fence *fence);
bool tsl_opencl_can_wait(struct tsl_member *member, const struct tsl_fence *fence);
cl_int tsl_opencl_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int tsl_opencl_gate_open(struct tsl_fence *gate, cl_int status);

cl_int tsl_opencl_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                        char **log);
cl_int tsl_opencl_compile(struct tsl_member *member, const struct tsl_program_input *input,
                          const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
cl_int tsl_opencl_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                       char **log);
cl_int tsl_opencl_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void tsl_opencl_program_free(struct tsl_dprogram *program);
enum tsl_opencl_language tsl_opencl_language(const struct tsl_program_input *input);
bool tsl_opencl_program_variables(struct tsl_dprogram *program, size_t *bytes);
cl_int tsl_opencl_program_kernels(struct tsl_dprogram *program, char **names);
cl_int tsl_opencl_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                                struct tsl_kernel_facts *facts);
void tsl_opencl_kernel_free(struct tsl_dkernel *kernel);
bool tsl_opencl_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);

/* program.c, for names.c: the binary of a program of one device's (heap; NULL of none). The caller entered the device.
 */
cl_int tsl_opencl_get_binary(struct tsl_opencl_member *m, cl_program program, void **data, size_t *size);
/* names.c: of the .entry lines of PTX, separated by ';' (heap; NULL without memory). */
char *tsl_opencl_ptx_names(const char *text, size_t size);
/* program.c, for compile.c: a program not built yet, NULL with *error; what the vendor says of its last build (NULL
 * without memory); can the vendor's compiler and linker stand these options (false: *log says why not)? */
cl_program tsl_opencl_create_program(struct tsl_opencl_member *m, const struct tsl_program_input *input, cl_int *error);
char *tsl_opencl_build_log(struct tsl_opencl_member *m, cl_program program);
/* One build by the vendor. *log is replaced; the program is NULL after an error. */
cl_int tsl_opencl_build_one(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                            const char *more_options, cl_program *program, char **log);
bool tsl_opencl_takes_options(const struct tsl_opencl_member *m, const char *options, char **log);
/* All that the program holds. */
void tsl_opencl_release_programs(struct tsl_opencl_member *m, struct tsl_opencl_program *p);

/* prebuilt.c: is this member's program of source to be looked for among binaries that were made before? It has no
 * compiler, or a line FPGA of TESELA_CONFIG names it. */
bool tsl_opencl_takes_prebuilt(const struct tsl_opencl_member *m);
bool tsl_opencl_has_compiler(const struct tsl_opencl_member *m);
#define TSL_OPENCL_NO_BINARIES \
    "this device has no compiler: set TESELA_BINARIES to the folder that has binaries for it (docs/user/fpga.md)\n"
/* Fills the program with what is found (docs/user/fpga.md); *log (heap) says where was looked.
 * CL_COMPILER_NOT_AVAILABLE: nothing is there. CL_BUILD_PROGRAM_FAILURE: the device takes none of what is. The caller
 * entered the device, and releases what the program holds on an error, too. Blocks on the disk. */
cl_int tsl_opencl_load_prebuilt(struct tsl_opencl_member *m, const struct tsl_program_input *input,
                                struct tsl_opencl_program *program, char **log);
/* The same for kernels that are linked (names with ';' between), with CL_LINKER_NOT_AVAILABLE and
 * CL_LINK_PROGRAM_FAILURE. */
cl_int tsl_opencl_link_prebuilt(struct tsl_opencl_member *m, const char *kernels, struct tsl_opencl_program *program,
                                char **log);
/* Two names by which it looks: of the program as a whole; of the kernels that the text defines, with ';' between (heap;
 * NULL without memory). */
#define TSL_OPENCL_NAME_SIZE 16u
void tsl_opencl_program_name(const char *text, size_t size, const char *options, char name[TSL_OPENCL_NAME_SIZE + 1]);
char *tsl_opencl_kernels_in(const char *text, size_t size);
/* Adds the names that aren't there; false without memory, and both are as they were. */
bool tsl_opencl_add_kernels(char **names, const char *more);

/* shared.c: does the device work on the host's memory itself? The caller entered the device. */
bool tsl_opencl_shares_memory(const struct tsl_opencl_member *m);

/* text.c: a sentence, if it seems that this vendor's compiler would end the process over the program; else NULL.
 * headers: NULL for none. */
const char *tsl_opencl_deadly_text(const struct tsl_opencl_quirks *quirks, const struct tsl_program_input *input,
                                   const struct tsl_program_headers *headers);

/* arguments.c: what the vendor tells of a kernel. On error *facts is empty. */
cl_int tsl_opencl_facts(struct tsl_opencl_program *program, cl_kernel kernel, struct tsl_kernel_facts *facts);

#endif
