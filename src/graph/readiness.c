#include "graph/readiness.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/command.h"
#include "graph/graph.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "graph/work.h"
#include "members/ready.h"
#include "object/context.h"
#include "place/place.h"

#include <math.h>
#include <stddef.h>

/* Launches run for so many times as long as it takes to open others, before these are: opening them may cost the
 * program as much, as it is disturbed by it, and its end may come meanwhile. Of a program of which nobody knows
 * what others do for it all runs so far count, if this one will be long enough for the least patience: else no short
 * program would ever have them. Where an earlier run tells what part of the time others save, once they are there, they
 * must save COST of what it takes to open them, as that happens beside the program; within the bounds below. */
#define PATIENCE       5
#define COST           0.5
#define LEAST_PATIENCE 2
#define MOST_PATIENCE  32

/* The program has run for so many times as long, too, but no longer than this: one that ends within a second opens
 * nothing in vain. */
#define LEAST_AGE    10
#define LEAST_AGE_NS 1e9

/* A launch waits for the others if it gains so many times what they still need, a part of their opening at least, ...
 */
#define HOLD       3
#define LEAST_LEFT 0.125
/* ... and if an earlier run says that such launches, which could be cut, take so much of what it takes. */
#define SURE 0.75

/* Is the member ready? While others are opened it may still be warmed, or not be known of here. */
static bool is_known(const struct tsl_graph *graph, unsigned i)
{
    return tsl_member_is_ready(graph->ports[i].member) &&
           (!graph->readiness.will_be_over || tsl_members_has(graph->readiness.known, i));
}

/* Once all are ready it stays so: nobody asks any more. */
static bool all_are_ready(struct tsl_graph *graph)
{
    struct tsl_context *context = graph->context;
    if (graph->readiness.all)
        return true;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (!is_known(graph, i) && !tsl_member_is_lost(graph->ports[i].member))
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

/* What the others took to open is known to later runs. */
static void learn_opening(struct tsl_graph *graph)
{
    for (unsigned i = 0; i < graph->n_ports; i++) {
        uint64_t ns = atomic_load(&graph->ports[i].member->opened_ns);
        if (ns && !tsl_members_has(graph->readiness.known, i))
            tsl_placer_opened(graph->placer, i, ns);
    }
}

/* Behind the opening of all that are wanted; the job has a reference to the context. */
static void post_over(struct tsl_graph *graph)
{
    if (tsl_simulation)
        return;
    tsl_object_ref(&graph->context->object);
    graph->readiness.will_be_over = tsl_ready_then(&graph->readiness.over);
    if (!graph->readiness.will_be_over)
        graph->surplus_refs++;
}

static void know_the_ready(struct tsl_graph *graph)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_member_is_ready(graph->ports[i].member))
            tsl_members_add(&graph->readiness.known, i);
}

/* Is it neither ready nor lost? */
static bool is_closed(const struct tsl_graph *graph, unsigned i)
{
    return !tsl_member_is_ready(graph->ports[i].member) && !tsl_member_is_lost(graph->ports[i].member);
}

/* Asks for all that are wanted and closed, also once more. Posting a job waits for nothing. False: there are none. */
static bool open_wanted(struct tsl_graph *graph)
{
    struct tsl_member *members[TSL_MAX_MEMBERS];
    unsigned n = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(graph->readiness.wanted, i) && is_closed(graph, i))
            members[n++] = graph->ports[i].member;
    tsl_ready_later(members, n);
    return n > 0;
}

void tsl_readiness_over(struct tsl_job *job)
{
    struct tsl_graph *graph = (struct tsl_graph *)((char *)job - offsetof(struct tsl_graph, readiness.over));
    struct tsl_context *context = graph->context;
    tsl_lock_take(&graph->lock);
    graph->readiness.will_be_over = false;
    graph->ask_again = true;
    learn_opening(graph);
    know_the_ready(graph);
    if (!tsl_worker_is_ending() && open_wanted(graph)) /* More were wanted meanwhile. */
        post_over(graph);
    tsl_graph_leave(graph, TSL_WHO_WORKER);
    tsl_object_unref(&context->object);
}

/* How long it takes to open that one, by earlier runs, else by the longest so far: that has what a technology does once
 * for all of its members. */
