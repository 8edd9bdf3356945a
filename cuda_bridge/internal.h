/*
 * Inside the CUDA bridge: its members, lanes, memory and fences. How it works: docs/dev/cuda.md; in which order to
 * read: README.md. What a file gives to the others is in the header of its name.
 *
 * Locks, outermost first: member->ready_lock, then late_lock and the one of peers (memory.c), while a member is made
 * ready, which any call of CUDA may begin with; lane->lock; member->dues_lock, clock_lock and pipeline_lock, none of
 * them under another; then the leaves member->lock, member->pool_lock, pipeline->lock and those of region.c, spread.c,
 * svm.c, module.c and of the list of members (memory.c).
 * member->memory_lock stands alone. CUDA may be called under any but the leaves; the function of a fence_notify is
 * called under none.
 */
#ifndef TSL_CUDA_BRIDGE_INTERNAL_H
#define TSL_CUDA_BRIDGE_INTERNAL_H

#include "base/clock.h"
#include "base/lock.h"
#include "base/spin.h"
#include "base/worker.h"
#include "compile_client/kernel_image.h"
#include "cuda_bridge/cuda_bridge.h"
#include "cuda_bridge/load.h"
#include "driver/combine_kernels.h"
#include "driver/gather_kernels.h"
#include "facts/kernel_facts.h"

#include <assert.h>
#include <sys/queue.h>

struct tsl_cuda_block;
struct tsl_cuda_due;
struct tsl_cuda_fence;
struct tsl_cuda_lane;
struct tsl_cuda_piece;
struct tsl_cuda_pipeline;
struct tsl_cuda_program;

/* What probe() learns of a GPU; path->priv. Lives as long as the process. */
struct tsl_cuda_gpu {
    CUdevice device;
    int capability;                           /* 90: 9.0 */
    int n_units, unit_items, clock_khz, warp; /* unit_items: threads that a unit runs at a time */
    int max_threads, max_dim[3];              /* of a work-group */
    int local_size;                           /* bytes of shared memory of a work-group */
    int constant_size, l2_size;
    int integrated, ecc;
    int managed; /* memory that the host and kernels share, both at once */
    size_t memory_size, max_alloc_size;
    bool serves;        /* it can be a member */
    bool exclusive;     /* one process has it at a time: whether this one can is only known when it has it */
    size_t max_texels;  /* of a texture in plain memory */
    size_t texel_pitch; /* what rows of one with a filter are multiples of, in bytes */
    int maps_memory;    /* CUDA maps its memory where it is asked to */
    unsigned domain;    /* GPUs with the same number > 0 see memory that is spread over them */
    bool domain_atomics;
    size_t domain_granule; /* bytes */
};

/* ---- Members ---------------------------------------------------------------------------------------------------- */

#define TSL_CUDA_PIECE_CLASSES 7 /* of pinned pieces: 256 KiB … 4 KiB */

TAILQ_HEAD(tsl_cuda_blocks, tsl_cuda_block);

/* Device times are counted from an event that was seen on the host; it is renewed so that CUDA's float of
 * milliseconds stays exact enough. */
struct tsl_cuda_epoch {
    CUevent event;
    uint64_t device_ns; /* of our count */
    unsigned refs;      /* fences, and the member's for the newest; guarded by pool_lock */
};

struct tsl_cuda_member {
    struct tsl_member base;
    const struct tsl_cuda_gpu *gpu;
    CUcontext context; /* the primary one, retained from when the member is made ready to close; NULL: not yet */
    CUmemoryPool pool;
    CUstream memory_stream;      /* of allocations alone, so it is idle between calls */
    pthread_mutex_t memory_lock; /* one allocation at a time */
    unsigned slot;               /* among the open members of this driver */
    bool joined;                 /* its pool is there for others; guarded by the lock of peers (memory.c) */

    pthread_mutex_t ready_lock; /* held while the member is made ready */
    pthread_mutex_t late_lock;  /* guards what is late (program.h) */
    pthread_cond_t late_loaded;
    LIST_HEAD(, tsl_cuda_program) late;

    atomic_uint peers; /* bits of slots: those that reach our memory, and whose we reach */

