/*
 * What the files of the CPU driver share.
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

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <sys/queue.h>

/* place.c: the line CPU of TESELA_CONFIG, as far as this machine has it; without one all that the process may use. */
struct cpu_place {
    unsigned n_threads;
    bool bound;           /* there is such a line: threads stay on the processors, and nobody else helps them */
    bool apart;           /* each thread stays on a processor of its own */
    bool transfers;       /* memory of its own */
    cpu_set_t processors; /* allowed, of those nodes */
    unsigned n_missing;   /* nodes that aren't there */
};

void cpu_place_get(struct cpu_place *place);
/* Tells what the line asks for and this machine hasn't; inside probe. */
void cpu_place_complain(const struct cpu_place *place);

#define CPU_LINE 64 /* bytes of a cache line */

/* Where a wide task that is ready stands, until it is complete. Boards stay where they are: a thread may take a piece
 * without the lock, and who has one knows that the task is the board's until it has said that the piece is done. */
struct cpu_board {
    _Alignas(CPU_LINE) _Atomic uint64_t left; /* pieces */
    _Atomic uint64_t turn;                    /* the smaller, the earlier the task came */
    struct cpu_task *task;                    /* NULL: free; written under the lock */
};

#define CPU_BOARDS 4

struct cpu_member {
    struct tsl_member base;
    struct cpu_place place;
    unsigned n_threads;         /* of the team, with its master */
    unsigned n_wakes;           /* threads that one wakes at once, at most */
    struct cpu_thread *threads; /* n_threads; those that have begun stand first */
    pthread_t master;

    /* Spinning threads look at these: a line that changes when tasks come or nothing of them is left. */
    _Alignas(CPU_LINE) atomic_uint n_ready; /* tasks of which one more thread may take a piece … */
    atomic_uint n_listed;                   /* … those of them in the list */
    atomic_uint n_gates;
    atomic_uint n_begun;    /* threads of the team; written under the lock */
    atomic_uint n_sleeping; /* likewise */
    atomic_uint n_helping;  /* threads of others that take pieces, or would; likewise */
    atomic_bool looking;    /* a thread of the team looks at the gates, without sleeping */

