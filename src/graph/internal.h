/*
 * The inside of the graph. graph.h is its door; docs/dev/architecture.md walks one call through these files:
 *
 *   enqueue.c   makes commands of calls and puts them into their stream
 *   schedule.c  held → scheduled: order (streams, wait lists, barriers), then a plan per kind of command
 *   plan.c      where a command runs; its operations
 *   access.c    fetching and claiming ranges: moves between spaces, edges from the uses on tiles
 *   lazy.c      writes that wait for their reader's place
 *   room.c      members' memory: who has a place there, and who gives it up for another
 *   op.c        operations and their edges
 *   join.c      what keeps lists of operations short
 *   starve.c    the order where there is no memory for an edge
 *   again.c     launches like the one before
 *   submit.c    ready operations → drivers; the ports
 *   complete.c  fences → finished operations → complete and reported commands
 *   wait.c      blocking, flush, finish
 *   event.c     events, callbacks, profiling
 *   worker.c    threads
 *   exit.c      the process's end: what is under way is waited for
 *
 * Words: an *operation* is one submission to one driver (a copy, fill, launch, native call or mark); a command has
 * none, one or several (its moves too). A *port* is a context's access to one member, or to the host; a *track* is the
 * graph's side of a driver's lane. Everything here is guarded by the graph's lock, which is never held while a driver
 * is called: ports are drained by one thread at a time, which gives the lock for each submission.
 *
 * An edge from operation P to D (always from an earlier scheduled to a later one) is met
 *   TSL_EDGE_LANE    when P is ready: the same track, or the same synchronous port, keeps the order
 *   TSL_EDGE_NATIVE  when P is ready: same member, other track; D is submitted after P and waits for P's fence natively
 *   TSL_EDGE_GATE    when P is submitted: other member; D waits for a gate that P's completion opens
 *   TSL_EDGE_DONE    when P is finished: the host waits
 * A *strict* edge carries failure: if P fails, D fails without running.
 */
#ifndef TSL_GRAPH_INTERNAL_H
#define TSL_GRAPH_INTERNAL_H

#include "base/clock.h"
#include "base/lock.h"
#include "base/pool.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "graph/graph.h"
#include "object/buffer.h"
#include "object/svm.h"
#include "place/place.h"
#include "tile/ranges.h"
#include "tile/tile.h"
#include "trace/trace.h"

#include <limits.h>
#include <sys/queue.h>

/* ---- Data: a root memory object's copies --------------------------------------------------------------------------
 */

struct tsl_range {
    uint64_t begin, end;
};

enum tsl_registering { TSL_REGISTER_NOT, TSL_REGISTER_POSTED, TSL_REGISTER_RUNNING, TSL_REGISTER_OVER };

struct tsl_data {
    struct tsl_context *context; /* not owned: the buffer's */
    /* Mapped for writing: the application may be at it, so the host's copy stays a valid one there and no move goes
     * into it, whatever kernels that may touch all of the object (but don't: OpenCL 3.0, 5.4.2) claim meanwhile. */
    struct tsl_ranges mapped;
    size_t size;
    const struct tsl_svm *svm;          /* the owner's, if that is shared virtual memory; NULL: it isn't */
    const struct tsl_image_desc *image; /* the owner's, if that is an image; NULL: it is a buffer */
    bool padded;                        /* of an image with bytes that are no pixels: they are never moved */
    unsigned members;                   /* those that can hold it; of a buffer all */
    cl_mem_flags flags;                 /* access flags, handed to drivers as hints */
    struct tsl_tiles tiles;             /* the directory */
    char *host;                         /* the host's copy; NULL until needed */
    size_t host_shift;                  /* so many bytes behind the begin of what we allocated; 0: not at all */
    struct tsl_mem *pinned;             /* the host's copy is this one's memory (host_alloc); NULL: it isn't */
    bool host_owned;                    /* ours (else the application's CL_MEM_USE_HOST_PTR) */
    bool lost;                          /* for want of memory: what is read of it fails */
    bool moved;                         /* ever, from one space to another */
    bool warned;                        /* "read before anything was written" was said */
    int home;                           /* member whose kernel used it last; -1: none yet */
    struct tsl_object *owner;           /* the root buffer, whose this is */
    enum tsl_registering registering;   /* register.c */
    struct tsl_job register_job;        /* while posted or running it has a reference to the owner */
    struct tsl_mem *registered;         /* the application's memory is pinned by this one; NULL: it isn't */
    uint64_t traffic;       /* bytes that went between that memory and members that might pin it; until it is posted */
    struct tsl_seat *seats; /* by member */
    LIST_HEAD(, tsl_sub_mems) sub_mems; /* of its sub-buffers */
};

/*
 * A memory object's place in a member's memory. Two views of it: `seated` is the schedule's, ahead of what happens;
 * `mem` is what there is now. mem is made by the port's drainer while an operation uses it, taken away by an eviction
 * when none does (room.c), and freed at the end.
 */
struct tsl_seat {
    TAILQ_ENTRY(tsl_seat) link; /* in the port's list while seated, coldest first */
    struct tsl_data *data;
    struct tsl_mem *mem;
    bool seated;
    bool changed;           /* another memory was there before: arguments bound then are others now */
    uint64_t pin;           /* the id of the last command that needs it */
    unsigned n_evictions;   /* planned so far */
    unsigned n_void;        /* so many of these don't take place: what they should have saved is still needed here */
    unsigned n_freeing;     /* parts of it that other threads are freeing: they go before it */
    struct tsl_mem *orphan; /* evicted meanwhile: whoever frees the last part frees this too */
};

TAILQ_HEAD(tsl_seat_list, tsl_seat);

