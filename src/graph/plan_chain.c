/*
 * The plan of a chain. Of each object that has slices, three sets of bytes are known for a tile: what its windows need
 * that none of them has written before; what is there at its end (that, and what was written); and what differs from
 * the host's bytes then.
 *
 * Of what a tile needs, the part that was there in the tile before comes from that one's area, the rest from the host.
 * What differs goes home behind the tile, but for what is there in the next one: that one takes it along.
 */
#include "graph/plan_chain.h"

#include "footprint/evaluate.h"
#include "graph/arena.h"
#include "graph/byte_ranges.h"
#include "graph/chain.h"
#include "graph/choose.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/edge.h"
#include "graph/fetch.h"
#include "graph/footing.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/plan_kernel.h"
#include "graph/plan_op.h"
#include "graph/residency.h"
#include "graph/state.h"
#include "graph/window_move.h"

#include <stdlib.h>

/* Of one object, in one tile. */
struct bytes {
    struct tsl_byte_ranges needed, there, changed;
    struct tsl_command *user; /* the last one of the tile that touches the object */
};

struct tile {
    struct tsl_slices *slices; /* of its shares; NULL: none was planned */
    struct bytes *bytes;       /* by object */
};

/* What one window touches of an object. */
struct touched {
    struct tsl_byte_ranges needed, writes;
};

struct plan {
    struct tsl_chain *chain;
    struct tsl_port *port;
    struct tile now, before;
    struct touched *touched; /* by object */
    struct tsl_op *last;     /* the last launch (owned reference); NULL: none yet */
    struct tsl_op *end;      /* a mark behind all that goes home */
    tsl_dependences ins;     /* what the next launch comes after */
    cl_int error;
};

/* The launch's window in the tile, its last share. */
static struct tsl_share *window_of(struct tsl_chain_link *link)
{
    return tsl_command_share(link->command, link->n_windows - 1);
}

/* ---- What a tile needs ------------------------------------------------------------------------------------------- */

static void add_range(void *arg, struct tsl_data *data, unsigned space, const struct tsl_range *range, bool written)
{
    const struct plan *p = arg;
    (void)space;
    for (unsigned o = 0; o < p->chain->n_objects; o++)
        if (p->chain->objects[o] == data && p->chain->sliced[o])
            tsl_byte_ranges_add(written ? &p->touched[o].writes : &p->touched[o].needed, range->begin, range->end);
}

static void add_window(struct plan *p, unsigned launch)
{
    struct tsl_chain_link *link = &p->chain->links[launch];
    tsl_plan_kernel_look(link->command, window_of(link), add_range, p);
    for (unsigned o = 0; o < p->chain->n_objects; o++) {
        struct bytes *b = &p->now.bytes[o];
        struct touched *t = &p->touched[o];
        if (t->needed.n + t->writes.n == 0)
            continue;
        tsl_byte_ranges_add_without(&b->needed, &t->needed, &b->there);
        tsl_byte_ranges_add_all(&b->there, &t->needed);
        tsl_byte_ranges_add_all(&b->there, &t->writes);
        tsl_byte_ranges_add_all(&b->changed, &t->writes);
        b->user = link->command;
        t->needed.n = t->writes.n = 0;
    }
}

static void look_at_tile(struct plan *p)
{
    for (unsigned j = 0; j < p->chain->n; j++)
        if (tsl_chain_has_window(p->chain, j))
            add_window(p, j);
    for (unsigned o = 0; o < p->chain->n_objects; o++) {
        struct bytes *b = &p->now.bytes[o];
        tsl_byte_ranges_add_common(&b->changed, &p->before.bytes[o].changed, &b->there);
        if (b->changed.failed || b->needed.failed || b->there.failed)
            p->error = CL_OUT_OF_HOST_MEMORY;
    }
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

/* What the last tile before this one changed, and this one doesn't take along. next: the tile's bytes; NULL: there is
 * none. */
static void take_object_home(struct plan *p, unsigned object, const struct bytes *next, tsl_dependences *outs)
{
    static const struct tsl_byte_ranges none;
    struct tsl_byte_ranges home = {.n = 0};
    const struct bytes *b = &p->before.bytes[object];
    const struct tsl_slice *slice = tsl_slice_of(p->before.slices, p->chain->objects[object]);
    tsl_byte_ranges_add_without(&home, &b->changed, next ? &next->there : &none);
    if (home.failed)
        p->error = CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < home.n && !p->error; i++) {
        const struct tsl_footing_range range = {.begin = home.list[i].begin, .end = home.list[i].end};
        p->error = tsl_window_out(b->user, p->last, slice, &range, NULL, p->end, outs);
    }
    tsl_byte_ranges_finish(&home);
}

