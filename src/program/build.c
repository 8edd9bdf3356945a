/*
 * Building a program on all members at once.
 *
 * A build works on parts of its own, which replace the program's at the end, under its lock. Meanwhile the program's
 * status is CL_BUILD_IN_PROGRESS, which keeps other builds and readers away, so that no thread sees half a build.
 */
#include "program/build.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/worker.h"
#include "graph/life.h"
#include "program/idle.h"
#include "program/job.h"
#include "program/late.h"
#include "program/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The members ------------------------------------------------------------------------------------------------- */

/* The last job runs in the calling thread, as do the jobs for which no thread can be started. */
static void run_others(struct tsl_build *build, struct tsl_errand *const *errands)
{
    unsigned last = 0;

    for (unsigned i = 0; i < build->n_jobs; i++)
        last = errands[i] ? last : i;
    for (unsigned i = 0; i < last; i++) {
        struct tsl_build_job *job = &build->jobs[i];

        job->threaded = !errands[i] && tsl_job_start_thread(&job->thread, false, tsl_job_run, job);
    }
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (!build->jobs[i].threaded && !errands[i])
            tsl_job_run(&build->jobs[i]);
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (build->jobs[i].threaded)
            pthread_join(build->jobs[i].thread, NULL);
}

static bool has_succeeded(const struct tsl_build *build, struct tsl_errand *const *errands)
{
    bool any = false;

    for (unsigned i = 0; i < build->n_jobs; i++)
        any |= !errands[i] && build->jobs[i].part.error == CL_SUCCESS;
    return any;
}

static void run_jobs(struct tsl_build *build)
{
    struct tsl_errand *errands[TSL_MAX_MEMBERS] = {NULL};
    uint64_t begin_ns = tsl_clock_ns();

    for (unsigned i = 0; i < build->n_jobs; i++)
        errands[i] = tsl_errand_send(build, i);
    run_others(build, errands);
    struct timespec until = tsl_errand_patience(tsl_clock_ns() - begin_ns);
    bool any = has_succeeded(build, errands); /* Else the weak ones are all that the program has. */
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (errands[i])
            tsl_errand_await(errands[i], any ? &until : NULL);
}

/* Is it worth knowing what kernels only read? Not with one member: buffers have no other place, unless launches are cut
 * even there. With several it is, even if all work on the host's copy: launches that only read one buffer run at once.
 */
static bool wants_access(const struct tsl_build *build)
{
    bool wanted = false;

    for (unsigned i = 0; i < build->n_jobs; i++)
        wanted |= tsl_job_asks_access(tsl_build_member(&build->jobs[i]));
    wanted &= build->program->context->n_members > 1 || tsl_split_always(tsl_settings()->split);
    return wanted && build->make == &tsl_make_build && build->asked.text;
}

/* One text for windows is made for all members: only some of the names in their preludes differ. */
static void ask_access(struct tsl_build *build)
{
    char *dialect = NULL;

    for (unsigned i = 0; i < build->n_jobs && !dialect && tsl_settings()->split != TSL_SPLIT_OFF; i++)
        if (tsl_job_asks_access(tsl_build_member(&build->jobs[i])) &&
            tsl_build_member(&build->jobs[i])->driver->windows_by)
            dialect = tsl_build_dialect(&build->jobs[i]);
    build->access = tsl_text_access_ask(tsl_build_source(build), build->asked.text, dialect);
    free(dialect);
}

/* Gives a reference to the parts of members that want it. */
static void give_access(struct tsl_build *build)
{
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (tsl_job_asks_access(tsl_build_member(&build->jobs[i])))
            build->jobs[i].part.access = tsl_text_access_ref(build->access);
}

/* How much an error says. A compiler's error says more than that of a member that could not even try; bad options are
 * the answer only if no member understood them. */
static int weight_of(const struct tsl_make *make, cl_int error)
{
    if (error == CL_SUCCESS)
        return 0;
    return error == make->failure ? 3 : error == make->bad_options ? 2 : 1;
}

