#include "graph/chain.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/worker.h"
#include "driver/member.h"
#include "graph/arena.h"
#include "graph/chain_pays.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/either_way.h"
#include "graph/out_of_core.h"
#include "graph/plan_kernel.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "place/place.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

/* What a byte's move takes where nobody measures that. */
#define MOVE_NS 0.1
/* Rates are asked for moves of that size. */
#define MOVE_SIZE ((uint64_t)64 << 20)
/* So many launches before one are looked at for one that is alike. */
#define LOOK_BACK 4u
/* Members take turns with chains if they have this part of the fastest one's speed. */
#define AS_FAST 0.7
double tsl_chain_window_ns = 1e4;

/* ---- Which launches ---------------------------------------------------------------------------------------------- */

static bool is_chainable(const struct tsl_command *c)
{
    return c->out_of_core && c->kernel && c->in_order && !c->serial && !c->sync && !c->unchained &&
           c->state == TSL_HELD && c->status == CL_COMPLETE && !c->graph->checks_cuts;
}

/* How many of its wait list are launches of its own queue that aren't scheduled; all of those between are chainable. */
static unsigned n_within(const struct tsl_command *c)
{
    unsigned n = 0;
    for (unsigned i = 0; i < c->waits.n; i++) {
        const struct tsl_command *before = *TSL_SMALL_AT(&c->waits, i);
        n += before->state == TSL_HELD && before->queue == c->queue;
    }
    return n;
}

/* Does nothing hold it but its own queue? What it waits for may fail; what did has failed. */
static bool is_free(const struct tsl_command *c)
{
    for (unsigned i = 0; i < c->waits.n; i++)
        if ((*TSL_SMALL_AT(&c->waits, i))->status < 0)
            return false;
    return c->n_hold == n_within(c);
}

/* Does another queue wait for it? */
static bool is_wanted(const struct tsl_command *c)
{
    for (unsigned i = 0; i < c->held.n; i++)
        if ((*TSL_SMALL_AT(&c->held, i))->queue != c->queue)
            return true;
    return false;
}

static bool is_due(const struct tsl_command *c)
{
    /* A simulation has no thread that loses its patience. */
    return c->chain_due || c->awaited || c->watched || is_wanted(c) || (tsl_simulation && c->flushed);
}

bool tsl_chain_takes(const struct tsl_command *c)
{
    return is_chainable(c) && is_free(c) && !is_due(c) && c->queue->n_in_chain < TSL_CHAIN_MOST;
}

bool tsl_chain_waits(const struct tsl_command *first)
{
    unsigned n = 0;
    if (!is_chainable(first) || first->graph->memory_order)
        return false;
    for (const struct tsl_command *c = first; c; c = TAILQ_NEXT(c, link))
        if (!is_chainable(c) || (c != first && !is_free(c)) || is_due(c) || ++n >= TSL_CHAIN_MOST)
            return false;
    first->queue->n_in_chain = n;
    first->queue->n_seen = 0;
    return true;
}

/* ---- What they touch --------------------------------------------------------------------------------------------- */

static unsigned object_of(const struct tsl_chain *chain, const struct tsl_data *data)
{
    for (unsigned o = 0; o < chain->n_objects; o++)
        if (chain->objects[o] == data)
            return o;
    return chain->n_objects;
}

/* Of the launch's objects those that are new; all that it needs whole are whole for the others, too. */
static void add_objects(struct tsl_chain *chain, const struct tsl_chain_link *link)
{
    const struct tsl_args *args = link->command->args;
    for (cl_uint i = 0; i < args->n_all; i++) {
        if (!args->args[i].buffer)
            continue;
        unsigned o = object_of(chain, tsl_data_of(args->args[i].buffer));
        if (o == chain->n_objects) {
            chain->objects[chain->n_objects++] = tsl_data_of(args->args[i].buffer);
            chain->sliced[o] = true;
        }
        chain->sliced[o] &= !link->cut->whole[i];
    }
}

/* ---- The launches ------------------------------------------------------------------------------------------------ */

/* Does the chain do better on member a than on b? One that is idle, else the one whose last chain is older. */
static bool is_better(const struct tsl_graph *graph, unsigned a, unsigned b)
{
    bool used = tsl_arena_is_used(&graph->ports[a]);
    if (used != tsl_arena_is_used(&graph->ports[b]))
        return !used;
    return graph->ports[a].arena.chain_id < graph->ports[b].arena.chain_id;
}

