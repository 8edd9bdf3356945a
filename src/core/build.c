/*
 * Building a program on all members at once.
 *
 * A build works on parts of its own; the program's are exchanged at the end, under its lock. From begin to end the
 * program's status is CL_BUILD_IN_PROGRESS, which keeps every other build and reader away, so nobody sees half of it.
 */
#include "core/build.h"
#include "core/dialect.h"
#include "core/log.h"
#include "graph/graph.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct build;

/* One member's share of a build; touched by its thread alone until that has ended. */
struct job {
    struct build *build;
    unsigned index; /* of the member in the context */
    struct tsl_program_part part;
    pthread_t thread;
    bool threaded;
};

struct build {
    struct tsl_program *program; /* internal reference */
    char *text;                  /* the options as given; becomes the program's */
    struct tsl_build_options options;
    tsl_program_fn *fn;
    void *arg;
    unsigned n_jobs;
    struct job jobs[];
};

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Starts a thread that no signal of the application reaches. */
static bool start_thread(pthread_t *thread, bool detached, void *(*run)(void *), void *arg)
{
    sigset_t all, old;
    pthread_attr_t attr;
    bool started;

    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setdetachstate(&attr, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    started = pthread_create(thread, &attr, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return started;
}

/* ---- One member -------------------------------------------------------------------------------------------------- */

static struct tsl_member *member_of(const struct job *job)
{
    return job->build->program->context->members[job->index];
}

static void build_binary(struct job *job)
{
    struct tsl_member *member = member_of(job);
    const struct tsl_program_part *loaded = &job->build->program->parts[job->index];
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_BINARY, .data = loaded->binary, .size = loaded->binary_size, .options = job->build->text};

    if (loaded->binary)
        job->part.error = member->driver->build(member, &input, &job->part.program, &job->part.log);
    else
        job->part.error = CL_INVALID_BINARY;
}

static void build_source(struct job *job)
{
    const struct tsl_build_options *options = &job->build->options;
    const struct tsl_program *program = job->build->program;
    struct tsl_device *device = program->devices[0];
    struct tsl_member *member = member_of(job);
    struct tsl_dialect dialect;
    char *source, *text;
    size_t size = program->source_size;

    tsl_dialect_choose(device, member->path, options, &dialect);
    source = tsl_dialect_source(device, member->path, options, &dialect, program->source, &size);
    text = tsl_build_options_with_std(options, dialect.std);
    job->part.error = CL_OUT_OF_HOST_MEMORY;
    if (source && text) {
        struct tsl_program_input input = {.kind = TSL_PROGRAM_SOURCE, .data = source, .size = size, .options = text};

        job->part.error = member->driver->build(member, &input, &job->part.program, &job->part.log);
        job->part.non_uniform = dialect.non_uniform;
    }
    free(source);
    free(text);
}

static void *run_job(void *arg)
{
    struct job *job = arg;
    const struct tsl_path *path = member_of(job)->path;

    if (job->build->program->source)
        build_source(job);
    else
        build_binary(job);
    if (job->part.program && path->driver->program_kernels(job->part.program, &job->part.kernel_names) != CL_SUCCESS)
        job->part.kernel_names = NULL;
    tsl_log(TSL_ROOM_CORE, TSL_LOG_INFO, "program built for %s (%s): %d", path->id, path->device_name, job->part.error);
    return NULL;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* The last job runs in the calling thread, as do those for which there is no thread. */
static void run_jobs(struct build *build)
{
    for (unsigned i = 0; i + 1 < build->n_jobs; i++) {
        struct job *job = &build->jobs[i];

        job->threaded = start_thread(&job->thread, false, run_job, job);
    }
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (!build->jobs[i].threaded)
            run_job(&build->jobs[i]);
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (build->jobs[i].threaded)
            pthread_join(build->jobs[i].thread, NULL);
}

/* The build's result: success if a member is left, else the error that says most. A compiler's "no" says more than a
 * member that could not even try; bad options are the answer only if nobody understood them. */
static cl_int result_of(const struct build *build)
{
    cl_int result = CL_SUCCESS;

    for (unsigned i = 0; i < build->n_jobs; i++) {
        cl_int error = build->jobs[i].part.error;

        if (error == CL_SUCCESS)
            return CL_SUCCESS;
        if (result == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE)
            result = error;
    }
    return result;
}

/* Adds the names of a list that *names lacks. Without memory the rest is left out. */
static void add_names(char **names, const char *more)
{
    while (more && *more) {
        int length = (int)strcspn(more, ";");
        char *name = strndup(more, (size_t)length), *joined = NULL;

        if (!name)
            return;
        if (!tsl_program_names_have(*names, name) &&
            asprintf(&joined, "%s%s%s", *names ? *names : "", *names ? ";" : "", name) >= 0) {
            free(*names);
            *names = joined;
        }
        free(name);
        more += length + (more[length] == ';');
    }
}

/* The kernels that some member has, in the order of the first that has them. NULL without memory. */
static char *kernel_names(const struct build *build)
{
    char *names = NULL;

    for (unsigned i = 0; i < build->n_jobs; i++)
        add_names(&names, build->jobs[i].part.kernel_names);
    return names ? names : strdup("");
}

/* Puts the results in place of the old ones, which come back in the jobs. */
static void exchange_locked(struct tsl_program *program, struct build *build, char **names, cl_int result)
    TSL_REQUIRES(program->lock)
{
    char *old = program->options;

    for (unsigned i = 0; i < build->n_jobs; i++) {
        struct tsl_program_part *mine = &build->jobs[i].part, *part = &program->parts[build->jobs[i].index], swap;

        mine->binary = part->binary;
        mine->binary_size = part->binary_size;
        swap = *part;
        *part = *mine;
        *mine = swap;
    }
    program->options = build->text;
    build->text = old;
    old = program->kernel_names;
    program->kernel_names = *names;
    *names = old;
    tsl_program_forget_binaries_locked(program);
    program->status = result == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    program->binary_type = result == CL_SUCCESS ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
}

static void destroy_build(struct build *build)
{
    for (unsigned i = 0; i < build->n_jobs; i++)
        tsl_program_part_clear(&build->jobs[i].part, member_of(&build->jobs[i]));
    tsl_object_unref(&build->program->object);
    free(build->text);
    free(build);
}

static cl_int run_build(struct build *build)
{
    struct tsl_program *program = build->program;
    tsl_program_fn *fn = build->fn;
    void *arg = build->arg;
    char *names;
    cl_int result;

    run_jobs(build);
    result = result_of(build);
    names = kernel_names(build);
    tsl_lock_take(&program->lock);
    exchange_locked(program, build, &names, result);
    tsl_lock_give(&program->lock);
    free(names);
    /* The application may release the program in its callback, so ours comes after. */
    if (fn)
        fn((cl_program)program, arg);
    destroy_build(build);
    return result;
}

static void *run_detached(void *arg)
{
    run_build(arg);
    return NULL;
}

/* Claims the program for this build. */
static cl_int begin_build(struct tsl_program *program)
{
    cl_int error = CL_SUCCESS;

    tsl_lock_take(&program->lock);
    if (program->n_kernels || program->status == CL_BUILD_IN_PROGRESS) {
        error = CL_INVALID_OPERATION;
    } else {
        program->status = CL_BUILD_IN_PROGRESS;
        while (program->n_readers)
            tsl_lock_wait(&program->lock, &program->no_readers);
    }
    tsl_lock_give(&program->lock);
    return error;
}

static struct build *create_build(struct tsl_program *program, unsigned members, const char *options)
{
    unsigned n = (unsigned)__builtin_popcount(members);
    struct build *build = calloc(1, sizeof(*build) + n * sizeof(build->jobs[0]));

    if (!build)
        return NULL;
    build->text = strdup(options);
    if (!build->text) {
        free(build);
        return NULL;
    }
    build->program = program;
    tsl_object_ref(&program->object);
    for (unsigned i = 0; members >> i; i++)
        if (members >> i & 1)
            build->jobs[build->n_jobs++] = (struct job){.build = build, .index = i};
    return build;
}

cl_int tsl_program_build(struct tsl_program *program, unsigned members, const char *options, tsl_program_fn *fn,
                         void *arg)
{
    struct build *build;
    pthread_t thread;
    cl_int error;

    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    build = create_build(program, members, options ? options : "");
    if (!build)
        return CL_OUT_OF_HOST_MEMORY;
    build->fn = fn;
    build->arg = arg;
    error = tsl_build_options_read(build->text, &build->options);
    if (error == CL_SUCCESS)
        error = begin_build(program);
    if (error != CL_SUCCESS) {
        destroy_build(build);
        return error;
    }
    if (fn && start_thread(&thread, true, run_detached, build))
        return CL_SUCCESS;
    return run_build(build);
}
