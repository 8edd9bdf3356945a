/* What a trace wants: noted under the lock when something ends, written without it. Only while a trace is on. */
#include "graph/record.h"

#include "base/clock.h"
#include "driver/driver.h"
#include "footprint/cut.h"
#include "graph/command.h"
#include "graph/cut.h"
#include "graph/cut_count.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/variants.h"
#include "program/program.h"
#include "program/variants.h"
#include "tile/tile.h"
#include "trace/trace.h"
#include "variant/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tsl_op_record {
    struct tsl_op_record *next;
    char name[64];
    char lane[112];
    enum tsl_trace_kind kind;
    const char *category;
    const char *from, *to; /* names of ports: the members' own, or "host" */
    const char *member;
    const char *rung; /* of a share of a launch; else NULL */
    uint64_t trace_id, command, buffer, offset, bytes, queue;
    uint64_t items, of, share, shares, expected_ns; /* of launches */
    unsigned chained;                               /* ... */
    bool again;                                     /* ... */
    const char *why;                                /* ... */
    char variant[48];                               /* ...: "": the original, or it has none */
    cl_int error;
    struct tsl_fence *fence; /* owned reference; asked for times when the record is written */
    struct tsl_fence *first; /* likewise: it began when this one did; NULL: when fence did */
    struct tsl_command_times times;
};

static struct tsl_op_record *record_new(struct tsl_graph *graph)
{
    struct tsl_op_record *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->next = graph->records;
    graph->records = r;
    return r;
}

static const char *device_name(const struct tsl_port *port)
{
    return tsl_port_is_host(port) ? "" : port->member->path->device_name;
}

static const char *side_name(const struct tsl_op *op, const struct tsl_side *side)
{
    struct tsl_graph *graph = op->port->graph;
    return !side->data ? "host" : tsl_space_port(graph, side->data, side->space)->name;
}

static void set_lane(struct tsl_op_record *r, const char *direction, const struct tsl_port *port,
                     enum tsl_trace_kind kind)
{
    bool host = tsl_port_is_host(port);
    snprintf(r->lane, sizeof(r->lane), "%s%s%s%s", direction, port->name, host ? "" : " ", device_name(port));
    r->kind = host ? TSL_TRACE_HOST : kind;
}

/* A copy between the host and a member, or two members, is a transfer; a copy within one memory is work. */
static void describe_copy(struct tsl_op_record *r, const struct tsl_op *op)
{
    const struct tsl_side *data = op->dst.data ? &op->dst : &op->src;
    bool up = op->dst.data && op->dst.space != TSL_SPACE_HOST;
    bool within = side_name(op, &op->dst) == side_name(op, &op->src);
    r->from = side_name(op, &op->src);
    r->to = side_name(op, &op->dst);
    r->category = tsl_port_is_host(op->port) ? TSL_TRACE_CAT_HOST : TSL_TRACE_CAT_TRANSFER;
    r->bytes = tsl_op_bytes(op);
    r->buffer = (uint64_t)(uintptr_t)data->data;
    r->offset = data->offset;
    snprintf(r->name, sizeof(r->name), "%s", op->move ? "move" : within ? "copy" : up ? "write" : "read");
    set_lane(r, within ? "" : up ? "to " : "from ", op->port, within ? TSL_TRACE_KERNELS : TSL_TRACE_TRANSFERS);
    bool on_host = op->port->space == TSL_SPACE_HOST; /* A copy within a member's memory is the member's work, one
                                                         within the host's memory the host's. */
    if (within && !on_host)
        r->category = TSL_TRACE_CAT_KERNEL;
    else if (within)
        r->category = TSL_TRACE_CAT_HOST;
}

static void describe_work(struct tsl_op_record *r, const struct tsl_op *op)
{
    const struct tsl_command *c = op->command;
    const char *name = op->kind == TSL_OP_FILL      ? "fill"
                       : op->kind == TSL_OP_NATIVE  ? "native kernel"
                       : op->kind == TSL_OP_COMBINE ? tsl_rung_name(c->rung)
                                                    : "mark";
    bool fills = op->kind == TSL_OP_FILL || op->kind == TSL_OP_COMBINE;
    if (op->kind == TSL_OP_CHECK)
        name = "check";
    if (op->kind == TSL_OP_LAUNCH)
        name = c->kernel->name;
    r->category = op->kind == TSL_OP_LAUNCH || op->kind == TSL_OP_COMBINE ? TSL_TRACE_CAT_KERNEL : TSL_TRACE_CAT_HOST;
    r->bytes = fills ? tsl_op_bytes(op) : 0;
    snprintf(r->name, sizeof(r->name), "%s", name);
    set_lane(r, "", op->port, TSL_TRACE_KERNELS);
}

