/*
 * Simulation of whole programs on fake members: a seed makes a random OpenCL program and a random machine, runs the
 * one on the other through the core, and judges every byte.
 *
 *   world.c    the machine: members, context, threads (as a list of jobs that chance runs, or real ones)
 *   program.c  the program: commands, events and host actions, each enqueued as it is thought of; kept as nodes
 *   order.c    what the OpenCL specification orders before what; the generator asks it, so that programs have one
 * answer judge.c    that answer: the nodes one after the other, on plain memory
 *
 * A program has no data race by the specification, so whatever order the core finds, the bytes are known. What it may
 * have, and has: commands of two queues that touch different bytes of one buffer with arguments that say all of it;
 * commands that are ordered only because of what the host knew when it set a user event.
 */
#ifndef TSL_TESTS_SIM_H
#define TSL_TESTS_SIM_H

#include "core/buffer.h"
#include "core/context.h"
#include "core/program.h"
#include "core/queue.h"
#include "driver/fake.h"
#include "graph/graph.h"

#define SIM_MAX_NODES   160
#define SIM_WORDS       ((SIM_MAX_NODES + 63) / 64)
#define SIM_MAX_BUFFERS 4
#define SIM_MAX_QUEUES  3
#define SIM_MAX_SIZE    512
#define SIM_ARENA_SIZE  1024 /* the application's own memory */

struct sim_set {
    uint64_t words[SIM_WORDS];
};

/* What a run is like. */
struct sim_options {
    uint64_t seed;
    unsigned n_steps;    /* of the program */
    bool threads;        /* real threads and delays; else one thread, virtual time */
    unsigned n_programs; /* with threads: as many run at once, each in a thread, in one context; 0 is 1 */
    bool failures;       /* calls and work fail now and then */
    bool verbose;        /* the program is printed as it runs */
    unsigned sabotage;   /* not 0: the driver itself does enum tsl_fake_sabotage + 1 wrong once, at piece sabotage_at */
    unsigned sabotage_at;
    bool *sabotaged; /* out, where not NULL: it came to that */
};

/* ---- The machine (world.c) ---- */

struct sim_buffer {
    struct tsl_buffer *root;
    struct tsl_buffer *sub; /* NULL: none */
    size_t size, sub_offset, sub_size;
    bool host_ptr;
    bool filled; /* it begins with the bytes of sim_set_bytes for its number */
};

struct sim {
    struct sim_options options;
    uint64_t random;
    struct tsl_fake_setup setup;
    struct tsl_context *context;
    struct tsl_program *program;
    unsigned n_buffers, n_queues;
    struct sim_buffer buffers[SIM_MAX_BUFFERS];
    struct tsl_queue *queues[SIM_MAX_QUEUES];
    bool in_order[SIM_MAX_QUEUES];
    unsigned char arena[SIM_ARENA_SIZE];
    unsigned char host_ptrs[SIM_MAX_BUFFERS][SIM_MAX_SIZE];

    unsigned n_nodes;
    struct sim_node *nodes;
    int last_of_queue[SIM_MAX_QUEUES]; /* in order: the last command; else the last barrier; -1 */
    struct sim_set all_of_queue[SIM_MAX_QUEUES];
    struct sim_set known;                 /* nodes that the host knows to be complete */
    unsigned char hidden[SIM_ARENA_SIZE]; /* what SIM_HIDE and SIM_SHOW share */
    unsigned n_printed;
    unsigned printed[SIM_MAX_NODES]; /* nodes whose kernels printed, in the order in which they did */
    unsigned n_injected;             /* failures ordered */
    char *failure;                   /* heap: the first thing that went wrong; NULL: nothing */
    char *story;                     /* heap: the program so far, a line for each step */
    size_t story_size;
};

