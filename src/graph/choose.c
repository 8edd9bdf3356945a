/* Which member runs a kernel, and when that is decided: what the placer must know, and the commands that wait for a
 * place. */
#include "graph/choose.h"

#include "base/clock.h"
#include "base/sets.h"
#include "base/small_vector.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/deferred_write.h"
#include "graph/edge.h"
#include "graph/footing.h"
#include "graph/move.h"
#include "graph/op.h"
#include "graph/space.h"
#include "place/model.h"
#include "place/model_file.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"

/* ---- What the kernel needs --------------------------------------------------------------------------------------- */

/* A run of tiles that a candidate gets from one source. */
struct run_of_tiles {
    unsigned from;
    uint64_t end, size;
};

struct survey {
    struct tsl_command *command;
    struct tsl_data *data; /* the object whose tiles are being counted */
    tsl_members members;
    uint64_t ready_ns;
    struct tsl_candidate *candidates;
    struct run_of_tiles runs[TSL_MAX_MEMBERS]; /* by candidate, not yet counted; size 0: none */
};

static unsigned space_at(const struct survey *s, unsigned i)
{
    return tsl_space_of(&s->command->graph->ports[i], s->data);
}

/* Counts the candidate's run, whose end is known now: one move, or two by way of the host. */
static void count_run(struct survey *s, unsigned i)
{
    struct tsl_graph *g = s->command->graph;
    struct run_of_tiles *run = &s->runs[i];
    unsigned to = space_at(s, i);
    if (run->size == 0)
        return;
    s->candidates[i].missing_size += run->size;
    if (tsl_placer_learns(g->placer)) {
        bool direct = tsl_move_is_direct(g, run->from, to);
        if (!direct)
            s->candidates[i].move_ns += tsl_placer_move_ns(g->placer, run->from, TSL_SPACE_HOST, run->size);
        s->candidates[i].move_ns += tsl_placer_move_ns(g->placer, direct ? run->from : TSL_SPACE_HOST, to, run->size);
    }
    run->size = 0;
}

/* Does a deferred write overwrite the range? Then what the range holds now need not be fetched. */
static bool is_overwritten(const struct survey *s, uint64_t begin, uint64_t end)
{
    const struct tsl_command *c;
    TAILQ_FOREACH(c, &s->command->graph->deferred, deferred)
    {
        if (tsl_data_of(c->dst) == s->data && tsl_deferred_write_begin(c) <= begin && end <= tsl_deferred_write_end(c))
            return true;
    }
    return false;
}

static void count_tile(struct survey *s, const struct tsl_tile *tile, uint64_t begin, uint64_t end)
{
    if (is_overwritten(s, begin, end))
        return;
    for (unsigned i = 0; i < s->command->graph->n_ports; i++) {
        struct run_of_tiles *run = &s->runs[i];
        unsigned to = space_at(s, i);
        if (!tsl_members_has(s->members, i) || tsl_spaces_is_empty(tile->valid) || tsl_spaces_has(tile->valid, to) ||
            tsl_spaces_has(tile->valid, TSL_SPACE_LOST))
            continue;
        unsigned from = tsl_move_source(s->command->graph, tile->valid, to);
        if (run->size && (run->from != from || run->end != begin))
            count_run(s, i);
        run->from = from;
        run->end = end;
        run->size += end - begin;
    }
}

static void wait_for_op(struct survey *s, const struct tsl_op *op)
{
    if (!op->user.done && op->end_estimate_ns > s->ready_ns)
        s->ready_ns = op->end_estimate_ns;
}

/* All writers of the tile must have ended, on whatever member. */
static void wait_for_writers(struct survey *s, const struct tsl_tile *tile)
{
    for (unsigned i = 0; i < tile->uses.n; i++)
        if (tile->uses.list[i].write)
            wait_for_op(s, (const struct tsl_op *)tile->uses.list[i].user);
}

/* Counts the way of a deferred write's bytes from the application's memory: to the member, or by way of the host's
 * copy. */
static void count_deferred(struct survey *s, const struct tsl_command *write, const struct tsl_buffer *buffer)
{
    struct tsl_placer *placer = s->command->graph->placer;
    uint64_t begin = tsl_deferred_write_begin(write), end = tsl_deferred_write_end(write), size = end - begin;
    bool within = buffer->offset <= begin && end <= buffer->offset + buffer->size;
    for (unsigned i = 0; i < s->command->graph->n_ports; i++) {
        unsigned to = space_at(s, i);
        if (!tsl_members_has(s->members, i))
            continue;
        s->candidates[i].missing_size += to == TSL_SPACE_HOST ? 0 : size;
        s->candidates[i].move_ns += tsl_placer_move_ns(placer, TSL_SPACE_HOST, within ? to : TSL_SPACE_HOST, size);
        if (!within && to != TSL_SPACE_HOST)
            s->candidates[i].move_ns += tsl_placer_move_ns(placer, TSL_SPACE_HOST, to, size);
    }
}

