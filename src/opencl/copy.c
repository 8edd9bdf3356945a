/* Copies, fills and combines. */
#include "opencl/image.h"
#include "opencl/lane.h"
#include "opencl/operations.h"
#include "opencl/stage.h"
#include "opencl/submit.h"

#include "driver/box.h"
#include "driver/combine.h"

#include <stdlib.h>
#include <string.h>

/* The waits may fail after the first command was enqueued, and vendors need not fail the commands behind it. */
struct tsl_opencl_step tsl_opencl_step(const struct tsl_opencl_submit *s, bool first, bool last)
{
    bool waits = first || !s->member->device->quirks.failed_wait_hangs;

    return (struct tsl_opencl_step){
        .queue = s->queue,
        .cl = s->member->cl,
        .n = waits ? s->n : 0,
        .events = waits ? s->events : NULL,
        .event = last ? s->event_out : NULL,
    };
}

static cl_mem buffer_of(const struct tsl_place *place)
{
    return tsl_opencl_mem(place->mem)->buffer;
}

static char *host_of(const struct tsl_place *place)
{
    return (char *)place->host + place->offset;
}

/* Size bytes from the row and slice of the box on. */
static cl_int copy_linear(const struct tsl_opencl_step *s, const struct tsl_copy *copy, size_t row, size_t slice,
                          size_t size)
{
    size_t dst = tsl_place_row(&copy->dst, row, slice), src = tsl_place_row(&copy->src, row, slice);

    if (!copy->src.mem)
        return s->cl->clEnqueueWriteBuffer(s->queue, buffer_of(&copy->dst), CL_FALSE, dst, size,
                                           (char *)copy->src.host + src, s->n, s->events, s->event);
    if (!copy->dst.mem)
        return s->cl->clEnqueueReadBuffer(s->queue, buffer_of(&copy->src), CL_FALSE, src, size,
                                          (char *)copy->dst.host + dst, s->n, s->events, s->event);
    return s->cl->clEnqueueCopyBuffer(s->queue, buffer_of(&copy->src), buffer_of(&copy->dst), src, dst, size, s->n,
                                      s->events, s->event);
}

/* One place of a box as OpenCL's rectangles have it. The offset goes into the origin: into rows and slices as far as it
 * divides, because some vendors want the rectangle within its rows. */
struct rect {
    size_t origin[3];
    size_t row_pitch, slice_pitch;
};

static struct rect rect_of(const struct tsl_place *place, const size_t region[3])
{
    /* Slices of one row each: the rows' pitch says nothing. */
    size_t row_pitch = region[1] > 1 ? place->row_pitch : place->slice_pitch;
    size_t slice_pitch = region[2] > 1 ? place->slice_pitch : row_pitch * region[1];
    size_t in_slice = place->offset % slice_pitch;
    struct rect r = {
        .origin = {in_slice % row_pitch, in_slice / row_pitch, place->offset / slice_pitch},
        .row_pitch = row_pitch,
        .slice_pitch = slice_pitch,
    };

    /* A box that crosses the end of a row or a slice is legal for us; counted from the memory's start it is for all. */
    if (r.origin[0] + region[0] > row_pitch || r.origin[1] + region[1] > slice_pitch / row_pitch) {
        r.origin[0] = place->offset;
        r.origin[1] = r.origin[2] = 0;
    }
    return r;
}

static cl_int copy_rect(const struct tsl_opencl_step *s, const struct tsl_copy *copy)
{
    struct rect dst = rect_of(&copy->dst, copy->region), src = rect_of(&copy->src, copy->region);
    static const size_t zero[3];

    if (!copy->src.mem)
        return s->cl->clEnqueueWriteBufferRect(s->queue, buffer_of(&copy->dst), CL_FALSE, dst.origin, zero,
                                               copy->region, dst.row_pitch, dst.slice_pitch, src.row_pitch,
                                               src.slice_pitch, host_of(&copy->src), s->n, s->events, s->event);
    if (!copy->dst.mem)
        return s->cl->clEnqueueReadBufferRect(s->queue, buffer_of(&copy->src), CL_FALSE, src.origin, zero, copy->region,
                                              src.row_pitch, src.slice_pitch, dst.row_pitch, dst.slice_pitch,
                                              host_of(&copy->dst), s->n, s->events, s->event);
    return s->cl->clEnqueueCopyBufferRect(s->queue, buffer_of(&copy->src), buffer_of(&copy->dst), src.origin,
                                          dst.origin, copy->region, src.row_pitch, src.slice_pitch, dst.row_pitch,
                                          dst.slice_pitch, s->n, s->events, s->event);
}

