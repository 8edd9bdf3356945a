/* Built-in math functions against long double, with OpenCL's limits (OpenCL C 3.0, 7.4), on the built-in CPU alone. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* any: MATH_NATIVE=rough */
/* timeout: 300 */
/*
 * Each function gets edge values, all pairs of them where it has two arguments, and random ones: MATH_COUNT says how
 * many. MATH_FUNCTION chooses one; MATH_SHOW=1 prints the largest error of each. MATH_NATIVE=rough: the device's
 * native_… functions need to be about right alone, for ordinary values.
 */
#include "cpu_rig.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

/* What a function gets; n is its integer argument. */
struct input {
    real x, y, z;
    int n;
};

typedef real reference_fn(const struct input *in, bool is_double);

/* ---- References -------------------------------------------------------------------------------------------------- */

#define PI 3.14159265358979323846264338327950288L

#define ONE(NAME, EXPRESSION)                                \
    static real NAME(const struct input *in, bool is_double) \
    {                                                        \
        real x = in->x, y = in->y, z = in->z;                \
        int n = in->n;                                       \
                                                             \
        (void)x, (void)y, (void)z, (void)n, (void)is_double; \
        return EXPRESSION;                                   \
    }

/* x reduced to a half turn around 0, exactly; *half: how many halves were taken, modulo 4. */
static real turns(real x, int *half)
{
    real whole = roundl(x * 2);

    *half = (int)fmodl(fmodl(whole, 4) + 4, 4);
    return x - whole / 2;
}

static real sinpi_of(real x)
{
    int half;
    real r, s;

    if (isnan(x) || isinf(x))
        return NAN;
    r = turns(x, &half);
    s = half == 0 ? sinl(PI * r) : half == 1 ? cosl(PI * r) : half == 2 ? -sinl(PI * r) : -cosl(PI * r);
    return s == 0 ? copysignl(0, x) : s;
}

static real cospi_of(real x)
{
    int half;
    real r, c;

    if (isnan(x) || isinf(x))
        return NAN;
    r = turns(x, &half);
    c = half == 0 ? cosl(PI * r) : half == 1 ? -sinl(PI * r) : half == 2 ? -cosl(PI * r) : sinl(PI * r);
    return c == 0 ? 0 : c;
}

/* Signs of zeros and infinities: OpenCL C 3.0, 7.5.1. */
static real tanpi_of(real x)
{
    real s = sinpi_of(x), c = cospi_of(x);
    bool odd = fmodl(fabsl(x), 2) >= 1;

    if (isnan(s))
        return NAN;
    if (s == 0)
        return copysignl(0, odd ? -x : x);
    if (c == 0)
        return fmodl(fabsl(x), 2) == 0.5L ? copysignl(INFINITY, x) : copysignl(INFINITY, -x);
    return s / c;
}

static real rootn_of(real x, int n)
{
    real r;

    if (n == 0 || isnan(x) || (x < 0 && n % 2 == 0))
        return NAN;
    if (x == 0)
        return n % 2 == 0 ? (n > 0 ? 0 : INFINITY) : n > 0 ? x : copysignl(INFINITY, x);
    r = powl(fabsl(x), 1.0L / n);
    return copysignl(r, x);
}

static real powr_of(real x, real y)
{
    if (isnan(x) || isnan(y) || x < 0)
        return NAN;
    if ((x == 1 && isinf(y)) || (x == 0 && y == 0) || (isinf(x) && y == 0))
        return NAN;
    return powl(fabsl(x), y);
}

/* Rounded once. */
static real fdim_of(real x, real y, bool is_double)
{
    return is_double && x > y ? (real)((double)x - (double)y) : fdiml(x, y);
}

static real fract_of(real x, bool is_double)
{
    real most = is_double ? (real)nextafter(1.0, 0) : (real)nextafterf(1.0f, 0);

    if (isinf(x))
        return copysignl(0, x);
    return x == 0 || isnan(x) ? x : fminl(x - floorl(x), most);
}

