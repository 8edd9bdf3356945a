/*
 * What the files of the CPU driver share: its members, threads, lanes, memory, tasks. What a file gives to the others
 * is in the header of its name; in which order to read: README.md.
 *
 * A submission is a task. A task is also its own fence. It waits for the one before it in its lane and for the fences
 * that were named; then it is ready, and the team's threads take pieces of it: a mark is one piece, a launch
 * many (rows of work-groups), and so is a big copy. Whoever finishes the last piece completes the task and makes ready
 * what waited for it: a dependent task begins in the same thread, with no sleep between. A thread that waits for a
 * fence helps with what leads to it (work.c).
 *
 * Lock: one mutex for each member guards tasks' edges, lanes and the list of ready tasks. It is never held while work
 * is done or anybody is called. What all threads of a team do at the same moment is done without it, as they would
 * stand in a row before it: they join a wide task at a board, take pieces by an atomic counter, and say what they have
 * done when they take no more (ready.c). Whoever has a piece and hasn't said so keeps the task from being complete.
 */
#ifndef TSL_CPU_DEVICE_INTERNAL_H
#define TSL_CPU_DEVICE_INTERNAL_H

#include "base/pool.h"
#include "compile_client/compile.h"
#include "compile_client/kernel_image.h"
#include "compile_client/work_group.h"
#include "cpu_device/cpu.h"
#include "cpu_device/floats.h"
#include "cpu_device/place.h"
#include "driver/combine.h"

#include <pthread.h>
#include <sys/queue.h>

#define CPU_LINE 64 /* bytes of a cache line */

#define CPU_RANGES 16 /* with more threads pieces go in turn */

/* Consecutive pieces of a task that one thread does first. */
struct cpu_range {
    _Alignas(CPU_LINE) atomic_uint n_picked; /* may be more than there are */
};

/* Where a wide task that is ready stands, until it is complete. Boards stay where they are: a thread may take a piece
 * without the lock, and a thread that has one knows that the task keeps the board until it has said that the piece is
 * done. */
struct cpu_board {
    _Alignas(CPU_LINE) _Atomic uint64_t left; /* pieces */
    _Atomic uint64_t turn;                    /* the smaller, the earlier the task came */
    struct cpu_task *task;                    /* NULL: free; written under the lock */
    unsigned n_ranges;                        /* of its pieces, one for each thread; 0: pieces go in turn */
    struct cpu_range ranges[CPU_RANGES];
};

#define CPU_BOARDS 4

struct cpu_member {
    struct tsl_member base;
    struct cpu_place place;
    unsigned n_threads;         /* of the team, with its master */
    unsigned n_wakes;           /* threads that one thread wakes at once, at most */
    struct cpu_thread *threads; /* n_threads; those that have begun stand first */
    pthread_t master;

    /* Spinning threads look at these: a line that changes when tasks come or nothing of them is left. */
    _Alignas(CPU_LINE) atomic_uint n_ready; /* tasks of which one more thread may take a piece … */
    atomic_uint n_listed;                   /* … those of them in the list */
    atomic_uint n_quick;                    /* … and those of these that are quick */
    atomic_uint n_gates;
    atomic_uint n_begun;    /* threads of the team; written under the lock */
    atomic_uint n_sleeping; /* likewise */
    atomic_uint n_helping;  /* threads of others that take pieces, or would; likewise */
    atomic_bool looking;    /* a thread of the team looks at the gates, without sleeping */

    _Alignas(CPU_LINE) atomic_uint n_busy; /* threads at a task: all … */
    atomic_uint n_working;                 /* … those of the team */

    struct cpu_board boards[CPU_BOARDS];

    _Alignas(CPU_LINE) pthread_mutex_t lock; /* guards what follows, and what struct cpu_task says */
    pthread_cond_t done;                     /* a task that sleeping waiters may wait for */
    struct cpu_task *ready, **ready_end;     /* the list */
    uint64_t n_turns;                        /* tasks that have stood at boards */
    unsigned n_waiting;                      /* threads of others that sleep for a task */
    bool closing;
    struct cpu_worker *helpers;      /* free ones */
    TAILQ_HEAD(, cpu_task) gates;    /* not open, whose openers can be looked at, oldest first */
    struct cpu_thread *resting;      /* looks at them, and so at what is ready, now and then; NULL: none */
    struct tsl_pool tasks, launches; /* a stream of small launches allocates nothing */
};

#define CPU_NOWHERE (-1)

/* A thread that does pieces of work, and its memory. */
struct cpu_worker {
    struct cpu_member *member;
    struct tsl_wg_thread thread;
    size_t local_size, scratch_size; /* bytes of what thread points to */
    int at;                          /* the thread of the team whose processor it is on; CPU_NOWHERE */
    uint64_t looked;                 /* when it looked last whether another thread should be woken */
    bool list_first;                 /* where it looked first for work, by turns */
    struct cpu_floats floats;        /* a helper's own, for when it has helped */
    struct cpu_worker *next;
};

/* One of the team. */
struct cpu_thread {
    struct cpu_worker worker;
    int processor; /* where it stays; CPU_NOWHERE: on any of the place's */
    pthread_t self;
    pthread_cond_t woken;
    bool asleep;           /* the thread that wakes it clears this, under the lock */
    bool due;              /* it was spared: after CPU_SPARE_NS it looks whether something is ready still */
    atomic_uint n_helping; /* threads of others that take pieces on its processor; it looks at that without the lock */
};

