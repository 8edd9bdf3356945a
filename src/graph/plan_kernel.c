/* The plan of a kernel. */
#include "graph/plan_kernel.h"
#include "base/sets.h"
#include "base/small_vector.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"
#include "graph/arena.h"
#include "graph/choose.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/cut.h"
#include "graph/cut_rims.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/fetch.h"
#include "graph/footing.h"
#include "graph/op.h"
#include "graph/plan_joints.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/queue.h"
#include "graph/redoable.h"
#include "graph/residency.h"
#include "graph/runs.h"
#include "graph/senders.h"
#include "graph/share.h"
#include "graph/space.h"
#include "graph/split_check.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "graph/window_move.h"
#include "object/svm.h"
#include "program/program.h"

/* Does the launch touch all of the object, whatever its kernel does? It does of shared memory that only one can have at
 * a time. */
static bool touches_all(const struct tsl_port *port, const struct tsl_buffer *b)
{
    const struct tsl_svm *svm = tsl_data_of(b)->svm;
    return svm && svm->coarse && tsl_members_has(svm->members, port->index);
}

/* One argument of a launch on one member, and what the launch touches of it. */
struct touched {
    struct tsl_buffer *buffer; /* NULL: it is no memory, and nothing else is set */
    struct tsl_data *data;
    const struct tsl_slice *slice; /* in which it lies for this window; NULL: in its own copy */
    unsigned space;
    struct tsl_footing_ranges reads, writes;
};

/* What a plan knows of the launch's arguments. */
struct arguments {
    struct tsl_command *command;
    const struct tsl_args *args; /* the share's */
    struct tsl_port *port;
    const struct tsl_kernel_facts *facts;
    const struct tsl_slices *slices;          /* NULL: none */
    const struct tsl_argument_touch *touches; /* of the first facts->footprint->n_arguments; NULL: all of each */
    enum tsl_footing_grain grain;
    struct touched *seen; /* each argument, as it was found when it was fetched; NULL: that isn't kept */
};

#define MOST_SEEN 8u /* arguments: more are looked at twice */

static const struct tsl_argument_touch *touch_of(const struct arguments *a, cl_uint i, const struct tsl_buffer *b)
{
    return a->touches && i < a->facts->footprint->n_arguments && !tsl_svm_of(b) ? &a->touches[i] : NULL;
}

/* What is read, too, isn't just overwritten: it goes back to what it was should the launch never run. */
static void spare(struct tsl_footing_ranges *writes, const struct tsl_footing_ranges *reads)
{
    for (unsigned w = 0; w < writes->n; w++)
        for (unsigned r = 0; r < reads->n; r++)
            if (writes->list[w].overwritten && tsl_footing_ranges_meet(&writes->list[w], &reads->list[r]))
                writes->list[w].overwritten = false;
}

/* Other arguments may be the same memory. */
static void spare_for_others(const struct arguments *a, cl_uint i, struct touched *t)
{
    struct tsl_footing_ranges reads;
    for (cl_uint k = 0; k < a->args->n_all; k++) {
        const struct tsl_buffer *b = a->args->args[k].buffer;
        if (k == i || !b || tsl_data_of(b) != t->data || !(tsl_footing_access(a->facts, k, b) & TSL_MAY_READ))
            continue;
        tsl_footing_reads(touch_of(a, k, b), b, a->grain, &reads);
        spare(&t->writes, &reads);
    }
}

/* False: the argument is no memory. No ranges: the launch doesn't touch it. */
static bool look_at(const struct arguments *a, cl_uint i, struct touched *t)
{
    struct tsl_buffer *b = a->args->args[i].buffer;
    t->buffer = b;
    if (!b)
        return false;
    unsigned may = tsl_footing_access(a->facts, i, b);
    t->data = tsl_data_of(b);
    t->slice = tsl_slice_of(a->slices, t->data);
    t->space = t->slice ? TSL_SPACE_HOST : tsl_space_of(a->port, t->data);
    t->reads.n = t->writes.n = 0;
    if (may && touches_all(a->port, b)) {
        t->writes.n = 1;
        t->writes.list[0] = (struct tsl_footing_range){.end = t->data->svm->size};
        return true;
    }
    const struct tsl_argument_touch *touch = touch_of(a, i, b);
    if (may & TSL_MAY_WRITE)
        tsl_footing_writes(touch, b, a->grain, &t->writes);
    if (may & TSL_MAY_READ && (touch || !(may & TSL_MAY_WRITE))) /* Else the written range is all, and is fetched. */
        tsl_footing_reads(touch, b, a->grain, &t->reads);
    spare(&t->writes, &t->reads);
    if (touch && t->writes.n)
        spare_for_others(a, i, t);
    return true;
}