static real ulp_next(const struct input *in, bool is_double)
{
    return is_double ? nextafter((double)in->x, (double)in->y) : nextafterf((float)in->x, (float)in->y);
}

static real ilogb_of(real x)
{
    return x == 0 ? -2147483648.0L : isnan(x) ? 2147483647 : isinf(x) ? 2147483647 : (real)ilogbl(x);
}

static real maxmag_of(real x, real y)
{
    return fabsl(x) > fabsl(y) ? x : fabsl(y) > fabsl(x) ? y : fmaxl(x, y);
}

static real minmag_of(real x, real y)
{
    return fabsl(x) < fabsl(y) ? x : fabsl(y) < fabsl(x) ? y : fminl(x, y);
}

static real modf_whole(real x)
{
    real whole;

    (void)modfl(x, &whole);
    return whole;
}

static real modf_part(real x)
{
    real whole;

    return isinf(x) ? copysignl(0, x) : modfl(x, &whole);
}

static real frexp_part(real x)
{
    int exponent;

    return frexpl(x, &exponent);
}

static real frexp_exponent(real x)
{
    int exponent = 0;

    if (isinf(x) || isnan(x) || x == 0)
        return 0;
    (void)frexpl(x, &exponent);
    return exponent;
}

/* Seven, with the quotient's sign. */
static real remquo_bits(real x, real y)
{
    if (isnan(x) || isnan(y) || isinf(x) || y == 0 || isinf(y))
        return 0;
    return fmodl(roundl((fmodl(x, 128 * y) - remainderl(x, y)) / y), 128) + 0.0L;
}

static real lgamma_sign(real x)
{
    if (isnan(x) || x == -INFINITY || (x <= 0 && x == floorl(x)))
        return 0;
    return x < 0 && fmodl(floorl(x), 2) != 0 ? -1 : 1;
}

/* Rounded once: the product is exact in two parts. */
static real fma_of(const struct input *in, bool is_double)
{
    return is_double ? fma((double)in->x, (double)in->y, (double)in->z)
                     : (real)fmaf((float)in->x, (float)in->y, (float)in->z);
}

static real atan2pi_of(real y, real x)
{
    return atan2l(y, x) / PI;
}

static real rint_of(real x)
{
    return rintl(x);
}

