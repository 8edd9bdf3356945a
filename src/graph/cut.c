#include "graph/cut.h"

#include "base/log.h"
#include "base/sets.h"
#include "base/settings.h"
#include "facts/kernel_facts.h"
#include "footprint/cut.h"
#include "graph/borders.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/cut_inside.h"
#include "graph/cut_kernel.h"
#include "graph/cut_work.h"
#include "graph/data.h"
#include "graph/footing.h"
#include "graph/queue.h"
#include "graph/spread_make.h"
#include "graph/state.h"
#include "graph/survey.h"
#include "object/buffer.h"
#include "object/queue.h"
#include "place/place.h"
#include "program/launch.h"
#include "program/program.h"
#include "trace/trace.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Launches of the process that were looked at, by rung. */
static atomic_ullong n_launches[TSL_N_RUNGS];

static const char *const rungs[TSL_N_RUNGS] = {
    [TSL_RUNG_WHOLE] = "whole", [TSL_RUNG_EXACT] = "exact",   [TSL_RUNG_DOMAIN] = "domain",
    [TSL_RUNG_MERGE] = "merge", [TSL_RUNG_REDUCE] = "reduce",
};

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
static bool mark_candidates(struct tsl_cut *cut, struct tsl_candidate *candidates)
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
    return !tsl_cut_kernel_has_svm(c->args) || refuse(cut, TSL_CUT_POINTERS);
}

static tsl_members members_with_windows(const struct tsl_cut *cut)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        if (cut->ask->candidates[i].windows)
            tsl_members_add(&members, i);
    return members;
}

/* ---- Along which dimension --------------------------------------------------------------------------------------- */

static bool is_remembered(const struct tsl_cut *cut)
{
    const struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    const struct tsl_window *window = &cut->window;
    return memcmp(memo->global_size, window->global_size, sizeof(memo->global_size)) == 0 &&
           memcmp(memo->local_size, window->local_size, sizeof(memo->local_size)) == 0;
}

/* A launch of that shape could not be cut. Others, with other arguments, may: they are looked at ever more rarely. */
static bool is_hopeless(struct tsl_cut_memo *memo)
{
    memo->n_refused++;
    return memo->dimension == 3 && (memo->n_refused & (memo->n_refused - 1)) != 0;
}

static bool choose_dimension(struct tsl_cut *cut)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    bool remembered = is_remembered(cut);
    if (remembered && is_hopeless(memo)) {
        cut->verdict.why = memo->why;
        return false;
    }
    cut->dimension = remembered ? memo->dimension : 3;
    if (cut->dimension == 3)
        cut->dimension = tsl_cut_dimension(cut->footprint, &cut->window, cut->values.of, cut->memories, &cut->verdict);
    memcpy(memo->global_size, cut->window.global_size, sizeof(memo->global_size));
    memcpy(memo->local_size, cut->window.local_size, sizeof(memo->local_size));
    memo->n_refused = remembered ? memo->n_refused : 0;
    memo->attempt = remembered ? memo->attempt : 0;
    memo->joint = remembered ? memo->joint : (struct tsl_joint_memo){TSL_JOINT_NOT_TRIED, 0, 3};
    memo->dimension = cut->dimension;
    memo->why = cut->verdict.why;
    return cut->dimension < 3;
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

static void add_share(struct tsl_cut *cut, const struct tsl_window *window, unsigned member)
{
    if (window->group_count[cut->dimension] == 0)
        return;
    cut->windows[cut->n] = *window;
    cut->members[cut->n++] = member;
}

/* Of another dimension nothing is known. */
static const struct tsl_cut_memo *work_memo(const struct tsl_cut *cut)
{
    static const struct tsl_cut_memo even;
    const struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    return memo->work_dimension == cut->dimension ? memo : &even;
}

