/* The rung `domain`: shares write anywhere in memory that is spread over their members. */
#include "base/sets.h"
#include "base/settings.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut.h"
#include "graph/cut_inside.h"
#include "graph/data.h"
#include "graph/spread_make.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "program/program.h"

/* The members with parts that are of one domain with this one, and what their parts come to. */
static tsl_members domain_of(const struct tsl_cut *cut, const struct tsl_parts *parts, unsigned member, double *part)
{
    const struct tsl_graph *graph = cut->command->graph;
    tsl_members members = tsl_members_of(member);
    *part = parts->of[member];
    for (unsigned i = 0; i < graph->n_ports; i++) {
        tsl_members both = tsl_members_union(tsl_members_of(member), tsl_members_of(i));
        if (i == member || parts->of[i] <= 0 || !tsl_spread_domain(graph, both))
            continue;
        tsl_members_add(&members, i);
        *part += parts->of[i];
    }
    return members;
}

/* Leaves parts to the members of one domain alone: of that whose parts come to most. None: no domain has two members
 * with parts, or another member alone has more. */
static tsl_members keep_domain(const struct tsl_cut *cut, struct tsl_parts *parts)
{
    tsl_members best = TSL_MEMBERS_NONE;
    double most = 0;
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++) {
        double part;
        tsl_members members = domain_of(cut, parts, i, &part);
        if (parts->of[i] <= 0 || part <= most)
            continue;
        most = part;
        best = tsl_members_count(members) < 2 ? TSL_MEMBERS_NONE : members;
    }
    if (!tsl_members_is_empty(best))
        tsl_cut_keep_parts(cut, parts, best);
    return best;
}

/* May all that the launch writes be spread over these members? */
static bool may_spread(const struct tsl_cut *cut, tsl_members members)
{
    const struct tsl_command *c = cut->command;
    for (cl_uint i = 0; i < cut->footprint->n_arguments; i++)
        if (cut->memories[i].root && cut->memories[i].may_write &&
            !tsl_spread_may(c->graph, tsl_data_of(c->args->args[i].buffer), members))
            return false;
    return true;
}

/* The outermost dimension with groups enough. */
static unsigned outermost(const struct tsl_cut *cut, size_t n)
{
    for (unsigned d = cut->window.work_dim; d-- > 0;)
        if (tsl_cut_groups(&cut->window, d) >= n)
            return d;
    return 3;
}

static bool has_atomics(const struct tsl_cut *cut)
{
    for (uint32_t i = 0; i < cut->footprint->n_accesses; i++)
        if (cut->footprint->accesses[i].kind == TSL_ACCESS_ATOMIC &&
            cut->memories[cut->footprint->accesses[i].argument].root)
            return true;
    return false;
}

bool tsl_cut_in_domain(struct tsl_cut *cut, struct tsl_parts *parts)
{
    bool stores = cut->verdict.why == TSL_CUT_WRITES_UNKNOWN || cut->verdict.why == TSL_CUT_WRITES_MEET;
    bool forced = tsl_settings()->split == TSL_SPLIT_ALWAYS_DOMAIN && !has_atomics(cut);
    const struct tsl_graph *graph = cut->command->graph;
    if ((!stores && !forced) || !graph->spreads || (!parts->known && !graph->cuts_always))
        return false;
    struct tsl_parts kept = *parts;
    tsl_members members = keep_domain(cut, &kept);
    cut->dimension = outermost(cut, tsl_members_count(members));
    if (tsl_members_count(members) < 2 || cut->dimension == 3 || !may_spread(cut, members))
        return false;
    tsl_cut_make_windows(cut, &kept, 0);
    if (cut->n < 2)
        return false;
    cut->spread_over = members;
    *parts = kept;
    return true;
}

static bool shares_may_write(struct tsl_command *c, cl_uint argument, const struct tsl_buffer *buffer)
{
    unsigned access = 0;
    for (unsigned s = 0; s <= c->n_more; s++)
        access |=
            tsl_footing_access(&c->kernel->parts[tsl_command_share(c, s)->placement.member].facts, argument, buffer);
    return access & TSL_MAY_WRITE;
}

cl_int tsl_cut_spread(struct tsl_command *c)
{
    cl_int error = CL_SUCCESS;
    if (tsl_members_is_empty(c->spread_over))
        return CL_SUCCESS;
    for (cl_uint i = 0; i < c->args->n && !error; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        if (b && shares_may_write(c, i, b))
            error = tsl_spread_make(c, tsl_data_of(b), c->spread_over);
    }
    return error;
}