uint64_t sim_random(struct sim *sim);
/* 0 … n-1. */
unsigned sim_pick(struct sim *sim, unsigned n);
/* True once in n. */
bool sim_once_in(struct sim *sim, unsigned n);
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_tell(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The machine, for all programs of a run: members, context, and the OpenCL program. */
void sim_world_begin(struct sim *sim);
void sim_world_end(struct sim *sim);
/* What a program has for itself: queues and buffers. */
void sim_things_begin(struct sim *sim);
void sim_things_end(struct sim *sim);
/* The machine goes on a little. */
void sim_world_move(struct sim *sim);

/* ---- Nodes ---- */

enum sim_kind {
    SIM_WRITE,
    SIM_READ,
    SIM_COPY,
    SIM_FILL,
    SIM_ADD,  /* kernel: dst[…] = src[…] + i + value; says READ_WRITE and READ */
    SIM_MIX,  /* the same without proof: both are READ_WRITE */
    SIM_SET,  /* kernel: writes all of its argument (role WRITE) */
    SIM_PART, /* kernel: writes part of its argument (role WRITE: may write is not must write) */
    SIM_HIDE, /* opaque kernel: puts bytes where no argument leads */
    SIM_SHOW, /* opaque kernel: takes them from there */
    SIM_NATIVE,
    SIM_MAP,
    SIM_UNMAP,
    SIM_MARKER,
    SIM_BARRIER,
    SIM_MIGRATE,
    SIM_USER, /* a user event, as it is set */
    SIM_POKE, /* the host writes to the arena or to mapped memory */
    SIM_PEEK, /* the host reads there */
};

/* Areas: buffers have the lower numbers. */
#define SIM_ARENA   SIM_MAX_BUFFERS
#define SIM_HIDDEN  (SIM_MAX_BUFFERS + 1) /* a program-scope variable, say */
#define SIM_N_AREAS (SIM_MAX_BUFFERS + 2)

/* Bytes of an area that a node touches; rows of `size` bytes at a distance of `pitch`. */
struct sim_access {
    unsigned area;
    size_t offset, size, n_rows, pitch;
    bool write;
};

struct sim_node {
    enum sim_kind kind;
    int queue; /* -1: the host's */
    struct tsl_event *event;
    cl_int status;
    bool unset; /* a user event not yet set */
    bool blocking;
    bool needs_event; /* the host will have to wait for it alone */
    unsigned n_preds;
    uint16_t preds[SIM_MAX_NODES + 8]; /* what comes right before it: by its queue, and its wait list */
    unsigned n_waits;
    uint16_t waits[8];     /* its wait list */
    struct sim_set base;   /* the host knew these when it was enqueued, or, a user event, when it was set */
    struct sim_set before; /* all that comes before it: order.c */
    struct sim_set oblige; /* a user event: the host must know these before it sets it */

    struct sim_access dst, src;         /* size 0: none */
    struct sim_access may_dst, may_src; /* what the core must take it to write, as far as it can know; size 0: as dst */
    unsigned char value;
    unsigned char pattern_size;
    cl_map_flags map_flags;
    unsigned char *ptr;   /* of a mapping */
    int map;              /* UNMAP, POKE, PEEK: the mapping's node; -1: the arena */
    bool mapped;          /* MAP: not yet unmapped */
    bool via_sub;         /* MAP: of the sub-buffer */
    unsigned n_callbacks; /* asked for */
    _Atomic(unsigned) n_called;
    _Atomic(cl_int) told; /* what a callback was told */
    unsigned char *seen;  /* PEEK, blocking READ: what was there, src.size or dst.size bytes */
};

/* The last argument of every kernel; offsets in the arguments' memory. */
struct sim_argument {
    struct sim *sim;
    uint32_t dst, src, size;
    uint16_t node;
    unsigned char value;
};

/* ---- order.c ---- */

bool sim_set_has(const struct sim_set *set, unsigned i);
void sim_set_add(struct sim_set *set, unsigned i);
void sim_set_join(struct sim_set *set, const struct sim_set *other);
/* Makes every node's `before` right again, after new nodes or user events that were set. */
void sim_order_settle(struct sim *sim);
/* Does the node, as planned, conflict with one that nothing orders? Adds what it takes to the preds (nodes to wait
 * for) where that is allowed, or obliges user events; false if it can't be had. */
bool sim_order_fits(struct sim *sim, struct sim_node *node, bool may_wait);
/* Is it behind a user event that isn't set? */
bool sim_order_blocked(const struct sim *sim, const struct sim_node *node);
/* Puts node i into the node's wait list. */
void sim_order_wait(struct sim_node *node, unsigned i);
bool sim_accesses_meet(const struct sim_access *a, const struct sim_access *b);

/* ---- program.c, judge.c ---- */

void sim_program_run(struct sim *sim);
void sim_judge(struct sim *sim);
/* What kernels, fills and pokes do, shared by the members' bodies and the judge. */
void sim_add_bytes(unsigned char *dst, const unsigned char *src, size_t size, unsigned char value);
void sim_set_bytes(unsigned char *dst, size_t size, unsigned char value);

/* Registers the kernels, runs one seed, and returns what went wrong with the program's story (heap), NULL if nothing.
 */
char *sim_run(const struct sim_options *options);

#endif
