/* Deferred writes: their operation is planned when the place of their reader is known. */
#include "graph/deferred_write.h"

#include "base/small_vector.h"
#include "graph/coherence.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/memory_order.h"
#include "graph/plan_kinds.h"
#include "graph/plan_space.h"
#include "graph/plan_write_parts.h"
#include "graph/queue.h"
#include "graph/residency.h"
#include "graph/space.h"
#include "graph/valid.h"
#include "program/program.h"
#include "tile/ranges.h"
#include "tile/tile.h"

/* At most so many are deferred: every command that is scheduled looks at all of them. */
#define MAX_LAZY 32u

/* Is there a member with memory of its own? Where all members work on the host's copy, deferring gains nothing. */
static bool has_places(const struct tsl_graph *graph)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (graph->ports[i].space != TSL_SPACE_HOST)
            return graph->n_ports > 1;
    return false;
}

bool tsl_deferred_write_allowed(const struct tsl_command *c)
{
    const struct tsl_data *data = tsl_data_of(c->dst);
    const struct tsl_graph_queue *queue = c->queue;
    bool linear = c->box.region[1] == 1 && c->box.region[2] == 1;
    return c->may_defer && linear && !data->image && !c->watched && !c->flushed && !c->serial && queue->pinned < 0 &&
           has_places(c->graph) && !tsl_plan_knows_place(c->graph) && !data->svm && tsl_ranges_empty(&data->mapped);
}

cl_int tsl_deferred_write_add(struct tsl_command *c, const tsl_dependences *order)
{
    for (unsigned i = 0; i < order->n; i++) {
        const struct tsl_dependence *d = TSL_SMALL_AT(order, i);
        if (!tsl_dependences_add(&c->deferred_order, d->op, d->strict)) {
            tsl_dependences_finish(&c->deferred_order);
            return tsl_plan_write_to(c, order, TSL_SPACE_HOST);
        }
    }
    cl_int error = tsl_valid_await_on_host(tsl_data_of(c->dst), tsl_deferred_write_begin(c), tsl_deferred_write_end(c));
    if (error)
        return error;
    TAILQ_INSERT_TAIL(&c->graph->deferred, c, deferred);
    c->graph->n_deferred++;
    c->is_deferred = true;
    c->n_undone++;
    return CL_SUCCESS;
}

/* An operation of the write exists now: commands of its in-order queue that were scheduled after the write are
 * reported after it. */
static bool join_frontiers(struct tsl_command *c, struct tsl_op *op)
{
    bool all = tsl_dependences_add(&c->frontier, op, false);
    if (!c->in_order)
        return all;
    for (struct tsl_command *after = TAILQ_NEXT(c, link); after; after = TAILQ_NEXT(after, link))
        if (after->state != TSL_HELD)
            all &= tsl_dependences_add(&after->frontier, op, false);
    all &= tsl_dependences_add(&c->queue->frontier, op, false);
    all &= tsl_dependences_add(&c->queue->touching, op, false);
    return all;
}

static void begin_place(struct tsl_command *c)
{
    TAILQ_REMOVE(&c->graph->deferred, c, deferred);
    c->graph->n_deferred--;
    c->is_deferred = false;
    c->order_now = &c->deferred_order;
}

static void end_place(struct tsl_command *c, cl_int error)
{
    struct tsl_graph *graph = c->graph;
    bool all = true;
    c->order_now = NULL;
    if (error && c->status == CL_COMPLETE)
        c->status = error;
    if (!error && graph->checks)
        tsl_coherence_plan(c);
    tsl_dependences_finish(&c->deferred_order);
    for (unsigned i = 0; i < c->own.n; i++)
        all &= join_frontiers(c, TSL_SMALL_AT(&c->own, i)->op);
    if (!all)
        tsl_memory_order_begin(c);
    tsl_command_step(c);
    tsl_memory_order_next(graph);
}

static void give_place(struct tsl_command *c, unsigned space)
{
    begin_place(c);
    end_place(c, tsl_plan_write_to(c, &c->deferred_order, space));
}

/* The first goes where it would have gone at once. */
static void give_likely_place(struct tsl_graph *graph)
{
    struct tsl_command *c = TAILQ_FIRST(&graph->deferred);
    begin_place(c);
    end_place(c, tsl_plan_write_likely(c, &c->deferred_order));
}

void tsl_deferred_write_all(struct tsl_graph *graph)
{
    while (!TAILQ_EMPTY(&graph->deferred))
        give_likely_place(graph);
}

/* Is the write's source, in the application's memory, this object's host copy? Then the source changes when the copy
 * does. */
static bool reads_copy_of(const struct tsl_command *write, const struct tsl_data *data)
{
    const char *from = write->host + write->box.src_offset;
    return data->host && from < data->host + data->size && data->host < from + write->box.region[0];
}

static void place_before_arg(struct tsl_command *kernel, const struct tsl_buffer *buffer, struct tsl_port *port)
{
    struct tsl_data *data = tsl_data_of(buffer);
    unsigned space = tsl_space_of(port, data);
    struct tsl_command *c, *next;
    for (c = TAILQ_FIRST(&kernel->graph->deferred); c; c = next) {
        next = TAILQ_NEXT(c, deferred);
        bool same = tsl_data_of(c->dst) == data;
        bool within =
            buffer->offset <= tsl_deferred_write_begin(c) && tsl_deferred_write_end(c) <= buffer->offset + buffer->size;
        if (reads_copy_of(c, data) || (same && (!within || space == TSL_SPACE_HOST))) {
            give_place(c, TSL_SPACE_HOST);
        } else if (same) {
            tsl_residency_ensure(kernel, data, space);
            give_place(c, space);
            tsl_residency_pin(kernel, data, port);
        }
    }
}

static void place_before_kernel(struct tsl_command *c)
{
    struct tsl_port *port = &c->graph->ports[c->share.placement.member];
    tsl_residency_pin_args(c, port);
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            place_before_arg(c, c->args->args[i].buffer, port);
}

/* May deferred writes stay deferred when this command is scheduled? Writes of one object keep their order: when one of
 * them gets a place all do, the oldest first. */
static bool lets_others_wait(const struct tsl_command *c)
{
    bool write = c->type == CL_COMMAND_WRITE_BUFFER && c->box.region[0] > 0;
    return write && c->waits.n == 0 && tsl_deferred_write_allowed(c);
}

void tsl_deferred_write_before(struct tsl_command *c)
{
    struct tsl_graph *graph = c->graph;
    if (TAILQ_EMPTY(&graph->deferred))
        return;
    if (lets_others_wait(c)) {
        while (graph->n_deferred >= MAX_LAZY)
            give_likely_place(graph);
        return;
    }
    /* What a launch that is cut needs goes to several members. */
    bool kernel = c->kernel && c->status == CL_COMPLETE && !c->n_more && !c->out_of_core;
    if (kernel)
        place_before_kernel(c);
    if (!kernel || c->waits.n > 0 || c->serial || c->kernel->parts[c->share.placement.member].facts.opaque)
        tsl_deferred_write_all(graph);
}
