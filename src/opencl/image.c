/* Images of the vendor's context. Their memory is the vendor's own, in a layout that only the vendor knows: the
 * canonical layout (driver/image.h) becomes origins and regions of pixels here. */
#include "opencl/image.h"
#include "opencl/gate.h"
#include "opencl/lane.h"
#include "opencl/member.h"
#include "opencl/memory.h"
#include "opencl/operations.h"
#include "opencl/submit.h"

#include "driver/box.h"

#include <stdlib.h>
#include <string.h>

bool tsl_opencl_has_images(const struct tsl_opencl_device *device)
{
    const struct tsl_opencl_cl *cl = &device->cl;

    return cl->clGetSupportedImageFormats && cl->clCreateImage && cl->clEnqueueReadImage && cl->clEnqueueWriteImage &&
           cl->clEnqueueCopyImage && cl->clEnqueueCopyImageToBuffer && cl->clEnqueueCopyBufferToImage;
}

/* ---- Formats ---------------------------------------------------------------------------------------------------- */

/* As the vendor lists them; the caller frees. */
static cl_int list_formats(const struct tsl_opencl_member *m, cl_mem_flags flags, cl_mem_object_type type, cl_uint *n,
                           cl_image_format **formats)
{
    cl_int error = m->cl->clGetSupportedImageFormats(m->context, flags, type, 0, NULL, n);

    if (error || *n == 0)
        return error;
    *formats = calloc(*n, sizeof(**formats));
    if (!*formats)
        return CL_OUT_OF_HOST_MEMORY;
    return m->cl->clGetSupportedImageFormats(m->context, flags, type, *n, *formats, NULL);
}

static bool is_usual(const cl_image_format *format)
{
    size_t size = tsl_image_element_size(format);

    return size && size <= 16 && (size & (size - 1)) == 0;
}

cl_int tsl_opencl_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);
    cl_image_format *all = NULL;
    cl_uint n_all = 0, n_usual = 0;
    cl_int error;

    tsl_opencl_enter(m->device);
    error = query->type == CL_MEM_OBJECT_IMAGE1D_BUFFER && m->no_views
                ? CL_SUCCESS
                : list_formats(m, query->flags, query->type, &n_all, &all);
    tsl_opencl_leave(m->device);
    for (cl_uint i = 0; !error && i < n_all; i++) {
        if (!is_usual(&all[i]))
            continue;
        if (query->formats && n_usual < query->n)
            query->formats[n_usual] = all[i];
        n_usual++;
    }
    free(all);
    if (!error && n_formats)
        *n_formats = n_usual;
    return error;
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static cl_int create(struct tsl_opencl_mem *m, cl_mem_flags flags, cl_mem of)
{
    struct tsl_opencl_member *v = tsl_opencl_member(m->base.member);
    const struct tsl_image_desc *from = &m->desc;
    const cl_image_desc desc = {
        .image_type = from->type,
        .image_width = from->width,
        .image_height = from->height,
        .image_depth = from->depth,
        .image_array_size = from->array_size,
        .image_row_pitch = of && from->type == CL_MEM_OBJECT_IMAGE2D ? from->row_pitch : 0,
        .mem_object = of,
    };
    cl_int error = CL_SUCCESS;

    tsl_opencl_collect(v);
    tsl_opencl_enter(v->device);
    m->buffer = v->cl->clCreateImage(v->context, flags, &from->format, &desc, NULL, &error);
    tsl_opencl_leave(v->device);
    if (m->buffer)
        return CL_SUCCESS;
    return error ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static cl_int make(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags,
                   struct tsl_opencl_mem *of, struct tsl_mem **mem)
{
    struct tsl_opencl_mem *m = tsl_opencl_new_mem(member, tsl_image_span(desc));
    cl_int error;

    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->is_image = true;
    m->desc = *desc;
    m->root = of ? of->root : m;
    error = create(m, flags, of ? of->buffer : NULL);
    if (error) {
        free(m);
        return tsl_opencl_error(tsl_opencl_member(member), error);
    }
    *mem = &m->base;
    return CL_SUCCESS;
}

#define KERNEL_ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

cl_int tsl_opencl_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags,
                              void *host, struct tsl_mem **mem)
{
    (void)host;
    if (tsl_image_span(desc) > member->caps.max_alloc_size)
        return CL_INVALID_IMAGE_SIZE;
    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    return make(member, desc, flags & KERNEL_ACCESS, NULL, mem);
}