/* What is to be fetched: what is read, and what may be written, unless all of that is surely overwritten: may-write is
 * not must-write. Without slabs. */
static unsigned needed_ranges(const struct touched *t, struct tsl_range all[2 * TSL_FOOTING_MAX_RANGES])
{
    unsigned n = 0;
    for (unsigned r = 0; r < t->reads.n; r++)
        if (!t->reads.list[r].more)
            all[n++] = (struct tsl_range){t->reads.list[r].begin, t->reads.list[r].end};
    for (unsigned r = 0; r < t->writes.n; r++)
        if (!t->writes.list[r].overwritten && !t->writes.list[r].more)
            all[n++] = (struct tsl_range){t->writes.list[r].begin, t->writes.list[r].end};
    return n;
}

static cl_int fetch_slabs(struct tsl_command *c, const struct touched *t, const struct tsl_footing_range *slabs)
{
    struct tsl_range some[TSL_FOOTING_MAX_RANGES];
    cl_int error = CL_SUCCESS;
    for (uint64_t i = 0; i <= slabs->more && !error;) {
        unsigned n = 0;
        for (; i <= slabs->more && n < TSL_FOOTING_MAX_RANGES; i++)
            some[n++] = tsl_footing_range_at(slabs, i);
        error = tsl_fetch_ranges(c, t->data, some, n, t->space);
    }
    return error;
}

static cl_int fetch_all_slabs(struct tsl_command *c, const struct touched *t)
{
    cl_int error = CL_SUCCESS;
    for (unsigned r = 0; r < t->reads.n && !error; r++)
        if (t->reads.list[r].more)
            error = fetch_slabs(c, t, &t->reads.list[r]);
    for (unsigned r = 0; r < t->writes.n && !error; r++)
        if (!t->writes.list[r].overwritten && t->writes.list[r].more)
            error = fetch_slabs(c, t, &t->writes.list[r]);
    return error;
}

static cl_int fetch_ranges(struct tsl_command *c, const struct touched *t)
{
    struct tsl_range all[2 * TSL_FOOTING_MAX_RANGES];
    unsigned n = needed_ranges(t, all);
    cl_int error = n ? tsl_fetch_ranges(c, t->data, all, n > 1 ? tsl_runs_tidy(all, n) : n, t->space) : CL_SUCCESS;
    return error ? error : fetch_all_slabs(c, t);
}

static void warn_unwritten(const struct arguments *a, cl_uint i, const struct touched *t)
{
    bool untouched = i < a->facts->n_args && a->facts->args[i].untouched;
    for (unsigned r = 0; r < t->reads.n && !t->writes.n && !untouched; r++) /* Of slabs the first will do. */
        tsl_valid_warn_unwritten(t->data, t->reads.list[r].begin, t->reads.list[r].end);
}

static void pin_args(const struct arguments *a)
{
    if (!a->slices) {
        tsl_residency_pin_args(a->command, a->port);
        return;
    }
    for (cl_uint i = 0; i < a->args->n_all; i++) {
        const struct tsl_buffer *b = a->args->args[i].buffer;
        if (b && !tsl_slice_of(a->slices, tsl_data_of(b)))
            tsl_residency_pin(a->command, tsl_data_of(b), a->port);
    }
}

static void used_by(const struct touched *t, const struct arguments *a)
{
    t->data->last_member = (int)a->port->index;
    t->data->last_cut = a->command->n_more > 0;
    t->data->host_is_members |= t->writes.n && t->space == TSL_SPACE_HOST;
}

static cl_int fetch_args(const struct arguments *a)
{
    struct touched room;
    pin_args(a);
    for (cl_uint i = 0; i < a->args->n_all; i++) {
        struct touched *t = a->seen ? &a->seen[i] : &room;
        if (!look_at(a, i, t))
            continue;
        warn_unwritten(a, i, t);
        cl_int error = fetch_ranges(a->command, t);
        if (error)
            return error;
        if ((t->reads.n || t->writes.n) && !t->slice)
            used_by(t, a);
    }
    return CL_SUCCESS;
}