static double opening_ns(const struct tsl_graph *graph, unsigned i)
{
    double known_ns = tsl_placer_opening_ns(graph->placer, i);
    return known_ns > 0 ? known_ns : (double)tsl_ready_longest_ns();
}

/* Opens those of the set. */
static void begin(struct tsl_graph *graph, tsl_members set)
{
    know_the_ready(graph);
    for (unsigned i = 0; i < graph->n_ports; i++)
        graph->readiness.spent_ns += tsl_members_has(set, i) ? opening_ns(graph, i) : 0;
    graph->readiness.wanted = tsl_members_union(graph->readiness.wanted, set);
    graph->readiness.begun_ns = tsl_clock_ns();
    open_wanted(graph);
    if (!graph->readiness.will_be_over)
        post_over(graph);
}

void tsl_readiness_open(struct tsl_graph *graph)
{
    tsl_members set = TSL_MEMBERS_NONE;
    if (all_are_ready(graph))
        return;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (is_closed(graph, i) && !tsl_members_has(graph->readiness.wanted, i))
            tsl_members_add(&set, i);
    if (!tsl_members_is_empty(set))
        begin(graph, set);
}

/* The fastest of those that are closed, not wanted and not in the set, as that is opened first; -1: there is none. */
static int fastest_closed(const struct tsl_graph *graph, tsl_members set)
{
    int best = -1;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (is_closed(graph, i) && !tsl_members_has(graph->readiness.wanted, i) && !tsl_members_has(set, i) &&
            (best < 0 || graph->ports[i].member->caps.speed > graph->ports[best].member->caps.speed))
            best = (int)i;
    return best;
}

static double patience_of(const struct tsl_graph *graph)
{
    double help = tsl_placer_help(graph->placer);
    return help < 0 ? PATIENCE : fmin(fmax(1 + COST / help, LEAST_PATIENCE), MOST_PATIENCE);
}

/* Opens as many as launches pay for that run for so long: all that was opened for the graph so far, and what the next
 * ones are feared to cost. */
static void open_for(struct tsl_graph *graph, double run_ns, double patience)
{
    tsl_members set = TSL_MEMBERS_NONE;
    double ns = graph->readiness.spent_ns;
    int next;
    if (graph->readiness.will_be_over)
        return;
    while ((next = fastest_closed(graph, set)) >= 0 && patience * (ns += opening_ns(graph, (unsigned)next)) <= run_ns)
        tsl_members_add(&set, (unsigned)next);
    if (!tsl_members_is_empty(set))
        begin(graph, set);
}

/* What is left of the opening that has begun, of members one after the other. One that is open may still be warmed. */
static double left_ns(const struct tsl_graph *graph)
{
    double ns = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(graph->readiness.wanted, i) && !tsl_members_has(graph->readiness.known, i))
            ns += is_closed(graph, i) ? opening_ns(graph, i) : (double)atomic_load(&graph->ports[i].member->opened_ns);
    return fmax(ns - (double)(tsl_clock_ns() - graph->readiness.begun_ns), LEAST_LEFT * ns);
}

/* What the launch would gain by the members that are being opened; 0: it can use none of them. */
static double gain_ns(const struct tsl_command *c, double run_ns)
{
    const struct tsl_graph *graph = c->graph;
    double speed = 0, known = 0, all = 0;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(c->members, i) && is_known(graph, i))
            speed = fmax(speed, graph->ports[i].member->caps.speed);
    for (unsigned i = 0; i < graph->n_ports && speed > 0; i++) {
        const struct tsl_member *member = graph->ports[i].member;
        double its = tsl_members_has(c->members, i) && !tsl_member_is_lost(member) ? member->caps.speed / speed : 0;
        known += is_known(graph, i) ? its : 0;
        all += is_known(graph, i) || tsl_members_has(graph->readiness.wanted, i) ? fmin(its, 1) : 0;
    }
    return known > 0 && all > known ? run_ns * (1 / known - 1 / all) : 0;
}

bool tsl_readiness_holds(const struct tsl_command *c, double run_ns)
{
    struct tsl_graph *graph = c->graph;
    if (!graph->readiness.will_be_over || c->queue->pinned >= 0 || all_are_ready(graph) ||
        tsl_placer_ahead_ns(graph->placer, c->kernel->place_key) < SURE * run_ns)
        return false;
    double gain = gain_ns(c, run_ns);
    return gain > 0 && gain >= HOLD * left_ns(graph);
}