/* next: the tile that comes; NULL: none. */
static void leave_tile(struct plan *p, const struct tile *next)
{
    tsl_dependences outs = {0};
    for (unsigned o = 0; o < p->chain->n_objects && !p->error; o++)
        if (p->chain->sliced[o])
            take_object_home(p, o, next ? &next->bytes[o] : NULL, &outs);
    tsl_window_end(p->chain->links[0].command, p->last, p->before.slices->area, &outs, p->error);
    for (unsigned i = 0; p->error && i < p->ins.n; i++)
        tsl_area_add(p->before.slices->area, TSL_SMALL_AT(&p->ins, i)->op);
    tsl_dependences_finish(&outs);
}

static void bring_from_host(struct plan *p, struct tsl_command *c, const struct tsl_slice *slice,
                            const struct tsl_byte_ranges *ranges)
{
    if (!p->error)
        p->error = tsl_fetch_ranges(c, slice->data, ranges->list, ranges->n, TSL_SPACE_HOST);
    for (unsigned i = 0; i < ranges->n && !p->error; i++)
        p->error = tsl_window_in(c, p->port, slice, &ranges->list[i], &p->ins);
}

static void carry_on(struct plan *p, struct tsl_command *c, const struct tsl_slice *slice,
                     const struct tsl_byte_ranges *ranges, tsl_dependences *carries)
{
    const struct tsl_slice *from = tsl_slice_of(p->before.slices, slice->data);
    for (unsigned i = 0; i < ranges->n && !p->error; i++)
        p->error = tsl_window_carry(c, p->last, from, slice, &ranges->list[i], &p->ins, carries);
}

/* First all from the host, which can begin long before the tile before has ended. */
static void enter_tile(struct plan *p)
{
    tsl_dependences carries = {0};
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned o = 0; o < p->chain->n_objects && !p->error; o++) {
            const struct tsl_slice *slice = tsl_slice_of(p->now.slices, p->chain->objects[o]);
            const struct bytes *b = &p->now.bytes[o], *before = &p->before.bytes[o];
            struct tsl_byte_ranges ranges = {.n = 0};
            if (!slice || !b->user)
                continue;
            if (turn == 0)
                tsl_byte_ranges_add_without(&ranges, &b->needed, &before->there);
            else
                tsl_byte_ranges_add_common(&ranges, &b->needed, &before->there);
            if (ranges.failed)
                p->error = CL_OUT_OF_HOST_MEMORY;
            else if (turn == 0)
                bring_from_host(p, b->user, slice, &ranges);
            else
                carry_on(p, b->user, slice, &ranges, &carries);
            tsl_byte_ranges_finish(&ranges);
        }
    if (p->before.slices)
        tsl_window_carried(p->chain->links[0].command, p->last, p->before.slices->area, &carries);
    tsl_dependences_finish(&carries);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void launch(struct plan *p, struct tsl_chain_link *link, const tsl_dependences *order)
{
    struct tsl_op *op;
    cl_int error = tsl_plan_kernel_window(link->command, link->n_windows - 1, order, &p->ins, &op);
    if (!p->error)
        p->error = error;
    if (!op)
        return;
    tsl_op_unref(p->last);
    p->last = op;
    tsl_dependences_finish(&p->ins); /* The next launch comes after this one, and so after all of these. */
    if (!tsl_dependences_add(&p->ins, op, true)) {
        tsl_memory_order_begin(link->command);
        p->error = CL_OUT_OF_HOST_MEMORY;
    }
}

static void launch_all(struct plan *p, const tsl_dependences *orders)
{
    for (unsigned j = 0; j < p->chain->n; j++) {
        struct tsl_chain_link *link = &p->chain->links[j];
        if (tsl_chain_has_window(p->chain, j) && p->error)
            tsl_place_ended(link->command, window_of(link), 0, 0);
        else if (tsl_chain_has_window(p->chain, j))
            launch(p, link, &orders[j]);
    }
    if (p->last)
        p->last->want_fence = true; /* What it wrote goes home when later tiles may have begun. */
}

