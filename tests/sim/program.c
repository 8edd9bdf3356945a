/* The random program: each step is thought of, checked against the order of the specification, and done at once. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRIES 12 /* for a command that fits */

/* A buffer or its sub-buffer, as a command names it. */
struct handle {
    struct tsl_buffer *buffer;
    unsigned area;
    size_t offset, size; /* in the root */
};

static unsigned index_of(const struct sim *sim, const struct sim_node *node)
{
    return (unsigned)(node - sim->nodes);
}

static struct sim_node *new_node(struct sim *sim, enum sim_kind kind, int queue)
{
    struct sim_node *node = &sim->nodes[sim->n_nodes];

    *node = (struct sim_node){.kind = kind, .queue = queue, .base = sim->known, .map = -1};
    return node;
}

static struct handle random_handle(struct sim *sim)
{
    unsigned i = sim_pick(sim, sim->n_buffers);
    const struct sim_buffer *b = &sim->buffers[i];

    if (b->sub && sim_once_in(sim, 2))
        return (struct handle){b->sub, i, b->sub_offset, b->sub_size};
    return (struct handle){b->root, i, 0, b->size};
}

static struct sim_access access_of(unsigned area, size_t offset, size_t size, bool write)
{
    return (struct sim_access){
        .area = area, .offset = offset, .size = size, .n_rows = 1, .pitch = size, .write = write};
}

/* Some bytes of a range, often all of it. */
static struct sim_access some_of(struct sim *sim, const struct handle *handle, size_t at_most, bool write)
{
    size_t most = handle->size < at_most ? handle->size : at_most;
    size_t size = sim_once_in(sim, 4) ? most : 1 + sim_pick(sim, (unsigned)most);
    size_t offset = handle->offset + sim_pick(sim, (unsigned)(handle->size - size + 1));

    return access_of(handle->area, offset, size, write);
}

static const struct handle arena = {NULL, SIM_ARENA, 0, SIM_ARENA_SIZE};

/* ---- What a call is given ---- */

struct call {
    struct tsl_enqueue e;
    struct tsl_event *waits[8];
};

static void fill_call(struct sim *sim, struct call *call, struct sim_node *node, cl_command_type type)
{
    bool wants_event = node->needs_event || sim->options.failures || !sim_once_in(sim, 5);

    *call = (struct call){.e = {.queue = sim->queues[node->queue], .type = type, .blocking = node->blocking}};
    for (unsigned i = 0; i < node->n_waits; i++)
        call->waits[call->e.n_wait++] = sim->nodes[node->waits[i]].event;
    call->e.wait = call->waits;
    call->e.event = wants_event ? &node->event : NULL;
}

/* ---- Stories ---- */

static const char *const names[] = {"write",   "read",    "copy", "fill",   "add", "mix",   "set",
                                    "part",    "hide",    "show", "native", "map", "unmap", "marker",
                                    "barrier", "migrate", "user", "poke",   "peek"};

static void tell_access(char *text, size_t room, const char *before, const struct sim_access *access)
{
    static const char letters[SIM_N_AREAS] = {'A', 'B', 'C', 'D', 'h', '?'};

    if (!access->size)
        *text = 0;
    else if (access->n_rows > 1)
        snprintf(text, room, " %s %c[%zu+%zux%zu/%zu]", before, letters[access->area], access->offset, access->size,
                 access->n_rows, access->pitch);
    else
        snprintf(text, room, " %s %c[%zu+%zu]", before, letters[access->area], access->offset, access->size);
}

static void tell_node(struct sim *sim, const struct sim_node *node, const char *more)
{
    char dst[64], src[64], preds[96] = "";

    tell_access(dst, sizeof dst, "to", &node->dst);
    tell_access(src, sizeof src, "from", &node->src);
    for (unsigned i = 0; i < node->n_waits; i++)
        snprintf(preds + strlen(preds), sizeof preds - strlen(preds), " %u", node->waits[i]);
    sim_tell(sim, "%u: queue %d %s%s%s%s value %u%s%s%s%s", index_of(sim, node), node->queue, names[node->kind], dst,
             src, node->blocking ? " blocking" : "", node->value, node->n_waits ? " waits for" : "", preds, more,
             node->event ? "" : " (no event)");
}

/* ---- The host learns ---- */

static void learn(struct sim *sim, unsigned i)
{
    sim_order_settle(sim);
    sim_set_join(&sim->known, &sim->nodes[i].before);
    sim_set_add(&sim->known, i);
}