/* Is what is read within a range that counts as read because it may be written? */
static bool is_claimed_by_writes(const struct touched *t, const struct tsl_footing_range *read)
{
    for (unsigned w = 0; w < t->writes.n; w++) {
        const struct tsl_footing_range *write = &t->writes.list[w];
        if (!write->overwritten && tsl_footing_range_holds(write, read))
            return true;
    }
    return false;
}

static cl_int claim_range(struct tsl_op *op, const struct touched *t, const struct tsl_footing_range *range,
                          unsigned may)
{
    cl_int error = CL_SUCCESS;
    for (uint64_t i = 0; i <= range->more && !error; i++) {
        struct tsl_range one = tsl_footing_range_at(range, i);
        error = tsl_claim(op, t->data, one.begin, one.end, t->space, may);
    }
    return error;
}

static cl_int claim_ranges(struct tsl_op *op, const struct touched *t)
{
    cl_int error = CL_SUCCESS;
    for (unsigned r = 0; r < t->reads.n && !error; r++)
        if (!is_claimed_by_writes(t, &t->reads.list[r]))
            error = claim_range(op, t, &t->reads.list[r], TSL_MAY_READ);
    for (unsigned r = 0; r < t->writes.n && !error; r++) {
        const struct tsl_footing_range *range = &t->writes.list[r];
        /* Bytes that may stay as they were count as read, too: their last writer must have succeeded. */
        unsigned may = range->overwritten ? TSL_MAY_WRITE : TSL_MAY_READ | TSL_MAY_WRITE;
        error = claim_range(op, t, range, may);
    }
    /* The launch is given the memory though it touches none of it: the memory must be there, and one use keeps the
     * object resident. Whether what is written there succeeds doesn't matter. */
    if (!t->reads.n && !t->writes.n)
        error = tsl_claim(op, t->data, t->buffer->offset, t->buffer->offset + 1, t->space, 0);
    return error;
}

static cl_int claim_args(const struct arguments *a, struct tsl_op *op)
{
    struct touched room;
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < a->args->n_all && !error; i++) {
        struct touched *t = a->seen ? &a->seen[i] : &room;
        if (!a->seen)
            look_at(a, i, t);
        if (t->buffer && !t->slice) /* What lies in slices the copies to and from these claim. */
            error = claim_ranges(op, t);
    }
    return error;
}

/* The operation's effects show in no argument: it comes after everything, and everything comes after it. What its own
 * command moves it comes after anyway. */
static void make_opaque(struct tsl_op *op)
{
    struct tsl_graph *g = op->port->graph;
    struct tsl_graph_queue *queue;
    struct tsl_command *c;
    if (g->opaque) {
        tsl_op_follow(op, &g->since_opaque);
        tsl_dependences_finish(&g->since_opaque);
    } else {
        LIST_FOREACH(queue, &g->queues, link)
        TAILQ_FOREACH(c, &queue->commands, link)
        if (c != op->command)
            tsl_op_follow(op, &c->own);
    }
    tsl_op_unref(g->opaque);
    g->opaque = op;
    op->user.refs++;
}

/* Kernels that print share the standard output: address 0 of the host map stands for it. */
static cl_int claim_effects(struct tsl_op *op, const struct tsl_kernel_facts *facts)
{
    if (facts->opaque)
        make_opaque(op);
    return facts->prints ? tsl_claim_host(op, NULL, 1, true) : CL_SUCCESS;
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

/* Without what is touched. */
static struct arguments outline_of(struct tsl_command *c, const struct tsl_share *share)
{
    unsigned member = share->placement.member;
    return (struct arguments){.command = c,
                              .args = tsl_share_args(c, share),
                              .port = &c->graph->ports[member],
                              .facts = &c->kernel->parts[member].facts,
                              .slices = share->slices,
                              .grain = c->n_more && !c->n_chained && !share->slices ? TSL_FOOTING_SLABS
                                                                                    : TSL_FOOTING_SINGLE};
}

static struct arguments arguments_of(struct tsl_command *c, const struct tsl_share *share)
{
    struct arguments a = outline_of(c, share);
    if (tsl_footing_matters(c))
        a.touches = tsl_footing_of(c, &share->window, &c->kernel->parts[share->placement.member], NULL);
    return a;
}

/* Does all that the share is given lie in slices? Then what exactly it touches of that is the matter of its moves. */
static bool is_all_sliced(const struct tsl_command *c, const struct tsl_share *share)
{
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        const struct tsl_buffer *b = c->args->args[i].buffer;
        if (b && !tsl_slice_of(share->slices, tsl_data_of(b)))
            return false;
    }
    return true;
}

