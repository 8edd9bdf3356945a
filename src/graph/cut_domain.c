/*
 * The rung `domain`: shares write anywhere in memory that is spread over their members, and change it by atomic
 * operations. That memory is as little as possible (cut_apart.h); the rest is cut exactly.
 *
 * Unless the settings ask for it the rung comes last, and for a few objects alone: small ones, as counters, flags and
 * lists of what was found, and large ones of which each share hardly touches anything but its own member's part, where
 * it isn't known that shares write the same bytes. What others cost, half of which the members reach through their
 * links, isn't known.
 */
#include "base/sets.h"
#include "base/settings.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut.h"
#include "graph/cut_apart.h"
#include "graph/cut_inside.h"
#include "graph/data.h"
#include "graph/spread.h"
#include "graph/spread_make.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "program/program.h"

/* Unless the settings ask for the rung. */
#define MOST_SPREAD  (UINT64_C(1) << 20) /* bytes for a launch */
#define MOST_OBJECTS 64u                 /* of a context: each takes a page of some MiB, however small it is */
#define FAR          (1 / 16.0) /* so much of what the shares touch of a large object may be in others' parts */

/* The members with parts that are of one domain with this one, and what their parts come to. */
static tsl_members domain_of(const struct tsl_cut *cut, const struct tsl_parts *parts, unsigned member, double *part)
{
    const struct tsl_graph *graph = cut->command->graph;
    tsl_members members = tsl_members_of(member);
    *part = parts->of[member];
    for (unsigned i = 0; i < graph->n_ports; i++) {
        tsl_members both = tsl_members_union(tsl_members_of(member), tsl_members_of(i));
        if (i == member || parts->of[i] <= 0 || !tsl_spread_domain(graph, both))
            continue;
        tsl_members_add(&members, i);
        *part += parts->of[i];
    }
    return members;
}

/* Leaves parts to the members of one domain alone: of that whose parts come to most. None: no domain has two members
 * with parts, or another member alone has more. */
static tsl_members keep_domain(const struct tsl_cut *cut, struct tsl_parts *parts)
{
    tsl_members best = TSL_MEMBERS_NONE;
    double most = 0;
    for (unsigned i = 0; i < cut->command->graph->n_ports; i++) {
        double part;
        tsl_members members = domain_of(cut, parts, i, &part);
        if (parts->of[i] <= 0 || part <= most)
            continue;
        most = part;
        best = tsl_members_count(members) < 2 ? TSL_MEMBERS_NONE : members;
    }
    if (!tsl_members_is_empty(best))
        tsl_cut_keep_parts(cut, parts, best);
    return best;
}

/* ---- What is spread ---------------------------------------------------------------------------------------------- */

static bool is_first_of(const struct tsl_cut_apart *apart, uint32_t i)
{
    const void *root = apart->cut->memories[i].root;
    if (!(apart->taken & UINT64_C(1) << i))
        return false;
    for (uint32_t k = 0; k < i; k++)
        if (apart->cut->memories[k].root == root)
            return false;
    return true;
}

static double bytes_of(const struct tsl_byte_box *box)
{
    return (double)box->count[0] * (double)box->count[1] * (double)box->width;
}

/* How many bytes of the set don't lie between these of the argument's root. A box that lies there in part is taken to
 * be even. */
static double bytes_outside(const struct tsl_byte_set *set, const struct tsl_cut_memory *memory, uint64_t begin,
                            uint64_t end)
{
    double bytes = set->unknown ? (double)memory->size : 0;
    for (unsigned b = 0; b < set->n; b++) {
        const struct tsl_byte_box *box = &set->boxes[b];
        uint64_t from = memory->offset + box->offset, to = from + box->width;
        for (unsigned d = 0; d < 2; d++)
            to += (box->count[d] - 1) * box->stride[d];
        uint64_t first = from > begin ? from : begin, last = to < end ? to : end;
        double inside = first < last ? (double)(last - first) / (double)(to - from) : 0;
        bytes += bytes_of(box) * (1 - inside);
    }
    return bytes;
}

