/* Launches and host tasks: which bytes, and the calls that enqueue them. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static const struct sim_handle hidden = {NULL, SIM_HIDDEN, 0, 64, NULL};

bool sim_kernels_may_write(const struct sim *sim, const struct sim_handle *handle)
{
    return !handle->mem || !(sim->buffers[handle->area].flags & CL_MEM_READ_ONLY);
}

static bool plan_add(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    struct sim_handle to, from;

    *dst = node->kind == SIM_HIDE ? hidden : sim_random_handle(sim);
    *src = node->kind == SIM_SHOW ? hidden : sim_random_handle(sim);
    to = sim_linear_part(sim, dst);
    from = sim_linear_part(sim, src);
    node->dst = sim_some_of(sim, &to, from.size, true);
    node->src = sim_range(src->area, from.offset + sim_pick(sim, (unsigned)(from.size - node->dst.size + 1)),
                          node->dst.size, false);
    /* Host tasks take buffers alone (OpenCL 3.0, 5.10). */
    return node->kind == SIM_NATIVE ? !dst->shape && !src->shape : sim_kernels_may_write(sim, dst);
}

static bool plan_one(struct sim *sim, struct sim_node *node, struct sim_handle *dst)
{
    struct sim_handle part;

    *dst = sim_random_handle(sim);
    part = sim_linear_part(sim, dst);
    node->dst = node->kind == SIM_SET ? sim_whole(dst, true) : sim_some_of(sim, &part, part.size, true);
    return sim_kernels_may_write(sim, dst) && !(node->kind == SIM_SET && sim_is_padded(dst));
}

/* Rows of some bytes, up to so many, with a little between them. False: they found no room. */
static bool some_rows(struct sim *sim, const struct sim_handle *handle, unsigned most, struct sim_access *rows)
{
    *rows = sim_range(handle->area, 0, 1 + sim_pick(sim, 8), true);
    rows->n_rows = 2 + sim_pick(sim, most - 1);
    rows->pitch = rows->size + 1 + sim_pick(sim, 16);
    if (sim_hull(rows) > handle->size)
        return false;
    rows->offset = handle->offset + sim_pick(sim, (unsigned)(handle->size - sim_hull(rows) + 1));
    return true;
}

/* Kernels with footprints take buffers alone, and their items no other's bytes. */
static bool plan_partial(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    *dst = sim_random_handle(sim);
    if (dst->shape || !sim_kernels_may_write(sim, dst))
        return false;
    if (node->kind == SIM_SOME || node->kind == SIM_COLUMN || node->kind == SIM_STRIPES)
        return some_rows(sim, dst, node->kind == SIM_SOME ? 8 : 40, &node->dst);
    node->dst = sim_some_of(sim, dst, dst->size, true);
    if (node->kind == SIM_SLICE || node->kind == SIM_GUARDED) {
        *src = sim_random_handle(sim);
        node->idle = (int)src->area;
    }
    if (node->kind == SIM_UPDATE)
        node->src = sim_range(dst->area, node->dst.offset, node->dst.size, false);
    return !src->shape;
}

static bool plan_scatter(struct sim *sim, struct sim_node *node, struct sim_handle *dst)
{
    *dst = sim_random_handle(sim);
    if (dst->shape || !sim_kernels_may_write(sim, dst))
        return false;
    node->dst = sim_some_of(sim, dst, dst->size, true);
    if (node->kind == SIM_SCATTER)
        return true;
    node->dst.size -= (4 - node->dst.offset % 4) % 4 < node->dst.size ? (4 - node->dst.offset % 4) % 4 : node->dst.size;
    node->dst.offset += (4 - node->dst.offset % 4) % 4;
    node->dst.size &= ~(size_t)3;
    node->src = sim_range(dst->area, node->dst.offset, node->dst.size, false);
    return node->dst.size > 0;
}

static bool is_box(enum sim_kind kind)
{
    return kind == SIM_BOX || kind == SIM_TURNED || kind == SIM_BRICK;
}

