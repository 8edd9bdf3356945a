/*
 * Halves to floats and back, and doubles to halves, rounded to the nearest. Each half is a float. A double is rounded
 * once: to a float whose last bit is 1 if it is inexact first.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

static inline float OVERLOADABLE widen(half x)
{
    return (float)x;
}

static inline half OVERLOADABLE narrow(float x)
{
    return (half)x;
}

static inline float to_odd(double x)
{
    float nearest = (float)x;
    int bits = as_int(nearest) - (fabs((double)nearest) > fabs(x));

    return (double)nearest == x || x != x ? nearest : as_float(bits | 1);
}

static inline half OVERLOADABLE narrow(double x)
{
    return (half)to_odd(x);
}

#define HALF_VECTORS(N)                                   \
    static inline float##N OVERLOADABLE widen(half##N x)  \
    {                                                     \
        return __builtin_convertvector(x, float##N);      \
    }                                                     \
    static inline half##N OVERLOADABLE narrow(float##N x) \
    {                                                     \
        return __builtin_convertvector(x, half##N);       \
    }
HALF_VECTORS(2)
HALF_VECTORS(3)
HALF_VECTORS(4)
HALF_VECTORS(8)
HALF_VECTORS(16)