/* Whose wait list names a failed command fails (OpenCL 3.0, 5.11). */
static void check_waits(struct sim *sim, const struct sim_node *node)
{
    for (unsigned i = 0; i < node->n_waits; i++)
        if (sim->nodes[node->waits[i]].status < 0 && node->status == CL_COMPLETE && node->event)
            sim_fail(sim, "node %u succeeded, but node %u in its wait list failed", index_of(sim, node),
                     node->waits[i]);
}

/* A member says that it has more memory than it has: then room may be lacking with which everybody reckoned. */
static bool is_misled(const struct sim *sim)
{
    for (unsigned i = 0; i < sim->setup.n_members; i++)
        if (sim->setup.members[i].told_size)
            return true;
    return false;
}

/* What should make room on a full member may fail, and no command may be told but the one that needs the room. */
static bool may_lack_memory(const struct sim *sim, cl_int status)
{
    bool small = false;

    for (unsigned i = 0; i < sim->setup.n_members; i++)
        small |= sim->setup.members[i].memory_size > 0;
    return small && (sim->n_injected > 0 || is_misled(sim)) && status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static void note_status(struct sim *sim, struct sim_node *node, cl_int status)
{
    if (status < 0 && node->status != status)
        sim_tell(sim, "%u has failed: %d", index_of(sim, node), status);
    node->status = status < 0 ? status : CL_COMPLETE;
    if (status < 0 && status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && !may_lack_memory(sim, status) &&
        (status >= -1000 || status < -1000 - (cl_int)sim->n_injected))
        sim_fail(sim, "node %u failed with %d, which nobody ordered", index_of(sim, node), status);
    if (status < 0 && !sim->n_injected && !is_misled(sim))
        sim_fail(sim, "node %u failed with %d", index_of(sim, node), status);
}

/* Bytes of host memory as they are now. */
static unsigned char *look(const unsigned char *base, const struct sim_access *access)
{
    unsigned char *seen = malloc(access->size * access->n_rows + 1);

    for (size_t row = 0; row < access->n_rows; row++)
        memcpy(seen + row * access->size, base + row * access->pitch, access->size);
    return seen;
}

/* The node was enqueued: it takes its place in its queue. */
static void enqueued(struct sim *sim, struct sim_node *node, cl_int error)
{
    unsigned own = index_of(sim, node);
    int queue = node->queue;

    tell_node(sim, node, error ? " FAILS" : "");
    sim->n_nodes++;
    sim_set_add(&sim->all_of_queue[queue], own);
    if (sim->in_order[queue] || node->kind == SIM_BARRIER)
        sim->last_of_queue[queue] = (int)own;
    note_status(sim, node, error);
    if (node->blocking && node->kind == SIM_READ)
        node->seen = look(sim->arena + node->dst.offset, &node->dst);
    if (node->blocking)
        learn(sim, own);
    sim_order_settle(sim);
}

/* ---- Commands ---- */

static struct tsl_box_copy box_of(const struct sim_access *dst, size_t dst_base, const struct sim_access *src,
                                  size_t src_base)
{
    return (struct tsl_box_copy){
        .region = {dst->size, dst->n_rows, 1},
        .dst_offset = dst->offset - dst_base,
        .dst_row_pitch = dst->pitch,
        .dst_slice_pitch = dst->pitch * dst->n_rows,
        .src_offset = src->offset - src_base,
        .src_row_pitch = src->pitch,
        .src_slice_pitch = src->pitch * src->n_rows,
    };
}

/* Turns two linear accesses of one size into two boxes of the same rows, where they have room for it. */
static void make_rows(struct sim *sim, struct sim_node *node, const struct handle *dst, const struct handle *src)
{
    size_t width = 1 + sim_pick(sim, 12), rows = 2 + sim_pick(sim, 3);
    size_t dst_pitch = width + sim_pick(sim, 9), src_pitch = width + sim_pick(sim, 9);
    size_t dst_hull = (rows - 1) * dst_pitch + width, src_hull = (rows - 1) * src_pitch + width;

    if (dst_hull > dst->size || src_hull > src->size)
        return;
    node->dst = (struct sim_access){.area = dst->area,
                                    .offset = dst->offset + sim_pick(sim, (unsigned)(dst->size - dst_hull + 1)),
                                    .size = width,
                                    .n_rows = rows,
                                    .pitch = dst_pitch,
                                    .write = true};
    node->src = (struct sim_access){.area = src->area,
                                    .offset = src->offset + sim_pick(sim, (unsigned)(src->size - src_hull + 1)),
                                    .size = width,
                                    .n_rows = rows,
                                    .pitch = src_pitch};
}

static bool hulls_meet(const struct sim_access *a, const struct sim_access *b)
{
    size_t a_end = a->offset + (a->n_rows - 1) * a->pitch + a->size;
    size_t b_end = b->offset + (b->n_rows - 1) * b->pitch + b->size;

    return a->area == b->area && a->offset < b_end && b->offset < a_end;
}

/* Write, read and copy: bytes go from one handle to another. */
static bool plan_transfer(struct sim *sim, struct sim_node *node, struct handle *dst, struct handle *src)
{
    *dst = node->kind == SIM_READ ? arena : random_handle(sim);
    *src = node->kind == SIM_WRITE ? arena : random_handle(sim);
    node->dst = some_of(sim, dst, src->size, true);
    node->src = access_of(src->area, src->offset + sim_pick(sim, (unsigned)(src->size - node->dst.size + 1)),
                          node->dst.size, false);
    if (sim_once_in(sim, 5))
        make_rows(sim, node, dst, src);
    node->blocking = node->kind != SIM_COPY && sim_once_in(sim, 5);
    return !hulls_meet(&node->dst, &node->src);
}

static cl_int do_transfer(struct sim *sim, struct sim_node *node, const struct handle *dst, const struct handle *src)
{
    struct tsl_box_copy box = box_of(&node->dst, dst->offset, &node->src, src->offset);
    bool rows = node->dst.n_rows > 1;
    struct call call;

    if (node->kind == SIM_WRITE) {
        fill_call(sim, &call, node, rows ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER);
        return tsl_enqueue_write(&call.e, dst->buffer, sim->arena, &box);
    }
    if (node->kind == SIM_READ) {
        fill_call(sim, &call, node, rows ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_READ_BUFFER);
        return tsl_enqueue_read(&call.e, src->buffer, sim->arena, &box);
    }
    fill_call(sim, &call, node, rows ? CL_COMMAND_COPY_BUFFER_RECT : CL_COMMAND_COPY_BUFFER);
    return tsl_enqueue_copy(&call.e, src->buffer, dst->buffer, &box);
}

static bool plan_fill(struct sim *sim, struct sim_node *node, struct handle *dst)
{
    size_t pattern = (size_t)1 << sim_pick(sim, 5);

    *dst = random_handle(sim);
    if (dst->size < pattern)
        return false;
    node->pattern_size = (unsigned char)pattern;
    node->dst = some_of(sim, dst, dst->size, true);
    node->dst.offset -= (node->dst.offset - dst->offset) % pattern;
    node->dst.size = (node->dst.size + pattern - 1) / pattern * pattern;
    node->dst.pitch = node->dst.size;
    return node->dst.offset + node->dst.size <= dst->offset + dst->size;
}

static cl_int do_fill(struct sim *sim, struct sim_node *node, const struct handle *dst)
{
    unsigned char pattern[128];
    struct call call;

    for (unsigned i = 0; i < node->pattern_size; i++)
        pattern[i] = (unsigned char)(node->value + i);
    fill_call(sim, &call, node, CL_COMMAND_FILL_BUFFER);
    return tsl_enqueue_fill(&call.e, dst->buffer, pattern, node->pattern_size, node->dst.offset - dst->offset,
                            node->dst.size);
}

static const struct handle hidden = {NULL, SIM_HIDDEN, 0, 64};

static bool plan_add(struct sim *sim, struct sim_node *node, struct handle *dst, struct handle *src)
{
    *dst = node->kind == SIM_HIDE ? hidden : random_handle(sim);
    *src = node->kind == SIM_SHOW ? hidden : random_handle(sim);
    node->dst = some_of(sim, dst, src->size, true);
    node->src = access_of(src->area, src->offset + sim_pick(sim, (unsigned)(src->size - node->dst.size + 1)),
                          node->dst.size, false);
    return true;
}

/* A kernel's arguments say which memory it may write, not which bytes; a failed one leaves nothing sure of it. */
static void note_doubts(struct sim_node *node, const struct handle *dst, const struct handle *src)
{
    if (dst->buffer)
        node->may_dst = access_of(dst->area, dst->offset, dst->size, true);
    if (src->buffer && node->kind == SIM_MIX)
        node->may_src = access_of(src->area, src->offset, src->size, true);
}

static cl_int launch(struct sim *sim, struct sim_node *node, const char *name, unsigned n,
                     const struct tsl_buffer *const *buffers, const struct sim_argument *value)
{
    struct tsl_window window = {
        .work_dim = 1, .global_size = {16, 1, 1}, .local_size = {sim_once_in(sim, 2) ? 4 : 0}, .whole = true};
    struct tsl_kernel *kernel;
    struct call call;
    cl_int error = tsl_kernel_create(sim->program, name, &kernel);

    if (error)
        return error;
    if (window.local_size[0])
        window.local_size[1] = window.local_size[2] = 1;
    for (unsigned i = 0; i < n && !error; i++)
        error = tsl_kernel_set_arg(kernel, i, sizeof(cl_mem), &buffers[i]);
    if (!error)
        error = tsl_kernel_set_arg(kernel, n, sizeof *value, value);
    fill_call(sim, &call, node, CL_COMMAND_NDRANGE_KERNEL);
    if (!error)
        error = tsl_enqueue_kernel(&call.e, kernel, &window, kernel->eligible);
    tsl_object_release(&kernel->object);
    return error;
}

static struct sim_argument argument_of(struct sim *sim, const struct sim_node *node, size_t dst_base, size_t src_base)
{
    struct sim_argument value;

    memset(&value, 0, sizeof value);
    value.dst = (uint32_t)(node->dst.offset - dst_base);
    value.src = (uint32_t)(node->src.offset - src_base);
    value.size = (uint32_t)node->dst.size;
    value.value = node->value;
    value.node = (uint16_t)index_of(sim, node);
    value.sim = sim;
    return value;
}

static cl_int do_add(struct sim *sim, struct sim_node *node, const struct handle *dst, const struct handle *src)
{
    const struct tsl_buffer *const buffers[] = {dst->buffer, src->buffer};
    struct sim_argument value = argument_of(sim, node, dst->offset, src->offset);

    note_doubts(node, dst, src);
    if (node->may_dst.size)
        sim_tell(sim, "# may write %zu+%zu", node->may_dst.offset, node->may_dst.size);
    return launch(sim, node, node->kind == SIM_MIX ? "mix" : sim_once_in(sim, 5) ? "print" : "add", 2, buffers, &value);
}

/* Kernels with one buffer. */
static cl_int do_one(struct sim *sim, struct sim_node *node, const struct handle *dst, const struct handle *src)
{
    const struct tsl_buffer *const buffers[] = {dst->buffer ? dst->buffer : src->buffer};
    struct sim_argument value = argument_of(sim, node, dst->offset, src->offset);

    note_doubts(node, dst, src);
    if (node->may_dst.size)
        sim_tell(sim, "# may write %zu+%zu", node->may_dst.offset, node->may_dst.size);
    return launch(sim, node, names[node->kind], 1, buffers, &value);
}

struct native_args {
    void *bytes;
    size_t size;
    unsigned char value;
};

static void CL_CALLBACK native_body(void *arg)
{
    const struct native_args *args = arg;

    sim_add_bytes(args->bytes, args->bytes, args->size, args->value);
}

static cl_int do_native(struct sim *sim, struct sim_node *node, const struct handle *dst)
{
    struct native_args *args = malloc(sizeof *args);
    void **slot = &args->bytes;
    struct call call;

    *args = (struct native_args){.size = dst->size, .value = node->value};
    fill_call(sim, &call, node, CL_COMMAND_NATIVE_KERNEL);
    return tsl_enqueue_native(&call.e, native_body, args, 1, &dst->buffer, &slot);
}

static cl_int do_map(struct sim *sim, struct sim_node *node, const struct handle *handle)
{
    const struct sim_access *access = node->dst.size ? &node->dst : &node->src;
    struct call call;
    void *ptr = NULL;
    cl_int error;

    fill_call(sim, &call, node, CL_COMMAND_MAP_BUFFER);
    error =
        tsl_enqueue_map(&call.e, handle->buffer, node->map_flags, access->offset - handle->offset, access->size, &ptr);
    node->ptr = ptr;
    node->via_sub = handle->buffer->parent != NULL;
    node->mapped = !error;
    return error;
}

static void plan_map(struct sim *sim, struct sim_node *node, struct handle *handle)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    struct sim_access access;

    *handle = random_handle(sim);
    node->map_flags = flags[sim_pick(sim, 4)];
    node->blocking = sim_once_in(sim, 2);
    access = some_of(sim, handle, handle->size, node->map_flags != CL_MAP_READ);
    *(access.write ? &node->dst : &node->src) = access;
}

