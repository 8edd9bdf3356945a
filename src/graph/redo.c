#include "graph/redo.h"

#include "base/log.h"
#include "base/sets.h"
#include "base/settings.h"
#include "base/small_vector.h"
#include "driver/member.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut_kernel.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/member_memory.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/plan_kernel.h"
#include "graph/port.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/redoable.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "object/buffer.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/ranges.h"
#include "tile/tile.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_ullong n_again;

unsigned long long tsl_redo_count(void)
{
    return atomic_load(&n_again);
}

/* ---- What shares touch ------------------------------------------------------------------------------------------- */

struct range {
    const struct tsl_data *data;
    uint64_t begin, end;
    unsigned space;
    unsigned share;
    uint64_t reach; /* of an ordered list: the furthest end of those up to this one in the same object */
};

struct ranges {
    unsigned n, room;
    struct range *list; /* heap */
    bool failed;        /* no memory */
};

/* A share on one member. */
struct looking {
    struct ranges *needs, *writes; /* NULL: not wanted */
    unsigned share;
};

static void add(struct ranges *ranges, const struct range *range)
{
    if (ranges->n == ranges->room) {
        unsigned room = ranges->room ? 2 * ranges->room : 16;
        struct range *list = realloc(ranges->list, room * sizeof(*list));
        ranges->failed |= !list;
        if (!list)
            return;
        ranges->list = list;
        ranges->room = room;
    }
    ranges->list[ranges->n++] = *range;
}

static void take(void *arg, struct tsl_data *data, unsigned space, const struct tsl_range *range, bool written)
{
    const struct looking *l = arg;
    struct ranges *to = written ? l->writes : l->needs;
    const struct range found = {data, range->begin, range->end, space, l->share, 0};
    if (to)
        add(to, &found);
}

static int compare(const void *one, const void *other)
{
    const struct range *a = one, *b = other;
    uintptr_t in = (uintptr_t)a->data, in_other = (uintptr_t)b->data;
    if (in != in_other)
        return in < in_other ? -1 : 1;
    return a->begin == b->begin ? 0 : a->begin < b->begin ? -1 : 1;
}

/* By object and place: shares that have a part of each plane of a volume claim a thousand ranges each. */
static void put_in_order(struct ranges *ranges)
{
    if (ranges->n)
        qsort(ranges->list, ranges->n, sizeof(*ranges->list), compare);
    for (unsigned i = 0; i < ranges->n; i++) {
        struct range *one = &ranges->list[i];
        const struct range *before = i && one[-1].data == one->data ? &one[-1] : one;
        one->reach = before != one && before->reach > one->end ? before->reach : one->end;
    }
}

/* How many of an ordered list begin before the range's end, in its object or in those before. */
static unsigned count_before(const struct ranges *ordered, const struct range *range)
{
    const struct range end = {.data = range->data, .begin = range->end};
    unsigned low = 0, high = ordered->n;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (compare(&ordered->list[middle], &end) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next of those that meet the range, the last one first; *left: what count_before says at first. NULL: none is
 * left. */
static const struct range *next_meeting(const struct ranges *ordered, const struct range *range, unsigned *left)
{
    while (*left > 0) {
        const struct range *one = &ordered->list[--*left];
        if (one->data != range->data || one->reach <= range->begin)
            return NULL;
        if (one->end > range->begin)
            return one;
    }
    return NULL;
}

/* ---- May it be done there? --------------------------------------------------------------------------------------- */

/* A second try of a share. */
struct again {
    struct tsl_command *command;
    struct tsl_op *failed;
    unsigned member;             /* where to */
    struct ranges needs, writes; /* of the share there */
    struct ranges claimed;       /* what all shares write, and where; the failed one, too */
    const char *why;             /* not */
};

static bool refuse(struct again *a, const char *why)
{
    a->why = why;
    return false;
}

static bool look(struct again *a)
{
    struct tsl_command *c = a->command;
    struct tsl_share there = *tsl_command_share(c, a->failed->share);
    struct looking l = {&a->needs, &a->writes, a->failed->share};
    a->needs.n = a->writes.n = a->claimed.n = 0;
    there.placement.member = a->member;
    tsl_plan_kernel_look(c, &there, take, &l);
    for (unsigned s = 0; s <= c->n_more; s++) {
        l = (struct looking){NULL, &a->claimed, s};
        tsl_plan_kernel_look(c, tsl_command_share(c, s), take, &l);
    }
    put_in_order(&a->claimed);
    return !a->needs.failed && !a->writes.failed && !a->claimed.failed;
}

/* What the share writes there no other one may write. */
static bool writes_apart(struct again *a)
{
    for (unsigned i = 0; i < a->writes.n; i++) {
        unsigned left = count_before(&a->claimed, &a->writes.list[i]);
        const struct range *claimed;
        while ((claimed = next_meeting(&a->claimed, &a->writes.list[i], &left)))
            if (claimed->share != a->failed->share)
                return refuse(a, "elsewhere it may write what another share writes");
    }
    return true;
}

/* Copies of the tile that there will be. */
static tsl_spaces living(const struct tsl_graph *graph, tsl_spaces spaces)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_member_is_lost(graph->ports[i].member))
            tsl_spaces_remove(&spaces, TSL_SPACE_MEMBER(i));
    return spaces;
}

