#include "graph/out_of_core.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "facts/kernel_facts.h"
#include "footprint/cut.h"
#include "graph/arena.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut_kernel.h"
#include "graph/data.h"
#include "graph/footing.h"
#include "graph/member_memory.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "object/queue.h"
#include "place/place.h"
#include "program/launch.h"
#include "program/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Windows of a launch, at most. */
#define MAX_WINDOWS 4096u

/* A launch that may run window by window, on members of which one is looked at. */
struct plan {
    struct tsl_command *command;
    unsigned member;
    tsl_members members; /* all of them */
    const struct tsl_kernel_part *part;
    const struct tsl_footprint *footprint;
    struct tsl_window window;      /* the launch, with a local size */
    unsigned dimension;            /* 3: it can't be cut */
    size_t area_size, align;       /* bytes */
    size_t large_size, small_size; /* of large areas, and of small ones */
    bool prefers_small;
    struct tsl_cut_memory memories[TSL_FOOTING_MAX_ARGUMENTS];
    struct tsl_footing_values values;
    bool whole[TSL_FOOTING_MAX_ARGUMENTS]; /* by argument: its buffer has a copy on the member */
    struct tsl_cut_verdict verdict;        /* why not */
    uint64_t ends[MAX_WINDOWS];            /* of windows, counted in groups */
};

static bool give_up(struct plan *plan, enum tsl_cut_why why, uint32_t argument, uint32_t access)
{
    plan->verdict = (struct tsl_cut_verdict){why, argument, TSL_FOOTPRINT_NONE, access};
    return false;
}

/* ---- What a window needs ----------------------------------------------------------------------------------------- */

/* The bytes of one argument's root object from the first to behind the last that a window touches. */
struct hull {
    uint64_t begin, end; /* equal: none */
};

static void widen(struct hull *hull, const struct tsl_footing_ranges *ranges)
{
    for (unsigned i = 0; i < ranges->n; i++) {
        bool first = hull->begin == hull->end;
        hull->begin = first || ranges->list[i].begin < hull->begin ? ranges->list[i].begin : hull->begin;
        hull->end = first || ranges->list[i].end > hull->end ? ranges->list[i].end : hull->end;
    }
}

/* As the plan will have it (plan_kernel.c). */
static void add_argument(const struct plan *plan, cl_uint i, const struct tsl_argument_touch *touch, struct hull *hull)
{
    const struct tsl_buffer *b = plan->command->args->args[i].buffer;
    unsigned may = tsl_footing_access(&plan->part->facts, i, b);
    struct tsl_footing_ranges ranges;
    if (may & TSL_MAY_WRITE) {
        tsl_footing_writes(touch, b, TSL_FOOTING_SINGLE, &ranges);
        widen(hull, &ranges);
    }
    if (may & TSL_MAY_READ) {
        tsl_footing_reads(touch, b, TSL_FOOTING_SINGLE, &ranges);
        widen(hull, &ranges);
    }
}

static struct tsl_data *data_of(const struct plan *plan, cl_uint i)
{
    const struct tsl_buffer *b = plan->command->args->args[i].buffer;
    return b ? tsl_data_of(b) : NULL;
}

/* Is the argument the first that leads to its object? */
static bool is_first(const struct plan *plan, cl_uint i)
{
    for (cl_uint k = 0; k < i; k++)
        if (data_of(plan, k) == data_of(plan, i))
            return false;
    return data_of(plan, i);
}

/* Of all arguments that lead to the object of argument i. */
static struct hull hull_of(const struct plan *plan, cl_uint i, const struct tsl_argument_touch *touches)
{
    struct hull hull = {0, 0};
    for (cl_uint k = i; k < plan->footprint->n_arguments; k++)
        if (data_of(plan, k) == data_of(plan, i))
            add_argument(plan, k, &touches[k], &hull);
    return hull;
}

static const struct tsl_argument_touch *touches_of(const struct plan *plan, const struct tsl_window *window)
{
    return tsl_footing_of(plan->command, window, &plan->command->kernel->parts[plan->member], NULL);
}