    _Alignas(CPU_LINE) atomic_uint n_busy; /* threads at a task, whose ever … */
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

/* floats.c: a thread's way of computing floats: how it rounds, what traps, what becomes of subnormal numbers. */
struct cpu_floats {
#if defined(__x86_64__)
    unsigned control; /* MXCSR: kernels use nothing older */
#else
    fenv_t control;
#endif
};

/* The calling thread's becomes the kernels'; what it was before. */
struct cpu_floats cpu_floats_plain(void);
void cpu_floats_back(const struct cpu_floats *before);

/* A thread that does pieces of work, and its memory. */
struct cpu_worker {
    struct cpu_member *member;
    struct tsl_wg_thread thread;
    size_t local_size, scratch_size; /* bytes of what thread points to */
    int at;                          /* the thread of the team whose processor it is on; CPU_NOWHERE */
    uint64_t looked;                 /* when it looked last whether somebody should be woken */
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
    bool asleep;           /* who wakes it says that it isn't, under the lock */
    bool due;              /* it was spared: after CPU_SPARE_NS it looks whether something is ready still */
    atomic_uint n_helping; /* threads of others that take pieces on its processor; it looks at that without the lock */
};

struct cpu_lane {
    struct tsl_lane base;
    atomic_uint refs; /* the core's, and one for each task that isn't complete */
    bool profile;
    unsigned n_helping;    /* who waits for it and takes its pieces */
    struct cpu_task *last; /* holds a reference; NULL: nothing was submitted yet */
    cl_int error;          /* the first of work without a fence; finish tells it once */
};

struct cpu_mem {
    struct tsl_mem base;
    char *data;
    bool owned;
    struct tsl_kc_image image; /* of an image: what kernels are given; element_size 0: none */
};

#define CPU_MAX_UNSURE 3u

enum cpu_kind { CPU_MARK, CPU_COPY, CPU_FILL, CPU_LAUNCH, CPU_GATE };

struct cpu_note {
    tsl_notify_fn *fn;
    void *arg;
};

struct cpu_fill {
    struct tsl_fill box; /* dst by address; its pattern is */
    unsigned char pattern[128];
};

/* A launch as the threads see it, and its arguments. */
struct cpu_launch {
    struct tsl_wg_launch wg; /* user: this */
    struct cpu_kernel *kernel;
    const struct tsl_wg_kernel *code; /* the general one */
    struct cpu_special *special;      /* NULL: there is no other. The program's; for pieces alone */
    uint64_t begin[3], count[3];      /* of groups */
    uint64_t chunk, n_chunks;         /* groups of dimension 0 that make a piece; such in a row */
    uint64_t rows, n_rows;            /* rows that make a piece, more than 1 only if they are whole; all there are */
    uint64_t local_size;              /* bytes of local memory, with the arguments' */
    uint64_t items;                   /* of a group, as scratch counts them */
    char *args;                       /* behind the structure, aligned to TSL_WG_ALIGN */
    bool pooled;                      /* the memory is of member->launches */
    pthread_mutex_t print_lock;
    char *text; /* printed, not yet shown; under print_lock */
    size_t text_size, text_room;
};

/* Whoever comes after a task. */
struct cpu_edge {
    struct cpu_task *to;
    bool strict; /* it waits for us by name: our failure is its */
};

struct cpu_task {
    struct tsl_fence fence; /* a reference of its own while it isn't complete */
    enum cpu_kind kind;
    atomic_int status;     /* CL_SUBMITTED … CL_COMPLETE or an error; written under the lock */
    struct cpu_lane *lane; /* with a reference; NULL: a gate, or complete */
    bool wanted;           /* somebody has the fence: its error is told */
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
    _Atomic uint64_t n_done; /* n_pieces: who made it so completes the task, nobody else is at it */
    struct cpu_board *board; /* NULL: in the list, if it is ready */
    struct cpu_task *next;   /* there */
    bool open;               /* there: one more may join; counted in n_ready and n_listed */
    unsigned n_joined;       /* there: threads at it that take further pieces. Not exact once none are left */
    unsigned max_joined;     /* as many as the team, if it is worth it: who waits and helps isn't counted then */
    atomic_int error;
    struct tsl_times times;
    bool sure;                               /* as fence_is_sure says, as far as was asked */
    struct cpu_task *unsure[CPU_MAX_UNSURE]; /* what it waited for and wasn't sure when it came; references */
    unsigned n_unsure;                       /* more than there is room for: nobody knows */
    atomic_bool opened;                      /* gates */
    struct tsl_fence *opener;                /* of a gate in member->gates: a reference */
    TAILQ_ENTRY(cpu_task) link;              /* there */
    union {
        struct tsl_copy copy; /* places by address: mem is NULL */
        struct cpu_fill fill;
        struct cpu_launch *launch;
    };
};

/* A shared object of the compiler's. */
struct cpu_code {
    void *handle;                       /* NULL: not loaded */
    const struct tsl_wg_module *module; /* in it */
    uintptr_t begin, end;               /* addresses of its machine code */
};

struct cpu_program {
    struct tsl_dprogram base;
    struct cpu_code code;          /* not loaded: a library, or compiled only */
    struct tsl_compiled compiled;  /* facts, and the artefact for program_binary */
    struct cpu_specials *specials; /* NULL: it can't be compiled again */
};

/* What a piece runs. */
struct cpu_version {
    const struct tsl_wg_kernel *code;
    uintptr_t begin, end; /* addresses of the machine code */
    bool trial;           /* two of them are compared: it is measured in the thread's own time */
};

struct cpu_kernel {
    struct tsl_dkernel base;
    const struct tsl_wg_kernel *code;
    uint64_t own_size[3];      /* of groups, where the choice is ours: what the compiler recommends */
    _Atomic uint64_t group_ps; /* picoseconds that a group takes, as measured; 0: unknown */
};

static inline struct cpu_member *cpu_member_of(struct tsl_member *member)
{
    return (struct cpu_member *)member; /* base stands first */
}

static inline struct cpu_task *cpu_task_of(const struct tsl_fence *fence)
{
    return (struct cpu_task *)fence;
}

/* info.c */
cl_int cpu_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);

/* driver.c */
void cpu_lane_unref(struct cpu_lane *lane);

/* team.c: the threads. */
cl_int cpu_team_start(struct cpu_member *member);
void cpu_team_stop(struct cpu_member *member); /* waits for the threads */

/* Some threads for what is ready, each of which wakes as many when it has begun: so all are awake soon, and nobody has
 * to wake them all. Their number grows with the root of the team's, as a thread that sleeps is much longer in waking
 * than another is in calling it: two rounds of that, whatever the number. None for pieces that others find, who are
 * awake and at nothing; never more than there are processors, who helps counted in; and none on a processor where
 * somebody is at work (or calls this) unless all sleep: the system would have both share it, while another is idle.
 * Where that leaves nobody for a launch, as all who are awake have long pieces, one of the spared looks again soon: who
 * called may be asleep then. */
#define CPU_WAKES_LEAST 2
#define CPU_WAKES_MOST  16
#define CPU_SPARE_NS    500000

struct cpu_wakes {
    struct cpu_thread *threads[CPU_WAKES_MOST];
    unsigned n;
};