/* Is somebody else still to write the tile in one of these spaces? Whoever reads there fails with the write, which may
 * come of what the failed share was to write. */
static bool is_awaited(const struct again *a, const struct tsl_tile *tile, tsl_spaces spaces)
{
    for (unsigned i = 0; i < tile->uses.n; i++) {
        const struct tsl_use *use = &tile->uses.list[i];
        if (use->write && !use->user->done && tsl_spaces_has(spaces, use->space) &&
            ((const struct tsl_op *)use->user)->command != a->command)
            return true;
    }
    return false;
}

static bool is_awaited_on_host(const struct again *a, const struct range *part)
{
    uint64_t base = tsl_host_address(part->data->host);
    struct tsl_tiles *map = &a->command->graph->host_map;
    struct tsl_tile *tile = part->data->host ? tsl_tiles_meeting(map, base + part->begin, base + part->end) : NULL;
    while (tile && !is_awaited(a, tile, tsl_spaces_of(TSL_SPACE_HOST)))
        tile = tsl_tiles_next_meeting(tile, base + part->end);
    return tile;
}

static bool is_good(struct again *a, const struct range *need, const struct tsl_tile *tile)
{
    const struct range part = {.data = need->data,
                               .begin = tile->begin > need->begin ? tile->begin : need->begin,
                               .end = tile->end < need->end ? tile->end : need->end};
    tsl_spaces good = living(a->command->graph, tile->valid), used = good;
    tsl_spaces_add(&used, need->space);
    if (is_awaited(a, tile, used) || (tsl_spaces_has(used, TSL_SPACE_HOST) && is_awaited_on_host(a, &part)))
        return refuse(a, "what it needs is being written");
    if (tsl_spaces_is_empty(tile->valid))
        return true; /* Never written. */
    if (tsl_spaces_is_empty(good) || tsl_spaces_has(tile->valid, TSL_SPACE_LOST))
        return refuse(a, "what it needs was on lost members alone");
    unsigned left = count_before(&a->claimed, &part);
    const struct range *claimed;
    while ((claimed = next_meeting(&a->claimed, &part, &left)))
        if (tsl_spaces_has(good, claimed->space))
            return refuse(a, "a share may have written what it needs");
    return true;
}

static bool needs_are_good(struct again *a)
{
    for (unsigned i = 0; i < a->needs.n; i++) {
        const struct range *need = &a->needs.list[i];
        struct tsl_data *data = (struct tsl_data *)(uintptr_t)need->data;
        struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, need->begin, need->end);
        for (; tile; tile = tsl_tiles_next_meeting(tile, need->end))
            if (!is_good(a, need, tile))
                return false;
    }
    return true;
}

