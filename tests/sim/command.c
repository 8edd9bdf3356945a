/* Commands: which bytes, and the calls that enqueue them. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRIES 12 /* for a command that fits */

const char *const sim_names[] = {"add",     "blend",   "set",    "part",    "print",   "hide",    "show",    "slice",
                                 "guarded", "some",    "column", "update",  "shift",   "gather",  "box",     "turned",
                                 "brick",   "stencil", "relax",  "stripes", "smear",   "scatter", "xor",     "write",
                                 "read",    "copy",    "fill",   "native",  "migrate", "marker",  "barrier", "map",
                                 "unmap",   "user",    "poke",   "peek"};

const struct sim_handle sim_arena = {NULL, SIM_ARENA, 0, SIM_ARENA_SIZE, NULL};

struct sim_node *sim_new_node(struct sim *sim, enum sim_kind kind, int queue)
{
    struct sim_node *node = &sim->nodes[sim->n_nodes];

    *node = (struct sim_node){.kind = kind,
                              .step = sim->step,
                              .queue = queue,
                              .base = sim->known,
                              .idle = -1,
                              .map = -1,
                              .seen_status = CL_QUEUED};
    if (queue >= 0) {
        node->of = sim->queues[queue];
        node->profiled = sim->profiles[queue];
    }
    return node;
}

int sim_some_node(struct sim *sim)
{
    unsigned step = sim_pick(sim, sim->step + 1);
    int found = -1;

    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].step <= step)
            found = (int)i;
    return found;
}

/* ---- Ranges ---- */

struct sim_access sim_range(unsigned area, size_t offset, size_t size, bool write)
{
    return (struct sim_access){
        .area = area, .offset = offset, .size = size, .n_rows = 1, .n_slices = 1, .write = write};
}

struct sim_access sim_some_of(struct sim *sim, const struct sim_handle *handle, size_t at_most, bool write)
{
    size_t most = handle->size < at_most ? handle->size : at_most;
    size_t size = sim_once_in(sim, 4) ? most : 1 + sim_pick(sim, (unsigned)most);
    size_t offset = handle->offset + sim_pick(sim, (unsigned)(handle->size - size + 1));

    return sim_range(handle->area, offset, size, write);
}

struct sim_access sim_whole(const struct sim_handle *handle, bool write)
{
    return sim_range(handle->area, handle->offset, handle->size, write);
}

/* All programs have at least one buffer that lives. */
struct sim_handle sim_random_handle(struct sim *sim)
{
    unsigned i = sim_pick(sim, sim->n_buffers);
    const struct sim_buffer *b;
    unsigned sub;

    while (!sim->buffers[i].alive)
        i = (i + 1) % sim->n_buffers;
    b = &sim->buffers[i];
    sub = sim_pick(sim, SIM_MAX_SUBS + 2);
    if (sub < b->n_subs)
        return (struct sim_handle){b->subs[sub], i, b->sub_offsets[sub], b->sub_sizes[sub],
                                   b->sub_shapes[sub].pixel ? &b->sub_shapes[sub] : NULL};
    return (struct sim_handle){b->root, i, 0, b->size, b->shape.pixel ? &b->shape : NULL};
}

/* ---- What a call is given ---- */

/* Where calls and work may fail, most commands have an event that tells. The core treats launches without one as one,
 * where it can; whether one of these failed the machine knows. */
static bool may_be_silent(const struct sim *sim, const struct sim_node *node)
{
    return sim->options.repeats && sim->world->notes_runs && node->kind < SIM_N_KERNELS;
}

static void fill_call(struct sim *sim, struct sim_call *call, struct sim_node *node)
{
    bool mostly = node->in_row ? sim_once_in(sim, 8) : !sim_once_in(sim, 5);
    bool wants_event = node->needs_event || mostly;

    if (sim_may_fail(sim)) {
        node->silent = may_be_silent(sim, node) && !node->needs_event && !(node->in_row ? mostly : sim_once_in(sim, 2));
        wants_event = !node->silent;
    }
    *call = (struct sim_call){.queue = sim->queues[node->queue], .event = wants_event ? &node->event : NULL};
    for (unsigned i = 0; i < node->n_waits; i++)
        call->waits[call->n++] = sim->nodes[node->waits[i]].event;
    call->list = call->n ? call->waits : NULL;
}

