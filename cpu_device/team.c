/* The threads: one master, which runs one parallel region for as long as the member is open. */
#include "cpu_device/team/team.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/signals.h"
#include "cpu_device/internal.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Faults in kernels must reach the handler (fault.c); all other signals are for the application's threads. */
static void block_signals(sigset_t *before)
{
    sigset_t all;

    tsl_signals_of_others(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static bool is_ready(struct cpu_member *member)
{
    return atomic_load_explicit(&member->n_ready, memory_order_relaxed) > 0;
}

static bool has_gates(struct cpu_member *member)
{
    return atomic_load_explicit(&member->n_gates, memory_order_relaxed) > 0;
}

/* A launch that follows soon finds the thread awake; one of the threads also looks who opens gates. */
static bool look_for_work(struct cpu_member *member)
{
    uint64_t begin = tsl_clock_ns(), span = CPU_LOOK_NS;
    bool looks = false;

    while (!is_ready(member) && tsl_clock_ns() - begin < span) {
        if (!looks && has_gates(member)) {
            looks = !atomic_exchange(&member->looking, true);
            span = looks ? CPU_GATE_LOOK_NS : span;
        }
        if (looks)
            cpu_look_at_gates(member);
        for (unsigned i = 0; i < CPU_LOOKS && !is_ready(member); i++)
            cpu_pause();
    }
    if (looks)
        atomic_store(&member->looking, false);
    return is_ready(member);
}

/* Wakes for a look at the gates now and then. */
static void rest_locked(struct cpu_member *member)
{
    struct timespec until;

    member->resting = true;
    while (!is_ready(member) && !member->closing && has_gates(member)) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += CPU_GATE_REST_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&member->work, &member->lock, &until);
        pthread_mutex_unlock(&member->lock);
        cpu_look_at_gates(member);
        pthread_mutex_lock(&member->lock);
    }
    member->resting = false;
}

/* False: it is time to go. */
static bool sleep_for_work(struct cpu_member *member)
{
    bool closing;

    if (look_for_work(member))
        return true;
    pthread_mutex_lock(&member->lock);
    member->n_sleeping++;
    if (has_gates(member) && !member->resting)
        rest_locked(member);
    else if (!is_ready(member) && !member->closing)
        pthread_cond_wait(&member->work, &member->lock);
    member->n_sleeping--;
    closing = member->closing;
    pthread_mutex_unlock(&member->lock);
    return !closing;
}

static void work(void *arg)
{
    struct cpu_worker worker = {.member = arg};

    while (cpu_work(&worker, NULL) || sleep_for_work(worker.member)) {
    }
    cpu_worker_finish(&worker);
}

/* It lies where our own library does; tests, which are programs, lie in a folder below. */
static tsl_team_fn *find_team(void)
{
    static const char *const places[] = {"/", "/../", "/tesela/"};
    char path[4096];
    Dl_info here;

    if (!dladdr((void *)find_team, &here) || !here.dli_fname || !strrchr(here.dli_fname, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int folder = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
        void *library;

        snprintf(path, sizeof(path), "%.*s%s%s", folder, here.dli_fname, places[i], TSL_TEAM_LIBRARY);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library)
            return (tsl_team_fn *)dlsym(library, TSL_TEAM_SYMBOL);
    }
    return NULL;
}

static void *master(void *arg)
{
    struct cpu_member *member = arg;
    tsl_team_fn *team = find_team();

    if (!team) {
        tsl_log(TSL_ROOM_DRIVER, TSL_LOG_WARN, "%s is not beside the library: the CPU runs with one thread",
                TSL_TEAM_LIBRARY);
        work(member);
        return NULL;
    }
    if (team(member->n_threads, work, member) < member->n_threads)
        tsl_log(TSL_ROOM_DRIVER, TSL_LOG_WARN, "OpenMP gave the CPU fewer threads than %u", member->n_threads);
    return NULL;
}

cl_int cpu_team_start(struct cpu_member *member)
{
    pthread_attr_t attributes;
    sigset_t before;
    int error;

    if (pthread_attr_init(&attributes))
        return CL_OUT_OF_RESOURCES;
    /* The team inherits it. */
    if (member->place.bound)
        pthread_attr_setaffinity_np(&attributes, sizeof(member->place.processors), &member->place.processors);
    block_signals(&before);
    error = pthread_create(&member->master, &attributes, master, member);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

void cpu_team_stop(struct cpu_member *member)
{
    pthread_mutex_lock(&member->lock);
    member->closing = true;
    pthread_cond_broadcast(&member->work);
    pthread_mutex_unlock(&member->lock);
    pthread_join(member->master, NULL);
    /* The team ended before its master did, by means of OpenMP's that ThreadSanitizer doesn't see; this it does. */
    pthread_mutex_lock(&member->lock);
    pthread_mutex_unlock(&member->lock);
}