ONE(acos_, acosl(x))
ONE(acosh_, acoshl(x))
ONE(acospi_, acosl(x) / PI)
ONE(asin_, asinl(x))
ONE(asinh_, asinhl(x))
ONE(asinpi_, asinl(x) / PI)
ONE(atan_, atanl(x))
ONE(atan2_, atan2l(x, y))
ONE(atanh_, atanhl(x))
ONE(atanpi_, atanl(x) / PI)
ONE(atan2pi_, atan2pi_of(x, y))
ONE(cbrt_, cbrtl(x))
ONE(ceil_, ceill(x))
ONE(copysign_, copysignl(x, y))
ONE(cos_, cosl(x))
ONE(cosh_, coshl(x))
ONE(cospi_, cospi_of(x))
ONE(erfc_, erfcl(x))
ONE(erf_, erfl(x))
ONE(exp_, expl(x))
ONE(exp2_, exp2l(x))
ONE(exp10_, exp10l(x))
ONE(expm1_, expm1l(x))
ONE(fabs_, fabsl(x))
ONE(fdim_, fdim_of(x, y, is_double))
ONE(floor_, floorl(x))
ONE(fmax_, fmaxl(x, y))
ONE(fmin_, fminl(x, y))
ONE(fmod_, fmodl(x, y))
ONE(fract_, fract_of(x, is_double))
ONE(fract_whole_, floorl(x))
ONE(frexp_, frexp_part(x))
ONE(frexp_exponent_, frexp_exponent(x))
ONE(hypot_, hypotl(x, y))
ONE(ilogb_, ilogb_of(x))
ONE(ldexp_, ldexpl(x, n))
ONE(lgamma_, lgammal(x))
ONE(lgamma_sign_, lgamma_sign(x))
ONE(log_, logl(x))
ONE(log2_, log2l(x))
ONE(log10_, log10l(x))
ONE(log1p_, log1pl(x))
ONE(logb_, logbl(x))
ONE(maxmag_, maxmag_of(x, y))
ONE(minmag_, minmag_of(x, y))
ONE(modf_, modf_part(x))
ONE(modf_whole_, modf_whole(x))
ONE(pow_, powl(x, y))
ONE(pown_, powl(x, n))
ONE(powr_, powr_of(x, y))
ONE(remainder_, remainderl(x, y))
ONE(remquo_bits_, remquo_bits(x, y))
ONE(rint_, rint_of(x))
ONE(rootn_, rootn_of(x, n))
ONE(round_, roundl(x))
ONE(rsqrt_, 1 / sqrtl(x))
ONE(sin_, sinl(x))
ONE(sincos_cos_, cosl(x))
ONE(sinh_, sinhl(x))
ONE(sinpi_, sinpi_of(x))
ONE(sqrt_, is_double ? sqrt((double)x) : sqrtl(x)) /* rounded once */
ONE(tan_, tanl(x))
ONE(tanh_, tanhl(x))
ONE(tanpi_, tanpi_of(x))
ONE(tgamma_, tgammal(x))
ONE(trunc_, truncl(x))
/* In double itself where that is the type: not to be rounded twice. */
ONE(divide_, is_double ? (real)((double)x / (double)y) : x / y)
ONE(reciprocal_, is_double ? (real)(1 / (double)x) : 1 / x)
ONE(add_, is_double ? (real)((double)x + (double)y) : x + y)
ONE(multiply_, is_double ? (real)((double)x *(double)y) : x *y)
ONE(degrees_, x *(180 / PI))
ONE(radians_, x *(PI / 180))
ONE(sign_, isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x)
ONE(step_, y < x ? 0 : 1)

/* ---- The functions ----------------------------------------------------------------------------------------------- */

enum arguments { X, XY, XYZ, XN };

