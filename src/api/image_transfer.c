/* Commands that move the pixels of images (OpenCL 3.0, 5.3.3 to 5.3.5). */
#include "object/image.h"

#include "api.h"
#include "api/check.h"

/* A region of an image: the application's arguments, and the bytes that they mean. */
struct part {
    struct tsl_buffer *image;
    size_t region[3]; /* bytes of a row, rows, slices */
    size_t offset, row_pitch, slice_pitch;
};

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

static const struct tsl_image_desc *desc_of(const struct part *part)
{
    return &part->image->image->desc;
}

static bool has_slices(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

/* Checks that the region lies in the image; in dimensions that its type doesn't have, it must be 1 from 0. */
static cl_int read_part(const size_t *origin, const size_t *region, struct part *part)
{
    const struct tsl_image_desc *desc = desc_of(part);
    const size_t sizes[3] = {desc->width, tsl_image_rows(desc), tsl_image_slices(desc)};

    if (!origin || !region)
        return CL_INVALID_VALUE;
    for (int d = 0; d < 3; d++)
        if (region[d] == 0 || origin[d] >= sizes[d] || region[d] > sizes[d] - origin[d])
            return CL_INVALID_VALUE;
    part->region[0] = region[0] * desc->element_size;
    part->region[1] = region[1];
    part->region[2] = region[2];
    part->row_pitch = tsl_image_row_step(desc);
    part->slice_pitch = desc->slice_pitch;
    part->offset = origin[2] * part->slice_pitch + origin[1] * part->row_pitch + origin[0] * desc->element_size;
    return CL_SUCCESS;
}

/* Checks that the queue's device has images. */
static cl_int check_image(const struct tsl_enqueue *e, cl_mem handle, struct part *part)
{
    cl_int error = tsl_check_image(e, handle, &part->image);

    if (!error && !tsl_device_number(e->queue->device, CL_DEVICE_IMAGE_SUPPORT))
        error = CL_INVALID_OPERATION;
    return error;
}

static cl_int check_part(const struct tsl_enqueue *e, cl_mem handle, const size_t *origin, const size_t *region,
                         struct part *part)
{
    cl_int error = check_image(e, handle, part);

    return error ? error : read_part(origin, region, part);
}

/* The layout of the application's memory: a pitch of 0 means tight. The slices of a 1D array are its rows. */
struct host {
    const void *ptr;
    size_t row_pitch, slice_pitch;
};

static cl_int check_host(const struct part *part, struct host *host)
{
    cl_mem_object_type type = desc_of(part)->type;
    bool rows_are_slices = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t least;

    if (!host->ptr || (host->slice_pitch && !has_slices(type)))
        return CL_INVALID_VALUE;
    if (host->row_pitch == 0)
        host->row_pitch = part->region[0];
    if (host->row_pitch < part->region[0] ||
        __builtin_mul_overflow(host->row_pitch, rows_are_slices ? 1 : part->region[1], &least))
        return CL_INVALID_VALUE;
    if (host->slice_pitch == 0)
        host->slice_pitch = least;
    if (host->slice_pitch < least)
        return CL_INVALID_VALUE;
    if (rows_are_slices)
        host->row_pitch = host->slice_pitch;
    return tsl_check_host_box(part->region, host->row_pitch, host->slice_pitch);
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------ */

static struct tsl_box_copy box_to(const struct part *part)
{
    return (struct tsl_box_copy){.region = {part->region[0], part->region[1], part->region[2]},
                                 .dst_offset = part->offset,
                                 .dst_row_pitch = part->row_pitch,
                                 .dst_slice_pitch = part->slice_pitch};
}

static void add_source(struct tsl_box_copy *box, const struct part *part)
{
    box->src_offset = part->offset;
    box->src_row_pitch = part->row_pitch;
    box->src_slice_pitch = part->slice_pitch;
}

/* The tight bytes of a buffer, in the shape of the region. */
static struct part part_of_buffer(struct tsl_buffer *buffer, size_t offset, const struct part *shape)
{
    return (struct part){.image = buffer,
                         .region = {shape->region[0], shape->region[1], shape->region[2]},
                         .offset = offset,
                         .row_pitch = shape->region[0],
                         .slice_pitch = shape->region[0] * shape->region[1]};
}

/* ---- Reads and writes ------------------------------------------------------------------------------------------- */

/* The common arguments of the two calls. */
struct image_transfer {
    cl_mem image;
    const size_t *origin, *region;
    struct host host;
    bool read;
    cl_bool blocking;
};

static cl_int check_transfer(struct image_transfer *t, const struct tsl_tail *tail, cl_command_queue queue,
                             struct tsl_enqueue *e, struct part *part)
{
    cl_int error = tsl_check_queue(e, queue, t->read ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE, t->blocking);

    if (!error)
        error = check_part(e, t->image, t->origin, t->region, part);
    if (!error)
        error = check_host(part, &t->host);
    if (!error)
        error = tsl_check_tail(e, tail);
    if (!error)
        error = tsl_check_host_access(part->image, t->read ? TSL_HOST_READS : TSL_HOST_WRITES);
    return error;
}

cl_int CL_API_CALL tsl_api_clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                                              const size_t *origin, const size_t *region, size_t row_pitch,
                                              size_t slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
                                              const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct image_transfer t = {image, origin, region, {ptr, row_pitch, slice_pitch}, true, blocking_read};
    struct tsl_box_copy box;
    struct tsl_enqueue e;
    struct part part;
    cl_int error = check_transfer(&t, &tail, command_queue, &e, &part);

    if (error)
        return error;
    box = box_to(&part);
    add_source(&box, &part);
    box.dst_offset = 0;
    box.dst_row_pitch = t.host.row_pitch;
    box.dst_slice_pitch = t.host.slice_pitch;
    return tsl_enqueue_read(&e, part.image, ptr, &box);
}

cl_int CL_API_CALL tsl_api_clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write,
                                               const size_t *origin, const size_t *region, size_t input_row_pitch,
                                               size_t input_slice_pitch, const void *ptr,
                                               cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                               cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct image_transfer t = {image, origin, region, {ptr, input_row_pitch, input_slice_pitch}, false, blocking_write};
    struct tsl_box_copy box;
    struct tsl_enqueue e;
    struct part part;
    cl_int error = check_transfer(&t, &tail, command_queue, &e, &part);

    if (error)
        return error;
    box = box_to(&part);
    box.src_row_pitch = t.host.row_pitch;
    box.src_slice_pitch = t.host.slice_pitch;
    return tsl_enqueue_write(&e, part.image, ptr, &box);
}