static cl_int do_migrate(struct sim *sim, struct sim_node *node, const struct handle *handle)
{
    struct call call;

    fill_call(sim, &call, node, CL_COMMAND_MIGRATE_MEM_OBJECTS);
    return tsl_enqueue_migrate(&call.e, 1, &handle->buffer, sim_once_in(sim, 2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0);
}

/* Ranges for a command of that kind; false: try again. */
static bool plan(struct sim *sim, struct sim_node *node, struct handle *dst, struct handle *src)
{
    switch (node->kind) {
    case SIM_WRITE:
    case SIM_READ:
    case SIM_COPY:
        return plan_transfer(sim, node, dst, src);
    case SIM_FILL:
        return plan_fill(sim, node, dst);
    case SIM_ADD:
    case SIM_MIX:
    case SIM_HIDE:
    case SIM_SHOW:
        return plan_add(sim, node, dst, src);
    case SIM_PART:
        *dst = random_handle(sim);
        node->dst = some_of(sim, dst, dst->size, true);
        return true;
    case SIM_SET:
        *dst = random_handle(sim);
        node->dst = access_of(dst->area, dst->offset, dst->size, true);
        return true;
    case SIM_NATIVE:
        *dst = random_handle(sim);
        node->dst = access_of(dst->area, dst->offset, dst->size, true);
        node->src = access_of(dst->area, dst->offset, dst->size, false);
        return true;
    case SIM_MAP:
        plan_map(sim, node, dst);
        return true;
    case SIM_MIGRATE:
        *dst = random_handle(sim);
        node->src = access_of(dst->area, dst->offset, dst->size, false);
        return true;
    default:
        return true;
    }
}

static cl_int enqueue(struct sim *sim, struct sim_node *node, struct handle *dst, struct handle *src)
{
    struct call call;

    switch (node->kind) {
    case SIM_WRITE:
    case SIM_READ:
    case SIM_COPY:
        return do_transfer(sim, node, dst, src);
    case SIM_FILL:
        return do_fill(sim, node, dst);
    case SIM_ADD:
    case SIM_MIX:
        return do_add(sim, node, dst, src);
    case SIM_SET:
    case SIM_PART:
    case SIM_HIDE:
    case SIM_SHOW:
        return do_one(sim, node, dst, src);
    case SIM_NATIVE:
        return do_native(sim, node, dst);
    case SIM_MAP:
        return do_map(sim, node, dst);
    case SIM_MIGRATE:
        return do_migrate(sim, node, dst);
    default:
        fill_call(sim, &call, node, node->kind == SIM_MARKER ? CL_COMMAND_MARKER : CL_COMMAND_BARRIER);
        return tsl_enqueue_marker(&call.e, node->kind == SIM_BARRIER);
    }
}

/* What its queue puts before it, and a wait list by chance. */
static void add_preds(struct sim *sim, struct sim_node *node)
{
    int last = sim->last_of_queue[node->queue];
    bool for_all = node->kind == SIM_MARKER || node->kind == SIM_BARRIER;

    if (last >= 0)
        node->preds[node->n_preds++] = (uint16_t)last;
    while (sim->n_nodes && node->n_waits < 3 && sim_once_in(sim, 4)) {
        unsigned i = sim_pick(sim, sim->n_nodes);

        if (sim->nodes[i].event)
            sim_order_wait(node, i);
    }
    for (unsigned i = 0; for_all && !node->n_waits && i < sim->n_nodes; i++)
        if (sim_set_has(&sim->all_of_queue[node->queue], i))
            node->preds[node->n_preds++] = (uint16_t)i;
}

static void command(struct sim *sim, enum sim_kind kind)
{
    for (unsigned tries = 0; tries < MAX_TRIES; tries++) {
        struct sim_node *node = new_node(sim, kind, (int)sim_pick(sim, sim->n_queues));
        struct handle dst = {0}, src = {0};
        bool fence = kind == SIM_MARKER || kind == SIM_BARRIER;

        node->value = (unsigned char)sim_random(sim);
        if (!plan(sim, node, &dst, &src))
            continue;
        add_preds(sim, node);
        if (!sim_order_fits(sim, node, !fence) || (node->blocking && sim_order_blocked(sim, node)))
            continue;
        enqueued(sim, node, enqueue(sim, node, &dst, &src));
        return;
    }
}

/* ---- What the host does ---- */

static void user_event(struct sim *sim)
{
    struct sim_node *node = new_node(sim, SIM_USER, -1);

    node->unset = true;
    node->base = (struct sim_set){{0}};
    if (tsl_event_create_user(sim->context, &node->event)) {
        sim_fail(sim, "no user event");
        return;
    }
    sim_tell(sim, "%u: user event", sim->n_nodes);
    sim->n_nodes++;
}

static void wait_for_node(struct sim *sim, unsigned i)
{
    struct sim_node *node = &sim->nodes[i];
    cl_int error, status;

    if (!node->event) {
        error = tsl_queue_finish(sim->queues[node->queue]);
        sim_tell(sim, "finish queue %d", node->queue);
    } else {
        error = tsl_events_wait(1, &node->event);
        status = tsl_event_status(node->event);
        sim_tell(sim, "wait for %u: %d", i, status);
        if (status > CL_COMPLETE || (status < 0) != (error < 0))
            sim_fail(sim, "node %u was waited for (%d), but its status is %d", i, error, status);
        note_status(sim, node, status);
    }
    if (error && !sim->options.failures)
        sim_fail(sim, "waiting for node %u gave %d", i, error);
    learn(sim, i);
}

/* The queue's commands, if nothing of it is behind a user event. */
static void finish_queue(struct sim *sim, unsigned queue)
{
    cl_int error;

    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim_set_has(&sim->all_of_queue[queue], i) && sim_order_blocked(sim, &sim->nodes[i]))
            return;
    sim_tell(sim, "finish queue %u", queue);
    error = tsl_queue_finish(sim->queues[queue]);
    if (error && !sim->options.failures)
        sim_fail(sim, "finish gave %d", error);
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim_set_has(&sim->all_of_queue[queue], i))
            learn(sim, i);
}

