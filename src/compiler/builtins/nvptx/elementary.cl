/*
 * Functions of floats that libclc has for hardware without approximations and products added in one step: the inverse ones
 * of angles, hyperbolic ones and their inverses, cube roots, remainders. A range is taken off, what is left goes into a
 * polynomial (Chebyshev's, fitted). Limits in ulps: OpenCL C 3.0, 7.4. Of doubles there is remquo.
 */
#include "common.h"
#include "reciprocal.h"

/* Both wrong by 2 ulps. */
static inline float divide(float x, float y)
{
    float q;

    __asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
    return q;
}

static inline float root(float x)
{
    return __nvvm_sqrt_approx_f(x);
}

/* ---- Angles (asin and acos 4 ulps, atan 5, atan2 6) ----------------------------------------------------------------- */

#define HALF_TURN_REST    -8.74227766e-08f /* of M_PI_F */
#define QUARTER_TURN_REST -4.37113883e-08f

/* atan(x) for 0 <= x <= 1 */
static float small_atan(float x)
{
    float u = x * x, p = fma(-0.00238699732f, u, 0.0135077714f);

    p = fma(p, u, -0.035871539f);
    p = fma(p, u, 0.0625016944f);
    p = fma(p, u, -0.0865688043f);
    p = fma(p, u, 0.110337641f);
    p = fma(p, u, -0.142785687f);
    p = fma(p, u, 0.199997393f);
    p = fma(p, u, -0.333333317f);
    return fma(x * u, p, x);
}

/* The same in half turns: of 1 it is 1/4. */
static float small_atanpi(float x)
{
    float u = x * x, p = fma(0.00092968531f, u, -0.00521007366f);

    p = fma(p, u, 0.0137547627f);
    p = fma(p, u, -0.0240394454f);
    p = fma(p, u, 0.0339509472f);
    p = fma(p, u, -0.0452351943f);
    p = fma(p, u, 0.0636421591f);
    p = fma(p, u, -0.10610272f);
    return fma(x, M_1_PI_F, x * fma(u, p, 1.28412766e-08f));
}

float OVERLOADABLE atan(float x)
{
    float size = fabs(x), a = small_atan(size > 1 ? divide(1, size) : size);

    return copysign(size > 1 ? M_PI_2_F - (a - QUARTER_TURN_REST) : a, x);
}

float OVERLOADABLE atanpi(float x)
{
    float size = fabs(x), a = small_atanpi(size > 1 ? divide(1, size) : size);

    return copysign(size > 1 ? 0.5f - a : a, x);
}

/* The lesser of two sizes by the greater: 0 of two zeros, 1 of two infinities. */
static float ratio(float a, float b)
{
    float large = fmax(a, b), small = fmin(a, b);

    return small == large ? (large == 0 ? 0.0f : 1.0f) : divide(small, large);
}

float OVERLOADABLE atan2(float y, float x)
{
    float a = fabs(x), b = fabs(y), angle = small_atan(ratio(a, b));

    angle = b > a ? M_PI_2_F - (angle - QUARTER_TURN_REST) : angle;
    angle = signbit(x) ? M_PI_F - (angle - HALF_TURN_REST) : angle;
    return isnan(x) || isnan(y) ? NAN : copysign(angle, y);
}

float OVERLOADABLE atan2pi(float y, float x)
{
    float a = fabs(x), b = fabs(y), angle = small_atanpi(ratio(a, b));

    angle = b > a ? 0.5f - angle : angle;
    angle = signbit(x) ? 1 - angle : angle;
    return isnan(x) || isnan(y) ? NAN : copysign(angle, y);
}

#define BOUND 0.6f

/* (asin(x) - x) / x^3 of the square u of x, x <= 0.6. (A bound of 0.5 would leave asin too little after it.) */
static float asin_rest(float u)
{
    float p = fma(0.0466162573f, u, -0.00265387027f);

    p = fma(p, u, 0.0278091505f);
    p = fma(p, u, 0.0296566535f);
    p = fma(p, u, 0.0446878277f);
    p = fma(p, u, 0.0749989712f);
    return fma(p, u, 0.16666667f);
}