/* What kept the launch from a better rung, in a word; NULL: nothing. */
static const char *why_of(const struct tsl_command *c)
{
    if (c->n_more && c->rung == TSL_RUNG_EXACT)
        return NULL;
    if (c->n_more || c->whole_why == TSL_WHOLE_FORBIDDEN)
        return c->cut_why == TSL_CUT_OK ? NULL : tsl_cut_word(c->cut_why);
    return tsl_whole_word((enum tsl_whole_why)c->whole_why);
}

static void describe_launch(struct tsl_op_record *r, const struct tsl_op *op)
{
    struct tsl_command *c = op->command;
    const struct tsl_share *share = tsl_op_share(op);
    struct tsl_window whole = share->window;
    whole.whole = true; /* Of a chain perhaps not all windows are made yet. */
    for (unsigned i = 0; i <= c->n_more && !c->n_chained; i++)
        r->of += tsl_window_items(&tsl_command_share(c, i)->window);
    if (c->n_chained || c->n_leads || c->is_lead)
        r->of = tsl_window_items(&whole);
    r->items = tsl_window_items(&share->window);
    r->share = op->share;
    r->shares = c->n_more + 1;
    r->chained = c->n_chained;
    r->rung = tsl_rung_name(c->rung);
    r->why = why_of(c);
    r->again = share->again;
    const struct tsl_kernel_variant *v = tsl_variants_of(c->kernel, share);
    snprintf(r->variant, sizeof(r->variant), "%s", v ? v->variant->name : "");
    r->expected_ns = share->placement.known ? (uint64_t)share->placement.run_ns : 0;
}

void tsl_record_op(struct tsl_op *op)
{
    if (!tsl_trace_on() || op->kind == TSL_OP_EVICT)
        return;
    struct tsl_op_record *r = record_new(op->port->graph);
    if (!r)
        return;
    if (op->kind == TSL_OP_COPY)
        describe_copy(r, op);
    else
        describe_work(r, op);
    if (op->kind == TSL_OP_LAUNCH)
        describe_launch(r, op);
    r->error = op->status < 0 ? op->status : 0;
    r->member = op->port->name;
    r->trace_id = op->trace_id;
    r->command = op->command->id;
    r->queue = op->command->queue->id;
    r->fence = op->fence ? tsl_fence_ref(op->fence) : NULL;
    struct tsl_fence *first = tsl_op_first_fence(op);
    r->first = first ? tsl_fence_ref(first) : NULL;
    r->times = (struct tsl_command_times){
        .queued = op->command->queued_ns, .submit = op->submit_ns, .start = op->start_ns, .end = tsl_clock_ns()};
}

void tsl_record_command(struct tsl_command *c)
{
    if (!tsl_trace_on() || c->is_lead)
        return;
    struct tsl_op_record *r = record_new(c->graph);
    if (!r)
        return;
    snprintf(r->name, sizeof(r->name), "%s", c->kernel ? c->kernel->name : tsl_command_name(c->type));
    snprintf(r->lane, sizeof(r->lane), "queue %u", c->queue->id);
    r->kind = TSL_TRACE_QUEUE;
    r->category = TSL_TRACE_CAT_COMMAND;
    r->member = c->share.op ? c->share.op->port->name : "";
    r->error = c->status < 0 ? c->status : 0;
    r->command = c->id;
    r->queue = c->queue->id;
    r->times = (struct tsl_command_times){.queued = c->queued_ns, .submit = c->submit_ns, .end = tsl_clock_ns()};
    r->times.start = c->submit_ns;
}

