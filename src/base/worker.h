/*
 * Threads of ours. Each is started when its first job arrives, blocks all signals, is named "tesela-…", and is never
 * joined. After fork() the child has none, and posting does nothing.
 *
 * A process that ends while a thread is inside a vendor's call (compiling, say) tears the vendor's library down under
 * it. So exit waits for workers that call vendors, or give those that do their jobs, until none has anything to do, for
 * TSL_WORKER_PATIENCE_MS in all, and on a busy machine for up to TSL_WORKER_PATIENCE_MORE seconds more, until a thread
 * at work had that much of a processor. It does so before all handlers if the main thread ends the process and has
 * called tsl_worker_post or tsl_worker_expect_exit (and calls tsl_exit_hook meanwhile), and again, or else, before
 * those of libraries that were loaded before the thread began. Whatever the program still does in handlers of its own
 * finds the threads as they were.
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
    unsigned long n_posted; /* jobs, ever */
    bool started, asleep, busy;
    bool drains;              /* exit waits for it */
    pthread_t thread;         /* if started */
    struct tsl_worker *older; /* in the list of those for which exit waits */
};

#define TSL_WORKER_PATIENCE_MS   2000
#define TSL_WORKER_PATIENCE_MORE 8

#define TSL_WORKER_THAT(thread_name, exit_waits)                                                    \
    {                                                                                               \
        .name = (thread_name), .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, \
        .idle = PTHREAD_COND_INITIALIZER, .drains = (exit_waits)                                    \
    }
#define TSL_WORKER(thread_name) TSL_WORKER_THAT(thread_name, false)
/* It calls vendors, or leads to such calls. */
#define TSL_VENDORS_WORKER(thread_name) TSL_WORKER_THAT(thread_name, true)

/* Puts the job at the end of the worker's list unless it is there already. It runs once for all posts that come before
 * it begins to run. False: the thread can't be started (out of resources, or a forked child). Never blocks for long. */
bool tsl_worker_post(struct tsl_worker *worker, struct tsl_job *job);
/* The calling thread may be the main one, whose end, by exit() or alone, then waits first of all. Costs little. */
void tsl_worker_expect_exit(void);

/* What exit waits for beside the workers' jobs; called by the main thread's end alone, under no lock of ours. */
struct tsl_exit_hook {
    void (*wait)(void); /* may post one job: exit waits for that, too. Called again after workers were given more */
    void (*over)(void); /* exit goes on */
};

extern _Atomic(const struct tsl_exit_hook *) tsl_exit_hook; /* NULL: nothing else is waited for */

/* What exit does: waits for those that call vendors. How many jobs these were ever given; 0: that was, or had been, too
 * long. */
unsigned long tsl_worker_drain(void);
/* Waits until all jobs have run. Not from one of them. In a forked child at once. */
void tsl_worker_wait(struct tsl_worker *worker);

/*
 * Simulations (tests) take threads from outside: while one is set no thread of ours is started. A post is told, and
 * tsl_worker_step runs one job of that worker in the caller's thread; where a call would block until something changes,
 * block() is asked to change something, under no lock of ours.
 */
struct tsl_simulation {
    void (*posted)(struct tsl_worker *worker);
    void (*block)(void);
};

extern const struct tsl_simulation *tsl_simulation; /* NULL; set while nothing runs */
void tsl_worker_step(struct tsl_worker *worker);

/* How often a sleeping thread of ours was woken since the process began (tests: same-member chains wake none). */
extern atomic_ulong tsl_worker_wakes;

#endif