/* The build's result for one device: success if one of its members succeeded, else the first of the errors that say
 * most. */
static cl_int result_for(const struct tsl_build *build, const struct tsl_device *device)
{
    tsl_members members = tsl_context_members_of(build->program->context, device);
    cl_int result = CL_SUCCESS;

    for (unsigned i = 0; i < build->n_jobs; i++) {
        cl_int error = build->jobs[i].part.error;

        if (!tsl_members_has(members, build->jobs[i].index))
            continue;
        if (error == CL_SUCCESS)
            return CL_SUCCESS;
        if (weight_of(build->make, error) > weight_of(build->make, result))
            result = error;
    }
    return result;
}

/* Every target device must have succeeded. */
static cl_int result_of(const struct tsl_build *build)
{
    cl_int result = CL_SUCCESS;

    for (cl_uint i = 0; i < build->n_devices && result == CL_SUCCESS; i++)
        result = result_for(build, build->devices[i]);
    return result;
}

/* Of a program that was built, the first line of what the compiler of each other member said. */
static void tell_left_out(const struct tsl_build *build)
{
    for (unsigned i = 0; i < build->n_jobs; i++) {
        const struct tsl_program_part *part = &build->jobs[i].part;
        const struct tsl_path *path = tsl_build_member(&build->jobs[i])->path;
        const char *log = part->log ? part->log + strspn(part->log, " \t\r\n") : "";

        if (part->error && !part->late)
            tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_WARN,
                    "a program that others run could not be %s for %s (%s): error %d%s%.*s", build->make->verb,
                    path->id, path->device_name, part->error, *log ? ", " : "", (int)strcspn(log, "\n"), log);
    }
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

/* The kernels that some member has, in the order of the first member that has them. NULL without memory. */
static char *kernel_names_locked(const struct tsl_program *program) TSL_REQUIRES(program->lock)
{
    char *names = NULL;

    for (unsigned i = 0; i < program->context->n_members; i++)
        add_names(&names, program->parts[i].kernel_names);
    return names ? names : strdup("");
}

/* Fills what queries tell of the member's build. */
static void conclude(struct tsl_build_job *job)
{
    const struct tsl_build *build = job->build;
    bool ok = job->part.error == CL_SUCCESS;

    job->part.status = ok ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    job->part.type = ok ? build->type : CL_PROGRAM_BINARY_TYPE_NONE;
    job->part.options = strdup(build->text);
}

/* Puts the results in place of the program's parts, which come back in the jobs. */
static void exchange_locked(struct tsl_program *program, struct tsl_build *build) TSL_REQUIRES(program->lock)
{
    for (unsigned i = 0; i < build->n_jobs; i++) {
        struct tsl_program_part *mine = &build->jobs[i].part, *part = &program->parts[build->jobs[i].index], swap;

        mine->binary = part->binary;
        mine->binary_size = part->binary_size;
        mine->of_text = part->of_text;
        swap = *part;
        *part = *mine;
        *mine = swap;
    }
    free(program->kernel_names);
    program->kernel_names = kernel_names_locked(program);
    tsl_program_forget_binaries_locked(program);
    program->building = TSL_MEMBERS_NONE;
}

static void free_inputs(struct tsl_build *build)
{
    for (cl_uint i = 0; i < build->n_inputs; i++) {
        if (!build->names)
            tsl_program_end_read(build->inputs[i]);
        else
            free(build->names[i]);
        tsl_object_unref(&build->inputs[i]->object);
    }
    free(build->names);
    free(build->inputs);
}

void tsl_build_destroy(struct tsl_build *build)
{
    for (unsigned i = 0; i < build->n_jobs; i++)
        tsl_program_part_clear(&build->jobs[i].part, tsl_build_member(&build->jobs[i]));
    free_inputs(build);
    tsl_object_hide(&build->program->object);
    tsl_job_drop_build(build);
}