/* What a vendor's rectangle can't say: other pitches on both sides of one buffer, slices that are no multiple of the
 * rows, or boxes that overlap as boxes but not as rows. */
static cl_int copy_rows(const struct tsl_opencl_submit *s, const struct tsl_copy *copy)
{
    size_t n_rows = copy->region[1], n = n_rows * copy->region[2];
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < n && !error; i++) {
        struct tsl_opencl_step step = tsl_opencl_step(s, i == 0, i == n - 1);

        error = copy_linear(&step, copy, i % n_rows, i / n_rows, copy->region[0]);
        /* Nothing may be owed after an error, so what is under way has to end. */
        if (error && i)
            tsl_opencl_lane_drain(s->lane);
    }
    return error;
}

static bool rect_is_for_rows(const struct tsl_copy *copy)
{
    const struct tsl_place *sides[] = {&copy->dst, &copy->src};

    if (copy->region[2] > 1 && copy->region[1] > 1)
        for (int i = 0; i < 2; i++)
            if (sides[i]->slice_pitch % sides[i]->row_pitch ||
                sides[i]->slice_pitch < sides[i]->row_pitch * copy->region[1])
                return true;
    if (!copy->src.mem || !copy->dst.mem)
        return false;
    return tsl_opencl_mem(copy->src.mem)->root == tsl_opencl_mem(copy->dst.mem)->root &&
           ((copy->region[1] > 1 && copy->src.row_pitch != copy->dst.row_pitch) ||
            (copy->region[2] > 1 && copy->src.slice_pitch != copy->dst.slice_pitch));
}

static bool is_image(const struct tsl_place *place)
{
    return place->mem && tsl_opencl_mem(place->mem)->is_image;
}

static cl_int copy_box(const struct tsl_opencl_submit *s, const struct tsl_copy *copy)
{
    struct tsl_opencl_step step = tsl_opencl_step(s, true, true);
    cl_int error;

    if (is_image(&copy->dst) || is_image(&copy->src))
        return tsl_opencl_copy_image(s, copy);
    if (tsl_copy_is_linear(copy))
        return copy_linear(&step, copy, 0, 0, copy->region[0] * copy->region[1] * copy->region[2]);
    if (rect_is_for_rows(copy))
        return copy_rows(s, copy);
    error = copy_rect(&step, copy);
    /* The vendor may be stricter than the specification; by rows there is nothing that it could mind. */
    if (error == CL_MEM_COPY_OVERLAP || error == CL_INVALID_VALUE)
        return copy_rows(s, copy);
    return error;
}

static bool is_ours(const struct tsl_lane *lane, const struct tsl_place *place)
{
    return !place->mem || place->mem->member == lane->member;
}

cl_int tsl_opencl_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    struct tsl_opencl_submit s;
    cl_int error;

    if (!is_ours(lane, &copy->dst) || !is_ours(lane, &copy->src) || (!copy->dst.mem && !copy->src.mem))
        return CL_INVALID_MEM_OBJECT;
    if (tsl_opencl_wants_stage(tsl_opencl_lane(lane), copy) && tsl_copy_is_linear(copy) &&
        tsl_opencl_stage_copy(lane, copy, waits, fence))
        return CL_SUCCESS;
    error = tsl_opencl_begin(&s, lane, waits, fence);
    if (error)
        return error;
    if (!s.refused)
        error = copy_box(&s, copy);
    return tsl_opencl_end(&s, error, fence);
}

/* ---- Fills ------------------------------------------------------------------------------------------------------- */

/* The largest piece that is written from the host; the rest is copied from it on the device. */
#define PIECE_SIZE 65536

static void CL_CALLBACK free_piece(cl_event event, cl_int status, void *piece)
{
    (void)event;
    (void)status;
    tsl_opencl_take();
    free(piece);
}

