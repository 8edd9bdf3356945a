/*
 * Simulation of whole programs: a seed makes a random OpenCL program and a random machine, runs the one on the other,
 * and judges every byte, every status and every time. A program is an ordinary caller of the OpenCL API.
 *
 *   fake.c     a machine: fake members in this process, threads as a list of jobs that chance runs, or real ones;
 *              kernels.c its kernels
 *   real.c     another: whatever members the environment chooses, reached through the OpenCL loader
 *   things.c   what a program has: contexts, queues, buffers
 *   program.c  its steps, each thought of, checked against the order of the specification, and done at once
 *   command.c  commands: their ranges, and the calls that enqueue them; kept as nodes
 *   launch.c   those that are kernels and host tasks
 *   image.c    images, and the commands that only they have
 *   host.c     what the host does beside: waits, maps, user events, callbacks, other threads
 *   order.c    what the OpenCL specification orders before what; the generator asks it, so that programs have one
 *              answer
 *   losses.c   launches under which a member is lost, and which of them must succeed all the same
 *   judge.c    that answer: the nodes one after the other, on plain memory; and whose fault a failure may be
 *   hunt.c     many seeds, in processes of their own, and what fails made small; main.c is its command line
 *
 * A program has no data race by the specification, so whatever order the core finds, the bytes are known. What it may
 * have, and has: commands of two queues that touch different bytes of one buffer with arguments that say all of it, or
 * with footprints that say which; commands that are ordered only because of what the host knew when it set a user
 * event.
 *
 * Each step draws from a random source of its own and names what it uses by the steps that made it, so that a program
 * from which steps were taken out does nearly the same with those that are left.
 */
#ifndef TSL_TESTS_SIM_H
#define TSL_TESTS_SIM_H

#include "dispatch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_STEPS   128
#define SIM_MAX_NODES   192
#define SIM_WORDS       ((SIM_MAX_NODES + 63) / 64)
#define SIM_MAX_BUFFERS 8 /* ever, in one program */
#define SIM_MAX_SUBS    3
#define SIM_MAX_QUEUES  3
#ifndef SIM_MAX_SIZE
#define SIM_MAX_SIZE 512
#endif
#define SIM_ARENA_SIZE    (2 * SIM_MAX_SIZE) /* the application's own memory */
#define SIM_MAX_CALLBACKS 24
#define SIM_MAX_LATERS    12
#define SIM_MAX_PROGRAMS  4

struct sim_set {
    uint64_t words[SIM_WORDS];
};

/* Parts of a program or machine that are made plain, to see whether a failure needs them. */
enum sim_plain {
    SIM_PLAIN_MEMBERS = 1,   /* with gates, and otherwise quick and quiet */
    SIM_PLAIN_ONE = 2,       /* one member */
    SIM_PLAIN_QUEUES = 4,    /* in order, no profiling */
    SIM_PLAIN_BUFFERS = 8,   /* no flags, no sub-buffers */
    SIM_PLAIN_PROGRAMS = 16, /* one program */
    SIM_PLAIN_SPLIT = 32     /* launches run whole */
};

/* Which launches are cut (TESELA_SPLIT), and what the programs and machines are like for that. */
enum sim_split {
    SIM_SPLIT_OFF,     /* none */
    SIM_SPLIT_AUTO,    /* those that are expected to gain; kernels take long */
    SIM_SPLIT_WEIGHTS, /* in unequal parts, some of them empty */
    SIM_SPLIT_ALWAYS,  /* all that can be, in equal parts */
    SIM_N_SPLITS
};

/* Launches of what ended well, all together. */
struct sim_counts {
    atomic_ulong n_launches, n_partial, n_cut; /* of all kernels, of those with footprints, those that were cut */
    atomic_ulong n_again;                      /* shares of lost members that were done again elsewhere */
};