static cl_int fetch_shares(struct tsl_command *c, unsigned begin, unsigned end)
{
    cl_int error = CL_SUCCESS;
    for (unsigned i = begin; i < end && !error; i++) {
        struct tsl_share *share = tsl_command_share(c, i);
        const struct arguments arguments = arguments_of(c, share);
        share->partial = arguments.touches != NULL;
        error = fetch_args(&arguments);
    }
    return error;
}

/* A window's launch comes after what brings its bytes, and after all that its area was used for. */
static void follow_area(struct tsl_op *op, const struct tsl_slices *slices, const tsl_dependences *ins)
{
    tsl_area_follow(op, slices->area);
    for (unsigned i = 0; i < ins->n; i++)
        tsl_op_depend(op, TSL_SMALL_AT(ins, i)->op, true);
}

/* Other members' work comes after a share, often however it ends: the next launch's, say. What would be made then, a
 * fence or a mark, would stand behind what the lane has by that time. */
static void want_end(struct tsl_op *op)
{
    op->want_fence = true;
    op->want_mark = !op->port->member->driver->fence_ends_well;
}

/* The operation of the share, which claims nothing yet; a reference. NULL: no memory, and the placer knows. */
static struct tsl_op *make_launch(struct tsl_command *c, unsigned i, const tsl_dependences *order)
{
    struct tsl_share *share = tsl_command_share(c, i);
    struct tsl_op *op = tsl_plan_launch(c, order, i);
    if (!op) {
        tsl_place_ended(c, share, 0, 0);
        return NULL;
    }
    tsl_op_ref(op);
    op->end_estimate_ns = share->placement.end_ns;
    if (c->n_more)
        want_end(op);
    tsl_place_add_launch(op->port, op);
    if (share->placement.watch)
        tsl_op_watch(op);
    return op;
}

/* error: why the operation won't run, if not CL_SUCCESS. */
static cl_int claim_launch(struct tsl_op *op, const struct arguments *a, cl_int error)
{
    if (a->touches)
        tsl_footing_note_extents(op, a->args, a->touches, a->grain, a->facts->footprint->n_arguments);
    if (!error)
        error = claim_args(a, op);
    if (!error)
        error = claim_effects(op, a->facts);
    return tsl_plan_go(op, error);
}

/* error: why the operation won't run, if not CL_SUCCESS. ins: of a window, what brings its bytes; else NULL. *made: a
 * reference to the operation; NULL: there is none. */
static cl_int plan_launch(struct tsl_command *c, unsigned i, const tsl_dependences *order, const tsl_dependences *ins,
                          cl_int error, struct tsl_op **made)
{
    struct tsl_share *share = tsl_command_share(c, i);
    struct tsl_op *op = make_launch(c, i, order);
    *made = op;
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    if (ins)
        follow_area(op, share->slices, ins);
    const bool sliced = c->n_chained && is_all_sliced(c, share);
    const struct arguments arguments = sliced ? outline_of(c, share) : arguments_of(c, share);
    return claim_launch(op, &arguments, error);
}

/* ---- Window by window -------------------------------------------------------------------------------------------- */

/* What the window needs goes from the host's copies to the slices. */
static cl_int bring_ranges(const struct arguments *a, const struct touched *t, tsl_dependences *ins)
{
    struct tsl_range all[2 * TSL_FOOTING_MAX_RANGES];
    unsigned n = tsl_runs_tidy(all, needed_ranges(t, all));
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < n && !error; i++)
        error = tsl_window_in(a->command, a->port, t->slice, &all[i], ins);
    return error;
}

static cl_int bring(const struct arguments *a, tsl_dependences *ins)
{
    struct touched t;
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < a->args->n_all && !error; i++)
        if (look_at(a, i, &t) && t.slice)
            error = bring_ranges(a, &t, ins);
    return error;
}

/* Of a set with many rows the ranges say more than what is written: exactly that goes back, box by box. */
static cl_int take_boxes(const struct tsl_byte_set *set, const struct touched *t, struct tsl_op *launch,
                         tsl_dependences *outs)
{
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < set->n && !error; i++) {
        struct tsl_byte_box box = set->boxes[i];
        box.offset += t->buffer->offset;
        const size_t region[3] = {(size_t)box.width, (size_t)box.count[0], (size_t)box.count[1]};
        const struct tsl_footing_range range = {
            .begin = box.offset,
            .end = box.offset + tsl_box_hull(region, (size_t)box.stride[0], (size_t)box.stride[1])};
        error = tsl_window_out(launch->command, launch, t->slice, &range, &box, NULL, outs);
    }
    return error;
}