float OVERLOADABLE asin(float x)
{
    float size = fabs(x), u = size > BOUND ? fma(size, -0.5f, 0.5f) : size * size, s = size > BOUND ? root(u) : size;
    float a = fma(s * u, asin_rest(u), s);

    return copysign(size > BOUND ? M_PI_2_F - (2 * a - QUARTER_TURN_REST) : a, x);
}

float OVERLOADABLE acos(float x)
{
    float size = fabs(x), u = size > BOUND ? fma(size, -0.5f, 0.5f) : size * size, s = size > BOUND ? root(u) : size;
    float a = fma(s * u, asin_rest(u), s);

    if (size > BOUND)
        return signbit(x) ? M_PI_F - (2 * a - HALF_TURN_REST) : 2 * a;
    return M_PI_2_F - (copysign(a, x) - QUARTER_TURN_REST);
}

/* ---- Hyperbolic functions (sinh and cosh 4 ulps, tanh 5) ------------------------------------------------------------ */

float OVERLOADABLE exp(float x);

#define SHORT_QUOTIENT(X, Y) divide(X, Y)
#include "../hyperbolic.h"

/* A branch, because both sides are long. */
float OVERLOADABLE sinh(float x)
{
    float e;

    if (fabs(x) < SMALL_SINH)
        return small_sinh(x);
    e = half_exponential(fabs(x));
    return copysign(fma(__nvvm_rcp_approx_ftz_f(e), -0.25f, e), x);
}

/* ---- Their inverses (asinh and acosh 4 ulps, atanh 5) --------------------------------------------------------------- */

float OVERLOADABLE log(float x);
float OVERLOADABLE log1p(float x);

#define LARGE 0x1p60f /* the square is less than the largest float */

float OVERLOADABLE asinh(float x)
{
    float size = fabs(x), u = size * size;

    if (size > LARGE)
        return copysign(log(size) + M_LN2_F, x);
    return copysign(log1p(size + divide(u, 1 + root(1 + u))), x);
}

float OVERLOADABLE acosh(float x)
{
    float t = x - 1;

    if (x < 1)
        return NAN;
    return x > LARGE ? log(x) + M_LN2_F : log1p(t + root(fma(t, t, 2 * t)));
}

float OVERLOADABLE atanh(float x)
{
    float size = fabs(x);

    return copysign(0.5f * log1p(divide(2 * size, 1 - size)), x);
}

/* ---- The cube root (2 ulps) ----------------------------------------------------------------------------------------- */

/* An estimate by the hardware, and one step of Newton's. */
float OVERLOADABLE cbrt(float x)
{
    float size = fabs(x), a = size < 0x1p-100f ? size * 0x1p48f : size;
    float y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f(a) * 0.333333343f), u = y * y;

    y = fma(fma(-u, y, a), __nvvm_rcp_approx_ftz_f(u) * 0.333333343f, y);
    y = size < 0x1p-100f ? y * 0x1p-16f : y;
    return size == 0 || !(size < INFINITY) ? x : copysign(y, x);
}

/* ---- Remainders, exact ----------------------------------------------------------------------------------------------
 *
 * Where the quotient has 20 bits or fewer it is one by which the rest is exact, though it may be one too large. Otherwise
 * the general ones are called.
 */

#define QUOTIENT(X, Y) divide(X, Y)
#include "../modulo.h"

static bool OVERLOADABLE is_near(float a, float b)
{
    return a < b * NEAR && b < INFINITY;
}

/* The divisor's reciprocal is a normal number. */
static bool OVERLOADABLE is_near(double a, double b)
{
    return b > 0x1p-900 && b < 0x1p900 && a < b * 0x1p30;
}

