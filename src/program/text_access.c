#include "program/text_access.h"

#include "base/clock.h"
#include "base/log.h"
#include "compile_client/compile.h"
#include "footprint/format.h"
#include "program/job.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tsl_text_access {
    atomic_uint refs;
    char *source, *options;
    char *dialect;        /* the source as members see it; NULL: no text for windows is wanted */
    struct tsl_lock lock; /* leaf; guards answered and given_up */
    pthread_cond_t changed;
    bool answered, given_up;
    struct tsl_compiled compiled; /* constant once answered */
    struct tsl_compiled windows;  /* the same, of the text for windows; without one its artefact is empty */
};

/* A wait timed out and no answer has come since: nothing more is asked. Written under the lock of the question that it
 * is about. */
static atomic_bool silent;

struct tsl_text_access *tsl_text_access_ref(struct tsl_text_access *access)
{
    if (access)
        atomic_fetch_add_explicit(&access->refs, 1, memory_order_relaxed);
    return access;
}

void tsl_text_access_unref(struct tsl_text_access *access)
{
    if (!access || atomic_fetch_sub_explicit(&access->refs, 1, memory_order_acq_rel) > 1)
        return;
    tsl_compiled_finish(&access->compiled);
    tsl_compiled_finish(&access->windows);
    pthread_cond_destroy(&access->changed);
    tsl_lock_finish(&access->lock);
    free(access->source);
    free(access->options);
    free(access->dialect);
    free(access);
}

/* ---- The question ------------------------------------------------------------------------------------------------ */

/* Is there a kernel that can't run in windows of the program's own text? */
static bool wants_windows(const struct tsl_wire_built *built)
{
    for (uint32_t i = 0; i < built->n_kernels; i++)
        if (built->kernels[i].facts.whole_launch)
            return true;
    return !built->n_kernels;
}

static void ask_for_windows(struct tsl_text_access *access)
{
    struct tsl_wire_build request = {.target = TSL_WIRE_WINDOWS, .source = access->dialect, .options = access->options};
    cl_int error = tsl_compile(&request, &access->windows);

    if (error != CL_SUCCESS || !access->windows.built.artefact_size)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "there is no text for windows: %s", access->windows.built.log);
}

static void *run(void *arg)
{
    struct tsl_text_access *access = arg;
    struct tsl_wire_build request = {.target = TSL_WIRE_ACCESS, .source = access->source, .options = access->options};
    cl_int error;

    pthread_setname_np(pthread_self(), "tesela-roles");
    error = tsl_compile(&request, &access->compiled);
    if (error != CL_SUCCESS || !access->compiled.built.n_kernels)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "what kernels only read isn't known: %s", access->compiled.built.log);
    if (access->dialect && wants_windows(&access->compiled.built))
        ask_for_windows(access);
    tsl_lock_take(&access->lock);
    access->answered = true;
    atomic_store(&silent, false);
    pthread_cond_broadcast(&access->changed);
    tsl_lock_give(&access->lock);
    tsl_text_access_unref(access);
    return NULL;
}

static struct tsl_text_access *create(const char *source, const char *options, const char *dialect)
{
    struct tsl_text_access *access = calloc(1, sizeof(*access));
    pthread_condattr_t attr;

    if (!access)
        return NULL;
    atomic_store(&access->refs, 1);
    tsl_lock_init(&access->lock);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&access->changed, &attr);
    pthread_condattr_destroy(&attr);
    access->source = strdup(source);
    access->options = strdup(options);
    access->dialect = dialect ? strdup(dialect) : NULL;
    if (access->source && access->options)
        return access;
    tsl_text_access_unref(access);
    return NULL;
}

struct tsl_text_access *tsl_text_access_ask(const char *source, const char *options, const char *dialect)
{
    struct tsl_text_access *access;
    pthread_t thread;
    const char *why;

    if (!tsl_compile_available(&why)) {
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_DEBUG, "what kernels only read isn't known: %s", why);
        return NULL;
    }
    access = atomic_load(&silent) ? NULL : create(source, options, dialect);
    if (!access)
        return NULL;
    tsl_text_access_ref(access);
    if (tsl_job_start_thread(&thread, true, run, access))
        return access;
    tsl_text_access_unref(access);
    tsl_text_access_unref(access);
    return NULL;
}

/* False: the time is up. */
static bool wait_until_locked(struct tsl_text_access *access, const struct timespec *end)
    TSL_REQUIRES(access->lock) TSL_UNCHECKED
{
    return pthread_cond_timedwait(&access->changed, &access->lock.mutex, end) == 0;
}

