/*
 * The rung `exact` where shares surely overwrite each other's bytes (footprint/cut_later.h).
 *
 * Shares claim in the order of groups, so a later share's claim makes the earlier one's copy invalid where they meet.
 * That is right only if what the later one claims there is overwritten without having been read (footing.h): else its
 * copy would have old bytes in the place of the earlier share's, and should one of the two fail, nobody could say which
 * copy is good.
 */
#include "footprint/cut_later.h"
#include "base/sets.h"
#include "graph/command.h"
#include "graph/cut_inside.h"
#include "graph/data.h"
#include "graph/space.h"
#include "graph/state.h"
#include "program/program.h"

static const struct tsl_buffer *buffer_of(const struct tsl_cut *cut, cl_uint i)
{
    return cut->command->args->args[i].buffer;
}

/* Two windows on one member, or members that share a memory, have one copy. */
static bool have_copies(const struct tsl_cut *cut, const struct tsl_data *data)
{
    tsl_spaces seen = TSL_SPACES_NONE;
    for (unsigned s = 0; s < cut->n; s++) {
        unsigned space = tsl_space_of(&cut->command->graph->ports[cut->members[s]], data);
        if (tsl_spaces_has(seen, space))
            return false;
        tsl_spaces_add(&seen, space);
    }
    return !data->image && !data->svm;
}

uint64_t tsl_cut_later_find_own(struct tsl_cut *cut)
{
    bool in_order = tsl_cut_later_has_order(&cut->window, cut->dimension);
    uint64_t all = 0;
    for (cl_uint i = 0; i < cut->footprint->n_arguments; i++) {
        const struct tsl_buffer *b = buffer_of(cut, i);
        cut->memories[i].own = b && in_order && have_copies(cut, tsl_data_of(b));
        all |= (uint64_t)cut->memories[i].own << i;
    }
    return all;
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

static const struct tsl_argument_touch *touch_of(const struct tsl_cut *cut, unsigned s, cl_uint i)
{
    return &cut->touches[s * cut->footprint->n_arguments + i];
}

static bool meets(const struct tsl_footing_range *range, const struct tsl_footing_ranges *others)
{
    for (unsigned i = 0; i < others->n; i++)
        if (tsl_footing_ranges_meet(range, &others->list[i]))
            return true;
    return false;
}

/* By whatever argument. */
static bool reads(const struct tsl_cut *cut, unsigned s, const void *root, const struct tsl_footing_range *range)
{
    struct tsl_footing_ranges read;
    for (cl_uint i = 0; i < cut->footprint->n_arguments; i++) {
        if (cut->memories[i].root != root)
            continue;
        tsl_footing_reads(touch_of(cut, s, i), buffer_of(cut, i), TSL_FOOTING_SLABS, &read);
        if (meets(range, &read))
            return true;
    }
    return false;
}

/* Of what share t claims by argument k: is each range that meets what share s claims by argument i overwritten? */
static bool claims_win(const struct tsl_cut *cut, unsigned s, cl_uint i, unsigned t, cl_uint k)
{
    struct tsl_footing_ranges earlier, later;
    tsl_footing_writes(touch_of(cut, s, i), buffer_of(cut, i), TSL_FOOTING_SLABS, &earlier);
    tsl_footing_writes(touch_of(cut, t, k), buffer_of(cut, k), TSL_FOOTING_SLABS, &later);
    for (unsigned r = 0; r < later.n; r++) {
        const struct tsl_footing_range *range = &later.list[r];
        if (meets(range, &earlier) &&
            (!cut->memories[k].own || !range->overwritten || reads(cut, t, cut->memories[k].root, range)))
            return false;
    }
    return true;
}

static bool is_written(const struct tsl_cut *cut, cl_uint i)
{
    return cut->memories[i].root && cut->memories[i].may_write;
}

static bool all_claims_win(const struct tsl_cut *cut, unsigned s, unsigned t)
{
    cl_uint n = cut->footprint->n_arguments;
    for (cl_uint i = 0; i < n; i++)
        for (cl_uint k = 0; k < n; k++)
            if (is_written(cut, i) && is_written(cut, k) && cut->memories[i].root == cut->memories[k].root &&
                !claims_win(cut, s, i, t, k))
                return false;
    return true;
}

bool tsl_cut_later_share_wins(const struct tsl_cut *cut)
{
    const struct tsl_argument_touch *shares[TSL_CUT_MAX_SHARES];
    for (unsigned s = 0; s < cut->n; s++)
        shares[s] = touch_of(cut, s, 0);
    if (!tsl_cut_later_wins(cut->footprint, cut->n, shares, cut->memories))
        return false;
    for (unsigned s = 0; s < cut->n; s++)
        for (unsigned t = s + 1; t < cut->n; t++)
            if (!all_claims_win(cut, s, t))
                return false;
    return true;
}