/* A sub-buffer's memory on the members, made on demand by the port's drainer, taken away with the root's; hangs on the
 * sub-buffer. */
struct tsl_sub_mems {
    LIST_ENTRY(tsl_sub_mems) link;
    struct tsl_data *data;
    struct tsl_mem *mems[TSL_MAX_MEMBERS];
};

/* The root's, also of a sub-buffer. */
static inline struct tsl_data *tsl_data_of(const struct tsl_buffer *buffer)
{
    return tsl_buffer_root((struct tsl_buffer *)(uintptr_t)buffer)->data;
}

/* owner: a root, whose size and flags are set, and whose image is, if it is one. host_ptr: NULL, or the application's
 * memory. */
struct tsl_data *tsl_data_create(struct tsl_buffer *owner, void *host_ptr);
/* Calls drivers: not under a lock. No command uses it any more. */
void tsl_data_destroy(struct tsl_data *data);
/* The host's copy, allocated at first need (aligned as every member wants it); NULL without memory. */
char *tsl_data_host(struct tsl_data *data);
/* The application will see much of the host's copy: if it is to be made yet, it is made of memory that is pinned, where
 * a member likes that. Calls drivers: not under a lock. */
void tsl_data_pin(struct tsl_data *data);

/* register.c. The application may take the memory that it lent away as soon as its commands have ended: it isn't pinned
 * any more, and won't be. Calls drivers and waits for transfers that were submitted: not under a lock. */
void tsl_data_unregister(struct tsl_data *data);

struct tsl_sub_mems *tsl_sub_mems_create(struct tsl_data *data); /* NULL without memory */
void tsl_sub_mems_destroy(struct tsl_sub_mems *subs);            /* as tsl_data_destroy; NULL allowed */

/* ---- Operations ---------------------------------------------------------------------------------------------------
 */

/* ROOM: takes a memory object's place on a member away (room.c). JOIN: stands for many (join.c). */
enum tsl_op_kind { TSL_OP_COPY, TSL_OP_FILL, TSL_OP_LAUNCH, TSL_OP_NATIVE, TSL_OP_MARK, TSL_OP_ROOM, TSL_OP_JOIN };
enum tsl_op_state { TSL_OP_PLANNED, TSL_OP_READY, TSL_OP_SUBMITTED, TSL_OP_DONE };
enum tsl_edge_kind { TSL_EDGE_LANE, TSL_EDGE_NATIVE, TSL_EDGE_GATE, TSL_EDGE_DONE };

struct tsl_op;
struct tsl_command;

struct tsl_edge {
    struct tsl_op *to;              /* owned reference; NULL: the edge goes to a command */
    struct tsl_command *to_command; /* owned reference */
    uint8_t kind;
    bool unmet; /* counted in to->n_unmet (or to_command->n_undone) */
    bool strict;
};

/* A side of a copy or fill, before memory is bound: data (at a member's copy or the host's), or the application's
 * memory. */
struct tsl_side {
    struct tsl_data *data; /* NULL: host */
    unsigned space;
    char *host;
    size_t offset, row_pitch, slice_pitch;
};

struct tsl_op {
    struct tsl_user user;        /* first: references, done, track and order */
    STAILQ_ENTRY(tsl_op) ready;  /* in parked, the port's list, then in to_watch, signalled or dead_ops */
    TAILQ_ENTRY(tsl_op) flight;  /* in the track's list */
    TAILQ_ENTRY(tsl_op) launch;  /* in the port's launches */
    bool listed;                 /* there */
    struct tsl_command *command; /* whose work it is; valid until done; NULL: of a join */
    struct tsl_port *port;
    struct tsl_track *track; /* NULL on synchronous ports */
    enum tsl_op_kind kind;
    enum tsl_op_state state;
    cl_int status; /* CL_COMPLETE or an error, once done */
    cl_int poison; /* an error: a strict predecessor failed, so this fails without running */
    unsigned n_unmet;
    bool want_fence; /* somebody will need it */
    bool watched;    /* its completion must be noticed without anybody pulling (notify) */
    bool notified;   /* notify was asked for */
    bool timed;      /* the placer is to learn how long it takes */
    bool move;       /* transfers a tile because a command needs it (not a command of the application) */
    bool aside;      /* makes room for the command: its fate is not the command's */
    bool keeps;      /* its tiles keep what was good before it (access.c) */
    bool unfenced;   /* was submitted without a fence: one that is made late tells of no failure */
    bool awaited;    /* exit has waited for it */
    bool unsure;     /* may run though what it strictly comes after has failed */
    struct tsl_fence *fence;
    cl_int signal_status; /* what the fence told */
    uint64_t submit_ns;
    uint64_t end_estimate_ns; /* of launches: when it will have ended; 0: unknown */
    uint64_t trace_id;
    uint64_t number;           /* among all of the graph's, from 1 */
    uint64_t start_ns, end_ns; /* of synchronous ports, by our clock */
    TSL_SMALL_VECTOR(struct tsl_edge, 2) out;
    TSL_SMALL_VECTOR(struct tsl_op *, 2) natives; /* submitted before; their fences are waited for (owned references) */
    TSL_SMALL_VECTOR(struct tsl_op *, 1)
    gates;                    /* submitted before on other members; gates wait for them (owned references) */
    struct tsl_side dst, src; /* COPY, FILL (dst) */
    size_t region[3];         /* COPY, FILL */
    struct tsl_seat *victim;  /* ROOM: it has a reference to the data's owner */
    unsigned eviction;        /* ROOM: its number among the victim's, from 0 */
};

/* register.c. The copy is about to be submitted: if one of its ends is memory that the application lent, that may pay
 * to be pinned now. Lock held. */
void tsl_register_count(const struct tsl_op *op);

