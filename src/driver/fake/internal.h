/*
 * The inside of the fake driver (driver/fake.h): its state and its objects.
 *
 * One lock guards everything here; functions that need it held end in _locked. Nothing that the driver made is given
 * back to the heap before tsl_fake_end (memory's bytes excepted), so that a use after a free is told, not suffered.
 */
#ifndef TSL_DRIVER_FAKE_INTERNAL_H
#define TSL_DRIVER_FAKE_INTERNAL_H

#include "driver/fake.h"

#include <pthread.h>
#include <uthash.h>

struct fake_op;
struct fake_mem;
struct fake_lane;

/* What an operation touches: bytes lo … hi-1, as addresses. mem is the root whose bytes they are; NULL: the host's. */
struct fake_access {
    struct fake_mem *mem;
    uintptr_t lo, hi;
    bool write, atomic;
    uint64_t races; /* not 0: what reads races with no write of that number, and the other way round */
    uint64_t
        meets; /* not 0: doesn't race with what has that number: parts of a launch, in memory spread over members */
    struct fake_op *op;
};

/* A growing list of accesses: what is remembered of one memory, or gathered for one operation. */
struct fake_accesses {
    struct fake_access *items;
    size_t n, room;
};

/* Memory over several members: the bytes that all of their memories name, and what is remembered of them. */
struct fake_spread {
    unsigned char *bytes;
    size_t size;
    unsigned n_mems; /* not freed */
    bool is_used;    /* one was freed while work on it may have been running: the bytes stay */
    struct fake_accesses history;
    unsigned n;
    struct fake_part {
        struct fake_member *member;
        size_t begin, size;
    } * parts;
    struct fake_spread *next; /* of all */
};

struct fake_mem {
    struct tsl_mem base;
    struct fake_mem *root;      /* itself for an allocation */
    struct fake_spread *spread; /* roots only: it has these bytes; NULL: its own */
    unsigned char *bytes;       /* NULL once freed */
    bool freed;
    bool hosts;      /* bytes are the host's */
    bool registered; /* of host_register: no memory of the member's */
    bool is_image;   /* desc says what of; a view of root's bytes if that is another */
    struct tsl_image_desc desc;
    bool taken;                   /* counted against the member's memory */
    unsigned n_subs;              /* live; roots only */
    unsigned n_unknown;           /* operations on it (roots: or its subs) that the host doesn't know to be complete */
    struct fake_accesses history; /* roots only; unused if hosts */
    struct fake_mem *next;        /* of all */
};

struct fake_notify {
    struct fake_notify *next;
    struct fake_fence *fence;
    tsl_notify_fn *fn;
    void *arg;
};

struct fake_fence {
    struct tsl_fence base;
    struct fake_op *op; /* NULL: a gate */
    bool freed, opened;
    bool told;       /* fence_status has said that it is complete */
    cl_int status;   /* of an opened gate */
    uint64_t epoch;  /* of an opened gate: what the host knew when it opened it */
    uint64_t end_ns; /* of an opened gate */
    struct fake_notify *notify;
    struct fake_fence *next_gate;  /* of all gates */
    struct fake_fence *next_fence; /* of all fences that aren't gates */
};

struct fake_body {
    char *name;
    tsl_fake_body_fn *run;
    cl_uint n_args;
    enum tsl_fact_kind *kinds;
    unsigned *access;
    struct tsl_fake_traits traits;
    UT_hash_handle hh;
};

struct fake_program {
    struct tsl_dprogram base;
    char *source;
    char *names; /* separated by ';' */
    size_t variables;
    bool has_kernels, has_windows; /* kernels were made; a text for windows was given */
    bool freed;
};

struct fake_kernel {
    struct tsl_dkernel base;
    struct fake_body *body;
    bool freed;
};

/* What a run has told of its touches so far: behind tsl_fake_run.touched. */
struct fake_touched {
    struct fake_op *op;
    unsigned char *
        *bytes; /* of a kernel with a footprint: what that says of each byte of each argument (footprint.c) */
};

struct fake_lane {
    struct tsl_lane base;
    unsigned number;
    bool profile, ordered, freed;
    atomic_flag submitting;       /* a thread is inside a submission */
    uint64_t flushed;             /* operations up to this id may run */
    struct fake_op *first, *last; /* first: the oldest that isn't done, or NULL; last: the newest ever */
    cl_int error;                 /* first failure of work without a fence, not yet told by finish */
    struct fake_lane *next;       /* of the member */
};