static cl_int run_build(struct tsl_build *build)
{
    struct tsl_program *program = build->program;
    tsl_program_fn *fn = build->fn;
    void *arg = build->arg;
    cl_int result;

    if (wants_access(build))
        ask_access(build);
    run_jobs(build);
    tsl_variables_settle(build);
    result = result_of(build);
    if (result == CL_SUCCESS)
        tell_left_out(build);
    if (build->access && result == CL_SUCCESS && tsl_text_access_wait(build->access))
        give_access(build);
    for (unsigned i = 0; i < build->n_jobs; i++)
        conclude(&build->jobs[i]);
    tsl_lock_take(&program->lock);
    exchange_locked(program, build);
    tsl_lock_give(&program->lock);
    /* The application may release the program in its callback: our reference goes afterwards. */
    if (fn)
        fn((cl_program)program, arg);
    tsl_build_destroy(build);
    return result;
}

static void *run_detached(void *arg)
{
    pthread_setname_np(pthread_self(), TSL_BUILD_THREAD);
    run_build(arg);
    return NULL;
}

/* The application may have released its kernels and waited for their launches: OpenCL then sees no kernel, but another
 * thread of ours may still be about to destroy them. */
static void let_kernels_go(struct tsl_program *program)
{
    bool attached;

    tsl_lock_take(&program->lock);
    attached = program->n_kernels;
    tsl_lock_give(&program->lock);
    if (attached)
        tsl_graph_clean_up(program->context);
}

/* Claims the program for this build. */
static cl_int begin_build(const struct tsl_build *build)
{
    struct tsl_program *program = build->program;
    struct tsl_idle *idle = NULL;
    cl_int error = CL_SUCCESS;

    let_kernels_go(program);
    tsl_lock_take(&program->lock);
    if (program->n_kernels || !tsl_members_is_empty(program->building)) {
        error = CL_INVALID_OPERATION;
    } else {
        for (unsigned i = 0; i < build->n_jobs; i++)
            tsl_members_add(&program->building, build->jobs[i].index);
        while (program->n_readers)
            tsl_lock_wait(&program->lock, &program->no_readers);
        idle = tsl_idle_take_all(program);
    }
    tsl_lock_give(&program->lock);
    tsl_idle_free(idle);
    return error;
}

/* No text, or options that can't be read: asked.text is NULL. */
static void read_asked(struct tsl_build *build)
{
    const struct tsl_program *program = build->program;

    if (program->source)
        build->asked = build->options;
    else if (program->kept && tsl_build_options_read(program->kept_options, &build->asked) != CL_SUCCESS)
        build->asked.text = NULL;
}

cl_int tsl_build_run(struct tsl_build *build, bool *began)
{
    pthread_t thread;
    cl_int error = tsl_forked() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;

    if (error == CL_SUCCESS && tsl_build_options_read(build->text, &build->options) != CL_SUCCESS)
        error = build->make->bad_options;
    if (error == CL_SUCCESS)
        read_asked(build);
    if (error == CL_SUCCESS)
        error = begin_build(build);
    if (began)
        *began = error == CL_SUCCESS;
    if (error != CL_SUCCESS) {
        tsl_build_destroy(build);
        return error;
    }
    if (build->fn && tsl_job_start_thread(&thread, true, run_detached, build))
        return CL_SUCCESS;
    return run_build(build);
}

/* ---- Making builds ----------------------------------------------------------------------------------------------- */

/* Does `device` have more members behind it than `than`? The virtual device has all. */
static bool is_wider(const struct tsl_device *device, const struct tsl_device *than)
{
    return !than || (than->parent && (!device->parent || device->n_members > than->n_members));
}

struct tsl_device *tsl_build_view(const struct tsl_build_job *job)
{
    const struct tsl_build *build = job->build;
    struct tsl_device *view = NULL;