/* ---- Stories ---- */

static void tell_access(char *text, size_t room, const char *before, const struct sim_access *access)
{
    char letter = access->area == SIM_ARENA ? 'h' : access->area == SIM_HIDDEN ? '?' : (char)('A' + access->area);

    if (!access->size)
        *text = 0;
    else if (sim_n_rows(access) > 1)
        snprintf(text, room, " %s %c[%zu+%zux%zu/%zux%zu/%zu]", before, letter, access->offset, access->size,
                 access->n_rows, access->pitch, access->n_slices, access->slice_pitch);
    else
        snprintf(text, room, " %s %c[%zu+%zu]", before, letter, access->offset, access->size);
}

void sim_tell_node(struct sim *sim, const struct sim_node *node, const char *more)
{
    char dst[96], src[96], preds[96] = "";

    tell_access(dst, sizeof dst, "to", &node->dst);
    tell_access(src, sizeof src, "from", &node->src);
    for (unsigned i = 0; i < node->n_waits; i++)
        snprintf(preds + strlen(preds), sizeof preds - strlen(preds), " %u", node->waits[i]);
    sim_tell(sim, "%u: queue %d %s%s%s%s value %u%s%s%s", sim_index(sim, node), node->queue, sim_names[node->kind], dst,
             src, node->blocking ? " blocking" : "", node->value, node->n_waits ? " waits for" : "", preds, more);
}

/* ---- Transfers ---- */

/* Turns two linear accesses of one size into two boxes of the same shape, where they have room for it. */
void sim_make_box(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src)
{
    bool many =
        node->kind == SIM_TURNED || node->kind == SIM_BRICK; /* Rows and slices, so that there are groups to cut. */
    size_t width = 1 + sim_pick(sim, 12), rows = 1 + sim_pick(sim, many ? 8 : 4),
           slices = 1 + sim_pick(sim, many ? 6 : 3);
    size_t pitches[2] = {width + sim_pick(sim, 9), width + sim_pick(sim, 9)}, slice_pitches[2];
    const struct sim_handle *handles[2] = {dst, src};
    struct sim_access boxes[2];

    slice_pitches[0] = pitches[0] * (rows + sim_pick(sim, 2));
    slice_pitches[1] = pitches[1] * (rows + sim_pick(sim, 2));
    if (dst->area == src->area) { /* Within one buffer both sides must have one shape (OpenCL 3.0, 5.2.4). */
        pitches[1] = pitches[0];
        slice_pitches[1] = slice_pitches[0];
    }
    for (unsigned i = 0; i < 2; i++) {
        struct sim_access box = {.area = handles[i]->area,
                                 .size = width,
                                 .n_rows = rows,
                                 .pitch = pitches[i],
                                 .n_slices = slices,
                                 .slice_pitch = slice_pitches[i],
                                 .write = i == 0};

        if (rows * slices == 1 || sim_hull(&box) > handles[i]->size)
            return;
        box.offset = handles[i]->offset + sim_pick(sim, (unsigned)(handles[i]->size - sim_hull(&box) + 1));
        boxes[i] = box;
    }
    node->dst = boxes[0];
    node->src = boxes[1];
}