enum fake_state { FAKE_QUEUED, FAKE_RUNNING, FAKE_DONE };

struct fake_launch {
    struct fake_kernel *kernel;
    cl_uint n_args;
    struct fake_arg {
        struct tsl_bound_arg bound; /* value: a copy */
        struct fake_mem *mem;
    } * args;
    struct tsl_window window; /* local_size and groups filled in */
    uint64_t serial;          /* of the arguments */
    uint64_t alike;           /* not 0: part of a launch; the same for all parts, of their kernel and values */
};

struct fake_op {
    uint64_t id;
    enum tsl_fake_kind kind;
    enum fake_state state;
    struct fake_lane *lane;
    struct fake_op *lane_prev, *lane_next;
    unsigned n_waits;
    struct fake_fence **waits;
    struct fake_fence *fence; /* NULL: none was asked for */
    struct fake_member *peer; /* of a PEER copy: the other member */
    struct fake_mem **uses;   /* memory that this works on, subs and roots, each once */
    unsigned n_uses;

    struct tsl_copy copy;
    struct tsl_fill fill;
    struct tsl_combine combine;
    unsigned char pattern[128]; /* the fill's */
    struct fake_launch launch;
    size_t size; /* bytes or work-items, as in the record */

    bool drops_waits, stale, early; /* sabotage */
    cl_int failure;                 /* 0, or what the work will fail with */
    cl_int status;                  /* of a DONE one */
    bool acted;                     /* its effects have come */
    bool busy;                      /* a worker is at it, or was */
    bool acting;                    /* its bytes are being touched, without the lock */
    uint64_t submit_ns, start_ns, end_ns;

    /* Order, see order.c. */
    uint64_t epoch;    /* what the host had seen when this was submitted or, once it runs, when its gates opened */
    uint64_t observed; /* the host's look at which this was known to be complete; 0: it isn't */
    uint64_t stamp;
    struct fake_op *todo;
};

struct fake_failure {
    unsigned k; /* calls to go; 0: unused */
    cl_int code;
};

#define FAKE_N_FAILURES 8

enum fake_engine { FAKE_COMPUTE, FAKE_UP, FAKE_DOWN, FAKE_N_ENGINES };

struct fake_member {
    struct tsl_member base;
    unsigned number;
    struct tsl_fake_member is; /* with the defaults put in */
    bool open;
    pthread_mutex_t prepare_lock; /* taken before the driver's: one thread makes it ready */
    uint64_t lose_ns;             /* 0: never */
    uint64_t used_size;
    struct fake_failure fail_calls[TSL_FAKE_N_CALLS][FAKE_N_FAILURES];
    struct fake_failure fail_work[TSL_FAKE_N_CALLS][FAKE_N_FAILURES];
    struct tsl_fake_counts counts;
    struct fake_lane *lanes;
    uint64_t engine_free_ns[FAKE_N_ENGINES];
    pthread_t worker;
    bool has_worker;
};

struct fake_serial {
    uint64_t serial; /* and the member, in one number */
    uint64_t hash;
    UT_hash_handle hh;
};

struct fake_block {
    struct fake_block *next;
};

/* The state of the setup in force. */
struct fake {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_mutex_t step_lock; /* one step at a time; taken before lock, held while a notification runs */
    bool on, stopping;
    struct tsl_fake_setup setup;
    struct fake_member members[TSL_FAKE_MAX_MEMBERS];
    uint64_t now_ns; /* manual mode */
    uint64_t random;
    uint64_t last_op;
    unsigned n_lanes;
    uint64_t epoch; /* the host's looks so far */
    uint64_t stamp;
    unsigned n_busy;                            /* operations not DONE */
    unsigned sabotage_in[TSL_FAKE_N_SABOTAGES]; /* pieces of work to go; 0: none */
    bool sabotaged;
    struct fake_mem *mems;
    struct fake_spread *spreads;
    struct fake_fence *gates, *fences;
    struct fake_notify *due; /* notifications to deliver, oldest first */
    unsigned n_delivering;
    struct fake_accesses host; /* history of host memory */
    struct fake_accesses gathered;
    struct fake_serial *serials;
    struct tsl_fake_live live;
    struct fake_block *blocks;
    struct tsl_fake_record *records;
    size_t n_records, records_room;
    char **violations;
    size_t n_violations, violations_room;
    unsigned n_faults[TSL_FAKE_N_FAULTS];
};