static struct tsl_window groups_of(const struct tsl_window *window, unsigned dimension, uint64_t begin, uint64_t end)
{
    struct tsl_window windows[3];
    const uint64_t ends[3] = {begin, end, tsl_cut_groups(window, dimension)};
    tsl_cut_windows(window, dimension, 3, ends, windows);
    return windows[1];
}

static struct tsl_window groups(const struct plan *plan, uint64_t begin, uint64_t end)
{
    return groups_of(&plan->window, plan->dimension, begin, end);
}

/* The access by which the argument's memory is needed. */
static uint32_t access_to(const struct plan *plan, cl_uint i, const struct tsl_argument_touch *touch)
{
    if (touch->why_read != TSL_FOOTPRINT_NONE)
        return touch->why_read;
    for (uint32_t k = 0; k < plan->footprint->n_accesses; k++)
        if (plan->footprint->accesses[k].argument == i)
            return k;
    return TSL_FOOTPRINT_NONE;
}

/* Lays the window's slices one behind the other into an area; each keeps the alignment that its buffer has. slices has
 * room for all arguments; NULL: only whether they fit is asked. */
static bool lay_out(struct plan *plan, const struct tsl_window *window, struct tsl_slices *slices)
{
    const struct tsl_argument_touch *touches = touches_of(plan, window);
    uint64_t at = 0, largest = 0;
    if (!touches)
        return give_up(plan, TSL_CUT_NO_MEMORY, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE);
    for (cl_uint i = 0; i < plan->footprint->n_arguments; i++) {
        if (!is_first(plan, i) || plan->whole[i])
            continue;
        struct hull hull = hull_of(plan, i, touches);
        uint64_t begin = hull.begin - hull.begin % plan->align;
        uint64_t size = (hull.end - begin + plan->align - 1) / plan->align * plan->align;
        if (size > largest) {
            largest = size;
            give_up(plan, TSL_CUT_TOO_LARGE, i, access_to(plan, i, &touches[i]));
        }
        if (slices)
            slices->list[slices->n++] =
                (struct tsl_slice){.data = data_of(plan, i), .begin = begin, .end = hull.end, .at = at};
        at += size;
    }
    return at <= plan->area_size;
}

/* ---- What stays whole -------------------------------------------------------------------------------------------- */

/* Does a thin window need most of the argument's object? */
static bool needs_most(const struct plan *plan, cl_uint i, const struct tsl_window *thin)
{
    const struct tsl_argument_touch *touches = touches_of(plan, thin);
    struct hull hull = {0, 0};
    if (touches)
        hull = hull_of(plan, i, touches);
    return !touches || hull.end - hull.begin > data_of(plan, i)->size / 2;
}

/* Is there room on the member for what stays whole, beside its areas? *argument: the first for which there isn't. */
static bool has_room_on(const struct plan *plan, unsigned member, cl_uint *argument)
{
    const struct tsl_member_caps *caps = &plan->command->graph->ports[member].member->caps;
    uint64_t total = 0, room = caps->memory_size - TSL_ARENA_AREAS * plan->area_size;
    for (cl_uint i = 0; i < plan->footprint->n_arguments; i++) {
        size_t size = plan->whole[i] && is_first(plan, i) ? tsl_space_size_on(data_of(plan, i), member) : 0;
        total += size;
        *argument = i;
        if (total > room || (caps->max_alloc_size && size > caps->max_alloc_size))
            return false;
    }
    return true;
}

/* On each of the members that may have windows. Parts of spread objects are also elsewhere. */
static bool has_room_for_whole(const struct plan *plan, cl_uint *argument)
{
    const struct tsl_graph *graph = plan->command->graph;
    *argument = 0;
    if (!tsl_member_memory_holds_parts(graph, plan->command->args))
        return false;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(plan->members, i) && !has_room_on(plan, i, argument))
            return false;
    return true;
}