struct cpu_lane {
    struct tsl_lane base;
    atomic_uint refs; /* the core's, and one for each task that isn't complete */
    bool profile;
    unsigned n_helping;    /* threads that wait for it and take its pieces */
    struct cpu_task *last; /* holds a reference; NULL: nothing was submitted yet */
    cl_int error;          /* the first of work without a fence; finish tells it once */
};

/* Memory that several members have: each by a struct cpu_mem of its own. It goes with the last of these. */
struct cpu_spread {
    atomic_uint n_mems;
    char *data;
};

struct cpu_mem {
    struct tsl_mem base;
    char *data;
    bool owned;
    struct cpu_spread *spread;      /* of spread_alloc; else NULL */
    struct tsl_kc_image image;      /* of an image: what kernels are given; element_size 0: none */
    struct tsl_pixel_layout pixels; /* of an image */
};

#define CPU_MAX_UNSURE 3u

enum cpu_kind { CPU_MARK, CPU_COPY, CPU_GATHER, CPU_FILL, CPU_COMBINE, CPU_LAUNCH, CPU_GATE };

struct cpu_note {
    tsl_notify_fn *fn;
    void *arg;
};

struct cpu_gather {
    char *to;
    const char *from;
    size_t size; /* of all */
    unsigned n;
    struct tsl_range_of_bytes *list; /* owned */
};

struct cpu_fill {
    struct tsl_fill box; /* dst by address; its pattern is the one below */
    unsigned char pattern[128];
};

/* A launch as the threads see it, and its arguments. */
struct cpu_check;
struct cpu_call;

struct cpu_launch {
    struct tsl_wg_launch wg; /* user: this */
    struct cpu_kernel *kernel;
    const struct tsl_wg_kernel *code; /* the general one */
    struct cpu_special *special;      /* NULL: there is no other. The program's; for pieces alone */
    uint64_t begin[3], count[3];      /* of groups */
    uint64_t chunk, n_chunks;         /* groups of dimension 0 that make a piece; pieces in a row */
    uint64_t rows, n_rows;            /* rows that make a piece, more than 1 only if they are whole; all there are */
    uint64_t local_size;              /* bytes of local memory, with the arguments' */
    uint64_t items;                   /* of a group, as scratch counts them */
    char *args;                       /* behind the structure, aligned to TSL_WG_ALIGN */
    bool pooled;                      /* the memory is of member->launches */
    pthread_mutex_t print_lock;
    char *text; /* printed, not yet shown; under print_lock */
    size_t text_size, text_room;
    struct cpu_check *check; /* NULL: its accesses aren't checked */
    struct cpu_call *call;   /* of a substitute: NULL: it is none */
};

/* A task that comes after this one. */
struct cpu_edge {
    struct cpu_task *to;
    bool strict; /* it waits for us by name: our failure is its */
};

struct cpu_task {
    struct tsl_fence fence; /* a reference of its own while it isn't complete */
    enum cpu_kind kind;
    atomic_int status;     /* CL_SUBMITTED … CL_COMPLETE or an error; written under the lock */
    struct cpu_lane *lane; /* with a reference; NULL: a gate, or complete */
    bool wanted;           /* its fence was asked for: its error is told by that */
    bool profile;
    unsigned n_waits;             /* not complete yet, and one while it is being submitted */
    cl_int wait_error;            /* of those that have failed */
    struct cpu_edge *more, first; /* the first one needs no memory: mostly there is no other */
    unsigned n_dependents;
    struct cpu_note *notes;
    unsigned n_notes;
    uint64_t n_pieces;
    _Atomic uint64_t *left;  /* pieces: the board's, or … */
    _Atomic uint64_t own;    /* … this of a task in the list. NULL: it isn't ready yet */
    _Atomic uint64_t n_done; /* the thread that makes it n_pieces completes the task; no other is at it then */
    struct cpu_board *board; /* NULL: in the list, if it is ready */
    struct cpu_task *next;   /* there */
    bool open;               /* in the list: one more thread may join; counted in n_ready and n_listed */
    bool quick;              /* in the list: so little that it is done between the pieces of another */
    unsigned n_joined;       /* in the list: threads at it that take further pieces. Not exact once none are left */
    unsigned max_joined;     /* as many as the team, if it is worth it; waiting threads that help aren't counted then */
    atomic_int error;
    struct tsl_times times;
    bool sure;                               /* as fence_is_sure says, as far as was asked */
    struct cpu_task *unsure[CPU_MAX_UNSURE]; /* what it waited for and wasn't sure when it came; references */
    unsigned n_unsure;                       /* more than there is room for: not known */
    atomic_bool opened;                      /* gates */
    struct tsl_fence *opener;                /* of a gate in member->gates: a reference */
    TAILQ_ENTRY(cpu_task) link;              /* there */
    union {
        struct tsl_copy copy; /* places by address: mem is NULL */
        struct cpu_gather gather;
        struct cpu_fill fill;
        struct tsl_combine_bytes combine;
        struct cpu_launch *launch;
    };
};

static inline struct cpu_member *cpu_member_of(struct tsl_member *member)
{
    return (struct cpu_member *)member; /* base stands first */
}

static inline struct cpu_task *cpu_task_of(const struct tsl_fence *fence)
{
    return (struct cpu_task *)fence;
}

#endif