extern struct fake tsl_fake;

static inline struct fake_member *fake_member(struct tsl_member *member)
{
    return (struct fake_member *)member; /* base comes first */
}

static inline struct fake_member *fake_lane_member(const struct fake_lane *lane)
{
    return fake_member(lane->base.member);
}

/* fake.c: the setup. new gives zeroed memory that lives until tsl_fake_end; it never fails (tests abort instead). */
void *tsl_fake_new_locked(size_t size);
void *tsl_fake_grow(void *items, size_t n, size_t *room, size_t size);
uint64_t tsl_fake_random_locked(void);
uint64_t tsl_fake_now_locked(void);

/* report.c */
void tsl_fake_violate_locked(enum tsl_fake_fault fault, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tsl_fake_violate(enum tsl_fake_fault fault, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "launch 12 (axpy) on fake:1 lane 3": valid until two later calls in the same thread. */
const char *tsl_fake_op_name(const struct fake_op *op);
void tsl_fake_write_down_locked(const struct fake_op *op);

/* Makes the member ready if it isn't; the driver's lock isn't held. */
cl_int tsl_fake_prepare(struct fake_member *member);
/* The same, for an operation that needs it. */
void tsl_fake_need_ready(struct fake_member *member);
/*
 * Every operation of the table begins with this: the test's hook, the check for calls from notifications, the count.
 * enter_locked takes the lock and returns CL_SUCCESS, or returns the error to return, without the lock. call:
 * TSL_FAKE_N_CALLS if it neither counts nor fails.
 */
cl_int tsl_fake_enter_locked(struct fake_member *member, enum tsl_fake_call call, const char *operation);
void tsl_fake_leave_locked(void);
bool tsl_fake_lost_locked(struct fake_member *member);
/* The code that this piece of work is to fail with, 0 for none. */
cl_int tsl_fake_work_failure_locked(struct fake_member *member, enum tsl_fake_call call);
/* Is it this one's turn? */
bool tsl_fake_sabotage_locked(enum tsl_fake_sabotage what);
void tsl_fake_in_notify(int enter_or_leave);

/* memory.c */
cl_int tsl_fake_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem);
cl_int tsl_fake_host_register(struct tsl_member *member, void *host, size_t size, struct tsl_mem **mem);
cl_int tsl_fake_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub);
cl_int tsl_fake_image_formats(struct tsl_member *base, const struct tsl_format_query *query, cl_uint *n_formats);
cl_int tsl_fake_image_alloc(struct tsl_member *base, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                            struct tsl_mem **mem);
cl_int tsl_fake_image_of(struct tsl_mem *base, const struct tsl_image_desc *desc, struct tsl_mem **image);
void tsl_fake_mem_free(struct tsl_mem *mem);
struct fake_mem *tsl_fake_mem_new_locked(struct tsl_member *member, size_t size);
/* Takes a lazy allocation's memory; CL_MEM_OBJECT_ALLOCATION_FAILURE if there is none left. */
cl_int tsl_fake_mem_take_locked(struct fake_mem *root);
void tsl_fake_poison(void *bytes, size_t size, uint64_t which);

/* spread.c */
cl_int tsl_fake_spread_alloc(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full);
/* One of its members has freed its memory. */
void tsl_fake_spread_put_locked(struct fake_spread *spread);
/* Does op touch, in spread memory, a part of a member that is lost? Of `lost`, if that is not NULL. */
bool tsl_fake_spread_is_lost_locked(struct fake_op *op, const struct fake_member *lost);
/* The member's parts are garbage from now on. */
void tsl_fake_spread_poison_locked(const struct fake_member *lost);
void tsl_fake_spread_free_all(void);