/* Objects of which each window needs most, and images, have a copy on the member as ever. */
static bool choose_whole(struct plan *plan)
{
    uint64_t n = plan->dimension < 3 ? tsl_cut_groups(&plan->window, plan->dimension) : 1;
    struct tsl_window thin = plan->dimension < 3 ? groups(plan, n / 2, n / 2 + 1) : plan->window;
    cl_uint lacks;
    for (cl_uint i = 0; i < plan->footprint->n_arguments; i++) {
        const struct tsl_data *data = data_of(plan, i);
        plan->whole[i] = data && (data->image || tsl_spread_is(data->spread) || needs_most(plan, i, &thin));
    }
    if (has_room_for_whole(plan, &lacks))
        return true;
    const struct tsl_argument_touch *touches = touches_of(plan, &thin);
    return give_up(plan, TSL_CUT_TOO_LARGE, lacks,
                   touches ? access_to(plan, lacks, &touches[lacks]) : TSL_FOOTPRINT_NONE);
}

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

/* The most groups from `begin` on, at most `most`, whose window fits; 0: not even one. */
static uint64_t fitting(struct plan *plan, uint64_t begin, uint64_t most)
{
    uint64_t good = 0, bad = most + 1;
    struct tsl_window window = groups(plan, begin, begin + most);
    if (lay_out(plan, &window, NULL))
        return most;
    while (bad - good > 1) {
        uint64_t middle = good + (bad - good) / 2;
        window = groups(plan, begin, begin + middle);
        if (lay_out(plan, &window, NULL))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* The number of windows. Equal ones as far as they fit, at least so many. 0: it can't be done. */
static unsigned fit_windows(struct plan *plan, unsigned least)
{
    uint64_t *const ends = plan->ends;
    uint64_t n = plan->dimension < 3 ? tsl_cut_groups(&plan->window, plan->dimension) : 1, at = 0;
    unsigned n_windows = 0;
    if (lay_out(plan, &plan->window, NULL) && (least < 2 || plan->dimension == 3)) {
        ends[0] = n;
        return 1;
    }
    if (plan->dimension == 3)
        return 0;
    uint64_t most = fitting(plan, 0, n), wanted = most ? (n + most - 1) / most : 1;
    wanted = wanted < least ? least : wanted;
    most = (n + wanted - 1) / wanted;
    for (; at < n; at = ends[n_windows++]) {
        uint64_t count = fitting(plan, at, most < n - at ? most : n - at);
        if (!count || n_windows == MAX_WINDOWS)
            return 0;
        ends[n_windows] = at + count;
    }
    return n_windows;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

/* By the rules of the rung `exact`. A launch that can't be cut may still touch little enough. */
static void choose_dimension(struct plan *plan)
{
    plan->dimension =
        tsl_cut_dimension(plan->footprint, &plan->window, plan->values.of, plan->memories, &plan->verdict);
}

/* Groups whose size is ours have so many work-items, if they can. */
#define LEAST_ITEMS 64u
#define MOST_ITEMS  256u

/* Groups whose size is ours are made thin along the dimension: windows then end where they should, and launches of a
 * chain (time_tiles.h) stay a row behind each other rather than many. They are small, too: the last groups of each
 * window run beside few others. */
static void make_thin(struct plan *plan, const struct tsl_command *c)
{
    size_t *local = plan->window.local_size, items = local[0] * local[1] * local[2];
    unsigned d = plan->dimension;
    if (d == 3 || c->share.window.local_size[0])
        return;
    if (items / local[d] >= LEAST_ITEMS) {
        items /= local[d];
        local[d] = 1;
    }
    for (; items > MOST_ITEMS && local[0] % 2 == 0; items /= 2)
        local[0] /= 2;
}

static void look_at_member(struct plan *plan, unsigned member)
{
    plan->member = member;
    plan->part = &plan->command->kernel->parts[member];
    plan->footprint = plan->part->facts.footprint;
}

/* False: this member has no windows of the launch. */
static bool begin(struct plan *plan, struct tsl_command *c, tsl_members members, unsigned member)
{
    *plan = (struct plan){.command = c,
                          .members = members,
                          .window = c->share.window,
                          .large_size = SIZE_MAX,
                          .small_size = SIZE_MAX,
                          .align = 1};
    look_at_member(plan, member);
    enum tsl_cut_why why = tsl_cut_kernel_on(c, plan->part);
    if (why != TSL_CUT_OK || tsl_cut_kernel_has_svm(c->args))
        return give_up(plan, why != TSL_CUT_OK ? why : TSL_CUT_SVM, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE);
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        const struct tsl_port *port = &c->graph->ports[i];
        const struct tsl_member *m = port->member;
        size_t large_size = tsl_arena_large_size(port), small_size = tsl_arena_small_size(port);
        if (!tsl_members_has(members, i))
            continue;
        plan->prefers_small |= port->arena.small;
        plan->large_size = large_size < plan->large_size ? large_size : plan->large_size;
        plan->small_size = small_size < plan->small_size ? small_size : plan->small_size;
        plan->align = m->caps.base_align > plan->align ? m->caps.base_align : plan->align;
    }
    tsl_launch_choose(c->kernel, c->queue->handle->device, members, &plan->window);
    tsl_cut_kernel_memories(c, plan->footprint, members, plan->memories, &plan->values);
    choose_dimension(plan);
    make_thin(plan, c);
    return true;
}

/* The same with large areas or small ones, whichever fit; 0: neither do. */
static unsigned fit_areas(struct plan *plan, unsigned least)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 2 && !n; i++) {
        plan->area_size = plan->prefers_small == (i == 0) ? plan->small_size : plan->large_size;
        n = choose_whole(plan) ? fit_windows(plan, least) : 0;
    }
    return n;
}