/* Of the members that are about as fast as the fastest, which take turns; how many these are is told. */
static unsigned choose_member(struct tsl_command *c, unsigned *n_members)
{
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    struct tsl_parts parts;
    struct tsl_ask ask;
    unsigned best = TSL_MAX_MEMBERS;
    double most = 0;
    tsl_out_of_core_parts(c, c->members, &ask, candidates, &parts);
    *n_members = 0;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (tsl_members_has(c->members, i) && parts.of[i] > most)
            most = parts.of[i];
    for (unsigned i = 0; i < c->graph->n_ports; i++) {
        if (!tsl_members_has(c->members, i) || parts.of[i] < most * AS_FAST ||
            tsl_member_is_lost(c->graph->ports[i].member))
            continue;
        ++*n_members;
        best = best == TSL_MAX_MEMBERS || is_better(c->graph, i, best) ? i : best;
    }
    return best;
}

/* How long the launch takes there, whole; 0: not known. */
static double run_ns_of(const struct tsl_command *c, unsigned member)
{
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    struct tsl_ask ask;
    tsl_out_of_core_ask(c, tsl_members_of(member), &ask, candidates);
    return tsl_placer_part_ns(c->graph->placer, &ask, member, ask.size);
}

/* One that is alike, of the last ones before the next link; NULL: there is none. */
static const struct tsl_chain_link *alike(const struct tsl_chain *chain, const struct tsl_command *c)
{
    for (unsigned i = chain->n; i > 0 && i + LOOK_BACK > chain->n; i--)
        if (tsl_out_of_core_alike(chain->links[i - 1].command, c))
            return &chain->links[i - 1];
    return NULL;
}

static bool add_link(struct tsl_chain *chain, struct tsl_command *c)
{
    struct tsl_chain_link *link = &chain->links[chain->n];
    const struct tsl_chain_link *like = alike(chain, c);
    *link = (struct tsl_chain_link){.command = c, .cut = malloc(sizeof(*link->cut))};
    if (!link->cut)
        return false;
    if (like) {
        *link->cut = *like->cut;
        link->run_ns = like->run_ns;
    } else if (tsl_members_has(c->members, chain->member) && tsl_out_of_core_look(c, chain->member, link->cut)) {
        link->run_ns = run_ns_of(c, chain->member);
    } else {
        free(link->cut);
        return false;
    }
    chain->n++;
    return true;
}

/* A launch that needs much whole makes areas small, and those before it have windows that fit large ones. */
static bool fit_small_areas(struct tsl_chain *chain)
{
    bool fit = true;
    for (unsigned i = 0; i < chain->n && fit; i++)
        if (chain->links[i].cut->area_size > chain->area_size)
            fit = tsl_out_of_core_look(chain->links[i].command, chain->member, chain->links[i].cut) &&
                  chain->links[i].cut->area_size == chain->area_size;
    return fit;
}

static bool add_links(struct tsl_chain *chain, struct tsl_command *first)
{
    unsigned most = 0, n_args = 0;
    for (struct tsl_command *c = first; c && most < TSL_CHAIN_MOST; c = TAILQ_NEXT(c, link), most++)
        n_args += c->args ? c->args->n_all : 0;
    chain->links = calloc(most, sizeof(*chain->links));
    chain->objects = calloc(n_args, sizeof(struct tsl_data *));
    chain->sliced = calloc(n_args, sizeof(*chain->sliced));
    chain->groups = calloc(most, sizeof(*chain->groups));
    chain->windows = calloc(most, sizeof(*chain->windows));
    if (!chain->links || !chain->objects || !chain->sliced || !chain->groups || !chain->windows)
        return false;
    chain->area_size = SIZE_MAX;
    for (struct tsl_command *c = first; c && chain->n < most && is_chainable(c); c = TAILQ_NEXT(c, link)) {
        if ((c != first && !is_free(c)) || !add_link(chain, c))
            break;
        add_objects(chain, &chain->links[chain->n - 1]);
        if (chain->links[chain->n - 1].cut->area_size < chain->area_size)
            chain->area_size = chain->links[chain->n - 1].cut->area_size;
    }
    return chain->n > 1 && fit_small_areas(chain);
}

