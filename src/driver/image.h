/*
 * What an image is, for the core and the drivers, and the one layout of its bytes that all of them speak.
 *
 * The canonical layout: the pixel in column x of row y of slice z lies z * slice_pitch + y * row_pitch + x *
 * element_size bytes from the image's first byte. A layer of a 2D array is a slice; a layer of a 1D array is a row, and
 * its pitch is the slice_pitch. Pitches are tight (no padding), but for images on memory that the application laid out:
 * its own (CL_MEM_USE_HOST_PTR), or a buffer's.
 */
#ifndef TSL_DRIVER_IMAGE_H
#define TSL_DRIVER_IMAGE_H

#include "footprint/evaluate.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

struct tsl_member;

struct tsl_image_desc {
    cl_image_format format;
    cl_mem_object_type type;
    size_t width, height, depth, array_size; /* pixels, layers; 1 for what the type doesn't have */
    size_t element_size;                     /* bytes of a pixel: 1, 2, 4, 8 or 16 */
    size_t row_pitch;                        /* bytes, never 0 */
    size_t slice_pitch;                      /* bytes, never 0, also of what has one slice (its size) */
};

/* The box of an image's bytes, as copies have it (driver.h): bytes of a row, rows of a slice, slices. */
static inline size_t tsl_image_row_size(const struct tsl_image_desc *image)
{
    return image->width * image->element_size;
}

static inline size_t tsl_image_rows(const struct tsl_image_desc *image)
{
    return image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? image->array_size : image->height;
}

static inline size_t tsl_image_slices(const struct tsl_image_desc *image)
{
    return image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? image->array_size : image->depth;
}

/* How its pixels lie, as footprints have it. */
struct tsl_pixel_layout tsl_image_pixels(const struct tsl_image_desc *image);

/* Bytes from one row of a box to the next. */
static inline size_t tsl_image_row_step(const struct tsl_image_desc *image)
{
    return image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? image->slice_pitch : image->row_pitch;
}

/* Bytes from the first pixel's to the last one's. */
static inline size_t tsl_image_span(const struct tsl_image_desc *image)
{
    return (tsl_image_slices(image) - 1) * image->slice_pitch +
           (tsl_image_rows(image) - 1) * tsl_image_row_step(image) + tsl_image_row_size(image);
}

/* Are there bytes between the rows or slices that are no pixels? They aren't ours to write. */
bool tsl_image_has_padding(const struct tsl_image_desc *image);

/* A box of an image: of its bytes (from the offset on, by the image's pitches) and of its pixels, rows and slices. */
struct tsl_image_box {
    size_t offset, region[3];    /* bytes; bytes, rows, slices */
    size_t origin[3], pixels[3]; /* pixels, rows, slices */
};

#define TSL_IMAGE_MAX_BOXES 5

/* Cuts the bytes [begin, end) of an image, which begin and end at pixels or in padding, into boxes in ascending order:
 * a part of a row, rows, slices, rows, a part of a row. What is padding is in none. Returns how many. */
unsigned tsl_image_cut(const struct tsl_image_desc *image, size_t begin, size_t end,
                       struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES]);

/* In pixels, rows and slices: where the pixel at or behind that offset is. */
void tsl_image_origin(const struct tsl_image_desc *image, size_t offset, size_t origin[3]);

/* Bytes of a pixel; 0 for a format that the specification doesn't have (OpenCL 3.0, 5.3.1.1). */
size_t tsl_image_element_size(const cl_image_format *format);
cl_uint tsl_image_channels(cl_channel_order order);

/* Does the specification have this order with this type (the tables of 5.3.1.1)? Members may have more. */
bool tsl_image_format_is_defined(const cl_image_format *format);

/* What images a member can hold. Sizes in pixels or layers. */
struct tsl_image_limits {
    cl_uint n_read_args, n_write_args; /* 0 read: no images at all */
    cl_uint n_read_write_args;         /* 0: no read_write qualifier */
    size_t width_2d, height_2d, width_3d, height_3d, depth_3d;
    size_t buffer_size, array_size; /* of a 1D image from a buffer; layers */
    cl_uint pitch_align;            /* pixels: of rows of a 2D image from a buffer; 0: there are none */
    cl_uint base_align;             /* pixels: of that buffer */
};

/* Fills member->caps.images by what the driver's info says. Without image operations, or where the device has none, all
 * is 0. May block. */
void tsl_image_ask_limits(struct tsl_member *member);

#endif
