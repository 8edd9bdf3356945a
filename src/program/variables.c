#include "program/variables.h"
#include "driver/ask.h"

#include <stdio.h>

/* The members, as bits, for which this build has made an executable. */
static unsigned made_by(const struct tsl_build *build)
{
    unsigned made = 0;

    for (unsigned i = 0; i < build->n_jobs; i++)
        if (build->jobs[i].part.error == CL_SUCCESS)
            made |= 1u << build->jobs[i].index;
    return made;
}

/* The members for which it has made one with variables. */
static unsigned held_by(const struct tsl_build *build)
{
    unsigned holders = 0;

    for (unsigned i = 0; i < build->n_jobs; i++)
        if (build->jobs[i].part.has_variables)
            holders |= 1u << build->jobs[i].index;
    return holders;
}

/* The members that were built before with variables and aren't built now. */
static unsigned held_before(const struct tsl_build *build)
{
    struct tsl_program *program = build->program;
    unsigned holders = 0;

    tsl_lock_take(&program->lock);
    for (unsigned i = 0; i < program->context->n_members; i++)
        if (!(program->building >> i & 1) && program->parts[i].has_variables)
            holders |= 1u << i;
    tsl_lock_give(&program->lock);
    return holders;
}

/* Is the member's count of variables reliable? Our compiler's is, and that of vendors with the feature: others count
 * constants, or have some variables for each kernel (PoCL 3.1). */
static bool counts_reliably(const struct tsl_member *member)
{
    return !member->driver->asks_access || tsl_member_has_variables(member);
}

/* Has a member with a reliable count built the program without variables? */
static bool is_denied(const struct tsl_build *build)
{
    for (unsigned i = 0; i < build->n_jobs; i++) {
        const struct tsl_program_part *part = &build->jobs[i].part;

        if (part->error == CL_SUCCESS && !part->has_variables && counts_reliably(tsl_build_member(&build->jobs[i])))
            return true;
    }
    return false;
}

static unsigned lowest(unsigned bits)
{
    return bits & -bits;
}

/* The first member with a reliable count, else the first. */
static unsigned choose(const struct tsl_context *context, unsigned holders)
{
    for (unsigned i = 0; holders >> i; i++)
        if (holders >> i & 1 && counts_reliably(context->members[i]))
            return 1u << i;
    return lowest(holders);
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

static void leave_all_out(struct tsl_build *build, unsigned out, unsigned keeper)
{
    const struct tsl_path *path = build->program->context->members[__builtin_ctz(keeper)]->path;

    for (unsigned i = 0; i < build->n_jobs; i++)
        if (out >> build->jobs[i].index & 1 && build->jobs[i].part.error == CL_SUCCESS)
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
static void settle_for(struct tsl_build *build, const struct tsl_device *device, unsigned before)
{
    unsigned members = tsl_context_members_of(build->program->context, device);
    unsigned keeper =
        before & members ? lowest(before & members) : choose(build->program->context, held_by(build) & members);

    if (keeper)
        leave_all_out(build, made_by(build) & members & ~keeper, keeper);
}

void tsl_variables_settle(struct tsl_build *build)
{
    const struct tsl_context *context = build->program->context;
    unsigned before = held_before(build);

    if (build->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE || !(before | held_by(build)))
        return;
    if (is_denied(build))
        forget(build);
    for (cl_uint i = 0; i < context->n_devices; i++)
        settle_for(build, context->devices[i], before);
}