static bool may_be_there(struct again *a)
{
    if (!look(a))
        return refuse(a, "there is no memory to find out");
    return writes_apart(a) && needs_are_good(a);
}

/* ---- May it be done at all? -------------------------------------------------------------------------------------- */

static bool is_followed(const struct tsl_op *op, const struct tsl_command *own, bool fails);

/* An operation without work stands for those that come after it. */
static bool is_followed_by(const struct tsl_edge *edge, const struct tsl_command *own, bool fails)
{
    if (edge->to && edge->to->kind == TSL_OP_JOIN)
        return is_followed(edge->to, own, fails && edge->strict);
    return !(fails && edge->strict) && (edge->to ? edge->to->command : edge->to_command) != own;
}

/* What was planned behind the share without failing with it would not wait for the second try. fails: op fails. */
static bool is_followed(const struct tsl_op *op, const struct tsl_command *own, bool fails)
{
    for (unsigned i = 0; i < op->out.n; i++)
        if (is_followed_by(TSL_SMALL_AT(&op->out, i), own, fails))
            return true;
    return false;
}

/* Writes without an operation yet, and the application by its mappings, may have changed the objects since; of a spread
 * one a part is lost with each of its members. */
static bool is_written(const struct tsl_command *c)
{
    struct tsl_command *write;
    TAILQ_FOREACH(write, &c->graph->deferred, deferred)
    if (tsl_redoable_names(c, tsl_data_of(write->dst)))
        return true;
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        struct tsl_data *data = c->args->args[i].buffer ? tsl_data_of(c->args->args[i].buffer) : NULL;
        if (data &&
            (data->lost || !tsl_spread_is_ordinary(data->spread) || tsl_ranges_meeting(&data->mapped, 0, data->size)))
            return true;
    }
    return false;
}

static bool may_be_done(struct again *a)
{
    const struct tsl_op *op = a->failed;
    if (op->misfed || (op->poison && !op->refused && !op->unfed))
        return refuse(a, "what it needs has failed");
    if (tsl_member_is_lost(op->port->member) && op->port->member->lost_by_work)
        return refuse(a, "the member may be lost because of what it was to run");
    if (is_followed(op, a->command, true))
        return refuse(a, "what was enqueued since would not wait for it");
    if (is_written(a->command) || a->command->graph->memory_order)
        return refuse(a, "what it is given was changed since");
    return true;
}

/* ---- Where ------------------------------------------------------------------------------------------------------- */

static bool has_share(struct tsl_command *c, unsigned member)
{
    for (unsigned s = 0; s <= c->n_more; s++)
        if (tsl_command_share(c, s)->placement.member == member)
            return true;
    return false;
}

static uint64_t lacking(const struct tsl_command *c, unsigned member)
{
    uint64_t size = 0;
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        if (b && !tsl_space_residence_on(tsl_data_of(b), member)->resident)
            size += tsl_data_of(b)->size;
    }
    return size;
}

static bool can_take(struct tsl_command *c, unsigned member)
{
    const struct tsl_kernel_part *part = &c->kernel->parts[member];
    if (!tsl_members_has(c->members, member) || tsl_member_is_lost(c->graph->ports[member].member))
        return false;
    return part->windows && tsl_cut_kernel_on(c, part) == TSL_CUT_OK &&
           !tsl_member_memory_full(&c->graph->ports[member], lacking(c, member));
}

/* Members of the lost one's kind first, as these round alike; then those that have a share. */
static bool find_member(struct again *a)
{
    struct tsl_command *c = a->command;
    const struct tsl_placer *placer = c->graph->placer;
    unsigned from = a->failed->port->index;
    bool alike_only = tsl_settings()->split == TSL_SPLIT_ALIKE || tsl_settings()->reproducible != TSL_REPRODUCIBLE_NO;
    a->why = "no other member can take it";
    for (unsigned pass = 0; pass < 3; pass++)
        for (unsigned i = 0; i < c->graph->n_ports; i++) {
            bool alike = tsl_placer_alike(placer, from, i), shares = has_share(c, i);
            unsigned due = alike ? 0 : shares ? 1 : 2;
            if (due != pass || (alike_only && !alike) || !can_take(c, i))
                continue;
            a->member = i;
            if (may_be_there(a))
                return true;
        }
    return false;
}

