/* Images: creation and queries (OpenCL 3.0, 5.3). */
#include "object/image.h"
#include "base/fork.h"

#include "api.h"
#include "api/check.h"
#include "base/info.h"

/* The application's arguments, and the image that they describe. */
struct request {
    struct tsl_context *context;
    const cl_mem_properties *properties;
    cl_mem_flags flags;
    const cl_image_desc *desc;
    void *host_ptr;
    struct tsl_buffer *of; /* the buffer from which the image is made; NULL: none */
    struct tsl_image image;
};

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

static bool is_type(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
           type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

static bool is_array(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

static bool has_slices(cl_mem_object_type type)
{
    return is_array(type) || type == CL_MEM_OBJECT_IMAGE3D;
}

static bool has_height(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D;
}

static cl_int check_format(const cl_image_format *format)
{
    return format && tsl_image_element_size(format) ? CL_SUCCESS : CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
}

static cl_int check_shape(const cl_image_desc *desc)
{
    if (!desc || !is_type(desc->image_type) || desc->num_mip_levels || desc->num_samples)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if ((has_height(desc->image_type) && desc->image_height == 0) ||
        (desc->image_type == CL_MEM_OBJECT_IMAGE3D && desc->image_depth == 0) ||
        (is_array(desc->image_type) && desc->image_array_size == 0) || desc->image_width == 0)
        return CL_INVALID_IMAGE_SIZE;
    return CL_SUCCESS;
}

/* Checks the buffer from which an image is made: its type must allow, or require, one. */
static cl_int check_buffer(struct request *r)
{
    cl_mem_object_type type = r->desc->image_type;

    if (!r->desc->mem_object)
        return type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
    if (type != CL_MEM_OBJECT_IMAGE1D_BUFFER && type != CL_MEM_OBJECT_IMAGE2D)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    r->of = tsl_buffer_from(r->desc->mem_object);
    if (!r->of || r->of->context != r->context)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    /* Images of images allow formats that differ only in interpretation (sRGB, depth): not supported. */
    return r->of->image ? CL_IMAGE_FORMAT_NOT_SUPPORTED : CL_SUCCESS;
}

/* Pitches may only be given for memory that the application has laid out. */
static cl_int check_pitches(const struct request *r)
{
    size_t element_size = tsl_image_element_size(&r->image.desc.format);
    size_t row = r->desc->image_row_pitch, slice = has_slices(r->desc->image_type) ? r->desc->image_slice_pitch : 0;
    size_t row_size, least;

    if (!r->host_ptr && !r->of)
        return row || slice ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
    if (__builtin_mul_overflow(r->desc->image_width, element_size, &row_size))
        return CL_INVALID_IMAGE_SIZE;
    if (row && (row < row_size || row % element_size))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    row = row ? row : row_size;
    if (__builtin_mul_overflow(row, has_height(r->desc->image_type) ? r->desc->image_height : 1, &least))
        return CL_INVALID_IMAGE_SIZE;
    return slice && (slice < least || slice % row) ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
}

/* Describes the image. Its memory doesn't take over the pitches of memory that is only copied from. */
static cl_int describe(struct request *r)
{
    const cl_image_desc *from = r->desc;
    bool keeps_pitches = r->of || r->flags & CL_MEM_USE_HOST_PTR;
    struct tsl_image_desc *desc = &r->image.desc;

    *desc = (struct tsl_image_desc){
        .format = desc->format,
        .type = from->image_type,
        .width = from->image_width,
        .height = from->image_height,
        .depth = from->image_depth,
        .array_size = from->image_array_size,
        .row_pitch = keeps_pitches ? from->image_row_pitch : 0,
        .slice_pitch = keeps_pitches && has_slices(from->image_type) ? from->image_slice_pitch : 0,
    };
    if (tsl_image_complete(desc) || tsl_image_span(desc) > TSL_HOST_SPAN)
        return CL_INVALID_IMAGE_SIZE;
    return r->of && tsl_image_told_size(desc) > r->of->size ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
}

static cl_int check_flags(struct request *r)
{
    cl_int error = r->of ? tsl_check_part_flags(r->of->flags, r->flags) : tsl_check_mem_flags(r->flags);

    if (error)
        return error;
    r->flags = r->of ? tsl_inherit_mem_flags(r->of->flags, r->flags) : r->flags;
    if (!(r->flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)))
        r->flags |= CL_MEM_READ_WRITE;
    return CL_SUCCESS;
}

static cl_int check_host_ptr(const struct request *r)
{
    return r->of ? (r->host_ptr ? CL_INVALID_HOST_PTR : CL_SUCCESS) : tsl_check_host_ptr(r->flags, r->host_ptr);
}

static cl_int check(struct request *r, const cl_image_format *format)
{
    cl_int error = tsl_check_images(r->context);

    if (!error && r->properties && r->properties[0] != 0)
        error = CL_INVALID_PROPERTY;
    if (!error)
        error = tsl_check_mem_flags(r->flags);
    if (!error)
        error = check_format(format);
    if (error)
        return error;
    r->image.desc.format = *format;
    error = check_shape(r->desc);
    if (!error)
        error = check_buffer(r);
    if (!error)
        error = check_flags(r);
    if (!error)
        error = check_host_ptr(r);
    if (!error)
        error = check_pitches(r);
    if (!error)
        error = describe(r);
    return error ? error : tsl_image_find_members(r->context, r->flags, r->of, &r->image);
}

/* ---- Making ----------------------------------------------------------------------------------------------------- */

static cl_int create(const struct request *r, struct tsl_buffer **image)
{
    struct tsl_image_desc given = r->image.desc; /* the layout of the application's memory */
    struct tsl_image_source source;

    if (r->of)
        return tsl_image_create_of(r->of, r->properties, r->flags, &r->image, image);
    if (!(r->flags & CL_MEM_COPY_HOST_PTR))
        return tsl_image_create(r->context, r->properties, r->flags, &r->image, r->host_ptr, NULL, image);
    given.row_pitch = r->desc->image_row_pitch;
    given.slice_pitch = has_slices(given.type) ? r->desc->image_slice_pitch : 0;
    if (tsl_image_complete(&given) || tsl_image_span(&given) > TSL_HOST_SPAN)
        return CL_INVALID_IMAGE_SIZE;
    source = (struct tsl_image_source){r->host_ptr, given.row_pitch, given.slice_pitch};
    return tsl_image_create(r->context, r->properties, r->flags, &r->image, NULL, &source, image);
}

cl_mem CL_API_CALL tsl_api_clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                                       cl_mem_flags flags, const cl_image_format *image_format,
                                                       const cl_image_desc *image_desc, void *host_ptr,
                                                       cl_int *errcode_ret)
{
    struct request r = {.context = tsl_context_from(context),
                        .properties = properties,
                        .flags = flags,
                        .desc = image_desc,
                        .host_ptr = host_ptr};
    struct tsl_buffer *image = NULL;
    cl_int error = check(&r, image_format);

    if (!error)
        error = create(&r, &image);
    return tsl_created(image, error, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
                                         const cl_image_desc *image_desc, void *host_ptr, cl_int *errcode_ret)
{
    return tsl_api_clCreateImageWithProperties(context, NULL, flags, image_format, image_desc, host_ptr, errcode_ret);
}

/* ---- OpenCL 1.0: one error code for all wrong descriptions ---- */

static cl_mem create_older(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                           const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret)
{
    cl_int error;
    cl_mem image = tsl_api_clCreateImageWithProperties(context, NULL, flags, format, desc, host_ptr, &error);

    if (error == CL_INVALID_IMAGE_DESCRIPTOR)
        error = CL_INVALID_IMAGE_SIZE;
    if (errcode_ret)
        *errcode_ret = error;
    return image;
}

cl_mem CL_API_CALL tsl_api_clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
                                           size_t image_width, size_t image_height, size_t image_row_pitch,
                                           void *host_ptr, cl_int *errcode_ret)
{
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                .image_width = image_width,
                                .image_height = image_height,
                                .image_row_pitch = image_row_pitch};

    return create_older(context, flags, image_format, &desc, host_ptr, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
                                           size_t image_width, size_t image_height, size_t image_depth,
                                           size_t image_row_pitch, size_t image_slice_pitch, void *host_ptr,
                                           cl_int *errcode_ret)
{
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                                .image_width = image_width,
                                .image_height = image_height,
                                .image_depth = image_depth,
                                .image_row_pitch = image_row_pitch,
                                .image_slice_pitch = image_slice_pitch};

    return create_older(context, flags, image_format, &desc, host_ptr, errcode_ret);
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