static void set_user_event(struct sim *sim, unsigned i)
{
    struct sim_node *node = &sim->nodes[i];

    for (unsigned k = 0; k < sim->n_nodes; k++)
        if (sim_set_has(&node->oblige, k) && !sim_set_has(&sim->known, k))
            wait_for_node(sim, k);
    if (sim->options.failures && sim_once_in(sim, 6))
        node->status = -1000 - (cl_int)++sim->n_injected;
    sim_tell(sim, "set %u: %d", i, node->status);
    node->unset = false;
    node->base = sim->known;
    sim_set_add(&sim->known, i);
    if (tsl_event_set_user(node->event, node->status))
        sim_fail(sim, "user event %u can't be set", i);
    sim_order_settle(sim);
}

static void set_some_user_event(struct sim *sim)
{
    unsigned first = sim->n_nodes ? sim_pick(sim, sim->n_nodes) : 0;

    for (unsigned k = 0; k < sim->n_nodes; k++) {
        unsigned i = (first + k) % sim->n_nodes;

        if (sim->nodes[i].unset) {
            set_user_event(sim, i);
            return;
        }
    }
}

static void wait_for_some(struct sim *sim)
{
    for (unsigned tries = 0; sim->n_nodes && tries < 4; tries++) {
        unsigned i = sim_pick(sim, sim->n_nodes);

        if (sim->nodes[i].queue >= 0 && sim->nodes[i].event && !sim_order_blocked(sim, &sim->nodes[i])) {
            wait_for_node(sim, i);
            return;
        }
    }
}