/* ---- Again ------------------------------------------------------------------------------------------------------- */

/* Copies that are lost are no source any more. */
static void leave_lost(struct again *a)
{
    for (unsigned i = 0; i < a->needs.n; i++) {
        struct tsl_data *data = (struct tsl_data *)(uintptr_t)a->needs.list[i].data;
        uint64_t end = a->needs.list[i].end;
        struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, a->needs.list[i].begin, end);
        for (; tile; tile = tsl_tiles_next_meeting(tile, end))
            tile->valid = living(a->command->graph, tile->valid);
        tsl_tiles_join(&data->tiles, 0, data->size);
    }
}

/* The shares decide the command's status, and no longer what failed before. */
static void renew_own(struct tsl_command *c)
{
    bool all = true;
    tsl_dependences_finish(&c->own);
    for (unsigned s = 0; s <= c->n_more; s++) {
        struct tsl_op *op = tsl_command_share(c, s)->op;
        if (op)
            all &= tsl_dependences_add(&c->own, op, true);
    }
    if (!all)
        tsl_memory_order_begin(c);
}

/* Whoever waits for the command, or for one behind it in its queue, finds the second try. */
static void join_frontiers(struct tsl_command *c, struct tsl_op *op)
{
    bool all = tsl_dependences_add(&c->frontier, op, false);
    for (struct tsl_command *after = c->in_order ? TAILQ_NEXT(c, link) : NULL; after; after = TAILQ_NEXT(after, link))
        if (after->state != TSL_HELD)
            all &= tsl_dependences_add(&after->frontier, op, false);
    if (c->in_order)
        all &= tsl_dependences_add(&c->queue->frontier, op, false);
    if (!all)
        tsl_memory_order_begin(c);
    tsl_op_watch(op);
    tsl_graph_changed(c->graph);
}

static void plan(struct again *a)
{
    struct tsl_command *c = a->command;
    unsigned s = a->failed->share;
    struct tsl_share *share = tsl_command_share(c, s);
    leave_lost(a);
    tsl_op_unref(share->op);
    share->op = NULL;
    share->placement = (struct tsl_placement){.member = a->member};
    share->again = true;
    tsl_plan_kernel_again(c, s);
    renew_own(c);
    if (share->op)
        join_frontiers(c, share->op);
    atomic_fetch_add(&n_again, 1);
}

static void tell(const struct again *a, bool again)
{
    const struct tsl_command *c = a->command;
    const char *from = a->failed->port->name;
    if (again)
        tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_WARN,
                "share %u of launch %llu (%s) failed on %s for the loss of a member: it is done again on %s",
                a->failed->share, (unsigned long long)c->id, c->kernel->name, from, c->graph->ports[a->member].name);
    else
        tsl_log(TSL_LOG_IN_GRAPH, TSL_LOG_WARN,
                "share %u of launch %llu (%s) failed on %s for the loss of a member, and isn't done again: %s",
                a->failed->share, (unsigned long long)c->id, c->kernel->name, from, a->why);
}

static bool do_again(struct tsl_op *op)
{
    struct again a = {.command = op->command, .failed = op};
    bool again = may_be_done(&a) && find_member(&a);
    tell(&a, again);
    if (again)
        plan(&a);
    free(a.needs.list);
    free(a.writes.list);
    free(a.claimed.list);
    return again;
}

bool tsl_redo_forgives(struct tsl_op *op)
{
    const struct tsl_command *c = op->command;
    if (op->is_side || op->move) /* The share that needs the move fails with it. */
        return !op->is_side && tsl_op_lost_move(op);
    if (op->kind != TSL_OP_LAUNCH || (!op->unfed && !tsl_member_is_lost(op->port->member)))
        return false;
    return c->status == CL_COMPLETE && do_again(op);
}
