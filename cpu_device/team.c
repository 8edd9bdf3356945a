/* The threads: one master, which runs one parallel region for as long as the member is open. */
#include "cpu_device/team/team.h"
#include "base/busy.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "cpu_device/queue.h"
#include "cpu_device/ready.h"
#include "cpu_device/team.h"
#include "cpu_device/work.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_gates(struct cpu_member *member)
{
    return atomic_load_explicit(&member->n_gates, memory_order_relaxed) > 0;
}

bool cpu_may_look(struct cpu_member *member, struct cpu_look *look)
{
    uint64_t now = tsl_clock_ns();

    if (!look->begin)
        look->begin = look->last = now;
    else if (atomic_load_explicit(&member->n_busy, memory_order_relaxed))
        look->last = now;
    return now - look->last < CPU_LOOK_NS && now - look->begin < CPU_LOOK_ALL_NS;
}

/* A launch that follows soon finds the thread awake; one of the threads also looks for the ends that open gates. */
static bool look_for_work(struct cpu_thread *thread)
{
    struct cpu_member *member = thread->worker.member;
    uint64_t begin = tsl_clock_ns(), span = 0;
    struct cpu_look look = {0};
    bool looks = false;

    while (!cpu_is_ready(member) &&
           ((cpu_may_look(member, &look) && !cpu_is_crowded(thread)) || tsl_clock_ns() - begin < span)) {
        if (!looks && has_gates(member)) {
            looks = !atomic_exchange(&member->looking, true);
            span = looks ? CPU_GATE_LOOK_NS : span;
        }
        if (looks)
            cpu_look_at_gates(member);
        for (unsigned i = 0; i < CPU_LOOKS && !cpu_is_ready(member); i++)
            cpu_pause();
    }
    if (looks)
        atomic_store(&member->looking, false);
    return cpu_is_ready(member);
}

/* ---- Sleeping ---------------------------------------------------------------------------------------------------- */

/* Wakes for a look at the gates now and then. */
static void rest_locked(struct cpu_thread *thread)
{
    struct cpu_member *member = thread->worker.member;
    struct timespec until;

    member->resting = thread;
    while (thread->asleep && !cpu_is_ready(member) && !member->closing && has_gates(member)) {
        until = tsl_clock_until(CPU_GATE_REST_NS);
        pthread_cond_timedwait(&thread->woken, &member->lock, &until);
        pthread_mutex_unlock(&member->lock);
        cpu_look_at_gates(member);
        pthread_mutex_lock(&member->lock);
    }
    member->resting = NULL;
}

static void stay_spared_locked(struct cpu_thread *thread)
{
    struct timespec until = tsl_clock_until(CPU_SPARE_NS);

    while (thread->asleep && !thread->worker.member->closing &&
           pthread_cond_timedwait(&thread->woken, &thread->worker.member->lock, &until) != ETIMEDOUT) {
    }
    thread->due = false;
}

static void wake_locked(struct cpu_thread *thread)
{
    thread->asleep = false;
    thread->worker.member->n_sleeping--;
}

static void sleep_locked(struct cpu_thread *thread)
{
    struct cpu_member *member = thread->worker.member;

    while (thread->asleep && !member->closing && (thread->due || !cpu_is_ready(member))) {
        if (thread->due)
            stay_spared_locked(thread);
        else
            pthread_cond_wait(&thread->woken, &member->lock);
    }
    if (thread->asleep)
        wake_locked(thread);
}

/* A waiting thread may have come to this processor, as the system likes to run a woken thread beside its waker. Then a
 * thread that sleeps elsewhere is the one that should be awake. */
static void step_aside(struct cpu_thread *thread)
{
    struct cpu_member *member = thread->worker.member;
    struct cpu_thread *other = NULL;

    if (!cpu_is_crowded(thread))
        return;
    pthread_mutex_lock(&member->lock);
    for (unsigned i = 0; i < member->n_begun && !other; i++)
        if (member->threads[i].asleep && member->resting != &member->threads[i] && !cpu_is_crowded(&member->threads[i]))
            other = &member->threads[i];
    if (other) {
        wake_locked(other);
        thread->asleep = thread->due = true;
        member->n_sleeping++;
        pthread_cond_signal(&other->woken);
        sleep_locked(thread);
    }
    pthread_mutex_unlock(&member->lock);
}

/* False: it is time to go. */
static bool sleep_for_work(struct cpu_thread *thread)
{
    struct cpu_member *member = thread->worker.member;
    bool closing;

    if (look_for_work(thread))
        return true;
    pthread_mutex_lock(&member->lock);
    thread->asleep = true;
    member->n_sleeping++;
    if (has_gates(member) && !member->resting)
        rest_locked(thread);
    sleep_locked(thread);
    closing = member->closing;
    pthread_mutex_unlock(&member->lock);
    return !closing;
}

