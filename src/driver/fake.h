/*
 * The fake driver: members that live in this process's memory, for tests of the core. No device, no compiler.
 *
 * It keeps the driver contract (driver/driver.h) to the letter and watches that its caller does too: every operation is
 * checked when it is submitted and again when it runs, and what breaks the contract is written down as a violation that
 * the test reads afterwards. Memory is really separate for each member, fresh memory is poisoned, and nothing is
 * executed earlier than the contract promises, so that a stale copy or a missing order gives a wrong answer too.
 *
 * Two modes of execution:
 *   threads  one worker thread per member runs what is ready, with real delays;
 *   manual   nothing runs until the test calls tsl_fake_step(), which does one thing that a real machine might do next,
 *            chosen by the caller's number. Time is virtual (base/clock.h's hook). A blocking call of the contract
 *            (fence_wait, finish, flush where submits_block) steps by itself, by a random source with the setup's seed.
 *
 * Order of things in manual mode: a step begins an operation, ends one, or delivers one notification. An operation's
 * effects come at its beginning or at its end, as chance has it.
 *
 * One setup at a time. All functions are thread-safe unless they say otherwise.
 */
#ifndef TSL_DRIVER_FAKE_H
#define TSL_DRIVER_FAKE_H

#include "driver/driver.h"
#include "facts/kernel_facts.h"

extern const struct tsl_driver tsl_fake_driver;

/* ---- Setup ------------------------------------------------------------------------------------------------------- */

/* What one fake member is like. All zero is a fast, quiet member with memory of its own. */
struct tsl_fake_member {
    const char *name;        /* NULL: "fake N" */
    const char *why_not;     /* not NULL: the path is reported as unusable, with this sentence */
    const char *il;          /* CL_DEVICE_IL_VERSION; NULL: it takes none. A module's first OpString is its text */
    const char *built_ins;   /* registered kernels that it has without a program, ';'-separated; NULL: none */
    cl_device_type type;     /* 0: CL_DEVICE_TYPE_GPU */
    double speed;            /* 0: 1; kernels take item_ns / speed for a work-item */
    uint64_t delay_ns;       /* of every operation but marks */
    uint64_t item_ns;        /* of every work-item at speed 1 */
    uint32_t fill_items;     /* caps.fill_items: fewer work-items take as long as so many */
    uint64_t bandwidth;      /* bytes per second of copies and fills; 0: they take no time beyond delay_ns */
    uint64_t own_bandwidth;  /* … of copies from the member's memory to itself; 0: bandwidth */
    uint64_t memory_size;    /* bytes; 0: 1 GiB. Allocation fails beyond */
    uint64_t max_alloc_size; /* bytes; 0: memory_size */
    uint64_t told_size;      /* bytes of memory that the member tells of; 0: memory_size. More: others have the rest */
    size_t base_align;       /* bytes; 0: 64 */
    size_t work_group_size;  /* 0: 256 */
    bool has_numa;           /* the member is on the node below */
    unsigned numa_node;
    unsigned context; /* members with the same number > 0 wait natively for each other's fences */
    bool zero_copy;   /* works on the host's copy itself */
    bool fp64;
    bool images;           /* has images: every format, of buffers in rows of 4 pixels */
    unsigned image_size;   /* pixels and layers each way; 0: 1024 */
    bool zero_copy_images; /* with zero_copy: images are the host's copy, too */
    bool svm;              /* kernels know all addresses of the host's */
    bool lazy_memory;      /* memory is taken, and found missing, by the first submission that uses it */
    bool peer;             /* copies directly to and from other members that have it */
    unsigned domain;       /* members with the same number > 0 can have memory spread over them */
    bool domain_atomics;   /* … with atomics: only told */
    size_t domain_granule; /* bytes; 0: 256 */
    bool gates;
    bool submits_block;      /* flush returns only when the lane's work is done */
    bool side_by_side;       /* kernels of several lanes run at once, each as fast as alone; else one after the other */
    bool unordered_lanes;    /* work of one lane runs in any order that the waits allow */
    bool lanes_abreast;      /* out-of-order queues have several lanes there */
    bool no_profile;         /* fence_times never answers */
    bool no_windows;         /* runs launches whole only */
    bool no_combine;         /* can_combine says no */
    bool takes_parts;        /* launches take arguments of which only a part is there */
    bool tells_late;         /* fence_status may say that work isn't complete though later work of its lane is */
    unsigned register_after; /* memory of the application's is pinned once it went to and fro so often; 0: never */
    bool opens_later;        /* it isn't ready (driver/member.h) until prepare, or an operation that needs it, … */
    uint64_t opens_ns;       /* … has taken so long */
};

