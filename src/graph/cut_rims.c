#include "graph/cut_rims.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/cut_inside.h"
#include "graph/state.h"
#include "graph/survey.h"
#include "place/place.h"
#include "program/program.h"

#include <string.h>

#define LEAST_PIECES 4    /* a rim is no more than so much of its share */
#define MOST_PIECES  1024 /* of the launch: rims are no narrower */
#define MOST_SKIPPED 1024 /* launches */
#define MOST_DOUBTED 3    /* times is the width looked for anew */

/* How a share is divided: groups of its rims, along the dimension. */
struct division {
    size_t low, high;
};

/* Shares before they are divided. */
struct shares {
    unsigned n, members[TSL_CUT_MAX_SHARES];
    struct tsl_window windows[TSL_CUT_MAX_SHARES];
};

static struct tsl_window part_of(const struct tsl_window *share, unsigned dimension, size_t begin, size_t end)
{
    struct tsl_window window = *share;
    window.group_begin[dimension] += begin;
    window.group_count[dimension] = end - begin;
    return window;
}

static size_t groups_of(const struct tsl_cut *cut, unsigned s)
{
    return cut->windows[s].group_count[cut->dimension];
}

/* ---- How wide ---------------------------------------------------------------------------------------------------- */

static bool lacks_nothing(struct tsl_cut *cut, unsigned s, size_t begin, size_t end)
{
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    struct tsl_window window = part_of(&cut->windows[s], cut->dimension, begin, end);
    memset(candidates, 0, cut->command->graph->n_ports * sizeof(*candidates));
    tsl_survey_moves(cut->command, &window, NULL, tsl_members_of(cut->members[s]), candidates);
    return candidates[cut->members[s]].missing_size == 0;
}

/* With rims of that width. False: the inside lacks something still, or there is none. */
static bool divide_share(struct tsl_cut *cut, unsigned s, size_t width, struct division *division)
{
    size_t n = groups_of(cut, s);
    *division = (struct division){0, 0};
    if (lacks_nothing(cut, s, 0, n))
        return true;
    if (width > n / LEAST_PIECES || !lacks_nothing(cut, s, width, n - width))
        return false;
    division->low = lacks_nothing(cut, s, 0, n - width) ? 0 : width;
    division->high = lacks_nothing(cut, s, width, n) ? 0 : width;
    return true;
}

/* ---- The shares -------------------------------------------------------------------------------------------------- */

static void add(struct tsl_cut *cut, const struct shares *of, unsigned s, size_t begin, size_t end)
{
    if (begin == end)
        return;
    cut->windows[cut->n] = part_of(&of->windows[s], cut->dimension, begin, end);
    cut->members[cut->n++] = of->members[s];
}

/* First the insides, then the rims. */
static void make(struct tsl_cut *cut, const struct shares *of, const struct division *divisions)
{
    cut->n = 0;
    for (unsigned s = 0; s < of->n; s++)
        add(cut, of, s, divisions[s].low, of->windows[s].group_count[cut->dimension] - divisions[s].high);
    cut->n_inside = cut->n;
    for (unsigned s = 0; s < of->n; s++) {
        size_t n = of->windows[s].group_count[cut->dimension];
        add(cut, of, s, 0, divisions[s].low);
        add(cut, of, s, n - divisions[s].high, n);
    }
}

/* False: the cut is as it was. */
static bool divide(struct tsl_cut *cut, const struct division *divisions)
{
    struct tsl_cut_verdict verdict = cut->verdict;
    struct shares whole;
    whole.n = cut->n;
    memcpy(whole.windows, cut->windows, cut->n * sizeof(*whole.windows));
    memcpy(whole.members, cut->members, cut->n * sizeof(*whole.members));
    make(cut, &whole, divisions);
    bool divided = cut->n > cut->n_inside && tsl_cut_is_exact(cut);
    if (divided)
        return true;
    cut->n = whole.n;
    cut->n_inside = 0;
    cut->verdict = verdict;
    memcpy(cut->windows, whole.windows, whole.n * sizeof(*whole.windows));
    memcpy(cut->members, whole.members, whole.n * sizeof(*whole.members));
    return false;
}

/* ---- What is remembered ------------------------------------------------------------------------------------------ */

static struct tsl_rim_memo *memo_of(const struct tsl_cut *cut)
{
    return &cut->command->kernel->cut.rims;
}