static void forget(struct plan *p, struct tile *tile)
{
    for (unsigned o = 0; o < p->chain->n_objects; o++) {
        struct bytes *b = &tile->bytes[o];
        tsl_byte_ranges_finish(&b->needed);
        tsl_byte_ranges_finish(&b->there);
        tsl_byte_ranges_finish(&b->changed);
        b->user = NULL;
    }
    tile->slices = NULL;
}

static void plan_tile(struct plan *p, struct tsl_slices *slices, const tsl_dependences *orders)
{
    look_at_tile(p);
    if (p->before.slices)
        leave_tile(p, p->error ? NULL : &p->now);
    if (!p->error) {
        p->now.slices = slices;
        tsl_residency_ensure_arena(p->chain->links[0].command, p->port, slices);
        tsl_arena_take(p->port, p->now.slices);
        enter_tile(p);
    }
    launch_all(p, orders);
    struct tile before = p->before;
    p->before = p->now;
    p->now = before;
    forget(p, &p->now);
}

/* Plans the next tile. False: there is none, or something failed. */
static bool go_on(struct plan *p, const tsl_dependences *orders)
{
    struct tsl_slices *slices;
    cl_int error = tsl_chain_next(p->chain, &slices);
    p->error = error ? error : p->error;
    if (slices)
        plan_tile(p, slices, orders);
    return slices && !p->error;
}

/* If nothing at all was launched, the area is still used by what brings bytes. */
static void leave_last(struct plan *p)
{
    struct tsl_slices *slices = p->before.slices;
    if (slices && p->last)
        leave_tile(p, NULL);
    for (unsigned i = 0; slices && !p->last && i < p->ins.n; i++)
        tsl_area_add(slices->area, TSL_SMALL_AT(&p->ins, i)->op);
}

/* Until the last bytes are home no launch is complete. */
static void end_commands(struct plan *p)
{
    struct tsl_op *end = p->end;
    if (p->last)
        tsl_op_depend(end, p->last, true);
    for (unsigned j = 0; j < p->chain->n; j++)
        tsl_command_depend(p->chain->links[j].command, end, true);
    tsl_plan_go(end, p->error);
}

static bool begin(struct plan *p)
{
    unsigned n = p->chain->n_objects;
    p->now.bytes = calloc(n, sizeof(*p->now.bytes));
    p->before.bytes = calloc(n, sizeof(*p->before.bytes));
    p->touched = calloc(n, sizeof(*p->touched));
    if (!p->now.bytes || !p->before.bytes || !p->touched)
        return false;
    p->end = tsl_op_create(p->chain->links[p->chain->n - 1].command, p->port, &p->port->down, TSL_OP_MARK);
    if (p->end)
        p->end->want_fence = true;
    return p->end;
}

static void finish(struct plan *p)
{
    if (p->now.bytes)
        forget(p, &p->now);
    if (p->before.bytes)
        forget(p, &p->before);
    for (unsigned o = 0; p->touched && o < p->chain->n_objects; o++) {
        tsl_byte_ranges_finish(&p->touched[o].needed);
        tsl_byte_ranges_finish(&p->touched[o].writes);
    }
    free(p->now.bytes);
    free(p->before.bytes);
    free(p->touched);
    tsl_dependences_finish(&p->ins);
    tsl_op_unref(p->last);
}

/* May the first tiles begin while others are planned? The lock is given for that, so nobody may come after a launch of
 * which not all is planned: nobody has an event of any. What comes to their queue is held meanwhile. */
static bool may_begin(const struct tsl_chain *chain)
{
    for (unsigned j = 0; j < chain->n; j++)
        if (chain->links[j].command->has_event)
            return false;
    return true;
}

cl_int tsl_plan_chain(struct tsl_chain *chain, const tsl_dependences *orders)
{
    struct plan p = {.chain = chain, .port = &chain->links[0].command->graph->ports[chain->member]};
    if (!begin(&p))
        p.error = CL_OUT_OF_HOST_MEMORY;
    bool begins = may_begin(chain);
    p.port->arena.held++;
    while (!p.error && go_on(&p, orders))
        if (begins)
            p.port->graph->begin_now(p.port->graph);
    leave_last(&p);
    p.port->arena.held--;
    if (p.end)
        end_commands(&p);
    cl_int error = p.error;
    finish(&p);
    return error;
}
