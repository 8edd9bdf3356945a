/*
 * Images and samplers (OpenCL C 3.0, 6.15.15; OpenCL 3.0, 8): software sampling on plain memory, described by
 * compile_client/kernel_image.h, with the specification's own formulas in its own order.
 *
 * Clang doesn't let code look into an image or a sampler, so two functions of image_same.cl, which return their
 * arguments, are declared here with other types. Large functions aren't inlined: compiler/middle/link.c leaves those
 * whose names begin with __tsl_called_. Those of which the compiler knows the names, …image_load, …image_store and
 * …image_sample, have short code for the usual formats, and call others for the rest; they are inlined in the end
 * (compiler/middle/images.h). A pixel is four words, whose meaning depends on the format.
 *
 * A GPU's texture units know nearly all formats, so there kernels exist twice, and one of both reads by them (texels.h).
 */
#include "common.h"
#include "compile_client/kernel_image.h"
#include "half_conversions.h"
#include "srgb.h"

#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_depth_images : enable
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

typedef const __global struct tsl_kc_image *Image;

#include "texels.h"

#ifndef CLK_UNORM_INT_101010_2 /* before Clang 17 */
#define CLK_UNORM_INT_101010_2 0x10E0
#endif

#define CALLED __attribute__((noinline))
#define BORDER (-1) /* an index outside the image */

uint OVERLOADABLE sampler_bits(sampler_t sampler) __asm__("__tsl_sampler_bits");

/* ---- Pixels ------------------------------------------------------------------------------------------------------- */

static int4 in_order(uint order, int4 m, int one)
{
    switch (order) {
    case CLK_R:
    case CLK_DEPTH:
        return (int4)(m.x, 0, 0, one);
    case CLK_A:
        return (int4)(0, 0, 0, m.x);
    case CLK_RG:
        return (int4)(m.x, m.y, 0, one);
    case CLK_RA:
        return (int4)(m.x, 0, 0, m.y);
    case CLK_RGB:
    case CLK_RGBx:
        return (int4)(m.x, m.y, m.z, one);
    case CLK_INTENSITY:
        return m.xxxx;
    case CLK_LUMINANCE:
        return (int4)(m.x, m.x, m.x, one);
    case CLK_BGRA:
    case CLK_sBGRA:
        return m.zyxw;
    case CLK_ARGB:
        return m.yzwx;
    case CLK_ABGR:
        return m.wzyx;
    default:
        return m;
    }
}

static int4 out_of_order(uint order, int4 c)
{
    switch (order) {
    case CLK_A:
        return c.wwww;
    case CLK_RA:
        return c.xwww;
    case CLK_BGRA:
        return c.zyxw;
    case CLK_ARGB:
        return c.wxyz;
    case CLK_ABGR:
        return c.wzyx;
    default:
        return c;
    }
}

static bool is_integer(uint type)
{
    return type >= CLK_SIGNED_INT8 && type <= CLK_UNSIGNED_INT32;
}

static int one_of(uint type)
{
    return is_integer(type) ? 1 : as_int(1.0f);
}

/* The border color, for coordinates outside the image (8.2, Table "border colour"). */
static int4 border(Image image)
{
    uint order = image->channel_order;
    bool opaque = order == CLK_R || order == CLK_RG || order == CLK_RGB || order == CLK_LUMINANCE;

    return (int4)(0, 0, 0, opaque ? one_of(image->channel_type) : 0);
}

