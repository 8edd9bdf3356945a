/* The rung `exact`: along which dimension, with which borders, and whether shares write different bytes or surely
 * overwrite each other's. */
#include "footprint/cut_later.h"
#include "graph/borders.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/cut_inside.h"
#include "graph/cut_work.h"
#include "graph/data.h"
#include "graph/state.h"
#include "program/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Along which dimension --------------------------------------------------------------------------------------- */

bool tsl_cut_exact_remembers(const struct tsl_cut *cut)
{
    const struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    const struct tsl_window *window = &cut->window;
    return memcmp(memo->global_size, window->global_size, sizeof(memo->global_size)) == 0 &&
           memcmp(memo->local_size, window->local_size, sizeof(memo->local_size)) == 0;
}

bool tsl_cut_is_hopeless(const struct tsl_cut_memo *memo)
{
    return (memo->n_refused & (memo->n_refused - 1)) != 0;
}

/* A launch of that shape could not be cut. Others, with other arguments, may. */
static bool is_hopeless(struct tsl_cut_memo *memo)
{
    memo->n_refused++;
    return memo->dimension == 3 && tsl_cut_is_hopeless(memo);
}

/* Along which dimension halves write different bytes, or else the later one overwrites what the earlier one writes;
 * which members have them isn't known yet. */
static unsigned find_dimension(struct tsl_cut *cut, bool *overwrites)
{
    unsigned dimension = tsl_cut_dimension(cut->footprint, &cut->window, cut->values.of, cut->memories, &cut->verdict);
    *overwrites = false;
    if (dimension < 3 || (cut->verdict.why != TSL_CUT_WRITES_MEET && cut->verdict.why != TSL_CUT_WRITES_UNKNOWN))
        return dimension;
    for (cl_uint i = 0; i < cut->footprint->n_arguments; i++)
        cut->memories[i].own = true;
    dimension = tsl_cut_later_dimension(cut->footprint, &cut->window, cut->values.of, cut->memories);
    *overwrites = dimension < 3;
    if (*overwrites)
        tsl_cut_give_up(cut, TSL_CUT_OK);
    return dimension;
}

static bool choose_dimension(struct tsl_cut *cut)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    bool remembered = tsl_cut_exact_remembers(cut);
    if (remembered && !tsl_cut_is_wanted(cut->command->graph) && is_hopeless(memo)) {
        cut->verdict.why = memo->why;
        return false;
    }
    cut->dimension = remembered ? memo->dimension : 3;
    if (cut->dimension == 3)
        cut->dimension = find_dimension(cut, &memo->overwrites);
    memcpy(memo->global_size, cut->window.global_size, sizeof(memo->global_size));
    memcpy(memo->local_size, cut->window.local_size, sizeof(memo->local_size));
    memo->n_refused = remembered ? memo->n_refused : 0;
    memo->rims = remembered ? memo->rims : (struct tsl_rim_memo){0};
    memo->attempt = remembered ? memo->attempt : 0;
    memo->joint = remembered ? memo->joint : (struct tsl_joint_memo){TSL_JOINT_NOT_TRIED, 0, 3};
    memo->no_domain &= remembered;
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

const struct tsl_work_memo *tsl_cut_work_memo(const struct tsl_cut *cut)
{
    static const struct tsl_work_memo even;
    const struct tsl_work_memo *memo = &cut->command->kernel->cut.works[0];
    return memo->dimension == cut->dimension ? memo : &even;
}

uint64_t tsl_cut_launch_items(const struct tsl_cut *cut)
{
    struct tsl_window all = cut->window;
    all.whole = true;
    return tsl_window_items(&all);
}

/* Rows that go to another member and back cost about so much. What a launch loses by a border at a round number may
 * cost as much, but no more than so much of its time; and so much where that isn't known. */
#define HANDOVER_NS 2e4
#define MOST_OFF    0.025
#define UNKNOWN_OFF 0.005

static double may_be_off(const struct tsl_parts *parts)
{
    return parts->known && parts->run_ns > 0 ? fmin(HANDOVER_NS / parts->run_ns, MOST_OFF) : UNKNOWN_OFF;
}

/* Of what is left of a launch that began by windows the borders lie where they would lie for all of it. */
static bool place_borders(struct tsl_cut *cut, unsigned n, const double *part, double off, unsigned attempt)
{
    uint64_t left = tsl_cut_groups(&cut->window, cut->dimension),
             done = cut->window.whole ? 0 : cut->window.group_begin[cut->dimension];
    const struct tsl_borders borders = {done + left, n, part, done, off};
    if (!tsl_borders_place(&borders, attempt, cut->ends))
        return false;
    for (unsigned s = 0; s < n && done; s++)
        cut->ends[s] -= done;
    return true;
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
    tsl_cut_work_turn(cut->command, tsl_cut_launch_items(cut));
    if (cut->window.whole)
        tsl_cut_work_place(tsl_cut_work_memo(cut), n, part);
    if (!place_borders(cut, n, part, may_be_off(parts), attempt))
        return false;
    tsl_cut_windows(&cut->window, cut->dimension, n, ends, windows);
    cut->n = 0;
    for (unsigned s = 0; s < n; s++)
        add_share(cut, &windows[s], members[s]);
    return true;
}

bool tsl_cut_lacks_shares(struct tsl_cut *cut)
{
    bool few = tsl_cut_groups(&cut->window, cut->dimension) < 2;
    cut->lacks_part |= !few;
    return tsl_cut_give_up(cut, few ? TSL_CUT_TOO_FEW_GROUPS : TSL_CUT_OK);
}

