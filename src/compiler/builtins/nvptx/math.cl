/*
 * Functions of floats for NVIDIA GPUs: libclc's were made for hardware without approximations of its own, and take up
 * to six times as long. Errors, of all floats, in ulps (OpenCL 3.0 C, 7.4, asks for 3; 4 for sin and cos, 5 for tan, 16
 * for pow): docs/lab/cuda.md. The methods are the usual ones: range reduction (W. J. Cody, W. Waite: Software Manual for
 * the Elementary Functions, 1980), then the hardware's approximation or a polynomial (Chebyshev's, fitted).
 */
#include "../float.h"

#define LOG2_10 3.32192809488736235f

/*
 * 2^x for x = n + r. n is y, which is close to x and limited to a float's exponents, rounded to an integer; MAGIC + y
 * has n + 127 in its lowest bits. For x out of range r is large, and 2^r goes to infinity or zero.
 */
#define MAGIC 12583039.0f /* 1.5 * 2^23 + 127 */

static float within(float y)
{
    return fmin(fmax(y, -126.0f), 127.0f);
}

static float power_of_two(float magic, float r)
{
    return __nvvm_ex2_approx_ftz_f(r) * as_float(as_int(magic) << 23);
}

/* ---- Powers -------------------------------------------------------------------------------------------------------- */

float OVERLOADABLE exp2(float x)
{
    float magic = within(x) + MAGIC, n = magic - MAGIC;

    return power_of_two(magic, x - n);
}

float OVERLOADABLE exp(float x)
{
    float magic = within(x * M_LOG2E_F) + MAGIC, n = magic - MAGIC;

    return power_of_two(magic, fma(x, 1.925963033e-08f, fma(x, M_LOG2E_F, -n)));
}

float OVERLOADABLE exp10(float x)
{
    float magic = within(x * LOG2_10) + MAGIC, n = magic - MAGIC;

    return power_of_two(magic, fma(x, 7.05953642e-08f, fma(x, LOG2_10, -n)));
}

/* ---- Powers of any base --------------------------------------------------------------------------------------------
 */

/* 2^(t + t_rest); infinity has no rest. */
static float two_to(float t, float t_rest)
{
    float magic = within(t) + MAGIC, n = magic - MAGIC;

    return power_of_two(magic, fabs(t) > 160 ? t - n : (t - n) + t_rest);
}

#define RECIPROCAL(X) __nvvm_rcp_approx_ftz_f(X)
#include "../power.h"

static float positive_power(float x, float y)
{
    return positive_power_2(x, y, 0);
}

/* 0: y is not an integer; 1: an odd one; 2: an even one. */
static int parity(float y)
{
    if (rint(y) != y)
        return 0;
    return rint(y * 0.5f) == y * 0.5f ? 2 : 1;
}

/* If one argument is zero or infinite, or x < 0 (OpenCL 3.0 C, 7.5.1, and C99, F.9.4.4). */
static float special_power(float x, float y)
{
    int kind = parity(y);
    float size = fabs(x), result;

    if (isnan(x) || isnan(y))
        return x + y;
    if (isinf(y))
        return size == 1 ? 1 : (size > 1) == (y > 0) ? INFINITY : 0;
    if (size == 0 || isinf(size))
        result = (size == 0) == (y > 0) ? 0 : INFINITY;
    else if (x < 0 && kind == 0)
        return NAN;
    else
        result = positive_power(size, y);
    return kind == 1 ? copysign(result, x) : result;
}

float OVERLOADABLE pow(float x, float y)
{
    if (x == 1 || y == 0)
        return 1;
    return x > 0 && x < INFINITY && fabs(y) < INFINITY ? positive_power(x, y) : special_power(x, y);
}

float OVERLOADABLE powr(float x, float y)
{
    if (x > 0 && x < INFINITY && fabs(y) < INFINITY)
        return positive_power(x, y);
    if (x < 0 || isnan(x) || isnan(y) || (x == 1 && isinf(y)) || (y == 0 && (x == 0 || isinf(x))))
        return NAN;
    return special_power(fabs(x), y);
}

float OVERLOADABLE cbrt(float x);

float OVERLOADABLE rootn(float x, int n)
{
    float size = fabs(x), of = (float)n, y = 1 / of, root;

    if (n == 3)
        return cbrt(x);
    if (n == 0 || isnan(x) || (x < 0 && !(n & 1)))
        return NAN;
    if (size == 0 || isinf(size))
        root = (size == 0) == (n > 0) ? 0 : INFINITY;
    else
        root = positive_power_2(size, y, fma(-y, of, 1.0f) * y);
    return n & 1 ? copysign(root, x) : root;
}

/* ---- Angles --------------------------------------------------------------------------------------------------------
 */

/* 2 / pi as a binary fraction, after 32 zeros. */
static constant uint two_over_pi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                      0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

