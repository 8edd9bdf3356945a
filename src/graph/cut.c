#include "graph/cut.h"

#include "base/log.h"
#include "base/sets.h"
#include "base/settings.h"
#include "facts/kernel_facts.h"
#include "footprint/cut.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/cut_count.h"
#include "graph/cut_inside.h"
#include "graph/cut_kernel.h"
#include "graph/cut_lead.h"
#include "graph/cut_rims.h"
#include "graph/cut_work.h"
#include "graph/data.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "graph/survey.h"
#include "object/queue.h"
#include "place/place.h"
#include "program/launch.h"
#include "program/program.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const rungs[TSL_N_RUNGS] = {
    [TSL_RUNG_WHOLE] = "whole", [TSL_RUNG_EXACT] = "exact",   [TSL_RUNG_DOMAIN] = "domain",
    [TSL_RUNG_MERGE] = "merge", [TSL_RUNG_REDUCE] = "reduce",
};

bool tsl_cut_is_possible(const struct tsl_command *c)
{
    for (unsigned i = 0; i < c->graph->n_ports && tsl_placer_cuts(c->graph->placer); i++) {
        const struct tsl_kernel_part *part = &c->kernel->parts[i];
        if (tsl_members_has(c->members, i) && part->windows && tsl_cut_kernel_on(c, part) == TSL_CUT_OK)
            return true;
    }
    return false;
}

bool tsl_cut_is_wanted(const struct tsl_graph *graph)
{
    return graph->cuts_always;
}

/* ---- Why not ----------------------------------------------------------------------------------------------------- */

static void say(const struct tsl_cut *cut, char *text, size_t size)
{
    tsl_cut_kernel_say(cut->command->kernel, cut->footprint, &cut->verdict, text, size);
}

/* Each reason once for a kernel, as a span without length. */
static void trace(struct tsl_cut *cut)
{
    struct tsl_kernel *kernel = cut->command->kernel;
    uint64_t now_ns = cut->ask->now_ns;
    char text[512];
    if (!tsl_trace_on() || kernel->cut.traced & 1u << cut->verdict.why)
        return;
    kernel->cut.traced |= 1u << cut->verdict.why;
    say(cut, text, sizeof(text));
    tsl_trace_span(
        &(struct tsl_trace_span){.lane = tsl_trace_lane("host", TSL_TRACE_HOST),
                                 .category = TSL_TRACE_CAT_VERDICT,
                                 .name = kernel->name,
                                 .start_ns = now_ns,
                                 .end_ns = now_ns,
                                 .args = tsl_trace_args(tsl_trace_text("why", tsl_cut_word(cut->verdict.why)),
                                                        tsl_trace_text("sentence", text))});
}

/* Each reason once for a kernel. */
static void tell(struct tsl_cut *cut)
{
    struct tsl_kernel *kernel = cut->command->kernel;
    char text[512];
    trace(cut);
    if (kernel->cut.told & 1u << cut->verdict.why || !tsl_log_on(TSL_LOG_IN_PLACE, TSL_LOG_INFO))
        return;
    kernel->cut.told |= 1u << cut->verdict.why;
    say(cut, text, sizeof(text));
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "launches of %s run whole, as %s", kernel->name, text);
}

static bool whole(struct tsl_cut *cut, enum tsl_whole_why why)
{
    cut->command->whole_why = (uint8_t)why;
    cut->command->cut_why = (uint8_t)cut->verdict.why;
    return false;
}

bool tsl_cut_give_up(struct tsl_cut *cut, enum tsl_cut_why why)
{
    cut->verdict = (struct tsl_cut_verdict){why, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE};
    return false;
}

static bool refuse(struct tsl_cut *cut, enum tsl_cut_why why)
{
    tsl_cut_give_up(cut, why);
    tell(cut);
    return whole(cut, TSL_WHOLE_FORBIDDEN);
}

/* ---- What the kernel allows -------------------------------------------------------------------------------------- */

