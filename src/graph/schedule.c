/*
 * held → scheduled. A command may be scheduled when nothing that must come before it is held: its wait list, the last
 * barrier, and in an in-order queue the command before it. Scheduling fixes all its edges, which lead backwards only.
 */
#include "graph/schedule.h"

#include "base/clock.h"
#include "base/small_vector.h"
#include "graph/callback.h"
#include "graph/chain.h"
#include "graph/chain_patience.h"
#include "graph/choose.h"
#include "graph/coherence.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/deferred_write.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/either_way.h"
#include "graph/mapped.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/out_of_core.h"
#include "graph/plan.h"
#include "graph/plan_chain.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "object/buffer.h"
#include "place/place.h"
#include "program/program.h"

#include <stdlib.h>

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void fail(struct tsl_command *c, cl_int error)
{
    if (c->status == CL_COMPLETE)
        c->status = error;
}

static void add(struct tsl_command *c, tsl_dependences *order, struct tsl_op *op, bool strict)
{
    if (op->user.done) {
        if (strict && op->status < 0)
            fail(c, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        return;
    }
    if (tsl_dependences_add(order, op, strict))
        return;
    if (strict) /* Whether the operation fails will not be known. */
        fail(c, CL_OUT_OF_HOST_MEMORY);
    tsl_memory_order_begin(c);
}

static void add_all(struct tsl_command *c, tsl_dependences *order, const tsl_dependences *from, bool strict)
{
    for (unsigned i = 0; i < from->n; i++) {
        const struct tsl_dependence *d = TSL_SMALL_AT(from, i);
        add(c, order, d->op, strict && d->strict);
    }
}

/* Does the event of `before` tell c of all commands before that one, too? In an in-order queue an event does. But a
 * kernel of the same queue touches only what the graph knows of, so earlier commands hold it up only by its data, as
 * they do without the event. */
static bool stands_for_all_before(const struct tsl_command *before, const struct tsl_command *c)
{
    return !before->kernel || !c->kernel || !c->in_order || before->queue != c->queue;
}

static bool is_task(const struct tsl_command *c)
{
    return c->native_fn && !c->own_task;
}

/* Is the object's host copy the application's own memory: lent (CL_MEM_USE_HOST_PTR), or shared? */
static bool is_lent(const struct tsl_buffer *buffer)
{
    return buffer && tsl_buffer_root((struct tsl_buffer *)(uintptr_t)buffer)->host_ptr;
}

/* May the command touch memory that a host task may touch without naming it: the application's own, and what is mapped?
 */
static bool touches_application(const struct tsl_command *c)
{
    bool touches =
        c->host || is_task(c) || tsl_command_maps(c) || tsl_command_unmaps(c) || is_lent(c->src) || is_lent(c->dst);
    for (cl_uint i = 0; c->args && i < c->args->n_all && !touches; i++)
        touches = is_lent(c->args->args[i].buffer);
    for (cl_uint i = 0; i < c->n_buffers && !c->native_fn && !touches; i++) /* Of a migration. */
        touches = is_lent(c->buffers[i]);
    return touches;
}

/* In an in-order queue a host task comes after all before it that may touch the application's memory, and all behind it
 * that may do so comes after the task. Other kernels and copies go on beside the task, as in the papers, except as the
 * buffers tell that the task names. A task that names none comes after everything before it, as it may be there to tell
 * of that. */
static void collect_tasks(struct tsl_command *c, tsl_dependences *order)
{
    struct tsl_graph_queue *queue = c->queue;
    bool names = c->n_buffers > 0 && c->type == CL_COMMAND_NATIVE_KERNEL;
    if (is_task(c))
        add_all(c, order, names ? &queue->touching : &queue->frontier, false);
    if (queue->task.n && touches_application(c))
        add_all(c, order, &queue->task, false);
    c->follows_task |= queue->task.n && c->graph->n_tasks;
}

/* Notes a host task, and commands that stand for one. c->frontier holds, at this moment, the command's operations and
 * what they come after by data and wait list. A command that waited for a task of another queue stands for that task. A
 * task that won't run stands for nothing. */
static void note_task(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    if (is_task(c) && c->share.op) {
        tsl_dependences_finish(&queue->touching);
        tsl_dependences_finish(&queue->task);
        add_all(c, &queue->task, &c->own, false);
        return;
    }
    if (c->n_listed && c->follows_task)
        add_all(c, &queue->task, &c->frontier, false);
    if (touches_application(c))
        add_all(c, &queue->touching, &c->frontier, false);
}

/* Collects what the command's own operations run after: its wait list, and the barrier before it. */
static void collect_order(struct tsl_command *c, tsl_dependences *order)
{
    for (unsigned i = 0; i < c->waits.n; i++) {
        struct tsl_command *before = *TSL_SMALL_AT(&c->waits, i);
        bool strict = i < c->n_listed;
        c->follows_task |= c->graph->n_tasks && (is_task(before) || before->follows_task);
        if (strict && before->status < 0)
            fail(c, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        add_all(c, order, &before->own, strict);
        if (stands_for_all_before(before, c))
            add_all(c, order, &before->frontier, false);
    }
    if (c->in_order && c->queue->barrier)
        add_all(c, order, &c->queue->barrier->frontier, false);
    if (c->in_order && (c->serial || c->barrier))
        add_all(c, order, &c->queue->frontier, false);
    if (c->in_order)
        collect_tasks(c, order);
}

/* Extends the command's frontier by its operations and, in an in-order queue, by what was before. The queue's frontier
 * becomes the same. */
static void extend_frontier(struct tsl_command *c)
{
    add_all(c, &c->frontier, &c->own, false);
    if (!c->in_order)
        return;
    struct tsl_graph_queue *queue = c->queue;
    note_task(c);
    add_all(c, &c->frontier, &queue->frontier, false);
    tsl_dependences_finish(&queue->frontier);
    add_all(c, &queue->frontier, &c->frontier, false);
}

static inline void begin(struct tsl_command *c, tsl_dependences *order)
{
    c->state = TSL_SCHEDULED;
    if (!c->n_leads) /* Else it was, when the first of them was. */
        c->submit_ns = tsl_command_stamp(c);
    tsl_callback_submitted(c);
    c->n_undone++;
    c->refs++;
    c->graph->scheduling++;
    tsl_deferred_write_before(c);
    collect_order(c, order);
}

/* error: of its plan. */
static void planned(struct tsl_command *c, cl_int error)
{
    if (error)
        fail(c, error);
    else if (c->graph->checks && !c->is_deferred)
        tsl_coherence_plan(c);
}

static void not_planned(struct tsl_command *c)
{
    tsl_mapped_undo(c); /* Commands that are scheduled before this one is complete must know, too. */
    if (c->kernel)
        tsl_place_abandon(c);
}

/* Returns what is behind the command in its queue. While it was planned, the lock may have been given
 * (graph->begin_now), and the queue have grown. */
static inline struct tsl_command *end(struct tsl_command *c, tsl_dependences *order)
{
    if (!c->share.op && !c->is_deferred)
        for (unsigned i = 0; i < order->n; i++)
            tsl_command_depend(c, TSL_SMALL_AT(order, i)->op, TSL_SMALL_AT(order, i)->strict);
    tsl_dependences_finish(order);
    tsl_command_forget_waits(c); /* Else a chain of events would keep all its commands. */
    extend_frontier(c);
    if (c->watched)
        tsl_command_watch(c);
    if (c->awaited)
        tsl_graph_changed(c->graph); /* A waiter can pull now what the command comes after. */
    struct tsl_graph *graph = c->graph;
    graph->scheduling--;
    struct tsl_command *next = TAILQ_NEXT(c, link); /* Before c may be reported and leave the list. */
    tsl_command_step(c);
    tsl_memory_order_next(graph);
    return next;
}

/* Whoever enqueues a launch tells what its cut took when it is submitted, too (enqueue.c). */
static void tell_planned(struct tsl_command *c)
{
    uint64_t asked_ns = c->share.asked_ns;
    if (!c->direct && c->n_more && asked_ns && tsl_cut_is_usual(c))
        tsl_placer_parts_planned(c->graph->placer, c->kernel->place_key, (double)(tsl_clock_ns() - asked_ns),
                                 c->n_inside);
}

static struct tsl_command *schedule(struct tsl_command *c)
{
    tsl_dependences order = {0};
    begin(c, &order);
    if (c->status == CL_COMPLETE)
        planned(c, tsl_plan(c, &order));
    else
        not_planned(c);
    tell_planned(c);
    return end(c, &order);
}

/* Of the launches of a chain the first may come after one that has failed, the others may not. Without memory for an
 * edge all of them fail. */
static void plan_chain(struct tsl_chain *chain, tsl_dependences *orders)
{
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < chain->n; i++) {
        begin(chain->links[i].command, &orders[i]);
        error = error ? error : chain->links[i].command->status;
    }
    if (!error)
        error = tsl_plan_chain(chain, orders);
    else
        for (unsigned i = 0; i < chain->n; i++)
            tsl_place_abandon(chain->links[i].command);
    for (unsigned i = 0; i < chain->n; i++)
        planned(chain->links[i].command, error);
}

/* ---- Holding ----------------------------------------------------------------------------------------------------- */

#define WHILE_NS 5e5 /* of scheduling, after which what was planned is submitted */

unsigned tsl_schedule_most;

/* Commands that may be scheduled now: a list instead of recursion. */
struct due {
    struct tsl_command *first, **end;
    unsigned n_scheduled;
    uint64_t since_ns; /* 0: none was scheduled yet */
};

static void consider(struct due *due, struct tsl_command *c)
{
    if (c->state != TSL_HELD || c->n_hold > 0 || (c->in_order && c->queue->unscheduled != c))
        return;
    c->next = NULL;
    *due->end = c;
    due->end = &c->next;
}

static void release_held(struct due *due, struct tsl_command *c)
{
    for (unsigned i = 0; i < c->held.n; i++) {
        struct tsl_command *h = *TSL_SMALL_AT(&c->held, i);
        h->n_hold--;
        consider(due, h);
        tsl_command_unref(h); /* Its queue has a reference. */
    }
    TSL_SMALL_FINISH(&c->held);
}

/* Is the command held after all: until a member has less to do, or by the memory order? */
static bool not_now(struct tsl_command *c)
{
    if (!c->graph->memory_order)
        return tsl_place_hold(c);
    c->n_hold++;
    return true;
}

/* The next one of the in-order queue is first now; NULL: there is none. */
static void go_on(struct due *due, struct tsl_graph_queue *queue, struct tsl_command *next)
{
    queue->unscheduled = next;
    queue->n_behind = 0;
    if (next)
        consider(due, next);
}

static void schedule_chain(struct due *due, struct tsl_chain *chain)
{
    struct tsl_graph_queue *queue = chain->links[0].command->queue;
    struct tsl_command *next = NULL;
    tsl_dependences *orders = calloc(chain->n, sizeof(*orders));
    if (!orders) {
        struct tsl_command *first = chain->links[0].command;
        tsl_chain_cancel(chain);
        consider(due, first);
        return;
    }
    for (unsigned i = 0; i < chain->n; i++)
        chain->links[i].command->refs++;
    plan_chain(chain, orders);
    for (unsigned i = 0; i < chain->n; i++)
        next = end(chain->links[i].command, &orders[i]);
    go_on(due, queue, next);
    for (unsigned i = 0; i < chain->n; i++) {
        release_held(due, chain->links[i].command);
        tsl_command_unref(chain->links[i].command);
    }
    free(orders);
    tsl_chain_destroy(chain);
}

/* Only such a launch can be chained with others. */
static bool may_go_by_windows(const struct tsl_command *c)
{
    return c->out_of_core || !tsl_members_is_empty(c->other_way);
}

/* True: it waits for others, or was scheduled with them. */
static bool is_chained(struct due *due, struct tsl_command *c)
{
    tsl_either_way_chain(c);
    if (tsl_chain_waits(c)) {
        c->n_hold++;
        c->queue->chain = c;
        tsl_chain_patience_begin(c->graph);
        return true;
    }
    struct tsl_chain *chain = tsl_chain_make(c);
    if (!chain) {
        tsl_either_way_alone(c);
        return false;
    }
    schedule_chain(due, chain);
    return true;
}

/* The launch waits for its window, whose end is to be seen at once, and all that waits for the launch does. A window
 * that failed before it had any work ends when all before it has. */
static void schedule_lead(struct tsl_command *c)
{
    struct tsl_command *lead = c->lead;
    c->lead_due = false;
    schedule(lead);
    for (unsigned i = 0; i < lead->own.n; i++)
        tsl_op_watch(TSL_SMALL_AT(&lead->own, i)->op);
    if (!lead->share.op && lead->state < TSL_COMPLETE)
        tsl_command_watch(lead);
}

/* Is it time to submit, and to let others notice what has ended? What was planned may wait for that alone. */
static bool was_long(struct due *due)
{
    if (!due->n_scheduled)
        return false;
    if (tsl_schedule_most)
        return due->n_scheduled >= tsl_schedule_most;
    uint64_t now_ns = tsl_clock_ns();
    due->since_ns = due->since_ns ? due->since_ns : now_ns;
    return (double)(now_ns - due->since_ns) >= WHILE_NS;
}

/* They are due, so they are asked about before those that found no place. */
static void put_off(struct due *due)
{
    STAILQ_HEAD(, tsl_command) first = STAILQ_HEAD_INITIALIZER(first);
    struct tsl_graph *graph = due->first->graph;
    for (struct tsl_command *c = due->first; c; c = c->next) {
        c->n_hold++;
        STAILQ_INSERT_TAIL(&first, c, later);
    }
    STAILQ_CONCAT(&first, &graph->later);
    STAILQ_CONCAT(&graph->later, &first);
    due->first = NULL;
    due->end = &due->first;
    graph->ask_again = graph->submit_first = true;
}

static void run(struct due *due)
{
    while (due->first) {
        if (was_long(due)) {
            put_off(due);
            return;
        }
        struct tsl_command *c = due->first;
        due->first = c->next;
        if (!due->first)
            due->end = &due->first;
        if (may_go_by_windows(c) && is_chained(due, c))
            continue;
        if (not_now(c)) {
            STAILQ_INSERT_TAIL(&c->graph->later, c, later);
            if (c->lead_due)
                schedule_lead(c);
            continue;
        }
        c->refs++;
        struct tsl_graph_queue *queue = c->queue;
        struct tsl_command *next = schedule(c);
        due->n_scheduled++;
        if (c->in_order)
            go_on(due, queue, next);
        release_held(due, c);
        tsl_command_unref(c);
    }
}

void tsl_schedule_chain(struct tsl_graph_queue *queue)
{
    struct due due = {.end = &due.first};
    struct tsl_command *c = queue->chain;
    if (!c)
        return;
    queue->chain = NULL;
    for (struct tsl_command *behind = c; behind; behind = TAILQ_NEXT(behind, link))
        behind->chain_due = true;
    c->n_hold--;
    consider(&due, c);
    run(&due);
}

static struct tsl_graph_queue *next_with_chain(struct tsl_graph *graph, bool due)
{
    struct tsl_graph_queue *queue;
    LIST_FOREACH(queue, &graph->queues, link)
    if (queue->chain && (!due || queue->chain->chain_due))
        return queue;
    return NULL;
}

/* From the first queue on again and again, as the lock may be given meanwhile. */
void tsl_schedule_chains(struct tsl_graph *graph, bool due)
{
    struct tsl_graph_queue *queue;
    while ((queue = next_with_chain(graph, due)))
        tsl_schedule_chain(queue);
}

/* A command has come to its queue. Where launches wait there to be chained, it is one more of them, or the last thing
 * that they waited for. Launches of other queues that it waits for wait no longer. */
static void note_chains(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    for (unsigned i = 0; i < c->waits.n; i++) {
        const struct tsl_command *before = *TSL_SMALL_AT(&c->waits, i);
        if (before->queue && before->queue != queue)
            tsl_schedule_chain(before->queue);
    }
    if (!queue->chain || queue->chain == c)
        return;
    queue->n_in_chain++;
    if (!tsl_chain_takes(c))
        tsl_schedule_chain(queue);
}

void tsl_schedule_held_by(struct tsl_command *command)
{
    struct due due = {.end = &due.first};
    release_held(&due, command);
    run(&due);
}

/* After so many commands that found no place the rest of the list isn't asked. */
#define ASK_FEW 8

void tsl_schedule_later(struct tsl_graph *graph)
{
    STAILQ_HEAD(, tsl_command) asked = STAILQ_HEAD_INITIALIZER(asked);
    struct due due = {.end = &due.first};
    struct tsl_command *c;
    unsigned n_kept = 0;
    graph->ask_again = false;
    STAILQ_CONCAT(&asked, &graph->later); /* Commands that find no place, and new ones, go to the graph's list. */
    while (n_kept < ASK_FEW && !graph->submit_first && (c = STAILQ_FIRST(&asked))) {
        STAILQ_REMOVE_HEAD(&asked, later);
        c->n_hold--;
        consider(&due, c);
        run(&due);
        n_kept += c->state == TSL_HELD && !c->lead; /* One that waits for its window says nothing of the others. */
    }
    STAILQ_CONCAT(&graph->later, &asked);
}

static bool hold_by(struct tsl_command *c, struct tsl_command *before)
{
    if (before->state != TSL_HELD)
        return true;
    if (!TSL_SMALL_PUSH(&before->held, c))
        return false;
    c->refs++;
    c->n_hold++;
    return true;
}

/* Undoes hold_by(); c is the last that `before` holds. */
static void unhold_by(struct tsl_command *c, struct tsl_command *before)
{
    if (before->state != TSL_HELD)
        return;
    before->held.n--;
    c->refs--;
    c->n_hold--;
}

/* Holds the command by all that it waits for, or by none where memory is lacking. */
static bool hold(struct tsl_command *c)
{
    unsigned i = 0;
    while (i < c->waits.n && hold_by(c, *TSL_SMALL_AT(&c->waits, i)))
        i++;
    if (i == c->waits.n)
        return true;
    while (i-- > 0)
        unhold_by(c, *TSL_SMALL_AT(&c->waits, i));
    return false;
}

static bool wait_for(struct tsl_command *c, struct tsl_command *before)
{
    if (!TSL_SMALL_PUSH(&c->waits, before))
        return false;
    before->refs++;
    return true;
}

static bool waits_for_all(const struct tsl_command *c)
{
    return (c->type == CL_COMMAND_MARKER || c->type == CL_COMMAND_BARRIER) && c->waits.n == 0;
}

/* Order in an out-of-order queue: barriers hold back what follows; a marker or barrier without a list waits for all
 * before it. */
static bool order_in_queue(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    struct tsl_command *before;
    if (c->in_order)
        return true;
    if (!waits_for_all(c))
        return !queue->barrier || wait_for(c, queue->barrier);
    c->after_all = true;
    TAILQ_FOREACH_REVERSE(before, &queue->commands, tsl_command_list, link)
    {
        if (!wait_for(c, before))
            return false;
        if (before->after_all)
            break; /* This one waits for the rest. */
    }
    return true;
}

static void set_barrier(struct tsl_command *c)
{
    if (c->queue->barrier)
        tsl_command_unref(c->queue->barrier);
    c->queue->barrier = c;
    c->refs++;
}

/* Counts commands behind a kernel that found no place. The more there are, the more is known of what the members will
 * have to do; so the placer is asked again when there are twice as many. */
static void count_behind(struct tsl_command *c)
{
    if (c->state != TSL_HELD || !c->in_order || c->queue->unscheduled == c)
        return;
    unsigned n = ++c->queue->n_behind;
    if ((n & (n - 1)) == 0)
        c->graph->ask_again = true;
}

cl_int tsl_schedule_command(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    struct due due = {.end = &due.first};
    c->in_order = queue->in_order; /* Here, as these may change until the lock is held. */
    c->profile = queue->profile;
    c->serial = queue->serial;
    c->sync = queue->sync;
    c->place_by = (uint8_t)queue->place_by;
    c->queued_ns = tsl_command_stamp(c);
    c->id = ++c->graph->n_commands;
    c->n_listed = c->waits.n;
    if (!order_in_queue(c) || !hold(c))
        return CL_OUT_OF_HOST_MEMORY;
    TAILQ_INSERT_TAIL(&queue->commands, c, link);
    c->refs++;
    if (c->in_order && !queue->unscheduled)
        queue->unscheduled = c;
    c->n_hold--;
    consider(&due, c);
    c->direct = true;
    run(&due);
    c->direct = false;
    note_chains(c);
    count_behind(c);
    if (c->barrier && c->state < TSL_COMPLETE)
        set_barrier(c);
    return CL_SUCCESS;
}

void tsl_command_watch(struct tsl_command *c)
{
    c->watched = true;
    if (c->state == TSL_HELD)
        return; /* Scheduling looks at the mark. */
    tsl_deferred_write_all(c->graph);
    for (unsigned i = 0; i < c->frontier.n; i++)
        tsl_op_watch(TSL_SMALL_AT(&c->frontier, i)->op);
}