/* Is there room beside the areas for what is needed whole? */
static bool whole_ones_fit(const struct tsl_chain *chain)
{
    struct tsl_graph *graph = chain->links[0].command->graph;
    const struct tsl_member_caps *caps = &graph->ports[chain->member].member->caps;
    uint64_t size = TSL_ARENA_AREAS * chain->area_size;
    for (unsigned o = 0; o < chain->n_objects; o++)
        size += chain->sliced[o] ? 0 : chain->objects[o]->size;
    return size <= caps->memory_size;
}

/* ---- The tiles --------------------------------------------------------------------------------------------------- */

struct looking {
    const struct tsl_chain *chain;
    struct tsl_hull *reads, *writes;
};

static void add_range(void *arg, struct tsl_data *data, unsigned space, const struct tsl_range *range, bool written)
{
    const struct looking *looking = arg;
    unsigned o = object_of(looking->chain, data);
    (void)space;
    tsl_hull_add(written ? &looking->writes[o] : &looking->reads[o], range->begin, range->end);
}

static bool touch(void *arg, unsigned launch, uint64_t begin, uint64_t end, struct tsl_hull *reads,
                  struct tsl_hull *writes)
{
    const struct tsl_chain *chain = arg;
    const struct tsl_chain_link *link = &chain->links[launch];
    const struct tsl_share share = {.window = tsl_out_of_core_window(link->cut, begin, end),
                                    .placement.member = chain->member};
    struct looking looking = {chain, reads, writes};
    tsl_plan_kernel_look(link->command, &share, add_range, &looking);
    return true;
}

/* Of a byte between the host and the member. */
static double move_ns(const struct tsl_chain *chain)
{
    struct tsl_placer *placer = chain->links[0].command->graph->placer;
    if (!tsl_placer_learns(placer))
        return MOVE_NS;
    return tsl_placer_move_ns(placer, TSL_SPACE_HOST, TSL_SPACE_MEMBER(chain->member), MOVE_SIZE) / MOVE_SIZE;
}

/* What is chosen for launches serves so often for others that are alike: what they take may be known better then. */
#define CHOSEN_SERVES 32u

/* A number that launches have in common which are of the same kernels on the same objects. */
static uint64_t key_of(const struct tsl_chain *chain)
{
    uint64_t key = chain->links[0].command->chain_depth + chain->n;
    for (unsigned i = 0; i < chain->n; i++) {
        const struct tsl_args *args = chain->links[i].command->args;
        key = key * 31 + chain->groups[i];
        for (cl_uint k = 0; k < args->n_all; k++)
            if (args->args[k].buffer)
                key = (key ^ (key >> 29)) * 31 + (uintptr_t)tsl_data_of(args->args[k].buffer) / 64;
        key = key * 0x9e3779b97f4a7c15u + chain->links[i].command->kernel->place_key;
    }
    return key;
}

/* A choice that is wrong for these costs time, no more: each tile is looked at when it is made. */
static void choose_as_before(struct tsl_chain *chain)
{
    struct tsl_graph *graph = chain->links[0].command->graph;
    uint64_t key = key_of(chain);
    for (unsigned i = 0; i < 4; i++)
        if (graph->chosen[i].key == key && graph->chosen[i].n_left) {
            graph->chosen[i].n_left--;
            chain->ask.depth = graph->chosen[i].depth;
            chain->ask.width = graph->chosen[i].width;
        }
}

static void note_choice(const struct tsl_chain *chain)
{
    struct tsl_graph *graph = chain->links[0].command->graph;
    uint64_t key = key_of(chain);
    if (chain->ask.width || chain->links[0].run_ns <= 0)
        return;
    graph->chosen[key >> 62].key = key;
    graph->chosen[key >> 62].depth = tsl_time_tiles_launches(chain->tiles);
    graph->chosen[key >> 62].width = tsl_time_tiles_width(chain->tiles);
    graph->chosen[key >> 62].n_left = CHOSEN_SERVES;
}