/* Marks the candidates that can run a part of the launch, and takes the footprint of the first. */
bool tsl_cut_mark(struct tsl_cut *cut, struct tsl_candidate *candidates)
{
    struct tsl_command *c = cut->command;
    enum tsl_cut_why why = TSL_CUT_OK;
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        struct tsl_kernel_part *part = &c->kernel->parts[i];
        if (!candidates[i].eligible || !part->windows)
            continue;
        enum tsl_cut_why here = tsl_cut_kernel_on(c, part);
        why = here == TSL_CUT_OK ? why : here;
        candidates[i].windows = here == TSL_CUT_OK;
        if (here == TSL_CUT_OK && !cut->part)
            cut->part = part;
    }
    if (!cut->part)
        return why == TSL_CUT_OK ? whole(cut, TSL_WHOLE_NO_WINDOWS) : refuse(cut, why);
    cut->footprint = cut->part->facts.footprint;
    return !tsl_cut_kernel_has_svm(c->args) || refuse(cut, TSL_CUT_SVM);
}

tsl_members tsl_cut_members(const struct tsl_cut *cut)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        if (cut->ask->candidates[i].windows)
            tsl_members_add(&members, i);
    return members;
}

/* ---- Does it pay? ------------------------------------------------------------------------------------------------ */

#define LARGE_MOVE_NS 1e5

static void count_shares(const struct tsl_cut *cut, unsigned shares[TSL_MAX_MEMBERS])
{
    memset(shares, 0, TSL_MAX_MEMBERS * sizeof(*shares));
    for (unsigned s = 0; s < cut->n; s++)
        shares[cut->members[s]]++;
}

static void count_moved_borders(const struct tsl_cut *cut, const struct tsl_parts *parts,
                                const struct tsl_candidate *candidates)
{
    unsigned n = cut->command->graph->n_ports;
    double peer_ns = 0;
    const struct tsl_work_memo *memo = tsl_cut_work_memo(cut);
    if (!memo->work.uneven)
        return;
    for (unsigned i = 0; i < n; i++)
        peer_ns = parts->of[i] > 0 ? fmax(peer_ns, candidates[i].peer_ns) : peer_ns;
    tsl_cut_work_moved(cut->command, tsl_cut_work_gain(memo, n, parts), parts->run_ns, peer_ns);
}

static void note_decision(const struct tsl_command *c)
{
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            tsl_placer_decided(c->graph->placer, &tsl_data_of(c->args->args[i].buffer)->layout);
}

static bool pays(struct tsl_cut *cut, struct tsl_parts *parts, struct tsl_candidate *candidates)
{
    struct tsl_ask ask = *cut->ask;
    memcpy(candidates, ask.candidates, cut->command->graph->n_ports * sizeof(*candidates));
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        candidates[i] = (struct tsl_candidate){.eligible = candidates[i].eligible,
                                               .windows = candidates[i].windows,
                                               .kernel = candidates[i].kernel,
                                               .part_kernel = candidates[i].part_kernel};
    for (unsigned s = 0; s < cut->n; s++)
        tsl_survey_moves(cut->command, &cut->windows[s], cut->joints, tsl_members_of(cut->members[s]), candidates);
    ask.candidates = candidates;
    parts->joint_ns = 0;
    if (cut->joints && tsl_placer_learns(cut->command->graph->placer)) {
        unsigned shares[TSL_MAX_MEMBERS];
        count_shares(cut, shares);
        parts->joint_ns = tsl_joints_ns(cut->command, cut->joints, shares);
        cut->command->share.joint_ns = parts->joint_ns;
    }
    count_moved_borders(cut, parts, candidates);
    parts->divided = tsl_cut_was_divided(cut);
    bool it_pays = tsl_placer_pays(cut->command->graph->placer, &ask, parts);
    note_decision(cut->command);
    return it_pays;
}

static void tell_shares(const struct tsl_cut *cut)
{
    unsigned d = cut->dimension;
    for (unsigned s = 0; s < cut->n; s++)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "%s: groups %zu … %zu of dimension %u on %s (%s%s)",
                cut->command->kernel->name, cut->windows[s].group_begin[d],
                cut->windows[s].group_begin[d] + cut->windows[s].group_count[d], d,
                cut->command->graph->ports[cut->members[s]].name, tsl_rung_name(cut->rung),
                s < cut->n_inside ? ", inside"
                : cut->n_inside   ? ", rim"
                                  : "");
}