cl_int tsl_opencl_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image)
{
    return make(mem->member, desc, 0, tsl_opencl_mem(mem), image);
}

#define TRIAL_SIZE 4096u

static bool try_view(struct tsl_opencl_member *m, cl_mem buffer)
{
    static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = TRIAL_SIZE / 32, .mem_object = buffer};
    cl_int error;
    cl_mem image = buffer ? m->cl->clCreateImage(m->context, 0, &format, &desc, NULL, &error) : NULL;

    if (image)
        m->cl->clReleaseMemObject(image);
    return image;
}

static void try_buffer(struct tsl_opencl_member *m, cl_mem buffer)
{
    const cl_buffer_region half = {0, TRIAL_SIZE / 2};
    cl_int error;
    cl_mem part = buffer && m->cl->clCreateSubBuffer
                      ? m->cl->clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &error)
                      : NULL;

    m->no_views = !try_view(m, buffer);
    m->base.caps.no_views_of_parts = !try_view(m, part);
    if (part)
        m->cl->clReleaseMemObject(part);
}

void tsl_opencl_try_views(struct tsl_opencl_member *m)
{
    cl_bool images = CL_FALSE;
    cl_int error;
    cl_mem buffer;
    void *host;

    m->no_views = true;
    if (!tsl_opencl_has_images(m->device) ||
        m->cl->clGetDeviceInfo(m->device->id, CL_DEVICE_IMAGE_SUPPORT, sizeof(images), &images, NULL) || !images)
        return;
    host = m->base.caps.zero_copy ? aligned_alloc(TRIAL_SIZE, TRIAL_SIZE) : NULL;
    buffer = m->cl->clCreateBuffer(m->context, CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0), TRIAL_SIZE, host,
                                   &error);
    try_buffer(m, buffer);
    if (buffer)
        m->cl->clReleaseMemObject(buffer);
    free(host);
}

/* ---- Copies ----------------------------------------------------------------------------------------------------- */

/* The image among the two sides; the destination if both are. */
static const struct tsl_image_desc *image_of(const struct tsl_place *place)
{
    struct tsl_opencl_mem *m = place->mem ? tsl_opencl_mem(place->mem) : NULL;

    return m && m->is_image ? &m->desc : NULL;
}

static cl_mem mem_of(const struct tsl_place *place)
{
    return tsl_opencl_mem(place->mem)->buffer;
}

/* Pitches of host memory as clEnqueueReadImage wants them: 0 where there is one row, one slice, or where the type has
 * no slices. The slices of a 1D array are its rows. */
struct pitches {
    size_t row, slice;
};

static struct pitches pitches_of(const struct tsl_image_desc *image, const struct tsl_place *host,
                                 const size_t region[3])
{
    bool rows_are_slices = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    struct pitches p = {region[1] > 1 ? host->row_pitch : 0, region[2] > 1 ? host->slice_pitch : 0};

    if (rows_are_slices)
        p.slice = p.row;
    else if (p.slice && !p.row)
        p.row = region[0];
    return p;
}

/* Nothing may be owed after an error, so what is under way has to end. */
static cl_int settle(const struct tsl_opencl_submit *s, cl_int error)
{
    if (error)
        tsl_opencl_lane_drain(s->lane);
    return error;
}

