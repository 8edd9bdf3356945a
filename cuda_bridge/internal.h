/*
 * Inside the CUDA bridge: what its files share. How it works: docs/dev/cuda.md.
 *
 * Locks, outermost first: lane->lock; member->dues_lock, clock_lock and pipeline_lock, none of them under another; then
 * the leaves member->lock, member->pool_lock, pipeline->lock and those of region.c and svm.c. member->memory_lock
 * stands alone. CUDA may be called under any but the leaves; the function of a fence_notify is called under none.
 */
#ifndef TSL_CUDA_BRIDGE_INTERNAL_H
#define TSL_CUDA_BRIDGE_INTERNAL_H

#include "base/clock.h"
#include "base/lock.h"
#include "base/spin.h"
#include "compile_client/kernel_image.h"
#include "compile_client/ptx.h"
#include "cuda_bridge/cuda_bridge.h"
#include "cuda_bridge/image.h"
#include "cuda_bridge/load.h"
#include "facts/kernel_facts.h"

#include <assert.h>
#include <sys/queue.h>

struct tsl_cuda_fence;
struct tsl_cuda_lane;
struct tsl_cuda_pipeline;

/* What probe() learns of a GPU; path->priv. Lives as long as the process. */
struct tsl_cuda_gpu {
    CUdevice device;
    int capability; /* 90: 9.0 */
    int n_units, clock_khz, warp;
    int max_threads, max_dim[3]; /* of a work-group */
    int local_size;              /* bytes of shared memory of a work-group */
    int constant_size, l2_size;
    int integrated, ecc;
    int managed; /* memory that the host and kernels share, both at once */
    size_t memory_size, max_alloc_size;
};

/* ---- Small pinned pieces, and what is due when work that uses one has ended (piece.c) -----------------------------
 */

#define TSL_CUDA_PIECE_MAX ((size_t)256 << 10) /* bytes; what is larger goes through the pipeline */

struct tsl_cuda_piece {
    void *host;
    struct tsl_cuda_block *block;
    struct tsl_cuda_piece *next; /* in the block's free ones */
};

#define TSL_CUDA_PIECE_CLASSES 7 /* 256 KiB … 4 KiB */

/* Pinned memory that pieces of one class are cut from. All is guarded by pool_lock. */
struct tsl_cuda_block {
    void *host;
    unsigned class; /* pieces' size is TSL_CUDA_PIECE_MAX >> class */
    unsigned n, n_free;
    struct tsl_cuda_piece *free;
    LIST_ENTRY(tsl_cuda_block) link;
    TAILQ_ENTRY(tsl_cuda_block) open_link; /* while it has free ones */
    struct tsl_cuda_piece pieces[];
};

TAILQ_HEAD(tsl_cuda_blocks, tsl_cuda_block);

/* A box of the application's memory, and its bytes packed in a piece. */
struct tsl_cuda_due {
    struct tsl_cuda_lane *lane; /* a reference */
    CUevent event;              /* recorded behind the copy between device and piece */
    uint64_t sent;              /* its number in the lane */
    uint64_t number;
    struct tsl_cuda_piece *piece;
    bool to_host;           /* copy the piece to place when the event is there; else only give the piece back */
    struct tsl_place place; /* host memory */
    size_t region[3];
    uintptr_t begin, end; /* of all of it */
    TAILQ_ENTRY(tsl_cuda_due) link;
};

/* ---- Members ------------------------------------------------------------------------------------------------------
 */

/* Device times are counted from an event that was seen on the host; it is renewed so that CUDA's float of
 * milliseconds stays exact enough. */
struct tsl_cuda_epoch {
    CUevent event;
    uint64_t device_ns; /* of our count */
    uint64_t host_ns;
    unsigned refs; /* fences, and the member's for the newest; guarded by pool_lock */
};

