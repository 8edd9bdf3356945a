#include "graph/either_way.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sets.h"
#include "footprint/window.h"
#include "graph/arena.h"
#include "graph/command.h"
#include "graph/member_memory.h"
#include "graph/out_of_core.h"
#include "graph/queue.h"
#include "graph/readiness.h"
#include "graph/state.h"
#include "graph/survey.h"
#include "place/place.h"
#include "program/program.h"

/* So many launches behind one are looked at. */
#define LOOK_AHEAD 256u

/* ---- The two ways ------------------------------------------------------------------------------------------------ */

static tsl_members with_windows(const struct tsl_command *c)
{
    return c->out_of_core ? c->members : c->other_way;
}

static tsl_members with_room(const struct tsl_command *c)
{
    return c->out_of_core ? c->other_way : c->members;
}

static void turn(struct tsl_command *c)
{
    tsl_members members = c->members;
    c->members = c->other_way;
    c->other_way = members;
    c->out_of_core = !c->out_of_core;
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "%s: some members hold its buffers, but it should end sooner %s",
            c->kernel->name, c->out_of_core ? "window by window on others" : "there than window by window");
}

static tsl_members living(const struct tsl_graph *graph, tsl_members members)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && tsl_member_is_lost(graph->ports[i].member))
            tsl_members_remove(&members, i);
    return members;
}

/* ---- The question ------------------------------------------------------------------------------------------------ */

static enum tsl_by_windows ask(struct tsl_command *c, tsl_members whole, tsl_members windows, unsigned n, bool tries)
{
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        bool by_windows = tsl_members_has(windows, i);
        candidates[i] =
            (struct tsl_candidate){.eligible = by_windows || tsl_members_has(whole, i), .windows = by_windows};
    }
    struct tsl_ask ask = {.candidates = candidates,
                          .kernel = c->kernel->place_key,
                          .size = tsl_window_items(&c->share.window),
                          .now_ns = tsl_clock_ns(),
                          .again = c->share.placement.later,
                          .by = (enum tsl_place_by)c->place_by};
    ask.ready_ns = tsl_survey(c, &c->share.window, whole, candidates);
    return tsl_placer_windows(c->graph->placer, &ask, n, tries);
}

/* Has one of the members windows under way? */
static bool are_busy(const struct tsl_graph *graph, tsl_members members)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && tsl_arena_is_used(&graph->ports[i]))
            return true;
    return false;
}

static bool should_go_by_windows(struct tsl_command *c, unsigned n, bool tries)
{
    tsl_members whole = living(c->graph, with_room(c)), windows = living(c->graph, with_windows(c));
    if (tsl_members_is_empty(windows))
        return false;
    if (tsl_members_is_empty(whole))
        return true;
    switch (ask(c, whole, windows, n, tries)) {
    case TSL_BY_WINDOWS_NO:
        return false;
    case TSL_BY_WINDOWS_GUESSED:
        return n > 1 || !are_busy(c->graph, windows);
    case TSL_BY_WINDOWS_KNOWN:
        return true;
    }
    return false;
}

/* Returns whether the launch goes window by window. */
static bool decide(struct tsl_command *c, unsigned n, bool tries)
{
    if (should_go_by_windows(c, n, tries) != c->out_of_core)
        turn(c);
    return c->out_of_core;
}

/* ---- At the enqueue ---------------------------------------------------------------------------------------------- */

static bool has_room(const struct tsl_port *port)
{
    return tsl_member_memory_has(port->member, TSL_ARENA_AREAS * tsl_arena_small_size(port));
}

static tsl_members others(const struct tsl_command *c, tsl_members members)
{
    struct tsl_graph *graph = c->graph;
    members = tsl_members_without(living(graph, members), c->members);
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) &&
            (!tsl_member_is_ready(graph->ports[i].member) || !has_room(&graph->ports[i])))
            tsl_members_remove(&members, i);
    return members;
}

/* Launches with which this one is chained, itself among them: as many as wait already, or as were chained before. */
static unsigned n_expected(const struct tsl_graph_queue *queue)
{
    unsigned n = queue->chain ? queue->n_in_chain + 1 : 1;
    return queue->n_together > n ? queue->n_together : n;
}

void tsl_either_way_find(struct tsl_command *c, tsl_members members)
{
    struct tsl_graph *graph = c->graph;
    if (!c->kernel || !tsl_placer_learns(graph->placer))
        return;
    tsl_lock_take(&graph->lock);
    const struct tsl_graph_queue *queue = c->queue;
    c->place_by = (uint8_t)queue->place_by;
    if (queue->place_by == TSL_PLACE_BY_SETTINGS)
        c->other_way = tsl_out_of_core_able(c, others(c, members));
    if (!tsl_members_is_empty(c->other_way))
        decide(c, n_expected(queue), false);
    tsl_lock_give(&graph->lock);
}

/* ---- Later ------------------------------------------------------------------------------------------------------- */

static bool may_be_chained(const struct tsl_command *c)
{
    return c->kernel && c->in_order && !c->serial && !c->sync && !c->unchained && c->state == TSL_HELD &&
           c->status == CL_COMPLETE && !c->graph->checks_cuts &&
           (c->out_of_core || !tsl_members_is_empty(c->other_way));
}

void tsl_either_way_chain(struct tsl_command *first)
{
    struct tsl_command *c = first;
    unsigned n = 0;
    if (tsl_members_is_empty(first->other_way) || first->out_of_core)
        return;
    for (; n < LOOK_AHEAD && c && may_be_chained(c); n++)
        c = TAILQ_NEXT(c, link);
    if (n < 2 || !decide(first, n, true))
        return;
    for (c = first; n > 0; n--, c = TAILQ_NEXT(c, link))
        if (!c->out_of_core)
            turn(c);
}

void tsl_either_way_alone(struct tsl_command *c)
{
    if (tsl_members_is_empty(c->other_way))
        return;
    if (c->out_of_core) /* It was expected to be chained, or not. */
        c->queue->n_together = 0;
    decide(c, 1, true);
}

bool tsl_either_way_needs_chain(struct tsl_command *c)
{
    return c->out_of_core && !tsl_members_is_empty(c->other_way) && !should_go_by_windows(c, 1, false);
}

bool tsl_either_way_whole(struct tsl_command *c)
{
    if (tsl_members_is_empty(c->other_way))
        return false;
    if (c->out_of_core)
        turn(c);
    c->other_way = TSL_MEMBERS_NONE;
    return true;
}

/* Must what lies in the memory of a member go for the launch's windows? */
static bool must_evict(const struct tsl_command *c)
{
    const struct tsl_graph *graph = c->graph;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(c->members, i) && !graph->ports[i].arena.resident &&
            tsl_member_memory_full(&graph->ports[i], TSL_ARENA_AREAS * tsl_arena_small_size(&graph->ports[i])))
            return true;
    return false;
}

void tsl_either_way_placed(struct tsl_command *c)
{
    if (tsl_members_is_empty(c->other_way))
        return;
    c->watched = true; /* Its end is to be seen at once. */
    c->evicts_ns = must_evict(c) ? tsl_clock_ns() : 0;
}