void cpu_wake(struct cpu_member *member);
void cpu_wake_from(struct cpu_member *member, int at); /* by a thread that knows where it is */
/* Might the next find somebody? A look without the lock. */
bool cpu_may_call(const struct cpu_member *member);
/* In two steps: chosen under the lock, signalled without it. at: as a worker's. */
struct cpu_wakes cpu_choose_locked(struct cpu_member *member, int at);
void cpu_signal(const struct cpu_wakes *wakes);
/* Any that sleeps, to be signalled without the lock; NULL: none does. */
struct cpu_thread *cpu_rouse_locked(struct cpu_member *member);
/* The thread of the team on whose processor the caller is; CPU_NOWHERE. */
int cpu_here(const struct cpu_member *member);

/* Looks for something that will be there soon, for as long as it takes to sleep and be woken, without giving the
 * processor away: whoever else wants it would have it for milliseconds. */
#define CPU_LOOK_NS 20000u
#define CPU_LOOKS   16u /* between two looks at the clock */

/* So long, though, not from one's own last piece on but from that of all others, as the next launch often comes then.
 * In all no longer than some pieces take. */
#define CPU_LOOK_ALL_NS 150000u

struct cpu_look {
    uint64_t begin, last; /* when somebody was in a piece */
};

bool cpu_may_look(struct cpu_member *member, struct cpu_look *look); /* false: that was long enough */

/* Somebody who waits does pieces on the same processor. */
static inline bool cpu_is_crowded(const struct cpu_thread *thread)
{
    return atomic_load_explicit(&thread->n_helping, memory_order_relaxed) > 0;
}

/* As long as a gate isn't open, one thread looks for longer: other devices take longer than threads. Then it sleeps in
 * steps. It goes on with what the gate held back, and so nobody need be woken, nor call the other technology. */
#define CPU_GATE_LOOK_NS 200000u
#define CPU_GATE_REST_NS 500000

static inline void cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* queue.c */
/* A task with one reference, the caller's, and n_waits 1. NULL: no memory. */
struct cpu_task *cpu_task_create(struct cpu_member *member, enum cpu_kind kind);
void cpu_task_free(struct cpu_task *task); /* with its launch; nothing else is left of it */
/* Into the lane, after the waits. Takes the caller's reference, also on error. */
cl_int cpu_submit(struct tsl_lane *lane, struct cpu_task *task, const struct tsl_waits *waits,
                  struct tsl_fence **fence);
/* Complete, whatever it was: dependents become ready, waiters are told. Without the lock. */
void cpu_complete(struct cpu_task *task, cl_int status);
bool cpu_is_sure_locked(struct cpu_task *task); /* see fence_is_sure */
/* fence.c: opens the oldest gates whose openers have ended, as far as can be seen. The caller goes on with the work. */
void cpu_look_at_gates(struct cpu_member *member);
void cpu_wait_task(struct cpu_task *task); /* blocks until it is complete */

static inline bool cpu_is_complete(const struct cpu_task *task)
{
    /* Acquire: what the work wrote is seen by whoever sees it complete. */
    return atomic_load_explicit(&task->status, memory_order_acquire) <= CL_COMPLETE;
}

/* ready.c: what is ready, and who takes it. */
void cpu_ready_locked(struct cpu_member *member, struct cpu_task *task);

/* What a thread has of a task. */
struct cpu_share {
    struct cpu_task *task; /* NULL: nothing */
    uint64_t piece;        /* the one to do next */
    uint64_t n;            /* pieces that it had, and that it saw to not being done; it hasn't said so yet */
};

/* Joins a task, with a piece of it. */
struct cpu_share cpu_join_board(struct cpu_member *member); /* one at a board; without the lock */
struct cpu_share cpu_join_listed_locked(struct cpu_member *member);
struct cpu_share cpu_join_lane_locked(struct cpu_member *member, const struct cpu_lane *lane); /* one of the lane's */
/* One more piece of it, without the lock; false: none is left. */
bool cpu_take(struct cpu_share *share);
void cpu_take_all(struct cpu_share *share); /* so that nobody does what is left */
void cpu_leave(struct cpu_share *share);    /* pieces may be left for others */
bool cpu_done(struct cpu_share *share);     /* true: the caller completes the task; else it may be gone */
/* Is there something for more than one thread? */
bool cpu_is_wide_locked(const struct cpu_member *member);
/* Pieces for as many more threads, at most `most`. */
unsigned cpu_room_locked(const struct cpu_member *member, unsigned most);
/* Is what is ready at boards alone, and not more than n threads take one piece each of? Without the lock; no, where it
 * can't be seen. */
bool cpu_is_served(const struct cpu_member *member, unsigned n);
/* Something of lanes for which nobody waits; of the first few. */
bool cpu_is_unhelped_locked(const struct cpu_member *member);

static inline bool cpu_is_ready(const struct cpu_member *member)
{
    return atomic_load_explicit(&member->n_ready, memory_order_relaxed) > 0;
}