/* ---- Waking ------------------------------------------------------------------------------------------------------ */

int cpu_here(const struct cpu_member *member)
{
    int processor = member->place.apart ? sched_getcpu() : CPU_NOWHERE;

    for (unsigned i = 0; processor != CPU_NOWHERE && i < member->n_threads; i++)
        if (member->threads[i].processor == processor)
            return (int)i;
    return CPU_NOWHERE;
}

struct cpu_thread *cpu_rouse_locked(struct cpu_member *member)
{
    for (unsigned i = 0; i < member->n_begun; i++)
        if (member->threads[i].asleep) {
            wake_locked(&member->threads[i]);
            return &member->threads[i];
        }
    return NULL;
}

/* Threads of the team that are awake and at no task: they look for one, or have just been called. */
static unsigned idle_of(const struct cpu_member *member)
{
    unsigned n_sleeping = atomic_load_explicit(&member->n_sleeping, memory_order_relaxed);
    unsigned n_awake = atomic_load_explicit(&member->n_begun, memory_order_relaxed) - n_sleeping;
    unsigned n_working = atomic_load(&member->n_working); /* not relaxed: see cpu_may_call */

    return n_awake > n_working ? n_awake - n_working : 0;
}

/* How many threads there is something for, beyond those that find it by themselves. */
static unsigned wanted_locked(const struct cpu_member *member)
{
    unsigned n_idle = idle_of(member), room;

    if (!cpu_is_ready(member)) /* taken meanwhile */
        return 0;
    room = cpu_room_locked(member, member->n_wakes + n_idle);
    return room > n_idle ? room - n_idle : 0;
}

/* A thread that sleeps, to look again soon; NULL if one will look anyhow. */
static struct cpu_thread *spare_locked(struct cpu_member *member)
{
    struct cpu_thread *found = NULL;

    if (member->n_working < member->n_begun - member->n_sleeping || !cpu_is_unhelped_locked(member))
        return NULL;
    for (unsigned i = 0; i < member->n_begun; i++) {
        if (member->threads[i].asleep && (member->threads[i].due || member->resting == &member->threads[i]))
            return NULL;
        if (member->threads[i].asleep)
            found = &member->threads[i];
    }
    if (found)
        found->due = true;
    return found;
}

/* Threads that should be awake: one for each processor on which no waiting thread helps, and no host task runs. */
static unsigned most_awake(const struct cpu_member *member)
{
    unsigned n_begun = atomic_load_explicit(&member->n_begun, memory_order_relaxed);
    unsigned n_others = atomic_load_explicit(&member->n_helping, memory_order_relaxed);

    if (member->place.apart)
        n_others += tsl_busy_threads();
    return n_begun > n_others + 1 ? n_begun - n_others : 1;
}

/* Two threads act in one order: one that counts itself in as working and then finds nothing ready, and one that makes
 * something ready and then finds that not all are working. One of them sees the other, and wakes a thread or knows of
 * one that looks. Where as many look as there are pieces left no thread is called: a call takes longer than many
 * pieces. */
bool cpu_may_call(const struct cpu_member *member)
{
    unsigned n_sleeping = atomic_load_explicit(&member->n_sleeping, memory_order_relaxed);
    unsigned n_awake = atomic_load_explicit(&member->n_begun, memory_order_relaxed) - n_sleeping;
    unsigned n_idle;

    if (!n_sleeping || !atomic_load(&member->n_ready))
        return false;
    n_idle = idle_of(member);
    return !n_idle || (n_awake < most_awake(member) && !cpu_is_served(member, n_idle));
}

struct cpu_wakes cpu_choose_locked(struct cpu_member *member, int at)
{
    unsigned most = most_awake(member);
    unsigned n = wanted_locked(member);
    struct cpu_wakes wakes = {.n = 0};

    for (unsigned k = 1; k <= member->n_begun && wakes.n < n; k++) {
        unsigned i = ((unsigned)(at + 1) + k - 1) % member->n_begun, n_awake = member->n_begun - member->n_sleeping;
        struct cpu_thread *thread = &member->threads[i];

        if (n_awake >= most)
            break;
        if (!thread->asleep || (n_awake > 0 && ((int)i == at || thread->n_helping)))
            continue;
        wake_locked(thread);
        wakes.threads[wakes.n++] = thread;
    }
    if (n > 0 && wakes.n == 0 && (wakes.threads[0] = spare_locked(member)))
        wakes.n = 1;
    return wakes;
}

void cpu_signal(const struct cpu_wakes *wakes)
{
    for (unsigned i = 0; i < wakes->n; i++)
        pthread_cond_signal(&wakes->threads[i]->woken);
}

