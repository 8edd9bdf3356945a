#include "driver/bulk.h"

#include "base/numa.h"
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/queue.h>

/* On its caller's stack: the caller stays until no thread works on it. */
struct bulk {
    char *dst;
    const char *src;
    size_t size, taken;     /* bytes */
    unsigned n_working;     /* helpers */
    TAILQ_ENTRY(bulk) link; /* while something is left to take */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below, and every struct bulk */
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static TAILQ_HEAD(, bulk) bulks = TAILQ_HEAD_INITIALIZER(bulks);
static unsigned n_helpers;     /* that were started */
static atomic_int wanted = -1; /* helpers; -1: not known yet */

unsigned tsl_bulk_helpers(void)
{
    int n = atomic_load(&wanted);
    cpu_set_t set;

    if (n < 0) {
        n = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set) / 2 - 1;
        n = n < 0 ? 0 : n > (int)TSL_BULK_MAX - 1 ? (int)TSL_BULK_MAX - 1 : n;
        atomic_store(&wanted, n);
    }
    return (unsigned)n;
}

void tsl_bulk_set_helpers(unsigned n)
{
    atomic_store(&wanted, (int)n);
}

/* Copies chunks until none is left. Gives the lock meanwhile. */
static void work_locked(struct bulk *bulk)
{
    while (bulk->taken < bulk->size) {
        size_t at = bulk->taken, left = bulk->size - at, n = left < TSL_BULK_CHUNK ? left : TSL_BULK_CHUNK;

        bulk->taken += n;
        if (n == left)
            TAILQ_REMOVE(&bulks, bulk, link);
        pthread_mutex_unlock(&lock);
        memcpy(bulk->dst + at, bulk->src + at, n);
        pthread_mutex_lock(&lock);
    }
}

static void *help(void *arg)
{
    struct bulk *bulk;

    (void)arg;
    pthread_setname_np(pthread_self(), "tesela-copy");
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!(bulk = TAILQ_FIRST(&bulks)))
            pthread_cond_wait(&wake, &lock);
        bulk->n_working++;
        work_locked(bulk);
        if (--bulk->n_working == 0)
            pthread_cond_broadcast(&done);
    }
    return NULL;
}

static bool start_helper(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool started;

    pthread_attr_init(&attributes);
    tsl_numa_thread(&attributes, -1);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    started = tsl_thread_start(&thread, &attributes, help, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* Where a thread can't be had, those that are there do it. */
static void start_helpers_locked(unsigned n)
{
    while (n_helpers < n && start_helper())
        n_helpers++;
}

void tsl_bulk_copy(void *dst, const void *src, size_t size)
{
    struct bulk bulk = {.dst = dst, .src = src, .size = size};
    unsigned n = size < TSL_BULK_MIN ? 0 : tsl_bulk_helpers();

    if (n == 0) {
        memcpy(dst, src, size);
        return;
    }
    pthread_mutex_lock(&lock);
    start_helpers_locked(n);
    TAILQ_INSERT_TAIL(&bulks, &bulk, link);
    pthread_cond_broadcast(&wake);
    work_locked(&bulk);
    while (bulk.n_working > 0)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}