/* Bytes from the first to behind the last byte of a box. */
static inline size_t tsl_hull(const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    return (region[2] - 1) * slice_pitch + (region[1] - 1) * row_pitch + region[0];
}

STAILQ_HEAD(tsl_op_queue, tsl_op);
TAILQ_HEAD(tsl_op_list, tsl_op);

/* The graph's side of a lane: what is on its way there. */
struct tsl_track {
    struct tsl_port *port;
    struct tsl_stream *stream; /* whose part it is; NULL: the port's */
    struct tsl_lane *lane;     /* made by the drainer at first use */
    bool profile;
    unsigned n_dirty, n_sent; /* how often something was submitted, and how much of that is known to be sent */
    uint64_t order;
    unsigned n_unfenced;       /* submitted since the last fence */
    unsigned n_submitted;      /* ever */
    struct tsl_op_list flight; /* submitted, not known finished, oldest first */
    /* The lane has told that work without a fence failed, and tells that once: it may be any up to this one. Places in
     * user.order. */
    uint64_t given; /* the newest that the driver may have */
    uint64_t failed_upto;
    cl_int failed;
    bool finishing; /* a thread waits for the lane: another comes after it, and then knows what that was told */
};

#define TSL_HOST_INDEX UINT_MAX

/* A context's access to one member or to the host. */
struct tsl_port {
    struct tsl_graph *graph;
    struct tsl_member *member;
    unsigned space;
    const char *name; /* the member's path id, or "host" */
    unsigned index;   /* of the member in the context; TSL_HOST_INDEX: the host */
    bool sync;        /* submissions complete before they return */
    bool draining;    /* a thread is in submit */
    bool ahead;       /* it submits what need not wait for the one that can't be submitted */
    bool listed;      /* in graph->ports_ready */
    bool posted;      /* its worker's job holds a reference to the context */
    unsigned n_pending;
    uint64_t order;              /* synchronous: of all operations that became ready here */
    struct tsl_op_list launches; /* what the placer placed there and is not finished, oldest first (owned references) */
    uint64_t ended_ns;           /* when the end of a launch was noticed last */
    struct tsl_op_queue ready;
    struct tsl_seat_list seats; /* who has a place in the member's memory, coldest first */
    unsigned n_leaving;         /* memories there that a thread is about to free: evictions at once, orphans of seats */
    struct tsl_op *evicting;    /* the last eviction that was planned, while unfinished (owned reference) */
    uint64_t reported;          /* errors, by their number: it was told that there are such */
    size_t fresh_size;          /* allocated by the drainer since a submission succeeded: maybe not yet there really */
    struct tsl_track up, down;  /* moves to and from the member */
    struct tsl_track timed_up, timed_down; /* lanes that profile, for moves whose time the placer is to learn */
    struct tsl_worker *worker;             /* synchronous ports */
    struct tsl_job job;
    STAILQ_ENTRY(tsl_port) link;
};

static inline bool tsl_is_host(const struct tsl_port *port)
{
    return port->index == TSL_HOST_INDEX;
}

/* The space in which the port works on this data. A member that works on the host's memory may have its own of images
 * (zero_copy_images), and knows nothing of those that it can't hold. One that knows the addresses of shared virtual
 * memory works on that where it is. */
static inline unsigned tsl_space_of(const struct tsl_port *port, const struct tsl_data *data)
{
    if (data->svm && !tsl_is_host(port) && (data->svm->members >> port->index & 1))
        return TSL_SPACE_HOST;
    if (!data->image || port->space != TSL_SPACE_HOST || tsl_is_host(port))
        return port->space;
    bool shared = port->member->caps.zero_copy_images && (data->members >> port->index & 1);
    return shared ? TSL_SPACE_HOST : TSL_SPACE_MEMBER(port->index);
}

/* ---- Commands ------------------------------------------------------------------------------------------------------
 */

enum tsl_command_state { TSL_HELD, TSL_SCHEDULED, TSL_COMPLETE, TSL_REPORTED };

struct tsl_dependence {
    struct tsl_op *op; /* owned reference */
    bool strict;
};

typedef TSL_SMALL_VECTOR(struct tsl_dependence, 2) tsl_dependences;

struct tsl_callback {
    struct tsl_callback *next;
    tsl_event_fn *fn;
    void *arg;
    cl_int when;
    struct tsl_event *event; /* owned reference */
    cl_int status;           /* what fn is told */
    char *text;              /* heap; not NULL: this is for the context's function, and fn and event are not there */
};

struct tsl_command {
    unsigned refs;
    struct tsl_graph *graph;
    struct tsl_stream *stream;     /* NULL for user events */
    TAILQ_ENTRY(tsl_command) link; /* in the stream, until reported */
    struct tsl_command *next;      /* in lists of work to do */
    uint64_t id;                   /* in order of enqueue, from 1 */
    cl_command_type type;
    enum tsl_command_state state;
    cl_int status;                                      /* CL_COMPLETE until something failed; valid once complete */
    bool has_event, barrier, in_order, profile, serial; /* the last three: the stream's when it was enqueued */
    bool after_all;                                     /* out-of-order: waits for all before it */
    bool flushed, watched;
    bool starves;      /* in the graph's list of such */
    bool awaited;      /* a thread waits for it, or did */
    unsigned n_hold;   /* predecessors not yet scheduled, +1 while it is being made */
    unsigned n_undone; /* operations (its own, and those it waits for) not finished, +1 while being scheduled */
    TSL_SMALL_VECTOR(struct tsl_command *, 1)
    held; /* commands that wait for this one to be scheduled (owned references) */
    TSL_SMALL_VECTOR(struct tsl_command *, 2)
    waits;                          /* wait list and barriers: complete before this runs (owned references) */
    unsigned n_listed;              /* the first of waits are its wait list: it fails if one of them did */
    tsl_dependences own;            /* what decides its status: its operations, and strict dependences */
    tsl_dependences frontier;       /* when these are finished, all of its (in-order) queue up to it is */
    struct tsl_op *main;            /* the operation whose times it reports; owned reference */
    struct tsl_callback *callbacks; /* newest first */
    uint64_t queued_ns, submit_ns, complete_ns;
    uint64_t start_ns, end_ns; /* as told to the application first; 0: not yet */