#ifndef TSL_FAKE_MAX_MEMBERS
#define TSL_FAKE_MAX_MEMBERS 8
#endif

struct tsl_fake_setup {
    unsigned n_members;
    struct tsl_fake_member members[TSL_FAKE_MAX_MEMBERS];
    bool threads;            /* else manual */
    bool in_time;            /* manual: blocking calls step by TSL_FAKE_EARLIEST, not at random */
    uint64_t seed;           /* of the driver's own random source */
    bool abort_on_violation; /* for a debugger; else violations are collected */
    /* Called at every entry of the table with the operation's name, before anything is done; NULL: nothing. Tests use
     * it to check that the caller holds no lock. From the thread that calls, so from several at once. */
    void (*on_call)(void *arg, const char *operation);
    void *on_call_arg;
    /* Manual mode: called, under no lock of the driver's, while a call blocks: other threads of the program may do
     * something now. Returns whether they did. NULL: there are none. */
    bool (*on_block)(void *arg);
    void *on_block_arg;
};

/* Makes the members that probe() will report, ids "fake:0", "fake:1", … In manual mode the virtual clock goes in. */
void tsl_fake_begin(const struct tsl_fake_setup *setup);

/* Ends the setup: workers stop, the clock is the real one again, everything is freed, also what the caller leaked.
 * Before, what is still wrong becomes a violation (tsl_fake_check_end). Kernels stay registered. */
void tsl_fake_end(void);

/* Opens member i without the registry, for tests of parts below it; index is set to i. */
struct tsl_member *tsl_fake_open(unsigned i);

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* What a kernel's body gets. Pointers are to the member's own copy; valid during the call. */
struct tsl_fake_arg {
    void *ptr;         /* memory and local memory; NULL for a null pointer */
    size_t size;       /* bytes at ptr or value */
    const void *value; /* values and samplers */
};

struct tsl_fake_run {
    unsigned member;
    cl_uint n_args;
    const struct tsl_fake_arg *args;
    const struct tsl_window *window; /* local_size and the groups are always set */
    size_t first[3], end[3];         /* the window in work-items, without the global offset: first … end-1 */
    void *touched;                   /* the driver's own */
};

typedef void tsl_fake_body_fn(const struct tsl_fake_run *run);

/* Options of a kernel, beyond its arguments. */
struct tsl_fake_traits {
    /* Tells exactly what the run will touch, by tsl_fake_touch; NULL: what the footprint says or, without one, all of
     * every argument, by its access. It must not read the arguments' memory. */
    tsl_fake_body_fn *touch;
    uint64_t item_ns;  /* 0: the member's */
    cl_uint cost_arg;  /* n > 0: argument n - 1 is a value, a uint32_t, times which it takes as long */
    bool ramp;         /* the items of dimension 0 take from none to twice as long, one after the other */
    bool atomics;      /* touches memory by atomics only: two such kernels don't race */
    bool races;        /* items read what other items write: windows with the same arguments don't race by that */
    bool whole_launch; /* facts: asks for group ids and the like, so it runs in no windows */
    bool prints, opaque;
    bool unproven; /* facts: the access is told, but not proven */
    /* Facts: what it touches (footprint/format.h); borrowed while the name is registered. A run is held to it: what it
     * touches lies within, and what is surely written is written; without a touch function it touches all of it. NULL:
     * unknown. */
    const struct tsl_footprint *footprint;
    bool fp64;
    size_t reqd_size[3], recommended_size[3];
    cl_ulong local_mem_size;
};

/* Registers the body of the kernel `name` for the process: kinds and access (TSL_MAY_ bits) are n_args long and are
 * what the facts will say. A second registration of a name replaces the first. traits: NULL for none. Not while kernels
 * live. */
void tsl_fake_kernel(const char *name, tsl_fake_body_fn *body, cl_uint n_args, const enum tsl_fact_kind *kinds,
                     const unsigned *access);
void tsl_fake_kernel_traits(const char *name, const struct tsl_fake_traits *traits);

/* For a traits.touch function: this run reads or writes size bytes at offset of argument arg. */
void tsl_fake_touch(const struct tsl_fake_run *run, cl_uint arg, size_t offset, size_t size, bool write);