static enum tsl_time_tiles_end choose_tiles(struct tsl_chain *chain)
{
    struct tsl_placer *placer = chain->links[0].command->graph->placer;
    double launch_ns[TSL_CHAIN_MOST];
    for (unsigned i = 0; i < chain->n; i++) {
        chain->groups[i] = chain->links[i].cut->groups;
        chain->windows[i] = chain->links[i].cut->n_windows;
        launch_ns[i] = chain->links[i].run_ns;
    }
    chain->ask = (struct tsl_time_tiles_ask){
        .n_launches = chain->n,
        .n_objects = chain->n_objects,
        .groups = chain->groups,
        .windows = chain->windows,
        .sliced = chain->sliced,
        .area_size = chain->area_size,
        .align = chain->links[0].cut->align,
        .touch = touch,
        .arg = chain,
        .move_ns = move_ns(chain),
        .carry_ns = tsl_placer_work_ns(placer, chain->member, TSL_WORK_COPY, MOVE_SIZE) / MOVE_SIZE,
        .window_ns = tsl_chain_window_ns,
        .launch_ns = launch_ns,
        .n_members = chain->ask.n_members,
        .depth = chain->links[0].command->chain_depth};
    choose_as_before(chain);
    enum tsl_time_tiles_end end = tsl_time_tiles_create(&chain->ask, &chain->tiles);
    chain->ask.launch_ns = NULL;
    if (end == TSL_TIME_TILES_MADE)
        note_choice(chain);
    return end;
}

/* ---- The shares -------------------------------------------------------------------------------------------------- */

/* Drivers look at shares without the lock, so these must not move while others are made. */
static bool reserve_shares(const struct tsl_chain *chain)
{
    for (unsigned j = 0; j < chain->n; j++) {
        struct tsl_command *c = chain->links[j].command;
        c->n_chained = (uint16_t)chain->n;
        c->more = calloc(tsl_time_tiles_most_windows(chain->tiles, j), sizeof(*c->more));
        if (!c->more)
            return false;
    }
    return true;
}

/* What the tile has in its area. */
static struct tsl_slices *lay_out(const struct tsl_chain *chain)
{
    struct tsl_slices *slices = tsl_slices_create(chain->n_objects);
    uint64_t at = 0, align = chain->ask.align;
    if (slices)
        slices->area_size = chain->area_size;
    for (unsigned o = 0; slices && o < chain->n_objects; o++) {
        const struct tsl_hull hull = tsl_time_tiles_slice(chain->tiles, o);
        if (!chain->sliced[o])
            continue;
        slices->list[slices->n++] =
            (struct tsl_slice){.data = chain->objects[o], .begin = hull.begin, .end = hull.end, .at = (size_t)at};
        at += (hull.end - hull.begin + align - 1) / align * align;
    }
    return slices;
}

bool tsl_chain_has_window(const struct tsl_chain *chain, unsigned launch)
{
    return tsl_time_tiles_from(chain->tiles, launch) < tsl_time_tiles_to(chain->tiles, launch);
}

static void make_share(const struct tsl_chain *chain, unsigned launch, struct tsl_slices *slices)
{
    struct tsl_chain_link *link = &chain->links[launch];
    struct tsl_command *c = link->command;
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    struct tsl_ask ask;
    c->n_more = link->n_windows;
    struct tsl_share *share = tsl_command_share(c, link->n_windows++);
    share->window = tsl_out_of_core_window(link->cut, tsl_time_tiles_from(chain->tiles, launch),
                                           tsl_time_tiles_to(chain->tiles, launch));
    share->slices = slices;
    slices->refs++;
    share->moved = true;
    tsl_out_of_core_ask(c, tsl_members_of(chain->member), &ask, candidates);
    tsl_placer_place_part(c->graph->placer, &ask, chain->member, tsl_place_work_items(&share->window),
                          &share->placement);
}

