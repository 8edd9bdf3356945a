#include "graph/cut_lead.h"

#include "base/sets.h"
#include "driver/member.h"
#include "graph/command.h"
#include "graph/cut_inside.h"
#include "graph/cut_kernel.h"
#include "graph/lead.h"
#include "graph/readiness.h"
#include "graph/state.h"
#include "place/place.h"
#include "program/program.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_LEFT 8   /* times a window the launch is at least, but for large windows */
#define MOST_TRIES 6   /* are made to find a border */
#define SURE_NS    8e7 /* what is left takes by a large window, which may have the driver's first steps in it */

/* While members are being opened: a window takes so long, or such a part of what is left. */
#define PIECE_NS    1e7
#define PIECE       (1.0 / 32)
#define MUCH_SLOWER 4     /* times: such members can do little of the launch */
#define TRY_NS      2.5e8 /* a window in which others have a try, at least: long enough to hide that (place/parts.c) */

/* What is left may go to any of these; nothing is said of members that aren't ready. */
static tsl_members able(const struct tsl_command *c)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        const struct tsl_kernel_part *part = &c->kernel->parts[i];
        if (tsl_members_has(c->members, i) && part->windows && tsl_cut_kernel_on(c, part) == TSL_CUT_OK)
            tsl_members_add(&members, i);
    }
    return members;
}

/* ---- Where the window ends --------------------------------------------------------------------------------------- */

/* The first `groups` of the window on that member, and the rest there as well: may they be? */
static bool divide(struct tsl_cut *cut, unsigned member, uint64_t groups)
{
    const uint64_t ends[2] = {groups, tsl_cut_groups(&cut->window, cut->dimension)};
    tsl_cut_windows(&cut->window, cut->dimension, 2, ends, cut->windows);
    cut->members[0] = cut->members[1] = member;
    cut->n = 2;
    return !cut->command->leads_apart || tsl_cut_is_exact(cut);
}

/* Any border first, then round fractions, as borders.h has them. 0: there is none. */
static uint64_t find_border(struct tsl_cut *cut, unsigned member, uint64_t least)
{
    uint64_t all = tsl_cut_groups(&cut->window, cut->dimension), pieces = all / least,
             least_pieces = (uint64_t)(1 / tsl_placer_lead_most(cut->command->graph->placer));
    if (pieces < least_pieces)
        return 0;
    if (divide(cut, member, least))
        return least;
    for (unsigned i = 0; i < MOST_TRIES && pieces >= least_pieces; pieces--) {
        if (all % pieces)
            continue;
        if (divide(cut, member, all / pieces))
            return all / pieces;
        pieces = 2 * pieces / 3 + 1;
        i++;
    }
    return 0;
}

/* Halves of the launch are apart: then along which dimension is known. */
static bool find_dimension(struct tsl_cut *cut, unsigned member)
{
    struct tsl_parts halves = {.n_windows = 2};
    halves.of[member] = 1;
    return tsl_cut_exactly(cut, &halves);
}

/* What isn't apart may be cut by another rung all the same, as far as that can be told of members that aren't ready. */
static bool find_other_rung(struct tsl_cut *cut)
{
    const struct tsl_command *c = cut->command;
    tsl_members members = able(c);
    struct tsl_parts parts = {.n_windows = 1, .known = true};
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        parts.of[i] = tsl_members_has(members, i) ? 1.0 / tsl_members_count(members) : 0;
    cut->ahead = true;
    bool found = tsl_cut_by_joints(cut, &parts) || tsl_cut_in_domain(cut, &parts);
    cut->ahead = cut->changes_by_turns = false;
    cut->spread_over = TSL_MEMBERS_NONE;
    free(cut->joints);
    cut->joints = NULL;
    tsl_cut_give_up(cut, TSL_CUT_OK); /* Nothing of that is said of the window. */
    return found;
}

static uint64_t count_groups(const struct tsl_window *window)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < window->work_dim; d++)
        n *= tsl_cut_groups(window, d);
    return n;
}

/* ---- May it? ----------------------------------------------------------------------------------------------------- */

/* Of the members that could take the launch whole none is left out for the window's sake. */
static bool all_have_windows(const struct tsl_cut *cut)
{
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        if (cut->ask->candidates[i].eligible && !cut->ask->candidates[i].windows)
            return false;
    return true;
}

static bool may_begin(const struct tsl_cut *cut)
{
    const struct tsl_command *c = cut->command;
    return !c->is_lead && !c->n_leads && !c->graph->checks_cuts && !c->kernel->has_variants && !c->out_of_core &&
           tsl_members_is_empty(c->other_way) && !c->room_spread && all_have_windows(cut) &&
           tsl_members_count(able(c)) > 1;
}

static bool make(struct tsl_cut *cut, const struct tsl_lead_on *on)
{
    struct tsl_command *c = cut->command;
    if (!tsl_lead_make(c, on, cut->windows))
        return false;
    c->members = able(c);
    return true;
}

bool tsl_cut_lead_is_worth(const struct tsl_command *c, const struct tsl_parts *parts)
{
    return !c->is_lead && !c->n_leads && parts->known && parts->whole_run_ns >= LEAST_LEFT * PIECE_NS &&
           tsl_readiness_left_ns(c, parts->whole_run_ns) > 0;
}