/* In an in-order queue nothing is reported complete before what was enqueued earlier. */
static void ask_status(struct sim *sim)
{
    unsigned later, earlier;
    cl_int status;

    if (sim->n_nodes < 2)
        return;
    later = 1 + sim_pick(sim, sim->n_nodes - 1);
    earlier = sim_pick(sim, later);
    if (!sim->nodes[later].event || !sim->nodes[earlier].event || sim->nodes[later].queue < 0)
        return;
    status = tsl_event_status(sim->nodes[later].event);
    sim_tell(sim, "status of %u: %d", later, status);
    if (status <= CL_COMPLETE && sim_set_has(&sim->nodes[later].before, earlier) &&
        tsl_event_status(sim->nodes[earlier].event) > CL_COMPLETE)
        sim_fail(sim, "node %u is complete, but node %u before it isn't", later, earlier);
    if (status <= CL_COMPLETE && sim_order_blocked(sim, &sim->nodes[later]))
        sim_fail(sim, "node %u is complete, but depends on a user event that isn't set", later);
    if (status <= CL_COMPLETE) {
        note_status(sim, &sim->nodes[later], status);
        learn(sim, later);
    }
}

/* A map that failed gave the application nothing. */
static void check_map(struct sim *sim, struct sim_node *node)
{
    if (node->event)
        note_status(sim, node, tsl_event_status(node->event));
    node->mapped = node->status == CL_COMPLETE;
}