/* Of the object of argument i, hardly anything is touched by a share in the parts of other members than its own. */
static bool is_touched_at_home(const struct tsl_cut_apart *apart, uint32_t i, tsl_members members)
{
    const struct tsl_cut *cut = apart->cut;
    const struct tsl_command *c = cut->command;
    size_t sizes[TSL_MAX_MEMBERS];
    double far = 0, all = 0;
    tsl_spread_sizes(c->graph, tsl_data_of(c->args->args[i].buffer), members, sizes);
    for (unsigned s = 0; s < cut->n; s++) {
        uint64_t begin = 0;
        for (unsigned m = 0; m < cut->members[s]; m++)
            begin += sizes[m];
        for (uint32_t k = 0; k < cut->footprint->n_arguments; k++) {
            const struct tsl_cut_memory *memory = &cut->memories[k];
            const struct tsl_argument_touch *touch = &cut->touches[(size_t)s * cut->footprint->n_arguments + k];
            const struct tsl_byte_set *sets[] = {&touch->read, &touch->write};
            for (unsigned j = 0; j < 2 && memory->root == cut->memories[i].root; j++) {
                far += bytes_outside(sets[j], memory, begin, begin + sizes[cut->members[s]]);
                all += bytes_outside(sets[j], memory, 0, 0);
            }
        }
    }
    return far <= all * FAR;
}

/* Do two shares surely write the same bytes of it? Then what stays there hangs on which comes last: on one member the
 * later group, as a rule, and programs may count on that without knowing. */
static bool is_surely_written_twice(const struct tsl_cut_apart *apart, uint32_t i)
{
    const struct tsl_cut *cut = apart->cut;
    const size_t n = cut->footprint->n_arguments;
    for (unsigned pair = 0; pair < cut->n * cut->n; pair++)
        for (size_t both = 0; both < n * n && pair / cut->n < pair % cut->n; both++) {
            const struct tsl_cut_memory *a = &cut->memories[both / n], *b = &cut->memories[both % n];
            if (a->root == cut->memories[i].root && b->root == a->root &&
                tsl_byte_sets_meet(&cut->touches[pair / cut->n * n + both / n].sure,
                                   &cut->touches[pair % cut->n * n + both % n].sure, (int64_t)(b->offset - a->offset),
                                   a->size, b->size))
                return true;
        }
    return false;
}

static bool may_be_large(const struct tsl_cut_apart *apart, uint32_t i, tsl_members members)
{
    return is_touched_at_home(apart, i, members) && !is_surely_written_twice(apart, i);
}

/* May what was taken out be spread over these members? */
static bool may_spread(const struct tsl_cut_apart *apart, tsl_members members)
{
    const struct tsl_command *c = apart->cut->command;
    uint64_t size = 0;
    unsigned n_more = 0;
    for (uint32_t i = 0; i < apart->cut->footprint->n_arguments; i++) {
        if (!is_first_of(apart, i))
            continue;
        struct tsl_data *data = tsl_data_of(c->args->args[i].buffer);
        size += data->size > MOST_SPREAD && may_be_large(apart, i, members) ? 0 : data->size;
        n_more += !tsl_spread_is(data->spread);
        if (!tsl_spread_may(c->graph, data, members))
            return false;
    }
    return c->graph->spreads || (size <= MOST_SPREAD && c->graph->n_spread + n_more <= MOST_OBJECTS);
}

/* ---- What work-items tell each other ----------------------------------------------------------------------------- */

/* Is the old value of some atomic operation used? Then a work-item may find out by it that others are through. */
static bool has_results(const struct tsl_cut_apart *apart)
{
    for (unsigned s = 0; s < apart->cut->n; s++)
        for (uint32_t i = 0; i < apart->cut->footprint->n_arguments; i++)
            if (apart->cut->memories[i].root &&
                apart->cut->touches[(size_t)s * apart->cut->footprint->n_arguments + i].result_used)
                return true;
    return false;
}

