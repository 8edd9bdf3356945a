#include "object/image.h"

#include "graph/data.h"
#include "object/svm.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shape ------------------------------------------------------------------------------------------------------ */

static bool has_height(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D;
}

static bool is_array(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

cl_int tsl_image_complete(struct tsl_image_desc *desc)
{
    size_t size;
    if (!has_height(desc->type))
        desc->height = 1;
    if (desc->type != CL_MEM_OBJECT_IMAGE3D)
        desc->depth = 1;
    if (!is_array(desc->type))
        desc->array_size = 1;
    desc->element_size = tsl_image_element_size(&desc->format);
    if (__builtin_mul_overflow(desc->width, desc->element_size, &size))
        return CL_INVALID_IMAGE_SIZE;
    if (desc->row_pitch == 0)
        desc->row_pitch = size;
    if (__builtin_mul_overflow(desc->row_pitch, desc->height, &size))
        return CL_INVALID_IMAGE_SIZE;
    if (desc->slice_pitch == 0)
        desc->slice_pitch = size;
    if (__builtin_mul_overflow(desc->slice_pitch, desc->depth, &size) ||
        __builtin_mul_overflow(size, desc->array_size, &size))
        return CL_INVALID_IMAGE_SIZE;
    return CL_SUCCESS;
}

size_t tsl_image_told_size(const struct tsl_image_desc *desc)
{
    return desc->slice_pitch * desc->depth * desc->array_size;
}

bool tsl_image_fits_type(const struct tsl_image_desc *desc, const char *type_name)
{
    static const struct {
        const char *name;
        cl_mem_object_type type;
    } types[] = {
        {"image1d_t", CL_MEM_OBJECT_IMAGE1D},
        {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER},
        {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY},
        {"image2d_t", CL_MEM_OBJECT_IMAGE2D},
        {"image2d_depth_t", CL_MEM_OBJECT_IMAGE2D},
        {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
        {"image2d_array_depth_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
        {"image3d_t", CL_MEM_OBJECT_IMAGE3D},
    };
    for (size_t i = 0; type_name && i < sizeof(types) / sizeof(*types); i++)
        if (!strcmp(type_name, types[i].name))
            return types[i].type == desc->type;
    return true;
}

/* ---- Support of members ------------------------------------------------------------------------------------------ */

static bool has_images(const struct tsl_member *member)
{
    return member->caps.images.n_read_args > 0;
}

static bool within(const struct tsl_image_limits *limits, const struct tsl_image_desc *desc)
{
    switch (desc->type) {
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
        return desc->width <= limits->buffer_size;
    case CL_MEM_OBJECT_IMAGE3D:
        return desc->width <= limits->width_3d && desc->height <= limits->height_3d && desc->depth <= limits->depth_3d;
    default:
        return desc->width <= limits->width_2d && desc->height <= limits->height_2d &&
               desc->array_size <= (is_array(desc->type) ? limits->array_size : 1);
    }
}

static bool fits(const struct tsl_member *member, const struct tsl_image_desc *desc)
{
    cl_ulong max_size = member->caps.max_alloc_size;
    return (!max_size || tsl_image_span(desc) <= max_size) && within(&member->caps.images, desc);
}

/* The image sizes that a device reports. */
static struct tsl_image_limits told_limits(struct tsl_device *device)
{
    return (struct tsl_image_limits){
        .width_2d = tsl_device_number(device, CL_DEVICE_IMAGE2D_MAX_WIDTH),
        .height_2d = tsl_device_number(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT),
        .width_3d = tsl_device_number(device, CL_DEVICE_IMAGE3D_MAX_WIDTH),
        .height_3d = tsl_device_number(device, CL_DEVICE_IMAGE3D_MAX_HEIGHT),
        .depth_3d = tsl_device_number(device, CL_DEVICE_IMAGE3D_MAX_DEPTH),
        .buffer_size = tsl_device_number(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE),
        .array_size = tsl_device_number(device, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE),
    };
}

/* An image larger than every device reports is refused, even if a member takes it (OpenCL 3.0, clCreateImage). */
static bool is_told(const struct tsl_context *context, const struct tsl_image_desc *desc)
{
    for (cl_uint i = 0; i < context->n_devices; i++) {
        struct tsl_image_limits limits = told_limits(context->devices[i]);
        if (within(&limits, desc))
            return true;
    }
    return false;
}

/* 2D images in buffers are an extension (OpenCL 3.0: optional). */
static bool is_beyond(const struct tsl_member *member, const struct tsl_image_desc *desc, const struct tsl_buffer *of)
{
    return of && desc->type == CL_MEM_OBJECT_IMAGE2D && !member->caps.images.pitch_align;
}

static bool is_of_part(const struct tsl_image_desc *desc, const struct tsl_buffer *of)
{
    return of && of->size != tsl_buffer_root((struct tsl_buffer *)(uintptr_t)of)->size &&
           desc->type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

/* A member that works on shared virtual memory in place may know its addresses, but no buffers. */
static bool knows_by_address_alone(const struct tsl_member *member, const struct tsl_buffer *of)
{
    const struct tsl_svm *svm = tsl_svm_of(of);
    for (unsigned i = 0; svm && i < of->context->n_members; i++)
        if (of->context->members[i] == member)
            return tsl_members_has(svm->members, i) && !tsl_members_has(svm->as_mem, i);
    return false;
}

/* An image in a buffer must begin where the member lets a sub-buffer begin; for a 2D image the rows and the place must
 * be aligned, too. */
static bool takes_place(const struct tsl_member *member, const struct tsl_image_desc *desc, const struct tsl_buffer *of)
{
    const struct tsl_image_limits *limits = &member->caps.images;
    if (of && ((member->caps.base_align && of->offset % member->caps.base_align) || knows_by_address_alone(member, of)))
        return false;
    if (!of || desc->type != CL_MEM_OBJECT_IMAGE2D)
        return true;
    if (desc->row_pitch % (limits->pitch_align * desc->element_size))
        return false;
    return of->offset % ((limits->base_align ? limits->base_align : 1) * desc->element_size) == 0;
}

/* A member's formats: the caller frees. None without images, or if the member doesn't answer. The only error is
 * CL_OUT_OF_HOST_MEMORY. */
static cl_int formats_of(struct tsl_member *member, cl_mem_flags flags, cl_mem_object_type type,
                         cl_image_format **formats, cl_uint *n)
{
    struct tsl_format_query query = {.flags = flags, .type = type};
    cl_int error;
    *formats = NULL;
    *n = 0;
    if (!has_images(member))
        return CL_SUCCESS;
    error = member->driver->image_formats(member, &query, n);
    if (!error && *n > 0) {
        query.n = *n;
        query.formats = *formats = calloc(*n, sizeof(**formats));
        error = *formats ? member->driver->image_formats(member, &query, NULL) : CL_OUT_OF_HOST_MEMORY;
    }
    if (error)
        *n = 0;
    return error == CL_OUT_OF_HOST_MEMORY ? error : CL_SUCCESS;
}

static bool same_format(const cl_image_format *a, const cl_image_format *b)
{
    return a->image_channel_order == b->image_channel_order && a->image_channel_data_type == b->image_channel_data_type;
}

static bool is_among(const cl_image_format *formats, cl_uint n, const cl_image_format *format)
{
    for (cl_uint i = 0; i < n; i++)
        if (same_format(&formats[i], format))
            return true;
    return false;
}

static cl_int check_format(struct tsl_member *member, cl_mem_flags flags, const struct tsl_image_desc *desc)
{
    cl_image_format *formats;
    cl_uint n;
    cl_int error = formats_of(member, flags, desc->type, &formats, &n);
    if (!error && !is_among(formats, n, &desc->format))
        error = CL_IMAGE_FORMAT_NOT_SUPPORTED;
    free(formats);
    return error;
}

#define KERNEL_ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

/* Why this member can't have the image; CL_SUCCESS: it can. */
static cl_int refusal(struct tsl_member *member, cl_mem_flags flags, const struct tsl_buffer *of,
                      const struct tsl_image_desc *desc)
{
    if (!has_images(member) || is_beyond(member, desc, of))
        return CL_INVALID_OPERATION;
    if (!fits(member, desc))
        return CL_INVALID_IMAGE_SIZE;
    if (!takes_place(member, desc, of))
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    if (member->caps.no_views_of_parts && is_of_part(desc, of))
        return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    return check_format(member, flags & KERNEL_ACCESS, desc);
}

/* Orders errors by how much of the image the member could have. */
static int rank(cl_int refused)
{
    return refused == CL_INVALID_OPERATION            ? 0
           : refused == CL_INVALID_IMAGE_SIZE         ? 1
           : refused == CL_IMAGE_FORMAT_NOT_SUPPORTED ? 3
                                                      : 2;
}

cl_int tsl_image_find_members(const struct tsl_context *context, cl_mem_flags flags, const struct tsl_buffer *of,
                              struct tsl_image *image)
{
    cl_int worst = CL_INVALID_OPERATION;
    image->members = image->read_write_members = TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < context->n_members; i++) {
        struct tsl_member *member = context->members[i];
        cl_int refused = refusal(member, flags, of, &image->desc);
        cl_int refused_both = refused || !member->caps.images.n_read_write_args
                                  ? CL_IMAGE_FORMAT_NOT_SUPPORTED
                                  : check_format(member, CL_MEM_KERNEL_READ_AND_WRITE, &image->desc);
        if (refused == CL_OUT_OF_HOST_MEMORY || refused_both == CL_OUT_OF_HOST_MEMORY)
            return CL_OUT_OF_HOST_MEMORY;
        if (refused && rank(refused) > rank(worst))
            worst = refused;
        if (!refused)
            tsl_members_add(&image->members, i);
        if (!refused_both)
            tsl_members_add(&image->read_write_members, i);
    }
    if (!tsl_members_is_empty(image->members))
        return is_told(context, &image->desc) ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
    return worst == CL_IMAGE_FORMAT_NOT_SUPPORTED && !tsl_image_format_is_defined(&image->desc.format)
               ? CL_INVALID_IMAGE_FORMAT_DESCRIPTOR
               : worst;
}

/* Adds the formats that are new; false without memory. */
static bool add_formats(cl_image_format **all, cl_uint *n_all, const cl_image_format *formats, cl_uint n)
{
    cl_image_format *more = realloc(*all, (*n_all + n) * sizeof(**all));
    if (!more)
        return false;
    *all = more;
    for (cl_uint i = 0; i < n; i++)
        if (!is_among(more, *n_all, &formats[i]))
            more[(*n_all)++] = formats[i];
    return true;
}

cl_int tsl_image_formats(const struct tsl_context *context, cl_mem_flags flags, cl_mem_object_type type, cl_uint n,
                         cl_image_format *formats, cl_uint *n_ret)
{
    cl_image_format *all = NULL, *own;
    cl_uint n_all = 0, n_own;
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < context->n_members && !error; i++) {
        error = formats_of(context->members[i], flags, type, &own, &n_own);
        if (!error && n_own > 0 && !add_formats(&all, &n_all, own, n_own))
            error = CL_OUT_OF_HOST_MEMORY;
        free(own);
    }
    for (cl_uint i = 0; formats && i < n && i < n_all; i++)
        formats[i] = all[i];
    free(all);
    *n_ret = n_all;
    return error;
}

/* ---- Making ----------------------------------------------------------------------------------------------------- */

/* CL_MEM_COPY_HOST_PTR: copies to the host's copy. */
static bool copy_in(const struct tsl_buffer *buffer, const struct tsl_image_source *source)
{
    const struct tsl_image_desc *desc = &buffer->image->desc;
    size_t step = desc->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? source->slice_pitch : source->row_pitch;
    char *host = tsl_data_host(buffer->data);
    for (size_t z = 0; host && z < tsl_image_slices(desc); z++)
        for (size_t y = 0; y < tsl_image_rows(desc); y++)
            memcpy(host + z * desc->slice_pitch + y * tsl_image_row_step(desc),
                   (const char *)source->host + z * source->slice_pitch + y * step, tsl_image_row_size(desc));
    return host != NULL;
}

static bool keep_image(struct tsl_buffer *buffer, const struct tsl_image *image)
{
    buffer->type = image->desc.type;
    buffer->image = malloc(sizeof(*image));
    if (buffer->image)
        *buffer->image = *image;
    return buffer->image;
}

cl_int tsl_image_create(struct tsl_context *context, const cl_mem_properties *properties, cl_mem_flags flags,
                        const struct tsl_image *image, void *host_ptr, const struct tsl_image_source *source,
                        struct tsl_buffer **result)
{
    struct tsl_buffer *buffer = tsl_buffer_new(context, flags, 0, tsl_image_span(&image->desc));
    if (!buffer)
        return CL_OUT_OF_HOST_MEMORY;
    if (keep_image(buffer, image) && tsl_buffer_keep_properties(buffer, properties))
        buffer->data = tsl_data_create(buffer, source ? source->host : host_ptr);
    if (!buffer->data || (source && !copy_in(buffer, source))) {
        tsl_object_release(&buffer->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    buffer->host_ptr = host_ptr;
    *result = buffer;
    return CL_SUCCESS;
}

cl_int tsl_image_create_of(struct tsl_buffer *of, const cl_mem_properties *properties, cl_mem_flags flags,
                           const struct tsl_image *image, struct tsl_buffer **result)
{
    struct tsl_buffer *buffer = tsl_buffer_new(of->context, flags, of->offset, tsl_image_span(&image->desc));
    if (!buffer)
        return CL_OUT_OF_HOST_MEMORY;
    if (!keep_image(buffer, image) || !tsl_buffer_keep_properties(buffer, properties) ||
        !tsl_buffer_make_part(buffer, of)) {
        tsl_object_release(&buffer->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *result = buffer;
    return CL_SUCCESS;
}