    /* What to do. Which are set depends on the type; references are released when it is complete. */
    struct tsl_buffer *src, *dst; /* owned internal references */
    char *host;                   /* the application's memory */
    struct tsl_box_copy box;      /* read, write, copy; fill, map (in the root): dst_… */
    cl_map_flags map_flags;
    size_t n_ranged; /* map, unmap: of the mapped ranges, so many were added, removed */
    void *pattern;   /* heap */
    size_t pattern_size;
    struct tsl_kernel *kernel; /* owned internal reference */
    struct tsl_args *args;     /* owned reference */
    struct tsl_window window;
    unsigned members;
    bool may_wait;         /* a write: the application keeps its memory as it is until it is told of the end */
    bool waits_for_place;  /* in the graph's lazy writes */
    tsl_dependences order; /* then: what it runs after */
    TAILQ_ENTRY(tsl_command) lazy;
    int member; /* where it was placed; -1: nowhere or the host */
    struct tsl_placement placement;
    STAILQ_ENTRY(tsl_command) later;
    void(CL_CALLBACK *native_fn)(void *);
    bool follows_task;                /* it, or what it waits for, comes after a host task that was unfinished then */
    bool own_task;                    /* native_fn is ours: it is quick, and touches nothing but its buffers */
    const tsl_dependences *order_now; /* while it is being planned: what its own operations run after */
    void *native_args;
    cl_uint n_buffers;
    struct tsl_buffer **buffers; /* heap array of owned internal references: native, migrate */
    void ***slots;
};

TAILQ_HEAD(tsl_command_list, tsl_command);

static inline bool tsl_command_maps(const struct tsl_command *c)
{
    return c->type == CL_COMMAND_MAP_BUFFER || c->type == CL_COMMAND_MAP_IMAGE || c->type == CL_COMMAND_SVM_MAP;
}

static inline bool tsl_command_unmaps(const struct tsl_command *c)
{
    return c->type == CL_COMMAND_UNMAP_MEM_OBJECT || c->type == CL_COMMAND_SVM_UNMAP;
}

struct tsl_stream {
    LIST_ENTRY(tsl_stream) link; /* in streams, then in dead_streams */
    struct tsl_graph *graph;
    struct tsl_queue *queue; /* valid while a command is not reported */
    unsigned refs;           /* the queue's, and one for each thread that uses a track without the lock: when the last
                                command is reported meanwhile, the queue may go */
    unsigned id;             /* in order of making, from 1 */
    bool in_order, profile;
    bool serial; /* commands do not overlap: a profiling queue's times would show it, or TESELA_ORDER=sync */
    struct tsl_command_list commands; /* not reported, oldest first */
    struct tsl_command *unscheduled;  /* in-order: the first held one (all after it are held too); else NULL */
    unsigned n_behind;                /* enqueued behind that one */
    struct tsl_command *barrier;      /* out-of-order: the last barrier, while not complete (owned reference) */
    tsl_dependences frontier;         /* in-order: of the last scheduled command */
    tsl_dependences task;             /* in-order: the last host task, and what waited for others */
    tsl_dependences touching;         /* in-order: what may touch the application's memory since (schedule.c) */
    struct tsl_track *tracks;         /* by member */
    int pinned; /* the one member that a sub-device's queue is for: what it moves goes there; -1: no such */
    struct tsl_track *timed_tracks; /* by member: lanes that profile, for commands that do, and launches whose time the
                                       placer is to learn */
    cl_int pending_error;           /* of a command without event: told by the next blocking call, then forgotten */
};

struct tsl_graph {
    LIST_ENTRY(tsl_graph) link; /* in the list of all (room.c) */
    struct tsl_lock lock;
    struct tsl_context *context; /* not owned: the graph is the context's */
    pthread_cond_t changed;      /* something became reported or submitted; signalled only when n_waiting */
    unsigned n_waiting;
    uint64_t n_commands; /* ever */
    uint64_t n_ops;      /* ever */
    unsigned n_streams;  /* ever */
    unsigned n_ports;
    struct tsl_port *ports; /* by member */
    struct tsl_port host;   /* the host's own copies */
    struct tsl_port tasks;  /* the application's host tasks, which may take long or wait for the application */
    struct tsl_tiles host_map;
    struct tsl_pool op_pool, command_pool;
    LIST_HEAD(, tsl_stream) streams;
    struct tsl_placer *placer;
    STAILQ_HEAD(, tsl_command) later; /* held until a launch has ended and the placer finds them a member */
    bool ask_again;                   /* one has ended */
    TAILQ_HEAD(, tsl_command) lazy;   /* scheduled writes whose place is not known yet (lazy.c), oldest first */
    unsigned n_lazy;
    struct tsl_op *opaque;        /* the last operation with effects unknown (owned reference); NULL: none yet */
    tsl_dependences since_opaque; /* then: what was planned after it */
    unsigned n_under_way;         /* operations that went and aren't finished */
    unsigned n_tasks;             /* the application's host tasks that aren't finished */
    struct tsl_command *starving; /* those for which memory for an edge was lacking (starve.c); NULL: none */
    bool scheduling;              /* a command is being scheduled */
    struct tsl_op_queue parked;   /* meanwhile: operations that will go one by one (owned references) */