static const struct tsl_argument_touch *touch_of(const struct tsl_cut *cut, unsigned s, uint64_t *id)
{
    return tsl_footing_of(cut->command, &cut->windows[s], &cut->command->kernel->parts[cut->members[s]], id);
}

/* What the shares' exactness depends on, as words: what each touches, and which memory is whose. The rule by which
 * later shares win has one word more: of which memory each share has a copy for itself. */
#define MOST_WORDS (2 * TSL_CUT_MAX_SHARES + 5 * TSL_FOOTING_MAX_ARGUMENTS)

struct question {
    size_t n;
    uint64_t words[MOST_WORDS + 1];
};

/* False: without memory, as the verdict tells. */
static bool ask(struct tsl_cut *cut, struct question *question)
{
    uint64_t *at = question->words;
    for (unsigned s = 0; s < cut->n; s++) {
        *at++ = cut->members[s];
        if (!touch_of(cut, s, at++))
            return tsl_cut_give_up(cut, TSL_CUT_NO_MEMORY);
    }
    for (cl_uint i = 0; i < cut->footprint->n_arguments; i++) {
        const struct tsl_cut_memory *memory = &cut->memories[i];
        *at++ = (uintptr_t)memory->root;
        *at++ = (uintptr_t)memory->image;
        *at++ = memory->root ? memory->offset : 0;
        *at++ = memory->root ? memory->size : 0;
        *at++ = memory->root && memory->may_write;
    }
    question->n = (size_t)(at - question->words);
    return true;
}

static bool is_proved(const struct tsl_cut *cut, const struct question *question)
{
    return tsl_cut_proofs_has(&cut->command->kernel->cut.proofs, question->words, question->n);
}

static bool prove(struct tsl_cut *cut, const struct question *question)
{
    tsl_cut_proofs_add(&cut->command->kernel->cut.proofs, question->words, question->n);
    return true;
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
            if (tsl_footing_ranges_meet(&a->list[i], &b->list[k]))
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
        tsl_footing_writes(&cut->touches[s * n + i], cut->command->args->args[i].buffer, TSL_FOOTING_SLABS, &a);
        for (cl_uint k = 0; k < n; k++) {
            if (!memories[k].may_write || memories[k].root != memories[i].root)
                continue;
            tsl_footing_writes(&cut->touches[t * n + k], cut->command->args->args[k].buffer, TSL_FOOTING_SLABS, &b);
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

/* The shares are evaluated. */
static bool prove_apart(struct tsl_cut *cut, const struct question *question)
{
    return tsl_cut_is_apart(cut, cut->memories) && prove(cut, question);
}

static bool evaluate(struct tsl_cut *cut)
{
    return tsl_cut_evaluate(cut) || tsl_cut_give_up(cut, TSL_CUT_NO_MEMORY);
}

bool tsl_cut_is_exact(struct tsl_cut *cut)
{
    struct question question;
    if (!ask(cut, &question))
        return false;
    return is_proved(cut, &question) || (evaluate(cut) && prove_apart(cut, &question));
}

/* Do the shares write different bytes, or do later ones surely overwrite earlier ones'? */
static bool may_overwrite(struct tsl_cut *cut)
{
    struct question question, later;
    if (!ask(cut, &question))
        return false;
    if (is_proved(cut, &question))
        return true;
    later = question;
    later.words[later.n++] = tsl_cut_later_find_own(cut);
    cut->later_wins = is_proved(cut, &later);
    if (cut->later_wins)
        return true;
    if (!evaluate(cut))
        return false;
    if (prove_apart(cut, &question))
        return true;
    cut->later_wins = tsl_cut_later_share_wins(cut) && prove(cut, &later);
    if (cut->later_wins)
        tsl_cut_give_up(cut, TSL_CUT_OK);
    return cut->later_wins;
}

/* By the rule by which halves of the launch are. */
static bool is_legal(struct tsl_cut *cut)
{
    cut->later_wins = false;
    return cut->command->kernel->cut.overwrites ? may_overwrite(cut) : tsl_cut_is_exact(cut);
}

/* ---- The rung ------------------------------------------------------------------------------------------------------- */

/* Coarse borders make the longest part longer. */
static void stretch(const struct tsl_cut *cut, struct tsl_parts *parts)
{
    double most = 1, left = (double)cut->ask->size / (double)tsl_cut_launch_items(cut);
    for (unsigned s = 0; s < cut->n; s++) {
        double planned = left * parts->of[cut->members[s]] / parts->n_windows;
        most = fmax(most, tsl_cut_work_of(tsl_cut_work_memo(cut), &cut->windows[s], cut->dimension) / planned);
    }
    parts->run_ns *= most;
}

/* The one that was right for the kernel's last cut, if there are shares then: the last launch may have been larger. */
static unsigned first_attempt(struct tsl_cut *cut, const struct tsl_parts *parts)
{
    unsigned last = cut->command->kernel->cut.attempt;
    return last && tsl_cut_make_windows(cut, parts, last) && cut->n > 1 ? last : 0;
}

bool tsl_cut_exactly(struct tsl_cut *cut, struct tsl_parts *parts)
{
    struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    uint64_t tried[TSL_CUT_MAX_SHARES] = {0};
    if (!choose_dimension(cut))
        return false;
    for (unsigned attempt = first_attempt(cut, parts); tsl_cut_make_windows(cut, parts, attempt); attempt++) {
        if (cut->n < 2) /* What forbade finer borders is the reason, if anything did. */
            return cut->verdict.why == TSL_CUT_OK && tsl_cut_lacks_shares(cut);
        if (memcmp(tried, cut->ends, sizeof(tried)) == 0)
            continue;
        if (is_legal(cut)) {
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
