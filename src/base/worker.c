/* Threads of ours: a list of jobs and one thread that runs them in order. */
#include "base/worker.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/last_thread.h"
#include "base/numa.h"
#include "base/pause.h"
#include "base/thread.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

atomic_ulong tsl_worker_wakes;
const struct tsl_simulation *tsl_simulation;
_Atomic(const struct tsl_exit_hook *) tsl_exit_hook;

/* Looks out for a job without sleep. The lock is given meanwhile. */
static void look_out(struct tsl_worker *worker)
{
    unsigned long seen = atomic_load(&worker->n_posted);
    uint64_t end_ns = tsl_clock_ns() + worker->looks_us * UINT64_C(1000);
    worker->looks = true;
    pthread_mutex_unlock(&worker->lock);
    while (atomic_load_explicit(&worker->n_posted, memory_order_relaxed) == seen && tsl_clock_ns() < end_ns)
        tsl_pause_long();
    pthread_mutex_lock(&worker->lock);
    worker->looks = false;
}

static struct tsl_job *take_job(struct tsl_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->busy = false;
    if (!worker->first)
        pthread_cond_broadcast(&worker->idle);
    while (!worker->first) {
        if (worker->looks_us)
            look_out(worker);
        if (worker->first)
            break;
        worker->asleep = true;
        pthread_cond_wait(&worker->wake, &worker->lock);
    }
    worker->asleep = false;
    worker->busy = true;
    struct tsl_job *job = worker->first;
    worker->first = job->next;
    if (!worker->first)
        worker->last = &worker->first;
    job->posted = false; /* From here on a post queues the job anew: this run may miss what it announces. */
    pthread_mutex_unlock(&worker->lock);
    return job;
}

void tsl_worker_step(struct tsl_worker *worker)
{
    struct tsl_job *job = take_job(worker);
    job->run(job);
}

static void *worker_main(void *arg)
{
    struct tsl_worker *worker = arg;
    pthread_setname_np(pthread_self(), worker->name);
    for (;;)
        tsl_worker_step(worker);
    return NULL;
}

/* ---- The process's end ------------------------------------------------------------------------------------------- */

static _Atomic(struct tsl_worker *) drained; /* newest first: the workers for which exit waits */
static atomic_uint n_draining;               /* threads that wait for them */

bool tsl_worker_is_ending(void)
{
    return atomic_load(&n_draining);
}

/* Processor time of the worker's thread, in ms; 0: unknown. */
static long used_ms(const struct tsl_worker *worker)
{
    struct timespec used;
    clockid_t clock;
    if (pthread_getcpuclockid(worker->thread, &clock) || clock_gettime(clock, &used))
        return 0;
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

struct patience {
    struct timespec until;
    unsigned seconds; /* left to add */
};

/* On a busy machine the thread's own processor time counts: exit waits a second more while the thread makes progress,
 * until it has had what an idle machine would have given it. */
static bool is_patient(struct patience *patience, const struct tsl_worker *worker, long began_ms, long *before_ms)
{
    long now_ms = used_ms(worker), gain_ms = now_ms - *before_ms;
    *before_ms = now_ms;
    if (gain_ms <= 0 || now_ms - began_ms >= TSL_WORKER_PATIENCE_MS || !patience->seconds)
        return false;
    patience->seconds--;
    patience->until.tv_sec++;
    return true;
}

/* Waits until the worker has nothing to do, and adds the number of jobs that it was ever given to *n_posted. False:
 * that took too long. The code that exit interrupted may hold the worker's lock. */
static bool drain(struct tsl_worker *worker, struct patience *patience, unsigned long *n_posted)
{
    if (pthread_equal(worker->thread, pthread_self()))
        return true;
    if (pthread_mutex_timedlock(&worker->lock, &patience->until))
        return false;
    long began_ms = used_ms(worker), before_ms = began_ms;
    bool waits = true;
    while (waits && (worker->busy || worker->first))
        waits = !pthread_cond_timedwait(&worker->idle, &worker->lock, &patience->until) ||
                is_patient(patience, worker, began_ms, &before_ms);
    *n_posted += worker->n_posted;
    pthread_mutex_unlock(&worker->lock);
    return waits;
}

/* A worker may give a job to another one that was already found idle. So all are visited again until none was given a
 * job since the last round: then all were idle at the same time. */
unsigned long tsl_worker_drain(void)
{
    static atomic_bool given_up;
    struct patience patience = {.seconds = TSL_WORKER_PATIENCE_MORE};
    unsigned long n_posted = 0, before;
    bool waits = true;
    if (tsl_forked() || atomic_load(&given_up))
        return 0;
    atomic_fetch_add(&n_draining, 1);
    clock_gettime(CLOCK_REALTIME, &patience.until);
    patience.until.tv_sec += TSL_WORKER_PATIENCE_MS / 1000;
    do {
        before = n_posted;
        n_posted = 0;
        for (struct tsl_worker *worker = atomic_load(&drained); worker && waits; worker = worker->older)
            waits = drain(worker, &patience, &n_posted);
    } while (waits && n_posted != before);
    atomic_store(&given_up, !waits);
    atomic_fetch_sub(&n_draining, 1);
    return waits ? n_posted : 0;
}

/* Workers may give vendors more meanwhile: so again, until they had nothing to do. */
static void at_end(void *unused)
{
    const struct tsl_exit_hook *hook = atomic_load(&tsl_exit_hook);
    unsigned long before, now = tsl_worker_drain();
    (void)unused;
    do {
        before = now;
        if (hook)
            hook->wait();
        now = tsl_worker_drain();
    } while (now > before + 1);
    if (hook)
        hook->over();
}

/* What C++ calls for thread_local objects: glibc's exit() destroys those of its thread before it calls any handler. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* A compiler makes objects as it first needs them, and their destructors are called before handlers that were set
 * earlier, as the workers' was. Only of the main thread it's sure that it ends when the process does. */
void tsl_worker_expect_exit(void)
{
    static thread_local bool known;
    if (known)
        return;
    known = true;
    tsl_last_thread_expect();
    if (__cxa_thread_atexit_impl && syscall(SYS_gettid) == getpid())
        __cxa_thread_atexit_impl(at_end, NULL, &__dso_handle);
}

static void at_exit(void)
{
    tsl_worker_drain();
}

static void drain_at_exit(void)
{
    atexit(at_exit); /* Without memory for the handler exit just doesn't wait. */
}

static void note_started(struct tsl_worker *worker)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!worker->drains)
        return;
    pthread_once(&once, drain_at_exit);
    worker->older = atomic_load(&drained);
    while (!atomic_compare_exchange_weak(&drained, &worker->older, worker))
        ;
}