    /* Work left by what happened under the lock, done by tsl_graph_leave without it. */
    STAILQ_HEAD(, tsl_port) ports_ready;
    struct tsl_op_queue to_watch;  /* submitted operations whose completion must be notified (owned references) */
    struct tsl_op_queue signalled; /* operations whose fence told of completion (owned references) */
    struct tsl_op_queue dead_ops;  /* unreferenced: fences and gates are to be dropped, then the memory */
    LIST_HEAD(, tsl_stream) dead_streams; /* unreferenced: lanes are to be dropped, then the memory */
    struct tsl_command *garbage;          /* reported: what they hold is to be dropped (owned references) */
    unsigned n_collecting;                /* threads that drop such */
    struct tsl_callback *callbacks;       /* due, oldest first */
    struct tsl_callback **callbacks_end;
    struct tsl_op_record *records; /* finished operations for the trace, newest first */
    unsigned n_writing;            /* threads that write such */
    struct tsl_job bridge_job, callback_job;
    bool bridge_posted, callbacks_posted; /* the job holds a reference to the context */
    unsigned surplus_refs;                /* references to the context to be dropped when the lock is given */
};

/* Now, where somebody may ask for the command's times: a look at the clock is a good part of what a small command
 * costs. Else 0. */
static inline uint64_t tsl_stamp(const struct tsl_command *c)
{
    bool wanted = c->profile || c->graph->n_ports > 1 || tsl_trace_on();
    return wanted ? tsl_clock_ns() : 0;
}

/* The lock is given for a call into a driver or an object's end, and taken again before the function returns: to its
 * caller, and so to Clang's analysis, it is held throughout. What was read before may have changed. */
static inline void tsl_graph_open(struct tsl_graph *graph) TSL_UNCHECKED
{
    tsl_lock_give(&graph->lock);
}

static inline void tsl_graph_close(struct tsl_graph *graph) TSL_UNCHECKED
{
    tsl_lock_take(&graph->lock);
}

/* ---- op.c
 * ------------------------------------------------------------------------------------------------------------ */

/* A new operation of the command, counted in its n_undone, with one unmet count of its own (tsl_op_go takes that away).
 * The caller owns the reference. NULL without memory. */
struct tsl_op *tsl_op_create(struct tsl_command *command, struct tsl_port *port, struct tsl_track *track,
                             enum tsl_op_kind kind);
void tsl_op_unref(struct tsl_op *op);    /* NULL allowed */
void tsl_op_free(struct tsl_user *user); /* what tsl_user_free does */
/* Makes op run after `before`. strict: it fails if `before` fails. */
void tsl_op_depend(struct tsl_op *op, struct tsl_op *before, bool strict);
/* Makes the command complete after `before`; part of its frontier, and, when strict, of its status. */
void tsl_command_depend(struct tsl_command *command, struct tsl_op *before, bool strict);
/* The operation is planned: it becomes ready when its edges are met. All operations that it has edges to went before.
 */
void tsl_op_go(struct tsl_op *op);
/* The same where the graph starves, when its turn has come. */
void tsl_op_set_out(struct tsl_op *op);
/* It fails, or will: what is to fail with it, and isn't with its driver yet, won't get there. */
void tsl_op_doom_next(struct tsl_op *op);
/* It was submitted, and will be once more: ready again. */
void tsl_op_again(struct tsl_op *op);
/* It was handed to the driver. */
void tsl_op_submitted(struct tsl_op *op);
/* The operations that it had to wait for are not needed any more: the driver knows. */
void tsl_op_forget_befores(struct tsl_op *op);
/* It finished (or never will): tells who waits. */
void tsl_op_finish(struct tsl_op *op, cl_int status);
/* Its completion must be noticed without anybody waiting for it. */
void tsl_op_watch(struct tsl_op *op);
/* A join has all its edges: it is done when these are met. */
void tsl_op_joined(struct tsl_op *join);
/* Adds an operation to a list of dependences, leaving out what it makes superfluous. False without memory. */
bool tsl_dependences_add(tsl_dependences *list, struct tsl_op *op, bool strict);
void tsl_dependences_finish(tsl_dependences *list);

/* ---- join.c
 * ----------------------------------------------------------------------------------------------------------
 */

/* So many are side by side before they are joined; tests have less. */
extern unsigned tsl_join_at;
/* Puts joins in the place of all that the list has, if there is memory for that. */
void tsl_dependences_fold(tsl_dependences *list, struct tsl_graph *graph);
/* The same for those that read the tile's copy in that space, if they are many. Not for the one that is being planned:
 * it may come after the join. */
void tsl_fold_readers(struct tsl_tile *tile, struct tsl_graph *graph, unsigned space, const struct tsl_op *planned);

/* ---- starve.c
 * -------------------------------------------------------------------------------------------------------- */

/* There was no memory for what the command, or one of its operations, comes after: all is done in turn for a while. The
 * command is being scheduled. */
void tsl_starve(struct tsl_command *command);
/* The operation, planned meanwhile, waits until all that went before it is finished. */
void tsl_park(struct tsl_op *op);
/* Something finished, or a command was scheduled: if the graph starves, the next one's turn may have come. */
void tsl_feed(struct tsl_graph *graph);

/* ---- access.c
 * -------------------------------------------------------------------------------------------------------- */