/* A mapping that the host knows to be there; -1: none. */
static int some_mapping(struct sim *sim)
{
    for (unsigned tries = 0; sim->n_nodes && tries < 8; tries++) {
        unsigned i = sim_pick(sim, sim->n_nodes);

        if (sim->nodes[i].kind != SIM_MAP || !sim->nodes[i].mapped || !sim_set_has(&sim->known, i))
            continue;
        check_map(sim, &sim->nodes[i]);
        if (sim->nodes[i].mapped)
            return (int)i;
    }
    return -1;
}

static void touch_host(struct sim *sim, bool write)
{
    struct sim_node *node = new_node(sim, write ? SIM_POKE : SIM_PEEK, -1);
    struct handle range = arena;
    unsigned char *base = sim->arena;
    struct sim_access access;

    node->map = some_mapping(sim);
    if (node->map >= 0) {
        const struct sim_node *map = &sim->nodes[node->map];
        const struct sim_access *mapped = map->dst.size ? &map->dst : &map->src;

        if (write && !map->dst.size)
            return;
        range = (struct handle){NULL, mapped->area, mapped->offset, mapped->size};
        base = map->ptr - mapped->offset;
    }
    node->value = (unsigned char)sim_random(sim);
    access = some_of(sim, &range, range.size, write);
    *(write ? &node->dst : &node->src) = access;
    if (!sim_order_fits(sim, node, false))
        return;
    if (node->map < 0 || write) /* A move may write the bytes that are there already into memory mapped for reading. */
        tsl_fake_host_access(base + access.offset, access.size, write);
    if (write)
        sim_set_bytes(base + access.offset, access.size, node->value);
    else
        node->seen = look(base + access.offset, &access);
    tell_node(sim, node, node->map >= 0 ? " mapped" : "");
    sim_set_add(&sim->known, sim->n_nodes);
    sim->n_nodes++;
}