struct tsl_cuda_member {
    struct tsl_member base;
    const struct tsl_cuda_gpu *gpu;
    CUcontext context; /* the primary one, retained from open to close */
    CUmemoryPool pool;
    CUstream memory_stream;      /* of allocations alone, so it is idle between calls */
    pthread_mutex_t memory_lock; /* one allocation at a time */
    unsigned slot;               /* among the open members of this driver */
    atomic_uint peers;           /* bits of slots: those that reach our memory, and whose we reach */

    /* Profiling. */
    struct tsl_clock_map clock;
    CUstream clock_stream;
    pthread_mutex_t clock_lock; /* guards epoch; held for one sighting */
    struct tsl_cuda_epoch *epoch;
    double between_ns; /* what two events with nothing between them are apart; set with the first epoch */

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
    atomic_uint n_dues;

    atomic_uint n_alone; /* graphs of one launch (batch.c) */

    /* bridge.c: the thread, and all who wait for something that the host does. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a fence got on, a lane got empty: for waiters */
    pthread_cond_t kicked;  /* for the bridge thread */
    pthread_t bridge;
    bool has_bridge, closing;
    unsigned n_pinning;    /* threads that pin memory while others may wait for them */
    atomic_uint n_changes; /* written under lock */
    atomic_uint n_ahead;   /* gates that aren't open and for which streams wait */
    STAILQ_HEAD(tsl_cuda_watches, tsl_cuda_watch) watches;
    TAILQ_HEAD(, tsl_cuda_lane) held; /* lanes with work that is held on the host */

    pthread_mutex_t pipeline_lock; /* guards the making of it */
    struct tsl_cuda_pipeline *pipeline;
};

/* ---- Lanes --------------------------------------------------------------------------------------------------------
 *
 * Work goes straight to the lane's stream while it can. What has to wait for something that only the host knows (a
 * gate, work that is itself held, memory that isn't written yet, the pipeline) is held on the host, and so is all that
 * comes after it in the lane; the bridge thread passes it on.
 */

struct tsl_cuda_work;
struct tsl_cuda_batch;
struct tsl_cuda_host;
struct tsl_cuda_region;
struct tsl_cuda_svm;

struct tsl_cuda_lane {
    struct tsl_lane base;
    CUstream stream;
    bool profile;
    atomic_uint refs;          /* its owner's, one for each fence and one while it is held or piped */
    pthread_mutex_t lock;      /* over a submission, so that marks of other threads come in between whole ones */
    uint64_t sent;             /* events recorded so far; guarded by lock */
    atomic_uint_fast64_t seen; /* all up to this one are known to be over: asking CUDA costs more than most kernels */
    STAILQ_HEAD(, tsl_cuda_work) works;    /* held, oldest first */
    _Atomic(struct tsl_cuda_piece *) flag; /* the stream writes there what `sent` was; NULL: nobody watched yet */
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
    struct tsl_cuda_host *host;     /* of host_alloc: that memory, which is the host's; else NULL */
    struct tsl_cuda_region *region; /* of host_register: what is pinned of that memory; else NULL */
    struct tsl_cuda_svm *svm;       /* of svm_alloc: that memory; else NULL */
};

/* ---- Fences (fence.c) ---------------------------------------------------------------------------------------------
 */

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
    uint64_t due_number;    /* dues up to this one are part of what the fence tells */
    struct tsl_times times; /* of piped work, whose ends the host sees */
    bool is_gate;
    atomic_bool opened;
    struct tsl_fence *opener;     /* of a gate: whose end opens it, a reference; NULL: nobody said */
    struct tsl_cuda_words *words; /* of a gate for which streams wait; guarded by member->lock */
    uint32_t number;              /* what is written there */
    uint64_t given_ns;            /* when it got them */
    /* Of work that was sent before the gates on which it depends were open: references. Constant once it is SENT. */
    struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS];
    unsigned n_doubts;
    cl_int doomed;               /* 0, or how it ends: its work isn't done. Likewise */
    atomic_bool watched;         /* the lane's flag is to tell of it */
    atomic_bool told;            /* it will, without waiting for gates of later work */
    struct tsl_cuda_fence *next; /* in the pool */
};

