/*
 * A context's graph as a whole, and its lock, which guards everything in these files where nothing else is said. The
 * lock is not held while a driver is called, but for the few calls that docs/dev/locks.md names, or an object is
 * destroyed.
 */
#ifndef TSL_GRAPH_STATE_H
#define TSL_GRAPH_STATE_H

#include "base/lock.h"
#include "base/pool.h"
#include "base/worker.h"
#include "graph/chain_pays.h"
#include "graph/dependences.h"
#include "graph/port.h"
#include "graph/scratch.h"
#include "tile/tile.h"

#include <pthread.h>
#include <stdatomic.h>

struct tsl_callback;
struct tsl_checks;
struct tsl_command;
struct tsl_context;
struct tsl_op_record;
struct tsl_placer;
struct tsl_graph_queue;

#define TSL_CHAIN_PAYS 8u

struct tsl_graph {
    LIST_ENTRY(tsl_graph) link; /* in the list of all (graphs.c) */
    struct tsl_lock lock;
    struct tsl_context *context; /* not owned: the graph is the context's */
    pthread_cond_t changed;      /* something became reported or submitted; signalled only when n_waiting */
    unsigned n_waiting;          /* threads in tsl_graph_wait */
    unsigned n_awaiting;         /* ... that wait for commands, which no memory that is dropped brings nearer */
    const struct tsl_command *asleep_for; /* ... for which the last of these does; NULL: that one is awake */
    uint64_t n_commands;                  /* ever */
    uint64_t n_ops;                       /* ever */
    unsigned n_queues;                    /* ever */
    unsigned n_ports;
    struct tsl_port *ports; /* by member */
    struct tsl_port host;   /* the host's own copies */
    struct tsl_port tasks;  /* the application's host tasks, which may take long or wait for the application */
    struct tsl_tiles host_map;
    struct tsl_pool op_pool, command_pool;
    LIST_HEAD(, tsl_graph_queue) queues;
    LIST_HEAD(, tsl_command) redoable; /* launches that are cut: shares that fail may be done again (redoable.h) */
    struct tsl_placer *placer;
    STAILQ_HEAD(, tsl_command) later;   /* held: their member has enough to do, or memory order was on */
    bool ask_again;                     /* ask for them again (tsl_schedule_later says when) */
    uint64_t refused_ns;                /* since when that isn't done, as others submit; 0: it is, or nobody asked */
    bool submit_first;                  /* but first submit what was planned so far, and let others have the lock */
    atomic_uint n_wanting;              /* threads that want it to go on submitting, or to tell of an end */
    atomic_uint n_draining;             /* threads that submit what is ready on a port, where that is no work itself */
    TAILQ_HEAD(, tsl_command) deferred; /* deferred writes (deferred_write.h), oldest first */
    unsigned n_deferred;
    uint64_t complete_ns;   /* when a launch was last seen to be complete; 0: none had copies (joints.h) yet */
    uint64_t kernel_before; /* the kernel that was given a place last, by its key */
    struct {
        uint64_t key, width;
        unsigned depth, n_left;                       /* n_left: so often it serves again */
    } chosen[4];                                      /* what was chosen for chains of the last launches (chain.c) */
    struct tsl_chain_pays chain_pays[TSL_CHAIN_PAYS]; /* chain_pays.h */
    unsigned next_chain_pays;
    uint64_t chain_end_ns; /* when the last launches that were measured for it ended */
    struct {
        uint64_t end_ns;      /* ... when the last launch that ran window by window ended */
        uint64_t kernels[64]; /* kernels of which launches did, the last few, by their keys */
        unsigned next;
    } windows;                                     /* window_times.h */
    uint64_t cut_id, cut_end_ns;                   /* the last cut launch of which it is known when it ended; 0: none */
    uint64_t cut_ends_ns[TSL_MAX_MEMBERS];         /* ... on each member; 0: that had no share */
    struct tsl_scratch_list scratch, dead_scratch; /* scratch.h */
    unsigned n_scratch;
    struct {
        struct tsl_job over;  /* it comes behind that; posted, the job has a reference to the context */
        bool will_be_over;    /* it is posted: a thread of ours opens some */
        bool all;             /* all members are ready */
        tsl_members known;    /* until it is over, the placer knows of these */
        tsl_members wanted;   /* those that were to be opened so far */
        double spent_ns;      /* what that was feared to take */
        double ran_ns;        /* how long launches of some size ran */
        uint64_t since_ns;    /* when the first was placed; 0: none was */
        uint64_t begun_ns;    /* when that thread was asked to */
        uint64_t kernels[32]; /* those made, of which earlier runs tell, by their keys; and ... */
        unsigned n_kernels;
        double kernels_ns;             /* ... what their launches took there, together */
    } readiness;                       /* readiness.h */
    bool cuts_always;                  /* launches are cut even with one member (cut.h) */
    bool spreads;                      /* launches are cut by the rung `domain` before others, whatever that spreads */
    atomic_uint n_spread;              /* objects that are spread, or leaving (spread.h) */
    atomic_uint_fast64_t objects_size; /* bytes of all root memory objects */
    struct tsl_checks *checks;         /* TESELA_CHECK=coherence and split (coherence.h), owned; NULL: off */
    bool checks_cuts;                  /* TESELA_CHECK=split (split_check.h) */
    struct tsl_op *opaque;             /* the last operation with effects unknown (owned reference); NULL: none yet */
    tsl_dependences since_opaque;      /* what was planned after opaque */
    unsigned n_under_way;              /* operations that went and aren't finished */
    unsigned n_tasks;                  /* the application's host tasks that aren't finished */
    struct tsl_command *memory_order;  /* commands that lacked memory for an edge (memory_order.h); NULL: none */
    unsigned n_senders;                /* senders.h; constant */
    uint64_t task_ns;                  /* when the last host task began */
    atomic_uint n_sending;             /* ports that senders have and aren't through with; changes under the lock */
    unsigned scheduling;               /* commands that are being scheduled */
    /* Sends what is ready to its members, though a plan isn't through (tsl_command.direct). The lock is given
     * meanwhile. Constant: a door to work.c, which comes after all plans. */
    void (*begin_now)(struct tsl_graph *graph);
    struct tsl_op_queue parked; /* in memory order: operations that will go one by one (owned references) */