    for (cl_uint i = 0; i < build->n_devices; i++)
        if (tsl_device_has(build->devices[i], tsl_build_member(job)) && is_wider(build->devices[i], view))
            view = build->devices[i];
    return view;
}

static bool keep_devices(struct tsl_build *build, const struct tsl_targets *targets)
{
    build->devices = calloc(targets->n + 1, sizeof(build->devices[0]));
    if (!build->devices)
        return false;
    memcpy(build->devices, targets->devices, targets->n * sizeof(build->devices[0]));
    build->n_devices = targets->n;
    return true;
}

static tsl_members members_of(const struct tsl_context *context, const struct tsl_targets *targets)
{
    tsl_members members = TSL_MEMBERS_NONE;

    for (cl_uint i = 0; i < targets->n; i++)
        members = tsl_members_union(members, tsl_context_members_of(context, targets->devices[i]));
    return members;
}

struct tsl_build *tsl_build_create(const struct tsl_make *make, struct tsl_program *program,
                                   const struct tsl_targets *targets, const char *options)
{
    const struct tsl_targets all = {program->n_devices, program->devices};
    tsl_members members = members_of(program->context, targets = targets ? targets : &all);
    struct tsl_build *build = calloc(1, sizeof(*build) + tsl_members_count(members) * sizeof(build->jobs[0]));

    if (!build)
        return NULL;
    build->text = strdup(options ? options : "");
    if (!build->text || !keep_devices(build, targets)) {
        free(build->text);
        free(build);
        return NULL;
    }
    atomic_init(&build->n_refs, 1);
    build->make = make;
    build->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    build->program = program;
    tsl_object_show(&program->object); /* fn is given it, also if the application gave it up */
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i))
            build->jobs[build->n_jobs++] = (struct tsl_build_job){.build = build, .index = i};
    return build;
}

static bool can_be_linked(cl_program_binary_type type)
{
    return type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
}

/* The members for which the program is compiled but not linked. */
static tsl_members members_to_link(struct tsl_program *program)
{
    tsl_members members = TSL_MEMBERS_NONE;

    tsl_lock_take(&program->lock);
    for (unsigned i = 0; i < program->context->n_members; i++)
        if (can_be_linked(program->parts[i].type))
            tsl_members_add(&members, i);
    tsl_lock_give(&program->lock);
    return members;
}

/* Adds a header or a link's input: CL_INVALID_OPERATION unless the input is a compiled object or a library on some
 * member. */
static cl_int add_input(struct tsl_build *build, struct tsl_program *input, const char *name)
{
    if (name) {
        build->names[build->n_inputs] = strdup(name);
        if (!build->names[build->n_inputs])
            return CL_OUT_OF_HOST_MEMORY;
    } else {
        if (!tsl_program_begin_any_read(input))
            return CL_INVALID_OPERATION;
        if (tsl_members_is_empty(members_to_link(input))) {
            tsl_program_end_read(input);
            return CL_INVALID_OPERATION;
        }
    }
    tsl_object_ref(&input->object);
    build->inputs[build->n_inputs++] = input;
    return CL_SUCCESS;
}

cl_int tsl_build_add_inputs(struct tsl_build *build, cl_uint n, struct tsl_program *const *inputs,
                            const char *const *names)
{
    cl_int error = CL_SUCCESS;

    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    build->inputs = calloc(n + 1, sizeof(build->inputs[0]));
    build->names = names ? calloc(n + 1, sizeof(build->names[0])) : NULL;
    if (!build->inputs || (names && !build->names))
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < n && error == CL_SUCCESS; i++)
        error = add_input(build, inputs[i], names ? names[i] : NULL);
    return error;
}

/* Leaves out devices and members for which no input is compiled. CL_INVALID_OPERATION: some inputs are compiled for a
 * device, but none of its members has all (OpenCL 3.0, 5.8.6). */