/* ---- Work ---------------------------------------------------------------------------------------------------------
 */

enum tsl_cuda_kind {
    TSL_CUDA_MARK,
    TSL_CUDA_COPY,
    TSL_CUDA_FILL,
    TSL_CUDA_LAUNCH,
};

struct tsl_cuda_kernel;

/* How a launch's groups are cut into grids: in each dimension the groups of full size and, maybe, a smaller last one.
 */
struct tsl_cuda_launch {
    struct tsl_cuda_kernel *kernel;
    struct tsl_window window; /* with a local size, and not "whole" */
    unsigned shared_size;     /* bytes of __local arguments */
    cl_uint n_args;
    void **args;   /* n_args pointers to values, and room for one to the hidden argument */
    size_t *sizes; /* bytes of values; 0 for pointers and offsets, whose values are words */
};

/* One grid of a launch. */
struct tsl_cuda_grid {
    unsigned count[3], block[3];
    struct tsl_ptx_launch hidden;
};

struct tsl_cuda_work {
    enum tsl_cuda_kind kind;
    struct tsl_waits waits;                             /* references only if held */
    struct tsl_cuda_fence *fence;                       /* a reference, or NULL */
    struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS]; /* while it is being sent: as in its fence; borrowed */
    unsigned n_doubts;
    union {
        struct tsl_copy copy;
        struct {
            CUdeviceptr address;
            size_t row_pitch, slice_pitch, region[3], pattern_size;
            unsigned char pattern[128];
        } fill;
        struct tsl_cuda_launch launch;
    };
    void *storage; /* of held work, heap: a launch's arguments */
    STAILQ_ENTRY(tsl_cuda_work) next;
};

struct tsl_cuda_program {
    struct tsl_dprogram base;
    CUmodule module;
    uint64_t number; /* no other module has had it, in this process */
    void *binary;    /* what program_binary gives */
    size_t binary_size;
    struct tsl_cuda_image image;
};

struct tsl_cuda_kernel {
    struct tsl_dkernel base;
    CUfunction function;
    const struct tsl_kernel_facts *facts; /* the program's */
    unsigned max_threads;                 /* of a work-group, for this kernel */
    unsigned static_shared;               /* bytes */
    uint64_t module;                      /* the program's number */
};

/* ---- Casts --------------------------------------------------------------------------------------------------------
 */

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

static inline struct tsl_cuda_program *tsl_cuda_program(struct tsl_dprogram *program)
{
    assert(program->member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_program *)program;
}

static inline struct tsl_cuda_kernel *tsl_cuda_kernel(struct tsl_dkernel *kernel)
{
    assert(kernel->program->member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_kernel *)kernel;
}

/* ---- member.c -----------------------------------------------------------------------------------------------------
 */

/* Makes the member's context the calling thread's, on top of what the application made current; leave() puts that back.
 * Every call of CUDA stands between the two. CL_DEVICE_NOT_AVAILABLE: the member is lost; nothing to leave. */
cl_int tsl_cuda_enter(struct tsl_cuda_member *member);
void tsl_cuda_leave(struct tsl_cuda_member *member);
/* As enter, to give back what is there: also if the member is lost, where CUDA answers with errors. False: nothing to
 * leave. */
bool tsl_cuda_enter_anyway(struct tsl_cuda_member *member);

/* CUDA's result as OpenCL's error. One after which the context is dead marks the member as lost, and is logged. */
cl_int tsl_cuda_error(struct tsl_cuda_member *member, CUresult result);