/* False: there are no such borders. */
bool tsl_cut_make_windows(struct tsl_cut *cut, const struct tsl_parts *parts, unsigned attempt)
{
    uint64_t *ends = cut->ends;
    unsigned members[TSL_CUT_MAX_SHARES], n = 0;
    struct tsl_window windows[TSL_CUT_MAX_SHARES];
    double part[TSL_CUT_MAX_SHARES];
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        for (unsigned w = 0; parts->of[i] > 0 && w < parts->n_windows && n < TSL_CUT_MAX_SHARES; w++) {
            part[n] = parts->of[i] / parts->n_windows;
            members[n++] = i;
        }
    tsl_cut_work_place(work_memo(cut), n, part);
    const struct tsl_borders borders = {tsl_cut_groups(&cut->window, cut->dimension), n, part};
    if (!tsl_borders_place(&borders, attempt, ends))
        return false;
    tsl_cut_windows(&cut->window, cut->dimension, n, ends, windows);
    cut->n = 0;
    for (unsigned s = 0; s < n; s++)
        add_share(cut, &windows[s], members[s]);
    return true;
}

static const struct tsl_argument_touch *touch_of(const struct tsl_cut *cut, unsigned s, uint64_t *id)
{
    return tsl_footing_of(cut->command, &cut->windows[s], &cut->command->kernel->parts[cut->members[s]], id);
}

/* What the shares' exactness depends on, as words: what each touches, and which memory is whose. */
#define MOST_WORDS (2 * TSL_CUT_MAX_SHARES + 5 * TSL_FOOTING_MAX_ARGUMENTS)

/* 0: without memory. */
static size_t write_question(const struct tsl_cut *cut, uint64_t *words)
{
    uint64_t *at = words;
    for (unsigned s = 0; s < cut->n; s++) {
        *at++ = cut->members[s];
        if (!touch_of(cut, s, at++))
            return 0;
    }
    for (cl_uint i = 0; i < cut->footprint->n_arguments; i++) {
        const struct tsl_cut_memory *memory = &cut->memories[i];
        *at++ = (uintptr_t)memory->root;
        *at++ = (uintptr_t)memory->image;
        *at++ = memory->root ? memory->offset : 0;
        *at++ = memory->root ? memory->size : 0;
        *at++ = memory->root && memory->may_write;
    }
    return (size_t)(at - words);
}

bool tsl_cut_evaluate(struct tsl_cut *cut)
{
    cl_uint n = cut->footprint->n_arguments;
    free(cut->touches);
    cut->touches = malloc((size_t)cut->n * n * sizeof(*cut->touches));
    for (unsigned s = 0; s < cut->n && cut->touches; s++) {
        const struct tsl_argument_touch *touch = touch_of(cut, s, NULL);
        if (!touch)
            return false;
        memcpy(cut->touches + (size_t)s * n, touch, n * sizeof(*touch));
    }
    return cut->touches != NULL;
}

static bool ranges_meet(const struct tsl_footing_ranges *a, const struct tsl_footing_ranges *b)
{
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned k = 0; k < b->n; k++)
            if (a->list[i].begin < b->list[k].end && b->list[k].begin < a->list[i].end)
                return true;
    return false;
}

/* Do the ranges that two shares claim for writing meet? The sets may be disjoint though their ranges are not. */
static bool claims_meet(struct tsl_cut *cut, const struct tsl_cut_memory *memories, unsigned s, unsigned t)
{
    cl_uint n = cut->footprint->n_arguments;
    struct tsl_footing_ranges a, b;
    for (cl_uint i = 0; i < n; i++) {
        if (!memories[i].root || !memories[i].may_write)
            continue;
        tsl_footing_writes(&cut->touches[s * n + i], cut->command->args->args[i].buffer, &a);
        for (cl_uint k = 0; k < n; k++) {
            if (!memories[k].may_write || memories[k].root != memories[i].root)
                continue;
            tsl_footing_writes(&cut->touches[t * n + k], cut->command->args->args[k].buffer, &b);
            if (ranges_meet(&a, &b)) {
                cut->verdict = (struct tsl_cut_verdict){TSL_CUT_WRITES_MEET, i, k, TSL_FOOTPRINT_NONE};
                return true;
            }
        }
    }
    return false;
}