void cpu_wake_from(struct cpu_member *member, int at)
{
    struct cpu_wakes wakes = {.n = 0};

    pthread_mutex_lock(&member->lock);
    if (member->n_sleeping)
        wakes = cpu_choose_locked(member, at);
    pthread_mutex_unlock(&member->lock);
    cpu_signal(&wakes);
}

/* The caller goes on with one of the ready tasks, or works for its own lane alone. */
void cpu_wake(struct cpu_member *member)
{
    if (cpu_is_ready(member))
        cpu_wake_from(member, cpu_here(member));
}

/* ---- The region -------------------------------------------------------------------------------------------------- */

static struct cpu_thread *begin(struct cpu_member *member)
{
    struct cpu_thread *thread;
    cpu_set_t processor;

    cpu_floats_plain(); /* for good: it began with the way of the thread that made it */
    pthread_mutex_lock(&member->lock);
    thread = &member->threads[member->n_begun];
    thread->self = pthread_self();
    CPU_ZERO(&processor);
    if (thread->processor != CPU_NOWHERE) {
        CPU_SET(thread->processor, &processor);
        pthread_setaffinity_np(thread->self, sizeof(processor), &processor); /* if not: it runs anywhere */
    }
    member->n_begun++;
    pthread_mutex_unlock(&member->lock);
    return thread;
}

static void work(void *arg)
{
    struct cpu_thread *thread = begin(arg);

    while (cpu_work(&thread->worker, NULL, NULL) || sleep_for_work(thread))
        step_aside(thread);
    pthread_mutex_lock(&thread->worker.member->lock); /* see cpu_team_stop */
    cpu_worker_finish(&thread->worker);
    pthread_mutex_unlock(&thread->worker.member->lock);
}

/* libtesela-team.so lies beside our own library; tests, which are programs, lie in a folder below. */
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
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_WARN, "%s is not beside the library: the CPU runs with one thread",
                TSL_TEAM_LIBRARY);
        work(member);
        return NULL;
    }
    if (team(member->n_threads, work, member) < member->n_threads)
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_WARN, "OpenMP gave the CPU fewer threads than %u", member->n_threads);
    return NULL;
}

/* As many wakes as let two rounds reach all threads: one wakes n, and then each of the n + 1 does. */
static unsigned wakes_for(unsigned n_threads)
{
    unsigned n = CPU_WAKES_LEAST;

    while (n < CPU_WAKES_MOST && (n + 1) * (n + 1) < n_threads)
        n++;
    return n;
}

static bool create_threads(struct cpu_member *member)
{
    pthread_condattr_t monotonic;
    int processor = CPU_NOWHERE;

    member->n_wakes = wakes_for(member->n_threads);
    member->threads = calloc(member->n_threads, sizeof(*member->threads));
    if (!member->threads)
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (unsigned i = 0; i < member->n_threads; i++) {
        struct cpu_thread *thread = &member->threads[i];

        while (member->place.apart && !CPU_ISSET(++processor, &member->place.processors)) {
        }
        thread->worker = (struct cpu_worker){.member = member, .at = processor == CPU_NOWHERE ? CPU_NOWHERE : (int)i};
        thread->processor = processor;
        pthread_cond_init(&thread->woken, &monotonic);
    }
    pthread_condattr_destroy(&monotonic);
    return true;
}

static void destroy_threads(struct cpu_member *member)
{
    for (unsigned i = 0; i < member->n_threads; i++)
        pthread_cond_destroy(&member->threads[i].woken);
    free(member->threads);
}

cl_int cpu_team_start(struct cpu_member *member)
{
    pthread_attr_t attributes;
    int error;

    if (pthread_attr_init(&attributes))
        return CL_OUT_OF_RESOURCES;
    if (!create_threads(member)) {
        pthread_attr_destroy(&attributes);
        return CL_OUT_OF_HOST_MEMORY;
    }
    /* The team inherits it. */
    if (member->place.bound)
        pthread_attr_setaffinity_np(&attributes, sizeof(member->place.processors), &member->place.processors);
    error = tsl_thread_start(&member->master, &attributes, master, member);
    pthread_attr_destroy(&attributes);
    if (error)
        destroy_threads(member);
    return error ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

void cpu_team_stop(struct cpu_member *member)
{
    pthread_mutex_lock(&member->lock);
    member->closing = true;
    for (unsigned i = 0; i < member->n_begun; i++)
        pthread_cond_signal(&member->threads[i].woken);
    pthread_mutex_unlock(&member->lock);
    pthread_join(member->master, NULL);
    /* The team ended before its master did, by means of OpenMP's that ThreadSanitizer doesn't see; this it does. */
    pthread_mutex_lock(&member->lock);
    pthread_mutex_unlock(&member->lock);
    destroy_threads(member);
}