    /* Profiling. */
    struct tsl_clock_map clock;
    CUstream clock_stream;
    pthread_mutex_t clock_lock; /* guards epoch and looked_ns; held for one sighting */
    struct tsl_cuda_epoch *epoch;
    uint64_t looked_ns; /* when a newer one was looked for last */
    double between_ns;  /* what two events with nothing between them are apart; set with the first epoch */

    struct tsl_spin pool_lock; /* free lists, epochs' references */
    struct tsl_cuda_events {
        CUevent *events;
        unsigned n, room;
    } free_events[2]; /* without and with times */
    struct tsl_cuda_fence *free_fences;
    LIST_HEAD(, tsl_cuda_block) blocks;
    struct tsl_cuda_blocks
        open_blocks[TSL_CUDA_PIECE_CLASSES]; /* with free pieces; those that are wholly free come last */
    unsigned n_blocks, n_idle_blocks;
    struct tsl_cuda_words *free_words; /* ahead.c */
    struct tsl_cuda_word_block *word_blocks;
    atomic_uint_fast64_t gate_open_ns; /* when one with words opened last */
    atomic_uint_fast64_t ahead_ns;     /* until then nothing goes ahead of gates … */
    atomic_uint_fast64_t ahead_off_ns; /* … and for how long that is next time */
    struct tsl_cuda_host *host_free;   /* host.c */
    size_t host_small, host_large;     /* bytes: in pieces that are in use, pinned by themselves */
    size_t host_kept;                  /* of the latter, in host_free */

    pthread_mutex_t dues_lock; /* guards dues; memory is copied under it */
    TAILQ_HEAD(, tsl_cuda_due) dues;
    uint64_t due_number;
    uint64_t due_read;           /* of these numbers the newest of a read */
    atomic_uint n_dues, n_reads; /* all, and those that are to copy to the program's memory */

    atomic_uint n_alone; /* graphs of one launch (batch.c) */
    struct tsl_combine_kernels combine;
    struct tsl_gather_kernels gather;
    struct tsl_job warm; /* makes these (warm.c) */

    /* bridge.c: the thread, and all threads that wait for something that the host does. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a fence got on, a lane got empty: for waiters */
    pthread_cond_t kicked;  /* for the bridge thread */
    pthread_t bridge;
    bool has_bridge;
    atomic_bool closing;
    unsigned n_pinning;    /* threads that pin memory while others may wait for them */
    atomic_uint n_changes; /* written under lock */
    atomic_uint n_ahead;   /* gates that aren't open and for which streams wait */
    STAILQ_HEAD(tsl_cuda_watches, tsl_cuda_watch) watches;
    TAILQ_HEAD(, tsl_cuda_lane) held; /* lanes with work that is held on the host */

    pthread_mutex_t pipeline_lock; /* guards the making of it */
    struct tsl_cuda_pipeline *pipeline;
};

/* ---- Lanes and memory ------------------------------------------------------------------------------------------- */

/*
 * Work goes straight to the lane's stream while it can. What has to wait for something that only the host knows (a
 * gate, work that is itself held, memory that isn't written yet, the pipeline) is held on the host, and so is all that
 * comes after it in the lane; the bridge thread passes it on.
 */

struct tsl_cuda_work;
struct tsl_cuda_batch;
struct tsl_cuda_host;
struct tsl_cuda_region;
struct tsl_cuda_spread;
struct tsl_cuda_svm;