/* Write, read and copy: bytes go from one handle to another. */
static bool plan_transfer(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    *dst = node->kind == SIM_READ ? sim_arena : sim_random_handle(sim);
    *src = node->kind == SIM_WRITE ? sim_arena : sim_random_handle(sim);
    if (dst->shape || src->shape) {
        node->blocking = node->kind != SIM_COPY && sim_once_in(sim, 5);
        return sim_image_plan(sim, node, dst, src) && !sim_accesses_meet(&node->dst, &node->src);
    }
    node->dst = sim_some_of(sim, dst, src->size, true);
    node->src = sim_range(src->area, src->offset + sim_pick(sim, (unsigned)(src->size - node->dst.size + 1)),
                          node->dst.size, false);
    if (sim_once_in(sim, 3))
        sim_make_box(sim, node, dst, src);
    node->blocking = node->kind != SIM_COPY && sim_once_in(sim, 5);
    return !sim_accesses_meet(&node->dst, &node->src);
}

/* One side of a box, as the calls name it: offset bytes from the handle's beginning, in one of two ways. */
struct side {
    size_t origin[3], row_pitch, slice_pitch;
};

static struct side side_of(struct sim *sim, const struct sim_access *access, const struct sim_handle *handle)
{
    struct side side = {.row_pitch = access->pitch, .slice_pitch = access->slice_pitch};
    size_t offset = access->offset - handle->offset;

    if (sim_once_in(sim, 2)) {
        side.origin[0] = offset;
        return side;
    }
    side.origin[2] = offset / side.slice_pitch;
    side.origin[1] = offset % side.slice_pitch / side.row_pitch;
    side.origin[0] = offset % side.row_pitch;
    return side;
}

static cl_int transfer_box(struct sim *sim, struct sim_node *node, const struct sim_handle *dst,
                           const struct sim_handle *src, const struct sim_call *c)
{
    struct side to = side_of(sim, &node->dst, dst), from = side_of(sim, &node->src, src);
    size_t region[3] = {node->dst.size, node->dst.n_rows, node->dst.n_slices};

    if (node->kind == SIM_WRITE)
        return sim->cl->clEnqueueWriteBufferRect(c->queue, dst->mem, node->blocking, to.origin, from.origin, region,
                                                 to.row_pitch, to.slice_pitch, from.row_pitch, from.slice_pitch,
                                                 sim->arena, c->n, c->list, c->event);
    if (node->kind == SIM_READ)
        return sim->cl->clEnqueueReadBufferRect(c->queue, src->mem, node->blocking, from.origin, to.origin, region,
                                                from.row_pitch, from.slice_pitch, to.row_pitch, to.slice_pitch,
                                                sim->arena, c->n, c->list, c->event);
    return sim->cl->clEnqueueCopyBufferRect(c->queue, src->mem, dst->mem, from.origin, to.origin, region,
                                            from.row_pitch, from.slice_pitch, to.row_pitch, to.slice_pitch, c->n,
                                            c->list, c->event);
}

static cl_int transfer(struct sim *sim, struct sim_node *node, const struct sim_handle *dst,
                       const struct sim_handle *src, const struct sim_call *c)
{
    size_t to = node->dst.offset - dst->offset, from = node->src.offset - src->offset, size = node->dst.size;

    if (dst->shape || src->shape)
        return sim_image_transfer(sim, node, dst, src, c);
    if (sim_n_rows(&node->dst) > 1)
        return transfer_box(sim, node, dst, src, c);
    if (node->kind == SIM_WRITE)
        return sim->cl->clEnqueueWriteBuffer(c->queue, dst->mem, node->blocking, to, size, sim->arena + from, c->n,
                                             c->list, c->event);
    if (node->kind == SIM_READ)
        return sim->cl->clEnqueueReadBuffer(c->queue, src->mem, node->blocking, from, size, sim->arena + to, c->n,
                                            c->list, c->event);
    return sim->cl->clEnqueueCopyBuffer(c->queue, src->mem, dst->mem, from, to, size, c->n, c->list, c->event);
}

