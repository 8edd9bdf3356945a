/*
 * Commands: what one clEnqueue… call made. held → scheduled → complete → reported; graph.h tells what the states mean.
 *
 * Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_COMMAND_H
#define TSL_GRAPH_COMMAND_H

#include "base/clock.h"
#include "base/sets.h"
#include "graph/dependences.h"
#include "graph/share.h"
#include "graph/split_check.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "trace/trace.h"

struct tsl_args;
struct tsl_callback;
struct tsl_chain_watch;
struct tsl_joints;
struct tsl_kernel;

enum tsl_command_state { TSL_HELD, TSL_SCHEDULED, TSL_COMPLETE, TSL_REPORTED };

struct tsl_command {
    unsigned refs;
    struct tsl_graph *graph;
    struct tsl_graph_queue *queue; /* NULL for user events */
    TAILQ_ENTRY(tsl_command) link; /* in the queue, until reported */
    struct tsl_command *next;      /* in lists of work to do */
    uint64_t id;                   /* in order of enqueue, from 1 */
    cl_command_type type;
    enum tsl_command_state state;
    cl_int status; /* CL_COMPLETE until something failed; valid once complete */
    bool has_event, barrier, in_order, profile, serial, sync; /* the last four: the queue's when it was enqueued */
    uint8_t place_by;                                         /* likewise: enum tsl_place_by */
    bool direct;     /* it is being enqueued, and nothing else is being scheduled by that thread */
    bool after_all;  /* out-of-order: waits for all before it */
    bool claims_all; /* a small launch whose data lie where it runs, and nowhere else (stay.h) */
    bool flushed, watched;
    bool in_memory_order; /* in graph->memory_order */
    bool awaited;         /* a thread waits for it, or did */
    unsigned n_hold;      /* predecessors not yet scheduled, +1 while it is being made */
    unsigned n_undone;    /* operations (its own, and those it waits for) not finished, +1 while being scheduled */
    TSL_SMALL_VECTOR(struct tsl_command *, 1)
    held; /* commands that wait for this one to be scheduled (owned references) */
    TSL_SMALL_VECTOR(struct tsl_command *, 2)
    waits;                          /* wait list and barriers: complete before this runs (owned references) */
    unsigned n_listed;              /* the first of waits are its wait list: it fails if one of them did */
    tsl_dependences own;            /* what decides its status: its operations, and strict dependences */
    tsl_dependences frontier;       /* when these are finished, all of its (in-order) queue up to it is */
    struct tsl_callback *callbacks; /* newest first */
    uint64_t queued_ns, submit_ns, complete_ns;

    /* What to do. Which are set depends on the type; references are released when it is complete. */
    struct tsl_buffer *src, *dst; /* owned internal references */
    char *host;                   /* the application's memory */
    struct tsl_box_copy box;      /* read, write, copy; fill, map (in the root): dst_… */
    cl_map_flags map_flags;
    bool map_unseen; /* of an unmap: the application never got the pointer */
    size_t n_ranged; /* map, unmap: of the mapped ranges, so many were added, removed */
    void *pattern;   /* heap */
    size_t pattern_size;
    struct tsl_kernel *kernel; /* owned internal reference */
    struct tsl_args *args;     /* owned reference */
    struct tsl_share share;    /* the first or only one */
    struct tsl_share *more;    /* of a launch that is cut: the others; heap, owned */
    unsigned n_more;
    uint8_t abreast;    /* of a launch: its lane among its queue's for each member, from 1 (abreast.h); 0: not chosen */
    unsigned n_inside;  /* of these shares the first so many begin before the others are planned; 0: none */
    enum tsl_rung rung; /* of a launch: how it is cut ... */
    uint8_t cut_dimension;     /* ... and along which dimension */
    bool later_wins;           /* ... and its shares, in order, surely overwrite earlier ones' bytes */
    struct tsl_joints *joints; /* of a launch whose shares work on copies: owned; else NULL */
    bool told_running;         /* the application was told CL_RUNNING */
    bool may_redo;             /* of a launch: it is in graph->redoable (redoable.h) */
    LIST_ENTRY(tsl_command) redo;
    struct tsl_split_check *split_check; /* of a launch that is also run whole, to compare: owned; else NULL */
    unsigned n_ends;
    struct tsl_op **ends; /* then: operations behind the shares whose ends are the command's (owned references); heap */
    uint8_t whole_why;    /* of a launch: enum tsl_whole_why (share.h) */
    uint8_t cut_why;      /* ... and enum tsl_cut_why (footprint/cut.h): what forbade the rung `exact`, if that did */
    bool whole_counts;    /* ... it was looked at and runs whole: counts once it is placed (cut_count.h) */
    tsl_members spread_over;  /* of a launch that is cut in a domain: over these the memory is spread (cut.h) ... */
    uint64_t spread;          /* ... of these arguments (bits) */
    uint64_t room_spread;     /* ... of a launch that fits no member, or was let in as some were spread: before it is
                                 placed these arguments are spread (bits; spread_room.h) ... */
    tsl_members room_members; /* ... over these: of them are `members` */
    bool changes_by_turns;    /* ... which atomic operations change, whose order any run has another of */
    tsl_members members;      /* of a kernel: those that can take the launch */
    bool awaits_members;      /* ... waits for these to be ready (readiness.h) */
    bool is_lead;             /* a window by which a launch begins (lead.h) */
    bool lead_due;            /* of a held launch: `lead` is to be scheduled */
    unsigned n_leads;         /* ... and of any: so many windows it began by */
    struct tsl_command *lead; /* ... the one that hasn't ended (owned reference); NULL: it has */
    struct tsl_op *first_op;  /* ... whose start is the launch's (owned reference); NULL: a share's */
    double leads_ns;          /* ... how long they took together */
    uint64_t lead_groups;     /* ... how many groups the first has ... */
    uint8_t lead_dimension;   /* ... along this dimension */
    uint8_t lead_member;      /* ... where it ran */
    bool lead_tried;          /* ... one was to show what members take that had not run the kernel */
    bool leads_apart;         /* ... each writes other bytes than what comes after it */
    bool out_of_core;         /* a launch that runs window by window, on those of `members` (out_of_core.h) */
    tsl_members other_way; /* ... or may run so, or whole, on these members instead (either_way.h); empty: it can't */
    uint64_t evicts_ns;    /* ... when it was placed, if others' memory had to go for that (either_way.h); else 0 */
    bool unchained;        /* ... by itself: it was found not to pay to chain it (chain.h) */
    struct tsl_chain_watch *chain_watch; /* ... it is measured with others (chain_pays.h); NULL: it isn't */
    bool chain_due;                      /* ... now: it waits for no more launches to be chained with */
    uint16_t chain_depth; /* ... the first of a chain: so many launches the chain before has, as more wait; 0: none */
    uint16_t n_chained;   /* ... of a chain: so many launches are; 0: by itself */
    bool may_defer;       /* a write: the application keeps its memory as it is until it is told of the end */
    bool is_deferred;     /* in graph->deferred */
    tsl_dependences deferred_order; /* of a deferred write: what it runs after */
    TAILQ_ENTRY(tsl_command) deferred;
    STAILQ_ENTRY(tsl_command) later;
    void(CL_CALLBACK *native_fn)(void *);
    bool follows_task; /* it, or a command of its wait list, comes after a host task that was unfinished then */
    bool own_task;     /* native_fn is ours: it is quick, and touches nothing but its buffers */
    bool side_moves;   /* while the moves of a check are planned: their fate isn't the command's */
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