/* The newest epoch with a reference, renewed if it is old; NULL: none could be had. The context is entered. */
struct tsl_cuda_epoch *tsl_cuda_epoch_get(struct tsl_cuda_member *member);
void tsl_cuda_epoch_put(struct tsl_cuda_member *member, struct tsl_cuda_epoch *epoch);

/* Events from the pool, entered. NULL: CUDA has none, *result says why. */
CUevent tsl_cuda_event_get(struct tsl_cuda_member *member, bool times, CUresult *result);
void tsl_cuda_event_put(struct tsl_cuda_member *member, bool times, CUevent event);

/* ---- memory.c -----------------------------------------------------------------------------------------------------
 */

/* Opens the ways between this member's memory and that of the others that are open. */
void tsl_cuda_peers_join(struct tsl_cuda_member *member);
void tsl_cuda_peers_leave(struct tsl_cuda_member *member);
/* Do copies between them go straight? Else through the pipeline. */
bool tsl_cuda_reaches(const struct tsl_cuda_member *from, const struct tsl_cuda_member *to);

/* ---- piece.c ------------------------------------------------------------------------------------------------------
 */

/* A pinned piece of at least size bytes (at most TSL_CUDA_PIECE_MAX); entered. NULL: no memory. */
struct tsl_cuda_piece *tsl_cuda_piece_get(struct tsl_cuda_member *member, size_t size);
void tsl_cuda_piece_put(struct tsl_cuda_member *member, struct tsl_cuda_piece *piece);
void tsl_cuda_pieces_init(struct tsl_cuda_member *member);
/* Gives back blocks that nobody uses, if they are too many. Not entered; in the bridge thread, as CUDA may wait. */
void tsl_cuda_pieces_trim(struct tsl_cuda_member *member);
void tsl_cuda_pieces_finish(struct tsl_cuda_member *member);

/* Records the due behind what was submitted to the lane; takes it over. On error nothing was recorded, and the due
 * is still the caller's. Entered, lane->lock held. */
cl_int tsl_cuda_due_add(struct tsl_cuda_lane *lane, struct tsl_cuda_due *due);
/* Does all dues up to the number whose work has ended. Entered. */
void tsl_cuda_dues_run(struct tsl_cuda_member *member, uint64_t up_to);
/* Does the oldest dues as far as their work has ended: keeps the list short. Entered. */
void tsl_cuda_dues_collect(struct tsl_cuda_member *member);
/* Is a due left that will write there? Does those that can be done first. Entered. */
bool tsl_cuda_dues_meet(struct tsl_cuda_member *member, const struct tsl_place *place, const size_t region[3]);
/* The newest due's number. */
uint64_t tsl_cuda_dues_now(struct tsl_cuda_member *member);

/* The box of place from or to the packed bytes. */
void tsl_cuda_pack(void *packed, const struct tsl_place *place, const size_t region[3]);
void tsl_cuda_unpack(const struct tsl_place *place, const void *packed, const size_t region[3]);

/* ---- host.c -------------------------------------------------------------------------------------------------------
 */

cl_int tsl_cuda_host_alloc(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem);
void tsl_cuda_host_free(struct tsl_cuda_host *host);
/* Gives back what is kept beyond what is worth it: the longest unused first. Not entered; in the bridge thread. */
void tsl_cuda_hosts_trim(struct tsl_cuda_member *member);
/* When nothing of it is used any more. Entered. */
void tsl_cuda_hosts_finish(struct tsl_cuda_member *member);

/* ---- svm.c --------------------------------------------------------------------------------------------------------
 */

cl_int tsl_cuda_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                          struct tsl_mem **mem);
bool tsl_cuda_svm_reaches(struct tsl_member *from, struct tsl_member *to);
/* If too much is kept, CUDA waits for all that the device has. Not entered. */
void tsl_cuda_svm_free(struct tsl_cuda_svm *svm);
/* What was kept, when nothing of it is used any more. Entered. */
void tsl_cuda_svm_finish(struct tsl_cuda_member *member);
/* Is all of this such memory? */
bool tsl_cuda_svm_has(const void *begin, size_t size);

