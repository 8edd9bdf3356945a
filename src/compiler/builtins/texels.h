/*
 * Pixels by a GPU's texture units, for image.cl. A texture object over an image's memory, which is one row to it,
 * yields the words of a pixel in any format that CUDA knows, bit for bit as image.cl makes them; channels that the
 * format doesn't have are 0, and so are all of a texel outside of the texture. There is no branch over formats, so the
 * reads of a loop overlap.
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

/* The border color of formats with three or four channels is 0 in all of them; that of others has their alpha. */
static inline int4 texel(Image image, bool inside, int x, int y, int z)
{
    int at = image->first_texel + z * image->slice_texels + y * image->row_texels + x;
    float a, b, c, d;
    int4 words;

    __asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
          : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
          : "l"(image->texture), "r"(inside ? at : -1));
    words = as_int4((float4)(a, b, c, d));
    if (image->n_channels < 4)
        words.w = image->alpha;
    return image->channel_order == CLK_BGRA ? words.zyxw : words;
}

#else

#define LOAD(T, N, p)     vload##N(0, (const __global T *)(p))
#define STORE(T, N, v, p) vstore##N(v, 0, (__global T *)(p))

static inline bool reads_texels(void)
{
    return false;
}

static inline int4 texel(Image image, bool inside, int x, int y, int z)
{
    return 0;
}

#endif
#endif
