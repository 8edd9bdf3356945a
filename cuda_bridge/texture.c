#include "cuda_bridge/texture.h"

#include "base/settings.h"

/* Where the memory of a texture begins: a multiple of this on every GPU (CUDA's programming guide, Technical
 * Specifications; CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT). */
#define ALIGNMENT 512u

/* Coordinates of larger textures would have fewer bits than the filter's weights. GPUs take twice that. */
#define MAX_FILTER_SIDE 32768u

/* How CUDA names a channel's type; integers as such, the others as floats. */
struct channel {
    CUarray_format format;
    unsigned flags;
};

static bool find_channel(cl_channel_type type, struct channel *channel)
{
    static const struct {
        cl_channel_type type;
        struct channel channel;
    } all[] = {
        {CL_UNORM_INT8, {CU_AD_FORMAT_UNSIGNED_INT8, 0}},
        {CL_UNORM_INT16, {CU_AD_FORMAT_UNSIGNED_INT16, 0}},
        {CL_SNORM_INT8, {CU_AD_FORMAT_SIGNED_INT8, 0}},
        {CL_SNORM_INT16, {CU_AD_FORMAT_SIGNED_INT16, 0}},
        {CL_HALF_FLOAT, {CU_AD_FORMAT_HALF, 0}},
        {CL_FLOAT, {CU_AD_FORMAT_FLOAT, 0}},
        {CL_UNSIGNED_INT8, {CU_AD_FORMAT_UNSIGNED_INT8, CU_TRSF_READ_AS_INTEGER}},
        {CL_UNSIGNED_INT16, {CU_AD_FORMAT_UNSIGNED_INT16, CU_TRSF_READ_AS_INTEGER}},
        {CL_UNSIGNED_INT32, {CU_AD_FORMAT_UNSIGNED_INT32, CU_TRSF_READ_AS_INTEGER}},
        {CL_SIGNED_INT8, {CU_AD_FORMAT_SIGNED_INT8, CU_TRSF_READ_AS_INTEGER}},
        {CL_SIGNED_INT16, {CU_AD_FORMAT_SIGNED_INT16, CU_TRSF_READ_AS_INTEGER}},
        {CL_SIGNED_INT32, {CU_AD_FORMAT_SIGNED_INT32, CU_TRSF_READ_AS_INTEGER}},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].type == type) {
            *channel = all[i].channel;
            return true;
        }
    return false;
}

/* Orders whose channels lie as kernels get them, or of which they know (compiler/builtins/texels.h). */
static bool has_order(cl_channel_order order)
{
    return order == CL_R || order == CL_RG || order == CL_RGBA || order == CL_DEPTH || order == CL_BGRA ||
           order == CL_INTENSITY || order == CL_LUMINANCE;
}

/* To a texture the memory is one row of texels, padding among them. */
static bool place_texels(const struct tsl_image_desc *desc, CUdeviceptr address, struct tsl_kc_image *image)
{
    size_t size = desc->element_size, shift = (size_t)(address % ALIGNMENT);

    if (shift % size || desc->row_pitch % size || desc->slice_pitch % size)
        return false;
    image->first_texel = (uint32_t)(shift / size);
    image->row_texels = (uint32_t)(desc->row_pitch / size);
    image->slice_texels = (uint32_t)(desc->slice_pitch / size);
    return true;
}

/* One row of texels, which kernels address themselves. */
static void make_texels(struct tsl_cuda_mem *mem, const struct tsl_image_desc *desc, struct channel channel,
                        struct tsl_kc_image *image)
{
    const struct tsl_cuda_gpu *gpu = tsl_cuda_member(mem->base.member)->gpu;
    CUDA_RESOURCE_DESC memory = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC how = {.filterMode = CU_TR_FILTER_MODE_POINT, .flags = channel.flags};
    size_t size = (size_t)(mem->address % ALIGNMENT) + tsl_image_span(desc);

    if (size / desc->element_size > gpu->max_texels || !place_texels(desc, mem->address, image))
        return;
    memory.res.linear.devPtr = mem->address / ALIGNMENT * ALIGNMENT;
    memory.res.linear.sizeInBytes = size;
    memory.res.linear.format = channel.format;
    memory.res.linear.numChannels = image->n_channels;
    if (!tsl_cu.cuTexObjectCreate(&mem->texture, &memory, &how, NULL))
        image->texture = mem->texture;
}

/* The rows of a texture that has all slices below each other; 0: there is none with so many, or with their pitches. */
static size_t filter_rows(const struct tsl_image_desc *desc)
{
    size_t n = desc->depth * desc->array_size, step = n > 1 ? desc->slice_pitch / desc->row_pitch : desc->height;
    size_t rows = (n - 1) * step + desc->height;

    return (n > 1 && desc->slice_pitch % desc->row_pitch) || rows > MAX_FILTER_SIDE ? 0 : rows;
}

/* Rows of texels, which the hardware mixes. Pixels of 16 bytes it mixes slower than kernels do. */
static void make_filter(struct tsl_cuda_mem *mem, const struct tsl_image_desc *desc, struct channel channel,
                        struct tsl_kc_image *image)
{
    const struct tsl_cuda_gpu *gpu = tsl_cuda_member(mem->base.member)->gpu;
    CUDA_RESOURCE_DESC memory = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_BORDER},
                             .filterMode = CU_TR_FILTER_MODE_LINEAR};
    size_t rows = filter_rows(desc);

    if (channel.flags & CU_TRSF_READ_AS_INTEGER || mem->address % ALIGNMENT || !rows || desc->element_size > 8 ||
        desc->row_pitch % gpu->texel_pitch || desc->width > MAX_FILTER_SIDE)
        return;
    memory.res.pitch2D.devPtr = mem->address;
    memory.res.pitch2D.format = channel.format;
    memory.res.pitch2D.numChannels = image->n_channels;
    memory.res.pitch2D.width = desc->width;
    memory.res.pitch2D.height = rows;
    memory.res.pitch2D.pitchInBytes = desc->row_pitch;
    if (!tsl_cu.cuTexObjectCreate(&mem->filter, &memory, &how, NULL)) {
        image->filter = mem->filter;
        image->filter_rows = rows == desc->height ? 0 : (uint32_t)(desc->slice_pitch / desc->row_pitch);
    }
}

void tsl_cuda_texture_make(struct tsl_cuda_mem *mem, const struct tsl_image_desc *desc, struct tsl_kc_image *image)
{
    bool is_flat = desc->type == CL_MEM_OBJECT_IMAGE2D || desc->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
                   desc->type == CL_MEM_OBJECT_IMAGE3D;
    struct channel channel;

    if (!mem->plain || !has_order(desc->format.image_channel_order) ||
        !find_channel(desc->format.image_channel_data_type, &channel))
        return;
    make_texels(mem, desc, channel, image);
    if (is_flat && image->texture && tsl_settings()->filter == TSL_FILTER_HARDWARE)
        make_filter(mem, desc, channel, image);
}

void tsl_cuda_texture_free(CUtexObject texture)
{
    if (texture)
        tsl_cu.cuTexObjectDestroy(texture);
}