cl_int CL_API_CALL tsl_api_clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void *fill_color,
                                              const size_t *origin, const size_t *region,
                                              cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                              cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    unsigned char pixel[TSL_MAX_PIXEL];
    struct tsl_box_copy box;
    struct tsl_enqueue e;
    struct part part;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_FILL_IMAGE, false);

    if (!error)
        error = check_part(&e, image, origin, region, &part);
    if (!error && !fill_color)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (error)
        return error;
    tsl_image_pixel(&desc_of(&part)->format, fill_color, pixel);
    box = box_to(&part);
    return tsl_enqueue_fill_box(&e, part.image, pixel, desc_of(&part)->element_size, &box);
}

/* ---- Copies ----------------------------------------------------------------------------------------------------- */

static struct tsl_side side_of(const struct part *part)
{
    return (struct tsl_side){.row_pitch = part->row_pitch,
                             .slice_pitch = part->slice_pitch,
                             .offset = part->offset,
                             .end = part->offset + (part->region[2] - 1) * part->slice_pitch +
                                    (part->region[1] - 1) * part->row_pitch + part->region[0]};
}

/* Images made from one buffer may overlap, too. */
static cl_int check_overlap(const struct part *src, const struct part *dst)
{
    struct tsl_side from = side_of(src), to = side_of(dst);

    if (tsl_buffer_root(src->image) != tsl_buffer_root(dst->image))
        return CL_SUCCESS;
    return tsl_sides_overlap(&from, src->image->offset, &to, dst->image->offset, src->region) ? CL_MEM_COPY_OVERLAP
                                                                                              : CL_SUCCESS;
}

static cl_int enqueue_copy(struct tsl_enqueue *e, const struct tsl_tail *tail, const struct part *src,
                           const struct part *dst)
{
    struct tsl_box_copy box = box_to(dst);
    cl_int error = tsl_check_tail(e, tail);

    if (!error)
        error = check_overlap(src, dst);
    add_source(&box, src);
    return error ? error : tsl_enqueue_copy(e, src->image, dst->image, &box);
}

