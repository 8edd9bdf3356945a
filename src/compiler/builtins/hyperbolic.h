/*
 * Hyperbolic functions (sinh and cosh 4 ulps, tanh 5), for the CPU and for GPUs. SHORT_QUOTIENT(X, Y): a quotient,
 * wrong by 2 ulps at most.
 */
#include "common.h"

float OVERLOADABLE exp(float x);

/* e^x / 2 for x >= 0, where e^x may be too large: STEP is taken off. Where that rounds, the result is near 1/2. */
#define STEP         0.8203125f
#define HALF_OF_STEP 1.1356047f

static float half_exponential(float x)
{
    return exp(x - STEP) * HALF_OF_STEP;
}

float OVERLOADABLE cosh(float x)
{
    float e = half_exponential(fabs(x));

    return e + SHORT_QUOTIENT(0.25f, e);
}

/* Up to where the result is larger than 2, as half the exponential is then. */
#define SMALL_SINH 1.5f

static float small_sinh(float x)
{
    float u = x * x, p = fma(fma(2.59754909e-8f, u, 2.75389577e-6f), u, 0.000198414184f);

    return fma(x * u, fma(fma(p, u, 0.00833333291f), u, 0.166666667f), x);
}

float OVERLOADABLE tanh(float x)
{
    float size = fabs(x), u = x * x, e = exp(2 * size);
    float p =
        fma(fma(fma(fma(-0.00626911972f, u, 0.021110959f), u, -0.0538739488f), u, 0.133329154f), u, -0.333333303f);

    return copysign(size < 0.6f ? fma(size * u, p, size) : 1 - SHORT_QUOTIENT(2, e + 1), x);
}