/* work.c: does pieces of one task, if one is ready, until none is left; false: there was none. lane: only its tasks,
 * and no more pieces once `until` is complete; NULL: the worker is of the team, and takes any task. */
bool cpu_work(struct cpu_worker *worker, const struct cpu_lane *lane, const struct cpu_task *until);
struct cpu_worker *cpu_helper(struct cpu_member *member, struct cpu_lane *lane);
void cpu_helper_back(struct cpu_worker *worker, struct cpu_lane *lane);
void cpu_worker_finish(struct cpu_worker *worker);

/* launch.c */
cl_int cpu_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                  struct tsl_fence **fence);
/* One piece of it. An error: the kernel faulted, or there is no memory for the worker. */
cl_int cpu_launch_run(struct cpu_worker *worker, struct cpu_launch *launch, uint64_t piece);
void cpu_launch_free(struct cpu_member *member, struct cpu_launch *launch);
size_t cpu_launch_size(void); /* bytes of one with few arguments */

/* print.c */
tsl_wg_print_fn cpu_print;
void cpu_print_flush(struct cpu_launch *launch);

/* fault.c: runs generated code; a fault in it (its addresses are the program's) comes back as an error. */
void cpu_fault_install(void);
cl_int cpu_fault_run(const struct cpu_launch *launch, const struct cpu_version *version,
                     const struct tsl_wg_thread *thread, uint64_t x, uint64_t n, uint64_t y, uint64_t z);

/* program.c: from memory; false: it can't be, and nothing is loaded. */
bool cpu_code_load(struct cpu_code *code, const void *data, size_t size);
void cpu_code_unload(struct cpu_code *code);

/* special.c: see there. */
enum cpu_special_state {
    CPU_COUNTING, /* the general code's time */
    CPU_ASKED,    /* it is being compiled */
    CPU_TRIAL,    /* both run, by chance */
    CPU_USED,
    CPU_LEFT, /* the general code is as good */
    CPU_NONE, /* it could not be compiled, or enough were */
};

/* For a program that was just built of the request. NULL: for it there is no code for single sizes. */
struct cpu_specials *cpu_specials_create(const struct tsl_wire_build *request, const struct tsl_wire_built *built,
                                         const struct tsl_wg_module *module);
void cpu_specials_free(struct cpu_specials *specials); /* NULL is fine; no launches are left */
/* For launches of these sizes; NULL: only the general code runs them. */
struct cpu_special *cpu_special_of(struct cpu_specials *specials, const struct tsl_wg_kernel *general,
                                   const struct tsl_wg_launch *launch);
/* Before and after each piece: what it runs, and how long that took. special: NULL is fine. */
struct cpu_version cpu_special_choose(struct cpu_special *special, const struct cpu_version *general);
void cpu_special_learn(struct cpu_special *special, const struct cpu_version *version, uint64_t ns, uint64_t groups);
enum cpu_special_state cpu_special_state(const struct cpu_special *special);
/* For tests: after how much of threads' time a size is compiled for, and how long each side is tried; nanoseconds. */
void cpu_special_set_times(uint64_t ask, uint64_t trial);

/* memory.c, fence.c, program.c: operations of the driver's table. */
cl_int cpu_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
cl_int cpu_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
void cpu_mem_free(struct tsl_mem *mem);
cl_int cpu_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int cpu_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                       struct tsl_mem **mem);
cl_int cpu_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image);
cl_int cpu_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                struct tsl_fence **fence);
cl_int cpu_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                struct tsl_fence **fence);
void cpu_copy_run(const struct cpu_task *task, uint64_t piece);
void cpu_fill_run(const struct cpu_fill *fill);
cl_int cpu_fence_status(struct tsl_fence *fence);
cl_int cpu_fence_wait(struct tsl_fence *fence);
cl_int cpu_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int cpu_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void cpu_fence_free(struct tsl_fence *fence);
cl_int cpu_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int cpu_gate_open(struct tsl_fence *gate, cl_int status);
void cpu_gate_by(struct tsl_fence *gate, struct tsl_fence *opener);
bool cpu_fence_is_sure(struct tsl_fence *fence);
bool cpu_launch_is_short(const struct cpu_task *task); /* some microseconds of one thread, as far as was measured */
cl_int cpu_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                 char **log);
cl_int cpu_compile(struct tsl_member *member, const struct tsl_program_input *input,
                   const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log);
cl_int cpu_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                char **log);
cl_int cpu_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void cpu_program_free(struct tsl_dprogram *program);
/* Those that a kernel touches. */
bool cpu_program_variables(struct tsl_dprogram *program, size_t *bytes);
cl_int cpu_program_kernels(struct tsl_dprogram *program, char **names);
cl_int cpu_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                         struct tsl_kernel_facts *facts);
void cpu_kernel_free(struct tsl_dkernel *kernel);
bool cpu_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);

#endif