static void survey_deferred(struct survey *s, const struct tsl_buffer *buffer)
{
    const struct tsl_command *c;
    TAILQ_FOREACH(c, &s->command->graph->deferred, deferred)
    {
        if (tsl_data_of(c->dst) == s->data && tsl_deferred_write_begin(c) < buffer->offset + buffer->size &&
            buffer->offset < tsl_deferred_write_end(c))
            count_deferred(s, c, buffer);
    }
}

/* What the launch needs of a range: moves, and the ends of all that writes there. */
static void survey_range(struct survey *s, const struct tsl_footing_range *range, bool missing)
{
    for (struct tsl_tile *tile = tsl_tiles_meeting(&s->data->tiles, range->begin, range->end); tile;
         tile = tsl_tiles_next_meeting(tile, range->end)) {
        uint64_t begin = tile->begin > range->begin ? tile->begin : range->begin;
        uint64_t end = tile->end < range->end ? tile->end : range->end;
        if (missing)
            count_tile(s, tile, begin, end);
        wait_for_writers(s, tile);
    }
}

static bool is_among(const struct tsl_footing_range *range, const struct tsl_footing_ranges *ranges)
{
    for (unsigned i = 0; i < ranges->n; i++)
        if (ranges->list[i].begin <= range->begin && range->end <= ranges->list[i].end)
            return true;
    return false;
}

/* touch: what the launch does to the argument's memory; NULL: all of it is needed. */
static void survey_buffer(struct survey *s, const struct tsl_buffer *buffer, const struct tsl_argument_touch *touch)
{
    struct tsl_footing_ranges reads, writes = {.n = 0};
    s->data = tsl_data_of(buffer);
    tsl_footing_reads(touch, buffer, &reads);
    if (touch)
        tsl_footing_writes(touch, buffer, &writes);
    for (unsigned i = 0; i < reads.n; i++)
        survey_range(s, &reads.list[i], true);
    for (unsigned i = 0; i < writes.n; i++)
        survey_range(s, &writes.list[i], !writes.list[i].overwritten && !is_among(&writes.list[i], &reads));
    for (unsigned i = 0; i < s->command->graph->n_ports; i++)
        count_run(s, i);
    survey_deferred(s, buffer);
}

/* By the footprint that the first of the members knows: elsewhere the same program may be other code, but it touches
 * the same bytes, as far as an estimate goes. */
static void survey_arguments(struct survey *s)
{
    struct tsl_command *c = s->command;
    const struct tsl_argument_touch *touches = NULL;
    cl_uint n = 0;
    for (unsigned i = 0; i < c->graph->n_ports && !touches; i++) {
        struct tsl_kernel_part *part = &c->kernel->parts[i];
        if (!tsl_members_has(s->members, i) || !part->facts.footprint)
            continue;
        touches = tsl_footing_of(c, part);
        n = part->facts.footprint->n_arguments;
    }
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            survey_buffer(s, c->args->args[i].buffer, touches && i < n ? &touches[i] : NULL);
}

/* Waits for the command's wait list. */
static void survey_order(struct survey *s)
{
    for (unsigned i = 0; i < s->command->waits.n; i++) {
        const struct tsl_command *before = *TSL_SMALL_AT(&s->command->waits, i);
        for (unsigned k = 0; k < before->own.n; k++)
            wait_for_op(s, TSL_SMALL_AT(&before->own, k)->op);
    }
}

/* How many commands behind a kernel are looked at. */
#define LOOK_AHEAD 256

static bool same_data(const struct tsl_buffer *a, const struct tsl_buffer *b)
{
    return a && b && tsl_data_of(a) == tsl_data_of(b);
}

/* May the later command need what the kernel does, or touch what the kernel touches? Judged by whole objects. A command
 * that is no kernel may. */
static bool may_need(const struct tsl_command *later, const struct tsl_command *kernel)
{
    if (!later->kernel || !later->args)
        return true;
    for (cl_uint i = 0; i < later->args->n_all; i++)
        for (cl_uint k = 0; k < kernel->args->n_all; k++)
            if (same_data(later->args->args[i].buffer, kernel->args->args[k].buffer))
                return true;
    return false;
}

/* None behind a kernel that has an event: whoever holds the event may need the kernel at any time. */
static unsigned n_behind(void *arg)
{
    struct tsl_command *c = arg, *later = c;
    unsigned n = 0;
    if (!c->in_order || c->has_event)
        return 0;
    for (unsigned i = 0; i < LOOK_AHEAD && (later = TAILQ_NEXT(later, link)) && !may_need(later, c); i++)
        n += later->kernel->place_key == c->kernel->place_key &&
             tsl_place_work_items(&later->share.window) == tsl_place_work_items(&c->share.window);
    return n;
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

uint64_t tsl_place_work_items(const struct tsl_window *window)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < window->work_dim; d++)
        n *= window->global_size[d];
    return n;
}