void tsl_opencl_free_after(const struct tsl_opencl_submit *s, cl_event event, char *piece)
{
    tsl_opencl_give();
    if (!s->member->cl->clSetEventCallback(event, CL_COMPLETE, free_piece, piece))
        return;
    tsl_opencl_lane_drain(s->lane);
    free(piece);
}

/* Writes the piece and sees to it that it is freed when it was read. */
static cl_int write_piece(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *part, cl_mem buffer,
                          size_t offset, size_t size, char *piece)
{
    const struct tsl_opencl_cl *cl = s->member->cl;
    cl_event event;
    cl_int error =
        cl->clEnqueueWriteBuffer(s->queue, buffer, CL_FALSE, offset, size, piece, part->n, part->events, &event);

    if (error) {
        free(piece);
        return error;
    }
    tsl_opencl_free_after(s, event, piece);
    cl->clReleaseEvent(event);
    return CL_SUCCESS;
}

/* OpenCL 1.1 has no fill: the host writes one piece, and copies on the device double it. */
static cl_int fill_row_11(const struct tsl_opencl_submit *s, const struct tsl_opencl_step *part,
                          const struct tsl_fill *fill, size_t offset)
{
    const struct tsl_opencl_cl *cl = s->member->cl;
    cl_mem buffer = buffer_of(&fill->dst);
    size_t size = fill->region[0];
    size_t done = size < PIECE_SIZE ? size : PIECE_SIZE / fill->pattern_size * fill->pattern_size;
    const struct tsl_fill first = {
        .region = {done, 1, 1}, .pattern = fill->pattern, .pattern_size = fill->pattern_size};
    char *piece = malloc(done);
    cl_int error;

    if (!piece)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_fill_box(piece, &first);
    error = write_piece(s, part, buffer, offset, done, piece);
    while (!error && done < size) {
        size_t more = done < size - done ? done : size - done;

        error = cl->clEnqueueCopyBuffer(s->queue, buffer, buffer, offset, offset + done, more, 0, NULL, NULL);
        done += more;
    }
    return error;
}

/* The vendors' fills know no boxes. */
static cl_int fill_buffer(const struct tsl_opencl_submit *s, const struct tsl_fill *fill)
{
    const struct tsl_opencl_cl *cl = s->member->cl;
    size_t n_rows = fill->region[1], n = n_rows * fill->region[2];
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < n && !error; i++) {
        const struct tsl_opencl_step part = tsl_opencl_step(s, i == 0, i == n - 1);
        size_t offset = tsl_place_row(&fill->dst, i % n_rows, i / n_rows);

        error = cl->clEnqueueFillBuffer
                    ? cl->clEnqueueFillBuffer(s->queue, buffer_of(&fill->dst), fill->pattern, fill->pattern_size,
                                              offset, fill->region[0], part.n, part.events, part.event)
                    : fill_row_11(s, &part, fill, offset);
        if (error && i)
            tsl_opencl_lane_drain(s->lane);
    }
    if (!error && !cl->clEnqueueFillBuffer && s->event_out)
        error = cl->clEnqueueMarker(s->queue, s->event_out);
    return error;
}

cl_int tsl_opencl_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    struct tsl_opencl_submit s;
    cl_int error;

    if (!fill->dst.mem || !is_ours(lane, &fill->dst))
        return CL_INVALID_MEM_OBJECT;
    error = tsl_opencl_begin(&s, lane, waits, fence);
    if (error)
        return error;
    if (!s.refused)
        error = is_image(&fill->dst) ? tsl_opencl_fill_image(&s, fill) : fill_buffer(&s, fill);
    return tsl_opencl_end(&s, error, fence);
}

/* ---- Combining --------------------------------------------------------------------------------------------------- */

bool tsl_opencl_can_combine(struct tsl_member *member)
{
    return tsl_combine_kernels_make(&tsl_opencl_member(member)->combine, member);
}

cl_int tsl_opencl_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                          struct tsl_fence **fence)
{
    if (!tsl_combine_is_of(combine, lane->member))
        return CL_INVALID_MEM_OBJECT;
    return tsl_combine_kernels_run(&tsl_opencl_member(lane->member)->combine, lane, combine, waits, fence);
}