void tsl_cut_lead_first(struct tsl_cut *cut, const struct tsl_parts *parts)
{
    struct tsl_command *c = cut->command;
    if (!may_begin(cut))
        return;
    tsl_cut_choose_size(cut);
    double part = tsl_placer_lead(c->graph->placer, cut->ask, parts->whole_member, count_groups(&cut->window));
    if (part <= 0)
        return;
    tsl_cut_kernel_memories(c, cut->footprint, tsl_cut_members(cut), cut->memories, &cut->values);
    c->leads_apart = find_dimension(cut, parts->whole_member);
    if (!c->leads_apart && !find_other_rung(cut))
        return;
    uint64_t least = (uint64_t)ceil(part * (double)tsl_cut_groups(&cut->window, cut->dimension));
    c->lead_groups = find_border(cut, parts->whole_member, least);
    c->lead_dimension = (uint8_t)cut->dimension;
    if (c->lead_groups)
        make(cut, &(struct tsl_lead_on){cut->ask, parts->whole_member});
}

/* ---- Another one? ------------------------------------------------------------------------------------------------ */

static bool make_next(struct tsl_cut *cut, uint64_t groups, const struct tsl_lead_on *on)
{
    struct tsl_command *c = cut->command;
    unsigned member = c->lead_member;
    cut->dimension = c->lead_dimension;
    if (groups * LEAST_LEFT / 2 > tsl_cut_groups(&cut->window, cut->dimension) || !cut->ask->candidates[member].windows)
        return false;
    tsl_cut_kernel_memories(c, cut->footprint, tsl_cut_members(cut), cut->memories, &cut->values);
    return divide(cut, member, groups) && make(cut, on);
}

/* A member that can take a part, and of which isn't known what it takes. */
static bool is_stranger(const struct tsl_cut *cut, unsigned i)
{
    return cut->ask->candidates[i].windows &&
           tsl_placer_part_ns(cut->command->graph->placer, cut->ask, i, cut->ask->size) <= 0;
}

static bool is_much_slower(const struct tsl_command *c, unsigned i)
{
    const struct tsl_port *ports = c->graph->ports;
    return ports[i].member->caps.speed * MUCH_SLOWER < ports[c->lead_member].member->caps.speed;
}

static bool has_strangers(const struct tsl_cut *cut)
{
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        if (is_stranger(cut, i) && !is_much_slower(cut->command, i))
            return true;
    return false;
}

/* How long another window should take, of what takes left_ns; 0: there is no need for one. */
static double next_ns(const struct tsl_cut *cut, double left_ns)
{
    struct tsl_command *c = cut->command;
    double piece_ns = fmax(PIECE_NS, left_ns * PIECE);
    if (left_ns >= LEAST_LEFT * piece_ns / 2 && tsl_readiness_left_ns(c, left_ns) > 0)
        return piece_ns;
    if (c->lead_tried || left_ns < LEAST_LEFT * TRY_NS || !has_strangers(cut))
        return 0;
    c->lead_tried = true;
    return fmax(TRY_NS, left_ns * PIECE);
}

/* Those that say to be much slower have no try in a kernel's first launch: they could do little of it. But they do all
 * of it where the member that began is lost. */
static void leave_slow_strangers(const struct tsl_cut *cut, struct tsl_candidate *candidates)
{
    if (!candidates[cut->command->lead_member].eligible)
        return;
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        if (is_stranger(cut, i) && is_much_slower(cut->command, i))
            candidates[i].eligible = candidates[i].windows = false;
}

/* As many times the first window's as is near. */
static uint64_t groups_in(const struct tsl_cut *cut, double part)
{
    const struct tsl_command *c = cut->command;
    double groups = part * (double)tsl_cut_groups(&cut->window, c->lead_dimension);
    return c->lead_groups * (uint64_t)fmax(groups / (double)c->lead_groups + 0.5, 1);
}

static bool goes_on(struct tsl_cut *cut, double left_ns)
{
    double ns = next_ns(cut, left_ns);
    return ns > 0 && make_next(cut, groups_in(cut, ns / left_ns), NULL);
}

/* A second window like the first one. */
static bool is_seen_again(struct tsl_cut *cut)
{
    const struct tsl_command *c = cut->command;
    return make_next(cut, c->lead_groups, &(struct tsl_lead_on){cut->ask, c->lead_member});
}

/* So large that no second one like it tells what the first one had of the driver's first steps. */
static bool is_large(const struct tsl_command *c)
{
    size_t local = c->share.window.local_size[c->lead_dimension];
    return c->lead_groups * local * LEAST_LEFT > c->share.window.global_size[c->lead_dimension];
}

enum tsl_cut_lead_next tsl_cut_lead_next(struct tsl_cut *cut, struct tsl_candidate *candidates)
{
    struct tsl_command *c = cut->command;
    double left_ns = tsl_placer_whole_ns(c->graph->placer, cut->ask);
    if (!tsl_cut_mark(cut, candidates))
        return TSL_CUT_LEAD_ENDS;
    if (c->n_leads == 1 && left_ns < (is_large(c) ? SURE_NS : tsl_lead_long_ns))
        return TSL_CUT_LEAD_WHOLE;
    if (c->n_leads == 1 && is_seen_again(cut))
        return TSL_CUT_LEAD_MADE;
    if (goes_on(cut, left_ns))
        return TSL_CUT_LEAD_MADE;
    leave_slow_strangers(cut, candidates);
    return TSL_CUT_LEAD_ENDS;
}
