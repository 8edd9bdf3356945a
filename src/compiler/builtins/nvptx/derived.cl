/*
 * Functions made of others, which are the hardware's, ours or libdevice's. Limits in ulps: OpenCL C 3.0, 7.4.
 */
#include "common.h"
#include "reciprocal.h"

/* ---- By half turns (5 ulps; of two arguments 6) ---------------------------------------------------------------------
 */

/* By two parts of 1 / pi, so that the number next to pi / 2 gives 1 / 2, and the like. Both are positive, so -0 stays.
 */
static inline float OVERLOADABLE half_turns(float angle)
{
    return fma(angle, M_1_PI_F, angle * 1.2841276e-8f);
}

static inline double OVERLOADABLE half_turns(double angle)
{
    return fma(angle, 0x1.45f306dc9c882p-2, angle * 3.5832474556075344e-17);
}

#define BY_PI(T, NAME, OF)                \
    T OVERLOADABLE OF(T x);               \
    T OVERLOADABLE NAME(T x)              \
    {                                     \
        return half_turns(OF(x));         \
    }
BY_PI(float, asinpi, asin)
BY_PI(float, acospi, acos)
BY_PI(double, asinpi, asin)
BY_PI(double, acospi, acos)
BY_PI(double, atanpi, atan)

float OVERLOADABLE atanpi(float x); /* in elementary.cl */
float OVERLOADABLE atan2pi(float y, float x);
double OVERLOADABLE atan2(double y, double x);
double OVERLOADABLE atan2pi(double y, double x)
{
    return half_turns(atan2(y, x));
}

/* ---- Roots and powers ----------------------------------------------------------------------------------------------
 */

/* 2 ulps. */
float OVERLOADABLE rsqrt(float x)
{
    return __nvvm_rsqrt_approx_f(x);
}

/* x^n for n of four bits: each product is wrong by half an ulp. */
#define SMALL_POWER(T)                                       \
    static T small_power_##T(T x, uint n)                    \
    {                                                        \
        T y = n & 1 ? x : 1;                                 \
                                                             \
        x *= x;                                              \
        y = n & 2 ? y * x : y;                               \
        x *= x;                                              \
        y = n & 4 ? y * x : y;                               \
        return n & 8 ? y * (x * x) : y;                      \
    }
SMALL_POWER(float)
SMALL_POWER(double)

/* 16 ulps. Where a power is too large its reciprocal isn't always too small. */
float large_power(float x, int n) __asm("clc._Z4pownfi");
float OVERLOADABLE pown(float x, int n)
{
    if (n > -16 && n < 16) {
        float y = small_power_float(x, abs(n));

        if (n >= 0)
            return y;
        if (fabs(y) < INFINITY)
            return 1 / y;
    }
    return large_power(x, n);
}

double OVERLOADABLE pow(double x, double y);
double OVERLOADABLE pown(double x, int n)
{
    if (n > -16 && n < 16) {
        double y = small_power_double(x, abs(n));

        if (n >= 0)
            return y;
        if (fabs(y) < INFINITY)
            return 1 / y;
    }
    return pow(x, (double)n);
}

/* C's pow but where it has 1 for what isn't known, and signs of x. */
#define POWR(T)                                                                              \
    T OVERLOADABLE pow(T x, T y);                                                            \
    T OVERLOADABLE powr(T x, T y)                                                            \
    {                                                                                        \
        T power = pow(fabs(x), y);                                                           \
        bool no_number = x < 0 || isnan(x) || isnan(y) || (x == 1 && isinf(y)) ||            \
                         (y == 0 && (x == 0 || isinf(x)));                                   \
                                                                                             \
        return no_number ? (T)NAN : power;                                                   \
    }
POWR(float)
POWR(double)

static inline double power_of_two(int n)
{
    return as_double((long)(n + 1023) << 52);
}

double OVERLOADABLE log2(double x);
double OVERLOADABLE exp2(double x);

/* The n-th root of x, positive and finite. 5 ulps: x is m * 2^e, m from sqrt(1/2) to sqrt(2), e is n * whole + rest, so the
 * exponent (rest + log2(m)) / n is below 2. */
static double positive_root(double x, int n)
{
    bool tiny = x < 0x1p-1022;
    long bits = as_long(tiny ? x * 0x1p54 : x);
    int e = (int)((bits - 0x3fe6a09e667f3bcdl) >> 52), whole, first;
    double m = as_double(bits - ((long)e << 52));

    e -= tiny ? 54 : 0;
    whole = (int)((float)e * __nvvm_rcp_approx_ftz_f((float)n));
    first = whole / 2;
    x = exp2((log2(m) + (double)(e - whole * n)) * reciprocal((double)n));
    return x * power_of_two(first) * power_of_two(whole - first);
}

double OVERLOADABLE rootn(double x, int n)
{
    double size = fabs(x), root;

    if (n == 0 || isnan(x) || (x < 0 && !(n & 1)))
        return NAN;
    if (size == 0 || isinf(size))
        root = (size == 0) == (n > 0) ? 0 : INFINITY;
    else
        root = positive_root(size, n);
    return n & 1 ? copysign(root, x) : root;
}

