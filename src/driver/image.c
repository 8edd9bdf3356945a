#include "driver/image.h"

#include "driver/driver.h"

#include <string.h>

bool tsl_image_has_padding(const struct tsl_image_desc *image)
{
    size_t rows = tsl_image_rows(image), slices = tsl_image_slices(image);
    if (rows > 1 && tsl_image_row_step(image) != tsl_image_row_size(image))
        return true;
    return slices > 1 && image->slice_pitch != rows * tsl_image_row_size(image);
}

struct tsl_pixel_layout tsl_image_pixels(const struct tsl_image_desc *image)
{
    return (struct tsl_pixel_layout){
        .size = {image->width, tsl_image_rows(image), tsl_image_slices(image)},
        .step = {image->element_size, tsl_image_row_step(image), image->slice_pitch},
    };
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------ */

struct position {
    size_t x, row, slice; /* bytes, rows, slices */
};

/* The pixel at or behind an offset: from padding on to the next row, from the end of a slice on to the next slice. */
static struct position position_of(const struct tsl_image_desc *image, size_t offset)
{
    size_t rows = tsl_image_rows(image), slices = tsl_image_slices(image), step = tsl_image_row_step(image);
    struct position p = {.slice = slices > 1 ? offset / image->slice_pitch : 0};
    offset -= p.slice * image->slice_pitch;
    p.row = rows > 1 ? offset / step : 0;
    p.x = offset - p.row * step;
    if (p.x >= tsl_image_row_size(image)) {
        p.x = 0;
        p.row++;
    }
    if (p.row >= rows) {
        p.x = p.row = 0;
        p.slice++;
    }
    return p;
}

void tsl_image_origin(const struct tsl_image_desc *image, size_t offset, size_t origin[3])
{
    struct position p = position_of(image, offset);
    origin[0] = p.x / image->element_size;
    origin[1] = p.row;
    origin[2] = p.slice;
}

static void add_box(const struct tsl_image_desc *image, struct tsl_image_box *box, const struct position *at,
                    const size_t region[3])
{
    *box = (struct tsl_image_box){
        .offset = at->slice * image->slice_pitch + at->row * tsl_image_row_step(image) + at->x,
        .region = {region[0], region[1], region[2]},
        .origin = {at->x / image->element_size, at->row, at->slice},
        .pixels = {region[0] / image->element_size, region[1], region[2]},
    };
}

/* The largest box that begins there and whose pixels are the next ones, none of them at or behind the end. */
static void next_region(const struct tsl_image_desc *image, const struct position *at, const struct position *end,
                        size_t region[3])
{
    size_t row_size = tsl_image_row_size(image);
    bool same_slice = at->slice == end->slice, same_row = same_slice && at->row == end->row;
    region[0] = (same_row ? end->x : row_size) - at->x;
    region[1] = region[2] = 1;
    if (at->x > 0 || same_row)
        return;
    region[1] = (same_slice ? end->row : tsl_image_rows(image)) - at->row;
    if (at->row == 0 && !same_slice)
        region[2] = end->slice - at->slice;
}

unsigned tsl_image_cut(const struct tsl_image_desc *image, size_t begin, size_t end,
                       struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES])
{
    struct position at = position_of(image, begin), last = position_of(image, end);
    unsigned n = 0;
    while (at.slice < last.slice ||
           (at.slice == last.slice && (at.row < last.row || (at.row == last.row && at.x < last.x)))) {
        size_t region[3];
        next_region(image, &at, &last, region);
        add_box(image, &boxes[n++], &at, region);
        at.x += region[0];
        if (at.x >= tsl_image_row_size(image)) {
            at.x = 0;
            at.row += region[1];
        }
        if (at.row >= tsl_image_rows(image)) {
            at.row = 0;
            at.slice += region[2];
        }
    }
    return n;
}

/* ---- Formats ---------------------------------------------------------------------------------------------------- */