static bool plan_fill(struct sim *sim, struct sim_node *node, struct sim_handle *dst)
{
    size_t pattern = (size_t)1 << sim_pick(sim, 6);

    *dst = sim_random_handle(sim);
    if (dst->shape) {
        node->pattern_size = (unsigned char)dst->shape->pixel;
        node->dst = sim_image_box(sim, dst, true);
        return true;
    }
    if (dst->size < pattern)
        return false;
    node->pattern_size = (unsigned char)pattern;
    node->dst = sim_some_of(sim, dst, dst->size, true);
    node->dst.offset -= (node->dst.offset - dst->offset) % pattern;
    node->dst.size = (node->dst.size + pattern - 1) / pattern * pattern;
    return node->dst.offset + node->dst.size <= dst->offset + dst->size;
}

static cl_int fill(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_call *c)
{
    unsigned char pattern[128];

    if (dst->shape)
        return sim_image_fill(sim, node, dst, c);
    for (unsigned i = 0; i < node->pattern_size; i++)
        pattern[i] = (unsigned char)(node->value + i);
    return sim->cl->clEnqueueFillBuffer(c->queue, dst->mem, pattern, node->pattern_size, node->dst.offset - dst->offset,
                                        node->dst.size, c->n, c->list, c->event);
}

/* ---- Maps and migrations ---- */

static void plan_map(struct sim *sim, struct sim_node *node, struct sim_handle *handle)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    struct sim_access access;

    *handle = sim_random_handle(sim);
    node->map_flags = flags[sim_pick(sim, 4)];
    node->blocking = sim_once_in(sim, 2);
    access = handle->shape ? sim_image_box(sim, handle, node->map_flags != CL_MAP_READ)
                           : sim_some_of(sim, handle, handle->size, node->map_flags != CL_MAP_READ);
    *(access.write ? &node->dst : &node->src) = access;
}

/* Memory that is the application's is mapped where it is (OpenCL 3.0, 5.2.1). */
static void check_pointer(struct sim *sim, const struct sim_node *node, const struct sim_access *access)
{
    const unsigned char *should = sim->host_ptrs[access->area] + access->offset;

    if (sim->buffers[access->area].flags & CL_MEM_USE_HOST_PTR && node->ptr != should)
        sim_fail(sim, "node %u: CL_MEM_USE_HOST_PTR is mapped %td bytes beside its place", sim_index(sim, node),
                 node->ptr - should);
}

static cl_int map(struct sim *sim, struct sim_node *node, const struct sim_handle *handle, const struct sim_call *c)
{
    const struct sim_access *access = node->dst.size ? &node->dst : &node->src;
    cl_int error;

    node->mem = handle->mem;
    node->mapped = true;
    node->ptr = handle->shape ? sim_image_map(sim, node, handle, c, &error)
                              : sim->cl->clEnqueueMapBuffer(c->queue, handle->mem, node->blocking, node->map_flags,
                                                            access->offset - handle->offset, access->size, c->n,
                                                            c->list, c->event, &error);
    node->mapped = !error;
    if (!error)
        check_pointer(sim, node, access);
    return error;
}

static void plan_migrate(struct sim *sim, struct sim_node *node, struct sim_handle *handle)
{
    *handle = sim_random_handle(sim);
    node->undefined = sim_once_in(sim, 8);
    *(node->undefined ? &node->dst : &node->src) = sim_whole(handle, node->undefined);
}

/* What couldn't be unmapped still is mapped, and is unmapped then. */
static cl_int unmap(struct sim *sim, const struct sim_node *node, const struct sim_handle *dst,
                    const struct sim_call *c)
{
    void *ptr = sim->nodes[node->map].ptr;
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    for (unsigned i = 0; i < 10 && error == CL_OUT_OF_HOST_MEMORY && !node->event; i++)
        error = sim->cl->clEnqueueUnmapMemObject(c->queue, dst->mem, ptr, c->n, c->list, c->event);
    return error;
}

static cl_int migrate(struct sim *sim, struct sim_node *node, const struct sim_handle *handle, const struct sim_call *c)
{
    cl_mem_migration_flags flags = sim_once_in(sim, 2) || node->in_row ? CL_MIGRATE_MEM_OBJECT_HOST : 0;

    if (node->undefined)
        flags |= CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    return sim->cl->clEnqueueMigrateMemObjects(c->queue, 1, &handle->mem, flags, c->n, c->list, c->event);
}

