#include "program/variables.h"
#include "driver/ask.h"

#include <stdio.h>

/* The members for which this build has made an executable. */
static tsl_members made_by(const struct tsl_build *build)
{
    tsl_members made = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < build->n_jobs; i++)
        if (build->jobs[i].part.error == CL_SUCCESS)
            tsl_members_add(&made, build->jobs[i].index);
    return made;
}

/* The members for which it has made one with variables. */
static tsl_members held_by(const struct tsl_build *build)
{
    tsl_members holders = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < build->n_jobs; i++)
        if (build->jobs[i].part.has_variables)
            tsl_members_add(&holders, build->jobs[i].index);
    return holders;
}

/* The members that were built before with variables and aren't built now. */
static tsl_members held_before(const struct tsl_build *build)
{
    struct tsl_program *program = build->program;
    tsl_members holders = TSL_MEMBERS_NONE;

    tsl_lock_take(&program->lock);
    for (unsigned i = 0; i < program->context->n_members; i++)
        if (!tsl_members_has(program->building, i) && program->parts[i].has_variables)
            tsl_members_add(&holders, i);
    tsl_lock_give(&program->lock);
    return holders;
}

/* Is the member's count of variables reliable? Our compiler's is, and that of vendors with the feature: others count
 * constants, or have some variables for each kernel (PoCL 3.1). */
static bool counts_reliably(const struct tsl_member *member)
{
    return !member->driver->asks_access || tsl_member_has_variables(member);
}

/* Does our compiler say that no kernel touches a variable, which vendors may count all the same (PoCL 3.1 in OpenCL
 * C 2.0, constants with Intel's)? Of the program's text, if that is the same for all, or of the text for windows, if
 * all members run that. */
static bool compiler_denies(const struct tsl_build *build)
{
    bool windows = true;

    if (!build->access || !tsl_text_access_wait(build->access))
        return false;
    for (unsigned i = 0; i < build->n_jobs; i++) {
        if (build->jobs[i].part.has_variables && !tsl_build_member(&build->jobs[i])->driver->asks_access)
            return false;
        windows &= build->jobs[i].part.error != CL_SUCCESS || build->jobs[i].of_windows;
    }
    return tsl_text_access_has_no_variables(build->access, windows);
}

/* Has a member with a reliable count built the program without variables? */
static bool is_denied(const struct tsl_build *build)
{
    if (compiler_denies(build))
        return true;
    for (unsigned i = 0; i < build->n_jobs; i++) {
        const struct tsl_program_part *part = &build->jobs[i].part;

        if (part->error == CL_SUCCESS && !part->has_variables && counts_reliably(tsl_build_member(&build->jobs[i])))
            return true;
    }
    return false;
}

/* The first member with a reliable count, else the first. There is one. */
static unsigned choose(const struct tsl_context *context, tsl_members holders)
{
    for (unsigned i = 0; tsl_members_reach(holders, i); i++)
        if (tsl_members_has(holders, i) && counts_reliably(context->members[i]))
            return i;
    return tsl_members_first(holders);
}

static void leave_out(struct tsl_build_job *job, const struct tsl_path *keeper)
{
    char *log;

    tsl_program_part_clear(&job->part, tsl_build_member(job));
    job->part.error = job->build->make->failure;
    if (asprintf(&log, "the program's variables of program scope are on one device: it runs on %s %s alone\n",
                 keeper->id, keeper->device_name ? keeper->device_name : "") >= 0)
        job->part.log = log;
}

static void leave_all_out(struct tsl_build *build, tsl_members out, unsigned keeper)
{
    const struct tsl_path *path = build->program->context->members[keeper]->path;

    for (unsigned i = 0; i < build->n_jobs; i++)
        if (tsl_members_has(out, build->jobs[i].index) && build->jobs[i].part.error == CL_SUCCESS)
            leave_out(&build->jobs[i], path);
}

static void forget(struct tsl_build *build)
{
    for (unsigned i = 0; i < build->n_jobs; i++) {
        build->jobs[i].part.has_variables = false;
        build->jobs[i].part.variables_size = 0;
    }
}

/* before: see held_before. */
static void settle_for(struct tsl_build *build, const struct tsl_device *device, tsl_members before)
{
    tsl_members members = tsl_context_members_of(build->program->context, device);
    tsl_members kept = tsl_members_common(before, members), held = tsl_members_common(held_by(build), members);
    unsigned keeper;

    if (tsl_members_is_empty(kept) && tsl_members_is_empty(held))
        return;
    keeper = tsl_members_is_empty(kept) ? choose(build->program->context, held) : tsl_members_first(kept);
    leave_all_out(build, tsl_members_without(tsl_members_common(made_by(build), members), tsl_members_of(keeper)),
                  keeper);
}

void tsl_variables_settle(struct tsl_build *build)
{
    const struct tsl_context *context = build->program->context;
    tsl_members before = held_before(build);

    if (build->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE ||
        tsl_members_is_empty(tsl_members_union(before, held_by(build))))
        return;
    if (is_denied(build))
        forget(build);
    for (cl_uint i = 0; i < context->n_devices; i++)
        settle_for(build, context->devices[i], before);
}