/* The command's members that are not lost; if all are lost, all. */
static tsl_members living(const struct tsl_command *c)
{
    tsl_members members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < c->graph->n_ports; i++)
        if (tsl_members_has(c->members, i) && !tsl_member_is_lost(c->graph->ports[i].member))
            tsl_members_add(&members, i);
    return tsl_members_is_empty(members) ? c->members : members;
}

bool tsl_place_choose(struct tsl_command *c)
{
    struct tsl_graph *g = c->graph;
    struct tsl_candidate candidates[TSL_MAX_MEMBERS];
    struct survey s = {.command = c, .members = living(c), .candidates = candidates};
    if (g->n_ports == 1) {
        c->share.placement = (struct tsl_placement){.member = 0};
        return true;
    }
    for (unsigned i = 0; i < g->n_ports; i++)
        candidates[i] = (struct tsl_candidate){.eligible = tsl_members_has(s.members, i)};
    if (tsl_placer_learns(g->placer))
        survey_arguments(&s);
    survey_order(&s);
    struct tsl_ask ask = {.candidates = candidates,
                          .kernel = c->kernel->place_key,
                          .size = tsl_place_work_items(&c->share.window),
                          .now_ns = tsl_clock_ns(),
                          .ready_ns = s.ready_ns,
                          .n_behind = n_behind,
                          .arg = c};
    tsl_placer_choose(g->placer, &ask, &c->share.placement);
    return !c->share.placement.later;
}

/* Every now and then a thread of ours writes what was learned. */
static struct tsl_worker keeper = TSL_WORKER("tesela-model");
static _Atomic(struct tsl_model *) to_keep; /* has a reference; NULL: nothing is to be written */

static void keep(struct tsl_job *job)
{
    struct tsl_model *model = atomic_exchange(&to_keep, NULL);
    (void)job;
    if (model)
        tsl_model_keep(model, tsl_clock_ns());
    tsl_model_unref(model);
}

static struct tsl_job keep_job = {.run = keep};

static void keep_what_was_learned(struct tsl_graph *g)
{
    struct tsl_model *model = tsl_placer_unkept(g->placer, tsl_clock_ns());
    if (!model || atomic_load(&to_keep))
        return;
    tsl_model_unref(atomic_exchange(&to_keep, tsl_model_ref(model)));
    tsl_worker_post(&keeper, &keep_job);
}

void tsl_place_ended(struct tsl_command *c, struct tsl_share *share, uint64_t start_ns, uint64_t end_ns)
{
    if (!share->placement.placed)
        return;
    struct tsl_ended ended = {.kernel = c->kernel->place_key,
                              .size = tsl_place_work_items(&share->window),
                              .ran_ns = end_ns > start_ns ? end_ns - start_ns : 0,
                              .end_ns = end_ns,
                              .now_ns = tsl_clock_ns()};
    tsl_placer_done(c->graph->placer, &share->placement, &ended);
    c->graph->ask_again = true;
    keep_what_was_learned(c->graph);
}

/* ---- Later ------------------------------------------------------------------------------------------------------- */

bool tsl_place_later(struct tsl_command *c)
{
    struct tsl_port *port;
    if (!c->kernel || c->share.placement.placed || c->status != CL_COMPLETE || tsl_place_choose(c))
        return false;
    port = &c->graph->ports[c->share.placement.member];
    if (TAILQ_EMPTY(&port->launches)) { /* The end of nothing would ask again. */
        c->share.placement.later = false;
        return false;
    }
    tsl_op_watch(TAILQ_FIRST(&port->launches));
    c->n_hold++;
    return true;
}

void tsl_place_add_launch(struct tsl_port *port, struct tsl_op *op)
{
    struct tsl_op *last = TAILQ_LAST(&port->launches, tsl_op_list);
    if (!tsl_op_share(op)->placement.placed)
        return;
    /* Two launches of one queue on two lanes keep their order: the later one might run first, and its end would say
     * nothing of the earlier one. */
    if (last && last->lane != op->lane && last->command->queue == op->command->queue)
        tsl_op_depend(op, last, false);
    TAILQ_INSERT_TAIL(&port->launches, op, launch);
    op->listed = true;
    op->user.refs++;
}

void tsl_place_drop_launch(struct tsl_op *op)
{
    if (!op->listed)
        return;
    TAILQ_REMOVE(&op->port->launches, op, launch);
    op->listed = false;
    tsl_op_unref(op);
}