static uint bits_at(int i)
{
    return i % 32 ? two_over_pi[i / 32] << i % 32 | two_over_pi[i / 32 + 1] >> (32 - i % 32) : two_over_pi[i / 32];
}

/* For x >= 2^16, an integer times a power of two: only those bits of 2 / pi matter that make neither multiples of four
 * nor too little (M. Payne, R. Hanek: Radian reduction for trigonometric functions, 1983). */
static float reduce_far(float x, int *quarter)
{
    uint bits = as_uint(x);
    int i = (int)(bits >> 23 & 0xff) - 150 + 30; /* where the bit of weight 4 would be */
    ulong m = (bits & 0x7fffff) | 0x800000;
    ulong low = m * bits_at(i + 64), middle = m * bits_at(i + 32) + (low >> 32);
    ulong high = ((m * bits_at(i)) << 32) + middle; /* in quarters of turns, times 2^62 */
    long rest = (long)(high << 2) >> 2;
    float r;

    *quarter = (int)(high >> 62) + (int)((high >> 61) & 1);
    r = (float)rest * (1.57079637f / 4611686018427387904.0f);
    if (bits >> 31) {
        r = -r;
        *quarter = -*quarter;
    }
    return r;
}

/* Returns the rest of x after *quarter quarter turns. */
static float reduce(float x, int *quarter)
{
    float n = rint(x * M_2_PI_F);

    if (fabs(x) >= 65536)
        return reduce_far(x, quarter);
    *quarter = (int)n;
    return fma(n, 1.71512451e-15f, fma(n, 4.37113883e-08f, fma(n, -1.57079637f, x)));
}

float OVERLOADABLE sin(float x)
{
    int quarter;
    float r = reduce(x, &quarter), s = quarter & 1 ? near_cos(r) : near_sin(r);

    if (x == 0 || isinf(x))
        return x == 0 ? x : NAN;
    return quarter & 2 ? -s : s;
}

float OVERLOADABLE cos(float x)
{
    int quarter;
    float r = reduce(x, &quarter), c = quarter & 1 ? near_sin(r) : near_cos(r);

    return isinf(x) ? NAN : (quarter + 1) & 2 ? -c : c;
}

float OVERLOADABLE tan(float x)
{
    int quarter;
    float r = reduce(x, &quarter), s = near_sin(r), c = near_cos(r);

    if (x == 0 || isinf(x))
        return x == 0 ? x : NAN;
    return quarter & 1 ? -c / s : s / c;
}

/* Wrong by 2 ulps. */
static float divide(float x, float y)
{
    float q;

    __asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
    return q;
}

/* In half turns; what is left of whole ones is exact. */
float OVERLOADABLE tanpi(float x)
{
    float n = rint(x), r = x - n, size = fabs(r), half_of_n = n * 0.5f;
    float q = size > 0.25f ? 0.5f - size : size, u = fma(q, 3.14159274f, q * -8.74227766e-08f);
    float s = near_sin(u), c = near_cos(u), t = divide(size > 0.25f ? c : s, size > 0.25f ? s : c);

    if (r == 0)
        return copysign(0.0f, rint(half_of_n) == half_of_n ? x : -x);
    return isinf(x) ? NAN : copysign(t, r);
}

#define SINCOS(AS)                                              \
    float OVERLOADABLE sincos(float x, AS float *c)             \
    {                                                           \
        int quarter;                                            \
        float r = reduce(x, &quarter), s = near_sin(r), t = near_cos(r); \
        float first = quarter & 1 ? t : s, second = quarter & 1 ? s : t; \
                                                                \
        *c = isinf(x) ? NAN : (quarter + 1) & 2 ? -second : second; \
        return x == 0 ? x : isinf(x) ? NAN : quarter & 2 ? -first : first; \
    }
SINCOS()
SINCOS(__global)
SINCOS(__local)

/* ---- One of doubles ------------------------------------------------------------------------------------------------
 */

/* ptxas makes this instruction a sequence that is exact to a bit. */
double OVERLOADABLE rsqrt(double x)
{
    return __nvvm_rsqrt_approx_d(x);
}

/* ---- Of vectors ----------------------------------------------------------------------------------------------------
 */

#define NAME exp
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME exp2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME exp10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME log
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME log2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME log10
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
#define NAME rsqrt
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME pow
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME powr
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME tanpi
EACH_SIZE(SIZE_1, float)
#undef NAME

#define ROOT(I) rootn(x.s##I, n.s##I)
#define ROOTS(N)                                           \
    float##N OVERLOADABLE rootn(float##N x, int##N n)      \
    {                                                      \
        return (float##N)(COMPONENTS_##N(ROOT));           \
    }
ROOTS(2)
ROOTS(3)
ROOTS(4)
ROOTS(8)
ROOTS(16)
#define NAME log1p
EACH_SIZE(SIZE_1, float)
#undef NAME