static cl_int keep_linked(struct tsl_build *build)
{
    tsl_members all = TSL_MEMBERS_ALL, some = TSL_MEMBERS_NONE;
    unsigned n_devices = 0, n_jobs = 0;

    for (cl_uint i = 0; i < build->n_inputs; i++) {
        tsl_members members = members_to_link(build->inputs[i]);

        all = tsl_members_common(all, members);
        some = tsl_members_union(some, members);
    }
    for (cl_uint i = 0; i < build->n_devices; i++) {
        tsl_members members = tsl_context_members_of(build->program->context, build->devices[i]);
        bool any = tsl_members_meet(members, some);

        if (any && !tsl_members_meet(members, all))
            return CL_INVALID_OPERATION;
        if (any)
            build->devices[n_devices++] = build->devices[i];
    }
    build->n_devices = n_devices;
    some =
        tsl_members_common(some, members_of(build->program->context, &(struct tsl_targets){n_devices, build->devices}));
    for (unsigned i = 0; i < build->n_jobs; i++)
        if (tsl_members_has(some, build->jobs[i].index))
            build->jobs[n_jobs++] = build->jobs[i];
    build->n_jobs = n_jobs;
    return CL_SUCCESS;
}

/* ---- What the API calls ------------------------------------------------------------------------------------------ */

/* A loaded binary may be built only where it is executable (OpenCL 3.0, 5.8.4). */
static bool was_loaded_to_be_linked(struct tsl_program *program, const struct tsl_targets *targets)
{
    const struct tsl_targets all = {program->n_devices, program->devices};

    return !program->source && !program->il &&
           tsl_members_meet(members_to_link(program), members_of(program->context, targets ? targets : &all));
}

cl_int tsl_program_build(struct tsl_program *program, const struct tsl_targets *targets, const char *options,
                         tsl_program_fn *fn, void *arg)
{
    struct tsl_build *build;

    if (program->built_in || program->linked)
        return CL_INVALID_OPERATION;
    if (was_loaded_to_be_linked(program, targets))
        return CL_INVALID_BINARY;
    build = tsl_build_create(&tsl_make_build, program, targets, options);
    if (!build)
        return CL_OUT_OF_HOST_MEMORY;
    build->fn = fn;
    build->arg = arg;
    return tsl_build_run(build, NULL);
}

static cl_int refuse(struct tsl_build *build, cl_int error)
{
    tsl_build_destroy(build);
    return error;
}

cl_int tsl_program_compile(struct tsl_program *program, const struct tsl_targets *targets, const char *options,
                           const struct tsl_program_includes *headers, const struct tsl_program_notify *notify)
{
    struct tsl_build *build;
    cl_int error;

    if (!program->source && !program->il)
        return CL_INVALID_OPERATION;
    build = tsl_build_create(&tsl_make_compile, program, targets, options);
    if (!build)
        return CL_OUT_OF_HOST_MEMORY;
    build->type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    build->fn = notify->fn;
    build->arg = notify->arg;
    error = tsl_build_add_inputs(build, headers->n, headers->programs, headers->names);
    return error ? refuse(build, error) : tsl_build_run(build, NULL);
}

cl_int tsl_program_link(struct tsl_program *program, const char *options, const struct tsl_program_includes *inputs,
                        const struct tsl_program_notify *notify, bool *began)
{
    struct tsl_build *build = tsl_build_create(&tsl_make_link, program, NULL, options);
    cl_int error;

    *began = false;
    program->linked = true;
    if (!build)
        return CL_OUT_OF_HOST_MEMORY;
    if (tsl_build_options_have(build->text, "-create-library"))
        build->type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
    else if (tsl_build_options_have(build->text, "-enable-link-options"))
        return refuse(build, CL_INVALID_LINKER_OPTIONS);
    build->fn = notify->fn;
    build->arg = notify->arg;
    error = tsl_build_add_inputs(build, inputs->n, inputs->programs, NULL);
    if (error == CL_SUCCESS)
        error = keep_linked(build);
    return error ? refuse(build, error) : tsl_build_run(build, began);
}
