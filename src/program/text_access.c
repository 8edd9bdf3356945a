#include "program/text_access.h"

#include "base/clock.h"
#include "base/log.h"
#include "compile_client/compile.h"
#include "program/build.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tsl_text_access {
    atomic_uint refs;
    char *source, *options;
    struct tsl_lock lock; /* leaf; guards answered */
    pthread_cond_t changed;
    bool answered;
    struct tsl_compiled compiled; /* constant once answered */
};

/* A wait timed out and no answer has come since: nothing more is asked. Written under the lock of the question that it
 * is about. */
static atomic_bool silent;

struct tsl_text_access *tsl_text_access_ref(struct tsl_text_access *roles)
{
    if (roles)
        atomic_fetch_add_explicit(&roles->refs, 1, memory_order_relaxed);
    return roles;
}

void tsl_text_access_unref(struct tsl_text_access *roles)
{
    if (!roles || atomic_fetch_sub_explicit(&roles->refs, 1, memory_order_acq_rel) > 1)
        return;
    tsl_compiled_finish(&roles->compiled);
    pthread_cond_destroy(&roles->changed);
    tsl_lock_finish(&roles->lock);
    free(roles->source);
    free(roles->options);
    free(roles);
}

/* ---- The question ------------------------------------------------------------------------------------------------ */

static void *run(void *arg)
{
    struct tsl_text_access *roles = arg;
    struct tsl_wire_build request = {.target = TSL_WIRE_ACCESS, .source = roles->source, .options = roles->options};
    cl_int error;

    pthread_setname_np(pthread_self(), "tesela-roles");
    error = tsl_compile(&request, &roles->compiled);
    if (error != CL_SUCCESS || !roles->compiled.built.n_kernels)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "what kernels only read isn't known: %s", roles->compiled.built.log);
    tsl_lock_take(&roles->lock);
    roles->answered = true;
    atomic_store(&silent, false);
    pthread_cond_signal(&roles->changed);
    tsl_lock_give(&roles->lock);
    tsl_text_access_unref(roles);
    return NULL;
}

static struct tsl_text_access *create(const char *source, const char *options)
{
    struct tsl_text_access *roles = calloc(1, sizeof(*roles));
    pthread_condattr_t attr;

    if (!roles)
        return NULL;
    atomic_store(&roles->refs, 1);
    tsl_lock_init(&roles->lock);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&roles->changed, &attr);
    pthread_condattr_destroy(&attr);
    roles->source = strdup(source);
    roles->options = strdup(options);
    if (roles->source && roles->options)
        return roles;
    tsl_text_access_unref(roles);
    return NULL;
}

struct tsl_text_access *tsl_text_access_ask(const char *source, const char *options)
{
    struct tsl_text_access *roles;
    pthread_t thread;
    const char *why;

    if (!tsl_compile_available(&why)) {
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_DEBUG, "what kernels only read isn't known: %s", why);
        return NULL;
    }
    roles = atomic_load(&silent) ? NULL : create(source, options);
    if (!roles)
        return NULL;
    tsl_text_access_ref(roles);
    if (tsl_build_start_thread(&thread, true, run, roles))
        return roles;
    tsl_text_access_unref(roles);
    tsl_text_access_unref(roles);
    return NULL;
}

/* False: the time is up. */
static bool wait_until_locked(struct tsl_text_access *roles, const struct timespec *end)
    TSL_REQUIRES(roles->lock) TSL_UNCHECKED
{
    return pthread_cond_timedwait(&roles->changed, &roles->lock.mutex, end) == 0;
}

bool tsl_text_access_wait(struct tsl_text_access *roles)
{
    const struct timespec end = tsl_clock_until(TSL_TEXT_ACCESS_PATIENCE);
    bool answered;

    tsl_lock_take(&roles->lock);
    while (!roles->answered && wait_until_locked(roles, &end))
        continue;
    answered = roles->answered;
    if (!answered)
        atomic_store(&silent, true); /* Under the lock, as the late answer resets it. */
    tsl_lock_give(&roles->lock);
    if (!answered)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO,
                "what kernels only read isn't known yet: the kernel compiler is slow");
    return answered;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

static const struct tsl_kernel_facts *find(const struct tsl_text_access *roles, const char *name)
{
    const struct tsl_wire_built *built = &roles->compiled.built;

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

bool tsl_text_access_narrow(const struct tsl_text_access *roles, struct tsl_kernel_facts *facts)
{
    const struct tsl_kernel_facts *answer = roles ? find(roles, facts->name) : NULL;
    bool narrowed = false;

    if (!answer || answer->opaque || facts->opaque || !facts->of_text || !is_about(answer, facts))
        return false;
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
