/*
 * Functions of floats for the CPU. libclc's read tables and branch: a vector of work-items gathers, and takes all
 * branches. Errors, over all floats, are those of the GPU's functions (docs/lab/cuda.md), which compute in the same way.
 */
#define SHALLOW
#include "../exponential.h"
#include "../float.h"
#include "polynomial.h"

/* ---- Angles --------------------------------------------------------------------------------------------------------
 */

/* 2 / pi as a binary fraction. */
static constant uint two_over_pi[] = {0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u};

/* The number of these words that matter for x: none if it is below 2^16, infinite or NaN. Its last bit has the value
 * 2^(exponent - 150), and the product of its 24 bits with a word matters down to 2^-62. */
static uint words_for(float x)
{
    uint exponent = as_uint(x) >> 23;

    return exponent - 143 < 112 ? (exponent - 150 + 117) >> 5 : 0;
}

/* 24 bits of x times a word of 2 / pi, in quarter turns times 2^62; multiples of four, and bits that are too small, are
 * lost. */
static ulong part(float x, uint word, uint i)
{
    ulong product = (ulong)((as_uint(x) & 0x7fffff) | 0x800000) * word;
    int up = (int)(as_uint(x) >> 23) - 120 - 32 * (int)i;

    return up >= 0 ? product << min(up, 63) & (up < 64 ? ~0ul : 0) : product >> min(-up, 63);
}

/* Returns the rest of x >= 0 after *quarter quarter turns. For large x only those bits of 2 / pi matter that make
 * neither multiples of four nor too little (M. Payne, R. Hanek: Radian reduction for trigonometric functions, 1983): a
 * loop, which work-items skip together if none needs it. */
static float reduce(float x, uint *quarter)
{
    float magic = fma(x, M_2_PI_F, 12582912.0f), n = magic - 12582912.0f; /* 1.5 * 2^23 */
    float r = fma(n, 1.71512451e-15f, fma(n, 4.37113883e-08f, fma(n, -1.57079637f, x)));
    uint n_words = words_for(x), q = as_uint(magic);
    ulong turns = 0;

    for (uint i = 0; i < n_words; i++) {
        turns += part(x, two_over_pi[i], i);
        q = (uint)(turns >> 62) + (uint)(turns >> 61 & 1);
        r = (float)((long)(turns << 2) >> 2) * (1.57079637f / 4611686018427387904.0f);
    }
    *quarter = q;
    return r;
}

/* The sign by the bit of value 2. */
static float turned(float value, uint quarter)
{
    return as_float(as_uint(value) ^ (quarter << 30 & 0x80000000));
}

/* The value with the other sign where x is negative. */
static float with_sign(float value, float x)
{
    return as_float(as_uint(value) ^ (as_uint(x) & 0x80000000));
}

/* Returns the sine and sets *c to the cosine. Vectors need both polynomials anyway. */
static float both(float x, float *c)
{
    uint quarter;
    float r = reduce(fabs(x), &quarter), near_s = near_sin(r), near_c = near_cos(r);
    float s = turned(quarter & 1 ? near_c : near_s, quarter);

    *c = turned(quarter & 1 ? near_s : near_c, quarter + 1);
    return with_sign(s, x);
}

float OVERLOADABLE sin(float x)
{
    float c;

    return both(x, &c);
}

float OVERLOADABLE cos(float x)
{
    float c;

    both(x, &c);
    return c;
}

float OVERLOADABLE tan(float x)
{
    uint quarter;
    float r = reduce(fabs(x), &quarter), s = near_sin(r), c = near_cos(r);
    float t = (quarter & 1 ? -c : s) / (quarter & 1 ? s : c);

    return with_sign(t, x);
}

/* sin(pi w) for |w| <= 1/2 */
static float sin_of_half_turns(float w)
{
    float u = w * w, p = of_4(u, u * u, (float4)(-5.16771256f, 2.55013614f, -0.598704858f, 0.0785397150f));

    return fma(w, M_PI_F, w * fma(u, p, -8.74227766e-08f));
}

#define T float
#include "half_turns.h"
#undef T

