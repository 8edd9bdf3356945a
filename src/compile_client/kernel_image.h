/*
 * Images and samplers as compiled kernels see them, on the CPU and on NVIDIA's GPUs alike. This header is read by C and
 * by OpenCL C (compiler/builtins/image.cl): both sides share the layout and the lists.
 *
 * An image argument is a pointer to a struct tsl_kc_image in memory that the kernel can read as global memory,
 * 8-aligned, constant while the launch runs. The pixels are plain memory: (x, y, z) at data + z * slice_pitch + y *
 * row_pitch + x * element_size. In a 1D array z is the layer and y is 0, in a 2D array z is the layer.
 *
 * A sampler, argument or literal, is a number of TSL_KC_SAMPLER_ bits, as Clang encodes literals (OpenCL
 * C 3.0, 6.15.15.1); it stands in the place of a pointer, so its argument is 8 bytes, zero-extended.
 */
#ifndef TSL_COMPILE_CLIENT_KERNEL_IMAGE_H
#define TSL_COMPILE_CLIENT_KERNEL_IMAGE_H

#ifdef __OPENCL_C_VERSION__
typedef uint tsl_kc_u32;
typedef ulong tsl_kc_u64;
#else
#include "driver/driver.h"

typedef uint32_t tsl_kc_u32;
typedef uint64_t tsl_kc_u64;
#endif

/* 96 bytes. Sizes that the image's type doesn't have are 1; array_size is 1 unless the image is an array. */
struct tsl_kc_image {
    tsl_kc_u64 data; /* address */
    tsl_kc_u32 width, height, depth, array_size;
    tsl_kc_u64 row_pitch, slice_pitch;      /* bytes */
    tsl_kc_u32 channel_order, channel_type; /* CL_RGBA, CL_FLOAT … */
    tsl_kc_u32 element_size, n_channels;    /* bytes of a pixel; channels in memory */
    tsl_kc_u32 kind;                        /* TSL_KC_IMAGE_… */
    tsl_kc_u32 alpha;                       /* the fourth word of a pixel with fewer than four channels */
    /* On NVIDIA's GPUs: a texture object over the pixels, by which kernels that were made for that read them; 0: none.
     * (x, y, z) is its texel first_texel + z * slice_texels + y * row_texels + x. */
    tsl_kc_u64 texture;
    /* Another, by whose filter they read an image of two or three dimensions with linear samplers; 0: none. Outside it
     * is 0. Pixel (x, y, z) lies in row y + z * filter_rows, which is 0 where all have the same z. */
    tsl_kc_u64 filter;
    tsl_kc_u32 first_texel, row_texels, slice_texels, filter_rows;
};

/* Formats for which kernels have short code of their own. */
#define TSL_KC_IMAGE_OTHER       0u
#define TSL_KC_IMAGE_RGBA_FLOAT  1u
#define TSL_KC_IMAGE_RGBA_UNORM8 2u
#define TSL_KC_IMAGE_R_FLOAT     3u /* one float, for one channel or several: of CL_R, _DEPTH, _INTENSITY, _LUMINANCE */
#define TSL_KC_IMAGE_R_UNORM8    4u /* planes of pictures: gray, or one channel of a film; … */
#define TSL_KC_IMAGE_RG_UNORM8   5u
#define TSL_KC_IMAGE_R_UNORM16   6u
#define TSL_KC_IMAGE_RG_UNORM16  7u
#define TSL_KC_IMAGE_RGBA_INT32  8u /* signed or not; from here on integers, which no filter mixes */
#define TSL_KC_IMAGE_RGBA_UINT8  9u

#define TSL_KC_SAMPLER_NORMALIZED 0x01u
#define TSL_KC_SAMPLER_ADDRESS    0x0eu /* the mask, and its values; 0: none */
#define TSL_KC_SAMPLER_EDGE       0x02u /* CL_ADDRESS_CLAMP_TO_EDGE */
#define TSL_KC_SAMPLER_CLAMP      0x04u
#define TSL_KC_SAMPLER_REPEAT     0x06u
#define TSL_KC_SAMPLER_MIRRORED   0x08u
#define TSL_KC_SAMPLER_NEAREST    0x10u
#define TSL_KC_SAMPLER_LINEAR     0x20u

#ifndef __OPENCL_C_VERSION__

/* The description of an image whose canonical bytes lie at `data`. */
struct tsl_kc_image tsl_kc_image_of(const struct tsl_image_desc *desc, uint64_t data);

/* The bits of a sampler. */
uint64_t tsl_kc_sampler(const struct tsl_sampler_desc *sampler);

/*
 * The formats that kernels can use, as clGetSupportedImageFormats lists them: flags CL_MEM_READ_ONLY, WRITE_ONLY,
 * READ_WRITE (0 means the same) or KERNEL_READ_AND_WRITE. At most n of them are written to formats (may be NULL).
 * Returns how many there are.
 */
cl_uint tsl_kc_formats(cl_mem_flags flags, cl_mem_object_type type, cl_uint n, cl_image_format *formats);

/* Limits of the images that a kernel may be given (CL_DEVICE_IMAGE2D_MAX_WIDTH …): coordinates must be exact in a
 * float. */
#define TSL_KC_IMAGE_MAX_SIZE   16384u /* each side of a 1D or 2D image, layers apart */
#define TSL_KC_IMAGE_MAX_3D     4096u  /* each side of a 3D image */
#define TSL_KC_IMAGE_MAX_LAYERS 2048u
#define TSL_KC_IMAGE_MAX_BUFFER (1u << 27) /* pixels of a 1D buffer image */
#define TSL_KC_MAX_IMAGES       128u       /* arguments of a kernel */
#define TSL_KC_MAX_SAMPLERS     16u

#endif
#endif