static bool make_shares(struct tsl_cut *cut, const struct tsl_candidate *candidates)
{
    struct tsl_command *c = cut->command;
    struct tsl_ask ask = *cut->ask;
    ask.candidates = candidates;
    struct tsl_share *more = cut->n > 1 ? calloc(cut->n - 1, sizeof(*more)) : NULL;
    if (cut->n > 1 && !more)
        return refuse(cut, TSL_CUT_NO_MEMORY);
    c->more = more;
    c->spread_over = cut->spread_over;
    c->spread = cut->spread;
    c->changes_by_turns = cut->changes_by_turns;
    c->rung = cut->rung;
    c->later_wins = cut->later_wins && cut->rung == TSL_RUNG_EXACT;
    c->cut_dimension = (uint8_t)cut->dimension;
    c->joints = cut->joints;
    cut->joints = NULL;
    c->n_more = cut->n - 1;
    c->n_inside = cut->n_inside;
    for (unsigned s = 0; s < cut->n; s++) {
        struct tsl_share *share = tsl_command_share(c, s);
        share->window = cut->windows[s];
        bool waits = s >= cut->n_inside;
        share->moved = waits && candidates[cut->members[s]].move_ns > LARGE_MOVE_NS;
        share->peer_ns = waits ? candidates[cut->members[s]].peer_ns : 0;
        share->asked_ns = ask.now_ns;
        double part = tsl_cut_work_of(tsl_cut_work_memo(cut), &share->window, cut->dimension);
        share->work = (uint64_t)fmax(part * (double)tsl_cut_launch_items(cut) + 0.5, 1);
        share->placement.member = cut->members[s];
        if (cut->n_inside && waits)
            tsl_cut_place_rim(cut, share);
        else
            tsl_placer_place_part(c->graph->placer, &ask, cut->members[s], share->work, &share->placement);
    }
    tell_shares(cut);
    return true;
}

/* Where all is cut, the program leaves the choice and there are few work-items, each share has some groups all the
 * same. */
