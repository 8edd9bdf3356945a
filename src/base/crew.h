/*
 * Threads of ours that run jobs side by side, where each job may block: host tasks. A crew has no thread at first. A
 * post starts one if none is free and there are fewer than tsl_crew_most(); further jobs wait, in order, for one that
 * is free. A thread that has had no job for TSL_CREW_IDLE_MS ends. The threads begin as those of worker.h, and none is
 * joined; exit doesn't wait for them. After fork() the child has none, and posting does nothing.
 */
#ifndef TSL_BASE_CREW_H
#define TSL_BASE_CREW_H

#include "base/worker.h"

#include <pthread.h>
#include <stdbool.h>

struct tsl_crew {
    const char *name; /* of the threads, at most 15 characters */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct tsl_job *first, **last; /* jobs that no thread has begun */
    unsigned n_waiting;            /* such jobs */
    unsigned n_threads, n_idle;
    unsigned n_dismissals; /* so often idle threads were told to end */
};

#define TSL_CREW_IDLE_MS 1000

#define TSL_CREW(thread_name)                                                                      \
    {                                                                                              \
        .name = (thread_name), .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER \
    }

/* So many threads a crew has at most: as many as the machine has processors, and two at least. */
unsigned tsl_crew_most(void);
/* Appends the job, which may free itself when it runs. False: the crew has no thread and none can be started (out of
 * resources, or a forked child). */
bool tsl_crew_post(struct tsl_crew *crew, struct tsl_job *job);
/* Do more jobs wait than there are threads without one? */
bool tsl_crew_is_behind(struct tsl_crew *crew);
/* Threads that have no job end now. */
void tsl_crew_dismiss(struct tsl_crew *crew);
/* How many threads there are now. */
unsigned tsl_crew_count(struct tsl_crew *crew);

#endif