static bool may_run_on(struct plan *plan, struct tsl_command *c, unsigned member)
{
    if (!begin(plan, c, tsl_members_of(member), member))
        return false;
    struct tsl_cut_verdict verdict = plan->verdict;
    if (fit_areas(plan, 1))
        return true;
    if (plan->dimension == 3) /* The better reason. */
        plan->verdict = verdict;
    return false;
}

/* ---- May it? ----------------------------------------------------------------------------------------------------- */

static bool has_windows(const struct tsl_command *c, unsigned member)
{
    return tsl_arena_small_size(&c->graph->ports[member]) > 0 && c->kernel->parts[member].windows;
}

static void tell(struct tsl_command *c, tsl_members members, const struct plan *plan)
{
    char why[512] = "none of these members can be given parts of buffers: the built-in CPU and CUDA's GPUs can";
    uint64_t total, largest;
    tsl_member_memory_need(c->args, members, &total, &largest);
    if (plan)
        tsl_cut_kernel_say(c->kernel, plan->footprint, &plan->verdict, why, sizeof(why));
    tsl_log(TSL_LOG_IN_TILE, TSL_LOG_ERROR,
            "no member that can run %s has %" PRIu64 " bytes of memory for its buffers (the largest has %" PRIu64
            "), and the launch can't run window by window, as %s: use smaller buffers, or cut the work up",
            c->kernel ? c->kernel->name : "this kernel", total, largest, why);
}

static tsl_members able(struct tsl_command *c, tsl_members members, struct plan *plan, bool *looked)
{
    tsl_members can = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (tsl_members_has(members, i) && has_windows(c, i)) {
            *looked = true;
            if (may_run_on(plan, c, i))
                tsl_members_add(&can, i);
        }
    return can;
}

static bool same_arg(const struct tsl_arg *a, const struct tsl_arg *b)
{
    if (a->kind != b->kind || a->buffer != b->buffer || a->size != b->size)
        return false;
    return a->buffer || !a->value || !b->value || memcmp(a->value, b->value, a->size) == 0;
}

bool tsl_out_of_core_alike(const struct tsl_command *a, const struct tsl_command *b)
{
    if (a->kernel != b->kernel || a->args->n_all != b->args->n_all ||
        memcmp(&a->share.window, &b->share.window, sizeof(a->share.window)) != 0)
        return false;
    for (cl_uint i = 0; i < a->args->n_all; i++)
        if (!same_arg(&a->args->args[i], &b->args->args[i]))
            return false;
    return true;
}

/* So many launches of the queue, from the last one on, are looked at for one that is alike and may run so. */
#define LOOK_BACK 3u