/* The application's signals are for its own threads. */
static bool start_locked(struct tsl_worker *worker)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    tsl_numa_thread(&attributes, -1);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    worker->started = tsl_thread_start(&worker->thread, &attributes, worker_main, worker) == 0;
    pthread_attr_destroy(&attributes);
    if (worker->started)
        note_started(worker);
    return worker->started;
}

bool tsl_worker_is_idle(struct tsl_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool idle = !worker->busy && !worker->first;
    pthread_mutex_unlock(&worker->lock);
    return idle;
}

void tsl_worker_wait(struct tsl_worker *worker)
{
    if (tsl_forked())
        return;
    pthread_mutex_lock(&worker->lock);
    while (worker->busy || worker->first)
        pthread_cond_wait(&worker->idle, &worker->lock);
    pthread_mutex_unlock(&worker->lock);
}

/* One wake for one sleep, however many posts come meanwhile. True: the caller signals when it has given the lock, which
 * the thread takes first when it wakes. */
static bool wake_locked(struct tsl_worker *worker)
{
    if (!worker->asleep)
        return false;
    worker->asleep = false;
    atomic_fetch_add_explicit(&tsl_worker_wakes, 1, memory_order_relaxed);
    return true;
}

void tsl_worker_wake(struct tsl_worker *worker)
{
    if (tsl_forked() || tsl_simulation)
        return;
    pthread_mutex_lock(&worker->lock);
    bool wakes = (worker->started || start_locked(worker)) && wake_locked(worker);
    pthread_mutex_unlock(&worker->lock);
    if (wakes)
        pthread_cond_signal(&worker->wake);
}

bool tsl_worker_is_awake(struct tsl_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool awake = tsl_simulation || worker->looks || worker->busy;
    pthread_mutex_unlock(&worker->lock);
    return awake;
}

bool tsl_worker_post(struct tsl_worker *worker, struct tsl_job *job)
{
    if (tsl_forked())
        return false;
    tsl_worker_expect_exit();
    pthread_mutex_lock(&worker->lock);
    if (!worker->last)
        worker->last = &worker->first;
    if (!worker->started && !tsl_simulation && !start_locked(worker)) {
        pthread_mutex_unlock(&worker->lock);
        return false;
    }
    bool new = !job->posted;
    if (new) {
        job->posted = true;
        job->next = NULL;
        worker->n_posted++;
        *worker->last = job;
        worker->last = &job->next;
    }
    bool wakes = wake_locked(worker);
    pthread_mutex_unlock(&worker->lock);
    if (wakes)
        pthread_cond_signal(&worker->wake);
    if (new &&tsl_simulation)
        tsl_simulation->posted(worker);
    return true;
}