/* One of several commands that do the work of one. */
static struct tsl_opencl_step part_of(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step, bool first,
                                      bool last)
{
    struct tsl_opencl_step part = tsl_opencl_step(s, first, last);

    part.n = first ? step->n : part.n;
    part.events = first ? step->events : part.events;
    part.event = last ? step->event : NULL;
    return part;
}

/* By way of a buffer. */
static cl_int copy_by_buffer(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step,
                             const struct tsl_copy *copy, const size_t to[3], const size_t from[3],
                             const size_t pixels[3])
{
    const struct tsl_opencl_step first = part_of(s, step, true, false), last = part_of(s, step, false, true);
    size_t size = copy->region[0] * copy->region[1] * copy->region[2];
    cl_int error;
    cl_mem between = step->cl->clCreateBuffer(s->member->context, CL_MEM_READ_WRITE, size, NULL, &error);

    if (!between)
        return error;
    error = first.cl->clEnqueueCopyImageToBuffer(first.queue, mem_of(&copy->src), between, from, pixels, 0, first.n,
                                                 first.events, NULL);
    if (!error)
        error = settle(s, last.cl->clEnqueueCopyBufferToImage(last.queue, between, mem_of(&copy->dst), 0, to, pixels,
                                                              last.n, last.events, last.event));
    tsl_opencl_release(s->member, TSL_OPENCL_MEM, between);
    return error;
}

/* A copy in pixels, from image to image. */
struct pixels {
    cl_mem src, dst;
    size_t from[3], to[3], region[3];
};

static cl_int copy_pixels(const struct tsl_opencl_step *step, const struct pixels *p)
{
    return step->cl->clEnqueueCopyImage(step->queue, p->src, p->dst, p->from, p->to, p->region, step->n, step->events,
                                        step->event);
}

static cl_int copy_each_row(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step,
                            const struct pixels *p)
{
    size_t n = p->region[1];
    struct pixels row = *p;
    cl_int error = CL_SUCCESS;

    row.region[1] = 1;
    for (size_t y = 0; y < n && !error; y++) {
        struct tsl_opencl_step part = part_of(s, step, y == 0, y == n - 1);

        row.from[1] = p->from[1] + y;
        row.to[1] = p->to[1] + y;
        error = copy_pixels(&part, &row);
        if (y)
            settle(s, error);
    }
    return error;
}

static bool is_array(const struct tsl_image_desc *image)
{
    return image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

/* Between a 1D array, there from `at` on, and a buffer: a 2D image in between takes the rows. */
static cl_int copy_by_flat_image(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step,
                                 const struct tsl_copy *copy, const size_t at[3], const size_t region[3])
{
    bool out = image_of(&copy->src);
    const struct tsl_image_desc *array = image_of(out ? &copy->src : &copy->dst);
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = region[0], .image_height = region[1]};
    const struct tsl_opencl_step first = part_of(s, step, true, false), last = part_of(s, step, false, true);
    struct pixels p = {.region = {region[0], region[1], 1}};
    const size_t zero[3] = {0};
    cl_int error;
    cl_mem flat = step->cl->clCreateImage(s->member->context, CL_MEM_READ_WRITE, &array->format, &desc, NULL, &error);

    if (!flat)
        return error;
    p.src = out ? mem_of(&copy->src) : flat;
    p.dst = out ? flat : mem_of(&copy->dst);
    memcpy(out ? p.from : p.to, at, sizeof(p.from));
    error = out ? copy_each_row(s, &first, &p)
                : step->cl->clEnqueueCopyBufferToImage(first.queue, mem_of(&copy->src), flat, copy->src.offset, zero,
                                                       region, first.n, first.events, first.event);
    if (!error && out)
        error = settle(s, step->cl->clEnqueueCopyImageToBuffer(last.queue, flat, mem_of(&copy->dst), zero, region,
                                                               copy->dst.offset, last.n, last.events, last.event));
    else if (!error)
        error = settle(s, copy_each_row(s, &last, &p));
    tsl_opencl_release(s->member, TSL_OPENCL_MEM, flat);
    return error;
}