bool tsl_cut_is_apart(struct tsl_cut *cut, const struct tsl_cut_memory *memories)
{
    const struct tsl_argument_touch *shares[TSL_CUT_MAX_SHARES];
    for (unsigned s = 0; s < cut->n; s++)
        shares[s] = cut->touches + (size_t)s * cut->footprint->n_arguments;
    if (!tsl_cut_shares(cut->footprint, cut->n, shares, NULL, memories, &cut->verdict))
        return false;
    for (unsigned s = 0; s < cut->n; s++)
        for (unsigned t = s + 1; t < cut->n; t++)
            if (claims_meet(cut, memories, s, t))
                return false;
    return true;
}

static bool is_exact(struct tsl_cut *cut)
{
    struct tsl_cut_proofs *proofs = &cut->command->kernel->cut.proofs;
    uint64_t words[MOST_WORDS];
    size_t n = write_question(cut, words);
    if (n == 0)
        return tsl_cut_give_up(cut, TSL_CUT_NO_MEMORY);
    if (tsl_cut_proofs_has(proofs, words, n))
        return true;
    if (!tsl_cut_evaluate(cut))
        return tsl_cut_give_up(cut, TSL_CUT_NO_MEMORY);
    if (!tsl_cut_is_apart(cut, cut->memories))
        return false;
    tsl_cut_proofs_add(proofs, words, n);
    return true;
}

/* ---- The rungs --------------------------------------------------------------------------------------------------- */

/* Coarse borders make the longest part longer. */
static void stretch(const struct tsl_cut *cut, struct tsl_parts *parts)
{
    double most = 1;
    for (unsigned s = 0; s < cut->n; s++) {
        double planned = parts->of[cut->members[s]] / parts->n_windows;
        most = fmax(most, tsl_cut_work_of(work_memo(cut), &cut->windows[s], cut->dimension) / planned);
    }
    parts->run_ns *= most;
}

/* Halves of the launch are exact: so are other shares whose borders lie as well. */
static bool cut_exact(struct tsl_cut *cut, struct tsl_parts *parts)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    uint64_t tried[TSL_CUT_MAX_SHARES] = {0};
    if (!choose_dimension(cut))
        return false;
    for (unsigned attempt = memo->attempt; tsl_cut_make_windows(cut, parts, attempt); attempt++) {
        if (cut->n < 2)
            return tsl_cut_give_up(cut, TSL_CUT_TOO_FEW_GROUPS);
        if (memcmp(tried, cut->ends, sizeof(tried)) == 0)
            continue;
        if (is_exact(cut)) {
            memo->attempt = attempt;
            stretch(cut, parts);
            return true;
        }
        memcpy(tried, cut->ends, sizeof(tried));
    }
    memo->dimension = 3;
    memo->why = cut->verdict.why;
    return false;
}

bool tsl_cut_keep_parts(const struct tsl_cut *cut, struct tsl_parts *parts, tsl_members members)
{
    const struct tsl_graph *graph = cut->command->graph;
    double sum = 0;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        parts->of[i] = tsl_members_has(members, i) ? parts->of[i] : 0;
        sum += parts->of[i];
    }
    for (unsigned i = 0; i < graph->n_ports && sum > 0; i++)
        parts->of[i] /= sum;
    parts->run_ns = sum > 0 ? parts->run_ns / sum : 0;
    return sum > 0;
}