static void unmap(struct sim *sim, unsigned map)
{
    struct sim_node *node, *mapped = &sim->nodes[map];
    struct handle handle;
    struct call call;
    cl_int error;

    if (sim->n_nodes == SIM_MAX_NODES)
        return;
    node = new_node(sim, SIM_UNMAP, (int)sim_pick(sim, sim->n_queues));
    node->map = (int)map;
    node->dst = mapped->dst;
    node->src = mapped->src;
    add_preds(sim, node);
    if (!sim_order_fits(sim, node, true)) {
        sim_fail(sim, "the simulation itself is wrong: the unmap of %u doesn't fit", map);
        return;
    }
    handle.area = node->dst.size ? node->dst.area : node->src.area;
    handle.buffer = sim->buffers[handle.area].root;
    if (mapped->via_sub)
        handle.buffer = sim->buffers[handle.area].sub;
    fill_call(sim, &call, node, CL_COMMAND_UNMAP_MEM_OBJECT);
    error = tsl_enqueue_unmap(&call.e, handle.buffer, mapped->ptr);
    mapped->mapped = false;
    enqueued(sim, node, error);
}

static void unmap_some(struct sim *sim)
{
    int map = some_mapping(sim);

    if (map >= 0)
        unmap(sim, (unsigned)map);
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *arg)
{
    struct sim_node *node = arg;

    (void)event;
    node->told = status;
    node->n_called++;
}

static void ask_callback(struct sim *sim)
{
    unsigned i = sim->n_nodes ? sim_pick(sim, sim->n_nodes) : 0;
    struct sim_node *node = &sim->nodes[i];

    if (!sim->n_nodes || !node->event)
        return;
    sim_tell(sim, "callback of %u", i);
    node->n_callbacks++;
    if (tsl_event_callback(node->event, CL_COMPLETE, called, node))
        sim_fail(sim, "a callback was refused");
}

/* The command goes on without its event. */
static void forget_event(struct sim *sim)
{
    unsigned i = sim->n_nodes ? sim_pick(sim, sim->n_nodes) : 0;
    struct sim_node *node = &sim->nodes[i];

    if (!sim->n_nodes || !node->event || node->unset || node->needs_event || sim->options.failures)
        return;
    sim_tell(sim, "release event %u", i);
    tsl_object_release(&node->event->object);
    node->event = NULL;
}

static void flush_some(struct sim *sim)
{
    unsigned queue = sim_pick(sim, sim->n_queues);

    sim_tell(sim, "flush queue %u", queue);
    if (tsl_queue_flush(sim->queues[queue]) && !sim->options.failures)
        sim_fail(sim, "flush failed");
}