cl_uint tsl_image_channels(cl_channel_order order)
{
    switch (order) {
    case CL_R:
    case CL_A:
    case CL_Rx:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
        return 1;
    case CL_RG:
    case CL_RA:
    case CL_RGx:
        return 2;
    case CL_RGB:
    case CL_RGBx:
    case CL_sRGB:
        return 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
    case CL_sRGBx:
    case CL_sRGBA:
    case CL_sBGRA:
        return 4;
    default:
        return 0;
    }
}

/* Bytes of a channel. */
static size_t channel_size(cl_channel_type type)
{
    switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return 1;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
        return 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
        return 4;
    default:
        return 0;
    }
}

size_t tsl_image_element_size(const cl_image_format *format)
{
    bool rgb = format->image_channel_order == CL_RGB || format->image_channel_order == CL_RGBx;
    switch (format->image_channel_data_type) {
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
        return rgb ? 2 : 0;
    case CL_UNORM_INT_101010:
        return rgb ? 4 : 0;
    case CL_UNORM_INT_101010_2:
        return format->image_channel_order == CL_RGBA ? 4 : 0;
    default:
        return tsl_image_channels(format->image_channel_order) * channel_size(format->image_channel_data_type);
    }
}

static bool is_normalized(cl_channel_type type)
{
    return type == CL_UNORM_INT8 || type == CL_UNORM_INT16 || type == CL_SNORM_INT8 || type == CL_SNORM_INT16;
}

bool tsl_image_format_is_defined(const cl_image_format *format)
{
    cl_channel_type type = format->image_channel_data_type;

    if (!tsl_image_element_size(format))
        return false;
    switch (format->image_channel_order) {
    case CL_DEPTH:
        return type == CL_UNORM_INT16 || type == CL_FLOAT;
    case CL_INTENSITY:
    case CL_LUMINANCE:
        return is_normalized(type) || type == CL_HALF_FLOAT || type == CL_FLOAT;
    case CL_RGB:
    case CL_RGBx:
        return type == CL_UNORM_SHORT_565 || type == CL_UNORM_SHORT_555 || type == CL_UNORM_INT_101010;
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
        return channel_size(type) == 1;
    case CL_sRGB:
    case CL_sRGBx:
    case CL_sRGBA:
    case CL_sBGRA:
        return type == CL_UNORM_INT8;
    default:
        return true;
    }
}

/* ---- Limits ----------------------------------------------------------------------------------------------------- */

static cl_uint ask_uint(const struct tsl_member *member, cl_device_info param)
{
    cl_uint value = 0;
    return member->driver->info(member->path, param, sizeof(value), &value, NULL) ? 0 : value;
}

static size_t ask_size(const struct tsl_member *member, cl_device_info param)
{
    size_t value = 0;
    return member->driver->info(member->path, param, sizeof(value), &value, NULL) ? 0 : value;
}

void tsl_image_ask_limits(struct tsl_member *member)
{
    struct tsl_image_limits *limits = &member->caps.images;
    *limits = (struct tsl_image_limits){.n_read_args = 0};
    if (!member->driver->image_alloc || !ask_uint(member, CL_DEVICE_IMAGE_SUPPORT))
        return;
    *limits = (struct tsl_image_limits){
        .n_read_args = ask_uint(member, CL_DEVICE_MAX_READ_IMAGE_ARGS),
        .n_write_args = ask_uint(member, CL_DEVICE_MAX_WRITE_IMAGE_ARGS),
        .n_read_write_args = ask_uint(member, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS),
        .width_2d = ask_size(member, CL_DEVICE_IMAGE2D_MAX_WIDTH),
        .height_2d = ask_size(member, CL_DEVICE_IMAGE2D_MAX_HEIGHT),
        .width_3d = ask_size(member, CL_DEVICE_IMAGE3D_MAX_WIDTH),
        .height_3d = ask_size(member, CL_DEVICE_IMAGE3D_MAX_HEIGHT),
        .depth_3d = ask_size(member, CL_DEVICE_IMAGE3D_MAX_DEPTH),
        .buffer_size = ask_size(member, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE),
        .array_size = ask_size(member, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE),
        .pitch_align = ask_uint(member, CL_DEVICE_IMAGE_PITCH_ALIGNMENT),
        .base_align = ask_uint(member, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT),
    };
}