/* Has the command come as far as CL_SUBMITTED, or past that? A user event has from its beginning. */
static inline bool tsl_command_is_submitted(const struct tsl_command *c)
{
    return c->type == CL_COMMAND_USER || (c->state != TSL_HELD && c->flushed);
}

/* Its shares, 0 … n_more. n_more + 1 is the whole launch with which they are compared. */
static inline struct tsl_share *tsl_command_share(struct tsl_command *c, unsigned i)
{
    return i == 0 ? &c->share : i <= c->n_more ? &c->more[i - 1] : &c->split_check->share;
}

/* What a share of the command's launch is given. */
static inline struct tsl_args *tsl_share_args(const struct tsl_command *c, const struct tsl_share *share)
{
    return share->args ? share->args : c->args;
}

/* The share of the command's work that the operation, which isn't done, does. */
static inline struct tsl_share *tsl_op_share(const struct tsl_op *op)
{
    return tsl_command_share(op->command, op->share);
}

/* Now, where somebody may ask for the command's times: a look at the clock is a good part of what a small command
 * costs. Else 0. */
static inline uint64_t tsl_command_stamp(const struct tsl_command *c)
{
    bool wanted = c->profile || c->graph->n_ports > 1 || tsl_trace_on();
    return wanted ? tsl_clock_ns() : 0;
}

/* A new command for a queue (NULL: a user event), state held, reference owned by the caller. Takes no lock. */
struct tsl_command *tsl_command_create(struct tsl_graph *graph, struct tsl_graph_queue *queue, cl_command_type type);
void tsl_command_unref(struct tsl_command *command);
/* Drops its references to what it waited for. */
void tsl_command_forget_waits(struct tsl_command *command);
/* Drops all shares but the first. */
void tsl_command_forget_shares(struct tsl_command *command);
/* One of the command's operations or dependences is done. */
void tsl_command_step(struct tsl_command *command);

#endif
