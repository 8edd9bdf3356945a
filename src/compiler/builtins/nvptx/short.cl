/*
 * Functions of floats that take a few instructions on NVIDIA GPUs: whole and fractional parts, exponents and mantissas,
 * choices by size and sign. What is rare there is a branch, or costs one selection; all are exact.
 */
#include "common.h"

#define ONE_EXPONENT 0x01000000u /* 1 in the exponent of a number's bits without the sign's, which are `bits << 1` */

/* ---- Whole numbers ------------------------------------------------------------------------------------------------- */

/* The largest number below a half, added to one, becomes an odd number of halves that is rounded to even: up where x has
 * a half, and nowhere else. */
float OVERLOADABLE round(float x)
{
    return trunc(x + copysign(0x1.fffffep-2f, x));
}

double OVERLOADABLE round(double x)
{
    return trunc(x + copysign(0x1.fffffffffffffp-2, x));
}

float minimum(float x, float y) __asm("llvm.minimum.f32"); /* NaN if one of them is */

/* Zero and infinity are what is its own double. */
static inline float fraction(float x, float whole)
{
    return x + x == x ? copysign(0.0f, x) : minimum(x - whole, 0x1.fffffep-1f);
}

#define FRACT(AS)                                       \
    float OVERLOADABLE fract(float x, AS float *whole)  \
    {                                                   \
        float n = floor(x);                             \
                                                        \
        *whole = n;                                     \
        return fraction(x, n);                          \
    }
FRACT()
FRACT(__global)
FRACT(__local)

#define MODF(AS)                                        \
    float OVERLOADABLE modf(float x, AS float *whole)   \
    {                                                   \
        float n = trunc(x);                             \
                                                        \
        *whole = n;                                     \
        return copysign(isinf(x) ? 0.0f : x - n, x);    \
    }
MODF()
MODF(__global)
MODF(__local)

/* ---- Exponents and mantissas --------------------------------------------------------------------------------------- */

static inline float mantissa(float x, int *exponent)
{
    bool small = fabs(x) < FLT_MIN, none = x == 0 || !(fabs(x) < INFINITY);
    uint bits = as_uint(small ? x * 0x1p25f : x);

    *exponent = none ? 0 : (int)(bits << 1 >> 24) - (small ? 151 : 126);
    return none ? x : as_float((bits & 0x807fffff) | 0x3f000000);
}

#define FREXP(AS)                                       \
    float OVERLOADABLE frexp(float x, AS int *exponent) \
    {                                                   \
        int e;                                          \
        float m = mantissa(x, &e);                      \
                                                        \
        *exponent = e;                                  \
        return m;                                       \
    }
FREXP()
FREXP(__global)
FREXP(__local)

/* The bits behind the sign; false: x is zero, subnormal, infinite or NaN. */
static inline bool is_normal(float x, uint *doubled)
{
    *doubled = as_uint(x) << 1;
    return *doubled - ONE_EXPONENT < 0xfe000000u;
}

static inline int exponent_of_subnormal(uint doubled)
{
    return -119 - (int)clz(doubled);
}

int OVERLOADABLE ilogb(float x)
{
    uint doubled;

    if (__builtin_expect(is_normal(x, &doubled), true))
        return (int)(doubled >> 24) - 127;
    if (doubled == 0)
        return FP_ILOGB0;
    return doubled < ONE_EXPONENT ? exponent_of_subnormal(doubled) : FP_ILOGBNAN; /* of infinity, too */
}

float OVERLOADABLE logb(float x)
{
    uint doubled;

    if (__builtin_expect(is_normal(x, &doubled), true))
        return (float)((int)(doubled >> 24) - 127);
    if (doubled == 0)
        return -INFINITY;
    return doubled < ONE_EXPONENT ? (float)exponent_of_subnormal(doubled) : x * x;
}

/* ---- Choices ------------------------------------------------------------------------------------------------------- */

float OVERLOADABLE clamp(float x, float least, float most)
{
    return fmin(fmax(x, least), most);
}

/* Without bounds in order the result may be anything. */
float OVERLOADABLE smoothstep(float from, float to, float x)
{
    float t = __nvvm_saturate_f((x - from) / (to - from));

    return t * t * (3 - 2 * t);
}

float OVERLOADABLE sign(float x)
{
    float one = fabs(x) > 0 ? copysign(1.0f, x) : x;

    return isnan(x) ? 0 : one;
}

/* Of numbers of one size the larger. */
float OVERLOADABLE maxmag(float x, float y)
{
    float larger = fmax(x, y), smaller = fmin(x, y);

    return fabs(smaller) > fabs(larger) ? smaller : larger;
}