static cl_int take_argument(const struct arguments *a, cl_uint i, const struct touched *t, struct tsl_op *launch,
                            tsl_dependences *outs)
{
    const struct tsl_argument_touch *touch = touch_of(a, i, t->buffer);
    cl_int error = CL_SUCCESS;
    bool by_boxes = t->writes.n == 1 ? !t->writes.list[0].overwritten : touch && !tsl_footing_is_by_rows(&touch->write);
    if (by_boxes && touch && !touch->write.unknown)
        return take_boxes(&touch->write, t, launch, outs);
    for (unsigned r = 0; r < t->writes.n && !error; r++)
        error = tsl_window_out(launch->command, launch, t->slice, &t->writes.list[r], NULL, NULL, outs);
    return error;
}

/* What the window may have written goes back. */
static cl_int take_home(const struct arguments *a, struct tsl_op *launch, tsl_dependences *outs)
{
    struct touched t;
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < a->args->n_all && !error; i++)
        if (look_at(a, i, &t) && t.slice)
            error = take_argument(a, i, &t, launch, outs);
    return error;
}

/* error: why there is no launch, or why it won't run. */
static cl_int leave_area(const struct arguments *a, struct tsl_op *launch, const tsl_dependences *ins, cl_int error)
{
    struct tsl_area *area = a->slices->area;
    tsl_dependences outs = {0};
    if (launch && !error)
        error = take_home(a, launch, &outs);
    if (launch)
        tsl_window_end(a->command, launch, area, &outs, error);
    tsl_dependences_finish(&outs);
    for (unsigned i = 0; !launch && i < ins->n; i++)
        tsl_area_add(area, TSL_SMALL_AT(ins, i)->op);
    return error;
}

/* A window comes after those before it as if it were a launch of its own. */
static cl_int plan_window(struct tsl_command *c, unsigned i, const tsl_dependences *order)
{
    struct tsl_share *share = tsl_command_share(c, i);
    const struct arguments arguments = arguments_of(c, share);
    tsl_dependences ins = {0};
    share->partial = true;
    tsl_residency_ensure_arena(c, arguments.port, share->slices);
    tsl_arena_take(arguments.port, share->slices);
    cl_int error = fetch_args(&arguments);
    if (!error)
        error = bring(&arguments, &ins);
    struct tsl_op *launch = NULL;
    error = plan_launch(c, i, order, &ins, error, &launch);
    error = leave_area(&arguments, launch, &ins, error);
    tsl_op_unref(launch);
    tsl_dependences_finish(&ins);
    return error;
}

static cl_int plan_windows(struct tsl_command *c, const tsl_dependences *order)
{
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i <= c->n_more; i++)
        if (!error)
            error = plan_window(c, i, order);
        else
            tsl_place_ended(c, tsl_command_share(c, i), 0, 0);
    return error;
}

/* ---- Windows of a chain ------------------------------------------------------------------------------------------ */

/* What the window needs of objects that lie in no slice. */
static cl_int fetch_whole_ones(const struct arguments *a)
{
    struct touched t;
    cl_int error = CL_SUCCESS;
    pin_args(a);
    for (cl_uint i = 0; i < a->args->n_all && !error; i++) {
        const struct tsl_buffer *b = a->args->args[i].buffer;
        if (!b || tsl_slice_of(a->slices, tsl_data_of(b)) || !look_at(a, i, &t))
            continue;
        error = fetch_ranges(a->command, &t);
        if (t.reads.n || t.writes.n)
            used_by(&t, a);
    }
    return error;
}

cl_int tsl_plan_kernel_window(struct tsl_command *c, unsigned i, const tsl_dependences *order,
                              const tsl_dependences *ins, struct tsl_op **made)
{
    struct tsl_share *share = tsl_command_share(c, i);
    cl_int error = CL_SUCCESS;
    share->partial = true;
    c->order_now = order;
    if (!is_all_sliced(c, share)) {
        const struct arguments arguments = arguments_of(c, share);
        tsl_residency_ensure_arena(c, arguments.port,
                                   share->slices); /* It must not go for what this command needs whole. */
        error = fetch_whole_ones(&arguments);
    }
    error = plan_launch(c, i, order, ins, error, made);
    c->order_now = NULL;
    return error;
}