/* What a run is like. */
struct sim_options {
    uint64_t seed;
    unsigned n_steps;
    uint64_t without[SIM_MAX_STEPS / 64]; /* steps that are left out */
    unsigned plain;                       /* enum sim_plain */
    unsigned n_programs;                  /* at once */
    unsigned n_contexts;                  /* of all of them; 0: by chance, one with small memory */
    bool threads;                         /* real threads and delays; else one thread, virtual time */
    bool losses;                          /* of failures: members are lost under launches that are cut, and no others */
    bool failures;                        /* calls and work fail, and members are lost, now and then */
    bool footprints;                      /* kernels with footprints are among the others */
    bool repeats;                         /* launches often repeat the one before: the same kernel and objects */
    bool small_memory;                    /* members that hold only a part of the buffers */
    bool tiny_memory;                     /* members that hold less than launches need: these run window by window */
    bool pins;                            /* members pin the program's own memory (CL_MEM_USE_HOST_PTR) */
    bool verbose;                         /* the program is printed as it runs */
    bool records;                         /* a failure's story ends with what the members did */
    bool abort_at_violation;              /* for a debugger */
    unsigned sabotage;                    /* not 0: the driver does enum tsl_fake_sabotage + 1 wrong once ... */
    unsigned sabotage_at;                 /* ... at this piece of work */
    unsigned out_of_memory;               /* not 0: this allocation of the core fails (faults/ only) */
    bool *sabotaged;                      /* out, where not NULL: it came to that */
    enum sim_split split;
    struct sim_counts *counts; /* out, where not NULL: the run's are added */
};

/* Lengths, programs, failures, footprints, repeats, memory and cuts follow from the seed. */
struct sim_options sim_options_of(uint64_t seed);

/* ---- The machine: shared by all programs of a run ---- */

#define SIM_MAX_CONTEXTS 2

struct sim_world {
    struct sim_options options;
    const struct tsl_dispatch *cl;
    cl_device_id device;
    unsigned n_contexts;
    cl_context contexts[SIM_MAX_CONTEXTS];
    cl_program programs[SIM_MAX_CONTEXTS];
    unsigned n_members;    /* 0: not known */
    size_t align;          /* of sub-buffers, bytes */
    bool spreads;          /* members are of a domain: what is lost with one of them may be others' to read */
    bool tight;            /* room in a member's memory may be lacking */
    bool all_profile;      /* all members tell when work began and ended */
    bool callbacks_wait;   /* an enqueue may block, so none is done in callbacks where there is but one thread */
    bool has_effects;      /* kernels that print, and opaque ones */
    bool has_images;       /* kernels take them in the place of buffers */
    bool keeps_order;      /* of two work-items that write a byte the later one's stays */
    bool notes_runs;       /* what runs says so in its node: only such may be silent */
    atomic_uint n_failing; /* failures ordered, each with the code -1000 - number */
    atomic_bool lost;      /* a member was lost, so CL_DEVICE_NOT_AVAILABLE is an answer */
    bool unseen;           /* at the end: sim_failed_unseen of one of the programs */
    unsigned n_sims;
    struct sim *sims[SIM_MAX_PROGRAMS];
};

/* The box of an image's bytes (driver/image.h). */
struct sim_shape {
    cl_mem_object_type type;
    size_t pixel;              /* bytes; 0: it is no image */
    size_t size[3];            /* pixels, rows, slices; layers of a 1D array are rows */
    size_t pitch, slice_pitch; /* bytes */
};

struct sim_buffer {
    cl_mem root;
    struct sim_shape shape;
    unsigned n_subs;
    cl_mem subs[SIM_MAX_SUBS]; /* they may overlap */
    size_t sub_offsets[SIM_MAX_SUBS], sub_sizes[SIM_MAX_SUBS];
    struct sim_shape sub_shapes[SIM_MAX_SUBS]; /* of images of the buffer */
    size_t size;
    cl_mem_flags flags;
    bool alive;  /* the program may name it */
    bool filled; /* it begins with the bytes of sim_set_bytes for its number */
    atomic_uint n_destroyed;
};

struct sim_callback {
    struct sim *sim;
    unsigned node, number;
    cl_int when;
    bool enqueues; /* it goes on with a command of its own */
    atomic_uint n_called, n_left;
    _Atomic(cl_int) told;
};

/* A user event that another thread sets. */
struct sim_later {
    struct sim *sim;
    unsigned node;
    cl_event event;
    cl_int status;
    unsigned delay_us;
    enum { SIM_LATER_WAITS, SIM_LATER_SETS, SIM_LATER_DONE } _Atomic state;
    pthread_t thread;
};