static bool plan_shift(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    bool in_place = !is_box(node->kind) && sim_once_in(sim, 2);

    *dst = sim_random_handle(sim);
    *src = in_place ? *dst : sim_random_handle(sim);
    if (dst->shape || src->shape || !sim_kernels_may_write(sim, dst))
        return false;
    node->dst = sim_some_of(sim, dst, src->size, true);
    node->src = sim_range(src->area, src->offset + sim_pick(sim, (unsigned)(src->size - node->dst.size + 1)),
                          node->dst.size, false);
    if (in_place) {
        node->src.offset = node->dst.offset;
        return true;
    }
    if (is_box(node->kind))
        sim_make_box(sim, node, dst, src);
    return !sim_accesses_meet(&node->dst, &node->src);
}

static bool plan_stencil(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    size_t halo = 1 + sim_pick(sim, 3);

    *dst = sim_random_handle(sim);
    *src = sim_random_handle(sim);
    if (dst->shape || src->shape || !sim_kernels_may_write(sim, dst) || src->size <= 2 * halo)
        return false;
    node->dst = sim_some_of(sim, dst, src->size - 2 * halo, true);
    node->src = sim_range(src->area, 0, node->dst.size + 2 * halo, false);
    node->src.offset = src->offset + sim_pick(sim, (unsigned)(src->size - node->src.size + 1));
    return !sim_accesses_meet(&node->dst, &node->src);
}

/* What a relaxation of these pairs reads: the first bytes of their neighbours. */
static struct sim_access neighbours(const struct sim_access *pairs, bool forward)
{
    return sim_range(pairs->area, forward ? pairs->offset + 2 : pairs->offset - 2, pairs->size - 1, false);
}

static bool plan_smear(struct sim *sim, struct sim_node *node, struct sim_handle *dst)
{
    *dst = sim_random_handle(sim);
    if (dst->shape || !sim_kernels_may_write(sim, dst) || dst->size < 2)
        return false;
    node->dst = sim_some_of(sim, dst, dst->size, true);
    return node->dst.size > 1;
}

static bool plan_relax(struct sim *sim, struct sim_node *node, struct sim_handle *dst)
{
    bool forward = sim_once_in(sim, 2);
    struct sim_handle pairs;

    *dst = sim_random_handle(sim);
    if (dst->shape || !sim_kernels_may_write(sim, dst) || dst->size < 4)
        return false;
    pairs = *dst;
    pairs.offset += forward ? 0 : 2;
    pairs.size -= forward ? 1 : 2;
    node->dst = sim_some_of(sim, &pairs, pairs.size, true);
    node->dst.size &= ~(size_t)1;
    node->src = neighbours(&node->dst, forward);
    return node->dst.size > 0;
}

/* With TESELA_CHECK=split each launch has one answer. */
static bool may_race(void)
{
    const char *check = getenv("TESELA_CHECK");

    return !check || !strstr(check, "split");
}

bool sim_plan_kernel(struct sim *sim, struct sim_node *node, struct sim_handle *dst, struct sim_handle *src)
{
    switch (node->kind) {
    case SIM_ADD:
    case SIM_MIX:
    case SIM_PRINT:
    case SIM_HIDE:
    case SIM_SHOW:
    case SIM_NATIVE:
        return plan_add(sim, node, dst, src);
    case SIM_PART:
    case SIM_SET:
        return plan_one(sim, node, dst);
    case SIM_SLICE:
    case SIM_GUARDED:
    case SIM_SOME:
    case SIM_COLUMN:
    case SIM_STRIPES:
    case SIM_UPDATE:
        return plan_partial(sim, node, dst, src);
    case SIM_SHIFT:
    case SIM_GATHER:
    case SIM_BOX:
    case SIM_TURNED:
    case SIM_BRICK:
        return plan_shift(sim, node, dst, src);
    case SIM_STENCIL:
        return plan_stencil(sim, node, dst, src);
    case SIM_RELAX:
        return may_race() && plan_relax(sim, node, dst);
    case SIM_SMEAR:
        return plan_smear(sim, node, dst);
    case SIM_SCATTER:
    case SIM_XOR:
        return plan_scatter(sim, node, dst);
    default:
        return false;
    }
}

/* ---- After another launch ---- */