/* ---- Any ---- */

/* Ranges for a command of that kind; false: try again. */
static bool plan(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    if (node->kind < SIM_N_KERNELS || node->kind == SIM_NATIVE)
        return sim_plan_kernel(sim, node, dst, src);
    switch (node->kind) {
    case SIM_WRITE:
    case SIM_READ:
    case SIM_COPY:
        return plan_transfer(sim, node, dst, src);
    case SIM_FILL:
        return plan_fill(sim, node, dst);
    case SIM_MAP:
        plan_map(sim, node, dst);
        return true;
    case SIM_MIGRATE:
        plan_migrate(sim, node, dst);
        return true;
    default:
        return true;
    }
}

static cl_int enqueue(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    struct sim_call c;

    fill_call(sim, &c, node);
    switch (node->kind) {
    case SIM_WRITE:
    case SIM_READ:
    case SIM_COPY:
        return transfer(sim, node, dst, src, &c);
    case SIM_FILL:
        return fill(sim, node, dst, &c);
    case SIM_NATIVE:
        return sim_native(sim, node, dst, src, &c);
    case SIM_MAP:
        return map(sim, node, dst, &c);
    case SIM_UNMAP:
        return unmap(sim, node, dst, &c);
    case SIM_MIGRATE:
        return migrate(sim, node, dst, &c);
    case SIM_MARKER:
        return sim->cl->clEnqueueMarkerWithWaitList(c.queue, c.n, c.list, c.event);
    case SIM_BARRIER:
        return sim->cl->clEnqueueBarrierWithWaitList(c.queue, c.n, c.list, c.event);
    default:
        return sim_launch(sim, node, dst, src, &c);
    }
}

/* What its queue puts before it, and a wait list by chance. */
static void add_preds(struct sim *sim, struct sim_node *node)
{
    int last = sim->last_of_queue[node->queue];
    bool for_all = node->kind == SIM_MARKER || node->kind == SIM_BARRIER;

    if (last >= 0)
        node->preds[node->n_preds++] = (uint16_t)last;
    while (node->n_waits < 3 && sim_once_in(sim, 4)) {
        int i = sim_some_node(sim);

        if (i >= 0 && sim->nodes[i].event)
            sim_order_wait(node, (unsigned)i);
    }
    for (unsigned i = 0; for_all && !node->n_waits && i < sim->n_nodes; i++)
        if (sim_set_has(&sim->all_of_queue[node->queue], i))
            node->preds[node->n_preds++] = (uint16_t)i;
}

/* Bytes of host memory as they are now. */
static unsigned char *look(const unsigned char *base, const struct sim_access *access)
{
    unsigned char *seen = malloc(access->size * sim_n_rows(access) + 1);

    if (!seen)
        abort();
    for (size_t row = 0; row < sim_n_rows(access); row++)
        memcpy(seen + row * access->size, base + sim_row(access, row), access->size);
    return seen;
}

/* The node takes its place in its queue, and is enqueued. While a call blocks, others may enqueue, too. */
static void commit(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    unsigned own = sim_index(sim, node);
    int queue = node->queue, last = sim->last_of_queue[queue];
    cl_int error;

    sim_tell_node(sim, node, "");
    sim->n_nodes++;
    sim_set_add(&sim->all_of_queue[queue], own);
    if (sim->in_order[queue] || node->kind == SIM_BARRIER)
        sim->last_of_queue[queue] = (int)own;
    sim_order_settle(sim);
    if (node->blocking && node->kind == SIM_READ)
        sim->reading = node;
    error = enqueue(sim, node, dst, src);
    node->refused = error && !node->event;
    if (node->refused) { /* There is no such command: it keeps nobody. */
        node->n_preds = node->n_waits = 0;
        if (sim->last_of_queue[queue] == (int)own)
            sim->last_of_queue[queue] = last;
        sim_order_settle(sim);
    }
    if (error)
        sim_tell(sim, "%u %s: %d", own, node->refused ? "is refused" : "fails", error);
    sim_note_status(sim, node, error);
    if (node->blocking && node->kind == SIM_READ && !error)
        node->seen = look(sim->arena, &node->dst);
    if (sim->reading == node)
        sim->reading = NULL;
    if (node->blocking && (error || sim->in_order[queue]))
        sim_hear(sim, (unsigned)queue, own, error);
    if (node->blocking && !node->refused)
        sim_learn(sim, own);
}