/* Exact: where a product is rounded the next one makes a zero of it. */
float OVERLOADABLE ldexp(float x, int n)
{
    int last = clamp(n, -126, 127), rest = clamp(n - last, -126, 127), first = clamp(n - last - rest, -126, 127);

    return x * as_float((first + 127) << 23) * as_float((rest + 127) << 23) * as_float((last + 127) << 23);
}

/* ---- Lengths (float: 2.75 + n / 2 ulps; the directions 2 + n) -------------------------------------------------------
 *
 * Squares may be too large or too small where the length isn't. Then the vector is made smaller, or larger, by a power of
 * two.
 */

#define LEAST_SQUARE 0x1p-100f

static inline float factor(float largest)
{
    return largest > 1 ? 0x1p-64f : 0x1p64f;
}

static inline float root(float x)
{
    return __nvvm_sqrt_approx_f(x);
}

#define LARGEST_2(V) fmax(fabs(V.x), fabs(V.y))
#define LARGEST_3(V) fmax(LARGEST_2(V), fabs(V.z))
#define LARGEST_4(V) fmax(LARGEST_3(V), fabs(V.w))
#define GEOMETRY(N)                                                                         \
    float OVERLOADABLE length(float##N v)                                                   \
    {                                                                                       \
        float d = dot(v, v), by;                                                            \
                                                                                            \
        if (d > LEAST_SQUARE && d < INFINITY)                                               \
            return root(d);                                                                 \
        by = factor(LARGEST_##N(v));                                                        \
        v *= by;                                                                            \
        return root(dot(v, v)) * (by < 1 ? 0x1p64f : 0x1p-64f);                             \
    }                                                                                       \
    float OVERLOADABLE distance(float##N x, float##N y)                                     \
    {                                                                                       \
        return length(x - y);                                                               \
    }                                                                                       \
    float OVERLOADABLE fast_length(float##N v)                                              \
    {                                                                                       \
        return __nvvm_sqrt_approx_ftz_f(dot(v, v));                                         \
    }                                                                                       \
    float OVERLOADABLE fast_distance(float##N x, float##N y)                                \
    {                                                                                       \
        return fast_length(x - y);                                                          \
    }                                                                                       \
    float##N OVERLOADABLE fast_normalize(float##N v)                                        \
    {                                                                                       \
        float d = dot(v, v);                                                                \
                                                                                            \
        return d < FLT_MIN ? v : v * __nvvm_rsqrt_approx_ftz_f(d);                          \
    }
GEOMETRY(2)
GEOMETRY(3)
GEOMETRY(4)

/* What it makes of infinite components and of none is theirs. */
#define NORMALIZE(N, MANGLED)                                                               \
    float##N slow_normalize_##N(float##N v) __asm(MANGLED);                                 \
    float##N OVERLOADABLE normalize(float##N v)                                             \
    {                                                                                       \
        float d = dot(v, v);                                                                \
                                                                                            \
        return d > LEAST_SQUARE && d < INFINITY ? v * __nvvm_rsqrt_approx_ftz_f(d) : slow_normalize_##N(v); \
    }
NORMALIZE(2, "clc._Z9normalizeDv2_f")
NORMALIZE(3, "clc._Z9normalizeDv3_f")
NORMALIZE(4, "clc._Z9normalizeDv4_f")

/* 4 ulps. The larger one is brought near 1 by a power of 16. Taken as bits infinity is larger than
 * all numbers, and NaN larger still: infinity counts where it is the smaller one, too. */
float OVERLOADABLE hypot(float x, float y)
{
    uint a = as_uint(fabs(x)), b = as_uint(fabs(y)), large = max(a, b), small = min(a, b);
    uint power = large & 0xfe000000;
    float by = as_float(0x7e800000 - power), u = as_float(large) * by, v = as_float(small) * by;
    float size = __nvvm_sqrt_approx_ftz_f(fma(u, u, v * v)) * as_float(power | 0x800000);

    size = as_float(small) == 0 ? as_float(large) : size;
    return as_float(small) == INFINITY ? INFINITY : size;
}

/* ---- Of vectors ----------------------------------------------------------------------------------------------------
 */

#define WITH_INTEGER(I)      NAME(x.s##I, n.s##I)
#define SIZE_INTEGER(T, N)                            \
    T##N OVERLOADABLE NAME(T##N x, int##N n)          \
    {                                                 \
        return (T##N)(COMPONENTS_##N(WITH_INTEGER));  \
    }
#define EACH_INTEGER_SIZE(T) \
    SIZE_INTEGER(T, 2) SIZE_INTEGER(T, 3) SIZE_INTEGER(T, 4) SIZE_INTEGER(T, 8) SIZE_INTEGER(T, 16)
#define NAME pown
EACH_INTEGER_SIZE(float)
EACH_INTEGER_SIZE(double)
#undef NAME
#define NAME rootn
EACH_INTEGER_SIZE(double)
#undef NAME
#define NAME ldexp
EACH_INTEGER_SIZE(float)
#undef NAME
#define NAME powr
EACH_SIZE(SIZE_2, float)
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME hypot
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME atan2pi
EACH_SIZE(SIZE_2, float)
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME asinpi
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME acospi
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atanpi
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME rsqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
