/* Images: their shapes, and the commands that only they have. Their bytes are the bytes of an area, laid out as
 * driver/image.h says; padding is in the area, but nothing names it. */
#include "sim.h"

#include <string.h>

/* One format for all images of a program, so that each may be copied to each. */
static const cl_image_format formats[] = {
    {CL_R, CL_UNSIGNED_INT8}, {CL_RG, CL_UNSIGNED_INT8}, {CL_RGBA, CL_UNSIGNED_INT8}};
#define N_FORMATS (sizeof formats / sizeof *formats)

static const cl_image_format *format_of(const struct sim *sim)
{
    return &formats[sim->options.seed % N_FORMATS];
}

static size_t pixel_of(const struct sim *sim)
{
    return (size_t)1 << sim->options.seed % N_FORMATS;
}

/* ---- Shapes ---- */

static bool has_slices(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

static struct sim_access box_of(const struct sim_handle *handle, const size_t origin[3], const size_t region[3],
                                bool write)
{
    const struct sim_shape *shape = handle->shape;

    return (struct sim_access){.area = handle->area,
                               .offset = handle->offset + origin[2] * shape->slice_pitch + origin[1] * shape->pitch +
                                         origin[0] * shape->pixel,
                               .size = region[0] * shape->pixel,
                               .n_rows = region[1],
                               .pitch = shape->pitch,
                               .n_slices = region[2],
                               .slice_pitch = shape->slice_pitch,
                               .write = write};
}

size_t sim_shape_span(const struct sim_shape *shape)
{
    return (shape->size[2] - 1) * shape->slice_pitch + (shape->size[1] - 1) * shape->pitch +
           shape->size[0] * shape->pixel;
}

static bool is_padded(const struct sim_shape *shape)
{
    return (shape->size[1] > 1 && shape->pitch != shape->size[0] * shape->pixel) ||
           (shape->size[2] > 1 && shape->slice_pitch != shape->size[0] * shape->pixel * shape->size[1]);
}

/* How many bytes that lie one after the other a kernel may name; from which offset in the area. */
struct sim_handle sim_linear_part(struct sim *sim, const struct sim_handle *handle)
{
    const struct sim_shape *shape = handle->shape;
    struct sim_handle part = *handle;

    if (!shape || !is_padded(shape))
        return part;
    part.offset += sim_pick(sim, (unsigned)shape->size[1]) * shape->pitch +
                   sim_pick(sim, (unsigned)shape->size[2]) * shape->slice_pitch;
    part.size = shape->size[0] * shape->pixel;
    return part;
}

bool sim_is_padded(const struct sim_handle *handle)
{
    return handle->shape && is_padded(handle->shape);
}

static struct sim_shape random_shape(struct sim *sim)
{
    static const cl_mem_object_type types[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE3D};
    struct sim_shape shape = {.type = types[sim_pick(sim, 5)], .pixel = pixel_of(sim)};

    shape.size[0] = 1 + sim_pick(sim, 12);
    shape.size[1] = shape.type == CL_MEM_OBJECT_IMAGE1D ? 1 : 1 + sim_pick(sim, 5);
    shape.size[2] = has_slices(shape.type) ? 1 + sim_pick(sim, 3) : 1;
    shape.pitch = shape.size[0] * shape.pixel;
    shape.slice_pitch = shape.pitch * shape.size[1];
    return shape;
}

/* The application's memory may have padding. */
static void pad(struct sim *sim, struct sim_shape *shape)
{
    shape->pitch += sim_pick(sim, 3) * shape->pixel;
    shape->slice_pitch = shape->pitch * (shape->size[1] + (has_slices(shape->type) ? sim_pick(sim, 2) : 0));
}

/* ---- Making ---- */

static cl_image_desc desc_of(const struct sim_shape *shape)
{
    bool layers = shape->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;

    return (cl_image_desc){
        .image_type = shape->type,
        .image_width = shape->size[0],
        .image_height = layers ? 0 : shape->size[1],
        .image_depth = shape->type == CL_MEM_OBJECT_IMAGE3D ? shape->size[2] : 0,
        .image_array_size = layers ? shape->size[1] : shape->size[2],
    };
}

cl_mem sim_image_create(struct sim *sim, struct sim_buffer *b, void *host_ptr, cl_int *error)
{
    struct sim_shape shape = random_shape(sim);
    cl_image_desc desc;

    while (sim_shape_span(&shape) > SIM_MAX_SIZE / 2) {
        shape.size[2] = 1;
        shape.size[1] = (shape.size[1] + 1) / 2;
        shape.slice_pitch = shape.pitch * shape.size[1];
    }
    if (b->flags & CL_MEM_USE_HOST_PTR)
        pad(sim, &shape);
    b->shape = shape;
    b->size = sim_shape_span(&shape);
    desc = desc_of(&shape);
    if (b->flags & CL_MEM_USE_HOST_PTR) {
        desc.image_row_pitch = shape.pitch;
        desc.image_slice_pitch = shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? shape.pitch
                                 : has_slices(shape.type)                  ? shape.slice_pitch
                                                                           : 0;
    }
    return sim->cl->clCreateImage(sim->context, b->flags, format_of(sim), &desc, host_ptr, error);
}

/* Of a buffer or sub-buffer of that size. */
cl_mem sim_image_create_of(struct sim *sim, cl_mem of, size_t size, struct sim_shape *shape, cl_int *error)
{
    bool plain = sim_once_in(sim, 2);
    cl_image_desc desc;

    *shape = (struct sim_shape){.type = plain ? CL_MEM_OBJECT_IMAGE1D_BUFFER : CL_MEM_OBJECT_IMAGE2D,
                                .pixel = pixel_of(sim),
                                .size = {1, 1, 1}};
    if (size < shape->pixel)
        return NULL;
    if (plain) {
        shape->size[0] = 1 + sim_pick(sim, (unsigned)(size / shape->pixel));
        shape->pitch = shape->slice_pitch = shape->size[0] * shape->pixel;
    } else {
        shape->pitch = 4 * shape->pixel * (1 + sim_pick(sim, 4)); /* as the members want it */
        if (shape->pitch > size)
            return NULL;
        shape->size[0] = 1 + sim_pick(sim, (unsigned)(shape->pitch / shape->pixel));
        shape->size[1] = 1 + sim_pick(sim, (unsigned)(size / shape->pitch));
        shape->slice_pitch = shape->pitch * shape->size[1];
    }
    desc = desc_of(shape);
    desc.image_row_pitch = plain ? 0 : shape->pitch;
    desc.image_array_size = 0;
    desc.mem_object = of;
    return sim->cl->clCreateImage(sim->context, 0, format_of(sim), &desc, NULL, error);
}

/* ---- Planning ---- */

/* The other side of a transfer: bytes in the same shape, tight in a buffer, with padding in the arena. */
static bool place_beside(struct sim *sim, const struct sim_handle *handle, const struct sim_access *like, bool tight,
                         bool rows_are_slices, struct sim_access *access)
{
    size_t hull;

    *access = *like;
    access->area = handle->area;
    access->pitch = like->size + (tight ? 0 : sim_pick(sim, 4));
    access->slice_pitch = access->pitch * (like->n_rows + (tight || rows_are_slices ? 0 : sim_pick(sim, 2)));
    access->write = !like->write;
    hull = sim_hull(access);
    if (hull > handle->size)
        return false;
    access->offset = handle->offset + sim_pick(sim, (unsigned)(handle->size - hull + 1));
    return true;
}

static void pick_region(struct sim *sim, const struct sim_shape *a, const struct sim_shape *b, size_t region[3])
{
    for (int d = 0; d < 3; d++) {
        size_t most = b && b->size[d] < a->size[d] ? b->size[d] : a->size[d];

        region[d] = sim_once_in(sim, 3) ? most : 1 + sim_pick(sim, (unsigned)most);
    }
}

static struct sim_access random_box(struct sim *sim, const struct sim_handle *handle, const size_t region[3],
                                    bool write)
{
    size_t origin[3];

    for (int d = 0; d < 3; d++)
        origin[d] = sim_pick(sim, (unsigned)(handle->shape->size[d] - region[d] + 1));
    return box_of(handle, origin, region, write);
}

struct sim_access sim_image_box(struct sim *sim, const struct sim_handle *handle, bool write)
{
    size_t region[3];

    pick_region(sim, handle->shape, NULL, region);
    return random_box(sim, handle, region, write);
}

bool sim_image_plan(struct sim *sim, struct sim_node *node, const struct sim_handle *dst, const struct sim_handle *src)
{
    const struct sim_handle *image = dst->shape ? dst : src, *other = dst->shape ? src : dst;
    struct sim_access *there = dst->shape ? &node->src : &node->dst, *here = dst->shape ? &node->dst : &node->src;
    bool rows_are_slices = image->shape->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t region[3];

    pick_region(sim, image->shape, other->shape, region);
    *here = random_box(sim, image, region, image == dst);
    if (!other->shape)
        return place_beside(sim, other, here, other->area != SIM_ARENA, rows_are_slices, there);
    *there = random_box(sim, other, region, other == dst);
    return true;
}

void sim_image_all(const struct sim_handle *src, struct sim_node *node)
{
    static const size_t zero[3];

    node->src = box_of(src, zero, src->shape->size, false);
    node->dst = node->src;
    node->dst.area = SIM_ARENA;
    node->dst.offset = 0;
    node->dst.pitch = node->dst.size;
    node->dst.slice_pitch = node->dst.pitch * node->dst.n_rows;
    node->dst.write = true;
}

/* ---- Calls ---- */

/* A box of an image, as the calls name it. */
struct part {
    size_t origin[3], region[3];
};

static struct part part_of(const struct sim_access *access, const struct sim_handle *handle)
{
    const struct sim_shape *shape = handle->shape;
    size_t offset = access->offset - handle->offset;
    struct part part = {.region = {access->size / shape->pixel, access->n_rows, access->n_slices}};

    part.origin[2] = shape->size[2] > 1 ? offset / shape->slice_pitch : 0;
    offset -= part.origin[2] * shape->slice_pitch;
    part.origin[1] = shape->size[1] > 1 ? offset / shape->pitch : 0;
    offset -= part.origin[1] * shape->pitch;
    part.origin[0] = offset / shape->pixel;
    return part;
}

/* Pitches of the application's memory: 0 where they are tight, now and then. */
static void host_pitches(struct sim *sim, const struct sim_shape *shape, const struct sim_access *host, size_t *row,
                         size_t *slice)
{
    bool tight = host->pitch == host->size && host->slice_pitch == host->pitch * host->n_rows;

    *row = *slice = 0;
    if (tight && sim_once_in(sim, 2))
        return;
    *row = host->pitch;
    if (shape->type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
        *slice = host->pitch;
    else if (has_slices(shape->type))
        *slice = host->slice_pitch;
}

static cl_int copy(struct sim *sim, const struct sim_node *node, const struct sim_handle *dst,
                   const struct sim_handle *src, const struct sim_call *c)
{
    struct part to = {.origin = {0}}, from = {.origin = {0}};

    if (dst->shape)
        to = part_of(&node->dst, dst);
    if (src->shape)
        from = part_of(&node->src, src);
    if (dst->shape && src->shape)
        return sim->cl->clEnqueueCopyImage(c->queue, src->mem, dst->mem, from.origin, to.origin, to.region, c->n,
                                           c->list, c->event);
    if (dst->shape)
        return sim->cl->clEnqueueCopyBufferToImage(c->queue, src->mem, dst->mem, node->src.offset - src->offset,
                                                   to.origin, to.region, c->n, c->list, c->event);
    return sim->cl->clEnqueueCopyImageToBuffer(c->queue, src->mem, dst->mem, from.origin, from.region,
                                               node->dst.offset - dst->offset, c->n, c->list, c->event);
}

cl_int sim_image_transfer(struct sim *sim, struct sim_node *node, const struct sim_handle *dst,
                          const struct sim_handle *src, const struct sim_call *c)
{
    const struct sim_handle *image = dst->shape ? dst : src;
    const struct sim_access *here = dst->shape ? &node->dst : &node->src, *host = dst->shape ? &node->src : &node->dst;
    struct part part = part_of(here, image);
    size_t row, slice;

    if (node->kind == SIM_COPY)
        return copy(sim, node, dst, src, c);
    host_pitches(sim, image->shape, host, &row, &slice);
    if (node->kind == SIM_WRITE)
        return sim->cl->clEnqueueWriteImage(c->queue, dst->mem, node->blocking, part.origin, part.region, row, slice,
                                            sim->arena + host->offset, c->n, c->list, c->event);
    return sim->cl->clEnqueueReadImage(c->queue, src->mem, node->blocking, part.origin, part.region, row, slice,
                                       sim->arena + host->offset, c->n, c->list, c->event);
}

/* The pattern of a program's pixels: value, value + 1 … */
cl_int sim_image_fill(struct sim *sim, const struct sim_node *node, const struct sim_handle *dst,
                      const struct sim_call *c)
{
    struct part part = part_of(&node->dst, dst);
    cl_uint color[4];

    for (unsigned i = 0; i < 4; i++)
        color[i] = (unsigned char)(node->value + i);
    return sim->cl->clEnqueueFillImage(c->queue, dst->mem, color, part.origin, part.region, c->n, c->list, c->event);
}

void *sim_image_map(struct sim *sim, struct sim_node *node, const struct sim_handle *handle, const struct sim_call *c,
                    cl_int *error)
{
    const struct sim_access *access = node->dst.size ? &node->dst : &node->src;
    const struct sim_shape *shape = handle->shape;
    struct part part = part_of(access, handle);
    size_t row = 0, slice = 0;
    void *ptr = sim->cl->clEnqueueMapImage(c->queue, handle->mem, node->blocking, node->map_flags, part.origin,
                                           part.region, &row, &slice, c->n, c->list, c->event, error);

    if (*error)
        return ptr;
    if (shape->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice != shape->pitch : row != shape->pitch && shape->size[1] > 1)
        sim_fail(sim, "node %u: the rows of a mapped image are %zu bytes apart, its slices %zu", sim_index(sim, node),
                 row, slice);
    if (has_slices(shape->type) && slice != shape->slice_pitch)
        sim_fail(sim, "node %u: the slices of a mapped image are %zu bytes apart", sim_index(sim, node), slice);
    return ptr;
}

/* ---- The end ---- */

/* What is no pixel of the application's memory is as it was. */
void sim_check_padding(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_buffers; i++) {
        const struct sim_buffer *b = &sim->buffers[i];
        const struct sim_handle all = {.area = i, .size = b->size, .shape = &b->shape};
        const size_t zero[3] = {0};
        unsigned char bytes[SIM_MAX_SIZE];
        struct sim_access box;

        if (!b->shape.pixel || !(b->flags & CL_MEM_USE_HOST_PTR))
            continue;
        sim_set_bytes(bytes, b->size, (unsigned char)i);
        box = box_of(&all, zero, b->shape.size, false);
        for (size_t row = 0; row < sim_n_rows(&box); row++)
            memcpy(bytes + sim_row(&box, row), sim->host_ptrs[i] + sim_row(&box, row), box.size);
        if (memcmp(bytes, sim->host_ptrs[i], b->size))
            sim_fail(sim, "image %c: the padding in the application's memory was written to", 'A' + (int)i);
    }
}