/* Some vendors (Intel's CPU runtime 2026.2) don't look at the slices, and find an overlap where there is none. */
static cl_int copy_between_images(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step,
                                  const struct tsl_copy *copy, const size_t pixels[3])
{
    const struct tsl_opencl_quirks *quirks = &s->member->device->quirks;
    const struct tsl_image_desc *dst = image_of(&copy->dst), *src = image_of(&copy->src);
    struct pixels p = {.src = mem_of(&copy->src), .dst = mem_of(&copy->dst)};
    cl_int error = CL_SUCCESS;

    tsl_image_origin(dst, copy->dst.offset, p.to);
    tsl_image_origin(src, copy->src.offset, p.from);
    memcpy(p.region, pixels, sizeof(p.region));
    if (quirks->array_rows && is_array(dst) != is_array(src))
        return copy_each_row(s, step, &p);
    if (!quirks->arrays_stray || !is_array(src) || is_array(dst))
        error = copy_pixels(step, &p);
    else
        error = CL_MEM_COPY_OVERLAP;
    return error == CL_MEM_COPY_OVERLAP ? copy_by_buffer(s, step, copy, p.to, p.from, pixels) : error;
}

/* Between an image, there from `at` on, and a buffer. */
static cl_int copy_with_buffer(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step,
                               const struct tsl_copy *copy, const size_t at[3], const size_t pixels[3])
{
    const struct tsl_image_desc *dst = image_of(&copy->dst);

    if (s->member->device->quirks.array_rows && is_array(dst ? dst : image_of(&copy->src)))
        return copy_by_flat_image(s, step, copy, at, pixels);
    if (dst)
        return step->cl->clEnqueueCopyBufferToImage(step->queue, mem_of(&copy->src), mem_of(&copy->dst),
                                                    copy->src.offset, at, pixels, step->n, step->events, step->event);
    return step->cl->clEnqueueCopyImageToBuffer(step->queue, mem_of(&copy->src), mem_of(&copy->dst), at, pixels,
                                                copy->dst.offset, step->n, step->events, step->event);
}

static cl_int read_or_write(const struct tsl_opencl_step *step, const struct tsl_copy *copy, const size_t at[3],
                            const size_t pixels[3], size_t offset, struct pitches p)
{
    if (image_of(&copy->dst))
        return step->cl->clEnqueueWriteImage(step->queue, mem_of(&copy->dst), CL_FALSE, at, pixels, p.row, p.slice,
                                             (char *)copy->src.host + offset, step->n, step->events, step->event);
    return step->cl->clEnqueueReadImage(step->queue, mem_of(&copy->src), CL_FALSE, at, pixels, p.row, p.slice,
                                        (char *)copy->dst.host + offset, step->n, step->events, step->event);
}

/* Between an image, there from `at` on, and the host's memory. */
static cl_int copy_with_host(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *step,
                             const struct tsl_copy *copy, const size_t at[3], const size_t pixels[3])
{
    const struct tsl_image_desc *dst = image_of(&copy->dst);
    const struct tsl_place *host = dst ? &copy->src : &copy->dst;
    struct pitches p = pitches_of(dst ? dst : image_of(&copy->src), host, copy->region);
    const struct pitches of_one = {p.row, 0};
    const size_t one[3] = {pixels[0], pixels[1], 1};
    cl_int error = CL_SUCCESS;

    if (!s->member->device->quirks.slices_of_rows || !p.slice || p.slice % p.row == 0)
        return read_or_write(step, copy, at, pixels, host->offset, p);
    for (size_t z = 0; z < pixels[2] && !error; z++) {
        const struct tsl_opencl_step part = part_of(s, step, z == 0, z == pixels[2] - 1);
        const size_t slice[3] = {at[0], at[1], at[2] + z};

        error = read_or_write(&part, copy, slice, one, host->offset + z * p.slice, of_one);
        if (z)
            settle(s, error);
    }
    return error;
}