    /* Work left by what happened under the lock, done by tsl_graph_leave without it. */
    STAILQ_HEAD(, tsl_port) ports_ready;
    STAILQ_HEAD(, tsl_port) ports_unsent; /* whose flush was left until all ports are drained */
    struct tsl_op_queue to_watch;  /* submitted operations whose completion must be notified (owned references) */
    struct tsl_op_queue signalled; /* operations whose fence told of completion (owned references) */
    struct tsl_op_queue dead_ops;  /* unreferenced: fences and gates are to be dropped, then the memory */
    LIST_HEAD(, tsl_graph_queue) dead_queues; /* unreferenced: lanes are to be dropped, then the memory */
    struct tsl_command *garbage;              /* reported: what they hold is to be dropped (owned references) */
    unsigned n_collecting;                    /* threads that drop garbage */
    struct tsl_callback *callbacks;           /* due, oldest first */
    struct tsl_callback **callbacks_end;
    struct tsl_op_record *records; /* finished operations for the trace, newest first */
    unsigned n_writing;            /* threads that write records */
    struct tsl_job bridge_job, callback_job, chain_job;
    bool bridge_posted, callbacks_posted, chain_posted; /* the job holds a reference to the context */
    unsigned surplus_refs; /* references to the context to be dropped when the lock is given */
};

/* The lock is given for a call into a driver or for an object's end, and taken again before the function returns: for
 * the caller, and so for Clang's analysis, it is held throughout. What was read before may have changed. */
static inline void tsl_graph_open(struct tsl_graph *graph) TSL_UNCHECKED
{
    tsl_lock_give(&graph->lock);
}

static inline void tsl_graph_close(struct tsl_graph *graph) TSL_UNCHECKED
{
    atomic_fetch_add_explicit(&graph->n_wanting, 1, memory_order_relaxed);
    if (atomic_load_explicit(&graph->n_sending, memory_order_relaxed) ||
        atomic_load_explicit(&graph->n_draining, memory_order_relaxed))
        tsl_lock_take_soon(&graph->lock);
    else
        tsl_lock_take(&graph->lock);
    atomic_fetch_sub_explicit(&graph->n_wanting, 1, memory_order_relaxed);
}

/* Wakes threads in tsl_graph_wait: something became reported or submitted, or memory is free. */
void tsl_graph_changed(struct tsl_graph *graph);
/* The same, where what a reported command held was dropped, or its records were written. */
void tsl_graph_dropped(struct tsl_graph *graph);
/* Waits for that; the lock is given meanwhile. */
void tsl_graph_wait(struct tsl_graph *graph);
/* The same, for a command's sake. */
void tsl_graph_wait_awaiting(struct tsl_command *command);
/* Lets the bridge thread do the work that was left. */
void tsl_graph_post(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);
/* The same in two steps, the second without the lock, which the bridge thread takes first. True: the caller takes the
 * second, and the job has a reference to the context from now on. */
bool tsl_graph_will_post(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);
void tsl_graph_post_now(struct tsl_graph *graph) TSL_EXCLUDES(graph->lock);
/* The same if there is some that others may wait for: for a thread that will be long at something else. */
void tsl_graph_leave_to_others(struct tsl_graph *graph) TSL_REQUIRES(graph->lock);

#endif