static void fail_in_row(struct sim *sim, unsigned first)
{
    if (sim->options.failures && sim->world->n_failing < 8)
        sim_world_inject_launch(sim, first, -1000 - (cl_int)++sim->world->n_failing);
}

struct sim_node *sim_bring_home(struct sim *sim, unsigned buffer, unsigned queue)
{
    struct sim_buffer *b = &sim->buffers[buffer];
    struct sim_handle from = {b->root, buffer, 0, b->size, b->shape.pixel ? &b->shape : NULL}, none = {0};
    struct sim_node *node = sim_new_node(sim, SIM_MIGRATE, (int)queue);

    node->in_row = true; /* To the host, and with its bytes. */
    node->base = sim->known;
    node->src = sim_whole(&from, false);
    if (sim->last_of_queue[queue] >= 0)
        node->preds[node->n_preds++] = (uint16_t)sim->last_of_queue[queue];
    if (!sim_order_fits(sim, node, false))
        return NULL;
    commit(sim, node, &from, &none);
    return node;
}

/* The object's bytes are brought to the host before a row, and all is over: then there is something that the row's
 * first launch could go back to, should another fail. */
static void prepare_row(struct sim *sim, unsigned like, const struct sim_set *base, const struct sim_handle *dst)
{
    unsigned queue = (unsigned)sim->nodes[like].queue;
    struct sim_node *node = sim_new_node(sim, SIM_MIGRATE, (int)queue);
    struct sim_handle to = *dst, from = {0};

    node->in_row = true;
    node->base = *base;
    node->src = sim_whole(dst, false);
    if (sim->last_of_queue[queue] >= 0)
        node->preds[node->n_preds++] = (uint16_t)sim->last_of_queue[queue];
    if (!dst->mem || !sim_order_fits(sim, node, false))
        return;
    commit(sim, node, &to, &from);
    sim_finish_queue(sim, queue);
    fail_in_row(sim, 2);
}

/* More launches like that one, for these the core may treat as one: the same kernel on the same objects in the same
 * queue, with other values and sizes; now and then on other objects. */
static void add_row(struct sim *sim, unsigned like, const struct sim_set *base, const struct sim_handle *dst,
                    const struct sim_handle *src)
{
    for (unsigned more = 2 + sim_pick(sim, 6); more > 0 && sim->n_nodes < SIM_MAX_NODES - 48; more--) {
        const struct sim_node *first = &sim->nodes[like];
        struct sim_node *node = sim_new_node(sim, first->kind, first->queue);
        struct sim_handle to = *dst, from = *src;
        int last = sim->last_of_queue[node->queue];

        node->in_row = true;
        node->base = *base;
        node->value = (unsigned char)sim_random(sim);
        if (sim_once_in(sim, 4)) {
            if (!plan(sim, node, &to, &from))
                continue;
        } else {
            sim_plan_alike(sim, node, first, dst);
        }
        if (last >= 0)
            node->preds[node->n_preds++] = (uint16_t)last;
        if (!sim_order_fits(sim, node, false))
            return;
        if (sim_once_in(sim, 8))
            fail_in_row(sim, 1);
        commit(sim, node, &to, &from);
    }
}

/* Iterations: stencils go to and fro between two ranges, relaxations stay in their place. What other members wrote is
 * read each time. */