bool tsl_text_access_wait(struct tsl_text_access *access)
{
    const struct timespec end = tsl_clock_until(TSL_TEXT_ACCESS_PATIENCE);
    bool answered;

    tsl_lock_take(&access->lock);
    while (!access->answered && !access->given_up && wait_until_locked(access, &end))
        continue;
    answered = access->answered && !access->given_up;
    access->given_up = !answered;
    if (!answered)
        atomic_store(&silent, true); /* Under the lock, as the late answer resets it. */
    tsl_lock_give(&access->lock);
    if (!answered)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO,
                "what kernels only read isn't known yet: the kernel compiler is slow");
    return answered;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

const char *tsl_text_access_windows(const struct tsl_text_access *access, size_t *size)
{
    *size = access->windows.built.artefact_size;
    return *size ? access->windows.built.artefact : NULL;
}

static bool touches_none(const struct tsl_wire_built *built)
{
    for (uint32_t i = 0; i < built->n_kernels; i++)
        if (built->kernels[i].facts.opaque)
            return false;
    return built->n_kernels > 0;
}

bool tsl_text_access_has_no_variables(const struct tsl_text_access *access, bool windows)
{
    return touches_none(&access->compiled.built) || (windows && touches_none(&access->windows.built));
}

bool tsl_text_access_stands_alone(const struct tsl_text_access *access)
{
    return access->compiled.built.n_kernels > 0 && !access->compiled.built.n_files && !access->windows.built.n_files;
}

static const struct tsl_kernel_facts *find(const struct tsl_wire_built *built, const char *name)
{
    for (uint32_t i = 0; i < built->n_kernels; i++)
        if (strcmp(built->kernels[i].facts.name, name) == 0)
            return &built->kernels[i].facts;
    return NULL;
}

/* The kinds must be known and equal, which is more than the same signature. */
static bool is_about(const struct tsl_kernel_facts *answer, const struct tsl_kernel_facts *facts)
{
    if (!tsl_kernel_facts_same_signature(answer, facts))
        return false;
    for (cl_uint i = 0; i < facts->n_args; i++)
        if (facts->args[i].kind == TSL_FACT_UNKNOWN || facts->args[i].kind != answer->args[i].kind)
            return false;
    return true;
}

/* A vendor may tell none of a binary's (PoCL), though it was made of this very text. */
static void take_kinds(const struct tsl_kernel_facts *answer, struct tsl_kernel_facts *facts)
{
    if (facts->n_args != answer->n_args)
        return;
    for (cl_uint i = 0; i < facts->n_args; i++)
        if (facts->args[i].kind != TSL_FACT_UNKNOWN)
            return;
    for (cl_uint i = 0; i < facts->n_args; i++) {
        struct tsl_arg_fact *arg = &facts->args[i];

        arg->kind = answer->args[i].kind;
        arg->size = answer->args[i].size;
        if (arg->kind == TSL_FACT_CONSTANT)
            arg->may = TSL_MAY_READ;
    }
}

/* Of its own; NULL: there is none, or no memory. */
static struct tsl_footprint *copy(const struct tsl_footprint *footprint)
{
    struct tsl_writer writer = {0};
    struct tsl_footprint *made = NULL;

    if (footprint)
        tsl_footprint_encode(&writer, footprint);
    if (footprint && !writer.failed)
        made = tsl_footprint_decode(writer.data, writer.size);
    free(writer.data);
    return made;
}

bool tsl_text_access_narrow(const struct tsl_text_access *access, struct tsl_kernel_facts *facts)
{
    const struct tsl_compiled *compiled = !access ? NULL : facts->of_windows ? &access->windows : &access->compiled;
    const struct tsl_kernel_facts *answer = compiled ? find(&compiled->built, facts->name) : NULL;
    bool narrowed = false;

    if (!answer || answer->opaque || facts->opaque || !(facts->of_text || facts->of_windows))
        return false;
    take_kinds(answer, facts);
    if (!is_about(answer, facts))
        return false;
    if (!facts->footprint)
        facts->footprint = copy(answer->footprint);
    facts->whole_launch &= answer->whole_launch;
    for (cl_uint i = 0; i < facts->n_args; i++) {
        unsigned may = answer->args[i].may;

        if (facts->args[i].kind != TSL_FACT_GLOBAL)
            continue;
        facts->args[i].written = may & TSL_MAY_WRITE;
        if (may & TSL_MAY_WRITE)
            continue;
        facts->args[i].may = TSL_MAY_READ;
        facts->args[i].untouched = !may;
        narrowed = true;
    }
    return narrowed;
}