/* In half turns (6 ulps). What is left of whole ones is exact, and what is nearer to a quarter counts from there. */
float OVERLOADABLE tanpi(float x)
{
    float n = rint(x), r = x - n, size = fabs(r), half_of_n = 0.5f * n;
    bool far = size > 0.25f;
    float q = far ? 0.5f - size : size, u = q * q, u2 = u * u;
    float s = fma(q, M_PI_F, q * fma(u, of_3(u, u2, (float3)(-5.16770887f, 2.54980516f, -0.589418769f)), -8.74227766e-08f));
    float c = fma(u, of_3(u, u2, (float3)(-4.93479061f, 4.05765152f, -1.30670607f)), 1.0f);
    float of_whole = rint(half_of_n) == half_of_n ? x : -x;

    return copysign((far ? c : s) / (far ? s : c), r == 0 ? of_whole : r);
}

#define SINCOS(AS)                                    \
    float OVERLOADABLE sincos(float x, AS float *c)   \
    {                                                 \
        float cosine, sine = both(x, &cosine);        \
                                                      \
        *c = cosine;                                  \
        return sine;                                  \
    }
#define BOTH(I) both(x.s##I, &c##I)
#define SINCOS_VECTOR(N, AS)                                             \
    float##N OVERLOADABLE sincos(float##N x, AS float##N *c)             \
    {                                                                    \
        float c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, ca, cb, cc, cd, ce, cf; \
        float##N sine = (float##N)(COMPONENTS_##N(BOTH));                \
                                                                         \
        *c = (float##N)(COMPONENTS_##N(COSINE));                         \
        return sine;                                                     \
    }
#define COSINE(I) c##I
#define SINCOSES(AS) \
    SINCOS(AS) SINCOS_VECTOR(2, AS) SINCOS_VECTOR(3, AS) SINCOS_VECTOR(4, AS) SINCOS_VECTOR(8, AS) SINCOS_VECTOR(16, AS)
SINCOSES(__global)
SINCOSES(__local)
SINCOSES()

/* ---- Hyperbolic functions -------------------------------------------------------------------------------------------
 */

#define SHORT_QUOTIENT(X, Y) ((X) / (Y))
#include "../hyperbolic.h"

float OVERLOADABLE sinh(float x)
{
    float e = half_exponential(fabs(x));

    return fabs(x) < SMALL_SINH ? small_sinh(x) : copysign(e - 0.25f / e, x);
}

/* 2^n (e^r - 1) + 2^n - 1; half of it, since 2^128 is too large. */
float OVERLOADABLE expm1(float x)
{
    float y = within(x, -30.0f, 89.0f), magic = fma(y, M_LOG2E_F, MAGIC), n = magic - MAGIC;
    float r = fma(n, -1.42860682e-06f, fma(n, -0.693145752f, y));
    float half_power = as_float((as_int(magic) - as_int(MAGIC) + 126) << 23);

    return fabs(x) < 1e-8f ? x : 2 * fma(half_power, expm1_near(r), half_power - 0.5f);
}

/* ---- Their inverses (asinh and acosh 4 ulps, atanh 5) ---------------------------------------------------------------
 */

#define LARGE 0x1p60f /* the square is less than the largest float */

float OVERLOADABLE asinh(float x)
{
    float size = fabs(x), u = size * size, t = size + u / (1 + __builtin_sqrtf(1 + u));
    bool far = size > LARGE;

    return copysign(log1p(far ? size : t) + (far ? M_LN2_F : 0), x);
}

float OVERLOADABLE acosh(float x)
{
    float t = x - 1, u = t + __builtin_sqrtf(fma(t, t, 2 * t));
    bool far = x > LARGE;
    float y = log1p(far ? x : u) + (far ? M_LN2_F : 0);

    return x < 1 ? NAN : y;
}

float OVERLOADABLE atanh(float x)
{
    float size = fabs(x);

    return copysign(0.5f * log1p(2 * size / (1 - size)), x);
}

/* ---- Signs ----------------------------------------------------------------------------------------------------------
 */

float OVERLOADABLE sign(float x)
{
    float one = fabs(x) > 0 ? copysign(1.0f, x) : x;

    return isnan(x) ? 0 : one;
}

/* ---- Exponents ------------------------------------------------------------------------------------------------------
 */

/* Of a subnormal number after a product that makes it normal. */
int OVERLOADABLE ilogb(float x)
{
    float size = fabs(x);
    bool small = size < 0x1p-126f;
    int e = (int)(as_uint(small ? size * 0x1p24f : size) >> 23) - (small ? 127 + 24 : 127);

    return size == 0 ? FP_ILOGB0 : size < INFINITY ? e : FP_ILOGBNAN; /* of infinity, too */
}

/* ---- Arcs -----------------------------------------------------------------------------------------------------------
 */

/* The arc sine of s = sqrt(u), |s| <= 1/2, in half turns. */
static float arc_sine(float s, float u)
{
    float u2 = u * u;
    float p = of_4(u, u2, (float4)(0.0530516660f, 0.0238695971f, 0.0143243842f, 0.00845257331f));

    return fma(s, M_1_PI_F, s * fma(u, fma(0.0121228395f, u2 * u2, p), 1.28412766e-08f));
}

/* In half turns (5 ulps). Beyond 1/2 the angle left to a quarter turn is twice that of the root of half of what x lacks
 * of 1. */
float OVERLOADABLE asinpi(float x)
{
    float a = fabs(x), half_of_rest = fma(a, -0.5f, 0.5f);
    bool far = a > 0.5f;
    float t = arc_sine(far ? __builtin_sqrtf(half_of_rest) : a, far ? half_of_rest : a * a);

    return copysign(far ? fma(t, -2.0f, 0.5f) : t, x);
}

float OVERLOADABLE acospi(float x)
{
    float a = fabs(x), half_of_rest = fma(a, -0.5f, 0.5f);
    bool far = a > 0.5f;
    float t = arc_sine(far ? __builtin_sqrtf(half_of_rest) : x, far ? half_of_rest : x * x);

    return far ? (x > 0 ? 2 * t : fma(t, -2.0f, 1.0f)) : 0.5f - t;
}

#define QUARTER_TURN_REST -4.37113883e-08f /* of M_PI_2_F */

/* The arc tangent of q, 0 to 1. */
static float atan_near(float q)
{
    float u = q * q, u2 = u * u;
    float p = of_8(u, u2, u2 * u2,
                   (float8)(-0.333331525f, 0.199937731f, -0.142110556f, 0.106660046f, -0.0755221471f, 0.0432118624f,
                            -0.0163679291f, 0.00292069255f));

    return fma(q * u, p, q);
}

/* The same in half turns. */
static float atanpi_near(float q)
{
    float u = q * q, u2 = u * u;
    float p = of_8(u, u2, u2 * u2,
                   (float8)(-0.10610272f, 0.0636421591f, -0.0452351943f, 0.0339509472f, -0.0240394454f, 0.0137547627f,
                            -0.00521007366f, 0.00092968531f));

    return fma(q, M_1_PI_F, q * fma(u, p, 1.28412766e-08f));
}

float OVERLOADABLE atan(float x)
{
    float a = fabs(x), t = atan_near(a > 1 ? 1 / a : a);

    return copysign(a > 1 ? M_PI_2_F - (t - QUARTER_TURN_REST) : t, x);
}

float OVERLOADABLE atanpi(float x)
{
    float a = fabs(x), t = atanpi_near(a > 1 ? 1 / a : a);

    return copysign(a > 1 ? 0.5f - t : t, x);
}

/* The lesser of two sizes by the greater: 0 of two zeros, 1 of two infinities, NaN where one is NaN. */
static float ratio(float a, float b)
{
    bool turned = b > a;
    float least = turned ? a : b, most = turned ? b : a, q = least / most;

    return a == b ? (a > 0 ? 1 : 0) : q;
}

/* Left of the origin is also where x is -0. */
float OVERLOADABLE atan2(float y, float x)
{
    float a = fabs(x), b = fabs(y), t = atan_near(ratio(a, b));

    t = b > a ? M_PI_2_F - (t - QUARTER_TURN_REST) : t;
    return copysign(as_int(x) < 0 ? M_PI_F - (t - 2 * QUARTER_TURN_REST) : t, y);
}

float OVERLOADABLE atan2pi(float y, float x)
{
    float a = fabs(x), b = fabs(y), t = atanpi_near(ratio(a, b));

    t = b > a ? 0.5f - t : t;
    return copysign(as_int(x) < 0 ? 1 - t : t, y);
}

/* ---- Roots ---------------------------------------------------------------------------------------------------------
 */

/* 1 / cbrt(a) for a that is normal: a third of the exponent gives it to 4 %, which the series makes exact. */
static float reciprocal_cbrt(float a)
{
    float y = as_float(0x54a2fa8c - as_uint(a) / 3), e = fma(-a * y, y * y, 1.0f);
    float p = fma(fma(fma(0.144032922f, e, 0.172839506f), e, 0.222222222f), e, 0.333333333f);

    y = fma(y * e, p, y);
    e = fma(-a * y, y * y, 1.0f);
    return fma(y * e, 0.333333333f, y);
}

/* 2 ulps. The last step takes what the root's cube lacks, which mustn't be flushed. */
float OVERLOADABLE cbrt(float x)
{
    float size = fabs(x);
    bool small = size < 0x1p-78f;
    float a = small ? size * 0x1p48f : size, y = reciprocal_cbrt(a), r = a * y * y, square = r * r;
    float lack = fma(-square, r, a) - fma(r, r, -square) * r, root = fma(lack * (y * y), 0.333333333f, r);

    return size > 0 && size < INFINITY ? copysign(small ? root * 0x1p-16f : root, x) : x;
}

/* Root and quotient may be wrong, by some ulps, and by far more in half_rsqrt (compiler/builtins/builtins.c): so the
 * compiler may use an estimate (compiler/cpu/estimated_roots.h). */
#define RSQRT(NAME)                     \
    float OVERLOADABLE NAME(float x)    \
    {                                   \
        return 1 / __builtin_sqrtf(x);  \
    }
RSQRT(rsqrt)
RSQRT(native_rsqrt)
RSQRT(half_rsqrt)

/* ---- Native functions ----------------------------------------------------------------------------------------------
 * libclc's would call the C library, lane by lane. These are as fast as any.
 */

#define NATIVE(NAME)                           \
    float OVERLOADABLE native_##NAME(float x)  \
    {                                          \
        return NAME(x);                        \
    }
NATIVE(sin)
NATIVE(cos)
NATIVE(tan)
NATIVE(exp)
NATIVE(exp2)

/* OF_E e + OF_F log(1 + f) for x = (1 + f) 2^e: some ulps, with a shorter polynomial than log's and nothing that waits
 * for it. */
static float short_log(float x, float of_e, float of_f, float8 c)
{
    float f, y = enlarge(x), e = split(x, y, &f), f2 = f * f;

    return or_none(fma(f2, of_8(f, f2, f2 * f2, c), fma(f, of_f, e * of_e)), y);
}

/* The polynomial times OF_F. */
#define SHORT_LOG(NAME, OF_E, OF_F)                                                                             \
    float OVERLOADABLE native_##NAME(float x)                                                                   \
    {                                                                                                           \
        return short_log(x, OF_E, OF_F,                                                                         \
                         OF_F * (float8)(-0.499999856f, 0.333333202f, -0.250041462f, 0.200037803f,              \
                                         -0.164830175f, 0.141183099f, -0.150407637f, 0.134257490f));            \
    }                                                                                                           \
    float OVERLOADABLE half_##NAME(float x)                                                                     \
    {                                                                                                           \
        return native_##NAME(x);                                                                                \
    }
SHORT_LOG(log, M_LN2_F, 1.0f)
SHORT_LOG(log2, 1.0f, M_LOG2E_F)
SHORT_LOG(log10, 0.301029996f, M_LOG10E_F)

float OVERLOADABLE native_exp10(float x)
{
    return exp2(x * 3.32192809488736235f);
}

float OVERLOADABLE native_powr(float x, float y)
{
    return exp2(y * log2(x));
}

/* ---- Half precision -------------------------------------------------------------------------------------------------
 * The exact ones are faster than libclc's, which call those of libclc by other names.
 */

#define HALF_1(NAME)                             \
    float OVERLOADABLE half_##NAME(float x)      \
    {                                            \
        return NAME(x);                          \
    }
HALF_1(sin)
HALF_1(cos)
HALF_1(tan)
HALF_1(exp)
HALF_1(exp2)
HALF_1(exp10)

/* ---- Of vectors ----------------------------------------------------------------------------------------------------
 */

#define NAME log
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME log2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME log10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define ILOGB(I) ilogb(x.s##I)
#define ILOGB_SIZE(T, N)                        \
    int##N OVERLOADABLE ilogb(T x)              \
    {                                           \
        return (int##N)(COMPONENTS_##N(ILOGB)); \
    }
EACH_SIZE(ILOGB_SIZE, float)
#define NAME cbrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME log1p
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME asinh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME acosh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME atanh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME sin
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME cos
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME tan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME tanpi
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME atan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME atanpi
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME atan2
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME atan2pi
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME asinpi
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME acospi
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME rsqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_sin
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_cos
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_tan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_exp
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_exp2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_exp10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_log
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_log2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_log10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_rsqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_powr
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME expm1
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME sinh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME cosh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME tanh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME sign
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_sin
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_cos
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_tan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_exp
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_exp2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_exp10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_log
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_log2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_log10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_rsqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
