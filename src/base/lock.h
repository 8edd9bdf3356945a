/*
 * Mutexes with Clang's thread-safety annotations: `clang -Wthread-safety` checks that what is guarded is touched only
 * under its lock. docs/dev/locks.md has the order of all locks.
 */
#ifndef TSL_BASE_LOCK_H
#define TSL_BASE_LOCK_H

#include "base/pause.h"

#include <pthread.h>

#if defined(__clang__)
#define TSL_ANNOTATE(x) __attribute__((x))
#else
#define TSL_ANNOTATE(x)
#endif

#define TSL_CAPABILITY    TSL_ANNOTATE(capability("mutex"))
#define TSL_GUARDED_BY(x) TSL_ANNOTATE(guarded_by(x))
#define TSL_REQUIRES(x)   TSL_ANNOTATE(requires_capability(x))
#define TSL_EXCLUDES(x)   TSL_ANNOTATE(locks_excluded(x))
#define TSL_ACQUIRES(x)   TSL_ANNOTATE(acquire_capability(x))
#define TSL_RELEASES(x)   TSL_ANNOTATE(release_capability(x))
#define TSL_UNCHECKED     TSL_ANNOTATE(no_thread_safety_analysis)

struct TSL_CAPABILITY tsl_lock {
    pthread_mutex_t mutex;
};

/* Locks are held for less than a sleep takes: a thread that finds one taken looks again for a while first. */
static inline void tsl_lock_init(struct tsl_lock *lock)
{
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
#ifdef __GLIBC__
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(&lock->mutex, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

static inline void tsl_lock_finish(struct tsl_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

static inline void tsl_lock_take(struct tsl_lock *lock) TSL_ACQUIRES(*lock) TSL_UNCHECKED
{
    pthread_mutex_lock(&lock->mutex);
}

#define TSL_LOCK_LOOKS 500 /* some 100 µs */

/* Looks out for the lock before it sleeps: for threads that take turns in short steps. */
static inline void tsl_lock_take_soon(struct tsl_lock *lock) TSL_ACQUIRES(*lock) TSL_UNCHECKED
{
    for (unsigned i = 0; i < TSL_LOCK_LOOKS; i++) {
        if (pthread_mutex_trylock(&lock->mutex) == 0)
            return;
        for (unsigned k = 0; k < 4; k++)
            tsl_pause();
    }
    pthread_mutex_lock(&lock->mutex);
}

static inline void tsl_lock_give(struct tsl_lock *lock) TSL_RELEASES(*lock) TSL_UNCHECKED
{
    pthread_mutex_unlock(&lock->mutex);
}

/* Releases the lock, waits for a signal of the condition, takes the lock again. */
static inline void tsl_lock_wait(struct tsl_lock *lock, pthread_cond_t *condition) TSL_REQUIRES(*lock) TSL_UNCHECKED
{
    pthread_cond_wait(condition, &lock->mutex);
}

#endif
