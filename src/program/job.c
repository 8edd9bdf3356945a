/* What a build does for one member. */
#include "program/job.h"

#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"
#include "base/worker.h"
#include "program/build.h"

#include <stdlib.h>

bool tsl_job_start_thread(pthread_t *thread, bool detached, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    bool started;

    if (tsl_simulation || pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setdetachstate(&attr, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    started = tsl_thread_start(thread, &attr, run, arg) == 0;
    pthread_attr_destroy(&attr);
    return started;
}

/* Vendors return the error of a build for a compilation or a link, and the other way round. */
static cl_int named_error(const struct tsl_make *make, cl_int error)
{
    switch (error) {
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
        return make->failure;
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_COMPILER_OPTIONS:
    case CL_INVALID_LINKER_OPTIONS:
        return make->bad_options;
    default:
        return error;
    }
}

bool tsl_job_asks_access(const struct tsl_member *member)
{
    enum tsl_vendor_roles wanted = tsl_settings()->vendor_roles;

    return member->driver->asks_access &&
           (wanted == TSL_VENDOR_ROLES_ON || (wanted == TSL_VENDOR_ROLES_AUTO && member->caps.access_holds));
}

void *tsl_job_run(void *arg)
{
    struct tsl_build_job *job = arg;
    const struct tsl_path *path = tsl_build_member(job)->path;
    bool runs = job->build->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;

    job->build->make->run(job);
    job->part.error = named_error(job->build->make, job->part.error);
    if (job->part.program && runs &&
        path->driver->program_kernels(job->part.program, &job->part.kernel_names) != CL_SUCCESS)
        job->part.kernel_names = NULL;
    if (job->part.program && job->build->access && tsl_job_asks_access(tsl_build_member(job)))
        tsl_build_windows(job);
    if (job->part.program && runs && path->driver->program_variables)
        job->part.has_variables = path->driver->program_variables(job->part.program, &job->part.variables_size);
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "program %s for %s (%s): %d", job->build->make->verb, path->id,
            path->device_name, job->part.error);
    return NULL;
}

void tsl_job_drop_build(struct tsl_build *build)
{
    if (atomic_fetch_sub(&build->n_refs, 1) > 1)
        return;
    tsl_text_access_unref(build->access);
    free(build->devices);
    free(build->text);
    free(build);
}