struct tsl_cuda_lane {
    struct tsl_lane base;
    CUstream stream;
    bool profile;
    bool moves;                /* its stream has priority */
    atomic_uint refs;          /* its owner's, one for each fence and one while it is held or piped */
    pthread_mutex_t lock;      /* over a submission, so that marks of other threads come in between whole ones */
    uint64_t sent;             /* events recorded so far; guarded by lock */
    atomic_uint_fast64_t seen; /* all up to this one are known to be over: asking CUDA costs more than most kernels */
    STAILQ_HEAD(, tsl_cuda_work) works;    /* held, oldest first */
    _Atomic(struct tsl_cuda_piece *) flag; /* the stream writes there what `sent` was; NULL: no fence was watched yet */
    uint32_t flagged;                      /* what it will have written last; guarded by lock */
    uint64_t doubtful;                     /* number of the newest work that waits for gates; guarded by lock */
    struct tsl_cuda_batch *batch;          /* launches that go on their way together; NULL: none were quick yet */
    atomic_bool prints;                    /* a kernel was sent that calls printf */
    bool piping;                           /* the pipeline has the lane's newest work; what follows is held */
    struct tsl_cuda_fence *piped;          /* that work's fence, a reference, or NULL */
    uint64_t piped_ns;                     /* when it began */
    cl_int error;                          /* of work that was held, failed and had no fence; told once */
    bool listed;                           /* in member->held, with a reference; guarded by member->lock */
    TAILQ_ENTRY(tsl_cuda_lane) link;
};

struct tsl_cuda_mem {
    struct tsl_mem base;
    CUdeviceptr address;
    CUdeviceptr image;              /* of an image: its description, in the GPU's memory; else 0 */
    CUdeviceptr owned;              /* what mem_free gives back; 0: nothing */
    bool plain;                     /* memory of this GPU alone, which kernels may read by texture units */
    CUtexObject texture, filter;    /* of an image; 0: none (texture.h) */
    struct tsl_cuda_host *host;     /* of host_alloc: that memory, which is the host's; else NULL */
    struct tsl_cuda_region *region; /* of host_register: what is pinned of that memory; else NULL */
    struct tsl_cuda_svm *svm;       /* of svm_alloc: that memory; else NULL */
    struct tsl_cuda_spread *spread; /* the range that it is in, of spread_alloc; else NULL */
    bool spread_owner;              /* … and it is no part or image of another */
};

/* ---- Fences ----------------------------------------------------------------------------------------------------- */

#define TSL_CUDA_MAX_DOUBTS 2

enum tsl_cuda_state {
    TSL_CUDA_HELD,     /* the host still has it: held, piped, or an unopened gate */
    TSL_CUDA_SENT,     /* the device has it: event tells */
    TSL_CUDA_SETTLING, /* a thread is at it */
    TSL_CUDA_OVER,     /* status is final */
};

struct tsl_cuda_fence {
    struct tsl_fence base;
    struct tsl_cuda_lane *lane; /* a reference; NULL for gates */
    atomic_int state;           /* enum tsl_cuda_state; written with release, read with acquire */
    cl_int status;
    CUevent start, end; /* start only on profiling lanes */
    uint64_t sent;      /* end's number in the lane */
    struct tsl_cuda_epoch *epoch;
    uint64_t due_number;    /* dues up to this one are part of what the fence tells; 0: no read is due */
    struct tsl_times times; /* of piped work, whose ends the host sees */
    bool is_gate;
    atomic_bool opened;
    struct tsl_fence *opener;     /* of a gate: the fence whose end opens it, a reference; NULL: not known */
    struct tsl_cuda_words *words; /* of a gate for which streams wait; guarded by member->lock */
    uint32_t number;              /* what is written there */
    uint64_t given_ns;            /* when it got them */
    /* Of work that was sent before the gates on which it depends were open: references. Constant once it is SENT. */
    struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS];
    unsigned n_doubts;
    cl_int doomed;               /* 0, or how it ends: its work isn't done. Constant once it is SENT */
    atomic_bool watched;         /* the lane's flag is to tell of it */
    atomic_bool told;            /* it will, without waiting for gates of later work */
    struct tsl_cuda_fence *next; /* in the pool */
};

/* ---- Casts ------------------------------------------------------------------------------------------------------ */

static inline struct tsl_cuda_member *tsl_cuda_member(struct tsl_member *member)
{
    assert(member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_member *)member;
}

static inline struct tsl_cuda_lane *tsl_cuda_lane(struct tsl_lane *lane)
{
    assert(lane->member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_lane *)lane;
}

static inline struct tsl_cuda_mem *tsl_cuda_mem(struct tsl_mem *mem)
{
    assert(mem->member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_mem *)mem;
}

static inline struct tsl_cuda_fence *tsl_cuda_fence(struct tsl_fence *fence)
{
    assert(fence->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_fence *)fence;
}

#endif