static bool divide_as_before(struct tsl_cut *cut)
{
    const struct tsl_rim_memo *memo = memo_of(cut);
    struct division divisions[TSL_CUT_MAX_SHARES];
    for (unsigned s = 0; s < cut->n; s++) {
        if (memo->width > groups_of(cut, s) / LEAST_PIECES)
            return false;
        divisions[s].low = memo->low & UINT64_C(1) << s ? memo->width : 0;
        divisions[s].high = memo->high & UINT64_C(1) << s ? memo->width : 0;
    }
    return divide(cut, divisions);
}

static bool divide_anew(struct tsl_cut *cut, size_t width)
{
    struct tsl_rim_memo *memo = memo_of(cut);
    struct division divisions[TSL_CUT_MAX_SHARES];
    uint64_t low = 0, high = 0;
    unsigned n = cut->n;
    for (unsigned s = 0; s < n; s++) {
        if (!divide_share(cut, s, width, &divisions[s]))
            return false;
        low |= (uint64_t)(divisions[s].low > 0) << s;
        high |= (uint64_t)(divisions[s].high > 0) << s;
    }
    if (!divide(cut, divisions))
        return false;
    *memo =
        (struct tsl_rim_memo){.n_shares = n, .width = width, .n_doubted = memo->n_doubted, .low = low, .high = high};
    return true;
}

/* Rims as borders lie at round fractions of the launch, the narrowest first. */
static bool find(struct tsl_cut *cut)
{
    struct tsl_rim_memo *memo = memo_of(cut);
    uint64_t groups = tsl_cut_groups(&cut->window, cut->dimension);
    size_t tried = 0;
    for (uint64_t pieces = MOST_PIECES; pieces >= LEAST_PIECES * cut->n; pieces /= 2) {
        size_t width = (size_t)(groups / pieces ? groups / pieces : 1);
        if (width == tried)
            continue;
        if (divide_anew(cut, width))
            return true;
        tried = width;
    }
    memo->width = 0;
    memo->n_skipped = memo->n_skipped < MOST_SKIPPED / 2 ? 2 * memo->n_skipped + 1 : MOST_SKIPPED;
    memo->skip = memo->n_skipped;
    return false;
}

/* ---- The doors --------------------------------------------------------------------------------------------------- */

static bool may_divide(const struct tsl_cut *cut, const struct tsl_parts *parts, const struct tsl_candidate *candidates)
{
    double move_ns = 0;
    bool lacks = false;
    for (unsigned s = 0; s < cut->n; s++) {
        const struct tsl_candidate *candidate = &candidates[cut->members[s]];
        move_ns = candidate->move_ns > move_ns ? candidate->move_ns : move_ns;
        lacks |= candidate->missing_size > 0;
    }
    return lacks && cut->rung == TSL_RUNG_EXACT && !cut->later_wins && 3 * cut->n <= TSL_CUT_MAX_SHARES &&
           parts->n_windows == 1 && !cut->command->kernel->has_variants &&
           tsl_placer_divides(cut->command->graph->placer, parts, move_ns);
}

void tsl_cut_divide(struct tsl_cut *cut, const struct tsl_parts *parts, const struct tsl_candidate *candidates)
{
    struct tsl_rim_memo *memo = memo_of(cut);
    if (!may_divide(cut, parts, candidates))
        return;
    if (memo->n_shares != cut->n)
        *memo = (struct tsl_rim_memo){.n_shares = cut->n};
    if (memo->width && divide_as_before(cut))
        return;
    if (memo->skip)
        memo->skip--;
    else
        find(cut);
}

bool tsl_cut_was_divided(const struct tsl_cut *cut)
{
    const struct tsl_rim_memo *memo = &cut->command->kernel->cut.rims;
    return cut->rung == TSL_RUNG_EXACT && memo->width && memo->n_shares == cut->n;
}

void tsl_cut_place_rim(const struct tsl_cut *cut, struct tsl_share *rim)
{
    struct tsl_command *c = cut->command;
    unsigned i = 0;
    while (cut->members[i] != rim->placement.member)
        i++;
    const struct tsl_share *inside = tsl_command_share(c, i);
    rim->rim = rim->unmeasured = true;
    tsl_placer_place_rim(c->graph->placer, &inside->placement, (double)rim->work / (double)inside->work,
                         cut->ask->now_ns, &rim->placement);
}

void tsl_cut_rims_too_small(struct tsl_command *c)
{
    struct tsl_rim_memo *memo = &c->kernel->cut.rims;
    if (memo->n_doubted == MOST_DOUBTED)
        return; /* It isn't for the width. */
    memo->n_doubted++;
    memo->width = 0;
}