static cl_int check_formats(const struct part *src, const struct part *dst)
{
    const cl_image_format *a = &desc_of(src)->format, *b = &desc_of(dst)->format;

    return a->image_channel_order == b->image_channel_order && a->image_channel_data_type == b->image_channel_data_type
               ? CL_SUCCESS
               : CL_IMAGE_FORMAT_MISMATCH;
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                                              const size_t *src_origin, const size_t *dst_origin, const size_t *region,
                                              cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                              cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_enqueue e;
    struct part src, dst;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_COPY_IMAGE, false);

    if (!error)
        error = check_image(&e, src_image, &src);
    if (!error)
        error = check_image(&e, dst_image, &dst);
    if (!error)
        error = check_formats(&src, &dst);
    if (!error)
        error = read_part(src_origin, region, &src);
    if (!error)
        error = read_part(dst_origin, region, &dst);
    return error ? error : enqueue_copy(&e, &tail, &src, &dst);
}

/* Checks that the pixels' bytes lie in the buffer. */
static cl_int check_buffer_part(struct tsl_buffer *buffer, size_t offset, const struct part *shape, struct part *part)
{
    *part = part_of_buffer(buffer, offset, shape);
    return tsl_check_range(buffer, offset, part->slice_pitch * part->region[2]);
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                                      cl_mem dst_buffer, const size_t *src_origin, const size_t *region,
                                                      size_t dst_offset, cl_uint num_events_in_wait_list,
                                                      const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_buffer *buffer;
    struct tsl_enqueue e;
    struct part src, dst;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, false);

    if (!error)
        error = check_image(&e, src_image, &src);
    if (!error)
        error = tsl_check_buffer(&e, dst_buffer, &buffer);
    if (!error)
        error = read_part(src_origin, region, &src);
    if (!error)
        error = check_buffer_part(buffer, dst_offset, &src, &dst);
    return error ? error : enqueue_copy(&e, &tail, &src, &dst);
}

cl_int CL_API_CALL tsl_api_clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                                      cl_mem dst_image, size_t src_offset, const size_t *dst_origin,
                                                      const size_t *region, cl_uint num_events_in_wait_list,
                                                      const cl_event *event_wait_list, cl_event *event)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_buffer *buffer;
    struct tsl_enqueue e;
    struct part src, dst;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, false);

    if (!error)
        error = tsl_check_buffer(&e, src_buffer, &buffer);
    if (!error)
        error = check_image(&e, dst_image, &dst);
    if (!error)
        error = read_part(dst_origin, region, &dst);
    if (!error)
        error = check_buffer_part(buffer, src_offset, &dst, &src);
    return error ? error : enqueue_copy(&e, &tail, &src, &dst);
}

/* ---- Maps ------------------------------------------------------------------------------------------------------- */

/* The application's pointers for the pitches of a map: the slice pitch is required only if the image has slices. */
static cl_int check_pitches(const struct part *part, const size_t *row_pitch, const size_t *slice_pitch)
{
    return row_pitch && (slice_pitch || !has_slices(desc_of(part)->type)) ? CL_SUCCESS : CL_INVALID_VALUE;
}

static void tell_pitches(const struct part *part, size_t *row_pitch, size_t *slice_pitch)
{
    const struct tsl_image_desc *desc = desc_of(part);

    *row_pitch = desc->row_pitch;
    if (slice_pitch)
        *slice_pitch = has_slices(desc->type) ? desc->slice_pitch : 0;
}

void *CL_API_CALL tsl_api_clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                                            cl_map_flags map_flags, const size_t *origin, const size_t *region,
                                            size_t *image_row_pitch, size_t *image_slice_pitch,
                                            cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                            cl_event *event, cl_int *errcode_ret)
{
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};
    struct tsl_box_copy box;
    struct tsl_enqueue e;
    struct part part;
    void *ptr = NULL;
    cl_int error = tsl_check_queue(&e, command_queue, CL_COMMAND_MAP_IMAGE, blocking_map);

    if (!error)
        error = check_part(&e, image, origin, region, &part);
    if (!error)
        error = check_pitches(&part, image_row_pitch, image_slice_pitch);
    if (!error)
        error = tsl_check_map_flags(map_flags);
    if (!error)
        error = tsl_check_tail(&e, &tail);
    if (!error)
        error = tsl_check_map_access(part.image, map_flags);
    if (!error) {
        box = box_to(&part);
        error = tsl_enqueue_map_box(&e, part.image, map_flags, &box, &ptr);
    }
    if (!error)
        tell_pitches(&part, image_row_pitch, image_slice_pitch);
    return tsl_created(ptr, error, errcode_ret);
}
