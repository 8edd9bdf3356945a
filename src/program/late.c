/* The code of weak members, which may come late. */
#include "program/late.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "program/build.h"
#include "program/job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WEAK          4                  /* times slower than another */
#define LEAST_WAIT_NS UINT64_C(20000000) /* from the cache it comes sooner */
#define WAIT_PART     4                  /* that part of what the others took is waited for weak ones */

/* So many of a process's at once, at most: others are waited for. */
#define MOST_ERRANDS 2

static atomic_uint n_errands;

/* The job of a weak member, by a thread of its own. It has references to the build and to the program, so that these
 * may go meanwhile as far as the application can see. */
struct tsl_errand {
    struct tsl_build_job job; /* a copy of the build's */
    unsigned at;              /* ... which is that one */
    pthread_mutex_t lock;     /* a leaf */
    pthread_cond_t changed;
    bool done, left; /* the second of the two frees it */
};

static bool may_be_late(const struct tsl_build *build)
{
    const struct tsl_settings *settings = tsl_settings();
    const struct tsl_context *context = build->program->context;

    for (cl_uint i = 0; i < context->n_devices; i++)
        if (context->devices[i]->parent) /* It may have weak members alone. */
            return false;
    bool learns = settings->policy == TSL_POLICY_AUTO || settings->policy == TSL_POLICY_MODEL;
    return build->make == &tsl_make_build && build->program->source && learns &&
           settings->reproducible != TSL_REPRODUCIBLE_YES && !tsl_split_always(settings->split);
}

/* Much slower than another; and compiled for by our compiler, a process of its own. Others' compilers are in this one,
 * and mustn't be at work when it ends. */
static bool is_weak(const struct tsl_build *build, const struct tsl_build_job *job)
{
    const struct tsl_member *member = tsl_build_member(job);
    double most = 0;

    for (unsigned i = 0; i < build->n_jobs; i++)
        most = fmax(most, tsl_build_member(&build->jobs[i])->caps.speed);
    return !member->driver->asks_access && member->caps.speed * WEAK < most;
}

static void free_errand(struct tsl_errand *errand)
{
    struct tsl_build *build = errand->job.build;

    tsl_program_part_clear(&errand->job.part, tsl_build_member(&errand->job));
    tsl_object_unref(&build->program->object);
    tsl_job_drop_build(build);
    pthread_cond_destroy(&errand->changed);
    pthread_mutex_destroy(&errand->lock);
    free(errand);
    atomic_fetch_sub(&n_errands, 1);
}

static void *run_errand(void *arg)
{
    struct tsl_errand *errand = arg;
    bool left;

    pthread_setname_np(pthread_self(), "tesela-late");
    tsl_job_run(&errand->job);
    pthread_mutex_lock(&errand->lock);
    errand->done = true;
    left = errand->left;
    pthread_cond_signal(&errand->changed);
    pthread_mutex_unlock(&errand->lock);
    if (left)
        free_errand(errand);
    return NULL;
}

static void init_errand(struct tsl_errand *errand, struct tsl_build *build, unsigned i)
{
    pthread_condattr_t attr;

    errand->job = build->jobs[i];
    errand->at = i;
    pthread_mutex_init(&errand->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&errand->changed, &attr);
    pthread_condattr_destroy(&attr);
    atomic_fetch_add(&build->n_refs, 1);
    tsl_object_ref(&build->program->object);
}

/* NULL: it isn't sent. */
static struct tsl_errand *send(struct tsl_build *build, unsigned i)
{
    pthread_t thread;
    struct tsl_errand *errand = atomic_fetch_add(&n_errands, 1) < MOST_ERRANDS ? calloc(1, sizeof(*errand)) : NULL;

    if (!errand) {
        atomic_fetch_sub(&n_errands, 1);
        return NULL;
    }
    init_errand(errand, build, i);
    if (tsl_job_start_thread(&thread, true, run_errand, errand))
        return errand;
    free_errand(errand);
    return NULL;
}

struct tsl_errand *tsl_errand_send(struct tsl_build *build, unsigned i)
{
    return may_be_late(build) && is_weak(build, &build->jobs[i]) ? send(build, i) : NULL;
}

struct timespec tsl_errand_patience(uint64_t ran_ns)
{
    uint64_t wait_ns = ran_ns / WAIT_PART > LEAST_WAIT_NS ? ran_ns / WAIT_PART : LEAST_WAIT_NS;

    return tsl_clock_until((long)wait_ns);
}

/* until NULL: however long it takes. */
static bool is_done_by(struct tsl_errand *errand, const struct timespec *until)
{
    int error = 0;
    bool done;

    pthread_mutex_lock(&errand->lock);
    while (!errand->done && error != ETIMEDOUT)
        error = until ? pthread_cond_timedwait(&errand->changed, &errand->lock, until)
                      : pthread_cond_wait(&errand->changed, &errand->lock);
    done = errand->done;
    errand->left = !done;
    pthread_mutex_unlock(&errand->lock);
    return done;
}

void tsl_errand_await(struct tsl_errand *errand, const struct timespec *until)
{
    struct tsl_build *build = errand->job.build;
    struct tsl_build_job *job = &build->jobs[errand->at];
    const struct tsl_path *path = tsl_build_member(job)->path;

    if (is_done_by(errand, until)) {
        job->part = errand->job.part;
        job->of_windows = errand->job.of_windows;
        errand->job.part = (struct tsl_program_part){.error = CL_SUCCESS};
        free_errand(errand);
        return;
    }
    job->part.late = true;
    job->part.error = build->make->failure;
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO,
            "the code for %s (%s) takes longer than for faster members: this time the program does without it",
            path->id, path->device_name);
}