/* As that of floats. The quotient is wrong by less than 2^-40 of it, so it is enlarged by that. */
static inline double OVERLOADABLE near_modulo(double x, double y, uint *quotient)
{
    double q = trunc(x * reciprocal(y) * 0x1.0000000001p0), r = fma(-q, y, x);

    *quotient = (uint)q - (r < 0);
    return r < 0 ? r + y : r;
}

/* The remainder nearest to zero; *bits: the quotient's last seven, signed. */
#define NEAR_REMAINDER(T)                                                      \
    static T OVERLOADABLE near_remainder(T x, T y, int *bits)                  \
    {                                                                          \
        uint q;                                                                \
        T b = fabs(y), r = near_modulo(fabs(x), b, &q);                        \
        bool more = r > b - r || (r == b - r && q & 1);                        \
                                                                               \
        r = more ? r - b : r;                                                  \
        q = (q + more) & 0x7f;                                                 \
        *bits = signbit(x) != signbit(y) ? -(int)q : (int)q;                   \
        return r == 0 ? copysign(r, x) : signbit(x) ? -r : r;                  \
    }
NEAR_REMAINDER(float)
NEAR_REMAINDER(double)

float far_fmod(float x, float y) __asm("clc._Z4fmodff");
float OVERLOADABLE fmod(float x, float y)
{
    uint q;

    return is_near(fabs(x), fabs(y)) ? copysign(near_modulo(fabs(x), fabs(y), &q), x) : far_fmod(x, y);
}

float far_remainder(float x, float y) __asm("clc._Z9remainderff");
float OVERLOADABLE remainder(float x, float y)
{
    int bits;

    return is_near(fabs(x), fabs(y)) ? near_remainder(x, y, &bits) : far_remainder(x, y);
}

#define REMQUO(T, AS, MANGLED)                                            \
    T far_remquo_##T##_##AS(T x, T y, AS int *q) __asm("clc." MANGLED);   \
    T OVERLOADABLE remquo(T x, T y, AS int *q)                            \
    {                                                                     \
        int bits;                                                         \
        T r;                                                              \
                                                                          \
        if (!is_near(fabs(x), fabs(y)))                                   \
            return far_remquo_##T##_##AS(x, y, q);                        \
        r = near_remainder(x, y, &bits);                                  \
        *q = bits;                                                        \
        return r;                                                         \
    }
REMQUO(float, private, "_Z6remquoffPi")
REMQUO(float, global, "_Z6remquoffPU3AS1i")
REMQUO(float, local, "_Z6remquoffPU3AS3i")
REMQUO(double, private, "_Z6remquoddPi")
REMQUO(double, global, "_Z6remquoddPU3AS1i")
REMQUO(double, local, "_Z6remquoddPU3AS3i")

/* Those of floats are made in corrected.cl. */
#define REMQUO_AT(I) (remquo(x.s##I, y.s##I, &bits[0x##I]))
#define REMQUO_VECTOR(N, AS)                                              \
    double##N OVERLOADABLE remquo(double##N x, double##N y, AS int##N *q) \
    {                                                                     \
        int bits[16];                                                     \
        double##N r = (double##N)(COMPONENTS_##N(REMQUO_AT));             \
                                                                          \
        *q = vload##N(0, bits);                                           \
        return r;                                                         \
    }
#define REMQUO_VECTORS(AS) \
    REMQUO_VECTOR(2, AS) REMQUO_VECTOR(3, AS) REMQUO_VECTOR(4, AS) REMQUO_VECTOR(8, AS) REMQUO_VECTOR(16, AS)
REMQUO_VECTORS(private)
REMQUO_VECTORS(global)
REMQUO_VECTORS(local)

/* ---- Of vectors ----------------------------------------------------------------------------------------------------
 */

#define NAME atan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME asin
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME acos
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME cosh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME sinh
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME tanh
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
#define NAME cbrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME atan2
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME fmod
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME remainder
EACH_SIZE(SIZE_2, float)
#undef NAME