struct sim {
    struct sim_world *world;
    const struct tsl_dispatch *cl;
    struct sim_options options;
    unsigned number; /* among the run's programs */
    cl_context context;
    cl_program program;
    uint64_t random;
    unsigned step;
    pthread_mutex_t lock;           /* recursive: steps, and callbacks that enqueue */
    bool closing;                   /* callbacks enqueue no more */
    const struct sim_node *reading; /* the blocking read that the host is in: what it got is looked at afterwards */
    unsigned n_buffers, n_queues;
    struct sim_buffer buffers[SIM_MAX_BUFFERS];
    cl_command_queue queues[SIM_MAX_QUEUES];
    bool in_order[SIM_MAX_QUEUES], profiles[SIM_MAX_QUEUES];
    cl_kernel kernels[32]; /* by enum sim_kind, kept for further launches */
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
    unsigned n_callbacks;
    struct sim_callback callbacks[SIM_MAX_CALLBACKS];
    unsigned n_laters;
    struct sim_later laters[SIM_MAX_LATERS];
    char *failure; /* heap: the first thing that went wrong; NULL: nothing */
    char *story;   /* heap: the program so far, a line for each step */
    size_t story_size;
};

/* ---- Chance and words (story.c) ---- */

/* From now on all chance comes from the seed and these two numbers. */
void sim_chance(struct sim *sim, unsigned purpose, unsigned number);
uint64_t sim_mix(uint64_t number);
uint64_t sim_random(struct sim *sim);
/* 0 … n-1. */
unsigned sim_pick(struct sim *sim, unsigned n);
/* True once in n. */
bool sim_once_in(struct sim *sim, unsigned n);
/* A little sleep, now and then. */
void sim_rest(void);
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_tell(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- What the machine does (fake.c, real.c) ---- */

/* Makes the members; fills world->cl and what describes the machine. */
void sim_world_begin(struct sim_world *world);
/* Everything was released: waits until nothing runs, and fails the first program for what is left. */
void sim_world_end(struct sim_world *world);
/* The machine goes on a little. The program's own chance isn't asked: callbacks may be at it. */
void sim_world_move(struct sim *sim);
/* Source of the kernels that enum sim_kind lists; print, hide and show where it has_effects. */
const char *sim_world_source(void);
/* The host itself reads or writes memory now. */
void sim_world_host_access(const void *ptr, size_t size, bool write);
/* Orders one failure with that code, somewhere; of the first-th launch from now on (1: the next) or a little later. */
void sim_world_inject(struct sim *sim, cl_int code);
void sim_world_inject_launch(struct sim *sim, unsigned first, cl_int code);
/* A member that lives is lost soon, if another one is left that runs windows. False: none is. */
bool sim_world_lose(struct sim *sim);
/* Do members work on the host's memory? */
bool sim_world_is_shared(void);
/* Does somebody else than the calling thread set user events (SIM_LATER)? */
bool sim_world_has_threads(void);
/* The program gives up memory that it lent (CL_MEM_USE_HOST_PTR): nobody may have it pinned any more. */
void sim_world_take_back(struct sim *sim, const void *ptr, size_t size);

/* ---- Nodes ---- */

enum sim_kind {
    SIM_ADD,   /* kernel: dst[…] = src[…] + i + value; says READ_WRITE and READ */
    SIM_MIX,   /* the same without proof: both are READ_WRITE */
    SIM_SET,   /* kernel: writes all of its argument (access WRITE) */
    SIM_PART,  /* kernel: writes part of its argument (access WRITE: may write is not must write) */
    SIM_PRINT, /* as ADD; its output has an order, too */
    SIM_HIDE,  /* opaque kernel: puts bytes where no argument leads */
    SIM_SHOW,  /* opaque kernel: takes them from there */
    /* Kernels with footprints. Their launches have the size that the access asks for, and a global offset at times. */
    SIM_SLICE,   /* writes a slice, surely; is given other memory that it does not touch */
    SIM_GUARDED, /* the same by more items, the last of which do nothing */
    SIM_SOME,    /* writes rows; its footprint: maybe any byte from the first to the last */
    SIM_COLUMN,  /* writes rows, of which there may be many, surely */
    SIM_UPDATE,  /* as ADD, of a slice in its place */
    SIM_SHIFT,   /* as ADD, of a slice to another */
    SIM_GATHER,  /* the same; its footprint: reads anything */
    SIM_BOX,     /* as ADD, of rows of slices */
    SIM_TURNED,  /* the same, with slices in dimension 0 and rows in dimension 1 */
    SIM_BRICK,   /* the same, with rows, slices and bytes in three dimensions */
    SIM_STENCIL, /* each byte of three of another range, which begins some bytes before and ends as many after */
    SIM_RELAX,   /* in its place, pairs of bytes: a new one, and one made of the first of the next pair, or of the pair
                    before, be that old or new */
    SIM_STRIPES, /* as COLUMN, but an item writes a byte of each row */
    SIM_SMEAR,   /* as SLICE, but two items write each byte, the same unless order is kept: its shares need copies */
    SIM_SCATTER, /* as SLICE, backwards; its footprint: writes anything */
    SIM_XOR,     /* by atomics, words in their place: each byte with one of a pattern */
    SIM_N_KERNELS,
    SIM_WRITE = SIM_N_KERNELS,
    SIM_READ,
    SIM_COPY,
    SIM_FILL,
    SIM_NATIVE, /* host task: as ADD */
    SIM_MIGRATE,
    SIM_MARKER,
    SIM_BARRIER,
    SIM_MAP,
    SIM_UNMAP,
    SIM_USER, /* a user event, as it is set */
    SIM_POKE, /* the host writes to the arena or to mapped memory */
    SIM_PEEK, /* the host reads there */
};

/* Where order is kept, what a work-item writes for the next one differs from what that writes by these bits. */
#define SIM_EARLY 0xffu

#define SIM_FAILED_SILENTLY (-1) /* the status of a silent node that failed, or may have */

/* Areas: buffers have the lower numbers. */
#define SIM_ARENA   SIM_MAX_BUFFERS
#define SIM_HIDDEN  (SIM_MAX_BUFFERS + 1) /* a program-scope variable, say */
#define SIM_N_AREAS (SIM_MAX_BUFFERS + 2)

/* Bytes of an area that a node touches: slices of rows of `size` bytes. */
struct sim_access {
    unsigned area;
    size_t offset, size;
    size_t n_rows, pitch;         /* rows of a slice; pitch: 0 where there is one */
    size_t n_slices, slice_pitch; /* a multiple of pitch, 0 where there is one */
    bool write;
};

static inline size_t sim_n_rows(const struct sim_access *access)
{
    return access->size ? access->n_rows * access->n_slices : 0;
}

/* Where a row of all slices begins in the area. */
static inline size_t sim_row(const struct sim_access *access, size_t row)
{
    return access->offset + row / access->n_rows * access->slice_pitch + row % access->n_rows * access->pitch;
}

/* From the first to behind the last byte. */
static inline size_t sim_hull(const struct sim_access *access)
{
    return (access->n_slices - 1) * access->slice_pitch + (access->n_rows - 1) * access->pitch + access->size;
}

struct sim_access sim_range(unsigned area, size_t offset, size_t size, bool write);

struct sim_node {
    enum sim_kind kind;
    unsigned step;
    int queue; /* -1: the host's */
    cl_command_queue of;
    bool profiled;
    cl_event event;
    cl_int status;
    cl_int seen_status; /* what was last seen of its event */
    bool unset;         /* a user event not yet set */
    bool later;         /* … but another thread will */
    bool refused;       /* the call failed: there is no such command */
    bool blocking;
    bool in_row;      /* as the launch before, with other values */
    bool silent;      /* it may fail, and has no event to tell of that */
    bool sure;        /* … but it was said to have ended well */
    bool told;        /* … or its queue has told of a failure since */
    bool needs_event; /* the host will have to wait for it alone */
    unsigned n_preds;
    uint16_t preds[SIM_MAX_NODES + 8]; /* what comes right before it: by its queue, and its wait list */
    unsigned n_waits;
    uint16_t waits[8];     /* its wait list */
    struct sim_set base;   /* the host knew these when it was enqueued, or, a user event, when it was set */
    struct sim_set before; /* all that comes before it: order.c */
    struct sim_set oblige; /* a user event: the host must know these before it sets it */

    struct sim_access dst, src; /* size 0: none */
    atomic_bool ran;            /* a kernel, a host task: it began, and may have written what it is to write */
    atomic_bool ended;          /* a kernel: it wrote all that it is to write; if it was cut, all its shares did */
    atomic_bool cut;            /* a kernel: some of its work-items ran apart from others */
    atomic_ulong n_items_ended; /* a kernel: work-items that did what they are to do */
    unsigned char value;
    unsigned char pattern_size;
    cl_map_flags map_flags;
    bool undefined;     /* MIGRATE: the content may go */
    unsigned char *ptr; /* of a mapping */
    int idle;           /* a kernel: the buffer that it is given and doesn't touch; -1: none */
    bool must;   /* a kernel: a share of it that fails with its member can be done again, if they have no copies */
    int map;     /* UNMAP, POKE, PEEK: the mapping's node; -1: the arena */
    bool mapped; /* MAP: not yet unmapped */
    cl_mem mem;  /* MAP: what was mapped */
    unsigned char *seen; /* PEEK, blocking READ: what was there */
    uint64_t start_ns, end_ns;
};

/* Does it read what it writes, byte by byte? */
static inline bool sim_in_place(const struct sim_node *node)
{
    return node->src.size && node->src.area == node->dst.area && node->src.offset == node->dst.offset;
}

/* Bytes that the stencil's source has more on either side. */
static inline size_t sim_halo(const struct sim_node *node)
{
    return (node->src.size - node->dst.size) / 2;
}

/* The last argument of every kernel, as in the source; offsets in the arguments' memory, less the global offset. */
struct sim_argument {
    cl_ulong sim;
    cl_uint dst, src, size, n_rows; /* size: bytes of a row */
    cl_uint pitch, slice_pitch, src_pitch, src_slice_pitch;
    cl_ushort node;
    cl_uchar value, unused;
};

/* Commands may fail, so each must tell how it ended. */
static inline bool sim_may_fail(const struct sim *sim)
{
    return sim->options.failures || sim->options.out_of_memory || sim->world->tight;
}

static inline unsigned sim_index(const struct sim *sim, const struct sim_node *node)
{
    return (unsigned)(node - sim->nodes);
}

/* ---- order.c ---- */

bool sim_set_has(const struct sim_set *set, unsigned i);
void sim_set_add(struct sim_set *set, unsigned i);
void sim_set_join(struct sim_set *set, const struct sim_set *other);
/* Makes every node's `before` right again, after new nodes or user events that were set. */
void sim_order_settle(struct sim *sim);
/* Does the node, as planned, conflict with one that nothing orders? Adds what it takes to the preds (nodes to wait
 * for) where that is allowed, or obliges user events; false if it can't be had. */
bool sim_order_fits(struct sim *sim, struct sim_node *node, bool may_wait);
/* Is it behind a user event that nobody is going to set? */
bool sim_order_blocked(const struct sim *sim, const struct sim_node *node);
/* Is it behind a user event that certainly isn't set? */
bool sim_order_held(const struct sim *sim, const struct sim_node *node);
/* Puts node i into the node's wait list. */
void sim_order_wait(struct sim_node *node, unsigned i);
bool sim_accesses_meet(const struct sim_access *a, const struct sim_access *b);

/* ---- things.c ---- */

/* Contexts, and the program in each. False: an allocation failed, as ordered. */
bool sim_contexts_create(struct sim_world *world);
void sim_contexts_release(struct sim_world *world);
/* What a program has for itself: queues and buffers. False as above. */
bool sim_things_create(struct sim *sim);
void sim_things_release(struct sim *sim);
bool sim_queue_create(struct sim *sim, unsigned i);
bool sim_buffer_create(struct sim *sim);
void sim_buffer_release(struct sim *sim, unsigned i);
/* Is that what a call may return, seen what was ordered to fail? Fails the program if not; true if error is 0. */
bool sim_went_well(struct sim *sim, cl_int error, const char *what);

/* ---- command.c, host.c ---- */

extern const char *const sim_names[];

/* A buffer or sub-buffer, as a command names it, or host memory. */
struct sim_handle {
    cl_mem mem;
    unsigned area;
    size_t offset, size;           /* in the root */
    const struct sim_shape *shape; /* NULL: no image */
};

/* What a call is given. */
struct sim_call {
    cl_command_queue queue;
    cl_uint n;
    const cl_event *list; /* NULL if there is none */
    cl_event *event;
    cl_event waits[8];
};

extern const struct sim_handle sim_arena;

struct sim_node *sim_new_node(struct sim *sim, enum sim_kind kind, int queue);
/* A node by the step that made it; -1: none. */
int sim_some_node(struct sim *sim);
/* Some bytes of a range, often all of it. */
struct sim_access sim_some_of(struct sim *sim, const struct sim_handle *handle, size_t at_most, bool write);
void sim_tell_node(struct sim *sim, const struct sim_node *node, const char *more);
/* Plans a command of that kind and enqueues it; what the caller's thread knows is in base. */
void sim_command(struct sim *sim, enum sim_kind kind, const struct sim_set *base, bool may_block);
/* All bytes of a buffer are brought to the host, where they stay valid until they are written elsewhere. NULL: they
 * can't be. */
struct sim_node *sim_bring_home(struct sim *sim, unsigned buffer, unsigned queue);
void sim_random_command(struct sim *sim, const struct sim_set *base, bool may_block);
void sim_unmap(struct sim *sim, unsigned map);
/* Every byte of every buffer. */
void sim_read_all(struct sim *sim);
/* All programs have at least one buffer that lives. */
struct sim_handle sim_random_handle(struct sim *sim);
struct sim_access sim_whole(const struct sim_handle *handle, bool write);
/* Turns two linear accesses of one size into two boxes of the same shape, where they have room for it. */
void sim_make_box(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src);

/* ---- launch.c ---- */

bool sim_kernels_may_write(const struct sim *sim, const struct sim_handle *handle);
/* Ranges for a kernel or host task of that kind; false: try again. */
bool sim_plan_kernel(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src);
/* Ranges for a launch like the first one, on the same objects. */
void sim_plan_alike(struct sim *sim, struct sim_node *node, const struct sim_node *first, const struct sim_handle *dst);
/* A stencil that goes back: it reads what the one before wrote, and a little beside, as far as there is room. */
bool sim_plan_back(struct sim_node *node, const struct sim_node *before, const struct sim_handle *from);
cl_int sim_launch(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src,
                  const struct sim_call *c);
cl_int sim_native(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src,
                  const struct sim_call *c);

/* ---- image.c ---- */

/* In the place of a buffer (flags are set; shape and size become known); of a buffer or sub-buffer of that size (NULL
 * with *error untouched: it is too small). */
cl_mem sim_image_create(struct sim *sim, struct sim_buffer *b, void *host_ptr, cl_int *error);
cl_mem sim_image_create_of(struct sim *sim, cl_mem of, size_t size, struct sim_shape *shape, cl_int *error);
size_t sim_shape_span(const struct sim_shape *shape);
bool sim_is_padded(const struct sim_handle *handle);
/* Bytes of it that lie one after the other, padding left out: all, or a row. */
struct sim_handle sim_linear_part(struct sim *sim, const struct sim_handle *handle);
/* Transfers one side of which at least is an image; false: try again. Maps and fills. */
bool sim_image_plan(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src);
struct sim_access sim_image_box(struct sim *sim, const struct sim_handle *handle, bool write);
/* All of it into the arena. */
void sim_image_all(const struct sim_handle *src, struct sim_node *node);
cl_int sim_image_transfer(struct sim *sim, struct sim_node *node, const struct sim_handle *dst,
                          const struct sim_handle *src, const struct sim_call *c);
cl_int sim_image_fill(struct sim *sim, const struct sim_node *node, const struct sim_handle *dst,
                      const struct sim_call *c);
void *sim_image_map(struct sim *sim, struct sim_node *node, const struct sim_handle *handle, const struct sim_call *c,
                    cl_int *error);
void sim_check_padding(struct sim *sim);

/* The host knows now that node i is complete, and what that says. */
void sim_learn(struct sim *sim, unsigned i);
void sim_note_status(struct sim *sim, struct sim_node *node, cl_int status);
cl_int sim_ask(struct sim *sim, struct sim_node *node);
/* Other threads' sets are noticed. */
void sim_laters_collect(struct sim *sim);
/* One of them is done now; false: there is none. */
bool sim_later_run(struct sim *sim, unsigned chance);
void sim_laters_finish(struct sim *sim);
void sim_wait_for_node(struct sim *sim, unsigned i);
void sim_check_map(struct sim *sim, struct sim_node *node);
void sim_finish_queue(struct sim *sim, unsigned queue);
/* A call that waits for the queue's first n nodes, which are complete, returned that error. */
void sim_hear(struct sim *sim, unsigned queue, unsigned n, cl_int error);
void sim_set_user_event(struct sim *sim, unsigned i);
bool sim_host_step(struct sim *sim, unsigned which);
#define SIM_N_HOST_STEPS 14

/* ---- losses.c ---- */

/* Lets a member be lost under a launch, with nothing beside it; judge.c knows whether the launch must succeed. False:
 * not now. */
bool sim_lossy_launch(struct sim *sim);

/* ---- program.c, judge.c ---- */

/* One step; false: it was the last. */
bool sim_program_step(struct sim *sim);
void sim_program_end(struct sim *sim);
void sim_judge(struct sim *sim);
/* Has work failed of a silent node? If it had no fence, nobody but a driver's finish knows, and not which it was. */
bool sim_failed_unseen(const struct sim *sim);
/* What kernels, fills and pokes do, shared by the members' bodies and the judge. */
void sim_add_bytes(unsigned char *dst, const unsigned char *src, size_t size, unsigned char value);
void sim_set_bytes(unsigned char *dst, size_t size, unsigned char value);
unsigned char sim_stencil_byte(unsigned char a, unsigned char b, unsigned char c, size_t i, unsigned char value);

/* ---- run.c, hunt.c ---- */

/* Runs one seed, and returns what went wrong with the program's story (heap), NULL if nothing. */
char *sim_run(const struct sim_options *options);

struct sim_hunt {
    uint64_t seed;           /* the first */
    unsigned long n;         /* how many */
    unsigned n_jobs;         /* processes at once; 0: 1 */
    bool shrink;             /* make what fails small */
    bool progress;           /* tell of it on standard output */
    bool first_only;         /* stop at the first failure */
    unsigned seconds;        /* for one program; 0: 20 */
    const char *command;     /* what a user types before the options that run a program again */
    struct sim_options like; /* what `set` names is as here, whatever the seed says */
    unsigned set;            /* enum sim_choice */
};

enum sim_choice {
    SIM_CHOOSE_STEPS = 1,
    SIM_CHOOSE_PROGRAMS = 2,
    SIM_CHOOSE_FAILURES = 4,
    SIM_CHOOSE_MEMORY = 8,
    SIM_CHOOSE_REPEATS = 16,
    SIM_CHOOSE_FOOTPRINTS = 32,
    SIM_CHOOSE_SPLIT = 64,
};

/* Runs n seeds. Returns how many failed; *text (heap): what the first one that failed tells, made small. */
unsigned long sim_hunt(const struct sim_hunt *hunt, char **text, uint64_t *failing_seed);
/* The options of one seed in a hunt. */
struct sim_options sim_hunted(const struct sim_hunt *hunt, uint64_t seed);
/* Where the environment has no TESELA_POLICY and TESELA_SPLIT: sets those of the run. Blocks of SIM_POLICY_BLOCK seeds
 * share them. */
#define SIM_POLICY_BLOCK 64
void sim_set_environment(const struct sim_options *options);
/* --split and TESELA_SPLIT, which becomes the word where that names one rung ("always:merge"). False: no such word. */
bool sim_read_split(const char *word, enum sim_split *split);
/* What the environment says of cuts goes for all of the hunt. */
void sim_hunt_as_environment(struct sim_hunt *hunt);

#endif