/* Launches of a row differ in the part that they touch, too. */
static bool moves_in_row(enum sim_kind kind)
{
    return kind == SIM_SLICE || kind == SIM_GUARDED || kind == SIM_UPDATE;
}

void sim_plan_alike(struct sim *sim, struct sim_node *node, const struct sim_node *first, const struct sim_handle *dst)
{
    node->dst = first->dst;
    node->src = first->src;
    node->idle = first->idle;
    if (node->kind != SIM_SET)
        node->dst.size = 1 + sim_pick(sim, (unsigned)first->dst.size);
    if (node->kind == SIM_XOR)
        node->dst.size = (node->dst.size + 3) & ~(size_t)3;
    if (moves_in_row(node->kind))
        node->dst.offset = dst->offset + sim_pick(sim, (unsigned)(dst->size - node->dst.size + 1));
    if (node->src.size)
        node->src.size = node->dst.size;
    if (node->kind == SIM_UPDATE)
        node->src.offset = node->dst.offset;
    if (node->kind == SIM_STENCIL)
        node->src.size += 2 * sim_halo(first);
    if (node->kind == SIM_SMEAR && node->dst.size == 1)
        node->dst.size = first->dst.size;
    if (node->kind == SIM_RELAX) {
        node->dst.size = (node->dst.size + 1) & ~(size_t)1;
        node->src = neighbours(&node->dst, first->src.offset > first->dst.offset);
    }
}

/* A stencil that goes back: it reads what the one before wrote, and a little beside, as far as there is room. */
bool sim_plan_back(struct sim_node *node, const struct sim_node *before, const struct sim_handle *from)
{
    size_t halo = sim_halo(before), size = before->src.size;

    if (before->dst.offset + size > from->offset + from->size)
        size = before->dst.size;
    if (size <= 2 * halo)
        return false;
    node->src = sim_range(before->dst.area, before->dst.offset, size, false);
    node->dst = sim_range(before->src.area, before->src.offset, size - 2 * halo, true);
    return !sim_accesses_meet(&node->dst, &node->src);
}

/* ---- The calls ---- */

/* How a launch is cut into work-items. */
struct range {
    cl_uint n_dimensions;
    size_t offset[3], global[3], local[3];
};

static struct range boxes_range(const struct sim_node *node)
{
    const struct sim_access *access = &node->dst;

    if (node->kind == SIM_BRICK)
        return (struct range){3, {0}, {access->n_rows, access->n_slices, access->size}, {4, 1, 1}};
    if (node->kind == SIM_TURNED)
        return (struct range){2, {0}, {access->n_slices, access->n_rows, 1}, {1, 1, 1}};
    return (struct range){2, {0}, {access->n_rows, access->n_slices, 1}, {4, 1, 1}};
}

static struct range range_of(struct sim *sim, const struct sim_node *node, const struct sim_argument *argument)
{
    const struct sim_access *access = &node->dst;
    struct range range = {1, {0}, {16, 1, 1}, {4, 1, 1}};
    size_t room = argument->dst < argument->src || !node->src.size ? argument->dst : argument->src;

    if (node->kind < SIM_SLICE)
        return range;
    if (is_box(node->kind)) {
        range = boxes_range(node);
    } else if (node->kind == SIM_RELAX) {
        range.global[0] = access->size / 2;
    } else if (node->kind == SIM_SMEAR) {
        range.global[0] = access->size - 1;
    } else if (node->kind == SIM_XOR) {
        range.global[0] = access->size / 4;
    } else if (node->kind == SIM_STRIPES || node->kind == SIM_SCATTER) {
        range.global[0] = access->size;
    } else if (node->kind == SIM_COLUMN) {
        range.global[0] = access->n_rows;
    } else if (node->kind == SIM_SOME) {
        range.global[0] = sim_hull(access);
    } else if (node->kind == SIM_GUARDED) {
        range.global[0] = (access->size + 3) / 4 * 4 + 4 * sim_pick(sim, 3);
    } else {
        range.global[0] = access->size;
        range.offset[0] = sim_once_in(sim, 4) ? sim_pick(sim, (unsigned)room + 1) : 0;
    }
    while (range.global[0] % range.local[0])
        range.local[0] /= 2;
    return range;
}

