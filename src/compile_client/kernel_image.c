#include "compile_client/kernel_image.h"

#include <CL/cl_ext.h>

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

static const cl_channel_type any_type[] = {
    CL_UNORM_INT8,   CL_UNORM_INT16,   CL_SNORM_INT8,     CL_SNORM_INT16,    CL_SIGNED_INT8, CL_SIGNED_INT16,
    CL_SIGNED_INT32, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT,  CL_FLOAT,
};
static const cl_channel_type normal_types[] = {CL_UNORM_INT8,  CL_UNORM_INT16, CL_SNORM_INT8,
                                               CL_SNORM_INT16, CL_HALF_FLOAT,  CL_FLOAT};
static const cl_channel_type byte_types[] = {CL_UNORM_INT8, CL_SNORM_INT8, CL_SIGNED_INT8, CL_UNSIGNED_INT8};
static const cl_channel_type packed_types[] = {CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010};
static const cl_channel_type depth_types[] = {CL_UNORM_INT16, CL_FLOAT};
static const cl_channel_type unorm8[] = {CL_UNORM_INT8}, last_packed[] = {CL_UNORM_INT_101010_2};

enum where { ANYWHERE, ONLY_2D, ONLY_READ };

#define TYPES(list) N_OF(list), list

/* Which types go with which order (OpenCL 3.0, 5.3.1.1). More than the minimum (5.3.2.1); without CL_RGBx, about whose
 * border the conformance suite and the specification differ. */
static const struct {
    cl_channel_order order;
    enum where where;
    unsigned n_types;
    const cl_channel_type *types;
} formats_of[] = {
    {CL_RGBA, ANYWHERE, TYPES(any_type)},
    {CL_R, ANYWHERE, TYPES(any_type)},
    {CL_RG, ANYWHERE, TYPES(any_type)},
    {CL_A, ANYWHERE, TYPES(any_type)},
    {CL_RA, ANYWHERE, TYPES(any_type)},
    {CL_BGRA, ANYWHERE, TYPES(byte_types)},
    {CL_ARGB, ANYWHERE, TYPES(byte_types)},
    {CL_ABGR, ANYWHERE, TYPES(byte_types)},
    {CL_LUMINANCE, ANYWHERE, TYPES(normal_types)},
    {CL_INTENSITY, ANYWHERE, TYPES(normal_types)},
    {CL_RGB, ANYWHERE, TYPES(packed_types)},
    {CL_RGBA, ANYWHERE, TYPES(last_packed)},
    {CL_DEPTH, ONLY_2D, TYPES(depth_types)},
    {CL_sRGBA, ONLY_READ, TYPES(unorm8)},
    {CL_sBGRA, ONLY_READ, TYPES(unorm8)},
};

static bool serves(enum where where, cl_mem_flags flags, cl_mem_object_type type)
{
    if (where == ONLY_2D)
        return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    if (where == ONLY_READ)
        return (flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE | CL_MEM_KERNEL_READ_AND_WRITE)) ==
                   CL_MEM_READ_ONLY &&
               type != CL_MEM_OBJECT_IMAGE1D_BUFFER;
    return true;
}

cl_uint tsl_kc_formats(cl_mem_flags flags, cl_mem_object_type type, cl_uint n, cl_image_format *formats)
{
    cl_uint found = 0;

    for (size_t i = 0; i < N_OF(formats_of); i++)
        for (unsigned k = 0; k < formats_of[i].n_types; k++) {
            if (!serves(formats_of[i].where, flags, type))
                continue;
            if (formats && found < n)
                formats[found] = (cl_image_format){formats_of[i].order, formats_of[i].types[k]};
            found++;
        }
    return found;
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

static uint32_t kind_of(cl_image_format format)
{
    static const struct {
        cl_image_format format;
        uint32_t kind;
    } kinds[] = {
        {{CL_RGBA, CL_FLOAT}, TSL_KC_IMAGE_RGBA_FLOAT},
        {{CL_RGBA, CL_UNORM_INT8}, TSL_KC_IMAGE_RGBA_UNORM8},
        {{CL_R, CL_FLOAT}, TSL_KC_IMAGE_R_FLOAT},
        {{CL_DEPTH, CL_FLOAT}, TSL_KC_IMAGE_R_FLOAT},
        {{CL_INTENSITY, CL_FLOAT}, TSL_KC_IMAGE_R_FLOAT},
        {{CL_LUMINANCE, CL_FLOAT}, TSL_KC_IMAGE_R_FLOAT},
        {{CL_R, CL_UNORM_INT8}, TSL_KC_IMAGE_R_UNORM8},
        {{CL_RG, CL_UNORM_INT8}, TSL_KC_IMAGE_RG_UNORM8},
        {{CL_R, CL_UNORM_INT16}, TSL_KC_IMAGE_R_UNORM16},
        {{CL_RG, CL_UNORM_INT16}, TSL_KC_IMAGE_RG_UNORM16},
        {{CL_RGBA, CL_SIGNED_INT32}, TSL_KC_IMAGE_RGBA_INT32},
        {{CL_RGBA, CL_UNSIGNED_INT32}, TSL_KC_IMAGE_RGBA_INT32},
        {{CL_RGBA, CL_UNSIGNED_INT8}, TSL_KC_IMAGE_RGBA_UINT8},
    };

    for (size_t i = 0; i < N_OF(kinds); i++)
        if (kinds[i].format.image_channel_order == format.image_channel_order &&
            kinds[i].format.image_channel_data_type == format.image_channel_data_type)
            return kinds[i].kind;
    return TSL_KC_IMAGE_OTHER;
}

static bool is_integer(cl_channel_type type)
{
    return type >= CL_SIGNED_INT8 && type <= CL_UNSIGNED_INT32;
}

struct tsl_kc_image tsl_kc_image_of(const struct tsl_image_desc *desc, uint64_t data)
{
    return (struct tsl_kc_image){
        .data = data,
        .width = (uint32_t)desc->width,
        .height = (uint32_t)desc->height,
        .depth = (uint32_t)desc->depth,
        .array_size = (uint32_t)desc->array_size,
        .row_pitch = desc->row_pitch,
        .slice_pitch = desc->slice_pitch,
        .channel_order = desc->format.image_channel_order,
        .channel_type = desc->format.image_channel_data_type,
        .element_size = (uint32_t)desc->element_size,
        .n_channels = tsl_image_channels(desc->format.image_channel_order),
        .kind = kind_of(desc->format),
        .alpha = is_integer(desc->format.image_channel_data_type) ? 1 : 0x3f800000, /* 1.0f */
    };
}

/* ---- Samplers ---------------------------------------------------------------------------------------------------- */

uint64_t tsl_kc_sampler(const struct tsl_sampler_desc *sampler)
{
    uint64_t bits = sampler->normalized ? TSL_KC_SAMPLER_NORMALIZED : 0;

    bits |= sampler->filter == CL_FILTER_LINEAR ? TSL_KC_SAMPLER_LINEAR : TSL_KC_SAMPLER_NEAREST;
    switch (sampler->addressing) {
    case CL_ADDRESS_CLAMP_TO_EDGE:
        return bits | TSL_KC_SAMPLER_EDGE;
    case CL_ADDRESS_CLAMP:
        return bits | TSL_KC_SAMPLER_CLAMP;
    case CL_ADDRESS_REPEAT:
        return bits | TSL_KC_SAMPLER_REPEAT;
    case CL_ADDRESS_MIRRORED_REPEAT:
        return bits | TSL_KC_SAMPLER_MIRRORED;
    default:
        return bits;
    }
}