/* Makes the current bytes of [begin, end) available in a space: plans the moves that are missing. */
cl_int tsl_fetch(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The operation will touch [begin, end) of that space's copy: edges from whoever conflicts there. A write makes this
 * the only valid copy. Fetch first, unless all of the range is overwritten. */
cl_int tsl_claim(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space, unsigned may);
/* The operation will touch the application's memory. */
cl_int tsl_claim_host(struct tsl_op *op, const void *host, size_t size, bool write);
/* The command (a map, an unmap) touches the host's copy without an operation of its own. exclusive: that becomes the
 * only valid one. */
cl_int tsl_claim_for_command(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end,
                             unsigned may, bool exclusive);
/* The papers' warning, once per object: some of [begin, end) is read before anything was written to it. */
void tsl_warn_unwritten(struct tsl_data *data, uint64_t begin, uint64_t end);
/* Where a fetch takes a tile from whose valid set this is, and whether that takes one move (else two: by way of the
 * host). */
unsigned tsl_best_source(struct tsl_graph *graph, uint32_t valid, unsigned to);
bool tsl_moves_directly(struct tsl_graph *graph, unsigned from, unsigned to);
/* The newest bytes of [begin, end) count as the host's: a write is to bring them. */
cl_int tsl_await_on_host(struct tsl_data *data, uint64_t begin, uint64_t end);
/* Bytes of [begin, end) that are not valid in a space. */
uint64_t tsl_missing(struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The operation is finished: the host map need not know of the application's memory that it touched any longer. */
void tsl_forget_host(struct tsl_op *op);
/* [begin, end) is mapped for writing, is so no longer. */
cl_int tsl_map_range(struct tsl_data *data, uint64_t begin, uint64_t end);
void tsl_unmap_range(struct tsl_data *data, uint64_t begin, uint64_t end);
/* A move failed: its target's copy is not valid after all, where another one is. Before it counts as done. */
void tsl_move_failed(struct tsl_op *op);
/* An operation that claimed what it may change failed: what it was to change is what it was, wherever that still is;
 * else who reads it fails. Before it counts as done. */
void tsl_claims_failed(struct tsl_op *op);
/* The operation, which isn't done, won't have moved these bytes: where nobody has written them since, they are where
 * they were. True: they were to be given up there meanwhile, by an eviction. */
bool tsl_not_moved(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned to, unsigned from);
/* For an eviction: all of the object's copy in that space belongs to the operation, when those that use it are done. */
cl_int tsl_claim_place(struct tsl_op *op, struct tsl_data *data, unsigned space);
/* All who will use the object's copy in that space come after the operation, which itself comes after nobody there. */
void tsl_follow_place(struct tsl_op *op, struct tsl_data *data, unsigned space);
/* The first range at or behind *begin of which that space has the only copy; false: there is none. */
bool tsl_only_there(struct tsl_data *data, unsigned space, uint64_t *begin, uint64_t *end);
/* Plans to save it on the host, aside of the command. */
cl_int tsl_spill(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);
/* The operation, which makes the copy itself, claims that range of the host's copy. */
cl_int tsl_claim_spill(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end);
/* Is no unfinished operation using that space's copy of the object? Of [begin, end) of the host's? */
bool tsl_space_idle(struct tsl_data *data, unsigned space);
bool tsl_host_idle(struct tsl_data *data, uint64_t begin, uint64_t end);
/* The space's copy is none any more: the operation, which has claimed its place, takes it away. */
void tsl_leave_space(struct tsl_op *op, struct tsl_data *data, unsigned space);

/* ---- room.c
 * --------------------------------------------------------------------------------------------------------
 *
 * A member's memory is finite. Room is made when a plan needs it: whoever was used longest ago gives up its place. What
 * only that member has is moved to the host, then an operation of the kind ROOM frees the memory. It claims the whole
 * copy of the object that goes, so it runs when nobody uses that. A member's evictions come one after the other, and
 * who takes a place there comes after the last of them: it leaves its use on the tiles of the newcomer. All edges point
 * backwards, so nothing can block.
 *
 * What a plan reckons with may be wrong: others use the member too. So where a driver refuses an allocation, or the
 * first submission that needs it, the thread that drains the port evicts objects that nobody uses, of its own context
 * and of others, waits for what is on its way, and tries again.
 */

/* The command needs a place for the data on that member: keeps it, or finds one. */
void tsl_seat(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port);
/* The command will need the places that this data has: none of them is taken for its other arguments. */
void tsl_pin(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port);
/* A kernel's: those of all its arguments. */
void tsl_pin_args(struct tsl_command *command, struct tsl_port *port);
/* The end of the data: it gives up all its places. */
void tsl_unseat_all(struct tsl_data *data);
/* Bytes that only are there because a move failed: the evictions that are planned don't take place. */
void tsl_stay_seated(struct tsl_data *data, struct tsl_port *port);
/* Runs an operation of the kind ROOM; the port's drainer. The lock is given meanwhile. */
void tsl_room_run(struct tsl_op *op);
/* Allocates (the drainer) and frees, without the lock; the member's books are kept. */
cl_int tsl_room_alloc(struct tsl_port *port, struct tsl_data *data);
void tsl_room_free(const struct tsl_seat *seat, struct tsl_mem *mem);
/* The drainer, without the lock: the driver had no memory for a submission. True: something changed, try again. first:
 * it is the first time with this submission. */
bool tsl_make_room(struct tsl_op *op, bool first);
/* The drainer, while `op` can't be submitted: submits what is ready behind it and doesn't need it, as that may end and
 * give up its place. False: there is nothing such. The lock is given meanwhile. */
bool tsl_submit_ahead(struct tsl_op *op);
/* Is that what the error of a submission says? */
bool tsl_lacks_room(const struct tsl_port *port, cl_int error);
/* Which of the members could hold all that these arguments name, if they held nothing else? Takes no lock. */
unsigned tsl_room_members(struct tsl_graph *graph, unsigned members, const struct tsl_args *args);
/* Could this one hold the two? They may be the same. */
bool tsl_room_for_two(const struct tsl_port *port, const struct tsl_data *a, const struct tsl_data *b);
void tsl_room_add_graph(struct tsl_graph *graph);
void tsl_room_remove_graph(struct tsl_graph *graph);
/* exit.c. The graph is made: should the process end, what its members have is waited for. */
void tsl_exit_expect(const struct tsl_graph *graph);
/* The next graph after this one (NULL: the first), whose context then has a reference more. NULL: there is none. Under
 * no lock. */
struct tsl_graph *tsl_next_graph(struct tsl_graph *graph);

/* Bytes of one object that are to go from one space to another. */
struct tsl_move {
    struct tsl_data *data;
    uint64_t begin, end;
    unsigned from, to;
    bool aside; /* it makes room for the command, whose fate isn't that of the move */
};

/* What copies of [begin, end) between two spaces there are: one, or, where there is padding, some boxes; in ascending
 * order. */
unsigned tsl_boxes_of(const struct tsl_data *data, uint64_t begin, uint64_t end,
                      struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES]);

/* Where such a box lies in any copy; memory and host address are left open. */
static inline struct tsl_place tsl_place_of(const struct tsl_data *data, const struct tsl_image_box *box)
{
    const struct tsl_image_desc *image = data->image;
    return (struct tsl_place){.offset = box->offset,
                              .row_pitch = image ? tsl_image_row_step(image) : 0,
                              .slice_pitch = image ? image->slice_pitch : 0};
}

/* ---- plan.c
 * ---------------------------------------------------------------------------------------------------------- */

/* Plans the operations of a scheduled command. `order`: what its own operations run after. */
cl_int tsl_plan(struct tsl_command *command, const tsl_dependences *order);
/* The command failed: what its plan left behind goes. */
void tsl_plan_failed(struct tsl_command *command);
/* A move operation of the command (see access.c), without edges: a range, or (of images with padding) a box. */
struct tsl_op *tsl_plan_move(struct tsl_command *command, const struct tsl_move *move, const struct tsl_image_box *box);

/* Plans the operation of a write into that space's copy. */
cl_int tsl_plan_write_to(struct tsl_command *command, const tsl_dependences *order, unsigned space);

/* ---- lazy.c
 * ----------------------------------------------------------------------------------------------------------
 *
 * A write that needn't be done at once is scheduled without an operation: until somebody reads what it writes, nobody
 * knows where that is wanted. If a kernel comes for it, it goes from the application's memory straight to the kernel's
 * member. Everything else that is scheduled, waited for, flushed or asked about makes it go to the host's copy first.
 * So nothing but kernels that don't touch its bytes is ever scheduled between the write and its operation, and the
 * operation's edges are those that it would have had at once.
 */

/* May its place be left open? */
bool tsl_may_be_lazy(const struct tsl_command *write);
/* Leaves it open. */
cl_int tsl_wait_for_place(struct tsl_command *write, const tsl_dependences *order);
/* What was left open and the command, which is about to be scheduled (a kernel: placed), might come after. */
void tsl_settle_before(struct tsl_command *command);
/* The bytes of its object that it writes. */
uint64_t tsl_lazy_begin(const struct tsl_command *write);
uint64_t tsl_lazy_end(const struct tsl_command *write);
/* All goes to the host. */
void tsl_settle_all(struct tsl_graph *graph);

/* ---- choose.c
 * -------------------------------------------------------------------------------------------------------- */

/* Asks the placer where the kernel goes: into command->placement. False: nowhere now. */
bool tsl_choose_member(struct tsl_command *command);
/* The same for a command that is about to be scheduled. True: it is held (n_hold) until a launch has ended. */
bool tsl_place_later(struct tsl_command *command);
/* Its launch has ended or will never run; 0: unknown times. Nothing if it wasn't placed. */
void tsl_placement_ended(struct tsl_command *command, uint64_t start_ns, uint64_t end_ns);
/* Into port->launches, and out of it. */
void tsl_port_launches(struct tsl_port *port, struct tsl_op *op);
void tsl_port_launched(struct tsl_op *op);
uint64_t tsl_work_items(const struct tsl_window *window);

/* ---- schedule.c
 * ------------------------------------------------------------------------------------------------------ */

/* A new command for a queue (NULL: a user event), state held, reference owned by the caller. Takes no lock. */
struct tsl_command *tsl_command_create(struct tsl_graph *graph, struct tsl_stream *stream, cl_command_type type);
void tsl_command_unref(struct tsl_command *command);
/* Puts it into its stream; schedules it if nothing holds it. CL_OUT_OF_HOST_MEMORY: nothing was done. */
cl_int tsl_command_commit(struct tsl_command *command);
/* Its completion must be noticed without anybody waiting for it; also when it is still held. */
void tsl_command_watch(struct tsl_command *command);
/* Asks again where those go that found no place. */
void tsl_place_held(struct tsl_graph *graph);
/* Everything that was held by the command may be scheduled now. */
void tsl_command_let_go(struct tsl_command *command);

/* ---- again.c
 * ---------------------------------------------------------------------------------------------------------- */

/* A launch without event or wait list, on the graph's only member: of several each launch is placed, and the placer
 * counts them. True: it is like the stream's last one, and goes with that; *args are those that
 * the other had, the caller's to let go (without the lock). */
bool tsl_launch_again(struct tsl_stream *stream, const struct tsl_kernel *kernel, const struct tsl_window *window,
                      struct tsl_args **args);

/* ---- submit.c
 * -------------------------------------------------------------------------------------------------------- */

void tsl_port_init(struct tsl_port *port, struct tsl_graph *graph, struct tsl_member *member, unsigned index);
void tsl_port_finish(struct tsl_port *port);
/* The track's lane, made if need be; the drainer, without the lock. */
cl_int tsl_track_lane(struct tsl_track *track, struct tsl_lane **lane);
void tsl_track_init(struct tsl_track *track, struct tsl_port *port, struct tsl_stream *stream, bool profile);
void tsl_track_finish(struct tsl_track *track);
/* Around the use of a track or its lane while the lock is given: it stays. The operation that led there is not finished
 * when pin is called. */
void tsl_track_pin(struct tsl_track *track);
void tsl_track_unpin(struct tsl_track *track);
/* Submits what is ready, unless another thread does already. The lock is held at entry and exit, not in between. */
void tsl_port_drain(struct tsl_port *port);
/* Sends what was submitted to the device; false: the driver refused, and none of it need ever begin. The lock is given
 * meanwhile. */
bool tsl_track_flush(struct tsl_track *track);
/* Where that can't be had, or the operation has no fence: waits until all of its lane is done, and returns how it
 * ended, as far as the driver tells. Without the lock. */
cl_int tsl_lane_wait(struct tsl_op *op, struct tsl_fence *fence);

/* ---- complete.c
 * ------------------------------------------------------------------------------------------------------ */

/* op is known to be complete with that status, and so is all before it on its track. The lock is given meanwhile. */
void tsl_retire(struct tsl_op *op, cl_int status);
/* Not even a mark of it could be submitted, with that error. */
void tsl_retire_refused(struct tsl_op *op, cl_int error);
/* How it ended as far as its lane has told, which is over; it has no fence. */
cl_int tsl_lane_status(const struct tsl_op *op);
/* Asks the driver for the status of an operation that has a fence, and retires it if that is complete. The lock is
 * given meanwhile. */
cl_int tsl_op_ask(struct tsl_op *op);
/* Notices what has ended of all that comes before a submitted operation on its track, and of what it waits for
 * natively. False: not all has, as far as drivers tell. The lock is given meanwhile. */
bool tsl_retire_before(struct tsl_op *op);
/* One of the command's operations or dependences finished. */
void tsl_command_step(struct tsl_command *command);
/* The operation's fence, made late if need be; NULL if that fails. The lock may be given meanwhile. */
struct tsl_fence *tsl_op_fence(struct tsl_op *op);
/* Handles fences that told of completion. The lock is given meanwhile. */
void tsl_handle_signalled(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);
/* Asks for notification of the operations in to_watch. The lock is given meanwhile. */
void tsl_watch_pending(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);

/* ---- graph.c
 * --------------------------------------------------------------------------------------------------------- */

/* Which thread it is: our bridge must not run long host work; a waiter takes what it finds. */
enum tsl_who { TSL_WHO_APPLICATION, TSL_WHO_WORKER };
/* Does the work that was left (submitting, dropping references …). The lock is held at entry and exit, not in between.
 */
void tsl_graph_work(struct tsl_graph *graph, enum tsl_who who) TSL_REQUIRES(graph->lock);
bool tsl_graph_has_work(const struct tsl_graph *graph);
/* tsl_graph_work, then gives the lock. */
void tsl_graph_leave(struct tsl_graph *graph, enum tsl_who who) TSL_RELEASES(graph->lock);
/* Lets the bridge thread do the work that was left. The lock is held. */
void tsl_graph_post(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);
/* The last reference makes it a dead stream. */
void tsl_stream_unref(struct tsl_stream *stream);
/* Wakes waiters. */
void tsl_graph_changed(struct tsl_graph *graph);
/* Waits for that; the lock is given meanwhile. */
void tsl_graph_wait(struct tsl_graph *graph);

/* ---- wait.c, event.c, record.c
 * --------------------------------------------------------------------------------------- */

/* An event without a command (the caller sets it, with a reference), users = 1; NULL without memory. */
struct tsl_event *tsl_event_create(struct tsl_context *context, struct tsl_queue *queue);
/* Until the command is reported. The lock is held at entry and exit. Returns its status (CL_COMPLETE or an error). */
cl_int tsl_command_wait(struct tsl_command *command) TSL_UNCHECKED;
/* Waits for an operation that the driver has, in this thread; pull: and notices its end. The lock is given meanwhile.
 */
cl_int tsl_op_wait(struct tsl_op *op);
void tsl_op_pull(struct tsl_op *op);
/* The command's queue up to it goes to the devices. The lock is given meanwhile. */
void tsl_stream_flush(struct tsl_stream *stream);
/* All that is in the stream now is reported; what is enqueued meanwhile is not waited for. The lock is held at entry
 * and exit. */
void tsl_stream_wait(struct tsl_stream *stream) TSL_UNCHECKED;
/* Appends it to those that are due; it is handed over. */
void tsl_callback_due(struct tsl_graph *graph, struct tsl_callback *callback);
/* Its callbacks for what it has come to, and for what was before that, are due. */
void tsl_command_callbacks(struct tsl_command *command, cl_int status);
/* It was flushed, or scheduled, or a callback was set: those that wait for CL_SUBMITTED may be due. */
void tsl_command_submitted(struct tsl_command *command);
void tsl_run_callbacks(struct tsl_job *job);
/* report.c: it failed, not for another's sake, and no call says so. Nothing of what is aside. Under the graph's lock.
 */
void tsl_op_report(const struct tsl_op *op, cl_int error);
/* Keeps what the trace wants of a finished operation; writes what was kept (without the lock). */
void tsl_record_op(struct tsl_op *op);
void tsl_record_command(struct tsl_command *command);
const char *tsl_command_name(cl_command_type type);
void tsl_records_write(struct tsl_op_record *records);

#endif