static void tell_range(const struct touched *t, const struct tsl_footing_range *range, bool write,
                       tsl_plan_range_fn *fn, void *arg)
{
    for (uint64_t i = 0; i <= range->more; i++) {
        struct tsl_range one = tsl_footing_range_at(range, i);
        fn(arg, t->data, t->space, &one, write);
    }
}

void tsl_plan_kernel_look(struct tsl_command *c, const struct tsl_share *share, tsl_plan_range_fn *fn, void *arg)
{
    const struct arguments arguments = arguments_of(c, share);
    struct touched t;
    for (cl_uint i = 0; i < arguments.args->n_all; i++) {
        if (!look_at(&arguments, i, &t))
            continue;
        for (unsigned r = 0; r < t.reads.n; r++)
            tell_range(&t, &t.reads.list[r], false, fn, arg);
        for (unsigned r = 0; r < t.writes.n; r++) {
            if (!t.writes.list[r].overwritten)
                tell_range(&t, &t.writes.list[r], false, fn, arg);
            tell_range(&t, &t.writes.list[r], true, fn, arg);
        }
    }
}

void tsl_plan_kernel_again(struct tsl_command *c, unsigned i)
{
    const tsl_dependences order = {0};
    const struct arguments arguments = arguments_of(c, tsl_command_share(c, i));
    struct tsl_op *launch;
    c->order_now = &order;
    cl_int error = fetch_args(&arguments);
    error = plan_launch(c, i, &order, NULL, error, &launch);
    tsl_op_unref(launch);
    c->order_now = NULL;
    if (error && c->status == CL_COMPLETE)
        c->status = error;
}

/* First all fetches of these shares, then all claims: else a share would fetch what another one has just claimed.
 * error: why their launches won't run, if not CL_SUCCESS. */
static cl_int plan_some(struct tsl_command *c, unsigned begin, unsigned end, const tsl_dependences *order, cl_int error)
{
    error = error ? error : fetch_shares(c, begin, end);
    cl_int first = error;
    for (unsigned i = begin; i < end; i++) {
        struct tsl_op *launch;
        cl_int failed = plan_launch(c, i, order, NULL, error, &launch);
        tsl_op_unref(launch);
        first = first ? first : failed;
    }
    return first;
}

/* What begins before the rest of the launch is planned. What the rims fetch comes after what these claim where the
 * kernel writes what other groups read: it gets the new value instead of the old one, and either is right. */
static cl_int plan_insides(struct tsl_command *c, const tsl_dependences *order, cl_int error)
{
    uint64_t n_launches = c->graph->n_ops + c->n_inside;
    error = plan_some(c, 0, c->n_inside, order, error);
    if (c->graph->n_ops > n_launches)
        tsl_cut_rims_too_small(c);
    if (!error && !c->split_check && c->direct)
        c->graph->begin_now(c->graph);
    return error;
}

/* A launch of one share that touches all of its arguments. */
static cl_int plan_all(struct tsl_command *c, const tsl_dependences *order)
{
    struct arguments arguments = outline_of(c, &c->share);
    struct touched seen[MOST_SEEN]; /* Each is filled before it is read. */
    arguments.seen = c->args->n_all <= MOST_SEEN ? seen : NULL;
    c->share.partial = false;
    cl_int error = fetch_args(&arguments);
    struct tsl_op *op = make_launch(c, 0, order);
    if (!op)
        return error ? error : CL_OUT_OF_HOST_MEMORY;
    cl_int failed = claim_launch(op, &arguments, error);
    tsl_op_unref(op);
    return error ? error : failed;
}

static cl_int plan_shares(struct tsl_command *c, const tsl_dependences *order)
{
    if (c->n_more)
        tsl_senders_wake(c);
    cl_int error = tsl_cut_spread(c);
    error = error ? error : tsl_joints_begin(c, order);
    if (c->n_inside)
        error = plan_insides(c, order, error);
    cl_int first = plan_some(c, c->n_inside, c->n_more + 1, order, error);
    first = first ? first : tsl_joints_end(c, order);
    if (!first)
        tsl_redoable_begin(c);
    return first;
}

cl_int tsl_plan_kernel(struct tsl_command *c, const tsl_dependences *order)
{
    if (c->graph->checks_cuts)
        tsl_split_check_begin(c, order);
    cl_int error = CL_SUCCESS;
    if (!tsl_footing_matters(c) && !c->joints)
        error = plan_all(c, order);
    else
        error = c->out_of_core ? plan_windows(c, order) : plan_shares(c, order);
    if (c->split_check)
        tsl_split_check_end(c);
    return error;
}