static void add_sweep(struct sim *sim, unsigned like, const struct sim_set *base, const struct sim_handle *dst,
                      const struct sim_handle *src)
{
    bool back = sim->nodes[like].kind == SIM_STENCIL;
    struct sim_handle to = *dst, from = *src, last_to;

    for (unsigned more = 1 + sim_pick(sim, 6); more > 0 && sim->n_nodes < SIM_MAX_NODES - 48; more--) {
        const struct sim_node *before = &sim->nodes[like];
        struct sim_node *node = sim_new_node(sim, before->kind, before->queue);
        int last = sim->last_of_queue[node->queue];

        node->base = *base;
        node->value = (unsigned char)sim_random(sim);
        node->dst = before->dst;
        node->src = before->src;
        last_to = to;
        to = back ? from : to;
        from = back ? last_to : from;
        if (!sim_kernels_may_write(sim, &to) || (back && !sim_plan_back(node, before, &from)))
            return;
        if (last >= 0)
            node->preds[node->n_preds++] = (uint16_t)last;
        if (!sim_order_fits(sim, node, true))
            return;
        like = sim_index(sim, node);
        commit(sim, node, &to, &from);
    }
}

static bool updates(const struct sim_node *node)
{
    return node->kind >= SIM_SLICE && node->kind < SIM_N_KERNELS && sim_in_place(node);
}

/* Of several updates in place one fails at times: then the others must find what was there before. */
static bool has_row(struct sim *sim, const struct sim_node *node)
{
    bool can = node->kind < SIM_N_KERNELS && node->kind != SIM_HIDE && node->kind != SIM_SHOW;
    bool likes = sim->options.repeats || (sim->options.failures && updates(node));

    return likes && can && (updates(node) || sim_once_in(sim, 2));
}

void sim_command(struct sim *sim, enum sim_kind kind, const struct sim_set *base, bool may_block)
{
    bool fence = kind == SIM_MARKER || kind == SIM_BARRIER;

    for (unsigned tries = 0; tries < MAX_TRIES; tries++) {
        struct sim_node *node = sim_new_node(sim, kind, (int)sim_pick(sim, sim->n_queues));
        struct sim_handle dst = {0}, src = {0};

        node->base = *base;
        node->value = (unsigned char)sim_random(sim);
        if (!plan(sim, node, &dst, &src))
            continue;
        node->blocking &= may_block;
        if (sim->reading && sim_accesses_meet(&sim->reading->dst, &node->dst))
            continue;
        add_preds(sim, node);
        if (!sim_order_fits(sim, node, !fence) || (node->blocking && sim_order_blocked(sim, node)))
            continue;
        if (updates(node) && sim_once_in(sim, 2))
            fail_in_row(sim, 1);
        commit(sim, node, &dst, &src);
        if ((kind == SIM_STENCIL || kind == SIM_RELAX) && !node->refused && sim_once_in(sim, 2)) {
            add_sweep(sim, sim_index(sim, node), base, &dst, &src);
            return;
        }
        if (node->refused || !has_row(sim, node))
            return;
        if (may_block && sim->options.failures && sim_once_in(sim, 2))
            prepare_row(sim, sim_index(sim, node), base, &dst);
        add_row(sim, sim_index(sim, node), base, &dst, &src);
        return;
    }
}

/* What kernels do beside their arguments only shows where several follow each other closely. */
static unsigned n_in_a_row(struct sim *sim, enum sim_kind kind)
{
    return kind == SIM_PRINT || kind == SIM_HIDE || kind == SIM_SHOW ? 1 + sim_pick(sim, 4) : 1;
}