/* May share s read by argument i, without an atomic operation, what share t writes by argument k? */
static bool reads_from(const struct tsl_cut_apart *apart, unsigned s, uint32_t i, unsigned t, uint32_t k)
{
    const struct tsl_cut *cut = apart->cut;
    const size_t n = cut->footprint->n_arguments;
    const struct tsl_argument_touch *reader = &cut->touches[s * n + i], *writer = &cut->touches[t * n + k];
    const struct tsl_cut_memory *a = &cut->memories[i], *b = &cut->memories[k];
    return a->root && a->root == b->root && reader->reads && b->may_write && writer->writes &&
           tsl_byte_sets_meet(&reader->read, &writer->write, (int64_t)(b->offset - a->offset), a->size, b->size);
}

static bool has_plain_reads(const struct tsl_footprint *footprint, uint32_t argument)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].argument == argument && footprint->accesses[i].kind == TSL_ACCESS_READ)
            return true;
    return false;
}

/* The last group that is through adds up what all have left, say: it would find what its own share has left, as the
 * others' may be in other memory, or not there yet. */
static bool shares_read_others(const struct tsl_cut_apart *apart)
{
    const struct tsl_cut *cut = apart->cut;
    const uint32_t n = cut->footprint->n_arguments;
    for (uint32_t i = 0; i < n; i++)
        for (unsigned s = 0; s < cut->n && has_plain_reads(cut->footprint, i); s++)
            for (unsigned t = 0; t < cut->n; t++)
                for (uint32_t k = 0; k < n && t != s; k++)
                    if (reads_from(apart, s, i, t, k))
                        return true;
    return false;
}

static bool has_atomics(const struct tsl_cut_apart *apart)
{
    const struct tsl_footprint *footprint = apart->cut->footprint;
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].kind == TSL_ACCESS_ATOMIC && apart->taken & UINT64_C(1)
                                                                                   << footprint->accesses[i].argument)
            return true;
    return false;
}

static bool atomics_are_whole(const struct tsl_graph *graph, tsl_members members)
{
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && !graph->ports[i].member->caps.domain_atomics)
            return false;
    return true;
}

/* ---- The rung ---------------------------------------------------------------------------------------------------- */

/* Finds the shares, and what must be spread for them. */
static bool find(struct tsl_cut_apart *apart, struct tsl_cut *cut, const struct tsl_parts *parts, tsl_members members)
{
    const struct tsl_graph *graph = cut->command->graph;
    tsl_cut_apart_begin(apart, cut, 0);
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_DOMAIN)
        tsl_cut_apart_take_all(apart);
    if (!tsl_cut_apart_dimension(apart))
        return false;
    tsl_cut_make_windows(cut, parts, 0);
    return cut->n > 1 && tsl_cut_apart_shares(apart) && may_spread(apart, members) &&
           (!has_atomics(apart) || atomics_are_whole(graph, members)) &&
           !(has_results(apart) && shares_read_others(apart));
}

static bool is_hopeless(const struct tsl_cut *cut)
{
    const struct tsl_cut_memo *memo = &cut->command->kernel->cut;
    return !cut->command->graph->cuts_always && memo->no_domain && tsl_cut_is_hopeless(memo);
}

bool tsl_cut_in_domain(struct tsl_cut *cut, struct tsl_parts *parts)
{
    const struct tsl_graph *graph = cut->command->graph;
    const struct tsl_cut_verdict before = cut->verdict;
    struct tsl_parts kept = *parts;
    struct tsl_cut_apart apart;
    if (is_hopeless(cut) || (!parts->known && !graph->cuts_always))
        return false;
    tsl_members members = keep_domain(cut, &kept);
    if (tsl_members_count(members) < 2)
        return false;
    bool found = find(&apart, cut, &kept, members);
    cut->command->kernel->cut.no_domain = !found;
    cut->verdict = before;
    if (!found)
        return false;
    cut->spread_over = members;
    cut->spread = apart.taken;
    cut->changes_by_turns = has_atomics(&apart);
    *parts = kept;
    return true;
}

cl_int tsl_cut_spread(struct tsl_command *c)
{
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < c->args->n && !error && !tsl_members_is_empty(c->spread_over); i++)
        if (i < TSL_FOOTING_MAX_ARGUMENTS && c->spread & UINT64_C(1) << i)
            error = tsl_spread_make(c, tsl_data_of(c->args->args[i].buffer), c->spread_over);
    return error;
}
