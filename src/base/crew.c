/* Threads that run jobs side by side. */
#include "base/crew.h"

#include "base/fork.h"
#include "base/numa.h"
#include "base/thread.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

unsigned tsl_crew_most(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 2 ? (unsigned)n : 2;
}

static struct timespec idle_until(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TSL_CREW_IDLE_MS / 1000;
    return until;
}

/* The next job; NULL: the thread is to end. The lock is held, and given while there is none. */
static struct tsl_job *take_job(struct tsl_crew *crew)
{
    const struct timespec until = idle_until();
    unsigned n_dismissals = crew->n_dismissals;
    int error = 0;
    crew->n_idle++;
    while (!crew->first && error != ETIMEDOUT && n_dismissals == crew->n_dismissals)
        error = pthread_cond_timedwait(&crew->wake, &crew->lock, &until);
    crew->n_idle--;
    struct tsl_job *job = crew->first;
    if (!job)
        return NULL;
    crew->first = job->next;
    if (!crew->first)
        crew->last = &crew->first;
    crew->n_waiting--;
    return job;
}

static void *crew_main(void *arg)
{
    struct tsl_crew *crew = arg;
    struct tsl_job *job;
    pthread_setname_np(pthread_self(), crew->name);
    pthread_mutex_lock(&crew->lock);
    while ((job = take_job(crew))) {
        pthread_mutex_unlock(&crew->lock);
        job->run(job);
        pthread_mutex_lock(&crew->lock);
    }
    crew->n_threads--;
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* The lock is held. */
static void start(struct tsl_crew *crew)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    tsl_numa_thread(&attributes, -1);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    crew->n_threads += tsl_thread_start(&thread, &attributes, crew_main, crew) == 0;
    pthread_attr_destroy(&attributes);
}

bool tsl_crew_post(struct tsl_crew *crew, struct tsl_job *job)
{
    if (tsl_forked())
        return false;
    tsl_worker_expect_exit();
    pthread_mutex_lock(&crew->lock);
    if (crew->n_waiting >= crew->n_idle && crew->n_threads < tsl_crew_most())
        start(crew);
    bool taken = crew->n_threads > 0;
    if (taken) {
        job->next = NULL;
        if (!crew->last)
            crew->last = &crew->first;
        *crew->last = job;
        crew->last = &job->next;
        crew->n_waiting++;
        pthread_cond_signal(&crew->wake);
    }
    pthread_mutex_unlock(&crew->lock);
    return taken;
}

bool tsl_crew_is_behind(struct tsl_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    bool behind = crew->n_waiting > crew->n_idle;
    pthread_mutex_unlock(&crew->lock);
    return behind;
}

void tsl_crew_dismiss(struct tsl_crew *crew)
{
    if (tsl_forked())
        return;
    pthread_mutex_lock(&crew->lock);
    crew->n_dismissals++;
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
}

unsigned tsl_crew_count(struct tsl_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    unsigned n = crew->n_threads;
    pthread_mutex_unlock(&crew->lock);
    return n;
}
