/*
 * Shared parts of functions on floats, for the CPU and for GPUs: range reduction (W. J. Cody, W. Waite: Software Manual
 * for the Elementary Functions, 1980), then a polynomial (Chebyshev's, fitted). Nothing branches, so vectors of
 * work-items stay vectors.
 */
#include "split.h"

/* ---- Logarithms -------------------------------------------------------------------------------------------------- */

/* Returns p(f), with log(1 + f) = f + f^2 p(f). With SHALLOW the polynomial's parts don't depend on each other, which
 * takes more operations. */
static float log_rest(float f)
{
#ifdef SHALLOW
    float f2 = f * f, p3 = fma(fma(0.116133496f, f, -0.12727569f), f2, fma(0.108530581f, f, -0.122211114f));

    return fma(fma(fma(p3, f2 * f2, fma(fma(0.142961919f, f, -0.166779891f), f2, fma(0.199998528f, f, -0.249998406f))),
                   f, 0.333333343f),
               f, -0.5f);
#else
    float p = fma(0.116133496f, f, -0.12727569f);

    p = fma(p, f, 0.108530581f);
    p = fma(p, f, -0.122211114f);
    p = fma(p, f, 0.142961919f);
    p = fma(p, f, -0.166779891f);
    p = fma(p, f, 0.199998528f);
    p = fma(p, f, -0.249998406f);
    p = fma(p, f, 0.333333343f);
    return fma(p, f, -0.5f);
#endif
}

/* log(1 + f) */
static float log_near_one(float f)
{
    return fma(f * f, log_rest(f), f);
}

/* log_x for a number that has a logarithm; for others, the result that OpenCL C specifies. y: x, scaled. */
static float or_none(float log_x, float y)
{
    if (as_uint(y) >= 0x7f800000) /* infinity, NaN, or less than zero */
        log_x = y > 0 ? y : NAN;
    return y == 0 ? -INFINITY : log_x;
}

float OVERLOADABLE log(float x)
{
    float f, y = enlarge(x), e = split(x, y, &f);

    return or_none(fma(e, M_LN2_F, log_near_one(f)), y);
}

float OVERLOADABLE log2(float x)
{
    float f, y = enlarge(x), e = split(x, y, &f);

    return or_none(fma(log_near_one(f), M_LOG2E_F, e), y);
}

float OVERLOADABLE log10(float x)
{
    float f, y = enlarge(x), e = split(x, y, &f);

    return or_none(fma(e, 0.30103001f, fma(log_near_one(f), M_LOG10E_F, e * -1.43209888e-08f)), y);
}

/* 2 ulps. 1 + x is m * 2^e, and what it loses of x is made up for in m - 1, where it counts. */
float OVERLOADABLE log1p(float x)
{
    float y = 1 + x, scale, f;
    int e = (int)((as_uint(y) - 0x3f2aaaabu) & 0xff800000u);

    scale = as_float(0x3f800000u - (uint)e);
    f = e > 25 << 23 ? as_float(as_uint(y) - (uint)e) - 1 : fma(x, scale, scale - 1);
    return x == 0 ? x : or_none(fma((float)e, 1.1920929e-07f * M_LN2_F, log_near_one(f)), y);
}

/* ---- Angles ------------------------------------------------------------------------------------------------------ */

/* For |r| <= pi / 4 and a little more. */
static float near_sin(float r)
{
    float u = r * r, p = fma(fma(fma(2.72496027e-06f, u, -0.000198400841f), u, 0.00833333191f), u, -0.166666672f);

    return fma(p * u, r, r);
}

static float near_cos(float r)
{
    float u = r * r, p = fma(fma(fma(-2.73006918e-07f, u, 2.48005981e-05f), u, -0.00138888881f), u, 0.0416666679f);

    return fma(fma(p, u, -0.5f), u, 1.0f);
}
