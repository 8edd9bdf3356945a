/*
 * Joins keep lists of operations short, so that a command costs the same however many others are unfinished.
 *
 * Lists of dependences and the uses on a tile leave out what is superfluous: of operations that end in a known order
 * (of one lane, one synchronous port) the last stands for all. But operations whose order isn't known yet, as they wait
 * for the host, stay side by side. Each command would look at all of them, and in an in-order queue take them over from
 * the command before. So where a list has grown long a join takes their place: an operation that does nothing, has no
 * command and goes to no port, and is done when all of them are. A strict join fails if one of them does. Edges from a
 * join are met by the host alone (TSL_EDGE_DONE).
 */
#include "graph/join.h"

#include "base/pool.h"
#include "base/small_vector.h"
#include "graph/dependences.h"
#include "graph/op.h"
#include "graph/state.h"
#include "tile/tile.h"

unsigned tsl_join_at = 16;

/* Makes room for one edge more: a join must not fail half-way. */
static bool has_edge_room(struct tsl_op *op)
{
    return op->user.done || TSL_SMALL_RESERVE(&op->out);
}

static void join_edge(struct tsl_op *join, struct tsl_op *before, bool strict)
{
    struct tsl_edge edge = {.to = join, .kind = TSL_EDGE_DONE, .unmet = true, .strict = strict};
    if (before->user.done) {
        if (strict && before->status < 0)
            join->poison = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        return;
    }
    if (before->end_estimate_ns > join->end_estimate_ns)
        join->end_estimate_ns = before->end_estimate_ns;
    TSL_SMALL_PUSH(&before->out, edge); /* There is room: has_edge_room(). */
    join->user.refs++;
    join->n_unmet++;
    tsl_op_watch(before); /* No waiter pulls it for the join's sake. */
}

/* A join without edges. The caller has made room for its edges, adds them, and seals it. NULL without memory. */
static struct tsl_op *create(struct tsl_graph *graph)
{
    struct tsl_op *join = tsl_pool_take(&graph->op_pool);
    if (!join)
        return NULL;
    join->user.refs = 1;
    join->port = &graph->host;
    join->kind = TSL_OP_JOIN;
    join->n_unmet = 1;
    join->number = ++graph->n_ops;
    return join;
}

/* The join has all its edges: it is done when these are met. */
static void seal(struct tsl_op *join)
{
    if (--join->n_unmet == 0)
        tsl_op_end_join(join);
}

/* ---- Lists of dependences --------------------------------------------------------------------------------------- */

static unsigned count(const tsl_dependences *list, bool strict)
{
    unsigned n = 0;
    for (unsigned i = 0; i < list->n; i++)
        n += TSL_SMALL_AT(list, i)->strict == strict;
    return n;
}

static void fold(tsl_dependences *list, struct tsl_graph *graph, bool strict)
{
    struct tsl_op *join;
    unsigned n = 0;
    for (unsigned i = 0; i < list->n; i++)
        if (TSL_SMALL_AT(list, i)->strict == strict && !has_edge_room(TSL_SMALL_AT(list, i)->op))
            return; /* The list stays long. */
    if (count(list, strict) < 2 || !(join = create(graph)))
        return;
    for (unsigned i = 0; i < list->n; i++) {
        struct tsl_dependence *d = TSL_SMALL_AT(list, i);
        if (d->strict == strict) {
            join_edge(join, d->op, strict);
            tsl_op_unref(d->op);
        } else {
            *TSL_SMALL_AT(list, n) = *d;
            n++;
        }
    }
    *TSL_SMALL_AT(list, n) = (struct tsl_dependence){.op = join, .strict = strict};
    list->n = n + 1;
    join->user.refs++;
    seal(join);
    tsl_op_unref(join);
}

void tsl_join_dependences(tsl_dependences *list, struct tsl_graph *graph)
{
    fold(list, graph, false);
    fold(list, graph, true);
}

/* ---- Uses on a tile --------------------------------------------------------------------------------------------- */

/* Is it a reader that a join may stand for? Not the operation's own use, and not one that comes in no order with it. */
static bool reads(const struct tsl_use *use, unsigned space, const struct tsl_op *but)
{
    if (use->space != space || use->write || use->only_for)
        return false;
    return !but || (use->user != &but->user && !tsl_user_beside(use->user, &but->user));
}

void tsl_join_readers(struct tsl_tile *tile, struct tsl_graph *graph, unsigned space, const struct tsl_op *but)
{
    struct tsl_uses *uses = &tile->uses;
    struct tsl_op *join;
    unsigned n = 0;
    for (unsigned i = 0; i < uses->n; i++)
        if (reads(&uses->list[i], space, but)) {
            n++;
            if (!has_edge_room((struct tsl_op *)uses->list[i].user))
                return;
        }
    if (n < tsl_join_at || !(join = create(graph)))
        return;
    for (unsigned i = uses->n; i-- > 0;) {
        struct tsl_user *user = uses->list[i].user;
        if (!reads(&uses->list[i], space, but))
            continue;
        join_edge(join, (struct tsl_op *)user, false);
        uses->list[i] = uses->list[--uses->n];
        tsl_user_unref(user);
    }
    tsl_tile_use(tile, &join->user, space, false); /* In the room of the uses that were removed. */
    seal(join);
    tsl_op_unref(join);
}
