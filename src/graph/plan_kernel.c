/* The plan of a kernel. */
#include "facts/kernel_facts.h"
#include "graph/choose.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/fetch.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/queue.h"
#include "graph/residency.h"
#include "graph/share.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "object/svm.h"
#include "program/program.h"

/* Some programs' kernels write to what they made CL_MEM_READ_ONLY, which is undefined (OpenCL 3.0, 5.2.1) and does what
 * they expect everywhere. So the flag counts only where it is of use, and nobody saw that the kernel writes. */
static bool is_kept(const struct tsl_kernel_facts *facts, cl_uint i, const struct tsl_buffer *buffer)
{
    bool seen = facts->proven || (i < facts->n_args && facts->args[i].written);
    return buffer->flags & CL_MEM_READ_ONLY && !seen && buffer->context->n_members > 1;
}

/* What a kernel may do to the memory behind an argument: the facts' word, narrowed by the buffer's flags. */
static unsigned arg_role(const struct tsl_kernel_facts *facts, cl_uint i, const struct tsl_buffer *buffer)
{
    unsigned may = i < facts->n_args ? facts->args[i].may : TSL_MAY_READ | TSL_MAY_WRITE;
    if (tsl_svm_of(buffer)) /* Who finds addresses there writes through them. */
        return TSL_MAY_READ | TSL_MAY_WRITE;
    return is_kept(facts, i, buffer) ? may & TSL_MAY_READ : may;
}

/* What of the object that is: all of it where it is shared memory that only one can have at a time. */
static struct tsl_range range_of_arg(const struct tsl_port *port, const struct tsl_buffer *b)
{
    const struct tsl_svm *svm = tsl_data_of(b)->svm;
    if (svm && svm->coarse && (svm->members >> port->index & 1))
        return (struct tsl_range){0, svm->size};
    return (struct tsl_range){b->offset, b->offset + b->size};
}

static cl_int fetch_args(struct tsl_command *c, const struct tsl_kernel_facts *facts, struct tsl_port *port)
{
    tsl_pin_args(c, port);
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        struct tsl_buffer *b = c->args->args[i].buffer;
        if (!b || !arg_role(facts, i, b))
            continue;
        if (!(arg_role(facts, i, b) & TSL_MAY_WRITE) && !(i < facts->n_args && facts->args[i].untouched))
            tsl_warn_unwritten(tsl_data_of(b), b->offset, b->offset + b->size);
        /* May-write is not must-write: the old bytes are fetched for a written argument too. */
        struct tsl_range range = range_of_arg(port, b);
        cl_int error = tsl_fetch(c, tsl_data_of(b), range.begin, range.end, tsl_space_of(port, tsl_data_of(b)));
        if (error)
            return error;
        tsl_data_of(b)->home = (int)port->index;
    }
    return CL_SUCCESS;
}

static cl_int claim_args(struct tsl_command *c, const struct tsl_kernel_facts *facts, struct tsl_op *op)
{
    for (cl_uint i = 0; i < c->args->n_all; i++) {
        struct tsl_buffer *b = c->args->args[i].buffer;
        unsigned may = b ? arg_role(facts, i, b) : 0;
        /* A written range stays partly as it was: whoever wrote it before must have succeeded. */
        if (may & TSL_MAY_WRITE)
            may |= TSL_MAY_READ;
        if (!may)
            continue;
        struct tsl_range range = range_of_arg(op->port, b);
        unsigned space = tsl_space_of(op->port, tsl_data_of(b));
        cl_int error = tsl_claim(op, tsl_data_of(b), range.begin, range.end, space, may);
        if (error)
            return error;
    }
    return CL_SUCCESS;
}

/* Effects that no argument shows: after everything, and everything after it. What its own command moves it comes after
 * anyway. */
static void make_opaque(struct tsl_op *op)
{
    struct tsl_graph *g = op->port->graph;
    struct tsl_stream *stream;
    struct tsl_command *c;
    if (g->opaque) {
        tsl_op_follow(op, &g->since_opaque);
        tsl_dependences_finish(&g->since_opaque);
    } else {
        LIST_FOREACH(stream, &g->streams, link)
        TAILQ_FOREACH(c, &stream->commands, link)
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

cl_int tsl_plan_kernel(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_share *share = &c->share;
    unsigned member = share->placement.member;
    struct tsl_port *port = &c->graph->ports[member];
    const struct tsl_kernel_facts *facts = &c->kernel->parts[member].facts;
    cl_int error = fetch_args(c, facts, port);
    struct tsl_op *op = tsl_plan_op(c, order, port, TSL_OP_LAUNCH);
    if (!op) {
        tsl_placement_ended(c, share, 0, 0);
        return CL_OUT_OF_HOST_MEMORY;
    }
    op->end_estimate_ns = share->placement.end_ns;
    tsl_port_launches(port, op);
    if (share->placement.watch)
        tsl_op_watch(op);
    if (!error)
        error = claim_args(c, facts, op);
    if (!error)
        error = claim_effects(op, facts);
    return tsl_plan_go(op, error);
}