/* Of numbers of one size the smaller. */
float OVERLOADABLE minmag(float x, float y)
{
    float larger = fmax(x, y), smaller = fmin(x, y);

    return fabs(larger) < fabs(smaller) ? larger : smaller;
}

/* ---- Of vectors ---------------------------------------------------------------------------------------------------- */

#define NAME round
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME logb
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME sign
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME maxmag
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME minmag
EACH_SIZE(SIZE_2, float)
#undef NAME

#define ILOGB(I) ilogb(x.s##I)
#define ILOGB_SIZE(T, N)                        \
    int##N OVERLOADABLE ilogb(T##N x)           \
    {                                           \
        return (int##N)(COMPONENTS_##N(ILOGB)); \
    }
#define EACH_ILOGB(T) \
    ILOGB_SIZE(T, 2) ILOGB_SIZE(T, 3) ILOGB_SIZE(T, 4) ILOGB_SIZE(T, 8) ILOGB_SIZE(T, 16)
EACH_ILOGB(float)

#define STEP(I)     smoothstep(from.s##I, to.s##I, x.s##I)
#define STEP_ALL(I) smoothstep(from, to, x.s##I)
#define STEP_SIZE(T, N)                                         \
    T OVERLOADABLE smoothstep(T from, T to, T x)                \
    {                                                           \
        return (T)(COMPONENTS_##N(STEP));                       \
    }                                                           \
    T OVERLOADABLE smoothstep(float from, float to, T x)        \
    {                                                           \
        return (T)(COMPONENTS_##N(STEP_ALL));                   \
    }
EACH_SIZE(STEP_SIZE, float)

#define CLAMP(I)      clamp(x.s##I, least.s##I, most.s##I)
#define CLAMP_ALL(I)  clamp(x.s##I, least, most)
#define CLAMP_SIZE(T, N)                                        \
    T OVERLOADABLE clamp(T x, T least, T most)                  \
    {                                                           \
        return (T)(COMPONENTS_##N(CLAMP));                      \
    }                                                           \
    T OVERLOADABLE clamp(T x, float least, float most)          \
    {                                                           \
        return (T)(COMPONENTS_##N(CLAMP_ALL));                  \
    }
EACH_SIZE(CLAMP_SIZE, float)

/* Functions that store a second result. */
#define WITH_SECOND(NAME, U, N, AS)                             \
    float##N OVERLOADABLE NAME(float##N x, AS U##N *second)     \
    {                                                           \
        float##N first;                                         \
        U##N all;                                               \
        U one;                                                  \
                                                                \
        for (int i = 0; i < N; i++) {                           \
            first[i] = NAME(x[i], &one);                        \
            all[i] = one;                                       \
        }                                                       \
        *second = all;                                          \
        return first;                                           \
    }
#define WITH_SECONDS(NAME, U, AS)                               \
    WITH_SECOND(NAME, U, 2, AS) WITH_SECOND(NAME, U, 3, AS) WITH_SECOND(NAME, U, 4, AS) WITH_SECOND(NAME, U, 8, AS) \
    WITH_SECOND(NAME, U, 16, AS)
#define IN_EACH_SPACE(NAME, U) \
    WITH_SECONDS(NAME, U, ) WITH_SECONDS(NAME, U, __global) WITH_SECONDS(NAME, U, __local)
IN_EACH_SPACE(fract, float)
IN_EACH_SPACE(modf, float)
IN_EACH_SPACE(frexp, int)

/* ---- The smaller and the larger (of NaN and infinity their results are undefined, so the hardware's will do) ----------- */

#define SMALLER(T, N)                                                            \
    T OVERLOADABLE min(T x, T y) { return fmin(x, y); }                          \
    T OVERLOADABLE max(T x, T y) { return fmax(x, y); }
#define SMALLER_THAN_ONE(T, S)                                                   \
    T OVERLOADABLE min(T x, S y) { return fmin(x, (T)y); }                       \
    T OVERLOADABLE max(T x, S y) { return fmax(x, (T)y); }
#define SMALLER_FLOAT(T, N)  SMALLER(T, N) SMALLER_THAN_ONE(T, float)
#define SMALLER_DOUBLE(T, N) SMALLER(T, N) SMALLER_THAN_ONE(T, double)

SMALLER(float, 1)
SMALLER(double, 1)
EACH_SIZE(SMALLER_FLOAT, float)
EACH_SIZE(SMALLER_DOUBLE, double)