static const struct function {
    const char *name, *expression; /* in x, y, z, n; t and m may be written */
    enum arguments arguments;
    double limit, double_limit; /* ulp; -1: not for this type */
    double within;              /* half the random inputs are smaller; 0: any */
    reference_fn *reference;
} functions[] = {
    {"acos", "acos(x)", X, 4, 4, 1, acos_},
    {"acosh", "acosh(x)", X, 4, 4, 100, acosh_},
    {"acospi", "acospi(x)", X, 5, 5, 1, acospi_},
    {"asin", "asin(x)", X, 4, 4, 1, asin_},
    {"asinh", "asinh(x)", X, 4, 4, 100, asinh_},
    {"asinpi", "asinpi(x)", X, 5, 5, 1, asinpi_},
    {"atan", "atan(x)", X, 5, 5, 10, atan_},
    {"atan2", "atan2(x, y)", XY, 6, 6, 10, atan2_},
    {"atanh", "atanh(x)", X, 5, 5, 1, atanh_},
    {"atanpi", "atanpi(x)", X, 5, 5, 10, atanpi_},
    {"atan2pi", "atan2pi(x, y)", XY, 6, 6, 10, atan2pi_},
    {"cbrt", "cbrt(x)", X, 2, 2, 100, cbrt_},
    {"ceil", "ceil(x)", X, 0, 0, 100, ceil_},
    {"copysign", "copysign(x, y)", XY, 0, 0, 0, copysign_},
    {"cos", "cos(x)", X, 4, 4, 100, cos_},
    {"cosh", "cosh(x)", X, 4, 4, 90, cosh_},
    {"cospi", "cospi(x)", X, 4, 4, 100, cospi_},
    {"erfc", "erfc(x)", X, 16, 16, 12, erfc_},
    {"erf", "erf(x)", X, 16, 16, 5, erf_},
    {"exp", "exp(x)", X, 3, 3, 100, exp_},
    {"exp2", "exp2(x)", X, 3, 3, 140, exp2_},
    {"exp10", "exp10(x)", X, 3, 3, 40, exp10_},
    {"expm1", "expm1(x)", X, 3, 3, 80, expm1_},
    {"fabs", "fabs(x)", X, 0, 0, 0, fabs_},
    {"fdim", "fdim(x, y)", XY, 0, 0, 100, fdim_},
    {"floor", "floor(x)", X, 0, 0, 100, floor_},
    {"fma", "fma(x, y, z)", XYZ, 0, 0, 10, fma_of},
    {"fmax", "fmax(x, y)", XY, 0, 0, 0, fmax_},
    {"fmin", "fmin(x, y)", XY, 0, 0, 0, fmin_},
    {"fmod", "fmod(x, y)", XY, 0, 0, 100, fmod_},
    {"fract", "fract(x, &t)", X, 0, 0, 100, fract_},
    {"fract whole", "(fract(x, &t), t)", X, 0, 0, 100, fract_whole_},
    {"frexp", "frexp(x, &m)", X, 0, 0, 0, frexp_},
    {"frexp exponent", "(frexp(x, &m), m)", X, 0, 0, 0, frexp_exponent_},
    {"hypot", "hypot(x, y)", XY, 4, 4, 100, hypot_},
    {"ilogb", "ilogb(x)", X, 0, 0, 0, ilogb_},
    {"ldexp", "ldexp(x, n)", XN, 0, 0, 10, ldexp_},
    {"lgamma", "lgamma(x)", X, 16, 16, 30, lgamma_}, /* here and of native_…, no limit is given: what ours keep */
    {"lgamma_r sign", "(lgamma_r(x, &m), m)", X, 0, 0, 30, lgamma_sign_},
    {"log", "log(x)", X, 3, 3, 10, log_},
    {"log2", "log2(x)", X, 3, 3, 10, log2_},
    {"log10", "log10(x)", X, 3, 3, 10, log10_},
    {"log1p", "log1p(x)", X, 2, 2, 2, log1p_},
    {"logb", "logb(x)", X, 0, 0, 0, logb_},
    {"maxmag", "maxmag(x, y)", XY, 0, 0, 0, maxmag_},
    {"minmag", "minmag(x, y)", XY, 0, 0, 0, minmag_},
    {"modf", "modf(x, &t)", X, 0, 0, 100, modf_},
    {"modf whole", "(modf(x, &t), t)", X, 0, 0, 100, modf_whole_},
    {"nextafter", "nextafter(x, y)", XY, 0, 0, 0, ulp_next},
    {"pow", "pow(x, y)", XY, 16, 16, 20, pow_},
    {"pown", "pown(x, n)", XN, 16, 16, 20, pown_},
    {"powr", "powr(x, y)", XY, 16, 16, 20, powr_},
    {"remainder", "remainder(x, y)", XY, 0, 0, 100, remainder_},
    {"remquo", "remquo(x, y, &m)", XY, 0, 0, 100, remainder_},
    {"remquo bits", "(remquo(x, y, &m), m % 128)", XY, 0, 0, 100, remquo_bits_},
    {"rint", "rint(x)", X, 0, 0, 100, rint_},
    {"rootn", "rootn(x, n)", XN, 16, 16, 20, rootn_},
    {"round", "round(x)", X, 0, 0, 100, round_},
    {"rsqrt", "rsqrt(x)", X, 2, 2, 100, rsqrt_},
    {"sin", "sin(x)", X, 4, 4, 100, sin_},
    {"sincos", "sincos(x, &t)", X, 4, 4, 100, sin_},
    {"sincos cos", "(sincos(x, &t), t)", X, 4, 4, 100, sincos_cos_},
    {"sinh", "sinh(x)", X, 4, 4, 90, sinh_},
    {"sinpi", "sinpi(x)", X, 4, 4, 100, sinpi_},
    {"sqrt", "sqrt(x)", X, 3, 0, 100, sqrt_},
    {"tan", "tan(x)", X, 5, 5, 100, tan_},
    {"tanh", "tanh(x)", X, 5, 5, 10, tanh_},
    {"tanpi", "tanpi(x)", X, 6, 6, 100, tanpi_},
    {"tgamma", "tgamma(x)", X, 16, 16, 40, tgamma_},
    {"trunc", "trunc(x)", X, 0, 0, 100, trunc_},
    {"x / y", "x / y", XY, 2.5, 0, 100, divide_},
    {"1 / x", "1 / x", X, 2.5, 0, 100, reciprocal_},
    {"x + y", "x + y", XY, 0, 0, 100, add_},
    {"x * y", "x * y", XY, 0, 0, 100, multiply_},
    {"degrees", "degrees(x)", X, 2, 2, 100, degrees_},
    {"radians", "radians(x)", X, 2, 2, 100, radians_},
    {"sign", "sign(x)", X, 0, 0, 0, sign_},
    {"step", "step(x, y)", XY, 0, 0, 10, step_},
    {"half_cos", "half_cos(x)", X, 8192, -1, 100, cos_},
    {"half_divide", "half_divide(x, y)", XY, 8192, -1, 100, divide_},
    {"half_exp", "half_exp(x)", X, 8192, -1, 80, exp_},
    {"half_exp2", "half_exp2(x)", X, 8192, -1, 80, exp2_},
    {"half_exp10", "half_exp10(x)", X, 8192, -1, 30, exp10_},
    {"half_log", "half_log(x)", X, 8192, -1, 100, log_},
    {"half_log2", "half_log2(x)", X, 8192, -1, 100, log2_},
    {"half_log10", "half_log10(x)", X, 8192, -1, 100, log10_},
    {"half_powr", "half_powr(x, y)", XY, 8192, -1, 10, powr_},
    {"half_recip", "half_recip(x)", X, 8192, -1, 100, reciprocal_},
    {"half_rsqrt", "half_rsqrt(x)", X, 8192, -1, 100, rsqrt_},
    {"half_sin", "half_sin(x)", X, 8192, -1, 100, sin_},
    {"half_sqrt", "half_sqrt(x)", X, 8192, -1, 100, sqrt_},
    {"half_tan", "half_tan(x)", X, 8192, -1, 100, tan_},
    {"native_cos", "native_cos(x)", X, 8192, -1, 3, cos_},
    {"native_exp", "native_exp(x)", X, 8192, -1, 80, exp_},
    {"native_exp2", "native_exp2(x)", X, 8192, -1, 80, exp2_},
    {"native_exp10", "native_exp10(x)", X, 8192, -1, 30, exp10_},
    {"native_log", "native_log(x)", X, 8192, -1, 100, log_},
    {"native_log2", "native_log2(x)", X, 8192, -1, 100, log2_},
    {"native_log10", "native_log10(x)", X, 8192, -1, 100, log10_},
    {"native_rsqrt", "native_rsqrt(x)", X, 4, -1, 100, rsqrt_}, /* Programs rely on more than OpenCL promises. */
    {"native_sin", "native_sin(x)", X, 8192, -1, 3, sin_},
    {"native_sqrt", "native_sqrt(x)", X, 8192, -1, 100, sqrt_},
    {"native_tan", "native_tan(x)", X, 8192, -1, 1.5, tan_},
    {"native_recip", "native_recip(x)", X, 8192, -1, 100, reciprocal_},
    {"native_divide", "native_divide(x, y)", XY, 8192, -1, 100, divide_},
    {"native_powr", "native_powr(x, y)", XY, 8192, -1, 10, powr_},
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static double limit_of(const struct function *f, bool is_double)
{
    return is_double ? f->double_limit : f->limit;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static const double edges[] = {
    0.0,          -0.0,
    INFINITY,     -INFINITY,
    NAN,          1,
    -1,           0.5,
    -0.5,         1.5,
    -1.5,         2,
    -2,           2.5,
    -2.5,         3,
    -3,           4,
    -4,           7,
    -7,           10,
    -10,          0.25,
    -0.25,        0.75,
    -0.75,        1e-5,
    -1e-5,        1e-10,
    -1e-10,       1e-20,
    -1e-20,       1e10,
    -1e10,        1e20,
    -1e20,        8388607.5,
    8388608,      -8388609,
    16777216,     16777217,
    33554432,     -4194303.5,
    2147483648.0, -2147483648.0,
    4294967296.0, 88.72,
    -87.3,        -103.9,
    128,          -126,
    -149,         -150,
    709.7,        -745.1,
    1e-30,        -1e-30,
    0.99999994,   1.00000012,
    -0.99999994,  3.1415927,
    1.5707964,    -3.1415927,
    0.78539819,   100.25,
    FLT_MAX,      -FLT_MAX,
    FLT_MIN,      -FLT_MIN,
    1.4e-45,      -1.4e-45,
    1.1e-38,      -1.1e-38,
    35.04,        171.6,
    -0.9,         -1.1,
    34.5,         -33.25,
    1e38,         -1e38,
    5e-39,        2.3509886e-38,
    -NAN,         -34.5,
};
static const int integers[] = {
    0,    1,   -1,  2,    -2,   3,    -3,  4,    5,     10,    -10,    24,         100,
    -100, 127, 128, -126, -149, -150, 300, 1023, -1074, 32767, -32768, 2147483647, -2147483647 - 1};

#define N_EDGES    (sizeof(edges) / sizeof(edges[0]))
#define N_INTEGERS (sizeof(integers) / sizeof(integers[0]))

static double as_type(double value, bool is_double)
{
    volatile float single = (float)value;

    return is_double ? value : (double)single;
}

static double random_number(const struct function *f, bool is_double)
{
    uint64_t bits = cpu_rig_random();
    uint32_t low = (uint32_t)bits;
    float single;
    double number;

    if (f->within > 0 && bits >> 63)
        return as_type(((double)(bits >> 10 & 0xfffffffffffff) / 0x8000000000000 - 1) * f->within, is_double);
    memcpy(&single, &low, sizeof(single));
    memcpy(&number, &bits, sizeof(number));
    return is_double ? number : (double)single;
}

/* Moves y so that x^y lies within the numbers of the type, or just beyond: there an error of x's logarithm counts most.
 * Each second x is near 1, where the logarithm has no whole part. */
static void aim_power(struct input *in, bool is_double)
{
    real exponent = (real)(cpu_rig_random() >> 11) / 0x1p52L - 1;

    if (cpu_rig_random() & 1)
        in->x = as_type(0.5L + (real)(cpu_rig_random() >> 11) / 0x1p53L * 1.5L, is_double);
    if (in->x != 0 && fabsl(in->x) != 1 && isfinite(in->x))
        in->y = as_type(exponent * (is_double ? 1080 : 155) / log2l(fabsl(in->x)), is_double);
}

static void make_input(const struct function *f, bool is_double, unsigned i, struct input *in)
{
    unsigned n_second = f->arguments == XN ? N_INTEGERS : N_EDGES;
    bool edge = f->arguments == X ? i < N_EDGES : i < N_EDGES * n_second;

    *in = (struct input){random_number(f, is_double), random_number(f, is_double), random_number(f, is_double), 0};
    in->n = (int)cpu_rig_random() >> cpu_rig_random() % 32;
    if (!edge && (f->reference == pow_ || f->reference == powr_) && i & 1)
        aim_power(in, is_double);
    if (!edge)
        return;
    in->x = as_type(edges[i % N_EDGES], is_double);
    if (f->arguments == XN)
        in->n = integers[i / N_EDGES];
    else if (f->arguments != X)
        in->y = as_type(edges[i / N_EDGES], is_double);
    if (f->arguments == XYZ)
        in->z = as_type(edges[cpu_rig_random() % N_EDGES], is_double);
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

static real without_subnormal(real x)
{
    return fabsl(x) < FLT_MIN ? copysignl(0, x) : x;
}

/* half_… may take subnormal numbers for zero; half_cos, half_sin and half_tan are for arguments up to 2^16 alone
 * (OpenCL C 3.0, 6.15.2). */
static bool is_half_right(const struct function *f, const struct input *in, real got, real want)
{
    struct input plain = *in;
    bool angle = f->reference == cos_ || f->reference == sin_ || f->reference == tan_;

    if (strncmp(f->name, "half_", 5) != 0)
        return false;
    if (angle && fabsl(in->x) > 0x1p16L)
        return true;
    plain.x = without_subnormal(in->x);
    plain.y = without_subnormal(in->y);
    return (fabsl(want) < FLT_MIN && got == 0) || cpu_rig_ulps(got, f->reference(&plain, false), false) <= f->limit;
}

/* Which of two zeros is the larger, and what the sign is where there is no value, isn't said. */
static bool is_right_too(const struct function *f, bool is_double, const struct input *in, real got, real want)
{
    if (f->reference == fmax_ || f->reference == fmin_ || f->reference == maxmag_ || f->reference == minmag_)
        return got == 0 && want == 0;
    if (is_half_right(f, in, got, want))
        return true;
    /* The logarithm of x's sine and the other gamma function take each other's place there. */
    if (f->reference == lgamma_ && in->x < 0 && isfinite(in->x))
        return fabsl(got - want) <= 16 * (is_double ? DBL_EPSILON : FLT_EPSILON) * fmaxl(1, fabsl(lgammal(-in->x)));
    return f->reference == lgamma_sign_ && want == 0 && (isnan(in->x) || isinf(in->x) || in->x == floorl(in->x));
}

static bool is_ordinary(real x)
{
    return fabsl(x) >= 0x1p-6L && fabsl(x) <= 0x1p6L;
}

/* How near they are, and for which values, is the device's affair (OpenCL C 3.0, 6.15.2): this near is any. */
static bool is_rough(const struct function *f, const struct input *in, real got, real want)
{
    return strncmp(f->name, "native_", 7) == 0 && getenv("MATH_NATIVE") &&
           (!is_ordinary(in->x) || (f->arguments != X && !is_ordinary(in->y)) || fabsl(want) > 0x1p6L ||
            fabsl(got - want) <= 0x1p-11L * fmaxl(1, fabsl(want)));
}

static double judge(const struct function *f, bool is_double, const struct input *in, real got, real *want)
{
    *want = f->reference(in, is_double);
    return is_right_too(f, is_double, in, got, *want) || is_rough(f, in, got, *want)
               ? 0
               : cpu_rig_ulps(got, *want, is_double);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static cl_program program_of(struct cpu_rig *rig, bool is_double, unsigned first, unsigned end)
{
    const char *t = is_double ? "double" : "float";
    char *text = NULL;
    size_t size;
    FILE *source = open_memstream(&text, &size);
    cl_program program;

    for (unsigned i = first; i < end; i++)
        if (limit_of(&functions[i], is_double) >= 0)
            fprintf(source,
                    "kernel void f%u(global const %s *X, global const %s *Y, global const %s *Z, global const int *N,\n"
                    "               global %s *out) {\n"
                    "    size_t i = get_global_id(0); %s x = X[i], y = Y[i], z = Z[i], t = 0; int n = N[i], m = 0;\n"
                    "    out[i] = %s; }\n",
                    i, t, t, t, t, t, functions[i].expression);
    fclose(source);
    program = cpu_rig_program(rig, text, "");
    free(text);
    return program;
}

static void put(void *array, size_t i, real value, bool is_double)
{
    if (is_double)
        ((double *)array)[i] = (double)value;
    else
        ((float *)array)[i] = (float)value;
}

static void run(struct cpu_rig *rig, cl_program program, unsigned number, bool is_double, const struct input *in,
                unsigned n, void *out)
{
    size_t size = n * (is_double ? sizeof(double) : sizeof(float));
    void *arrays[3] = {malloc(size), malloc(size), malloc(size)};
    int *ints = malloc(n * sizeof(*ints));
    cl_mem memory[5];
    char name[16];

    for (unsigned i = 0; i < n; i++) {
        put(arrays[0], i, in[i].x, is_double);
        put(arrays[1], i, in[i].y, is_double);
        put(arrays[2], i, in[i].z, is_double);
        ints[i] = in[i].n;
    }
    for (unsigned i = 0; i < 3; i++)
        memory[i] = cpu_rig_buffer(rig, size, arrays[i]);
    memory[3] = cpu_rig_buffer(rig, n * sizeof(*ints), ints);
    memory[4] = cpu_rig_buffer(rig, size, NULL);
    snprintf(name, sizeof(name), "f%u", number);
    cpu_rig_run(rig, program, name, 5, memory, 0, NULL, n);
    cpu_rig_read(rig, memory[4], size, out);
    for (unsigned i = 0; i < 5; i++)
        clReleaseMemObject(memory[i]);
    for (unsigned i = 0; i < 3; i++)
        free(arrays[i]);
    free(ints);
}

/* True: every result was near enough. */
static bool check(struct cpu_rig *rig, cl_program program, unsigned number, bool is_double)
{
    const struct function *f = &functions[number];
    unsigned n = cpu_rig_count("MATH_COUNT", 3000) + (f->arguments == X    ? N_EDGES
                                                      : f->arguments == XN ? N_EDGES * N_INTEGERS
                                                                           : N_EDGES * N_EDGES);
    struct input *in = malloc(n * sizeof(*in));
    double *out = malloc(n * sizeof(*out)), worst = 0, limit = limit_of(f, is_double);
    unsigned wrong = 0;

    for (unsigned i = 0; i < n; i++)
        make_input(f, is_double, i, &in[i]);
    run(rig, program, number, is_double, in, n, out);
    for (unsigned i = 0; i < n; i++) {
        real got = is_double ? (real)out[i] : (real)((float *)out)[i], want;
        double error = judge(f, is_double, &in[i], got, &want);

        worst = error > worst ? error : worst;
        if (error <= limit || wrong++ >= 4)
            continue;
        print_error("%s (%s) of x %.17Lg, y %.17Lg, z %.17Lg, n %d: %.17Lg, not %.17Lg: %g ulp\n", f->name,
                    is_double ? "double" : "float", in[i].x, in[i].y, in[i].z, in[i].n, got, want, error);
    }
    if (getenv("MATH_SHOW"))
        print_message("%-16s %-6s %10.3g of %g ulp%s\n", f->name, is_double ? "double" : "float", worst, limit,
                      wrong ? "  WRONG" : "");
    free(in);
    free(out);
    return wrong == 0;
}

#define AT_ONCE 16

static void check_all(struct cpu_rig *rig, bool is_double)
{
    const char *one = getenv("MATH_FUNCTION");
    unsigned bad = 0, step = one ? 1 : AT_ONCE;

    for (unsigned first = 0; first < N_FUNCTIONS; first += step) {
        unsigned end = first + step < N_FUNCTIONS ? first + step : N_FUNCTIONS;
        cl_program program;

        if (one && strcmp(one, functions[first].name))
            continue;
        program = program_of(rig, is_double, first, end);
        for (unsigned i = first; i < end; i++)
            bad += limit_of(&functions[i], is_double) >= 0 && !check(rig, program, i, is_double);
        clReleaseProgram(program);
    }
    assert_int_equal(bad, 0);
}

static void floats(void **state)
{
    check_all(*state, false);
}

static void doubles(void **state)
{
    check_all(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats), cmocka_unit_test(doubles)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