/*
 * A program's source is lines:
 *   kernel NAME arg,arg,…   a kernel with a registered body; the words are its arguments' names, their number counts
 *   error TEXT              the build fails everywhere, TEXT goes to the log
 *   error N TEXT            the build fails on member N
 *   without N NAME          member N's program lacks the kernel NAME
 *   log TEXT                goes to the log
 *   variables N BYTES       member N's program has program-scope variables; without N: everywhere
 * Empty lines and lines that begin with # or / are skipped. Anything else fails the build, as a kernel without a body
 * does.
 */

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

/* What can be made to fail: calls, and (from COPY to MARK) the work itself. */
enum tsl_fake_call {
    TSL_FAKE_OPEN,
    TSL_FAKE_LANE,
    TSL_FAKE_ALLOC,
    TSL_FAKE_SUB,
    TSL_FAKE_FLUSH,
    TSL_FAKE_FINISH,
    TSL_FAKE_COPY, /* any copy */
    TSL_FAKE_FILL,
    TSL_FAKE_COMBINE,
    TSL_FAKE_LAUNCH,
    TSL_FAKE_MARK,
    TSL_FAKE_NOTIFY,
    TSL_FAKE_GATE,
    TSL_FAKE_BUILD,
    TSL_FAKE_KERNEL,  /* kernel_create */
    TSL_FAKE_SPREAD,  /* spread_alloc, of its first member */
    TSL_FAKE_PREPARE, /* what makes it ready: by prepare, or … */
    TSL_FAKE_STUMBLE, /* … by an operation that found it not ready. Only counted */
    TSL_FAKE_N_CALLS,
};

/* The k-th call of that kind on the member from now on (1: the next) fails with `code`, having done nothing. */
void tsl_fake_fail_call(unsigned member, enum tsl_fake_call call, unsigned k, cl_int code);
/* The k-th piece of work submitted from now on is accepted, but its fence completes with `code`; what it should have
 * written is scribbled over. */
void tsl_fake_fail_work(unsigned member, enum tsl_fake_call call, unsigned k, cl_int code);
/* From the time at_ns on the member is lost: calls return CL_DEVICE_NOT_AVAILABLE, work that has not ended fails with
 * it, its memory is garbage. */
void tsl_fake_lose(unsigned member, uint64_t at_ns);

/* Faults of the driver itself, to see whether a test would find them: the k-th piece of work for which the fault makes
 * sense, from now on, on any member. No violation is told of them. */
enum tsl_fake_sabotage {
    TSL_FAKE_DROP_WAITS,  /* doesn't wait for its waits (an edge is lost) */
    TSL_FAKE_STALE_COPY,  /* a copy does nothing */
    TSL_FAKE_EARLY_FENCE, /* its fence says complete as soon as it is flushed */
    TSL_FAKE_N_SABOTAGES,
};
void tsl_fake_sabotage(enum tsl_fake_sabotage what, unsigned k);
/* Did it happen? */
bool tsl_fake_sabotaged(void);

/* ---- Manual mode ------------------------------------------------------------------------------------------------- */

/* As a choice: what would happen first by the members' speeds and delays. A test of times uses nothing else. */
#define TSL_FAKE_EARLIEST UINT64_MAX

/* Does the (choice modulo their number)-th of the things that may happen next. False: nothing may. */
bool tsl_fake_step(uint64_t choice);
/* Steps by the driver's random source (earliest: in the order of time) until nothing may happen. */
void tsl_fake_run(bool earliest);
/* Is anything submitted and not complete, or not yet told? With tsl_fake_step false: the program is stuck. */
bool tsl_fake_busy(void);
/* What waits for what, for a message about a stuck program. Heap. */
char *tsl_fake_stuck(void);
/* Moves the virtual clock. */
void tsl_fake_advance(uint64_t ns);

/* ---- What happened ----------------------------------------------------------------------------------------------- */

enum tsl_fake_kind {
    TSL_FAKE_DID_WRITE, /* host to member */
    TSL_FAKE_DID_READ,  /* member to host */
    TSL_FAKE_DID_COPY,  /* within a member */
    TSL_FAKE_DID_PEER,  /* member to member */
    TSL_FAKE_DID_FILL,
    TSL_FAKE_DID_COMBINE,
    TSL_FAKE_DID_LAUNCH,
    TSL_FAKE_DID_MARK,
    TSL_FAKE_N_KINDS,
};

