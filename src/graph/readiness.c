#include "graph/readiness.h"

#include "base/lock.h"
#include "driver/driver.h"
#include "graph/graph.h"
#include "graph/state.h"
#include "graph/work.h"
#include "members/ready.h"
#include "object/context.h"
#include "place/place.h"

#include <math.h>

/* Launches run for so many times as long as it takes to open the others, before these are: that may cost the program as
 * much, as it is disturbed by it, and its end may come meanwhile. */
#define PATIENCE 2

/* The program has run for so many times as long, too, but no longer than this: one that ends within a second opens
 * nothing in vain. */
#define LEAST_AGE    10
#define LEAST_AGE_NS 1e9

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

static bool is_known(const struct tsl_graph *graph, unsigned i)
{
    return tsl_member_is_ready(graph->ports[i].member) &&
           (!graph->readiness.begun || tsl_members_has(graph->readiness.known, i));
}

tsl_members tsl_readiness_of(struct tsl_graph *graph, tsl_members members)
{
    tsl_members ready = TSL_MEMBERS_NONE;
    if (all_are_ready(graph))
        return members;
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && is_known(graph, i))
            tsl_members_add(&ready, i);
    return tsl_members_is_empty(ready) ? members : ready;
}

int tsl_readiness_only(struct tsl_graph *graph)
{
    int only = -1;
    if (!tsl_placer_learns(graph->placer) || all_are_ready(graph))
        return -1;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (is_known(graph, i) && !tsl_member_is_lost(graph->ports[i].member)) {
            if (only >= 0)
                return -1;
            only = (int)i;
        }
    return only;
}

/* Posting a job waits for nothing. */
static void begin(struct tsl_graph *graph)
{
    struct tsl_context *context = graph->context;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_member_is_ready(graph->ports[i].member))
            tsl_members_add(&graph->readiness.known, i);
    graph->readiness.begun = true;
    tsl_ready_later(context->members, context->n_members);
}

void tsl_readiness_open(struct tsl_graph *graph)
{
    if (!all_are_ready(graph) && !graph->readiness.begun)
        begin(graph);
}

/* What opening all others is feared to cost. Some members need no opening. */
static double others_ns(const struct tsl_graph *graph)
{
    unsigned n = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        n += !tsl_member_is_ready(graph->ports[i].member);
    return PATIENCE * (double)tsl_ready_longest_ns() * n;
}

static bool is_old_enough(const struct tsl_graph *graph, uint64_t now_ns)
{
    double opening_ns = (double)tsl_ready_longest_ns(), age_ns = (double)(now_ns - graph->readiness.since_ns);
    return age_ns + opening_ns >= fmin(LEAST_AGE * opening_ns, LEAST_AGE_NS);
}

/* The others are opened while the program prepares its data. */
static void expect(struct tsl_graph *graph, double ahead_ns)
{
    if (ahead_ns <= 0)
        return;
    tsl_lock_take(&graph->lock);
    if (!all_are_ready(graph) && !graph->readiness.begun && ahead_ns >= others_ns(graph))
        begin(graph);
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
}

void tsl_graph_expect(const struct tsl_kernel *kernel)
{
    struct tsl_graph *graph = kernel->program->context->graph;
    expect(graph, tsl_placer_ahead_ns(graph->placer, kernel->place_key));
}

void tsl_readiness_expect(struct tsl_graph *graph)
{
    expect(graph, tsl_placer_program_ahead_ns(graph->placer));
}

/* A launch that is known to run for long enough for all others to be opened meanwhile needs no further reason. */
void tsl_readiness_placed(struct tsl_graph *graph, const struct tsl_placement *placement, uint64_t now_ns)
{
    if (graph->readiness.all || graph->readiness.begun)
        return;
    if (!graph->readiness.since_ns)
        graph->readiness.since_ns = now_ns;
    if (placement->placed && placement->known && placement->run_ns >= TSL_COUNTS_FROM_NS &&
        placement->run_ns >= others_ns(graph))
        begin(graph);
}

void tsl_readiness_ended(struct tsl_graph *graph, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    double estimated_ns = placement->known ? placement->run_ns : 0;
    double ran_ns = ended->ran_ns ? (double)ended->ran_ns : estimated_ns;
    if (graph->readiness.all || graph->readiness.begun || ran_ns < TSL_COUNTS_FROM_NS)
        return;
    graph->readiness.ran_ns += ran_ns;
    if (graph->readiness.ran_ns >= others_ns(graph) && is_old_enough(graph, ended->now_ns))
        begin(graph);
}