static struct sim_argument argument_of(struct sim *sim, const struct sim_node *node, const struct sim_handle *dst,
                                       const struct sim_handle *src)
{
    bool reads_itself = node->kind == SIM_UPDATE || node->kind == SIM_RELAX || node->kind == SIM_XOR;
    struct sim_argument value;

    memset(&value, 0, sizeof value);
    value.dst = (cl_uint)(node->dst.offset - dst->offset);
    value.src = (cl_uint)(node->src.offset - (reads_itself ? dst : src)->offset);
    value.size = (cl_uint)node->dst.size;
    value.n_rows = (cl_uint)node->dst.n_rows;
    value.pitch = (cl_uint)node->dst.pitch;
    value.slice_pitch = (cl_uint)node->dst.slice_pitch;
    value.src_pitch = (cl_uint)(node->kind == SIM_STENCIL ? sim_halo(node) : node->src.pitch);
    value.src_slice_pitch = (cl_uint)node->src.slice_pitch;
    value.value = node->value;
    value.node = (cl_ushort)sim_index(sim, node);
    value.sim = (cl_ulong)(uintptr_t)sim;
    return value;
}

static cl_int enqueue_kernel(struct sim *sim, struct sim_node *node, cl_kernel kernel, const struct sim_handle *dst,
                             const struct sim_handle *src, const struct sim_call *c)
{
    struct sim_argument value = argument_of(sim, node, dst, src);
    const struct range range = range_of(sim, node, &value);
    const cl_mem mems[] = {dst->mem ? dst->mem : src->mem, src->mem};
    const unsigned n = dst->mem && src->mem ? 2 : 1;
    /* Without a size members may make one group of all. */
    const bool sized = sim->options.split ? !sim_once_in(sim, 8) : sim_once_in(sim, 2);
    cl_int error = CL_SUCCESS;

    value.dst -= (cl_uint)range.offset[0];
    value.src -= node->src.size ? (cl_uint)range.offset[0] : 0;
    for (unsigned i = 0; i < n && !error; i++)
        error = sim->cl->clSetKernelArg(kernel, i, sizeof(cl_mem), &mems[i]);
    if (!error)
        error = sim->cl->clSetKernelArg(kernel, n, sizeof value, &value);
    if (error)
        return error;
    return sim->cl->clEnqueueNDRangeKernel(c->queue, kernel, range.n_dimensions, range.offset, range.global,
                                           sized ? range.local : NULL, c->n, c->list, c->event);
}

/* Some kernels serve for many launches, others for one. */
cl_int sim_launch(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src,
                  const struct sim_call *c)
{
    cl_kernel *kept = &sim->kernels[node->kind], kernel = *kept;
    bool new = !kernel || (!node->in_row && sim_once_in(sim, 2));
    cl_int error = CL_SUCCESS;

    if (new)
        kernel = sim->cl->clCreateKernel(sim->program, sim_names[node->kind], &error);
    if (!error)
        error = enqueue_kernel(sim, node, kernel, dst, src, c);
    if (!*kept)
        *kept = kernel;
    else if (new &&kernel)
        sim->cl->clReleaseKernel(kernel);
    return error;
}

struct native_args {
    void *dst, *src;
    size_t to, from, size;
    unsigned char value;
    struct sim_node *node;
};

static void CL_CALLBACK native_body(void *arg)
{
    const struct native_args *a = arg;

    a->node->ran = true;
    sim_add_bytes((unsigned char *)a->dst + a->to, (unsigned char *)a->src + a->from, a->size, a->value);
}

cl_int sim_native(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src,
                  const struct sim_call *c)
{
    struct native_args args = {
        NULL, NULL, node->dst.offset - dst->offset, node->src.offset - src->offset, node->dst.size, node->value, node};
    const void *slots[] = {&args.dst, &args.src};
    cl_mem mems[] = {dst->mem, src->mem};

    return sim->cl->clEnqueueNativeKernel(c->queue, native_body, &args, sizeof args, 2, mems, slots, c->n, c->list,
                                          c->event);
}