/* Leaves parts to those members alone that are of one domain with the one whose part is the largest. */
static tsl_members keep_domain(const struct tsl_cut *cut, struct tsl_parts *parts)
{
    const struct tsl_graph *graph = cut->command->graph;
    tsl_members members = TSL_MEMBERS_NONE;
    unsigned largest = 0;
    for (unsigned i = 1; i < graph->n_ports; i++)
        largest = parts->of[i] > parts->of[largest] ? i : largest;
    tsl_members_add(&members, largest);
    for (unsigned i = 0; i < graph->n_ports; i++) {
        tsl_members both = tsl_members_union(tsl_members_of(largest), tsl_members_of(i));
        if (i != largest && parts->of[i] > 0 && tsl_spread_domain(graph, both))
            tsl_members_add(&members, i);
    }
    tsl_cut_keep_parts(cut, parts, members);
    return members;
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

/* The parts change if the launch is cut so, else they don't. */
static bool cut_in_domain(struct tsl_cut *cut, struct tsl_parts *parts)
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
    if (!work_memo(cut)->work.uneven)
        return;
    for (unsigned i = 0; i < n; i++)
        peer_ns = parts->of[i] > 0 ? fmax(peer_ns, candidates[i].peer_ns) : peer_ns;
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    tsl_cut_work_moved(memo, tsl_cut_work_gain(memo, n, parts), parts->run_ns, peer_ns);
}

static bool pays(struct tsl_cut *cut, struct tsl_parts *parts, struct tsl_candidate *candidates)
{
    struct tsl_ask ask = *cut->ask;
    memcpy(candidates, ask.candidates, cut->command->graph->n_ports * sizeof(*candidates));
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++)
        candidates[i].missing_size = 0, candidates[i].move_ns = candidates[i].peer_ns = 0;
    for (unsigned s = 0; s < cut->n; s++)
        tsl_survey(cut->command, &cut->windows[s], cut->joints, tsl_members_of(cut->members[s]), candidates);
    ask.candidates = candidates;
    parts->joint_ns = 0;
    if (cut->joints && tsl_placer_learns(cut->command->graph->placer)) {
        unsigned shares[TSL_MAX_MEMBERS];
        count_shares(cut, shares);
        parts->joint_ns = tsl_joints_ns(cut->command, cut->joints, shares);
        cut->command->share.joint_ns = parts->joint_ns;
    }
    count_moved_borders(cut, parts, candidates);
    return tsl_placer_pays(cut->command->graph->placer, &ask, parts);
}

static void tell_shares(const struct tsl_cut *cut)
{
    unsigned d = cut->dimension;
    for (unsigned s = 0; s < cut->n; s++)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "%s: groups %zu … %zu of dimension %u on %s (%s)",
                cut->command->kernel->name, cut->windows[s].group_begin[d],
                cut->windows[s].group_begin[d] + cut->windows[s].group_count[d], d,
                cut->command->graph->ports[cut->members[s]].name, tsl_rung_name(cut->rung));
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
    c->rung = cut->rung;
    c->joints = cut->joints;
    cut->joints = NULL;
    c->n_more = cut->n - 1;
    for (unsigned s = 0; s < cut->n; s++) {
        struct tsl_share *share = tsl_command_share(c, s);
        share->window = cut->windows[s];
        share->moved = candidates[cut->members[s]].move_ns > LARGE_MOVE_NS;
        share->peer_ns = candidates[cut->members[s]].peer_ns;
        share->asked_ns = ask.now_ns;
        double part = tsl_cut_work_of(work_memo(cut), &share->window, cut->dimension);
        share->work = (uint64_t)fmax(part * (double)ask.size + 0.5, 1);
        tsl_placer_place_part(c->graph->placer, &ask, cut->members[s], share->work, &share->placement);
    }
    tell_shares(cut);
    return true;
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
    bool exact = cut_exact(cut, parts);
    if (exact && (asked == TSL_RUNG_WHOLE || asked == TSL_RUNG_EXACT))
        return TSL_RUNG_EXACT;
    if ((asked == TSL_RUNG_WHOLE || asked == TSL_RUNG_DOMAIN) && cut_in_domain(cut, parts))
        return TSL_RUNG_DOMAIN;
    if (asked == TSL_RUNG_EXACT || asked == TSL_RUNG_DOMAIN || !tsl_cut_by_joints(cut, parts))
        return TSL_RUNG_WHOLE;
    enum tsl_rung found = TSL_RUNG_MERGE;
    for (unsigned j = 0; j < cut->joints->n; j++)
        found = cut->joints->list[j].reduce ? TSL_RUNG_REDUCE : found;
    return asked == TSL_RUNG_WHOLE || asked == found ? found : TSL_RUNG_WHOLE;
}