/* One box, in one command unless the vendor refuses such a copy. */
static cl_int copy_box(const struct tsl_opencl_submit *submit, const struct tsl_opencl_step *s,
                       const struct tsl_copy *copy)
{
    const struct tsl_image_desc *dst = image_of(&copy->dst), *src = image_of(&copy->src), *image = dst ? dst : src;
    const size_t pixels[3] = {copy->region[0] / image->element_size, copy->region[1], copy->region[2]};
    size_t at[3];

    if (dst && src)
        return copy_between_images(submit, s, copy, pixels);
    tsl_image_origin(image, dst ? copy->dst.offset : copy->src.offset, at);
    if (dst ? copy->src.mem : copy->dst.mem)
        return copy_with_buffer(submit, s, copy, at, pixels);
    return copy_with_host(submit, s, copy, at, pixels);
}

/* The boxes of one copy. */
static cl_int copy_boxes(const struct tsl_opencl_submit *s, const struct tsl_copy *copies, size_t n)
{
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < n && !error; i++) {
        struct tsl_opencl_step step = tsl_opencl_step(s, i == 0, i == n - 1);

        error = copy_box(s, &step, &copies[i]);
        if (error && i)
            tsl_opencl_lane_drain(s->lane);
    }
    return error;
}

/* A range that may go on from row to row: both sides lie as the image does. */
static cl_int copy_range(const struct tsl_opencl_submit *s, const struct tsl_copy *copy)
{
    const struct tsl_image_desc *image = image_of(&copy->dst) ? image_of(&copy->dst) : image_of(&copy->src);
    size_t begin = image == image_of(&copy->dst) ? copy->dst.offset : copy->src.offset;
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    struct tsl_copy copies[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_image_cut(image, begin, begin + copy->region[0], boxes);

    for (unsigned i = 0; i < n; i++) {
        struct tsl_place *sides[] = {&copies[i].dst, &copies[i].src};

        copies[i] = *copy;
        memcpy(copies[i].region, boxes[i].region, sizeof(copies[i].region));
        for (int side = 0; side < 2; side++) {
            sides[side]->offset += boxes[i].offset - begin;
            sides[side]->row_pitch = tsl_image_row_step(image);
            sides[side]->slice_pitch = image->slice_pitch;
        }
    }
    return copy_boxes(s, copies, n);
}

/* Between an image and a buffer whose rows don't lie one after the other. */
static cl_int copy_rows(const struct tsl_opencl_submit *s, const struct tsl_copy *copy)
{
    size_t n = copy->region[1] * copy->region[2];
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < n && !error; i++) {
        struct tsl_opencl_step step = tsl_opencl_step(s, i == 0, i == n - 1);
        struct tsl_copy row = *copy;

        row.dst.offset = tsl_place_row(&copy->dst, i % copy->region[1], i / copy->region[1]);
        row.src.offset = tsl_place_row(&copy->src, i % copy->region[1], i / copy->region[1]);
        row.region[1] = row.region[2] = 1;
        error = copy_box(s, &step, &row);
        if (error && i)
            tsl_opencl_lane_drain(s->lane);
    }
    return error;
}

cl_int tsl_opencl_copy_image(const struct tsl_opencl_submit *s, const struct tsl_copy *copy)
{
    const struct tsl_image_desc *dst = image_of(&copy->dst), *src = image_of(&copy->src);

    if (!(dst && src) && copy->region[1] == 1 && copy->region[2] == 1)
        return copy_range(s, copy);
    if ((!dst && copy->dst.mem && !tsl_place_is_linear(&copy->dst, copy->region)) ||
        (!src && copy->src.mem && !tsl_place_is_linear(&copy->src, copy->region)))
        return copy_rows(s, copy);
    return copy_boxes(s, copy, 1);
}

/* ---- Fills ------------------------------------------------------------------------------------------------------ */