/* fence.c */
struct fake_fence *tsl_fake_fence_new_locked(struct fake_op *op, struct tsl_member *member);
bool tsl_fake_fence_complete_locked(const struct fake_fence *fence);
cl_int tsl_fake_fence_status_locked(const struct fake_fence *fence);
void tsl_fake_fence_done_locked(struct fake_fence *fence);
cl_int tsl_fake_fence_status(struct tsl_fence *fence);
cl_int tsl_fake_fence_wait(struct tsl_fence *fence);
cl_int tsl_fake_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg);
cl_int tsl_fake_fence_times(struct tsl_fence *fence, struct tsl_times *times);
void tsl_fake_fence_free(struct tsl_fence *fence);
bool tsl_fake_can_wait(struct tsl_member *member, const struct tsl_fence *fence);
cl_int tsl_fake_gate_create(struct tsl_member *member, struct tsl_fence **gate);
cl_int tsl_fake_gate_open(struct tsl_fence *gate, cl_int status);

/* submit.c */
bool tsl_fake_can_copy_peer(struct tsl_member *from, struct tsl_member *to);
cl_int tsl_fake_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
bool tsl_fake_can_combine(struct tsl_member *member);
cl_int tsl_fake_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                        struct tsl_fence **fence);
cl_int tsl_fake_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                     struct tsl_fence **fence);
cl_int tsl_fake_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                       struct tsl_fence **fence);
cl_int tsl_fake_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence);

/* A submission under way, shared with launch.c. begin: enters, checks the lane and the waits; end: queues the operation
 * (rc 0) or drops it, and leaves. */
struct fake_op *tsl_fake_submit_begin_locked(struct tsl_lane *lane, enum tsl_fake_call call, const char *operation,
                                             const struct tsl_waits *waits, cl_int *rc);
cl_int tsl_fake_submit_end_locked(struct fake_op *op, cl_int rc, struct tsl_fence **fence);
/* Notes that op works on mem: false (and a violation) if it was freed. Takes lazy memory. */
cl_int tsl_fake_use_locked(struct fake_op *op, struct fake_mem *mem);

/* order.c: the race detector. */
void tsl_fake_accesses_add(struct fake_accesses *list, struct fake_access access);
/* Puts what op touches in tsl_fake.gathered. */
void tsl_fake_gather_locked(struct fake_op *op);
/* op begins, or fails without: all that it waited for has happened, so what it knows is settled. */
void tsl_fake_settle_locked(struct fake_op *op);
/* Checks what op, which begins, touches against the past. */
void tsl_fake_order_locked(struct fake_op *op);
/* The host has seen that op is complete. */
void tsl_fake_observe_locked(struct fake_op *op);
/* Calls visit for every operation that op comes after by the contract: lane order and waits. */
bool tsl_fake_each_before(const struct fake_op *op, bool (*visit)(void *arg, struct fake_op *before), void *arg);

/* run.c */
bool tsl_fake_ready_locked(const struct fake_op *op);
/* Waits, or steps, until done(arg) holds. False: it never will. */
bool tsl_fake_block_locked(bool (*done)(void *arg), void *arg, const char *what);
void tsl_fake_workers_start(void);
void tsl_fake_workers_stop(void);

/* footprint.c: runs are held to their kernels' footprints. check_begin comes before the run tells what it touches,
 * touch_all in place of that. */
void tsl_fake_check_begin_locked(struct fake_touched *touched);
void tsl_fake_check_touch_locked(struct fake_touched *touched, cl_uint arg, size_t offset, size_t size, bool write);
void tsl_fake_touch_all_locked(const struct tsl_fake_run *run);
void tsl_fake_check_end_locked(struct fake_touched *touched);

/* act.c: the effects of an operation; without the lock. */
void tsl_fake_act(struct fake_op *op);

/* launch.c: what a launch's body gets; args has room for one more than there are. */
void tsl_fake_run_set_up(struct tsl_fake_run *run, struct tsl_fake_arg *args, const struct fake_op *op);

/* program.c */
cl_int tsl_fake_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                      char **log);
cl_int tsl_fake_program_binary(struct tsl_dprogram *program, void **data, size_t *size);
void tsl_fake_program_free(struct tsl_dprogram *program);
bool tsl_fake_program_variables(struct tsl_dprogram *program, size_t *bytes);
cl_int tsl_fake_program_kernels(struct tsl_dprogram *program, char **names);
cl_int tsl_fake_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                              struct tsl_kernel_facts *facts);
cl_int tsl_fake_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                           char **log);
void tsl_fake_kernel_free(struct tsl_dkernel *kernel);
cl_int tsl_fake_windows_by(struct tsl_dprogram *program, const struct tsl_program_input *text);
bool tsl_fake_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts);

/* info.c */
cl_int tsl_fake_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret);

#endif