const char *tsl_command_name(cl_command_type type)
{
    static const struct {
        cl_command_type type;
        const char *name;
    } names[] = {
        {CL_COMMAND_NDRANGE_KERNEL, "kernel"},
        {CL_COMMAND_TASK, "task"},
        {CL_COMMAND_NATIVE_KERNEL, "native kernel"},
        {CL_COMMAND_READ_BUFFER, "read"},
        {CL_COMMAND_WRITE_BUFFER, "write"},
        {CL_COMMAND_COPY_BUFFER, "copy"},
        {CL_COMMAND_READ_BUFFER_RECT, "read rect"},
        {CL_COMMAND_WRITE_BUFFER_RECT, "write rect"},
        {CL_COMMAND_COPY_BUFFER_RECT, "copy rect"},
        {CL_COMMAND_FILL_BUFFER, "fill"},
        {CL_COMMAND_MAP_BUFFER, "map"},
        {CL_COMMAND_READ_IMAGE, "read image"},
        {CL_COMMAND_WRITE_IMAGE, "write image"},
        {CL_COMMAND_COPY_IMAGE, "copy image"},
        {CL_COMMAND_COPY_IMAGE_TO_BUFFER, "copy image to buffer"},
        {CL_COMMAND_COPY_BUFFER_TO_IMAGE, "copy buffer to image"},
        {CL_COMMAND_FILL_IMAGE, "fill image"},
        {CL_COMMAND_MAP_IMAGE, "map image"},
        {CL_COMMAND_UNMAP_MEM_OBJECT, "unmap"},
        {CL_COMMAND_MIGRATE_MEM_OBJECTS, "migrate"},
        {CL_COMMAND_SVM_FREE, "free shared memory"},
        {CL_COMMAND_SVM_MEMCPY, "copy shared memory"},
        {CL_COMMAND_SVM_MEMFILL, "fill shared memory"},
        {CL_COMMAND_SVM_MAP, "map shared memory"},
        {CL_COMMAND_SVM_UNMAP, "unmap shared memory"},
        {CL_COMMAND_SVM_MIGRATE_MEM, "migrate shared memory"},
        {CL_COMMAND_MARKER, "marker"},
        {CL_COMMAND_BARRIER, "barrier"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].type == type)
            return names[i].name;
    return "command";
}

#define MAX_ARGS 20

/* What is told of the record. error: room for its number as text. */
static void list_args(const struct tsl_op_record *r, char error[16], struct tsl_trace_arg args[MAX_ARGS])
{
    unsigned n = 0;
    args[n++] = tsl_trace_u64("command", r->command);
    args[n++] = tsl_trace_text("member", r->member);
    args[n++] = tsl_trace_u64("bytes", r->bytes);
    args[n++] = tsl_trace_text("from", r->from);
    args[n++] = tsl_trace_text("to", r->to);
    args[n++] = tsl_trace_u64("buffer", r->buffer);
    args[n++] = tsl_trace_u64("offset", r->offset);
    args[n++] = tsl_trace_u64("queue", r->queue);
    if (r->rung)
        args[n++] = tsl_trace_text("rung", r->rung);
    if (r->items) {
        args[n++] = tsl_trace_u64("items", r->items);
        args[n++] = tsl_trace_u64("of", r->of);
        args[n++] = tsl_trace_u64("share", r->share);
        args[n++] = tsl_trace_u64("shares", r->shares);
    }
    if (r->chained)
        args[n++] = tsl_trace_u64("chained", r->chained);
    if (r->again)
        args[n++] = tsl_trace_u64("again", 1);
    if (r->why)
        args[n++] = tsl_trace_text("why", r->why);
    if (r->variant[0])
        args[n++] = tsl_trace_text("variant", r->variant);
    if (r->expected_ns)
        args[n++] = tsl_trace_u64("expected_ns", r->expected_ns);
    snprintf(error, 16, "%d", r->error);
    if (r->error)
        args[n++] = tsl_trace_text("error", error);
    args[n] = (struct tsl_trace_arg){.key = NULL};
}

static void write_record(struct tsl_op_record *r)
{
    struct tsl_trace_arg args[MAX_ARGS];
    char error[16];
    struct tsl_times device = {r->times.start, r->times.end}, first;
    if (r->fence && r->fence->driver->fence_times(r->fence, &device) != CL_SUCCESS && !device.start_ns)
        device.start_ns = r->times.submit;
    if (r->first && r->first->driver->fence_times(r->first, &first) == CL_SUCCESS && first.start_ns < device.start_ns)
        device.start_ns = first.start_ns;
    if (!device.start_ns) /* Nobody tells when it began. */
        device.start_ns = r->times.submit;
    tsl_command_times_fit(&r->times, device.start_ns, device.end_ns);
    list_args(r, error, args);
    tsl_trace_span(&(struct tsl_trace_span){.lane = tsl_trace_lane(r->lane, r->kind),
                                            .category = r->category,
                                            .name = r->name,
                                            .start_ns = r->times.start,
                                            .end_ns = r->times.end,
                                            .id = r->trace_id,
                                            .args = args});
}

/* Turns the list, in which the newest record is first. */
static struct tsl_op_record *oldest_first(struct tsl_op_record *records)
{
    struct tsl_op_record *turned = NULL;
    while (records) {
        struct tsl_op_record *r = records;
        records = r->next;
        r->next = turned;
        turned = r;
    }
    return turned;
}

void tsl_record_write(struct tsl_op_record *records)
{
    records = oldest_first(records);
    while (records) {
        struct tsl_op_record *r = records;
        records = r->next;
        write_record(r);
        tsl_fence_unref(r->fence);
        tsl_fence_unref(r->first);
        free(r);
    }
}
