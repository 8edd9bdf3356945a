/*
 * Threads of ours. Each is started when its first job arrives, blocks all signals, is named "tesela-…", and is never
 * joined. After fork() the child has none, and posting does nothing.
 *
 * If a process ends while a thread is inside a vendor's call (compiling, say), the vendor's library is torn down under
 * that thread. So exit waits until the workers that call vendors, or lead to such calls, have nothing to do: for
 * TSL_WORKER_PATIENCE_MS in all, and on a busy machine for up to TSL_WORKER_PATIENCE_MORE seconds more, until a thread
 * at work had that much of a processor. If the main thread ends the process and has called tsl_worker_post or
 * tsl_worker_expect_exit, exit waits before all handlers, and calls tsl_exit_hook meanwhile. It waits again, or for the
 * first time, before the handlers of libraries that were loaded before the thread began. The program's own handlers
 * that run later find the threads as they were.
 */
#ifndef TSL_BASE_WORKER_H
#define TSL_BASE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tsl_job {
    struct tsl_job *next;
    void (*run)(struct tsl_job *job); /* may post the job again, may free it */
    bool posted;                      /* under the worker's lock */
};

struct tsl_worker {
    const char *name; /* at most 15 characters */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_cond_t idle;
    struct tsl_job *first, **last;
    atomic_ulong n_posted; /* jobs, ever */
    bool started, asleep, busy;
    bool drains;              /* exit waits for it */
    unsigned looks_us;        /* its thread looks out for jobs so long before it sleeps */
    bool looks;               /* ... and does so */
    pthread_t thread;         /* if started */
    struct tsl_worker *older; /* in the list of workers for which exit waits */
};

#define TSL_WORKER_PATIENCE_MS   2000
#define TSL_WORKER_PATIENCE_MORE 8

#define TSL_WORKER_THAT(thread_name, exit_waits)                                                    \
    {                                                                                               \
        .name = (thread_name), .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, \
        .idle = PTHREAD_COND_INITIALIZER, .drains = (exit_waits)                                    \
    }
#define TSL_WORKER(thread_name) TSL_WORKER_THAT(thread_name, false)
/* For workers that call vendors, or lead to such calls. */
#define TSL_VENDORS_WORKER(thread_name) TSL_WORKER_THAT(thread_name, true)

/* Appends the job to the worker's list unless it is in it already. The job runs once for all posts that come before it
 * begins to run. False: the thread can't be started (out of resources, or a forked child). Never blocks for long. */
bool tsl_worker_post(struct tsl_worker *worker, struct tsl_job *job);
/* Tells that the calling thread may be the main one: its end, by exit() or alone, then waits before all handlers. Costs
 * little. */
void tsl_worker_expect_exit(void);

/* What exit waits for besides the workers' jobs. Called only at the main thread's end, under no lock of ours. */
struct tsl_exit_hook {
    void (*wait)(void); /* may post one job: exit waits for that, too. Called again after workers were given more */
    void (*over)(void); /* exit goes on */
    /* No command is unfinished, and no callback is due or runs. Takes the graphs' locks. */
    bool (*is_idle)(void);
};

extern _Atomic(const struct tsl_exit_hook *) tsl_exit_hook; /* NULL: nothing else is waited for */

/* Names of threads that run functions of the application's. */
#define TSL_CALLBACK_THREAD "tesela-call"
#define TSL_BUILD_THREAD    "tesela-build"

/* What exit does: waits for the workers that call vendors. Returns how many jobs these were ever given; 0: that takes,
 * or once took, too long. */
unsigned long tsl_worker_drain(void);
/* Does exit wait for the workers at this moment? Long jobs then do no more than they must. */
bool tsl_worker_is_ending(void);
/* Wakes its thread, or starts it, though there is no job yet: one will come soon. */
void tsl_worker_wake(struct tsl_worker *worker);
/* Would its thread begin with a job at once: does it look out for one, or work? */
bool tsl_worker_is_awake(struct tsl_worker *worker);
/* Has it no job? */
bool tsl_worker_is_idle(struct tsl_worker *worker);
/* Waits until all jobs have run. Not from a job. Returns at once in a forked child. */
void tsl_worker_wait(struct tsl_worker *worker);

/*
 * Simulations (tests) run the jobs themselves: while one is set, no thread of ours is started. posted() is called for
 * each post, and tsl_worker_step runs one job of that worker in the caller's thread. Where a call would block until
 * something changes, block() is asked to change something, under no lock of ours.
 */
struct tsl_simulation {
    void (*posted)(struct tsl_worker *worker);
    void (*block)(void);
};

extern const struct tsl_simulation *tsl_simulation; /* NULL; set while nothing runs */
void tsl_worker_step(struct tsl_worker *worker);

/* How often a sleeping thread of ours was woken since the process began (tests: chains of commands on one member wake
 * none). */
extern atomic_ulong tsl_worker_wakes;

#endif