/* The largest piece that is written at once, unless a row is longer. The vendor's own fill wants a color, where we have
 * a pixel. */
#define PIECE_SIZE ((size_t)1 << 20)

/* A fill under way, by writes of one piece, which is all the same pixel. */
struct pieces {
    const struct tsl_opencl_submit *s;
    struct tsl_opencl_mem *image;
    char *piece;
    size_t size;
    bool begun;
    cl_event event; /* the last one's */
};

static cl_int write_piece(struct pieces *p, const size_t origin[3], const size_t pixels[3], bool last)
{
    const struct tsl_opencl_step part = tsl_opencl_step(p->s, !p->begun, last);

    p->begun = true;
    return part.cl->clEnqueueWriteImage(part.queue, p->image->buffer, CL_FALSE, origin, pixels, 0, 0, p->piece, part.n,
                                        part.events, last ? &p->event : NULL);
}

/* A range, which goes on from row to row. */
static cl_int fill_range(struct pieces *p, size_t at, size_t size)
{
    const struct tsl_image_desc *desc = &p->image->desc;
    size_t step = p->size / desc->element_size * desc->element_size, end = at + size;
    cl_int error = CL_SUCCESS;

    for (size_t next; at < end && !error; at = next) {
        struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
        unsigned n;

        next = end - at < step ? end : at + step;
        n = tsl_image_cut(desc, at, next, boxes);
        for (unsigned i = 0; i < n && !error; i++)
            error = write_piece(p, boxes[i].origin, boxes[i].pixels, next == end && i == n - 1);
    }
    return error;
}

/* As many rows of a slice at once as a piece has. */
static cl_int fill_box(struct pieces *p, size_t at, const size_t region[3])
{
    const struct tsl_image_desc *desc = &p->image->desc;
    size_t step = p->size / region[0], origin[3];
    cl_int error = CL_SUCCESS;

    tsl_image_origin(desc, at, origin);
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1] && !error; y += step) {
            size_t n = region[1] - y < step ? region[1] - y : step;

            error = write_piece(p, (const size_t[3]){origin[0], origin[1] + y, origin[2] + z},
                                (const size_t[3]){region[0] / desc->element_size, n, 1},
                                z == region[2] - 1 && y + n == region[1]);
        }
    return error;
}

static char *make_piece(size_t size, const struct tsl_fill *fill)
{
    const struct tsl_fill all = {.region = {size / fill->pattern_size * fill->pattern_size, 1, 1},
                                 .pattern = fill->pattern,
                                 .pattern_size = fill->pattern_size};
    char *piece = malloc(size);

    if (piece)
        tsl_fill_box(piece, &all);
    return piece;
}

static size_t piece_size(const size_t region[3])
{
    size_t size = region[0] * region[1] * region[2];
    bool range = region[1] == 1 && region[2] == 1;

    if (size < PIECE_SIZE)
        return size;
    return range || region[0] < PIECE_SIZE ? PIECE_SIZE : region[0];
}

cl_int tsl_opencl_fill_image(const struct tsl_opencl_submit *s, const struct tsl_fill *fill)
{
    struct pieces p = {.s = s, .image = tsl_opencl_mem(fill->dst.mem), .size = piece_size(fill->region)};
    bool range = fill->region[1] == 1 && fill->region[2] == 1;
    cl_int error;

    p.piece = make_piece(p.size, fill);
    if (!p.piece)
        return CL_OUT_OF_HOST_MEMORY;
    error = range ? fill_range(&p, fill->dst.offset, fill->region[0]) : fill_box(&p, fill->dst.offset, fill->region);
    if (error) {
        tsl_opencl_lane_drain(s->lane); /* They read the piece. */
        free(p.piece);
        return error;
    }
    tsl_opencl_free_after(s, p.event, p.piece);
    if (s->event_out)
        *s->event_out = p.event;
    else
        s->member->cl->clReleaseEvent(p.event);
    return CL_SUCCESS;
}