void tsl_cut_choose_size(struct tsl_cut *cut)
{
    const struct tsl_command *c = cut->command;
    tsl_members members = tsl_cut_members(cut);
    if (tsl_cut_is_wanted(c->graph))
        tsl_launch_choose_small(c->kernel, c->queue->handle->device, members, 4 * tsl_members_count(members),
                                &cut->window);
    else
        tsl_launch_choose(c->kernel, c->queue->handle->device, members, &cut->window);
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

/* The first rung that is legal, or the one that is asked for. */
static enum tsl_rung find_rung(struct tsl_cut *cut, struct tsl_parts *parts)
{
    static const enum tsl_rung only[] = {[TSL_SPLIT_ALWAYS_EXACT] = TSL_RUNG_EXACT,
                                         [TSL_SPLIT_ALWAYS_DOMAIN] = TSL_RUNG_DOMAIN,
                                         [TSL_SPLIT_ALWAYS_MERGE] = TSL_RUNG_MERGE,
                                         [TSL_SPLIT_ALWAYS_REDUCE] = TSL_RUNG_REDUCE};
    enum tsl_split split = tsl_settings()->split;
    enum tsl_rung asked = split > TSL_SPLIT_ALWAYS ? only[split] : TSL_RUNG_WHOLE;
    bool exact = tsl_cut_exactly(cut, parts);
    if (exact && (asked == TSL_RUNG_WHOLE || asked == TSL_RUNG_EXACT))
        return TSL_RUNG_EXACT;
    bool domain = asked == TSL_RUNG_WHOLE || asked == TSL_RUNG_DOMAIN, first = cut->command->graph->spreads;
    if (domain && first && tsl_cut_in_domain(cut, parts))
        return TSL_RUNG_DOMAIN;
    if (asked == TSL_RUNG_EXACT || asked == TSL_RUNG_DOMAIN)
        return TSL_RUNG_WHOLE;
    if (!tsl_cut_by_joints(cut, parts))
        return domain && !first && tsl_cut_in_domain(cut, parts) ? TSL_RUNG_DOMAIN : TSL_RUNG_WHOLE;
    enum tsl_rung found = TSL_RUNG_MERGE;
    for (unsigned j = 0; j < cut->joints->n; j++)
        found = cut->joints->list[j].reduce ? TSL_RUNG_REDUCE : found;
    return asked == TSL_RUNG_WHOLE || asked == found ? found : TSL_RUNG_WHOLE;
}

/* Field by field: the arrays, which are filled before they are read, have some 8 KB, and most launches need none. */
/* On the heap: callers' stacks may be small. NULL: there is no memory; the launch runs whole. */
static struct tsl_cut *begin(struct tsl_command *c, const struct tsl_ask *ask)
{
    struct tsl_cut *cut = malloc(sizeof(*cut));
    if (!cut)
        return NULL;
    cut->command = c;
    cut->ask = ask;
    cut->part = NULL;
    cut->footprint = NULL;
    cut->window = c->share.window;
    cut->spread_over = TSL_MEMBERS_NONE;
    cut->changes_by_turns = cut->lacks_part = cut->ahead = cut->later_wins = false;
    cut->rung = TSL_RUNG_WHOLE;
    cut->joints = NULL;
    memset(cut->ends, 0, sizeof(cut->ends));
    cut->n = cut->n_inside = 0;
    cut->touches = NULL;
    cut->verdict = (struct tsl_cut_verdict){TSL_CUT_OK, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE};
    return cut;
}

static void end(struct tsl_cut *cut)
{
    if (!cut)
        return;
    free(cut->touches);
    free(cut->joints);
    free(cut);
}

/* ---- As the launch before ---------------------------------------------------------------------------------------- */

/* So many launches are cut as the one before without a survey. */
#define REPEATS 7

/* What lets the next launches of the kernel be cut as this one. */
struct tsl_cut_kept {
    unsigned n_left;
    uint64_t before;     /* the kernel whose launch came before this one, by its key */
    tsl_members members; /* that could take the launch */
    struct tsl_parts parts;
    struct tsl_candidate candidates[TSL_MAX_MEMBERS]; /* with what moved to them for their shares */
};

static tsl_members members_of(const struct tsl_cut *cut)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        if (cut->ask->candidates[i].eligible)
            tsl_members_add(&members, i);
    return members;
}

/* A launch for which much moves is no example, nor is one with parts of which it isn't known how long they take. */
static void keep(const struct tsl_cut *cut, const struct tsl_parts *parts, const struct tsl_candidate *candidates)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    struct tsl_graph *g = cut->command->graph;
    bool few = parts->known && cut->rung == TSL_RUNG_EXACT && !cut->command->n_leads;
    for (unsigned s = 0; s < cut->n; s++)
        few &= candidates[cut->members[s]].move_ns <= parts->run_ns &&
               !tsl_command_share(cut->command, s)->placement.first;
    if (!memo->kept && few)
        memo->kept = malloc(sizeof(*memo->kept));
    if (!memo->kept)
        return;
    memo->kept->n_left = few ? REPEATS : 0;
    memo->kept->before = g->kernel_before;
    memo->kept->members = members_of(cut);
    memo->kept->parts = *parts;
    memcpy(memo->kept->candidates, candidates, g->n_ports * sizeof(*candidates));
}

/* Has the program come round to where it launched the kernel last, and is nothing else than it was then? */
static bool is_as_before(const struct tsl_cut *cut)
{
    const struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    struct tsl_graph *g = cut->command->graph;
    return memo->kept->before == g->kernel_before && tsl_members_are(memo->kept->members, members_of(cut)) &&
           tsl_cut_exact_remembers(cut) && tsl_placer_repeats(g->placer, cut->ask);
}