cl_int CL_API_CALL tsl_api_clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                      cl_mem_object_type image_type, cl_uint num_entries,
                                                      cl_image_format *image_formats, cl_uint *num_image_formats)
{
    struct tsl_context *c = tsl_context_from(context);
    cl_uint n;
    cl_int error;

    if (!c)
        return CL_INVALID_CONTEXT;
    if (tsl_check_mem_flags(flags & ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE) || !is_type(image_type))
        return CL_INVALID_VALUE;
    if (num_entries == 0 && image_formats)
        return CL_INVALID_VALUE;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    error = tsl_image_formats(c, flags, image_type, num_entries, image_formats, &n);
    if (!error && num_image_formats)
        *num_image_formats = n;
    return error;
}

cl_int CL_API_CALL tsl_api_clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size,
                                          void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    const struct tsl_buffer *it = tsl_buffer_from(image);
    const struct tsl_image_desc *desc;

    if (!it || !it->image)
        return CL_INVALID_MEM_OBJECT;
    desc = &it->image->desc;
    switch (param_name) {
    case CL_IMAGE_FORMAT:
        return tsl_info_bytes(&info, &desc->format, sizeof desc->format);
    case CL_IMAGE_ELEMENT_SIZE:
        return tsl_info_size(&info, desc->element_size);
    case CL_IMAGE_ROW_PITCH:
        return tsl_info_size(&info, desc->row_pitch);
    case CL_IMAGE_SLICE_PITCH:
        return tsl_info_size(&info, has_slices(desc->type) ? desc->slice_pitch : 0);
    case CL_IMAGE_WIDTH:
        return tsl_info_size(&info, desc->width);
    case CL_IMAGE_HEIGHT:
        return tsl_info_size(&info, has_height(desc->type) ? desc->height : 0);
    case CL_IMAGE_DEPTH:
        return tsl_info_size(&info, desc->type == CL_MEM_OBJECT_IMAGE3D ? desc->depth : 0);
    case CL_IMAGE_ARRAY_SIZE:
        return tsl_info_size(&info, is_array(desc->type) ? desc->array_size : 0);
    case CL_IMAGE_BUFFER:
        return tsl_info_pointer(&info, it->parent);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
        return tsl_info_uint(&info, 0);
    default:
        return CL_INVALID_VALUE;
    }
}