/* One operation, written down when it ended, in the order of ends. */
struct tsl_fake_record {
    enum tsl_fake_kind kind;
    uint64_t id;        /* in the order of submission, from 1 */
    unsigned member;    /* for PEER the destination */
    unsigned from;      /* for PEER the source, else as member */
    unsigned lane;      /* number of the lane, in the order of creation over all members, from 0 */
    size_t size;        /* bytes copied, filled or combined; work-items of a launch */
    const char *kernel; /* of a launch, else NULL; valid until tsl_fake_end */
    cl_int status;      /* CL_COMPLETE or the error */
    uint64_t start_ns, end_ns;
};

/* A copy of the i-th record; false past the last. */
bool tsl_fake_record(size_t i, struct tsl_fake_record *record);
size_t tsl_fake_n_records(void);

struct tsl_fake_counts {
    uint64_t did[TSL_FAKE_N_KINDS];      /* operations that ended well */
    uint64_t did_size[TSL_FAKE_N_KINDS]; /* their sizes, summed */
    uint64_t calls[TSL_FAKE_N_CALLS];    /* calls, failed ones included */
    uint64_t fences;                     /* fences handed out, gates not counted */
    uint64_t waits;                      /* fence_wait calls */
};

/* Counts of one member (PEER counts for the destination) since the last call of tsl_fake_reset_counts. */
struct tsl_fake_counts tsl_fake_counts(unsigned member);
void tsl_fake_reset_counts(void); /* the records go too */

/* Objects that live: created and not freed. */
struct tsl_fake_live {
    unsigned lanes, mems, subs, fences, gates, programs, kernels;
    unsigned spreads;  /* ranges of spread_alloc of which a memory lives; each of those counts in mems, too */
    uint64_t mem_size; /* bytes, over all members; memory that is the host's is not counted */
};

struct tsl_fake_live tsl_fake_live(void);
/* Is some of this host memory pinned (host_register)? */
bool tsl_fake_registered(const void *host, size_t size);
/* The fences, gates and memories among them, a line for each. Heap. */
char *tsl_fake_leaks(void);

/* ---- Violations -------------------------------------------------------------------------------------------------- */

enum tsl_fake_fault {
    TSL_FAKE_RACE,          /* two operations meet in memory, one writes, nothing orders them */
    TSL_FAKE_USE_FREED,     /* an object was used after its free, or freed twice */
    TSL_FAKE_FREE_BUSY,     /* freed while work on it was not known to be complete */
    TSL_FAKE_GATE_UNOPENED, /* a gate was freed, or the setup ended, before it was opened */
    TSL_FAKE_GATE_TWICE,    /* opened twice, or opened with a status that is no end */
    TSL_FAKE_BAD_WAIT,      /* a submission waits for a fence for which can_wait() is false */
    TSL_FAKE_UNFLUSHED,     /* the host waits for work that was not flushed */
    TSL_FAKE_BAD_ARGUMENT,  /* out of bounds, overlapping, of another member, not aligned … */
    TSL_FAKE_SERIAL,        /* two calls with one serial carried different arguments */
    TSL_FAKE_TWO_THREADS,   /* two threads submitted to one lane at once */
    TSL_FAKE_IN_NOTIFY,     /* the driver was called from a notification (gate_open and fence_free excepted) */
    TSL_FAKE_STUCK,         /* a call blocks for ever: nothing that could run leads to what it waits for */
    TSL_FAKE_UNFINISHED,    /* the setup ended with work not complete */
    TSL_FAKE_FOOTPRINT,     /* a run left its kernel's footprint, or did not write what that says is surely written */
    TSL_FAKE_N_FAULTS,
};

/* The number of violations of one kind, or of all (TSL_FAKE_N_FAULTS). */
unsigned tsl_fake_violations(enum tsl_fake_fault fault);
/* The i-th violation as a sentence, NULL past the last; valid until tsl_fake_end or tsl_fake_forget. */
const char *tsl_fake_violation(unsigned i);
/* Forgets them (a test that provoked one on purpose). */
void tsl_fake_forget(void);
/* Finds what can only be wrong at the end: unopened gates, unfinished work. tsl_fake_end calls it, too late to read. */
void tsl_fake_check_end(void);

/* The test itself, as the application, reads or writes host memory now: a race if an operation on it is not known to be
 * complete. */
void tsl_fake_host_access(const void *ptr, size_t size, bool write);

#endif