double tsl_readiness_left_ns(const struct tsl_command *c, double run_ns)
{
    struct tsl_graph *graph = c->graph;
    if (c->queue->pinned >= 0 || all_are_ready(graph))
        return 0;
    open_for(graph, run_ns, LEAST_PATIENCE); /* It is known what it would gain. */
    return graph->readiness.will_be_over && gain_ns(c, run_ns) > 0 ? left_ns(graph) : 0;
}

static bool is_old_enough(const struct tsl_graph *graph, uint64_t now_ns)
{
    double longest_ns = (double)tsl_ready_longest_ns(), age_ns = (double)(now_ns - graph->readiness.since_ns);
    return age_ns + longest_ns >= fmin(LEAST_AGE * longest_ns, LEAST_AGE_NS);
}

/* The others are opened while the program prepares its data. waited_ns: what counts beside what is ahead, if that is
 * long enough. */
static void expect(struct tsl_graph *graph, double ahead_ns, double waited_ns)
{
    if (!all_are_ready(graph)) {
        double patience = patience_of(graph);
        open_for(graph, fmin(ahead_ns + waited_ns, ahead_ns * patience / LEAST_PATIENCE), patience);
    }
    tsl_graph_leave(graph, TSL_WHO_APPLICATION);
}

static void tell(double ahead_ns, const char *what)
{
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "by an earlier run, launches of %s take %.0f ms", what, ahead_ns / 1e6);
}

/* The kernel is one more of those that the program has. It may have been made before. */
static void add_kernel(struct tsl_graph *graph, uint64_t key, double ahead_ns)
{
    unsigned n = graph->readiness.n_kernels;
    for (unsigned i = 0; i < n; i++)
        if (graph->readiness.kernels[i] == key)
            return;
    if (n == sizeof(graph->readiness.kernels) / sizeof(*graph->readiness.kernels))
        return;
    graph->readiness.kernels[graph->readiness.n_kernels++] = key;
    graph->readiness.kernels_ns += ahead_ns;
}

/* A program that was moved, or is called otherwise, isn't known, but its kernels are. */
void tsl_graph_expect(const struct tsl_kernel *kernel)
{
    struct tsl_graph *graph = kernel->program->context->graph;
    double ahead_ns = tsl_placer_ahead_ns(graph->placer, kernel->place_key);
    if (ahead_ns <= 0)
        return;
    tell(ahead_ns, kernel->name);
    tsl_lock_take(&graph->lock);
    add_kernel(graph, kernel->place_key, ahead_ns);
    expect(graph, fmax(ahead_ns, graph->readiness.kernels_ns), 0);
}

void tsl_readiness_expect(struct tsl_graph *graph)
{
    double ahead_ns = tsl_placer_program_ahead_ns(graph->placer);
    bool unknown = tsl_placer_help(graph->placer) < 0;
    if (ahead_ns <= 0)
        return;
    tell(ahead_ns, "the program");
    tsl_lock_take(&graph->lock);
    expect(graph, ahead_ns, unknown ? tsl_placer_waited_ns(graph->placer) : 0);
}

/* A launch that is known to run for long enough for others to be opened meanwhile needs no further reason. */
void tsl_readiness_placed(struct tsl_graph *graph, const struct tsl_placement *placement, uint64_t now_ns)
{
    if (graph->readiness.all)
        return;
    if (!graph->readiness.since_ns)
        graph->readiness.since_ns = now_ns;
    if (placement->placed && placement->known && placement->run_ns >= TSL_COUNTS_FROM_NS)
        open_for(graph, placement->run_ns, patience_of(graph));
}

void tsl_readiness_ended(struct tsl_graph *graph, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    double estimated_ns = placement->known ? placement->run_ns : 0;
    double ran_ns = ended->ran_ns ? (double)ended->ran_ns : estimated_ns;
    if (graph->readiness.all || ran_ns < TSL_COUNTS_FROM_NS)
        return;
    graph->readiness.ran_ns += ran_ns;
    if (is_old_enough(graph, ended->now_ns))
        open_for(graph, graph->readiness.ran_ns, patience_of(graph));
}