cl_int tsl_chain_next(struct tsl_chain *chain, struct tsl_slices **slices)
{
    *slices = NULL;
    enum tsl_time_tiles_next next = tsl_time_tiles_go_on(chain->tiles);
    if (next == TSL_TIME_TILES_OVER)
        return CL_SUCCESS;
    struct tsl_slices *made = next == TSL_TIME_TILES_NEXT ? lay_out(chain) : NULL;
    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    bool room = true;
    for (unsigned j = 0; j < chain->n && room; j++) {
        room = chain->links[j].n_windows <= tsl_time_tiles_most_windows(chain->tiles, j);
        if (room && tsl_chain_has_window(chain, j))
            make_share(chain, j, made);
    }
    if (room)
        *slices = made;
    tsl_slices_unref(made);
    return room ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

void tsl_chain_destroy(struct tsl_chain *chain)
{
    for (unsigned i = 0; chain->links && i < chain->n; i++)
        free(chain->links[i].cut);
    tsl_time_tiles_destroy(chain->tiles);
    free(chain->groups);
    free(chain->windows);
    free(chain->links);
    free(chain->objects);
    free(chain->sliced);
    free(chain);
}

void tsl_chain_cancel(struct tsl_chain *chain)
{
    for (unsigned i = 0; i < chain->n; i++) {
        struct tsl_command *c = chain->links[i].command;
        free(c->more);
        c->more = NULL;
        c->n_chained = 0;
        c->unchained = true;
    }
    tsl_chain_destroy(chain);
}

/* Those behind the last one are the next chain's. */
static void shorten(struct tsl_chain *chain, unsigned n)
{
    if (chain->n > n)
        chain->links[n].command->chain_depth = (uint16_t)n;
    while (chain->n > n)
        free(chain->links[--chain->n].cut);
}

/* What each launch takes by itself, at the best: its own bytes' way, or its work. */
static double alone_ns(struct tsl_chain *chain)
{
    struct tsl_hull *hulls = calloc(2 * (size_t)chain->n_objects, sizeof(*hulls));
    double bytes = 0;
    if (!hulls)
        return 0;
    touch(chain, 0, 0, chain->groups[0], hulls, hulls + chain->n_objects);
    for (unsigned o = 0; o < chain->n_objects; o++) {
        const struct tsl_hull *writes = &hulls[chain->n_objects + o];
        tsl_hull_add(&hulls[o], writes->begin, writes->end);
        bytes += chain->sliced[o] ? (double)(hulls[o].end - hulls[o].begin) : 0;
    }
    free(hulls);
    double ns = bytes * chain->ask.move_ns;
    return (ns > chain->links[0].run_ns ? ns : chain->links[0].run_ns) / chain->ask.n_members;
}

/* By what was measured: is it to be? Else the first launches by themselves are measured. */
static bool pays(struct tsl_chain *chain, uint64_t key)
{
    struct tsl_command *first = chain->links[0].command;
    unsigned few = chain->n < TSL_CHAIN_PAYS_TRIES ? chain->n : TSL_CHAIN_PAYS_TRIES;
    if (tsl_either_way_needs_chain(first))
        return true;
    enum tsl_chain_way way = tsl_chain_pays_how(first->graph, key, alone_ns(chain));
    if (way == TSL_CHAIN_DOES)
        return true;
    for (unsigned i = 0; i < (way == TSL_CHAIN_TRIES ? few : chain->n); i++)
        chain->links[i].command->unchained = true;
    tsl_chain_pays_watch(first, few, key, false);
    return false;
}

/* The others may do better without the first ones. */
static void leave_alone(struct tsl_chain *chain)
{
    for (unsigned i = 0; i < (chain->n + 1) / 2; i++)
        chain->links[i].command->unchained = true;
    tsl_chain_destroy(chain);
}

struct tsl_chain *tsl_chain_make(struct tsl_command *first)
{
    const struct tsl_command *second = TAILQ_NEXT(first, link);
    if (!is_chainable(first) || !second || !is_chainable(second) || first->graph->memory_order)
        return NULL;
    struct tsl_chain *chain = calloc(1, sizeof(*chain));
    uint64_t begun_ns = tsl_clock_ns();
    if (!chain)
        return NULL;
    chain->member = choose_member(first, &chain->ask.n_members);
    if (chain->member == TSL_MAX_MEMBERS || !add_links(chain, first) || !whole_ones_fit(chain) ||
        choose_tiles(chain) != TSL_TIME_TILES_MADE) {
        leave_alone(chain);
        return NULL;
    }
    uint64_t key = first->kernel->place_key + chain->groups[0];
    if (!pays(chain, key)) {
        tsl_chain_destroy(chain);
        return NULL;
    }
    unsigned n = chain->n;
    uint64_t tiled_ns = tsl_clock_ns();
    shorten(chain, tsl_time_tiles_launches(chain->tiles));
    if (!reserve_shares(chain)) {
        tsl_chain_cancel(chain);
        return NULL;
    }
    first->graph->ports[chain->member].arena.chain_id = first->id;
    tsl_chain_pays_watch(first, chain->n, key, true);
    tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO,
            "%s: its buffers don't fit, so %u launches of %u that wait are chained on %s, in %u tiles (found in %u "
            "us; a launch takes %.0f us, a MiB %.1f us to move)",
            first->kernel->name, chain->n, n, first->graph->ports[chain->member].name,
            tsl_time_tiles_expected(chain->tiles), (unsigned)((tiled_ns - begun_ns) / 1000),
            chain->links[0].run_ns / 1000, chain->ask.move_ns * (1 << 20) / 1000);
    return chain;
}