/* ---- region.c -----------------------------------------------------------------------------------------------------
 *
 * Memory of the application's that is pinned where it lies: of what host_register is given, the whole pages. A fork
 * ends all of it.
 */

cl_int tsl_cuda_host_register(struct tsl_member *member, void *host, size_t size, struct tsl_mem **mem);
/* Waits for transfers that use it, and unpins it. Not entered, no lock held. */
void tsl_cuda_region_free(struct tsl_cuda_region *region);
/* Is any of this memory pinned so, or about to be? Then CUDA need not be asked: it counts as pinned only for those who
 * use it in the way below. */
bool tsl_cuda_region_meets(const void *begin, size_t size);
/* A region that has some of this memory and stays pinned until tsl_cuda_region_used(), which must follow soon; NULL:
 * there is none. *before, *behind: so many bytes at the ends are outside of it. Neither blocks for long. */
struct tsl_cuda_region *tsl_cuda_region_use(const void *begin, size_t size, size_t *before, size_t *behind);
/* submitted: the lane's stream was given a transfer that uses it. Entered, lane->lock held. */
void tsl_cuda_region_used(struct tsl_cuda_region *region, struct tsl_cuda_lane *lane, bool submitted);

/* ---- fence.c ------------------------------------------------------------------------------------------------------
 */

/* In state HELD, with one reference. NULL without memory. lane: NULL for a gate. */
struct tsl_cuda_fence *tsl_cuda_fence_new(struct tsl_cuda_member *member, struct tsl_cuda_lane *lane);
/* Records the fence behind what was submitted: SENT. Entered. */
cl_int tsl_cuda_fence_send(struct tsl_cuda_fence *fence);
/* Another state than HELD, or HELD. With acquire: what was written before it is seen. */
static inline enum tsl_cuda_state tsl_cuda_fence_state(const struct tsl_cuda_fence *fence)
{
    return (enum tsl_cuda_state)atomic_load_explicit(&fence->state, memory_order_acquire);
}
/* HELD → OVER, by the host. */
void tsl_cuda_fence_end(struct tsl_cuda_fence *fence, cl_int status);
/* Without waiting: its state after a look at the device. Entered. */
enum tsl_cuda_state tsl_cuda_fence_look(struct tsl_cuda_fence *fence);
/* From now on the lane's flag will tell of it, if it can. */
void tsl_cuda_fence_flag(struct tsl_cuda_fence *fence);
/* Is it with the device, and is there no sign yet that it is through? False: look. */
bool tsl_cuda_fence_unflagged(struct tsl_cuda_fence *fence);
/* Was it sent, in the same lane, after `other`, which was sent? */
bool tsl_cuda_fence_is_behind(const struct tsl_cuda_fence *fence, const struct tsl_cuda_fence *other);
void tsl_cuda_fences_finish(struct tsl_cuda_member *member);

/* ---- lane.c, work.c -----------------------------------------------------------------------------------------------
 */

void tsl_cuda_lane_unref(struct tsl_cuda_lane *lane);
/* The lane's events up to this number are over. */
void tsl_cuda_lane_saw(struct tsl_cuda_lane *lane, uint64_t sent);
/* Has the stream write to the lane's flag when it is through with what it was sent so far. For want of something it
 * isn't done: then only CUDA can be asked. Entered, lane->lock held. */
void tsl_cuda_lane_flag(struct tsl_cuda_lane *lane);
static inline bool tsl_cuda_lane_has_seen(struct tsl_cuda_lane *lane, uint64_t sent)
{
    /* Acquire: what the device wrote before was there when the number was stored. */
    return atomic_load_explicit(&lane->seen, memory_order_acquire) >= sent;
}
/* Passes on what the lane can pass on. In the bridge thread. False: nothing is held any more. *progress: something went
 * on; *polls: something waits for the device. */