static bool again(struct tsl_cut *cut, struct tsl_cut_kept *kept, struct tsl_candidate *candidates)
{
    struct tsl_command *c = cut->command;
    if (!tsl_cut_mark(cut, candidates))
        return false;
    tsl_cut_choose_size(cut);
    if (!is_as_before(cut))
        return false;
    kept->n_left--;
    struct tsl_parts parts = kept->parts;
    tsl_cut_kernel_memories(c, cut->footprint, tsl_cut_members(cut), cut->memories, &cut->values);
    cut->rung = TSL_RUNG_EXACT;
    if (!tsl_cut_exactly(cut, &parts))
        return false;
    tsl_cut_divide(cut, &parts, kept->candidates);
    struct tsl_ask booked = *cut->ask;
    booked.candidates = kept->candidates;
    parts.divided = cut->n_inside > 0;
    tsl_placer_repeat(c->graph->placer, &booked, &parts); /* Shares are told what the ledger has for them. */
    if (!make_shares(cut, kept->candidates))
        return false;
    tsl_cut_count(c, TSL_RUNG_EXACT);
    return true;
}

bool tsl_cut_again(struct tsl_command *c, const struct tsl_ask *ask, struct tsl_candidate *candidates)
{
    struct tsl_cut_kept *kept = c->kernel->cut.kept;
    if (!kept || !kept->n_left)
        return false;
    struct tsl_cut *cut = begin(c, ask);
    bool chosen = cut && again(cut, kept, candidates);
    end(cut);
    return chosen;
}

/* ---- The door ---------------------------------------------------------------------------------------------------- */

static bool choose(struct tsl_cut *cut, struct tsl_parts *parts)
{
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    tsl_cut_kernel_memories(cut->command, cut->footprint, tsl_cut_members(cut), cut->memories, &cut->values);
    cut->rung = find_rung(cut, parts);
    if (cut->rung == TSL_RUNG_WHOLE) {
        if (cut->verdict.why == TSL_CUT_OK)
            return whole(cut, cut->lacks_part ? TSL_WHOLE_NO_PARTS : TSL_WHOLE_SETTING);
        if (parts->why != TSL_UNCUT_UNKNOWN) /* Else not all rungs were asked for. */
            tell(cut);
        return whole(cut, TSL_WHOLE_FORBIDDEN);
    }
    if (cut->rung != TSL_RUNG_EXACT && cut->verdict.why != TSL_CUT_OK)
        trace(cut);
    whole(cut, TSL_WHOLE_UNPAID);
    if (!pays(cut, parts, candidates))
        return false;
    tsl_cut_divide(cut, parts, candidates);
    if (!make_shares(cut, candidates))
        return false;
    keep(cut, parts, candidates);
    return true;
}

/* So many launches of a kernel aren't looked at after one that was much too small. */
#define SMALL_SKIPPED 15

static bool is_known_to_be_small(struct tsl_cut_memo *memo, uint64_t size)
{
    if (!memo->n_small || size > memo->small_size)
        return false;
    memo->n_small--;
    return true;
}

/* Wherever it runs whole, other members would have to bring it much. */
static bool is_distributed(const struct tsl_command *c, const struct tsl_ask *ask)
{
    double least_ns = INFINITY;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        least_ns = ask->candidates[i].eligible ? fmin(least_ns, ask->candidates[i].peer_ns) : least_ns;
    return least_ns > LARGE_MOVE_NS;
}

static uint64_t most_groups(const struct tsl_window *window)
{
    uint64_t most = 0;
    for (unsigned d = 0; d < window->work_dim && window->local_size[0]; d++) {
        uint64_t n = tsl_cut_groups(window, d);
        most = n > most ? n : most;
    }
    return most;
}