/* What was found out of such a launch, which waits still, serves again. Empty: there is none. */
static tsl_members able_like_others(struct tsl_command *c)
{
    const struct tsl_command *other = TAILQ_LAST(&c->queue->commands, tsl_command_list);
    for (unsigned i = 0; i < LOOK_BACK && other; i++, other = TAILQ_PREV(other, tsl_command_list, link)) {
        tsl_members can = other->out_of_core ? other->members : other->other_way;
        if (other->kernel && !tsl_members_is_empty(can) && other->state == TSL_HELD && tsl_out_of_core_alike(other, c))
            return can;
    }
    return TSL_MEMBERS_NONE;
}

/* looked: a member that has windows was looked at. */
static tsl_members find_able(struct tsl_command *c, tsl_members members, struct plan *plan, bool *looked)
{
    c->out_of_core = true; /* Footprints matter. */
    tsl_members can = able_like_others(c);
    return tsl_members_is_empty(can) ? able(c, members, plan, looked) : can;
}

bool tsl_out_of_core_allow(struct tsl_command *c, tsl_members members)
{
    struct plan *plan = malloc(sizeof(*plan));
    bool looked = false;
    if (plan && c->kernel) {
        tsl_lock_take(&c->graph->lock);
        c->members = find_able(c, members, plan, &looked);
        tsl_lock_give(&c->graph->lock);
    }
    c->out_of_core = !tsl_members_is_empty(c->members);
    if (!c->out_of_core)
        tell(c, members, looked ? plan : NULL);
    free(plan);
    return c->out_of_core;
}

tsl_members tsl_out_of_core_able(struct tsl_command *c, tsl_members members)
{
    struct plan *plan = tsl_members_is_empty(members) ? NULL : malloc(sizeof(*plan));
    bool looked = false;
    tsl_members can = plan ? find_able(c, members, plan, &looked) : TSL_MEMBERS_NONE;
    c->out_of_core = false;
    free(plan);
    return can;
}

/* ---- Its place --------------------------------------------------------------------------------------------------- */

void tsl_out_of_core_ask(const struct tsl_command *c, tsl_members members, struct tsl_ask *ask,
                         struct tsl_candidate *candidates)
{
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        candidates[i] =
            (struct tsl_candidate){.eligible = tsl_members_has(members, i), .windows = tsl_members_has(members, i)};
    *ask = (struct tsl_ask){.candidates = candidates,
                            .kernel = c->kernel->place_key,
                            .size = tsl_place_work_items(&c->share.window),
                            .now_ns = tsl_clock_ns()};
}

void tsl_out_of_core_parts(const struct tsl_command *c, tsl_members members, struct tsl_ask *ask,
                           struct tsl_candidate *candidates, struct tsl_parts *parts)
{
    tsl_out_of_core_ask(c, members, ask, candidates);
    tsl_placer_must_cut(c->graph->placer, ask, parts);
}

/* The member that has had the least of its part. */
static unsigned next_member(const struct tsl_graph *graph, const struct tsl_parts *parts, double *had)
{
    unsigned best = graph->n_ports;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (parts->of[i] > 0 &&
            (best == graph->n_ports || (had[i] + 1) / parts->of[i] < (had[best] + 1) / parts->of[best]))
            best = i;
    had[best]++;
    return best;
}

/* False: no memory, or the member's own footprint of the window is larger than that of the first member. */
static bool make_share(struct plan *plan, struct tsl_share *share, const struct tsl_window *window, unsigned member)
{
    cl_uint n = plan->footprint->n_arguments;
    share->window = *window;
    share->slices = tsl_slices_create(n);
    if (share->slices)
        share->slices->area_size = plan->area_size;
    look_at_member(plan, member);
    return share->slices && lay_out(plan, window, share->slices);
}

static bool make_shares(struct plan *plan, tsl_members members, unsigned n)
{
    struct tsl_command *c = plan->command;
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    struct tsl_parts parts;
    struct tsl_ask ask;
    double had[TSL_MAX_MEMBERS] = {0};
    tsl_out_of_core_parts(c, members, &ask, candidates, &parts);
    for (unsigned s = 0; s < n; s++) {
        struct tsl_window window =
            plan->dimension < 3 && n > 1 ? groups(plan, s ? plan->ends[s - 1] : 0, plan->ends[s]) : plan->window;
        struct tsl_share *share = tsl_command_share(c, s);
        unsigned member = next_member(c->graph, &parts, had);
        if (!make_share(plan, share, &window, member))
            return false;
        tsl_placer_place_part(c->graph->placer, &ask, member, tsl_place_work_items(&window), &share->placement);
        share->moved = true;
    }
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_DEBUG, "%s: its buffers don't fit %s, so it runs in %u windows", c->kernel->name,
            c->graph->ports[c->share.placement.member].name, n);
    return true;
}