bool tsl_cuda_lane_advance(struct tsl_cuda_lane *lane, bool *progress, bool *polls);
/* The pipeline is through with what it got of the lane. Drops the pipeline's reference. */
void tsl_cuda_lane_piped(struct tsl_cuda_lane *lane, cl_int status);

/* Submits the work, or holds a copy of it. waits, and for launches args, are borrowed. Consumes nothing of *work;
 * *fence as in the contract. */
cl_int tsl_cuda_submit(struct tsl_lane *lane, struct tsl_cuda_work *work, const struct tsl_waits *waits,
                       struct tsl_fence **fence);

/* Each submits one kind to the stream. Entered, lane->lock held. TSL_CUDA_PIPED (positive): the pipeline has it. */
#define TSL_CUDA_PIPED 1
cl_int tsl_cuda_run_copy(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
cl_int tsl_cuda_run_fill(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
cl_int tsl_cuda_run_launch(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
/* Copies the values of a launch's arguments into kept->storage. False: no memory. */
bool tsl_cuda_keep_args(struct tsl_cuda_work *kept, const struct tsl_cuda_work *work);
/* The launch as one grid. False: it takes several. */
bool tsl_cuda_one_grid(const struct tsl_cuda_launch *launch, struct tsl_cuda_grid *grid);
/* May the copy begin, as far as the host's memory goes? Entered. */
bool tsl_cuda_copy_ready(struct tsl_cuda_member *member, const struct tsl_copy *copy);

/* ---- ahead.c: work that is sent before the gates for which it waits are open --------------------------------------
 *
 * A stream waits for a word of pinned memory, which opening the gate writes. Nothing can be called off then, should the
 * gate's opener fail: so only marks go ahead and copies whose target holds nothing good ("loose"), with those that wait
 * for such; their fences tell of the failure. A gate may be waited for on the device only if its opener is sure to end
 * soon by itself, all work that it needs having been sent before (fence_is_sure): then no call of CUDA's that blocks,
 * whoever makes it, keeps the gate from opening. Streams that wait for long slow the GPU down (half a millisecond for
 * others' work was seen), so where that happens nothing goes ahead for a while.
 */

extern uint64_t tsl_cuda_long_ns; /* no stream should wait for longer; only tests change it */

/* May this work be sent although this gate isn't open? Entered, lane->lock held. */
bool tsl_cuda_may_go_ahead(const struct tsl_cuda_work *work, struct tsl_cuda_fence *gate);
/* Around calls that may wait for the device while somebody waits who may have gates to open: not while streams wait for
 * gates (false), and none begins to meanwhile. */
bool tsl_cuda_pinning_begin(struct tsl_cuda_member *member);
void tsl_cuda_pinning_end(struct tsl_cuda_member *member);
/* May it be sent although one of the gates on which that fence's work depends isn't open? Likewise. */
bool tsl_cuda_may_follow(const struct tsl_cuda_work *work, const struct tsl_cuda_fence *fence);
/* Has one of those gates failed, or is it doomed? */
bool tsl_cuda_has_failed(const struct tsl_cuda_fence *fence);
/* Are they all open, and none has failed, and it isn't doomed? */
bool tsl_cuda_is_certain(const struct tsl_cuda_fence *fence);
/* Do more gates leave it in doubt than it can know of? */
bool tsl_cuda_doubts_too_much(const struct tsl_cuda_work *work);
/* Makes the stream wait for gates, and sets the work's doubts. Entered, lane->lock held. */
cl_int tsl_cuda_wait_for_gates(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
/* Has any of what it waits for failed, once its doubts are set? Then it isn't done, and its fence is doomed. */
bool tsl_cuda_is_doomed(const struct tsl_cuda_work *work);
/* The work's fence, which isn't SENT yet, takes its doubts over. */
void tsl_cuda_keep_doubts(const struct tsl_cuda_work *work);
/* The gate is over: streams go on. Its state was changed under member->lock. */
void tsl_cuda_words_open(struct tsl_cuda_fence *gate);
void tsl_cuda_words_finish(struct tsl_cuda_member *member);
/* Does the copy go straight between the host's memory, if that takes part, and the device's? Entered. */
bool tsl_cuda_copy_is_direct(const struct tsl_copy *copy);

/* ---- batch.c: all with lane->lock held ----------------------------------------------------------------------------
 */

extern uint64_t tsl_cuda_quick_ns; /* launches that follow each other faster are quick; only tests change it */

/* Keeps the launch for later, if it is one of many quick ones. Its fence, which it may only have where others are kept
 * already, is the caller's affair. Neither enters nor blocks. */
bool tsl_cuda_batch_save(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work);
bool tsl_cuda_batch_is_full(const struct tsl_cuda_lane *lane);
bool tsl_cuda_batch_has(const struct tsl_cuda_lane *lane);
/* Sends what was kept. Entered. */
void tsl_cuda_batch_send(struct tsl_cuda_lane *lane);
/* Instead, where the member is lost. */
void tsl_cuda_batch_drop(struct tsl_cuda_lane *lane, cl_int error);
/* The error with which something kept could not be sent: told once. */
cl_int tsl_cuda_batch_error(struct tsl_cuda_lane *lane);
/* Sends a launch of one grid at once; launch.args has the grid's hidden argument, too. Entered. */
CUresult tsl_cuda_batch_launch(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work,
                               const struct tsl_cuda_grid *grid);
/* The host waits for the lane: what comes next goes at once. */
void tsl_cuda_batch_pause(struct tsl_cuda_lane *lane);
/* With the lane; nothing is kept any more. Entered. */
void tsl_cuda_batch_free(struct tsl_cuda_lane *lane);

/* ---- pipeline.c ---------------------------------------------------------------------------------------------------
 */

/* Starts moving the box between the application's memory and the device's, or between devices that don't reach each
 * other, behind the stream's work so far. Ends in tsl_cuda_lane_piped(), for which it keeps a reference to the lane.
 * Entered, lane->lock held. */
cl_int tsl_cuda_pipe(struct tsl_cuda_lane *lane, const struct tsl_copy *copy);
/* NULL is fine. Entered. */
void tsl_cuda_pipeline_destroy(struct tsl_cuda_pipeline *pipeline);
/* Does CUDA know the host's memory there as pinned? Entered. */
bool tsl_cuda_is_pinned_at(const void *at);
/* One asynchronous copy of a box between device memory and host memory that is pinned, or within device memory. */
CUresult tsl_cuda_copy_box(const struct tsl_place *dst, const struct tsl_place *src, const size_t region[3],
                           CUstream stream);

/* ---- bridge.c -----------------------------------------------------------------------------------------------------
 */

/* The thread will pass on what the lane holds, and keeps a reference to it until it holds nothing. lane->lock held. */
cl_int tsl_cuda_bridge_hold(struct tsl_cuda_lane *lane);
/* The lane holds nothing any more; the caller, in the bridge thread, drops the reference. lane->lock held. */
void tsl_cuda_bridge_release(struct tsl_cuda_lane *lane);
/* As fence_notify, for a fence that isn't complete. */
cl_int tsl_cuda_watch(struct tsl_cuda_fence *fence, tsl_notify_fn *fn, void *arg);
/* Something changed for which the bridge thread or waiters may wait. Any thread; doesn't block. */
void tsl_cuda_bridge_kick(struct tsl_cuda_member *member);
/* There is pinned memory to be given back by the bridge thread, which is started for that. */
void tsl_cuda_bridge_trim(struct tsl_cuda_member *member);
void tsl_cuda_bridge_stop(struct tsl_cuda_member *member);
/* The number of changes so far, and waiting until there is another; for loops that look in between. */
unsigned tsl_cuda_changes(struct tsl_cuda_member *member);
void tsl_cuda_await_change(struct tsl_cuda_member *member, unsigned seen);

/* ---- compile.c ----------------------------------------------------------------------------------------------------
 */

/* Is there a compiler that makes PTX of OpenCL C? */
bool tsl_cuda_compiles(void);

/* What the compiler made. */
struct tsl_cuda_made {
    void *image; /* image.h; heap; NULL after an error */
    size_t size;
    char *log; /* heap, may be NULL */
};

/* Source to PTX; source and headers to an object; objects to PTX or a library. *made starts as zeroes. */
cl_int tsl_cuda_make_build(struct tsl_cuda_member *member, const struct tsl_program_input *input,
                           struct tsl_cuda_made *made);
cl_int tsl_cuda_make_compile(struct tsl_cuda_member *member, const struct tsl_program_input *input,
                             const struct tsl_program_headers *headers, struct tsl_cuda_made *made);
cl_int tsl_cuda_make_link(struct tsl_cuda_member *member, const struct tsl_link_input *input,
                          enum tsl_cuda_image_kind kind, struct tsl_cuda_made *made);

/* ---- The operations of the table ----------------------------------------------------------------------------------
 */

cl_int tsl_cuda_probe(tsl_found_fn *found, void *arg);
cl_int tsl_cuda_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);
cl_int tsl_cuda_open(const struct tsl_path *path, struct tsl_member **member);
void tsl_cuda_close(struct tsl_member *member);
cl_int tsl_cuda_lane_create(struct tsl_member *member, bool profile, struct tsl_lane **lane);
void tsl_cuda_lane_free(struct tsl_lane *lane);
cl_int tsl_cuda_flush(struct tsl_lane *lane);
cl_int tsl_cuda_finish(struct tsl_lane *lane);
cl_int tsl_cuda_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
cl_int tsl_cuda_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
void tsl_cuda_mem_free(struct tsl_mem *mem);
cl_int tsl_cuda_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int tsl_cuda_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags,
                            void *host, struct tsl_mem **mem);
cl_int tsl_cuda_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);
bool tsl_cuda_can_copy_peer(struct tsl_member *from, struct tsl_member *to);
cl_int tsl_cuda_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
cl_int tsl_cuda_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
cl_int tsl_cuda_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                       struct tsl_fence **fence);
cl_int tsl_cuda_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);
cl_int tsl_cuda_fence_status(struct tsl_fence *fence);
cl_int tsl_cuda_fence_wait(struct tsl_fence *fence);
cl_int tsl_cuda_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int tsl_cuda_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void tsl_cuda_fence_free(struct tsl_fence *fence);
bool tsl_cuda_can_wait(struct tsl_member *member, const struct tsl_fence *fence);
cl_int tsl_cuda_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int tsl_cuda_gate_open(struct tsl_fence *gate, cl_int status);
void tsl_cuda_gate_by(struct tsl_fence *gate, struct tsl_fence *opener);
bool tsl_cuda_fence_peek(const struct tsl_fence *fence);
bool tsl_cuda_fence_is_sure(struct tsl_fence *fence);
cl_int tsl_cuda_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                      char **log);
cl_int tsl_cuda_compile(struct tsl_member *member, const struct tsl_program_input *input,
                        const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
cl_int tsl_cuda_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                     char **log);
cl_int tsl_cuda_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void tsl_cuda_program_free(struct tsl_dprogram *program);
/* Those that a kernel touches. */
bool tsl_cuda_program_variables(struct tsl_dprogram *program, size_t *bytes);
cl_int tsl_cuda_program_kernels(struct tsl_dprogram *program, char **names);
cl_int tsl_cuda_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                              struct tsl_kernel_facts *facts);
void tsl_cuda_kernel_free(struct tsl_dkernel *kernel);
bool tsl_cuda_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);

#endif