/* Which members should do which part; false: the launch stays whole. */
static bool ask_for_parts(struct tsl_cut *cut, struct tsl_candidate *candidates, struct tsl_parts *parts)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    cut->command->whole_counts = !tsl_cut_mark(cut, candidates);
    if (cut->command->whole_counts)
        return false;
    struct tsl_ask ask = *cut->ask;
    ask.n_groups = most_groups(&cut->window);
    if (tsl_placer_parts(cut->command->graph->placer, &ask, parts))
        return true;
    static const enum tsl_whole_why why[] = {
        [TSL_UNCUT_PARTS] = TSL_WHOLE_NO_PARTS,    [TSL_UNCUT_SMALL] = TSL_WHOLE_SMALL,
        [TSL_UNCUT_PAUSED] = TSL_WHOLE_PAUSED,     [TSL_UNCUT_UNKNOWN] = TSL_WHOLE_UNKNOWN,
        [TSL_UNCUT_MEASURED] = TSL_WHOLE_MEASURED, [TSL_UNCUT_UNPAID] = TSL_WHOLE_UNPAID,
    };
    if (parts->why == TSL_UNCUT_SMALL)
        memo->small_size = cut->ask->size, memo->n_small = SMALL_SKIPPED;
    return whole(cut, why[parts->why]);
}

/* False: a launch that began by windows is looked at no further: it has another one, or runs whole. */
static bool goes_on(struct tsl_cut *cut, struct tsl_candidate *candidates)
{
    enum tsl_cut_lead_next next = tsl_cut_lead_next(cut, candidates);
    if (next == TSL_CUT_LEAD_WHOLE)
        whole(cut, TSL_WHOLE_UNKNOWN);
    free(cut->touches);
    cut->touches = NULL;
    return next == TSL_CUT_LEAD_ENDS;
}

/* A launch of which nothing is known begins by a window. If it may not, that is the time to say why it isn't cut. */
static void begin_by_window(struct tsl_cut *cut, const struct tsl_parts *parts)
{
    const struct tsl_cut_verdict verdict = cut->verdict;
    tsl_cut_lead_first(cut, parts);
    cut->verdict = verdict;
    if (!cut->command->lead_due && cut->command->whole_why == TSL_WHOLE_FORBIDDEN)
        tell(cut);
}

static bool choose_parts(struct tsl_cut *cut, struct tsl_candidate *candidates)
{
    struct tsl_command *c = cut->command;
    struct tsl_parts parts = {.why = TSL_UNCUT_PARTS};
    bool found = ask_for_parts(cut, candidates, &parts);
    if (tsl_cut_lead_is_worth(c, &parts))
        tsl_cut_lead_first(cut, &parts);
    if (found && !c->lead_due)
        tsl_cut_choose_size(cut);
    bool chosen = found && !c->lead_due && choose(cut, &parts);
    if (!chosen && !c->lead_due && parts.why == TSL_UNCUT_UNKNOWN)
        begin_by_window(cut, &parts);
    c->whole_counts |= found && !chosen && !c->lead_due;
    if (chosen)
        tsl_cut_count(c, cut->rung);
    return chosen;
}

bool tsl_cut_choose(struct tsl_command *c, const struct tsl_ask *ask, struct tsl_candidate *candidates)
{
    c->whole_counts = false;
    c->whole_why = TSL_WHOLE_SETTING;
    if (!tsl_placer_cuts(c->graph->placer))
        return false;
    c->whole_why = TSL_WHOLE_SMALL;
    if (!is_distributed(c, ask) && is_known_to_be_small(&c->kernel->cut, ask->size))
        return false;
    struct tsl_cut *cut = begin(c, ask);
    if (c->kernel->cut.kept)
        c->kernel->cut.kept->n_left = 0;
    bool chosen = cut && (!c->n_leads || goes_on(cut, candidates)) && choose_parts(cut, candidates);
    end(cut);
    return chosen;
}

#define MOST_FIRST 4 /* launches of a kernel that are cut while it isn't known how long their parts take */

/* It doesn't where large data move for a share, nor of a kernel's first launches there: then memory is taken, or code
 * is loaded. Of small ones it may never be known how long they take. */
bool tsl_cut_is_usual(struct tsl_command *c)
{
    bool moved = false, first = false;
    for (unsigned i = 0; i <= c->n_more; i++) {
        const struct tsl_share *share = tsl_command_share(c, i);
        moved |= share->moved;
        first |= share->placement.first;
    }
    c->kernel->cut.n_first += first;
    return !moved && (!first || c->kernel->cut.n_first > MOST_FIRST);
}

const char *tsl_rung_name(enum tsl_rung rung)
{
    return rungs[rung];
}
