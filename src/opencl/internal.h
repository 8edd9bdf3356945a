/*
 * Inside the OpenCL driver: its members, lanes, memory and fences, and entering a device. What a file gives to the
 * others is in the header of its name; in which order to read: README.md.
 *
 * Lock order: device->lock (synchronous devices only), then kernel->lock, then samplers_lock; gates_lock below
 * device->lock, which is only tried under it. notices_lock and pool_lock are leaves. No vendor is called under these
 * leaves, because callbacks from vendors take them. Callbacks take gates_lock, too (gate_open): under it vendors are
 * only called while no gate is unset, when no callback opens one.
 */
#ifndef TSL_OPENCL_INTERNAL_H
#define TSL_OPENCL_INTERNAL_H

#include "base/clock.h"
#include "base/worker.h"
#include "driver/combine_kernels.h"
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
    bool no_views;          /* no images of buffers: the vendor makes none of buffers like ours */

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

    struct tsl_combine_kernels combine;

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
    struct tsl_opencl_mem *root; /* the memory of which it is a part; itself if it is no part */
    size_t offset;               /* in the root */
    bool is_image;
    struct tsl_image_desc desc; /* of an image */
    void *mapped;               /* the host's address of memory of host_alloc or svm_alloc; else NULL */
    void *svm;                  /* of svm_alloc: what the vendor gave; else NULL */
    bool unmapped;              /* coarse-grained svm_alloc: it isn't mapped for the host now */
    cl_command_queue queue;     /* of host_alloc and coarse-grained svm_alloc: the queue by which it was mapped */
    LIST_ENTRY(tsl_opencl_mem) pinned; /* then: in the member's list */
};

struct tsl_opencl_fence {
    struct tsl_fence base;
    cl_event event; /* NULL: complete, and status and times are final. Only on synchronous devices */
    cl_int status;
    bool doomed;  /* what it waits for had failed: the event is that of a marker in its place, and the fence fails with
                     it */
    cl_event ran; /* the event whose times are the fence's, if they aren't `event`'s; else NULL */
    struct tsl_opencl_lane *lane; /* a reference; NULL for gates */
    bool is_gate;
    bool times_known;
    atomic_bool opened;            /* gates only */
    uint64_t before_ns, after_ns;  /* our clock around the vendor's clEnqueue; 0 on lanes without profiling */
    struct tsl_times times;        /* if times_known */
    struct tsl_opencl_fence *next; /* in the pool */
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

#endif