/* Small areas are tried first where a launch needed them: else they would be made anew for each of a kind. */
static void keep_small(const struct plan *plan, tsl_members members)
{
    struct tsl_graph *graph = plan->command->graph;
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) && plan->area_size < plan->large_size)
            graph->ports[i].arena.small = true;
}

static bool place_over(struct plan *plan, struct tsl_command *c, tsl_members members)
{
    unsigned count = tsl_members_count(members);
    if (!begin(plan, c, members, tsl_members_first(members)))
        return false;
    unsigned n = fit_areas(plan, count > 1 ? 2 * count : 1);
    if (n > 1)
        c->more = calloc(n - 1, sizeof(*c->more));
    if (!n || (n > 1 && !c->more))
        return false;
    c->n_more = n - 1;
    keep_small(plan, members);
    return make_shares(plan, members, n);
}

/* The command is as it was before place_over(). */
static void take_back(struct tsl_command *c, const struct tsl_window *window)
{
    tsl_place_abandon(c);
    tsl_command_forget_shares(c);
    tsl_slices_unref(c->share.slices);
    c->share.slices = NULL;
    c->share.window = *window;
}

static unsigned smallest(const struct tsl_graph *graph, tsl_members members)
{
    unsigned found = tsl_members_first(members);
    for (unsigned i = found + 1; i < graph->n_ports; i++)
        if (tsl_members_has(members, i) &&
            tsl_arena_large_size(&graph->ports[i]) <= tsl_arena_large_size(&graph->ports[found]))
            found = i;
    return found;
}

/* Each window must fit the smallest of the members' areas: where that can't be, the others go on without that one. */
static bool place(struct plan *plan, struct tsl_command *c, tsl_members members)
{
    const struct tsl_window window = c->share.window;
    while (!tsl_members_is_empty(members)) {
        if (place_over(plan, c, members))
            return true;
        take_back(c, &window);
        tsl_members_remove(&members, smallest(c->graph, members));
    }
    return false;
}

bool tsl_out_of_core_place(struct tsl_command *c, tsl_members members)
{
    struct plan *plan = malloc(sizeof(*plan));
    bool placed = plan && place(plan, c, members);
    free(plan);
    return placed;
}

void tsl_out_of_core_fail(struct tsl_command *c)
{
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_ERROR, "%s can't be run window by window: there is no memory to plan it",
            c->kernel->name);
    c->status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* ---- For chains -------------------------------------------------------------------------------------------------- */

bool tsl_out_of_core_look(struct tsl_command *c, unsigned member, struct tsl_out_of_core_cut *cut)
{
    struct plan *plan = malloc(sizeof(*plan));
    unsigned n = 0;
    if (plan && has_windows(c, member) && begin(plan, c, tsl_members_of(member), member))
        n = fit_areas(plan, 1);
    if (n) {
        keep_small(plan, tsl_members_of(member));
        *cut = (struct tsl_out_of_core_cut){.window = plan->window,
                                            .dimension = plan->dimension,
                                            .groups = 1,
                                            .n_windows = n,
                                            .area_size = plan->area_size,
                                            .align = plan->align};
        if (plan->dimension < 3)
            cut->groups = tsl_cut_groups(&plan->window, plan->dimension);
        memcpy(cut->whole, plan->whole, sizeof(cut->whole));
    }
    free(plan);
    return n;
}

struct tsl_window tsl_out_of_core_window(const struct tsl_out_of_core_cut *cut, uint64_t begin, uint64_t end)
{
    bool all = cut->dimension == 3 || (begin == 0 && end == cut->groups);
    return all ? cut->window : groups_of(&cut->window, cut->dimension, begin, end);
}
