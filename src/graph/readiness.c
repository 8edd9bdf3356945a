#include "graph/readiness.h"

#include "driver/driver.h"
#include "graph/state.h"
#include "members/ready.h"
#include "object/context.h"
#include "place/place.h"

/* Shorter launches are neither cut nor worth another member. */
#define COUNTS_FROM_NS 5e4

/* So many times what it took to open the first member is waited for: the others may cost the program as much again. */
#define PATIENCE 2

/* Once all are ready it stays so: nobody asks any more. */
static bool all_are_ready(struct tsl_graph *graph)
{
    struct tsl_context *context = graph->context;
    if (graph->readiness.all)
        return true;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (!tsl_member_is_ready(graph->ports[i].member) && !tsl_member_is_lost(graph->ports[i].member))
            return false;
    graph->readiness.all = true;
    tsl_ready_later(context->members, context->n_members); /* Whoever was made ready by a call may not be asked yet. */
    return true;
}

tsl_members tsl_readiness_of(struct tsl_graph *graph, tsl_members members)
{
    tsl_members ready = TSL_MEMBERS_NONE;
    if (all_are_ready(graph))
        return members;
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && tsl_member_is_ready(graph->ports[i].member))
            tsl_members_add(&ready, i);
    return tsl_members_is_empty(ready) ? members : ready;
}

/* Posting a job waits for nothing. */
static void consider(struct tsl_graph *graph, double ns)
{
    struct tsl_context *context = graph->context;
    if (graph->readiness.begun || ns < PATIENCE * (double)tsl_ready_longest_ns())
        return;
    graph->readiness.begun = true;
    tsl_ready_later(context->members, context->n_members);
}

void tsl_readiness_placed(struct tsl_graph *graph, const struct tsl_placement *placement)
{
    if (!graph->readiness.all && placement->known && placement->run_ns >= COUNTS_FROM_NS)
        consider(graph, graph->readiness.ran_ns + placement->run_ns);
}

void tsl_readiness_ended(struct tsl_graph *graph, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    double estimated_ns = placement->known ? placement->run_ns : 0;
    double ran_ns = ended->ran_ns ? (double)ended->ran_ns : estimated_ns;
    if (graph->readiness.all || ran_ns < COUNTS_FROM_NS)
        return;
    graph->readiness.ran_ns += ran_ns;
    consider(graph, graph->readiness.ran_ns);
}