static bool choose(struct tsl_cut *cut, struct tsl_parts *parts)
{
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    tsl_cut_kernel_memories(cut->command, cut->footprint, members_with_windows(cut), cut->memories, &cut->values);
    cut->rung = find_rung(cut, parts);
    if (cut->rung == TSL_RUNG_WHOLE) {
        if (cut->verdict.why == TSL_CUT_OK)
            return whole(cut, TSL_WHOLE_SETTING);
        tell(cut);
        return whole(cut, TSL_WHOLE_FORBIDDEN);
    }
    if (cut->rung != TSL_RUNG_EXACT && cut->verdict.why != TSL_CUT_OK)
        trace(cut);
    whole(cut, TSL_WHOLE_UNPAID);
    return pays(cut, parts, candidates) && make_shares(cut, candidates);
}

/* Field by field: the arrays, which are filled before they are read, have some 8 KB, and most launches need none. */
static void begin(struct tsl_cut *cut, struct tsl_command *c, const struct tsl_ask *ask)
{
    cut->command = c;
    cut->ask = ask;
    cut->part = NULL;
    cut->footprint = NULL;
    cut->window = c->share.window;
    cut->spread_over = TSL_MEMBERS_NONE;
    cut->rung = TSL_RUNG_WHOLE;
    cut->joints = NULL;
    memset(cut->ends, 0, sizeof(cut->ends));
    cut->n = 0;
    cut->touches = NULL;
    cut->verdict = (struct tsl_cut_verdict){TSL_CUT_OK, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE};
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

static void count(enum tsl_rung rung)
{
    atomic_fetch_add_explicit(&n_launches[rung], 1, memory_order_relaxed);
}

/* Which members should do which part; false: the launch stays whole. */
static bool ask_for_parts(struct tsl_cut *cut, struct tsl_candidate *candidates, struct tsl_parts *parts)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    if (!mark_candidates(cut, candidates)) {
        count(TSL_RUNG_WHOLE);
        return false;
    }
    if (tsl_placer_parts(cut->command->graph->placer, cut->ask, parts))
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

bool tsl_cut_choose(struct tsl_command *c, const struct tsl_ask *ask, struct tsl_candidate *candidates)
{
    struct tsl_cut cut;
    struct tsl_parts parts;
    c->whole_why = TSL_WHOLE_SETTING;
    if (!tsl_placer_cuts(c->graph->placer))
        return false;
    c->whole_why = TSL_WHOLE_SMALL;
    if (is_known_to_be_small(&c->kernel->cut, ask->size))
        return false;
    begin(&cut, c, ask);
    if (!ask_for_parts(&cut, candidates, &parts))
        return false;
    tsl_launch_choose(c->kernel, c->queue->handle->device, members_with_windows(&cut), &cut.window);
    bool chosen = choose(&cut, &parts);
    free(cut.touches);
    free(cut.joints);
    count(chosen ? cut.rung : TSL_RUNG_WHOLE);
    return chosen;
}

const char *tsl_rung_name(enum tsl_rung rung)
{
    return rungs[rung];
}

void tsl_cut_tell(void)
{
    unsigned long long n[TSL_N_RUNGS], all = 0;
    for (unsigned r = 0; r < TSL_N_RUNGS; r++)
        all += n[r] = atomic_load(&n_launches[r]);
    if (all)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO,
                "launches that might be cut: %llu were cut exactly, %llu in a domain, %llu by merge, %llu by reduce, "
                "%llu ran whole",
                n[TSL_RUNG_EXACT], n[TSL_RUNG_DOMAIN], n[TSL_RUNG_MERGE], n[TSL_RUNG_REDUCE], n[TSL_RUNG_WHOLE]);
}
