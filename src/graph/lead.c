#include "graph/lead.h"

#include "base/log.h"
#include "base/small_vector.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "handle/object.h"
#include "object/queue.h"
#include "place/place.h"
#include "program/program.h"

#include <string.h>

/* What it costs to see the end of a lead and to plan what comes next, about. */
#define NOTICE_NS 1e5

double tsl_lead_long_ns = 2e6;

static bool copy_waits(struct tsl_command *lead, const struct tsl_command *c)
{
    for (unsigned i = 0; i < c->waits.n; i++) {
        struct tsl_command *before = *TSL_SMALL_AT(&c->waits, i);
        if (!TSL_SMALL_PUSH(&lead->waits, before))
            return false;
        before->refs++;
    }
    lead->n_listed = c->n_listed;
    return true;
}

/* The launch's number is the lead's, too. It tells of the lead's failure, so the lead's is nobody's. */
static void describe(struct tsl_command *lead, struct tsl_command *c)
{
    lead->is_lead = lead->has_event = true;
    lead->n_hold = 0;
    lead->id = c->id;
    lead->in_order = c->in_order;
    lead->profile = c->profile;
    lead->serial = c->serial;
    lead->sync = c->sync;
    lead->place_by = c->place_by;
    lead->flushed = c->flushed;
    lead->awaited = c->awaited;
    lead->queued_ns = c->queued_ns;
    lead->members = c->members;
    lead->whole_why = TSL_WHOLE_UNKNOWN;
    lead->kernel = c->kernel;
    tsl_object_ref(&c->kernel->object);
    lead->args = c->args;
    tsl_args_hold(c->args);
}

/* It was never in its queue: what it holds is dropped later, without the lock. */
static bool drop(struct tsl_command *lead)
{
    lead->next = lead->graph->garbage;
    lead->graph->garbage = lead;
    return false;
}

static bool place(struct tsl_command *lead, const struct tsl_lead_on *on)
{
    struct tsl_graph *graph = lead->graph;
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    if (!on)
        return tsl_place_choose(lead);
    struct tsl_ask its = *on->ask;
    memcpy(candidates, its.candidates, graph->n_ports * sizeof(*candidates));
    for (unsigned i = 0; i < graph->n_ports; i++)
        candidates[i].eligible &= i == on->member;
    its.candidates = candidates;
    its.size = tsl_window_items(&lead->share.window);
    its.n_behind = NULL;
    its.back_ns = NULL;
    tsl_placer_choose(graph->placer, &its, &lead->share.placement);
    return lead->share.placement.placed;
}

bool tsl_lead_make(struct tsl_command *c, const struct tsl_lead_on *on, const struct tsl_window windows[2])
{
    struct tsl_command *lead = tsl_command_create(c->graph, c->queue, c->type);
    if (!lead)
        return false;
    describe(lead, c);
    lead->share.window = windows[0];
    if (!copy_waits(lead, c) || !place(lead, on))
        return drop(lead);
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "%s %s by a window of %llu items, %llu are left", c->kernel->name,
            c->n_leads ? "goes on" : "begins", (unsigned long long)tsl_window_items(&windows[0]),
            (unsigned long long)tsl_window_items(&windows[1]));
    TAILQ_INSERT_BEFORE(c, lead, link);
    lead->refs++;
    if (!c->n_leads++) {
        c->submit_ns = tsl_command_stamp(c);
        c->lead_member = (uint8_t)lead->share.placement.member;
    }
    c->share.window = windows[1];
    c->lead = lead;
    c->lead_due = true;
    return true;
}

bool tsl_lead_holds(struct tsl_command *c)
{
    struct tsl_command *lead = c->lead;
    if (lead->state < TSL_COMPLETE)
        return true;
    if (lead->status < 0)
        c->status = lead->status;
    c->leads_ns += NOTICE_NS + (double)(lead->share.ran_to_ns - lead->share.ran_from_ns);
    if (!c->first_op && lead->share.op) {
        c->first_op = lead->share.op;
        c->first_op->user.refs++;
    }
    c->lead = NULL;
    tsl_command_unref(lead);
    return false;
}

void tsl_lead_settle(const struct tsl_command *c)
{
    if (!c->n_more)
        tsl_placer_led(c->graph->placer, c->leads_ns);
}
