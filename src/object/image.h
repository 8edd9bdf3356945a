/*
 * Images: memory objects whose bytes have a shape and a format. Their bytes are kept like a buffer's, in one layout in
 * all memory spaces (driver/image.h); only drivers know other layouts.
 */
#ifndef TSL_OBJECT_IMAGE_H
#define TSL_OBJECT_IMAGE_H

#include "base/sets.h"
#include "driver/driver.h"
#include "object/buffer.h"

/* A tsl_buffer's part that only images have. Constant. */
struct tsl_image {
    struct tsl_image_desc desc;
    /* Bits of the context's members that can hold the image and pass it to kernels, as its flags say; and that can pass
     * it to kernels which declare it read_write. */
    tsl_members members, read_write_members;
};

/* The application's image, from which CL_MEM_COPY_HOST_PTR copies. */
struct tsl_image_source {
    void *host;                    /* only read */
    size_t row_pitch, slice_pitch; /* as in struct tsl_image_desc */
};

/* Fills what desc leaves open: sizes that the type doesn't have, element_size, and pitches of 0 (tight). The format
 * must have an element size. CL_INVALID_IMAGE_SIZE: the image has more bytes than there are addresses. */
cl_int tsl_image_complete(struct tsl_image_desc *desc);

/*
 * Finds the members that can have such an image: fills image->members and ->read_write_members. of: NULL, or the buffer
 * from which it is made; desc is complete. CL_INVALID_OPERATION: no member of the context has images.
 * CL_INVALID_IMAGE_SIZE, CL_IMAGE_FORMAT_NOT_SUPPORTED: no member has such an image; the former also if no device of
 * the context reports such sizes. CL_INVALID_IMAGE_FORMAT_DESCRIPTOR: no member takes the pitch or the place of a 2D
 * image in a buffer (OpenCL 3.0, clCreateImage). May block; calls drivers.
 */
cl_int tsl_image_find_members(const struct tsl_context *context, cl_mem_flags flags, const struct tsl_buffer *of,
                              struct tsl_image *image);

/* The formats of all members, each once, at most n of them (formats may be NULL); *n_ret is how many there are. May
 * block; calls drivers. */
cl_int tsl_image_formats(const struct tsl_context *context, cl_mem_flags flags, cl_mem_object_type type, cl_uint n,
                         cl_image_format *formats, cl_uint *n_ret);

/* The arguments were checked. host_ptr: with CL_MEM_USE_HOST_PTR, laid out by desc's pitches; source: with
 * CL_MEM_COPY_HOST_PTR, else NULL, read before this returns. */
cl_int tsl_image_create(struct tsl_context *context, const cl_mem_properties *properties, cl_mem_flags flags,
                        const struct tsl_image *image, void *host_ptr, const struct tsl_image_source *source,
                        struct tsl_buffer **result);
/* An image of a buffer or sub-buffer, whose first byte is the image's first. */
cl_int tsl_image_create_of(struct tsl_buffer *buffer, const cl_mem_properties *properties, cl_mem_flags flags,
                           const struct tsl_image *image, struct tsl_buffer **result);

/* CL_MEM_SIZE: with the padding behind the last row and slice. */
size_t tsl_image_told_size(const struct tsl_image_desc *desc);

/* Does the type's name in a kernel's signature ("image2d_array_t") fit the image? NULL and unknown names fit all. */
bool tsl_image_fits_type(const struct tsl_image_desc *desc, const char *type_name);

/* One pixel of a color as in clEnqueueFillImage: four floats, or integers for integer formats (OpenCL 3.0, 5.3.2 and
 * 8.3). */
#define TSL_MAX_PIXEL 16
void tsl_image_pixel(const cl_image_format *format, const void *color, unsigned char pixel[TSL_MAX_PIXEL]);

#endif
