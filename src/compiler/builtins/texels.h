/*
 * Pixels by a GPU's texture units, for image.cl. A texture object over an image's memory, which is one row to it,
 * yields the words of a pixel in any format that CUDA knows, bit for bit as image.cl makes them; channels that the
 * format doesn't have are 0, and so are all of a texel outside of the texture. There is no branch over formats, so the
 * reads of a loop overlap. Another object over the same memory, whose rows are the image's, mixes four pixels, by
 * weights of eight bits.
 *
 * nvptx/image.cl defines TEXELS: elsewhere no kernel reads by them.
 */
#ifndef KC_BUILTINS_TEXELS_H
#define KC_BUILTINS_TEXELS_H

#ifdef TEXELS

/* A GPU loads and stores a pixel at once where it lies at a multiple of its size, as all do in its memory. T: of a
 * channel. */
#define LOAD(T, N, p)     (*(const __global T##N *)(p))
#define STORE(T, N, v, p) (*(__global T##N *)(p) = (v))

/* What kernels are asked, and answered one by one (compiler/ptx/textures.h). */
int __tsl_reads_texels(void);

static inline bool reads_texels(void)
{
    return __tsl_reads_texels();
}

/* A pixel's words of what a texture has. The border color of formats with three or four channels is 0 in all of them;
 * that of others has their alpha. */
static inline int4 words_of(Image image, float4 channels)
{
    int4 words = as_int4(channels);

    if (image->channel_order == CLK_INTENSITY || image->channel_order == CLK_LUMINANCE)
        words = words.xxxx;
    if (image->n_channels < 4 && image->channel_order != CLK_INTENSITY)
        words.w = image->alpha;
    return image->channel_order == CLK_BGRA ? words.zyxw : words;
}

/* What the texture has. */
static inline float4 channels_at(Image image, bool inside, int x, int y, int z)
{
    int at = image->first_texel + z * image->slice_texels + y * image->row_texels + x;
    float a, b, c, d;

    __asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
          : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
          : "l"(image->texture), "r"(inside ? at : -1));
    return (float4)(a, b, c, d);
}

static inline bool has_filter(Image image)
{
    return image->filter != 0;
}

/* Are there slices or layers, one below the other in the texture? */
static inline bool has_planes(Image image)
{
    return image->filter_rows != 0;
}

/* The channels of four pixels mixed, of the plane z, around (u, v). Those outside the texture are the border. */
static inline float4 channels_around(Image image, float u, float v, int z)
{
    float a, b, c, d, row = z == 0 ? v : v + (float)(z * (int)image->filter_rows);

    __asm("tex.level.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0f00000000;"
          : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
          : "l"(image->filter), "f"(u), "f"(row));
    return (float4)(a, b, c, d);
}

#else

#define LOAD(T, N, p)     vload##N(0, (const __global T *)(p))
#define STORE(T, N, v, p) vstore##N(v, 0, (__global T *)(p))

static inline bool reads_texels(void)
{
    return false;
}

static inline int4 words_of(Image image, float4 channels)
{
    return 0;
}

static inline float4 channels_at(Image image, bool inside, int x, int y, int z)
{
    return 0;
}

static inline bool has_filter(Image image)
{
    return false;
}

static inline bool has_planes(Image image)
{
    return false;
}

static inline float4 channels_around(Image image, float u, float v, int z)
{
    return 0;
}

#endif
#endif