void sim_random_command(struct sim *sim, const struct sim_set *base, bool may_block)
{
    static const enum sim_kind common[] = {
        SIM_WRITE, SIM_READ,    SIM_COPY,    SIM_FILL,   SIM_ADD,     SIM_ADD,   SIM_MIX,  SIM_SET,  SIM_ADD,
        SIM_MIX,   SIM_MAP,     SIM_MARKER,  SIM_WRITE,  SIM_NATIVE,  SIM_READ,  SIM_COPY, SIM_PART, SIM_PART,
        SIM_SET,   SIM_BARRIER, SIM_MIGRATE, SIM_NATIVE, SIM_BARRIER, SIM_PRINT, SIM_HIDE, SIM_SHOW};
    static const enum sim_kind partial[] = {SIM_SLICE,  SIM_GUARDED, SIM_GUARDED, SIM_SOME,  SIM_SOME,
                                            SIM_COLUMN, SIM_UPDATE,  SIM_UPDATE,  SIM_SHIFT, SIM_SHIFT,
                                            SIM_GATHER, SIM_BOX,     SIM_BOX};
    static const enum sim_kind cut[] = {
        SIM_SLICE,  SIM_SLICE,   SIM_GUARDED, SIM_GUARDED, SIM_SOME,    SIM_COLUMN,  SIM_UPDATE,  SIM_UPDATE, SIM_SHIFT,
        SIM_GATHER, SIM_BOX,     SIM_TURNED,  SIM_BRICK,   SIM_STENCIL, SIM_STENCIL, SIM_STENCIL, SIM_RELAX,  SIM_RELAX,
        SIM_SMEAR,  SIM_STRIPES, SIM_STRIPES, SIM_SCATTER, SIM_SCATTER, SIM_XOR,     SIM_XOR};
    unsigned n = sizeof common / sizeof common[0];
    bool cuts = sim->options.split != SIM_SPLIT_OFF;
    bool part = sim->options.footprints && sim_pick(sim, 5) < (cuts ? 3 : 2);
    enum sim_kind kind;

    if (part)
        kind = cuts ? cut[sim_pick(sim, sizeof cut / sizeof *cut)]
                    : partial[sim_pick(sim, sizeof partial / sizeof *partial)];
    else
        kind = common[sim_pick(sim, sim->world->has_effects ? n : n - 3)];

    for (unsigned more = n_in_a_row(sim, kind); more > 0 && sim->n_nodes < SIM_MAX_NODES; more--) {
        sim_command(sim, kind, base, may_block);
        if (kind == SIM_HIDE || kind == SIM_SHOW)
            kind = SIM_HIDE + SIM_SHOW - kind;
    }
}

void sim_unmap(struct sim *sim, unsigned map)
{
    struct sim_node *node, *mapped = &sim->nodes[map];
    struct sim_handle handle = {.mem = mapped->mem}, none = {0};

    if (sim->n_nodes == SIM_MAX_NODES)
        return;
    node = sim_new_node(sim, SIM_UNMAP, (int)sim_pick(sim, sim->n_queues));
    node->map = (int)map;
    node->dst = mapped->dst;
    node->src = mapped->src;
    add_preds(sim, node);
    if (!sim_order_fits(sim, node, true)) {
        sim_fail(sim, "the simulation itself is wrong: the unmap of %u doesn't fit", map);
        return;
    }
    mapped->mapped = false;
    commit(sim, node, &handle, &none);
}

void sim_read_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_buffers && sim->n_nodes < SIM_MAX_NODES; i++) {
        const struct sim_shape *shape = sim->buffers[i].shape.pixel ? &sim->buffers[i].shape : NULL;
        struct sim_handle src = {sim->buffers[i].root, i, 0, sim->buffers[i].size, shape}, dst = sim_arena;
        struct sim_node *node;

        if (!sim->buffers[i].alive)
            continue;
        node = sim_new_node(sim, SIM_READ, (int)sim_pick(sim, sim->n_queues));
        node->dst = sim_range(SIM_ARENA, 0, src.size, true);
        node->src = sim_whole(&src, false);
        if (shape)
            sim_image_all(&src, node);
        node->blocking = true;
        add_preds(sim, node);
        commit(sim, node, &dst, &src);
    }
}