#define LOAD_TYPE(T)                                                                                   \
    static T##4 load_##T(const __global T *p, uint n)                                                  \
    {                                                                                                  \
        return n == 4 ? LOAD(T, 4, p) : n == 1 ? (T##4)(p[0], 0, 0, 0) : (T##4)(p[0], p[1], 0, 0); \
    }                                                                                                  \
    static void store_##T(__global T *p, uint n, T##4 m)                                               \
    {                                                                                                  \
        if (n == 4) {                                                                                  \
            STORE(T, 4, m, p);                                                                         \
            return;                                                                                    \
        }                                                                                              \
        p[0] = m.x;                                                                                    \
        if (n == 2)                                                                                    \
            p[1] = m.y;                                                                                \
    }
LOAD_TYPE(char)
LOAD_TYPE(uchar)
LOAD_TYPE(short)
LOAD_TYPE(ushort)
LOAD_TYPE(int)

static float4 load_half(const __global half *p, uint n)
{
    float4 m = 0;

    m.x = vload_half(0, p);
    if (n > 1)
        m.y = vload_half(1, p);
    if (n > 2)
        m.zw = vload_half2(1, p);
    return m;
}

static void store_half(__global half *p, uint n, float4 m)
{
    vstore_half_rte(m.x, 0, p);
    if (n > 1)
        vstore_half_rte(m.y, 1, p);
    if (n > 2) {
        vstore_half_rte(m.z, 2, p);
        vstore_half_rte(m.w, 3, p);
    }
}

/* v: fields from the highest to the lowest */
static float4 unpack(uint v, uint4 shift, uint4 mask)
{
    return convert_float4((uint4)v >> shift & mask) / convert_float4(mask);
}

static uint pack(float4 c, uint4 shift, uint4 mask)
{
    uint4 m = min(convert_uint4_sat_rte(c * convert_float4(mask)), mask) << shift;

    return m.x | m.y | m.z | m.w;
}

#define SHIFT_565    (uint4)(11, 5, 0, 0)
#define MASK_565     (uint4)(31, 63, 31, 1)
#define SHIFT_555    (uint4)(10, 5, 0, 0)
#define MASK_555     (uint4)(31, 31, 31, 1)
#define SHIFT_101010 (uint4)(20, 10, 0, 0)
#define MASK_101010  (uint4)(1023, 1023, 1023, 1)
#define SHIFT_LAST   (uint4)(22, 12, 2, 0)
#define MASK_LAST    (uint4)(1023, 1023, 1023, 3)

/* As m / 255.0f and m / 65535.0f, correctly rounded, for whole numbers up to these: the first product is exact, the
 * second so small that its rounding changes no sum. A division takes ten times as long. */
#define PART_255(m)   ((m) * 0x1.01p-8f + (m) * 0x1.010102p-24f)
#define PART_65535(m) ((m) * 0x1p-16f + (m) * 0x1.0001p-32f)

static float4 load_unorm8(const __global uchar *p, uint order, uint n)
{
    uchar4 m = load_uchar(p, n);
    float4 c = PART_255(convert_float4(m));

    if (order == CLK_sRGBA || order == CLK_sBGRA)
        c = (float4)(linear[m.x], linear[m.y], linear[m.z], c.w);
    return c;
}

/* OpenCL 3.0, 8.3.1, allows 1.5 ulp; these are the nearest floats. */
static int4 load_memory(Image image, const __global void *p)
{
    uint n = image->n_channels;

    switch (image->channel_type) {
    case CLK_SNORM_INT8:
        return as_int4(max(convert_float4(load_char(p, n)) / 127.0f, -1.0f));
    case CLK_SNORM_INT16:
        return as_int4(max(convert_float4(load_short(p, n)) / 32767.0f, -1.0f));
    case CLK_UNORM_INT8:
        return as_int4(load_unorm8(p, image->channel_order, n));
    case CLK_UNORM_INT16:
        return as_int4(PART_65535(convert_float4(load_ushort(p, n))));
    case CLK_UNORM_SHORT_565:
        return as_int4(unpack(*(const __global ushort *)p, SHIFT_565, MASK_565));
    case CLK_UNORM_SHORT_555:
        return as_int4(unpack(*(const __global ushort *)p, SHIFT_555, MASK_555));
    case CLK_UNORM_INT_101010:
        return as_int4(unpack(*(const __global uint *)p, SHIFT_101010, MASK_101010));
    case CLK_UNORM_INT_101010_2:
        return as_int4(unpack(*(const __global uint *)p, SHIFT_LAST, MASK_LAST));
    case CLK_SIGNED_INT8:
        return convert_int4(load_char(p, n));
    case CLK_SIGNED_INT16:
        return convert_int4(load_short(p, n));
    case CLK_UNSIGNED_INT8:
        return convert_int4(load_uchar(p, n));
    case CLK_UNSIGNED_INT16:
        return convert_int4(load_ushort(p, n));
    case CLK_HALF_FLOAT:
        return as_int4(load_half(p, n));
    default:
        return load_int(p, n);
    }
}

static void store_memory(Image image, __global void *p, int4 m)
{
    uint n = image->n_channels;
    float4 c = as_float4(m);

    switch (image->channel_type) {
    case CLK_SNORM_INT8:
        store_char(p, n, convert_char4_sat_rte(max(c, -1.0f) * 127.0f));
        break;
    case CLK_SNORM_INT16:
        store_short(p, n, convert_short4_sat_rte(max(c, -1.0f) * 32767.0f));
        break;
    case CLK_UNORM_INT8:
        store_uchar(p, n, convert_uchar4_sat_rte(c * 255.0f));
        break;
    case CLK_UNORM_INT16:
        store_ushort(p, n, convert_ushort4_sat_rte(c * 65535.0f));
        break;
    case CLK_UNORM_SHORT_565:
        *(__global ushort *)p = pack((float4)(c.xyz, 0), SHIFT_565, MASK_565);
        break;
    case CLK_UNORM_SHORT_555:
        *(__global ushort *)p = pack((float4)(c.xyz, 0), SHIFT_555, MASK_555);
        break;
    case CLK_UNORM_INT_101010:
        *(__global uint *)p = pack((float4)(c.xyz, 0), SHIFT_101010, MASK_101010);
        break;
    case CLK_UNORM_INT_101010_2:
        *(__global uint *)p = pack(c, SHIFT_LAST, MASK_LAST);
        break;
    case CLK_SIGNED_INT8:
        store_char(p, n, convert_char4_sat(m));
        break;
    case CLK_SIGNED_INT16:
        store_short(p, n, convert_short4_sat(m));
        break;
    case CLK_UNSIGNED_INT8:
        store_uchar(p, n, convert_uchar4_sat(as_uint4(m)));
        break;
    case CLK_UNSIGNED_INT16:
        store_ushort(p, n, convert_ushort4_sat(as_uint4(m)));
        break;
    case CLK_HALF_FLOAT:
        store_half(p, n, c);
        break;
    default:
        store_int(p, n, m);
    }
}

/* ---- By integer coordinates --------------------------------------------------------------------------------------- */

/* What is 0 in the code needs no test. */
static bool is_inside(Image image, int x, int y, int z)
{
    return ((uint)x < image->width) & ((y == 0) | ((uint)y < image->height)) &
           ((z == 0) | ((uint)z < image->depth * image->array_size));
}

static ulong address(Image image, int x, int y, int z)
{
    return image->data + z * image->slice_pitch + y * image->row_pitch + x * (ulong)image->element_size;
}

/* inside: the caller knows that it is; of functions below, too. */
CALLED __attribute__((pure)) int4 __tsl_called_other_load(Image image, int x, int y, int z, bool inside)
{
    int4 m;

    if (!inside && !is_inside(image, x, y, z))
        return border(image);
    m = load_memory(image, (const __global void *)address(image, x, y, z));
    return in_order(image->channel_order, m, one_of(image->channel_type));
}

CALLED void __tsl_called_other_store(Image image, int x, int y, int z, int4 c)
{
    if (is_inside(image, x, y, z))
        store_memory(image, (__global void *)address(image, x, y, z), out_of_order(image->channel_order, c));
}

static inline bool is_plane(uint kind)
{
    return kind >= TSL_KC_IMAGE_R_UNORM8 && kind <= TSL_KC_IMAGE_RG_UNORM16;
}

/* One channel or two of a plane, as (float)m. */
static inline float2 load_plane(uint kind, ulong from)
{
    if (kind == TSL_KC_IMAGE_R_UNORM8)
        return (float2)(*(const __global uchar *)from, 0);
    if (kind == TSL_KC_IMAGE_RG_UNORM8)
        return convert_float2(LOAD(uchar, 2, from));
    if (kind == TSL_KC_IMAGE_R_UNORM16)
        return (float2)(*(const __global ushort *)from, 0);
    return convert_float2(LOAD(ushort, 2, from));
}

static inline void store_plane(uint kind, ulong to, float2 c)
{
    bool two = kind == TSL_KC_IMAGE_RG_UNORM8 || kind == TSL_KC_IMAGE_RG_UNORM16;

    if (kind >= TSL_KC_IMAGE_R_UNORM16) {
        ushort2 m = convert_ushort2_sat_rte(c * 65535.0f);
        if (two)
            STORE(ushort, 2, m, to);
        else
            *(__global ushort *)to = m.x;
    } else {
        uchar2 m = convert_uchar2_sat_rte(c * 255.0f);
        if (two)
            STORE(uchar, 2, m, to);
        else
            *(__global uchar *)to = m.x;
    }
}

/* The words of a pixel that is inside, and of the border color, in formats whose fourth word there is `one`. */
#define INSIDE_OR(inside, m, one) ((inside) ? (m) : (int4)(0, 0, 0, one))

static inline int4 plane(uint kind, bool inside, ulong from)
{
    float2 c = inside ? load_plane(kind, from) : (float2)0;

    c = kind >= TSL_KC_IMAGE_R_UNORM16 ? PART_65535(c) : PART_255(c);
    return (int4)(as_int2(c), 0, as_int(1.0f));
}

/* A pixel of one float, which may stand for several channels. */
static inline int4 one_float(uint order, bool inside, ulong from)
{
    int m = inside ? *(const __global int *)from : 0;
    int other = order == CLK_INTENSITY || order == CLK_LUMINANCE ? m : 0;

    return (int4)(m, other, other, order == CLK_INTENSITY ? m : as_int(1.0f));
}

/* A pixel of a usual format, or the border color: kind is one of TSL_KC_IMAGE_…, but not OTHER. All work-items have one
 * image, not all are inside: asked in this order, what is for other formats is skipped by all of them. */
static inline int4 load_usual(Image image, uint kind, bool inside, ulong from)
{
    if (kind == TSL_KC_IMAGE_R_FLOAT)
        return one_float(image->channel_order, inside, from);
    if (kind == TSL_KC_IMAGE_RGBA_FLOAT || kind == TSL_KC_IMAGE_RGBA_INT32)
        return INSIDE_OR(inside, LOAD(int, 4, from), 0);
    if (kind == TSL_KC_IMAGE_RGBA_UNORM8)
        return INSIDE_OR(inside, as_int4(PART_255(convert_float4(LOAD(uchar, 4, from)))), 0);
    if (kind == TSL_KC_IMAGE_RGBA_UINT8)
        return INSIDE_OR(inside, convert_int4(LOAD(uchar, 4, from)), 0);
    return plane(kind, inside, from);
}

static inline void store_usual(uint kind, ulong to, int4 c)
{
    if (kind == TSL_KC_IMAGE_R_FLOAT)
        *(__global int *)to = c.x;
    else if (is_plane(kind))
        store_plane(kind, to, as_float2(c.xy));
    else if (kind == TSL_KC_IMAGE_RGBA_UNORM8)
        STORE(uchar, 4, convert_uchar4_sat_rte(as_float4(c) * 255.0f), to);
    else if (kind == TSL_KC_IMAGE_RGBA_UINT8)
        STORE(uchar, 4, convert_uchar4_sat(as_uint4(c)), to);
    else
        STORE(int, 4, c, to);
}

static inline int4 load_pixel(Image image, int x, int y, int z, bool inside)
{
    uint kind = image->kind;

    if (kind == TSL_KC_IMAGE_OTHER)
        return __tsl_called_other_load(image, x, y, z, inside);
    return load_usual(image, kind, inside || is_inside(image, x, y, z), address(image, x, y, z));
}

/* Of an image that the kernel doesn't write. Outside the image, the border color: no memory outside the image is
 * read. */
CALLED __attribute__((pure)) int4 __tsl_called_image_load(Image image, int x, int y, int z, bool inside)
{
    if (reads_texels())
        return words_of(image, channels_at(image, inside || is_inside(image, x, y, z), x, y, z));
    return load_pixel(image, x, y, z, inside);
}

/* Of one that it may write. */
CALLED __attribute__((pure)) int4 __tsl_called_image_load_again(Image image, int x, int y, int z, bool inside)
{
    return load_pixel(image, x, y, z, inside);
}

/* Outside the image nothing is written. */
CALLED void __tsl_called_image_store(Image image, int x, int y, int z, int4 c)
{
    uint kind = image->kind;

    if (kind == TSL_KC_IMAGE_OTHER)
        __tsl_called_other_store(image, x, y, z, c);
    else if (is_inside(image, x, y, z))
        store_usual(kind, address(image, x, y, z), c);
}

/* Clamped or, with CLK_ADDRESS_CLAMP, the border. Without an address mode, coordinates outside are undefined. */
static int by_mode(uint sampler, int i, uint size)
{
    if ((sampler & TSL_KC_SAMPLER_ADDRESS) == TSL_KC_SAMPLER_CLAMP)
        return (uint)i < size ? i : BORDER;
    return clamp(i, 0, (int)size - 1);
}

static int4 at(Image image, uint sampler, int x, int y, int z, int layer, int dimensions)
{
    x = by_mode(sampler, x, image->width);
    y = dimensions > 1 ? by_mode(sampler, y, image->height) : 0;
    z = dimensions > 2 ? by_mode(sampler, z, image->depth)
                       : layer == 0 ? 0 : clamp(layer, 0, (int)image->array_size - 1);
    return __tsl_called_image_load(image, x, y, z, (sampler & TSL_KC_SAMPLER_ADDRESS) != TSL_KC_SAMPLER_CLAMP);
}

/* ---- By coordinates in floating point (8.2) ----------------------------------------------------------------------- */

static bool repeats(uint sampler)
{
    return (sampler & (TSL_KC_SAMPLER_ADDRESS | TSL_KC_SAMPLER_NORMALIZED)) ==
           (TSL_KC_SAMPLER_REPEAT | TSL_KC_SAMPLER_NORMALIZED);
}

/* Small enough for an integer, and still outside wherever it was outside. What repeats is 0 … size, but for NaNs. */
static float tame(uint sampler, float u, uint size)
{
    return repeats(sampler) ? fmax(u, 0.0f) : fmin(fmax(u, -2.0f), (float)size + 1.0f);
}

/* s' of CLK_ADDRESS_MIRRORED_REPEAT: 0 … 1 */
static float mirrored(float s)
{
    return fabs(s - 2.0f * rint(0.5f * s));
}

static float unnormalized(uint sampler, float s, uint size)
{
    switch (sampler & (TSL_KC_SAMPLER_ADDRESS | TSL_KC_SAMPLER_NORMALIZED)) {
    case TSL_KC_SAMPLER_REPEAT | TSL_KC_SAMPLER_NORMALIZED:
        return (s - floor(s)) * size;
    case TSL_KC_SAMPLER_MIRRORED | TSL_KC_SAMPLER_NORMALIZED:
        return mirrored(s) * size;
    case TSL_KC_SAMPLER_REPEAT:
    case TSL_KC_SAMPLER_MIRRORED:
        return s;
    default:
        return sampler & TSL_KC_SAMPLER_NORMALIZED ? s * size : s;
    }
}

/* The pixel for index i: CLK_ADDRESS_REPEAT wraps around once, the other modes clamp. */
static int wrap(uint sampler, int i, uint size)
{
    int n = (int)size;

    if (repeats(sampler))
        return i < 0 ? n - 1 : i > n - 1 ? 0 : i;
    return by_mode(sampler, i, size);
}

static int nearest(uint sampler, float s, uint size)
{
    float u = tame(sampler, unnormalized(sampler, s, size), size);
    uint i = (uint)u;

    return repeats(sampler) ? (i < size ? (int)i : 0) : wrap(sampler, (int)floor(u), size);
}

/* Two pixels in one dimension, and the weight of the second. */
struct pair {
    int i[2];
    float part[2];
};

static struct pair pair_of(uint sampler, float s, uint size)
{
    float u = tame(sampler, unnormalized(sampler, s, size), size), v = u - 0.5f;
    float first = floor(v), part = v - first;
    int i = (int)first;
    struct pair pair;

    pair.i[0] = wrap(sampler, i, size);
    pair.i[1] = wrap(sampler, i + 1, size);
    pair.part[0] = 1.0f - part;
    pair.part[1] = part;
    return pair;
}

#define BY_TEXELS (~0u) /* in the place of a kind */

/* A pixel's words, or by texels its channels. kind is known when Tesela is built, or that of a plane. inside:
 * it is, whatever the coordinates are. */
static inline float4 pixel(Image image, uint kind, bool inside, int x, int y, int z)
{
    if (kind == TSL_KC_IMAGE_OTHER)
        return as_float4(__tsl_called_other_load(image, x, y, z, inside));
    inside = inside || is_inside(image, x, y, z);
    return kind == BY_TEXELS ? channels_at(image, inside, x, y, z)
                             : as_float4(load_usual(image, kind, inside, address(image, x, y, z)));
}

/* Do indices stay inside whatever the coordinates are? */
static inline bool stays_inside(uint sampler)
{
    return (sampler & TSL_KC_SAMPLER_ADDRESS) != TSL_KC_SAMPLER_CLAMP;
}

/* Is what lies beyond an edge the edge? */
static inline bool ends_at_edges(uint sampler)
{
    return stays_inside(sampler) && (sampler & TSL_KC_SAMPLER_ADDRESS) != TSL_KC_SAMPLER_REPEAT;
}

struct filter {
    Image image;
    uint kind;
    bool inside;
};

static inline float4 mix_row(struct filter f, struct pair x, int y, int z)
{
    return pixel(f.image, f.kind, f.inside, x.i[0], y, z) * x.part[0] +
           pixel(f.image, f.kind, f.inside, x.i[1], y, z) * x.part[1];
}

static inline float4 mix_plane(struct filter f, struct pair x, struct pair y, int z)
{
    return mix_row(f, x, y.i[0], z) * y.part[0] + mix_row(f, x, y.i[1], z) * y.part[1];
}

/* A coordinate for a texture unit; modes that clamp are done here, and outside of one plane alone there is the border.
 * false: it is near an edge, where the mode has pixels that aren't beside it in memory. */
static inline bool is_amid(Image image, uint sampler, float s, uint size, float *u)
{
    float given = unnormalized(sampler, s, size), amid = fmin(fmax(given, 0.5f), (float)size - 0.5f);

    *u = ends_at_edges(sampler) ? amid : tame(sampler, given, size);
    return ends_at_edges(sampler) || amid == given ||
           (!has_planes(image) && (sampler & TSL_KC_SAMPLER_ADDRESS) == TSL_KC_SAMPLER_CLAMP);
}

/* By a texture unit. false: it can't. */
static inline bool mix_texels(Image image, uint sampler, float3 s, int layer, int dimensions, float4 *mixed)
{
    struct pair z;
    float u, v;

    if (!is_amid(image, sampler, s.x, image->width, &u) || !is_amid(image, sampler, s.y, image->height, &v))
        return false;
    if (dimensions == 2) {
        *mixed = channels_around(image, u, v, layer);
        return true;
    }
    z = pair_of(sampler, s.z, image->depth);
    if (z.i[0] == BORDER || z.i[1] == BORDER)
        return false;
    *mixed = channels_around(image, u, v, z.i[0]) * z.part[0] + channels_around(image, u, v, z.i[1]) * z.part[1];
    return true;
}

static inline float4 mix_all(Image image, uint kind, uint sampler, float3 s, int layer, int dimensions)
{
    struct filter f = {image, kind, stays_inside(sampler)};
    struct pair x = pair_of(sampler, s.x, image->width), y, z;

    if (dimensions == 1)
        return mix_row(f, x, 0, layer);
    y = pair_of(sampler, s.y, image->height);
    if (dimensions == 2)
        return mix_plane(f, x, y, layer);
    z = pair_of(sampler, s.z, image->depth);
    return mix_plane(f, x, y, z.i[0]) * z.part[0] + mix_plane(f, x, y, z.i[1]) * z.part[1];
}

static inline int4 linear_at(Image image, uint kind, uint sampler, float3 s, int layer, int dimensions)
{
    float4 mixed;

    if (kind != BY_TEXELS)
        return as_int4(mix_all(image, kind, sampler, s, layer, dimensions));
    if (dimensions == 1 || !has_filter(image) || !mix_texels(image, sampler, s, layer, dimensions, &mixed))
        mixed = mix_all(image, BY_TEXELS, sampler, s, layer, dimensions);
    return words_of(image, mixed);
}

/* The layer of an array, not yet rounded; else 0. */
static inline int layer_of(Image image, float layer)
{
    return layer == 0 ? 0 : (int)rint(fmin(fmax(layer, 0.0f), (float)(image->array_size - 1)));
}

CALLED __attribute__((pure)) int4 __tsl_called_other_sample(Image image, uint sampler, float3 s, float layer,
                                                           int dimensions)
{
    int x, y, z = layer_of(image, layer);

    if (sampler & TSL_KC_SAMPLER_LINEAR && !is_integer(image->channel_type))
        return linear_at(image, TSL_KC_IMAGE_OTHER, sampler, s, z, dimensions);
    x = nearest(sampler, s.x, image->width);
    y = dimensions > 1 ? nearest(sampler, s.y, image->height) : 0;
    z = dimensions > 2 ? nearest(sampler, s.z, image->depth) : z;
    return __tsl_called_other_load(image, x, y, z, stays_inside(sampler));
}

static inline int4 nearest_at(Image image, uint kind, uint sampler, float3 s, int layer, int dimensions)
{
    int x = nearest(sampler, s.x, image->width), y = dimensions > 1 ? nearest(sampler, s.y, image->height) : 0;
    int z = dimensions > 2 ? nearest(sampler, s.z, image->depth) : layer;
    float4 c = pixel(image, kind, stays_inside(sampler), x, y, z);

    return kind == BY_TEXELS ? words_of(image, c) : as_int4(c);
}

static inline int4 sample_texels(Image image, uint sampler, float3 s, int layer, int dimensions)
{
    if (sampler & TSL_KC_SAMPLER_LINEAR)
        return linear_at(image, BY_TEXELS, sampler, s, layer, dimensions);
    return nearest_at(image, BY_TEXELS, sampler, s, layer, dimensions);
}

/* layer: of an array, not yet rounded; else 0. */
CALLED __attribute__((pure)) int4 __tsl_called_image_sample(Image image, uint sampler, float3 s, float layer,
                                                           int dimensions)
{
    bool mixes = sampler & TSL_KC_SAMPLER_LINEAR;
    uint kind = image->kind;
    int z = layer_of(image, layer);

    if (reads_texels())
        return sample_texels(image, sampler, s, z, dimensions);
    if (kind == TSL_KC_IMAGE_OTHER || (mixes && dimensions > 2))
        return __tsl_called_other_sample(image, sampler, s, layer, dimensions);
    if (!mixes || kind >= TSL_KC_IMAGE_RGBA_INT32)
        return nearest_at(image, kind, sampler, s, z, dimensions);
    if (kind == TSL_KC_IMAGE_RGBA_FLOAT)
        return linear_at(image, TSL_KC_IMAGE_RGBA_FLOAT, sampler, s, z, dimensions);
    if (kind == TSL_KC_IMAGE_RGBA_UNORM8)
        return linear_at(image, TSL_KC_IMAGE_RGBA_UNORM8, sampler, s, z, dimensions);
    if (is_plane(kind))
        return linear_at(image, kind, sampler, s, z, dimensions);
    return linear_at(image, TSL_KC_IMAGE_R_FLOAT, sampler, s, z, dimensions);
}

/* ---- The functions ------------------------------------------------------------------------------------------------ */

#define SAMPLE_1D(i, b, c)       __tsl_called_image_sample(i, b, (float3)(c, 0, 0), 0, 1)
#define SAMPLE_1D_ARRAY(i, b, c) __tsl_called_image_sample(i, b, (float3)(c.x, 0, 0), c.y, 1)
#define SAMPLE_2D(i, b, c)       __tsl_called_image_sample(i, b, (float3)(c.xy, 0), 0, 2)
#define SAMPLE_2D_ARRAY(i, b, c) __tsl_called_image_sample(i, b, (float3)(c.xy, 0), c.z, 2)
#define SAMPLE_3D(i, b, c)       __tsl_called_image_sample(i, b, c.xyz, 0, 3)
#define AT_1D(i, b, c)           at(i, b, c, 0, 0, 0, 1)
#define AT_1D_ARRAY(i, b, c)     at(i, b, c.x, 0, 0, c.y, 1)
#define AT_2D(i, b, c)           at(i, b, c.x, c.y, 0, 0, 2)
#define AT_2D_ARRAY(i, b, c)     at(i, b, c.x, c.y, 0, c.z, 2)
#define AT_3D(i, b, c)           at(i, b, c.x, c.y, c.z, 0, 3)
#define POINT_1D(c)              c, 0, 0
#define POINT_1D_ARRAY(c)        c.x, 0, c.y
#define POINT_2D(c)              c.x, c.y, 0
#define POINT_2D_ARRAY(c)        c.x, c.y, c.z
#define POINT_3D(c)              c.x, c.y, c.z

#define WHOLE(v) v
#define FIRST(v) v.x
/* Integers are never mixed. */
#define FILTER_float(sampler) sampler_bits(sampler)
#define FILTER_int(sampler)   (sampler_bits(sampler) & ~TSL_KC_SAMPLER_LINEAR)
#define SPREAD(v) ((float4)(v, 0, 0, 0))

#define LOOK(A, T) Image OVERLOADABLE look(A T image) __asm__("__tsl_image_look");

/* R NAME(image, …): PART of the pixel's words, converted with AS. W: float, or int for all integers. */
#define READ_SAMPLED(T, C, KIND, R, NAME, AS, PART, W)                                                \
    R OVERLOADABLE NAME(read_only T image, sampler_t sampler, int##C c)                               \
    {                                                                                                 \
        return PART(AS(AT_##KIND(look(image), sampler_bits(sampler), c)));                            \
    }                                                                                                 \
    R OVERLOADABLE NAME(read_only T image, sampler_t sampler, float##C c)                             \
    {                                                                                                 \
        return PART(AS(SAMPLE_##KIND(look(image), FILTER_##W(sampler), c)));                          \
    }
#define LOAD_read_only  __tsl_called_image_load
#define LOAD_read_write __tsl_called_image_load_again
#define READ(A, T, C, KIND, R, NAME, AS, PART)                                                        \
    R OVERLOADABLE NAME(A T image, int##C c)                                                          \
    {                                                                                                 \
        return PART(AS(LOAD_##A(look(image), POINT_##KIND(c), false)));                               \
    }
#define WRITE(A, T, C, KIND, R, NAME, WIDE)                                                           \
    void OVERLOADABLE NAME(A T image, int##C c, R color)                                              \
    {                                                                                                 \
        __tsl_called_image_store(look(image), POINT_##KIND(c), as_int4(WIDE(color)));                 \
    }
#define ASK(A, T, R, NAME, FIELD)                                                                     \
    R OVERLOADABLE NAME(A T image)                                                                    \
    {                                                                                                 \
        return look(image)->FIELD;                                                                    \
    }

#define READ_ALL_SAMPLED(T, C, KIND)                                  \
    READ_SAMPLED(T, C, KIND, float4, read_imagef, as_float4, WHOLE, float) \
    READ_SAMPLED(T, C, KIND, half4, read_imageh, as_float4, narrow, float) \
    READ_SAMPLED(T, C, KIND, int4, read_imagei, as_int4, WHOLE, int)       \
    READ_SAMPLED(T, C, KIND, uint4, read_imageui, as_uint4, WHOLE, int)
#define READ_ALL(A, T, C, KIND)                                       \
    READ(A, T, C, KIND, float4, read_imagef, as_float4, WHOLE)        \
    READ(A, T, C, KIND, half4, read_imageh, as_float4, narrow)        \
    READ(A, T, C, KIND, int4, read_imagei, as_int4, WHOLE)            \
    READ(A, T, C, KIND, uint4, read_imageui, as_uint4, WHOLE)
#define WRITE_ALL(A, T, C, KIND)                                      \
    WRITE(A, T, C, KIND, float4, write_imagef, WHOLE)                 \
    WRITE(A, T, C, KIND, half4, write_imageh, widen)                  \
    WRITE(A, T, C, KIND, int4, write_imagei, WHOLE)                   \
    WRITE(A, T, C, KIND, uint4, write_imageui, WHOLE)

#define ASK_ALL(A, T)                                                 \
    ASK(A, T, int, get_image_width, width)                            \
    ASK(A, T, int, get_image_channel_data_type, channel_type)         \
    ASK(A, T, int, get_image_channel_order, channel_order)
#define ASK_1D(A, T)
#define ASK_1D_ARRAY(A, T) ASK(A, T, size_t, get_image_array_size, array_size)
#define ASK_2D(A, T)                                                  \
    ASK(A, T, int, get_image_height, height)                          \
    int2 OVERLOADABLE get_image_dim(A T image)                        \
    {                                                                 \
        Image i = look(image);                                        \
                                                                      \
        return (int2)(i->width, i->height);                           \
    }
#define ASK_2D_ARRAY(A, T) ASK_2D(A, T) ASK_1D_ARRAY(A, T)
#define ASK_3D(A, T)                                                  \
    ASK(A, T, int, get_image_height, height)                          \
    ASK(A, T, int, get_image_depth, depth)                            \
    int4 OVERLOADABLE get_image_dim(A T image)                        \
    {                                                                 \
        Image i = look(image);                                        \
                                                                      \
        return (int4)(i->width, i->height, i->depth, 0);              \
    }

#define ACCESS(A, T, KIND) LOOK(A, T) ASK_ALL(A, T) ASK_##KIND(A, T)
#define EACH_ACCESS(T, KIND) ACCESS(read_only, T, KIND) ACCESS(write_only, T, KIND) ACCESS(read_write, T, KIND)
#define TYPE(T, C, KIND)                                                            \
    EACH_ACCESS(T, KIND)                                                            \
    READ_ALL(read_only, T, C, KIND)                                                 \
    READ_ALL(read_write, T, C, KIND)                                                \
    WRITE_ALL(write_only, T, C, KIND)                                               \
    WRITE_ALL(read_write, T, C, KIND)
#define DEPTH_TYPE(T, C, KIND)                                                      \
    EACH_ACCESS(T, KIND)                                                            \
    READ_SAMPLED(T, C, KIND, float, read_imagef, as_float4, FIRST, float)           \
    READ(read_only, T, C, KIND, float, read_imagef, as_float4, FIRST)               \
    READ(read_write, T, C, KIND, float, read_imagef, as_float4, FIRST)              \
    WRITE(write_only, T, C, KIND, float, write_imagef, SPREAD)                      \
    WRITE(read_write, T, C, KIND, float, write_imagef, SPREAD)

TYPE(image1d_t, , 1D)
TYPE(image1d_buffer_t, , 1D)
TYPE(image1d_array_t, 2, 1D_ARRAY)
TYPE(image2d_t, 2, 2D)
TYPE(image2d_array_t, 4, 2D_ARRAY)
TYPE(image3d_t, 4, 3D)
READ_ALL_SAMPLED(image1d_t, , 1D)
READ_ALL_SAMPLED(image1d_array_t, 2, 1D_ARRAY)
READ_ALL_SAMPLED(image2d_t, 2, 2D)
READ_ALL_SAMPLED(image2d_array_t, 4, 2D_ARRAY)
READ_ALL_SAMPLED(image3d_t, 4, 3D)
DEPTH_TYPE(image2d_depth_t, 2, 2D)
DEPTH_TYPE(image2d_array_depth_t, 4, 2D_ARRAY)