static void inject(struct sim *sim)
{
    static const enum tsl_fake_call calls[] = {TSL_FAKE_COPY, TSL_FAKE_FILL,  TSL_FAKE_LAUNCH,
                                               TSL_FAKE_MARK, TSL_FAKE_ALLOC, TSL_FAKE_NOTIFY,
                                               TSL_FAKE_GATE, TSL_FAKE_SUB,   TSL_FAKE_LANE};
    unsigned member = sim_pick(sim, sim->setup.n_members), i = sim_pick(sim, 9);
    bool work = i < 3 && sim_once_in(sim, 2);

    if (sim->n_injected >= 4)
        return;
    sim->n_injected++;
    sim_tell(sim, "# %s %u of member %u will fail", work ? "work" : "call", calls[i], member);
    if (work)
        tsl_fake_fail_work(member, calls[i], 1 + sim_pick(sim, 3), -1000 - (cl_int)sim->n_injected);
    else
        tsl_fake_fail_call(member, calls[i], 1 + sim_pick(sim, 3), -1000 - (cl_int)sim->n_injected);
}

/* ---- All of it ---- */

static void one_step(struct sim *sim)
{
    static const enum sim_kind common[] = {SIM_WRITE, SIM_READ,   SIM_COPY, SIM_FILL,    SIM_ADD,     SIM_ADD,
                                           SIM_MIX,   SIM_SET,    SIM_ADD,  SIM_MIX,     SIM_MAP,     SIM_MARKER,
                                           SIM_WRITE, SIM_NATIVE, SIM_READ, SIM_BARRIER, SIM_MIGRATE, SIM_PART,
                                           SIM_PART,  SIM_HIDE,   SIM_SHOW};

    switch (sim_pick(sim, 24)) {
    case 0:
        user_event(sim);
        break;
    case 1:
        set_some_user_event(sim);
        break;
    case 2:
        wait_for_some(sim);
        break;
    case 3:
        ask_status(sim);
        break;
    case 4:
    case 5:
        touch_host(sim, sim_pick(sim, 2));
        break;
    case 6:
        unmap_some(sim);
        break;
    case 7:
        if (sim_once_in(sim, 3))
            finish_queue(sim, sim_pick(sim, sim->n_queues));
        else
            flush_some(sim);
        break;
    case 8:
        if (sim->options.failures)
            inject(sim);
        else if (sim_once_in(sim, 2))
            forget_event(sim);
        else
            ask_callback(sim);
        break;
    default:
        command(sim, common[sim_pick(sim, sizeof common / sizeof common[0])]);
        break;
    }
}

static void set_and_unmap_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].unset)
            set_user_event(sim, i);
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        if (sim->nodes[i].kind != SIM_MAP || !sim->nodes[i].mapped)
            continue;
        if (!sim_set_has(&sim->known, i))
            wait_for_node(sim, i);
        check_map(sim, &sim->nodes[i]);
        if (sim->nodes[i].mapped)
            unmap(sim, i);
    }
}

/* Every byte of every buffer, through one queue that comes after all others. */
static void read_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_buffers && sim->n_nodes < SIM_MAX_NODES; i++) {
        struct sim_node *node = new_node(sim, SIM_READ, (int)sim_pick(sim, sim->n_queues));
        struct handle dst = arena, src = {sim->buffers[i].root, i, 0, sim->buffers[i].size};

        node->dst = access_of(SIM_ARENA, 0, src.size, true);
        node->src = access_of(i, 0, src.size, false);
        node->blocking = true;
        add_preds(sim, node);
        enqueued(sim, node, do_transfer(sim, node, &dst, &src));
    }
}

void sim_program_run(struct sim *sim)
{
    /* Room for the ends: unmaps and last reads. */
    for (unsigned i = 0; i < sim->options.n_steps && sim->n_nodes < SIM_MAX_NODES - 40 && !sim->failure; i++) {
        one_step(sim);
        sim_world_move(sim);
    }
    if (!sim->failure)
        set_and_unmap_all(sim);
    if (!sim->options.failures && sim_once_in(sim, 4)) {
        sim_tell(sim, "# everything is released while it runs");
        return;
    }
    for (unsigned i = 0; i < sim->n_queues && !sim->failure; i++)
        finish_queue(sim, i);
    for (unsigned i = 0; i < sim->n_nodes && !sim->failure; i++)
        if (sim->nodes[i].event && sim->nodes[i].queue >= 0)
            note_status(sim, &sim->nodes[i], tsl_event_status(sim->nodes[i].event));
    for (unsigned i = 0; i < sim->n_nodes; i++)
        check_waits(sim, &sim->nodes[i]);
    if (!sim->failure)
        read_all(sim);
}
