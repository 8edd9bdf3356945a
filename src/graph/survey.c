/* What a launch lacks on each member, and what it must wait for. */
#include "graph/survey.h"

#include "base/sets.h"
#include "base/small_vector.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/deferred_write.h"
#include "graph/extent.h"
#include "graph/footing.h"
#include "graph/host_copy.h"
#include "graph/joints.h"
#include "graph/move.h"
#include "graph/op.h"
#include "graph/space.h"
#include "graph/touch.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"

/* Tiles that a candidate gets from one source, in one move: of one object that may have many pieces. */
struct run_of_tiles {
    unsigned from;
    uint64_t size;
};

struct survey {
    struct tsl_command *command;
    const struct tsl_window *window;
    const struct tsl_joints *joints;
    enum tsl_footing_grain grain;
    struct tsl_data *data; /* the object whose tiles are being counted */
    /* What the launch does to the argument whose memory that is; NULL: anything. The extent is the same, made when it
     * is needed first. */
    const struct tsl_argument_touch *touch;
    const struct tsl_buffer *buffer;
    bool is_new; /* no argument before led to that object */
    bool has_extent;
    bool waits; /* asks for the time, too */
    struct tsl_extent extent;
    tsl_members members;
    uint64_t ready_ns;
    struct tsl_candidate *candidates;
    struct run_of_tiles runs[TSL_MAX_MEMBERS][TSL_MOVE_SOURCES]; /* by candidate, not yet counted; size 0: none */
};

/* The first of the members that are left; true until none is. There may be many, of which one is asked about. */
static bool take_member(const struct survey *s, tsl_members *left, unsigned *i)
{
    if (tsl_members_is_empty(*left))
        return false;
    *i = tsl_members_first(*left);
    tsl_members_remove(left, *i);
    return *i < s->command->graph->n_ports;
}

static unsigned space_at(const struct survey *s, unsigned i)
{
    return tsl_space_of(&s->command->graph->ports[i], s->data);
}

/* Bytes of the host's copy may be those of a member that works there. */
static bool is_a_members(const struct survey *s, unsigned space)
{
    return space != TSL_SPACE_HOST || s->data->host_is_members;
}

/* Counts what the candidate gets from one source: one move, or two by way of the host. */
static void count_run(struct survey *s, unsigned i, struct run_of_tiles *run)
{
    struct tsl_graph *g = s->command->graph;
    unsigned to = space_at(s, i);
    if (run->size == 0)
        return;
    s->candidates[i].missing_size += run->size;
    if (tsl_placer_learns(g->placer)) {
        bool direct = tsl_move_is_direct(g, s->data, run->from, to);
        unsigned from = tsl_space_of_link(s->data, run->from), last = tsl_space_of_link(s->data, to);
        double ns = tsl_placer_move_ns(g->placer, direct ? from : TSL_SPACE_HOST, last, run->size);
        if (!direct)
            ns += tsl_placer_move_ns(g->placer, from, TSL_SPACE_HOST, run->size);
        s->candidates[i].move_ns += ns;
        s->candidates[i].peer_ns += is_a_members(s, run->from) ? ns : 0;
        if (!s->waits)
            tsl_placer_moves(g->placer, &s->data->layout, ns, &s->candidates[i]);
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

/* The candidate's tiles from that source. */
static struct run_of_tiles *run_from(struct survey *s, unsigned i, unsigned from)
{
    for (unsigned k = 0; k < TSL_MOVE_SOURCES; k++)
        if (s->runs[i][k].size == 0 || s->runs[i][k].from == from)
            return &s->runs[i][k];
    count_run(s, i, &s->runs[i][0]);
    return &s->runs[i][0];
}

static void count_tile(struct survey *s, const struct tsl_tile *tile, uint64_t begin, uint64_t end)
{
    tsl_members left = s->members;
    unsigned i;
    if (is_overwritten(s, begin, end) || tsl_spaces_is_empty(tile->valid) ||
        tsl_spaces_has(tile->valid, TSL_SPACE_LOST))
        return;
    while (take_member(s, &left, &i)) {
        unsigned to = space_at(s, i);
        if (tsl_spaces_has(tile->valid, to))
            continue;
        unsigned from = tsl_move_source(s->command->graph, s->data, tile, to);
        struct run_of_tiles *run = run_from(s, i, from);
        run->from = from;
        run->size += end - begin;
    }
}

/* May the launch touch what the use, a write, is about? Both may touch less than their ranges. */
static bool meets(struct survey *s, const struct tsl_use *use, const struct tsl_tile *tile)
{
    if (!s->touch)
        return true;
    if (!s->has_extent)
        tsl_extent_of_touch(&s->extent, s->touch, s->buffer->offset, s->buffer->size);
    s->has_extent = true;
    return tsl_touch_meets(&s->extent, s->data, use, tile);
}

static void wait_for_op(struct survey *s, const struct tsl_op *op)
{
    if (!op->user.done && op->end_estimate_ns > s->ready_ns)
        s->ready_ns = op->end_estimate_ns;
}

/* All that write bytes of the tile which the launch touches must have ended, on whatever member. */
static void wait_for_writers(struct survey *s, const struct tsl_tile *tile)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        const struct tsl_op *op = (const struct tsl_op *)use->user;
        if (use->write && !op->user.done && op->end_estimate_ns > s->ready_ns && meets(s, use, tile))
            wait_for_op(s, op);
    }
}

/* Counts the way of a deferred write's bytes from the application's memory: to the member, or by way of the host's
 * copy. */
static void count_deferred(struct survey *s, const struct tsl_command *write, const struct tsl_buffer *buffer)
{
    struct tsl_placer *placer = s->command->graph->placer;
    uint64_t begin = tsl_deferred_write_begin(write), end = tsl_deferred_write_end(write), size = end - begin;
    bool within = buffer->offset <= begin && end <= buffer->offset + buffer->size;
    tsl_members left = s->members;
    unsigned i;
    while (take_member(s, &left, &i)) {
        unsigned to = tsl_space_of_link(s->data, space_at(s, i));
        s->candidates[i].missing_size += to == TSL_SPACE_HOST ? 0 : size;
        s->candidates[i].move_ns += tsl_placer_move_ns(placer, TSL_SPACE_HOST, within ? to : TSL_SPACE_HOST, size);
        if (!within && to != TSL_SPACE_HOST)
            s->candidates[i].move_ns += tsl_placer_move_ns(placer, TSL_SPACE_HOST, to, size);
    }
}

/* A candidate that works on the host's copy waits until there is one. */
static void count_host_copy(struct survey *s)
{
    double ns = s->is_new ? tsl_host_copy_ns(s->data) : 0;
    tsl_members left = s->members;
    unsigned i;
    while (ns > 0 && take_member(s, &left, &i))
        if (space_at(s, i) == TSL_SPACE_HOST)
            s->candidates[i].move_ns += ns;
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
static void survey_one(struct survey *s, const struct tsl_range *range, bool missing)
{
    for (struct tsl_tile *tile = tsl_tiles_meeting(&s->data->tiles, range->begin, range->end); tile;
         tile = tsl_tiles_next_meeting(tile, range->end)) {
        uint64_t begin = tile->begin > range->begin ? tile->begin : range->begin;
        uint64_t end = tile->end < range->end ? tile->end : range->end;
        if (missing)
            count_tile(s, tile, begin, end);
        if (s->waits)
            wait_for_writers(s, tile);
    }
}

static void survey_range(struct survey *s, const struct tsl_footing_range *range, bool missing)
{
    if (!missing && !s->waits)
        return;
    for (uint64_t i = 0; i <= range->more; i++) {
        struct tsl_range one = tsl_footing_range_at(range, i);
        survey_one(s, &one, missing);
    }
}

static bool is_among(const struct tsl_footing_range *range, const struct tsl_footing_ranges *ranges)
{
    for (unsigned i = 0; i < ranges->n; i++)
        if (tsl_footing_range_holds(&ranges->list[i], range))
            return true;
    return false;
}

/* touch: what the launch does to the argument's memory; NULL: all of it is needed. */
static void survey_buffer(struct survey *s, const struct tsl_buffer *buffer, const struct tsl_argument_touch *touch)
{
    struct tsl_footing_ranges reads, writes = {.n = 0};
    s->data = tsl_data_of(buffer);
    s->buffer = buffer;
    s->touch = touch;
    s->has_extent = false;
    tsl_footing_reads(touch, buffer, s->grain, &reads);
    if (touch)
        tsl_footing_writes(touch, buffer, s->grain, &writes);
    for (unsigned i = 0; i < reads.n; i++)
        survey_range(s, &reads.list[i], true);
    for (unsigned i = 0; i < writes.n; i++)
        survey_range(s, &writes.list[i], !writes.list[i].overwritten && !is_among(&writes.list[i], &reads));
    count_host_copy(s);
    tsl_members left = s->members;
    unsigned m;
    while (take_member(s, &left, &m))
        for (unsigned k = 0; k < TSL_MOVE_SOURCES; k++)
            count_run(s, m, &s->runs[m][k]);
    survey_deferred(s, buffer);
}

static bool begins_empty(const struct survey *s, const struct tsl_buffer *buffer)
{
    for (unsigned j = 0; s->joints && j < s->joints->n; j++)
        if (s->joints->list[j].reduce && s->joints->list[j].root == tsl_data_of(buffer))
            return true;
    return false;
}

/* Leads no argument before this one to the same object? */
static bool is_new(const struct tsl_args *args, cl_uint i)
{
    const struct tsl_buffer *buffer = args->args[i].buffer;
    for (cl_uint k = 0; buffer && k < i; k++)
        if (args->args[k].buffer && tsl_data_of(args->args[k].buffer) == tsl_data_of(buffer))
            return false;
    return true;
}

/* By the footprint that the first of the members knows: elsewhere the same program may be other code, but it touches
 * the same bytes, as far as an estimate goes. */
static void survey_arguments(struct survey *s)
{
    struct tsl_command *c = s->command;
    const struct tsl_argument_touch *touches = NULL;
    cl_uint n = 0;
    tsl_members left = s->members;
    unsigned m;
    while (!touches && take_member(s, &left, &m)) {
        struct tsl_kernel_part *part = &c->kernel->parts[m];
        if (!part->facts.footprint)
            continue;
        touches = tsl_footing_of(c, s->window, part, NULL);
        n = part->facts.footprint->n_arguments;
    }
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        s->is_new = is_new(c->args, i);
        if (c->args->args[i].buffer && !begins_empty(s, c->args->args[i].buffer))
            survey_buffer(s, c->args->args[i].buffer, touches && i < n ? &touches[i] : NULL);
    }
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

static void begin(struct survey *s, struct tsl_command *c, const struct tsl_window *window,
                  const struct tsl_joints *joints, tsl_members members, struct tsl_candidate *candidates)
{
    s->command = c;
    s->window = window;
    s->joints = joints;
    s->members = members;
    s->ready_ns = 0;
    s->candidates = candidates;
    tsl_members left = members;
    unsigned i;
    while (take_member(s, &left, &i))
        for (unsigned k = 0; k < TSL_MOVE_SOURCES; k++)
            s->runs[i][k].size = 0;
}

uint64_t tsl_survey(struct tsl_command *c, const struct tsl_window *window, tsl_members members,
                    struct tsl_candidate *candidates)
{
    struct survey s; /* Its extent is large, and set where it is needed. */
    begin(&s, c, window, NULL, members, candidates);
    s.waits = true;
    s.grain = TSL_FOOTING_SINGLE;
    if (tsl_placer_learns(c->graph->placer))
        survey_arguments(&s);
    survey_order(&s);
    return s.ready_ns;
}

void tsl_survey_moves(struct tsl_command *c, const struct tsl_window *window, const struct tsl_joints *joints,
                      tsl_members members, struct tsl_candidate *candidates)
{
    struct survey s;
    begin(&s, c, window, joints, members, candidates);
    s.waits = false;
    s.grain = TSL_FOOTING_SLABS;
    if (tsl_placer_learns(c->graph->placer))
        survey_arguments(&s);
}
